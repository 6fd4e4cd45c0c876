# dp-adapt. Here the choices are made up, right of the gate; linesearch-runs.bats has whole runs.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o a.dp -q
    choose choose
}

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
    complains 2 "dp-adapt: --multiplier: must be at least --least-multiplier" dp-adapt -z 1 --least-multiplier 2
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

# searched ADAPT: sets TEXT to a run with laps of gradients and of searches, where the stage paper puts in its own gradients and results
searched() {
    TEXT="dp-sample --data a.dp --rate 0.5 | dp-grad --on gradient --data a.dp --loss logistic | dp-clip --on gradient --data a.dp --clip 3 --follow |
        dp-noise --on gradient -z 400 --follow | dp-linesearch --on search --data a.dp --epsilon 0.01 --tries 3 --clip 2 --first-step 1 --follow |
        dp-account --adaptive --allow-seeded --epsilon 9 --delta 1e-5 | dp-step --on gradient --hold ${2:-} | ./paper | dp-step --on search |
        dp-adapt $1"
}

@test "adaptive: algorithms 2 and 3 of the paper, against NumPy" {
    # tests/vectors/make-cheb.py: the released gradients and what searches return are fixed there
    filter paper '
def array(numbers): return msgpack.ExtType(1, struct.pack("<BBQQ%dd" % len(numbers), 2, 2, 1, len(numbers), *numbers))
if frame["kind"] == "lap":
    row = [line.split("\t") for line in open("'"$ROOT"'/tests/vectors/cheb.tsv")][frame["lap"] - 1]
    assert row[0] == frame["lap_kind"]
    if row[0] == "gradient":
        frame["gradient"] = frame["direction"] = array([float(x) for x in row[1:6]])
    else:
        frame["steps"] = msgpack.ExtType(1, struct.pack("<BBQdd", 2, 1, 2, 0, float(row[6])))
        frame["choice"] = msgpack.ExtType(1, struct.pack("<BBQQq", 4, 2, 1, 1, float(row[6]) > 0))'
    searched '-z 400 --policy adaptive --clip 3'
    dp-loop --plan '(gradient, search) 30' --seed 4 -q -o model -- "$TEXT" > stream
    python '
rows = [line.split("\t") for line in open(sys.argv[1])]
laps = frames.laps("stream")
assert len(laps) == len(rows) == 60
def near(a, b): assert abs(a / b - 1) < 1e-12, (lap["lap"], a, b)
then = [1.0, 1.0, 1.0]
for lap, row in zip(laps, rows):
    rho, budget, clip = now = [float(x) for x in row[7:10]]
    near(lap["multiplier"], 400 / math.sqrt(rho))
    near(lap["search_factor"], budget)
    near(lap["bound"], 3 * clip)
    near(lap["loss_factor"], clip)
    if row[0] == "gradient": assert numpy.allclose(lap["gradient"].ravel(), [float(x) for x in row[10:15]], rtol=1e-12, atol=1e-15)
    assert numpy.allclose(lap["model"].ravel(), [float(x) for x in row[15:20]], rtol=1e-12, atol=1e-15)
    # the lap after is charged for what was chosen
    record = lap["records"][0]
    if row[0] == "gradient":
        near(record["multiplier"], 400 / math.sqrt(then[0]))
        near(record["bound"], 3 * then[2])
    else:
        near(record["epsilon"], 0.01 * then[1] / 2)
        near(record["query_epsilon"], 0.01 * then[1] / 4)
        near(record["bound"], 2 * then[2])
        near(record["sensitivity"], 2 * then[2])
    then = now' "$ROOT/tests/vectors/cheb.tsv"
    # and it goes on from any lap
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > int(open("last").read()) and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    for lap in ${LAPS:-2 8 19 30 42}; do
        rm -f stopped
        echo "$lap" > last
        run dp-loop --plan '(gradient, search) 30' --seed 4 -q --checkpoint kept --checkpoint-every 1 -o part -- "${TEXT/.\/paper/.\/stop | .\/paper}"
        assert_failure 1
        dp-loop --plan '(gradient, search) 30' --seed 4 -q --resume kept --checkpoint-every 1 -o part -- "${TEXT/.\/paper/.\/stop | .\/paper}" > rest
        assert_equal "$(dp-cat --kind lap rest | jq -c '[.lap, .multiplier, .search_factor, .bound]')" \
            "$(dp-cat --kind lap stream | tail -n +$((lap + 1)) | jq -c '[.lap, .multiplier, .search_factor, .bound]')"
    done
}

@test "adaptive: budgets that always grow, or never, and precision" {
    choose choose
    cp choose paper # as every lap of kind search
    sed -i 's/if frame\["kind"\] == "lap":/if frame["kind"] == "lap" and frame["lap_kind"] == "search":/' paper
    searched '-z 400 --policy adaptive --angle-max 0'
    TEXT=${TEXT/.\/paper/.\/paper 0:0,1}
    dp-loop --plan '(gradient, search) 3' --seed 4 -q -o model -- "$TEXT" > stream
    says '.multiplier' 400 400 350.823 350.823 307.692 307.692
    python '
mean = None
for lap in frames.laps("stream")[::2]:
    own = 1 / (lap["records"][0]["multiplier"] * lap["records"][0]["sensitivity"]) ** 2
    mean = 4 / (1 / mean + 1 / own) if mean else own
    assert abs(lap["precision"] / mean - 1) < 1e-12'
    TEXT=${TEXT/--angle-max 0/--growth 0}
    dp-loop --plan '(gradient, search) 3' --seed 4 -q -o model -- "$TEXT" > stream
    says '.multiplier' 400 400 400 400 400 400
    says '.search_factor' 1 1 1 1 1 1
}

