#!/usr/bin/env bats
# Coefficients in the units of the table, and intervals where the law of the noise is known.
load helper

prepare() {
    awk 'BEGIN { srand(7); print "age,smoker,ward,ill,cost"; for (i = 0; i < 600; i++) { a = int(18 + 70 * rand()); s = rand() < .3
        printf "%d,%s,%s,%s,%.2f\n", a, s ? "yes" : "no", substr("AB", 1 + (rand() < .5), 1), (a / 88 + .4 * s + .5 * rand() > 1) ? "yes" : "no", a + 20 * s } }' > people.csv
    local columns='{"name": "age", "type": "numeric", "bounds": [18, 88], "fill": 50, "indicator": true},
        {"name": "smoker", "type": "categorical", "categories": ["no", "yes"], "unknown": "zero", "indicator": true},
        {"name": "ward", "type": "categorical", "categories": ["A", "B"], "drop": "first"}'
    for label in 'ill:"classes": ["no", "yes"]:cost' 'cost:"bounds": [0, 120]:ill'; do
        echo "{\"header\": true, \"columns\": [$columns, {\"name\": \"${label##*:}\", \"type\": \"ignore\"}, {\"name\": \"${label%%:*}\", \"type\": \"label\",
            $(cut -d: -f 2- <<< "${label%:*}")}]}" > "${label%%:*}.json"
        dp-import csv -s "${label%%:*}.json" -q -o "${label%%:*}.dp" people.csv
    done
}

output() { dpline outpert-gd --data "$1.dp" --epsilon 4 --lambda 0.01 --epochs 30 --seed 1 -q -o "$1.model"; }

# score MODEL AGE SMOKER WARD: in the units of the label
score() { printf 'age,smoker,ward\n%s,%s,%s\n' "${@:2}" | dp-predict -s -H "$1" - | cut -d, -f "${FIELD:-2}"; }

@test "usage" {
    complains 2 'dp-info: --coefficients is for models' dp-info --coefficients ill.dp
}

