# dp-transform, and gradients after a transform, against NumPy.
load helper

# python TEXT ARGUMENTS…: with numpy, the frames of streams and the words of the pages
python() { PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 -c "import sys, numpy, frames, transform"$'\n'"$1" "${@:2}"; }

# released LAPS…: in.frames; each lap is a Python dictionary. M is 40 rows' moments with noise of scale 0.25, on a grid of 2^-10
released() {
    python '
rng = numpy.random.default_rng(3)
x = rng.normal(size=(40, 4)) * [1, 0.5, 0.1, 0.01]
M = x.T @ x + 0.05 * numpy.diag([1, 1, 1, -1])
SUM = transform.moments(M, 2.0**-10)
LAP = {"sum": transform.packed(SUM, "i8"), "grid": 2.0**-10, "noise_scale": 0.25, "records": [transform.record(40)]}
transform.stream("in.frames", [LAP | lap for lap in [eval(word) for word in sys.argv[1:]]])' "$@"
}

# is ARGUMENTS…: T and the curvature of out.frames equal transform.whiten(M, ARGUMENTS)
is() {
    python '
M = transform.unpack(frames.frames("in.frames", "lap")[0]["sum"][0] * 2.0**-10, 4)
lap = frames.laps("out.frames")[0]
t, curvature = eval("transform.whiten(M, " + sys.argv[1] + ")")
got = lap["transform"]
assert got.shape == t.shape, got.shape
if len(t) < 4:
    t *= numpy.sign((t * got).sum(1))[:, None]
assert numpy.abs(got / t - 1).max() < 1e-9, (got, t)
assert abs(lap["curvature"] / curvature - 1) < 1e-12, lap["curvature"]
assert "sum" not in lap' "$*"
}

# made OPTIONS… -- ARGUMENTS…: dp-transform computes the same from in.frames as NumPy
made() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    dp-transform "${options[@]}" < in.frames > out.frames
    is "$@"
}

@test "the transform is what the page says, and so is the curvature" {
    released '{}'
    made -- 40, 0.25
    made --floor 0.1 -- 40, 0.25, 0.1
    made --radius 2 -- 40, 0.25, 0.5, 2
    made --rank 2 -- 40, 0.25, 0.5, 0.7, 2
    made --rank 9 -- 40, 0.25
    released '{"noise_scale": 3.0, "records": [transform.record(400, 0.125)]}'
    made -- 50, 3
}

@test "a row for the constant" {
    released '{}'
    for rank in "" 2; do
        dp-transform --constant 0.25 ${rank:+--rank $rank} < in.frames > out.frames
        dp-transform ${rank:+--rank $rank} < in.frames > without.frames
        python '
got, without = (frames.laps(name + ".frames")[0] for name in ("out", "without"))
assert got["curvature"] == without["curvature"] and (got["transform"][:-1] == without["transform"]).all()
assert (got["transform"][-1] == [0, 0, 0, numpy.sqrt(0.5) / 0.25]).all(), got["transform"]'
    done
}

# says MESSAGE LAP: the message of dp-transform about such a lap
says() {
    released "$2"
    complains 1 "dp-transform: $1" dp-transform --in in.frames
}

@test "what are no moments" {
    local none="the sum of lap 1 is not one of moments (--on KIND names the laps of dp-moments)"
    released '{}'
    edit sum= < in.frames > without.frames
    complains 1 "dp-transform: the frame of lap 1 has no released sum" dp-transform --in without.frames
    says "$none" '{"sum": transform.packed(SUM[:, :9], "i8")}'
    says "$none" '{"sum": transform.packed(SUM.reshape(2, 5), "i8")}'
    says "$none" '{"sum": transform.packed(SUM[0], "i8")}'
    says "$none" '{"sum": transform.packed(SUM[:, :0], "i8")}'
    says "$none" '{"model": transform.packed(numpy.zeros((1, 3)), "f8")}'
    says "$none" '{"columns": transform.packed(numpy.arange(10), "i8")}'
    says "the frame of lap 1 does not record how its rows were sampled" '{"records": []}'
    says "the moments of lap 1 have no noise, by which the floor is set" '{"noise_scale": 0.0}'
    says "the moments of lap 1 have no noise, by which the floor is set" '{"noise_scale": float("inf")}'
    says "the moments are noise: no direction of theirs is above zero" '{"sum": transform.packed(-SUM * [[1, 0, 0, 0, 1, 0, 0, 1, 0, 0]], "i8")}'
    says "the moments are not finite" '{"grid": 1e308}'
    complains 5 "dp-loop: the child pipeline gave back a hello frame that has passed no gate: dp-account is missing" \
        dp-loop --laps 1 -- "dp-sample --data $(small_data && echo small.dp) | dp-transform"
}

