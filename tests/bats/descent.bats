# dp-scd-step --variant non-private: a solver whose duality gap is a certificate.
load helper

prepare() {
    dp-synth classification --rows 3000 --cols 30 --seed 3 -o two.dp -q
    dp-synth classification --rows 3000 --cols 30 --seed 3 --storage csr -o sparse.dp -q
    dp-synth classification --rows 900 --cols 9 --classes 4 --seed 4 -o four.dp -q
    dp-synth regression --rows 900 --cols 9 --seed 5 -o real.dp -q
}

above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 > b + 0) }'; } # above A B: A > B

# descend DATA LOSS LAMBDA GAP LAPS [options of dp-loop]: leaves model and stream
descend() {
    local data=$1 loss=$2 lambda=$3 gap=$4 laps=$5
    shift 5
    dp-loop -q --laps "$laps" --stop-gap "$gap" --seed 1 "$@" -o model -- "dp-sample --data $data --mode full |
        dp-scd-step --data $data --loss $loss --lambda $lambda --variant non-private | dp-account --non-private --allow-seeded | dp-step" > stream
    gap_reached=$(dp-info --get gap model)
    above "$gap" "$gap_reached"
}

@test "losses that dp-erm can minimise: its objective is within the gap" {
    local objective minimum data loss
    for loss in squared logistic smooth-hinge huber; do
        for data in two.dp four.dp real.dp; do
            case $loss-$data in logistic-real.dp | smooth-hinge-real.dp) continue ;; esac
            descend $data $loss 1e-3 1e-8 400
            objective=$(dp-info --get objective model)
            dp-loop -q --laps 1 -o least -- "dp-sample --data $data --mode full | dp-erm --data $data --loss $loss --lambda 1e-3 --loss-width 1 --tolerance 1e-7 --non-private |
                dp-account --non-private | dp-step" > /dev/null
            minimum=$(dp-eval --private-data --data $data --metrics objective -i least | tail -n 1 | cut -f 3)
            /usr/bin/python3 -c '
import sys
objective, gap, minimum = map(float, sys.argv[1:])
assert objective - gap - 1e-12 <= minimum <= objective + 1e-12, sys.argv' "$objective" "$gap_reached" "$minimum"
        done
    done
}

@test "hinge: the objective is that of the weights, and no weights have one below objective - gap" {
    descend two.dp hinge 1e-4 1e-6 100
    dp-info --get model model > weights
    dp-info --get scale model > scale
    /usr/bin/python3 - "$(dp-info --get objective model)" "$gap_reached" << 'END'
import numpy as np, sys
objective, gap = map(float, sys.argv[1:])
X, y = np.load("two.dp/X.npy").astype(float), 2 * np.load("two.dp/y.npy") - 1
def P(w): return np.maximum(0, 1 - y * (X @ w)).mean() + 1e-4 / 2 * w @ w
w = np.loadtxt("weights") * float(open("scale").read())
assert abs(P(w) - objective) < 1e-12, (P(w), objective)
rng = np.random.default_rng(1)
best = w
for step in 10.0 ** rng.uniform(-7, 0, 3000): # the lowest of a random search from there
    other = best + step * rng.standard_normal(len(w))
    best = other if P(other) < P(best) else best
assert objective - gap <= P(best) <= objective, (P(best), objective, gap)
END
}

@test "hinge: liblinear's objective is within the gap" {
    command -v liblinear-train > /dev/null || skip "needs liblinear-tools"
    /usr/bin/python3 - << 'END'
import numpy as np
X, y = np.load("two.dp/X.npy"), 2 * np.load("two.dp/y.npy") - 1
for a, b in zip(X, y):
    print("%+d" % b, *("%d:%.9g" % (j + 1, v) for j, v in enumerate(a) if v != 0), file=open("two.svm", "a"))
END
    descend two.dp hinge 1e-4 1e-6 100
    liblinear-train -q -s 3 -e 1e-4 -c "$(awk 'BEGIN { print 1 / (1e-4 * 3000) }')" two.svm peer
    /usr/bin/python3 - "$(dp-info --get objective model)" "$gap_reached" << 'END'
import numpy as np, sys
objective, gap = map(float, sys.argv[1:])
lines = open("peer").read().splitlines()
w = np.array([float(v) for v in lines[lines.index("w") + 1:] if v])
w *= 1 if next(l for l in lines if l.startswith("label")).split()[1] == "1" else -1
X, y = np.load("two.dp/X.npy").astype(float), 2 * np.load("two.dp/y.npy") - 1
peer = np.maximum(0, 1 - y * (X @ w)).mean() + 1e-4 / 2 * w @ w
assert objective - gap <= peer < objective + 1e-4, (peer, objective, gap)
END
}

@test "rows that cannot move are left out, and come back" {
    descend sparse.dp hinge 1e-4 1e-6 9
    descend sparse.dp smooth-hinge 1e-4 1e-7 6
    descend sparse.dp hinge 1e-5 1e-4 12
}

