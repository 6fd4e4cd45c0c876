# The ledger of a data set: where runs write by default, budgets of a population, and runs that are refused before lap 1.
load helper

prepare() {
    dp-synth classification --rows 400 --cols 6 --seed 7 -o small.dp -q
}

# pipeline GATE-OPTIONS…: one whose gate has the budget of epsilon 10 unless they say otherwise
pipeline() {
    echo "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z ${Z:-20} | dp-account --epsilon 10 --delta 1e-5 $* | dp-step"
}

# train LAPS GATE-OPTIONS…: a run, its last model in ./model
train() {
    local laps=$1
    shift
    dp-loop --laps "$laps" -o model ${LOOP:-} -- "$(pipeline "$@")" > stream
}

# ask PYTHON: prints an expression over r, the JSON on standard input
ask() { /usr/bin/python3 -c "import json, sys; r = json.load(sys.stdin); print($1)"; }

# move pop|set: noised.frames as moved.frames, whose hello frame names no directory or a missing one
move() {
    recode noised.frames moved.frames "
for f in frames:
    if 'directory' in f and '$1' == 'pop':
        del f['directory']
    elif 'directory' in f:
        f['directory'] = '/nowhere/x.dp'"
}

# lines KIND LEDGER: how many there are
lines() { grep -c "\"kind\":\"$1\"" "$2" || true; }

@test "a private run writes to the ledger of its data set, which nobody else can read, wherever it runs" {
    mkdir elsewhere
    for exec in fused processes; do
        LOOP="--exec $exec" train 5
    done
    (cd elsewhere && dp-loop --laps 5 -- "$(cd .. && pipeline | sed 's/small.dp/..\/small.dp/g')" > /dev/null)
    assert_equal "$(lines open small.dp/ledger)" 3
    assert_equal "$(stat -c %a small.dp/ledger small.dp/ledger.mark)" "600
600"
    assert_equal "$(dp-account report small.dp --json | ask "[r['runs'][0]['population'], r['populations'][0]['laps']]")" \
        "['dp-synth:classification:7', 15]"
    dp-account verify small.dp
    # nothing of the directory crosses the gate
    run grep -c "$PWD" stream
    assert_output 0
    run bash -c "dp-cat --full stream | grep -c directory"
    assert_output 0
    run bash -c "dp-cat --kind lap stream | head -1 | grep -c '\"population\":\"dp-synth:classification:7\"'"
    assert_output 1
}

@test "--ledger names another one, --no-ledger says so in every frame, seeded runs have none" {
    train 5 --ledger other
    assert_equal "$(lines open other)" 1
    assert_not_exists small.dp/ledger
    LOOP="--seed 1" train 5 --allow-seeded
    assert_not_exists small.dp/ledger
    LOOP="--seed 1" train 5 --allow-seeded --ledger other
    assert_equal "$(lines open other)" 2
    train 5 --no-ledger
    assert_not_exists small.dp/ledger
    assert_equal "$(dp-cat --kind lap stream | grep -c '"untracked":true')" 5
    run dp-info model
    assert_line '  untracked: no ledger has the run: its gate had --no-ledger'
    complains 5 "dp-account certify: model: no ledger has the run of this model: its gate had --no-ledger" \
        dp-account certify --data small.dp --model model
    complains 2 "dp-account: --no-ledger and --ledger exclude each other" \
        dp-loop --laps 5 -- "$(pipeline --no-ledger --ledger other)"
    # a run that continues from it has its cost in the ledger
    LOOP="--init model" train 5
    run bash -c "dp-cat --kind lap stream | grep -c untracked"
    assert_output 0
    assert_equal "$(dp-account certify --data small.dp --model model | ask "'not_in_ledger' in r")" True
    run dp-account report small.dp
    assert_line --partial 'as models without a ledger stated it'
}

