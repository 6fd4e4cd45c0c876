# Gradients that dp-step holds in the frame, and the steps along them that a search chose. Here the choices are made up, right
# of the gate; dp-linesearch.bats and linesearch-runs.bats have real ones.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o a.dp -q
    choose choose
}

gradients() { echo "dp-sample --data a.dp --rate 0.25 | dp-grad --data a.dp --loss logistic --lambda 0.1 --clip 1 | dp-noise -z ${1:-2} | dp-account --allow-seeded --epsilon 50 --delta 1e-5"; }
# held LAPS PIPELINE: the pipeline after the gate
held() { dp-loop --laps "$1" --seed 4 -q -o model -- "$(gradients) | $2" > stream; }

@test "usage" {
    small_data
    scd="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 500 | dp-account --epsilon 1000 --delta 1e-5"
    complains 2 "dp-step: --hold is for gradients; what laps release is what the model moves by" dp-loop --laps 2 -o m -- "$scd | dp-step --hold"
    complains 2 "dp-step: --project is for gradients; what laps release is what the model moves by" dp-loop --laps 2 -o m -- "$scd | dp-step --project 1"
    complains 2 "dp-step: --step: the step of lap 1 has been chosen by a search" \
        dp-loop --laps 2 -o m -- "$(gradients) | ./choose 0:1,0 | dp-step --step 1"
    complains 2 "dp-step: another dp-step takes the sum of laps before this one (--on KIND names the laps of each)" \
        dp-loop --laps 2 -o m -- "$(gradients) | dp-step --hold | dp-step --hold"
    complains 1 "dp-step: the choice of lap 1 is not one of its steps" dp-loop --laps 2 -o m -- "$(gradients) | ./choose 2:1,0 | dp-step"
    complains 1 "dp-step: the choice of lap 1 is not one of its steps" dp-loop --laps 2 -o m -- "$(gradients) | ./choose -1:1,0 | dp-step"
    for step in -1 nan inf; do
        complains 1 "dp-step: lap 1 has chosen a step of $step" dp-loop --laps 2 -o m -- "$(gradients) | ./choose 0:$step,0 | dp-step"
    done
    [ ! -e m ]
    complains 1 "dp-step: the model is not finite after lap 2" dp-loop --laps 2 -o m -- "$(gradients) | ./choose 0:1e308 | dp-step"
}

@test "a choice that nobody applies is refused, and so is one without a direction" {
    for exec in auto processes; do
        complains 1 "dp-loop: the child pipeline gave back a choice that no stage applied: put dp-step after dp-account" \
            dp-loop --laps 2 --exec $exec -o m -- "$(gradients) | dp-step --hold | ./choose 0:1,0"
    done
    complains 1 "dp-step: the frame of lap 1 has no 'direction'" \
        dp-loop --laps 2 -o m -- "$(gradients) | dp-step --step 1 | ./choose 0:1,0 | dp-step"
    [ ! -e m ]
}

@test "a step along a held gradient is the step that dp-step takes by itself" {
    dp-loop --laps 5 --seed 4 -q -o plain -- "$(gradients) | dp-step --step 0.5 --project 0.2" > plain.stream
    held 5 'dp-step --hold | ./choose 1:2,0.5,0.1 | dp-step --project 0.2'
    dp-cmp --weights-only plain model
    # the sum and the choice of one lap
    held 5 './choose 1:2,0.5,0.1 | dp-step --project 0.2 --average polynomial'
    dp-loop --laps 5 --seed 4 -q -o plain -- "$(gradients) | dp-step --step 0.5 --project 0.2 --average polynomial" > plain.stream
    dp-cmp --weights-only plain model
}

@test "what is held, and for how long" {
    held 6 'dp-step --hold | ./choose 1:2,0.5,0 2:2,0.5,0 2:2,0.5,0 1:2,0.5,0 | dp-step'
    python '
w = numpy.zeros((1, 5))
for lap in frames.laps("stream"):
    stepped = lap["lap"] not in (2, 3)
    assert lap["step_size"] == (0.5 if stepped else 0), lap["step_size"]
    assert ("direction" in lap) == ("precision" in lap) == (not stepped)
    assert "sum" not in lap and "gradient" in lap
    if stepped:
        moved = w - 0.5 * (lap["gradient"] + 0.1 * w)
        assert numpy.abs(moved - lap["model"]).max() < 1e-15
    else:
        assert (lap["model"] == w).all()
        assert lap["precision"] == 1 / lap["noise_scale"] ** 2
        assert numpy.abs(lap["gradient"] + 0.1 * w - lap["direction"]).max() < 1e-15
    w = lap["model"]
assert numpy.abs(w).max() > 0.01'
    held 2 'dp-step --hold --normalise | ./choose 0:0 | dp-step'
    python '
for lap in frames.laps("stream"):
    g = lap["gradient"]
    assert numpy.abs(g / numpy.linalg.norm(g) - lap["direction"]).max() < 1e-15'
}