@test "adaptive: it refuses gradients that are means already, or normalised, and searches that do not follow" {
    choose choose
    cp choose paper
    sed -i 's/if frame\["kind"\] == "lap":/if frame["kind"] == "lap" and frame["lap_kind"] == "search":/' paper
    for part in "--average-gradients:the gradient held in lap 3 is a mean already: leave out --average-gradients" \
        "--normalise:the direction of lap 3 is normalised: leave out --normalise"; do
        searched '-z 400 --policy adaptive' "${part%%:*}"
        complains 1 "dp-adapt: ${part#*:}" dp-loop --plan '(gradient, search) 3' --seed 4 -q -o model -- "${TEXT/.\/paper/.\/paper 0:0,1}"
    done
    searched '-z 400 --policy adaptive'
    none=${TEXT/ | .\/paper/}
    complains 2 "dp-adapt: laps of kind 'search' do not take the budget or the bound that is chosen here: dp-linesearch needs --follow" \
        dp-loop --plan '(gradient, search) 3' --seed 4 -q -o model -- "${none/--first-step 1 --follow/--first-step 1}"
    searched '-z 400 --policy on-failure --clip 3'
    none=${TEXT/ | .\/paper/}
    complains 2 "dp-adapt: laps of kind 'search' do not take the budget or the bound that is chosen here: dp-linesearch needs --follow" \
        dp-loop --plan '(gradient, search) 3' --seed 4 -q -o model -- "${none/--first-step 1 --follow/--first-step 1}"
    complains 2 "dp-adapt: --policy adaptive: a search on the batch of its gradient knows no mean of two gradients; leave out --same-batch" \
        dp-loop --laps 3 --seed 4 -q -o model -- "dp-sample --data a.dp --rate 0.5 | dp-grad --data a.dp --loss logistic --clip 1 --keep-batch |
            dp-noise -z 400 --follow | dp-linesearch --same-batch --data a.dp --epsilon 0.01 --tries 3 --clip 2 --first-step 1 --follow |
            dp-account --adaptive --allow-seeded --epsilon 9 --delta 1e-5 | dp-step | dp-adapt -z 400 --policy adaptive"
}

@test "the first step follows the largest of late" {
    # laps 1 to 3 take steps 2, 8 and none; then no step at all; then 3
    laps 9 '1:8,2,0 0:8,2,0 2:8,2,0 2:9.6,2,0 2:9.6,2,0 2:9.6,2,0 1:9.6,3,0 2:9.6,3,0 2:9.6,3,0' '--first-step 8 --every 3'
    says '.first_step' 8 8 9.6 9.6 9.6 9.6 9.6 9.6 3.6
    says '.step_size' 2 8 0 0 0 0 3 0 0
    laps 2 '1:8,2,0 0:4,2,0' '--first-step 8 --every 1 --widen 2'
    says '.first_step' 4 8
    laps 2 '1:8,2,0 0:4,2,0' '--first-step 8 --every 1 --widen 2 --narrow'
    says '.first_step' 4 4
}

@test "on failure: the clip bound falls once between two steps" {
    # fails in laps 1, 2 and 4
    laps 6 '0:0,1 0:0,1 1:0,1 0:0,1 1:0,1' '-z 4 --policy on-failure --growth 0.1 --clip 1 --clip-decay 0.5'
    says '.records[0].bound' 1 0.5 0.5 0.5 0.25 0.25
    says '.bound' 0.5 0.5 0.5 0.25 0.25 0.25
    says '.noise_scale' 4 1.90693 1.81818 1.81818 0.866784 0.866784
    laps 2 '0:0,1' '-z 4 --policy on-failure --clip 1'
    says '.records[0].bound' 1 0.95
    # no growth, no fall
    laps 3 '0:0,1' '-z 4 --policy on-failure --clip 1 --least-multiplier 4'
    says '.bound' 1 1 1
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
        dp-loop --laps 3 -o m -- "$(child 0:1,0 '-z 4 --policy on-failure --clip 1' | sed 's/--clip 1 --follow/--clip 1/')"
    complains 1 "dp-adapt: lap 2 had a first step of 1, not 1.2: dp-linesearch needs --follow, and to begin with the same value" \
        dp-loop --laps 3 -o m -- "$(child 0:1,0 '--first-step 1 --every 1')"
    filter forget '
if frame["kind"] == "lap": frame.pop("multiplier", None)'
    complains 1 "dp-adapt: lap 2 had a noise multiplier of 4, not 3.50823: dp-noise needs --follow, and to begin with the same value" \
        dp-loop --laps 3 -o m -- "$(child 0:0,1 '-z 4 --policy on-failure') | ./forget"
    complains 1 "dp-adapt: --average-gradients: the gradient held in lap 2 is not the mean of all since the last step: dp-step --hold needs --average-gradients, too" \
        dp-loop --laps 3 -o m -- "$(child 1:1,0 '-z 4 --average-gradients')"
}

ADAPT='-z 4 --policy on-failure --average-gradients --first-step 8 --every 2 --widen 1'
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
