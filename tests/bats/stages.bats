# dp-sample, dp-scd-step, dp-clip, dp-noise, dp-step: usage, accepted frames, results and refusals.
load helper

prepare() { small_data 400 6 2; }

@test "every stage: --help, --version, unknown options, stray arguments, missing values" {
    for stage in sample scd-step grad clip noise linesearch step eval; do
        run dp-$stage --help
        assert_success
        assert_output --partial "Usage: dp-$stage"
        assert_output --partial -- "--insecure-plaintext"
        # Right of the gate there is nothing private to allow.
        case $stage in
            step | eval) refute_output --partial -- "--allow-private-output" ;;
            *) assert_output --partial -- "--allow-private-output" ;;
        esac
        run dp-$stage --version
        assert_success
        assert_output --regexp "^dp-$stage \(dpline\) [0-9.]+$"
        complains 2 "dp-$stage: unknown option '--colour' (try --help)" dp-$stage --colour
        complains 2 "dp-$stage: unknown option '-Q' (try --help)" dp-$stage -Q
        complains 2 "dp-$stage: --in: needs a value" dp-$stage --in
    done
    complains 2 "dp-step: unexpected argument 'x'" dp-step x
}

@test "a number is finite and decimal, and what no table says of it" {
    for bad in nan inf 1e999 0x1p3 '1 2' 1/0 x ''; do
        complains 2 "dp-noise: --multiplier: must be a finite number, got '$bad'" dp-noise --multiplier="$bad"
    done
    for bad in 1.5 nan 1e3 ''; do
        complains 2 "dp-scd-step: --threads: must be a whole number, got '$bad'" dp-scd-step --threads="$bad"
    done
    complains 2 "dp-sample: --columns: 7, but small.dp has 6 columns" dp-sample --data small.dp --mode full --columns 7
    complains 2 "dp-scd-step: --variant primal needs a smooth loss: hinge has no second derivative" dp-scd-step --loss hinge --lambda 1 --clip 1 --variant primal
}

@test "missing and broken data sets" {
    complains 1 "dp-sample: cannot open nowhere.dp/dataset.json: not a data set (see dp-import)" dp-sample --data nowhere.dp
    cp -r small.dp broken.dp
    truncate -s -4 broken.dp/X.npy
    complains 1 "dp-sample: broken.dp/X.npy: holds 9596 bytes of data, its shape needs 9600" dp-sample --data broken.dp
    cp -r small.dp odd.dp
    printf '{"format": 1,\n"rows": }' > odd.dp/dataset.json
    complains 1 "dp-sample: odd.dp/dataset.json: line 2: not JSON: unexpected token near '}'" dp-sample --data odd.dp
    cp -r small.dp labels.dp
    printf '\000\000\000\000\000\000\020\100' | dd of=labels.dp/y.npy bs=1 seek=128 conv=notrunc status=none
    complains 1 "dp-sample: labels.dp/y.npy: a label is not one of the classes or not finite" dp-sample --data labels.dp
}

@test "a stage in the wrong place" {
    token 2
    dp-sample --data small.dp --rate 0.2 < token.frames > raw.frames
    dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 < raw.frames > bounded.frames
    dp-noise -z 1 < bounded.frames > noised.frames
    where() { complains 5 "$1: takes $2 frames and got a $3 one: a stage is missing or out of place" "${@:4}"; }
    where dp-noise bounded raw dp-noise -z 1 --in raw.frames
    where dp-noise bounded noised dp-noise -z 1 --in noised.frames
    where dp-noise bounded released dp-noise -z 1 --in token.frames
    complains 1 "dp-sample: the rows of the run have been sampled already" dp-sample --data small.dp --in raw.frames
    where dp-sample released noised dp-sample --data small.dp --in noised.frames
    where dp-step released bounded dp-step --in bounded.frames
    where dp-step released noised dp-step --in noised.frames
    where dp-eval released noised dp-eval --data small.dp --in noised.frames
    where dp-eval released raw dp-eval --data small.dp --in raw.frames
    where dp-clip raw bounded dp-clip --clip 1 --in bounded.frames
    where dp-scd-step raw noised dp-scd-step --loss hinge --lambda 1 --in noised.frames
}

