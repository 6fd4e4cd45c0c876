# dp-rows and dpline rows: synthetic rows from released tables.
load helper

# 6,000 rows in which died follows ward and age
prepare() {
    echo '{"header": true, "columns": [{"name": "ward", "type": "categorical", "categories": ["a", "b", "c"], "unknown": "zero"},
        {"name": "age", "type": "numeric", "bounds": [0, 100], "basis": "bins", "knots": [30, 50, 70], "indicator": true},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
        {"name": "died", "type": "label", "classes": ["no", "yes"]}]}' > t.json
    awk 'BEGIN { srand(3); print "ward,age,sex,died"; for (i = 0; i < 6000; i++) { w = 1 + int(4 * rand()); a = int(101 * rand())
        printf "%s,%s,%s,%s\n", substr("abcd", w, 1), rand() < .1 ? "" : a, rand() < .5 ? "f" : "m", rand() < .05 + .1 * w + .004 * a ? "yes" : "no" } }' > t.csv
    dp-import csv -s t.json -q -o t.dp t.csv
}
# laps COUNT2 [ROWS]: two laps of tables, the second counted by COUNT2
laps() {
    dp-loop -q --plan 'pairs 1, cells 1' --seed 1 --exec "${3:-auto}" -o "${4:-t.model}" -- "dp-sample --data t.dp --mode full | dp-count --data t.dp --on pairs --tables ${5:-pairs} |
        dp-count --data t.dp --on cells $1 |${KEEP:+ tee $KEEP |} dp-noise --on pairs -z 8 | dp-noise --on cells -z 5 |
        dp-account --epsilon 1 --delta 1e-5 --allow-seeded --no-ledger --no-registry | dp-rows ${2-}" > /dev/null
}
# share FILE AWK: the part of its rows for which the condition holds
share() { awk -F, "NR > 1 { n++; if ($2) k++ } END { printf \"%.4f\", k / n }" "$1"; }

@test "usage" {
    run -0 dp-rows --help
    assert_output --partial "--target COLUMN"
    complains 2 'dp-rows draw: expected one model of dp-rows' dp-rows draw
    complains 2 'dp-rows plan: expected one data set, --schema, or --rows and --columns (try --help)' dp-rows plan
    complains 2 "dpline rows: -o is required: where the rows go" dpline rows t.csv
    complains 2 "dpline rows: no.csv is not there: a table or a data set is expected" dpline rows no.csv -o r.csv
}

@test "rows have the margins and the pairs of the table, in the words of the schema" {
    laps '--at-most 3' '--target died'
    dp-rows draw t.model > rows.csv
    assert_equal "$(head -n 1 rows.csv)" ward,age,sex,died
    assert_equal "$(wc -l < rows.csv)" 6001
    run awk -F, 'NR > 1 && !($1 ~ /^(a|b|c|other)$/ && $2 ~ /^([0-9]+|)$/ && $2 <= 100 && $3 ~ /^[fm]$/ && $4 ~ /^(no|yes)$/)' rows.csv
    assert_output ''
    # the noise on a cell is 5 sqrt(3) rows, or 8 sqrt(6): .02 is six deviations of sums over the four wards
    for what in '$4 == "yes"' '$1 == "b" && $4 == "yes"' '$2 == ""' '$2 != "" && $2 < 30 && $4 == "no"'; do
        assert_equal "$(awk -v a="$(share t.csv "$what")" -v b="$(share rows.csv "$what")" 'BEGIN { print (a - b) ^ 2 < .02 ^ 2 }')" 1
    done
}

@test "numbers lie in the parts of their bins that the schema has" {
    jq '.columns[1] += {"parts": [0, 10, 12, 12, 40, 60, 100], "shares": [0.1, 0, 0.3, 0, 0.2, 0.4]}' t.json > parts.json
    dp-import csv -s parts.json -q -o parts.dp t.csv
    rm -r t.dp
    mv parts.dp t.dp
    laps '--at-most 3' '--target died'
    dp-rows draw t.model > rows.csv
    # three quarters of the rows below 30 are 12, the others below 10; 40 to 50 of 30 to 50: six deviations of some 1,700 rows are .07
    run awk -F, 'NR > 1 && $2 != "" && $2 < 30 { n++; k += $2 == 12; bad += $2 > 9 && $2 != 12 } NR > 1 && $2 >= 30 && $2 < 40 { bad++ }
        END { print bad + 0, (k / n - .75) ^ 2 < .07 ^ 2 }' rows.csv
    assert_output '0 1'
}

