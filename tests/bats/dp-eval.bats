# dp-eval: numbers against NumPy, which laps get a line, what is refused.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 6 --seed 7 -o train.dp --test test.dp --test-rows 200 -q
}

# train OUT DATA LOSS [LAPS [GATE]]: OUT is the model, OUT.run the stream
train() {
    local gate=${5:-dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded}
    dp-loop --laps "${4:-4}" --seed 1 -q -o "$1" -- "dp-sample --data $2 --rate 0.2 |
        dp-scd-step --data $2 --loss $3 --lambda 1e-3 --loss-width 0.5 --clip 0.1 | dp-noise -z 1 | $gate |
        dp-step --average tail" > "$1.run"
}

# check MODEL DATA: every line of numbers.json must equal the result of plain NumPy on the model and the data
check() {
    dp-cat --last --full "$1" > model.json
    /usr/bin/python3 - "$2" << 'END'
import json
import sys
import numpy as np

model = json.load(open("model.json"))
data = json.load(open(sys.argv[1] + "/dataset.json"))
got = json.loads(open("numbers.json").read().splitlines()[-1])
X = np.load(sys.argv[1] + "/X.npy").astype(float)
y = np.load(sys.argv[1] + "/y.npy")
w = model["scale"] * np.array(model["average"]["values"]).reshape(model["average"]["shape"])
U = X @ w.T

def auc(u, inside):
    p, n = u[inside][:, None], u[~inside][None, :]
    return np.mean((p > n) + 0.5 * (p == n))

def loss(y, u):
    m, g = y * u, 0.5
    return {
        "squared": (u - y) ** 2 / 2,
        "hinge": np.maximum(0, 1 - m),
        "logistic": np.log1p(np.exp(-m)),
        "smooth-hinge": np.where(m >= 1, 0, np.where(m <= 1 - g, 1 - m - g / 2, (1 - m) ** 2 / (2 * g))),
        "huber": np.where(abs(u - y) <= g, (u - y) ** 2 / 2, g * (abs(u - y) - g / 2)),
    }[model["loss"]]

want = {}
norm = model["lambda"] / 2 * np.sum(w * w)
if model["classes"] == 0:
    a, b = data["label"].get("scale", 1), data["label"].get("offset", 0)
    truth, guess = a * y + b, model["label_scale"] * U[:, 0] + model["label_offset"]
    want["mse"] = np.mean((truth - guess) ** 2)
    want["rmse"], want["mae"] = np.sqrt(want["mse"]), np.mean(abs(truth - guess))
    want["r2"] = 1 - want["mse"] / np.var(truth)
    want["objective"] = np.mean(loss(y, U[:, 0])) + norm
else:
    k = model["classes"]
    guess = (U[:, 0] > 0).astype(int) if k == 2 else U.argmax(axis=1)
    want["accuracy"] = np.mean(guess == y)
    want["auc"] = auc(U[:, 0], y == 1) if k == 2 else np.mean([auc(U[:, c], y == c) for c in range(k)])
    targets = [1] if k == 2 else range(k)
    want["objective"] = norm + sum(np.mean(loss(np.where(y == c, 1, -1), U[:, i])) for i, c in enumerate(targets))
    want["confusion"] = [[int(np.sum((y == i) & (guess == j))) for j in range(k)] for i in range(k)]
    C = np.array(want["confusion"], float)
    with np.errstate(invalid="ignore"):
        rates = {"precision": C.diagonal() / C.sum(axis=0), "recall": C.diagonal() / C.sum(axis=1),
                 "f1": 2 * C.diagonal() / (C.sum(axis=0) + C.sum(axis=1))}
    for name, rate in rates.items():
        want[name] = rate[1] if k == 2 else np.nan_to_num(rate).sum() / np.sum(C.sum(axis=0) + C.sum(axis=1) > 0)
    want["majority"] = np.bincount(y.astype(int)).max() / len(y)
    if model["loss"] == "logistic":
        P = 1 / (1 + np.exp(-U))
        P = np.hstack([1 - P, P]) if k == 2 else P / P.sum(axis=1, keepdims=True)
        want["logloss"] = -np.mean(np.log(P[np.arange(len(y)), y.astype(int)]))
        hot = np.arange(k) == y[:, None]
        want["brier"] = np.mean((P[:, 1] - y) ** 2) if k == 2 else np.mean(np.sum((P - hot) ** 2, axis=1))
        sure, hit = (P[:, 1], y) if k == 2 else (P.max(axis=1), guess == y)
        group = np.minimum((sure * 10).astype(int), 9)
        want["calibration"] = sum(np.sum(group == g) * abs(sure[group == g].mean() - hit[group == g].mean())
                                  for g in np.unique(group)) / len(y)
for name, value in want.items():
    assert np.allclose(got[name], value, rtol=1e-9, atol=1e-12), (name, got[name], value)
assert got["rows"] == len(y) and got["lap"] == model["lap"] and got["epsilon"] == model["epsilon"]
END
}

