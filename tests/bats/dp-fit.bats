# dpline fit: nothing to tune.
load helper

prepare() {
    dp-synth classification --rows 2000 --cols 8 --seed 7 -o small.dp --test test.dp -q
}

# printed OPTION…: the run on small.dp as one line
printed() { dpline fit small.dp --print -q "$@" | tr -s ' \n' ' '; }

@test "fit: the data set is an operand or an option, and every option is looked at before anything is run" {
    dpline fit small.dp --print -q > operand
    dpline fit --data small.dp --print -q > option
    cmp operand option
    fit.sh --print -q small.dp > script
    cmp operand script
    complains 2 "dpline fit: the data set is missing: dpline fit DATA --epsilon 1 (try --help)" dpline fit
    complains 2 "dpline fit: unexpected argument 'test.dp' (try --help)" dpline fit small.dp test.dp
    assert_equal "$(dpline fit small.dp -e 2 -d 1e-4 --print -o m)" "$(dpline fit small.dp --epsilon 2 --delta 1e-4 --print -o m)"
    complains 2 "dpline fit: unexpected argument 'test.dp' (try --help)" dpline fit --data small.dp test.dp
    complains 2 "dpline fit: unknown option '--epochs' (try --help)" dpline fit small.dp --epochs 3
    complains 2 "dpline fit: --epsilon: needs a value" dpline fit small.dp --epsilon
    complains 2 "dp-fit: expected one data set, or --rows and --cols of one elsewhere" dp-fit
    complains 2 "dp-fit: expected one data set, or --rows and --cols of one elsewhere" dp-fit small.dp test.dp
    run dp-fit small.dp -q -o small.model
    assert_line --index 0 "# 2000 rows, 8 columns, 2 classes: logistic; epsilon 1, delta 1e-4, the largest power of ten below 1 / rows^1.1"
    assert_equal "$(sed 1d <<< "$output")" "$(cat operand)"
    assert_not_exists small.model
    assert_not_exists small.dp/ledger
}

@test "fit: delta is the largest power of ten below 1 / rows^1.1, and is said" {
    delta() { dp-synth classification --rows "$1" --cols 2 -q -o n.dp -f && dpline fit n.dp --print 2> said | sed -n 's/.*--delta \([^ ]*\) .*/\1/p'; }
    for rows in 500 1001 5000 24420; do
        assert_equal "$(delta $rows)" "1e-$(/usr/bin/python3 -c "import math; print(math.floor(1.1 * math.log10($rows)) + 1)")"
    done
    assert_regex "$(cat said)" '^dpline fit: 24420 rows, .*; epsilon 1, delta 1e-5, the largest power of ten below 1 / rows\^1.1'
    dpline fit n.dp --print --delta 1e-3 2> said > print
    assert_regex "$(cat said)" 'epsilon 1, delta 1e-3$'
    assert_equal "$(sed -n 's/.*--delta \([^ ]*\) .*/\1/p' print)" 1e-3
}

@test "fit: a table that is no data set yet, and a model" {
    printf 'age,job\n1,2\n' > people.csv
    cp people.csv "a table.arff"
    complains 2 "dpline fit: --label is required: the column of people.csv to predict" dpline fit people.csv
    complains 2 "dpline fit: --print: people.csv is a table, and only a run on a data set is printed" dpline fit people.csv --print
    complains 2 "dpline fit: --label is for a table; a data set has its label" dpline fit small.dp --label age
    cp people.csv people.txt
    complains 2 "dpline fit: people.txt: a table has a name that ends with its format, as .csv or .csv.gz" dpline fit people.txt --label x
    complains 2 "dpline fit: -o: people.csv is used by this command, and would be replaced" dpline fit people.csv --label x -o people.csv
    complains 2 "dpline fit: --class-weights: a number for each class, got '1'" dpline fit people.csv --label x --class-weights 1
    for known in "--classes no,yes" "--label x=yes"; do
        complains 2 "dpline fit: --class-weights: one for each class, in the order of their names" \
            dpline fit people.csv --label x $known --class-weights 1,1,1
    done
    complains 2 "dpline fit: --class-weights are for classes, and --number for a number" dpline fit people.csv --label x --number --class-weights 1,1
    complains 2 "dpline fit: --population is for a table; a data set has its population" dpline fit small.dp --population us
    for option in '--schema s.json' --unpaid-schema '--person who' '--columns a' '--without a' '--sql a' '--classes a,b' --number; do
        complains 2 "dpline fit: ${option% *} is for a table, and small.dp is a data set" dpline fit small.dp $option
    done
    echo '{}' > columns.json
    printf 'a,b\n1,2\n' > columns.csv
    for option in --columns --without; do
        complains 2 "dpline fit: $option is for a proposed schema, and columns.json says what the columns are" dpline fit columns.csv --label b $option a
    done
    for part in 1 -.1 all; do complains 2 "dpline fit: --test: must be a table, a part below 1, or none, got '$part'" dpline fit people.csv --label x --test=$part; done
    run dp-fit people.csv
    assert_failure 1
    assert_output "dp-fit: people.csv is a file, not a data set: dpline fit people.csv --label NAME trains on a table, and dp-import makes a data set of it"
    complains 1 "dp-fit: a table.arff is a file, not a data set: dpline fit 'a table.arff' --label NAME trains on a table, and dp-import makes a data set of it" dp-fit "a table.arff"
    complains 1 "dp-fit: cannot open gone.dp: No such file or directory" dp-fit gone.dp
    mkdir empty.dp
    complains 1 "dp-fit: cannot open empty.dp/dataset.json: not a data set (see dp-import)" dpline fit empty.dp
    sgd.sh --data small.dp --epochs 1 -q -o model
    complains 1 "dp-fit: model is a model, and what is needed is the data set to train on (dp-predict model DATA applies a model)" dpline fit model
    rm small.dp/y.npy
    complains 1 "dp-fit: cannot open small.dp/y.npy: No such file or directory" dpline fit small.dp
}

# A hospital's table: identifiers, missing values, semicolons, decimal commas, and rows of next month without the label.
hospital() {
    awk 'BEGIN { srand(5); print "patient_id;name;age;weight;smoker;ward;readmitted"
        for (i = 1; i <= 1500; i++) {
            age = int(20 + 60 * rand()); smoker = rand() < .4
            ill = rand() < 1 / (1 + exp(-(age - 50) / 8 - 2 * smoker + 1))
            printf "%d;Patient %d;%s;%d,%d;%s;%s;%s\n", 1000 + i, i, i % 17 ? age : "n/a", 50 + 40 * rand(), 10 * rand(),
                smoker ? "yes" : "no", substr("ABC", 1 + i % 3, 1), ill ? (i % 9 ? "yes" : "Yes") : "no"
        } }'
}

@test "fit: two commands, from a table to predictions for another table" {
    hospital > patients.csv
    head -n 30 patients.csv | cut -d ';' -f 1-6 > january.csv
    run dpline fit patients.csv --label readmitted --epsilon 1 --row-is-person
    assert_success
    assert_line --partial "dp-import: the schema cost epsilon 0.15625, "
    refute_line --partial "does not cover"
    dpline predict patients.model january.csv --keep patient_id > risk.csv
    assert_equal "$(wc -l < risk.csv),$(sed -n 1p risk.csv)" "30,patient_id,prediction"
}