@test "few rows for the noise are said" {
    head -n 1001 t.csv > few.csv
    dp-import csv -s t.json -q -o few.dp few.csv
    run -0 --separate-stderr dp-rows plan --delta 1e-5 few.dp
    assert_regex "$stderr" '^dp-rows plan: few rows for this budget: [0-9]+ for each unit of noise\. Rows with fewer than 200 may teach a model badly$'
    run -0 --separate-stderr dp-rows plan --delta 1e-5 t.dp
    assert_equal "$stderr" ''
}

@test "the list of the second lap follows from the released tables, and its bound is announced" {
    KEEP=counted.frames laps '--at-most 3' '--target died'
    assert_equal "$(dp-cat --full --last counted.frames | jq -c '[.tables | fromjson | length, (.[] | .columns | length)] | .[0]')" 3
    assert_equal "$(dp-cat --full --last counted.frames | jq -c '.records[0] | .sensitivity')" 1.7320508075688774
    run laps '--at-most 2'
    assert_failure 1
    assert_output "dp-count: --at-most: the frame's list has 3 tables, and sums of up to 0 numbers"
    run laps ''
    assert_failure 2
    assert_output 'dp-count: --tables is required, or --at-most for the list of the frame'
}

@test "the same bytes: threads, sets of instructions, processes or fused" {
    laps '--at-most 3' '--target died' fused fused.model
    laps '--at-most 3' '--target died' processes
    dp-rows draw t.model > rows.csv
    dp-rows draw fused.model | cmp rows.csv
    dp-rows draw --threads 1 t.model | cmp rows.csv
    DPLINE_ISA=portable dp-rows draw --threads 3 t.model | cmp rows.csv
    run ! cmp -s rows.csv <(dp-rows draw --seed 2 t.model)
    assert_equal "$(dp-rows draw --rows 70 t.model | wc -l)" 71
}

@test "what rows are not made from" {
    complains 2 "dp-rows plan: --target: there is no column 'who'" dp-rows plan --target who t.dp
    run laps '--at-most 3' '' auto t.model ward,sex
    assert_failure 1
    assert_output 'dp-rows: the tables of lap 1 are not all pairs of columns (dp-count --tables pairs)'
    head -n 401 t.csv > few.csv
    dp-import csv -s t.json -q -o few.dp few.csv
    run -3 dp-rows plan --delta 1e-5 few.dp
    assert_output --regexp '^dp-rows plan: epsilon 1 does not pay for tables of 4 columns and 400 rows: [0-9]+ rows, or 2 columns, would do$'
    jq '.columns[1] |= (del(.basis) | del(.knots))' t.json > lines.json
    dp-import csv -s lines.json -q -o lines.dp t.csv
    complains 2 "dp-rows plan: column 'age' is a number without bins, so it has no cells to count: dp-import --basis bins, or \"basis\": \"bins\" in its schema, gives it cells" dp-rows plan lines.dp
}

@test "one command: schema, bins and both laps are in the ledger, and a second run overspends" {
    cp t.csv u.csv && cp t.csv v.csv
    dpline rows u.csv --epsilon 1 --target died -o rows.csv -q
    assert_equal "$(head -n 1 rows.csv)" ward,age,sex,died
    assert_equal "$(wc -l < rows.csv)" 6001
    run -0 dp-account report u.json.ledger
    assert_output --partial 'spent: epsilon 1 at delta'
    dp-account budget --data u.dp --epsilon 1.5 --delta 1e-4 --after-runs
    run dpline rows u.dp --epsilon 1 --target died -o more.csv -q
    assert_failure
    [ ! -e more.csv ]
    complains 2 "dpline rows: --target: there is no column 'who' in v.csv" dpline rows v.csv --target who -o r.csv
}

