# dp-adapt. Here the choices are made up, right of the gate; linesearch-runs.bats has whole runs.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o a.dp -q
    choose choose
}

# python TEXT ARGUMENTS…: with numpy and the frames of streams
python() { PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 -c "import sys, math, numpy, frames"$'\n'"$1" "${@:2}"; }

# child CHOICES ADAPT [STEP]: gradients that are held, searched and stepped along in one lap, and the result
child() {
    echo "dp-sample --data a.dp --rate 0.25 | dp-grad --data a.dp --loss logistic --lambda 0.1 | dp-clip --data a.dp --clip 1 --follow |
        dp-noise -z 4 --follow | dp-account --adaptive --allow-seeded --epsilon ${EPSILON:-9} --delta 1e-5 |
        dp-step --hold ${3:-} | ./choose $1 | dp-step | dp-adapt $2"
}
# laps T CHOICES ADAPT [STEP]: the stream of so many laps
laps() { dp-loop --laps "$1" --seed 4 -q -o model -- "$(child "${@:2}")" > stream; }
# says FIELD VALUE…: of the laps, to six digits
says() {
    local field=$1
    shift
    assert_equal "$(dp-cat --kind lap stream | jq -r "$field" | xargs printf '%.6g ')" "$* "
}

@test "usage" {
    complains 2 "dp-adapt: nothing to choose: give --multiplier, --first-step or --clip" dp-adapt
    for option in '--policy adaptive' --average-gradients '--least-multiplier 1' '--most-multiplier 1'; do
        complains 2 "dp-adapt: --policy, --average-gradients, --least-multiplier and --most-multiplier need --multiplier" \
            dp-adapt --first-step 1 $option
    done
    complains 2 "dp-adapt: --angle-min is above --angle-max" dp-adapt -z 1 --angle-min 1.2
    complains 2 "dp-adapt: --multiplier is not between --least-multiplier and --most-multiplier" dp-adapt -z 1 --least-multiplier 2
    complains 2 "dp-adapt: --multiplier is not between --least-multiplier and --most-multiplier" dp-adapt -z 3 --most-multiplier 2
    complains 2 "dp-adapt: --multiplier: must be > 0, got 0" dp-adapt -z 0
    complains 2 "dp-adapt: --growth: must be > 0 and <= 1000, got -0.3" dp-adapt -z 1 --growth -0.3
    complains 2 "dp-adapt: --shrink: must be > 0 and <= 1, got 0" dp-adapt -z 1 --shrink 0
    complains 2 "dp-adapt: --first-step: must be > 0, got 0" dp-adapt --first-step 0
    complains 2 "dp-adapt: --every: must be between 1 and 1099511627775, got 0" dp-adapt --first-step 1 --every 0
    complains 2 "dp-adapt: --clip: must be > 0, got -1" dp-adapt --clip -1
}

@test "it reads what was released, and nothing before that" {
    complains 2 "dp-adapt: nothing follows from the sum of laps before dp-adapt: put it after the last dp-step" \
        dp-loop --laps 2 -o m -- "dp-sample --data a.dp | dp-grad --data a.dp --loss logistic --clip 1 | dp-noise -z 4 | dp-adapt -z 4"
    complains 1 "dp-adapt: the frame of lap 1 has no 'gradient'" \
        dp-loop --laps 2 -o m -- "dp-sample --data a.dp | dp-grad --data a.dp --loss logistic --clip 1 | dp-noise -z 4 --follow | dp-account --epsilon 9 --delta 1e-5 | dp-step --step 1 | dp-adapt -z 4 --policy adaptive"
}

