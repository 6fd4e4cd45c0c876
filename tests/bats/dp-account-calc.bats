# The calculator: dp-account sigma, dp-account epsilon.
load helper

# refuses STATUS MESSAGE ARGUMENT…: that status, that one line on stderr, nothing on stdout
refuses() {
    local status_wanted=$1 message=$2
    shift 2
    run --separate-stderr dp-account "$@"
    assert_equal "$status" "$status_wanted"
    assert_equal "$output" ''
    assert_equal "$stderr" "$message"
}


# answers NUMBER ARGUMENT…
answers() {
    local number=$1
    shift
    run --separate-stderr dp-account "$@"
    assert_success
    assert_output "$number"
    assert_equal "$stderr" ''
}

# at_most A B
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 <= b + 0) }'; }

@test "calculator: --help names every option, --version the version" {
    for word in sigma epsilon; do
        run dp-account $word --help
        assert_success
        assert_line --index 0 --partial "Usage: dp-account $word [options]"
        for option in --delta --rate --laps --sampler --accountant --visible-batch --json; do
            assert_output --partial " $option"
        done
        run dp-account $word --version
        assert_success
        assert_output --regexp "^dp-account $word \(dpline\) [0-9.]+$"
    done
}

@test "help lists the words, each with a line, and names a page that exists" {
    for page in help --help -h; do
        run dp-account $page
        assert_success
        for word in sigma epsilon delta laps rate curve sensitivity budget charge report verify certify; do
            assert_line --regexp "^  $word +[A-Z][a-z ,A-Z0-9]+$"
        done
    done
    for word in sigma epsilon delta laps rate curve sensitivity budget charge report verify certify; do
        assert_equal "$(dp-account help $word)" "$(dp-account $word --help)"
        assert_equal "$(dp-account $word --help | tail -1)" "The manual: man dp-account"
    done
    complains 2 "dp-account: expected sigma, epsilon, delta, laps, rate, curve, sensitivity, budget, charge, report, verify, certify, help or the gate's options, got 'sigmas'" dp-account help sigmas
    [ -e /dev/full ] || return 0
    complains 1 "dp-account: cannot write standard output: No space left on device" bash -c 'dp-account help > /dev/full'
}

# the truth is not below its lower bound: in JSON and in words, rounded down in both
@test "calculator: a lower bound is rounded down" {
    for options in "-z 1 -r 100/10000 -n 1000" "-z .9 -r .01 -n 1000" "-z .7 -r .004 -n 3000" "-z 1.1 -r .02 -n 900" "-z 2 -r .1 -n 100" "-z .5 -r .001 -n 50000"; do
        said=$(dp-account epsilon $options -d 1e-5 --explain)
        json=$(dp-account epsilon $options -d 1e-5 --json)
        /usr/bin/python3 - "$said" "$json" << 'END'
import json, re, sys
said, answer = sys.argv[1], json.loads(sys.argv[2])
words = float(re.search(r"at least ([0-9.e-]+):", said).group(1))
assert words <= answer["lower"] * 1.000001 <= answer["epsilon"] * 1.000001, sys.argv
assert words >= answer["lower"] * 0.998 and len(str(answer["lower"]).replace(".", "").lstrip("0")) <= 6, sys.argv
END
    done
}

# of 32 points, each of which a search asks about 36 deltas
@test "calculator: what an attacker finds takes no curve twice" {
    svt='{"noise": "sparse-vector-laplace", "epsilon": 0.05, "query_epsilon": 0.025, "most": 30}'
    echo '{"laps": 100, "sampling": "poisson", "rate": 0.1, "queries": [{"noise": "gaussian", "multiplier": 8}, '"$svt]}" > events
    run bash -c 'ulimit -t 15 && dp-account epsilon --delta 1e-5 --explain events'
    assert_success
    assert_output --partial '; from even odds 53.3 %; mu 0.1652 '
}

@test "calculator: JSON has numbers in their shortest form" {
    run dp-account epsilon -z 1.1 --delta 1e-5 --rate 0.1 --laps 10 --json
    assert_output --partial '"rate":0.1,'
    assert_output --partial '"multiplier":1.1,'
    refute_output --regexp '[0-9]{12}'
}

