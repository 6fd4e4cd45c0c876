# Laps of several kinds: dp-loop --plan and --on.
load helper

prepare() { dp-synth classification --rows 300 --cols 5 --seed 3 -o a.dp -q; }

CHECK="dp-account --non-private --allow-seeded"

# two kinds of laps without privacy: the second one moves ten times as far
walk() { echo "dp-sample --data a.dp --rate 0.1 --mode shuffle | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step --on small --step 0.1 | dp-step --on large --step 1"; }

@test "a plan that is wrong, or has no place, is refused" {
    complains 2 "dp-loop: --plan: the plan ends where a kind of lap is expected" dp-loop --plan '' -o m -- "$(walk)"
    complains 2 "dp-loop: --plan: character 7 of the plan: expected a count from 1 to 1099511627775" \
        dp-loop --plan 'small 0' -o m -- "$(walk)"
    complains 2 "dp-loop: --plan: character 6 of the plan: expected ',', got ';'" dp-loop --plan 'small; large' -o m -- "$(walk)"
    complains 2 "dp-step: --on: the run has no laps of a kind 'large'" dp-loop --plan 'small 3' -o m -- "$(walk)"
    complains 2 "dp-step: --on: the run has no laps of a kind 'small'" dp-loop --laps 3 -o m -- "$(walk)"
    complains 2 "dp-account: --on: every lap has to be paid for, of whichever kind" dp-account --on small --epsilon 1 --delta 1e-5
    [ ! -e m ]
}

@test "each stage takes part in the laps that it is for" {
    dp-loop --plan 'small 2, (large, small 2) 3' --seed 1 -o m -- "$(walk)" > stream
    dp-cat --kind hello stream > hello
    grep -qF '"kinds":"small 2, (large, small 2) 3"' hello
    grep -qF '"laps":11' hello
    dp-cat --kind lap stream | jq -r '[.lap, .lap_kind, .turn] | join(" ")' > kinds
    run cat kinds
    assert_output "1 small 1
2 small 2
3 large 1
4 small 3
5 small 4
6 large 2
7 small 5
8 small 6
9 large 3
10 small 7
11 small 8"
    # equal to one run of each kind after the other, from each other's model, except for the rows that are drawn
    dp-cat --kind lap stream | jq -c 'select(.lap_kind == "large") | .model' | sort -u | wc -l > moved
    [ "$(cat moved)" -eq 3 ]
    # no stage applies the sum
    complains 1 "dp-loop: no stage of the child pipeline takes the sum: put dp-step after dp-account (a stage of your own says in its hello frame what it has taken)" \
        dp-loop --plan 'small, other' --seed 1 -o n -- "$(walk | sed 's/ | dp-step --on large.*//')"
}

# alike PLAN CHILD: processes = fused = ports, streams too
alike() {
    for exec in fused processes; do
        dp-loop --plan "$1" --seed 4 --exec $exec -o $exec -- "$2" > $exec.stream
    done
    mkfifo there back
    (sh -c "$2" > back < there) &
    dp-loop --plan "$1" --seed 4 --send there --receive back -o ports > ports.stream
    wait
    for other in processes ports; do
        cmp fused $other
        cmp fused.stream $other.stream
    done
}

@test "processes = fused = ports, with laps of several kinds" {
    alike 'small 2, (large, small 3) 4' "$(walk)"
}

@test "a schedule and an average count the laps of their kind" {
    # all laps of a kind in one run, and only this kind in another
    step() { echo "dp-sample --data a.dp --mode full | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step $1 --step 1 --schedule $3 --average tail --tail 0.4 $2"; }
    # one that knows its end, and one that does not
    for schedule in cosine:0.1 sqrt:1:3; do
        dp-loop --laps 5 --seed 1 -o alone -- "$(step '' '' $schedule)" > /dev/null
        dp-loop --plan '(a, idle 2) 5' --seed 1 -o turns -- "$(step '--on a' '| dp-step --on idle --step 1e-300' $schedule)" > /dev/null
        dp-cat --full --last alone | jq -c '[.model.values, .average.values]' > alone.json
        dp-cat --full --last turns | jq -c '[.model.values, .average.values]' > turns.json
        cmp alone.json turns.json
        run jq -c '[.[] | length]' alone.json
        assert_output '[5,5]'
    done
}