@test "schema, bins and laps are one composition, which costs what was asked and hardly less" {
    cp t.csv u.csv
    dpline rows u.csv --epsilon 1 --delta 1e-5 --target died --no-registry -o rows.csv -q
    assert_equal "$(ledger_noise u.json.ledger)" 'gaussian-threshold gaussian gaussian gaussian'
    costs_whole u.json.ledger
    cp t.csv few.csv && cp t.json few.json # a schema with knots costs nothing
    dpline rows few.csv --epsilon 1 --delta 1e-5 --target died --no-registry -o more.csv -q
    assert_equal "$(ledger_noise few.dp/ledger)" 'gaussian gaussian'
    costs_whole few.dp/ledger
}

@test "the mark: synthetic rows belong to nobody, and other rows in their place are refused" {
    local population
    laps '--at-most 3' '--target died'
    dp-rows draw t.model > rows.csv
    printf 'synthetic rows\n%s\n' "$(b2sum -l 256 < rows.csv | cut -d ' ' -f 1)" > rows.csv.synthetic
    run -0 dp-import csv -s t.json -q -o rows.dp rows.csv
    assert_output 'dp-import: rows.csv has synthetic rows: they belong to nobody, and a model of them costs no person anything'
    population=$(dp-info --get population rows.dp)
    assert_equal "$population" "dp-synth:rows:$(sed -n '2s/^\(.\{16\}\).*/\1/p' rows.csv.synthetic)"
    run ! grep -rqF "$population" "$XDG_STATE_HOME"
    complains 2 'dp-import: --population: rows.csv.synthetic says that the rows are synthetic, and belong to nobody' dp-import csv -s t.json --population ward -q -o more.dp rows.csv
    dp-import csv -s t.json -q --split 0.5 --test test.dp -o half.dp rows.csv 2> /dev/null
    assert_equal "$(dp-info --get split half.dp)" "$(dp-info --get split test.dp)"
    cp t.csv rows.csv
    complains 5 'dp-import: rows.csv.synthetic marks other rows than rows.csv has: remove it, if these are rows of people, or make them again' dp-import csv -s t.json -q -o more.dp rows.csv
    run -5 dp-import csv --infer-schema s.json --private-schema 1 rows.csv
    [ ! -e s.json.ledger ]
    echo 'something else' > rows.csv.synthetic
    dp-import csv -s t.json -q -o people.dp rows.csv
    assert_equal "$(dp-info --get population people.dp)" "$(dp-info --get population t.dp)"
}

@test "fit and dp-eval say that rows are synthetic" {
    cp t.csv u.csv && cp t.json u.json
    dpline rows u.csv --epsilon 1 --target died -o rows.csv -q
    assert_equal "$(head -c 14 rows.csv.synthetic)" 'synthetic rows'
    cp t.json rows.json
    run -0 dpline fit rows.csv --epsilon 1 -o m.model
    assert_output --partial 'dp-import: rows.csv has synthetic rows: they belong to nobody'
    assert_output --partial 'the rows are synthetic: people pay nothing for this, and paid when the rows were made'
    run -0 dp-eval --data rows-test.dp --metrics accuracy --last --in m.model
    assert_output --partial 'the rows of rows-test.dp are synthetic, and these measures are not measures on people'
    dp-import csv -s u.json -q --basis products -o people.dp u.csv
    run dp-eval --data people.dp --metrics accuracy --last --in m.model
    refute_output --partial synthetic
}

@test "too few rows are refused before the schema is paid for" {
    head -n 301 t.csv > few.csv
    run -3 dpline rows few.csv --epsilon 1 -o rows.csv
    assert_output --regexp '^dp-rows plan: epsilon 1 does not pay for tables of 4 columns and 300 rows: 404 rows, or 2 columns, would do$'
    [ ! -e few.json ]
    [ ! -e few.json.ledger ]
    run -3 dp-rows plan --rows 200 --columns 4
    assert_output --regexp '^dp-rows plan: epsilon 1 does not pay for tables of 4 columns and 200 rows: [0-9]+ rows would do$' # rows need two columns
    run -0 dp-rows plan --rows 100000 --columns 4
    assert_output ''
}