@test "usage" {
    complains 2 "dp-eval: --metrics: 'accurancy' is not one of accuracy, auc, logloss, mse, r2, objective, confusion, majority, precision, recall, f1, brier, calibration, rmse, mae, roc, deviance" dp-eval --data test.dp --metrics accurancy
    complains 2 "dp-eval: --metrics: '' is not one of accuracy, auc, logloss, mse, r2, objective, confusion, majority, precision, recall, f1, brier, calibration, rmse, mae, roc, deviance" dp-eval --data test.dp --metrics auc,
    complains 2 "dp-eval: --metrics: 'auc' is there twice" dp-eval --data test.dp --metrics auc,auc
    complains 2 "dp-eval: --metrics: mse is for labels that are numbers, those of this data set are classes" dp-eval --data test.dp --metrics mse
    complains 1 "dp-eval: cannot open nowhere.dp/dataset.json: not a data set (see dp-import)" dp-eval --data nowhere.dp
}

@test "text or nothing: no frame on standard output, whatever fails" {
    train model train.dp hinge
    for bad in "" "--data test.dp --metrics accurancy" "--dada test.dp" "--data nowhere.dp" "--data test.dp --in nowhere" "--data test.dp train.dp/X.npy"; do
        dp-eval $bad > out < model 2> said && fail "$bad passes"
        [ ! -s out ] && [ "$(wc -l < said)" = 1 ] || fail "$bad: $(cat out said)"
    done
}

@test "the model is an operand, as dp-predict has it, and --data is dp-predict's as well" {
    train model train.dp hinge
    assert_equal "$(dp-eval --data test.dp model)" "$(dp-eval --data test.dp --in model)"
    complains 2 "dp-eval: unexpected argument 'model'" dp-eval --data test.dp model model
    complains 2 "dp-eval: unexpected argument 'model'" dp-eval --data test.dp --in model model
    dp-predict model test.dp > one.csv
    for said in "--data test.dp model" "-d test.dp" "-d test.dp -"; do
        dp-predict $said < model | cmp - one.csv
    done
    complains 2 "dp-predict: expected a model, and a data set or a table (try --help)" dp-predict --data test.dp model test.dp
    complains 2 "dp-predict: expected a model, and a data set or a table (try --help)" dp-predict model
}

@test "on a terminal: six digits, epsilon rounded up; and no waiting for frames that nobody types" {
    train model train.dp hinge
    dp-eval --data test.dp --last model > file.tsv
    script -qec "dp-eval --data test.dp --last model" /dev/null | tr -d '\r' > terminal.tsv
    /usr/bin/python3 - << 'END'
full, short = (open(name).read().split("\n")[1].split("\t") for name in ("file.tsv", "terminal.tsv"))
assert full[0] == short[0] and float(full[1]) <= float(short[1]) <= float(full[1]) * 1.00001, (full, short)
assert all(abs(float(a) - float(b)) <= 1e-5 for a, b in zip(full, short)), (full, short)
assert all(len(b) <= 8 for b in short), short
END
    for what in "dp-eval --data test.dp" "dp-cat" "dp-step" "dp-predict --data test.dp" "dp-info -"; do
        run timeout 20 script -qec "$what" /dev/null
        assert_equal "$status" 2
        assert_output --partial "${what%% *}: no input: standard input is a terminal, and frames come from a pipe or a file (try --help)"
    done
}

@test "two classes, every loss, against NumPy" {
    for loss in squared hinge logistic smooth-hinge huber; do
        train model train.dp $loss
        more=$([ $loss = logistic ] && echo ,logloss,brier,calibration || true)
        dp-eval --data test.dp --format json --metrics accuracy,auc,objective,confusion,majority,precision,recall,f1$more < model > numbers.json
        check model test.dp
    done
}

