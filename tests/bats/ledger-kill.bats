# kill -9 at any moment: no released lap is unpaid, and the ledger can be continued.
load helper

prepare() {
    small_data
    CHILD="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 500 | dp-account --epsilon 1000 --delta 1e-5 --ledger ledger | dp-step"
}

# kills EXEC SEED: 120 runs, all into one ledger
kills() {
    run "$ROOT/tests/bats/kill-runs.py" 120 0.04 "$2" ledger -- dp-loop --laps 3000 --exec "$1" -- "$CHILD"
    assert_success
    read -r killed some laps <<< "$output"
    [ "$killed" -ge 100 ] || fail "only $killed runs were killed"
    [ "$some" -ge 40 ] || fail "only $some runs had released something"
    [ "$laps" -ge "$some" ] || fail "$laps laps in $some runs"
    dp-account verify ledger
    dp-loop --laps 5 --exec "$1" -- "$CHILD" > stream
    dp-account verify ledger
}

@test "killed at 120 random moments, stages as processes" { kills processes 1; }

@test "killed at 120 random moments, stages fused" { kills fused 2; }