@test "free text, and a target that is not there, are refused before bins are paid for" {
    cp t.csv n.csv
    jq '.columns[0] = {"name": "ward", "type": "text"} | .columns[1] |= del(.knots)' t.json > n.json
    complains 2 "dp-rows plan: column 'ward' of n.json is free text, so it has no cells to count: \"type\": \"ignore\" leaves it out; nothing was charged" \
        dpline rows n.csv -o rows.csv -q
    jq '.columns[1] |= del(.knots)' t.json > n.json
    complains 2 "dp-rows plan: --target: there is no column 'who' in n.json" dpline rows n.csv --target who -o rows.csv -q
    jq '.columns[1] |= del(.knots) | .columns[3] |= del(.classes)' t.json > n.json
    complains 2 "dp-rows plan: column 'died' of n.json is a label that is a number without bounds, so it has no cells to count: \"bounds\" give it cells; nothing was charged" \
        dpline rows n.csv -o rows.csv -q
    # what a data set would be refused for
    for wrong in '"scale": "max-abs"' '"scale": "none"' '"bounds": [0, 9], "basis": "line"'; do
        jq ".columns[0] = {\"name\": \"ward\", \"type\": \"numeric\", $wrong}" t.json > n.json
        run -2 dpline rows n.csv -o rows.csv -q
        assert_output --regexp "^dp-rows plan: column 'ward' of n.json is a number without b(ound|in)s, so it has no cells to count: .*; nothing was charged$"
    done
    jq '.columns[0] |= (.drop = "first" | .unknown = "zero")' t.json > n.json
    complains 2 "dp-rows plan: column 'ward' of n.json is without its first category, and other texts look like it, so it has no cells to count: a schema without \"drop\" gives it cells; nothing was charged" \
        dpline rows n.csv -o rows.csv -q
    jq '.columns[0] = {"name": "ward", "type": "person", "rows_per_person": 3}' t.json > n.json
    complains 2 "dp-rows plan: persons of n.json have several rows, and the number of rows is not public; nothing was charged" \
        dpline rows n.csv -o rows.csv -q
    jq '.columns[0] = {"name": "ward", "type": "ignore"}' t.json > n.json
    complains 2 "dp-rows plan: --target: there is no column 'ward' in n.json" dpline rows n.csv --target ward -o rows.csv -q
    [ ! -e n.dp ]
    [ ! -e n.dp.ledger ]
    # texts of a table without a schema are private: what has no frequent text is left out, which is said
    awk -F, -v OFS=, '{ print NR == 1 ? "note" : "day " NR " of ward " $1, $0 }' t.csv > texts.csv
    run -0 dpline rows texts.csv --row-is-person -o rows.csv
    assert_line "dp-import: column 'note' is left out: no number, date or text of it is frequent enough: these are names, free texts, or numbers in a notation that is not read"
    assert_equal "$(head -n 1 rows.csv)" ward,age,sex,died
}

@test "too many rows, and a target that is left out, are refused before the schema is paid for" {
    cp t.csv many.csv
    complains 2 "dpline rows: --rows: must be at most 10000000, got '10000001'" dpline rows many.csv --rows 10000001 -o rows.csv
    complains 2 "dpline rows: --target: 'died' is left out by --without" dpline rows many.csv --target died --without sex,died -o rows.csv
    [ ! -e many.json ]
    [ ! -e many.json.ledger ]
}

@test "names with commas, quotes and blanks" {
    sed '1s/.*/"ward, of ""stay""",age of x, sex ,"died"/' t.csv > quotes.csv
    complains 2 "dpline rows: --target: there is no column 'ward' in quotes.csv" dpline rows quotes.csv --target ward -o rows.csv
    complains 2 "dpline rows: --target: there is no column 'ageof x' in quotes.csv" dpline rows quotes.csv --target 'ageof x' -o rows.csv
    [ ! -e quotes.json.ledger ]
    dpline rows quotes.csv --target 'ward, of "stay"' --row-is-person --no-registry -q -o rows.csv
    assert_equal "$(head -n 1 rows.csv)" '"ward, of ""stay""",age of x,sex,died'
    dp-import csv -s quotes.json -q -o again.dp rows.csv
    # a delimiter of other tables in a name
    sed '1s/.*/ward;age|years;sex;died, or not/; s/,/;/g; 1s/died;/died,/' t.csv > lines.csv
    dpline rows lines.csv --target 'died, or not' --row-is-person --no-registry -q -o lines-rows.csv
    assert_equal "$(head -n 1 lines-rows.csv)" 'ward,age|years,sex,"died, or not"'
}

