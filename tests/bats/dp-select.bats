# dp-select: the chosen candidate, against scores that are computed here, and how the choice is used.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o two.dp -q
    dp-synth classification --rows 300 --cols 5 --classes 4 --seed 3 -o four.dp -q
    dp-synth regression --rows 300 --cols 5 --seed 3 -o real.dp -q
    GATE='dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded'
}

# scores: Python that computes the scores of a raw frame with inline rows: the definition, without the grid
SCORES='
def losses(frame, loss, width):
    x, y, model = frame["X"].astype(float), frame["y"], frame["candidates"]
    intercept = frame.get("intercept", 0)
    if intercept: x = numpy.hstack([x, numpy.full((len(x), 1), intercept)])
    classes = frame["classes"]
    outputs = classes if classes > 2 else 1
    u = numpy.einsum("ij,mkj->imk", x, model.reshape(len(model), outputs, -1))
    if loss == "softmax":
        return numpy.log(numpy.exp(u).sum(2)) - numpy.take_along_axis(u, y.astype(int)[:, None, None], 2)[:, :, 0]
    if classes: t = numpy.where(y[:, None, None] == (numpy.arange(outputs) if outputs > 1 else 1), 1, -1)
    else: t = y[:, None, None]
    if loss == "logistic": return numpy.logaddexp(0, -t * u).sum(2)
    if loss == "hinge": return numpy.maximum(0, 1 - t * u).sum(2)
    if loss == "squared": return ((u - t) ** 2 / 2).sum(2)
    r = abs(u - t)
    return numpy.where(r <= width, r ** 2 / 2, width * (r - width / 2)).sum(2)
def scores(frame, loss, width, clip, relative, lam):
    l, w = losses(frame, loss, width), frame["candidates"]
    unit = numpy.sqrt(((w - w.mean(0)) ** 2).sum(1).max()) if relative else 1
    record = frame["records"][0]
    l = numpy.clip((l - l.mean(1, keepdims=True)) / unit, -clip / 2, clip / 2).sum(0)
    return l + record["rate"] * record["rows"] * lam / 2 * (w ** 2).sum(1) / unit'

@test "usage" {
    select="dp-select --data two.dp --loss logistic --epsilon 1 --clip 1"
    complains 2 "dp-select: --clip: 1e-310 has no grid" dp-select --loss logistic --epsilon 1 --clip 1e-310
    complains 2 "dp-select: --clip: 1e+308 has no grid" dp-select --loss logistic --epsilon 1 --clip 1e308
    complains 2 "dp-select: --epsilon: 1e-20 is out of range: its noise does not fit the grid of the losses" \
        dp-select --loss logistic --epsilon 1e-20 --clip 1
    complains 5 "dp-select: takes raw frames and got a released one: a stage is missing or out of place" \
        dp-loop --laps 1 -o m -- "$select"
}

# bad MESSAGE CODE: the message of dp-select about candidates that CODE makes
bad() {
    filter make "
def array(values, *dims): return msgpack.ExtType(1, struct.pack('<BB%dQ%dd' % (len(dims), len(values)), 2, len(dims), *dims, *values))
if frame['kind'] == 'lap':
    $2"
    complains 1 "$1" dp-loop --laps 3 --seed 1 --exec processes -q -o m -- "dp-sample --data two.dp --mode full | ./make |
        dp-select --data two.dp --loss logistic --epsilon 1 --clip 1 | $GATE | dp-step"
}

@test "candidates that are not there, or of another shape" {
    bad "dp-select: there are no candidates in lap 1: dp-breed makes them" "pass"
    bad "dp-select: there are no candidates in lap 1" "frame['candidates'] = array([], 0, 5)"
    bad "dp-select: a candidate of lap 1 has 6 entries, a model has 5" "frame['candidates'] = array([0] * 12, 2, 6)"
    bad "dp-select: a candidate of lap 1 is not finite" "frame['candidates'] = array([0] * 9 + [float('nan')], 2, 5)"
    bad "dp-select: the number of candidates changes during the run" \
        "frame['candidates'] = array([0] * 5 * (frame['lap'] + 1), frame['lap'] + 1, 5)"
    bad "dp-select: 'candidates' in the frame of lap 1 is 1-dimensional f8, expected 2-dimensional f8" "frame['candidates'] = array([0] * 10, 10)"
}

