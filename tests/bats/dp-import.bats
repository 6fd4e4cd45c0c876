# dp-import: tables of all formats into data sets, and messages about bad ones.
load helper

# values DIR COLUMNS: the rows of a dense data set, as stored
values() { od -An -v -t f4 -w$((4 * $2)) -j 128 "$1/X.npy" | sed 's/^ *//; s/  */ /g'; }
labels() { od -An -v -t f8 -w8 -j 128 "$1/y.npy" | tr -d ' '; }

# schema COLUMNS [MORE]: schema.json
schema() { printf '{%s"columns": [%s]}\n' "${2:+$2, }" "$1" > schema.json; }
NUMBER='{"name": "a", "type": "numeric", "scale": "none"}'
LABEL='{"name": "y", "type": "label", "classes": ["no", "yes"]}'

# bad_csv MESSAGE [OPTIONS]: dp-import csv of t.csv fails with that message and leaves nothing
bad_csv() {
    complains 1 "dp-import: $1" dp-import csv --schema schema.json -o out.dp "${@:2}" t.csv
    assert_not_exists out.dp
    assert_equal "$(find . -name 'out.dp*')" ''
}

@test "usage" {
    run dp-import --help
    assert_success
    assert_line --index 0 "Usage: dp-import [options] [csv|tsv|libsvm|arff|idx|images|npy|npz|sqlite] FILE …"
    complains 2 "dp-import: expected a file, or a format (csv, tsv, libsvm, arff, idx, images, npy, npz or sqlite) and a file" dp-import
    complains 2 "dp-import: 'xls' is not a format (csv, tsv, libsvm, arff, idx, images, npy, npz or sqlite), and not a name that ends with one" dp-import xls a
    complains 2 "dp-import: 'a.xls' is not a format (csv, tsv, libsvm, arff, idx, images, npy, npz or sqlite), and not a name that ends with one" dp-import a.xls
    complains 2 "dp-import: expected one file, or - for standard input" dp-import a.csv b.csv
    complains 2 "dp-import: expected one file, or - for standard input" dp-import csv
    for word in lable lables labels bell; do
        meant='did you mean --label?'
        [ $word != bell ] || meant='try --help'
        complains 2 "dp-import: unknown option '--$word' ($meant)" dp-import csv a --$word
    done
    complains 2 "dp-import: idx takes two files: images and labels" dp-import idx a -o b
    complains 2 "dp-import: --delimiter: must be one character, got 'ab'" dp-import csv a -o b --schema c --delimiter ab
    complains 2 "dp-import: --classes: must be a number from 2 to 1000 or a list, got '1'" dp-import libsvm a -o b -k 1
    complains 2 "dp-import: --classes: 'a' is there twice" dp-import libsvm a -o b -k a,a
    complains 1 "dp-import: cannot open gone: No such file or directory" dp-import libsvm gone -o b
    complains 1 "dp-import: cannot open gone.json: No such file or directory" dp-import csv a -o b --schema gone.json
}

@test "csv: numbers by bounds and largest magnitude, categories, clamping, missing values" {
    cat > t.csv <<- 'END'
		age, job, pay, id, out
		20, cook, -4, 7, no
		70, ?, 2, 8, yes
		 5, smith, ?, 9, "yes."
	END
    cat > schema.json <<- 'END'
		{"header": true, "missing": ["?"], "columns": [
		  {"name": "age", "type": "numeric", "bounds": [20, 60], "note": "public"},
		  {"name": "job", "type": "categorical", "categories": ["baker", "cook", "smith"], "drop": "first", "fill": "mode"},
		  {"name": "pay", "type": "numeric", "scale": "max-abs", "fill": 2},
		  {"name": "id", "type": "ignore"},
		  {"name": "out", "type": "label", "classes": ["no", ["yes", "yes."]]}]}
	END
    run dp-import csv --schema schema.json --row-norm none --bias -o t.dp t.csv
    assert_failure 1
    assert_output "dp-import: row 1 has norm 1.73205: --row-norm cap or unit scales it"
    assert_not_exists t.dp
    run dp-import csv --schema schema.json --row-norm unit --no-bias -o t.dp t.csv
    assert_success
    assert_output "dp-import: t.dp: 3 rows, 4 columns, 2 classes
dp-import: each row is scaled to norm 1 by itself; there is no bias column
dp-import: one row is taken for one person
dp-import: the population is t.csv, as in an import before"
    assert_equal "$(labels t.dp)" "$(printf '0\n1\n1')"
    # age, job=cook, job=smith, pay: row 1 (0, 1, 0, -1)/√2; row 2 (1, 1, 0, 0.5)/1.5; row 3 (0, 0, 1, 0.5)/√1.25
    assert_equal "$(values t.dp 4 | awk '{ printf "%.5f %.5f %.5f %.5f\n", $1, $2, $3, $4 }')" "0.00000 0.70711 0.00000 -0.70711
0.66667 0.66667 0.00000 0.33333
0.00000 0.00000 0.89443 0.44721"
    run dp-info t.dp --get columns
    assert_output '["age","job=cook","job=smith","pay"]'
    run dp-info t.dp --get private_preprocessing
    assert_output 'mode,max-abs'
    dp-info --verify t.dp
}

@test "a data set without measured values says that nothing was measured" {
    schema '{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "y", "type": "label", "bounds": [-10, 30]}'
    printf '1,-10\n2,30\n3,0\n4,50\n' > t.csv
    run dp-import csv --schema schema.json --no-bias -o t.dp t.csv
    assert_output "dp-import: t.dp: 4 rows, 1 column, real labels
dp-import: every row is divided by 1, the largest norm that the bounds permit; there is no bias column
dp-import: one row is taken for one person
dp-import: the population is t.csv"
    assert_equal "$(labels t.dp)" "$(printf '%s\n' -1 1 -0.5 1)"
    run dp-info t.dp
    assert_line "label      y, a number: 20 × y +10"
    assert_line "privacy    nothing was measured on the rows to prepare them"
}

@test "labels centred at their mean are said to be" {
    schema "$NUMBER, {\"name\": \"y\", \"type\": \"label\", \"center\": true}"
    printf '1,10\n2,20\n3,60\n' > t.csv
    dp-import csv --schema schema.json -o t.dp -q t.csv
    assert_equal "$(labels t.dp)" "$(printf '%s\n' -20 -10 30)"
    run dp-info t.dp --get private_preprocessing
    assert_output label-mean
}

@test "pipes, gzip and other delimiters give the same rows" {
    schema "$NUMBER, $LABEL"
    printf '1,no\n-2,yes\n' > t.csv
    dp-import csv --schema schema.json -q -o a.dp t.csv
    gzip -c t.csv > t.csv.gz
    dp-import csv --schema schema.json -q -o b.dp t.csv.gz
    dp-import csv --schema schema.json -q -o c.dp - < t.csv.gz
    tr , ';' < t.csv | dp-import csv --schema schema.json -q -o d.dp --delimiter ';' -
    tr , '\t' < t.csv | dp-import tsv --schema schema.json -q -o e.dp -
    { echo "|1x3 nonsense"; cat t.csv; } | dp-import csv --schema schema.json -q -o f.dp --skip-lines 1 -
    for other in b c d e f; do
        cmp a.dp/X.npy $other.dp/X.npy
        cmp a.dp/y.npy $other.dp/y.npy
    done
    # but not the same digest: it is salted, so that nobody can confirm a guess of the rows by it
    assert_not_equal "$(dp-info a.dp --get digest)" "$(dp-info b.dp --get digest)"
}

@test "csv: bad lines are named by line and column" {
    schema "$NUMBER, $LABEL"
    printf '1,no\n2\n' > t.csv
    bad_csv "t.csv: line 2: 1 field, the schema has 2 columns"
    printf '1,no\n2,no,3\n' > t.csv
    bad_csv "t.csv: line 2: 3 fields, the schema has 2 columns"
    printf '1,no\n0x10,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): expected a number, got '0x10'"
    printf '1,no\nnan,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): expected a number, got 'nan'"
    printf '1,no\n1e999,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): expected a number, got '1e999'"
    printf '1,no\n2,maybe\n' > t.csv
    bad_csv "t.csv: line 2, column 2 (y): the label is not one of the classes (no, yes), got 'maybe'"
    printf '1,no\n ,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): the value is missing and the schema has no \"fill\", got ''"
    printf '1,no\n2,"no\n' > t.csv
    bad_csv "t.csv: line 2: a quote is not closed"
    : > t.csv
    bad_csv "t.csv: no rows"
    schema "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"x\"]}, $LABEL"
    printf 'x,no\nz,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (c): unknown category, got 'z'"
    schema "$NUMBER, $LABEL" '"header": true'
    printf 'a,b\n1,no\n' > t.csv
    bad_csv "t.csv: line 1: the header has no column 'y', only a, b"
    printf 'a;y\n1;no\n' > t.csv
    bad_csv "t.csv: line 1: one name, the schema has 2 columns (is the delimiter ';'?)"
    printf 'a\n1\n' > t.csv
    bad_csv "t.csv: line 1: the header has no column 'y', only a"
}

@test "an unknown category may be all zeros" {
    schema "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"x\", \"z\"], \"unknown\": \"zero\"}, $LABEL"
    printf 'x,no\nwhat,yes\n' > t.csv
    dp-import csv --schema schema.json --no-bias -q -o t.dp t.csv
    assert_equal "$(values t.dp 2 | tail -n 1)" "0 0"
}

@test "a missing value has an indicator and the middle of the bounds, and no row is longer than the bounds permit" {
    schema '{"name": "a", "type": "numeric", "bounds": [10, 30], "indicator": true, "missing": ["none", "."]},
        {"name": "b", "type": "numeric", "bounds": [-4, 4], "scale": "none", "indicator": true, "fill": 3},
        {"name": "c", "type": "categorical", "categories": ["u", "v"], "indicator": true, "missing": "?"}, '"$LABEL"
    printf '10,4,u,yes\nnone,1,?,no\n.,,,no\n30,-4,v,yes\n,2,none,yes\n' > t.csv
    bad_csv "t.csv: line 5, column 3 (c): unknown category, got 'none'"
    sed -i '$d' t.csv
    dp-import csv --schema schema.json --no-bias -q -o t.dp t.csv
    assert_equal "$(dp-info --get columns t.dp)" '["a","a missing","b","b missing","c=u","c=v","c missing"]'
    # a: 0.5 and 1, squared 1.25; b: 4 alone or 3 and 1, squared 16; c: 1
    divisor=$(calculate 'sqrt(1.25 + 16 + 1)')
    assert_equal "$(values t.dp 7 | awk -v d="$divisor" '{ for (j = 1; j <= 7; j++) printf "%.4g%s", $j * d, j < 7 ? " " : "\n" }')" "0 0 4 0 1 0 0
0.5 1 1 0 0 0 1
0.5 1 3 1 0 0 1
1 0 -4 0 0 1 0"
    # only numbers that are missing, all of them: as long as a row can be
    schema '{"name": "a", "type": "numeric", "bounds": [0, 1], "indicator": true}, {"name": "b", "type": "numeric", "bounds": [0, 1], "indicator": true, "fill": 9}, '"$LABEL"
    printf ',,yes\n1,1,no\n' > t.csv
    dp-import csv --schema schema.json --no-bias -q -f -o t.dp t.csv
    assert_equal "$(values t.dp 4 | awk '{ printf "%.3f\n", $1 * $1 + $2 * $2 + $3 * $3 + $4 * $4 }' | tr '\n' ' ')" "1.000 0.615 "
    dp-import csv --schema schema.json --no-bias --quantise --storage dense -q -f -o t.dp t.csv
    assert_equal "$(values t.dp 4 | awk '{ printf "%.3f\n", $1 * $1 + $2 * $2 + $3 * $3 + $4 * $4 }' | tr '\n' ' ')" "1.000 0.615 "
    for wrong in '"type": "numeric", "bounds": [0, 1], "indicator": 1|"indicator" is true or false, and for features' \
        '"type": "categorical", "categories": ["u"], "fill": "u", "indicator": true|"indicator" excludes "fill" of categories'; do
        schema '{"name": "a", '"${wrong%|*}"'}, '"$LABEL"
        complains 1 "dp-import: schema.json: column 'a': ${wrong#*|}" dp-import csv --schema schema.json -o u.dp t.csv
    done
}