@test "four classes, every loss, against NumPy" {
    dp-synth classification --rows 300 --cols 6 --classes 4 --seed 7 -o four.dp --test four-test.dp -q
    for loss in squared hinge logistic smooth-hinge huber; do
        train model four.dp $loss
        more=$([ $loss = logistic ] && echo ,logloss,brier,calibration || true)
        dp-eval --data four-test.dp --format json --metrics accuracy,auc,objective,confusion,majority,precision,recall,f1$more < model.run > numbers.json
        check model four-test.dp
    done
}

@test "a rate that is 0/0 has no value, and is 0 in a mean" {
    train model train.dp logistic
    /usr/bin/python3 -c "
import numpy, shutil
shutil.copytree('test.dp', 'ones.dp')
x = numpy.load('ones.dp/X.npy'); x[:] = 0; numpy.save('ones.dp/X.npy', x)" # scores of 0 are class 0
    run dp-eval --private-data --data ones.dp --format json --metrics precision,recall,f1 -i model
    assert_output --partial '"precision":null,"recall":0,"f1":0'
    complains 1 "dp-eval: brier: only logistic and softmax models give probabilities; this one has hinge loss" \
        bash -c 'dp-loop --laps 1 --seed 1 -q -o h -- "dp-sample --data train.dp --rate 0.2 | dp-scd-step --data train.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step" > /dev/null; dp-eval --data test.dp --metrics brier -i h'
}

@test "numbers as labels, against NumPy" {
    dp-synth regression --rows 300 --cols 6 --seed 7 -o real.dp --test real-test.dp -q
    for loss in squared huber; do
        train model real.dp $loss
        dp-eval --data real-test.dp --format json --metrics mse,r2,objective,rmse,mae < model > numbers.json
        check model real-test.dp
    done
    complains 2 "dp-eval: --metrics: accuracy is for labels that are classes, those of this data set are numbers" dp-eval --data real-test.dp --metrics accuracy
}

@test "numbers as labels: rows whose labels have other units than the model's" {
    awk 'BEGIN { srand(5); print "a,y"; for (i = 0; i < 600; i++) { a = 10 * rand(); print a "," 50 + 6 * a + 4 * rand() } }' > t.csv
    for bounds in 40,120 0,1000 -300,130; do
        echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 10]},
            {"name": "y", "type": "label", "bounds": ['$bounds']}]}' > s.json
        dp-import csv t.csv --schema s.json -q -o "units$bounds.dp"
    done
    train model units40,120.dp squared
    for bounds in 40,120 0,1000 -300,130; do
        dp-eval --private-data --data "units$bounds.dp" --format json --metrics mse,r2,objective,rmse,mae < model | jq -c '[.mse,.r2,.objective,.rmse,.mae]' > "of$bounds"
        /usr/bin/python3 -c 'import json, sys
one, two = (json.load(open(f)) for f in sys.argv[1:])
assert all(abs(a - b) <= 1e-6 * abs(a) for a, b in zip(one, two, strict=True)), (one, two)' of40,120 "of$bounds"
    done
    # by the predictions themselves
    dp-predict -H model t.csv | paste -d, - <(sed 1d t.csv) | awk -F, '{ s += ($1 - $3) ^ 2 } END { printf "%.6f\n", s / NR }' > mse
    assert_equal "$(jq '.[0]' of0,1000 | xargs printf '%.3f')" "$(xargs printf '%.3f' < mse)"
}

@test "sparse rows give what dense rows give" {
    dp-synth classification --rows 300 --cols 6 --seed 7 -o sparse.dp --test sparse-test.dp --test-rows 200 --storage csr -q
    train model train.dp logistic
    # the digest may differ, the numbers may not (except for the order of a sum)
    dp-eval --data test.dp < model > dense.tsv
    dp-eval --data sparse-test.dp < model > sparse.tsv
    paste dense.tsv sparse.tsv | awk -F '\t' 'NR == 2 { for (i = 3; i <= 5; i++) if (($i - $(i + 5)) ^ 2 > 1e-20) exit 1 }'
}