@test "with no noise to speak of it is the candidate with the least score" {
    for what in two.dp:logistic:1:: two.dp:hinge:0.3:relative: two.dp:logistic:0.5:relative:0.01 four.dp:logistic:2::0.1 \
        four.dp:softmax:0.4:relative: real.dp:huber:0.7:: real.dp:squared:0.2:relative:0.05; do
        IFS=: read -r data loss clip relative lambda <<< "$what"
        dp-loop --laps 25 --seed 2 -q --exec processes -- "dp-breed --data $data --offspring 300 --parents 4 --spread 2 --intercept 0.5 |
            dp-sample --data $data --mode full --inline | tee raw.frames |
            dp-select --loss $loss --loss-width 0.4 --epsilon 1e5 --clip $clip ${relative:+--relative} ${lambda:+--lambda $lambda} |
            dp-account --epsilon 1e8 --delta 1e-5 --allow-seeded | dp-step" > stream
        python "$SCORES"'
loss, clip, relative, lam = sys.argv[1], float(sys.argv[2]), sys.argv[3] != "", float(sys.argv[4] or 0)
clipped = 0
for raw, lap in zip(frames.laps("raw.frames"), frames.laps("stream")):
    raw["intercept"] = 0.5
    s = scores(raw, loss, 0.4, clip, relative, lam)
    at = lap["choice"][0, 0]
    assert s[at] <= s.min() + 1e-3 * clip, (lap["lap"], at, s[at], s.min())
    assert (lap["model"].ravel() == raw["candidates"][at]).all()
    clipped += numpy.argmin(s) != numpy.argmin(scores(raw, loss, 0.4, 1e9, relative, lam))
if clip < 0.5 and not lam: assert clipped > 0 # the clip decides something here' "$loss" "$clip" "$relative" "$lambda"
    done
}

# law EPSILON OPTIONS: the choices of 3000 laps among the same five candidates, against their probabilities; false-alarm rate 1e-6
law() {
    filter five '
if frame["kind"] == "lap":
    frame["candidates"] = msgpack.ExtType(1, struct.pack("<BBQQ25d", 2, 2, 5, 5, *[(7 * i % 11 - 5) / 40 for i in range(25)]))'
    dp-loop --laps 3000 --seed 8 -q --exec processes -- "dp-sample --data two.dp --mode full --inline | ./five | tee raw.frames |
        dp-select --loss logistic --epsilon $1 --clip 0.2 $2 | tee noised.frames |
        dp-account --epsilon 1e8 --delta 1e-5 --allow-seeded | dp-step" > stream
    python "$SCORES"'
epsilon, sensitivity = float(sys.argv[1]), float(sys.argv[2])
first = frames.laps("noised.frames")[0]["records"]
assert len(first) == 1 and first[0]["of"] == "choice" and first[0]["noise"] == "exponential" and first[0]["epsilon"] == epsilon
assert first[0]["bound"] == 0.2 and first[0]["sensitivity"] == sensitivity and first[0]["release"] == "sum", first
s = scores(frames.laps("raw.frames")[0], "logistic", 1, 0.2, False, 0)
p = numpy.exp(-epsilon * (s - s.min()) / sensitivity)
p /= p.sum()
seen = numpy.bincount([lap["choice"][0, 0] for lap in frames.laps("stream")], minlength=5)
assert (p * 3000 > 20).all(), p
assert ((seen - p * 3000) ** 2 / (p * 3000)).sum() < 33.4, (seen, p * 3000)' "$1" "$3"
}

@test "choices have the probabilities of the exponential mechanism, and the record says which" {
    law 0.05 '' 0.2
    law 0.1 '--adjacency replace-one' 0.4
}

@test "of the losses nothing leaves but the choice" {
    run_of="dp-breed --data two.dp --offspring 12 | dp-sample --data two.dp --rate 0.5 | dp-select --data two.dp --loss logistic --epsilon 1 --clip 1"
    dp-loop --laps 2 --seed 1 -q --exec processes -- "$run_of | tee noised.frames | $GATE | tee released.frames | dp-step" > stream
    python '
before = frames.laps("noised.frames")[0]
assert before["label"] == "noised" and not {"rows", "X", "y", "updates"} & set(before), before.keys()
released, stepped = frames.laps("released.frames")[1], frames.laps("stream")[1]
assert "candidates" in released and released["choice"].shape == (1, 1)
assert "candidates" not in stepped and "choice" in stepped
assert stepped["method"] == "selection" and stepped["epsilon"] > 0'
}