@test "the words of a plan come back as they went" {
    filter meddle '
if frame["kind"] == "hello":
    frame["kinds"] = "small 2, secret 1"'
    complains 5 "dp-loop: the child pipeline gave back another plan" \
        dp-loop --plan 'small 2, large' --seed 1 -o m -- "dp-sample --data a.dp | ./meddle | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step --step 1"
}

@test "a run has a name: random, or of the seed; it comes back as it went, and what dp-loop writes does not have it" {
    child="tee token | dp-sample --data a.dp | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step --step 1"
    for seed in '--seed 1' '--seed 1' '--seed 2' '' ''; do
        dp-loop --laps 1 $seed -o m -- "$child" > stream
        dp-cat --kind hello token | jq -r .run >> names
        run grep -c '"run"' <(dp-cat m stream)
        assert_output 0
    done
    run grep -cE '^[0-9a-f]{32}$' names
    assert_output 5
    assert_equal "$(sed -n 1p names)" "$(sed -n 2p names)"
    assert_equal "$(sort -u names | wc -l)" 4
    for other in '= "0" * 32' '= "of person 17"' '= frame.pop("run")[1:]'; do
        filter meddle "
if frame['kind'] == 'hello':
    frame['run'] $other"
        complains 5 "dp-loop: the child pipeline gave back a frame of another run" dp-loop --laps 1 -o m -- "./meddle | $child"
    done
}

@test "a run of several kinds goes on from any lap" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > int(open("last").read()) and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    plan='small 3, (large, small 2) 4'
    dp-loop --plan "$plan" --seed 4 -o whole -- "$(walk)" > whole.stream
    for lap in 1 3 4 5 6 9 14; do
        rm -f stopped
        echo "$lap" > last
        run dp-loop --plan "$plan" --seed 4 --checkpoint kept --checkpoint-every 1 -o part -- "$(walk) | ./stop"
        assert_failure 1
        complains 1 "dp-loop: the checkpoint kept is of another plan: resume it with the same text" \
            dp-loop --plan 'small 3, (large 2, small) 4' --seed 4 --resume kept -o part -- "$(walk) | ./stop"
        dp-loop --plan "$plan" --seed 4 --resume kept --checkpoint-every 1 -o part -- "$(walk) | ./stop" > stream
        cmp part whole
        assert_equal "$(dp-cat --kind lap stream | head -1)" "$(dp-cat --kind lap whole.stream | sed -n "$((lap + 1))p")"
    done
}

# --- with privacy

GATE="dp-account --allow-seeded --epsilon 50 --delta 1e-5"

# one lap of all rows with much noise and then samples with less, or another plan
child() {
    echo "dp-sample --on first --data a.dp --mode full | dp-sample --on later --data a.dp --rate 0.1 |
        dp-grad --data a.dp --loss logistic --clip 1 | dp-noise --on first -z 8 | dp-noise --on later -z 2 |${2:-}
        ${1:-$GATE} | dp-step --step 1"
}

# told PLAN: the frames that arrive at the gate, in noised.frames
told() {
    dp-loop --plan "$1" --seed 1 -q -o model -- "$(child "tee noised.frames | ${2:-$GATE}")" > stream
}

# edited CODE: the same with CODE run on hello and on the list of laps
edited() {
    recode noised.frames edited.frames '
hello = frames[0]
def noise(record, multiplier):
    record["multiplier"], record["scale"] = multiplier, multiplier * record["sensitivity"]
exec(sys.argv[1])
frames = [hello] + laps + frames[-1:]' "$1"
}

# same A B: to the six digits that the calculator prints
same() { [ "$(jq -n "$1 <= $2 and $2 <= $1 * (1 + 1e-5)")" = true ] || fail "$1 is not $2"; }
# costs CHARGES: the calculator's answer for a list of charges
costs() { dp-account epsilon --delta 1e-5 --json "$1" | jq .epsilon; }

@test "laps of two kinds are charged together, as the calculator charges the list" {
    told 'first 1, later 30'
    cat > charges << 'END'
{"laps": 1, "sampling": "none", "queries": [{"noise": "gaussian", "multiplier": 8}]}
{"laps": 30, "sampling": "poisson", "rate": 0.1, "queries": [{"noise": "gaussian", "multiplier": 2}]}
END
    same "$(dp-info --get epsilon model)" "$(costs charges)"
    dp-cat stream > recorded
    same "$(dp-info --get epsilon model)" "$(costs recorded)"
    told '(first, later 15) 2'
    sed -i 's/"laps": 1,/"laps": 2,/' charges
    same "$(dp-info --get epsilon model)" "$(costs charges)"
    # less than each for itself
    head -1 charges > one
    tail -1 charges > two
    run awk "BEGIN { print $(costs charges) < $(costs one) + $(costs two) }" < /dev/null
    assert_output 1
    # and never falls on the way
    dp-cat --kind lap stream | jq .epsilon > along
    sort -gc along
    [ "$(wc -l < along)" -eq 32 ]
}