@test "frames that are not released do not go to a terminal" {
    token
    # script gives the stage a terminal; nothing but the sentence may appear on it
    run script -qec "dp-sample --data small.dp --rate 0.2 --in token.frames" /dev/null
    assert_failure 5
    assert_output "dp-sample: will not write a raw frame to a terminal (--allow-private-output overrides)"$'\r'
}

@test "frames that are not released go to nobody whose key is not trusted, and over no network in plain text" {
    token
    umask 022
    mkdir open
    complains 5 "dp-sample: ipc://open/socket: others may reach a socket there: put it into a directory of your own of mode 0700 (mkdir -m 700)" \
        dp-sample --data small.dp --rate 0.2 --in token.frames --out ipc://open/socket
    complains 1 "dp-sample: ipc://none/socket: there is no such directory (mkdir -m 700 none)" \
        dp-sample --data small.dp --rate 0.2 --in token.frames --out ipc://none/socket
    complains 2 "dp-sample: k: there are no keys (dp-key new makes a pair, dp-key trust lets others in)" \
        dp-sample --data small.dp --rate 0.2 --in token.frames --out tcp://127.0.0.1:5555 --keys k
    dp-key new k > key
    complains 2 "dp-sample: tcp://127.0.0.1:5555: k trusts nobody (dp-key trust NAME KEY)" \
        dp-sample --data small.dp --rate 0.2 --in token.frames --out tcp://127.0.0.1:5555 --keys k
    complains 5 "dp-sample: will not write a raw frame in plain text to a network: leave out --insecure-plaintext" \
        dp-sample --data small.dp --rate 0.2 --in token.frames --out tcp://192.0.2.1:5555 --insecure-plaintext --allow-private-output
    complains 5 "dp-sample: will not write a raw frame in plain text to a network: leave out --insecure-plaintext" \
        dp-sample --data small.dp --rate 0.2 --in token.frames --out '@tcp://*:35555' --insecure-plaintext
    complains 2 "dp-sample: udp://127.0.0.1:5: a port is -, a file, ipc://PATH or tcp://HOST:PORT" \
        dp-sample --data small.dp --in udp://127.0.0.1:5
}

@test "truncated streams: after the hello frame, between frames, inside a frame" {
    token 3
    edit kind=end < token.frames > cut.frames
    complains 4 "dp-sample: the input ended before its end frame: an upstream stage is gone" dp-sample --data small.dp --in cut.frames
    size=$(stat -c %s token.frames)
    head -c $((size - 5)) token.frames > inside.frames
    complains 4 "dp-sample: inside.frames ends inside a frame" dp-sample --data small.dp --in inside.frames
    : > empty.frames
    complains 4 "dp-sample: the input has no frame: dp-loop runs a pipeline" dp-sample --data small.dp --in empty.frames
}

@test "every truncation ends with status 4 and says why" {
    token 2
    size=$(stat -c %s token.frames)
    for cut in $(seq 0 37 $((size - 1))); do
        head -c "$cut" token.frames > cut.frames
        run timeout 10 dp-sample --data small.dp --rate 0.2 --in cut.frames --out /dev/null
        assert_failure 4
        assert_output --regexp '^dp-sample: (the input ended before its end frame: an upstream stage is gone|the input has no frame: dp-loop runs a pipeline|cut.frames ends inside a frame)$'
    done
}

@test "wrong frame order" {
    token 2
    edit kind=hello < token.frames > headless.frames
    complains 1 "dp-sample: the stream does not begin with a hello frame" dp-sample --data small.dp --in headless.frames
    cat token.frames token.frames | edit kind=end > double.frames
    complains 1 "dp-sample: a second hello frame in one stream" dp-sample --data small.dp --in double.frames
}

