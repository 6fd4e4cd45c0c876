# Every draw is fresh: no lap, purpose, row or output gets less randomness than another. Keys come from fixed seeds, so a test
# always passes or always fails; the bounds state how often an honest key would fail.
load helper

prepare() {
    small_data 400 6 2
    export PYTHONPATH=$ROOT/tests/bats
}

# differ FIELD FRAMES: no two laps of the stream have the same values in it
differ() {
    /usr/bin/python3 - "$@" << 'END'
import sys, frames
field, path = sys.argv[1:]
seen = {}
for lap in frames.laps(path):
    values = lap[field].tobytes()
    assert values not in seen, f"{field}: lap {lap['lap']} is lap {seen[values]} again"
    seen[values] = lap["lap"]
assert len(seen) == 41
END
}

@test "no lap below 2^40 has the rows or the columns of another" {
    token
    at_laps token.frames
    for mode in "--rate 0.5" "--rate 0.5 --mode fixed" "--rate 1 --mode shuffle"; do
        dp-sample --data small.dp $mode < at-laps.frames > out.frames
        differ rows out.frames
    done
    dp-synth classification --rows 4 --cols 400 --seed 7 -o wide.dp -q
    dp-sample --data wide.dp --mode full --columns 100 < at-laps.frames > out.frames
    differ columns out.frames
}

@test "no lap below 2^40 has the noise of another" {
    token
    dp-sample --data small.dp --rate 0.5 < token.frames > raw.frames
    dp-scd-step --data small.dp --loss hinge --lambda 1 --clip 0.1 < raw.frames > bounded.frames
    at_laps bounded.frames
    for kind in gaussian gamma; do
        dp-noise -z 1 --noise $kind < at-laps.frames > out.frames
        differ sum out.frames
    done
    dp-synth classification --rows 50 --cols 1 --seed 7 -o one.dp -q
    dp-sample --data one.dp --rate 0.5 < token.frames | dp-scd-step --data one.dp --loss hinge --lambda 1 --clip 0.1 > bounded.frames
    at_laps bounded.frames
    dp-noise -z 1 --noise laplace < at-laps.frames > out.frames
    differ sum out.frames
    dp-grad --data small.dp --loss logistic < raw.frames | dp-clip --data small.dp --clip 1 --adaptive 0.5 > bounded.frames
    at_laps bounded.frames
    dp-noise -z 1 --count-multiplier 1e9 < at-laps.frames > out.frames
    differ within out.frames
}

@test "each row is in as many batches as another (chi-square; an honest key fails once in 10^6)" {
    for how in poisson:300 fixed:300 shuffle:24; do
        dp-loop --laps "${how#*:}" --seed 5 --exec processes -- "dp-sample --data small.dp --rate 0.25 --mode ${how%:*} | tee ${how%:*}.frames |
            dp-scd-step --data small.dp --loss hinge --lambda 1 --clip 1 | dp-noise -z 1 |
            dp-account --non-private --allow-seeded | dp-step" > /dev/null
    done
    /usr/bin/python3 - << 'END'
import frames, numpy as np
def counts(mode):
    laps = frames.laps(mode + ".frames")
    return len(laps), np.bincount(np.concatenate([lap["rows"] for lap in laps]), minlength=400)
for mode in "poisson", "fixed":
    laps, count = counts(mode)
    # 400 squares of standardised binomials: mean 400, variance about 800; of batches of fixed size one degree of freedom less
    chi = ((count - laps / 4) ** 2 / (laps * 3 / 16)).sum()
    assert abs(chi - 400) < 4.9 * 800 ** 0.5, (mode, chi)
    # the largest of 400: P(|z| > 6.2) x 400 < 1e-6
    assert (abs(count - laps / 4) < 6.2 * (laps * 3 / 16) ** 0.5).all(), (mode, count.max())
laps, count = counts("shuffle")
assert (count == laps / 4).all(), count # once in every epoch
END
}

@test "the noise on each output of a sum has the scale it records (chi-square; an honest key fails once in 10^6)" {
    dp-synth classification --rows 50 --cols 300 --classes 3 --seed 7 -o three.dp -q
    for noise in gaussian gamma; do
        dp-loop --laps 20 --seed 5 --exec processes -- "dp-sample --data three.dp --rate 0.5 |
            dp-scd-step --data three.dp --loss hinge --lambda 1 --clip 0.5 | tee before.frames | dp-noise -z 3 --noise $noise | tee after.frames |
            dp-account --epsilon 1e9 --delta 0.1 --allow-seeded | dp-step" > /dev/null
        /usr/bin/python3 - $noise << 'END'
import frames, numpy as np, sys
gamma = sys.argv[1] == "gamma"
noise = np.array([(b["sum"] - a["sum"]) * a["grid"] / b["records"][0]["scale"]
                  for a, b in zip(frames.laps("before.frames"), frames.laps("after.frames"))])
assert noise.shape == (20, 3, 300)
# a Gaussian output: 6000 squares of mean 1; a gamma one: the norm of all three has the law of 900 exponentials, shared evenly
share = (noise ** 2).sum(axis=2) / (noise ** 2).sum(axis=(1, 2))[:, None] * 900 if gamma else (noise ** 2).sum(axis=2)
for k in range(3):
    total = share[:, k].sum()
    assert abs(total - 6000) < 5.2 * 12000 ** 0.5, (k, total)
END
    done
}

@test "the Gaussian noise on a count shares no draw with that on the sum (an honest key fails once in 10^6)" {
    dp-synth classification --rows 50 --cols 4 --seed 7 -o four.dp -q
    dp-loop --laps 400 --seed 5 --exec processes -- "dp-sample --data four.dp --rate 0.5 |
        dp-grad --data four.dp --loss logistic | dp-clip --data four.dp --clip 0.5 --adaptive 0.5 | tee before.frames |
        dp-noise -z 3 --count-multiplier 100 | tee after.frames |
        dp-account --non-private --allow-seeded | dp-step -s 1" > /dev/null
    /usr/bin/python3 - << 'END'
import frames, numpy as np
pairs = list(zip(frames.laps("before.frames"), frames.laps("after.frames")))
entries = np.array([(b["sum"] - a["sum"]).ravel() * a["grid"] / b["records"][0]["scale"] for a, b in pairs])
count = np.array([(b["within"] - a["within"]).item() for a, b in pairs])
for j in range(entries.shape[1]):
    r = np.corrcoef(entries[:, j], count)[0, 1]
    assert len(count) == 400 and abs(r) < 5.2 / 400 ** 0.5, (j, r)
END
}