@test "fit: a schema that is not paid for, which replace-one needs" {
    mkdir ward && hospital > ward/patients.csv
    head -n 30 ward/patients.csv | cut -d ';' -f 1-6 > january.csv
    echo '9;Z;old;70,5;no;A' >> january.csv
    run dpline fit ward/patients.csv --label readmitted --epsilon 1 --seed 3 --adjacency replace-one --unpaid-schema
    assert_success
    assert_line "dp-import: column 'patient_id' is left out: its name and its values look like an identifier"
    assert_line "dp-import: column 'age' is numeric, bounds [20.0,79.0], indicator true"
    assert_line 'dp-import: column '\''readmitted'\'' is label, classes ["no",["Yes","yes"]]'
    assert_line "dpline fit: epsilon does not cover what ward/patients.json took from the rows; put in what is known without them, and leave out inferred-schema"
    assert_line "  dp-predict patients.model --schema ward/patients.json NEW.csv > scores.csv"
    dpline predict patients.model --schema ward/patients.json january.csv --keep patient_id > risk.csv 2> said
    assert_equal "$(wc -l < risk.csv),$(sed -n 1p risk.csv),$(tail -n 1 risk.csv)" "31,patient_id,prediction,9,"
    assert_equal "$(sed -n 1p said)" "dp-predict: warning: january.csv: line 31, column 3 (age): expected a number, got 'old'"
    accuracy=$(dp-eval --last --metrics accuracy --data ward/patients-test.dp --in patients.model | tail -n 1 | cut -f 3)
    [ "$(calculate "$accuracy > 0.75")" = 1 ] || fail "$accuracy"
    # predictions of the table are predictions of its data set
    assert_line --partial ": logistic; epsilon 1, delta 1e-4, the largest power of ten below 1 / rows^1.1"
    dp-import csv --schema ward/patients.json --row-norm unit --basis cosines -q -o all.dp ward/patients.csv
    dp-predict patients.model all.dp | head -n 30 | tail -n +2 > rows
    tail -n +2 risk.csv | head -n 29 | cut -d , -f 2 | diff - rows
    complains 2 "dpline fit: ward/patients.dp is there already (dpline fit ward/patients.dp trains on it)" dpline fit ward/patients.csv --label ward
    rm -r ward/patients.dp
    complains 1 "dp-predict: patients.model carries no public schema: --schema names the schema of the training set" dp-predict patients.model january.csv
    complains 2 "dp-predict: --schema is for a table" dp-predict patients.model all.dp --schema ward/patients.json
    # a schema of public values is carried
    jq '.private_preprocessing = []' ward/patients.json > p && mv p ward/patients.json
    rm -r ward/patients-test.dp
    complains 2 "dp-import: --label: ward/patients.json says that the label is 'readmitted'" dpline fit ward/patients.csv --label ward -o other.model -q
    run dpline fit ward/patients.csv --label readmitted --epsilon 1 --seed 3 -o public.model
    assert_success
    refute_line --partial "does not cover"
    assert_line "  dp-predict public.model NEW.csv > scores.csv"
    dp-predict public.model january.csv --keep patient_id 2> /dev/null > carried
    assert_equal "$(wc -l < carried)" 31
}

@test "fit: a seed gives the same schema and the same weights, and a paid schema says that its noise had a seed" {
    dp-synth patients -q --rows 2000 --seed 1 -o once.csv
    for run in "" --unpaid-schema --linear; do
        for folder in a b; do
            rm -rf $folder && mkdir $folder && cp once.csv $folder/patients.csv
            (cd $folder && dpline fit patients.csv --label readmitted --row-is-person --epsilon 1 --seed 7 --no-ledger -q $run)
            dp-predict --scores $folder/patients.model $folder/patients-test.dp > $folder/scores
        done
        cmp a/patients.json b/patients.json
        cmp a/scores b/scores
        assert_equal "$(dp-info --get private_preprocessing a/patients.dp)" inferred-schema
    done
    # another seed, another schema and other weights
    rm -r b && mkdir b && cp once.csv b/patients.csv
    (cd b && dpline fit patients.csv --label readmitted --row-is-person --epsilon 1 --seed 8 --no-ledger -q)
    run cmp a/scores b/scores
    assert_failure
}

@test "fit: two classes have cosines near the noise, later if lines have a transform" {
    columns() { # NUMBERS CATEGORIES: as many columns
        echo '{"header": false, "columns": ['
        for i in $(seq "$1"); do echo "{\"name\": \"n$i\", \"type\": \"numeric\", \"bounds\": [0, 1]},"; done
        echo "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [$(seq -s , "$2" | sed 's/[0-9]\+/"&"/g')]},"
        echo '{"name": "y", "type": "label", "classes": ["0", "1"]}]}'
    }
    table() { awk -v n="$1" -v c="$2" 'BEGIN { for (i = 0; i < 2000; i++) { for (j = 0; j < n; j++) printf "%g,", i % 7 / 7; print 1 + i % c "," i % 2 } }'; }
    verdict() { # NUMBERS CATEGORIES EPSILON
        columns "$1" "$2" > near.json
        table "$1" "$2" | dp-import csv -q --schema near.json --basis cosines -o near.dp -f -
        dp-fit near.dp --epsilon "$3" --delta 1e-5 | head -n 1 | grep -o 'cosines.*'
        dp-fit near.json --rows 2000 --epsilon "$3" --delta 1e-5 > by-schema # without rows, the same
        assert_equal "$(jq .columns by-schema)" "$(dp-info --get cols near.dp)"
    }
    by_schema() { jq -r .basis by-schema; }
    assert_equal "$(verdict 1 120 0.3) $(by_schema)" 'cosines cosines'                        # x 15; lines have no transform
    assert_equal "$(verdict 20 2 0.1) $(by_schema)" 'cosines, and lines would do better line' # x 5, and 0.03 D is 5.5
    assert_equal "$(verdict 1 10 0.3) $(by_schema)" 'cosines cosines'                         # lines have a transform, x 38
    assert_equal "$(verdict 30 2 0.4) $(by_schema)" 'cosines, and lines would do better line' # x 11, and 0.2 D is 49
}

@test "fit: a table is read at most twice, and what is said decides nothing" {
    need_strace
    mkdir bin
    printf '#!/bin/bash\nset -o pipefail\n%s "$@" | sed "1s/^#.*/# said in other words/"\n' "$(command -v dp-fit)" > bin/dp-fit
    chmod +x bin/dp-fit
    awk 'BEGIN { srand(1); print "a,b,y"; for (i = 0; i < 2500; i++) { a = rand(); print a "," rand() "," (rand() < 4 * (a - .5)^2) } }' > table
    jq -n '{header: true, columns: [{name: "a", type: "numeric", bounds: [0, 1]}, {name: "b", type: "numeric", bounds: [0, 1]}, {name: "y", type: "label", classes: ["0", "1"]}]}' > schema
    for run in "8 products --label y" "8 cosines --label y --additive" "0.015 line --label y --unpaid-schema" "1 line --label y --linear" \
        "1 cosines --label y --adjacency replace-one --unpaid-schema --additive" "1 products" "0.015 line" "1 cosines --seed 1 --additive" "1 products --seed 1"; do
        read -r epsilon basis options <<< "$run"
        rm -rf t.* t-test.dp
        cp table t.csv
        [[ $options = *--label* ]] || cp schema t.json
        PATH=$PWD/bin:$PATH strace -f -qq -o trace -e trace=open,openat fit.sh t.csv --epsilon "$epsilon" --delta 1e-4 $options -q --no-registry
        reads=$(grep -c '"t.csv"' trace)
        [ "$reads" -le 2 ] || fail "$run: $reads"
        norm=$(dp-info --get row_norm t.dp)
        assert_equal "$run: ${norm##* }" "$run: ${basis/line/bias}"
    done
}

