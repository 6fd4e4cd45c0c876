# dp-erm --multiplier, objective perturbation: its noise, its certificate, charges, refusals.
load helper

prepare() {
    dp-synth classification --rows 200 --cols 4 --seed 3 -o two.dp -q
    dp-synth classification --rows 200 --cols 4 --classes 4 --seed 4 -o four.dp -q
    dp-synth regression --rows 200 --cols 4 --seed 5 -o real.dp -q
}

# pipeline DATA OPTIONS: leaves the bounded frames in bounded
pipeline() {
    echo "dp-sample --data $1 --mode full | dp-erm --data $1 $2 | tee bounded | dp-noise --multiplier ${SLACK:-1e4} ${NOISE:-} |
        dp-account --epsilon 1e9 --delta 1e-5 --no-ledger --allow-seeded | dp-step"
}
erm() { dp-loop -q --laps "${LAPS:-1}" --seed "${SEED:-1}" -o model -- "$(pipeline "$@")" > stream; }
refused() {
    complains "$1" "$2" dp-loop -q --laps 1 --seed 1 -o none -- "$(pipeline "${@:3}")"
    assert_not_exists none
}

PERTURBED='--loss logistic --lambda 0.1 --multiplier 2'

# The model of each lap, before dp-noise, and b computed from the gradient at this model.
DRAWN='
every, data = frames.laps("bounded"), sys.argv[1]
X, y = numpy.load(data + "/X.npy").astype(float), numpy.load(data + "/y.npy")
f = every[0]
loss, g, lam, V = f["loss"], f["loss_width"], f["lambda"], f.get("intercept", 0)
if V: X = numpy.hstack([X, numpy.full((len(X), 1), V)])
N, d = X.shape
t = y if loss == "huber" else numpy.where(y == 1, 1.0, -1.0)
R = numpy.hypot(1, V) * (1 + 2.0 ** -20)
L = R * (g if loss == "huber" else 1)
B = R ** 2 * {"logistic": 1 / 4, "huber": 1, "smooth-hinge": 1 / g, "huberised-hinge": 1 / (2 * g)}[loss]
def slopes(u):
    m = 1 - t * u
    return {"logistic": lambda: -t / (1 + numpy.exp(t * u)), "smooth-hinge": lambda: -t * numpy.clip(m / g, 0, 1),
            "huber": lambda: numpy.clip(u - t, -g, g), "huberised-hinge": lambda: -t * numpy.clip((m + g) / (2 * g), 0, 1)}[loss]()
models = [(f["model"] if "model" in f else 0) + f["sum"] * f["grid"] for f in every]
b = numpy.array([-(slopes(X @ w.ravel()) @ X + lam * N * w.ravel()) for w in models])
'

@test "usage: what goes with a perturbed objective, and what does not" {
    complains 2 "dp-erm: --loss softmax has several outputs, and an objective is perturbed for one" dp-erm --loss softmax --lambda 1 -z 2
    for loss in squared poisson; do
        complains 2 "dp-erm: --loss $loss: nothing bounds one row's gradient; dp-erm(1) lists losses that bound it" \
            dp-erm --loss $loss --lambda 1 -z 2
    done
}

# With 300 laps of four or five coordinates each: the largest gap to the normal law passes 2.7/sqrt(n) once in 10^6 times.
@test "the noise on the objective is Gaussian of the recorded scale, anew in each lap and coordinate" {
    for options in '' '--intercept 2 --adjacency replace-one'; do
        LAPS=300 erm two.dp "$PERTURBED $options"
        python "$DRAWN"'
from statistics import NormalDist
record, twice = f["records"][0], 1 if f["records"][0]["adjacency"] == "null-record" else 2
assert record["objective"] == 2 and record["vertices"] == {1: 1, 2: 3}[twice] and record["noise"] == "objective", record
z = b / (2 * L * twice)
x = numpy.sort(z.ravel())
law = numpy.array([NormalDist().cdf(v) for v in x])
n = len(x)
gap = max(abs(law - numpy.arange(n) / n).max(), abs(law - numpy.arange(1, n + 1) / n).max())
assert gap < 2.7 / n ** .5, gap
assert abs((z ** 2).mean() - 1) < 5 * (2 / n) ** .5
# any two laps, and any two coordinates, are independent
assert abs((z[1:] * z[:-1]).mean()) < 5 / n ** .5 and abs(numpy.corrcoef(z.T) - numpy.eye(d)).max() < 6 / len(z) ** .5' two.dp
    done
    # another seed, other noise
    erm two.dp "$PERTURBED"
    cp bounded first
    SEED=2 erm two.dp "$PERTURBED"
    python 'a, b = (frames.laps(n)[0]["sum"] for n in ("first", "bounded")); assert (a != b).all()'
}

