# dp-erm for output perturbation: the result of the descent and its bound against NumPy, the effect of one person, refusals.
load helper

prepare() {
    dp-synth classification --rows 600 --cols 5 --seed 3 -o two.dp --test two-test.dp -q
    dp-synth classification --rows 600 --cols 5 --classes 4 --seed 4 -o four.dp -q
    dp-synth regression --rows 600 --cols 5 --seed 5 -o real.dp -q
}

# pipeline DATA OPTIONS: leaves the bounded frames in bounded
pipeline() {
    echo "dp-sample --data $1 --mode full | dp-erm --data $1 $2 | tee bounded | dp-noise --multiplier 1e-3 |
        dp-account --epsilon 1e9 --delta 1e-5 --no-ledger --allow-seeded | dp-step"
}
erm() { dp-loop -q --laps "${LAPS:-1}" --seed 1 ${INIT:+--init "$INIT"} -o model -- "$(pipeline "$@")" > stream; }
refused() {
    complains "$1" "$2" dp-loop -q --laps 1 ${INIT:+--init "$INIT"} -o none -- "$(pipeline "${@:3}")"
    assert_not_exists none
}

# The slopes of a row's scores from the definitions, and the table of their bounds.
LOSSES='
lap, data = frames.laps("bounded")[-1], sys.argv[1]
went = lap["sum"] * lap["grid"] # to zero, on the grid
X, y = numpy.load(data + "/X.npy").astype(float), numpy.load(data + "/y.npy")
loss, g, lam, classes, record = lap["loss"], lap["loss_width"], lap["lambda"], lap["classes"], lap["records"][0]
V = lap.get("intercept", 0)
if V: X = numpy.hstack([X, numpy.full((len(X), 1), V)])
N, K = len(X), went.shape[0]
t = y[:, None] if classes == 0 else numpy.where(y[:, None] == (1 if K == 1 else numpy.arange(K)), 1.0, -1.0)
def slopes(u, i):
    if loss == "softmax":
        p = numpy.exp(u - u.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True) - (numpy.arange(K) == y[i, None])
    m = 1 - t[i] * u
    return {"logistic": lambda: -t[i] / (1 + numpy.exp(t[i] * u)), "smooth-hinge": lambda: -t[i] * numpy.clip(m / g, 0, 1),
            "huber": lambda: numpy.clip(u - t[i], -g, g), "huberised-hinge": lambda: -t[i] * numpy.clip((m + g) / (2 * g), 0, 1)}[loss]()
def step(W, eta, i):
    return W - eta * (slopes(X[i] @ W.T, i).T @ X[i] / len(i) + lam * W)
R = numpy.hypot(float(sys.argv[2]), V) * (1 + 2.0 ** -20)
L = R * {"softmax": 2 ** .5, "huber": g * K ** .5}.get(loss, K ** .5)
beta = R ** 2 * {"logistic": 1 / 4, "softmax": 1 / 2, "huber": 1, "smooth-hinge": 1 / g, "huberised-hinge": 1 / (2 * g)}[loss] + lam
everyone = numpy.arange(N)
'

@test "usage: each method has its own options" {
    complains 2 "dp-erm: --loss hinge has no gradient where its minimum lies: smooth-hinge and huberised-hinge have one" \
        dp-erm --loss hinge --method descent --iterations 1
    for loss in squared poisson; do
        complains 2 "dp-erm: --loss $loss: nothing bounds one row's gradient; dp-erm(1) lists losses that bound it" \
            dp-erm --loss $loss --method descent --iterations 1
    done
    complains 2 "dp-erm: --step: must be at most 7.69229 here, got 7.7: beyond 2/beta steps move two models apart, and one row by more than what is recorded" \
        dp-erm --loss logistic --lambda 1e-2 --method descent --iterations 1 --step 7.7
    complains 2 "dp-erm: --norm, --lambda and --loss-width make a gradient up to 1 with a smoothness of 1e+300" \
        dp-erm --loss logistic --lambda 1e300 --method descent --iterations 1
}

@test "usage: a permutation" {
    local given='--loss logistic --method permutation'
    refused 1 "dp-erm: --batch: must be at most the 600 rows, got 601" two.dp "$given --passes 1 --batch 601"
}

