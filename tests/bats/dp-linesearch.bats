# dp-linesearch: against NumPy without noise, one person's part of it, and the same bytes in every way of running it.
load helper

prepare() {
    data_of_all_labels 300
}

# held DATA LOSS [SAMPLE]: held.frames, three raw laps of a search on DATA: dp-sample's frames, each with a model and a
# direction, which are drawn here, and the fields of dp-grad and dp-step --hold; seeded, and gradient = direction − lambda w.
held() {
    dp-loop --laps 3 --seed 1 --exec processes -- "dp-sample --data $1 ${3:---rate 0.5} | tee raw.frames |
        dp-grad --data $1 --loss $2 ${4:-} --clip 1 | dp-noise -z 1 | dp-account -e 1e6 -d 1e-5 --allow-seeded |
        dp-step --step 0.01" > said.frames
    python '
import msgpack, struct
def f8(a): return msgpack.ExtType(1, struct.pack("<BB2Q", 2, 2, *a.shape) + a.astype("<f8").tobytes())
rng, said = numpy.random.default_rng(5), frames.laps("said.frames")[0]
stream = list(msgpack.Unpacker(open("raw.frames", "rb"), raw=False, max_buffer_size=2**31))
for frame in stream:
    if frame["kind"] != "lap": continue
    shape = said["model"].shape
    w, d = rng.normal(size=shape), rng.normal(size=shape)
    for key in ("method", "family", "loss", "loss_width", "lambda", "scale", "intercept"):
        if key in said: frame[key] = said[key]
    frame["lambda"] = 0.01 * frame["lap"]
    frame.update(model=f8(w), direction=f8(d), gradient=f8(d - frame["lambda"] * w))
open("held.frames", "wb").write(b"".join(map(msgpack.packb, stream)))'
}

SEARCH="--tries 10 --clip 1 --first-step 50"

@test "usage" {
    run dp-linesearch --help
    assert_success
    assert_output --partial "Usage: dp-linesearch"
    search() { complains 2 "dp-linesearch: $1" dp-linesearch $SEARCH "${@:2}"; }
    search "--epsilon: 1e-09 is out of range: its noise does not fit the grid of the losses" --epsilon 1e-9
    search "--rho: 1e-18 is out of range: its noise does not fit the grid of the losses" --noise gaussian --rho 1e-18
    search "--clip: 1e-310 has no grid" --epsilon 1 --clip 1e-310
    search "--tries: the last of 10000 steps, each 0.8 of the one before, would be zero" --epsilon 1 --tries 10000
}

# Losses of rows at scores, one line each, from the definitions; for poisson less the least value.
LOSSES='
def losses(loss, g, u, y):
    if loss == "softmax":
        top = u.max(axis=1)
        return numpy.log(numpy.exp(u - top[:, None]).sum(axis=1)) + top - u[numpy.arange(len(u)), y.astype(int)]
    if kind == "real": t = y[:, None]
    elif u.shape[1] == 1: t = numpy.where(y[:, None] == 1, 1.0, -1.0)
    else: t = numpy.where(y[:, None] == numpy.arange(u.shape[1]), 1.0, -1.0)
    m, r = 1 - t * u, numpy.abs(u - t)
    return {"squared": lambda: r**2 / 2, "hinge": lambda: numpy.maximum(m, 0), "logistic": lambda: numpy.logaddexp(0, -t * u),
            "smooth-hinge": lambda: numpy.where(m <= 0, 0, numpy.where(m >= g, m - g / 2, m**2 / (2 * g))),
            "huber": lambda: numpy.where(r <= g, r**2 / 2, g * (r - g / 2)),
            "huberised-hinge": lambda: numpy.where(m <= -g, 0, numpy.where(m >= g, m, (m + g)**2 / (4 * g))),
            "poisson": lambda: numpy.exp(u) - t * u - t + t * numpy.log(numpy.maximum(t, 1))}[loss]().sum(axis=1)
X, y = numpy.load(sys.argv[2] + "/X.npy").astype(float), numpy.load(sys.argv[2] + "/y.npy")
kind = json.load(open(sys.argv[2] + "/dataset.json"))["label"]["kind"]
'

