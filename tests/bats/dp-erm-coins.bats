# dp-erm --method coins: its batches and steps, how far one person moves the result for each set of coins, charges, refusals.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o two.dp -q
    dp-synth regression --rows 300 --cols 5 --seed 5 -o real.dp -q
}

# pipeline DATA OPTIONS: leaves the bounded frames in bounded
pipeline() {
    echo "dp-sample --data $1 --mode full | dp-erm --data $1 --method coins $2 | tee ${OUT:-bounded} | dp-noise --multiplier ${Z:-1e-3} |
        dp-account --epsilon ${EPSILON:-1e300} --delta 1e-5 --no-ledger --allow-seeded | dp-step"
}
coins() { dp-loop -q --laps "${LAPS:-1}" --seed "${SEED:-1}" -o model -- "$(pipeline "$@")" > stream; }

@test "usage" {
    complains 1 "dp-erm: --batch: must be at most the 300 rows, got 301" dp-loop -q --laps 1 -- "$(pipeline two.dp '--loss logistic --passes 1 --batch 301')"
    complains 1 "dp-erm: rounding may move the model of lap 1 by more than 2^-10 of what one draw does: fewer steps, larger ones, smaller batches, or a start nearer to 0" \
        dp-loop -q --laps 1 -- "$(pipeline two.dp '--loss logistic --passes 1 --batch 300 --step 1e-20')"
}

@test "coins that are certain make a descent; others draw as many rows as they should, anew in each step and lap" {
    coins two.dp '--loss logistic --lambda 1e-2 --passes 7 --batch 300'
    dp-loop -q --laps 1 --seed 1 -o model -- "dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --lambda 1e-2 --method descent --iterations 7 --step 3.8461 |
        tee descent | dp-noise -z 1 | dp-account --epsilon 1e9 --delta 1e-5 --no-ledger --allow-seeded | dp-step" > stream
    python 'a, b = frames.laps("bounded")[0], frames.laps("descent")[0]
d, R = abs(a["sum"] * a["grid"] - b["sum"] * b["grid"]).max(), a["records"][0]
assert d < 1e-4 and R["rate"] == 1 and R["draws"] == 7 and R["sampler"] == "repeated", (d, R)
beta = (1 + 2.0 ** -20) ** 2 / 4 + 0.01
assert abs(R["bound"] * 300 * beta / (1 + 2.0 ** -20) - 1) < 1e-9 and abs(R["contraction"] - (1 - 0.01 / beta)) < 1e-12'
    # Huber, all beyond its width, without a regulariser: a step of B eta adds up the rows that it drew, and nothing else
    python "x = numpy.zeros((300, 5), 'f4'); x[numpy.arange(300), 0] = 1; numpy.save('real.dp/X.npy', x); numpy.save('real.dp/y.npy', numpy.full(300, 1e6))"
    LAPS=40 Z=1e-9 coins real.dp '--loss huber --passes 3 --batch 20 --step 1'
    python 'drawn = [(f["sum"][0, 0] + 1) * f["grid"] * 20 for f in frames.laps("bounded")]
n, q = 45 * 300, 20 / 300
deviation = (n * q * (1 - q)) ** .5
assert len(set(map(round, drawn))) > 10 and all(abs(d - round(d)) < 1e-3 for d in drawn)
assert abs(numpy.mean(drawn) - n * q) < 6 * deviation / 40 ** .5 and 0.5 < numpy.std(drawn) / deviation < 1.6, (numpy.mean(drawn), numpy.std(drawn))'
}

@test "a batch is divided by more than B where its curvature would be too large for the step" {
    # slopes of 1 and no regulariser: a step adds eta m/max(1, m/kappa), kappa = 2/eta, for the m rows that it drew
    python "x = numpy.zeros((300, 5), 'f4'); x[:, 0] = 1; numpy.save('real.dp/X.npy', x); numpy.save('real.dp/y.npy', numpy.full(300, 1e6))"
    LAPS=20 Z=1e-9 coins real.dp '--loss huber --passes 2 --batch 1 --step 1.9'
    python 'import math
went = [f["sum"][0, 0] * f["grid"] for f in frames.laps("bounded")]
p = [math.comb(300, m) * (1 / 300) ** m * (299 / 300) ** (300 - m) for m in range(30)]
each = [min(1.9 * m, 2) for m in range(30)]
mean = sum(a * b for a, b in zip(p, each))
deviation = (sum(a * b * b for a, b in zip(p, each)) - mean ** 2) ** .5
assert abs(numpy.mean(went) / 600 - mean) < 6 * deviation / (20 * 600) ** .5, (numpy.mean(went) / 600, mean)'
}