@test "fit: numbers are curves from a reach of 55 on, with products as columns are paid for; lines below, and with --linear" {
    { echo a,b,y; awk 'BEGIN { srand(1); for (i = 0; i < 2500; i++) { a = rand(); b = rand(); print a "," b "," (rand() < 4 * (a - .5)^2) } }'; } > t.csv
    schema='{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["0", "1"]}]}'
    for epsilon in 0.015:lines 1:--linear 1:products 1:--additive; do
        mkdir "$epsilon" && cd "$epsilon" || return
        cp ../t.csv . && echo "$schema" > t.json
        option=${epsilon#*:}
        run dpline fit t.csv --epsilon "${epsilon%:*}" --delta 1e-4 --seed 1 $([ "${option:0:1}" != - ] || echo "$option")
        assert_success
        cd ..
        case $option in
            lines)
                assert_line "dpline fit: numbers are lines: the budget does not pay for curves"
                assert_line "dpline fit: 2000 rows, 3 columns, 2 classes: logistic; epsilon 0.015, delta 1e-4"
                refute_line --partial "19 columns"
                ;;
            products)
                assert_line "dpline fit: 2000 rows, 23 columns, 2 classes: logistic; epsilon 1, delta 1e-4; columns have products"
                assert_line "dpline fit: spent epsilon 1, delta 0.0001 (seeded: not private); one row is taken for one person"
                assert_line --partial "23 columns, 2 classes; t-test.dp: 500 rows"
                ;;
            --additive)
                assert_line "dpline fit: 2000 rows, 19 columns, 2 classes: logistic; epsilon 1, delta 1e-4; numbers have cosines"
                ;;
            --linear)
                assert_line "dpline fit: 2000 rows, 3 columns, 2 classes: logistic; epsilon 1, delta 1e-4"
                refute_line --partial "numbers"
                ;;
        esac
        dp-predict "$epsilon/t.model" "$epsilon/t-test.dp" > rows
    done
    area() { dp-eval --last --metrics auc --data "$1/t-test.dp" --in "$1/t.model" | tail -n 1 | cut -f 3; }
    # a line has no way to say that both ends are likely
    [ "$(calculate "$(area 1:--additive) > 0.7 && $(area 1:--linear) < 0.6")" = 1 ] || fail "$(area 1:--additive) $(area 1:--linear)"
    dp-predict 1:--additive/t.model t.csv > /dev/null
    dp-predict 1:products/t.model t.csv > /dev/null
    rm -r 1:products/t.dp
    # a data set that has cosines already is told
    sed 's/"classes": [^]]*]/"bounds": [0, 1]/' 1:products/t.json > number.json
    dp-import csv --schema number.json --basis cosines -q -o t.dp t.csv
    run dp-fit t.dp --epsilon 0.1
    assert_line --partial "; numbers have cosines, and lines would do better"
    # columns beyond what is paid for are left out, and it says so
    rm -rf t.* t-test.dp
    awk 'BEGIN { srand(1); for (n = 0; n < 2500; n++) { for (i = 0; i < 4; i++) printf "%s,", rand(); print int(9 * rand()) "," int(2 * rand()) } }' > rows
    { echo a,b,c,d,e,y; cat rows; } > t.csv
    jq -n '{header: true, columns: [("a", "b", "c", "d" | {name: ., type: "numeric", bounds: [0, 1]}),
        {name: "e", type: "categorical", categories: [range(9) | tostring]}, {name: "y", type: "label", bounds: [0, 1]}]}' > t.json
    run fit.sh t.csv --epsilon 2 --delta 1e-4 --seed 1 --no-registry
    assert_success
    assert_line "fit.sh: 7 pairs of columns have products; 3 have none, because the budget does not pay for more columns"
    # two classes have the products of all pairs, or none
    jq '.columns[5] = {name: "y", type: "label", classes: ["0", "1"]}' t.json > two.json
    run jq -c . <(dp-fit two.json --rows 2000 --epsilon 2 --delta 1e-4)
    assert_output '{"columns":46,"basis":"cosines","products":0,"pairs":0,"left_out":10}'
    run jq -c . <(dp-fit two.json --rows 20000 --epsilon 2 --delta 1e-4)
    assert_output '{"columns":46,"basis":"products","products":96,"pairs":10,"left_out":0}'
}

@test "fit: categories have products if no column is a number" {
    awk 'BEGIN { srand(1); print "a,b,y"; for (n = 0; n < 6000; n++) { a = substr("pqr", 1 + int(3 * rand()), 1); b = substr("uvw", 1 + int(3 * rand()), 1)
        print a "," b "," ((a == "p") != (b == "u") ? "yes" : "no") } }' > t.csv
    jq -n '{header: true, columns: [{name: "a", type: "categorical", categories: ["p", "q", "r"]}, {name: "b", type: "categorical", categories: ["u", "v", "w"]},
        {name: "y", type: "label", classes: ["no", "yes"]}]}' > t.json
    run jq -c . <(dp-fit t.json --rows 4800 --epsilon 1 --delta 1e-5)
    assert_output '{"columns":7,"basis":"products","products":9,"pairs":1,"left_out":0}'
    run jq -c .basis <(dp-fit t.json --rows 400 --epsilon 0.3 --delta 1e-5)
    assert_output '"none"'
    # whether y is yes depends on the pair only
    dpline fit t.csv --row-is-person --epsilon 1 --no-registry -o model
    dp-eval --data t-test.dp --metrics accuracy,auc --last --in model | awk 'NR == 2 && $3 == 1 && $4 == 1 { good = 1 } END { exit !good }'
    dp-predict -s model t-test.dp > rows
    complains 1 "dp-export: model has products of two columns (dpline fit --additive makes none), for which csv has no place: json, sql, c, onnx and pmml have one" \
        dp-export model --to csv
    rm -r t.dp t-test.dp
    dpline fit t.csv --row-is-person --epsilon 1 --no-registry --additive -o additive 2>&1 | grep -q '4800 rows, 7 columns'
}

@test "fit: loose bounds do not make rows short, but with --linear" {
    { echo a,b,c,d,e,y; awk 'BEGIN { srand(2); for (i = 0; i < 3000; i++) { a = rand(); b = rand()
        print a "," b "," rand() "," rand() "," rand() "," (rand() < 1 / (1 + exp(12 * (b - a)))) } }'; } > t.csv
    jq -n '{header: true, columns: [(("a", "b", "c", "d", "e") | {name: ., type: "numeric", bounds: [0, 30]}), {name: "y", type: "label", classes: ["0", "1"]}]}' > t.json
    dpline fit t.csv --epsilon 0.1 --seed 1 -q
    assert_equal "$(dp-info -g row_norm t.model)" "unit, bias, cosines"
    rm -r t.dp t-test.dp
    dpline fit t.csv --epsilon 0.1 --seed 1 -q --linear -o linear.model
    assert_regex "$(dp-info -g row_norm linear.model)" '^divided by .*, bias$'
}