# The choice of a lap without noise. A choice that depends on a few steps of the grid is no test, and an error.
CHOOSES="$LOSSES"'
def search(lap, y, C, eta0, m, method, armijo=0.5, beta=0.8, last=False):
    rows, w, d, lam = lap["rows"], lap["model"], lap["direction"], lap["lambda"]
    x, v = X[rows], lap.get("intercept", 0)
    if v: x = numpy.hstack([x, numpy.full((len(x), 1), v)])
    l = lambda eta: numpy.minimum(losses(lap["loss"], lap["loss_width"], x @ (w - eta * d).T, y[rows]), C)
    record = lap["records"][0]
    qN, grid = record["rate"] * record["rows"], 2.0**(numpy.floor(numpy.log2(C)) - 20)
    regulariser = lambda eta: qN * lam / 2 * ((w - eta * d)**2).sum()
    if method == "noisy-max":
        steps = eta0 * numpy.arange(m + 1) / m
        scores = [l(eta).sum() + regulariser(eta) for eta in steps]
        first, second = numpy.sort(scores)[:2]
        assert second - first > 1000 * grid
        return steps, numpy.argmin(scores)
    steps, choice = eta0 * beta**numpy.arange(m + 1.0), m
    slope = ((lap["gradient"] + lam * w) * d).sum()
    for i in reversed(range(m)):
        over = (l(0) - l(steps[i])).sum() - armijo * steps[i] * qN * slope - regulariser(steps[i]) + regulariser(0)
        assert abs(over) > 1000 * grid
        if over > 0: choice = i
    if not last: steps[m] = 0
    return steps, choice
'

# chooses DATA LOSS GRAD-OPTIONS PYTHON-ARGUMENTS OPTIONS…: without noise every lap makes NumPy's choice; choices.txt gets the
# choices
chooses() {
    held "$1" "$2" '' "$3"
    dp-linesearch --data "$1" "${@:5}" --in held.frames > searched.frames
    python "$CHOOSES"'
for held, lap in zip(frames.laps("held.frames"), frames.laps("searched.frames"), strict=True):
    steps, choice = search(held, y, *eval(sys.argv[3]))
    assert numpy.allclose(lap["steps"], steps, rtol=1e-14, atol=0), (lap["steps"], steps)
    assert lap["choice"].shape == (1, 1) and lap["choice"][0, 0] == choice, (lap["choice"], choice)
    assert lap["label"] == "noised" and not {"rows", "X", "y"} & set(lap)
    print(choice)' - "$1" "$4" >> choices.txt || fail "$*"
}

@test "without noise a search chooses what the definition does, for every loss" {
    FREE='--epsilon 1e12'
    for loss in squared hinge logistic smooth-hinge huber huberised-hinge; do
        chooses two.dp $loss '' '(2, 3, 12, "backtracking", 1e-4)' $FREE -C 2 -s 3 -m 12 --armijo 1e-4
        chooses four.dp $loss '--intercept 0.75' '(5, 2, 9, "noisy-max")' $FREE -C 5 -s 2 -m 9 --method noisy-max
    done
    chooses four.dp softmax '--intercept 2' '(3, 1, 20, "backtracking", 1e-3, 0.7)' $FREE -C 3 -s 1 -m 20 --armijo 1e-3 --beta 0.7
    chooses four.dp softmax '' '(3, 1, 7, "noisy-max")' $FREE -C 3 -s 1 -m 7 --method noisy-max
    chooses counts.dp poisson '--intercept 1' '(9, 0.5, 10, "noisy-max")' $FREE -C 9 -s 0.5 -m 10 --method noisy-max
    chooses real.dp squared '' '(2, 3, 12, "backtracking", 1e-4)' $FREE -C 2 -s 3 -m 12 --armijo 1e-4
    chooses two.dp huber '--loss-width 0.3' '(2, 3, 12, "backtracking", 1e-4, 0.8, True)' --noise gaussian --rho 1e20 -C 2 -s 3 \
        -m 12 --armijo 1e-4 --on-failure last
    # the cases are varied: a step at once, a step later, and no step
    assert [ "$(sort -n choices.txt | uniq | wc -l)" -gt 6 ]
}

@test "the first step follows released values where it is told to" {
    held two.dp logistic
    edit first_step=8.0 < held.frames > stepped.frames
    for case in "held.frames 2 --follow" "stepped.frames 2" "stepped.frames 8 --follow"; do
        set -- $case
        for method in backtracking noisy-max; do
            dp-linesearch --data two.dp --epsilon 1 --method $method -m 4 -C 1 -s 2 "${@:3}" --in "$1" > searched.frames
            python '
first, method = float(sys.argv[1]), sys.argv[2]
expected = [first * 0.8**i for i in range(4)] + [0] if method == "backtracking" else [first * i / 4 for i in range(5)]
for lap in frames.laps("searched.frames"): assert numpy.allclose(lap["steps"], expected, rtol=1e-15), lap["steps"]' "$2" $method
        done
    done
}