@test "a model carries indicators, and a table with missing values is scored as it was trained on" {
    { echo a,b,y; for i in $(seq 60); do echo "$((i % 7)),$((i * i % 5)),$((i % 2))"; done; } | sed 's/,4,/,NA,/;s/^3,/,/' > t.csv
    echo '{"header": true, "missing": ["NA"], "columns": [{"name": "a", "type": "numeric", "bounds": [0, 6], "indicator": true},
        {"name": "b", "type": "numeric", "bounds": [0, 4], "indicator": true}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > s.json
    dp-import csv --schema s.json -q -o t.dp t.csv
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict model t.dp > rows
    dp-predict model t.csv > table
    diff rows table
    sed 's/, "indicator": true//g;s/"bounds"/"fill": 1, "bounds"/g' s.json > plain.json
    dp-import csv --schema plain.json -q -o plain.dp t.csv
    run dp-predict model plain.dp
    assert_failure 1
}

@test "a basis of a number: features, longest rows, names, and the same rows from a table" {
    schema '{"name": "a", "type": "numeric", "bounds": [10, 30], "basis": "hats", "knots": [15, 20]},
        {"name": "b", "type": "numeric", "bounds": [-0.5, 0.5], "scale": "none", "basis": "bins", "knots": 2, "indicator": true},
        {"name": "c", "type": "numeric", "bounds": [0, 1], "basis": "cosines", "indicator": true, "fill": 9}, '"$LABEL" '"header": true'
    printf 'a,b,c,y\n30,0.5,,yes\n12,-0.25,0.5,no\n99,,0,no\n20,0,0.25,yes\n' > t.csv
    dp-import csv --schema schema.json --no-bias -q -o t.dp t.csv
    assert_equal "$(dp-info --get columns t.dp)" \
        '["a","a at 10","a at 15","a at 20","a at 30","b","b from -0.5 to 0","b from 0 to 0.5","b missing","c","c cosine 1","c cosine 2","c cosine 3","c cosine 4","c cosine 5","c cosine 6","c cosine 7","c cosine 8","c missing"]'
    # a: 1 and a hat of 1; b: missing is 0, bin and indicator; c: its fill is 1, with 1 + 1/4 + … + 1/64 and the indicator
    divisor=$(calculate 'sqrt(2 + 2 + 1 + 1.527422052154195 + 1)')
    values t.dp 19 | awk -v d="$divisor" '{ for (j = 1; j <= 10; j++) printf "%.4g%s", $j * d, j < 10 ? " " : "\n" }' > begin
    assert_equal "$(cat begin)" "1 0 0 0 1 0.5 0 1 0 1
0.1 0.6 0.4 0 0 -0.25 1 0 0 0.5
1 0 0 0 1 0 0 1 1 0
0.5 0 0 1 0 0 0 1 0 0.25"
    assert_equal "$(values t.dp 19 | awk -v d="$divisor" 'NR == 1 { for (j = 11; j <= 19; j++) printf "%.4g ", $j * d }')" \
        "-1 0.5 -0.3333 0.25 -0.2 0.1667 -0.1429 0.125 1 "
    # as long as a row can be
    printf 'a,b,c,y\n30,,,yes\n' > t.csv
    for how in --no-bias '--no-bias --quantise --storage dense'; do
        dp-import csv --schema schema.json $how -q -f -o t.dp t.csv
        assert_equal "$(values t.dp 19 | awk '{ for (j = 1; j <= NF; j++) n += $j * $j } END { printf "%.3f", n }')" 1.000
    done
}

@test "a model carries the basis, and a table is scored as it was trained on" {
    { echo a,b,y; for i in $(seq 60); do echo "$((i * 37 % 101)),$((i * i % 5)),$((i % 2))"; done; } > t.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 100000], "basis": "hats", "knots": 5},
        {"name": "b", "type": "numeric", "bounds": [0, 4], "basis": "cosines"}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > s.json
    dp-import csv --schema s.json -q -o t.dp t.csv
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict -p model t.dp > rows
    dp-predict -p model t.csv > table
    diff rows table
    # the edges that the carried schema lists are those that the number stands for
    dp-info --get schema model > carried.json
    jq '{header, columns}' carried.json > listed.json
    assert_equal "$(jq -c '.columns[0].knots | [length, .[0], (.[1] * 1e5 | round), .[5]]' listed.json)" '[6,0,900002,100000]'
    dp-import csv --schema listed.json -q -o listed.dp t.csv
    cmp t.dp/X.npy listed.dp/X.npy
    dp-predict model listed.dp > /dev/null
    sed 's/"knots": 5/"knots": 6/' s.json > other.json
    dp-import csv --schema other.json -q -o other.dp t.csv
    run dp-predict model other.dp
    assert_failure 1
}

@test "dp-import --basis: numbers with bounds that do not say a basis, and the model knows" {
    { echo a,b,c,d,e,y; for i in $(seq 60); do echo "$((i * 37 % 101)),$((i * i % 5)),$((i % 3)),1,u,$((i % 2))"; done; } > t.csv
    columns='{"name": "a", "type": "numeric", "bounds": [0, 100]}, {"name": "b", "type": "numeric", "bounds": [0, 4], "basis": "line"},
        {"name": "c", "type": "numeric", "bounds": [0, 2], "basis": "bins", "knots": 2}, {"name": "d", "type": "numeric", "bounds": [1, 1.0000000000000002]},
        {"name": "e", "type": "categorical", "categories": ["u"]}, {"name": "y", "type": "label", "classes": ["0", "1"]}'
    schema "$columns" '"header": true'
    run dp-import csv --schema schema.json --basis hats -o t.dp t.csv
    assert_line "dp-import: numbers with bounds have hats, so that a model of them is a curve"
    assert_equal "$(dp-info --get columns t.dp)" \
        '["a","a at 0","a at 12.5","a at 25","a at 37.5","a at 50","a at 62.5","a at 75","a at 87.5","a at 100","b","c","c from 0 to 1","c from 1 to 2","d","e=u","bias"]'
    assert_regex "$(dp-info t.dp)" 'divided by [0-9.]*, bias, hats'
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict -p model t.dp > rows
    dp-predict -p model t.csv | diff rows -
    # a schema that is not public is not carried, and the model says the basis
    schema "$columns" '"header": true, "private_preprocessing": ["bounds"]'
    dp-import csv --schema schema.json --basis hats -q -f -o t.dp t.csv
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o secret
    dp-predict -p secret --schema schema.json t.csv | diff rows -
    # bins are as many as cosines, and mean something else
    dp-import csv --schema schema.json --basis bins --row-norm unit -q -f -o t.dp t.csv
    dp-import csv --schema schema.json --basis cosines --row-norm unit -q -o u.dp t.csv
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o bins
    complains 1 "dp-predict: the rows of the model have row norm 'unit, bias, bins', the rows of u.dp 'unit, bias, cosines'" dp-predict bins u.dp
    # nothing has a basis
    schema '{"name": "e", "type": "categorical", "categories": ["u"]}, {"name": "y", "type": "label", "classes": ["0", "1"]}' '"header": true'
    dp-import csv --schema schema.json --basis hats -o v.dp t.csv 2> said
    refute grep hats said v.dp/dataset.json
}

@test "dp-import --basis products: pairs of numbers, rows within norm 1, and rows of zeros" {
    schema '{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [-5, 5]},
        {"name": "c", "type": "numeric", "bounds": [0, 1], "basis": "line"}, {"name": "y", "type": "label", "classes": ["no", "yes"]}' '"header": true'
    printf 'a,b,c,y\n1,5,1,yes\n1,-5,1,no\n0.3,1,0,no\nbad,1,1,yes\n' > t.csv
    dp-import csv --schema schema.json --basis products --skip-bad 1 -q -o t.dp t.csv
    assert_equal "$(dp-info --get columns t.dp | jq -c '.[18:]')" \
        '["c","a cosine 1 × b cosine 1","a cosine 1 × b cosine 2","a cosine 2 × b cosine 1","a cosine 2 × b cosine 2","bias"]'
    # 4 w² = 0.3 (1.1 * 2 + 1) / (25 / 64); numbers 2, cosines 2 * 1.527…, c, products 1.5625 * 4 w², bias
    divisor=$(calculate 'sqrt(2 + 2 * 1.527422052154195 + 1 + 1.5625 * (0.3 * 3.2 * 64 / 25) + 1)')
    assert_equal "$(values t.dp 24 | awk -v d="$divisor" 'NR == 2 { for (j = 20; j <= 24; j++) printf "%.4g ", $j * d / (j < 24 ? sqrt(2.4576) : 1) }')" \
        "-1 -0.5 0.5 0.25 1 "
    assert_equal "$(values t.dp 24 | awk 'NR != 3 { n = 0; for (j = 1; j <= NF; j++) n += $j * $j; printf "%.3f ", n }')" "1.000 0.908 0.000 "
    dp-import csv --schema schema.json --basis products --skip-bad 1 --quantise --storage dense -q -f -o t.dp t.csv
    assert_equal "$(values t.dp 24 | awk 'NR == 1 { for (j = 1; j <= NF; j++) n += $j * $j; printf "%.3f ", n }')" "1.000 "
    head -n 4 t.csv > good.csv
    dp-import csv --schema schema.json --basis products -q -f -o t.dp good.csv
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict -p model t.dp > rows
    dp-predict -p model good.csv | diff rows -
    complains 1 "dp-export: model has products of two columns (dpline fit --additive makes none), for which csv has no place: json, sql, c, onnx and pmml have one" \
        dp-export --to csv model
    dp-predict --scores --probability model good.csv > expected.csv
    for form in c json sql pmml; do
        dp-export --to $form model > model.$form
        run "$ROOT/tests/bats/export.py" $form model.$form good.csv expected.csv
        assert_output --partial "3 rows agree"
    done
    schema '{"name": "a", "type": "numeric", "bounds": [0, 1], "basis": "products"}, '"$LABEL"
    complains 1 "dp-import: schema.json: column 'a': \"basis\" is line, hats, bins or cosines" dp-import csv -s schema.json -o u.dp t.csv
    schema "$(for i in $(seq 65); do echo "{\"name\": \"x$i\", \"type\": \"numeric\", \"bounds\": [0, 1]},"; done) $LABEL"
    { seq -s , 65 | tr -d '\n'; echo ,no; } > t.csv
    dp-import csv -s schema.json --basis products -q -f -o t.dp t.csv # 65 numbers have 9 columns each, 2080 pairs have 4
    assert_equal "$(dp-info --get cols t.dp) $(dp-info --get row_norm t.dp | grep -o '[0-9]* products')" '8190 7604 products'
}