@test "fit: a small table of numbers has a model that is better than the mean, or none" {
    need_data tables insurance.csv.gz
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [18, 70]},
        {"name": "sex", "type": "categorical", "categories": ["female", "male"]}, {"name": "bmi", "type": "numeric", "bounds": [15, 55]},
        {"name": "children", "type": "numeric", "bounds": [0, 6]}, {"name": "smoker", "type": "categorical", "categories": ["no", "yes"]},
        {"name": "region", "type": "categorical", "categories": ["northeast", "northwest", "southeast", "southwest"]},
        {"name": "label", "type": "label", "bounds": [0, 70000]}]}' > insurance.json
    dp-import csv -s insurance.json --split 0.8 --seed 2 -q -o i.dp --test it.dp "$DATA_FILE"
    # a label of wide bounds, and hardly above the lower one, is predicted as well
    sed 's/\[0, 70000\]/[0, 280000]/' insurance.json > wide.json
    dp-import csv -s wide.json --split 0.8 --seed 2 --row-norm unit -q -o w.dp --test wt.dp "$DATA_FILE"
    for at in i:0.1:0 i:0.3:0.5 i:1:0.6 w:0.3:0.55 w:1:0.6; do
        IFS=: read -r data epsilon least <<< "$at"
        dpline fit $data.dp --epsilon "$epsilon" --delta 1e-5 --seed 2 --no-ledger -q -o $at
        r2=$(dp-eval --last --metrics r2 --data ${data}t.dp --in "$at" | tail -n 1 | cut -f 3)
        [ "$(bc -l <<< "$r2 > $least")" = 1 ] || fail "$at: $r2"
    done
    complains 3 "dp-fit: epsilon 0.05 at delta 1e-05 does not pay for one useful lap over 1070 rows of 12 columns; epsilon 0.082 would, and so would 1700 rows" \
        dpline fit i.dp --epsilon 0.05 --delta 1e-5
}

@test "fit: a schema that the model was not trained with" {
    hospital > patients.csv
    dpline fit patients.csv --label readmitted --linear --seed 3 -q --row-is-person
    jq '.columns[3].scale = "none"' patients.json > other.json
    run dp-predict patients.model --schema other.json patients.csv
    assert_failure 1
    assert_output --partial "the rows of the model have row norm"
    jq '.columns[5].type = "ignore" | del(.columns[5].categories)' patients.json > fewer.json
    run dp-predict patients.model --schema fewer.json patients.csv
    assert_failure 1
    assert_output --partial "columns"
    jq '.columns[3] |= (.scale = "max-abs" | del(.bounds))' patients.json > measured.json
    complains 2 "dp-predict: a stream of rows needs a schema that is public, and 'max-abs' is taken from the rows" \
        dp-predict patients.model --schema measured.json patients.csv
}

@test "fit: a model that is there already is not overwritten unless it is named" {
    echo precious > small.model
    complains 2 "dpline fit: small.model is there already (-o small.model replaces it; each run costs budget)" dpline fit small.dp
    assert_equal "$(cat small.model)" precious
    assert_regex "$(printed)" ' --model small\.model '
    assert_regex "$(cd / && dpline fit "$OLDPWD/small.dp/" --print -q)" ' --model small\.model '
    assert_regex "$(printed -o mine)" ' --model mine '
}

accuracy() { dp-eval --last --metrics "${3:-accuracy}" --data "$1" --in "$2" | tail -n 1 | cut -f 3; }

@test "fit: one plan, one accountant, a budget that is spent to the last lap, and a summary" {
    dp-account budget --epsilon 3 --delta 1e-4 --run-epsilon 1 small.dp > /dev/null
    mv test.dp kept.dp
    run dpline fit small.dp --epsilon 1
    assert_success
    assert_line --index 0 "dpline fit: 2000 rows, 8 columns, 2 classes: logistic; epsilon 1, delta 1e-4, the largest power of ten below 1 / rows^1.1"
    assert_line "dpline fit: spent epsilon 1, delta 0.0001; one row is taken for one person"
    assert_line --regexp '^dpline fit: by all runs in small\.dp/ledger: epsilon [0-9.]* at delta 0.0001 of a budget of 3, by 1 run and [0-9]* laps; epsilon (0\.99999[0-9]*|1) at delta 0.0001 is what they state by themselves, added up$'
    assert_line "dpline fit: the model is in small.model; next:"
    assert_line "  dp-eval --data kept.dp --metrics accuracy,majority,auc,logloss --last --in small.model"
    assert_line "    (exact measures of people are not charged: pass on --metrics accuracy --private --epsilon E)"
    assert_line "  dp-predict small.model kept.dp > predictions.csv"
    measures=$(printf '%s\n' "${lines[@]}" | grep '^  dp-eval')
    above "$(dp-info --get epsilon small.model)" 0.99999
    above 1 "$(dp-info --get epsilon small.model)"
    above "$(accuracy kept.dp small.model)" 0.9 # 30 runs: 0.937, deviation 0.003
    assert_equal "$(grep -c '"kind":"open"' small.dp/ledger)" 1
    dp-account verify small.dp/ledger
    # the lines of its output, and what they say of the charge
    eval "$measures" > /dev/null
    assert_not_exists kept.dp/ledger
    eval "${measures/accuracy,majority,auc,logloss/accuracy} --private --epsilon 0.5" > /dev/null
    assert_file_exists kept.dp/ledger
    dpline fit small.dp --no-ledger -q -o other 2> said
    [ ! -s said ]
    mkdir here
    run bash -c 'cd here && dpline fit --no-ledger --seed 1 ../small.dp'
    assert_line "dpline fit: the model is in small.model in the current directory; next:"
    dp-info here/small.model > /dev/null
    assert_equal "$(grep -c '"kind":"open"' small.dp/ledger)" 1
    complains 5 "dp-account: dp-synth:classification:7 has a budget of epsilon = 3 in the ledger $PWD/small.dp/ledger, and what is spent in mine would not count there (--no-registry charges it nevertheless)" \
        dpline fit small.dp --ledger mine --epsilon 0.5 -q -o other
    dpline fit small.dp --ledger mine --no-registry --epsilon 0.5 -q -o other
    assert_equal "$(grep -c '"kind":"open"' small.dp/ledger) $(grep -c '"kind":"open"' mine)" '1 1'
}

@test "fit: the budget of each run is spent, never more, whatever epsilon, delta and adjacency" {
    for more in '--epsilon 0.1' '--epsilon 0.5' '--epsilon 2 --delta 1e-3' '--epsilon 7 --delta 1e-7' '--epsilon 0.3 --adjacency replace-one'; do
        dpline fit small.dp $more --seed 1 -q --no-ledger -o model
        set -- $more
        above "$2" "$(dp-info --get epsilon model)"
        above "$(dp-info --get epsilon model)" "$(awk "BEGIN { print $2 * 0.9999 }")"
    done
}

@test "fit: --print is the run, as text" {
    dpline fit small.dp --seed 1 -q -o one
    dpline fit small.dp --seed 1 -q --no-ledger -o other --print > command
    assert_equal "$(grep -cE '^  dp-(sample|moments|grad|noise|account|transform|step) ' command)" 8
    bash command > /dev/null
    dp-info --get model one > weights
    dp-info --get model other | cmp - weights
}

@test "fit: processes, one process and threads give the same model, of two classes, of three and of numbers" {
    dp-synth classification --rows 2000 --cols 8 --classes 3 --seed 7 -o three.dp -q
    dp-synth regression --rows 2000 --cols 8 --seed 7 -o real.dp -q
    for data in small three real; do
        for epsilon in 1 0.08; do # behind a transform, and not
            fit="dpline fit $data.dp --seed 1 -q --no-ledger --delta 1e-5 --epsilon $epsilon"
            $fit -o one --exec fused --threads 1
            $fit -o two --exec processes --threads 1
            $fit -o three --threads 4
            dp-cmp one two
            dp-cmp one three
        done
    done
}

@test "fit: numbers in so many columns that there is no transform: the model is the average of the tail" {
    dp-fit --rows 200000 --cols 9000 --classes 0 --no-ledger > run
    run tail -1 run
    assert_output --regexp 'dp-step .* --average tail'
    run grep -c moments run
    assert_output 0
}