@test "what was paid for is kept if the rows cannot be written" {
    cp t.csv disk.csv
    run -1 bash -c "ulimit -f 2000; dpline rows disk.csv --schema t.json --target died --row-is-person --no-registry --rows 300000 -o full.csv"
    assert_line --partial "File too large"
    dp-rows draw full.csv.model --rows 10 > few.csv
    assert_equal "$(wc -l < few.csv)" 11
    # the mark is there before the rows, so a part of them is not taken for rows of people
    printf '#!/bin/sh\ncase "$*" in *part.csv) exit 1 ;; esac\nexec %s "$@"\n' "$(command -v mv)" > mv
    chmod +x mv
    PATH=$PWD:$PATH run -1 dpline rows disk.dp --target died --no-registry -q -o part.csv
    assert_line "dpline rows: what was paid for is in part.csv.model"
    [ -s part.csv.synthetic ]
    assert_equal "$(ls part.csv*)" $'part.csv.model\npart.csv.synthetic'
    assert_equal "$(stat -c %a part.csv.model)" "$(touch new && stat -c %a new)"
    rm mv
    ln -s nowhere/rows.csv nowhere.csv
    complains 2 "dpline rows: -o: nowhere.csv cannot be written" dpline rows disk.dp -o nowhere.csv
    run -1 bash -c 'dpline tables disk.dp --by ward --no-registry -q > /dev/full'
    assert_line --regexp '^dpline tables: what was paid for is in /.*/model$'
    # a full disk
    ln -s /dev/full lost.csv.model
    for run in 'rows disk.dp --target died' 'tables disk.dp --by ward'; do
        run -1 dpline $run --no-registry -q -o lost.csv
        assert_line --partial 'No space left on device'
        assert_line --regexp "^dpline ${run%% *}: what was paid for is in /.*/model$"
        dp-info "$(sed -n 's/.*paid for is in //p' <<< "$output")"
        [ ! -e lost.csv ]
    done
    mkdir dir.csv.model
    complains 2 "dpline rows: -o: dir.csv.model cannot be written" dpline rows disk.dp -o dir.csv
    complains 2 "dpline tables: -o: /dev/null is no file, and /dev/null.model goes next to it" dpline tables disk.dp --by ward -o /dev/null
}

@test "without a target the last column that is not left out is the label" {
    awk -v OFS=, 'NR > 1 { $2 = sprintf("2026-01-%02d", 1 + NR % 28) } NR == 1 { $2 = "day" } 1' t.csv > last.csv
    run -0 dpline rows last.csv --row-is-person --without day --no-registry -o rows.csv
    assert_line "dpline rows: without --target the last column is the label of the proposed schema: it must have classes or numbers"
    assert_line 'dp-import: column '"'died' is label, classes [\"no\",\"yes\"]"
    assert_equal "$(head -n 1 rows.csv)" ward,age,sex,died
}

@test "dp-info says that a model is tables" {
    laps '--at-most 3' '--target died'
    run -0 dp-info t.model
    assert_line --index 0 --regexp '^model: tables of counts \(9 tables, [0-9]+ numbers\), which dp-table print shows; dp-rows draw makes synthetic rows of them$'
    assert_line --index 1 "counted in: data set $(dp-info --get digest t.dp), 6000 rows"
    assert_line --regexp '^privacy: epsilon 0[.][0-9]+, delta 1e-05$'
    run -0 dp-table print t.model
}