@test "a schedule of one kind beside another kind" {
    child="$(child "tee noised.frames | $GATE" | sed 's/--on later -z 2/--on later -z 2 --schedule sqrt:1:1/')"
    dp-loop --plan '(first, later 5) 3' --seed 1 -q -o model -- "$child" > stream
    dp-cat --kind hello --full noised.frames | jq -c '[.multipliers.values[] * 1000 | round / 1000]' > plan
    assert_equal "$(jq -c '[.[0], .[6], .[12], (map(select(. > 0)) | length)]' plan)" '[0,0,0,15]'
    # each lap is as announced
    dp-cat --kind lap stream | jq '.records[0] | select(.sampler == "poisson").multiplier * 1000 | round / 1000' > laps
    jq '.[] | select(. > 0)' plan | cmp - laps
    run jq -r '.[0] == 2 and .[-1] > .[0]' <(jq -s . laps)
    assert_output true
    # and is charged so, less the rounding of a plan's multipliers
    dp-cat stream > recorded
    run jq -n "$(dp-info --get epsilon model) / $(costs recorded) | . > 0.99999 and . < 1.02"
    assert_output true
    edited 'noise(laps[9]["records"][0], 1.5)'
    run $GATE --in edited.frames -o /dev/null
    assert_failure 5
    assert_output --partial "dp-account: lap 10 has a noise multiplier of 1.5, but "
}

@test "the gate holds every lap to the plan" {
    told '(first, later 3) 2'
    refused() { complains 5 "dp-account: $1" $GATE --in edited.frames; }
    # order, number and kinds
    edited 'laps[1], laps[4] = dict(laps[4], lap=2), dict(laps[1], lap=5)'
    refused "lap 2 is of kind 'first', the plan has 'later' there"
    complains 5 "dp-account: lap 2 is of kind 'first', the plan has 'later' there" $GATE --adaptive --in edited.frames
    edited 'laps[2]["lap_kind"] = "secret"'
    refused "lap 3 is of no kind that was announced"
    edited 'laps[2].pop("lap_kind")'
    refused "lap 3 is of no kind that was announced"
    edited 'laps[2]["turn"] = 7'
    refused "lap 3 says that it is number 7 of its kind, and it is number 2"
    edited 'hello.pop("kinds")'
    refused "lap 1 is of a kind, and no kinds were announced"
    edited 'hello["kinds"] = "first, later 3"'
    refused "the hello frame has a plan of 4 laps for a run of 8"
    edited 'hello["kinds"] = "(first; later 3) 2"'
    refused "the hello frame has no plan of laps: character 7 of the plan: expected ',' or ')', got ';'"
    edited 'hello["kinds"] = "(first, later 2, search) 2"'
    refused "no stage has announced what laps of kind 'search' do to private rows"
    edited 'laps.append(dict(laps[-1], lap=9, turn=7))'
    refused "lap 9 is beyond the 8 laps that were planned"
    # the announcement
    edited 'hello["records"] = hello["records"][:1]'
    refused "no stage has announced what laps of kind 'later' do to private rows"
    edited 'hello["records"][1].update(noise="none"); hello["records"][1].pop("multiplier")'
    refused "no stage has announced what laps of kind 'later' do to private rows"
    edited 'hello["records"][1]["sampler"] = "fixed"'
    refused "laps of kind 'later': a Poisson accountant does not cover a fixed sampler: a batch of fixed size needs replace-one adjacency"
    # the laps
    edited 'noise(laps[2]["records"][0], 1.9)'
    refused "the mechanism of lap 3 is not what was announced: noise that changes needs a schedule or --adaptive"
    edited 'laps[2]["records"][0]["rate"] = 0.2'
    refused "the mechanism of lap 3 is not what was announced: noise that changes needs a schedule or --adaptive"
    edited 'laps[0]["records"][0].update(sampler="poisson", rate=0.1)'
    refused "the mechanism of lap 1 is not what was announced: noise that changes needs a schedule or --adaptive"
    edited 'noise(hello["records"][1], 3)'
    refused "the mechanism of lap 2 is not what was announced: noise that changes needs a schedule or --adaptive"
    edited 'laps[2]["records"][0]["on"] = "later"'
    refused "a record of lap 3 says for which laps it is"
}

