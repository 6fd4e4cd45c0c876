# dp-tune: its charges, its releases, and its end.
load helper

# data: training and validation rows of one population, and a grid of two settings
prepare() {
    dp-synth classification --rows 600 --cols 6 --seed 7 -o train.dp --test valid.dp -q
    printf '# settings\nstep clip\n\n1 1\n  0.001\t0.1\n' > grid
    mkdir bin rooms
    export TMPDIR=$PWD/rooms
    PATH=$PWD/bin:$PATH
    script tune 'exec dp-tune --grid grid --score-data valid.dp --score-multiplier 5 --epsilon 5 --delta 1e-5 "$@"'
}

# script NAME TEXT: a command of that name
script() { printf '#!/bin/bash\n%s\n' "$2" > "bin/$1" && chmod +x "bin/$1"; }

# run_of [LAPS [GATE [OPTIONS]]]: the command of one run; the options are for dp-loop
run_of() {
    echo "dp-loop --laps ${1:-3} ${3:-} -- \"dp-sample --data train.dp --mode full | dp-grad --data train.dp --loss logistic --clip {clip} |
        dp-noise --multiplier ${NOISE:-30} | dp-account ${2:---trial {trial\}} | dp-step --step {step}\""
}

# no directory of trials is left behind
nothing_left() { assert_equal "$(ls rooms)" ''; }

@test "the best of several runs is charged as one, in the ledger, the model and its certificate" {
    run tune --trials geometric:0.3 -o model "$(run_of)"
    assert_success
    assert_output --regexp '^dp-tune: chosen: step [01.]+, clip [01.]+; accuracy [0-9.e-]+ with noise; epsilon [0-9.]+, delta 1e-05$'
    epsilon=$(dp-info --get epsilon model)
    # the calculator's answer: full batches, with the score
    expected=$(dp-account epsilon --multiplier 30 --delta 1e-5 --sampler full --laps 3 --trials geometric:0.3 --score-multiplier 5)
    awk -v a="$epsilon" -v b="$expected" 'BEGIN { exit !(a <= b && a > b * 0.9999) }' || fail "$epsilon, expected $expected"
    assert_equal "$(dp-info --get trials model)" geometric:0.3
    assert_equal "$(dp-info --get selected_on model)" "$(jq -r .digest valid.dp/dataset.json)"
    assert_equal "$(dp-info --get lap model)" 1
    run dp-info model
    assert_line --partial '  for the choice of the best of several runs (geometric:0.3), by the rows of data set '
    refute_line --partial 'trial:'
    assert_line 'laps: all laps of the chosen run, released as one'
    run jq -c 'select(.kind == "plan") | .charges[]' train.dp/ledger
    assert_output '{"laps":1,"sampling":"tuned","trials":"negative-binomial","eta":1,"gamma":0.3,"score_multiplier":5,"settings":[{"times":2,"charges":[{"laps":3,"sampling":"none","queries":[{"noise":"gaussian","multiplier":30}]}]}]}'
    dp-account verify train.dp/ledger
    dp-account certify --ledger train.dp/ledger --model model > certificate
    states model "$(jq .epsilon certificate)"
    dp-account verify --certificate certificate --model model train.dp/ledger
    assert_equal "$(jq -r 'select(.kind == "plan") | .charges[] | tojson' train.dp/ledger | dp-account epsilon --delta 1e-5)" "$expected"
    dp-predict model valid.dp > /dev/null
    nothing_left
}

