# dp-erm: the minimum against Newton's method in NumPy, against the duality gap of coordinate descent, and what it refuses.
load helper

prepare() {
    data_of_all_labels 600 --test two-test.dp
}

# pipeline DATA LOSS OPTIONS
pipeline() {
    echo "dp-sample --data $1 --mode full | dp-erm --data $1 --loss $2 --non-private $3 | dp-account --non-private | dp-step"
}
erm() { dp-loop -q --laps "${LAPS:-1}" -o model -- "$(pipeline "$@")" > stream; }

# The objective, its gradient and its curvature, from the definitions.
OBJECTIVE='
def row(loss, g, u, y):
    """value, slope (n x K) and curvature (n x K x K) of rows with scores u"""
    n, K = u.shape
    eye = numpy.eye(K)[None]
    if loss == "softmax":
        top = u.max(axis=1, keepdims=True)
        p = numpy.exp(u - top)
        s = p.sum(axis=1, keepdims=True)
        p /= s
        hot = numpy.arange(K) == y[:, None]
        return (numpy.log(s) + top)[:, 0] - u[hot], p - hot, p[:, :, None] * eye - p[:, :, None] * p[:, None, :]
    if classes == 0: t = y[:, None]
    elif K == 1: t = numpy.where(y[:, None] == 1, 1.0, -1.0)
    else: t = numpy.where(y[:, None] == numpy.arange(K), 1.0, -1.0)
    m, r = 1 - t * u, u - t
    v, s, c = {
        "squared": lambda: (r ** 2 / 2, r, numpy.ones_like(u)),
        "logistic": lambda: (numpy.logaddexp(0, -t * u), -t / (1 + numpy.exp(t * u)), 1 / (2 + numpy.exp(u) + numpy.exp(-u))),
        "smooth-hinge": lambda: (numpy.where(m <= 0, 0, numpy.where(m >= g, m - g / 2, m ** 2 / (2 * g))), -t * numpy.clip(m / g, 0, 1), ((m > 0) & (m < g)) / g),
        "huber": lambda: (numpy.where(abs(r) <= g, r ** 2 / 2, g * (abs(r) - g / 2)), numpy.clip(r, -g, g), 1.0 * (abs(r) < g)),
        "huberised-hinge": lambda: (numpy.where(m <= -g, 0, numpy.where(m >= g, m, (m + g) ** 2 / (4 * g))), -t * numpy.clip((m + g) / (2 * g), 0, 1), (abs(m) < g) / (2 * g)),
        "poisson": lambda: (numpy.exp(u) - t * u, numpy.exp(u) - t, numpy.exp(u)),
    }[loss]()
    return v.sum(axis=1), s, c[:, :, None] * eye

def F(W):
    v, s, c = row(loss, g, X @ W.T, y)
    K, d = W.shape
    H = numpy.einsum("nij,na,nb->iajb", c, X, X).reshape(K * d, K * d) / len(X) + lam * numpy.eye(K * d)
    return v.mean() + lam / 2 * (W ** 2).sum(), s.T @ X / len(X) + lam * W, H

def newton():
    W = numpy.zeros_like(model)
    for _ in range(200):
        value, G, H = F(W)
        if numpy.linalg.norm(G) < 1e-13: return value, W
        step = numpy.linalg.solve(H, G.ravel()).reshape(W.shape)
        while F(W - step)[0] > value + 1e-15: step /= 2
        W = W - step
    raise SystemExit("Newton: %g" % numpy.linalg.norm(G))

lap, data = frames.laps("stream")[-1], sys.argv[1]
X, y = numpy.load(data + "/X.npy").astype(float), numpy.load(data + "/y.npy")
model, lam, loss, g, classes = lap["model"], lap["lambda"], lap["loss"], lap["loss_width"], lap["classes"]
if "intercept" in lap: X = numpy.hstack([X, numpy.full((len(X), 1), lap["intercept"])])
value, G, H = F(model)
'

@test "usage" {
    run dp-erm --help
    assert_success
    assert_output --partial "Usage: dp-erm"
    complains 2 "dp-erm: --loss hinge has no gradient where its minimum lies: smooth-hinge and huberised-hinge have one" dp-erm --loss hinge --non-private
}

