#!/usr/bin/env bats
# What a new user gets wrong, and the sentence that says what to do.
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    export DPLINE_REGISTRY=$BATS_FILE_TMPDIR/registry
    awk 'BEGIN { print "age,job,ill"; for (i = 0; i < 1500; i++) print 20 + i % 60 "," substr("abc", 1 + i % 3, 1) "," (i % 60 > 30 ? "yes" : "no") }' > people.csv
    cat > people.json << 'END'
{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [18, 88]},
  {"name": "job", "type": "categorical", "categories": ["a", "b", "c"]},
  {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}
END
    dp-import csv -s people.json --split .8 -q -o people.dp -t people-test.dp people.csv
    dpline fit people.dp --epsilon 1 --seed 1 -q -o people.model > /dev/null
}

prepare() {
    ln -s "$BATS_FILE_TMPDIR"/people.{csv,json,model} .
    cp -r "$BATS_FILE_TMPDIR"/people*.dp .
}

@test "a table that is not as the schema says" {
    tr , ';' < people.csv > semicolons.csv
    complains 1 "dp-import: semicolons.csv: line 1: one name, the schema has 3 columns (is the delimiter ';'?)" \
        dp-import csv -s people.json -o x.dp semicolons.csv
    sed '5s/[a-z]*$/perhaps/' people.csv > label.csv
    complains 1 "dp-import: label.csv: line 5, column 3 (ill): the label is not one of the classes (no, yes), got 'perhaps'" \
        dp-import csv -s people.json -o x.dp label.csv
    printf '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 9]},
        {"name": "y", "type": "label", "classes": ["%s"%s]}]}\n' "$(printf 'c%.0s' {1..90})" "$(printf ', "c%d"' {2..12})" > many.json
    printf 'a,y\n1,c1\n' > many.csv
    complains 1 "dp-import: many.csv: line 2, column 2 (y): the label is not one of the classes ($(printf 'c%.0s' {1..40})…, c2, c3, c4, c5, c6, c7, c8, c9, c10 and 2 more), got 'c1'" \
        dp-import csv -s many.json -o x.dp many.csv
}

@test "a table without a format, and a schema's name without a table" {
    cp people.csv people.data
    complains 2 "dp-import: the name of 'people.data' does not say its format: csv, tsv, libsvm, arff, idx, images, npy, npz or sqlite comes first" \
        dp-import people.data -s people.json -o x.dp
    complains 2 "dp-import: expected a table, or - for standard input: the name after --infer-schema is the schema's" dp-import csv --infer-schema people.csv
}

@test "names that the table does not have, or has twice" {
    cp people.csv t.csv
    complains 2 "dp-import: --label: t.csv has no column 'Ill', only age, job, ill" dpline fit t.csv --label Ill
    sed 1d people.csv > bare.csv
    complains 1 "dp-import: bare.csv: line 1: the header has no column 'age', only 20, a, no" dp-import bare.csv -s people.json -o x.dp
    sed 's/^age,job/age,age/' people.csv > twice.csv
    complains 1 "dp-import: twice.csv: column 2: the header has 'age' twice" dpline fit twice.csv --label ill
    complains 1 "dp-import: twice.csv: column 2: the header has 'age' twice" dp-import twice.csv --infer-schema x.json
    assert_not_exists twice.json
}

@test "a label with one class" {
    grep -v yes people.csv > one.csv
    complains 1 "dp-import: one.csv: the label 'ill' has only one class, so there is nothing to learn" dp-import one.csv --infer-schema one.json
    assert_not_exists one.json
}