@test "the gate takes one choice of one list, whose record says how it was made" {
    dp-loop --laps 1 --seed 1 -q --exec processes -- "dp-breed --data two.dp --offspring 12 | dp-sample --data two.dp --mode full |
        dp-select --data two.dp --loss logistic --epsilon 1 --clip 1 | tee noised.frames | $GATE | dp-step" > stream
    gate() { complains 5 "dp-account: $1" $GATE --in "$2"; }
    choice() { recode noised.frames edited.frames 'for frame in laps: exec(sys.argv[1])' "$1"; }
    for value in 12 -1 9223372036854775807; do
        choice "frame['choice'] = msgpack.ExtType(1, struct.pack('<BBQQq', 4, 2, 1, 1, $value))"
        gate "the choice of lap 1 is not one of its candidates" edited.frames
    done
    choice "frame['choice'] = msgpack.ExtType(1, struct.pack('<BBQQqq', 4, 2, 1, 2, 0, 0))"
    gate "the choice of lap 1 is not one of its candidates" edited.frames
    choice "frame['steps'] = msgpack.ExtType(1, struct.pack('<BBQ2d', 2, 1, 2, 0, 1))"
    gate "the choice of lap 1 may be one of its steps and one of its candidates" edited.frames
    edit record.noise='"gaussian"' record.multiplier=1 record.scale=1 record.epsilon= < noised.frames > edited.frames
    gate "the choice of lap 1 has a record of gaussian, which is noise on numbers" edited.frames
    edit record.noise='"sparse-vector-laplace"' record.query_epsilon=1 record.most=7 < noised.frames > edited.frames
    gate "the search of lap 1 has 12 candidates, and its record is of 7 queries" edited.frames
    edit record.of='"sum"' < noised.frames > edited.frames
    gate "lap 1 has a record of 'sum', and no 'sum'" edited.frames
    edit candidates= < noised.frames > edited.frames
    complains 1 "dp-account: the frame of lap 1 has no 'steps'" $GATE --in edited.frames
}

@test "a choice that nobody applies, or that cannot be applied" {
    run_of="dp-breed --data two.dp --offspring 12 | dp-sample --data two.dp --mode full | dp-select --data two.dp --loss logistic --epsilon 1 --clip 1"
    complains 1 "dp-loop: no stage of the child pipeline takes the choice: put dp-step after dp-account (a stage of your own says in its hello frame what it has taken)" \
        dp-loop --laps 2 --seed 1 -o m -- "$run_of | $GATE"
    complains 2 "dp-adapt: nothing follows from the choice of laps before dp-adapt: put it after the last dp-step" \
        dp-loop --laps 2 --seed 1 -o m -- "$run_of | $GATE | dp-adapt --first-step 1"
    complains 2 "dp-step: --step is for gradients; what laps release is a choice" \
        dp-loop --laps 2 --seed 1 -o m -- "$run_of | $GATE | dp-step --step 1"
    complains 5 "dp-loop: the child pipeline gave back a hello frame that has passed no gate: dp-account is missing" \
        dp-loop --laps 2 --seed 1 -o m -- "$run_of"
    # right of the gate a frame may be anything
    dp-loop --laps 1 --seed 1 -q --exec processes -- "$run_of | $GATE | tee released.frames | dp-step" > stream
    filter beyond '
if frame["kind"] == "lap": frame["choice"] = msgpack.ExtType(1, struct.pack("<BBQQq", 4, 2, 1, 1, 12))'
    filter wide '
if frame["kind"] == "lap": frame["candidates"] = msgpack.ExtType(1, struct.pack("<BBQQ6d", 2, 2, 1, 6, *range(6)))'
    ./beyond < released.frames > beyond.frames
    ./wide < released.frames > wide.frames
    complains 1 "dp-step: the choice of lap 1 is not one of its candidates" dp-step --in beyond.frames
    complains 1 "dp-step: a candidate of lap 1 has 6 entries, a model has 5" dp-step --in wide.frames
}

@test "audits are of sums" {
    run_of="dp-breed --data {} --offspring 12 | dp-sample --data {} --mode full | dp-select --data {} --loss logistic --epsilon 1 --clip 1"
    complains 2 "dp-audit: the first stage of the pipeline must sample rows, as dp-sample does" \
        dp-audit epsilon --data two.dp --laps 1 --runs 40 -- "$run_of | dp-account --epsilon 9 --delta 1e-5 | dp-step"
    complains 2 "dp-audit: the first stage of the pipeline must sample rows, as dp-sample does" \
        dp-audit sensitivity --data two.dp --laps 1 --rows 2 -- "$run_of"
}

@test "what choices cost: their Renyi divergences, or their epsilons where these are less" {
    run_of="dp-breed --data two.dp --offspring 12 | dp-sample --data two.dp --mode full | dp-select --data two.dp --loss logistic --clip 1"
    for what in 60:0.05 2:0.5; do
        dp-loop --laps ${what%:*} --seed 1 -q -o model -- "$run_of --epsilon ${what#*:} | dp-account --epsilon 9 --delta 1e-5 --allow-seeded | dp-step" > /dev/null
        cost=$(dp-account epsilon --mechanism exponential --mechanism-epsilon ${what#*:} --sampler full --laps ${what%:*} --delta 1e-5)
        python 'a, b = map(float, sys.argv[1:]); assert a <= b <= a * 1.00001, (a, b)' "$(dp-info --get epsilon model)" "$cost"
    done
    complains 3 "dp-loop: the budget of epsilon = 1 is spent after lap 2 (epsilon 1)" \
        dp-loop --laps 3 --seed 1 -q -o model -- "$run_of --epsilon 0.5 | dp-account --epsilon 1 --delta 1e-9 --allow-seeded | dp-step"
}
