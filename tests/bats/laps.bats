# The cost of a lap apart from its rows: it allocates nothing, a fused lap makes system calls only for the ledger's
# reservations, and between processes a frame takes one write and one read. Laps are counted by the difference of two runs.
load helper

prepare() {
    small_data
    RUN="dp-sample --data small.dp --rate 0.1 | dp-grad --data small.dp --loss logistic --lambda 1e-4 --clip 1 | dp-noise -z 3 |
        dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1 --average polynomial"
}

# allocations LAPS PIPELINE: how many a fused run makes
allocations() {
    rm -f model
    LD_PRELOAD=$BUILD/memory/fail.so FAIL_FD=9 dp-loop -q --exec fused --seed 3 --laps "$1" -o model -- "$2" 9> count > /dev/null
    tail -n 1 count | cut -d ' ' -f 1
}

# calls HOW LAPS PIPELINE [CALL…]: how many system calls a run makes, in all or of that name
calls() {
    local how=$1 laps=$2 child=$3
    shift 3
    rm -f model
    strace -f -qq -c -U name,calls -o counts dp-loop -q --exec "$how" --seed 3 --laps "$laps" -o model -- "$child" > /dev/null
    awk -v names=" $* " 'names ~ "^ *$" ? $1 == "total" : index(names, " " $1 " ") { sum += $2 } END { print sum + 0 }' counts
}

# per_lap COUNTER…: the growth of a count in 60 laps, none of which checks whether the data have changed. Allocations are
# counted in late laps, after a batch that needs the most room.
per_lap() {
    local counter=$1 how=$2 before after
    if [ "$counter" = allocations ]; then
        before=$(allocations 530 "$RUN") after=$(allocations 590 "$RUN")
    else
        before=$(calls "$how" 130 "$RUN" "${@:3}") after=$(calls "$how" 190 "$RUN" "${@:3}")
    fi
    grown=$((after - before))
}

# about COUNT: what a run makes before its first lap and after its last one differs by a few calls from run to run. One more in
# each lap would make at least 10.
about() { [ $((grown - $1)) -lt 5 ] && [ $((grown - $1)) -gt -5 ] || fail "$grown calls, not about $1"; }

@test "a fused lap allocates nothing" {
    case $BUILD in *asan*) skip "sanitizers have allocators of their own" ;; esac
    per_lap allocations
    assert_equal "$grown" 0
    RUN=${RUN/dp-grad*clip 1/dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1}
    RUN=${RUN/--step 1 --average polynomial/}
    per_lap allocations
    assert_equal "$grown" 0
}

@test "a fused lap makes no system call" {
    need_strace
    per_lap calls fused
    # The calls of a process before its first lap differ by a few from run to run; one in each lap would make 60.
    [ "$grown" -lt 20 ] || fail "60 laps make $grown system calls"
}

@test "data that fused stages share are looked at once" {
    need_strace
    before=$(calls fused 130 "$RUN" newfstatat fstat) after=$(calls fused 200 "$RUN" newfstatat fstat)
    # in lap 192: the rows and labels that dp-sample has open, and the ones of dp-grad
    [ $((after - before)) -le 4 ] || fail "$((after - before)) looks"
    [ $((after - before)) -ge 1 ] || fail "no look"
}

@test "a fused lap waits for the disk when the ledger reserves laps, and then alone" {
    need_strace
    RUN=${RUN/--no-ledger/--ledger ledger}
    rm -f ledger*
    before=$(calls fused 130 "$RUN" fsync fdatasync)
    rm -f ledger*
    after=$(calls fused 190 "$RUN" fsync fdatasync)
    # each reservation has an eighth of the laps before it
    [ $((after - before)) -le 8 ] || fail "60 laps wait $((after - before)) times"
}

@test "between processes a frame takes one write and one read" {
    need_strace
    per_lap calls processes write
    about 360
    per_lap calls processes read
    about 360
    per_lap calls processes poll ppoll select pselect6 epoll_wait
    about 0
}

@test "so does a frame that is larger than a pipe is at first" {
    need_strace
    dp-synth classification --rows 60 --cols 20000 --classes 2 --seed 7 -o small.dp -q --force
    RUN=${RUN/--average polynomial/}
    before=$(calls processes 10 "$RUN" read write) after=$(calls processes 20 "$RUN" read write)
    grown=$((after - before))
    about 120
}

@test "a stage that waits for a frame ends with whoever reads it, before and while it waits" {
    mkfifo in out
    exec 8<> in
    timeout 20 dp-step < in | true
    assert_equal "${PIPESTATUS[0]}" 141
    timeout 20 dp-step < in > out &
    stage=$!
    exec 9< out
    sleep 0.5 # it waits now
    exec 9<&-
    got=0
    wait $stage || got=$?
    assert_equal "$got" 141
}
