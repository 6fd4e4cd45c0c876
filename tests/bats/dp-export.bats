#!/usr/bin/env bats
# Exported models predict what dp-predict predicts.
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    export DPLINE_REGISTRY=$BATS_FILE_TMPDIR/registry
    /usr/bin/python3 - << 'PYTHON'
import csv
import random
random.seed(7)
out = csv.writer(open("people.csv", "w", newline=""), lineterminator="\n")
out.writerow(["id", "age", 'bmi "now"', "job", "wärd", "dose", "ill", "kind", "cost", "visits"])
for i in range(1500):
    age, bmi, dose = random.uniform(10, 95), random.gauss(26, 6), random.choice([0, 0, .25, -.5])
    job, ward = random.choice(["cook", "it's", "rare"]), random.choice("ABC")
    risk = age / 90 + (bmi - 26) / 20 + (job == "cook") * .4 + random.gauss(0, .3)
    cell = lambda x, p: random.choice(["", "NA"]) if random.random() < p else x
    out.writerow([f"p{i}", cell(f"{age:.1f}", .05), cell(f"{bmi:.2f}", .1), cell(job, .1), cell(ward, .1), dose,
                  "yes" if risk > .8 else "no", "abc"[min(2, max(0, int(2 * risk)))], round(100 * risk, 2),
                  max(0, int(3 * risk))])