@test "a named pipeline is a trial" {
    tune --trials all -o model "dpline dp-sgd --data train.dp --batch 100 --epochs 3 --clip {clip} --multiplier 30 --trial {trial} --step {step} -q"
    run jq -c 'select(.kind == "plan") | .charges[] | [.laps, .sampling, .queries[0].multiplier]' train.dp/ledger
    assert_line --index 1 '[36,"poisson",30]'
    dp-predict model valid.dp > /dev/null
    complains 2 "dpline dp-sgd: --trial: --multiplier is required, since dp-tune pays for all trials together" dpline dp-sgd --data train.dp --trial there
    complains 2 "dpline dp-sgd: --trial: dp-tune has the ledger, so --ledger is its option" dpline dp-sgd --data train.dp --trial t --multiplier 3 --ledger f
    complains 2 "dpline dp-sgd: --trial: dp-tune has the ledger, so --no-ledger is its option" dpline dp-sgd --data train.dp --trial t --multiplier 3 --no-ledger
    complains 2 "dpline federated-sgd: --trial: a run over several machines is not a trial" \
        dpline federated-sgd --data train.dp --shard 1/2 --rows 900 --at ipc://g --trial t --multiplier 3
    nothing_left
}

@test "the model of a trial, which is not paid for, is written nowhere else if its place takes none" {
    command=$(run_of 3 '--trial {trial}' '--exec processes -o gone/model')
    run tune --trials all -o model "mkdir -p gone; ${command/dp-sample/rm -r gone; dp-sample}"
    assert_line --partial 'a trial failed'
    assert_equal "$(find . -name '*.model')" ''
    nothing_left
}

@test "settings whose runs cost differently are charged by their mean, and all of a fixed grid together" {
    printf 'step clip laps\n1 1 3\n1 1 3\n1 1 50\n' > grid
    run tune --trials poisson:2 -o /dev/null "$(run_of '{laps}')"
    [ "$status" -le 1 ] # where no trial was drawn there is no model
    run jq -c 'select(.kind == "plan") | .charges[].settings | map([.times, .charges[0].laps])' train.dp/ledger
    assert_output '[[2,3],[1,50]]'
    rm train.dp/ledger*
    tune --trials all -o model "$(run_of '{laps}')"
    run jq -c 'select(.kind == "plan") | .charges[] | [.laps, .queries[0].multiplier]' train.dp/ledger
    assert_output $'[3,5]\n[56,30]'
    assert_equal "$(dp-info --get lap model)" 59
    dp-account certify --ledger train.dp/ledger --model model > certificate
    states model "$(jq .epsilon certificate)"
}

# Each run that ends within an epoch is one release of all rows: their unfinished epochs do not make one epoch together.
@test "a fixed grid over epochs that are not whole: the ledger, the report, the certificate and the model say one number" {
    printf 'step noise\n%s\n' "$(printf '%s 30\n' 1 2 3 4 5 6 7 8 9 10)" > grid
    shuffled() { run_of "${1:-1}" | sed -e 's/--mode full/--rate 0.5 --mode shuffle/' -e 's/{clip}/1/' -e 's/-multiplier 30/-multiplier {noise}/'; }
    for laps in 1 3; do
        tune --trials all -q -o model "$(shuffled $laps)"
        epsilon=$(dp-info --get epsilon model)
        # ten runs that have begun one epoch each, or two
        charge='{"laps": %d, "sampling": "none", "queries": [{"noise": "gaussian", "multiplier": %d}]}\n'
        expected=$(printf "$charge$charge" $((10 * (laps + 1) / 2)) 30 10 5 | dp-account epsilon --delta 1e-5)
        awk -v a="$epsilon" -v b="$expected" 'BEGIN { exit !(a <= b && a > b * 0.9999) }' || fail "$epsilon, expected $expected"
        dp-account verify train.dp
        dp-account certify --data train.dp --model model > certificate
        states model "$(jq .epsilon certificate)"
        states model "$(dp-account report train.dp --json | jq '.runs[0].epsilon')"
        rm train.dp/ledger*
    done
    # settings of different noise, each of which ends within an epoch: nothing is refused after something was reserved
    printf 'step noise\n1 30\n1 20\n1 30\n1 40\n' > grid
    tune --trials all -q -o model "$(shuffled 3)"
    dp-account verify train.dp
    states model "$(jq -c 'select(.kind == "close") | .epsilon' train.dp/ledger)"
}

