# dp-predict: CSV of predictions, against NumPy.
load helper

# train OUT DATA LOSS
train() {
    dp-loop --laps 4 --seed 1 -q -o "$1" -- "dp-sample --data $2 --rate 0.2 |
        dp-scd-step --data $2 --loss $3 --lambda 1e-3 --clip 0.1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step --average tail" > "$1.run"
}

prepare() { dp-synth classification --rows 200 --cols 5 --seed 7 -o two.dp -q; }

# check MODEL DATA: out.csv, made with --scores (and --probability), must equal NumPy's result
check() {
    dp-cat --last --full "$1" > model.json
    /usr/bin/python3 - "$2" << 'END'
import csv
import json
import sys
import numpy as np

model = json.load(open("model.json"))
rows = list(csv.DictReader(open("out.csv", newline="")))
X = np.load(sys.argv[1] + "/X.npy").astype(float)
U = X @ (model["scale"] * np.array(model["average"]["values"]).reshape(model["average"]["shape"])).T
assert len(rows) == len(X)
k = model["classes"]
names = model.get("labels", [])
for row, u in zip(rows, U):
    if k == 0:
        assert np.isclose(float(row["prediction"]), model["label_scale"] * u[0] + model["label_offset"])
        assert np.isclose(float(row["score"]), u[0])
        continue
    assert row["prediction"] == names[int(u[0] > 0) if k == 2 else int(u.argmax())]
    for name, score in zip(names[1:] if k == 2 else names, u):
        assert np.isclose(float(row["score_" + name]), score)
    p = 1 / (1 + np.exp(-u))
    p = [1 - p[0], p[0]] if k == 2 else p / p.sum()
    for name, value in zip(names, p):
        if "probability_" + name in row:
            assert np.isclose(float(row["probability_" + name]), value)
END
}

@test "usage" {
    run dp-predict --help
    assert_success
    assert_line --index 0 "Usage: dp-predict [options] MODEL [DIR|TABLE]"
    complains 2 "dp-predict: expected a model, and a data set or a table (try --help)" dp-predict two.dp
    complains 2 "dp-predict: expected a model, and a data set or a table (try --help)" dp-predict a b c
    complains 2 "dp-predict: two.dp is a directory: first the model, then the data set" dp-predict two.dp model
}

@test "two classes" {
    train model two.dp logistic
    run dp-predict model two.dp
    assert_success
    [ "${#lines[@]}" -eq 201 ]
    assert_line --index 0 prediction
    assert_line --index 1 --regexp '^c[01]$'
    dp-predict --scores --probability model two.dp > out.csv
    [ "$(head -n 1 out.csv)" = "prediction,score_c1,probability_c0,probability_c1" ]
    check model two.dp
    dp-predict --no-header model two.dp > bare
    dp-predict model two.dp | tail -n +2 | cmp - bare
    dp-predict - two.dp < model.run | tail -n +2 | cmp - bare
}

@test "the number of right predictions is the accuracy of dp-eval" {
    train model two.dp hinge
    /usr/bin/python3 -c 'import numpy as np; print(*("c%d" % c for c in np.load("two.dp/y.npy")), sep="\n")' > truth
    right=$(dp-predict -H model two.dp | paste - truth | awk '$1 == $2' | wc -l)
    accuracy=$(dp-eval --data two.dp --private-data -m accuracy -i model | tail -n 1 | cut -f 3)
    [ "$(awk -v r="$right" 'BEGIN { print r / 200 }')" = "$accuracy" ]
}

@test "four classes, sparse rows" {
    dp-synth classification --rows 200 --cols 6 --classes 4 --seed 7 -o four.dp -q
    train model four.dp logistic
    dp-predict -s -p model four.dp > out.csv
    [ "$(head -n 1 out.csv)" = "prediction,score_c0,score_c1,score_c2,score_c3,probability_c0,probability_c1,probability_c2,probability_c3" ]
    check model four.dp
    dp-synth classification --rows 200 --cols 6 --classes 4 --seed 7 --storage csr -o sparse.dp -q
    dp-predict model four.dp > dense.csv
    dp-predict model sparse.dp | cmp - dense.csv
}