@test "files of other programs" {
    printf 'PK\003\004 and so on, so that there are enough bytes' > people.xlsx
    for command in "dp-fit: dpline fit people.xlsx" "dp-import: dp-import people.xlsx -s people.json -o x.dp" "dp-import: dp-import csv people.xlsx -s people.json -o x.dp"; do
        complains 1 "${command%%:*}: people.xlsx is a zip archive or a workbook: unpack it, or save it as CSV" ${command#*: }
    done
    cp people.csv t.csv
    complains 5 "dp-account report: line 1 of the ledger t.csv was edited or damaged: it is not a line of a ledger (is this file a ledger?)" \
        dpline report t.csv
}

@test "a stage by itself, and a command without what it needs" {
    complains 4 "dp-sample: the input has no frame: dp-loop runs a pipeline" dp-sample --data people.dp --in /dev/null
}

@test "a schema that is no JSON" {
    sed 's/true, /true /' people.json > comma.json
    complains 1 "dp-import: comma.json: line 1: not JSON: '}' expected near '\"columns\"'" dp-import csv -s comma.json -o x.dp people.csv
}

@test "words and options that are nearly right" {
    complains 2 "dpline: 'train' is neither a pipeline nor a command (dpline fit TABLE trains a model; dpline help lists all)" dpline train people.csv
    complains 2 "dpline fit: unknown option '--eps' (did you mean --epsilon?)" dpline fit people.dp --eps 1
    complains 2 "dpline fit: unknown option '--lr' (try --help)" dpline fit people.dp --lr 1
    complains 2 "dpline fit: unexpected argument '--lr' (try --help)" dpline fit -- people.dp --lr
    complains 2 "dpline scd: unexpected argument 'people.dp' (--data names the data set, try --help)" dpline scd -- people.dp
    complains 2 "dpline fit: ./-q is not there: a table or a data set is expected" dpline fit -- -q
    dpline fit --print -- people.dp > said
    dpline fit people.dp --print | diff - said
    complains 2 "dpline fit: people.model is there already (-o people.model replaces it; each run costs budget)" dpline fit people.dp --epsilon 1
    for path in nosuch.dp nosuch.csv; do
        complains 2 "dpline fit: $path is not there: a table or a data set is expected" dpline fit $path --label y
    done
}

@test "a pipe where a table is expected" {
    mkfifo fifo.csv
    exec 5< <(cat people.csv)
    for path in fifo.csv /dev/fd/5; do
        for command in "fit $path --label ill" "rows $path -o rows.csv" "tables $path --by ill"; do
            complains 2 "dpline ${command%% *}: $path is a pipe, and a table is read more than once: write it to a file first" \
                timeout 10 dpline $command
        done
    done
    exec 5<&-
}

@test "a budget that protects nobody" {
    complains 2 "dpline fit: --epsilon: above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)" \
        dpline fit people.csv --label ill --epsilon 1000
    complains 5 "dp-account: delta = 0.01 is not below 1/N = 0.000833333: it would permit publishing somebody's row; see dp-privacy(7) on choosing it (--allow-weak if that is meant)" \
        dpline fit people.dp --epsilon 1 --delta 0.01 -o weak.model -q
    assert_not_exists weak.model
    run dpline fit people.dp --epsilon 1000 --delta 0.01 --allow-weak -o weak.model
    assert_line --regexp '^dp-account: warning: delta = 0.01 is not below 1/N'
    assert_line --regexp '^dp-account: warning: this may cost epsilon = .*, and above 10 little is hidden'
    assert_success
}

@test "summaries for programs: --json of dp-import and dpline fit is that of dp-info" {
    dp-import people.csv -s people.json --population others -o j.dp --json > said
    dp-info --json j.dp | diff - said
    dpline fit j.dp --epsilon 1 -q --json -o j.model > said
    dp-info --json j.model | diff - said
    assert_equal "$(jq -c '[.n, .labels, .epsilon <= 1]' said)" '[1500,["no","yes"],true]'
    complains 2 "dp-import: --json: standard output has the schema" dp-import people.csv --infer-schema - --json
    assert_equal "$(dp-import people.csv --infer-schema x.json --json -q)" "{\"rows\": $(sed 1d people.csv | wc -l)}"
    sed 1d people.csv > bare.csv
    assert_equal "$(dp-import bare.csv --infer-schema x.json --json -q -f)" "{\"rows\": $(wc -l < bare.csv)}"
}

@test "a table where a model is expected, and the other way round" {
    complains 1 "dp-export: people.csv: no model and no other stream of dpline: it begins with 'a', as a text does" dp-export --to json people.csv
    complains 1 "dp-info: people.csv is a text, and a data set or a model is expected (dpline fit makes both of a table)" dp-info people.csv
    complains 2 "dp-predict: people.dp is a directory: first the model, then the data set" dp-predict people.dp people.model
}

@test "rows of another schema, rows that cannot be read, rows that were held out" {
    sed 's/88/99/' people.json > other.json
    dp-import csv -s other.json -q -o other.dp people.csv
    complains 1 "dp-predict: other.dp was imported by another schema than the rows that the model was trained on" dp-predict people.model other.dp
    sed '3s/^[0-9]*/old/' people.csv | head -4 > old.csv
    run dp-predict -H --keep age people.model old.csv
    assert_success
    assert_line 'old,'
    assert_line "dp-predict: warning: old.csv: line 3, column 1 (age): expected a number, got 'old'"
    run dpline fit people-test.dp --epsilon 1
    assert_line 'dp-fit: warning: people-test.dp has the rows that were held out for tests: a model that is trained on them cannot be tested on them'
    refute_line --partial 'dp-eval --data people-test.dp'
    complains 5 'dp-eval: people.dp is the training set: what is measured on it is not covered by epsilon (--private-data if that is meant)' \
        dp-eval --data people.dp --last --in people.model
}

@test "a schema without a header for a table with one" {
    printf 'age,ill\n31,no\n64,yes\n' > t.csv
    echo '{"columns": [{"name": "age", "type": "numeric", "bounds": [0, 100]},
        {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    complains 1 "dp-import: t.csv: line 1, column 2 (ill): the label is not one of the classes (no, yes), got 'ill': the line has names, and the schema no \"header\": true" \
        dp-import t.csv -s s.json --no-registry -o t.dp
}