@test "budget and bound take the factors of released values: as a search that has them by itself" {
    held two.dp logistic
    edit search_factor=0.5 loss_factor=0.25 < held.frames > factors.frames
    said() { dp-cat --full --kind lap --allow-private-output "$1" | jq -c '[.choice, .steps, .records]'; }
    for budget in '--epsilon 2:--epsilon 1' '--epsilon 2 --method noisy-max:--epsilon 1 --method noisy-max' \
        '--noise gaussian --rho 0.2:--noise gaussian --rho 0.1' '--epsilon 2e6:--epsilon 1e6'; do
        dp-linesearch --data two.dp ${budget%:*} -m 6 -C 2 -s 4 --follow --in factors.frames > followed.frames
        dp-linesearch --data two.dp ${budget#*:} -m 6 -C 0.5 -s 4 --in held.frames > itself.frames
        said followed.frames > followed
        said itself.frames > itself
        diff followed itself
        dp-linesearch --data two.dp ${budget%:*} -m 6 -C 2 -s 4 --in factors.frames > deaf.frames
        refute [ "$(said deaf.frames)" = "$(cat followed)" ]
    done
    edit search_factor=1e10 < held.frames > far.frames
    complains 1 "dp-linesearch: --follow: the frame of lap 1 asks for 1e+10 times the budget and 1 times the bound" \
        dp-linesearch --data two.dp --epsilon 1 -m 6 -C 2 -s 4 --follow --in far.frames
}

# The same laps with every way to run the stage.
@test "threads and inline rows give the same choices" {
    held two.dp logistic
    for method in "--epsilon 0.5 --armijo 1e-3" "--noise gaussian --rho 0.1 --armijo 1e-3" "--method noisy-max --epsilon 0.5"; do
        dp-linesearch --data two.dp $method -C 1 -s 5 -m 12 --in held.frames > one.frames
        dp-linesearch --data two.dp $method -C 1 -s 5 -m 12 --in held.frames --threads 3 > three.frames
        assert cmp one.frames three.frames
    done
    held two.dp logistic '--rate 0.5 --inline'
    dp-linesearch --epsilon 0.5 -C 1 -s 5 -m 12 --armijo 1e-3 --in held.frames > inline.frames
    dp-linesearch --data two.dp --epsilon 0.5 -C 1 -s 5 -m 12 --armijo 1e-3 --in held.frames > mapped.frames
    assert cmp inline.frames mapped.frames
}

@test "what a lap lacks is said" {
    held two.dp logistic
    lacks() { # STATUS SENTENCE CODE OPTIONS…
        python "$(cat << 'END'
import msgpack, struct
f8 = lambda *v: msgpack.ExtType(1, struct.pack("<BB2Q%dd" % len(v), 2, 2, 1, len(v), *v))
stream = list(msgpack.Unpacker(open("held.frames", "rb"), raw=False, max_buffer_size=2**31))
for frame in stream:
    if frame["kind"] == "lap": exec(sys.argv[1])
open("lacking.frames", "wb").write(b"".join(map(msgpack.packb, stream)))
END
)" "$3"
        complains "$1" "dp-linesearch: $2" dp-linesearch --data two.dp --epsilon 1 -m 5 -C 1 -s 1 --in lacking.frames "${@:4}"
    }
    local none="there is no direction to search along in lap 1: no gradient is held (dp-step --hold)"
    lacks 1 "$none" 'del frame["direction"]'
    lacks 1 "$none" 'del frame["gradient"]'
    lacks 1 "the frame of lap 1 has no 'model'" 'del frame["model"]'
    lacks 1 "the frame of lap 1 has no 'rows'" 'del frame["rows"]'
    lacks 1 "the frame of lap 1 does not say which loss: dp-grad says it in its first lap" 'del frame["loss"]'
    lacks 1 "the loss of lap 1 is 'l1', which is unknown here" 'frame["loss"] = "l1"'
    lacks 1 "the loss of lap 1 has a width of 0" 'frame["loss_width"] = 0.0'
    lacks 1 "a model of 1 outputs for 2 classes does not go with the loss softmax" 'frame["loss"] = "softmax"'
    lacks 1 "a model of 1 outputs for 2 classes does not go with the loss poisson" 'frame["loss"] = "poisson"'
    lacks 1 "a model of 1 outputs for 0 classes does not go with the loss logistic" 'frame["classes"] = 0'
    lacks 1 "a model of 1 outputs for 3 classes does not go with the loss hinge" 'frame["loss"], frame["classes"] = "hinge", 3'
    lacks 1 "lap 1 has a lambda of -1 and 150 rows" 'frame["lambda"] = -1.0'
    lacks 1 "lap 1 has a lambda of inf and 150 rows" 'frame["lambda"] = float("inf")'
    lacks 1 "the direction of lap 1 does not have the shape of the model" 'frame["direction"] = f8(1, 2)'
    lacks 1 "the gradient of lap 1 does not have the shape of the model" 'frame["gradient"] = f8(1, 2)'
    lacks 1 "the direction of lap 1 is not finite" 'frame["direction"] = f8(1, 2, 3, 4, float("nan"))'
    lacks 1 "the rows change their shape during the run" 'for key in ("model", "direction", "gradient"): frame[key] = f8(1, 2)'
    lacks 1 "lap 2 has a first step of -1" 'if frame["lap"] == 2: frame["first_step"] = -1.0' --follow
    lacks 5 "--same-batch takes noised frames and got a raw one" '' --same-batch
    lacks 5 "a search takes raw frames and got a noised one" 'frame["label"] = "noised"'
}

