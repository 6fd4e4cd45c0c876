# dpline for R: a private model of a data frame. source("dpline.R"); base R suffices, and the commands of dpline are in PATH.
#
#   model <- dpline(readmitted ~ . - note, patients, epsilon = 1, person = FALSE)
#   predict(model, january, "prob"); print(model); dpline_page(model, "page.html")
#
# A part of epsilon pays for bounds, categories and classes, as `dpline fit` does. schema names a file that says them instead
# (dp-dataset(5)); classes names the classes without payment. person is the column of those who may have several rows, or FALSE if each
# row is another person. ledger and population: where the cost is written down, and whose rows these are.

dpline_run <- function(place, words, input = NULL) {
    force(words) # names of files are those of the caller's directory
    here <- setwd(place)
    on.exit(setwd(here))
    status <- suppressWarnings(system2(words[1], shQuote(words[-1]), stdout = "out", stderr = "said",
                                       stdin = if (is.null(input)) "/dev/null" else input))
    said <- if (file.exists("said")) readLines("said", encoding = "UTF-8") else character()
    if (status != 0) {
        if (!nzchar(Sys.which(words[1]))) stop(words[1], " is not in PATH", call. = FALSE)
        stop(paste(c(grep(": warning: ", head(said, -1), value = TRUE), tail(said, 1)), collapse = "\n"), call. = FALSE)
    }
    said
}

# A directory of its own for a command, with the model in it.
dpline_place <- function(model = NULL) {
    place <- tempfile("dpline-")
    dir.create(place, mode = "0700")
    if (!is.null(model)) {
        writeBin(model$bytes, file.path(place, "model"))
        if (!is.null(model$schema)) writeLines(model$schema, file.path(place, "table.json"))
    }
    place
}

# The bytes of UTF-8, which R writes as they are in every locale, also in "C".
dpline_utf8 <- function(x) {
    other <- !is.na(x) & (Encoding(x) != "unknown" | !validUTF8(x))
    x[other] <- enc2utf8(x[other])
    Encoding(x) <- "unknown"
    x
}

# A cell is written by its own value only, so that one row cannot change another.
dpline_csv <- function(data, file) {
    times <- vapply(data, inherits, NA, "POSIXt")
    data[times] <- lapply(data[times], format, "%Y-%m-%d %H:%M:%S")
    texts <- vapply(data, function(x) is.character(x) || is.factor(x), NA)
    data[texts] <- lapply(data[texts], function(x) dpline_utf8(as.character(x)))
    names(data) <- dpline_utf8(names(data))
    write.csv(data, file, row.names = FALSE, na = "")
}

# The rows with their numbers in a first column, so that none looks like a line of units, of totals or like the header again, which
# dp-import(1) skips. It has a name that is none of the names.
dpline_numbered <- function(data, names) {
    name <- tail(make.unique(c(names, names(data), "row"), sep = "_"), 1)
    cbind(structure(data.frame(seq_len(nrow(data))), names = name), data)
}

dpline <- function(formula, data, epsilon = 1, delta = NULL, schema = NULL, classes = NULL, person = NULL, ledger = NULL,
                   population = NULL) {
    label <- all.vars(formula[[2]])
    columns <- gsub("`", "", attr(terms(formula, data = data), "term.labels"))
    wrong <- setdiff(c(label, columns, if (is.character(person)) person), names(data))
    if (length(label) != 1 || length(wrong) > 0) stop("no column of the data: ", paste(c(wrong, label[-1]), collapse = ", "), call. = FALSE)
    if (is.null(ledger) != is.null(population)) stop("ledger and population belong together", call. = FALSE)
    place <- dpline_place()
    on.exit(unlink(place, recursive = TRUE))
    used <- dpline_numbered(data[unique(c(columns, if (is.character(person)) person, label))],
                            c(names(data), if (!is.null(schema)) unlist(strsplit(readLines(schema), "\"", fixed = TRUE))))
    dpline_csv(used, file.path(place, "table.csv"))
    if (!is.null(schema)) file.copy(schema, file.path(place, "table.json"))
    option <- function(name, value) if (!is.null(value)) c(name, format(value, digits = 15))
    said <- dpline_run(place, c(
        "dpline", "fit", "table.csv", "--test", "none", "-o", "model", "--epsilon", format(epsilon, digits = 15),
        option("--delta", delta), if (is.null(schema)) c("--label", label, if (is.numeric(data[[label]])) "--number"),
        if (is.null(schema)) c("--without", names(used)[1]),
        if (is.null(schema) && !is.null(classes)) c("--classes", paste(classes, collapse = ",")),
        if (isFALSE(person)) "--row-is-person" else option("--person", person), option("--population", population),
        if (is.null(ledger)) c("--no-ledger", "--no-registry") else c("--ledger", file.path(normalizePath(dirname(ledger)), basename(ledger)))))
    bytes <- readBin(file.path(place, "model"), "raw", file.size(file.path(place, "model")))
    carried <- !inherits(try(dpline_run(place, c("dp-info", "--get", "schema", "model")), silent = TRUE), "try-error")
    said <- said[cumsum(startsWith(said, "dpline fit: the model is in")) == 0]
    # a warning may state an exact fact about rows: it is for those who have them, and not for those who get the model
    warns <- grepl(": warning: ", said, fixed = TRUE)
    for (line in said[warns]) warning(line, call. = FALSE)
    structure(list(bytes = bytes, label = label, columns = columns, schema = if (!carried) readLines(file.path(place, "table.json")),
                   said = said[!warns & !grepl(paste0("'", names(used)[1], "'"), said, fixed = TRUE)]), class = "dpline")
}

predict.dpline <- function(object, newdata, type = c("response", "prob"), ...) {
    type <- match.arg(type)
    place <- dpline_place(object)
    on.exit(unlink(place, recursive = TRUE))
    dpline_csv(dpline_numbered(newdata, c(object$columns, object$label)), file.path(place, "new.csv"))
    said <- dpline_run(place, c("dp-predict", if (type == "prob") "--probability", if (!is.null(object$schema)) c("--schema", "table.json"),
                                "model", "-"), input = "new.csv")
    for (line in said) warning(line, call. = FALSE)
    out <- read.csv(file.path(place, "out"), check.names = FALSE, stringsAsFactors = FALSE)
    if (nrow(out) != nrow(newdata))
        stop("dp-predict gave ", nrow(out), " predictions for ", nrow(newdata), " rows", call. = FALSE)
    if (type == "response") return(out$prediction)
    structure(as.matrix(out[-1]), dimnames = list(NULL, sub("^probability_", "", names(out)[-1])))
}

print.dpline <- function(x, ...) {
    cat("A private model of", x$label, "\n")
    writeLines(x$said)
    invisible(x)
}

# The page of `dpline report`: what the model has cost, its curves and weights.
dpline_page <- function(model, file) {
    place <- dpline_place(model)
    on.exit(unlink(place, recursive = TRUE))
    dpline_run(place, c("dp-account", "report", "model", "--no-registry", "-o", "page.html"))
    invisible(file.copy(file.path(place, "page.html"), file, overwrite = TRUE))
}