@test "permutation: one batch of all rows is a descent; smaller ones go farther, in an order that the seed decides" {
    erm four.dp '--loss softmax --lambda 1e-2 --method descent --iterations 6 --step 1.9 --intercept 1'
    mv bounded descent
    erm four.dp '--loss softmax --lambda 1e-2 --method permutation --passes 6 --batch 400 --step 1.9 --intercept 1'
    python 'a, b = frames.laps("bounded")[0], frames.laps("descent")[0]
assert abs(a["sum"] - b["sum"]).max() <= 1 and a["bound"] == b["bound"]'
    erm four.dp '--loss softmax --lambda 1e-2 --method permutation --passes 6 --batch 50 --step 1.9 --intercept 1'
    mv bounded first
    dp-loop -q --laps 1 --seed 2 -- "$(pipeline four.dp '--loss softmax --lambda 1e-2 --method permutation --passes 6 --batch 50 --step 1.9 --intercept 1')" > stream
    python 'a, b, d = (frames.laps(f)[0] for f in ("first", "bounded", "descent"))
far = lambda f: numpy.linalg.norm(f["sum"] * f["grid"])
assert far(a) > 1.5 * far(d) and a["bound"] == b["bound"] and 0 < abs(a["sum"] - b["sum"]).max() * a["grid"] < 0.2 * far(a), (far(a), far(d))'
}

@test "descent: the steps are those of NumPy, and the bound is the recursion" {
    for what in two.dp:logistic two.dp:smooth-hinge two.dp:huberised-hinge four.dp:softmax four.dp:logistic real.dp:huber; do
        for options in '--lambda 1e-2 --iterations 30' '--lambda 0 --iterations 7 --step 0.4 --intercept 0.5 --loss-width 0.3 --adjacency replace-one'; do
            erm ${what%:*} "--loss ${what#*:} --method descent $options"
            python "$LOSSES"'
T, eta, twice = (30, 2 / (lam + beta), 1) if lam else (7, 0.4, 2)
W = numpy.zeros_like(went)
for _ in range(T): W = step(W, eta, everyone)
assert (abs(went) <= abs(W) + 1e-12).all() and (abs(W) < abs(went) + lap["grid"] + 1e-12).all()
assert lap["bound"] * 2.0 ** -21 < lap["grid"] <= lap["bound"] * 2.0 ** -20 and lap["sum"].dtype == numpy.int64
d, rho = 0, max(abs(1 - eta * lam), abs(1 - eta * beta))
for _ in range(T): d = min(rho, 1) * d + eta * L / N
assert abs(record["bound"] / (d * (1 + 2 ** -12)) - 1) < 1e-9 and record["bound"] == lap["bound"], (record, d)
assert record["sensitivity"] == twice * record["bound"] and record["sampler"] == "full" and record["release"] == "sum"
assert lap["method"] == "erm" and lap["family"] == "linear" and not set(lap) & {"rows", "X", "y", "objective", "gap"}' ${what%:*} 1
        done
    done
}

@test "descent: rows of another norm, from another model, in several laps" {
    python "x = numpy.load('two.dp/X.npy'); numpy.save('two.dp/X.npy', x * 3)"
    erm two.dp '--loss logistic --lambda 1e-2 --method descent --iterations 5 --norm 3'
    cp model first
    python "$LOSSES"'
W = numpy.zeros_like(went)
for _ in range(5): W = step(W, 2 / (lam + beta), everyone)
assert abs(went - W).max() < lap["grid"]' two.dp 3
    LAPS=3 INIT=first erm two.dp '--loss logistic --lambda 1e-2 --method descent --iterations 5 --norm 3'
    python "$LOSSES"'
every = frames.laps("bounded")
for f in every:
    W = f.get("model", frames.laps("first")[-1]["model"])
    from_there = W
    for _ in range(5): W = step(W, 2 / (lam + beta), everyone)
    assert abs(f["sum"] * f["grid"] - (W - from_there)).max() < f["grid"]
assert len({f["bound"] for f in every}) == 1 and len(every) == 3' two.dp 3
}

@test "a row longer than the declared norm counts for nothing, and no failure tells that there is one" {
    # its entries were rounded to floats
    erm two.dp '--loss logistic --method descent --iterations 5 --norm 0.9999999'
    for bad in 1e30 inf nan 1.000001; do
        cp -r two.dp bad.dp
        python "x = numpy.load('bad.dp/X.npy'); x[7] *= float('$bad'); numpy.save('bad.dp/X.npy', x)"
        cp -r bad.dp zero.dp
        python "x = numpy.load('zero.dp/X.npy'); x[7] = 0; numpy.save('zero.dp/X.npy', x)"
        for rows in '' --inline; do
            for d in bad zero; do
                dp-loop -q --laps 1 --seed 1 -o $d -- "dp-sample --data $d.dp --mode full $rows |
                    dp-erm $([ -n "$rows" ] || echo "--data $d.dp") --loss logistic --method descent --iterations 5 | dp-noise -z 1 |
                    dp-account --epsilon 1e5 --delta 1e-5 --no-ledger --allow-seeded | dp-step" > /dev/null
            done
            dp-cmp --weights-only bad zero
        done
        rm -r bad.dp zero.dp
    done
    # that all rows are longer is public
    jq '.row_norm = "unit"' two.dp/dataset.json > unit && cp unit two.dp/dataset.json
    complains 2 "dp-erm: --norm: the rows of two.dp have norm 1, and a longer row than 0.999 contributes nothing" \
        dp-loop -q --laps 1 -- "dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --method descent --iterations 5 \
            --norm 0.999 | dp-noise -z 1e6 | dp-account --epsilon 1 --delta 1e-5 --no-ledger | dp-step"
}