@test "a directory that takes no ledger ends the run before lap 1, and the sentence says what to do" {
    mkdir small.dp/ledger
    complains 1 "dp-account: the ledger $PWD/small.dp/ledger is not a regular file (--ledger FILE names another one, --no-ledger goes without)" \
        dp-loop --laps 5 -o model -- "$(pipeline)"
    assert_not_exists model
    # a gate to which no stage names the data set
    dp-loop --laps 1 --exec processes -- "tee token.frames | dp-sample --data small.dp --rate 0.2 |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 20 | tee noised.frames |
        dp-account --epsilon 10 --delta 1e-5 --no-ledger | dp-step" > /dev/null
    grep -q "$PWD/small.dp" noised.frames
    move pop
    complains 1 "dp-account: nothing says where the data set and its ledger are: --ledger FILE names one, --no-ledger goes without" \
        dp-account --epsilon 10 --delta 1e-5 --in moved.frames
    move set
    complains 1 "dp-account: cannot open the ledger /nowhere/x.dp/ledger: No such file or directory (--ledger FILE names another one, --no-ledger goes without)" \
        dp-account --epsilon 10 --delta 1e-5 --in moved.frames
}

@test "what cannot be charged soundly is not run, with a ledger or without" {
    local fixed="dp-sample --data small.dp --rate 0.2 --mode fixed | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 20 | dp-account --epsilon 10 --delta 1e-5"
    for more in '' --no-ledger; do
        complains 5 "dp-account: what was announced: a Poisson accountant does not cover a fixed sampler: a batch of fixed size needs replace-one adjacency" \
            dp-loop --laps 5 -- "$fixed $more | dp-step"
    done
    assert_not_exists small.dp/ledger
}

@test "a copy of the ledger put back between two runs is found" {
    train 5
    cp small.dp/ledger before
    train 30
    cp before small.dp/ledger
    complains 5 "dp-account: the ledger $PWD/small.dp/ledger does not hold line 6, whose mark is in $PWD/small.dp/ledger.mark: it is an older copy, or another ledger" \
        dp-loop --laps 5 -- "$(pipeline)"
    run dp-account report small.dp
    assert_failure 5
    rm small.dp/ledger
    complains 5 "dp-account: the ledger $PWD/small.dp/ledger is gone, and $PWD/small.dp/ledger.mark says that there was one" \
        dp-loop --laps 5 -- "$(pipeline)"
}

@test "another import of the same table has spent its budget too" {
    printf 'a,b,y\n' > people.csv
    for i in $(seq 200); do echo "$((i % 7)),$((i % 5)),$((i % 2))" >> people.csv; done
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 7]},
        {"name": "b", "type": "numeric", "bounds": [0, 7]}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > people.json
    rm -r small.dp
    dp-import csv --schema people.json -o small.dp people.csv -q
    first=$(ask "r['digest']" < small.dp/dataset.json)
    dp-account budget small.dp --epsilon 10 --delta 1e-5 --multiplier 20 --rate 0.2 --laps 100 > fit
    assert_equal "$(tail -1 fit | grep -o ' such runs fit')" " such runs fit"
    train 100
    dp-import csv --schema people.json -o small.dp --force people.csv -q
    assert_not_equal "$(ask "r['digest']" < small.dp/dataset.json)" "$first"
    train 100
    dp-account report small.dp --json > report.json
    assert_equal "$(ask "(len(r['populations']), r['populations'][0]['runs'], len(r['populations'][0]['data']))" < report.json)" \
        "(1, 2, 2)"
    dp-account verify small.dp
    # a name makes one population of two tables in one ledger
    dp-import csv --schema people.json -o other.dp --population "$(ask "r['population']" < small.dp/dataset.json)" people.csv -q
    dp-loop --laps 10 -- "$(pipeline --ledger small.dp/ledger | sed 's/--data small.dp/--data other.dp/g')" > /dev/null
    assert_equal "$(dp-account report small.dp --json | ask "(len(r['populations']), r['populations'][0]['runs'])")" "(1, 3)"
}