@test "a line per lap, per N laps, or for the last" {
    train model train.dp hinge 7
    run dp-eval --data test.dp --metrics accuracy -i model.run
    assert_success
    assert_line --index 0 $'lap\tepsilon\taccuracy'
    [ "$(cut -f 1 <<< "$output" | tr '\n' ' ')" = "lap 1 2 3 4 5 6 7 " ]
    assert_line --index 7 --regexp $'^7\t[0-9.]+\t0\\.[0-9]+$'
    last=${lines[7]}
    run dp-eval --data test.dp --metrics accuracy --every 3 -i model.run
    [ "$(cut -f 1 <<< "$output" | tr '\n' ' ')" = "lap 3 6 7 " ]
    assert_line --index 3 "$last"
    run dp-eval --data test.dp --metrics accuracy --every 7 -i model.run
    [ "$(cut -f 1 <<< "$output" | tr '\n' ' ')" = "lap 7 " ]
    for from in model.run model; do
        run dp-eval --data test.dp --metrics accuracy --last -i $from
        [ "${#lines[@]}" -eq 2 ]
        assert_line --index 1 "$last"
    done
    run dp-eval --data test.dp --metrics accuracy --every 3 --format json -i model.run
    [ "${#lines[@]}" -eq 3 ]
    assert_line --index 2 --regexp '^\{"lap":7,"epsilon":[0-9.]+,"delta":1e-05,"accuracy":0\.[0-9]+,"rows":200,"seeded":true\}$'
}

@test "the metrics in the order asked for, by default those of the labels" {
    train model train.dp logistic
    run dp-eval --data test.dp -i model
    assert_line --index 0 $'lap\tepsilon\taccuracy\tauc\tobjective'
    run dp-eval --data test.dp -m confusion,logloss,accuracy -i model
    assert_line --index 0 $'lap\tepsilon\tconfusion\tlogloss\taccuracy'
    assert_line --index 1 --regexp $'\t\\[\\[[0-9]+,[0-9]+\\],\\[[0-9]+,[0-9]+\\]\\]\t'
    run dp-eval --data test.dp -m majority -i model
    assert_line --index 0 $'lap\tepsilon\tmajority'
    train model train.dp hinge
    complains 1 "dp-eval: logloss: only logistic and softmax models give probabilities; this one has hinge loss" dp-eval --data test.dp -m logloss -i model
}

@test "the training set is refused, and marked where it is meant" {
    train model train.dp hinge
    complains 5 "dp-eval: train.dp is the training set: what is measured on it is not covered by epsilon (--private-data if that is meant)" dp-eval --data train.dp -i model
    [ -z "$(dp-eval --data train.dp -i model 2> /dev/null)" ]
    cp -r train.dp renamed.dp
    complains 5 "dp-eval: renamed.dp is the training set: what is measured on it is not covered by epsilon (--private-data if that is meant)" dp-eval --data renamed.dp -i model
    run dp-eval --data train.dp --private-data -m accuracy -i model
    assert_success
    assert_line --index 0 $'lap\tepsilon\taccuracy\tprivate_data'
    assert_line --index 1 --regexp $'\tyes$'
    run dp-eval --data test.dp --private-data --format json -i model
    assert_output --partial ',"private_data":true}'
    # a model without noise has no guarantee
    dp-loop --laps 2 --seed 1 -q -o open -- "dp-sample --data train.dp --mode shuffle | dp-scd-step --data train.dp --loss hinge --lambda 1e-3 --variant non-private | dp-account --non-private --allow-seeded | dp-step" > /dev/null
    run dp-eval --data train.dp -m accuracy -i open
    assert_success
    assert_line --index 1 --regexp $'^2\tinf\t0\\.[0-9]+$'
    run dp-eval --data train.dp -m accuracy --format json -i open
    assert_output --regexp '^\{"lap":2,"epsilon":null,"delta":null,.*"non_private":true\}$'
}