@test "sparse = dense, and the order in which rows come is of no matter" {
    descend two.dp hinge 1e-4 1e-6 100
    mv model dense
    descend sparse.dp hinge 1e-4 1e-6 100
    dp-cmp --weights-only dense model
    dp-loop -q --laps 100 --stop-gap 1e-6 --seed 1 -o shuffled -- "dp-sample --data sparse.dp --mode shuffle --inline |
        dp-scd-step --loss hinge --lambda 1e-4 --variant non-private | dp-account --non-private --allow-seeded | dp-step" > /dev/null
    dp-cmp --weights-only dense shuffled
    assert_equal "$(dp-info --get gap shuffled)" "$(dp-info --get gap dense)"
}

@test "a run that begins with a model ends at the optimum all the same" {
    descend two.dp hinge 1e-3 1e-7 100
    local objective
    objective=$(dp-info --get objective model)
    descend two.dp hinge 1e-3 1 1
    mv model other
    descend two.dp hinge 1e-3 1e-7 100 --init other
    above 1e-7 "$(awk "BEGIN { d = $objective - $(dp-info --get objective model); print d < 0 ? -d : d }")"
}

@test "--gap-every: a certificate in every so many laps, and in the last" {
    dp-loop -q --laps 5 --seed 1 -o model -- "dp-sample --data two.dp --mode full |
        dp-scd-step --data two.dp --loss hinge --lambda 1e-6 --variant non-private --gap-every 2 | dp-account --non-private --allow-seeded | dp-step" > stream
    assert_equal "$(dp-cat --kind lap stream | jq -c 'has("gap")' | tr '\n' ' ')" "false true false true true "
    dp-cat --last --full model | jq -c .model.values > every
    dp-loop -q --laps 5 --seed 1 -o model -- "dp-sample --data two.dp --mode full |
        dp-scd-step --data two.dp --loss hinge --lambda 1e-6 --variant non-private | dp-account --non-private --allow-seeded | dp-step" > stream
    dp-cat --last --full model | jq -c .model.values | cmp - every
}

@test "batches of some rows have one pass each, and no certificate" {
    dp-loop -q --laps 200 --seed 1 -o model -- "dp-sample --data two.dp --rate 0.2 |
        dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --variant non-private | dp-account --non-private --allow-seeded | dp-step" > stream
    assert_equal "$(dp-cat --kind lap stream | jq -c 'has("gap")' | sort -u)" false
    local reached
    reached=$(dp-eval --private-data --data two.dp --metrics objective -i model | tail -n 1 | cut -f 3)
    descend two.dp hinge 1e-3 1e-6 100
    above "$(awk "BEGIN { print $(dp-info --get objective model) * 1.01 }")" "$reached"
}

@test "such a lap goes over each row of its batch once, in some order (against NumPy)" {
    dp-synth regression --rows 8 --cols 3 --seed 5 -o few.dp -q
    dp-loop -q --laps 4 --seed 1 --exec processes -- "dp-sample --data few.dp --rate 0.6 | tee raw.frames |
        dp-scd-step --data few.dp --loss squared --lambda 0.05 --variant non-private | dp-account --non-private --allow-seeded | dp-step" > stream
    PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 - << 'END'
import frames, itertools, numpy as np
X, y = np.load("few.dp/X.npy").astype(float), np.load("few.dp/y.npy")
def passes(alpha, v, rows): # the maximum of the dual in one coordinate after the other; weights are v / (lambda N)
    alpha, v = alpha.copy(), v.copy()
    for i in rows:
        step = (y[i] - X[i] @ v / 0.4 - alpha[i]) / (1 + X[i] @ X[i] / 0.4)
        alpha[i] += step
        v += step * X[i]
    return alpha, v
alpha, v = np.zeros(8), np.zeros(3)
for raw, released in zip(frames.laps("raw.frames"), frames.laps("stream")):
    rows, model = list(raw["rows"]), released["model"][0]
    assert 1 < len(rows) < 8
    orders = list(itertools.permutations(rows))
    once = [passes(alpha, v, order) for order in orders]
    away = [abs(after - model).max() for _, after in once]
    twice = min(abs(passes(alpha, v, order + order)[1] - model).max() for order in orders)
    assert min(away) < 1e-12 and twice > 1e-6, (released["lap"], min(away), twice)
    alpha, v = once[int(np.argmin(away))]
END
}

@test "rows are gone over in random order, that of the seed" {
    weights() { # SEED MODE
        dp-loop -q --laps 1 --seed "$1" -o model -- "dp-sample --data two.dp $2 | dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --variant non-private |
            dp-account --non-private --allow-seeded | dp-step" > /dev/null
        dp-info --get model model
    }
    assert_equal "$(weights 1 '--mode full')" "$(weights 1 '--mode full')"
    [ "$(weights 1 '--mode full')" != "$(weights 2 '--mode full')" ]
}