@test "corrupt streams" {
    complains 1 "dp-step: no model and no other stream of dpline: it begins with 'H', as a text does" dp-step --in <(echo Hello)
    printf '\x81\xa4kind\xa5hullo' > kind.frames
    complains 1 "dp-step: corrupt frame: 'kind' has the wrong type or value" dp-step --in kind.frames
    printf '\x82\xa4kind\xa5hello\xa3new\x01' > field.frames
    complains 1 "dp-step: unknown field 'new' in a frame" dp-step --in field.frames
    printf '\x82\xa4kind\xa5hello\xa6format\x03' > format.frames
    complains 1 "dp-step: the stream has frame format 3, and the newest known is 2" dp-step --in format.frames
    printf '\xdf\xff\xff\xff\xff' > huge.frames
    complains 1 "dp-step: corrupt frame: 4294967295 entries in one list or map, the limit is 256" dp-step --in huge.frames
    printf '\x81\xa4kind\xc9\xff\xff\xff\xff\x01' > blob.frames
    complains 1 "dp-step: the frame is larger than the limit of 1073741824 bytes" dp-step --in blob.frames
    printf '\x81\xa4kind\x91\x91\x91\x91\x91\x91\x91\x01' > deep.frames
    complains 1 "dp-step: corrupt frame: 'kind' is a list or map" dp-step --in deep.frames
    printf '\x82\xa4kind\xa3lap\xa7records\x91\x91\x91\x91\x91\x01' > deeper.frames
    complains 1 "dp-step: corrupt frame: nested deeper than 3" dp-step --in deeper.frames
}

@test "mismatched dimensions and data" {
    token 2
    dp-synth classification --rows 400 --cols 7 --seed 7 -o wider.dp -q
    dp-sample --data small.dp --rate 0.2 < token.frames > raw.frames
    complains 1 "dp-scd-step: the rows were sampled from another data set than --data names" \
        dp-scd-step --data wider.dp --loss hinge --lambda 1 --clip 1 --in raw.frames
    complains 2 "dp-scd-step: --data is required: the frames carry row numbers, not rows" \
        dp-scd-step --loss hinge --lambda 1 --clip 1 --in raw.frames
    dp-loop --laps 2 --seed 1 -o narrow -- "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 1 |
        dp-noise -z 9 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step" > /dev/null
    complains 1 "dp-scd-step: the model is 1 × 6, the data needs 1 × 7" dp-loop --laps 2 --init narrow --exec processes -- \
        "dp-sample --data wider.dp | dp-scd-step --data wider.dp --loss hinge --lambda 1e-3 --clip 1 | dp-noise -z 9 | dp-account --epsilon 100 --delta 1e-5 | dp-step"
    dp-synth regression --rows 50 --cols 6 --seed 7 -o real.dp -q
    complains 1 "dp-scd-step: --loss hinge needs labels in classes; the labels of this data set are real numbers" dp-loop --laps 2 -- \
        "dp-sample --data real.dp | dp-scd-step --data real.dp --loss hinge --lambda 1e-3 --clip 1 | dp-noise -z 9 | dp-account --epsilon 100 --delta 1e-5 | dp-step"
}

@test "a row that stands twice in a batch is refused" {
    token
    dp-sample --data small.dp --rate 0.2 < token.frames > raw.frames
    /usr/bin/python3 - << 'EOF'
import msgpack
import numpy as np
frames = list(msgpack.Unpacker(open("raw.frames", "rb"), raw=False))
lap = next(f for f in frames if f["kind"] == "lap")
head, rows = lap["rows"].data[:10], np.frombuffer(lap["rows"].data[10:], "<i8")
for name, first in ("twice", [0, 0]), ("apart", [1, 0, 1]), ("turned", [1, 2, 0]):
    lap["rows"] = msgpack.ExtType(1, head + np.concatenate((rows[first], rows[len(first):])).tobytes())
    open(name + ".frames", "wb").write(b"".join(map(msgpack.packb, frames)))
EOF
    dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 --in turned.frames > /dev/null
    complains 5 "dp-scd-step: a row is twice in the batch of lap 1" dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 --in apart.frames
    for stage in "dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1" "dp-scd-step --data small.dp --loss hinge --lambda 1e-3"; do
        complains 5 "dp-scd-step: a row is twice in the batch of lap 1" $stage --in twice.frames
    done
}