@test "calculator: epsilon of known runs" {
    answers 2.10137 epsilon --multiplier 1 --rate 0.01 --laps 1000 --delta 1e-5 --accountant rdp
    answers 4.72851 epsilon --multiplier 10 --laps 100 --delta 1e-5 --accountant rdp
    # the released state of a visible batch: nothing amplifies
    answers 23.3914 epsilon --multiplier 1 --rate 0.01 --laps 1000 --delta 1e-5 --visible-batch
}

@test "calculator: sigma of known budgets" {
    answers 0.914179107 sigma --epsilon 1 --delta 1e-3 --rate 100/24420 --laps 2442 --accountant rdp
    answers 1.08610681 sigma --epsilon 1 --delta 1e-3 --rate 100/24420 --laps 2442 --accountant published
    answers 1.19732553 sigma -e 1 -d 1e-5 -r 300/60000 -n 2000 -a rdp
    answers 8.6394426 sigma --epsilon 1 --delta 1e-3 --rate 100/24420 --laps 2442 --visible-batch
}

@test "calculator: what sigma prints meets the target, asked again" {
    for epsilon in 0.01 0.1 1 10 50; do
        for delta in 1e-9 1e-5 1e-2; do
            sigma=$(dp-account sigma --epsilon $epsilon --delta $delta --rate 0.02 --laps 700)
            spent=$(dp-account epsilon --multiplier "$sigma" --delta $delta --rate 0.02 --laps 700)
            at_most "$spent" $epsilon || fail "epsilon $epsilon delta $delta: sigma $sigma spends $spent"
            less=$(awk -v s="$sigma" 'BEGIN { printf "%.9g", s * 0.9999 }')
            spent=$(dp-account epsilon --multiplier "$less" --delta $delta --rate 0.02 --laps 700)
            at_most "$spent" $epsilon && fail "epsilon $epsilon delta $delta: sigma $sigma is more than needed"
        done
    done
    true
}

@test "calculator: a quotient is its decimal" {
    answers "$(dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.005 --laps 2000)" \
        sigma --epsilon 1 --delta 1e-5 --rate 300/60000 --laps 2000
}

@test "calculator: shuffling is one Gaussian per epoch begun, a full batch one per lap" {
    one=$(dp-account epsilon --multiplier 5 --laps 1 --delta 1e-5)
    two=$(dp-account epsilon --multiplier 5 --laps 2 --delta 1e-5)
    answers "$one" epsilon --multiplier 5 --laps 10 --rate 1/10 --rows 1000 --delta 1e-5 --sampler shuffle
    answers "$two" epsilon --multiplier 5 --laps 11 --rate 1/10 --rows 1000 --delta 1e-5 --sampler shuffle
    answers "$one" epsilon --multiplier 5 --laps 244 --rate 100/24420 --rows 24420 --delta 1e-5 --sampler shuffle
    # .15 of 10 rows are 2, and an epoch is 5 laps, not 7
    answers "$(dp-account epsilon --multiplier 5 --laps 7 --delta 1e-5)" \
        epsilon --multiplier 5 --laps 35 --rate .15 --rows 10 --delta 1e-5 --sampler shuffle
    answers "$two" epsilon --multiplier 5 --laps 2 --delta 1e-5 --sampler full
}

@test "calculator: --json says what was assumed" {
    run dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.01 --laps 1000 --json
    assert_success
    /usr/bin/python3 - "$output" << 'PY'
import json, subprocess, sys
o = json.loads(sys.argv[1])
said = subprocess.check_output("dp-account sigma -e 1 -d 1e-5 -r .01 -n 1000".split(), text=True)
assert o["multiplier"] == float(said), o
assert (o["epsilon"], o["delta"], o["rate"], o["laps"]) == (1, 1e-5, 0.01, 1000), o
assert (o["sampler"], o["accountant"], o["adjacency"], o["sound"]) == ("poisson", "pld", "null-record", True), o
PY
    run dp-account epsilon --multiplier 1 --delta 1e-5 --rate 0.01 --laps 1000 --accountant published --json
    assert_success
    /usr/bin/python3 - "$output" << 'PY'
import json, sys
o = json.loads(sys.argv[1])
assert o["multiplier"] == 1 and 2.1 < o["epsilon"] < 3 and o["sound"] is False, o
PY
}