# put NAME MATRIX [MORE]: a new stage that puts a transform into each frame; MATRIX is Python, with numpy as n, and so are the
# statements MORE
put() {
    filter "$1" 'import numpy as n
if frame["kind"] == "lap":
    t = n.ascontiguousarray('"$2"', float)
    frame["transform"] = msgpack.ExtType(1, struct.pack("<BBQQ", 2, 2, *t.shape) + t.tobytes())
    '"${3:-}"
}
T='n.random.default_rng(5).normal(size=(5, 7)) * [[0.9], [0.6], [0.3], [0.1], [0.5]]' # cuts many rows and not all

SQUARE='n.random.default_rng(5).normal(size=(7, 7)) * 0.4' # scores are made of rows behind it

# behind LAPS SAMPLE GRAD STEP: stream, with frames after T, on data of 6 columns with an intercept. The frames of the laps to
# be released do not reach dp-step, which could not know that a stage of the test makes a curvature.
behind() {
    filter unannounced 'if frame["kind"] == "hello": frame.pop("records", None)'
    dp-loop -q --laps "$1" --seed 4 --exec processes -o model -- "./put | dp-sample $2 | dp-grad --intercept 0.5 $3 | dp-noise -z 1e-4 |
        dp-account --epsilon 1e12 --delta 1e-5 --allow-seeded | tee sums.frames | ./unannounced | dp-step $4" > stream
}

# gradients DATA CLIP [unit|uncut]: the sums of sums.frames equal NumPy's sums over z, except for rounding and noise
gradients() {
    python '
data, cap = sys.argv[1], float(sys.argv[2])
import numpy as n
t = '"$T"'
x, y = transform.rows_of(data, 0.5), numpy.load(data + "/y.npy")
how = {word: True for word in sys.argv[3:]}
z, s = transform.cut(x, t, **how)
assert how or 0.2 < (s < 1).mean() < 0.9, (s < 1).mean()
cap = cap / numpy.maximum(1, numpy.linalg.norm(z, axis=1))
for lap, before in zip(frames.laps("sums.frames"), [None] + frames.laps("stream")):
    classes = lap["classes"]
    w = numpy.zeros((classes if classes > 2 else 1, 7)) if before is None else before["model"]
    u = s[:, None] * (x @ w.T)
    if classes > 2:
        c = numpy.exp(u - u.max(1)[:, None])
        c = (y[:, None] == numpy.arange(classes)) - c / c.sum(1)[:, None]
    else:
        c = (2 * y[:, None] - 1) / (1 + numpy.exp((2 * y[:, None] - 1) * u))
    c *= numpy.minimum(1, cap / numpy.maximum(numpy.linalg.norm(c, axis=1), 1e-300))[:, None]
    got = lap["sum"] * lap["grid"]
    assert got.shape == (len(w), len(t))
    assert numpy.abs(got - c.T @ z).max() < 3e-3, got - c.T @ z' "$@"
}

@test "a sum behind a transform is that of NumPy, clipped and not, dense and sparse, inline and not" {
    dp-synth classification --rows 300 --cols 6 --classes 4 --seed 2 -o four.dp -q
    dp-synth classification --rows 300 --cols 6 --seed 2 --storage csr -o sparse.dp -q
    small_data 300
    for T in "$T" "$SQUARE"; do
        put put "$T"
        behind 3 "--data small.dp --mode full" "--data small.dp --loss logistic --clip 1" "--step 20"
        gradients small.dp 1
        behind 3 "--data four.dp --mode full --inline" "--loss softmax --clip 0.6" "--step 20"
        gradients four.dp 0.6
        behind 3 "--data sparse.dp --mode full" "--data sparse.dp --loss logistic | dp-clip --data sparse.dp --clip 0.3" "--step 20"
        gradients sparse.dp 0.3
    done
}