@test "the better setting is chosen, by rows that it names" {
    printf 'step clip\n1e-9 1\n5 1\n1e-9 0.1\n' > grid
    complains 5 "dp-tune: this may cost epsilon = 84.7, and above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)" \
        tune --epsilon 100 --trials all "$(NOISE=1 run_of 30)"
    # accuracies .82 and .92: with noise of .005 on each, and .01 between runs, the other is chosen once in 10^9 runs
    run tune --epsilon 100 --score-multiplier 1 --trials all -o model "$(NOISE=10 run_of 30)"
    assert_output --partial 'dp-tune: chosen: step 5, clip 1; '
    assert_equal "$(dp-info --get trials model)" all
    complains 5 'dp-eval: valid.dp is what dp-tune chose the model by: what is measured on it is not covered by epsilon, and too good (--private-data if that is meant)' \
        dp-eval --data valid.dp --last --in model
    dp-eval --data valid.dp --last --in model --private-data > /dev/null
}

@test "a seeded choice is the same again, whichever way its runs run, and is marked" {
    seeded='--allow-seeded --trial {trial}'
    tune --trials poisson:3 --seed 5 -o one "$(run_of 3 "$seeded" '--seed {seed} --exec fused')" 2> said
    tune --trials poisson:3 --seed 5 -o two "$(run_of 3 "$seeded" '--seed {seed} --exec processes')" 2>> said
    cmp one two
    assert_equal "$(sort -u said | wc -l)" 1
    assert_equal "$(dp-info --get seeded one)" true
    [ ! -e train.dp/ledger ]
    tune --trials poisson:3 --seed 6 -q -o three "$(run_of 3 "$seeded" '--seed {seed}')"
    run cmp -s one three
    assert_failure
    complains 5 'dp-tune: the run of setting 1 is seeded: dp-tune needs --seed, and the run {seed}' \
        tune --trials poisson:3 -o one "$(run_of 3 "$seeded" '--seed 5')"
    complains 2 'dp-tune: {seed}: the command does not have it, and --seed is for all draws: dp-loop --seed {seed}' \
        tune --trials poisson:3 --seed 5 -o one "$(run_of)"
}

@test "a trial by itself is no model for anybody" {
    tune --trials geometric:0.9 -q -o model "$(run_of 3 '' '-o kept')"
    assert_equal "$(dp-cat --lap 3 kept | jq -r 'select(.kind == "lap") | .trial' | wc -c)" 33
    assert_equal "$(dp-cat kept | jq -c 'select(.kind == "lap") | has("epsilon")')" false
    why='kept holds one trial of a selection, which nobody has paid for'
    complains 5 "dp-predict: $why" dp-predict kept valid.dp
    complains 5 "dp-info: $why" dp-info kept
    complains 5 "dp-eval: the model is one trial of a selection, which nobody has paid for" dp-eval --data valid.dp --last --in kept
    complains 5 "dp-loop: $why" dp-loop --laps 1 --init kept -o x -- "dp-sample --data train.dp --mode full |
        dp-grad --data train.dp --loss logistic --clip 1 | dp-noise -z 30 | dp-account --epsilon 1 --delta 1e-5 | dp-step --step 1"
}

@test "dp-account --trial is for dp-tune alone, while it is there" {
    script run_alone 'exec dp-loop --laps 3 -o x -- "dp-sample --data train.dp --mode full | dp-grad --data train.dp --loss logistic --clip 1 |
        dp-noise -z 30 | dp-account --trial $1 $2 | dp-step --step 1"'
    mkdir -m 700 room
    why="$PWD/room is not a directory of dp-tune: a run of its own needs a budget"
    complains 5 "dp-account: --trial: $why" run_alone "$PWD/room"
    echo '0123456789abcdef0123456789abcdef laps' > room/trial
    complains 5 "dp-account: --trial: the dp-tune that made $PWD/room is gone, and nobody else charges for the run" run_alone "$PWD/room"
    chmod 755 room
    complains 5 "dp-account: --trial: $why" flock room/trial run_alone "$PWD/room"
    assert_not_exists train.dp/ledger
    assert_not_exists x
}

