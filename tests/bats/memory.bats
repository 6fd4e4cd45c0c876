# Memory that runs out ends the program with one sentence and status 1. A death costs no lap and no byte (deaths.bats).
load helper

prepare() {
    case $BUILD in *asan*) skip "sanitizers have allocators of their own" ;; esac
    small_data 60 4 2
}

RUN="dp-sample --data small.dp --rate 1 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 3 |
    dp-account --epsilon 100 --delta 1e-5 --ledger ledger | dp-step --step 1"

# out_at N COMMAND…: memory runs out at the N-th allocation of the command
out_at() {
    local n=$1
    shift
    complains 1 "$1: out of memory" env LD_PRELOAD="$BUILD/memory/fail.so" FAIL_AT="$n" "$@"
}

@test "an array for which there is no room" {
    complains 1 'dp-synth: out of memory (10000000000 × 8 bytes)' \
        bash -c 'ulimit -v 700000; exec dp-synth classification --classes 1000 --rows 10 --cols 10000000 -o huge.dp'
    assert_not_exists huge.dp*
}

@test "memory runs out anywhere, and nothing is left but the lines before" {
    local n count=0 before
    dp-loop -q --laps 3 -o model -- "$RUN" > stream
    before=$(wc -l < ledger)
    for n in 100 400 800; do
        run env LD_PRELOAD="$BUILD/memory/fail.so" FAIL_AT=$n dp-loop -q --laps 3 --exec fused -o new -- "$RUN"
        assert_equal "$status" 1
        assert_output --partial ": out of memory"
        assert_not_exists new*
        dp-account verify ledger > /dev/null
        count=$((count + 1))
    done
    [ "$(wc -l < ledger)" -ge "$before" ] || fail "lines are gone"
    out_at 40 dp-info small.dp
    out_at 60 dp-account report ledger
}