@test "rows are made of norm 1, or not cut, where the frame says so" {
    small_data 300
    for how in unit uncut; do
        put put "$T" "frame['${how/unit/unit_rows}'] = True"
        behind 3 "--data small.dp --mode full" "--data small.dp --loss logistic --clip 1" "--step 20"
        gradients small.dp 1 $how
    done
    # values computed from rows stay until the frame says otherwise, even if the matrix is the same: with almost the same model
    # every other sum is the same
    for how in unit_rows uncut; do
        put put "$T"
        echo "    frame[\"$how\"] = frame[\"lap\"] == 2" > more
        filter put "$(sed -n '/^        import numpy/,/transform/p' put | sed 's/^        //'; cat more)"
        behind 3 "--data small.dp --mode full" "--data small.dp --loss logistic --clip 1" "--step 1e-9"
        python '
a, b, c = [lap["sum"] * lap["grid"] for lap in frames.laps("sums.frames")]
assert numpy.abs(a - c).max() < 3e-3 and numpy.abs(a - b).max() > 0.1, (a, b, c)'
    done
    python '
x = transform.rows_of("small.dp", 0.5)
t = '"${T//n./numpy.}"'
assert (numpy.linalg.norm(x @ t.T, axis=1) > 1).sum() > 60'
    dp-loop -q --plan 'm 1, g 1' --seed 1 --exec processes -o model -- "dp-sample --data small.dp --mode full | dp-moments --on m --data small.dp --unit |
        dp-grad --on g --data small.dp --loss logistic --clip 1 | dp-noise -z 1 | dp-account --epsilon 1e12 --delta 1e-5 --allow-seeded |
        dp-transform --on m --uncut | tee laps.frames | dp-step --on g --step 1" > /dev/null
    assert_equal "$(dp-cat laps.frames | jq -c 'select(.lap) | [.lap, .unit_rows, .uncut]' | tr -d '\n')" "[1,true,true][2,true,true]"
}

@test "a step behind a transform moves the model by T times the step of u" {
    small_data 300
    for how in "--momentum 0.9" "--optimizer adam" "--relative"; do
        put put "$T" "frame['curvature'] = 0.25"
        behind 4 "--data small.dp --mode full" "--data small.dp --loss logistic --lambda 0.01 --clip 1" "--step 0.5 $how"
        python '
import numpy as n
t = '"$T"'
w, m, v = numpy.zeros(7), 0, 0
eta = 0.5 / 0.25 if sys.argv[1] == "--relative" else 0.5
for k, (lap, after) in enumerate(zip(frames.laps("sums.frames"), frames.laps("stream")), 1):
    g = -lap["sum"][0] * lap["grid"] / 300 + 0.01 * w @ t.T
    if "adam" in sys.argv[1]:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        u = m / (1 - 0.9**k) / (numpy.sqrt(v / (1 - 0.999**k)) + 1e-8)
    else:
        u = m = (0.9 if "0.9" in sys.argv[1] else 0) * m + g
    w = w - eta * u @ t
    assert numpy.abs(w - after["model"][0]).max() < 1e-12, (k, w, after["model"])' "$how"
    done
}

@test "the first laps move the constant only, and later laps everything" {
    small_data 300
    put put "n.vstack([$T, [[0, 0, 0, 0, 0, 0, 1.5]]])" "frame['curvature'] = 0.25"
    behind 5 "--data small.dp --mode full" "--data small.dp --loss logistic --clip 1" "--step 0.5 --relative --constant-laps 2"
    python '
import numpy as n
t, constant = '"$T"', n.eye(7)[6] * 1.5
w = n.zeros(7)
for k, (lap, after) in enumerate(zip(frames.laps("sums.frames"), frames.laps("stream")), 1):
    g = -lap["sum"][0] * lap["grid"] / 300
    w = w - 0.5 * g[5] * constant - (0 if k <= 2 else 0.5 / 0.25 * g[:5] @ t)
    assert numpy.abs(w - after["model"][0]).max() < 1e-12, (k, w, after["model"])'
    local token="dp-sample --data small.dp --mode full" rest="dp-grad --data small.dp --loss logistic --clip 1 --intercept 0.5 | dp-noise -z 1 |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step --step 1 --constant-laps 2"
    put put "$T"
    for before in "$token" "./put | $token"; do
        complains 2 "dp-step: --constant-laps: the transform of lap 1 has no row for the constant (dp-transform --constant)" \
            dp-loop -q --laps 2 --seed 1 --exec processes -- "$before | $rest"
    done
}