@test "what must stay stays in all kinds of laps" {
    told '(first, later 3) 2'
    refused() { complains 5 "dp-account: $1" $GATE --in edited.frames; }
    edited 'laps[1]["records"][0].update(adjacency="replace-one", sensitivity=2, scale=4)'
    refused "lap 2 records another 'adjacency' than the first lap"
    edited 'laps[1]["records"][0]["rows"] = 299'
    refused "lap 2 records another 'rows' than the first lap"
    edited 'laps[5]["records"][0].update(bound=2, sensitivity=2, scale=4); laps[5].update(bound=2, grid=2 * laps[5]["grid"])'
    refused "lap 6 records another 'bound' than the first lap of its kind"
    edited 'laps[1]["data"] = "secret"'
    refused "lap 2 has another 'data' than the first lap"
    # the first lap of a kind may bring a field that no lap before had; no other lap may
    edited 'laps[2]["label_offset"] = 1.0'
    refused "lap 3 has another 'label_offset' than the first lap"
    edited 'for lap in laps[1:]: lap["intercept"] = 0.5'
    $GATE --in edited.frames > out.frames
    edited 'for lap in laps[2:]: lap["intercept"] = 0.5'
    refused "lap 3 has another 'intercept' than the first lap"
}

@test "epochs of one kind are whole before another kind comes" {
    shuffled() { child "$GATE" | sed 's/--rate 0.1/--rate 0.1 --mode shuffle/'; }
    complains 5 "dp-account: lap 16 has another mechanism in the middle of a shuffled epoch" \
        dp-loop --plan 'first, (later 10, first) 1, later 3, first' --seed 1 -q -o m -- "$(shuffled)"
    complains 5 "dp-account: lap 6 has another mechanism in the middle of a shuffled epoch" \
        dp-loop --plan '(later 5, first) 2' --seed 1 -q -o m -- "$(shuffled)"
    dp-loop --plan 'first, (later 10, first) 2, later 15' --seed 1 -q -o m -- "$(shuffled)" > stream
    cat > charges << 'END'
{"laps": 3, "sampling": "none", "queries": [{"noise": "gaussian", "multiplier": 8}]}
{"laps": 35, "sampling": "shuffled", "rate": 0.1, "epoch_laps": 10, "queries": [{"noise": "gaussian", "multiplier": 2}]}
END
    dp-cat stream > recorded
    same "$(dp-info --get epsilon m)" "$(costs recorded)"
    same "$(dp-info --get epsilon m)" "$(costs charges)"
}

@test "the budget affords so many laps of the plan" {
    run dp-loop --plan '(first, later 15) 40' --seed 1 -q -o m -- "$(child "dp-account --allow-seeded --epsilon 2 --delta 1e-5")"
    assert_failure 3
    laps=$(dp-info --get lap m)
    n=$((laps / 16)) rest=$((laps % 16))
    charges() {
        echo "{\"laps\": $1, \"sampling\": \"none\", \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 8}]}"
        echo "{\"laps\": $2, \"sampling\": \"poisson\", \"rate\": 0.1, \"queries\": [{\"noise\": \"gaussian\", \"multiplier\": 2}]}"
    }
    first=$((n + (rest > 0))) later=$((laps - n - (rest > 0)))
    charges $first $later > charges
    [ "$(jq -n "$(costs charges) <= 2")" = true ]
    if [ $rest -eq 0 ]; then charges $((first + 1)) $later; else charges $first $((later + 1)); fi > more
    [ "$(jq -n "$(costs more) > 2")" = true ]
}

@test "two kinds that shuffle for themselves do not share an epoch, though their events are the same" {
    twice='dp-sample --on a --data a.dp --rate 0.25 --mode shuffle | dp-sample --on b --data a.dp --rate 0.25 --mode shuffle |
        dp-grad --data a.dp --loss logistic --clip 1 | dp-noise -z 2'
    while read -r lap plan; do
        complains 5 "dp-account: lap $lap has another mechanism in the middle of a shuffled epoch" \
            dp-loop --plan "$plan" --seed 1 -q -o m -- "$twice | $GATE | dp-step --step 1"
    done << 'END'
3 a 2, b 2
2 (a, b) 2
7 a 6, b 2
END
    [ ! -e m ]
    dp-loop --plan 'a 4, b 3' --seed 1 -q -o m -- "$twice | $GATE | dp-step --step 1" > stream
    costs=$(dp-account epsilon -z 2 --sampler full --laps 2 --delta 1e-5)
    [ "$(jq -n "$(dp-info --get epsilon m) >= $costs * 0.99999")" = true ]
}

