# dp-breed: how candidates are made. Choices are made up here, right of the gate; dp-select.bats has real ones.
load helper

prepare() {
    dp-synth classification --rows 60 --cols 5 --seed 3 -o two.dp -q
    dp-synth classification --rows 60 --cols 5 --classes 4 --seed 3 -o four.dp -q
}

# run_of LAPS DATA BREED: bred.frames, with the candidates of each lap and the model that it began with, and stream
run_of() {
    dp-loop --laps "$1" --seed 5 -q --exec processes -- "dp-breed --data $2 $3 | tee bred.frames | dp-sample --data $2 --mode full |
        dp-select --data $2 --loss logistic --epsilon 0.5 --clip 1 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step" > stream
}

@test "usage" {
    complains 2 "dp-breed: --offspring: must be at least --parents" dp-breed --data two.dp --offspring 9
    complains 2 "dp-breed: --intercept: 1e-60 is too small" dp-breed --data two.dp --intercept 1e-60
    dp-synth classification --rows 60 --cols 100 --seed 3 -o wide.dp -q
    complains 2 "dp-breed: --offspring: 1000000 models of 101 entries do not fit a frame" \
        dp-breed --data wide.dp --offspring 1000000 --intercept 1
    complains 1 "dp-breed: cannot open none.dp/dataset.json: not a data set (see dp-import)" dp-breed --data none.dp
}

@test "it is for what has been released" {
    complains 5 "dp-loop: the child pipeline gave back a hello frame that has passed no gate: dp-account is missing" \
        dp-loop --laps 1 -o m -- "dp-sample --data two.dp | dp-breed --data two.dp"
}

@test "candidates have the shape of models, and the first ones are random" {
    for what in two.dp:1:5: four.dp:4:5: two.dp:1:6:0.5 four.dp:4:6:2; do
        IFS=: read -r data outputs cols intercept <<< "$what"
        run_of 2 "$data" "--offspring 50 --parents 3 --spread 0.7 --mutation 0.2 --chance 1 ${intercept:+--intercept $intercept}"
        python '
first = frames.laps("bred.frames")[0]
assert "model" not in first and first["candidates"].shape == (50, int(sys.argv[1]) * int(sys.argv[2])), first["candidates"].shape
assert 0.75 < abs(first["candidates"]).max() < 0.9, abs(first["candidates"]).max()
assert abs(first["candidates"].mean()) < 0.15
assert first.get("intercept", 0) == float(sys.argv[3] or 0)
assert frames.laps("bred.frames")[1]["model"].shape == (int(sys.argv[1]), int(sys.argv[2]))' "$outputs" "$cols" "$intercept"
    done
}

@test "entries are those of the last models, half of each of two, and change by what the lap allows" {
    run_of 12 two.dp "--offspring 400 --parents 3 --chance 0"
    python '
laps = frames.laps("bred.frames")
for t in range(5, 12):
    parents = numpy.array([lap["model"].ravel() for lap in laps[t - 2:t + 1]]) # the model of a lap is what it began with
    from_parent = laps[t]["candidates"][:, None, :] == parents[None]
    assert from_parent.any(1).all(), t
    if len(numpy.unique(parents, axis=0)) == 3:
        whole = from_parent.all(2).any(1).mean() # both parents are one, or all entries are from one side
        assert 0.2 < whole < 0.6, whole
        assert (from_parent.mean((0, 2)) > 0.25).all(), from_parent.mean((0, 2))'
    run_of 6 two.dp "--offspring 500 --parents 1 --chance 0.4 --mutation 3 --decay 0.5"
    python '
for t, lap in enumerate(frames.laps("bred.frames")):
    if t > 0:
        moved = abs(lap["candidates"] - lap["model"].ravel())
        most = 3 * 0.5 ** t
        assert 0.95 * most < moved.max() <= most * (1 + 1e-9), (t, moved.max())
        assert abs((moved > 0).mean() - 0.4) < 0.05, (moved > 0).mean()
        assert abs(moved[moved > 0].mean() / most - 0.5) < 0.05'
}

@test "while there are too few parents, the others are random" {
    run_of 3 two.dp "--offspring 400 --parents 4 --chance 0 --spread 100"
    python '
laps = frames.laps("bred.frames")
for t, expected in ((1, 1 / 4), (2, 2 / 4)): # models that are there, of four
    parents = [lap["model"].ravel() for lap in laps[1:t + 1]]
    known = numpy.any([laps[t]["candidates"] == parent for parent in parents], axis=0).mean()
    assert abs(known - expected) < 0.06, (t, known)'
}

@test "a run that starts from a model breeds of it, if that is of the same kind" {
    breed="dp-breed --data two.dp --offspring 20 --parents 2 --chance 0"
    rest="dp-sample --data two.dp --mode full | dp-select --data two.dp --loss logistic --epsilon 0.5 --clip 1 |
        dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step"
    dp-loop --laps 3 --seed 1 -o model -- "$breed | $rest" > /dev/null
    dp-loop --laps 1 --seed 1 --exec processes --init model -- "$breed | tee bred.frames | $rest" > /dev/null
    python '
first = frames.laps("bred.frames")[0]
assert (first["candidates"] == first["model"].ravel()).mean() > 0.3'
    complains 1 "dp-breed: --intercept: 1, but the model to start from has 0" \
        dp-loop --laps 1 --seed 1 --init model -o m -- "$breed --intercept 1 | $rest"
    complains 1 "dp-breed: the model is 1 × 5, the data needs 4 × 5" \
        dp-loop --laps 1 --seed 1 --init model -o m -- "${breed/two/four} | $rest"
    dp-sgd.sh --data two.dp --seed 1 --epochs 10 --batch 60 -q -o other
    complains 1 "dp-select: the model to start from was trained by another method" \
        dp-loop --laps 1 --seed 1 --init other -o m -- "$breed | $rest"
}
