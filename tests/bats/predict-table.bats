#!/usr/bin/env bats
# A model carries the schema of its table, and scores new tables by it.
load helper

prepare() {
    awk 'BEGIN { srand(7); print "id,age,smoker,ill"; for (i = 0; i < 2000; i++) { a = int(18 + 70 * rand()); s = rand() < .3
        printf "p%d,%d,%s,%s\n", i, a, s ? "yes" : "no", (a / 88 + .4 * s + .5 * rand() > 1) ? "yes" : "no" } }' > patients.csv
    cat > schema.json << 'END'
{"header": true, "missing": ["NA"], "note": "people", "columns": [{"name": "id", "type": "ignore"},
  {"name": "age", "type": "numeric", "bounds": [18, 88], "fill": 50},
  {"name": "smoker", "type": "categorical", "categories": ["no", "yes"]},
  {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}
END
    dp-import csv -s schema.json -q -o p.dp patients.csv
    dpline scd --data p.dp --loss logistic --epochs 3 --seed 1 -q -o model
    printf 'smoker,extra,age,id\nyes,1,70,a\nno,2,20,"b,c"\nno,3,x,d\nmaybe,3,30,e\nno,9,NA,f\n' > new.csv
}

@test "a table without a label, with other columns in another order, is scored as a data set of its rows" {
    dp-predict model patients.csv -p -s > by-table
    dp-predict model p.dp -p -s > by-data
    cmp by-table by-data
    # only what is needed, as it comes
    awk -F, -v OFS=, '{ print $3, $2 }' patients.csv | dpline predict model - -p -s | cmp - by-data
    dp-predict model new.csv --keep id,extra -p > out 2> said
    assert_equal "$(sed 's/[.0-9]*,[.0-9]*$//; s/,no,$/,?/; s/,yes,$/,?/; 1d' out | tr '\n' ' ')" 'a,1,? "b,c",2,? d,3,, e,3,, f,9,? '
    assert_equal "$(sed -n 4p out)" 'd,3,,,'
    assert_equal "$(cat said)" "dp-predict: warning: new.csv: line 4, column 3 (age): expected a number, got 'x'
dp-predict: warning: new.csv: line 5, column 1 (smoker): unknown category, got 'maybe'
dp-predict: warning: 2 of 5 rows could not be read, and have no prediction"
    # with one column only the row is not an empty line, which readers of CSV leave out
    assert_equal "$(dp-predict model new.csv 2> /dev/null | sed -n '4,5p')" $'""\n""'
    # the missing age is what the schema fills in
    printf 'age,smoker\n50,no\n' | dp-predict model - -p -H > filled
    assert_equal "$(cat filled)" "$(sed -n 6p out | cut -d, -f 3-)"
}

@test "every row has a line, however many cannot be read" {
    awk 'NR == 1 || NR % 3 { print; next } { sub(/,[0-9]+,/, ",x,"); print }' patients.csv > torn.csv
    dp-predict model torn.csv -K id > out 2> said
    assert_equal "$(wc -l < out)" 2001
    assert_equal "$(grep -c 'expected a number' said)" 20
    assert_equal "$(tail -1 said)" 'dp-predict: warning: 667 of 2000 rows could not be read, and have no prediction'
    dp-predict model patients.csv -K id | awk 'NR == 1 || NR % 3 { print; next } { sub(/,.*/, ","); print }' | cmp - out
}

@test "a table that is written otherwise than the training table: a line per column, and status 1" {
    jq '.columns[2].unknown = "zero" | .columns += [.columns[1] | .name = "day" | .bounds = [0, 9]]' schema.json > s.json
    awk -F , -v OFS=, 'NR == 1 { print $0, "day"; next } { print $0, NR % 10 }' patients.csv > days.csv
    dp-import csv -s s.json --bad-cells missing -q -o days.dp days.csv
    dpline scd --data days.dp --loss logistic --epochs 3 --seed 1 -q -o days.model
    # half of the cells are a warning; missing cells are not counted
    awk -F , -v OFS=, 'NR > 1 && NR % 2 { $3 = toupper($3) } NR == 2 { $2 = "old" } NR > 4 && NR < 2000 { $5 = "" } { print }' days.csv > half.csv
    dp-predict days.model half.csv > predicted 2> said
    assert_equal "$(cat said)" "dp-predict: warning: column 'age': 1 of 2000 cells cannot be read as numbers, and count as missing
dp-predict: warning: column 'smoker': 1000 of 2000 cells have no category of the model"
    # all predictions are written nevertheless
    sed '1!s/,yes,/,ja,/; 1!s/,no,/,nein,/; 1!s/,[0-9]$/,Monday/' days.csv > later.csv
    run -1 --separate-stderr dp-predict days.model later.csv
    assert_equal "${#lines[@]}" 2001
    assert_equal "$stderr" "dp-predict: warning: column 'smoker': 2000 of 2000 cells have no category of the model
dp-predict: warning: column 'day': 2000 of 2000 cells cannot be read as numbers, and count as missing
dp-predict: most cells of a column of later.csv have no meaning: it is written otherwise than the training table, or a schema that was paid for could not name its words"
}

@test "empty rows are counted, and a table of mostly empty rows has status 1" {
    dp-import csv -s schema.json --bad-cells missing -q -o gaps.dp patients.csv
    dpline scd --data gaps.dp --loss logistic --epochs 3 --seed 1 -q -o gaps.model
    gaps() { head -"$1" patients.csv && printf ',,,\n , ,,\n'; }
    gaps 4 > gaps.csv
    complains 0 "dp-predict: warning: 2 of 5 rows are empty: their prediction is of missing cells only" \
        dp-predict gaps.model gaps.csv
    gaps 2 > gaps.csv
    complains 1 "dp-predict: warning: 2 of 3 rows are empty: their prediction is of missing cells only
dp-predict: gaps.csv: most rows are empty" dp-predict gaps.model gaps.csv
}

@test "numbers beyond the bounds of the model: a line per column, and status 1 if most are far beyond" {
    ages() { awk -F , -v OFS=, 'NR > 1 { $2 = NR <= '"$1"' + 1 ? '"$2"' : 50 } 1' patients.csv; }
    # bounds that were paid for cut up to half of the cells, and some are far beyond: the bounds are 18 to 88
    ages 1000 158 > many.csv
    complains 0 '' dp-predict model many.csv
    ages 200 20000 > many.csv
    complains 0 '' dp-predict model many.csv
    ages 1000 20000 > many.csv
    complains 0 "dp-predict: warning: column 'age': 1000 of 2000 cells are beyond [18, 88], and count as these bounds" \
        dp-predict model many.csv
    # next year's are all beyond, and not far
    ages 2000 90 > many.csv
    complains 0 "dp-predict: warning: column 'age': 2000 of 2000 cells are beyond [18, 88], and count as these bounds" \
        dp-predict model many.csv
    awk -F , -v OFS=, 'NR > 1 { $2 *= 1000 } 1' patients.csv > grams.csv
    complains 1 "dp-predict: warning: column 'age': 2000 of 2000 cells are beyond [18, 88], and count as these bounds
dp-predict: most cells of a column of grams.csv have no meaning: it is written otherwise than the training table, or a schema that was paid for could not name its words" dp-predict model grams.csv
}

@test "a threshold moves the border between two classes" {
    dp-predict model patients.csv -p > out
    for t in .2 .7; do
        dp-predict model patients.csv -t $t > moved
        assert_equal "$(cat moved)" "$(awk -F, -v t=$t 'NR == 1 { print $1; next } { print ($3 >= t) ? "yes" : "no" }' out)"
    done
    dpline scd --data p.dp --loss hinge --epochs 1 --seed 1 -q -o hinge
    complains 1 'dp-predict: --threshold: only models of two classes with probabilities have one' dp-predict hinge patients.csv -t .3
}

@test "the schema is in the model without names that do not matter, and the same however the run ran" {
    dp-info --get schema model | jq . > carried
    assert_equal "$(jq -c '[.columns[].name]' carried)" '["age","smoker","ill"]'
    refute grep -q note carried
    assert_equal "$(jq -c '[.header, .row_norm, .bias, .missing]' carried)" '[true,"bounds",true,["NA"]]'
    dpline scd --data p.dp --loss logistic --epochs 3 --seed 1 -q -o other --exec processes
    cmp model other
    # rows that arrive carry it as well
    dp-import csv -s schema.json --out rows -q patients.csv
    dp-loop -q --laps 5 --seed 1 -o arrived -- "dp-window --rows rows --size 100 | dp-grad --loss logistic --clip 1 | dp-noise -z 10 |
        dp-account --epsilon 9 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1" > /dev/null
    assert_equal "$(dp-info --get schema arrived)" "$(dp-info --get schema model)"
}

@test "a schema that was read off the rows is not in the model" {
    sed 's/"header"/"private_preprocessing": ["bounds"], "header"/' schema.json > private.json
    dp-import csv -s private.json -q -o q.dp patients.csv
    assert_equal "$(jq .schema q.dp/dataset.json)" null
    dpline scd --data q.dp --loss logistic --epochs 1 --seed 1 -q -o other
    complains 1 'dp-predict: other carries no public schema: --schema names the schema of the training set' \
        dp-predict other new.csv
}

@test "rows of another schema are refused" {
    sed 's/\[18, 88\]/[18, 90]/' schema.json > other.json
    dp-import csv -s other.json -q -o bounds.dp patients.csv
    complains 1 'dp-predict: bounds.dp was imported by another schema than the rows that the model was trained on' dp-predict model bounds.dp
    sed 's/\["no", "yes"\]}, *$/["yes", "no"]},/' schema.json > other.json
    run cmp -s schema.json other.json
    assert_failure
    dp-import csv -s other.json -q -o order.dp patients.csv
    complains 1 'dp-predict: order.dp was imported by another schema than the rows that the model was trained on' dp-predict model order.dp
    # what is filled in does not change what a row means
    sed 's/"fill": 50/"fill": 60/' schema.json > other.json
    dp-import csv -s other.json -q -o fill.dp patients.csv
    dp-predict model fill.dp > /dev/null
}

@test "a table that cannot be scored" {
    printf 'age\n30\n' > one.csv
    complains 1 "dp-predict: one.csv: line 1: the header has no column 'smoker', only age" dp-predict model one.csv
    printf 'age,smoker,age\n30,no,40\n' > twice.csv
    complains 1 "dp-predict: twice.csv: line 1, column 3: the header has 'age' twice" dp-predict model twice.csv
    complains 1 "dp-predict: --keep: new.csv has no column 'name'" dp-predict model new.csv --keep name
    complains 2 'dp-predict: --keep is for a table' dp-predict model p.dp --keep id
    complains 1 'dp-predict: cannot open gone.csv: No such file or directory' dp-predict model gone.csv
    printf 'age,smoker\n30,no,9\n' > wide.csv
    dp-predict model wide.csv > out 2> said
    assert_equal "$(head -1 said)" 'dp-predict: warning: wide.csv: line 2: 3 fields, the header has 2 columns'
    assert_equal "$(tr '\n' ' ' < out)" 'prediction "" '
}

@test "an import takes columns by name, and names those that it ignores" {
    awk -F, -v OFS=, '{ print $4, "x", $2, $3, $1 }' patients.csv | sed '1s/x/weight/' > mixed.csv
    dp-import csv -s schema.json -o mixed.dp mixed.csv 2> said
    grep -qx "dp-import: columns that the schema does not have are ignored: 'weight'" said || fail "$(cat said)"
    cmp p.dp/X.npy mixed.dp/X.npy
    cmp p.dp/y.npy mixed.dp/y.npy
    cut -d, -f 2-3 patients.csv > unlabelled.csv
    complains 1 "dp-import: unlabelled.csv: line 1: the header has no column 'ill', only age, smoker" dp-import csv -s schema.json -o u.dp unlabelled.csv
}