@test "dp-import --products: pairs with a category, small pairs first, and rows within norm 1" {
    schema '{"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "unknown": "zero"}, {"name": "a", "type": "numeric", "bounds": [0, 1]},
        {"name": "f", "type": "categorical", "categories": ["0", "1"], "drop": "first"}, {"name": "y", "type": "label", "classes": ["no", "yes"]}' '"header": true'
    printf 'c,a,f,y\nv,1,1,yes\nw,0,0,no\nother,1,1,no\n' > t.csv
    names() { dp-info --get columns t.dp | jq -r '.[] | select(contains("×"))'; }
    dp-import csv -s schema.json --basis products -q -o t.dp t.csv
    assert_equal "$(names)" "$(printf '%s\n' 'a cosine 1 × f=1' 'a cosine 2 × f=1' 'c=u × f=1' 'c=v × f=1' 'c=w × f=1' 'a cosine 1 × c=u' 'a cosine 1 × c=v' 'a cosine 1 × c=w' \
        'a cosine 2 × c=u' 'a cosine 2 × c=v' 'a cosine 2 × c=w')"
    assert_equal "$(dp-info --get row_norm t.dp | sed 's/.*bias, //')" '11 products'
    # a row at a bound, with both categories, has the largest norm; a category that is not named has no product
    assert_equal "$(values t.dp 25 | awk '{ n = 0; for (j = 1; j <= NF; j++) n += $j * $j; printf "%.3f ", n }')" "1.000 0.577 0.708 "
    dp-import csv -s schema.json --basis products --products 10 -q -f -o t.dp t.csv
    assert_equal "$(names | wc -l) $(dp-info --get row_norm t.dp | sed 's/.*bias, //')" '5 5 products'
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict -s model t.dp > rows
    dp-predict -s model t.csv | diff rows -
    dp-predict -s --schema schema.json model t.csv | diff rows -
    dp-import csv -s schema.json --basis products --products 1 -q -f -o t.dp t.csv
    assert_equal "$(names | wc -l) $(dp-info --get row_norm t.dp | sed 's/.*bias, //')" '0 cosines'
    # two categories are a pair where no column is a number
    schema '{"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "unknown": "zero"}, {"name": "a", "type": "ignore"},
        {"name": "f", "type": "categorical", "categories": ["0", "1"]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}' '"header": true'
    dp-import csv -s schema.json --basis products --products 10 -q -f -o t.dp t.csv
    assert_equal "$(names | wc -l) $(dp-info --get row_norm t.dp | sed 's/.*bias, //')" '6 6 products'
    assert_equal "$(values t.dp 12 | awk '{ n = 0; for (j = 1; j <= NF; j++) n += $j * $j; printf "%.3f ", n }')" "1.000 1.000 0.513 "
    dp-import csv -s schema.json --basis products --products 5 -q -f -o t.dp t.csv
    assert_equal "$(names | wc -l) $(dp-info --get row_norm t.dp)" "0 $(dp-import csv -s schema.json -q -o plain.dp t.csv && dp-info --get row_norm plain.dp)"
}

# Every kind of record that might be longer than the bounds permit, or reach into the row of another one.
@test "dp-import --products: no record is longer than 1, and each record is in its row only" {
    schema '{"name": "a", "type": "numeric", "bounds": [-1, 3], "indicator": true}, {"name": "b", "type": "numeric", "bounds": [0, 1e300], "fill": 9e300},
        {"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "indicator": true}, {"name": "d", "type": "categorical", "categories": ["only"], "unknown": "zero"},
        {"name": "e", "type": "categorical", "categories": ["p", "q"], "drop": "first", "fill": "q"}, {"name": "f", "type": "categorical", "categories": [], "buckets": 3},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}' '"header": true, "missing": ["", "nan"]'
    for a in nan -1 3 1e308 -1e308 1; do
        for b in nan 0 1e300 1e308 -1e-320; do
            printf '%s\n' $a,$b,nan,,nan,z,no $a,$b,u,only,p,x,yes $a,$b,w,other,q,y,no $a,$b,v,only,nan,only,other
        done
    done > records
    { echo a,b,c,d,e,f,y && cat records; } > t.csv
    # the same records, all but the last of another line
    { echo a,b,c,d,e,f,y && sed 's/.*/3,1e300,u,only,q,z,yes/; $d' records && tail -n 1 records; } > u.csv
    { echo a,b,c,d,e,f,y && sed '$d' records && echo 3,1e300,u,only,q,z,yes; } > v.csv
    for how in '--row-norm bounds' '--row-norm unit' '--row-norm bounds --quantise' '--row-norm unit --quantise'; do
        for table in t u v; do dp-import csv -s schema.json --basis products --products 200 $how --storage dense -q -f -o $table.dp $table.csv; done
        columns=$(dp-info --get cols t.dp)
        assert_equal "$(dp-info --get columns t.dp | grep -o × | wc -l)" 58
        for table in t u v; do
            values $table.dp $columns > $table.rows
            # the records of u are as long as the bounds permit
            assert_equal "$(awk -v full=$([ $table = t ] && echo 0.5 || echo 0.999) '{ n = 0; for (j = 1; j <= NF; j++) n += $j * $j; if (!(n <= 1)) print NR, n; if (n > most) most = n }
                END { print(most > full) }' $table.rows)" 1
            # and one divisor is enough for all rows: none is cut to 1 by itself
            [[ $how == *unit* ]] || assert_equal "$(awk '$NF > 0 { print $NF }' $table.rows | sort -u | wc -l)" 1
        done
        assert_equal "$(tail -n 1 t.rows)" "$(tail -n 1 u.rows)"
        assert_equal "$(head -n -1 t.rows | md5sum)" "$(head -n -1 v.rows | md5sum)"
        run ! cmp -s t.rows v.rows
    done
}

@test "a basis that makes no sense" {
    printf '1,yes\n' > t.csv
    for wrong in '"type": "numeric", "bounds": [0, 1], "basis": "waves"|"basis" is line, hats, bins or cosines' \
        '"type": "numeric", "bounds": [0, 1], "basis": "line", "knots": 3|a line has no "knots"' \
        '"type": "numeric", "bounds": [0, 1], "knots": 3|"knots" is for a "basis"' \
        '"type": "numeric", "scale": "none", "basis": "hats"|a "basis" needs "bounds"' \
        '"type": "categorical", "categories": ["u"], "basis": "bins"|a "basis" is for numeric columns' \
        '"type": "label", "basis": "bins"|a "basis" is for numeric columns' \
        '"type": "label", "knots": [1, 2]|"knots" are for numeric columns' \
        '"type": "categorical", "categories": ["u"], "parts": [1]|"parts" are for numeric columns' \
        '"type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": 0|"knots" is a whole number from 1 to 1000, or a list of that many' \
        '"type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": 2.5|"knots" is a whole number from 1 to 1000, or a list of that many' \
        '"type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": 1001|"knots" is a whole number from 1 to 1000, or a list of that many' \
        '"type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": [0.5, "x"]|a knot is not a number' \
        '"type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": [0.5, 2]|the knot 2 is outside the bounds, 0 and 1' \
        '"type": "numeric", "bounds": [1, 1.0000000000000002], "basis": "bins"|the bounds are too close for 8 knots' \
        '"type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": [0.5, 0.4]|the knots do not ascend: 0.4 follows 0.5'; do
        schema '{"name": "a", '"${wrong%|*}"'}, '"$LABEL"
        complains 1 "dp-import: schema.json: column 'a': ${wrong##*|}" dp-import csv --schema schema.json -o u.dp t.csv
    done
    # a column that is left out keeps its entries
    printf '{"header": false, "columns": [{"name": "x", "type": "ignore", "bounds": [0, 1], "basis": "bins", "knots": [0.5]}, {"name": "z", "type": "numeric", "bounds": [0, 1]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    printf '1,1,yes\n0,0,no\n' | dp-import csv -s s.json -q -o t.dp -
}

@test "the name of a file says its format" {
    schema "$NUMBER, $LABEL"
    printf '1,yes\n-1,no\n' > t.csv
    dp-import csv --schema schema.json -q -o a.dp t.csv
    gzip -k t.csv
    cp t.csv upper.CSV
    for file in t.csv t.csv.gz ./upper.CSV; do
        dp-import --schema schema.json -q -f -o b.dp $file
        cmp a.dp/X.npy b.dp/X.npy
    done
    tr , '\t' < t.csv > t.tsv
    dp-import -q --schema schema.json -f -o b.dp t.tsv
    cmp a.dp/X.npy b.dp/X.npy
    printf '1 1:1\n-1 1:-1\n' > t.svm
    dp-import t.svm -q -f -o b.dp
    assert_equal "$(dp-info --get classes b.dp)" 2
    printf '@relation t\n@attribute a numeric\n@attribute y {no,yes}\n@data\n1,yes\n-1,no\n' > t.arff
    dp-import t.arff -q -f -o b.dp
    assert_equal "$(labels b.dp)" "$(labels a.dp)"
}