@test "a choice that costs more than the budget, or than the data set's has left, does not begin" {
    expected=$(dp-account epsilon --multiplier 30 --delta 1e-5 --sampler full --laps 3 --trials geometric:0.1 --score-multiplier 5)
    complains 3 "dp-tune: the choice costs epsilon = $expected at delta = 1e-05, and the budget is 0.5: dp-account sigma --trials says how much noise a run needs" \
        tune --trials geometric:0.1 --epsilon 0.5 -o model "$(run_of)"
    [ ! -e train.dp/ledger ]
    dp-account budget --epsilon 1 --delta 1e-5 train.dp
    complains 3 "dp-tune: the rest of the data set's budget does not pay for the choice, which costs epsilon = $expected" \
        tune --trials geometric:0.1 -o model "$(run_of)"
    run dp-account report train.dp/ledger
    assert_line --partial ' budget'
    [ ! -e model ]
    nothing_left
}

@test "no trial is started before the choice is in the ledger, and a kill leaves it there" {
    # the run's plan is asked for first: from the second time on, the ledger has the reservation
    command="[ -e asked.{step} ] && cat train.dp/ledger > seen.{step} && exec sleep 60; touch asked.{step}; $(run_of)"
    tune --trials geometric:0.5 -o model "$command" 2> said & pid=$!
    for i in $(seq 600); do grep -qs '"kind":"plan"' seen.* && break; sleep 0.1; done
    grep -q '"kind":"plan"' seen.*
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    assert_equal "$status" 143
    assert_equal "$(cat said)" 'dp-tune: interrupted, and the choice stays charged'
    assert_equal "$(jq -r 'select(.kind == "close") | .status' train.dp/ledger)" interrupted
    [ ! -e model ]
    nothing_left
    # killed outright
    rm -f asked.* seen.*
    tune --trials geometric:0.5 -o model "$command" 2> said & pid=$!
    for i in $(seq 200); do ls seen.* > /dev/null 2>&1 && break; sleep 0.1; done
    kill -KILL "$pid"
    wait "$pid" || true
    run dp-account report train.dp/ledger
    assert_line --partial 'going or killed'
    assert_line --regexp '^spent: epsilon [0-9.]+ at delta 2e-05, by 2 runs and 2 laps'
}

@test "a trial that fails, or does something else than it announced, ends all of it and says nothing" {
    failed='dp-tune: a trial failed, and the choice stays charged: its messages are not shown, because they are not charged; run the command on rows that are not private to see them'
    complains 1 "$failed" tune --trials geometric:0.5 -o model "[ -e asked.{step} ] && echo secret >&2 && exit 1; touch asked.{step}; $(run_of)"
    rm asked.*
    complains 1 "$failed" tune --trials geometric:0.5 -o model "$(run_of) | head -c 900"
    # less noise than was announced, in all laps
    complains 5 'dp-tune: a trial announced something else than its setting had' tune --trials geometric:0.5 -o model \
        "z=30; [ ! -e asked.{step} ] || z=3; touch asked.{step}; $(NOISE='$z' run_of)"
    assert_equal "$(jq -r 'select(.kind == "plan") | .kind' train.dp/ledger | wc -l)" 3
    # another run's model
    dp-loop --laps 3 -o other -- "dp-sample --data train.dp --mode full | dp-grad --data train.dp --loss logistic --clip 1 |
        dp-noise -z 30 | dp-account --epsilon 1 --delta 1e-5 | dp-step --step 1" > /dev/null
    complains 5 "dp-tune: a trial's model did not come from its gate, or not from the rows that were announced" \
        tune --trials geometric:0.5 -o model "$(run_of) > /dev/null 2>&1; cat other"
    [ ! -e model ]
    nothing_left
}

