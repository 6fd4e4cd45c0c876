# The examples of rows that arrive once: a model of one pass, and running totals with their intervals.
load helper

prepare() {
    awk 'BEGIN { srand(2); print "age,visits,job,y"; for (i = 0; i < 8192; i++) {
        a = int(20 + 60 * rand()); printf "%d,%d,%s,%d\n", a, 10 * rand(), (rand() < 0.25 ? "cook" : "nurse"), (a > 50) } }' > t.csv
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [0, 100]}, {"name": "visits", "type": "numeric", "bounds": [0, 10]},
        {"name": "job", "type": "categorical", "categories": ["cook", "nurse"]}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > s.json
}

# Each error is within three times its 95 percent margin: true noise is not once in 2e8.
@test "totals.py: means of columns are within their intervals, which shrink like those of correlated noise" {
    dp-import csv t.csv --schema s.json --out rows -q
    "$ROOT/examples/streams/totals.py" laps 40 | dp-window --rows rows --size 200 | dp-moments | dp-noise -z 4 --correlated 40 |
        dp-account --epsilon 2 --delta 1e-5 --no-ledger 2> said > released
    "$ROOT/examples/streams/totals.py" table < released > totals
    /usr/bin/python3 - << 'END'
import csv, math
rows = list(csv.DictReader(open("t.csv")))
value = {"age": lambda r: float(r["age"]), "visits": lambda r: float(r["visits"]),
         "job=cook": lambda r: r["job"] == "cook", "job=nurse": lambda r: r["job"] == "nurse"}
totals = list(csv.DictReader(open("totals")))
assert len(totals) == 160
for t in totals:
    x = [value[t["column"]](r) for r in rows[:int(t["rows"])]]
    assert abs(sum(x) / len(x) - float(t["mean"])) < 3 * float(t["margin"]), t
    assert abs(sum(x[-200:]) / 200 - float(t["window_mean"])) < 3 * float(t["window_margin"]), t
# the total of 40 windows has |c|^2 times the noise of the bound, where independent noise has the root of 40
norm2 = sum((math.comb(2 * k, k) / 4**k) ** 2 for k in range(40))
margin = 1.96 * 4 * 4 * 100 / math.sqrt(2) * norm2 / 8000
assert abs(float(totals[156]["margin"]) / margin - 1) < 1e-3, (totals[156], margin)
END
    "$ROOT/examples/streams/totals.py" table age < released > age.svg
    /usr/bin/python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("age.svg")'
    complains 1 "totals.py: no column height" "$ROOT/examples/streams/totals.py" table height < released
}

@test "one-pass.sh: a model of rows that come once" {
    NO_LEDGER=yes "$ROOT/examples/streams/one-pass.sh" s.json 8192 3 < t.csv > model
    dp-import csv t.csv --schema s.json -q -o t.dp
    dp-eval --data t.dp --metrics auc --last --in model 2> said | awk 'END { exit !($3 > 0.8) }'
    run -2 "$ROOT/examples/streams/one-pass.sh" s.json
    assert_line --index 0 "Trains a linear model on rows that arrive once: one-pass.sh SCHEMA ROWS [EPSILON] < TABLE.csv > MODEL"
}