@test "a run that was planned fits as often as budget says, and no more begin" {
    rm -r small.dp
    dp-synth classification --rows 24000 --cols 4 --seed 7 -o small.dp -q
    sigma=$(dp-account sigma --epsilon 1 --delta 1e-5 --rate 100/24000 --laps 1200)
    run dp-account budget --data small.dp --epsilon 2 --delta 1e-5 --run-epsilon 1 --rate 100/24000 --laps 1200
    assert_success
    assert_line '3 such runs fit'
    assert_line --regexp '^dp-synth:classification:7: epsilon 2 at delta 1e-05 for all runs together$'
    assert_line --regexp '^what runs spend is counted by a filter at the orders [0-9.]+(, [0-9.]+)* or [0-9.]+, or by adding up the runs, whichever is less$'
    sgd() {
        dp-loop --laps 1200 -o model -- "dp-sample --data small.dp --rate 100/24000 |
            dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z $sigma |
            dp-account --epsilon 1 --delta 1e-5 $* | dp-step --step 0.1" > stream
    }
    for _ in 1 2 3; do sgd; done
    rm model
    before=$(wc -l < small.dp/ledger)
    run sgd
    assert_failure 5
    assert_output --regexp "^dp-account: the budget of epsilon = 2 for dp-synth:classification:7 in the ledger [^ ]*/small.dp/ledger affords [0-9]+ of the run's 1200 laps \(--partial lets it run that far\); epsilon [0-9.]+ of it is spent, and with as many laps a run of --epsilon 0\.[0-9]+ fits$"
    assert_equal "$(wc -l < small.dp/ledger)" "$before"
    assert_not_exists model
    run bash -c 'dp-cat stream 2> /dev/null | grep -c released'
    assert_output 0
    run sgd --partial
    assert_failure 3
    assert_line --regexp "^dp-account: warning: the budget of the data set affords [0-9]+ of the run's 1200 laps$"
    assert_exist model
    dp-account verify small.dp
    dp-account report small.dp > report
    grep -qE '^spent: epsilon (1\.99[0-9]*|2) at delta 1e-05 of a budget of 2, by 4 runs and [0-9]+ laps \(filter at order [0-9.]+\)$' report
    grep -qE '^if all runs had been planned together: epsilon 1\.[0-9]+ at delta 1e-05$' report
    run grep -nE ' $' report
    assert_failure
}

@test "a budget after runs begins with what they have cost, and only where it is asked for" {
    train 20
    run dp-account budget small.dp --epsilon 3 --delta 1e-4
    assert_failure 5
    assert_output --partial 'begins with what they have cost (--after-runs)'
    for less in "0.001 --delta 1e-4" "3 --delta 1e-6"; do
        run dp-account budget small.dp --epsilon $less --after-runs
        assert_failure 1
        assert_output --regexp '^dp-account budget: the runs in the ledger small.dp/ledger have cost epsilon = [0-9.]+ and delta = 1e-05 already$'
    done
    run dp-account budget small.dp --epsilon 3 --delta 1e-4 --after-runs --json
    assert_success
    assert_equal "$(ask "(r['epsilon'], 0.5 < sum(o['delta'] for o in r['orders']) / 9e-5 < 1)" <<< "$output")" "(3, True)"
    spent=$(dp-account report small.dp --json | ask "r['runs'][0]['epsilon']")
    assert_equal "$(dp-account report small.dp --json | ask "abs(r['populations'][0]['epsilon'] / $spent - 1) < 1e-6")" True
    train 20
    dp-account verify small.dp
    run dp-account budget small.dp --epsilon 30 --delta 1e-4 --after-runs
    assert_failure 5
    assert_output --partial 'runs have used the budget of epsilon = 3 for dp-synth:classification:'
}