@test "fit: numbers: counts have 5 % of what the moments leave, and the rest is spent" {
    dp-synth regression --rows 6000 --cols 10 --seed 3 -o small.dp -f -q
    printed --delta 1e-5 > run
    whole=$(dp-account sigma --sampler full --laps 1 --epsilon 1 --delta 1e-5)
    /usr/bin/python3 - "$whole" run << 'EOF'
import re, sys
whole, run = float(sys.argv[1]), open(sys.argv[2]).read()
number = lambda option: float(re.search(option + r" ([0-9.]+)", run).group(1))
x, laps = 6000 / whole / 11 ** 0.5, 96
assert "'moments 1, gradient %d'" % laps in run and "--schedule first:32:9" in run and x / 4 > 45
z = [float(word) for word in re.findall(r" --multiplier ([0-9.]+)", run)]
counts = number("--count-multiplier")
shares = [1 / z[0] ** 2, laps / counts ** 2, (32 + 64 * 9) / z[1] ** 2]
assert all(abs(share * whole ** 2 / part - 1) < 1e-6 for share, part in zip(shares, (0.1, 0.045, 0.855))), shares
assert sum(shares) * whole ** 2 <= 1
assert abs(number("--adaptive") - (1 - max(10 / x, 0.01))) < 1e-5 and abs(number("--tail") - 1 / 3) < 1e-5
EOF
    dpline fit small.dp --delta 1e-5 --seed 1 -q -o model
    above 1 "$(dp-info --get epsilon model)"
    above "$(dp-info --get epsilon model)" 0.9999
}

@test "fit: laps, shares and steps by the reach of the budget" {
    # of the pipeline: laps, then the options of dp-moments, dp-grad, dp-transform and dp-step
    numbers() { printed --delta 1e-5 "$@" | sed 's/.*gradient \([0-9][0-9]*\).*--multiplier \([0-9.]*\) .*--multiplier \([0-9.]*\) .*/\1 \2 \3/'; }
    for epsilon in 0.3 1 4; do
        whole=$(dp-account sigma --sampler full --laps 1 --epsilon $epsilon --delta 1e-5)
        numbers --epsilon $epsilon > got
        printed --delta 1e-5 --epsilon $epsilon | grep -oE -- ' --(scale|radius) [0-9.]+' | sed 's/.* / /' >> got
        /usr/bin/python3 - "$whole" got << 'EOF'
import sys
whole, (laps, moments, gradient, scale, radius) = float(sys.argv[1]), map(float, open(sys.argv[2]).read().split())
x = 2000 / whole / 9 ** 0.5
assert abs(radius / min(max(0.7 * (x / 150) ** 0.25, 0.7), 2) - 1) < 1e-5 and abs(scale / (0.62 * (min(radius, 1) / 0.7) ** 0.4) - 1) < 1e-5, x
assert x >= 43 and laps == min(max(int(9 * x / 9 + 0.5), 16), 128), (x, laps)
assert 0 <= moments / (whole / 0.15 ** 0.5) - 1 < 1e-7 and 0 <= gradient / (whole * (laps / 0.85) ** 0.5) - 1 < 1e-7
EOF
    done
    # below that, rows without a transform
    run printed --delta 1e-5 --epsilon 0.05
    assert_output --partial ' --laps 64 '
    assert_output --partial ' --clip 0.3 --scale 0.6 '
    assert_output --partial ' dp-step --step 0.704187 --momentum 0.9'
    refute_output --partial '--average'
    refute_output --partial 'dp-moments'
    # more columns than a transform may have
    dp-synth classification --rows 400 --cols 8192 --seed 7 -o wide.dp -q
    run dpline fit wide.dp --print -q --delta 1e-5 --epsilon 200 --allow-weak
    assert_output --partial '--laps 64 '
    refute_output --partial 'dp-moments'
    # replace-one doubles the noise, so it halves the reach
    assert_equal "$(printed --adjacency replace-one --epsilon 1 --delta 1e-5 | grep -o "gradient [0-9][0-9]*")" "gradient 89"
    # a bias column is there already
    dp-synth classification --rows 2000 --cols 8 --classes 3 --seed 7 -o small.dp -f -q
    run printed
    assert_output --partial ' --intercept 0.5 --unit '
    assert_output --partial ' --loss softmax --clip 0.5 --scale 0.5 '
    printf '{"columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "label", "classes": ["0", "1"]}]}' > s.json
    awk 'BEGIN { for (i = 0; i < 3000; i++) print i / 3000 "," (i > 1500) }' > t.csv
    dp-import csv -q --schema s.json -o small.dp -f t.csv
    run printed
    assert_output --partial ' --intercept 0 --threads '
    dp-import csv -q --no-bias --schema s.json -o small.dp -f t.csv
    run printed
    assert_output --partial ' --intercept 0.5 --threads '
}

@test "fit: laps of numbers, and steps of more classes, by the reach of the budget" {
    dp-synth regression --rows 6000 --cols 10 --seed 3 -o small.dp -f -q
    for epsilon in 0.3 0.4 0.5 1; do
        echo "$(dp-account sigma --sampler full --laps 1 --epsilon $epsilon --delta 1e-5) $(printed --delta 1e-5 --epsilon $epsilon |
            sed "s/.*gradient \([0-9]*\)'.* --adaptive-most \([0-9.]*\) .*/\1 \2/")"
    done > numbers
    dp-synth classification --rows 6000 --cols 10 --classes 3 --seed 3 -o small.dp -f -q
    for epsilon in 0.1 0.15 0.2 1; do
        echo "$(dp-account sigma --sampler full --laps 1 --epsilon $epsilon --delta 1e-5) $(printed --delta 1e-5 --epsilon $epsilon |
            sed "s/.*gradient \([0-9]*\), temperature 4'.* --radius \([0-9.]*\) .* --step \([0-9.]*\) .*/\1 \2 \3/")"
    done > classes
    /usr/bin/python3 - << 'EOF'
def reaches(path):
    return [(6000 / whole / 11**0.5, rest) for whole, *rest in ([float(word) for word in line.split()] for line in open(path))]
numbers, classes = reaches("numbers"), reaches("classes")
assert all(laps == (96 if x / 4 > 45 else 64) and most == 4 for x, (laps, most) in numbers), numbers
near = [x / 4 for x, _ in numbers]
assert any(30 < n < 45 for n in near) and any(45 < n < 60 for n in near), near
assert all(abs(laps - min(max(9 * x / 11, 32), 128)) < 0.51 and radius == 0.5 and abs(step / min(max(x / 6, 6), 24) - 1) < 1e-4 for x, (laps, radius, step) in classes), classes
steps = [step for _, (_, _, step) in classes]
assert max(steps) == 24 and len(set(steps)) == 4, steps
EOF
}

@test "fit: three classes, and numbers" {
    dp-synth classification --rows 6000 --cols 10 --classes 3 --seed 3 -o three.dp --test three-test.dp -q
    dpline fit three.dp --epsilon 2 --seed 1 -q -o model
    above "$(accuracy three-test.dp model)" 0.8
    assert_equal "$(dp-info --get loss model)" softmax
    dp-synth regression --rows 6000 --cols 10 --seed 3 -o real.dp --test real-test.dp -q
    dpline fit real.dp --epsilon 2 --seed 1 -o model 2> said
    above "$(accuracy real-test.dp model r2)" 0.9
    assert_equal "$(dp-info --get loss model)" squared
    grep -qF "dpline fit: 6000 rows, 10 columns, a number: squared;" said
    grep -qF -- "--metrics r2" said
    grep -qF "(exact measures of people are not charged: do not pass them on)" said
}