@test "calculator: words it does not know" {
    refuses 2 "dp-account sigma: --laps is required" sigma --epsilon 1 --delta 1e-5
    refuses 2 "dp-account sigma: unexpected argument 'more'" sigma --epsilon 1 --delta 1e-5 --laps 1 more
    refuses 2 "dp-account: expected sigma, epsilon, delta, laps, rate, curve, sensitivity, budget, charge, report, verify, certify, help or the gate's options, got 'nonsense'" nonsense
}

@test "calculator: what has no answer" {
    refuses 1 "dp-account sigma: no noise multiplier up to 1e+09 reaches epsilon 1e-06 at delta 1e-12" \
        sigma --epsilon 1e-6 --delta 1e-12 --laps 10 --rate 0.1 --accountant rdp
    refuses 1 "dp-account epsilon: this much noise gives no bound at all" \
        epsilon --multiplier 1e-200 --rate 0.01 --laps 1000 --delta 1e-5
}

@test "calculator: extreme parameters are answered in time" {
    for rate in 1e-8 0.5 1; do
        for laps in 1 1000000; do
            within 40 dp-account sigma --epsilon 0.01 --delta 1e-12 --rate $rate --laps $laps
            assert_success
            within 40 dp-account epsilon --multiplier 0.05 --delta 1e-12 --rate $rate --laps $laps
            assert_success
            within 40 dp-account epsilon --multiplier 10000 --delta 1e-12 --rate $rate --laps $laps --visible-batch
            assert_success
        done
    done
}

@test "calculator: a full standard output is noticed" {
    [ -e /dev/full ] || skip "no /dev/full"
    run bash -c 'dp-account sigma --epsilon 1 --delta 1e-5 --laps 10 > /dev/full'
    assert_equal "$status" 1
    assert_output --partial "cannot write standard output"
}

# --- recorded runs

WHOLE="record the whole stream (dp-loop ... > FILE, or a pipeline without -o)"
SEEDED="dp-account epsilon: not sound: the recorded run is seeded: anybody who knows the seed knows the noise"
STOPPED="dp-account epsilon: not sound: the recorded run has fewer laps than it announced: if it was ended because of what it had released, it has cost as much as all of them"
MORE="dp-account epsilon: not sound: the recorded run was charged for more than its records show: its noise or its laps may have followed what it released, and then its laps cost what it states"

# record LAPS OUT [SAMPLE [STEP [GATE [LOOP]]]]: a seeded run on small.dp, its stream in OUT, its model in OUT.model
record() {
    [ -d small.dp ] || small_data 100 4
    dp-loop --laps "$1" --seed 1 -q -o "$2.model" ${6:-} -- "dp-sample --data small.dp ${3:---rate 0.2} |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 ${4:-} | dp-noise -z 2 |
        dp-account ${5:---epsilon 100 --delta 1e-5} --allow-seeded | dp-step" > "$2"
}
# same A B: to six digits
same() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a / b < 1.00001 && b / a < 1.00001) }' || fail "$1 and $2"; }

