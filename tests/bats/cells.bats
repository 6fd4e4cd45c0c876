# Rows that are made of cells when they are read: the same bytes as rows that an import has written.
load helper
load variants

# table ROWS: a table with what makes rows of cells, and its schema
table() {
    awk -v rows="$1" 'BEGIN { srand(3); print "a,b,date,sex,job,y"
        for (i = 0; i < rows; i++) printf "%s,%.3f,2024-%02d-%02d,%s,%s,%s\n", rand() < .1 ? "" : int(rand() * 90), rand() * 3 - 1,
            1 + int(rand() * 12), 1 + int(rand() * 28), rand() < .5 ? "F" : "M", rand() < .1 ? "other" : "job" int(rand() * 4),
            rand() < .1 ? "?" : (rand() < .4 ? "yes" : "no") }' > t.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 80], "fill": 7, "indicator": true},
        {"name": "b", "type": "numeric", "bounds": [-1, 1.5], "scale": "none", "basis": "hats", "knots": [-0.5, 0.25]},
        {"name": "date", "type": "numeric", "date": "%Y-%m-%d", "bounds": ["2024-01-01", "2025-01-01"], "fill": "2024-05-01"},
        {"name": "sex", "type": "categorical", "categories": ["F", "M"], "drop": "first"},
        {"name": "job", "type": "categorical", "categories": ["job0", "job1", "job2", "job3"], "unknown": "zero", "indicator": true, "missing": ["job3"]},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}' > s.json
}
# both OPTION…: cells.dp and dense.dp of the table. They get one digest and one split, so that streams can be compared
both() {
    for storage in dense cells; do
        dp-import csv --schema s.json --population p --no-registry --force -q --storage $storage -o $storage.dp --test test-$storage.dp \
            --split 0.8 "$@" t.csv
        dp-info --verify $storage.dp > /dev/null
    done
    [ "$(dp-info -g digest cells.dp)" != "$(dp-info -g digest dense.dp)" ]
    for name in digest split; do sed -i "s/$(dp-info -g $name cells.dp)/$(dp-info -g $name dense.dp)/" cells.dp/dataset.json; done
}
# inline DATA: all its rows, as other programs get them
inline() {
    dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data $1 --mode full --inline | tee $1.raw |
        dp-grad --loss logistic --clip 1 | dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step --step 1" > /dev/null
    dp-cat --full --kind lap $1.raw
}

@test "rows are the bytes that an import would have written, for each basis and each scaling" {
    table 300
    for how in "--row-norm unit" "--row-norm cap" "--row-norm bounds" "--row-norm unit --no-bias" "--basis cosines" "--basis bins" \
        "--basis line" "--basis products --row-norm unit" "--basis products --products 30" "--bad-cells missing"; do
        both $how
        inline dense.dp > dense
        inline cells.dp > cells
        cmp dense cells
        [ "$(wc -c < dense)" -gt 10000 ]
    done
    [ "$(stat -c %s cells.dp/X_cells.npy)" = $((128 + 240 * 5 * 8)) ]
    run dp-info cells.dp
    assert_line --partial ", dense, made of cells when they are read"
    assert_equal "$(dp-info -g storage cells.dp)" cells
}

# same LOSS VARIANT: the model and the stream of both
same() {
    train dense "${HOW:-fused}" "$(pipeline dense.dp $1 $2)"
    train cells "${HOW:-fused}" "$(pipeline cells.dp $1 $2)"
    cmp dense cells
    cmp dense.stream cells.stream
}

@test "runs give the same bytes: every method, threads, processes, inline" {
    table 600
    sed -i 's/,?$/,no/' t.csv # not all methods know null rows
    both --basis products --row-norm unit
    for variant in parallel threads release sequential non-private clip inline gradient gradient-threads gradient-clip sgd behind \
        behind-threads behind-inline kinds search search-same select select-threads erm erm-threads descent permutation coins; do
        same logistic $variant
    done
    HOW=processes same logistic gradient
    HOW=processes same logistic behind-threads
}