@test "stages that know no transform refuse it" {
    small_data
    put put 'n.eye(6)'
    local token="./put | dp-sample --data small.dp --mode full"
    for stage in dp-scd-step:"--loss hinge --lambda 1e-3 --clip 1" dp-erm:"--loss logistic --lambda 1e-3 --non-private"; do
        complains 1 "${stage%%:*}: the rows of lap 1 are behind a transform, which this stage does not know" \
            dp-loop -q --laps 1 --exec processes -- "$token | ${stage%%:*} --data small.dp ${stage#*:} | dp-account --non-private | dp-step"
    done
    complains 2 "dp-step: --hold: the gradient of lap 1 is behind a transform, where no search is made" \
        dp-loop -q --laps 1 --seed 1 --exec processes -- "$token | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 1 |
            dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step --hold"
}

# refuses MESSAGE MATRIX
refuses() {
    put put "$2"
    complains 1 "dp-grad: $1" dp-loop -q --laps 1 --exec processes -- "./put | dp-sample --data small.dp --mode full |
        dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 1 | dp-account --epsilon 100 --delta 1e-5 --no-ledger | dp-step --step 1"
}

@test "transforms that are none" {
    small_data
    refuses "the transform of lap 1 is for rows of 7 columns, and these have 6 (--intercept?)" 'n.eye(7)'
    refuses "the transform of lap 1 has no rows" 'n.zeros((0, 6))'
    refuses "the transform of lap 1 is not finite" 'n.eye(6) * float("nan")'
    refuses "the transform of lap 1 is not finite" 'n.full((6, 6), float("inf"))'
    complains 2 "dp-step: --relative: no laps of the run make a curvature; dp-transform does, from laps of moments" \
        dp-loop -q --laps 1 --seed 1 --exec processes -- "dp-sample --data small.dp --mode full | dp-grad --data small.dp --loss logistic --clip 1 |
            dp-noise -z 1 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step --step 1 --relative"
}

# Laps with different transforms in turn: random, with a huge entry, with overflowing products, with subnormal numbers, zero, of
# one direction, and one that makes rows slightly longer. Rows unchanged, of norm 1, cut or not.
WILD='[a, a * 1e30, a * 1e300, a * 1e-310, a * 0, n.outer(a[:, 0], a[0]) * 5, n.eye(4, 7) * (1 + 2.0**-22), a * 1e-3][frame["lap"] % 8]'

@test "one row moves a sum behind a transform by at most the clip bound, whatever row and transform" {
    small_data 60
    put put "$(sed 's/\ba\b/n.random.default_rng(frame["lap"]).normal(size=(4, 7))/g' <<< "$WILD")" \
        'frame["uncut"], frame["unit_rows"] = frame["lap"] % 3 == 1, frame["lap"] % 5 > 2'
    # four laps have each pair of the two fields
    within 300 dp-audit sensitivity --data small.dp --rows 1 --laps 4 --seed 2 \
        "dp-sample --data {} --rate 0.3 | ./put | dp-grad --data {} --loss squared --intercept 0.5 --clip 0.5 --adjacency replace-one --threads 2"
    assert_success
    assert_output --partial "worst ratio"
    within 300 dp-audit sensitivity --data small.dp --rows 1 --laps 4 --seed 2 \
        "dp-sample --data {} --rate 0.4 | ./put | dp-grad --data {} --loss logistic --intercept 0.5 | dp-clip --data {} --clip 0.3"
    assert_success
}
