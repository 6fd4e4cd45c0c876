# The laps that the gate lets a run spend: budgets that pay for no lap, and runs that the DP-BLSGD paper charges less for.
load helper

prepare() { dp-synth classification --rows 300 --cols 5 --seed 3 -o a.dp -q; }

# searches GATE OPTIONS: a line search on separate batches
searches() {
    echo "dp-sample --data a.dp --rate 0.1 | dp-grad --on gradient --data a.dp --loss logistic --clip 1 |
        dp-noise --on gradient -z 8 |
        dp-linesearch --on search --data a.dp --epsilon 0.1 --tries 20 --clip 1 --first-step 8 |
        dp-account --delta 1e-5 --allow-seeded $1 | dp-step --on gradient --hold | dp-step --on search"
}
# one lap of each kind, as the calculator's options
PAIR='{"laps": 1, "sampling": "poisson", "rate": 0.1, "queries": [{"noise": "gaussian", "multiplier": 8}]}
{"laps": 1, "sampling": "poisson", "rate": 0.1, "queries": [{"noise": "sparse-vector-laplace", "epsilon": 0.05, "query_epsilon": 0.025, "most": 20}]}'

# pays PLAN OPTIONS EPSILON: the number of laps of a run of the plan with that budget
laps_for() {
    local got=0
    rm -f m
    dp-loop --plan "$1" --seed 1 -q -o m -- "$(searches "$2 --epsilon $3")" > stream 2> said || got=$?
    [ $got = 3 ] || [ $got = 0 ] || fail "status $got: $(cat said)"
    [ ! -e m ] && echo 0 && return
    dp-info --get lap m
}