@test "--skip-bad makes null rows, so that N is that of the table" {
    schema '{"name": "a", "type": "numeric", "bounds": [2, 4]}, '"$LABEL"
    printf '2,yes\nbad,yes\n4,yes\nworse,no\n?,yes\n' > t.csv
    bad_csv "t.csv: line 5, column 1 (a): expected a number, got '?'" --skip-bad 2
    run dp-import csv --schema schema.json --skip-bad 3 -o t.dp t.csv
    assert_success
    assert_output "dp-import: t.dp: 5 rows, 2 columns, 2 classes
dp-import: every row is divided by 1.41421, the largest norm that the bounds permit; the last column is a bias
dp-import: one row is taken for one person
dp-import: the population is t.csv"
    assert_equal "$(values t.dp 2 | awk '{ printf "%.4f %.4f\n", $1, $2 }')" "0.0000 0.7071
0.0000 0.0000
0.7071 0.7071
0.0000 0.0000
0.0000 0.0000"
    assert_equal "$(labels t.dp)" "$(printf '%s\n' 1 0 1 0 0)"
    # no label is made up
    for line in '3,maybe' 'bad,maybe' ','; do
        printf '2,yes\n%s\n' "$line" > t.csv
        bad_csv "t.csv: line 2, column 2 (y): the label is not one of the classes (no, yes), got '${line#*,}'" --skip-bad 9
    done
    printf '2,yes\n4\n' > t.csv
    bad_csv "t.csv: line 2: 1 field, the schema has 2 columns" --skip-bad 9
    # malformed rows do not enter any measurement
    schema "$NUMBER, "'{"name": "y", "type": "label", "center": true}'
    printf '1,10\nx,1000\n3,20\n' > t.csv
    dp-import csv --schema schema.json --skip-bad 1 -q -o r.dp t.csv
    assert_equal "$(labels r.dp)" "$(printf '%s\n' -5 0 5)"
    printf '1 1:1\n2 1:?\n-1 2:1\n' > t.svm
    dp-import libsvm --skip-bad 1 -q -o s.dp t.svm
    assert_equal "$(labels s.dp)" "$(printf '%s\n' 1 0 0)"
    assert_equal "$(dp-info --get classes s.dp)" 3
    printf '1 1:1\n? 1:1\n-1 2:1\n' > bad.svm
    complains 1 "dp-import: bad.svm: line 2, field 1: expected a label" dp-import libsvm --skip-bad 1 -q -o u.dp bad.svm
    printf '1 1:1\n3 1:?\n-1 2:1\n' > bad.svm
    complains 1 "dp-import: bad.svm: line 2, field 1: the label is not one of --classes (-1, 1)" \
        dp-import libsvm --classes -1,1 --skip-bad 1 -q -o u.dp bad.svm
    assert_equal "$(values s.dp 3 | sed -n 2p)" "0 0 0"
}

@test "what was clamped or malformed is private, and said only when asked for" {
    schema '{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [0, 1]}, {"name": "y", "type": "label", "bounds": [0, 1]}'
    printf '1,7,0\n2,0.5,9\nx,0,1\n' > dirty.csv
    printf '1,0,0\n1,0.5,1\n0,0,1\n' > clean.csv
    dp-import csv --schema schema.json --no-registry --skip-bad 5 --population p -o t.dp clean.csv 2> clean
    dp-import csv --schema schema.json --no-registry --skip-bad 5 --population p -f -o t.dp dirty.csv 2> dirty
    diff clean dirty
    run dp-import csv --schema schema.json --skip-bad 5 --private-counts -q -f -o t.dp dirty.csv
    assert_output "dp-import: private: 1 value of column 1 (a) clamped to the bounds
dp-import: private: 1 value of column 2 (b) clamped to the bounds
dp-import: private: 1 value of column 3 (y) clamped to the bounds
dp-import: private: 1 malformed line"
}

@test "xz and zstd are read as gzip is, and a byte order mark is no part of a name" {
    schema "$NUMBER, $LABEL" '"header": true'
    { printf '\357\273\277a,y\n0.5,yes\n'; for i in $(seq 20000); do echo "$i.5,no"; done; } > t.csv
    dp-import csv --schema schema.json -q -o plain.dp t.csv
    for tool in gzip xz zstd; do
        $tool -qc t.csv > t.packed
        dp-import csv --schema schema.json -q -f -o t.dp t.packed
        cmp plain.dp/X.npy t.dp/X.npy
        { head -n 100 t.csv | $tool -qc; tail -n +101 t.csv | $tool -qc; } | dp-import csv --schema schema.json -q -f -o t.dp -
        cmp plain.dp/X.npy t.dp/X.npy
        head -c 900 t.packed > out.csv
        complains 1 "dp-import: out.csv ends in the middle of its compressed data" dp-import csv --schema schema.json -o out.dp out.csv
        { head -c 900 t.packed; head -c 9000 /dev/zero | tr '\0' x; } > out.csv
        run dp-import csv --schema schema.json -o out.dp out.csv
        assert_failure 1
        assert_output --regexp "^dp-import: out.csv is damaged, or no $tool file: "
    done
    { printf '\357\273\277'; cat schema.json; } > bom.json
    dp-import csv --schema bom.json -q -f -o t.dp t.csv
    dp-import csv --infer-schema first.json --header -q t.csv
    assert_equal "$(jq -r '.columns[0].name' first.json)" a
}

@test "what is no table is named" {
    schema "$NUMBER, $LABEL"
    while IFS='|' read -r bytes message; do
        { printf '%b' "$bytes"; head -c 100 /dev/zero; } > t.csv
        bad_csv "t.csv $message"
    done <<- 'END'
		PK\x03\x04|is a zip archive or a workbook: unpack it, or save it as CSV
		BZh91AY&SY|is compressed by bzip2: unpack it first
		PAR1\x15|is a Parquet file: save it as CSV (duckdb -c "COPY 'FILE.parquet' TO 'FILE.csv'", or pandas)
		ARROW1\0\0|is an Arrow file: save it as CSV (pandas.read_feather('FILE').to_csv('FILE.csv', index=False))
		SQLite format 3\0|is an SQLite database: dp-import sqlite FILE --sql 'SELECT ...' reads it
		\x04\x22\x4d\x18|is compressed by lz4: unpack it first
	END
    mkdir d
    complains 1 "dp-import: d is a directory" dp-import csv --schema schema.json -o out.dp d
    printf '1,no\n2,n\0o\n' > t.csv
    bad_csv "t.csv: line 2: holds a NUL byte, so this is not text in UTF-8"
    printf '1 1:0.5\0\n0 2:0.7\n1 3:0.25\n' > t.svm
    complains 1 "dp-import: t.svm: line 1: holds a NUL byte, so this is not text in UTF-8" dp-import libsvm -o out.dp --cols 3 --classes 0,1 t.svm
    printf '@relation t\n@attribute a numeric\n@attribute c {x,\0y}\n@data\n1,x\n' > t.arff
    complains 1 "dp-import: t.arff: line 3: holds a NUL byte, so this is not text in UTF-8" dp-import arff -o out.dp t.arff
    assert_not_exists out.dp
}

@test "names that are neither UTF-8 nor Windows-1252 are refused with their line, and long ones are cut between characters" {
    hint='is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)'
    for line in '@attribute gr\201sse numeric' '@attribute c {a,\201}'; do
        printf "@relation t\n@attribute a numeric\n$line\n@data\n1,1\n" > t.arff
        complains 1 "dp-import: t.arff: line 3: $hint" dp-import arff -o out.dp t.arff
    done
    printf 'a,gr\201sse\n1,2\n' > t.csv
    complains 1 "dp-import: t.csv: line 1, column 2: 'gr\\x81sse' $hint" dp-import csv --infer-schema out.json --header t.csv
    printf '1,x\n2,caf\201\n' > t.csv
    complains 1 "dp-import: t.csv: line 2, column 2: 'caf\\x81' $hint" dp-import csv --infer-schema out.json t.csv
    assert_not_exists out.json
    schema "$NUMBER, {\"name\": \"y\", \"type\": \"label\", \"classes\": [\"x\", \"café\"]}"
    complains 1 "dp-import: t.csv: line 2, column 2 (y): the label is not one of the classes (x, café), got 'caf\\x81', which $hint" \
        dp-import csv --schema schema.json -o out.dp t.csv
    printf '1 1:1\n2 1:2\n' > t.svm
    complains 2 "dp-import: --classes: '\\xff' is not UTF-8" dp-import libsvm --classes $'1,\377' -o out.dp t.svm
    assert_not_exists out.dp
    # 249 bytes and a character of two: 250 would cut it in half
    long=$(printf 'a%.0s' {1..249})é$(printf 'b%.0s' {1..200})
    schema "{\"name\": \"$long\", \"type\": \"categorical\", \"categories\": [\"$long\", \"z\"]}, $LABEL"
    printf 'z,no\n%s,yes\n' "$long" > t.csv
    dp-import csv --schema schema.json -q -o long.dp t.csv
    assert_equal "$(dp-info -g columns long.dp)" "[\"${long:0:249}=${long:0:249}\",\"${long:0:249}=z\",\"bias\"]"
    schema "{\"name\": \"$long\", \"type\": \"numeric\", \"bounds\": [0, 1]}, $LABEL"
    printf 'x,no\n' > t.csv
    bad_csv "t.csv: line 1, column 1 ($(printf 'a%.0s' {1..40})…): expected a number, got 'x'"
}

@test "classes without a text, with one text for two, or fewer than two are refused" {
    printf '1,a\n' > t.csv
    schema "$NUMBER, {\"name\": \"y\", \"type\": \"label\", \"classes\": [[], [\"a\"]]}"
    bad_csv "schema.json: column 'y': class 1 of \"classes\" has no text"
    schema "$NUMBER, {\"name\": \"y\", \"type\": \"label\", \"classes\": [[\"a\"], [\"b\", \"a\"]]}"
    bad_csv "schema.json: column 'y': 'a' is in two classes"
    printf '@relation t\n@attribute a numeric\n@attribute y {x}\n@data\n1,x\n' > t.arff
    complains 1 "dp-import: t.arff: line 4, attribute 'y': the label must be numeric or have two or more values (--label)" \
        dp-import arff -o out.dp t.arff
    printf '1 1:1\n1 2:1\n' > t.svm
    complains 1 "dp-import: t.svm: all labels are the same (--classes lists those that there are)" dp-import libsvm -o out.dp t.svm
    assert_not_exists out.dp
}

@test "memory is bounded by the file, unless --cols says that a large index is right" {
    # an address sanitizer takes terabytes
    case $BUILD in *asan*) limit=: ;; *) limit='ulimit -v 200000' ;; esac
    printf '1 10000000:1\n0 1:1\n' > t.svm
    complains 1 "dp-import: t.svm: the largest index is 10000000 in a file of 19 bytes (--cols 10000000 if that is right)" \
        bash -c "$limit; exec dp-import libsvm -o out.dp t.svm"
    printf '1 60000:1\n0 1:1\n' > t.svm
    dp-import libsvm -q -o some.dp t.svm
    dp-import libsvm -q -f --cols 100000 -o some.dp t.svm
    printf '\0\0\010\003\0\0\0\0\0\0\047\020\0\0\003\350' > images
    printf '\0\0\010\001\0\0\0\0' > labels
    complains 1 "dp-import: images: no rows" bash -c "$limit; exec dp-import idx -o out.dp images labels"
}