@test "other data sets of the same population are refused, unless they were held out" {
    train model train.dp hinge
    # the same table imported again, with another digest
    cp -r train.dp again.dp
    sed -i 's/"digest": *"[0-9a-f]*"/"digest": "0123456789abcdef0123456789abcdef"/' again.dp/dataset.json
    name=$(dp-info -g population train.dp)
    complains 5 "dp-eval: again.dp has rows of '$name', as the training set has, and none of them were held out: what is measured on them is not covered by epsilon (--private-data if that is meant)" \
        dp-eval --data again.dp model
    run dp-eval --data again.dp --private-data -m accuracy model
    assert_success
    assert_line --index 1 --regexp $'\tyes$'
    assert_equal "$(dp-info -g population test.dp) $(dp-info -g held_out test.dp)" "$name true"
    dp-eval --data test.dp -m accuracy model
    # of other people
    sed -i 's/"population": *"[^"]*"/"population": "elsewhere"/' again.dp/dataset.json
    dp-eval --data again.dp -m accuracy model
}

@test "rows that were scaled in another way" {
    train model train.dp hinge
    cp -r test.dp cut.dp
    sed -i 's/"row_norm": *"unit"/"row_norm": "cap"/' cut.dp/dataset.json
    complains 1 "dp-eval: the rows of the model have row norm 'unit', the rows of cut.dp 'cap'" dp-eval --data cut.dp -i model
    # the same divisor is the same scale, another is another
    sed -i 's/"row_norm": *"cap"/"row_norm": "bounds", "row_divisor": 1.5, "bias": true/' cut.dp/dataset.json
    edit 'row_norm="divided by 1.5, bias"' < model > divided
    dp-eval --data cut.dp -i divided > /dev/null
    edit 'row_norm="divided by 2, bias"' < model > divided
    complains 1 "dp-eval: the rows of the model have row norm 'divided by 2, bias', the rows of cut.dp 'divided by 1.5, bias'" \
        dp-eval --data cut.dp -i divided
    # a model, or a data set, that does not state it, fits all
    for unsaid in 'row_norm=' 'row_norm="unknown"'; do
        edit "$unsaid" < model > quiet
        dp-eval --data cut.dp -i quiet > /dev/null
    done
    sed -i 's/"row_norm": *"bounds", "row_divisor": 1.5, //' cut.dp/dataset.json
    dp-eval --data cut.dp -i model > /dev/null
}

@test "models and data that do not fit together" {
    train model train.dp hinge
    dp-synth classification --rows 50 --cols 5 --seed 1 -o narrow.dp -q
    complains 1 "dp-eval: the model has 6 columns, narrow.dp has 5" dp-eval --data narrow.dp -i model
    dp-synth classification --rows 50 --cols 6 --classes 3 --seed 1 -o three.dp -q
    complains 1 "dp-eval: the model has 2 classes, three.dp has 3" dp-eval --data three.dp -i model
    dp-synth regression --rows 50 --cols 6 --seed 1 -o real.dp -q
    complains 1 "dp-eval: the model predicts classes, the labels of real.dp are numbers" dp-eval --data real.dp -i model
    train numbers real.dp squared
    complains 1 "dp-eval: the model predicts numbers, the labels of test.dp are classes" dp-eval --data test.dp -i numbers
    cp -r test.dp named.dp
    sed -i 's/"c1"/"yes"/' named.dp/dataset.json
    complains 1 "dp-eval: class 1 is 'c1' in the model and 'yes' in named.dp" dp-eval --data named.dp -i model
    edit 'classes=4' 'labels=' < model > four
    complains 1 "dp-eval: the model has 4 classes, test.dp has 2" dp-eval --data test.dp -i four
    edit 'classes=' 'labels=' < model > unsaid
    complains 1 "dp-eval: the model has 1 outputs, the labels of three.dp need 3" dp-eval --data three.dp -i unsaid
}

@test "frames that hold no model, or must not be looked at" {
    train model train.dp hinge
    edit model= average= < model > bare
    complains 1 "dp-eval: the stream holds no model" dp-eval --data test.dp -i bare
    edit kind=lap < model > empty
    complains 1 "dp-eval: the stream holds no model" dp-eval --data test.dp -i empty
    edit 'label="noised"' < model > noised
    complains 5 "dp-eval: takes released frames and got a noised one: a stage is missing or out of place" dp-eval --data test.dp -i noised
    edit loss= < model > lossless
    complains 1 "dp-eval: objective: the model does not say which loss and lambda it minimises" dp-eval --data test.dp -i lossless
    dp-eval --data test.dp -m accuracy -i lossless
    edit 'labels="c0,c1"' < model > labels
    complains 1 "dp-eval: 'labels' of lap 4 is not a JSON array of names" dp-eval --data test.dp -i labels
}