@test "numbers, in the units of the label" {
    dp-synth regression --rows 200 --cols 5 --seed 7 -o real.dp -q
    train model real.dp squared
    dp-predict --scores model real.dp > out.csv
    [ "$(head -n 1 out.csv)" = "prediction,score" ]
    check model real.dp
    edit label_scale=10.5 label_offset=-3 < model > units
    dp-predict --scores units real.dp > out.csv
    check units real.dp
    complains 1 "dp-predict: --probability: only logistic and softmax models give probabilities" dp-predict -p model real.dp
}

@test "names that need quotes (RFC 4180)" {
    train model two.dp hinge
    edit 'labels="[\"a,b\", \"say \\\"hi\\\"\"]"' < model > quoted
    run dp-predict --scores quoted two.dp
    assert_success
    assert_line --index 0 'prediction,"score_say ""hi"""'
    assert_output --partial '"a,b",'
    dp-predict --scores quoted two.dp > out.csv
    check quoted two.dp
}

@test "without names in the model, those of the data set; else numbers" {
    train model two.dp hinge
    edit labels= < model > nameless
    dp-predict model two.dp > named
    dp-predict nameless two.dp | cmp - named
}

@test "rows that were scaled in another way" {
    train model two.dp hinge
    cp -r two.dp cut.dp
    sed -i 's/"row_norm": *"unit"/"row_norm": "cap"/' cut.dp/dataset.json
    complains 1 "dp-predict: the rows of the model have row norm 'unit', the rows of cut.dp 'cap'" dp-predict model cut.dp
    # the same divisor is the same scale, another is another
    sed -i 's/"row_norm": *"cap"/"row_norm": "bounds", "row_divisor": 1.5, "bias": true/' cut.dp/dataset.json
    edit 'row_norm="divided by 1.5, bias"' < model > divided
    dp-predict divided cut.dp > /dev/null
    edit 'row_norm="divided by 2, bias"' < model > divided
    complains 1 "dp-predict: the rows of the model have row norm 'divided by 2, bias', the rows of cut.dp 'divided by 1.5, bias'" \
        dp-predict divided cut.dp
    # a model, or a data set, that does not state it, fits all
    for unsaid in 'row_norm=' 'row_norm="unknown"'; do
        edit "$unsaid" < model > quiet
        dp-predict quiet cut.dp > /dev/null
    done
    sed -i 's/"row_norm": *"bounds", "row_divisor": 1.5, //' cut.dp/dataset.json
    dp-predict model cut.dp > /dev/null
}

@test "models and data that do not fit together" {
    train model two.dp hinge
    complains 1 "dp-predict: --probability: only logistic and softmax models give probabilities" dp-predict -p model two.dp
    dp-synth classification --rows 50 --cols 6 --seed 1 -o wide.dp -q
    complains 1 "dp-predict: the model has 5 columns, wide.dp has 6" dp-predict model wide.dp
    complains 1 "dp-predict: cannot open nowhere.dp: No such file or directory" dp-predict model nowhere.dp
    complains 1 "dp-predict: cannot open nowhere: No such file or directory" dp-predict nowhere two.dp
    edit classes=3 < model > three
    complains 1 "dp-predict: three does not say what its 1 outputs stand for" dp-predict three two.dp
    edit 'labels="[\"a\"]"' < model > single
    complains 1 "dp-predict: the model has 2 classes and names for 1" dp-predict single two.dp
}

@test "truncated and corrupt models" {
    train model two.dp hinge
    head -c 300 model > short
    complains 4 "dp-predict: short ends inside a frame" dp-predict short two.dp
    edit kind=end < model > endless
    complains 4 "dp-predict: endless ends before its end frame: the run behind it did not finish" dp-predict endless two.dp
    [ -z "$(dp-predict endless two.dp 2> /dev/null)" ]
    LC_ALL=C sed 's/\xa5model/\xa5mudel/' model > broken
    complains 1 "dp-predict: broken: unknown field 'mudel' in a frame" dp-predict broken two.dp
    edit 'label="raw"' < model > raw
    complains 5 "dp-predict: raw holds a raw frame, not a released model" dp-predict raw two.dp
    edit 'scale=1e999' < model > huge
    complains 1 "dp-predict: the model of lap 4 is not finite" dp-predict huge two.dp
}