@test "the minimum is that of Newton's method in NumPy, and the frame says how far it is" {
    for what in two.dp:logistic two.dp:smooth-hinge two.dp:huberised-hinge two.dp:squared four.dp:softmax four.dp:logistic real.dp:squared real.dp:huber counts.dp:poisson; do
        for options in '--lambda 1e-2 --tolerance 1e-7' '--lambda 1e-3 --intercept 0.5 --tolerance 1e-4 --loss-width 0.3'; do
            erm ${what/:/ } "$options"
            python "$OBJECTIVE"'
least, W = newton()
norm, asked = numpy.linalg.norm(G), float(sys.argv[2].split()[-1] if "width" not in sys.argv[2] else 1e-4)
assert lap["method"] == "erm" and lap["family"] == "linear" and lap["non_private"] and lap["scale"] == 1
assert norm <= asked * (1 + 1e-6), (norm, asked)
assert abs(lap["objective"] - value) < 1e-13 and abs(lap["gap"] - norm ** 2 / (2 * lam)) <= 1e-6 * lap["gap"] + 1e-20, (lap["gap"], norm)
assert -1e-15 <= value - least <= lap["gap"] + 1e-15 and numpy.linalg.norm(model - W) <= norm / lam * (1 + 1e-6)
assert not set(lap) & {"rows", "X", "y", "sum", "epsilon"}, list(lap)' ${what%:*} "$options"
        done
    done
}

@test "coordinate descent certifies the same minimum by its duality gap" {
    for loss in logistic smooth-hinge squared; do
        scd-nonprivate.sh --data two.dp --loss $loss --lambda 1e-2 --epochs 3000 -q > scd.stream
        erm.sh --data two.dp --loss $loss --lambda 1e-2 -q > stream
        python 'a, b = frames.laps("scd.stream")[-1], frames.laps("stream")[-1]
assert a["gap"] <= 1e-6 and b["gap"] <= 1e-9 and -b["gap"] <= a["objective"] - b["objective"] <= a["gap"], (a, b)'
    done
}

@test "beyond where values agree the gradient still falls" {
    for what in two.dp:logistic two.dp:huberised-hinge four.dp:softmax four.dp:logistic; do
        erm ${what/:/ } '--lambda 1e-4 --tolerance 1e-13'
        python "$OBJECTIVE"'
assert numpy.linalg.norm(G) <= 2e-13, G' ${what%:*}
    done
}

@test "a search that does not get there fails, and leaves no model" {
    try() { rm -f model && dp-loop -q --laps 1 -o model -- "$(pipeline "$@")"; }
    export -f try pipeline
    run bash -c 'try two.dp logistic "--lambda 1e-4 --most 5" 2>&1 > stream'
    assert_failure 1
    assert_output --regexp '^dp-erm: did not converge: in 5 passes the norm of the gradient came down to [0-9.e-]+, --tolerance is 1e-06; more passes \(--most\) may help$'
    assert_not_exists model
    run bash -c 'try two.dp logistic "--tolerance 1e-30" 2>&1 > stream'
    assert_failure 1
    assert_output --regexp '^dp-erm: did not converge: after [0-9]+ passes rounding hides where it is lower, with a norm of the gradient of [0-9.]+e-(09|1[0-9]); --tolerance is 1e-30, a larger one may help, or a --lambda$'
    assert_not_exists model
    python 'assert frames.laps("stream") == []'
    # e^u of counts: it comes back from where the objective is infinite
    python "y = numpy.load('counts.dp/y.npy'); numpy.save('counts.dp/y.npy', y * 1e4)"
    erm counts.dp poisson '--lambda 1e-2 --tolerance 1e-2'
    python "$OBJECTIVE"'
assert numpy.linalg.norm(G) <= 1e-2' counts.dp
}