@test "records: a model file is not a run, nor are laps with a gap, or one twice" {
    record 5 run
    dp-cat run > run.json
    complains 5 "dp-account epsilon: standard input: line 2: the stream begins with lap 5, and what the laps before it cost is not in it: a model file (-o) holds only the last lap; $WHOLE, or ask dp-info what the model says of itself" \
        bash -c "dp-cat run.model | dp-account epsilon --delta 1e-5"
    complains 5 "dp-account delta: standard input: line 1: the stream begins with lap 5, and what the laps before it cost is not in it: a model file (-o) holds only the last lap; $WHOLE, or ask dp-info what the model says of itself" \
        bash -c "dp-cat --last run | dp-account delta --epsilon 1"
    grep -v '"lap":3,' run.json > gap.json
    complains 5 "dp-account epsilon: gap.json: line 4: lap 4 came after lap 2: a run has each lap once, and all of them; $WHOLE" dp-account epsilon --delta 1e-5 gap.json
    sed '/"lap":3,/p' run.json > twice.json
    complains 5 "dp-account epsilon: twice.json: line 5: lap 3 came after lap 3: a run has each lap once, and all of them; $WHOLE" dp-account epsilon --delta 1e-5 twice.json
    complains 1 "dp-account epsilon: run: this is a stream of frames: give what dp-cat prints of it (dp-cat FILE | dp-account ...)" dp-account epsilon --delta 1e-5 run
    # a beginning of a run is charged as such, with a warning: it may have been ended for a reason in its releases
    complains 0 "$SEEDED
$STOPPED
dp-account epsilon: the run from line 2 on has 3 of its 5 laps, and the answer is about these laps only" bash -c "head -4 run.json | dp-account epsilon --delta 1e-5"
    same "$(head -4 run.json | dp-account epsilon --delta 1e-5 2> /dev/null)" "$(dp-account epsilon -z 2 --rate .2 --laps 3 --delta 1e-5)"
    echo '{"kind": "reserve"}' > ledger.json
    complains 1 "dp-account epsilon: ledger.json: line 1: neither a frame nor a charge: a 'reserve' line (dp-account report reads ledgers)" \
        dp-account epsilon --delta 1e-5 ledger.json
    complains 1 "dp-account epsilon: both.json: line 8: frames and charges in one input: a charge does not say whom it protects" \
        bash -c 'cat run.json - > both.json <<< "{\"laps\":1,\"sampling\":\"none\",\"queries\":[{\"noise\":\"gaussian\",\"multiplier\":2}]}"; dp-account epsilon --delta 1e-5 both.json'
}

@test "records: on a terminal nobody waits for them, and their work is bounded" {
    run timeout 20 script -qec "dp-account epsilon --delta 1e-5" /dev/null
    assert_equal "$status" 2
    assert_output "dp-account epsilon: --multiplier and --laps are required, or the records of a run (dp-cat FILE | dp-account ...)"$'\r'
    awk 'BEGIN { for (i = 0; i < 5000; i++) printf "{\"laps\":1,\"sampling\":\"none\",\"queries\":[{\"noise\":\"gaussian\",\"multiplier\":%d}]}\n", i + 1 }' > many.json
    complains 1 "dp-account epsilon: many.json: line 385: more than 384 mechanisms that differ: they cannot be accounted for in time" \
        dp-account epsilon --delta 1e-5 many.json
}

@test "records: no option describes what they say themselves" {
    record 2 run
    dp-cat run > run.json
    for option in "rate .5" "rows 3" "sampler full" "adjacency replace-one" "schedule linear:.2" "count-multiplier 3" visible-batch; do
        complains 2 "dp-account epsilon: --${option%% *}: the records in run.json say that themselves (a run described by options needs --multiplier and --laps)" \
            dp-account epsilon --delta 1e-5 --$option run.json
    done
}

@test "records: lap 1 begins another run, with shuffled epochs of its own, and runs compose" {
    record 5 run
    dp-cat run run | dp-account epsilon --delta 1e-5 2> /dev/null > two
    same "$(cat two)" "$(dp-account epsilon -z 2 --rate .2 --laps 10 --delta 1e-5)"
    # an epoch of ten laps: five of one run and five of another are two epochs begun, not one
    record 5 shuffled "--rate 0.1 --mode shuffle"
    same "$(dp-cat shuffled | dp-account epsilon --delta 1e-5 2> /dev/null)" "$(dp-account epsilon -z 2 --laps 1 --delta 1e-5)"
    same "$(dp-cat shuffled shuffled | dp-account epsilon --delta 1e-5 2> /dev/null)" "$(dp-account epsilon -z 2 --laps 2 --delta 1e-5)"
    run --separate-stderr bash -c "dp-cat run run | dp-account epsilon --delta 1e-5 --json"
    /usr/bin/python3 - "$output" << 'END'
import json, sys
o = json.loads(sys.argv[1])
assert [r["laps"] for r in o["runs"]] == [5, 5] and o["agrees"] and o["adjacency"] == "null-record", o
assert len(o["charges"]) == 1 and o["charges"][0]["laps"] == 10, o
END
}