@test "truncated and corrupt streams: the lines so far, then one sentence" {
    train model train.dp hinge
    edit kind=end < model.run > endless
    complains 4 "dp-eval: the input ended before its end frame: an upstream stage is gone" dp-eval --data test.dp -i endless
    [ "$(dp-eval --data test.dp -i endless 2> /dev/null | wc -l)" -eq 5 ]
    head -c $(($(stat -c %s model.run) - 50)) model.run > short
    complains 4 "dp-eval: short ends inside a frame" dp-eval --data test.dp -i short
    [ "$(dp-eval --data test.dp -i short 2> /dev/null | wc -l)" -eq 4 ]
    LC_ALL=C sed 's/\xa5model/\xa5mudel/' model > broken
    complains 1 "dp-eval: unknown field 'mudel' in a frame" dp-eval --data test.dp -i broken
    # the stage that failed upstream has printed why
    dp-sample --data nowhere.dp < model > failed 2> /dev/null || true
    complains 4 "dp-eval: failed ends with the failure of a run" dp-eval --data test.dp -i failed
}

@test "standard output closed or full; --out" {
    train model train.dp hinge
    complains 1 "dp-eval: cannot write standard output: No space left on device" bash -c 'dp-eval --data test.dp -i model > /dev/full'
    complains 1 "dp-eval: cannot write standard output: Bad file descriptor" bash -c 'dp-eval --data test.dp -i model >&-'
    complains 2 "dp-eval: --out: this command prints text; redirect its standard output" dp-eval --data test.dp -i model -o lines
}

@test "at the end of a pipeline, while it runs" {
    run bash -c 'scd.sh --data train.dp --loss hinge --lambda 1e-3 --epsilon 1 --delta 1e-5 --epochs 1 --batch 30 --clip 0.1 -q | dp-eval --data test.dp --metrics accuracy'
    assert_success
    [ "${#lines[@]}" -eq 11 ]
}

@test "a threshold decides as dp-predict does" {
    train model train.dp logistic
    /usr/bin/python3 -c 'import numpy as np; print(*("c%d" % c for c in np.load("test.dp/y.npy")), sep="\n")' > truth
    for t in .2 .5 .8; do
        dp-predict -H -t $t model test.dp | paste - truth > pairs
        dp-eval --data test.dp -t $t --metrics accuracy,precision,recall,confusion,auc -l -i model > out
        assert_equal "$(tail -n 1 out | cut -f 3-5 | awk '{ printf "%.6f %.6f %.6f", $1, $2, $3 }')" \
            "$(awk '{ n[$1 $2]++ } END { printf "%.6f %.6f %.6f", (n["c0c0"] + n["c1c1"]) / NR, n["c1c1"] / (n["c1c1"] + n["c1c0"]), n["c1c1"] / (n["c1c1"] + n["c0c1"]) }' pairs)"
        assert_equal "$(tail -n 1 out | cut -f 6)" "$(awk '{ n[$1 $2]++ } END { printf "[[%d,%d],[%d,%d]]", n["c0c0"], n["c1c0"], n["c0c1"], n["c1c1"] }' pairs)"
        assert_equal "$(tail -n 1 out | cut -f 7)" "$(dp-eval --data test.dp --metrics auc -l -i model | tail -n 1 | cut -f 3)"
    done
    train hinge train.dp hinge
    complains 1 "dp-eval: --threshold: only models of two classes with probabilities have one" dp-eval --data test.dp -t .3 -l -i hinge
}

@test "points of the ROC curve" {
    train model train.dp logistic
    dp-eval --data test.dp --metrics roc,auc -f json -l -i model > out.json
    dp-predict -H -s model test.dp | cut -d, -f 2 > scores
    /usr/bin/python3 - << 'END'
import json
import numpy as np

got = json.load(open("out.json"))
roc, y = np.array(got["roc"]), np.load("test.dp/y.npy")
u = np.loadtxt("scores")
assert list(roc[0]) == [0, 0] and list(roc[-1]) == [1, 1] and (np.diff(roc, axis=0) >= 0).all()
every = {((u[y == 0] >= t).mean(), (u[y == 1] >= t).mean()) for t in u} | {(0, 0)}
assert all(min(abs(x - a) + abs(z - b) for a, b in every) < 1e-12 for x, z in roc)
area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(roc, roc[1:]))
assert abs(area - got["auc"]) < .02, (area, got["auc"])
END
    assert_equal "$(dp-eval --data test.dp --metrics roc -l -i model | tail -n 1 | cut -f 3)" "$(jq -c .roc out.json)"
    dp-synth classification --rows 100 --cols 6 --classes 3 --seed 7 -o three.dp -q
    train three three.dp hinge
    complains 1 "dp-eval: roc: only two classes have one curve" dp-eval --data three.dp --private-data --metrics roc -l -i three
}