@test "a budget admits one run of its own epsilon and delta, and says what fits beside a smaller one" {
    budget() { dp-account budget --epsilon "$1" --delta 1e-5 "${@:2}" small.dp; }
    fit() { fit.sh --epsilon "$1" --delta 1e-5 -q -o model small.dp; }
    rm -r small.dp
    dp-synth classification --rows 2000 --cols 4 --seed 7 -o small.dp -q
    run budget 1 --run-epsilon 1
    assert_line '1 such run fits, as the first: no budget is left for another run'
    budget 5 # which nothing was spent of
    budget 1
    fit 1
    dp-account verify small.dp
    run dp-account report small.dp
    assert_line --regexp '^spent: epsilon 1 at delta 1e-05 of a budget of 1, by 1 run and [0-9]+ laps \(addition\)$'
    assert_line 'counted by adding up what the runs state: epsilon 1 at delta 1e-05'
    run fit 0.1
    assert_failure 5
    assert_output --regexp 'affords 0 of .* epsilon 1 of it is spent, and no run of as many laps fits at delta = 1e-05$'
    rm small.dp/ledger*
    budget 1
    fit 0.9
    rm small.dp/ledger*
    budget 1
    fit 0.4
    run fit 0.9
    assert_failure 5
    assert_output --regexp 'epsilon 0\.[0-9]+ of it is spent, and with as many laps a run of --epsilon 0\.[0-9]+ fits$'
    fits=${output##*--epsilon }
    fit "${fits% fits}"
    run dp-account report small.dp
    assert_line --regexp '^counted by a filter at order [0-9.]+, with delta 5e-06; added up, the runs state epsilon 1\.[0-9]+ at delta 2e-05$'
    complains 5 "dp-account budget: runs have used the budget of epsilon = 1 for dp-synth:classification:7 in the ledger small.dp/ledger: it can be lowered, but what they have released must not raise it" \
        dp-account budget --epsilon 2 --delta 1e-5 small.dp
    budget 0.9999
    complains 5 "dp-account budget: the budget of dp-synth:classification:7 in the ledger small.dp/ledger is epsilon = 0.9999 already" \
        dp-account budget --epsilon 0.9999 --delta 1e-5 small.dp
    run budget 0.9
    assert_failure 5
    assert_output --partial 'have spent epsilon = 0.99'
    dp-account verify small.dp
}

@test "twenty-four runs at once on two data sets of the same people: each is whole or refused, within the budget" {
    for i in 1 2; do
        dp-synth patients --rows 600 --seed 4 -q -o table.csv -f
        [ -e s.json ] || dp-import table.csv --infer-schema s.json --label readmitted -q
        dp-import table.csv -s s.json -q --population people -o $i.dp
    done
    dp-account budget --epsilon 1 --delta 1e-5 1.dp > /dev/null
    for i in $(seq 24); do
        {
            got=0
            fit.sh $((i % 2 + 1)).dp --epsilon 0.2 --delta 1e-6 --threads 1 -o $i.model -q 2> $i.said || got=$?
            echo $got > $i.got
        } &
    done
    wait
    whole=0
    for i in $(seq 24); do
        case $(cat $i.got) in
            0) whole=$((whole + 1)) ;;
            5) assert_not_exist $i.model ;;
            *) fail "status $(cat $i.got): $(cat $i.said)" ;;
        esac
    done
    assert [ $whole -ge 5 ]
    assert_equal "$(dp-account report 1.dp --json | jq '[.runs[].status] | unique')" '[
  "done"
]'
    assert_equal "$(dp-account report 1.dp --json | jq '.populations[0].budget | .spent <= .epsilon')" true
    dp-account verify 1.dp
}

@test "a budget that is held by addition alone" {
    run dp-account budget --epsilon 1 --delta 1e-5 --addition small.dp
    assert_line 'what runs spend is counted by adding up the runs'
    fit() { fit.sh --epsilon "$1" --delta "$2" -q -o model small.dp; }
    fit 0.6 5e-6
    run fit 0.4 6e-6
    assert_failure 5
    fit 0.4 5e-6
    run dp-account report small.dp
    assert_line 'counted by adding up what the runs state: epsilon 1 at delta 1e-05'
    dp-account verify small.dp
}

@test "no budget is set that the planned run does not fit into" {
    complains 1 "dp-account budget: not one such run fits into epsilon = 1 at delta = 1e-05: no budget was set" \
        dp-account budget small.dp --epsilon 1 --delta 1e-5 --multiplier 0.5 --rate 0.2 --laps 100
    assert_not_exists small.dp/ledger
}