# refused PLAN OPTIONS BUDGET WHAT: the run is refused, with a budget that would suffice and the one before it that would not
refused() {
    local plan=$1 options=$2 budget=$3 what=$4 said least
    said=$(dp-loop --plan "$plan" --seed 1 -q -o m -- "$(searches "$options --epsilon $budget")" 2>&1 > stream) && fail "it ran"
    assert_regex "$said" "^dp-loop: the budget of epsilon = $budget does not pay for $what; epsilon = [0-9.]+ would\$"
    assert_not_exists m
    run dp-cat --kind lap stream
    assert_output ''
    least=${said##*= } least=${least% would}
    [ ${#least} -le 7 ] || fail "$least has more than three digits"
    [ "$(laps_for "$plan" "$options" "$least")" -gt 0 ] || fail "a budget of $least does not do either: $(cat said)"
    assert_equal "$(laps_for "$plan" "$options" "$(awk "BEGIN { print $least * 0.985 }" < /dev/null)")" 0
    echo "$least" > least
}

@test "a budget that does not pay for one lap of each kind is refused, with one that does" {
    complains 3 "dp-loop: the budget of epsilon = 0.01 does not pay for one lap of each kind; epsilon = 0.0565 would" \
        dp-loop --plan '(gradient, search) 10' --seed 1 -q -o m -- "$(searches '--adaptive --epsilon 0.01')"
    refused '(gradient, search) 10' --adaptive 0.05 'one lap of each kind'
    # one search after many gradients counts as well
    refused 'gradient 100, search' --adaptive 0.05 'one lap of each kind'
    refused '(gradient, search) 10' '' 0.01 'one lap of each kind'
    # by the best accountant, as the calculator
    echo "$PAIR" > pair
    run jq -n "$(cat least) / $(dp-account epsilon --delta 1e-5 pair) | . >= 1 and . < 1.011"
    assert_output true
    # runs of one kind, one of which shuffles: its first lap pays for an epoch
    searches() {
        echo "dp-sample --data a.dp --rate 0.1 $sampling | dp-grad --data a.dp --loss logistic --clip 1 | dp-noise -z 8 |
            dp-account --delta 1e-5 --allow-seeded $1 | dp-step --step 1"
    }
    sampling=
    refused 'gradient 10' '' 0.001 'one lap'
    refused 'gradient 10' --adaptive 0.01 'one lap'
    sampling='--mode shuffle'
    refused 'gradient 10' '' 0.2 'one lap'
    run jq -n "$(cat least) / $(dp-account epsilon -z 8 --laps 1 --delta 1e-5) | . >= 1 and . < 1.011"
    assert_output true
}

@test "a run that its budget does not pay for leaves no line in the ledger" {
    child=$(searches '--adaptive --epsilon 0.01 --ledger spent')
    complains 3 "dp-loop: the budget of epsilon = 0.01 does not pay for one lap of each kind; epsilon = 0.0565 would" \
        dp-loop --plan '(gradient, search) 10' --seed 1 -q -o m -- "$child"
    assert_not_exists spent
    # so it can be started again with a sufficient budget
    dp-loop --plan '(gradient, search) 1' --seed 1 -q -o m -- "${child/--epsilon 0.01/--epsilon 0.0565}" > stream
    assert_exist spent
}

# The claim of the DP-BLSGD paper for a run: each query amplified by itself, by Lemma 4 at whole orders, and added. Computed in another
# way than the calculator's: by sums of powers. claimed GRADIENTS SEARCHES [MULTIPLIER THRESHOLD QUERY]
claimed() {
    /usr/bin/python3 - "$@" << 'END'
import sys
from math import exp, lgamma, log, log1p
gradients, searches = map(int, sys.argv[1:3])
z, first, each = map(float, sys.argv[3:] or (8, 0.05, 0.025))
q, delta = 0.1, 1e-5
def laplace(a, e):
    return e + log(a / (2 * a - 1) + (a - 1) / (2 * a - 1) * exp((1 - 2 * a) * e)) / (a - 1)
def amplified(a, r):
    choices = [lgamma(a + 1) - lgamma(l + 1) - lgamma(a - l + 1) + (a - l) * log1p(-q) + l * log(q) for l in range(a + 1)]
    logs = [(a - 1) * log1p(-q) + log(a * q - q + 1), choices[2] + r(2)] + [log(3) + choices[l] + (l - 1) * r(l) for l in range(3, a + 1)]
    lemma = max(logs) + log(sum(exp(x - max(logs)) for x in logs))
    return min(lemma / (a - 1), r(a))
best = min(gradients * amplified(a, lambda l: l / 2 / z / z) +
           searches * amplified(a, lambda l: laplace(l, first) + laplace(l, 2 * each)) + log(1 / delta) / (a - 1)
           for a in range(2, 501))
print(best)
END
}

@test "the accountant of the DP-BLSGD paper: what it says of a run that the gate has charged for" {
    dp-loop --plan '(gradient, search) 40' --seed 1 -q -o m -- "$(searches '--epsilon 99')" > stream
    said() { dp-cat "$1" | dp-account epsilon --delta 1e-5 --accountant blsgd 2> why; }
    run jq -n "$(said stream) / $(claimed 40 40) | . > 1 - 1e-9 and . < 1 + 1e-5"
    assert_output true
    run cat why
    assert_line 'dp-account epsilon: not sound: the accountant of the DP-BLSGD paper is not sound'
    # on one batch the paper adds curves that must not be added
    dp-loop --laps 100 --seed 1 -q -o m -- "dp-sample --data a.dp --rate 0.1 | dp-grad --data a.dp --loss logistic --clip 1 --keep-batch |
        dp-noise -z 2 | dp-linesearch --data a.dp --same-batch --epsilon 1 --tries 20 --clip 1 --first-step 8 |
        dp-account --delta 1e-5 --allow-seeded --epsilon 20 | dp-step" > stream
    run jq -n "$(said stream) / $(claimed 100 100 2 0.5 0.25) | . > 1 - 1e-9 and . < 1 + 1e-5"
    assert_output true
    # the gate's answer: PRIVACY's vector of a mechanism of epsilon 1 together with a Gaussian
    run jq -n "$(dp-info --get epsilon m) | . > 6.40 and . < 6.42"
    assert_output true
    echo '{"laps": 100, "sampling": "poisson", "rate": 0.1, "queries": [{"noise": "gaussian", "multiplier": 1},
        {"noise": "sparse-vector-laplace", "epsilon": 2, "query_epsilon": 1, "most": 20}]}' | tr -d '\n' > large
    claims() { dp-account epsilon --delta 1e-5 --accountant "$1" large 2> why; }
    run jq -n "$(claims blsgd) / $(claimed 100 100 1 2 1) | . > 1 - 1e-9 and . < 1 + 1e-5"
    assert_output true
    run jq -n "$(claims blsgd) < 0.8 * $(claims best)"
    assert_output true
    # the paper does not cover selected runs
    complains 1 "dp-account epsilon: accountant blsgd does not cover these mechanisms" \
        dp-account epsilon -z 2 --rate 0.1 --laps 3 --delta 1e-5 --accountant blsgd --trials poisson:3
}

@test "what a resumed run has spent, and what its first model cost, is that of the run that was not" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] == 24 and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    dp-loop --plan '(gradient, search) 3' --seed 1 -q -o first -- "$(searches '--epsilon 3')" > stream
    child="$(searches '--adaptive --epsilon 1')"
    train() { dp-loop --plan '(gradient, search) 4000' --until-spent --seed 1 -q "$@"; }
    train --init first -o whole -- "$child" > stream
    [ "$(dp-info --get lap whole)" -gt 30 ]
    run train --init first --checkpoint kept --checkpoint-every 1 -o part -- "$child | ./stop"
    assert_failure 1
    train --resume kept --checkpoint-every 1 -o part -- "$child | ./stop" > stream
    for field in lap epsilon delta prior_epsilon; do
        assert_equal "$(dp-info --get $field part)" "$(dp-info --get $field whole)"
    done
}

