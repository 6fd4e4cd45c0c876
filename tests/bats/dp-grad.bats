# dp-grad, and dp-step's steps along gradients, against NumPy and against each other.
load helper

prepare() {
    data_of_all_labels 300
    export PYTHONPATH=$ROOT/tests/bats
}

# Slopes, a row of scores at a time, from the definitions.
SLOPES='
def sigmoid(u): return 1 / (1 + numpy.exp(-u))
def slopes(loss, g, u, y):
    if loss == "softmax":
        p = numpy.exp(u - u.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p - (numpy.arange(u.shape[1]) == y[:, None])
    if loss in ("poisson", "squared", "huber") and kind == "real": t = y[:, None]
    elif u.shape[1] == 1: t = numpy.where(y[:, None] == 1, 1.0, -1.0)
    else: t = numpy.where(y[:, None] == numpy.arange(u.shape[1]), 1.0, -1.0)
    m = 1 - t * u
    return {"squared": lambda: u - t, "hinge": lambda: -t * (m > 0), "logistic": lambda: -t * sigmoid(-t * u),
            "smooth-hinge": lambda: -t * numpy.clip(m / g, 0, 1), "huber": lambda: numpy.clip(u - t, -g, g),
            "huberised-hinge": lambda: -t * numpy.clip((m + g) / (2 * g), 0, 1),
            "poisson": lambda: numpy.exp(u) - t}[loss]()
'
# objective of the last model of stream $1: X, y, W from data set $2
DATA='
X, y = numpy.load(sys.argv[2] + "/X.npy").astype(float), numpy.load(sys.argv[2] + "/y.npy")
kind = json.load(open(sys.argv[2] + "/dataset.json"))["label"]["kind"]
'

@test "usage" {
    run dp-grad --help
    assert_success
    assert_output --partial "Usage: dp-grad"
}

@test "dp-step and dp-noise: usage of steps and schedules" {
    complains 2 "dp-step: --schedule: sqrt:A:C needs C >= 0 and A + C > 0, got 'sqrt:1'" dp-step --step 1 --schedule sqrt:1
    complains 2 "dp-noise: --schedule: linear:E needs a number from 0 to 1, got 'linear:2'" dp-noise -z 1 --schedule linear:2
    complains 1 "dp-noise: cannot open nowhere.txt: No such file or directory" dp-noise -z 1 --schedule nowhere.txt
    complains 2 "dp-noise: --schedule: a file cannot be standard input, where frames come from" dp-noise -z 1 --schedule -
    printf '1\n-2\n' > b.txt
    complains 1 "dp-step: b.txt: line 2: expected a number > 0" dp-step --step 1 --schedule b.txt
}

# descends DATA LOSS GRAD-OPTIONS STEP-OPTIONS PYTHON-STEP [CLASS-WEIGHTS]: ten exact laps, each checked against NumPy
descends() {
    dp-loop --laps 10 --seed 1 -- "dp-sample --data $1 --mode full | dp-grad --data $1 --loss $2 --lambda 0.1 --non-private $3 |
        dp-account --non-private --allow-seeded | dp-step --step 0.5 $4" > stream
    python "$SLOPES$DATA"'
loss, code = sys.argv[3:5]
laps = frames.laps("stream")
v = laps[0].get("intercept", 0)
weight = numpy.array(eval(sys.argv[5]), float)[y.astype(int), None] if sys.argv[5] else 1.0
if v: X = numpy.hstack([X, numpy.full((len(X), 1), v)])
W, T = numpy.zeros_like(laps[0]["model"]), len(laps)
state = {}
assert T == 10 and W.shape[1] == X.shape[1]
for t, lap in enumerate(laps, 1):
    G = (slopes(loss, lap["loss_width"], X @ W.T, y) * weight).T @ X / len(X) + 0.1 * W
    W = eval(code)
    assert numpy.allclose(lap["model"], W, rtol=0, atol=1e-12), (t, lap["model"], W)
assert numpy.abs(W).max() > 1e-2
' - "$1" "$2" "$5" "${6-}" || fail "$*"
}

@test "every loss: exact descent is NumPy's, with and without an intercept" {
    for loss in squared hinge logistic smooth-hinge huber huberised-hinge; do
        descends two.dp $loss '' '' 'W - 0.5 * G'
        descends four.dp $loss '--intercept 0.75' '' 'W - 0.5 * G'
    done
    descends four.dp softmax '' '' 'W - 0.5 * G'
    descends four.dp softmax '--intercept 2' '' 'W - 0.5 * G'
    descends two.dp huber '--loss-width 0.3' '' 'W - 0.5 * G'
    descends real.dp squared '--intercept 1' '' 'W - 0.5 * G'
    descends real.dp huber '--loss-width 0.2' '' 'W - 0.5 * G'
    descends counts.dp poisson '--intercept 1' '' 'W - 0.5 * G'
}

@test "class weights: exact descent is NumPy's; the clip comes after the weight; other stages refuse or forget them" {
    descends two.dp logistic '--class-weights 0.2,1' '' 'W - 0.5 * G' '[0.2, 1]'
    descends four.dp softmax '--class-weights 1,.5,0.25,1e-1 --intercept 2' '' 'W - 0.5 * G' '[1, .5, .25, .1]'
    descends four.dp hinge '--class-weights 1,.5,0.25,1e-1' '' 'W - 0.5 * G' '[1, .5, .25, .1]'
    assert_equal "$(dp-cat --lap 2 stream | jq -r .class_weights)" 1,.5,0.25,1e-1
    dp-info stream | grep -q '^class weights: 1,.5,0.25,1e-1$'
    child='dp-sample --data two.dp --mode full | dp-grad --data two.dp --loss logistic --class-weights 0.001,1 --clip 1e-3 | dp-noise -z 1 |
        dp-account --epsilon 900 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1'
    dp-loop --laps 1 --seed 1 --exec processes -- "${child/| dp-noise/| tee bounded | dp-noise}" > private
    python "$DATA"'
lap = frames.laps("bounded")[0]
norm = numpy.linalg.norm(X, axis=1)
g = numpy.where(y == 1, .5, -.5 * .001) # the slope at W = 0
c = numpy.sign(g) * numpy.minimum(abs(g), 1e-3 / numpy.maximum(1, norm))
assert (abs(c) < abs(g) - 1e-6).any() and (c == g).any()
got = lap["sum"] * lap["grid"]
assert numpy.allclose(got, c @ X, rtol=1e-3, atol=1e-6) and lap["bound"] == 1e-3, (got, c @ X)
' - two.dp
    # a run that starts from such a model says nothing of weights unless it has its own
    dp-loop --laps 1 --seed 1 -q -o first -- "$child" > /dev/null 2>&1
    dp-loop --laps 1 --seed 1 -q --init first -o second -- "${child/--class-weights 0.001,1/}" > /dev/null 2>&1
    complains 1 "dp-info: the model has no 'class_weights'" dp-info --get class_weights second
    # an inline row with an invalid label has no weight
    dp-loop --laps 1 --seed 1 -q -o inline -- "${child/--mode full/--mode full --inline}" > /dev/null 2>&1
    dp-cmp first inline
    complains 1 'dp-linesearch: the gradients have weights of classes, which a line search does not know' dp-loop --laps 1 --seed 1 -q -- '
        dp-sample --data two.dp --mode full | dp-grad --data two.dp --loss logistic --class-weights 0.1,1 --clip 1 --keep-batch | dp-noise -z 9 |
        dp-linesearch --same-batch --data two.dp --tries 1 --clip 1 --first-step 1 --epsilon 1 | dp-account --epsilon 90 --delta 1e-5 --allow-seeded --no-ledger | dp-step'
    complains 2 "dp-grad: --class-weights: must be numbers above 0 and at most 1, separated by commas, got 'balanced': shares of classes among private rows would have to be paid for" \
        dp-grad --loss logistic --class-weights balanced
    for weights in 0,1 1.5,1 1,,1 1,x nan,1 ''; do
        complains 2 "dp-grad: --class-weights: must be numbers above 0 and at most 1, separated by commas, got '$weights'" \
            dp-grad --loss logistic --class-weights="$weights"
    done
    child='dp-sample --data DIR --mode full | dp-grad --data DIR --loss LOSS --class-weights 1,1,1 --clip 1 | dp-noise -z 1 | dp-account --epsilon 9 --delta .1 --no-ledger --allow-seeded | dp-step --step 1'
    child=${child//DIR/two.dp}
    complains 2 'dp-grad: --class-weights: 3 weights, and there are 2 classes' dp-loop -q --laps 1 --seed 1 -- "${child/LOSS/logistic}"
    complains 2 'dp-grad: --class-weights: the label is a number, and has no classes' dp-loop -q --laps 1 --seed 1 -- "$(sed 's/two/real/g; s/LOSS/squared/' <<< "$child")"
    dpline dp-sgd --data two.dp --class-weights 1,.5 --print | grep -qF -- '--intercept 0 --class-weights 1,.5 --clip 1'
}

@test "class weights: dp-scd-step ends at the minimum of the weighted loss, which NumPy finds, and clips after the weight" {
    scd() { # DATA LOSS WEIGHTS CLIP LAPS
        dp-loop --laps "$5" --seed 1 -q --exec fused -- "dp-sample --data $1 --mode full |
            dp-scd-step --data $1 --loss $2 --lambda 0.05 --newton 20 --class-weights $3 --clip $4 | dp-noise -z 1e-3 |
            dp-account --epsilon 1e30 --delta 1e-5 --allow-seeded --no-ledger | dp-step" > stream
    }
    for run in 'two.dp squared .2,1' 'two.dp logistic .2,1' 'two.dp smooth-hinge 1,.1' 'four.dp logistic 1,.5,.25,.1'; do
        read -r data loss weights <<< "$run"
        scd "$data" "$loss" "$weights" .05 400
        python "$SLOPES$DATA"'
lap = frames.laps("stream")[-1]
assert lap["class_weights"] == sys.argv[4]
weight = numpy.array(eval(sys.argv[4]))[y.astype(int), None]
W = numpy.zeros_like(lap["model"])
for _ in range(1000): W = W - .5 * ((slopes(sys.argv[3], lap["loss_width"], X @ W.T, y) * weight).T @ X / len(X) + 0.05 * W)
found = lap["scale"] * lap["model"]
assert numpy.abs(W).max() > .1 and numpy.allclose(found, W, rtol=0, atol=5e-4), (sys.argv, found, W)
' - "$data" "$loss" "$weights" || fail "$run"
    done
    # the first update of the squared loss is w y / (1 + w s), clipped
    dp-loop --laps 1 --seed 1 -q --exec processes -- "dp-sample --data two.dp --mode full | dp-scd-step --data two.dp --loss squared --lambda 0.05 \
        --class-weights .3,1 --clip .1 | tee bounded | dp-noise -z 1 | dp-account --epsilon 900 --delta 1e-5 --allow-seeded --no-ledger | dp-step" > stream
    python "$DATA"'
lap = frames.laps("bounded")[0]
w = numpy.where(y > 0, 1, .3)
zeta = w * (2 * y - 1) / (1 + w * (X ** 2).sum(1) / .05)
zeta *= numpy.minimum(1, .1 / numpy.maximum(numpy.abs(zeta) * numpy.maximum(1, numpy.linalg.norm(X, axis=1)), 1e-300))
assert numpy.allclose(lap["sum"] * lap["grid"], zeta @ X, rtol=0, atol=1e-6 * len(X)), (lap["sum"] * lap["grid"], zeta @ X)
' - two.dp
    complains 2 'dp-scd-step: --class-weights: 3 weights, and there are 2 classes' dp-loop -q --laps 1 --seed 1 -- "dp-sample --data two.dp --mode full |
        dp-scd-step --data two.dp --loss hinge --lambda 1 --clip 1 --class-weights 1,1,1 | dp-noise -z 1 | dp-account --epsilon 9 --delta .1 --no-ledger --allow-seeded | dp-step"
    dpline scd --data two.dp --class-weights 1,.5 --print | grep -qF -- '--class-weights 1,.5 --clip'
}

@test "schedules, momentum, projection" {
    descends two.dp logistic '' '--schedule sqrt:2:3' 'W - 0.5 / numpy.sqrt(2 + 3 * t) * G'
    descends two.dp logistic '' '--schedule inverse' 'W - 0.5 / t * G'
    descends two.dp logistic '' '--schedule linear:0.1' 'W - 0.5 * (1 - 0.9 * (t**.5 - 1) / (11**.5 - 1)) * G'
    descends two.dp logistic '' '--schedule cosine' 'W - 0.5 * float(numpy.float32(numpy.cos(numpy.pi * (t - 1) / 20))) ** 2 * G'
    seq 1 10 > b.txt
    descends two.dp logistic '' '--schedule b.txt' 'W - 0.5 / t * G'
    descends two.dp logistic '' '--momentum 0.5' 'W - 0.5 * state.setdefault(t, G + 0.5 * state.get(t - 1, 0))'
    descends two.dp logistic '' '--project 0.2' '(lambda V: V * min(1, 0.2 / numpy.linalg.norm(V)))(W - 0.5 * G)'
    descends four.dp softmax '' '--optimizer adagrad-norm --b0 2 --floor 0.5 --schedule sqrt:0:1' \
        'W - 0.5 / t**.5 / numpy.sqrt(state.setdefault(t, state.get(t - 1, 4) + max((G**2).sum(), 0.5))) * G'
}

@test "averages: tail, polynomial and exponential" {
    child='dp-sample --data two.dp --mode full | dp-grad --data two.dp --loss logistic --non-private | dp-account --non-private --allow-seeded | dp-step --step 2'
    dp-loop --laps 10 --seed 1 -- "$child --average tail --tail 0.3" > tail
    dp-loop --laps 10 --seed 1 -- "$child --average polynomial --gamma 1.5" > polynomial
    dp-loop --laps 10 --seed 1 -- "$child --average exponential --weight 0.3" > exponential
    python '
models = [lap["model"] for lap in frames.laps("tail")]
last = frames.laps("tail")[-1]
assert last["averaged"] == 3 and numpy.allclose(last["average"], sum(models[-3:]) / 3, rtol=0, atol=1e-14)
mean = 0
for t, w in enumerate(models, 1):
    mean = (1 - 2.5 / (t + 1.5)) * mean + 2.5 / (t + 1.5) * w
assert numpy.allclose(frames.laps("polynomial")[-1]["average"], mean, rtol=0, atol=1e-14)
mean = 0
for t, w in enumerate(models, 1):
    mean = (1 - max(1 / t, 0.3)) * mean + max(1 / t, 0.3) * w
assert numpy.allclose(frames.laps("exponential")[-1]["average"], mean, rtol=0, atol=1e-14)'
}

@test "the clipped sum is that of the definition: each row bounded, rounded toward zero, added" {
    for case in "two.dp logistic 0.3" "four.dp softmax 0.2 --intercept 0.75" "four.dp hinge 50" "counts.dp poisson 0.5"; do
        set -- $case
        dp-loop --laps 3 --seed 1 --exec processes -- "dp-sample --data $1 --rate 0.2 | tee raw | dp-grad --data $1 --loss $2 --clip ${*:3} |
            tee bounded | dp-noise -z 0.5 | dp-account -e 1e6 -d 1e-5 --allow-seeded | dp-step --step 0.5" > /dev/null
        python "$SLOPES$DATA"'
loss, C = sys.argv[3], float(sys.argv[4])
clipped = 0
for raw, lap in zip(frames.laps("raw"), frames.laps("bounded")):
    rows = raw["rows"]
    x, v = X[rows], lap.get("intercept", 0)
    if v: x = numpy.hstack([x, numpy.full((len(x), 1), v)])
    z = -slopes(loss, lap["loss_width"], x @ lap["model"].T, y[rows])
    norm = numpy.linalg.norm(z, axis=1) * numpy.maximum(1, numpy.linalg.norm(x, axis=1))
    clipped += (norm > C).sum()
    z *= numpy.minimum(1, C / numpy.maximum(norm, 1e-300))[:, None]
    m = lap["records"][-1]
    assert m["bound"] == C == m["sensitivity"] and m["release"] == "sum" and m["adjacency"] == "null-record"
    assert "rows" not in lap and lap["label"] == "bounded" and lap["grid"] <= C * 2**-20 < 2 * lap["grid"]
    # each product lost less than one step toward zero, and at most a float rounding of its coefficient
    difference = (z.T @ x) / lap["grid"] - lap["sum"]
    assert numpy.abs(difference).max() < len(rows) * 1.2, difference
assert (clipped > 0) == (C < 1), clipped' - "$1" "$2" "$3" || fail "$case"
    done
}

@test "rows of any norm, in batches of any size, are each clipped by their own" {
    dp-synth classification --rows 9000 --cols 3 --seed 3 -o large.dp -q
    # norms between 0.05 and 4, in no order; every update is far beyond the bound, in the last rows as in the first
    python "
X = numpy.load('large.dp/X.npy')
numpy.save('large.dp/X.npy', (X * 4 * 0.05 ** numpy.random.default_rng(1).random((9000, 1))).astype('f4'))"
    dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data large.dp | tee raw | dp-grad --data large.dp --loss squared --clip 1e-3 |
        tee inside | dp-noise -z 1 | dp-account -e 1e6 -d 1e-6 --allow-seeded | dp-step --step 1" > /dev/null
    dp-grad --data large.dp --loss squared --clip 1e-3 --threads 3 < raw > threads
    dp-grad --data large.dp --loss squared < raw > updates
    dp-clip --data large.dp --clip 1e-3 < updates > outside
    dp-clip --data large.dp --clip 1e-3 --threads 3 < updates > outside-threads
    python "
X, y = numpy.load('large.dp/X.npy').astype(float), numpy.load('large.dp/y.npy')
norm = numpy.maximum(1, numpy.linalg.norm(X, axis=1))
assert norm.max() > 3 and (norm == 1).sum() > 1000
expected = (numpy.where(y == 1, 1.0, -1.0) * 1e-3 / norm) @ X"'
for name in "inside", "threads", "outside", "outside-threads":
    lap, = frames.laps(name)
    # truncation and float coefficients: at most 1.2 grid steps a row
    error = numpy.abs(lap["sum"][0] - expected / lap["grid"]).max()
    assert error < 9000 * 1.2 and numpy.abs(expected / lap["grid"]).max() > 1e6, (name, error)'
}

@test "one row alone stays within the bound, as whole numbers" {
    for seed in 1 2 3 4 5 6 7 8; do
        dp-synth classification --rows 2 --cols 7 --classes 3 --seed $seed -o one.dp -q --force
        dp-loop --laps 9 --seed $seed --exec processes -- "dp-sample --data one.dp --rate 0.5 | tee raw | dp-grad --data one.dp --loss softmax --clip 0.1 --intercept 3 |
            tee bounded | dp-noise -z 100 | dp-account -e 1e6 -d 1e-5 --allow-seeded | dp-step --step 0.5" > /dev/null
        python '
norms = [sum(int(k) ** 2 for k in lap["sum"].ravel()) / (lap["bound"] / lap["grid"]) ** 2
         for raw, lap in zip(frames.laps("raw"), frames.laps("bounded")) if len(raw["rows"]) == 1]
assert norms and 0.999 < max(norms) <= 1, norms'
    done
}

@test "dp-grad | dp-clip = dp-grad --clip, with an intercept, inline, sparse and on threads too" {
    gate='dp-noise -z 1 | dp-account -e 1e6 -d 1e-5 --allow-seeded | dp-step --step 0.5'
    dp-synth classification --rows 300 --cols 5 --classes 4 --seed 4 --storage csr -o sparse.dp -q
    go() { dp-loop --laps 5 --seed 1 -o "$1" -- "$2 | $gate" > /dev/null; }
    for options in '' '--intercept 0.75'; do
        go fused "dp-sample --data four.dp --rate 0.3 | dp-grad --data four.dp --loss softmax $options --clip 0.2"
        go threads "dp-sample --data four.dp --rate 0.3 | dp-grad --data four.dp --loss softmax $options --clip 0.2 --threads 3"
        go inline "dp-sample --data four.dp --rate 0.3 --inline | dp-grad --loss softmax $options --clip 0.2"
        go sparse "dp-sample --data sparse.dp --rate 0.3 | dp-grad --data sparse.dp --loss softmax $options --clip 0.2"
        cmp fused threads
        cmp fused inline
        dp-cmp --weights-only fused sparse
        # a further stage shifts the keys of those after it, so only the sums are compared
        dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data four.dp --rate 0.3 | tee raw | dp-grad --data four.dp --loss softmax $options --clip 0.2 | tee inside | $gate" > /dev/null
        dp-grad --data four.dp --loss softmax $options < raw | dp-clip --data four.dp --clip 0.2 --threads 2 > outside
        python 'a, b = frames.laps("inside")[0], frames.laps("outside")[0]
assert (a["sum"] == b["sum"]).all() and numpy.abs(a["sum"]).max() > 1000 and a["records"] == b["records"]'
    done
}

@test "evaluation and prediction: an intercept, softmax probabilities, Poisson means" {
    train() { dp-loop --laps 30 --seed 1 -o model -- "dp-sample --data $1 --mode full | dp-grad --data $1 --loss $2 --lambda 0.01 --non-private --intercept 0.5 |
        dp-account --non-private --allow-seeded | dp-step --step 1" > /dev/null; }
    train four.dp softmax
    dp-eval --data four.dp --metrics objective,logloss,accuracy --format json -i model > measured
    dp-predict --scores --probability --no-header model four.dp > predicted
    python "$DATA"'
lap = frames.laps("model")[0]
u = X @ lap["model"][:, :-1].T + 0.5 * lap["model"][:, -1]
p = numpy.exp(u) / numpy.exp(u).sum(axis=1, keepdims=True)
said = json.load(open("measured"))
loss = -numpy.log(p[numpy.arange(len(y)), y.astype(int)]).mean()
assert abs(said["logloss"] - loss) < 1e-12 and said["accuracy"] == (u.argmax(axis=1) == y).mean()
assert abs(said["objective"] - loss - 0.005 * (lap["model"] ** 2).sum()) < 1e-12
table = numpy.array([[float(x) for x in line.split(",")[1:]] for line in open("predicted")])
assert numpy.allclose(table[:, :4], u, atol=1e-12) and numpy.allclose(table[:, 4:], p, atol=1e-12)' - four.dp
    train counts.dp poisson
    dp-eval --data counts.dp --metrics mse,objective --format json -i model > measured
    python "$DATA"'
lap = frames.laps("model")[0]
u = (X @ lap["model"][:, :-1].T + 0.5 * lap["model"][:, -1])[:, 0]
scale, offset, said = lap["label_scale"], lap["label_offset"], json.load(open("measured"))
assert abs(said["mse"] - ((scale * (numpy.exp(u) - y)) ** 2).mean()) < 1e-10
assert abs(said["objective"] - (numpy.exp(u) - y * u).mean() - 0.005 * (lap["model"] ** 2).sum()) < 1e-12' - counts.dp
    # a model with an intercept is one column wider than its rows
    complains 1 "dp-eval: the model has 5 columns, six.dp has 6" bash -c 'dp-synth regression --rows 9 --cols 6 -o six.dp -q && dp-eval --data six.dp -i model'
}

@test "--scale: the same descent, and weights that are used as so many times what it found" {
    train() { dp-loop --laps 5 --seed 1 -o "$1" "${@:2:2}" -- "dp-sample --data two.dp --mode full | dp-grad --data two.dp --loss logistic --lambda 0.1 --clip 0.5 $4 |
        dp-noise -z 1 | dp-account -e 100 -d 1e-5 --allow-seeded | dp-step --step 1 --average tail" > /dev/null; }
    export -f train
    train plain -q -q ''
    train scaled -q -q '--scale 0.62'
    dp-info --get model scaled > found
    dp-info --get model plain | cmp - found
    assert_equal "$(dp-info --get scale scaled)" 0.62
    dp-predict --scores --no-header plain two.dp | cut -d , -f 2 > scores
    dp-predict --scores --no-header scaled two.dp | cut -d , -f 2 | paste scores - | awk '{ d = $1 * 0.62 - $2; if (d > 1e-12 || d < -1e-12) exit 1 }'
    dp-cat --last plain > one
    dp-cat --last scaled | sed 's/"scale":0.62/"scale":1/' | cmp - one
    complains 1 "dp-grad: the model to start from has another scale of its weights, by lambda, rows or --scale" bash -c "train x --init plain '--scale 0.5'"
    train more --init scaled '--scale 0.62'
}

@test "labels outside the loss's domain, classes that do not fit" {
    try() { dp-loop --laps 2 -- "dp-sample --data $1 --rate 0.5 | dp-grad --data $1 --loss $2 --clip 1 | dp-noise -z 1 | dp-account -e 9 -d 1e-5 | dp-step --step 1"; }
    export -f try
    complains 1 "dp-grad: --loss logistic needs labels in classes; the labels of this data set are real numbers" bash -c 'try real.dp logistic'
    complains 1 "dp-grad: --loss softmax needs three classes or more; for two, --loss logistic is the same" bash -c 'try two.dp softmax'
    complains 1 "dp-grad: --loss poisson needs labels that are counts; the labels of this data set are classes" bash -c 'try two.dp poisson'
    # a label that is no count contributes nothing, and no failure tells of it
    python "y = numpy.load('counts.dp/y.npy'); y[299] = -1; numpy.save('counts.dp/y.npy', y)"
    cp -r counts.dp zero.dp
    python "x = numpy.load('zero.dp/X.npy'); x[299] = 0; numpy.save('zero.dp/X.npy', x); y = numpy.load('zero.dp/y.npy'); y[299] = 1; numpy.save('zero.dp/y.npy', y)"
    for rows in "" --inline; do
        for d in counts zero; do
            dp-loop --laps 3 --seed 1 -q -o $d -- "dp-sample --data $d.dp --rate 0.9 $rows | dp-grad $([ "$rows" ] || echo "--data $d.dp") --loss poisson --clip 1 |
                dp-noise -z 1 | dp-account -e 99 -d 1e-5 --no-ledger --allow-seeded --allow-weak | dp-step --step 1" > /dev/null
        done
        dp-cmp --weights-only counts zero
    done
    # all of them
    python "y = numpy.load('counts.dp/y.npy'); y[:] = -1; numpy.save('counts.dp/y.npy', y)"
    dp-loop --laps 1 --exec processes -- "dp-sample --data counts.dp --inline | dp-grad --loss poisson --clip 1 | tee bounded | dp-noise -z 1 | dp-account -e 9 -d 1e-5 | dp-step --step 1" > /dev/null
    python 'assert (frames.laps("bounded")[0]["sum"] == 0).all()'
}

@test "models to start from that do not fit" {
    train() { dp-loop --laps 2 ${init:+--init "$init"} -o "$1" -- "dp-sample --data $2 --mode full | dp-grad --data $2 --loss squared --non-private $3 | dp-account --non-private | dp-step --step 1" > /dev/null; }
    export -f train
    train four four.dp
    train shifted two.dp '--intercept 1'
    complains 1 "dp-grad: the model is 4 × 5, the data needs 1 × 5" env init=four bash -c 'train x two.dp'
    complains 1 "dp-grad: --intercept: 0, but the model to start from has 1" env init=shifted bash -c 'train x two.dp'
    dp-loop --laps 2 -o scd -- "dp-sample --data two.dp --mode shuffle | dp-scd-step --data two.dp --loss squared --lambda 1 --variant non-private | dp-account --non-private | dp-step" > /dev/null
    complains 1 "dp-grad: the model to start from was trained by another method" env init=scd bash -c 'train x two.dp'
    complains 1 "dp-scd-step: the model to start from has an intercept; coordinate descent fits none" \
        dp-loop --laps 2 --init shifted -- "dp-sample --data two.dp --mode shuffle | dp-scd-step --data two.dp --loss squared --lambda 1 --variant non-private | dp-account --non-private | dp-step"
    # a descent that continues from a model is the same as one descent
    train first two.dp
    init=first train second two.dp
    dp-loop --laps 4 -o whole -- "dp-sample --data two.dp --mode full | dp-grad --data two.dp --loss squared --non-private | dp-account --non-private | dp-step --step 1" > /dev/null
    dp-cmp --weights-only second whole
}

@test "dp-step: the method decides what a sum is" {
    gradients='dp-sample --data two.dp --rate 0.5 | dp-grad --data two.dp --loss logistic --clip 1 | dp-noise -z 1 | dp-account -e 9 -d 1e-5'
    complains 2 "dp-step: --step is required: the sums are gradients" dp-loop --laps 2 -- "$gradients | dp-step"
    complains 2 "dp-step: --step is for gradients; what laps release is what the model moves by" dp-loop --laps 2 -- \
        "dp-sample --data two.dp --rate 0.5 | dp-scd-step --data two.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 | dp-account -e 9 -d 1e-5 | dp-step --step 1"
}

@test "a step size that makes the model infinite stops the run before such a model is released" {
    gradients='dp-sample --data two.dp --rate 0.5 | dp-grad --data two.dp --loss squared --lambda 1 --clip 1 | dp-noise -z 1 | dp-account -e 9 -d 1e-5'
    complains 1 "dp-step: the model is not finite after lap 2: a smaller --step may help" \
        dp-loop --laps 5 -- "$gradients | dp-step --step 1e300"
    dp-loop --laps 5 -- "$gradients | dp-step --step 1e300" > stream 2> /dev/null || true
    python 'laps = frames.laps("stream")
assert len(laps) == 1 and numpy.isfinite(laps[0]["model"]).all() and laps[0]["epsilon"] > 0'
    complains 1 "dp-grad: a gradient of lap 2 is not finite: a smaller step size may help" dp-loop --laps 5 -- \
        "dp-sample --data counts.dp --mode full | dp-grad --data counts.dp --loss poisson --non-private | dp-account --non-private | dp-step --step 1e6"
}

@test "schedules that are too short" {
    seq 1 3 > b.txt
    gradients='dp-sample --data two.dp --rate 0.5 | dp-grad --data two.dp --loss squared --clip 1'
    complains 1 "dp-step: --schedule: the file has values for 3 laps, the run has 4" dp-loop --laps 4 -- \
        "$gradients | dp-noise -z 1 | dp-account -e 9 -d 1e-5 | dp-step --step 1 --schedule b.txt"
    complains 1 "dp-noise: --schedule: the file has values for 3 laps, the run has 4" dp-loop --laps 4 -- \
        "$gradients | dp-noise -z 1 --schedule b.txt | dp-account -e 9 -d 1e-5 | dp-step --step 1"
}

@test "dp-noise --schedule: each lap's record and the plan in hello are z sqrt(b_t/b_1)" {
    dp-loop --laps 6 --seed 1 --exec processes -- "tee token | dp-sample --data two.dp --rate 0.5 | dp-grad --data two.dp --loss squared --clip 2 | tee bounded | dp-noise -z 3 |
        dp-account -e 1e3 -d 1e-5 --allow-seeded | dp-step --step 0.5" > /dev/null
    printf '4\n9\n16\n1\n4\n2\n' > b.txt
    dp-noise -z 3 --schedule b.txt --in bounded --out noised
    python '
z = 3 * numpy.sqrt(numpy.array([4, 9, 16, 1, 4, 2]) / 4)
multipliers = frames.hello("noised")["multipliers"]
assert numpy.allclose(multipliers, z, rtol=1e-15)
for t, lap in enumerate(frames.laps("noised")):
    m = lap["records"][-1]
    assert m["multiplier"] == multipliers[t] and m["scale"] == m["multiplier"] * 2 and "multipliers" not in lap'
    dp-noise -z 3 --in bounded --out plain
    python 'assert "multipliers" not in frames.hello("plain") and all("multipliers" not in lap and lap["records"][-1]["multiplier"] == 3 for lap in frames.laps("plain"))'
}

@test "a schedule is charged for what it is: q = .01, 500 laps at z = 1 and 500 at z = 2 cost epsilon = 1.3987" {
    (yes 1 | head -n 500; yes 4 | head -n 500) > b.txt
    dp-loop --laps 1000 --seed 1 -o model -- "dp-sample --data two.dp --rate 0.01 | dp-grad --data two.dp --loss logistic --clip 1 |
        dp-noise -z 1 --schedule b.txt | dp-account -e 2 -d 1e-5 --allow-seeded | dp-step --step 0.1 --schedule b.txt" > /dev/null
    python 'lap = frames.laps("model")[0]
assert lap["lap"] == 1000 and abs(lap["epsilon"] - 1.3987) < 5e-4 and "multipliers" not in lap, lap["epsilon"]'
}