@test "dp-sample: Poisson batch sizes have the right mean and spread; the other modes are exact" {
    dp-loop --laps 400 --seed 5 --exec processes -- "dp-sample --data small.dp --rate 0.25 | tee raw.frames |
        dp-scd-step --data small.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 | dp-account --epsilon 1e6 --delta 0.1 --allow-seeded | dp-step" > /dev/null
    for mode in fixed shuffle; do
        dp-loop --laps 8 --seed 5 --exec processes -- "dp-sample --data small.dp --rate 0.25 --mode $mode | tee $mode.frames |
            dp-scd-step --data small.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 | dp-account --non-private --allow-seeded | dp-step" > /dev/null
    done
    /usr/bin/python3 - << 'EOF'
import msgpack, numpy as np
def batches(path):
    for f in msgpack.Unpacker(open(path, "rb"), raw=False):
        if f["kind"] == "lap":
            yield np.frombuffer(f["rows"].data[10:], "<i8")
poisson = list(batches("raw.frames"))
sizes = np.array([len(b) for b in poisson])
# Bin(400, 1/4): mean 100, variance 75; 400 batches. False alarms below 1e-6 each (5 standard errors).
assert abs(sizes.mean() - 100) < 5 * (75 / 400) ** 0.5, sizes.mean()
assert abs(sizes.var() - 75) < 5 * 75 * (2 / 400) ** 0.5, sizes.var()
counts = np.bincount(np.concatenate(poisson), minlength=400)  # each row: Bin(400, 1/4)
assert np.all(abs(counts - 100) < 6 * 75 ** 0.5)
assert all(np.all(np.diff(b) > 0) for b in poisson)
fixed = list(batches("fixed.frames"))
assert all(len(set(b)) == 100 for b in fixed) and not np.array_equal(fixed[0], fixed[1])
shuffled = list(batches("shuffle.frames"))
for epoch in (shuffled[:4], shuffled[4:]):
    assert sorted(np.concatenate(epoch)) == list(range(400))
assert not np.array_equal(shuffled[0], shuffled[4])
EOF
}

@test "dp-sample: a data set whose batches may not fit a frame is refused, whatever the batch; others of any size are not" {
    for _ in $(seq 3000); do echo '1 1:1 50000:1'; done > wide.svm
    sed -i '1s/^1/-1/' wide.svm
    dp-import libsvm -q --no-bias --row-norm unit --storage csr -o wide.dp wide.svm
    token
    # a frame of rows has 2^29/(4 cols + 16) = 2684 of them: means of 2400 and 2100
    complains 1 "dp-sample: a batch of wide.dp may not fit a frame, which holds 2684 rows: divide the rows among workers (dp-gather)" dp-sample --data wide.dp --inline --rate 0.8 --in token.frames
    dp-sample --data wide.dp --inline --rate 0.7 --in token.frames > /dev/null
    dp-sample --data wide.dp --rate 1 --in token.frames > /dev/null
}