@test "the gate of a trial holds every lap to what was announced" {
    mkdir -m 700 room
    echo '0123456789abcdef0123456789abcdef laps' > room/trial
    dp-loop --laps 2 --exec processes -- "dp-sample --data train.dp --mode full | dp-grad --data train.dp --loss logistic --clip 1 |
        dp-noise -z 30 | tee noised | dp-account --epsilon 5 --delta 1e-5 --no-ledger | dp-step --step 1" > /dev/null
    # changed NAME PYTHON: the stream as a trial has it, in which `hello`, `first` and `second` may be changed
    changed() {
        recode noised "$1" '
hello, first, second, end = frames
for key in ("epsilon", "delta", "adjacency", "untracked"):
    second.pop(key, None)
second["trial"] = "0123456789abcdef0123456789abcdef"
exec(sys.argv[1])' "${2:-}"
    }
    gate() {
        cp charged room
        complains 5 "dp-account: $1" flock room/trial dp-account --trial room --in changed --out passed
    }
    changed honest
    echo '0123456789abcdef0123456789abcdef plan' > room/trial
    complains 1 'dp-account: dp-tune asked only for the plan' flock room/trial dp-account --trial room --in honest --out passed
    mv room/plan charged
    cp charged room
    echo '0123456789abcdef0123456789abcdef laps' > room/trial
    flock room/trial dp-account --trial room --in honest --out passed
    assert_equal "$(dp-cat --kind lap passed | jq -r .trial | uniq -c | awk '{ print $1, $2 }')" '2 0123456789abcdef0123456789abcdef'
    assert_equal "$(dp-cat --kind lap passed | jq -c '[has("epsilon"), has("delta"), has("ledger")]' | uniq)" '[false,false,false]'
    assert_equal "$(jq -c '[.rows, .adjacency, .charges[0].laps]' room/plan)" '[600,"null-record",2]'
    # one run, and the one that was charged for
    complains 5 'dp-account: --trial: dp-tune has charged for no other run than the one before' \
        flock room/trial dp-account --trial room --in honest --out again
    changed changed 'for f in hello, first, second: f["records"][0]["multiplier"], f["records"][0]["scale"] = 3.0, 3.0 * f["records"][0]["sensitivity"]'
    gate '--trial: the stages announce something else than what dp-tune has charged for'
    # of all rows, the same event under another adjacency: another promise to a person, and no other price
    changed changed 'for f in hello, first, second:
    r = f["records"][0]
    r.update(adjacency="replace-one", sensitivity=2 * r["sensitivity"], scale=2 * r["scale"])'
    gate '--trial: the stages announce something else than what dp-tune has charged for'
    [ ! -e again ] || ! dp-cat --kind lap again | grep -q lap
    changed changed 'second["records"][0]["multiplier"], second["records"][0]["scale"] = 3.0, 3.0 * second["records"][0]["sensitivity"]'
    gate 'the mechanism of lap 2 is not what was announced: noise that changes needs a schedule or --adaptive'
    changed changed 'first["records"][0]["rows"] = 599'
    gate 'lap 1 is of other rows, or under another adjacency, than were announced'
    changed changed 'del second["trial"]'
    gate 'the model that lap 2 begins with is a trial of a selection, which nobody has paid for'
    changed changed 'first["trial"] = "fedcba9876543210fedcba9876543210"'
    gate 'the model that lap 1 begins with is a trial of a selection, which nobody has paid for'
    changed changed 'first["epsilon"] = 1.0'
    gate '--trial: a trial starts from no model that has cost something'
    changed changed 'hello["records"] = []'
    gate 'no stage has announced what laps do to private rows'
    changed changed 'del hello["laps"]'
    gate 'nobody has announced how many laps the run will have'
    # and every other gate refuses what a trial has made
    changed changed 'first["trial"] = second["trial"]'
    complains 5 'dp-account: the model that lap 1 begins with is a trial of a selection, which nobody has paid for' \
        dp-account --epsilon 5 --delta 1e-5 --no-ledger --in changed --out passed
}