@test "the record says how large the curvature is, and on which side slopes may be" {
    for what in two.dp:logistic two.dp:smooth-hinge two.dp:huberised-hinge real.dp:huber; do
        for options in '' '--loss-width 0.3 --intercept 0.5 --adjacency replace-one'; do
            erm ${what%:*} "--loss ${what#*:} --lambda 0.1 --multiplier 2 $options"
            python "$DRAWN"'
record = f["records"][0]
assert abs(record["curvature"] / (B / (lam * N)) - 1) < 1e-12 and record["curvature"] >= B / (lam * N) * (1 - 1e-15), record
assert record["vertices"] == {"null-record": 1, "replace-one": 3}[record["adjacency"]] + (loss == "huber"), record
assert record["multiplier"] == 0 and record["scale"] == 0 and record["bound"] == f["bound"], record
assert not set(f) & {"rows", "X", "y", "objective", "gap"} and f["label"] == "bounded"
after = frames.laps("stream")[0]["records"][0]
assert after["multiplier"] == 1e4 and after["scale"] == 1e4 * after["sensitivity"] and after["objective"] == 2, after' ${what%:*}
        done
    done
}

# With the same noise, a looser certificate leaves the solution within half its bound of the tight one.
@test "what is certified holds" {
    for what in two.dp:logistic two.dp:smooth-hinge two.dp:huberised-hinge real.dp:huber; do
        LAPS=1 erm ${what%:*} "--loss ${what#*:} --lambda 1e-3 --multiplier 2"
        cp bounded tight
        for tolerance in 1e-3 1e-5; do
            erm ${what%:*} "--loss ${what#*:} --lambda 1e-3 --multiplier 2 --tolerance $tolerance"
            python 'tight, loose, tolerance = frames.laps("tight")[0], frames.laps("bounded")[0], float(sys.argv[1])
apart = numpy.linalg.norm(loose["sum"] * loose["grid"] - tight["sum"] * tight["grid"])
assert 0 < apart <= loose["bound"] / 2 + tight["bound"] / 2, (apart, loose["bound"])
assert tight["bound"] < 1e-7 and 2 * tolerance / 1e-3 <= loose["bound"] < 10 * tolerance / 1e-3, (tight["bound"], loose["bound"])' $tolerance
        done
    done
}