@test "laps that do not go together are refused before the first one" {
    rest="dp-noise -z 2 | $GATE | dp-step --step 1"
    grad='dp-grad --data a.dp --loss logistic --clip 1'
    complains 1 "dp-sample: the rows of laps of kind 'b' have been sampled already" \
        dp-loop --plan 'a, b' -q -o m -- "dp-sample --data a.dp --rate 0.1 | dp-sample --on b --data a.dp --rate 0.2 | $grad | $rest"
    for mode in '--rate 0.1' '--mode full'; do
        complains 5 "dp-account: laps of kind 'b' and of kind 'a' have different adjacencies" \
            dp-loop --plan 'a, b' --seed 1 -q -o m -- "dp-sample --data a.dp $mode | $grad --on a | $grad --on b --adjacency replace-one | $rest"
        complains 5 "dp-account: laps of kind 'b' and of kind 'a' have different adjacencies" \
            dp-loop --plan 'a, b' --seed 1 -q -o m -- "dp-sample --data a.dp $mode | $grad --on a | $grad --on b --adjacency replace-one | dp-noise -z 2 | $GATE --adaptive | dp-step --step 1"
    done
    clip='dp-grad --on a --data a.dp --loss logistic | dp-clip --on a --data a.dp --clip 1 --adaptive 0.5'
    counted="dp-sample --data a.dp --rate 0.1 | $clip | $grad --on b | dp-noise --on a -z 2 --count-multiplier 9 | dp-noise --on b -z 2 | $GATE | dp-step --step 1"
    complains 2 "dp-clip: --adaptive: no laps of another kind may follow those of kind 'a'" dp-loop --plan 'b, a 2, b' --seed 1 -q -o m -- "$counted"
    [ ! -e m ]
    dp-loop --plan 'b 2, a 3' --seed 1 -q -o m -- "$counted" > stream
    assert_equal "$(dp-info --get lap m)" 5
}

@test "processes = fused = ports, with privacy and laps of several kinds" {
    alike 'first 2, (later 3, first) 3' "$(child)"
}

@test "a private run of several kinds goes on from any lap, in its ledger too" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > int(open("last").read()) and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    plan='first, (later 3, first) 2'
    gate="$GATE --ledger $PWD/ledger"
    dp-loop --plan "$plan" --seed 4 -q -o whole -- "$(child "$gate" ' ./stop |' | sed 's/ .\/stop |//')" > whole.stream
    dp-account verify ledger
    dp-account report ledger > report
    for lap in 1 2 4 5 6 8; do
        rm -f stopped ledger*
        echo $lap > last
        run dp-loop --plan "$plan" --seed 4 -q --checkpoint kept --checkpoint-every 1 -o part -- "$(child "$gate" ' ./stop |')"
        assert_failure 1
        dp-loop --plan "$plan" --seed 4 -q --resume kept --checkpoint-every 1 -o part -- "$(child "$gate" ' ./stop |')" > stream
        assert_equal "$(dp-cat part | jq -c .model)" "$(dp-cat whole | jq -c .model)"
        assert_equal "$(dp-info --get epsilon part)" "$(dp-info --get epsilon whole)"
        dp-account verify ledger
        assert_equal "$(ledger_laps ledger)" 9
    done
}

@test "dp-audit has laps of one kind" {
    run dp-audit sensitivity --data a.dp --laps 3 -- "$(child | sed 's/--data a.dp/--data {}/g')"
    assert_failure 2
    assert_output --partial "dp-sample: --on: the run has no laps of a kind 'first'"
}

@test "a run that releases alpha has laps of one kind" {
    for step in '--clip 0.1 --release-alpha' '--clip 0.1 --variant sequential'; do
        complains 5 "dp-scd-step: a run that releases alpha has laps of only one kind" \
            dp-loop --plan 'a 2, b' --seed 1 -q -o m -- "dp-sample --data a.dp --rate 0.1 | dp-scd-step --data a.dp --loss hinge --lambda 1e-3 $step | dp-noise --on a -z 5 | dp-noise --on b -z 1 | $GATE | dp-step"
    done
    [ ! -e m ]
}