@test "on failure: rho grows, and the gate charges it" {
    # fails in laps 2, 3 and 5: the smallest step is a failure, whether it is 0 or not, first or last
    for choices in '1:0,1,2 0:0,1,2 0:0,1,2 2:0,1,2 0:0,1,2 2:0,1,2' '1:4,2,1 2:4,2,1 2:4,2,1 0:4,2,1 2:4,2,1 0:4,2,1'; do
        EPSILON=50 laps 6 "$choices" '-z 4 --policy on-failure --growth 3'
        says '.records[0].multiplier' 4 4 2 1 1 0.5
        says '.multiplier' 4 2 1 1 0.5 0.5
    done
    complains 3 "dp-loop: the budget of epsilon = 9 is spent after lap 5 (epsilon 9)" \
        dp-loop --laps 6 --seed 4 -o model -- "$(child '1:0,1,2 0:0,1,2 0:0,1,2 2:0,1,2 0:0,1,2' '-z 4 --policy on-failure --growth 3')"
    laps 6 '0:0,1' '-z 4 --policy none'
    says '.records[0].multiplier' 4 4 4 4 4 4
    laps 6 '0:0,1' '-z 4 --policy on-failure --growth 3 --least-multiplier 1.5'
    says '.records[0].multiplier' 4 2 1.5 1.5 1.5 1.5
}

@test "after a failure the next gradient makes up for what is missing, and the mean has the noise of both" {
    laps 6 '0:0,1 0:0,1 1:0,1 1:0,1 0:0,1 1:0,1' '-z 4 --policy on-failure --average-gradients' --average-gradients
    python '
rho = 1 / 16
held = 0
for lap, fails in zip(frames.laps("stream"), [1, 1, 0, 0, 1, 0]):
    z = lap["records"][0]["multiplier"]
    assert abs(1 / z ** 2 / (rho - held) - 1) < 1e-9, (lap["lap"], z)
    held = rho if fails else 0
    rho *= 1.3 if fails else 1
    # what waits has the noise of one gradient of that multiplier
    assert ("precision" in lap) == bool(fails)
    if fails: assert abs(lap["precision"] / held - 1) < 1e-9, lap["precision"]'
    # without growth nothing is missing, and all gradients are whole
    laps 4 '0:0,1' '-z 4 --average-gradients' --average-gradients
    says '.records[0].multiplier' 4 4 4 4
    says '.precision' 0.0625 0.125 0.1875 0.25
}

@test "adaptive: by the angle between a gradient and the one before" {
    laps 12 '0:1,0 1:1,0 0:1,0' '-z 4 --policy adaptive --angle-max 1.1 --angle-min 0.8'
    python '
def angle(a, b):
    a, b = a.ravel(), b.ravel()
    return math.acos(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))
laps = frames.laps("stream")
z, seen = 4.0, set()
for before, lap in zip([None] + laps, laps):
    assert abs(lap["records"][0]["multiplier"] / z - 1) < 1e-12
    if before:
        phi = angle(before["gradient"], lap["gradient"])
        change = 1.3 if phi > 1.1 else 0.8 if phi < 0.8 else 1
        seen.add(change)
        z /= math.sqrt(change)
    assert abs(lap["multiplier"] / z - 1) < 1e-12
assert seen == {1.3, 0.8, 1}, seen'
    # a mean and what is in it are not compared
    laps 3 '0:0,1' '-z 4 --policy adaptive --angle-max 0 --angle-min 0 --average-gradients' --average-gradients
    says '.records[0].multiplier' 4 4 4
    laps 3 '1:0,1' '-z 4 --policy adaptive --angle-max 0 --angle-min 0 --growth 3 --average-gradients' --average-gradients
    says '.records[0].multiplier' 4 4 2
    laps 4 '0:0,1' '-z 4 --policy adaptive --angle-max 4 --angle-min 4 --shrink 0.25 --most-multiplier 10'
    says '.records[0].multiplier' 4 4 8 10
}

@test "the first step follows the largest of late" {
    # laps 1 to 3 take steps 2, 8 and none; then no step at all; then 3
    laps 9 '1:8,2,0 0:8,2,0 2:8,2,0 2:9.6,2,0 2:9.6,2,0 2:9.6,2,0 1:9.6,3,0 2:9.6,3,0 2:9.6,3,0' '--first-step 8 --every 3'
    says '.first_step' 8 8 9.6 9.6 9.6 9.6 9.6 9.6 3.6
    says '.step_size' 2 8 0 0 0 0 3 0 0
    laps 2 '1:8,2,0 0:4,2,0' '--first-step 8 --every 1 --widen 2'
    says '.first_step' 4 8
}