@test "networks: models, predictions, and measures of more rows than a thread keeps" {
    table 1200
    sed -i 's/,?$/,no/' t.csv
    both
    for data in dense cells; do
        dp-loop --laps 3 --seed 11 --exec fused -o $data -- "dp-sample --data $data.dp --rate 0.5 |
            dp-net-grad --data $data.dp --network '$(dp-info -g cols dense.dp); fc 7 tanh; fc 1' --loss logistic --clip 1 | dp-noise -z 1 |
            dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step --step 1" > $data.stream
    done
    cmp dense cells
    for tool in "dp-predict --scores dense --data" "dp-eval --private-data --last -i dense.stream --data"; do
        for data in dense cells; do $tool $data.dp > $data.out; done
        cmp dense.out cells.out
    done
}

@test "persons, splits, predictions and measures" {
    table 400
    both --basis cosines
    train model fused "dp-sample --data dense.dp --rate 0.3 | dp-grad --data dense.dp --loss logistic --clip 1 | dp-noise -z 2 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step --step 1"
    for tool in "dp-predict --scores model --data" "dp-eval --private-data --last -i model.stream --data"; do
        cmp <($tool test-dense.dp) <($tool test-cells.dp)
    done
    awk -F, -v OFS=, 'NR == 1 { print "who", $0; next } { print "p" int(NR / 3), $0 }' t.csv > u.csv && mv u.csv t.csv
    jq '.columns |= [{"name": "who", "type": "person"}] + .' s.json > u.json && mv u.json s.json
    for storage in dense cells; do # whose rows come first is drawn at random
        dp-import csv --schema s.json --population p --no-registry --force -q --storage $storage -o $storage.dp --rows-per-person 3 t.csv
        dp-info --verify $storage.dp > /dev/null
        inline $storage.dp | python3 -c '
import json, sys
frame = json.loads(sys.stdin.readline())
(count, width), x, y = frame["X"]["shape"], frame["X"]["values"], frame["y"]["values"]
print(count, sorted((x[i * width:(i + 1) * width], y[i]) for i in range(count)), sorted(frame["person_rows"]["values"]))' > $storage
    done
    cmp dense cells
    [ "$(cut -d' ' -f1 dense)" = 400 ]
}

@test "more than 256 MB of rows are kept as cells, unless --storage says how" {
    awk 'BEGIN { srand(1); for (j = 0; j < 40; j++) printf "c%d,", j; print "y"
        for (i = 0; i < 20000; i++) { for (j = 0; j < 40; j++) printf "%d,", rand() * 100; print rand() < .5 } }' > t.csv
    jq -n '{header: true, columns: ([range(40) | {name: "c\(.)", type: "numeric", bounds: [0, 100]}] + [{name: "y", type: "label", classes: ["0", "1"]}])}' > s.json
    timeout 60 dp-import csv --schema s.json --no-registry -q --basis products -o wide.dp --split 0.9 --test test.dp t.csv
    assert_equal "$(dp-info -g storage wide.dp) $(dp-info -g storage test.dp)" "cells cells"
    [ "$(du -sm wide.dp | cut -f1)" -lt 10 ]
    timeout 60 dp-import csv --schema s.json --no-registry -q --basis cosines -o less.dp --split 0.9 --test less-test.dp t.csv
    assert_equal "$(dp-info -g storage less.dp)" dense
}

@test "what cannot be kept as cells is refused" {
    table 10
    refuses() {
        complains 2 "dp-import: $1" dp-import csv --schema s.json --no-registry -q --storage cells -o x.dp "${@:2}" t.csv
        [ ! -e x.dp ]
    }
    refuses "--storage cells: rows may have any norm" --row-norm none
    refuses "--storage cells: values are rounded to 16 bits" --quantise
    cp s.json whole.json
    jq '.["inferred-schema"] = true' whole.json > s.json
    dp-import csv --infer-schema found.json --label y -q t.csv
    cp found.json s.json
    refuses "--storage cells: the schema is not public, and rows are made by the schema"
    jq '.columns[3] = {"name": "sex", "type": "text", "columns": 10}' whole.json > s.json
    refuses "--storage cells: a column has texts"
    printf '@relation r\n@attribute a {u,v}\n@attribute y {no,yes}\n@data\nu,no\nv,yes\n' > t.arff
    complains 2 "dp-import: --storage cells: the table has no schema" dp-import arff --no-registry -q --storage cells -o x.dp t.arff
    printf '1 1:0.5\n0 2:1\n' > t.svm
    complains 2 "dp-import: --storage cells: the schema is not public, and rows are made by the schema" dp-import libsvm --no-registry -q --storage cells -o x.dp t.svm
}