@test "fit: laps of a large table are samples, but for replace-one adjacency and for tables of several sites" {
    dp-synth classification --rows 600000 --cols 3 --classes 3 --seed 2 -q -o t.dp
    run -0 dp-fit t.dp --epsilon 1 --delta 1e-6 --threads 1
    assert_line "dp-loop --exec auto --plan 'moments 1, gradient 64, temperature 4' -- '"
    assert_line "  dp-sample    --on moments --data t.dp --rate 0.436907 |"
    assert_line "  dp-sample    --on gradient --data t.dp --rate 0.109227 |"
    assert_line "  dp-sample    --on temperature --data t.dp --rate 0.109227 |"
    for whole in "--adjacency replace-one" "--rows 600000"; do
        run -0 dp-fit t.dp --epsilon 1 --delta 1e-6 --threads 1 $whole
        assert_line "  dp-sample    --data t.dp --mode full |"
        refute_output --partial ' --rate '
    done
    dpline fit t.dp --epsilon 1 --delta 1e-6 -q -o model
    above 1 "$(dp-info --get epsilon model)"
    above "$(dp-info --get epsilon model)" 0.999
}

@test "fit: features of images have a rule of their own, and pixels are told of features" {
    { printf '\0\0\010\003\0\0\0\310\0\0\0\020\0\0\0\020'; awk 'BEGIN { srand(1); for (i = 0; i < 51200; i++) printf "%c", 65 + 26 * rand() }'; } > images
    { printf '\0\0\010\001\0\0\0\310'; for i in $(seq 100); do printf '\0\001'; done; } > labels
    dp-import idx -q --classes 2 --features hog -o t.dp images labels
    run dp-fit t.dp --epsilon 3 --delta 1e-5 --threads 1
    assert_success
    assert_output "dp-fit: warning: epsilon 3 is small for so few rows: the model may be hardly better than the most frequent class
# 200 rows, 761 columns, 2 classes: logistic; epsilon 3, delta 1e-5
dp-loop --exec auto --laps 128 -- '
  dp-sample    --data t.dp --mode full |
  dp-grad      --data t.dp --intercept 0 --loss logistic --clip 0.02 --scale 1 --threads 1 --adjacency null-record |
  dp-noise     --multiplier 15.7327692 |
  dp-account   --epsilon 3 --delta 1e-5 |
  dp-step      --step 131.358 --momentum 0.9 --schedule linear-decay'"
    dpline fit t.dp --epsilon 3 --delta 1e-5 -q -o model
    above 3 "$(dp-info --get epsilon model)"
    above "$(dp-info --get epsilon model)" 2.999
    dp-import idx -q --classes 2 -o pixels.dp images labels
    small="dp-fit: warning: epsilon 3 is small for so few rows: the model may be hardly better than the most frequent class"
    run --separate-stderr dp-fit pixels.dp --epsilon 3
    assert_success
    assert_equal "$stderr" "dp-fit: pixels.dp has the pixels of images. A linear model is much better on their features, by a public map that costs no privacy: on Fashion-MNIST at epsilon 1, .90 of new images instead of .84. Import the images again:
  dp-import idx --features hog -o pixels-hog.dp IMAGES LABELS   # of a folder or a zip archive: images instead of idx, and FOLDER
fit trains no network; dpline dp-sgd --network does, on images without a bias column: man dp-net-grad
$small"
    run --separate-stderr dp-fit pixels.dp --epsilon 3 -q
    assert_equal "$stderr" ''
    # in colour
    jq '.pixels = "16x16x3"' pixels.dp/dataset.json > edited && cp edited pixels.dp/dataset.json
    run --separate-stderr dp-fit pixels.dp --epsilon 3
    assert_equal "$stderr" "dp-fit: pixels.dp has the pixels of images. A linear model is much better on their features, by a public map that costs no privacy: on CIFAR-10 at epsilon 1, .68 of new images. Import the images again:
  dp-import images --features scatter -o pixels-scatter.dp FOLDER
fit trains no network; dpline dp-sgd --network does, on images without a bias column: man dp-net-grad
$small"
    # images for which there are no features
    jq '.pixels = "8x32"' pixels.dp/dataset.json > edited && cp edited pixels.dp/dataset.json
    run --separate-stderr dp-fit pixels.dp --epsilon 3
    assert_equal "$stderr" "$small"
}

@test "fit: what cannot work is refused before anything is spent, with what would help" {
    dp-synth classification --rows 20 --cols 4 -o few.dp -q
    complains 1 "dp-fit: 20 rows are too few to hide one of them: for 2 classes there must be 100" dpline fit few.dp --epsilon 10
    dp-synth classification --rows 2000 --cols 4 --classes 1000 -o many.dp -q
    complains 1 "dp-fit: 2000 rows are too few to hide one of them: for 1000 classes there must be 50000" dpline fit many.dp
    complains 3 "dp-fit: epsilon 0.01 at delta 1e-05 does not pay for one useful lap over 2000 rows of 8 columns; epsilon 0.016 would, and so would 3000 rows" \
        dpline fit small.dp --epsilon 0.01 --delta 1e-5
    dpline fit small.dp --epsilon 0.016 --delta 1e-5 --print -q > print
    assert_not_exists small.dp/ledger
    assert_not_exists many.dp/ledger
    # a budget of the data set that is too small
    dp-account budget --epsilon 0.5 --delta 1e-4 small.dp > /dev/null
    run dpline fit small.dp --epsilon 1
    assert_failure 5
    assert_not_exists small.model
}

# bats test_tags=long
@test "real data: fit on Adult and Phishing at epsilon = 1, in a second of one core" {
    need_data adult adult.data.gz
    dp-import csv -q --row-norm unit --no-bias --schema "$ROOT/examples/dp-scd/schema-adult.json" --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    TIMEFORMAT='%U %S'
    { time dpline fit train.dp --delta 1e-3 --seed 1 -q --no-ledger -o model; } 2> seconds
    above "$(accuracy held-out.dp model)" 0.847 # the best of 24 settings of DP-SGD: .842
    case $BUILD in *asan*) ;; *) above 1 "$(awk '{ print $1 + $2 }' seconds)" ;; esac
    need_data phishing phishing.gz
    dp-import libsvm -q --row-norm unit --no-bias --classes 0,1 --cols 68 --scale max-abs --split 0.75 --seed 1 -o train.dp --test held-out.dp --force "$DATA_FILE"
    dpline fit train.dp --delta 1e-3 --seed 1 -q --no-ledger -o model
    above "$(accuracy held-out.dp model)" 0.93
}

# beginning IMAGES COUNT PER-ITEM HEADER: an IDX file with only so many items
beginning() {
    zcat "$1" | head -c "$4" | /usr/bin/python3 -c "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[:4] + ($2).to_bytes(4, 'big') + d[8:])"
    zcat "$1" | tail -c +$(($4 + 1)) | head -c $(($2 * $3))
}

# bats test_tags=long
@test "real data: 8,000 images of Fashion-MNIST by features at epsilon = 1" {
    FASHION=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}
    [ -e "$FASHION/train-images-idx3-ubyte.gz" ] || skip "Fashion-MNIST is not installed (dataset-fashion-mnist)"
    case $BUILD in *asan*) skip "too slow with sanitizers" ;; esac
    for part in train:8000 t10k:4000; do
        beginning "$FASHION/${part%:*}-images-idx3-ubyte.gz" "${part#*:}" 784 16 > "${part%:*}-images"
        beginning "$FASHION/${part%:*}-labels-idx1-ubyte.gz" "${part#*:}" 1 8 > "${part%:*}-labels"
        dp-import idx -q --features hog -o "${part%:*}.dp" "${part%:*}-images" "${part%:*}-labels"
    done
    dpline fit train.dp --delta 1e-5 --seed 1 -q --no-ledger -o model
    above "$(accuracy t10k.dp model)" 0.83 # on their pixels: .76; of all 60,000: .8985 and .8356
}