@test "the same batch: gate, records and bytes" {
    child='dp-sample --data two.dp --rate 0.5 | dp-grad --data two.dp --loss logistic --clip 1 --keep-batch | dp-noise -z 1 |
        dp-linesearch --same-batch --epsilon 0.5 -m 12 -C 1 -s 20 --armijo 1e-3'
    gate='dp-account -e 1e6 -d 1e-5 --allow-seeded'
    dp-loop --laps 1 --seed 1 --exec processes -- "$child --data two.dp | tee searched.frames | $gate | dp-step" > /dev/null
    python '
lap, = frames.laps("searched.frames")
assert [r["of"] for r in lap["records"]] == ["sum", "choice"] and lap["label"] == "noised"
assert [r["of"] for r in frames.hello("searched.frames")["records"]] == ["sum", "choice"]
announced = frames.hello("searched.frames")["records"]
assert [r.pop("means") for r in announced] == ["gradient", "choice"] and announced == lap["records"]
choice = lap["records"][1]
assert choice["noise"] == "sparse-vector-laplace" and choice["most"] == 12 and choice["sensitivity"] == 1 == choice["bound"]
assert choice["epsilon"] == 0.25 and choice["query_epsilon"] == 0.125 and choice["release"] == "sum"
assert not {"rows", "X", "y"} & set(lap)'
    complains 1 "dp-linesearch: --same-batch: the batch of lap 1 is gone: dp-grad --keep-batch leaves it" dp-loop --laps 1 --exec processes -- "${child/--keep-batch/} --data two.dp | $gate | dp-step"
    complains 5 "dp-linesearch: --same-batch takes noised frames and got a raw one" dp-loop --laps 1 -- "dp-sample --data two.dp --rate 0.5 |
        dp-linesearch --same-batch --epsilon 0.5 -m 12 -C 1 -s 20 --data two.dp | $gate | dp-step"
}

# The law of the choice, by sums over all values of the noise, of whole numbers on the grid of bound 1, with the scales of the
# page. Sums are NumPy's, in whole numbers; a row that is cut to another one moves them by a step, which changes no probability.
LAW="$LOSSES"'
def tail(gaussian, scale, k): # Pr[noise >= k]
    if gaussian: return numpy.array([math.erfc((j - 0.5) / scale / 2**.5) / 2 for j in numpy.atleast_1d(k)])
    a = numpy.exp(-1 / scale)
    return numpy.where(k > 0, numpy.exp(-numpy.maximum(k, 0) / scale) / (1 + a), 1 - numpy.exp(-numpy.maximum(1 - k, 0) / scale) / (1 + a))