@test "one person moves the result by at most S(J) times the bound, for each J, and by that where nothing bends" {
    local how='--lambda 0.05 --passes 4 --batch 10 --step 0.9'
    # flat: slopes are constant, and one row is present or not; only the coins of this row determine the distance of two runs
    rows() { python "name, row, left = sys.argv[1:]
x, y = numpy.load('real.dp/X.npy') * 0, numpy.full(300, 1e6)
x[:, 1] = 0.5
x[17] = [float(row), 0, 0, 0, 0] if row != 'along' else [0, 1, 0, 0, 0]
if name == 'bent': y = numpy.where(numpy.arange(300) % 2, 0.3, -0.3); y[17] = 3
numpy.save(left + '/X.npy', x.astype('f4')); numpy.save(left + '/y.npy', y)" "$@"; }
    cp -r real.dp with.dp
    cp -r real.dp without.dp
    both() { # NAME ROW: the frames of 12 seeds with the row, and without it
        rows "$1" "$2" with.dp
        rows "$1" 0 without.dp
        for seed in $(seq 12); do
            for side in with without; do SEED=$seed OUT=$1-$2-$side-$seed coins $side.dp "--loss huber --loss-width 0.4 $how"; done
        done
    }
    both flat 1
    both bent 1
    both bent along
    python 'T, rho, q = 120, 1 - .9 * .05, 10 / 300
def apart(name):
    out = []
    for seed in range(1, 13):
        a, b = (frames.laps("%s-%s-%d" % (name, side, seed))[0] for side in ("with", "without"))
        assert a["bound"] == b["bound"] and abs(a["records"][0]["contraction"] - rho) < 1e-12 and a["records"][0]["draws"] == T
        out.append(numpy.linalg.norm((a["sum"] - b["sum"]) * a["grid"]) / a["bound"])
    return numpy.array(out)
S = apart("flat-1")
mean, deviation = q * (1 - rho ** T) / (1 - rho), (q * (1 - q) * (1 - rho ** (2 * T)) / (1 - rho ** 2)) ** .5
assert abs(S.mean() - mean) < 5 * deviation / 12 ** .5 and len(set(S.round(6))) > 8, (S.mean(), mean)
# its row is orthogonal to all others, and only the regulariser limits its effect: the bound is reached
assert abs(apart("bent-1") - S).max() < 1e-4
d = apart("bent-along")
assert (d <= S + 2.0 ** -10).all() and (d < 0.9 * S).any(), (d, S)'
}

@test "the gate charges the draws, as the calculator does, and Gaussian noise alone" {
    Z=5 EPSILON=10 coins two.dp '--loss logistic --lambda 1e-2 --passes 5 --batch 20'
    python 'lap = frames.laps("stream")[0]; R = lap["records"][0]
print(lap["epsilon"], R["rate"], R["draws"], R["contraction"])' > said
    read -r epsilon rate draws contraction < said
    awk -v a="$(dp-account epsilon -z 5 --delta 1e-5 --sampler repeated --rate "$rate" --draws "$draws" --contraction "$contraction")" -v b="$epsilon" \
        'BEGIN { exit !(a / b < 1.00001 && b / a < 1.00001) }' || fail "$epsilon"
    dp-cat stream | sed 's/"seeded":true/"seeded":false/' > run.json
    awk -v a="$(dp-account epsilon --delta 1e-5 run.json)" -v b="$epsilon" 'BEGIN { exit !(a / b < 1.00001 && b / a < 1.00001) }'
    run dp-loop -q --laps 1 --seed 1 -- "$(Z=5 EPSILON=1.3 pipeline two.dp '--loss logistic --lambda 1e-2 --passes 5 --batch 20')"
    assert_equal "$status" 3
    complains 5 "dp-account: draws within a lap have an accountant only with Gaussian noise, not with gamma" \
        dp-loop -q --laps 1 -- "$(pipeline two.dp '--loss logistic --lambda 1e-2 --passes 5 --batch 20' | sed 's/--multiplier/--noise gamma --multiplier/')"
    # a record has everything that is charged
    dp-loop -q --laps 1 --seed 1 -- "$(Z=5 EPSILON=10 pipeline two.dp '--loss logistic --lambda 1e-2 --passes 5 --batch 20' | sed 's/dp-account/tee noised | &/')" > stream
    for edit in record.draws=0 record.contraction=0 record.contraction=1.5; do
        edit "$edit" < noised > edited
        complains 5 "dp-account: a record of draws does not say how many there are and how they contract" \
            dp-account --epsilon 1e9 --delta 1e-5 --no-ledger --allow-seeded --in edited
    done
    # the plan and the close line of a ledger have them as well
    dp-loop -q --laps 1 -o model -- "$(Z=5 EPSILON=10 pipeline two.dp '--loss logistic --lambda 1e-2 --passes 5 --batch 20' | sed 's/--no-ledger/--ledger ledger/')" > stream
    assert_equal "$(grep -c '"sampling":"repeated","draws":75,"contraction":' ledger)" 2
    run dp-account report ledger
    assert_line --partial "by 1 run and 1 lap (profile)"
}

@test "an audit says that it knows no such frames" {
    complains 2 "dp-audit: lap 1 draws batches of its own: how far a row may move its result is random, and no record says how far it may in one run" \
        dp-audit sensitivity --data real.dp --rows 3 --laps 4 -- "dp-sample --data {} --mode full --inline | dp-erm --loss huber --method coins --passes 3 --batch 5"
}