@test "data sets that were changed: cells that cannot be, and other schemas" {
    table 50
    both --basis cosines
    complains 1 "dp-info: cells.dp: its contents are not those that dp-import wrote: the digest differs" dp-info --verify cells.dp # of dense.dp
    dp-import csv --schema s.json --population p --no-registry --force -q --storage cells --basis cosines -o cells.dp t.csv
    inline cells.dp > whole
    for cell in inf nan 1e300 -1 2.5 9 -inf; do # of a category, in row 1
        cp -r cells.dp bad.dp
        python3 -c 'import struct,sys; f=open("bad.dp/X_cells.npy","r+b"); f.seek(128+3*8); f.write(struct.pack("<d",float(sys.argv[1])))' "$cell"
        inline bad.dp > changed
        # such a row is zeros; the others are as they were
        python3 - <(sed -n 1p changed) <(sed -n 1p whole) <<'P'
import json, sys
a, b = (json.loads(open(p).readline()) for p in sys.argv[1:3])
def rows(frame):
    (count, width), values = frame["X"]["shape"], frame["X"]["values"]
    return [values[i * width:(i + 1) * width] for i in range(count)]
assert all(v == 0 for v in rows(a)[0]), rows(a)[0]
assert rows(a)[1:] == rows(b)[1:]
P
        complains 1 "dp-info: bad.dp: its contents are not those that dp-import wrote: the digest differs" dp-info --verify bad.dp
        rm -r bad.dp
    done
    cp -r cells.dp bad.dp
    edit() { jq "$1" cells.dp/dataset.json > bad.dp/dataset.json; }
    edit '.schema.columns[0].bounds = [0, 90]'
    complains 1 "dp-info: bad.dp: its contents are not those that dp-import wrote: the digest differs" dp-info --verify bad.dp
    edit 'del(.schema)'
    complains 1 'dp-info: bad.dp: has no "schema", of which its rows are made' dp-info bad.dp
    edit '.schema.columns[0].indicator = false'
    complains 1 "dp-info: bad.dp: its schema makes rows of 30 entries, and dataset.json states 31" dp-info bad.dp
    edit 'del(.schema.columns[0])'
    run dp-info bad.dp
    assert_failure 1
    edit '.schema.row_norm = "none"'
    complains 1 "dp-info: bad.dp: rows are not made of cells: rows may have any norm" dp-info bad.dp
    edit '.schema.columns[3].fill = "mode"' # which is nowhere stated
    complains 1 "dp-info: bad.dp: rows are not made of cells: the schema is not public, and rows are made by the schema" dp-info bad.dp
    edit '.schema.columns[0].scale = "max-abs"'
    complains 1 "dp-info: bad.dp: rows are not made of cells: the schema is not public, and rows are made by the schema" dp-info bad.dp
    edit '.schema.columns[3] = {"name": "sex", "type": "text", "columns": 3}'
    complains 1 "dp-info: bad.dp: rows are not made of cells: a column has texts" dp-info bad.dp
    edit '.schema = 5'
    complains 1 'dp-info: bad.dp/dataset.json: "schema" is not an object' dp-info bad.dp
    edit '.format = 5'
    complains 1 "dp-info: bad.dp/dataset.json is of format 5; 4 is the newest that this version knows" dp-info bad.dp
    edit . && truncate -s -8 bad.dp/X_cells.npy
    run dp-info bad.dp
    assert_failure 1
}