@test "records: mixed adjacency, data sets and numbers of rows are refused" {
    record 2 run
    record 2 other "--rate 0.2" "--adjacency replace-one"
    complains 5 "dp-account epsilon: standard input: line 6: the frame is under replace-one adjacency, those before it are under null-record: they do not compose" \
        bash -c "dp-cat run other | dp-account epsilon --delta 1e-5"
    edit 'data="0123456789abcdef0123456789abcdef"' < run > elsewhere
    complains 5 "dp-account epsilon: standard input: line 6: the frame is about the data set 0123456789abcdef0123456789abcdef, those before it are about $(dp-info -g digest small.dp): one data set at a time" \
        bash -c "dp-cat run elsewhere | dp-account epsilon --delta 1e-5"
    dp-cat run | sed '3s/"rows":100/"rows":50/' > rows.json
    complains 5 "dp-account epsilon: rows.json: line 3: lap 2 records another 'rows' than the first lap" dp-account epsilon --delta 1e-5 rows.json
    dp-cat run | sed '3s/"rate":0.2/"rate":0.1/' > rate.json
    moved=$(dp-account epsilon --delta 1e-5 --explain rate.json)
    grep -q "the mechanism of each lap was fixed before the run" <<< "$moved"
    record 2 shuffled "--rate 0.1 --mode shuffle"
    dp-cat shuffled | sed '3s/"rate":0.1,/"rate":0.2,/;3s/"epoch_laps":10/"epoch_laps":5/' > shuffled.json
    complains 5 "dp-account epsilon: shuffled.json: line 3: lap 2 has another mechanism in the middle of a shuffled epoch" \
        dp-account epsilon --delta 1e-5 shuffled.json
}

@test "records: seeded runs are never called sound, and one without privacy is refused" {
    record 3 run
    complains 0 "$SEEDED" bash -c "dp-cat run | dp-account epsilon --delta 1e-5"
    record 3 run
    run --separate-stderr bash -c "dp-cat run | dp-account epsilon --delta 1e-5 --json"
    assert_output --partial '"sound":false,"why":["the recorded run'
    run bash -c "dp-cat run | dp-account epsilon --delta 1e-5 --explain"
    assert_line --regexp '^NOT SOUND: the recorded run '
    edit seeded= < run > sown
    run --separate-stderr bash -c "dp-cat sown | dp-account epsilon --delta 1e-5 --json"
    assert_output --partial '"sound":true'
    dp-loop --laps 2 --seed 1 -q -- "dp-sample --data small.dp --mode shuffle | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --variant non-private |
        dp-account --non-private --allow-seeded | dp-step" > open
    complains 5 "dp-account epsilon: standard input: line 2: the frame comes from a run without privacy: no epsilon bounds what it released" \
        bash -c "dp-cat open | dp-account epsilon --delta 1e-5"
}

@test "records: what the frames state is compared with what they cost" {
    record 5 run
    edit seeded= < run > sown
    dp-cat sown > run.json
    complains 0 "" dp-account epsilon --delta 1e-5 run.json
    sed -E 's/"epsilon":[0-9.]+/"epsilon":0.1/' run.json > less.json
    run dp-account epsilon --delta 1e-5 less.json
    assert_equal "$status" 5
    assert_output --regexp '^dp-account epsilon: the run from line 2 on states an epsilon of 0.1 at delta 1e-05, and its records cost at least [0-9.]+$'
    # at any delta
    run dp-account epsilon --delta 1e-2 less.json
    assert_equal "$status" 5
    sed -E 's/"epsilon":[0-9.]+/"epsilon":90/' run.json > more.json
    run --separate-stderr dp-account epsilon --delta 1e-5 more.json
    assert_success
    assert_regex "$stderr" "^$MORE"$'\n''dp-account epsilon: the run from line 2 on states an epsilon of 90, more than the [0-9.]+ that its records cost$'
    run --separate-stderr dp-account epsilon --delta 1e-5 --json more.json
    assert_output --partial '"agrees":false'
    assert_output --partial "\"sound\":false,\"why\":[\"${MORE#*sound: }\"]"
    run dp-account epsilon --delta 1e-5 --explain more.json
    assert_output --partial "NOT SOUND: ${MORE#*sound: }"
    # texts of earlier versions may have what a paper claims
    sed -E 's/"epsilon":[0-9.]+/"epsilon":0.1,"as_published":true/' run.json > alone.json
    complains 0 "" dp-account epsilon --delta 1e-5 alone.json
    assert_equal "$(dp-account epsilon --delta 1e-5 alone.json)" "$(dp-account epsilon --delta 1e-5 run.json)"
    sed 's/"label":"released"/"label":"noised"/' alone.json > started.json
    complains 5 "dp-account epsilon: started.json: line 2: the run starts from a model whose cost has no bound" \
        dp-account epsilon --delta 1e-5 started.json
    # left of the gate a frame has the cost of the laps before it
    dp-loop --laps 5 -q -o model -- "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 2 | tee noised | dp-account --epsilon 100 --delta 1e-5 | dp-step" > /dev/null
    complains 0 "" bash -c "dp-cat noised | dp-account epsilon --delta 1e-5"
}

