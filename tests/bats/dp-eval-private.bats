# dp-eval --private: measures of private rows, paid for.
load helper

setup_file() {
    export DPLINE_REGISTRY=$BATS_FILE_TMPDIR/registry
    cd "$BATS_FILE_TMPDIR" || return
    dp-synth classification --rows 300 --cols 6 --seed 7 -o train.dp --test test.dp --test-rows 400 -q
    dp-loop --laps 4 --seed 1 -q -o model -- "dp-sample --data train.dp --rate 0.2 |
        dp-grad --data train.dp --loss logistic --clip 1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step --step 1" > /dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp -r "$BATS_FILE_TMPDIR"/{train.dp,test.dp,model} .
}

measure() { dp-eval --private --no-ledger -f json "$@" model; }
check() { /usr/bin/python3 -c "import json; from math import *; $1" || fail "$1"; }

@test "the noise is discrete Laplace of scale sensitivity / epsilon, on every number" {
    dp-eval --data test.dp -m confusion,brier -f json model > exact
    for adjacency in null-record replace-one; do
        for _ in {1..400}; do
            measure --data test.dp --epsilon 0.5 --adjacency $adjacency -m confusion,brier
        done > $adjacency
    done
    # The Kolmogorov distance of n draws is above d with probability below 2 exp(-2 n d^2). All 2000 draws: d = .0648, 1e-7. The
    # 400 draws of each number: d = .1546, 1e-8. So the test fails by chance in less than 4e-7 of the runs. Counts are printed
    # with one digit, which moves the distance by less than .01. Noise of half the scale has .125, a number without noise .5.
    check '
exact = json.load(open("exact"))
for name, scale in (("null-record", 2 / .5), ("replace-one", 3 / .5)):
    numbers, same = [[], [], [], [], []], 0
    for line in open(name):
        m = json.loads(line)
        z = [a - b for r, s in zip(m["confusion"], exact["confusion"]) for a, b in zip(r, s)]
        same += max(z) - min(z) < .05
        for one, x in zip(numbers, z + [(m["brier"] - exact["brier"]) * 400]):
            one.append(x)
        assert abs(m["confusion_within"] - scale * log(20)) < 1e-3, m
    for draws, most in [(sum(numbers, []), .0648)] + [(one, .1546) for one in numbers]:
        draws = sorted(draws)
        cdf = [exp(x / scale) / 2 if x < 0 else 1 - exp(-x / scale) / 2 for x in draws]
        far = max(max(abs(c - i / len(draws)), abs(c - (i + 1) / len(draws))) for i, c in enumerate(cdf))
        assert far < most + .01, (name, len(draws), far)
    assert same < 3, "numbers share their noise" # once, four independent draws are that close in 1e-4 of the runs
'
}

@test "one person moves the numbers by at most the sensitivity, also with several rows" {
    # persons.npy: 200 persons with two rows each; neighbours differ in one person
    /usr/bin/python3 - << 'END'
import json, shutil
import numpy as np
d = json.load(open("test.dp/dataset.json"))
d.update(format=2, persons=200, rows_per_person=2)
json.dump(d, open("test.dp/dataset.json", "w"))
np.save("test.dp/persons.npy", np.arange(0, 401, 2, dtype=np.int64))
y, X = np.load("test.dp/y.npy"), np.load("test.dp/X.npy")
X[11] = X[10]
for name, label, by in (("test.dp", 0, 1), ("other", 1, -1), ("flipped", 1, 1)):
    if name != "test.dp":
        shutil.copytree("test.dp", name)
    y[10:12] = label
    X[10:12] = by * abs(X[10:12])
    np.save(name + "/y.npy", y)
    np.save(name + "/X.npy", X)
END
    for data in test.dp other flipped; do
        measure --data $data --epsilon 1e6 --allow-weak -m confusion,brier > "${data%.dp}.json"
    done
    check '
a, *b = (json.load(open(n + ".json")) for n in ("test", "other", "flipped"))
total = sum(map(sum, a["confusion"]))
assert abs(total - 200) < .2 and a["brier"] < 1, a
for m in b:
    moved = sum(abs(x - y) for r, s in zip(a["confusion"], m["confusion"]) for x, y in zip(r, s))
    moved += abs(a["brier"] - m["brier"]) * 200
    assert 1 < moved <= 3.001, moved
'
}

@test "measures are those of the rows, where epsilon is large" {
    dp-eval --data test.dp -m accuracy,majority,precision,recall,f1,brier -f json model > exact
    measure --data test.dp --epsilon 1e6 --allow-weak -m accuracy,majority,precision,recall,f1,brier > noised
    check '
e, n = json.load(open("exact")), json.load(open("noised"))
for m in "accuracy majority precision recall f1 brier".split():
    assert abs(e[m] - n[m]) < 1e-5 and n[m + "_low"] <= n[m] <= n[m + "_high"], m
'
    dp-synth classification --rows 300 --cols 6 --classes 4 --seed 7 -o four.dp --test rest.dp --test-rows 400 -q
    dp-loop --laps 4 --seed 1 -q -o model -- "dp-sample --data four.dp --rate 0.2 | dp-grad --data four.dp --loss softmax --clip 1 |
        dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step --step 1" > /dev/null
    dp-eval --data rest.dp -m accuracy,precision,recall,f1,brier -f json model > exact
    measure --data rest.dp --epsilon 1e6 --allow-weak -m accuracy,precision,recall,f1,brier > noised
    check '
e, n = json.load(open("exact")), json.load(open("noised"))
for m in "accuracy precision recall f1 brier".split():
    assert abs(e[m] - n[m]) < 1e-4, (m, e, n)
'
}