@test "rows are divided by one number, so that columns keep their meaning" {
    # one column that determines the label: with rows of norm 1 each nothing is left of it
    schema '{"name": "age", "type": "numeric", "bounds": [0, 100]}, '"$LABEL"
    awk 'BEGIN { srand(1); for (i = 0; i < 4000; i++) { a = 100 * rand(); print a "," (1 / (1 + exp((50 - a) / 8)) > rand() ? "yes" : "no") } }' > t.csv
    auc() {
        dp-import csv --schema schema.json -q -f --split 0.75 -o t.dp -t held.dp "$@" t.csv
        dp-loop --laps 100 -o model -- "dp-sample --data t.dp --mode full --rate 1 | dp-grad --data t.dp --loss logistic --lambda 1e-4 --non-private | dp-account --non-private | dp-step --step 4" > /dev/null
        dp-eval --data held.dp --metrics auc --last --in model | tail -n 1 | awk '{ print $NF }'
    }
    awk -v unit="$(auc --row-norm unit --no-bias)" -v plain="$(auc)" 'BEGIN { exit !(unit < 0.6 && plain > 0.93) }'
    # the model records the measurements
    assert_equal "$(dp-info -g row_norm t.dp)" "divided by 1.4142139, bias"
    assert_equal "$(dp-info -g row_norm model)" "divided by 1.4142139, bias"
}

@test "input that is cut short is refused, and nothing is left" {
    schema "$NUMBER, $LABEL"
    for i in $(seq 5000); do echo "$i.$RANDOM,no"; done > t.csv
    gzip -c t.csv | head -c 9000 > t.csv.gz
    run dp-import csv --schema schema.json -o out.dp t.csv.gz
    assert_failure 1
    assert_output 'dp-import: t.csv.gz ends in the middle of its compressed data'
    assert_equal "$(find . -name 'out.dp*')" ''
}

@test "a signal leaves nothing behind" {
    schema "$NUMBER, $LABEL"
    mkdir in
    mkfifo rows
    ulimit -c 0 -f 2000000 # a command that ignores the signal ends at 2 GB
    # cut NUMBER: the signal ends the command in the background
    cut() {
        kill -"$1" $!
        status=0
        wait $! || status=$?
        assert_equal $status $((128 + $1))
        assert_equal "$(find in -mindepth 1)" ''
    }
    (cd in && exec dp-import csv --schema ../schema.json -o out.dp - < ../rows) 3>&- &
    exec 7> rows # it has them open
    echo 1,no >&7
    cut 15
    exec 7>&-
    for signal in 1 3 15; do
        (cd in && exec dp-synth regression --rows 100000000 --cols 50 -o out.dp) 3>&- &
        for _ in $(seq 500); do
            if [ -n "$(find in -mindepth 2)" ]; then break; fi
            sleep 0.02
        done
        assert_not_equal "$(find in -mindepth 2)" ''
        cut $signal
    done
}

@test "nothing is overwritten without --force, and only data sets with it" {
    schema "$NUMBER, $LABEL"
    printf '1,no\n' > t.csv
    dp-import csv --schema schema.json -q -o t.dp t.csv
    complains 1 "dp-import: t.dp exists (--force replaces it)" dp-import csv --schema schema.json -o t.dp t.csv
    printf '1,no\n2,no\n' > t.csv
    dp-import csv --schema schema.json -q -f -o t.dp t.csv
    assert_equal "$(dp-info --get rows t.dp)" 2
    mkdir plain
    complains 1 "dp-import: plain is not a data set: it will not be replaced" \
        dp-import csv --schema schema.json -f -o plain t.csv
    complains 1 "dp-import: t.csv is not a data set: it will not be replaced" \
        dp-import csv --schema schema.json -f -o t.csv t.csv
    assert_equal "$(find . -name '*.dp*')" ./t.dp
}

@test "a population is the same in every import of a table, and in both parts of a split" {
    schema "$NUMBER, $LABEL"
    mkdir in
    printf '1,no\n2,yes\n3,no\n4,yes\n' > in/people.csv
    dp-import csv --schema schema.json -q -o a.dp in/people.csv
    assert_equal "$(dp-info -g population a.dp) $(dp-info -g held_out a.dp)" "people.csv false"
    dp-import csv --schema ./schema.json -q -f --split 0.5 -o a.dp -t at.dp in/people.csv
    assert_equal "$(dp-info -g population a.dp) $(dp-info -g held_out a.dp)" "people.csv false"
    assert_equal "$(dp-info -g population at.dp) $(dp-info -g held_out at.dp)" "people.csv true"
    run dp-info at.dp
    assert_line "population people.csv, rows held out for tests"
    dp-import csv --schema schema.json -q -o b.dp - < in/people.csv
    assert_equal "$(dp-info -g population b.dp)" people.csv # the same bytes
    dp-import csv --schema schema.json -q -f --no-registry -o b.dp - < in/people.csv
    assert_equal "$(dp-info -g population b.dp)" standard-input
    dp-import csv --schema schema.json --population 'clinic ü' -q -o c.dp in/people.csv
    assert_equal "$(dp-info -g population c.dp)" 'clinic ü'
    printf '1 1:1\n0 1:2\n' > t.svm
    dp-import libsvm -q -o d.dp t.svm
    assert_equal "$(dp-info -g population d.dp)" t.svm
    for bad in '' $'a\tb' $'gr\366sse' "$(printf 'x%.0s' {1..501})"; do
        complains 2 "dp-import: --population: must be 1 to 500 bytes of UTF-8 without control characters" \
            dp-import libsvm --population "$bad" -o e.dp t.svm
    done
    assert_not_exists e.dp
    # a set from before populations: its digest is its population
    sed -i '/population/d; /held_out/d' d.dp/dataset.json
    assert_equal "$(dp-info -g population d.dp)" "$(dp-info -g digest d.dp)"
}

@test "a data set is for its owner only" {
    printf '1 1:1\n0 1:2\n' > t.svm
    umask 000
    dp-import libsvm -q -o t.dp t.svm
    dp-import libsvm --storage csr -q -o s.dp t.svm
    assert_equal "$(stat -c %a t.dp t.dp/* s.dp s.dp/* | sort | uniq -c | tr -s ' ')" " 8 600
 2 700"
}

@test "--force keeps the ledger of the data set, at every moment" {
    printf '1 1:1\n0 1:2\n' > t.svm
    dp-import libsvm -q -o t.dp t.svm
    echo paid > t.dp/ledger
    echo mark > t.dp/ledger.mark
    inodes=$(stat -c %i t.dp/ledger t.dp/ledger.mark)
    digest=$(dp-info -g digest t.dp)
    dp-import libsvm -q -f -o t.dp t.svm
    assert_not_equal "$(dp-info -g digest t.dp)" "$digest"
    assert_equal "$(stat -c %i t.dp/ledger t.dp/ledger.mark)" "$inodes"
    assert_equal "$(stat -c %h t.dp/ledger)" 1
    assert_equal "$(find . -name 't.dp*')" ./t.dp
    for i in $(seq 60); do
        timeout -s KILL "0.00$((RANDOM % 10))$((RANDOM % 10))" dp-import libsvm -q -f -o t.dp t.svm || true
        assert_equal "$(cat t.dp/ledger t.dp/ledger.mark)" "$(printf 'paid\nmark')"
        dp-info --verify t.dp > info
    done
    # a failure leaves the old one with its ledger
    printf '1 x:1\n' > t.svm
    run dp-import libsvm -q -f -o t.dp t.svm
    assert_failure 1
    assert_equal "$(cat t.dp/ledger t.dp/ledger.mark)" "$(printf 'paid\nmark')"
}

@test "--split is an exact partition, the same for the same seed" {
    for i in $(seq 101); do echo "$((i % 2)) 1:1 2:$i"; done > t.svm
    run dp-import libsvm -k 2 -d 2 --row-norm cap --no-bias --split 0.75 --seed 4 -o a.dp -t at.dp t.svm
    assert_output "dp-import: a.dp: 75 rows, 2 columns, 2 classes; at.dp: 26 rows
dp-import: rows above norm 1 are scaled to it; there is no bias column
dp-import: one row is taken for one person
dp-import: the population is t.svm"
    dp-import libsvm -k 2 -d 2 --row-norm cap --no-bias --split 0.75 --seed 4 -o b.dp -t bt.dp -q t.svm
    dp-import libsvm -k 2 -d 2 --row-norm cap --no-bias --split 0.75 --seed 5 -o c.dp -t ct.dp -q t.svm
    dp-import libsvm -k 2 -d 2 --row-norm cap --no-bias -o all.dp -q t.svm
    cmp a.dp/X.npy b.dp/X.npy
    cmp at.dp/X.npy bt.dp/X.npy
    run cmp a.dp/X.npy c.dp/X.npy
    assert_failure
    # together they are all rows
    assert_equal "$({ values a.dp 2; values at.dp 2; } | sort)" "$(values all.dp 2 | sort)"
}

@test "rows that one schema cannot read and another can are divided alike: one split, one identity" {
    {
        echo a,b,y
        for i in $(seq 40); do echo "$i,$((i % 3 == 0)),$((i % 2))" | sed 's/,1,/,,/'; done
    } > t.csv
    schema() {
        echo '{"header": true, "missing": [""], "columns": [{"name": "a", "type": "numeric", "bounds": [0, 40]},
          {"name": "b", "type": "numeric", "bounds": [0, 1]'"$1"'}, {"name": "y", "type": "label", "classes": [["0"], ["1"]]}]}'
    }
    schema '' > strict.json
    schema ', "fill": 0' > filled.json
    dp-import csv --schema strict.json --skip-bad 13 --no-bias --split 0.5 -q -o a.dp -t at.dp t.csv
    dp-import csv --schema filled.json --no-bias --split 0.5 -q -o b.dp -t bt.dp t.csv
    assert_equal "$(dp-info a.dp --get split)" "$(dp-info b.dp --get split)"
    # lines that the strict schema cannot read are rows of zeros in the same places
    for part in "a.dp b.dp" "at.dp bt.dp"; do
        read -r strict filled <<< "$part"
        paste <(values "$strict" 2) <(values "$filled" 2) | awk '$1 != $3 && $1 != 0 { exit 1 }'
    done
    assert_equal "$({ values a.dp 2; values at.dp 2; } | awk '$1 == 0' | wc -l)" 13
}