@test "a filter that is resumed has the budget that it had" {
    local child
    filter stop '
if frame["kind"] == "lap" and frame["lap"] == 24 and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    export E=1 # in the text of the pipeline, which is the same when the run is resumed
    child="$(searches '--adaptive --epsilon $E') | ./stop"
    local train=(dp-loop --plan '(gradient, search) 4000' --until-spent --exec processes --seed 1 -q -o part)
    run "${train[@]}" --checkpoint kept --checkpoint-every 1 -- "$child"
    assert_failure 1
    export E=1.0001
    complains 5 "dp-account: the budget is not the budget of the run before its checkpoint: a filter is fixed beforehand" \
        "${train[@]}" --resume kept --checkpoint-every 1 -- "$child"
    export E=1
    "${train[@]}" --resume kept --checkpoint-every 1 -- "$child" > stream
}

# The laps that a run without a death can release are a number, for a filter as well: laps that were lost are among them.
@test "a filter that is resumed counts every lap that was lost" {
    small_data 600
    paid() { ledger_laps "$LEDGER"; }
    # the stages right of the gate fail in lap $DIES, and the gate says in its close line what it has released
    filter die '
if frame["kind"] == "lap" and os.environ.get("DIES") == str(frame["lap"]):
    sys.exit(1)'
    child="dp-sample --data small.dp --rate 0.1 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 8 |
        dp-account --epsilon 1 --delta 1e-5 --adaptive --ledger $PWD/\$LEDGER | dp-step --step 1 | ./die"
    train() { dp-loop --laps 400 --until-spent --exec processes -q -o model "$@" -- "$child" > stream; }
    export LEDGER=whole
    train
    whole=$(paid)
    [ "$whole" -gt 100 ]
    [ "$whole" -lt 400 ]
    for lost in 1 2 5; do
        LEDGER=lost$lost
        DIES=$((10 + lost)) run train --checkpoint kept --checkpoint-every 10
        assert_failure
        assert_equal "$(paid)" $((10 + lost))
        train --resume kept --checkpoint-every 10
        assert_equal "$(paid)" "$whole"
        assert_equal "$(dp-info --get lap model)" $((whole - lost))
        rm -rf kept
    done
}