@test "what has no bound, or too much rounding, is refused before anything is released" {
    complains 1 "dp-erm: lap 1 is not of all rows, as a minimiser is (dp-sample --mode full)" dp-loop -q --laps 1 -- \
        'dp-sample --data two.dp --mode fixed --rate 0.1 | dp-erm --data two.dp --loss logistic --method descent --iterations 5 | dp-noise -z 1 | dp-account --epsilon 10 --delta 1e-5 --no-ledger | dp-step'
    local descent='--loss logistic --lambda 1e-2 --method descent --iterations 5'
    erm two.dp "$descent"
    far() { # FACTOR: the model, so many times as far from zero
        python 'import msgpack
out = open("far", "wb")
for f in msgpack.Unpacker(open("model", "rb"), raw=False):
    if f["kind"] == "lap":
        data = bytearray(f["model"].data)
        at = 2 + 8 * data[1]
        data[at:] = (numpy.frombuffer(bytes(data[at:]), "<f8") * float(sys.argv[1])).tobytes()
        f["model"] = msgpack.ExtType(1, bytes(data))
    out.write(msgpack.packb(f))' "$1"
    }
    # farther away the steps have larger rounding errors, which the bound includes, up to a model that has no bound
    far 1e7
    INIT=far erm two.dp "$descent"
    python "$LOSSES"'
d, rho, eta = 0, 1 - 2 / (lam + beta) * lam, 2 / (lam + beta)
for _ in range(5): d = rho * d + eta * L / N
more = lap["bound"] / d - 1
assert abs(numpy.log2(more) % 1) < 1e-6 and 2 ** -12 < more < 2 ** -1, more' two.dp 1
    far 1e13
    INIT=far refused 1 "dp-erm: rounding may move the model of lap 1 by as much as one person: fewer steps, or a start nearer to 0" two.dp "$descent"
}

@test "the gate asks for noise, and charges one release of every row" {
    complains 5 "dp-account: takes noised frames and got a bounded one: a stage is missing or out of place" \
        dp-loop -q --laps 1 -- 'dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --method descent --iterations 5 | dp-account --epsilon 1 --delta 1e-5 | dp-step'
    z=$(dp-account sigma --mechanism output --epsilon 0.7 --delta 1e-5 --laps 1)
    dp-loop -q --laps 1 -o model -- "dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --method descent --iterations 5 |
        dp-noise -z $z | dp-account --epsilon 0.7 --delta 1e-5 --no-ledger | dp-step" > stream
    python 'lap, = frames.laps("stream")
assert 0.6999 < lap["epsilon"] <= 0.7, lap["epsilon"]'
    # pure: the norm of the noise has a gamma distribution
    dp-loop -q --laps 1 -o model -- "dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --method descent --iterations 5 |
        dp-noise --noise gamma -z 2 | dp-account --epsilon 0.5 --delta 1e-5 --no-ledger | dp-step" > stream
    python 'lap, = frames.laps("stream")
assert 0.49 < lap["epsilon"] <= 0.5 and lap["records"][0]["noise"] == "gamma", lap["epsilon"]'
}

@test "the audit finds the bound, and nothing beyond it" {
    dp-synth regression --rows 40 --cols 3 --seed 5 -o tiny.dp -q
    for method in 'descent --iterations 12' 'permutation --passes 5 --batch 6'; do
        for options in '--lambda 0 --adjacency replace-one' '--lambda 0.1' '--lambda 0.1 --intercept 2 --step 0.1 --adjacency replace-one'; do
            dp-audit sensitivity --data tiny.dp --rows 3 --laps 4 --json -- "dp-sample --data {} --mode full --inline |
                dp-erm --loss huber --loss-width 0.05 --method $method $options" > answer
            python 'a = json.load(open("answer")); assert a["exceeded"] == False and 0.25 < a["ratio"] <= 1, a'
        done
    done
}