@test "the clip bound decays with the steps that are taken" {
    laps 4 '0:1,0 1:1,0 0:1,0' '--clip 1 --clip-decay 0.5'
    says '.records[0].bound' 1 0.666667 0.666667 0.5
    says '.bound' 0.666667 0.666667 0.5 0.4
    says '.noise_scale' 4 2.66667 2.66667 2
    laps 2 '0:1,0' '--clip 1'
    says '.records[0].bound' 1 0.952381
}

@test "it takes no lap whose sum or choice nothing has followed from yet" {
    complains 2 "dp-adapt: nothing follows from the sum of laps before dp-adapt: put it after the last dp-step" \
        dp-loop --laps 2 -o m -- "$(child 0:1 '-z 4' | sed 's/dp-step --hold/dp-adapt -z 4 | &/')"
    complains 1 "dp-adapt: no stage has applied the choice of lap 1 yet: put dp-adapt after the last dp-step" \
        dp-loop --laps 2 -o m -- "$(child 0:1 '-z 4' | sed 's/| dp-step | dp-adapt -z 4/| dp-adapt -z 4 | dp-step/')"
}

@test "a stage that does not follow ends the run" {
    for exec in fused processes; do
        complains 2 "dp-adapt: laps do not take the multiplier that is chosen here: dp-noise needs --follow" \
            dp-loop --laps 3 -o m -- "$(child 1:1,0 '-z 4 --policy on-failure' | sed 's/-z 4 --follow/-z 4/')"
    done
    complains 2 "dp-adapt: laps have a noise multiplier of 4, not 5: dp-noise needs --follow, and to begin with the same value" \
        dp-loop --laps 3 -o m -- "$(child 1:1,0 '-z 5 --policy on-failure')"
    complains 2 "dp-adapt: laps do not take the clip bound that is chosen here: dp-clip needs --follow" \
        dp-loop --laps 3 -o m -- "$(child 0:1,0 '--clip 1' | sed 's/--clip 1 --follow/--clip 1/')"
    complains 1 "dp-adapt: lap 2 had a first step of 1, not 1.2: dp-linesearch needs --follow, and to begin with the same value" \
        dp-loop --laps 3 -o m -- "$(child 0:1,0 '--first-step 1 --every 1')"
    complains 1 "dp-adapt: --average-gradients: the gradient held in lap 2 is not the mean of all since the last step: dp-step --hold needs --average-gradients, too" \
        dp-loop --laps 3 -o m -- "$(child 1:1,0 '-z 4 --average-gradients')"
}

ADAPT='-z 4 --policy adaptive --angle-min 0.8 --average-gradients --first-step 8 --every 2 --widen 1 --clip 1'
CHOICES='0:8,2,0 1:8,2,0 0:8,2,0 2:8,2,0'

@test "processes = fused = ports" {
    text=$(child "$CHOICES" "$ADAPT" --average-gradients)
    for exec in auto processes; do
        dp-loop --laps 9 --seed 4 --exec $exec -o $exec -- "$text" > $exec.stream
    done
    cmp auto processes
    cmp auto.stream processes.stream
    chmod 700 .
    cut="${text/ | dp-adapt/ --out ipc://$PWD/s | dp-adapt --in ipc://$PWD/s}"
    dp-loop --laps 9 --seed 4 -o cut -- "$cut" > cut.stream
    cmp auto cut
    cmp auto.stream cut.stream
}

@test "a run goes on from any lap with the same bytes" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > int(open("last").read()) and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    for adapt in "$ADAPT" '--first-step 8 --every 2 --widen 1'; do
        average=''
        [ "$adapt" != "$ADAPT" ] || average=--average-gradients
        text=$(child "$CHOICES" "$adapt" "$average" | sed 's/ | .\/choose/ | .\/stop&/')
        echo 100 > last
        dp-loop --laps 9 --seed 4 -q -o whole -- "$text" > whole.stream
        for lap in 1 2 3 4 5 8; do
            rm -f stopped
            echo $lap > last
            run dp-loop --laps 9 --seed 4 -q --checkpoint kept --checkpoint-every 1 -o part -- "$text"
            assert_failure 1
            dp-loop --laps 9 --seed 4 -q --resume kept --checkpoint-every 1 -o part -- "$text" > stream
            cmp part whole
        done
    done
}