@test "libsvm: dense and CSR hold the same rows; what was measured is said" {
    printf '%s\n' '+1 2:1 4:2' '-1 # nothing' '-1 1:-3 # comment' '' '# comment' > t.svm
    run dp-import libsvm --storage csr --no-bias -o s.dp t.svm
    assert_output "dp-import: s.dp: 3 rows, 4 columns, 2 classes
dp-import: each row is scaled to norm 1 by itself, since column 'x1' has no bounds; there is no bias column
dp-import: one row is taken for one person
dp-import: the population is t.svm"
    assert_equal "$(dp-info s.dp --get private_preprocessing)" classes,columns
    assert_equal "$(dp-info s.dp --get class_names)" '["-1","1"]'
    assert_equal "$(dp-info s.dp --get storage)" csr
    assert_equal "$(labels s.dp)" "$(printf '%s\n' 1 0 0)"
    assert_equal "$(od -An -t d8 -v -w8 -j 128 s.dp/X_indptr.npy | tr -d ' ')" "$(printf '%s\n' 0 2 2 3)"
    assert_equal "$(od -An -t d4 -v -w4 -j 128 s.dp/X_indices.npy | tr -d ' ')" "$(printf '%s\n' 1 3 0)"
    dp-import libsvm --classes -1,1 --cols 4 --no-bias -q -o d.dp t.svm
    assert_equal "$(dp-info d.dp --get private_preprocessing)" ''
    assert_equal "$(values d.dp 4 | awk '{ printf "%.4f %.4f %.4f %.4f\n", $1, $2, $3, $4 }')" "0.0000 0.4472 0.0000 0.8944
0.0000 0.0000 0.0000 0.0000
-1.0000 0.0000 0.0000 0.0000"
    dp-info --verify d.dp
    dp-info --verify s.dp
    printf '%s\n' 1 '0 1:1' > z.svm # a row of zeros may come first
    dp-import libsvm --no-bias -q -o z.dp z.svm
    assert_equal "$(values z.dp 1 | head -n 1)" 0
    dp-import libsvm --number --scale max-abs -q -o r.dp t.svm
    assert_equal "$(dp-info r.dp --get private_preprocessing)" columns,max-abs
    assert_equal "$(labels r.dp)" "$(printf '%s\n' 1 -1 -1)"
}

@test "libsvm: bad lines are named by line and column" {
    while IFS='|' read -r line message; do
        printf '1 1:1\n%s\n' "$line" > t.svm
        complains 1 "dp-import: t.svm: line 2, field $message" dp-import libsvm -k 0,1 -d 9 -o o.dp t.svm
    done <<- 'END'
		x 1:1|1: expected a label
		1 a:1|2: expected index:value with an index from 1
		1 0:1|2: the index is 0, and the first one is 1 (scikit-learn: dump_svmlight_file(..., zero_based=False))
		1 1|2: expected index:value with an index from 1
		1 2:1 2:1|3: indices must ascend
		1 1:x|2: expected a number after ':'
		1 10:1|2: the index is above --cols
		2 1:1|1: the label is not one of --classes (0, 1)
	END
    assert_not_exists o.dp
}

@test "arff: the header is the schema" {
    cat > t.arff <<- 'END'
		% a comment
		@relation play
		@attribute temperature numeric
		@attribute 'sky colour' {blue, grey}
		@ATTRIBUTE note string
		@attribute play {no, 'oh yes'}
		@data
		10, blue, 'x, "', no
		% another's
		20, 'grey', y, 'oh yes'
	END
    run dp-import arff --no-bias -o t.dp t.arff
    assert_output "dp-import: t.dp: 2 rows, 3 columns, 2 classes
dp-import: each row is scaled to norm 1 by itself, since column 'temperature' has no bounds; there is no bias column
dp-import: one row is taken for one person
dp-import: the population is t.arff"
    assert_equal "$(dp-info t.dp --get columns)" '["temperature","sky colour=blue","sky colour=grey"]'
    assert_equal "$(dp-info t.dp --get label)" play
    dp-import arff --label temperature -q -o r.dp t.arff
    assert_equal "$(labels r.dp)" "$(printf '10\n20')"
    complains 2 "dp-import: --label: t.arff has no attribute 'x'" dp-import arff --label x -o x.dp t.arff
    sed -i 's/20, .grey./20, green/' t.arff
    complains 1 "dp-import: t.arff: line 10, column 2 (sky colour): unknown category, got 'green'" dp-import arff -o x.dp t.arff
    printf '@relation x\n@attribute a date\n' > t.arff
    complains 1 "dp-import: t.arff: line 2, attribute 'a': only numeric, nominal and string attributes are read" \
        dp-import arff -o x.dp t.arff
    printf '@relation x\n@attribute a numeric\n' > t.arff
    complains 1 "dp-import: t.arff: no @data" dp-import arff -o x.dp t.arff
}

@test "idx: bytes by their range, labels by --classes" {
    printf '\0\0\010\003\0\0\0\002\0\0\0\001\0\0\0\002\377\0\0\063' > images
    printf '\0\0\010\001\0\0\0\002\001\0' > labels
    run dp-import idx --classes 2 --row-norm cap --no-bias -o t.dp images labels
    assert_output "dp-import: t.dp: 2 rows, 2 columns, 2 classes
dp-import: rows above norm 1 are scaled to it; there is no bias column
dp-import: one row is taken for one person
dp-import: the population is images"
    assert_equal "$(values t.dp 2 | awk '{ printf "%.4f %.4f\n", $1, $2 }')" "1.0000 0.0000
0.0000 0.2000"
    assert_equal "$(labels t.dp)" "$(printf '1\n0')"
    dp-import idx -q -o ten.dp images labels
    assert_equal "$(dp-info ten.dp --get classes)" 10
    assert_equal "$(dp-info ten.dp --get private_preprocessing)" ''
    gzip -c images > images.gz
    dp-import idx -q -o gz.dp images.gz labels
    cmp ten.dp/X.npy gz.dp/X.npy

    complains 1 "dp-import: labels: IDX with 1 dimension" dp-import idx -o x.dp labels labels
    head -c 18 images > short
    complains 1 "dp-import: short: ends inside item 2 of 2" dp-import idx -o x.dp short labels
    head -c 10 images > short
    complains 1 "dp-import: short: its header is cut short" dp-import idx -o x.dp short labels
    printf '\0\0\010\003\0\0\0\002\0\0\010\0\0\0\010\0\001' > short # 2048 x 2048, which are some 600 MB of columns
    case $BUILD in *asan*) limit=: ;; *) limit='ulimit -v 400000' ;; esac
    complains 1 "dp-import: short: ends inside item 1 of 2" bash -c "$limit; exec dp-import idx -o x.dp short labels"
    echo hello > short
    complains 1 "dp-import: short: not an IDX file" dp-import idx -o x.dp short labels
    { cat images; echo; } > long
    complains 1 "dp-import: long: has bytes after its last item" dp-import idx -o x.dp long labels
    printf '\0\0\010\001\0\0\0\001\001' > few
    complains 1 "dp-import: images has 2 items, few has 1" dp-import idx -o x.dp images few
    printf '\0\0\010\001\0\0\0\002\001\014' > many
    complains 1 "dp-import: many: item 2 has label 12, there are 10 classes (--classes)" dp-import idx -o x.dp images many
    assert_not_exists x.dp
}

# images FILE SIDE COUNT: an IDX file of black, white, chequered and random images, and a black one with a spot as number 600
images() {
    /usr/bin/python3 - "$@" << 'END'
import random, struct, sys
side, count = int(sys.argv[2]), int(sys.argv[3])
random.seed(1)
ready = [bytes(side * side), b"\xff" * (side * side), bytes((i + i // side) % 2 * 255 for i in range(side * side))]
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack(">IIII", 0x803, count, side, side))
    for i in range(count):
        image = bytes(random.randrange(256) for _ in range(side * side))
        file.write(ready[i] if i < 3 else b"\xff" + ready[0][1:] if i == 1060 else image)
END
}

@test "idx: features of images have norm 1, do not depend on threads or instructions, and a model asks for the same ones" {
    images images 16 1100 # twice what is mapped together, and some that have the place of the first
    { printf '\0\0\010\001\0\0\004\114'; for i in $(seq 550); do printf '\0\001'; done; } > labels
    run dp-import idx --features hog --classes 2 -o t.dp images labels
    assert_output "dp-import: t.dp: 1100 rows, 761 columns, 2 classes
dp-import: rows are the features hog:v1 16x16 seed 1 of images, by a public map
dp-import: each row is scaled to norm 1 by itself; the last column is a bias
dp-import: one row is taken for one person
dp-import: the population is images"
    dp-info --verify t.dp > info # norms, too
    assert_equal "$(dp-info -g row_norm t.dp)" "hog:v1 16x16 seed 1, unit, bias"
    assert_equal "$(dp-info -g private_preprocessing t.dp)" ''
    assert_equal "$(jq -r .features t.dp/dataset.json)" "hog:v1 16x16 seed 1"
    # sanitizers slow this down most, and have seen it now
    threads='1 3' sets=$(instructions)
    case $BUILD in *asan* | *aligned*) threads='' sets='' && cp -r t.dp other.dp ;; esac
    for number in $threads; do
        OMP_NUM_THREADS=$number dp-import idx --features hog --classes 2 -q -f -o other.dp images labels
        cmp t.dp/X.npy other.dp/X.npy
    done
    for isa in $sets; do
        DPLINE_ISA=$isa dp-import idx --features hog --classes 2 -q -f -o other.dp images labels
        cmp t.dp/X.npy other.dp/X.npy
    done
    # a split has the same rows, in their order
    dp-import idx --features hog --classes 2 -q --split 0.5 -o half.dp -t rest.dp images labels
    # a row does not depend on the images before it
    { printf '\0\0\010\003\0\0\0\050\0\0\0\020\0\0\0\020'; tail -c $((40 * 256)) images; } > late
    { printf '\0\0\010\001\0\0\0\050'; tail -c 40 labels; } > late-labels
    dp-import idx --features hog --classes 2 -q -o late.dp late late-labels
    /usr/bin/python3 - << 'END'
import numpy
load = lambda name: numpy.load(name + ".dp/X.npy")
rows = load("t")
norm = (rows.astype(float) ** 2).sum(1)
assert norm.max() <= 1 and norm.min() > 1 - 1e-6, (norm.min(), norm.max())
assert abs(rows[:, -1] - 0.3).max() < 1e-6
place = {row.tobytes(): i for i, row in enumerate(rows)}
for name in "half", "rest":
    places = [place[row.tobytes()] for row in load(name)]
    assert len(places) == 550 and places == sorted(places)
assert (load("late") == rows[1060:]).all()
END
    dp-import idx --features hog --classes 2 -q --quantise -o narrow.dp images labels
    assert_equal "$(dp-info -g storage narrow.dp)" int16
    dp-info --verify narrow.dp > info
    sgd.sh --data t.dp --epochs 1 --batch 100 --loss logistic -q -o model
    dp-predict model narrow.dp > predictions
    dp-predict --scores model t.dp > scores
    # new images without labels
    dp-predict --scores model images > new
    cmp scores new
    gzip -c images | OMP_NUM_THREADS=1 dp-predict --scores model - | cmp - new
    head -c 2000 images > short
    complains 1 "dp-predict: short: ends inside item 8 of 1100" dp-predict model short
    images large 20 3
    complains 1 "dp-predict: the model has 761 columns, large has 1041" dp-predict model large
    images large 18 3
    complains 1 "dp-predict: an image has 18 x 18 pixels, and the features hog are for sides of 16 to 40 pixels that are multiples of 4: scale or pad the images first" \
        dp-predict model large
    complains 1 "dp-predict: model: not an IDX file" dp-predict model model
    # three channels
    { printf '\0\0\010\004\0\0\0\002\0\0\0\020\0\0\0\020\0\0\0\003'; tail -c 1536 images; } > colours
    { printf '\0\0\010\001\0\0\0\002\0\001'; } > few
    dp-import idx --features hog --classes 2 -q -o colours.dp colours few
    assert_equal "$(dp-info -g row_norm colours.dp) $(dp-info -g cols colours.dp)" "hog:v1 16x16x3 seed 1, unit, bias 913"
    dp-info --verify colours.dp > info
    dp-import idx --classes 2 -q -o pixels.dp images labels
    complains 1 "dp-predict: the model has 761 columns, pixels.dp has 257" dp-predict model pixels.dp
    jq '.features = "hog:v2 16x16 seed 1"' t.dp/dataset.json > edited && cp edited other.dp/dataset.json
    complains 1 "dp-predict: the rows of the model have row norm 'hog:v1 16x16 seed 1, unit, bias', the rows of other.dp 'hog:v2 16x16 seed 1, unit, bias'" \
        dp-predict model other.dp
    sgd.sh --data other.dp --epochs 1 --batch 100 --loss logistic -q -o model-v2
    complains 1 "dp-predict: the rows of the model have row norm 'hog:v2 16x16 seed 1, unit, bias', the rows of images 'hog:v1 16x16 seed 1, unit, bias'" \
        dp-predict model-v2 images
    jq '.features = 3' t.dp/dataset.json > edited && cp edited other.dp/dataset.json
    complains 1 "dp-info: other.dp/dataset.json: \"features\" is not the name of a map, or \"pixels\" is not a text" dp-info other.dp
}

@test "features of images need little of the stack" {
    case $BUILD in *asan*) skip "sanitizers need more of it" ;; esac
    images images 28 70
    { printf '\0\0\010\001\0\0\0\106'; for i in $(seq 35); do printf '\0\001'; done; } > labels
    for map in hog scatter; do
        dp-import idx --features $map --classes 2 -q -o $map.dp images labels
        (ulimit -s 300 && OMP_STACKSIZE=200k dp-import idx --features $map --classes 2 -q -f -o small.dp images labels)
        cmp $map.dp/X.npy small.dp/X.npy
    done
}