# Its records cost less than the run, whose budget is the cost of its laps.
@test "records: of a run whose noise followed what it released the records are no sound account" {
    small_data 100 4
    dp-loop --laps 12 -q -- "dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 8 |
        dp-account --adaptive --epsilon 2 --delta 1e-5 | dp-step --step 1" > adaptive
    dp-cat adaptive | dp-account epsilon --delta 1e-5 --json 2> said > answer
    assert_equal "$(jq -c '[.sound, .agrees, .epsilon < 2, (.why | length), .runs[0].stated.epsilon]' answer)" '[false,false,true,1,2]'
    assert_equal "$(head -n 1 said)" "$MORE"
}

@test "records: a run that was stopped before its laps is no sound account, but one that met its budget, and one of rows that arrive" {
    small_data 100 4
    noisy="dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 2"
    dp-loop --laps 1000000 -q -o part -- "$noisy | dp-account --epsilon 9000 --delta 1e-5 --allow-weak | dp-step --step 1" > stream 2> said & pid=$!
    for i in $(seq 200); do [ "$(dp-cat stream 2> /dev/null | head -n 20 | wc -l)" -ge 5 ] && break; sleep 0.1; done
    kill -INT $pid
    wait $pid || true
    run --separate-stderr bash -c "dp-cat stream | dp-account epsilon --delta 1e-5 --json"
    assert_success
    assert_equal "$(jq -c '[.sound, .agrees, .why]' <<< "$output")" "[false,true,[\"${STOPPED#*sound: }\"]]"
    # its budget ends a run at a lap that was known before
    dp-loop --laps 50 -q -- "$noisy | dp-account --epsilon 3 --delta 1e-5 --no-ledger | dp-step --step 1" > spent 2> said || [ $? = 3 ]
    run --separate-stderr bash -c "dp-cat spent | dp-account epsilon --delta 1e-5 --json"
    assert_equal "$(jq -c '[.sound, .runs[0].laps < .runs[0].planned]' <<< "$output")" '[true,true]'
}

@test "records: noise that follows a schedule is charged as the gate charges it" {
    small_data 100 4
    dp-loop --laps 40 -q -- "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 2 --schedule linear:.2 | dp-account --epsilon 100 --delta 1e-5 | dp-step" > run
    stated=$(dp-cat --last run | grep -oE '"epsilon":[0-9.e-]+' | cut -d: -f2)
    complains 0 "" bash -c "dp-cat run | dp-account epsilon --delta 1e-5"
    same "$(dp-cat run | dp-account epsilon --delta 1e-5)" "$stated"
}

@test "records: what the model has cost that a run started from is added" {
    record 5 first
    record 4 second "" "" "" "--init first.model"
    one=$(dp-info -g epsilon first.model) own=$(dp-account epsilon -z 2 --rate .2 --laps 4 --delta 1e-5)
    same "$(dp-info -g prior_epsilon second.model)" "$one"
    assert_equal "$(dp-info -g prior_delta second.model)" 1e-05
    run dp-info second.model
    assert_line --regexp '^  of it epsilon [0-9.]+, delta 1e-05 is the cost of the model that the run started from$'
    said=$(dp-cat second | dp-account epsilon --delta 2e-5 2> /dev/null)
    same "$said" "$(awk -v a="$one" -v b="$own" 'BEGIN { printf "%.9g", a + b }')"
    same "$said" "$(dp-info -g epsilon second.model)"
    complains 2 "dp-account epsilon: --delta: must be above 1e-05, the delta of the model that the run started from" \
        bash -c "dp-cat second | dp-account epsilon --delta 1e-5"
    run bash -c "dp-cat second | dp-account epsilon --delta 2e-5 --explain"
    assert_line --regexp '4 laps, and starts from a model that has cost epsilon [0-9.]+ at delta 1e-05; its frames state'
    # the delta at which the stated epsilon holds, and back
    same "$(dp-cat second | dp-account delta --epsilon "$said" 2> /dev/null | awk '{ print $1 + 1 }')" 1.00002
    complains 2 "dp-account delta: --epsilon: must be above $(awk -v a="$one" 'BEGIN { printf "%.6g", a }'), the cost of the model that the run started from" \
        bash -c "dp-cat second | dp-account delta --epsilon 0.1"
    # a stream from left of the gate says it in its first frame
    dp-loop --laps 2 --init first.model -q -o model -- "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 2 | tee noised | dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step" > /dev/null
    same "$(dp-cat noised | dp-account epsilon --delta 2e-5 2> /dev/null)" "$(dp-info -g epsilon model)"
    # and a run without --init says nothing
    run dp-info -g prior_epsilon first.model
    assert_failure 1
}