@test "standard output closed or full" {
    train model two.dp hinge
    complains 1 "dp-predict: cannot write standard output: No space left on device" bash -c 'dp-predict model two.dp > /dev/full'
    complains 1 "dp-predict: cannot write standard output: Bad file descriptor" bash -c 'dp-predict model two.dp >&-'
}

@test "a predicted number stays within the bounds that the schema has for the label" {
    awk 'BEGIN { srand(5); print "a,y"; for (i = 0; i < 400; i++) { a = 10 * rand(); print a "," 2 * a } }' > t.csv
    for bounds in '"bounds": [4, 16]' '"note": "none"'; do
        echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "y", "type": "label", '"$bounds"'}]}' > s.json
        dp-import csv t.csv --schema s.json -o t.dp -q --force
        train model t.dp squared
        for far in -1e9 1e9; do
            edit "label_offset=$far" < model > far
            dp-predict -H far t.csv | sort -u
        done > "out${bounds:1:4}"
        dp-eval --private-data --last --metrics mae --in far --data t.dp | tail -n 1 | cut -f 3 >> "out${bounds:1:4}"
    done
    assert_equal "$(head -n 2 outboun | tr '\n' ' ')" "4 16 "
    # labels are 4 … 16, each number of which is equally frequent but the ends
    awk 'NR == 3 && !($1 > 4 && $1 < 8) { bad = 1 } END { exit bad || NR != 3 }' outboun
    assert_equal "$(awk '$1 > 1e6 || $1 < -1e6' outnote | wc -l)" "$(wc -l < outnote)"
}

# --- rows that arrive ---

arrivals() {
    cat > s.json << 'END'
{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "b", "type": "numeric", "bounds": [-1, 1]},
  {"name": "y", "type": "label", "classes": ["no", "yes"]}]}
END
    awk 'BEGIN { srand(5); print "a,b,y"; for (i = 0; i < 300; i++) { a = rand() * 10; b = 2 * rand() - 1
        printf "%.4f,%.4f,%s\n", a, b, (a > 5 ? "yes" : "no") } }' > t.csv
    dp-import csv t.csv --schema s.json -o t.dp -q
    dp-import csv t.csv --schema s.json --out rows -q
    train model t.dp logistic
}

@test "rows that arrive get the lines that those of a data set get" {
    arrivals
    for options in "" "--scores" "--probability --scores" "--no-header"; do
        dp-predict model t.dp $options > expected
        dp-predict model --rows rows $options > out
        cmp expected out
        dp-predict model $options --rows - < rows | cmp - expected
        dp-predict $options --rows rows < model | cmp - expected
    done
    [ "$(wc -l < expected)" = 300 ]
}

@test "rows without a label have empty lines, in a data set as when they arrive" {
    arrivals
    sed -i 's/"no", "yes"]/&, "unknown": "zero"/' s.json
    sed -i '5,9s/,[a-z]*$/,/' t.csv
    dp-import csv t.csv --schema s.json -o null.dp -q
    dp-import csv t.csv --schema s.json --out null -q
    for options in "" "--probability --scores"; do
        dp-predict model null.dp $options > expected 2> said
        dp-predict model --rows null $options > out
        cmp expected out
        assert_equal "$(grep -nvE '[a-z0-9]' out | cut -d : -f 1 | xargs)" '5 6 7 8 9'
    done
}

@test "a filter: each row has its line before the next comes" {
    arrivals
    mkfifo in
    dp-import csv in --schema s.json --out - -q | dp-predict model --rows - > out &
    exec 7> in
    lines_are() { for _ in $(seq 100); do [ "$(wc -l < out)" = "$1" ] && return; sleep 0.05; done; fail "not $1 lines"; }
    sed -n 1,2p t.csv >&7
    lines_are 2
    sed -n 3,5p t.csv >&7
    lines_are 5
    exec 7>&-
    wait
    cmp <(head -5 out) <(dp-predict model t.dp | head -5)
}

