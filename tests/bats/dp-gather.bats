# dp-gather with workers of its own: the bytes of one machine with all rows, and what it refuses.
load helper
load variants

prepare() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
}

# same VARIANT [LOSS [DATA]]: as parts of one data set, in workers of each kind of execution; shards.bats has other variants
same() {
    local text
    in_parts "${3:-two.dp}" "${2:-logistic}" "$1"
    for kind in processes:3:processes fused:3:fused processes:2:fused; do
        IFS=: read -r how k workers <<< "$kind"
        train part "$how" "$(gathered "$k" "$workers" "${3:-two.dp}" "$text")"
        cmp one part
        cmp one.stream part.stream
    done
}

@test "as on one machine: coordinate descent with several threads" { same threads hinge; }
@test "as on one machine: gradients" { same gradient; }
@test "as on one machine: gradients of rows with products of categories" {
    product_rows --quantise
    same gradient logistic products.dp
}
@test "as on one machine: gradients clipped by a stage of its own" { same gradient-clip; }
@test "as on one machine: noise that follows a schedule" { same gradient-schedule; }

SAMPLE='dp-sample --data two.dp --rate 0.1'
STEP='dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 0.1'
GATE='dp-noise -z 1.5 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger | dp-step'

# refused STATUS MESSAGE GATHER-OPTION…: the message of dp-gather, before GATE
refused() {
    local status=$1 message=$2
    shift 2
    complains "$status" "$message" dp-loop --laps 3 -q --exec fused --seed 1 -- "dp-gather $* | $GATE"
}

@test "shards that do not fit each other" {
    refused 5 "dp-gather: shards 1 and 2 differ in 'rate' of a record" -k 2 --local "'dp-sample --data two.dp --rate 0.%k --shard %k/%K | $STEP'"
}

@test "a stage that has no place in a shard" {
    refused 2 'dp-sample: --mode fixed, shuffle or cyclic needs all rows at once: it has no place in a shard' -k 2 --exec fused --local "'$SAMPLE --mode shuffle | $STEP'"
}

@test "no workers within a worker" {
    refused 2 'dp-gather: needs all rows at once: it has no place in a shard' -k 1 --exec fused --local "'dp-gather -k 1 --local cat'"
}

@test "a child that fails says why, and dp-gather does not" {
    refused 2 'dp-sample: --rate: must be > 0 and <= 1, got 0' -k 1 --local "'dp-sample --data two.dp --rate 0 | $STEP'"
}

@test "a killed child ends the run" {
    filter late 'if frame.get("lap") == 3: os.kill(os.getpid(), 9)'
    for exec in fused processes; do
        run timeout 60 dp-loop --laps 30 -q --seed 1 --exec $exec -- "dp-gather -k 2 --local '$SAMPLE --shard %k/%K | $STEP | ./late' | $GATE" 2>&1 > /dev/null
        assert_failure 1
        assert_output --partial 'dp-gather: the child pipeline ended before it gave back a frame: signal 9 ended its last stage'
    done
}

@test "%k, %K and %%" {
    filter note 'open("said." + sys.argv[1], "a").close()'
    timeout 30 dp-loop --laps 2 -q --seed 1 -o m -- "dp-gather -k 2 --local './note %k-%K-%% | $SAMPLE --shard %k/%K | $STEP' | $GATE" > /dev/null
    assert_file_exist said.1-2-%
    assert_file_exist said.2-2-%
}

@test "what workers give has no private field" {
    timeout 30 dp-loop --laps 3 -q --seed 1 -o m -- "dp-gather -k 2 --local '$SAMPLE --inline --shard %k/%K | dp-scd-step --loss hinge --lambda 1e-3 --clip 0.1 | tee raw.%k' | tee seen | $GATE" > /dev/null
    run dp-cat raw.1
    assert_output --partial '"directory"'
    run dp-cat seen
    refute_output --regexp '"(rows|X|y|updates)":\{|"(shard|shards|first_row|directory)":'
}

@test "a gathered run is resumed, with the states of its workers" {
    text="dp-gather -k 3 --local '$SAMPLE --shard %k/%K | $STEP' | $GATE"
    for exec in fused processes; do
        dp-loop --laps 200 --seed 11 --exec $exec -q -o whole -- "$text" > whole.stream
        run timeout 120 "$ROOT/tests/bats/resume.py" 1 2 kept part 20 -- dp-loop --laps 200 --seed 11 --exec $exec -q -- "$text"
        assert_success
        [ "${output##*$'\n'}" -ge 1 ] || fail "never resumed: $output"
        cmp whole part
        assert_not_exists kept
    done
}

@test "interrupted, a gathered run is resumed where it stopped" {
    text="dp-gather -k 2 --local '$SAMPLE --shard %k/%K | $STEP' | $GATE"
    dp-loop --laps 20000 --seed 11 -q -o whole -- "$text" > /dev/null
    dp-loop --laps 20000 --seed 11 -q --checkpoint kept -o part -- "$text" > stream 2> said &
    for _ in $(seq 1500); do
        [ "$(dp-cat --kind lap stream 2> /dev/null | wc -l)" -lt 5 ] || break
        sleep 0.02
    done
    kill -INT $!
    wait $! || true
    run cat said
    assert_output --regexp '^dp-loop: interrupted after lap [0-9]+ of 20000, whose model is in part$'
    dp-loop --laps 20000 --seed 11 -q --resume kept -o part -- "$text" > /dev/null
    cmp whole part
    assert_not_exists kept
}