# A limit that holds on a busy machine, too; on an idle one most take less than 2 s of CPU, and all less than 6.
@test "no question takes long" {
    case $BUILD in *asan*) skip "sanitizers take their time" ;; esac
    quick() {
        run bash -c "ulimit -t 5; dp-account $*"
        assert_success
    }
    quick epsilon --multiplier 1e300 --rate .5 --laps 10 --delta 1e-300
    quick epsilon --multiplier 1 --schedule linear:1e-6 --laps 100000 --rate .001 --delta 1e-5
    quick epsilon --multiplier 1 --schedule linear:.01 --laps 2442 --rate 100/24420 --delta 1e-5
    quick sigma --epsilon 1 --delta 1e-12 --rate 1e-6 --laps 1000000
    quick laps --multiplier 0.629039860830923 --rate 0.00013312128233857295 --epsilon 0.8838 --delta 9.385894043925967e-08
    quick epsilon --visible-batch --multiplier 1000 --laps 1000000000000 --rate 0.5 --delta 1e-5
    quick sigma --visible-batch --epsilon 1 --laps 300000000 --rate 0.5 --delta 1e-5
    quick sigma --sampler repeated --draws 1000000 --contraction 0.9999 --epsilon 1 --rate 0.001 --delta 1e-5
    quick epsilon --sampler repeated --draws 1000000000000 --contraction 1 --rate 0.5 --multiplier 1e12 --delta 1e-5
}

@test "draws within a lap: options, charges and words" {
    drawn="--sampler repeated --draws 300 --contraction 0.97"
    # draws at rate 1 are one Gaussian, of the sum of their contributions and of the rounding
    s=$(awk 'BEGIN { printf "%.15g", (1 - .97 ^ 300) / .03 + 2 ^ -10 }')
    same "$(dp-account epsilon -z 20 --delta 1e-5 $drawn)" "$(dp-account epsilon --mechanism output -z "$(awk -v s="$s" 'BEGIN { printf "%.15g", 20 / s }')" --delta 1e-5)"
    epsilon=$(dp-account epsilon -z 20 --delta 1e-5 --rate 0.01 $drawn)
    echo '{"laps": 1, "sampling": "repeated", "rate": 0.01, "draws": 300, "contraction": 0.97, "queries": [{"noise": "gaussian", "multiplier": 20}]}' > charge
    assert_equal "$(dp-account epsilon --delta 1e-5 charge)" "$epsilon"
    run dp-account epsilon -z 20 --delta 1e-5 --rate 0.01 --adjacency replace-one --explain $drawn
    assert_line --index 0 "$epsilon"
    assert_line "  1 lap: Gaussian noise of 20 times the sensitivity; on the result of many draws, each a Poisson sample, rate 0.01, 300 draws, contraction 0.97"
    run dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.01 --json $drawn
    assert_success
    jq -e '.sampler == "repeated" and .draws == 300 and .contraction == 0.97 and .laps == 1 and .charges[0].sampling == "repeated"' <<< "$output"
    least=$(dp-account epsilon -z "$(jq .multiplier <<< "$output")" --delta 1e-5 --rate 0.01 $drawn)
    awk -v e="$least" 'BEGIN { exit !(e <= 1 && e > .9999) }' || fail "$least"
    complains 2 "dp-account epsilon: --sampler repeated, --adjacency null-record, --visible-batch: a secret or released state with a repeated sampler has no accountant" \
        dp-account epsilon -z 20 --delta 1e-5 --visible-batch $drawn
    sed 's/gaussian/gamma/' charge > gamma
    complains 1 "dp-account epsilon: gamma: line 1: only Gaussian noise has an accountant where a lap draws many batches, not gamma" \
        dp-account epsilon --delta 1e-5 gamma
}