# Nobody knows what it has released since its checkpoint.
@test "a filter that is killed has spent its budget, and is not resumed" {
    small_data 600
    child="dp-sample --data small.dp --rate 0.1 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 80 |
        dp-account --epsilon 5 --delta 1e-5 --adaptive --ledger ledger | dp-step --step 1"
    dp-loop --laps 100000 --exec fused -q --checkpoint kept --checkpoint-every 20 -- "$child" > stream 2> said &
    for _ in $(seq 1500); do [ ! -e kept/loop ] || break; sleep 0.02; done
    kill -KILL $!
    wait $! || true
    assert_equal "$(dp-account report --json ledger | jq -c '.runs[0] | [.status, .stated_at, (.epsilon - 5 | fabs < 1e-9)]')" \
        '["going or killed","budget",true]'
    run bash -c 'dp-loop --laps 100000 --exec fused -q --resume kept -- "$1" 2>&1 > /dev/null' bash "$child"
    assert_failure 5
    assert_output --regexp '^dp-account: the run [0-9a-f]+ was killed, and by the ledger ledger nobody knows how much of its filter it had used: all of its budget is spent$'
}

# A schema names texts above a threshold, and no order bounds that. See dp-privacy(7), THE LEDGER.
@test "the filter counts the thresholds of a budget's first run as Gaussian noise, and of no other" {
    awk 'BEGIN { srand(3); print "a,b"; for (i = 0; i < 20000; i++) printf "%.4f,%s\n", rand(), rand() < .4 ? "yes" : "no" }' > people.csv
    dp-import people.csv -q --infer-schema free.json --label b
    dp-import people.csv -q -s free.json -o people.dp
    dp-account budget --epsilon 1 --delta 1e-4 people.dp > /dev/null
    dp-import people.csv -q --infer-schema paid.json --label b --private-schema 0.5 --delta 1e-6
    run --separate-stderr /usr/bin/python3 - "$(dp-account report --json people.dp)" people.dp/ledger << 'END'
import json, math, sys
def find(value, key):
    if isinstance(value, dict) and key in value:
        return value[key]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        if (found := find(inner, key)) is not None:
            return found
budget = find(json.loads(sys.argv[1]), "budget")
lines = [json.loads(line) for line in open(sys.argv[2])]
query = find(find(lines, "charges"), "queries")[0]
def epsilon(order, delta):  # of one Gaussian at an order, with the conversion of Canonne, Kamath and Steinke (2020)
    return order / 2 / query["multiplier"] ** 2 + math.log((order - 1) / order) - (math.log(delta) + math.log(order)) / (order - 1)
least = min(epsilon(o["order"], o["delta"] - query["named_delta"]) for o in budget["orders"])
print(abs(budget["spent"] / least - 1) < 1e-9, least < .5, budget["order"] > 0)
END
    assert_output 'True True True'
    # chosen after the first one's results: it is added up, and 0.5 + 0.5 leave nothing for a further run
    dp-import people.csv -q --infer-schema second.json --label b --private-schema 0.5 --delta 1e-6
    run dp-account report people.dp
    assert_line --partial 'spent: epsilon 1 at delta 0.0001 of a budget of 1, by 2 runs and 2 laps (addition)'
}

@test "a run of open length that stops before its budget does is interrupted, and costs its plan" {
    dp-loop -q --laps 40 --exec processes -o model -- "dp-sample --data a.dp --rate 0.1 | dp-grad --data a.dp --loss logistic --clip 1 |
        dp-noise -z 20 | tee noised | dp-account --epsilon 1 --delta 1e-5 --no-ledger | dp-step --step 1" > /dev/null
    recode noised open '
for frame in frames:
    frame.pop("laps", None)'
    dp-account --epsilon 1 --delta 1e-5 --ledger open.ledger < open > released
    run jq -c '.runs[0] | [.laps, .status, .stated_at, .epsilon > 0.9, .epsilon <= 1]' <(dp-account report --json open.ledger)
    assert_output '[40,"interrupted","plan",true,true]'
}