@test "idx: scattering does not depend on threads, instructions or other images, and a model reads new ones" {
    images images 16 10
    { printf '\0\0\010\001\0\0\0\012'; for i in $(seq 5); do printf '\0\001'; done; } > labels
    run dp-import idx --features scatter --classes 2 -o t.dp images labels
    assert_line --index 0 "dp-import: t.dp: 10 rows, 1425 columns, 2 classes"
    assert_line --index 1 "dp-import: rows are the features scatter:v1 16x16 seed 1 of images, by a public map"
    dp-info --verify t.dp > info # norms, too
    assert_equal "$(dp-info -g row_norm t.dp)" "scatter:v1 16x16 seed 1, unit, bias"
    # each program makes the map anew, for seconds, and sanitizers have seen that now
    case $BUILD in *asan* | *aligned*) return ;; esac
    sgd.sh --data t.dp --epochs 1 --batch 10 --loss logistic -q -o model
    dp-predict --scores model t.dp > scores
    { printf '\0\0\010\003\0\0\0\004\0\0\0\020\0\0\0\020'; tail -c 1024 images; } > late
    OMP_NUM_THREADS=1 dp-predict --no-header --scores model late > new
    tail -n 4 scores | cmp - new
    OMP_NUM_THREADS=3 dp-import idx --features scatter --classes 2 -q -f -o other.dp images labels
    cmp t.dp/X.npy other.dp/X.npy
    for isa in $(instructions); do
        DPLINE_ISA=$isa dp-import idx --features scatter --classes 2 -q -f -o other.dp images labels
        cmp t.dp/X.npy other.dp/X.npy
    done
    { printf '\0\0\010\004\0\0\0\002\0\0\0\020\0\0\0\020\0\0\0\003'; tail -c 1536 images; } > colours
    complains 1 "dp-predict: the model has 1425 columns, colours has 2137" dp-predict model colours
    images large 18 3
    complains 1 "dp-predict: an image has 18 x 18 pixels, and the features scatter are for sides of 16 to 40 pixels that are multiples of 4: scale or pad the images first" \
        dp-predict model large
    printf '\0\0\010\001\0\0\0\003\0\001\0' > few
    complains 1 "dp-import: an image has 18 x 18 pixels, and the features scatter are for sides of 16 to 40 pixels that are multiples of 4: scale or pad the images first" \
        dp-import idx --features scatter -o x.dp large few
}

@test "idx: images without features, and options that features exclude" {
    images images 18 3
    printf '\0\0\010\001\0\0\0\003\0\001\0' > labels
    complains 1 "dp-import: an image has 18 x 18 pixels, and the features hog are for sides of 16 to 40 pixels that are multiples of 4: scale or pad the images first" \
        dp-import idx --features hog -o t.dp images labels
    printf '\0\0\010\002\0\0\0\003\0\0\0\002abcdef' > rows
    complains 1 "dp-import: rows: an item is a row of 2 numbers, and --features is for images, with rows and columns" \
        dp-import idx --features hog -o t.dp rows labels
    assert_not_exists t.dp
}

@test "--infer-schema looks at the data and says so; its data sets say so too" {
    cat > t.csv <<- 'END'
		size,kind,grade
		1,b,x
		3,a,y
		?,b,x
	END
    run dp-import csv --infer-schema s.json --header t.csv
    assert_success
    assert_output 'dp-import: column '\''size'\'' is numeric, bounds [1.0,3.0], indicator true
dp-import: column '\''kind'\'' is categorical, categories ["a","b"]
dp-import: column '\''grade'\'' is label, classes ["x","y"]
dp-import: looked at the data to write s.json: its bounds and categories are private until you replace them'
    run dp-import csv --schema s.json -o t.dp t.csv
    assert_line "dp-import: t.dp: 3 rows, 5 columns, 2 classes"
    assert_equal "$(dp-info t.dp --get private_preprocessing)" inferred-schema
    assert_equal "$(dp-info t.dp --get columns)" '["size","size missing","kind=a","kind=b","bias"]'
    dp-import csv --infer-schema s2.json --header --label kind -q t.csv
    dp-import csv --schema s2.json -q -o t2.dp t.csv
    assert_equal "$(dp-info t2.dp --get label)" kind
    printf '1\n2\n' > t.csv
    complains 1 "dp-import: t.csv: fewer than two columns (is the delimiter right?)" dp-import csv --infer-schema s3.json t.csv
    printf '1,2\n2\n' > t.csv
    complains 1 "dp-import: t.csv: line 2: 1 field, the first line has 2" dp-import csv --infer-schema s3.json t.csv
}

@test "--infer-schema overwrites nothing, writes to standard output, and says what it leaves out" {
    printf 'a,y\n1,x\n2,z\n' > t.csv
    echo mine > edited.json
    complains 1 "dp-import: edited.json exists (--force replaces it)" dp-import csv --infer-schema edited.json --header t.csv
    assert_equal "$(cat edited.json)" mine
    dp-import csv --infer-schema edited.json --header -q --force t.csv
    dp-import csv --infer-schema - --header -q t.csv > out.json
    cmp edited.json out.json
    assert_not_exists -
    assert_equal "$(stat -c %a edited.json)" 600
    run bash -c "ulimit -f 0; dp-import csv --infer-schema edited.json --header -q --force t.csv"
    assert_equal "$status $output" "1 dp-import: cannot write edited.json: File too large"
    cmp edited.json out.json # the one before stays
    run bash -c "ulimit -f 0; dp-import csv --infer-schema small.json --header -q t.csv"
    assert_equal "$status $(find . -name 'small.json*')" "1 "
    dp-import csv --infer-schema new.json --header -q t.csv
    assert_equal "$(stat -c %a new.json)" 600
    complains 2 "dp-import: --label: t.csv has no column 'Y', only a, y" dp-import csv --infer-schema none.json --header --label Y t.csv
    assert_not_exists none.json
    { echo id,a,y; for i in $(seq 1200); do echo "i$i,$((7 * i)),$((i % 2))"; done; } > t.csv
    run dp-import csv --infer-schema left.json --header -q t.csv
    assert_output "dp-import: column 'id' is left out: it is not numeric and has 1000 different texts or more (\"type\": \"text\" takes its words)"
}

@test "bounds that are inferred hold the extremes" {
    for pair in 0.1234567890123456,0.9876543210987654 -1234567.8901234567,-3e-17 5e-324,1.2345678901234567e300; do
        printf '%s,x\n%s,z\n' ${pair/,/ } > t.csv
        dp-import csv --infer-schema s.json -q --force t.csv
        run dp-import csv --schema s.json -q -f --private-counts -o t.dp t.csv
        assert_output "dp-import: private: 0 malformed lines"
    done
}

@test "Fashion-MNIST is 60000 × 784 in ten classes" {
    dp-import idx --no-bias -o f.dp "$FASHION/train-images-idx3-ubyte.gz" "$FASHION/train-labels-idx1-ubyte.gz" -q
    assert_equal "$(dp-info --get rows f.dp) $(dp-info --get cols f.dp) $(dp-info --get classes f.dp)" "60000 784 10"
    dp-info --verify f.dp > info
    rm -r f.dp
}

@test "Adult is 24420 × 81 as in the DP-SCD paper" {
    need_data adult adult.data.gz
    s=$ROOT/examples/dp-scd/schema-adult.json
    run dp-import csv --schema "$s" --row-norm unit --no-bias --split 0.75 -o a.dp --test at.dp "$DATA_FILE"
    assert_line "dp-import: a.dp: 24420 rows, 81 columns, 2 classes; at.dp: 8141 rows"
    run dp-import csv --schema "$s" --row-norm unit --no-bias --skip-lines 1 -o t.dp "${DATA_FILE%data.gz}test.gz"
    assert_line "dp-import: t.dp: 16281 rows, 81 columns, 2 classes"
}

@test "Phishing is 8291 × 68" {
    need_data phishing phishing.gz
    run dp-import libsvm -k 0,1 -d 68 --no-bias --split 0.75 -o p.dp -t pt.dp "$DATA_FILE"
    assert_line "dp-import: p.dp: 8291 rows, 68 columns, 2 classes; pt.dp: 2764 rows"
}

# --- rows as a stream ---

stream_schema() {
    cat > s.json << 'END'
{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "job", "type": "categorical", "categories": ["cook", "nurse"]},
  {"name": "y", "type": "label", "bounds": [0, 100]}]}
END
    printf 'a,job,y\n1,cook,50\n2,nurse,100\n30,cook,0\n' > t.csv
}