# table [EXTRA]: rows with a random number and a label that it says nothing about; of every five, EXTRA have no label
table() {
    awk -v extra="${1:-2}" 'BEGIN { srand(5); print "a,y"
        for (i = 0; i < 3000; i++) print rand() "," (i % 5 < extra ? (i % 10 < 5 ? "" : "rare" i) : rand() < .2 ? "yes" : "no") }'
}

@test "rows without a label: no measure has them, exact or paid, and no prediction" {
    table > t.csv
    table 0 > all.csv
    printf '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}' > s.json
    awk -F , 'NR == 1 || $2 == "yes" || $2 == "no"' t.csv > labelled.csv
    for t in t labelled; do dp-import csv -s s.json $t.csv -q -o $t.dp; done
    dp-import csv -s s.json all.csv --split 0.5 -q -o all.dp --test all-test.dp
    train model all.dp logistic 2> /dev/null
    local measures="accuracy,auc,logloss,confusion,majority,precision,recall,f1,brier,calibration,roc,objective" more
    for more in "" "--threshold 0.3"; do
        dp-eval --data t.dp --metrics $measures $more -f json -l -i model 2> said > t
        dp-eval --data labelled.dp --metrics $measures $more -f json -l -i model > labelled
        assert_equal "$(cat t)" "$(cat labelled)"
        assert_equal "$(cat said)" "dp-eval: warning: 1200 of 3000 rows have no label, and are left out"
    done
    run jq -c '[.rows, (.auc - 0.5 | fabs) < 0.1, .majority > 0.7]' t
    assert_output '[1800,true,true]'
    # nearly without noise, the paid measures are those of the rows that have a label
    dp-eval --data t.dp --private --epsilon 1e5 --allow-weak --no-ledger --metrics accuracy,brier,recall -f json -l -i model > paid
    dp-eval --data labelled.dp --metrics accuracy,brier,recall -f json -l -i model > exact
    run jq -s -c '[(.[0].accuracy - .[1].accuracy, .[0].brier - .[1].brier, .[0].recall - .[1].recall) | fabs < 1e-3]' paid exact
    assert_output '[true,true,true]'
    # where there could be such rows, their absence is not said either
    dp-eval --data all-test.dp --private --epsilon 0.02 --no-ledger --metrics accuracy,confusion -f json -l -i model > paid
    run jq -c '(.confusion | flatten | (.[0] + .[3]) / add) - .accuracy | fabs < 1e-3' paid
    assert_output true
    dp-predict model t.dp -H > predicted 2> said
    assert_equal "$(cat said)" "dp-predict: 1200 of 3000 rows have no label, and no features in a data set: their predictions are empty"
    assert_equal "$(grep -c '^""$' predicted) $(wc -l < predicted)" "1200 3000"
    assert_equal "$(grep -v '^""$' predicted | sha256sum)" "$(dp-predict model labelled.dp -H | sha256sum)"
    dp-info --verify t.dp
    train paid all.dp logistic 4 "dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --ledger all.ledger" 2> /dev/null
    dp-account report all.ledger --model paid --test t.dp -o page.html
    run tr '\n' ' ' < page.html
    assert_output --partial "Measured on 1800 rows of <strong>t.csv</strong>, another population; 1200 others have no label."
    dp-account report all.ledger --model paid --test labelled.dp -o page.html
    run grep -c 'have no label' page.html
    assert_output 0
}