@test "rows that are others than the model's, and streams that are none, are refused" {
    arrivals
    complains 2 "dp-predict: --rows replaces a data set: there is one too many" dp-predict model t.dp --rows rows
    complains 2 "dp-predict: --rows: standard input is where the model comes from" dp-predict --rows - < model
    dp-import csv t.csv --schema s.json --out narrow -q --no-bias
    complains 1 "dp-predict: the model has 3 columns, narrow has 2" dp-predict model --rows narrow
    dp-import csv t.csv --schema s.json --out unit -q --row-norm unit
    complains 1 "dp-predict: the rows of the model have row norm 'divided by 1.73205122, bias', the rows of unit 'unit, bias'" dp-predict model --rows unit
    complains 1 "dp-predict: model.run: frame 1 is not one of rows, as dp-import --out makes them" dp-predict model --rows model.run
    head -c 2000 rows > cut
    complains 4 "dp-predict: cut ends inside a frame" dp-predict model --rows cut
    dp-cat --frames model > /dev/null
    edit twice=1 < rows > twice
    complains 5 "dp-predict: twice: frame 1 came after frame 1, and no row may be missing or come twice" dp-predict model --rows twice
}

# --- tables without names ---

@test "raw libsvm, npy, npz and images are scored as the data sets that dp-import makes of them" {
    /usr/bin/python3 - << 'END'
import os, struct
import numpy
rng = numpy.random.default_rng(3)
X = rng.integers(0, 256, (60, 4, 3)).astype("u1")
y = (X[:, 0, 0] > 127).astype("u1")
numpy.save("X.npy", X.reshape(60, 12) / 512.0)
numpy.save("y.npy", y)
numpy.savez("both.npz", X=X, y=y)
with open("x.svm", "w") as f:
    for row, label in zip(X.reshape(60, 12), y):
        f.write("%d %s\n" % (label, " ".join("%d:%g" % (j + 1, v / 999) for j, v in enumerate(row) if v > 99)))
open("images", "wb").write(bytes([0, 0, 8, 3]) + struct.pack(">III", 60, 4, 3) + X.tobytes())
open("labels", "wb").write(bytes([0, 0, 8, 1]) + struct.pack(">I", 60) + y.tobytes())
for i, (image, label) in enumerate(zip(X, y)):
    os.makedirs("folder/%d" % label, exist_ok=True)
    open("folder/%d/%03d.pgm" % (label, i), "wb").write(b"P5 3 4 255\n" + image.tobytes())
END
    # same DATA-SET TABLE…: a model of the data set scores the tables as the data set
    same() {
        train model "$1" logistic
        dp-predict -s model "$1" > expected
        assert_equal "$(wc -l < expected)" 61
        for table in "${@:2}"; do dp-predict -s model "$table" | cmp - expected; done
    }
    dp-import libsvm x.svm --cols 14 --classes 0,1 -o svm.dp -q
    sed 's/^[01] //' x.svm > unlabelled.svm
    same svm.dp x.svm unlabelled.svm
    echo '0 15:1' > far.svm
    complains 0 "dp-predict: warning: far.svm: line 1, field 2: the model has fewer columns
dp-predict: warning: 1 of 1 rows could not be read, and have no prediction" dp-predict model far.svm
    complains 2 "dp-predict: --keep is for a table" dp-predict model x.svm --keep a
    complains 1 "dp-predict: the model has 15 columns, X.npy has 13" dp-predict model X.npy
    dp-import libsvm x.svm --classes 0,1 --scale max-abs -o scaled.dp -q
    train scaled scaled.dp logistic
    complains 1 "dp-predict: scaled does not have the magnitudes by which --scale max-abs divided its rows: only a data set that was imported with them (--split) can be scored" dp-predict scaled x.svm
    dp-import npy X.npy y.npy --classes 2 --row-norm cap -o npy.dp -q
    same npy.dp X.npy
    dp-import npz both.npz --classes 2 -o npz.dp -q
    same npz.dp both.npz images
    dp-import idx images labels -o idx.dp -q --classes 2
    same idx.dp images both.npz
    dp-import images folder -o folder.dp -q
    same folder.dp folder
}