def law(method, gaussian, first, scale, s, t): # s, t in units of the grid; noise on a grid of its own, 2000 steps per scale
    coarse = max(first, scale) / 2000
    s, t, first, scale = s / coarse, t / coarse, first / coarse, scale / coarse
    k = numpy.arange(-60000, 60001, 10.0)
    mass = tail(gaussian, first if method == "backtracking" else scale, k - 5) - tail(gaussian, first if method == "backtracking" else scale, k + 5)
    if method == "noisy-max":
        return numpy.array([(mass * numpy.prod([tail(gaussian, scale, s[i] + k - s[j]) for j in range(len(s)) if j != i], axis=0)).sum() for i in range(len(s))])
    left, p = mass, []
    for i in range(len(s)):
        above = tail(gaussian, scale, t[i] + k - s[i])
        p.append((left * above).sum())
        left = left * (1 - above)
    return numpy.array(p + [left.sum()])
'

# many LAPS: many.frames, as many laps of the first of held.frames
many() {
    recode held.frames many.frames '
frames[0]["laps"] = int(sys.argv[1])
frames[1:-1] = [dict(laps[0], lap=i + 1) for i in range(frames[0]["laps"])]' "$1"
}

@test "choices have the law of their noise (chi-square; an honest key fails once in 10^6)" {
    dp-synth classification --rows 40 --cols 3 --seed 3 -o few.dp -q
    held few.dp logistic '--mode full'
    local laps=10000
    case $BUILD in *asan*) laps=300 ;; esac # enough to look at the code, but not for a law
    many "$laps"
    for case in "backtracking 0 2.5 20 --epsilon 0.5 --split 0.8" "backtracking 0 4 8 --epsilon 0.5" \
        "backtracking 0 8 16 --epsilon 0.5 --adjacency replace-one" "backtracking 1 6 8.485281374238571 --noise gaussian --rho 1/24" \
        "noisy-max 0 2 2 --epsilon 0.5 --method noisy-max" "noisy-max 0 4 4 --epsilon 0.5 --method noisy-max --adjacency replace-one"; do
        set -- $case
        local armijo=--armijo=0.01
        [ "$1" = backtracking ] || armijo=
        dp-linesearch --data few.dp "${@:5}" $armijo -m 6 -C 1 -s 4 --in many.frames > chosen.frames
        [ $laps = 10000 ] || continue
        python "import math$LAW"'
method, gaussian, first, scale = sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6])
lap, chosen = frames.laps("many.frames")[0], frames.laps("chosen.frames")
x, w, d, lam, N = X[lap["rows"]], lap["model"], lap["direction"], lap["lambda"], len(X)
l = lambda eta: numpy.minimum(losses(lap["loss"], 1, x @ (w - eta * d).T, y[lap["rows"]]), 1)
regulariser = lambda eta: N * lam / 2 * ((w - eta * d)**2).sum() - N * lam / 2 * (w**2).sum()
steps = chosen[0]["steps"]
if method == "noisy-max": s, t = numpy.array([l(eta).sum() + regulariser(eta) for eta in steps]), steps
else: s, t = [numpy.array(v) for v in zip(*[((l(0) - l(eta)).sum(), 0.01 * eta * N * (d**2).sum() + regulariser(eta)) for eta in steps[:-1]])]
p = law(method, gaussian, first, scale, s, t) * len(chosen)
seen = numpy.bincount([c["choice"][0, 0] for c in chosen], minlength=len(p))
assert abs(p.sum() - len(chosen)) < 1 and (p > 20).sum() >= 4, p
chi, cells = ((seen - p)**2 / numpy.maximum(p, 1)).sum(), len(p)
limit = cells - 1 + 2 * ((cells - 1) * 13.8)**.5 + 2 * 13.8 # of chi-square at 1e-6 (Laurent and Massart, 2000)
assert chi < limit, (chi, limit, seen, p)' - few.dp "${@:1:4}" || fail "$case"
    done
}

@test "no lap below 2^40 has the noise of another" {
    held two.dp logistic
    at_laps held.frames
    for method in "--armijo 1e-3 --beta 0.99 --epsilon 1e-4" "--armijo 1e-3 --beta 0.99 --noise gaussian --rho 1e-8" \
        "--method noisy-max --epsilon 1e-4"; do
        dp-linesearch --data two.dp $method -m 1000 -C 1 -s 1e-3 --in at-laps.frames > chosen.frames
        python '
choices = {lap["lap"]: lap["choice"][0, 0] for lap in frames.laps("chosen.frames")}
for least in 2, 2**12, 2**24: # none of these runs of laps repeats one lap; of few choices some are the same by chance
    values = {choice for lap, choice in choices.items() if lap > least}
    assert len(values) >= 4, (least, choices)' || fail "$method"
    done
}

