# No death of any process at any moment hangs a run, and what was paid for by then is not lost.
load helper

prepare() {
    small_data
    CHILD="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 500 | dp-account --epsilon 1000 --delta 1e-5 --ledger ledger | dp-step"
}

@test "every stage killed or crashed 20 times at random moments: the run ends, the ledger holds" {
    run timeout 300 "$ROOT/tests/bats/kill-stages.py" 20 1 ledger -- dp-loop --laps 20000 --exec processes -o model -- "$CHILD"
    assert_success
    read -r killed some <<< "$output"
    assert_equal "$killed" 200
    [ "$some" -ge 90 ] || fail "only $some runs had released something"
    dp-account verify ledger
}