@test "--out sends the rows that --output would write, and what they are" {
    stream_schema
    dp-import csv t.csv --schema s.json --out rows 2> said
    assert_equal "$(cat said)" "dp-import: rows: 3 rows, 4 columns, real labels
dp-import: every row is divided by 1.73205, the largest norm that the bounds permit; the last column is a bias
dp-import: one row is taken for one person
dp-import: the population is t.csv"
    for how in "" "--row-norm unit --no-bias" "--row-norm cap" "--population ours"; do
        dp-import csv t.csv --schema s.json --out rows -q $how
        rm -rf t.dp
        dp-import csv t.csv --schema s.json -o t.dp -q $how
        dp-loop -q --laps 1 --exec processes -- 'dp-sample --data t.dp --mode full --inline | tee raw |
            dp-grad --loss squared --lambda 0 --non-private | dp-account --non-private | dp-step --step 1' > /dev/null
        /usr/bin/python3 - << 'END'
import sys
sys.path.insert(0, __import__("os").environ["ROOT"] + "/tests/bats")
import frames
(a,), (b,) = frames.laps("rows"), frames.laps("raw")
assert (a.pop("X") == b["X"]).all() and (a.pop("y") == b["y"]).all()
assert a.pop("records") == [] and len(a.pop("data")) == 32
for key in a:
    assert a[key] == b[key], (key, a, b)
assert set(a) == {"kind", "lap", "label", "classes", "label_scale", "label_offset", "population", "private_preprocessing", "row_norm", "schema"}
END
    done
    dp-import tsv <(tr , '\t' < t.csv) --schema s.json --out tabs -q
    same() { dp-cat --full "$1" | jq -c 'del(.schema, .population, .data)'; }
    cmp <(same tabs) <(dp-import csv - --schema s.json --out - -q < t.csv | same -)
}

@test "--out: a malformed line ends the stream with an error, or is a row of zeros in its place" {
    stream_schema
    printf 'a,job,y\n1,cook,50\n2,smith,100\n3,cook,0\n' > t.csv
    complains 1 "dp-import: t.csv: line 3, column 2 (job): unknown category, got 'smith'" dp-import csv t.csv --schema s.json --out rows
    [ ! -e rows ]
    dp-import csv t.csv --schema s.json --out - 2> /dev/null | dp-cat --frames > got || true
    dp-import csv t.csv --schema s.json --out - > got 2> /dev/null || true
    run dp-cat got
    assert_failure 4
    dp-import csv t.csv --schema s.json --out rows -q --skip-bad 1
    /usr/bin/python3 - << 'END'
import sys
sys.path.insert(0, __import__("os").environ["ROOT"] + "/tests/bats")
import frames
(f,) = frames.laps("rows")
assert len(f["X"]) == 3 and (f["X"][1] == 0).all() and f["y"][1] != f["y"][1] and (f["X"][2] != 0).any()
END
    printf 'a,job,y\n' > t.csv
    complains 1 "dp-import: t.csv: no rows" dp-import csv t.csv --schema s.json --out rows
}

@test "--out needs a schema that leaves nothing to the rows" {
    stream_schema
    needs() {
        complains 2 "dp-import: a stream of rows needs a schema that is public, and '$1' is taken from the rows" \
            dp-import csv t.csv --schema "$2" --out rows
    }
    sed 's/"bounds": \[0, 10\]/"scale": "max-abs"/' s.json > m.json
    needs max-abs m.json
    sed 's/"nurse"\]/"nurse"], "fill": "mode"/' s.json > m.json
    needs mode m.json
    sed 's/"bounds": \[0, 100\]/"center": true/' s.json > m.json
    needs label-mean m.json
    sed 's/"header"/"private_preprocessing": ["inferred-schema"], "header"/' s.json > m.json
    needs inferred-schema m.json
    [ ! -e rows ]
    complains 2 "dp-import: --population: must be 1 to 500 bytes of UTF-8 without control characters" \
        dp-import csv t.csv --schema s.json --out rows --population ""
}

@test "--out: each row is on its way before the next is waited for, and a reader that is gone ends it" {
    stream_schema
    mkfifo in
    dp-import csv in --schema s.json --out - -q > got 2> said &
    import=$!
    exec 7> in
    printf 'a,job,y\n1,cook,5\n' >&7
    rows_are() { for _ in $(seq 100); do [ "$(dp-cat got 2> /dev/null | grep -c '"kind":"lap"')" -ge "$1" ] && return; sleep 0.05; done; fail "not $1 frames"; }
    rows_are 1
    printf '2,cook,5\n' >&7
    rows_are 2
    exec 7>&-
    wait $import
    [ "$(dp-cat got | wc -l)" = 4 ]
    exec 7<> in # which never ends
    { cat t.csv; sleep 0.5; echo 1,cook,5; } >&7 &
    timeout -k 2 20 dp-import csv in --schema s.json --out - -q | head -c 10 > /dev/null
    [ "${PIPESTATUS[0]}" != 124 ]
}

@test "--out: rows go to no terminal or a network in plain text" {
    stream_schema
    run script -qec "dp-import csv t.csv --schema s.json --out - -q" /dev/null
    assert_output --partial "dp-import: will not write a raw frame to a terminal (--allow-private-output overrides)"
    complains 5 "dp-import: will not write a raw frame in plain text to a network: leave out --insecure-plaintext" \
        dp-import csv t.csv --schema s.json --out tcp://192.0.2.1:5555 --insecure-plaintext -q
}

@test "csv: UTF-16 by its mark, Windows-1252 and Latin-1, and one sentence for a mixture" {
    echo '{"header": true, "delimiter": ";", "columns": [{"name": "Größe", "type": "numeric", "bounds": [0, 10]},
        {"name": "Preis", "type": "categorical", "categories": ["zu „teuer“", "5 €", "süß\nund"]},
        {"name": "y", "type": "label", "classes": ["n", "j"]}]}' > s.json
    { # longer than what is read before the encoding is known, with a line end in a field
        echo 'Größe;Preis;y'
        for i in $(seq 3000); do printf '%s;%s;%s\n' $((i % 11)) 'zu „teuer“' n 3 '5 €' j 4 $'"süß\nund"' j; done
    } > utf-8.csv
    dp-import csv -s s.json --no-registry -q -o utf-8.dp utf-8.csv
    for encoding in utf-16le utf-16be windows-1252; do
        case $encoding in utf-16le) printf '\xff\xfe' ;; utf-16be) printf '\xfe\xff' ;; *) : ;; esac > "$encoding.csv"
        /usr/bin/python3 -c 'import sys; sys.stdout.buffer.write(open("utf-8.csv").read().encode(sys.argv[1]))' $encoding >> $encoding.csv
        dp-import csv -s s.json --no-registry -o $encoding.dp $encoding.csv 2> said
        cmp utf-8.dp/X.npy $encoding.dp/X.npy
        cmp utf-8.dp/y.npy $encoding.dp/y.npy
        name=${encoding%[lb]e} name=${name/windows/Windows}
        assert_equal "$(grep UTF said)" "dp-import: the text is not UTF-8: it is read as ${name/utf/UTF}"
    done
    dp-import csv --infer-schema proposed.json windows-1252.csv 2> said
    grep -qx 'dp-import: the text is not UTF-8: it is read as Windows-1252' said
    assert_equal "$(jq -c '[.columns[].name], .columns[1].categories' proposed.json)" '["Größe","Preis","y"]
["5 €","süß\nund","zu „teuer“"]'
    { cat windows-1252.csv && echo '1;5 €;n'; } > mixed.csv
    complains 1 "dp-import: mixed.csv: line 12002 is UTF-8, and line 1 is Windows-1252 or Latin-1: one encoding is expected" \
        dp-import csv -s s.json -o x.dp mixed.csv
    # nor does the row of one person decide how later rows are read, although the schema takes every text
    sed 's/"categories"/"unknown": "zero", "categories"/' s.json > any.json
    { sed 1q windows-1252.csv | iconv -f WINDOWS-1252 -t UTF-8 && sed 1d windows-1252.csv; } > mixed.csv
    complains 1 "dp-import: mixed.csv: line 1 is UTF-8, and line 2 is Windows-1252 or Latin-1: one encoding is expected" \
        dp-import csv -s any.json -o x.dp mixed.csv
    head -c 1001 utf-16le.csv > cut.csv
    complains 1 "dp-import: cut.csv: ends within a character of UTF-16" dp-import csv -s s.json -o x.dp cut.csv
    printf '\xff\xfe\x00\xd8\x41\x00' > bad.csv
    complains 1 "dp-import: bad.csv: begins as UTF-16, and has bytes that are not UTF-16" dp-import csv -s s.json -o x.dp bad.csv
}

@test "csv: notes about two tables name theirs" {
    schema "$NUMBER, $LABEL" '"header": true'
    printf 'a,y\n1,no\na,y\n2,yes\n' > first.csv
    printf 'a,y\n1,no\n3,yes\n4,no\na,y\n' > second.csv
    two() { dp-import csv -s schema.json --no-registry "$@" -f -o t.dp --test u.dp first.csv second.csv 2> said; }
    two -q
    assert_equal "$(cat said)" "dp-import: first.csv: warning: line 3 is the header again, so it is skipped (such lines: 1)
dp-import: second.csv: warning: line 5 is the header again, so it is skipped (such lines: 1)"
    printf 'a,y\n3,yes\n' > second.csv
    two -q
    assert_equal "$(cat said)" "dp-import: first.csv: warning: line 3 is the header again, so it is skipped (such lines: 1)"
    # the encoding of either
    schema "$NUMBER, {\"name\": \"y\", \"type\": \"label\", \"classes\": [\"no\", \"süß\"]}" '"header": true'
    printf 'a,y\n1,no\n2,s\xfc\xdf\n' > first.csv
    printf 'a,y\n1,no\n3,no\n' > second.csv
    for _ in 1 2; do
        two
        assert_equal "$(grep -c 'is read as Windows-1252' said)" 1
        mv first.csv third.csv && mv second.csv first.csv && mv third.csv second.csv
    done
}

@test "csv: nothing is measured on a second table" {
    schema '{"name": "a", "type": "numeric", "scale": "max-abs", "fill": 9}, {"name": "b", "type": "categorical", "categories": ["p", "q"], "fill": "mode"},
        {"name": "y", "type": "label", "center": true}'
    printf '%s\n' 2,p,1 -4,p,3 1,,5 > first.csv
    printf '%s\n' 40,q,100 1,q,100 ,q,100 -8,q,100 ,,100 > second.csv
    two() { dp-import csv -s schema.json --no-registry -q "$@" -f -o t.dp --test u.dp first.csv second.csv; }
    two --row-norm cap --no-bias
    dp-import csv -s schema.json --no-registry -q --row-norm cap --no-bias -o alone.dp first.csv
    cmp t.dp/X.npy alone.dp/X.npy
    cmp t.dp/y.npy alone.dp/y.npy
    two --no-bias --row-norm bounds
    # what is larger is as large as the largest number for training
    dp-info --verify u.dp > /dev/null
    ratio() { values u.dp 3 | awk '{ printf "%s%.3g %.3g %.3g", (NR > 1 ? "; " : ""), $1 * sqrt(2), $2 * sqrt(2), $3 * sqrt(2) }'; }
    assert_equal "$(ratio)" "1 0 1; 0.25 0 1; 1 0 1; -1 0 1; 1 1 0"
}