@test "rows without a label are in no measure, and are counted by what was paid" {
    /usr/bin/python3 - << 'END'
import json
import numpy as np
d = json.load(open("test.dp/dataset.json"))
y, X = np.load("test.dp/y.npy"), np.load("test.dp/X.npy")
y[:150] = X[:150] = 0
np.save("test.dp/y.npy", y)
np.save("test.dp/X.npy", X)
np.save("test.dp/nulls.npy", np.arange(150, dtype=np.int64))
d.update(format=3, nulls=True)
json.dump(d, open("test.dp/dataset.json", "w"))
END
    dp-eval --data test.dp -m accuracy,confusion -f json model > exact 2> said
    assert_equal "$(cat said)" "dp-eval: warning: 150 of 400 rows have no label, and are left out"
    measure --data test.dp --epsilon 10 -m accuracy,confusion > noised 2> said
    # scale .1 in each of 4 cells: 150 give or take .6, so a count of 148 or 152 has probability 4e-5
    assert_regex "$(cat said)" '^dp-eval: warning: about 1(49|50|51) of 400 rows, give or take 1, have no label, and are left out$'
    check '
e, n = json.load(open("exact")), json.load(open("noised"))
assert abs(sum(map(sum, e["confusion"])) - 250) < 1e-9 and abs(sum(map(sum, n["confusion"])) - 250) < 3, n
assert abs(e["accuracy"] - n["accuracy"]) < .02, (e, n)
'
    # where the noise is less than a row, no row that is there is said to be missing
    measure --data "$BATS_FILE_TMPDIR/test.dp" --epsilon 1e6 --allow-weak -m accuracy > noised 2> said
    assert_equal "$(cat said)" ""
}

@test "how many rows persons have decides no word of what is said of rows without a label" {
    awk 'BEGIN { print "who,x,y"; for (i = 0; i < 400; i++) print i "," i / 400 "," (i % 2 ? "" : i < 200 ? "no" : "yes") }' > one.csv
    { cat one.csv && echo 3,.5,; } > two.csv # another row of a person
    echo '{"header": true, "columns": [{"name": "who", "type": "person", "rows_per_person": 4}, {"name": "x", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}' > s.json
    head -n 301 one.csv > few.csv
    for table in few one two; do dp-import csv --schema s.json -o $table.dp -q --no-registry $table.csv; done
    dp-loop --laps 1 --seed 1 -q -o model -- "dp-sample --data few.dp --mode full | dp-grad --data few.dp --loss logistic --clip 1 |
        dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1" > /dev/null
    for table in one two; do
        measure --data $table.dp --epsilon 1e6 --allow-weak -m accuracy > noised 2> said
        assert_equal "$(cat said)" "dp-eval: warning: about 200 of 400 persons, give or take 0, have no label, and are left out"
    done
}

@test "the whole query is in the ledger of the rows, and counts against their budget" {
    dp-account budget --data test.dp --epsilon 1 --delta 1e-4
    run dp-eval --private --epsilon 0.6 --data test.dp -m accuracy model
    assert_success
    assert_line --index 0 $'lap\tepsilon\taccuracy\taccuracy_low\taccuracy_high\tpaid_epsilon'
    grep '"kind":"plan"' test.dp/ledger > reserved
    check 'c = json.load(open("reserved"))["charges"][0]; assert c["queries"] == [{"noise": "counts", "epsilon": .6}], c'
    check 'l = [json.loads(l) for l in open("test.dp/ledger")][-1]; assert .59 < l["epsilon"] <= .6 and l["status"] == "done", l'
    complains 3 "dp-eval: the rest of the data set's budget does not pay for measures of epsilon = 0.6" \
        dp-eval --private --epsilon 0.6 --data test.dp -m accuracy model
    assert_equal "$(grep -c '"kind":"close"' test.dp/ledger)" 1
}

@test "bad input is said before anything is charged" {
    complains 5 "dp-eval: this may cost epsilon = 20, and above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)" \
        dp-eval --private --data test.dp --epsilon 20 model
    measure --data test.dp --epsilon 20 --allow-weak > /dev/null
    complains 2 "dp-eval: --private: auc has no form with noise; accuracy, majority, precision, recall, f1, confusion and brier have" \
        dp-eval --private --epsilon 1 -m auc --data test.dp model
    complains 5 "dp-eval: train.dp is the training set: what is measured on it is not covered by epsilon (--private-data if that is meant)" \
        dp-eval --private --epsilon 1 --data train.dp model
    dp-synth regression --rows 100 --cols 6 --seed 7 -o numbers.dp -q
    complains 2 "dp-eval: --private: only rows with classes have measures with noise, the labels are numbers" \
        dp-eval --private --epsilon 1 --data numbers.dp model
    assert [ ! -e test.dp/ledger ]
    assert [ ! -e train.dp/ledger ]
}
