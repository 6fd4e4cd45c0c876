#!/usr/bin/env bats
# examples/R: its README as it stands, and bad input.
load helper

prepare() {
    command -v Rscript > /dev/null || skip "needs r-base-core"
    case $BUILD in *asan*) skip "R would be measured, not dpline" ;; esac
    cp "$ROOT/examples/R/dpline.R" .
}
r() { timeout -k 2 120 Rscript --vanilla "$@"; }

@test "R: the block of README.md, and its model is that of the commands" {
    $(grep -o 'dp-synth patients [^`]*' "$ROOT/examples/R/README.md") -q
    awk '$0 == "```" { on = 0 } on; $0 == "```r" { on = 1 }' "$ROOT/examples/R/README.md" > tour.R
    # 12 runs: 0.68, deviation 0.006; half of the rows have each label
    cat >> tour.R << 'END'
stopifnot(mean(predict(model, test) == test$readmitted) > 0.6)
shown <- predict(model, january[rev(names(january))], "prob")
stopifnot(identical(colnames(shown), c("no", "yes")), nrow(shown) == nrow(january))
writeBin(model$bytes, "m")
write.csv(january, "j.csv", row.names = FALSE, na = "")
writeLines(format(shown[, "yes"], digits = 15), "expected")
END
    r tour.R > out 2> err || fail "$(cat out err)"
    assert_file_contains out "column 'patient_id' is left out"
    grep -q readmitted report.html || fail "the page does not say what is predicted"
    assert_equal "$(dp-info --get n m) $(dp-info --get private_preprocessing m)" "4800 paid-schema"
    dp-predict --probability m j.csv 2> /dev/null | tail -n +2 | cut -d, -f 3 | paste expected - > pairs
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-9) bad++ } END { exit !(NR == 2000 && !bad) }' pairs || fail "$(head -n 3 pairs)"
}