@test "fit: a table, all of whose rows are trained on, or half of them, and the name of its people" {
    dp-synth patients --rows 4000 --seed 1 -o p.csv -q
    dpline fit p.csv --label readmitted --row-is-person --test none --population 'the ward' -q
    assert_equal "$(dp-info --get rows p.dp) $(dp-info --get population p.dp) $(dp-info --get population p.model) $(echo p-*)" "4000 the ward the ward p-*"
    assert_equal "$(dp-account report --json p.json.ledger | jq -c '[.runs[].population] | unique')" '["the ward"]'
    # the schema is there now
    rm -r p.dp p.model
    dpline fit p.csv --test .5 --population 'the ward' -q
    assert_equal "$(dp-info --get rows p.dp) $(dp-info --get rows p-test.dp)" "2000 2000"
    assert_equal "$(dp-account report --json p.json.ledger | jq -c '[.runs[].population]')" '["the ward","the ward","the ward","the ward","the ward"]'
}

@test "fit: the name of the label may be a class, and a class that perhaps no row has is asked about" {
    awk 'BEGIN { srand(4); print "x,nasal"; for (i = 0; i < 3000; i++) { x = rand(); print x "," (i < 280 ? "rare" : x < .5 ? "nasal" : "oral") } }' > v.csv
    # it can be known without the rows
    run -5 dpline fit v.csv --label nasal --classes nasal,oral -q
    assert_output "dp-import: v.csv: line 1 has 'nasal', which is the name of the label and a class of it: --header says that the line names the columns, --no-header that it is a row; nothing was charged"
    dpline fit v.csv --label nasal -q
    assert_equal "$(dp-info --get rows v.dp) $(jq -c '[.columns[].name]' v.json)" '2400 ["x","nasal"]'
    # in some runs it also says how many rows have the rare class, which is not named
    assert_regex "$(jq -r '.columns[1].note' v.json)" "(^|; )its name is one of its texts, too: the first line is taken for names, a guess, and --no-header makes it a row$"
    # two such names are a row, which is known after the payment only
    awk -F, '{ print (NR % 2 ? "left," : "right,") $0 }' v.csv > two.csv
    run -2 dpline fit two.csv --label nasal -q
    assert_line "dp-import: --label: two.json says that the label is 'column3', and that the first line is a row (without that file, --header decides that it is not)"
    { cat v.csv && echo .5,oral; } > r.csv # another population
    # noise hides one class in one of six runs, and eight of them in one of two million
    nope=nope1,nope2,nope3,nope4,nope5,nope6,nope7,nope8
    run -5 dpline fit r.csv --label nasal --header --classes nasal,oral,$nope -q
    assert_line --regexp "^dp-import: perhaps no row has the class 'nope[1-8]'. If it is only rare, fit again: r.json is paid for, and is used; if the name is wrong, remove that file$"
    assert_not_exist r.dp
    assert_equal "$(jq -c '.columns[1].classes[2][0], (.columns[1] | has("doubtful"))' r.json | tr '\n' ' ')" '"nope1" false '
    assert_equal "$(dp-account report --json r.json.ledger | jq '.runs | length')" 1
    dpline fit r.csv --label nasal --classes nasal,oral,$nope -q
    assert_equal "$(dp-info --get classes r.model)" 10
    # the sum of what schema, knots and model cost is what was asked for, and is printed so
    [ "$(jq -n "$(dp-info --get delta r.model) <= 1e-4")" = true ] || fail "$(dp-info --get delta r.model)"
    dpline report r.dp -m r.model -o r.html
    grep -q 'class="big">ε = 1 at δ = 0.0001<' r.html
    # seven sigma of the noise are no question
    { cat v.csv && yes .6,rare | head -n 120; } > s.csv
    dpline fit s.csv --label nasal --header --classes nasal,oral,rare -q
}

@test "fit: a table that is written in another way, and dp-predict takes it, too" {
    { printf 'Report; of ward 7\n# made by hand\nage;job;ill\n'
        awk 'BEGIN { for (i = 0; i < 3000; i++) print 20 + i % 50 ";" (i % 3 ? "cook" : "smith") ";" (i % 50 < 25 ? "no" : "yes"); print "# end" }'; } > t.csv
    run dpline fit t.csv --label ill=yes --skip-lines 1 --comment '#' --delimiter ';' --without job --class-weights 0.5,1 --test 0
    assert_success
    assert_line "  dp-predict t.model --skip-lines 1 --comment '#' NEW.csv > scores.csv"
    assert_not_exists t-test.dp
    assert_equal "$(dp-info --get rows t.dp)" 3000
    dp-predict t.model --skip-lines 1 --comment '#' t.csv > p.csv
    assert_equal "$(sed 1d p.csv | paste -d, - <(awk -F ';' 'NR > 3 && NF == 3 { print $3 }' t.csv) | sort -u | tr '\n' ' ')" "not yes,no yes,yes "
    tr ';' '|' < t.csv > bars.csv
    complains 1 "dp-predict: bars.csv: line 3: one name, the schema has 2 columns (is the delimiter '|'?)" dp-predict t.model --skip-lines 1 --comment '#' bars.csv
    dp-predict t.model --skip-lines 1 --comment '#' --delimiter '|' bars.csv | cmp - p.csv
    complains 2 "dp-predict: --delimiter: must be one character" dp-predict t.model --delimiter '||' bars.csv
    complains 2 "dp-predict: --comment is for a table" dp-predict t.model t.dp --comment '#'
    rm -r t.dp
    complains 2 "dp-fit: --class-weights: 3 weights, and there are 2 classes" dpline fit t.csv --skip-lines 1 --comment '#' --class-weights 1,1,1 --test none -q -o u.model
    assert_not_exist t.dp
    dpline fit t.csv --skip-lines 1 --comment '#' --class-weights 1,1 --test none -q -o u.model
    dpline fit t.dp --print --class-weights 0.5,1 | grep -q -- '--class-weights 0.5,1'
    # a first line that is a row, or names that are numbers
    awk 'BEGIN { for (i = 0; i < 3000; i++) print 20 + i % 50 "," (i % 50 < 25 ? "no" : "yes") }' > rows.csv
    dpline fit rows.csv --label column2 --no-header --test none -q -o rows.model
    assert_equal "$(dp-info --get rows rows.dp)" 3000
    dp-predict rows.model rows.csv > p.csv
    assert_equal "$(wc -l < p.csv)" 3001
    { echo "1,2" && cat rows.csv; } > numbers.csv
    dpline fit numbers.csv --label 2 --header -q -o numbers.model
    assert_equal "$(dp-info --get rows numbers.dp)" 2400
    # a schema of another name
    sed '1s/.*/1,2/' numbers.csv > own.csv
    complains 2 "dpline fit: --schema: none.json is not there" dpline fit own.csv --schema none.json
    dpline fit own.csv --schema numbers.json --label 2 -q
    assert_equal "$(dp-info --get rows own.dp)" 2400
}