@test "what is no minimum over all rows, or of another kind of labels" {
    try() { complains 1 "$1" dp-loop -q --laps 1 ${init:+--init "$init"} -- "$2"; }
    try "dp-erm: lap 1 is not of all rows, as a minimiser is (dp-sample --mode full)" \
        'dp-sample --data two.dp --mode fixed --rate 0.1 | dp-erm --data two.dp --loss logistic --non-private | dp-account --non-private | dp-step'
    try "dp-erm: --loss logistic needs labels in classes; the labels of this data set are real numbers" "$(pipeline real.dp logistic)"
    try "dp-erm: --loss softmax needs three classes or more; for two, --loss logistic is the same" "$(pipeline two.dp softmax)"
    try "dp-erm: --loss poisson needs labels that are counts; the labels of this data set are classes" "$(pipeline two.dp poisson)"
    erm four.dp logistic
    init=model try "dp-erm: the model is 4 × 5, the data needs 1 × 5" "$(pipeline two.dp logistic)"
    init=model try "dp-erm: --intercept: 1, but the model to start from has 0" "$(pipeline four.dp logistic '--intercept 1')"
    init=model try "dp-grad: the model to start from was trained by another method" \
        'dp-sample --data four.dp | dp-grad --data four.dp --loss logistic --non-private | dp-account --non-private | dp-step --step 1'
    complains 2 "dp-step: --step is for gradients; what laps release is what the model moves by" dp-loop -q --laps 1 -- "$(pipeline two.dp logistic) --step 1"
    # a label that is not a count contributes nothing: the rest has its minimum at 0
    python "y = numpy.load('counts.dp/y.npy'); y[:] = -1; numpy.save('counts.dp/y.npy', y)"
    for from in '--mode full --inline | dp-erm' '--mode full | dp-erm --data counts.dp'; do
        dp-loop -q --laps 1 -- "dp-sample --data counts.dp $from --loss poisson --lambda 1 --non-private | dp-account --non-private | dp-step" > stream
        python 'lap, = frames.laps("stream")
assert lap["objective"] == 0 and lap["gap"] == 0 and (lap["model"] == 0).all()'
    done
}

@test "nothing of it passes a private gate" {
    complains 5 "dp-account: takes noised frames and got a raw one: a stage is missing or out of place" \
        dp-loop -q --laps 1 -- 'dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --non-private | dp-account --epsilon 1 --delta 1e-5 | dp-step'
}

@test "further laps, and a run that starts at the minimum, stay there" {
    erm two.dp logistic '--lambda 1e-3'
    cp model first
    LAPS=3 erm two.dp logistic '--lambda 1e-3'
    dp-cmp --weights-only first model
    dp-loop -q --laps 1 --init first -o again -- "$(pipeline two.dp logistic '--lambda 1e-3 --most 1')" > /dev/null
    dp-cmp --weights-only first again
    # another lambda has another minimum
    dp-loop -q --laps 1 --init first -o other -- "$(pipeline two.dp logistic '--lambda 1e-2')" > stream
    python "$OBJECTIVE"'
least, W = newton()
assert lam == 1e-2 and value - least <= lap["gap"] + 1e-15' two.dp
}

@test "sparse storage = dense storage" {
    dp-synth classification --rows 600 --cols 5 --classes 4 --seed 4 --storage csr -o sparse.dp -q
    erm four.dp softmax '--lambda 1e-3 --intercept 1'
    mv model dense
    erm sparse.dp softmax '--lambda 1e-3 --intercept 1'
    dp-cmp --weights-only dense model
}

@test "models are evaluated and predict" {
    erm.sh --data two.dp --lambda 1e-3 -q -o model
    dp-eval --data two.dp --metrics objective,accuracy --format json -i model > measured
    erm two.dp logistic '--lambda 1e-3'
    python 'a, b = json.load(open("measured")), frames.laps("stream")[0]
assert abs(a["objective"] - b["objective"]) < 1e-13 and a["accuracy"] > 0.8'
    assert_equal "$(dp-predict model two-test.dp | wc -l)" "$(($(dp-info --get rows two-test.dp) + 1))"
    assert_equal "$(erm.sh --data two.dp -o model 2>&1)" 'erm.sh: not private, trained without noise; 1 lap; the model is in model'
}