@test "dp-sample: batches of a small rate have the right mean (5 standard errors)" {
    dp-synth classification --rows 4000 --cols 2 --seed 7 -o many.dp -q
    dp-loop --laps 100 --seed 5 --exec processes -- "dp-sample --data many.dp --rate 0.006 | tee raw.frames |
        dp-scd-step --data many.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 | dp-account --epsilon 1e6 --delta 0.1 --allow-seeded | dp-step" > /dev/null
    /usr/bin/python3 - << 'EOF'
import msgpack
total = sum((len(f["rows"].data) - 10) // 8 for f in msgpack.Unpacker(open("raw.frames", "rb"), raw=False) if f["kind"] == "lap")
mean, deviation = 400000 * 0.006, (400000 * 0.006 * 0.994) ** 0.5
assert abs(total - mean) < 5 * deviation, total
EOF
}

@test "dp-scd-step: sums are those of a NumPy rendering of Algorithm 1, clip, grid and alpha included" {
    dp-synth classification --rows 300 --cols 5 --classes 3 --seed 9 -o three.dp -q
    /usr/bin/python3 -c "import numpy as np
X = np.load('three.dp/X.npy') # rows of norms between 0.2 and 2, in no order
np.save('three.dp/X.npy', (X * 2 * 0.1 ** np.random.default_rng(1).random((300, 1))).astype('f4'))"
    for loss in squared hinge logistic smooth-hinge huber; do
        dp-loop --laps 25 --seed 5 --exec processes -- "dp-sample --data three.dp --rate 0.2 | tee raw.frames |
            dp-scd-step --data three.dp --loss $loss --loss-width 0.5 --lambda 0.1 --clip 0.3 --sigma-prime-scale 0.3 | tee bounded.frames |
            dp-noise -z 0.01 | dp-account --epsilon 1e12 --delta 0.1 --allow-seeded | dp-step" > /dev/null
        /usr/bin/python3 - $loss << 'EOF'
import msgpack, sys
import numpy as np
loss, width, lam, C = sys.argv[1], 0.5, 0.1, 0.3
X, y = np.load("three.dp/X.npy").astype(float), np.load("three.dp/y.npy")
N, s = len(y), 0.3 * 0.2 * len(y) / (lam * len(y))
alpha = np.zeros((N, 3))
target = np.where(y[:, None] == np.arange(3), 1.0, -1.0)

def update(y, a, u, s):
    if loss == "squared":
        return (y - a - u) / (1 + s)
    if loss == "huber":
        return np.clip(a + (y - a - u) / (1 + s), -width, width) - a
    b = y * a
    if loss == "hinge":
        return y * (np.clip(b + (1 - y * u) / s, 0, 1) - b)
    if loss == "smooth-hinge":
        return y * (np.clip(b + (1 - y * u - width * b) / (width + s), 0, 1) - b)
    c = np.clip(b, 1e-3, 1 - 1e-3)
    step = c - (np.log(c / (1 - c)) + y * u + s * (c - b)) / (1 / (c * (1 - c)) + s)
    step = np.where(step <= 0, 0.01 * c, np.where(step >= 1, 1 - 0.01 * (1 - c), step))
    return y * step - a

laps = lambda path: (f for f in msgpack.Unpacker(open(path, "rb"), raw=False) if f["kind"] == "lap")
clipped = 0
for raw, bounded in zip(laps("raw.frames"), laps("bounded.frames")):
    rows = np.frombuffer(raw["rows"].data[10:], "<i8")
    v = np.frombuffer(raw["model"].data[18:], "<f8").reshape(3, 5) if "model" in raw else np.zeros((3, 5))
    x, norm2 = X[rows], (X[rows] ** 2).sum(1, keepdims=True)
    zeta = update(target[rows], alpha[rows], x @ v.T / (lam * N), s * norm2)
    norm = np.sqrt((zeta ** 2).sum(1, keepdims=True)) * np.maximum(1, np.sqrt(norm2))
    clipped += (norm > C).sum()
    zeta = (zeta * np.minimum(1, C / norm)).astype(np.float32).astype(float)
    alpha[rows] += zeta
    grid = bounded["grid"]
    expected = np.trunc(zeta[:, :, None] * x[:, None, :] / grid).sum(0)
    found = np.frombuffer(bounded["sum"].data[18:], "<i8").reshape(3, 5)
    # float32 rounding of a coefficient moves a term by up to 2^-3 of a grid step, a truncation by one
    assert np.abs(found - expected).max() <= 2 * len(rows) + 1, (raw["lap"], found - expected)
assert clipped > 50, clipped
EOF
    done
}

@test "dp-noise: the noise on a count shares no draw with that on the sum (5 standard errors)" {
    dp-synth classification --rows 50 --cols 4 --seed 7 -o four.dp -q
    dp-loop --laps 400 --seed 5 --exec processes -- "dp-sample --data four.dp --rate 0.5 |
        dp-grad --data four.dp --loss logistic | dp-clip --data four.dp --clip 0.5 --adaptive 0.5 | tee count-before.frames |
        dp-noise -z 3 --noise gamma --count-multiplier 100 | tee count-after.frames |
        dp-account --non-private --allow-seeded | dp-step -s 1" > /dev/null
    /usr/bin/python3 - << 'EOF'
import msgpack, numpy as np
def arrays(path, key):
    return np.array([np.frombuffer(f[key].data[18:], "<i8") * (f["grid"] / f["bound"] if key == "sum" else 1)
                     for f in msgpack.Unpacker(open(path, "rb"), raw=False) if f["kind"] == "lap"])
noise = {key: arrays("count-after.frames", key) - arrays("count-before.frames", key) for key in ("sum", "within")}
g, count = noise["sum"] ** 2, noise["within"][:, 0]
# the first pair of normals comes from the same exponential; its part of the norm is uniform
part = (g[:, 0] + g[:, 1]) / g.sum(axis=1)
assert len(part) == 400 and abs(part.mean() - 0.5) < 5 * (1 / 12 / 400) ** 0.5
assert abs(np.corrcoef(part, np.sign(count))[0, 1]) < 5 / 400 ** 0.5, np.corrcoef(part, np.sign(count))[0, 1]
EOF
}

@test "dp-noise: gamma and Laplace noise land, with the size of their distribution (5 standard errors)" {
    local cols kind
    for kind in gamma laplace; do
        [ $kind = gamma ] && cols=40 || cols=1
        dp-synth classification --rows 50 --cols $cols --seed 7 -o $kind.dp -q
        # --non-private: no accountant accepts these frames
        dp-loop --laps 400 --seed 5 --exec processes -- "dp-sample --data $kind.dp --rate 0.5 |
            dp-scd-step --data $kind.dp --loss hinge --lambda 1 --clip 0.5 | tee $kind-before.frames | dp-noise -z 3 --noise $kind |
            tee $kind-after.frames | dp-account --non-private --allow-seeded | dp-step" > /dev/null
    done
    complains 1 "dp-noise: --noise laplace needs a single number, the sum has 40" dp-noise -z 3 --noise laplace --in gamma-before.frames
    /usr/bin/python3 - << 'EOF'
import msgpack, numpy as np
def sums(path):
    for f in msgpack.Unpacker(open(path, "rb"), raw=False):
        if f["kind"] == "lap":
            yield f, np.frombuffer(f["sum"].data[18:], "<i8") * f["grid"]
for kind, d in ("gamma", 40), ("laplace", 1):
    noise = [b - a for (_, a), (_, b) in zip(sums(kind + "-before.frames"), sums(kind + "-after.frames"))]
    frame, _ = next(sums(kind + "-after.frames"))
    m = frame["records"][0]
    assert m["noise"].endswith(kind) and m["scale"] == m["multiplier"] * m["sensitivity"] == 1.5
    norm = np.linalg.norm(noise, axis=1)
    assert len(norm) == 400
    # the norm is a sum of d exponentials of mean scale, and |k| of the Laplace is one
    assert abs(norm.mean() - 1.5 * d) < 5 * 1.5 * (d / 400) ** 0.5, (kind, norm.mean())
EOF
}

@test "dp-noise: the noise that lands has the scale it records (5 standard errors: false alarms below 1e-6)" {
    dp-synth classification --rows 50 --cols 400 --seed 7 -o wide.dp -q
    dp-loop --laps 50 --seed 5 --exec processes -- "dp-sample --data wide.dp --rate 0.5 | dp-scd-step --data wide.dp --loss hinge --lambda 1 --clip 0.5 |
        tee before.frames | dp-noise -z 3 | tee after.frames | dp-account --epsilon 1e6 --delta 0.1 --allow-seeded | dp-step" > /dev/null
    /usr/bin/python3 - << 'EOF'
import msgpack, numpy as np
def sums(path):
    for f in msgpack.Unpacker(open(path, "rb"), raw=False):
        if f["kind"] == "lap":
            yield f, np.frombuffer(f["sum"].data[18:], "<i8") * f["grid"]
noise = np.concatenate([b - a for (_, a), (_, b) in zip(sums("before.frames"), sums("after.frames"))])
frame, _ = next(sums("after.frames"))
m = frame["records"][0]
assert m["scale"] == m["multiplier"] * m["sensitivity"] == 1.5
n = len(noise)
assert n == 20000
assert abs(noise.mean()) < 5 * 1.5 / n ** 0.5
assert abs(noise.std() - 1.5) < 5 * 1.5 / (2 * n) ** 0.5, noise.std()
EOF
}

@test "dp-scd-step: the published and sequential sensitivities" {
    check() {
        dp-loop --laps 2 --seed 5 --exec processes -- "dp-sample --data small.dp $1 | dp-scd-step --data small.dp --loss logistic --lambda 1 --clip 0.5 $2 |
            dp-noise -z 3 | tee after.frames | dp-account --non-private --allow-seeded | dp-step" > /dev/null
        /usr/bin/python3 - "$3" << 'EOF'
import msgpack, sys
from math import sqrt
for f in msgpack.Unpacker(open("after.frames", "rb"), raw=False):
    if f["kind"] == "lap":
        assert abs(f["records"][0]["sensitivity"] - eval(sys.argv[1])) < 1e-12, f["records"]
EOF
    }
    check '--rate 0.1' '' 0.5
    check '--rate 0.1' '--adjacency replace-one' 1.0
    check '--rate 0.1' '--release-alpha' 'sqrt(2)*0.5'
    check '--rate 0.1' '--variant sequential' '2*0.5*sqrt(40*41)'
    check '--mode full --columns 3' '--variant primal' '2*0.5*sqrt(3*4)'
}

@test "dp-step: tail averaging is the mean of the last iterates" {
    child="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step --average tail --tail"
    dp-loop --laps 10 --seed 1 -- "${child//$'\n'/} 0.25" > stream
    /usr/bin/python3 - << 'EOF'
import msgpack, numpy as np
frames = [f for f in msgpack.Unpacker(open("stream", "rb"), raw=False) if f["kind"] == "lap"]
model = [np.frombuffer(f["model"].data[18:], "<f8") for f in frames]
assert len(frames) == 10 and "average" not in frames[6] and "average" in frames[7]
average = np.frombuffer(frames[9]["average"].data[18:], "<f8")
assert frames[9]["averaged"] == 3
assert np.allclose(average, np.mean(model[7:], axis=0), rtol=1e-14, atol=0)
EOF
}

@test "an upstream stage that fails is the only one to speak" {
    token
    said=$({ dp-sample --data nowhere.dp < token.frames | dp-scd-step --data small.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 | cat > /dev/null; echo "${PIPESTATUS[@]}"; } 2>&1)
    assert_equal "$said" "dp-sample: cannot open nowhere.dp/dataset.json: not a data set (see dp-import)
1 4 4 0"
}

@test "a file of frames that are not released is for its owner alone" {
    dp-loop --laps 2 --seed 1 -q --exec processes -o model -- "dp-sample --data small.dp --rate 0.2 | tee sampled |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 2 |
        dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded | dp-step" > released
    (umask 022 && dp-noise -z 2 -o noised < <(dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 < sampled))
    (umask 022 && dp-cat --frames -o copied released)
    assert_equal "$(stat -c %a noised copied | tr '\n' ' ')" "600 644 "
}