@test "fit: curves of bounds that are not paid for: a table has the scores of its data set" {
    dp-synth patients --rows 4000 --seed 1 -o p.csv -q
    dp-import csv --infer-schema p.json --label readmitted p.csv -q
    dpline fit p.csv --test none 2> said
    refute grep -q 'knots cost' said
    grep -q 'numbers have cosines$' said || fail "$(cat said)"
    dp-predict --scores p.model p.dp > rows
    dp-predict --scores --schema p.json p.model p.csv | diff - rows
    # knots that are paid for are in no schema that names private bounds
    dp-import csv --schema p.json --bad-cells missing --row-norm unit --basis cosines --private-knots .05 --no-ledger -q -f -o p.dp p.csv
    dpline fit p.dp --epsilon 1 --no-ledger -q -o p.model
    complains 1 "dp-predict: p.model has knots that were paid for, and p.json lacks them: import the rows without --private-knots" \
        dp-predict --schema p.json p.model p.csv
}

@test "fit: each format that dp-import reads is a table" {
    # ARFF: missing values and dates, with a schema, and predictions of such a table
    { printf '%% a comment\n@relation r\n@attribute age numeric\n@attribute "the day" date "yyyy-MM-dd"\n@attribute job {cook,smith}\n@attribute ill {no,yes}\n@data\n'
        awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%s,%s2024-%02d-%02d%s,%s,%s\n", i % 9 ? 20 + i % 50 : "?", i % 2 ? "\"" : "", 1 + i % 12, 1 + i % 28, i % 2 ? "\"" : "",
            i % 5 ? (i % 3 ? "cook" : "smith") : "?", i % 50 < 25 ? "no" : "yes"; print "% end" }'; } > t.arff
    dpline fit t.arff --label ill --classes no,yes -q
    assert_equal "$(dp-info --get rows t.dp) $(dp-info --get private_preprocessing t.model)" "2400 paid-schema"
    assert_equal "$(jq -c '[.columns[] | .type, .date] | join(" ")' t.json)" '"numeric  numeric %Y-%m-%d categorical  label "'
    dp-predict t.model t.arff > p.csv
    assert_equal "$(wc -l < p.csv)" 3001
    right=$(sed 1d p.csv | paste -d, - <(grep '^[0-9?].*,' t.arff | awk -F , '{ print $4 }') | awk -F, '$1 == $2 { n++ } END { print n }')
    [ "$right" -gt 2600 ] || fail "$right"
    # without a schema it describes itself
    grep -v '?' t.arff | sed 's/ date .*/ string/' > plain.arff
    dp-import plain.arff -q -o plain.dp
    # libsvm, and its indices from 0
    awk 'BEGIN { for (i = 0; i < 3000; i++) print (i % 50 < 25 ? -1 : 1) " 1:" i % 50 / 50 " 2:" i % 7 / 7 }' > s.svm
    dpline fit s.svm --classes=-1,1 -q
    assert_equal "$(dp-info --get rows s.dp) $(dp-info --get held_out s-test.dp)" "2400 true"
    sed 's/ 2:/ 1:/; s/ 1:/ 0:/' s.svm > zero.svm
    complains 1 "dp-import: zero.svm: line 1, field 2: the index is 0, and the first one is 1 (scikit-learn: dump_svmlight_file(..., zero_based=False))" \
        dpline fit zero.svm -q
    complains 2 "dpline fit: --label: a table of the format libsvm has its label" dpline fit zero.svm --label y
    # arrays
    /usr/bin/python3 -c '
import numpy
x = numpy.arange(6000).reshape(3000, 2) % 50 / 50
y = (x[:, 0] > .5).astype(int)
numpy.savez("a.npz", X=x, y=y)
numpy.save("x.npy", x)
numpy.save("y.npy", y)'
    dpline fit a.npz --classes 2 --test none -q
    assert_equal "$(dp-info --get rows a.dp)" 3000
    dpline fit x.npy --label y.npy --classes 2 -q
    assert_equal "$(dp-info --get rows x.dp)" 2400
    # images: an archive with an outer folder, and an empty folder among them, which is no class
    for class in ape bee; do
        mkdir -p "img/$class"
        for n in $(seq 300); do { printf 'P5\n8 8\n255\n' && printf '%64s' '' | tr ' ' "$([ $class = ape ] && echo "$((n % 5))" || echo "A")"; } > "img/$class/$n.pgm"; done
    done
    mkdir img/none
    /usr/bin/python3 -c 'import shutil; shutil.make_archive("img", "zip", ".", "img")'
    for table in img.zip img/; do
        rm -rf img.dp img-test.dp img.model
        dpline fit $table -q
        assert_equal "$(dp-info --get rows img.dp) $(dp-info --json img.dp | jq -c .class_names)" '480 ["ape","bee"]'
    done
    complains 2 "dpline fit: img/ is a table of the format images, which takes no schema" dpline fit img/ --unpaid-schema
}

@test "fit --loss poisson: a model of counts is better than their mean, and says what a count is" {
    /usr/bin/python3 - > visits.csv << 'END'
import math, random
random.seed(8)
print("age,sex,visits")
for _ in range(6000):
    age, sex = random.randint(20, 80), random.choice("fm")
    mean, visits, product = math.exp(-1.5 + .035 * age + .5 * (sex == "f")), 0, random.random()
    while product > math.exp(-mean):
        visits, product = visits + 1, product * random.random()
    print(age, sex, visits, sep=",")
END
    dpline fit visits.csv --label visits --loss poisson --seed 4 -q
    jq -e '.columns[2] | .scale == "count" and .bounds[0] == 0' visits.json
    assert_equal "$(dp-info --get loss visits.model)" poisson
    dp-predict visits.model --schema visits.json visits.csv | paste -d , - visits.csv > both.csv
    awk -F , 'function deviance(y, p) { return 2 * ((y > 0 ? y * log(y / p) : 0) - y + p) }
        NR > 1 { n++; y[n] = $NF; p[n] = $1; sum += $NF; below += $1 <= 0 }
        END { for (i = 1; i <= n; i++) { model += deviance(y[i], p[i]); mean += deviance(y[i], sum / n); all += p[i] }
            print model / n, mean / n, all / sum
            exit !(below == 0 && model < 0.75 * mean && all / sum > 0.93 && all / sum < 1.07) }' both.csv > found || fail "$(cat found)"
    # on the test set, where the mean has 1.6
    dp-eval --data visits-test.dp --metrics deviance --last --in visits.model | awk 'END { exit !($NF > 0.8 && $NF < 1.3) }'
    rm -r visits.dp visits-test.dp
    # what is no count
    complains 2 "dpline fit: --loss poisson is for counts: numbers from 0 on, and not classes" \
        dpline fit visits.csv --loss poisson --classes 0,1
    sed 's/"scale": "count"/"note": "a number"/' visits.json > number.json
    complains 2 'dp-import: --count: number.json says that the label is a number: "scale": "count" says that it is a count' \
        dp-import csv --schema number.json --count -q -o number.dp visits.csv
    dp-import csv --schema number.json -q -o number.dp visits.csv
    complains 1 "dp-fit: --loss poisson is for counts, and the labels of number.dp are numbers around another one than 0 (dp-import --count)" \
        dpline fit number.dp --loss poisson
    jq '.columns[2].bounds[0] = -1' visits.json > below.json
    complains 1 "dp-import: below.json: column 'visits': a count has bounds from 0 on, and no \"center\"" \
        dp-import csv --schema below.json -q -o below.dp visits.csv
    jq '.columns[2].scale = "log"' visits.json > log.json
    complains 1 "dp-import: log.json: column 'visits': \"scale\" of a label is \"count\"" dp-import csv --schema log.json -q -o log.dp visits.csv
    sed '5s/[0-9]*$/-3/' visits.csv > negative.csv
    complains 1 "dp-import: --count: the label 'visits' of negative.csv has numbers below 0" \
        dp-import csv --infer-schema negative.json --label visits --count negative.csv
}