@test "report: an empty ledger, one run, and runs that did not end" {
    : > empty
    run dp-account report empty
    assert_success
    assert_output "empty is empty: it records no spending"
    run dp-account verify empty
    assert_output "empty is intact: 0 lines, 0 runs, epsilon recomputed for 0"
    train 20
    dp-account report small.dp > report
    grep -qE '^spent: epsilon [0-9.]+ at delta 1e-05, by 1 run and 20 laps \(pld\)$' report
    grep -qE '  done$' report
    # its budget affords fewer laps: these are its plan
    dp-loop --laps 10000000 -- "$(pipeline --partial)" > running 2> /dev/null &
    local pid=$!
    reaches running 5000
    run dp-account report small.dp
    assert_line --regexp '  going or killed, counted as all [0-9]+ laps of its plan$'
    kill -KILL $pid
    wait $pid || true
    run dp-account report small.dp
    assert_line --regexp '  going or killed, counted as all [0-9]+ laps of its plan$'
    assert_line --regexp '  done$'
}

@test "a model of another population goes on: it counts by what it states, in this ledger" {
    train 5
    dp-synth classification --rows 400 --cols 6 --seed 8 -o other.dp -q
    dp-loop --laps 5 -o second --init model -- "$(pipeline | sed 's/--data small.dp/--data other.dp/g')" > /dev/null
    assert_equal "$(dp-account certify --data other.dp --model second | ask "round(r['not_in_ledger']['delta'] * 1e5)")" 1
    # but on its own data set's rows it must be in the existing ledger
    rm small.dp/ledger small.dp/ledger.mark
    LOOP="--init model" run train 5
    assert_failure 1
    assert_output --partial 'cannot open the ledger'
}

@test "a budget takes no model of its own rows that no line of its ledger paid for" {
    train 20 --no-ledger
    dp-account budget small.dp --epsilon 3 --delta 1e-4
    LOOP="--init model" run train 5
    assert_failure 5
    assert_output --regexp 'the model to start from has cost epsilon = [0-9.]+, which the budget of dp-synth:classification:7 in the ledger .*/small.dp/ledger does not have'
    assert_equal "$(lines open small.dp/ledger)" 0
    # other people's rows do not concern this budget
    dp-synth classification --rows 400 --cols 6 --seed 8 -o other.dp -q
    dp-account budget other.dp --epsilon 3 --delta 1e-4
    dp-loop --laps 5 -o second --init model -- "$(pipeline | sed 's/--data small.dp/--data other.dp/g')" > /dev/null
    dp-account verify other.dp
}

@test "a run that ends before the laps it announced was interrupted, whoever ended it" {
    dp-loop --laps 30 --exec processes -- "$(pipeline --no-ledger | sed 's/| dp-account/| tee noised.frames &/')" > /dev/null
    recode noised.frames cut.frames 'frames = [f for f in frames if f["kind"] != "lap" or f["lap"] <= 20]'
    dp-account --epsilon 10 --delta 1e-5 --in cut.frames > /dev/null
    assert_equal "$(dp-account report small.dp --json | ask "(r['runs'][0]['laps'], r['runs'][0]['status'])")" "(20, 'interrupted')"
    # so that a budget begins with its largest possible cost
    dp-account budget small.dp --epsilon 30 --delta 1e-4 --after-runs
    assert_equal "$(tail -n 1 small.dp/ledger | ask "r['before']['epsilon'] >= 10")" True
}

@test "noise that changes with every lap does not use up a budget by laps that never come" {
    dp-account budget small.dp --epsilon 2 --delta 1e-4
    gate="dp-noise -z 10 --schedule sqrt:200:1 | dp-account --epsilon 2 --delta 1e-5 --adaptive"
    dp-loop --laps 600 -o model -- "$(pipeline | sed "s/dp-noise.*1e-5/$gate/; s/--rate 0.2/--rate 0.05/")" > stream
    assert_equal "$(dp-info --get lap model)" 600
    assert_equal "$(dp-account report small.dp --json | ask "r['populations'][0]['epsilon'] < 1")" True
}