@test "a batch without rows is a lap like others: the threshold does not know how many there are" {
    held two.dp logistic '--rate 1e-9'
    dp-linesearch --data two.dp --epsilon 1e12 -m 7 -C 1 -s 1 --in held.frames > searched.frames
    python 'assert [lap["choice"].tolist() for lap in frames.laps("searched.frames")] == [[[7]]] * 3'
    dp-linesearch --data two.dp --epsilon 1e12 -m 7 -C 1 -s 1 --method noisy-max --in held.frames > searched.frames
    assert_equal "$(dp-cat --kind lap searched.frames | grep -c '"label":"noised".*"choice":')" 3
}

@test "streams that are cut, corrupt or out of place" {
    held two.dp logistic
    local search=(dp-linesearch --data two.dp --epsilon 1 -m 5 -C 1 -s 1 --out /dev/null)
    size=$(stat -c %s held.frames)
    for cut in $(seq 0 997 $((size - 1))); do
        head -c "$cut" held.frames > cut.frames
        run timeout 10 "${search[@]}" --in cut.frames
        assert_failure 4
        assert_output --regexp '^dp-linesearch: (the input ended before its end frame: an upstream stage is gone|the input has no frame: dp-loop runs a pipeline|cut.frames ends inside a frame)$'
    done
    complains 1 "dp-linesearch: no model and no other stream of dpline: it begins with 'H', as a text does" "${search[@]}" --in <(echo Hello)
    edit twice=1 'rows=[1]' < held.frames > odd.frames
    complains 1 "dp-linesearch: corrupt frame: 'rows' is a list or map" "${search[@]}" --in odd.frames
    edit 'label="bounded"' < held.frames > bounded.frames
    complains 5 "dp-linesearch: takes raw or noised frames and got a bounded one: a stage is missing or out of place" \
        "${search[@]}" --in bounded.frames
    complains 1 "dp-linesearch: the rows were sampled from another data set than --data names" \
        "${search[@]}" --data four.dp --in held.frames
    complains 2 "dp-linesearch: --data is required: the frames carry row numbers, not rows" \
        dp-linesearch --epsilon 1 -m 5 -C 1 -s 1 --in held.frames
    edit 'record.rate=-1.0' < held.frames > rate.frames
    complains 1 "dp-linesearch: lap 1 has a lambda of 0.01 and -300 rows" "${search[@]}" --in rate.frames
    edit 'record.rows=0' < held.frames > none.frames
    complains 5 "dp-linesearch: the frame of lap 1 does not record how its rows were sampled" "${search[@]}" --in none.frames
}

@test "a search before any gradient ends the run before its first step" {
    complains 1 "dp-linesearch: there is no direction to search along in lap 1: no gradient is held (dp-step --hold)" \
        dp-loop --plan '(search, gradient) 3' -- "dp-sample --data two.dp --rate 0.5 |
            dp-grad --on gradient --data two.dp --loss logistic --clip 1 | dp-noise --on gradient -z 2 |
            dp-linesearch --on search --data two.dp --epsilon 1 -m 5 -C 1 -s 1 | dp-account --adaptive -e 100 -d 1e-5 --no-ledger |
            dp-step --on gradient --hold | dp-step --on search"
}

@test "behind a gate that is not private: exact gradients, and steps that a search has chosen" {
    dp-loop -q --plan '(gradient, search) 20' --seed 1 -o model -- "dp-sample --data two.dp --mode full |
        dp-grad --on gradient --data two.dp --loss logistic --lambda 1e-2 --non-private |
        dp-linesearch --on search --data two.dp --epsilon 1e4 --tries 30 --clip 10 --first-step 100 |
        dp-account --non-private --allow-seeded | dp-step --on gradient --hold | dp-step --on search" > stream
    erm.sh --data two.dp --lambda 1e-2 -q > least
    python 'run, least = frames.laps("stream"), frames.laps("least")[0]
X, y = numpy.load("two.dp/X.npy").astype(float), 2 * numpy.load("two.dp/y.npy") - 1
F = lambda w: numpy.logaddexp(0, -y * (X @ w[0])).mean() + 0.005 * (w ** 2).sum()
values = [F(lap["model"]) for lap in run if "step_size" in lap]
assert len(values) == 20 and all(lap["non_private"] and "choice" in lap for lap in run if "step_size" in lap)
assert all(b < a for a, b in zip(values, values[1:6])) and values[-1] < least["objective"] + 1e-3, (values, least["objective"])'
    assert_equal "$(dp-info --get non_private model)" true
}