@test "R: texts beyond ASCII in the locale C, and in Latin-1, are those of UTF-8" {
    cat > letters.R << 'END'
source("dpline.R")
places <- c("M\xc3\xbcnchen", "K\xc3\xb6ln")
if (Sys.getenv("LATIN") != "") places <- iconv(places, "UTF-8", "latin1")
if (Sys.getenv("MARKED") != "") Encoding(places) <- "UTF-8"
who <- data.frame(place = rep(places, 900), age = 20 + 1:1800 %% 60, y = rep(c("no", "yes", "no", "yes", "yes"), 360))
who$y[who$place == places[1] & who$age < 50] <- "yes"
model <- dpline(y ~ ., who, person = FALSE, schema = "s.json")
stopifnot(length(predict(model, who)) == 1800)
dpline_csv(who, "who.csv")
END
    echo '{"header": true, "columns": [{"name": "place", "type": "categorical", "categories": ["München", "Köln"]},
        {"name": "age", "type": "numeric", "bounds": [20, 80]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    LC_ALL=C r letters.R > out 2>&1 || fail "$(cat out)"
    sed -n 1,3p who.csv > expected
    assert_equal "$(cat expected)" '"place","age","y"
"München",21,"yes"
"Köln",22,"yes"'
    for how in "MARKED=1 LC_ALL=C" "MARKED=1 LC_ALL=C.UTF-8" "LATIN=1 LC_ALL=C.UTF-8" "LATIN=1 LC_ALL=C"; do
        env $how timeout -k 2 120 Rscript --vanilla letters.R > out 2>&1 || fail "$how: $(cat out)"
        sed -n 1,3p who.csv | cmp - expected
    done
}

@test "R: bad input, a schema, a ledger, a number, cells that depend on their own value" {
    dp-synth patients --rows 3000 --seed 4 -o patients.csv -q
    cat > public.json << 'END'
{"header": true, "columns": [{"name": "drugs", "type": "numeric", "bounds": [0, 12]},
 {"name": "ward", "type": "categorical", "unknown": "zero", "categories": ["surgery", "cardiology", "emergency", "geriatrics"]},
 {"name": "readmitted", "type": "label", "classes": [["no", "No"], ["yes", "Yes"]]}]}
END
    cat > bad.R << 'END'
source("dpline.R")
says <- function(message, expression) {
    failure <- tryCatch({ expression; "nothing" }, error = conditionMessage)
    if (!grepl(message, failure, fixed = TRUE)) stop("said: ", failure)
}
patients <- read.csv("patients.csv")
says("'patient_id' looks like an identifier", dpline(readmitted ~ ., patients))
says("no column of the data: weight", dpline(readmitted ~ weight, patients))
says("no column of the data: who", dpline(readmitted ~ age, patients, person = "who"))
says("ledger and population", dpline(readmitted ~ age, patients, ledger = "l"))
says("too small", dpline(readmitted ~ age + ward, patients[1:300, ]))
known <- dpline(readmitted ~ drugs + ward, patients, schema = "public.json", ledger = "clinic.ledger", population = "the clinic")
stopifnot(!any(grepl("schema cost", known$said)), is.null(known$schema))
says("has no column 'ward'", predict(known, patients["drugs"]))
says("column 'ward'", predict(known, transform(patients, ward = "Ward 7")))
told <- tryCatch(predict(known, transform(patients, ward = ifelse(seq_along(ward) < 300, "Ward 7", ward))), warning = conditionMessage)
stopifnot(grepl("column 'ward': 299 of 3000 cells have no category of the model", told))
number <- dpline(drugs ~ drugs2, transform(patients, drugs2 = 3 * drugs))
stopifnot(is.numeric(predict(number, transform(patients, drugs2 = 3 * drugs))))
# rows that a file could take for other lines: units, the header again, a total, nothing
odd <- data.frame(kind = c("kind", "kg", "a", "", "b"), stringsAsFactors = FALSE)[c(2, 1, rep(3:5, 1000), 1), , drop = FALSE]
odd$size <- ifelse(odd$kind == "kind", "size", ifelse(odd$kind == "kg", "cm", as.character(seq_along(odd$kind) %% 7)))
odd$sick <- ifelse(odd$kind == "kind", "sick", ifelse(odd$kind == "a", "yes", "no"))
odd <- rbind(odd, data.frame(kind = "total", size = "", sick = ""))
lines <- dpline(sick ~ kind + size, odd, epsilon = 5, classes = c("yes", "no"))
writeBin(lines$bytes, "lines")
stopifnot(!any(grepl("'row", lines$said, fixed = TRUE)))
blank <- dpline(sick ~ kind, odd, epsilon = 5, classes = c("yes", "no"))
for (model in list(lines, blank)) {
    found <- predict(model, odd[model$columns])
    stopifnot(length(found) == nrow(odd), mean(found == odd$sick) > 0.9)
    stopifnot(identical(dim(predict(model, odd[model$columns], "prob")), c(nrow(odd), 2L)))
}
taken <- dpline(sick ~ row, data.frame(row = odd$kind, sick = odd$sick), epsilon = 5, classes = c("yes", "no"))
stopifnot(mean(predict(taken, data.frame(row = odd$kind)) == odd$sick) > 0.9)
# a warning is R's, and not in the model
fat <- patients
fat$ward[7] <- paste(rep("1,2,3,4", 40), collapse = "\n")
told <- NULL
model <- withCallingHandlers(dpline(readmitted ~ drugs + ward, fat, schema = "public.json"), warning = function(w) {
    told <<- c(told, conditionMessage(w))
    invokeRestart("muffleWarning")
})
stopifnot(any(grepl("a quote opens here", told)), !any(grepl("warning", c(model$said, capture.output(print(model))))))
twice <- dpline(readmitted ~ age + drugs, rbind(patients, patients), person = "patient_id")
writeBin(twice$bytes, "t")
dpline_csv(data.frame(t = as.POSIXct(c("2026-01-05 00:00", "2026-01-06 10:00"), tz = "UTC"), x = c(1, 0.1 + 0.2)), "cells.csv")
END
    r bad.R > out 2> err || fail "$(cat out err)"
    assert_equal "$(dp-info --get n t)" 3000
    assert_equal "$(dp-info --get n lines)" 3004
    assert_equal "$(cat cells.csv)" $'"t","x"\n"2026-01-05 00:00:00",1\n"2026-01-06 10:00:00",0.3'
    assert_equal "$(dp-account report --json clinic.ledger | jq -r '.runs[-1].population')" "the clinic"
}