PYTHON
    columns='{"name": "id", "type": "ignore"}, {"name": "age", "type": "numeric", "bounds": [18, 88], "fill": 50, "indicator": true},
        {"name": "bmi \"now\"", "type": "numeric", "bounds": [15, 40], "indicator": true},
        {"name": "job", "type": "categorical", "categories": ["rare", "it'"'"'s", "cook"], "drop": "first", "fill": "cook"},
        {"name": "wärd", "type": "categorical", "categories": ["A", "B"], "unknown": "zero", "indicator": true},
        {"name": "dose", "type": "numeric", "bounds": [-1, 1], "scale": "none"}'
    for label in 'ill:"classes": ["no", "yes"]' 'kind:"classes": ["a", "b", "c"]' 'cost:"bounds": [40, 120]' 'visits:"note": "a count"'; do
        others=$(for name in ill kind cost visits; do [ $name = "${label%%:*}" ] || printf ', {"name": "%s", "type": "ignore"}' $name; done)
        echo "{\"header\": true, \"missing\": [\"NA\"], \"columns\": [$columns, {\"name\": \"${label%%:*}\", \"type\": \"label\", ${label#*:}}$others]}" > "${label%%:*}.json"
        dp-import csv -s "${label%%:*}.json" -q -o "${label%%:*}.dp" people.csv
    done
    train ill logistic
    train kind softmax
    train kind logistic rest
    train cost squared
    train visits poisson
    for norm in unit cap; do
        dp-import csv -s kind.json --row-norm $norm -q -o $norm.dp people.csv
        train $norm softmax
    done
    sed 's/"bounds": \[18, 88\]/&, "basis": "hats", "knots": 4/; s/"bounds": \[15, 40\]/&, "basis": "cosines", "knots": [20, 30]/
        s/"bounds": \[-1, 1\]/&, "basis": "bins", "knots": 3/; s/"it.s"/[&, "chef", "boss"]/' kind.json > curve.json
    dp-import csv -s curve.json -q -o curve.dp people.csv
    sed 's/"bounds": \[18, 88\]/&, "basis": "line"/' ill.json > line.json
    dp-import csv -s line.json --basis cosines -q -o line.dp people.csv
    train line logistic
    sed 's/"unknown": "zero", "indicator": true/"unknown": "zero"/' ill.json > zero.json
    dp-import csv -s zero.json -q -o zero.dp people.csv
    train zero logistic
    dp-import csv -s curve.json --row-norm unit -q -o bent.dp people.csv
    train curve softmax
    train bent softmax
    dp-import csv -s kind.json --basis products -q -o pair.dp people.csv
    train pair softmax
    dp-import csv -s kind.json --basis products --row-norm cap -q -o pairs.dp people.csv
    train pairs softmax
    deep ill logistic 1 > ill-net.model
    deep unit softmax 3 > unit-net.model
    # every edge: fills outside the bounds and without bounds, words of one column, bad cells, predictions outside the label's bounds
    sed 's/"bounds": \[18, 88\], "fill": 50/"bounds": [18, 88], "fill": 200, "missing": ["-9", "none"]/; s/"bounds": \[15, 40\]/&, "fill": -7/; s/"bounds": \[-1, 1\]/"fill": 0.75/
        s/"unknown": "zero", "indicator": true/&, "missing": ["?"]/; s/"bounds": \[40, 120\]/"bounds": [90, 110]/' cost.json > edge.json
    dp-import csv -s edge.json -q -o edge.dp people.csv
    dp-import csv -s edge.json --bad-cells missing -q -o bad.dp people.csv
    train edge squared edge 4
    train bad squared bad 4 19
    for basis in hats bins cosines; do
        sed "s/\"bounds\": \[18, 88\]/&, \"basis\": \"$basis\", \"knots\": [30.1, 60.3]/" edge.json > edge-$basis.json
        dp-import csv -s edge-$basis.json -q -o edge-$basis.dp people.csv
        train edge-$basis squared edge-$basis 4
    done
    # a column without bounds in a model that csv takes
    awk 'BEGIN { print "v,y"; for (i = 0; i < 300; i++) print (i % 15 ? i % 29 / 50 : "NA") "," (i % 29 > 14 ? "yes" : "no") }' > few.csv
    echo '{"header": true, "missing": ["NA"], "columns": [{"name": "v", "type": "numeric", "scale": "none", "fill": 0.75},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > tiny.json
    dp-import csv -s tiny.json --row-norm none --no-bias -q -o tiny.dp few.csv
    train tiny logistic
    { echo 'id,age,"bmi ""now""",job,wärd,dose,ill,kind,cost,visits'; for age in 18 88 30.1 60.3 17.9 88.1 -9 none '' NA x 31 87.999999 ' 40 '; do
        for rest in ',cook,A,0' '31,rare,B,1' '90,it'"'"'s,?,-1' 'NA,NA,Z,.5' '12,cook, A,2' '12, cook ,,NA' '1e3,,NA,-3'; do echo "e,$age,$rest,,,,"; done; done; } > corners.csv
    # rows that nobody has trained on
    { head -1 people.csv; printf '%s\n' '1,200,-3,cook,Z,0,,,,' '2,x,20,cook,A,0,,,,' '3,1e1,20,boss,A,0,,,,' '4,30,,,,,,,,' '5, 40 ,-,cook,A,0,,,,' '6,.5e2,25,NA,NA,NA,,,,' \
        '7,inf,20,cook,A,0,,,,' '8,0x20,20,cook,A,0,,,,' '9,40,"1,5",cook,A,0,,,,' '10,40,2 5,cook,A,0,,,,'; tail -n 80 people.csv; } > new.csv
}

# train DATA LOSS [NAME [STEP [LAPS]]]
train() {
    dp-loop --laps "${5:-20}" --seed 1 -q -o "${3:-$1}.model" -- "dp-sample --data $1.dp --rate 0.5 | dp-grad --data $1.dp --loss $2 --clip 1 --intercept 0.5 |
        dp-noise -z 0.1 | dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step ${4:-2}" > /dev/null
}

# deep DATA LOSS OUTPUTS [LAYERS]: the stream of a network
deep() {
    dp-loop --laps 10 --seed 1 -q -- "dp-sample --data $1.dp --rate 0.5 |
        dp-net-grad --data $1.dp --network '${4:-$(dp-info --get cols "$1.dp") * 2 - 0.1; fc 7 tanh; fc 5 relu}; fc $3' --loss $2 --clip 1 |
        dp-noise -z 0.1 | dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 2"
}

prepare() { ln -s "$BATS_FILE_TMPDIR"/*.{model,csv,dp} .; }

# agree FORMAT MODEL…
agree() {
    local format=$1 model
    shift
    for model; do
        dp-predict -s $(case $model in ill* | line | zero | kind | rest | unit* | cap | curve | bent | pair*) echo -p ;; esac) "$model.model" new.csv > expected.csv 2> warnings
        dp-export --to "$format" "$model.model" > "$model.$format"
        run "$ROOT/tests/bats/export.py" "$format" "$model.$format" new.csv expected.csv
        assert_success
        case $model in
        curve | bent) assert_output "82 rows agree, 8 cannot be read" ;; # a synonym is read
        *) assert_output "81 rows agree, 9 cannot be read" ;;
        esac
    done
}

# corners FORMAT TABLE MODEL…: like agree, for rows that reach each edge. Of 98 rows, seven cannot be read, or have a missing cell.
corners() {
    local format=$1 table=$2 model
    shift 2
    for model; do
        dp-predict -s $(case $model in tiny) echo -p ;; esac) "$model.model" "$table.csv" > expected.csv 2> warnings
        dp-export --to "$format" "$model.model" > "$model.$format"
        run "$ROOT/tests/bats/export.py" "$format" "$model.$format" "$table.csv" expected.csv
        assert_success
        case $model in
        tiny) assert_output "300 rows agree, 0 cannot be read" ;;
        bad) assert_output "98 rows agree, 0 cannot be read" ;;
        *) assert_output "91 rows agree, 7 cannot be read" ;;
        esac
    done
}

@test "the rows for edges reach both bounds of the label" {
    for model in edge bad; do dp-predict $model.model corners.csv 2> warnings; done | grep -v '"' | sort -n | uniq > values
    assert_equal "$(sed -n '2p;$p' values)" $'90\n110'
}

@test "json, sql, c, pmml: bounds, fills, words of one column, blanks around cells, cells that cannot be read" {
    command -v sqlite3 > /dev/null || skip "needs sqlite3"
    for format in json sql c pmml; do
        corners $format corners edge bad edge-hats edge-bins edge-cosines
    done
}

@test "csv and liblinear: the fill of a column without bounds" {
    corners csv few tiny
    corners liblinear few tiny
}

@test "usage" {
    run dp-export --help
    assert_line --index 0 'Usage: dp-export [options] MODEL'
    complains 2 'dp-export: expected one model (try --help)' dp-export --to csv
    complains 1 'dp-export: cannot open gone: No such file or directory' dp-export --to c gone
    complains 1 'dp-export: unit.model divides each row by its norm, for which csv has no place: json, sql, c, onnx and pmml have one' \
        dp-export --to csv unit.model
    complains 1 "dp-export: curve.model has a curve for column 'age', for which csv has no place: json, sql, c, onnx and pmml have one" \
        dp-export --to csv curve.model
    dpline export --to json - < ill.model | cmp - <(dp-export --to json ill.model)
}

@test "json" { agree json ill kind rest cost visits unit cap curve bent pair pairs line zero; }

@test "csv has coefficients in the units of the table" {
    agree csv ill kind rest cost visits zero
    # one year: the difference of two scores
    printf 'age,"bmi ""now""",job,wärd,dose\n40,20,cook,A,0\n41,20,cook,A,0\n' > year.csv
    dp-predict -s -H ill.model year.csv | awk -F, '{ s[NR] = $2 } END { printf "%.6f\n", s[2] - s[1] }' > year
    assert_equal "$(dp-export --to csv ill.model | awk -F, '$1 == "age" { printf "%.6f\n", $NF }')" "$(cat year)"
}

@test "sql, in sqlite3" {
    command -v sqlite3 > /dev/null || skip "needs sqlite3"
    [ "$(sqlite3 :memory: 'select exp(0.0)' 2> /dev/null)" = 1.0 ] || skip "needs an sqlite3 with mathematical functions"
    agree sql ill kind rest cost visits unit cap curve bent pair pairs line zero
    # each number is computed once, or this takes longer than 6 CPU seconds
    { head -1 people.csv; for _ in 1 2 3; do tail -n +2 people.csv; done; } > many.csv
    (ulimit -t 6; exec sqlite3 -csv :memory: '.import many.csv rows' '.read curve.sql') | awk 'END { exit NR != 4500 }'
    # numbers may be numbers, and columns are copied
    dp-export --to sql --table 'my "people"' --keep 'id,bmi "now"' ill.model > kept.sql
    sqlite3 -csv :memory: '.import new.csv text' \
        'create table "my ""people""" as select id, cast(nullif(nullif(age, ""), "NA") as real) age, "bmi ""now""", job, "wärd", dose from text where id > "p"' \
        '.read kept.sql' > kept
    assert_equal "$(cut -d, -f 1-3 kept | sed 's/""//')" "$(dp-predict --keep 'id,bmi "now"' -H ill.model <(sed 2,11d new.csv))"
}

@test "liblinear, by its predict" {
    command -v liblinear-predict > /dev/null || skip "needs liblinear-tools"
    agree liblinear ill kind rest cost zero
    complains 1 'dp-export: visits.model predicts e^score, for which liblinear has no place: json, sql, c, onnx and pmml have one' \
        dp-export --to liblinear visits.model
    complains 1 "dp-export: curve.model has a curve for column 'age', for which liblinear has no place: json, sql, c, onnx and pmml have one" \
        dp-export --to liblinear curve.model
}

@test "onnx, by OpenCV" {
    /usr/bin/python3 -c 'import cv2' 2> /dev/null || skip "needs python3-opencv"
    agree onnx ill rest visits curve bent pair pairs unit-net
    corners onnx corners edge edge-hats edge-bins edge-cosines
}

@test "pmml, by an evaluator of its standard" {
    agree pmml ill kind cost visits unit cap curve bent pair pairs line zero
    complains 1 'dp-export: rest.model has a logistic score for each of several classes, for which pmml has no place: json, sql, c, liblinear and onnx have one' \
        dp-export --to pmml rest.model
}

@test "c, by a compiler" {
    agree c ill kind rest cost visits unit cap curve bent pair pairs line zero ill-net unit-net
    # no number has more than 63 bytes
    { head -1 new.csv; for zeros in 60 61; do echo "1,40.$(printf "%0${zeros}d" 0),20,cook,A,0,,,,"; done; } > long.csv
    dp-predict -s -p ill.model long.csv > expected.csv 2> warnings
    run "$ROOT/tests/bats/export.py" c ill.c long.csv expected.csv
    assert_output "1 rows agree, 1 cannot be read"
}

@test "c, a network of images: the scores of dp-predict, to the last digit without tanh" {
    dp-synth classification --rows 200 --cols 128 --classes 3 --seed 7 -o images.dp -q
    /usr/bin/python3 -c 'import numpy as np; np.savetxt("rows", np.load("images.dp/X.npy"), "%.9g")'
    for net in '8x8x2 * 3 - 0.2; conv 5 3x3/2 pad 1 relu; pool 2/1; conv 4 2x2 pad 2; mean-pool 3/2; fc 6 relu' \
        '8x8x2; conv 4 3x3 pad 1; norm 2 relu; save; conv 4 3x3 pad 1; add relu; mean-pool 4; fc 6' '8x8x2; conv 3 5x5 pad 2 tanh; pool 3/2; fc 6 tanh'; do
        deep images softmax 3 "$net" > deep.model
        dp-predict -H -s deep.model images.dp > expected
        dp-export --to c deep.model > deep.c
        { echo '#include "deep.c"'; echo '#include <stdio.h>'
            echo 'int main(void) { double x[MODEL_FEATURES], u[3]; for (;;) { for (int j = 0; j < MODEL_FEATURES; j++) if (scanf("%lf", &x[j]) != 1) return 0;'
            echo 'model_score(x, u); printf("%s", model_classes[model_class(u)]); for (int k = 0; k < 3; k++) printf(",%.17g", u[k]); puts(""); } }'; } > main.c
        cc -std=c11 -Wall -Wextra -Werror -o main main.c -lm
        ./main < rows > got
        /usr/bin/python3 - "$net" << 'PYTHON'
import sys
exact, lines = "tanh" not in sys.argv[1], 0
for a, b in zip(open("got"), open("expected"), strict=True):
    (one, *a), (two, *b) = a.strip().split(","), b.strip().split(",")
    worst = max(abs(float(x) - float(y)) for x, y in zip(a, b, strict=True))
    assert one == two and worst <= (0 if exact else 2e-6), (a, b)
    lines += 1
assert lines == 200
PYTHON
    done
}

@test "onnx, networks of images" {
    /usr/bin/python3 -c 'import onnx.reference' 2> /dev/null || /usr/bin/python3 -c 'import cv2' 2> /dev/null || skip "needs python3-onnx of 1.13 or python3-opencv"
    dp-synth classification --rows 100 --cols 128 --classes 3 --seed 7 -o images.dp -q
    for net in '8x8x2 * 3 - 0.2; conv 5 3x3/2 pad 1 relu; pool 2/1; conv 4 2x2 pad 2; mean-pool 3/2; fc 6 relu' '8x8x2; conv 3 5x5 pad 2 tanh; pool 3/2; fc 6 tanh' \
        '8x8x2; conv 4 3x3 pad 1; norm 2 relu; save; conv 4 3x3 pad 1; add relu; mean-pool 4; fc 6; norm 3 relu' 128; do
        deep images softmax 3 "$net" > deep.model
        dp-predict -s -p deep.model images.dp > expected
        dp-export --to onnx deep.model > deep.onnx
        /usr/bin/python3 << 'PYTHON'
import csv, numpy as np
try: # OpenCV 4.10 takes no pooling for any number of rows
    from onnx.reference import ReferenceEvaluator
    run = lambda x, net=ReferenceEvaluator("deep.onnx"): net.run(["scores", "probabilities"], {"x": x})
except ImportError:
    import cv2
    def run(x, net=cv2.dnn.readNetFromONNX("deep.onnx")):
        net.setInput(x)
        return net.forward("scores"), net.forward("probabilities")
for x, right in zip(np.load("images.dp/X.npy"), csv.DictReader(open("expected")), strict=True):
    got = np.concatenate([a.ravel() for a in run(x[None, :])])
    assert np.abs(got - [float(v) for k, v in right.items() if k != "prediction"]).max() < 5e-5, (got, right)
PYTHON
    done
}

# Cells as people write them, and what dp-predict says of them. A category has each padded cell, too.
@test "sql, c: numbers with marks, groups, a decimal comma and blanks, texts with blanks, and what is no number" {
    command -v sqlite3 > /dev/null || skip "needs sqlite3"
    /usr/bin/python3 - << 'PYTHON'
import csv
points = ["500", "$500", "500 $", "$ 500", "-$20", "- $20", "$-20", "$-", "€ 1,234.5", "£7", "¥8", "5%", "% 5", "$5%", "5$5", "$$5", "$", "%", "1,234.5", "1,23", "1,2345",
          "1234,567", "10,234", "12,345", "1,234,567", "0,123", "-0,123", "00,123", ",123", "1,,234", "1,234,", "1,234.5,6", "1.5,600", "1,234e2", "1,234.5e0", "1e1,234", "0.5", ".5", "5.", ".", "+5", "-5", "--5",
          "5-", "5-5", "+-5", "1e3", "1E+3", "1e-1", "1e", "e5", "1e5.5", "1e+", "5e3e3", "abc", "yes", "", "NA", "?", " 7 ", "\t8 ", "1 000", "1_000", "0x10", "inf", "nan", "1e400", "-1e400", "9" * 63,
          "9" * 64, "0" * 61 + ".5", "'5", "5'", "1;5", "~5", "1.1.1", "12.34.56", "٣",
          "(5)", "( $5 )", "(-5)", "( -5 )", "(--5)", "(-)", "(5", "()", "$(5)", "5 -", "5.5-", "-5-", "5--", "(5)-", "1e5-", "−5", "−$ 5", "−", "<5", "> 5", "<= 5", ">=$5", "≤0.5", "≥5", "<", "<<5", "<(5)", "(<5)", "5<", "< LOD",
          "1 234.5", "1\u00a0234.5", "\u00a01\u202f234\u2009567 ", "1 23", "1 2345", "1  234", "- 5", "0 123", "$ 1 234", "5 000 %", "5,000 %", "1'234.5", "1’234’567", "1'23", "1'234 567", "1'234,567",
          "1 234e5", "1.5D+03", "1.5d-1", "1.5D03", "D+3", "1D+2D+3", "2024-09-23", "12:30",
          "₹5", "₹2.5 Cr", "₹ 45 L", "₹5 CR", "₹5 LL", "₹5 DR", "₹ 1,23,456.5", "12,34,567", "12,34,56,789", "1,234,56,789", "12,345,67", "$-20", "$ -20.5", "$--5", "€ -", "6.2 H", "6.2 L", "140*", "9 HH", "9 LL", "9 HL", "12H", "* 5",
          "1,234.00 DR", "5 CR", "5DR", "5Cr", "-5 DR", "5 Db", "DR", "'12.5", "''12", "'", '="12.5"', '=" -5 "', '=""', '=5', '="5']
commas = [c.translate(str.maketrans(",.", ".,")) for c in points] + ["1.100", "1.1", "0.123", "1100,5", "€ 1.100,5", "1.100,5 %", "1,1,1"]
for name, cells in ("points", points), ("commas", commas):
    for delimiter in ",", ";":
        out = csv.writer(open(name + {",": ".csv", ";": ".cells"}[delimiter], "w", newline=""), delimiter=delimiter, lineterminator="\n")
        out.writerow(["amount", "city"])
        out.writerows([cell, city] for cell in cells for city in ("rome", " paris ", "roma\t", "oslo"))
PYTHON
    awk 'BEGIN { print "amount;city;ill"; for (i = 0; i < 600; i++) printf "%d;%s;%s\n", i * 4, i % 2 ? "rome" : "paris", (i % 7 > 3 ? "yes" : "no") }' > cells.train
    for decimal in . ','; do
        echo '{"header": true, "delimiter": ";", "decimal": "'$decimal'", "missing": ["NA"], "columns": [{"name": "amount", "type": "numeric", "bounds": [-10, 2000], "fill": 300, "indicator": true,
            "missing": ["?"]}, {"name": "city", "type": "categorical", "categories": ["paris", ["rome", "roma"]]}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > cells.json
        for bad in '' '--bad-cells missing'; do
            dp-import csv -s cells.json $bad --force -q -o cells.dp cells.train
            train cells logistic
            table=$([ $decimal = . ] && echo points || echo commas)
            dp-predict -s -p cells.model $table.cells > expected.csv 2> warnings || assert_equal $? 1 # most cells are unreadable
            for format in sql c; do
                dp-export --to $format cells.model > cells.$format
                run "$ROOT/tests/bats/export.py" $format cells.$format $table.csv expected.csv
                assert_success
assert_output "$(case "$decimal$bad" in .) echo 246 rows agree, 434 ;; ,) echo 285 rows agree, 423 ;; .*) echo 680 rows agree, 0 ;; *) echo 708 rows agree, 0 ;; esac) cannot be read"
            done
        done
    done
    dp-export --to pmml cells.model | grep -qF 'Cells of numbers are digits with a point: no blanks, no marks, no groups.'
}

@test "sql, c: numbers with a unit, and a decimal comma in one column" {
    command -v sqlite3 > /dev/null || skip "needs sqlite3"
    awk 'BEGIN { print "weight;price;ill"; for (i = 0; i < 300; i++) printf "%d kg;%d,5;%s\n", i, i % 50, (i % 7 > 3 ? "yes" : "no") }' > units.csv
    echo '{"header": true, "delimiter": ";", "columns": [{"name": "weight", "type": "numeric", "bounds": [0, 500], "unit": "kg|KG|kgs|s|it'"'"'s"},
        {"name": "price", "type": "numeric", "bounds": [0, 500], "decimal": ","}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > units.json
    dp-import csv -s units.json -q -o units.dp units.csv
    train units logistic
    /usr/bin/python3 - << 'PYTHON'
import csv
cells = ["5 kg", "5kg", "5.5 KG", "kg 5", "5\u00a0kg", "5 kgs", "5s", "5 it's", "<5 kg", "(5 kg)", "(5) kg", "-5 kg", "1,234 kg", "1 234 kg", "5 Kg", "5 g", "kg", "5 kg kg", "kg 5 kg", "5", "k", "5 k g", "$5 kg", "5 kg $"]
with open("some.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["weight", "price"])
    out.writerows([cell, price] for cell in cells for price in ("1,5", "1.234,5", "1.5", "12"))
PYTHON
    /usr/bin/python3 -c 'import csv, sys; csv.writer(sys.stdout, delimiter=";", lineterminator="\n").writerows(csv.reader(open("some.csv")))' > some.cells
    dp-predict -s -p units.model some.cells > expected.csv 2> warnings || true
    for format in sql c; do
        dp-export --to $format units.model > units.$format
        run "$ROOT/tests/bats/export.py" $format units.$format some.csv expected.csv
        assert_output "60 rows agree, 36 cannot be read"
    done
    for odd in '"unit": ""' '"unit": 3' '"unit": "h", "date": "%H:%M"'; do
        sed "s/\"unit\": \"[^\"]*\"/$odd/" units.json > odd.json
        complains 1 "dp-import: odd.json: column 'weight': \"unit\" is a text such as kg|KG, and not for dates" dp-import csv -s odd.json -o u.dp units.csv
    done
    sed 's/"decimal": ","/"decimal": ";"/' units.json > odd.json
    complains 1 "dp-import: odd.json: column 'price': \"decimal\" is a point or a comma" dp-import csv -s odd.json -o u.dp units.csv
}

@test "dates, in json, sql, c and onnx" {
    awk 'BEGIN { print "day,ill"; for (i = 0; i < 300; i++) printf "%02d.%02d.%d,%s\n", 1 + i % 28, 1 + i % 12, 1990 + i % 30, (i % 30 > 14 ? "yes" : "no") }' > days.csv
    echo '{"header": true, "columns": [{"name": "day", "type": "numeric", "date": "%d.%m.%Y", "bounds": ["01.01.1985", "01.01.2025"], "basis": "cosines"},
        {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > days.json
    dp-import csv -s days.json -q -o days.dp days.csv
    train days logistic
    printf '%s\n' day 01.02.2003 ' 29.02.2004 ' 29.02.2003 31.06.2003 1.2.2003 31.12.1970 01.01.1899 01.01.2099 2003-02-01 5 > some.csv
    dp-predict -s -p days.model some.csv > expected.csv 2> warnings
    for format in json sql c onnx; do
        [ $format != onnx ] || /usr/bin/python3 -c 'import cv2' 2> /dev/null || continue
        dp-export --to $format days.model > days.$format
        run "$ROOT/tests/bats/export.py" $format days.$format some.csv expected.csv
        assert_output "6 rows agree, 4 cannot be read"
    done
}

@test "c: dates of several formats, with fractions of seconds and days of spreadsheets" {
    awk 'BEGIN { print "day,ill"; for (i = 0; i < 300; i++) printf "%02d.%02d.%d,%s\n", 1 + i % 28, 1 + i % 12, 1990 + i % 30, (i % 30 > 14 ? "yes" : "no") }' > days.csv
    echo '{"header": true, "columns": [{"name": "day", "type": "numeric", "date": "%d.%m.%Y|%Y-%m-%d %H:%M:%S|%m/%d/%Y %I:%M %p|%Y%m%d|serial", "bounds": ["01.01.1985", "01.01.2025"], "basis": "cosines",
        "missing": "9999-12-31"}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > days.json
    dp-import csv -s days.json -q -o days.dp days.csv
    train days logistic
    printf '%s\n' day 01.02.2003 '2003-02-01 12:30:00.250' '2003-02-01 12:30:00.' '2003-02-01 12:30:59.5' '2/1/2003 3:07 PM' '2/1/2003 13:07 PM' 20030201 2003021 37653 37653.75 0 9999-12-31 > some.csv
    dp-predict -s -p days.model some.csv > expected.csv 2> warnings
    dp-export --to c days.model > days.c
    run "$ROOT/tests/bats/export.py" c days.c some.csv expected.csv
    assert_output "8 rows agree, 4 cannot be read"
    assert_equal "$(dp-predict -s -p days.model <(printf '%s\n' day 01.02.2003 20030201 37653 2/1/2003\ 12:00\ AM) | sort -u | wc -l)" 2
}

# The calendar of leap years, a text with two formats, parts of days, months and weekdays as categories.
@test "sql, pmml: dates in digits, and days of ISO 8601" {
    command -v sqlite3 > /dev/null || skip "needs sqlite3"
    awk 'BEGIN { print "day,ill"; for (i = 0; i < 300; i++) printf "%d-%02d-%02d,%s\n", 1990 + i % 30, 1 + i % 12, 1 + i % 28, (i % 30 > 14 ? "yes" : "no") }' > iso.csv
    label='{"name": "ill", "type": "label", "classes": ["no", "yes"]}'
    echo '{"header": true, "columns": [{"name": "day", "type": "numeric", "date": "%Y-%m-%d", "bounds": ["1000-01-01", "3001-01-01"], "fill": "2000-01-01", "missing": ["never"]}, '"$label]}" > iso.json
    echo '{"header": true, "columns": [{"name": "day", "type": "numeric", "date": "%Y-%m-%d|%d/%m/%Y %H:%M:%S|%Y%m%d|%H.%d.%m.%Y", "bounds": [-8000, 20000], "basis": "hats"},
        {"name": "day", "type": "categorical", "date": "%Y-%m-%d", "part": "weekday", "unknown": "zero"}, {"name": "day", "type": "categorical", "date": "%Y-%m-%d", "part": "month", "unknown": "zero"}, '"$label]}" > parts.json
    /usr/bin/python3 - << 'PYTHON'
import datetime
with open("isos.csv", "w") as f:
    print("day", file=f)
    for i in range(0, 730000, 457):
        print(datetime.date(1002, 1, 1) + datetime.timedelta(i), file=f)
    for text in "1900-02-28 1900-02-29 2000-02-29 2004-02-29 2003-02-29 2003-04-31 2003-00-10 2003-13-01 2003-01-00 2003-01-32 never x".split():
        print(text, file=f)
with open("partss.csv", "w") as f:
    print("day", file=f)
    print(*open("isos.csv").read().split("\n")[1:-3:7], "0999-12-31", "1/2/2003 04:05:06", "01/12/2003 4:05:06.125", "1/2/2003 24:00:00", "1/2/2003 04:60:00", "1/2/2003 04:00:61.5",
          "20030201", "2003021", "20030231", "7.1.2.2003", "1/2/2003", "2003-1-2", "99/2/2003 04:05:06", sep="\n", file=f)
PYTHON
    for model in iso parts; do
        dp-import csv -s $model.json $([ $model = iso ] || echo --bad-cells missing) -q -o $model.dp iso.csv
        train $model logistic
        dp-predict -s -p $model.model ${model}s.csv > expected.csv 2> warnings || assert_equal $? 1
        for format in sql c pmml; do
            [ $model$format != partspmml ] || continue
            dp-export --to $format $model.model > $model.$format
            run "$ROOT/tests/bats/export.py" $format $model.$format ${model}s.csv expected.csv
            assert_success
            echo "$model $format: $output" >> agree
        done
    done
    cat agree
    assert_equal "$(sort -u agree | cut -d: -f 2 | sort -u | wc -l)" 2
    complains 1 "dp-export: parts.model reads dates in column 'day', for which pmml has no place: json, sql and c have one" dp-export --to pmml parts.model
    for odd in %d-%b-%Y '%d/%m/%Y|%m/%d/%Y' %d/%m/%y '%Y-%m-%dT%H:%M:%S%z'; do
        jq --arg odd "$odd" '.columns[0] = {name: "day", type: "numeric", date: $odd, bounds: [0, 20000]}' iso.json > odd.json
        dp-import csv -s odd.json --bad-cells missing -q -f -o odd.dp iso.csv
        train odd logistic
        complains 1 "dp-export: odd.model reads dates of several parts in column 'day', for which sql has no place: json and c have one" dp-export --to sql odd.model
    done
}

@test "each format takes the models that the page says" {
    echo '{"header": true, "columns": [{"name": "v", "type": "categorical", "categories": [["NA", "0"], "1"], "unknown": "zero"}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > two.json
    dp-import csv -s two.json -q -o two.dp few.csv
    train two logistic
    echo '{"header": true, "columns": [{"name": "v", "type": "numeric", "date": "%Y", "bounds": ["1990", "2020"], "fill": "2000"}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > year.json
    awk 'BEGIN { print "v,y"; for (i = 0; i < 300; i++) print 1990 + i % 29 "," (i % 29 > 14 ? "yes" : "no") }' > year.csv
    dp-import csv -s year.json -q -o year.dp year.csv
    train year logistic
    for date in iso:%Y-%m-%d odd:%d-%b-%Y; do
        jq --arg date "${date#*:}" '.columns[0] |= (.date = $date | del(.fill) | .bounds = [0, 20000])' year.json > "${date%:*}-day.json"
        dp-import csv -s "${date%:*}-day.json" --bad-cells missing -q -o "${date%:*}-day.dp" year.csv
        train "${date%:*}-day" logistic
    done
    while IFS=, read -r what model; do
        for format in json csv sql c liblinear onnx pmml; do
            dp-export --to $format "$model.model" > out 2> refused && yes=yes || yes=no
            echo "$what Ta $yes $format"
        done
    done <<< $'row norms unit and cap,unit\ncurves,edge-hats\nproducts,pair\nsynonyms,two\ndates as 2001-02-28,iso-day\ndates in digits,year\nother dates,odd-day\ne^score,visits\nlogistic classes,rest\na network,ill-net' > got
    sed -n 's/^\.It \(.*\) Ta \(.*\) Ta \(.*\) Ta \(.*\) Ta \(.*\) Ta \(.*\) Ta \(.*\) Ta \(.*\)/\1,\2,\3,\4,\5,\6,\7,\8/p' "$ROOT/man/dp-export.1" |
        awk -F, 'NR == 1 { split($0, format) } NR > 1 { for (k = 2; k <= NF; k++) print $1 " Ta " $k " " format[k] }' > page
    assert_equal "$(wc -l < page)" 70
    diff page got
}

@test "dp-fit says before a run which formats take its model" {
    echo '{"header": true, "columns": [{"name": "v", "type": "numeric", "date": "%Y", "bounds": ["1990", "2020"]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > day.json
    awk 'BEGIN { print "v,y"; for (i = 0; i < 300; i++) print 1990 + i % 29 "," (i % 29 > 14 ? "yes" : "no") }' > day.csv
    dp-import csv -s day.json -q -o day.dp day.csv
    train day logistic
    for model in ill kind cost unit curve bent pair pairs line zero day; do
        dp-fit $model.dp --epsilon 9 2> said > /dev/null
        for format in json csv sql c liblinear onnx pmml; do dp-export --to $format $model.model > /dev/null 2>&1 && echo $format; done > takes
        sed -n 's/^dp-fit: dp-export can write its model as //p' said | sed 's/, \| and /\n/g' > told
        diff takes told
        echo $model >> checked
    done
    assert_equal "$(wc -l < checked)" 11
    refute grep dp-export <(dp-fit -q pair.dp --epsilon 9 2>&1)
}

@test "a model without a schema is exported for rows of a data set" {
    dp-synth classification --rows 200 --cols 60 --seed 7 -o coded.dp -q
    train coded logistic
    dp-predict -H -s coded.model coded.dp > expected
    dp-export --to c coded.model > coded.c
    { echo '#include "coded.c"'; echo '#include <stdio.h>'
        echo 'int main(void) { double x[MODEL_FEATURES], u; for (;;) { for (int j = 0; j < MODEL_FEATURES; j++) if (scanf("%lf", &x[j]) != 1) return 0;'
        echo 'model_score(x, &u); printf("%s %.6f\n", model_classes[model_class(&u)], u); } }'; } > main.c
    cc -o main main.c -lm
    /usr/bin/python3 -c 'import numpy as np; np.savetxt("rows", np.load("coded.dp/X.npy"), "%.9g")'
    assert_equal "$(./main < rows)" "$(awk -F, '{ printf "%s %.6f\n", $1, $2 }' expected)"
    # many features are a table, and no expression that a compiler takes minutes for
    dp-synth classification --rows 50 --cols 8000 --classes 5 --seed 7 -o wide.dp -q
    train wide softmax wide 1 1
    dp-export --to c wide.model > wide.c
    (ulimit -t 15; exec cc -std=c11 -O2 -c -o wide.o wide.c)
    command -v sqlite3 > /dev/null || skip "needs sqlite3"
    dp-export --to sql coded.model > coded.sql
    { seq -f x%.0f 60 | paste -sd,; tr ' ' , < rows; } > rows.csv
    sqlite3 -csv :memory: '.import rows.csv rows' '.read coded.sql' | awk -F, '{ printf "%s %.6f\n", $1, $2 }' > got
    assert_equal "$(cat got)" "$(awk -F, '{ printf "%s %.6f\n", $1, $2 }' expected)"
}

@test "networks are exported to c and onnx only" {
    for format in json csv sql liblinear pmml; do
        complains 1 'dp-export: ill-net.model is a network, and only linear models have one weight for each column' \
            dp-export --to $format ill-net.model
    done
}