@test "0 and 1 are whole if the lower bound is nearly 0" {
    sed 's/,f,/,0,/; s/,m,/,1,/' t.csv > b.csv
    jq '.columns[2] = {"name": "sex", "type": "numeric", "bounds": [-1.9073486328125e-06, 2], "basis": "bins", "knots": [0.0078, 0.9999, 1.0078]}' t.json > b.json
    dp-import csv -s b.json -q -f -o t.dp b.csv
    laps '--at-most 3'
    dp-rows draw t.model > rows.csv
    # .45 of the rows and more have each of the two: the noise on a cell is 20 rows of 6,000
    assert_equal "$(awk -v a="$(share rows.csv '$3 == "0"')" -v b="$(share rows.csv '$3 == "1"')" 'BEGIN { print (a > .45) * (b > .45) }')" 1
    assert_equal "$(share rows.csv '$3 !~ /^[012]$/')" 0.0000
}

@test "how far rows are from the tables is said, in the mark and on the page, too" {
    laps '--at-most 3' '--target died'
    run -0 --separate-stderr dp-rows draw --errors errors t.model
    assert_equal "$stderr" "$(sed 's/^/dp-rows draw: /' errors)"
    run -0 sed 's/[0-9.]*[0-9]/N/g' errors
    local far='by N on average (total variation), where noise gives N; at most by N, where noise gives N, for'
    assert_line --index 0 --regexp "^tables of two columns: rows differ from the N that were released ${far//[()]/.} [a-z]+, [a-z]+$"
    assert_line --index 1 --regexp '^tables of three columns: (no table was released, so the error of rows is not known|.*; the error for other columns is not known)$'
    # noise of 8 √6 on tables of 20, 8, 8, 10, 10 and 4 cells, and fewer rows than noise: what the rows can follow of it they follow
    local compared='{ split($0, w, /by |, where noise gives |;| on av/); print (w[2] > 0) + (w[2] > 1.1 * w[4]) + (w[2] > 5 * w[4]); exit }'
    assert_equal "$(awk "$compared" errors)" 1
    # three rows cannot follow tables of 6,000
    dp-rows draw --rows 3 --errors few t.model > few.csv
    assert_equal "$(awk "$compared" few)" 3
    run -1 dp-rows draw --errors no/errors t.model
    assert_output --partial 'no/errors'
    cp t.csv u.csv && cp t.json u.json
    dpline rows u.csv --epsilon 1 --no-registry --target died -o rows.csv -q
    dp-rows draw --errors errors rows.csv.model > /dev/null
    sed 1,2d rows.csv.synthetic | diff - errors
    dpline report rows.csv.model | tr -s ' \n' ' ' > page
    assert_equal "$(grep -cF -e "$(sed 's/^/- /' errors | tr -s ' \n' ' ')" page)" 1
    # another file of that name, or the mark of other rows, may be private
    for first in 'patients of rows.csv.model' 'synthetic rows of other.csv.model'; do
        { echo "$first" && echo 2 && cat errors; } > rows.csv.synthetic
        run -0 dpline report rows.csv.model
        refute_output --partial 'tables of two columns'
    done
    rm rows.csv.synthetic
    run -0 dpline report rows.csv.model
    refute_output --partial 'tables of two columns'
}

@test "what rows do not have as the table has it is said" {
    jq '.columns[1] = {"name": "age", "type": "numeric", "bounds": [0, 1e-6], "basis": "bins", "knots": 2, "indicator": true} | .columns[0] |= (.categories = ["a"] | .buckets = 4 | del(.unknown))' t.json > said.json
    dp-import csv -s said.json -q -f -o t.dp t.csv
    laps '--at-most 3'
    run -0 --separate-stderr dp-rows draw t.model
    # 1.96 times the noise of a cell of six tables, 8 √6
    assert_equal "$(grep -v 'draw: tables of' <<< "$stderr")" "dp-rows draw: do not believe a group of fewer than 39 rows, by two columns or one: noise hides it
dp-rows draw: column 'ward': texts that the schema does not name are 'other 1', 'other 2', ...
dp-rows draw: column 'age': rows have 1 for each number above 0, which the schema does not tell apart"
    assert_equal "$(sed 1d <<< "$output" | cut -d, -f 2 | sort -u | paste -sd ,)" ",0,1"
}