@test "a coefficient is the difference of two scores" {
    local name low high
    for model in ill cost; do
        output $model
        dp-info --coefficients --tsv $model.model > table
        while read -r name low high; do
            assert_equal "$name $(awk -F '\t' -v n="${name//_/ }" '$2 == n { printf "%.4f", $3 }' table)" \
                "$name $(awk -v a="$(FIELD=$([ $model = ill ] && echo 2 || echo 1) score $model.model ${low//,/ })" \
                    -v b="$(FIELD=$([ $model = ill ] && echo 2 || echo 1) score $model.model ${high//,/ })" 'BEGIN { printf "%.4f", b - a }')"
        done << 'LIST'
age 40,no,A 41,no,A
age_missing 50,no,A "",no,A
smoker=yes 40,no,A 40,yes,A
smoker=(another) 40,no,A 40,never,A
smoker_missing 40,no,A 40,"",A
ward=B 40,no,A 40,no,B
LIST
        # from the intercept: a person of age 18, of the first categories
        awk -F '\t' '{ c[$2] = $3 } END { printf "%.4f\n", c["(intercept)"] + 18 * c["age"] }' table > at
        assert_equal "$(cat at)" "$(printf %.4f "$(FIELD=$([ $model = ill ] && echo 2 || echo 1) score $model.model 18 no A)")"
    done
}

@test "text, TSV and JSON say the same" {
    output ill
    dp-info --coefficients ill.model > text
    assert_equal "$(head -n 1 text)" 'class yes'
    grep -q '^per unit of the table  *coefficient  *odds ratio  *noise s.e.  *95 % interval of the noise$' text
    grep -qE '^smoker=no +\(reference\)$' text
    assert_equal "$(tail -n 1 text)" 'intervals: the noise only: a 95 % interval covers the coefficient that this run would have without noise; how the coefficients vary with other people is not known from what was released'
    dp-info -c --tsv ill.model | awk -F '\t' '$2 == "age" { printf "%.5g %.5g %.5g %.5g %.5g\n", $3, $4, $5, $6, $7; exit !(log($4) - $3 < 1e-9 && $3 - log($4) < 1e-9) }' > tsv
    assert_equal "$(awk '$1 == "age" && NF == 6 { print $2, $3, $4, $5, $6 }' text)" "$(cat tsv)"
    assert_equal "$(dp-info -c --json ill.model | jq -r '.coefficients[] | select(.name == "age") | [.coefficient, .ratio, .noise_error, .low, .high] | @tsv' |
        awk '{ printf "%.5g %.5g %.5g %.5g %.5g\n", $1, $2, $3, $4, $5 }')" "$(cat tsv)"
    dp-info -c --json ill.model | jq -e '.intervals and (has("no_intervals") | not)' > /dev/null
}

@test "there is no interval where the law of the noise is not known" {
    local rows='the noise of each lap reaches the coefficients by way of the rows, through the curvature of the loss and through clipping, and these were not released'
    dpline fit ill.dp --epsilon 2 --seed 1 -q -o fit.model
    dpline scd --data ill.dp --loss logistic --epochs 1 --seed 1 -q -o scd.model
    dpline objpert --data ill.dp --lambda 0.01 --seed 1 -q -o objective.model
    dpline outpert-gd --data ill.dp --noise gamma --lambda 0.01 --epochs 10 --seed 1 -q -o gamma.model
    dpline erm --data ill.dp --seed 1 -q -o erm.model 2> /dev/null
    dp-loop -q --plan 'a 1, b 1' --seed 1 -o tempered.model -- "dp-sample --data ill.dp --mode full |
        dp-erm --on a --data ill.dp --loss logistic --lambda 0.01 --method descent --iterations 9 | dp-temperature --on b --data ill.dp |
        dp-noise -z 2 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step --on a | dp-step --on b --temperature" > stream
    for pair in "fit:$rows" "scd:$rows" 'objective:the noise on the model is not normal noise on each coefficient' \
        'gamma:the noise on the model is not normal noise on each coefficient' \
        'tempered:the model does not say which noise is on it' \
        'erm:the model has no noise, and nothing in it tells how it would vary with other people'; do
        run dp-info --coefficients "${pair%%:*}.model"
        assert_success
        assert_line --index $((${#lines[@]} - 1)) "no intervals: ${pair#*:}"
        refute_output --partial '95 %'
        assert_equal "$(dp-info -c --tsv "${pair%%:*}.model" | cut -f 5- | tail -n +2 | tr -d '\t\n')" ''
        assert_equal "$(dp-info -c --json "${pair%%:*}.model" | jq -r .no_intervals)" "${pair#*:}"
    done
}

@test "a model without a schema, and one of rows of norm 1" {
    small_data 400 3
    dpline outpert-gd --data small.dp --lambda 0.1 --epochs 10 --seed 1 -q -o stored.model
    run dp-info -c stored.model
    assert_line --index 1 --partial 'per unit of a stored column'
    assert_equal "$(awk '$1 == "x2" { print $2 }' <<< "$output")" "$(printf %.5g "$(dp-info --get model stored.model | sed -n 2p)")"
    dp-import csv -s ill.json --row-norm unit -q -o unit.dp people.csv
    output unit
    run dp-info -c unit.model
    assert_line 'scaling: each row is divided by its norm, so a unit more also changes the weight of the other columns'
    refute_output --partial 'odds ratio'
    assert_equal "$(dp-info -c --json unit.model | jq -c '[.ratio, .row_norm, any(.coefficients[]; has("ratio"))]')" '[null,"unit",false]'
}

@test "rows of norm 1: curves before the division by the norm, and the page says so" {
    sed -i 's/"bounds": \[18, 88\]/&, "basis": "hats", "knots": [30, 60]/' ill.json
    dp-import csv -s ill.json --row-norm unit -q -o unit.dp people.csv
    output unit
    dp-info --curves unit.model > curve
    dp-info -c --tsv unit.model > table
    /usr/bin/python3 - << 'END'
import csv
curve = list(csv.DictReader(open("curve"), delimiter="\t"))
weight = {r["name"]: float(r["coefficient"]) for r in csv.DictReader(open("table"), delimiter="\t")}
edges = [18, 30, 60, 88]
def f(v):
    hat = [max(0, 1 - (e - v) / (e - edges[i - 1]) if v <= e else 1 - (v - e) / (edges[i + 1] - e)) for i, e in enumerate(edges) if i in (1, 2)]
    return weight["age"] * v + sum(weight[f"age at {e}"] * h for e, h in zip(edges[1:3], hat)) + weight["age at 88"] * max(0, (v - 60) / 28)
assert len(curve) == 25
for r in curve:
    assert abs(float(r["effect"]) - f(float(r["value"])) + f(18)) < 1e-9 * (1 + abs(weight["age"]) * 88), r
END
    assert_equal "$(dp-info --curves --json unit.model | jq -r .row_norm)" unit
    dpline report unit.model --text > page
    tr '\n' ' ' < page > line
    grep -qF 'in the units of the table, and divides it by the length of the row. The numbers here are parts of the score of a row of average length.' line
    # so they are those of dp-info divided by that length
    dp-info -c --json unit.model | jq -r '.usual.norm as $norm | "\(.usual.scores[0])", (.coefficients[] | select(.name == "smoker=yes").coefficient / $norm)' > parts
    grep -qxE "  \(an average row\) +$(sed -n 1p parts | xargs printf %.3g) +–.*" page
    grep -qxE "  smoker=yes +$(sed -n 2p parts | xargs printf %.3g) +$(awk 'NR == 2 { printf "%.3g", exp($1) }' parts) .*" page
    output ill
    dpline report ill.model --text > page
    refute grep -q 'length of the row' page
}

# 400 seeds: a coefficient whose interval holds 95 % is 3.5 standard deviations off at 0.912 and 0.988, all of them together at 0.939.
@test "95 % intervals cover as much of what a run without noise gives, for each coefficient" {
    mkdir empty
    cd empty
    "$ROOT/tests/bats/coverage.py" 400 > ../covered
    assert_equal "$(ls)" ""
    cd ..
    assert_equal "$(grep -c intercept covered) $(wc -l < covered)" "2 13"
    awk -F '\t' -v OFS='\t' '$1 == "all" ? $3 < .939 || $3 > .961 : $3 < .912 || $3 > .988' covered > wrong
    assert_equal "$(cat wrong)" ''
}

@test "a curve is the difference of two scores, and its error that of the weights it is made of" {
    sed -i 's/"bounds": \[18, 88\]/&, "basis": "hats", "knots": [30, 60]/' ./*.json
    for label in ill cost; do
        rm -rf $label.dp
        dp-import csv -s $label.json -q -o $label.dp people.csv
        output $label
        dp-info --curves $label.model > curve
        dp-info --coefficients --tsv $label.model > table
        dp-info --curves --json $label.model > curve.json
        { echo age,smoker,ward && cut -f 3 curve | tail -n +2 | sed 's/$/,no,A/'; } > rows.csv
        dp-predict -s -H $label.model rows.csv > scores
        /usr/bin/python3 - $label << 'END'
import csv, json, math, sys
curve = list(csv.DictReader(open("curve"), delimiter="\t"))
error = {r["name"]: float(r["noise_error"]) for r in csv.DictReader(open("table"), delimiter="\t")}
column = 1 if sys.argv[1] == "ill" else 0
scores = [float(r[column]) for r in list(csv.reader(open("scores")))]
assert len(curve) == 25 and {r["column"] for r in curve} == {"age"}
edges = [18, 30, 60, 88]
def hats(v):
    return [max(0, 1 - (e - v) / (e - edges[i - 1])) if i and v <= e else
            max(0, 1 - (v - e) / (edges[i + 1] - e)) if i < 3 and v >= e else float(v == e) for i, e in enumerate(edges)]
weight = error["age missing"]
for r, u, j in zip(curve, scores, json.load(open("curve.json"))["curves"][0]["points"]):
    v, effect = float(r["value"]), float(r["effect"])
    assert abs(effect - (u - scores[0])) < 2e-4 * max(1, abs(u)), (r, u)
    want = math.hypot(error["age"] * (v - 18), *(weight * (a - b) for a, b in zip(hats(v), hats(18))))
    assert abs(float(r["noise_error"]) - want) < 1e-6 * weight, (r, want)
    assert abs(float(r["high"]) - effect - 1.959964 * want) < 1e-5 * weight and j["effect"] == effect, r
END
    done
}

@test "products: curves are the mean over the other number, and the page says what they leave out" {
    awk 'BEGIN { srand(3); print "a,b,y"; for (i = 0; i < 2000; i++) { a = rand(); b = rand(); print a "," b "," ((a > .5) == (b > .5) ? "yes" : "no") } }' > t.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > t.json
    dp-import csv -s t.json --basis products -q -o t.dp t.csv
    output t
    dp-info --curves t.model > curve
    # scores over the middles of 16 equal parts of b: each cosine has mean 0 there
    awk -F '\t' 'BEGIN { print "a,b,y" } $2 == "a" { for (i = 0; i < 16; i++) print $3 "," (i + .5) / 16 ",no" }' curve > grid.csv
    dp-predict -s -H t.model grid.csv > scores
    /usr/bin/python3 - << 'END'
import csv
curve = [r for r in csv.DictReader(open("curve"), delimiter="\t") if r["column"] == "a"]
score = [float(r[1]) for r in list(csv.reader(open("scores")))]
mean = [sum(score[i:i + 16]) / 16 for i in range(0, len(score), 16)]
assert len(curve) == 65 == len(mean) and max(score) - min(score) > .5
for r, u in zip(curve, mean):
    assert abs(float(r["effect"]) - (u - mean[0])) < 1e-4, (r, u)
END
    assert_equal "$(dp-info --curves --json t.model | jq .products) $(dp-info -c --tsv t.model | grep -c ' × ')" 'true 4'
    dpline report t.model --text > page
    tr '\n' ' ' < page > line
    grep -qF 'products of two numbers then average to 0, and all categories count alike, unless a curve names one.' line
    output ill
    dpline report ill.model --text > page
    refute grep -q 'Products of two columns' page
}

@test "products with a category: a curve for the mean, and one for each category" {
    awk 'BEGIN { srand(3); print "a,c,y"; for (i = 0; i < 2000; i++) { a = rand(); c = rand() < .5; print a "," (c ? "u" : "v") "," ((a > .5) == c ? "yes" : "no") } }' > t.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "c", "type": "categorical", "categories": ["u", "v"]},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > t.json
    dp-import csv -s t.json --basis products -q -o t.dp t.csv
    output t
    dp-info --curves t.model > curve
    for c in u v; do awk -F '\t' -v c=$c 'NR == 1 { print "a,c,y" } $2 == "a" { print $3 "," c ",no" }' curve > grid-$c.csv && dp-predict -s -H t.model grid-$c.csv > scores-$c; done
    /usr/bin/python3 - << 'END'
import csv, json, subprocess
rows = list(csv.DictReader(open("curve"), delimiter="\t"))
effect = {n: [float(r["effect"]) for r in rows if r["column"] == n] for n in ("a", "a where c=u", "a where c=v")}
score = {c: [float(r[1]) for r in csv.reader(open("scores-" + c))] for c in "uv"}
for c in "uv":
    assert len(score[c]) == 65 and max(score[c]) - min(score[c]) > .5
    for e, s in zip(effect["a where c=" + c], score[c]):
        assert abs(e - (s - score[c][0])) < 1e-4
for m, u, v in zip(effect["a"], effect["a where c=u"], effect["a where c=v"]):
    assert abs(m - (u + v) / 2) < 1e-9
curves = json.loads(subprocess.check_output(["dp-info", "--curves", "--json", "t.model"]))["curves"]
assert [c.get("where") for c in curves] == [None, "c=u", "c=v"]
END
    dpline report t.model -o page.html
    assert_equal "$(grep -c '<title>a where c=' page.html)" 2
    # above the curve in two lines, which the drawing does not cut
    assert_equal "$(grep -o '>a</text><text [^>]*>where c=[uv]</text>' page.html | grep -o 'where c=.' | tr '\n' ' ')" 'where c=u where c=v '
    run ! grep -q ' more, each for one category' page.html
    # more than 60 curves: the page has that of the mean, and says how many it leaves out
    jq '.columns[1].categories += [range(58) | "w\(.)"]' t.json > many.json
    dp-import csv -s many.json --basis products --products 200 -q -f -o t.dp t.csv
    output t
    dpline report t.model -o page.html
    assert_file_contains page.html '60 more, each for one category: <code>dp-info --curves t.model</code>'
    assert_equal "$(grep -c '<title>a' page.html)" 1
}

@test "a model without a basis has no curves" {
    output ill
    complains 1 'dp-info: no column of ill.model has a basis: dp-info --coefficients prints all of the model' dp-info --curves ill.model
}

@test "importance: what each column adds, over cells as the schema has them, by all of their combinations" {
    cat > grid.py << 'END'
import itertools, json, sys
import numpy as np
edges = {"a": [0, .2, .5, 1], "b": [0, 4, 10]}
cells = {c: np.array([e[i] + (k + .5) / 16 * (e[i + 1] - e[i]) for i in range(len(e) - 1) for k in range(16)]) for c, e in edges.items()}
kinds = ["x", "y", "z"]
shape = len(cells["a"]), len(cells["b"]), 3
if sys.argv[1] == "table":
    print("a,b,c,d")
    for a, b, c in itertools.product(cells["a"], cells["b"], kinds):
        print(f"{float(a)!r},{float(b)!r},{c},no")
    sys.exit()
known = json.load(open("known"))
X, about = np.load("grid.dp/X.npy").astype(float), json.load(open("grid.dp/dataset.json"))
length = about["row_divisor"] * np.sqrt((X ** 2).sum(1).mean()) if sys.argv[1] == "unit" else 1
assert abs(known["usual"]["norm"] - length) < 1e-4, (known["usual"], length)
if sys.argv[1] == "unit":
    sys.exit()
scores = np.loadtxt("scores", delimiter=",", ndmin=2, usecols=range(1, 1 + int(sys.argv[2])))
parts = np.zeros(3)
scores = scores.reshape(*shape, -1)
mean = scores.mean((0, 1, 2))
assert np.allclose(known["usual"]["scores"], mean, rtol=1e-6, atol=1e-6), (known["usual"], mean)
if scores.shape[-1] > 1:
    scores = scores - scores.mean(-1, keepdims=True)
    mean = scores.mean((0, 1, 2))
main = [scores.mean(tuple(j for j in range(3) if j != i), keepdims=True) - mean for i in range(3)]
both = scores.mean(2, keepdims=True) - mean - main[0] - main[1]
assert abs(scores - mean - sum(main) - both).max() < 1e-5 and abs(both).max() > 1e-3
for i in range(3):
    parts[i] = (main[i] ** 2).mean((0, 1, 2)).sum() + (both ** 2).mean((0, 1, 2)).sum() / 4 * (i < 2)
assert [one["column"] for one in known["importance"]] == ["a", "b", "c"]
assert np.allclose([one["share"] for one in known["importance"]], parts / parts.sum(), atol=1e-5), (known["importance"], parts)
assert not known["usual"]["released"] and parts.min() > .01 * parts.max()
END
    awk 'BEGIN { srand(3); print "a,b,c,d"; for (i = 0; i < 2000; i++) { a = rand(); b = 10 * rand(); c = substr("xyz", 1 + int(3 * rand()), 1); u = a + b / 9 + (c == "y") + rand()
        print a "," b "," c "," ((a > .5) == (b > 5) && c != "y" ? "no" : u > 1.5 ? "yes" : "never") } }' > t.csv
    local classes='"no", ["yes", "never"]'
    for classes in '"no", ["yes", "never"]' '"no", "yes", "never"'; do
        echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1], "basis": "cosines", "knots": [0.2, 0.5]},
            {"name": "b", "type": "numeric", "bounds": [0, 10], "basis": "cosines", "knots": [4]}, {"name": "c", "type": "categorical", "categories": ["x", "y", "z"]},
            {"name": "d", "type": "label", "classes": ['"$classes"']}]}' > t.json
        /usr/bin/python3 grid.py table > grid.csv
        dp-import csv -s t.json --basis products --products 4 -q -f -o grid.dp grid.csv
        for norm in bounds unit; do
            dp-import csv -s t.json --basis products --products 4 --row-norm $norm -q -f -o t.dp t.csv
            dpline sgd --data t.dp --epochs 3 --seed 1 -q -o $norm.model
            dp-info -c --json $norm.model > known
            dp-predict -s -H $norm.model grid.csv > scores
            /usr/bin/python3 grid.py $norm "$(head -1 scores | tr -cd , | wc -c)"
        done
    done
}

@test "importance: by released moments, as NumPy has them, near what the rows have" {
    awk 'BEGIN { srand(5); print "a,b,c,d"; for (i = 0; i < 6000; i++) { a = rand() ^ 3; b = 10 * rand(); c = rand() < .8 ? "x" : "y"
        print a "," b "," c "," (4 * a + (c == "y") + rand() > 2 ? "no" : "yes") } }' > t.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [0, 10]},
        {"name": "c", "type": "categorical", "categories": ["x", "y"]}, {"name": "d", "type": "label", "classes": ["no", "yes"]}]}' > t.json
    dp-import csv -s t.json --row-norm unit --basis products -q -o t.dp t.csv
    dpline fit t.dp --epsilon 3 --delta 1e-6 --seed 4 --no-ledger -q -o t.model 2> /dev/null
    dp-info -c --json t.model > known
    dp-cat --last --full t.model > model
    /usr/bin/python3 - << 'END'
import json
import numpy as np
known, names = json.load(open("known")), json.load(open("t.dp/dataset.json"))["names"]
model = json.loads(open("model").readline())
def array(name):
    return np.reshape(model[name]["values"], model[name]["shape"])
w, T, n = model["scale"] * array("average" if "average" in model else "model").ravel(), array("transform"), len(names)
assert T.shape == (n, n) and names[-1] == "bias", (T.shape, names)
g, v = np.linalg.eigh(T.T @ T)
M = (v * np.where(g.max() > 4 * g, 1 / g - 1 / g.max(), 0)) @ v.T
F = np.load("t.dp/X.npy").astype(float)
F /= F[:, -1:]
def shares(M):
    m, parts = M[:, -1] / M[-1, -1], {}
    for name in "abc":
        u = np.array([x * sum(part.split("=")[0].split(" ")[0] == name for part in one.split(" × ")) / (1 + ("×" in one)) for x, one in zip(w, names)])
        parts[name] = u @ (M / M[-1, -1] - np.outer(m, m)) @ u
    return np.array(list(parts.values())) / sum(parts.values()), np.sqrt(np.trace(M) / M[-1, -1]), w @ m
got = np.array([one["share"] for one in known["importance"]])
want, length, mean = shares(M)
assert known["usual"]["released"] and np.allclose(got, want, atol=1e-6), (got, want)
assert np.allclose([known["usual"]["norm"], known["usual"]["scores"][0] * length], [length, mean], rtol=1e-6), (known["usual"], length, mean)
truth, length, _ = shares(F.T @ F)
assert abs(got - truth).max() < .05 and abs(known["usual"]["norm"] / length - 1) < .1, (got, truth, known["usual"], length)
END
}
