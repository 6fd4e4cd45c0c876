# dp-temperature and dp-step --temperature: one factor on all scores of a model, against NumPy.
load helper
load variants

python() { PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 -c "import math, sys, numpy as np, frames"$'\n'"$1" "${@:2}"; }

GATE='dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded'

# train DATA LOSS PLAN [MORE]: a seeded run; the frames right of dp-temperature are in sums, the model's stream in stream
train() {
    dp-loop -q --plan "$3" --seed 2 --exec processes -o model -- "dp-sample --data $1 --mode full |
        dp-grad --on descent --data $1 --loss $2 --clip 1 --intercept 0.5 --scale 0.7 |
        dp-temperature --on temperature --data $1 ${*:4} | tee sums | dp-noise --on descent -z 0.5 |
        dp-noise --on temperature -z 0.5 | $GATE | dp-step --on descent --step 2 --average tail |
        dp-step --on temperature --temperature" > stream
}

# check DATA BOUND: each sum of temperatures is that of NumPy, no person moves it by more than the bound, and the model moves as the page says
check() {
    python '
path, bound = sys.argv[1], float(sys.argv[2])
x, y = np.load(path + "/X.npy").astype(float), np.load(path + "/y.npy").astype(int)
x = np.hstack([x, np.full((len(x), 1), 0.5)])
start = np.load(path + "/persons.npy") if len(sys.argv) > 3 else np.arange(len(x) + 1)
grid, turn, before = 2.0 ** (math.floor(math.log2(bound)) - 20), 0, None
for raw, after in zip(frames.laps("sums"), frames.laps("stream"), strict=True):
    if raw["lap_kind"] == "temperature":
        turn += 1
        w = 0.7 * raw["average"]
        u = x @ w.T
        if len(w) == 1:
            u = np.hstack([-u / 2, u / 2])
        p = np.exp(u - u.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        mean = (p * u).sum(1)
        pairs = np.array([(mean - u[np.arange(len(y)), y]) / 3, (p * (u - mean[:, None]) ** 2).sum(1) / 9]).T
        total, clipped = np.zeros(2), 0
        for a, b in zip(start[:-1], start[1:]):
            v = pairs[a:b].sum(0)
            size = math.hypot(*v)
            clipped += size > bound
            total += np.trunc(v * min(1, bound / size) / grid) if size else 0
        assert np.abs(raw["sum"][0] - total).max() <= 1 + clipped, (raw["sum"], total) # a person who is clipped may round otherwise
        assert 0 < clipped < len(start) - 1, clipped
        assert raw["grid"] == grid and raw["bound"] == bound
        g, h = (None, None)
        factor = after["average"] / raw["average"]
        assert np.ptp(factor) < 1e-12 and 0.5 <= factor[0, 0] <= 2 and abs(factor[0, 0] - 1) > 1e-6, factor
        g, h = (np.array(raw["sum"][0]) * grid / len(y)).tolist()
        about = 1 - g / max(h, 0.01) / 3 * min(1, 2 / turn) # but for the noise
        assert abs(factor[0, 0] / min(max(about, 0.5), 2) - 1) < 0.05, (factor[0, 0], about)
        assert (after["model"] == raw["model"]).all() and "sum" not in after and "bound" not in after
assert turn == 3' "$@"
}

@test "the sum is that of NumPy, and the average moves by the factor: two classes, and four" {
    dp-synth classification --rows 400 --cols 5 --seed 3 -o two.dp -q
    dp-synth classification --rows 400 --cols 5 --classes 4 --seed 3 -o four.dp -q
    train two.dp logistic 'descent 30, temperature 3' --clip 0.15
    check two.dp 0.15
    train four.dp softmax 'descent 30, temperature 3' --clip 0.2 --threads 3
    check four.dp 0.2
}

@test "rows of a person are clipped as one vector" {
    dp-synth classification --rows 400 --cols 5 --classes 4 --rows-per-person 4 --seed 3 -o four.dp -q
    train four.dp softmax 'descent 30, temperature 3' --clip 0.6 --threads 2
    check four.dp 0.6 persons
}

@test "of a network the last layer moves, which makes the scores" {
    dp-synth classification --rows 400 --cols 5 --classes 3 --seed 3 -o three.dp -q
    dp-loop -q --plan 'descent 20, temperature 3' --seed 2 --exec processes -- "dp-sample --data three.dp --mode full |
        dp-net-grad --on descent --data three.dp --network '5; fc 4 tanh; fc 3' --loss softmax --clip 1 |
        dp-temperature --on temperature --data three.dp | tee sums | dp-noise -z 0.5 | $GATE |
        dp-step --on descent --step 1 | dp-step --on temperature --temperature" > stream
    python '
for raw, after in list(zip(frames.laps("sums"), frames.laps("stream"), strict=True))[-3:]:
    before, model = raw["model"][0], after["model"][0]
    factor = model[24:] / before[24:]
    assert (model[:24] == before[:24]).all() and np.ptp(factor) < 1e-12 and abs(factor[0] - 1) > 1e-6, factor'
}

# The bound of a person must hold for any row, and for any model.
@test "no row moves the sum by more than the bound, and a row without a class or with an entry that is not finite adds nothing" {
    dp-synth classification --rows 40 --cols 3 --classes 3 --seed 3 -o three.dp -q
    filter hostile '
if frame["kind"] == "lap":
    w = [1.0, -3, 2, 8, 0, 1, -5, 0.5, 9] if len(sys.argv) < 4 else [1e30] * 3 + [-1e300] * 3 + [3e200] * 3
    frame.update(model=msgpack.ExtType(1, struct.pack("<BBQQ9d", 2, 2, 3, 3, *w)), method="gradient", family="linear", loss="softmax", scale=1.0)
    nan, inf = float("nan"), float("inf")
    rows = [[1, 0, 0], [0, 0.5, 0.5], [1e30, 1e30, -1e30], [-3e38, 3e38, 3e38], [nan, 0, 0], [inf, 0, 1], [0, 0, 0], [1e-40, 1e-45, 0],
            [1000, 0, 0], [-1000, 5, 7], [1, 1, 1], [1, 1, 1]]
    labels = [0, 1, 2, 0, 1, 2, 0, 1, 2, 2, 7, nan]
    n = int(sys.argv[1])
    pick = range(len(rows)) if n < 0 else [i for i in range(len(rows)) if i != n] if sys.argv[2] == "without" else [n]
    if "X" in frame:
        frame["X"] = msgpack.ExtType(1, struct.pack("<BBQQ%df" % (3 * len(pick)), 1, 2, len(pick), 3, *[v for i in pick for v in rows[i]]))
        frame["rows"] = msgpack.ExtType(1, struct.pack("<BBQ%dq" % len(pick), 4, 1, len(pick), *pick))
        frame["y"] = msgpack.ExtType(1, struct.pack("<BBQ%dd" % len(pick), 2, 1, len(pick), *[labels[i] for i in pick]))'
    for model in '' large; do
        : > each
        for row in -1 $(seq 0 11); do
            dp-loop -q --laps 1 --seed 1 --exec processes -- "dp-sample --data three.dp --rate 0.5 --inline | ./hostile $row without $model |
                dp-temperature --clip 0.3 | tee part | dp-noise -z 1 | $GATE | dp-step --temperature" > /dev/null 2>&1 || true
            python 'print(*frames.laps("part")[0]["sum"][0])' >> each
        done
        [ "$(wc -l < each)" = 13 ]
        run awk -v bound="$(calculate '0.3 * 2^22')" 'NR == 1 { g = $1; h = $2; next }
            { d = (g - $1)^2 + (h - $2)^2; if (d > bound^2) bad++; if (d > (0.99 * bound)^2) near++; if (d == 0) same = same " " NR - 2 }
            END { print bad + 0, (near > 0) same }' each
        assert_output --regexp '^0 1.* 4 5 6.* 10 11$'
    done
}

@test "a factor finds what is lost: scores that are too large, and too small" {
    dp-synth classification --rows 3000 --cols 5 --classes 3 --seed 3 -o three.dp --test test.dp -q
    local start="dp-sample --data three.dp --mode full | dp-grad --data three.dp --loss softmax --clip 1 | dp-noise -z 0.5 | $GATE | dp-step --step 4"
    dp-loop -q --laps 60 --seed 1 -o good -- "$start" > /dev/null
    loss() { dp-eval --metrics logloss --data test.dp --last --in "$1" | awk 'NR == 2 { print $3 }'; }
    for times in 0.2 4; do
        filter times "
if frame['kind'] == 'lap' and frame['lap'] == 60:
    data = frame['model'].data
    count = (len(data) - 18) // 8
    values = struct.unpack_from('<%dd' % count, data, 18)
    frame['model'] = msgpack.ExtType(1, data[:18] + struct.pack('<%dd' % count, *[$times * v for v in values]))"
        dp-loop -q --plan 'descent 60, temperature 6' --seed 1 -o found -- "dp-sample --data three.dp --mode full |
            dp-grad --on descent --data three.dp --loss softmax --clip 1 | dp-temperature --on temperature --data three.dp | dp-noise -z 0.5 | $GATE |
            dp-step --on descent --step 4 | ./times | dp-step --on temperature --temperature" > stream
        above "$(calculate "$(loss good) * 1.02")" "$(loss found)"
    done
}

@test "bad input" {
    small_data
    local token='dp-sample --data small.dp --mode full' end="dp-noise -z 9 | $GATE | dp-step"
    grad='dp-grad --data small.dp --on a --loss' temperature='dp-temperature --data small.dp --on b'
    complains 2 "dp-temperature: --clip: 1e-300 has no grid" dp-temperature --clip 1e-300
    complains 1 "dp-temperature: lap 1 has no model yet: its temperature comes after the laps that train it" \
        dp-loop -q --laps 1 --seed 1 -- "$token | dp-temperature --data small.dp | $end --temperature"
    complains 2 "dp-step: the sums of laps are of dp-temperature: --temperature takes them" \
        dp-loop -q --laps 1 --seed 1 -- "$token | dp-temperature --data small.dp | $end --step 1"
    complains 2 "dp-step: --temperature is for the sums of dp-temperature; laps release others" \
        dp-loop -q --laps 1 --seed 1 -- "$token | dp-grad --data small.dp --loss logistic --clip 1 | $end --temperature"
    complains 1 "dp-temperature: a model of the loss 'huberised-hinge' gives no probabilities, which a temperature is for" \
        dp-loop -q --plan 'a, b' --seed 1 -o model -- "$token | $grad huberised-hinge --clip 1 | $temperature | $end --on a --step 1 | dp-step --on b --temperature"
    dp-synth regression --rows 60 --cols 3 --seed 1 -o numbers.dp -q # before anything is paid for
    complains 1 "dp-temperature: the labels of numbers.dp are numbers, and a temperature is for probabilities" \
        dp-loop -q --plan 'a, b' --seed 1 -o model -- "${token/small/numbers} | ${grad/small/numbers} squared --clip 1 | ${temperature/small/numbers} | $end --on a --step 1 | dp-step --on b --temperature"
    filter forge '
if frame["kind"] == "lap" and frame["lap"] == 2:
    frame["average"] = msgpack.ExtType(1, struct.pack("<BBQ3f", 1, 1, 3, 1, 2, 3))'
    complains 1 "dp-step: 'average' of lap 2 does not have the shape of the model" \
        dp-loop -q --plan 'a, b' --seed 1 -- "$token | $grad logistic --clip 1 | $temperature | $end --on a --step 1 | ./forge | dp-step --on b --temperature"
    complains 1 "dp-loop: no stage of the child pipeline takes the sum: put dp-step after dp-account (a stage of your own says in its hello frame what it has taken)" \
        dp-loop -q --plan 'a, b' --seed 1 -o model -- "$token | $grad logistic --clip 1 | $temperature | $end --on a --step 1"
}