# The mechanism itself, on one column: a person who is present or contributes nothing. The probabilities of sets above a
# threshold must be within the profile. Each is off by 4.9 standard deviations once in a million times.
@test "the profile bounds how often the mechanism shows a person" {
    dp-synth classification --rows 60 --cols 1 --seed 9 -o with.dp -q
    python 'x, y = numpy.load("with.dp/X.npy"), numpy.load("with.dp/y.npy")
x[:] = 1
y[:] = 0
y[0] = 1
numpy.save("with.dp/X.npy", x)
numpy.save("with.dp/y.npy", y)'
    cp -r with.dp without.dp
    python 'x = numpy.load("without.dp/X.npy"); x[0] = 0; numpy.save("without.dp/X.npy", x)'
    for side in with without; do
        SEED=${#side} SLACK=50 LAPS=4000 erm $side.dp '--loss logistic --lambda 0.05 --multiplier 1'
        mv stream $side.stream
    done
    local curvature=0.2500005/3
    for epsilon in 0.1 0.5 1; do
        delta=$(dp-account delta --mechanism objective -z 1 --curvature $curvature --slack 50 --epsilon $epsilon)
        python 'p, q = (numpy.array([f["model"].item() for f in frames.laps(s + ".stream")]) for s in ("with", "without"))
epsilon, delta, seen = float(sys.argv[1]), float(sys.argv[2]), 0
n = len(p)
for a, b in ((p, q), (q, p)):
    for at in numpy.quantile(numpy.concatenate([p, q]), numpy.arange(1, 40) / 40):
        for side in (1, -1):
            A, B = (side * a > side * at).mean(), (side * b > side * at).mean()
            slack = 4.9 * (A * (1 - A) / n + numpy.exp(2 * epsilon) * B * (1 - B) / n) ** .5
            seen = max(seen, A - numpy.exp(epsilon) * B)
            assert A - numpy.exp(epsilon) * B <= delta + slack, (A, B, delta, slack)
assert seen > delta / 2, (seen, delta) # and is not far from what happens' $epsilon "$delta"
    done
}

@test "the gate charges the profile, and asks for the noise on the result" {
    complains 5 "dp-account: takes noised frames and got a bounded one: a stage is missing or out of place" \
        dp-loop -q --laps 1 -- "dp-sample --data two.dp --mode full | dp-erm --data two.dp $PERTURBED | dp-account --epsilon 1 --delta 1e-5 | dp-step"
    for noise in laplace gamma; do
        NOISE="--noise $noise" refused 5 "dp-noise: --noise: the error of a perturbed objective has an accountant only with Gaussian noise" two.dp "$PERTURBED"
    done
    z=$(dp-account sigma --mechanism objective --epsilon 0.7 --delta 1e-5 --curvature 0.250001/20 --slack 1e4)
    for how in two.dp "two.dp --inline"; do
        data=--data\ two.dp
        [ "$how" = two.dp ] || data=
        dp-loop -q --laps 1 -o model -- "dp-sample --data $how --mode full | dp-erm $data --loss logistic --lambda 0.1 -z $z |
            dp-noise -z 1e4 | dp-account --epsilon 0.7 --delta 1e-5 --ledger ledger | dp-step" > stream
        python 'lap, = frames.laps("stream")
assert 0.6999 < lap["epsilon"] <= 0.7, lap["epsilon"]'
    done
    # what the ledger and a certificate say
    dp-account verify ledger
    assert_equal "$(dp-account report ledger --json | python 'r = json.load(sys.stdin); run = r["runs"][1]
print(run["accountant"], run["charges"][0]["queries"][0]["noise"], run["charges"][0]["queries"][0]["vertices"])')" "profile objective 1"
    dp-account certify --ledger ledger --model model > certificate
    dp-account verify ledger --certificate certificate --model model
}

@test "what is not certified, or not covered, is not released" {
    refused 1 "dp-erm: the minimiser of lap 1 was not found to a gradient of norm 1e-30: nothing is released; a larger --tolerance or more passes (--most) may help" \
        two.dp "$PERTURBED --tolerance 1e-30"
    refused 1 "dp-erm: the minimiser of lap 1 was not found to a gradient of norm 1e-10: nothing is released; a larger --tolerance or more passes (--most) may help" \
        two.dp "$PERTURBED --tolerance 1e-10 --most 2"
    refused 1 "dp-erm: the model of 4 classes has several outputs, and an objective is perturbed for one" four.dp "$PERTURBED"
    complains 1 "dp-erm: lap 1 is not of all rows, as a minimiser is (dp-sample --mode full)" dp-loop -q --laps 1 -- \
        "dp-sample --data two.dp --mode fixed --rate 0.1 | dp-erm --data two.dp $PERTURBED | dp-noise -z 1 | dp-account --epsilon 10 --delta 1e-5 --no-ledger | dp-step"
    # the number of rows in a sample is private, even if the sample happens to have all rows
    for rate in 0.5 1; do
        complains 1 "dp-erm: lap 1 is not of all rows, as a minimiser is (dp-sample --mode full)" dp-loop -q --laps 1 -- \
            "dp-sample --data two.dp --rate $rate | dp-erm --data two.dp $PERTURBED | dp-noise -z 1 | dp-account --epsilon 10 --delta 1e-5 --no-ledger | dp-step"
    done
    complains 2 "dp-audit: the sum of lap 1 is the minimiser of a perturbed objective: noise on the objective hides a person, and the bound is on something else; dp-audit epsilon looks at what is released" \
        dp-audit sensitivity --data two.dp --rows 2 -- "dp-sample --data {} --mode full --inline | dp-erm $PERTURBED"
}

@test "a minimiser fits its grid whatever the rows are, and its curvature is above nothing" {
    dp-synth classification --rows 2 --cols 1 --seed 3 -o least.dp -q
    for options in '--lambda 1 --multiplier 1e-3' '--lambda 1 --multiplier 3' '--lambda 1e-6 --multiplier 100' '--lambda 1e20 --multiplier 1'; do
        erm least.dp "--loss logistic $options"
        python "$DRAWN"'
for f in every:
    assert numpy.abs(f["sum"]).max() < 2.0 ** 61, f["sum"]
    # any value within reach fits: the grid is no finer than 2^-61 of that
    sigma = float(sys.argv[2]) * L
    assert f["grid"] >= 2.0 ** -61 * (L + sigma * (d ** 0.5 + 12) / N) / lam' least.dp "${options##* }"
    done
    run bash -c "dp-cat < bounded | jq -s '.[1].records[0].curvature > 1e-22'"
    assert_output true
}