@test "charges under two adjacencies are refused, whichever accountant is asked" {
    cat > mixed << 'END'
{"laps": 331, "sampling": "poisson", "rate": 0.0095, "queries": [{"noise": "gaussian", "multiplier": 20.75}]}
{"laps": 84, "sampling": "shuffled", "rate": 0.516, "epoch_laps": 1, "queries": [{"noise": "sparse-vector-gaussian", "rho": 0.00025, "most": 1}]}
{"laps": 1, "sampling": "substituted", "rate": 0.25, "queries": [{"noise": "gaussian", "multiplier": 3.47}]}
END
    for accountant in best rdp; do
        complains 1 "dp-account epsilon: samples under replace-one and under null-record adjacency do not compose" \
            dp-account epsilon --delta 1e-5 --accountant $accountant mixed
    done
    head -n 2 mixed > one
    dp-account epsilon --delta 1e-5 one
}

@test "the exponential mechanism costs what a Gaussian of multiplier 2 / epsilon does, and no more than its epsilons" {
    ask=(dp-account epsilon --mechanism exponential --sampler none --delta 1e-6)
    gaussian=$(dp-account epsilon --multiplier 40 --sampler none --laps 50 --delta 1e-6 --accountant rdp)
    assert_equal "$("${ask[@]}" --mechanism-epsilon 0.05 --laps 50)" "$gaussian"
    assert_equal "$("${ask[@]}" --mechanism-epsilon 0.05 --laps 50 --accountant rdp)" "$gaussian"
    # a few of them are also charged as the pure mechanisms that they are
    assert_equal "$("${ask[@]}" --mechanism-epsilon 0.05 --laps 2)" \
        "$(dp-account epsilon --mechanism pure --mechanism-epsilon 0.05 --sampler none --laps 2 --delta 1e-6)"
    complains 2 "dp-account sigma: --mechanism exponential has no noise multiplier" dp-account sigma --mechanism exponential \
        --mechanism-epsilon 1 --laps 2 --epsilon 1 --delta 1e-6
}

@test "objective perturbation is calibrated by its profile" {
    local perturbed="--mechanism objective --curvature 0.25/24.42 --slack 10000 --delta 1e-3"
    assert_equal "$(dp-account sigma $perturbed --epsilon 0.5) $(dp-account sigma $perturbed --epsilon 1)" "4.69051576 2.59686548"
    assert_equal "$(dp-account epsilon $perturbed -z 2.59686548)" 1
    assert_equal "$(dp-account delta --mechanism objective --curvature 0.25/24.42 --slack 10000 -z 2.59686548 --epsilon 1)" 0.001
    assert_equal "$(dp-account epsilon $perturbed -z 2.59686548 --json | grep -o '"accountant":"[a-z]*"')" '"accountant":"profile"'
    run dp-account epsilon $perturbed -z 2 --two-sided --adjacency replace-one --explain
    assert_success
    assert_output --partial "objective perturbation with Gaussian noise of 2 on the objective and 10000 on its minimiser"
    assert_output --partial "4 vertices; on every row"
    # another accountant, and another lap
    local more
    for more in "--accountant rdp" "--accountant advanced" "--laps 2"; do
        /usr/bin/python3 -c "import sys; sys.exit(not 1 < $(dp-account epsilon $perturbed -z 2.6 $more) < 3)"
    done
    complains 1 "dp-account sigma: --curvature: 0.01 costs an epsilon of at least 0.00995033 with any noise: a larger lambda lowers it" \
        dp-account sigma --mechanism objective --curvature 0.01 --slack 1e4 --epsilon 0.009 --delta 1e-4
    complains 1 "dp-account epsilon: accountant profile does not cover these mechanisms" \
        dp-account epsilon -z 2 --sampler full --laps 1 --delta 1e-3 --accountant profile
}