@test "what was drawn as no trial at all releases nothing, and stays charged" {
    complains 1 'dp-tune: the number of trials was drawn as 0, so there is no model; the cost of the choice stays charged, because a second draw would change the distribution' \
        tune --trials poisson:1e-9 -o model "$(run_of)"
    assert_equal "$(jq -r 'select(.kind == "close") | [.laps, .status] | @csv' train.dp/ledger)" '1,"done"'
    [ ! -e model ]
}

@test "numbers have a score of their own" {
    dp-synth regression --rows 400 --cols 4 --seed 3 -o r.dp --test rv.dp -q
    printf 'step\n0.5\n' > grid
    command='dp-loop --laps 3 -- "dp-sample --data r.dp --mode full | dp-grad --data r.dp --loss squared --clip 1 | dp-noise -z 30 |
        dp-account --trial {trial} | dp-step --step {step}"'
    export command
    script tune 'exec dp-tune --grid grid --score-data rv.dp --score-multiplier 5 --epsilon 5 --delta 1e-5 --trials geometric:0.5 -o model "$@" "$command"'
    tune -q --metric squared-error --score-clip 4
    complains 2 'dp-tune: --metric: accuracy is for labels that are classes, the labels of rv.dp are numbers' tune
}

@test "persons with several rows: they are counted in the ledger, and one unit holds for training and scores" {
    dp-synth classification --rows 600 --cols 6 --seed 7 --rows-per-person 3 -o train.dp --force -q
    dp-synth classification --rows 600 --cols 6 --seed 7 --rows-per-person 5 -o five.dp -q
    dp-synth classification --rows 600 --cols 6 --seed 7 -o none.dp -q
    for scores in five none; do
        complains 5 "dp-tune: $scores.dp and $PWD/train.dp do not have the same unit of privacy: import both with one --rows-per-person" \
            tune --score-data $scores.dp --trials all -o model "$(run_of)"
    done
    [ ! -e train.dp/ledger ]
    run tune --score-data train.dp --score-multiplier 0.01 --epsilon 100000 --allow-weak --trials all -o model "$(run_of)"
    assert_success
    assert_output --regexp '; accuracy (0\.[0-9]+|1(\.00[0-9]+)?) with noise; ' # of 300 persons, not of 600 rows
    run jq -c 'select(.kind == "open") | [.rows, .unit]' train.dp/ledger
    assert_output '[300,"person:3"]'
    dp-account report train.dp | grep -x 'all rows of a person count together: at most 3 of them'
    nothing_left
}