@test "gradients of one model are averaged by their precision, and those of two are not" {
    # each lap's gradient by itself, and the means: each has noise with another multiplier
    filter louder '
if frame["kind"] == "lap":
    frame["multiplier"] = 2.0 + frame["lap"]'
    follow() { echo "$(gradients 2 | sed 's/-z 2/-z 2 --follow/; s/dp-account/& --adaptive/') | $1 | ./louder"; }
    steps='./choose 1:1,0 1:1,0 0:1,0 1:1,0 1:1,0 | dp-step'
    dp-loop --laps 5 --seed 4 -q -o model -- "$(follow "dp-step --hold | $steps")" > alone
    dp-loop --laps 5 --seed 4 -q -o model -- "$(follow "dp-step --hold --average-gradients | $steps")" > averaged
    python '
alone, averaged = frames.laps("alone"), frames.laps("averaged")
p = [1 / lap["noise_scale"] ** 2 for lap in alone]
assert p[0] > p[1] > p[2] > p[4]
g = [lap["gradient"] for lap in alone]
mean = lambda *which: sum(p[i] * g[i] for i in which) / sum(p[i] for i in which)
near = lambda a, b: numpy.abs(a - b).max() < 1e-14
# as long as no step is taken the models are the same, and so the gradients
assert near(averaged[0]["gradient"], g[0])
assert near(averaged[1]["gradient"], mean(0, 1)) and not near(averaged[1]["gradient"], g[1])
assert abs(averaged[1]["precision"] / (p[0] + p[1]) - 1) < 1e-14
assert near(averaged[2]["gradient"], mean(0, 1, 2))
assert near(averaged[2]["model"], -averaged[2]["gradient"])
# a new model has gradients of its own
new = averaged[3]["precision"]
assert abs(new / p[3] - 1) < 1e-14, new'
}

@test "gradients without noise have nothing to be weighed by" {
    exact="dp-sample --data a.dp --mode full | dp-grad --data a.dp --loss logistic --non-private | dp-account --non-private --allow-seeded"
    dp-loop --laps 3 --seed 4 -q -o model -- "$exact | dp-step --hold | ./choose 0:0 | dp-step" > stream
    run jq -r 'select(.lap == 3) | has("direction"), has("precision")' <(dp-cat --kind lap stream)
    assert_output "true
false"
    complains 1 "dp-step: the gradients of lap 2 have no noise by which to weigh them" \
        dp-loop --laps 3 --seed 4 -o m -- "$exact | dp-step --hold --average-gradients | ./choose 0:0 | dp-step"
}

@test "noise and clip bound follow what the frame says, and where it says nothing sensible they stop" {
    filter say '
if frame["kind"] == "lap":
    frame[sys.argv[1]] = float(sys.argv[2])'
    child() { echo "dp-sample --data a.dp --rate 0.25 | dp-grad --data a.dp --loss logistic | dp-clip --data a.dp --clip 1 --follow | dp-noise -z 2 --follow | dp-account $1 --allow-seeded --epsilon 9 --delta 1e-5 | dp-step --step 1 | $2"; }
    dp-loop --laps 3 --seed 4 -q -o model -- "$(child --adaptive './say multiplier 3 | ./say bound 0.25')" > stream
    run jq -c '[.records[0].multiplier, .records[0].bound, .noise_scale]' <(dp-cat --kind lap stream)
    assert_output "[2,1,2]
[3,0.25,0.75]
[3,0.25,0.75]"
    # the first, if no other is named
    dp-loop --laps 2 --seed 4 -q -o model -- "$(child '' cat)" > stream
    run jq -c '[.records[0].multiplier, .records[0].bound]' <(dp-cat --kind lap stream)
    assert_output "[2,1]
[2,1]"
    for value in 0 -1 nan inf; do
        complains 1 "dp-noise: --follow: the frame of lap 2 asks for a multiplier of $value" \
            dp-loop --laps 3 -o m -- "$(child --adaptive "./say multiplier $value")"
    done
    for value in 0 -1 nan inf 1e-10 1e+10; do
        complains 1 "dp-clip: --follow: the frame of lap 2 asks for a bound of $value" \
            dp-loop --laps 3 -o m -- "$(child --adaptive "./say bound $value")"
    done
    # it costs what was released: only a filter can pay for it
    complains 5 "dp-account: the mechanism of lap 2 is not what was announced: noise that changes needs a schedule or --adaptive" \
        dp-loop --laps 3 -o m -- "$(child '' './say multiplier 3')"
    complains 5 "dp-account: lap 2 records another 'bound' than the first lap" \
        dp-loop --laps 3 -o m -- "$(child '' './say bound 0.25')"
}

