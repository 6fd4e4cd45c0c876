# A run whose rows are in workers in other processes, and the same run on one machine.

# small_run: data, stages and the address where workers connect to their gather
small_run() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
    mkdir -m 700 run
    K=2 AT=ipc://run/gate
    SAMPLE='dp-sample --data two.dp --rate 0.1'
    STEP='dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 0.1'
    GATE='dp-noise -z 1.5 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger | dp-step'
}

# end_all: ends the processes that left their number in NAME.pid and are still running
end_all() {
    local pid
    for pid in $(cat ./*.pid 2> /dev/null); do kill -9 "$pid" 2> /dev/null || true; done
}

# whole: the run on one machine
whole() { dp-loop --laps $LAPS --seed 11 -q -o whole -- "$SAMPLE | $STEP | $GATE" > whole.stream; }

# worker SHARD [OPTION…]: in the background; its messages go to worker-SHARD
worker() {
    local shard=$1
    shift
    dp-worker --at $AT --shard "$shard/$K" --allow-seeded "$@" -- "${PIPELINE:-$SAMPLE --shard $shard/$K | $STEP}" 2>> "worker-$shard" &
    echo $! > "$shard.pid"
}

# ended NAME STATUS: how that process ends
ended() {
    local got=0
    wait "$(cat "$1.pid")" || got=$?
    [ $got = "$2" ] || fail "$1 ends with $got, expected $2: $(cat said worker-* 2> /dev/null)"
}
killed() { kill -9 "$(cat "$1.pid")" && { wait "$(cat "$1.pid")" 2> /dev/null || true; }; }

# same: the gathered run and the run on one machine gave the same
same() {
    cmp whole part
    cmp whole.stream part.stream
}

# eventually COMMAND…: within half a minute
eventually() {
    for _ in $(seq 1500); do
        if "$@" > /dev/null 2>&1; then return; fi
        sleep 0.02
    done
    fail "never: $*: $(cat said worker-* 2> /dev/null)"
}