@test "bad input is said before anything is charged" {
    bad() { local status=$1 message=$2; shift 2; complains "$status" "dp-tune: $message" "$@"; }
    command=$(run_of)
    export command
    script with 'printf %b "$1" > g; exec tune --grid g --trials all -o model "$command"'
    bad 1 'g: no rows: a line of names and a line of cells for each row are expected' with ''
    bad 1 'g: no rows: a line of names and a line of cells for each row are expected' with 'step clip\n'
    bad 1 'g: line 2: 1 cells, and there are 2 columns' with 'step clip\n1\n'
    bad 1 "g: line 2: '1;ls' has a character that a shell would read" with 'step clip\n1;ls 1\n'
    bad 1 "g: line 1: the column 'step' is there twice" with 'step step\n1 1\n'
    bad 1 'g: {trial} is what dp-tune puts there, and no column' with 'step trial\n1 1\n'
    bad 1 "g: line 1: 'a.b' is not a name of a column: letters, digits, _ and -" with 'a.b\n1\n'
    bad 2 '{clip}: the table has no such column' with 'step\n1\n'
    bad 2 '{lambda}: the command does not have that column of the grid' with 'step clip lambda\n1 1 1\n'
    bad 1 'cannot open nowhere: No such file or directory' tune --grid nowhere --trials all -o model x
    bad 2 "{trial}: the command does not have it: dp-account --trial {trial} in place of a budget" tune --trials all -o model 'echo {step} {clip}'
    bad 1 'the run of setting 1 has no plan for dp-account --trial: sh: 1: nothing: not found' tune --trials all -o model 'nothing {step} {clip} {trial}'
    bad 1 'the run of setting 1 has no plan for dp-account --trial: dp-sample: cannot open nowhere.dp/dataset.json: not a data set (see dp-import)' \
        tune --trials all -o model "$(run_of | sed 's/train.dp/nowhere.dp/')"
    bad 2 "--trials: 'ten' is not poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA or negative-binomial:ETA:GAMMA, or all" \
        tune --trials ten -o model "$(run_of)"
    bad 2 'no command that makes a model (try --help)' tune --trials all -o model
    bad 2 'the command is one argument: quote it' tune --trials all -o model a b
    dp-synth classification --rows 600 --cols 6 --seed 8 -o other.dp -q
    bad 5 "other.dp has rows of 'dp-synth:classification:8', and the runs train on 'dp-synth:classification:7': one line of a ledger is about one population (--no-ledger goes without)" \
        tune --score-data other.dp --trials all -o model "$(run_of)"
    printf 'data step clip\ntrain.dp 1 1\nother.dp 1 1\n' > g
    bad 5 'setting 2 trains on other rows than setting 1, or under another adjacency' \
        tune --grid g --trials all -o model "$(run_of | sed 's/train.dp/{data}/g')"
    assert_not_exists train.dp/ledger
    assert_not_exists model
    nothing_left
}

@test "a run that starts from a paid model, adapts or does not announce its laps is no trial" {
    dp-loop --laps 3 -o first -- "dp-sample --data train.dp --mode full | dp-grad --data train.dp --loss logistic --clip 1 |
        dp-noise -z 30 | dp-account --epsilon 1 --delta 1e-5 | dp-step --step 1" > /dev/null
    run tune --trials geometric:0.9 -o model "$(run_of 3 '' '--init first')"
    assert_failure 1
    assert_output --partial 'dp-tune: a trial failed, and the choice stays charged'
    run tune --trials all -o model "$(run_of 3 '--trial {trial} --adaptive')"
    assert_failure 1
    assert_output --partial 'what a trial does is known beforehand'
}

@test "a full disk keeps the charge and leaves no model" {
    [ -w /dev/full ] || skip "needs /dev/full"
    run tune --trials geometric:0.9 --ledger /dev/full -o model "$(run_of)"
    assert_failure
    [ ! -e model ]
    run bash -c 'dp-tune --grid grid --score-data valid.dp --score-multiplier 5 --epsilon 5 --delta 1e-5 --trials geometric:0.9 "$1" > /dev/full' - "$(run_of)"
    assert_failure 1
    assert_output --partial 'No space left on device'
    assert_equal "$(jq -r 'select(.kind == "plan") | .kind' train.dp/ledger)" plan
    assert_equal "$(jq -r 'select(.kind == "close") | .kind' train.dp/ledger)" ''
    nothing_left
}

@test "trials are a random part of the grid, and their number is not said" {
    printf 'step clip\n1 1\n2 1\n3 1\n4 1\n' > grid
    tune --trials poisson:6 -o model "echo {step} >> tried; $(run_of 1)" > out 2> said || true
    [ "$(wc -l < tried)" -ge 4 ] # the plans
    [ ! -s out ]
    assert_equal "$(wc -l < said)" 1
}