@test "until the budget is spent: the end that was asked for" {
    gate() { gradients | sed "s/--epsilon 50/--epsilon $1/"; }
    # with the bytes of a run of that many laps, and no message about it
    complains 0 '' dp-loop --laps 500 --until-spent --seed 4 -o spent -- "$(gate 3) | dp-step --step 1"
    laps=$(dp-info --get lap spent)
    [ "$laps" -gt 3 ]
    [ "$laps" -lt 500 ]
    for exec in fused processes; do
        dp-loop --laps 500 --until-spent --seed 4 --exec $exec -o model -- "$(gate 3) | dp-step --step 1" > stream
        cmp model spent
        assert_equal "$(dp-cat --kind end stream)" '{"kind":"end"}'
        dp-cat --last --frames stream | cmp - model
    done
    dp-loop --laps "$laps" --until-spent --seed 4 -o whole -- "$(gate 3) | dp-step --step 1" > stream
    dp-cmp --weights-only whole spent
    # without the option it was too early, but the model exists
    run dp-loop --laps 500 --seed 4 -o early -- "$(gate 3) | dp-step --step 1"
    assert_failure 3
    cmp early spent
    # a run without any lap is never correct
    for exec in fused processes; do
        run dp-loop --laps 500 --until-spent --seed 4 --exec $exec -o spent -- "$(gate 0.001) | dp-step --step 1"
        assert_failure 3
        [ ! -e spent ]
        mv spent~ spent
    done
    # a failure stays one
    complains 1 "dp-step: the choice of lap 1 is not one of its steps" \
        dp-loop --laps 500 --until-spent --seed 4 -o failed -- "$(gate 3) | ./choose 2:1,0 | dp-step"
}

@test "a run that the budget ends before its tail says that nothing was averaged" {
    dp-loop -q --laps 500 --until-spent --seed 4 -o spent -- "$(gradients | sed 's/--epsilon 50/--epsilon 3/') | dp-step --step 1" > /dev/null
    laps=$(dp-info --get lap spent)
    for exec in auto processes; do
        complains 0 "dp-step: warning: --average tail: the run ended after lap $laps, before its tail, and nothing was averaged (--average polynomial needs no end)" \
            dp-loop --laps 500 --until-spent --seed 4 --exec $exec -o spent -- "$(gradients | sed 's/--epsilon 50/--epsilon 3/') | dp-step --step 1 --average tail"
    done
    complains 0 '' dp-loop --laps 500 --until-spent --seed 4 -o spent -- "$(gradients | sed 's/--epsilon 50/--epsilon 3/') | dp-step --step 1 --average polynomial"
    complains 0 '' dp-loop --laps $((laps + 2)) --until-spent --seed 4 -o spent -- "$(gradients | sed 's/--epsilon 50/--epsilon 3/') | dp-step --step 1 --average tail"
    complains 0 '' dp-loop --laps 2 --seed 4 -o spent -- "$(gradients) | dp-step --step 1 --average tail"
}

@test "a run that ends before its first step says so: its model is the one that it began with" {
    warning="dp-loop: warning: no step was taken: the model is the one that the run began with"
    for exec in auto processes; do
        complains 0 "$warning" dp-loop --laps 3 --seed 4 --exec $exec -o model -- "$(gradients) | dp-step --hold"
        complains 0 "$warning" dp-loop --laps 3 --seed 4 --exec $exec -o model -- "$(gradients) | dp-step --hold | ./choose 1:1,0 | dp-step"
        complains 0 "$warning" dp-loop --laps 500 --until-spent --seed 4 --exec $exec -o model -- "$(gradients | sed 's/--epsilon 50/--epsilon 1/') | dp-step --hold"
    done
    run jq -c '.model.values' <(dp-cat --full --last model)
    assert_output '[0,0,0,0,0]'
    # one step in any lap is enough
    complains 0 '' dp-loop --laps 3 --seed 4 -o model -- "$(gradients) | dp-step --hold | ./choose 1:1,0 0:1,0 1:1,0 | dp-step"
    # and the run that began with a model
    complains 0 "$warning" dp-loop --laps 2 --seed 5 --init model -o next -- "$(gradients) | dp-step --hold"
    dp-cmp --weights-only model next
    # before and after a checkpoint
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > 2 and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    for steps in '1:1,0' '1:1,0 0:1,0 1:1,0'; do
        said=$warning
        [ "$steps" = '1:1,0' ] || said=''
        rm -f stopped
        child="$(gradients) | ./stop | dp-step --hold | ./choose $steps | dp-step"
        run dp-loop --laps 4 --seed 4 --checkpoint kept --checkpoint-every 1 -o model -- "$child"
        assert_failure 1
        complains 0 "$said" dp-loop --laps 4 --seed 4 --resume kept -o model -- "$child"
    done
}