@test "rows without a label: an earlier format does not list them, and they are the rows of zeros" {
    table > t.csv
    printf '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}' > s.json
    # large: of its rows 16 bits keep no constant
    awk -F , -v OFS=, 'NR > 1 { $1 = 1e6 * ($1 + 1) } 1' t.csv > large.csv
    jq '.columns[0] |= (del(.bounds) | .scale = "none")' s.json > large.json
    for storage in dense csr narrow large; do
        case $storage in
            large) of=(-s large.json large.csv --quantise) ;;
            narrow) of=(-s s.json t.csv --quantise) ;;
            *) of=(-s s.json t.csv --storage "$storage") ;;
        esac
        dp-import csv "${of[@]}" -q -o $storage.dp
        dpline sgd --data $storage.dp --epochs 1 -q --seed 1 -o model
        dp-eval --data $storage.dp --private-data --metrics accuracy,auc,majority -f json -l -i model 2> said > now
        /usr/bin/python3 - $storage.dp << 'END'
import json, numpy, os, sys
os.chdir(sys.argv[1])
y = numpy.load("y.npy"); y[numpy.load("nulls.npy")] = 1; numpy.save("y.npy", y)
about = json.load(open("dataset.json")); about["format"] = 1; del about["nulls"]; json.dump(about, open("dataset.json", "w"))
os.unlink("nulls.npy")
END
        dp-eval --data $storage.dp --private-data --metrics accuracy,auc,majority -f json -l -i model 2> before > then
        cmp now then
        cmp said before
        grep -q '1200 of 3000 rows have no label' said
    done
}

@test "rows without a label: they are in the number of rows and persons, and a person's others count in full" {
    table | awk -F , 'NR == 1 { print "who," $0 } NR > 1 { print int(NR / 7) "," $0 }' > p.csv
    printf '{"header": true, "columns": [{"name": "who", "type": "person"}, {"name": "a", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}' > s.json
    for storage in dense csr; do
        dp-import csv -s s.json p.csv --rows-per-person 7 --storage $storage --split 0.5 -q -o $storage.dp --test $storage-test.dp
        dp-info --verify $storage-test.dp
    done
    cmp dense-test.dp/nulls.npy csr-test.dp/nulls.npy
    table 0 > all.csv
    jq 'del(.columns[0])' s.json > all.json
    dp-import csv -s all.json all.csv -q -o all.dp
    train model all.dp logistic 2> /dev/null
    dp-eval --data csr-test.dp --private --epsilon 1e5 --allow-weak --no-ledger --metrics confusion,accuracy -f json -l -i model > paid
    /usr/bin/python3 - paid << 'END'
import json
import sys
import numpy as np
paid = json.load(open(sys.argv[1]))
start, null = np.load("csr-test.dp/persons.npy"), np.load("csr-test.dp/nulls.npy")
labelled = np.ones(start[-1], bool)
labelled[null] = False
persons = sum(labelled[a:b].any() for a, b in zip(start, start[1:]))
assert len(start) - 1 > 200 and 0 < len(null) < start[-1]
assert abs(np.sum(paid["confusion"]) - persons) < 0.1, (paid, persons)
END
}

@test "rows without a label teach nothing, whatever number stands for it" {
    table > t.csv
    printf '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}' > s.json
    dp-import csv -s s.json t.csv -q -o zero.dp
    cp -r zero.dp one.dp
    /usr/bin/python3 -c 'import numpy; y = numpy.load("one.dp/y.npy"); y[numpy.load("one.dp/nulls.npy")] = 1; numpy.save("one.dp/y.npy", y)'
    local gate='dp-noise -z 1 | dp-account --epsilon 1e5 --delta 1e-5 --no-ledger --allow-seeded --allow-weak | dp-step' stage d step
    for stage in "dp-net-grad --network '1x1x2; fc 4 tanh; fc 1' --loss logistic --clip 1 --data" \
        "dp-erm --loss logistic --lambda 0.01 --method descent --iterations 5 --intercept 1 --data" \
        "dp-erm --loss logistic --lambda 0.01 --method permutation --batch 500 --passes 2 --intercept 1 --data" \
        "dp-grad --loss logistic --clip 1 --data" "dp-scd-step --loss logistic --lambda 1e-3 --clip 0.1 --data"; do
        [[ $stage == *grad* ]] && step=' --step 1' || step=''
        for d in zero one; do
            dp-loop -q --laps 1 --seed 1 -o $d -- "dp-sample --data $d.dp --mode full | $stage $d.dp | $gate$step" > /dev/null
        done
        dp-cmp --weights-only zero one
    done
}
