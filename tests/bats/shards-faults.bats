# A run whose workers, gather or dp-loop die, stall, return or are late, under each policy.
load helper
load workers

prepare() {
    small_run
    LAPS=40
    # passes frames on, but creates a file "there" and waits at lap 20 until there is a file "go"
    filter hold '
if frame.get("lap") == 20 and not os.path.exists("there"):
    open("there", "w").close()
    while not os.path.exists("go"): __import__("time").sleep(0.01)'
}
teardown() {
    end_all
    touch go copied # for filters whose workers are gone
}

# gradients: a pipeline whose stages have no state between laps
gradients() {
    STEP='dp-grad --data two.dp --loss logistic --lambda 1e-3 --clip 0.1'
    GATE+=' --step 0.5'
}
# gate GATHER-OPTIONS [dp-loop options]: in the background
gate() {
    local options=$1
    shift
    dp-loop --laps $LAPS --seed 11 -q -o part "$@" -- "dp-gather --at $AT --workers $K $options | $GATE" > part.stream 2> said &
    echo $! > gate.pid
}
laps_done() { [ "$(dp-cat --kind lap part.stream 2> /dev/null | wc -l)" -ge "$1" ]; }

@test "wait: a worker that dies is waited for, and the run is the one that it would have been" {
    whole
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2 --checkpoint two
    gate '--on-lost wait --timeout 1'
    eventually test -e there
    killed 2
    touch go
    eventually grep -q 'dp-gather: warning: lap 2[01]: the worker of shard 2 of 2 has been gone for 1 s: waiting' said
    worker 2 --checkpoint two
    ended gate 0
    same
    ended 1 0
    ended 2 0
    assert_not_exists two
}

@test "stop: a worker that dies ends the run after a while, and the run can be resumed" {
    whole
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1 --checkpoint one
    worker 2 --checkpoint two
    gate '--timeout 1' --checkpoint kept --checkpoint-every 5
    eventually test -e there
    killed 2
    touch go
    ended gate 1
    assert_regex "$(cat said)" '^dp-gather: lap 2[01]: the worker of shard 2 of 2 has been gone for 1 s \(--timeout, --on-lost\)$'
    ended 1 4
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1 --checkpoint one
    worker 2 --checkpoint two
    gate '--timeout 1' --resume kept
    ended gate 0
    ended 1 0
    ended 2 0
    cmp whole part
    assert_not_exists kept
}

@test "continue: a shard that is gone adds nothing, which the frame says, and it comes back" {
    gradients
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    gate '--on-lost continue --timeout 3'
    eventually test -e there
    killed 2
    touch go
    ended gate 0
    ended 1 0
    assert_regex "$(cat said)" '^dp-gather: warning: lap 2[01]: the worker of shard 2 of 2 has been gone for 3 s: the run continues without it$'
    assert_regex "$(dp-cat --kind lap part.stream | grep -c '"lost":1')" '^2[01]$'
    # the charge is for the whole run
    whole
    assert_equal "$(dp-cat --last part.stream | grep -o '"epsilon":[^,]*')" "$(dp-cat --last whole.stream | grep -o '"epsilon":[^,]*')"

    rm there go
    filter hold '
if frame.get("lap") in (20, 30):
    open("there%d" % frame["lap"], "w").close()
    while not os.path.exists("go%d" % frame["lap"]): __import__("time").sleep(0.01)'
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    gate '--on-lost continue --timeout 3'
    eventually test -e there20
    killed 2
    touch go20
    eventually test -e there30
    worker 2
    sleep 0.3
    touch go30
    ended gate 0
    ended 2 0
    lost=$(dp-cat --kind lap part.stream | grep -c '"lost":1')
    [ $lost -ge 9 ] && [ $lost -le 11 ] || fail "lost to $lost laps"
}

@test "all shards have to be there when a run begins, whatever the policy" {
    worker 1
    gate '--on-lost continue --timeout 0.5'
    ended gate 1
    assert_equal "$(cat said)" 'dp-gather: the run begins: the worker of shard 2 of 2 has been missing for 0.5 s (--timeout, --on-lost)'
    ended 1 4
}

@test "a worker that stalls, and goes on: wait" {
    LAPS=400 whole
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    LAPS=400 gate '--on-lost wait --timeout 3' # which the beginning has to keep to as well
    eventually test -e there
    kill -STOP "$(cat 2.pid)"
    touch go
    eventually grep -q 'dp-gather: warning: lap 2[01]: the worker of shard 2 of 2 has been silent for 3 s: waiting' said
    sleep 0.7
    kill -CONT "$(cat 2.pid)"
    ended gate 0
    ended 2 0
    same
}

@test "a worker that stalls is replaced, and wakes too late" {
    gradients
    whole
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    gate '--on-lost wait --timeout 0.5'
    eventually test -e there
    kill -STOP "$(cat 2.pid)"
    mv 2.pid old.pid
    touch go
    worker 2
    ended gate 0
    ended 2 0
    same
    kill -CONT "$(cat old.pid)"
    kill -TERM "$(cat old.pid)"
}

@test "stalled: stop and continue" {
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    gate '--timeout 0.5'
    eventually test -e there
    kill -STOP "$(cat 2.pid)"
    touch go
    ended gate 1
    assert_regex "$(cat said)" '^dp-gather: lap 2[01]: the worker of shard 2 of 2 has been silent for 0.5 s \(--timeout, --on-lost\)$'
    killed 2 # it has not heard of the end, and waits for the next gather

    rm there go
    gradients
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    gate '--timeout 0.5 --on-lost continue'
    eventually test -e there
    kill -STOP "$(cat 2.pid)"
    touch go
    ended gate 0
    kill -CONT "$(cat 2.pid)"
    dp-cat --kind lap part.stream | grep -q '"lost":1'
}

@test "an older checkpoint is refused, whatever the policy" {
    # at lap 6 the checkpoint of the lap before does not change until there is a file "copied"
    filter early '
if frame.get("lap") == 6 and not os.path.exists("copied"):
    open("six", "w").close()
    while not os.path.exists("copied"): __import__("time").sleep(0.01)'
    OWN="$SAMPLE --shard 2/2 | $STEP | ./early"
    for policy in wait continue; do
        PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
        PIPELINE=$OWN worker 2 --checkpoint two
        eventually test -e two
        gate "--on-lost $policy --timeout 1"
        eventually test -e six
        cp -r two older
        touch copied
        eventually test -e there
        killed 2
        rm -r two
        mv older two
        PIPELINE=$OWN worker 2 --checkpoint two
        ended 2 1
        run grep '^dp-worker: ' worker-2 # the pipeline whose worker was killed may say something, too
        assert_output --regexp '^dp-worker: the gather has refused this worker: its checkpoint is of lap [56], and lap (19|20) of it has been counted$'
        touch go
        if [ $policy = wait ]; then
            rm -r two worker-2
            worker 2
            ended 2 1
            assert_regex "$(cat worker-2)" 'it has no checkpoint, and lap (19|20) of it has been counted$'
            killed gate
        else
            ended gate 0
        fi
        killed 1 || true
        rm -rf two older worker-2 there go six copied
    done
}

@test "two workers for one shard: the second one is sent away, and comes when the first is gone" {
    gradients
    whole
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2
    gate '--on-lost wait'
    eventually test -e there
    mv 2.pid first.pid
    worker 2
    touch go
    sleep 0.2
    killed first || true
    ended gate 0
    same
}

@test "a worker of another run is refused" {
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1 --checkpoint one
    worker 2 --checkpoint two
    gate '--on-lost wait'
    eventually test -e there
    killed gate
    sleep 0.3
    # workers are in the middle of a run when dp-loop begins another one
    timeout 60 dp-loop --laps $LAPS --seed 12 -q -o part -- "dp-gather --at $AT --workers $K --timeout 2 | $GATE" > /dev/null 2> said &
    echo $! > gate.pid
    touch go
    ended gate 1
    ended 2 1
    assert_equal "$(cat worker-2)" 'dp-worker: the gather has refused this worker: it is in the middle of another run'
}

@test "dp-loop killed and resumed: workers that are ahead go back" {
    whole
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | ./hold" worker $k --checkpoint c$k; done
    gate '--on-lost wait' --checkpoint kept --checkpoint-every 7
    eventually test -e there
    killed gate
    touch go
    assert_file_exist kept/loop
    gate '--on-lost wait' --resume kept
    ended gate 0
    ended 1 0
    ended 2 0
    cmp whole part
    # the run went on from lap 14
    run dp-cat --kind lap part.stream
    assert_line --index 0 --partial '"lap":15,'
}

group_gone() { ! pgrep -g "$1"; }

@test "dp-loop killed when the end frame has been through all stages: resumed with its workers" {
    whole
    filter ending '
if frame["kind"] == "end" and not os.path.exists("ending-seen"):
    open("ending-seen", "w").close()
    while not os.path.exists("go"): __import__("time").sleep(0.01)'
    GATE+=' | ./ending'
    for k in 1 2; do worker $k --checkpoint c$k; done
    gate '--on-lost wait' --checkpoint kept --checkpoint-every 7
    eventually test -e ending-seen
    stages=$(pgrep -P "$(cat gate.pid)") # the shell of the child pipeline, which leads their process group
    killed gate
    touch go
    # the workers were not told that the run has ended: they still have what a resumed run needs
    for k in 1 2; do
        ended $k 4
        assert_dir_exist c$k
        worker $k --checkpoint c$k
    done
    eventually group_gone "$stages" # dp-gather has the address until then
    gate '--on-lost wait' --resume kept
    ended gate 0
    ended 1 0
    ended 2 0
    cmp whole part
    run dp-cat --kind lap part.stream
    assert_line --index 0 --partial '"lap":36,'
    for name in kept c1 c2; do assert_not_exists $name; done
}

@test "all killed, and all started again" {
    whole
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | ./hold" worker $k --checkpoint c$k; done
    gate '--on-lost wait' --checkpoint kept --checkpoint-every 7
    eventually test -e there
    for name in gate 1 2; do killed $name; done
    touch go
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | ./hold" worker $k --checkpoint c$k; done
    gate '--on-lost wait' --resume kept
    ended gate 0
    ended 1 0
    ended 2 0
    cmp whole part
}

@test "resumed without the workers' checkpoints: refused" {
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | ./hold" worker $k; done
    gate '--timeout 1' --checkpoint kept --checkpoint-every 7
    eventually test -e there
    for name in gate 1 2; do killed $name; done
    touch go
    for k in 1 2; do worker $k; done
    gate '--timeout 1' --resume kept
    ended gate 1
    ended 1 1
    assert_regex "$(cat worker-1)" 'dp-worker: the gather has refused this worker: it has no checkpoint, and lap 14 of it has been counted$'
}

@test "a checkpoint of another pipeline, another shard, or one that another worker has" {
    PIPELINE="$SAMPLE --shard 1/2 | $STEP | ./hold" worker 1
    worker 2 --checkpoint two
    gate '--on-lost wait --timeout 1'
    eventually test -e there
    complains 1 "dp-worker: another process has the checkpoint $PWD/two" dp-worker --at $AT --shard 2/2 --checkpoint two -- "$SAMPLE --shard 2/2 | $STEP"
    killed 2
    complains 1 "dp-worker: the checkpoint $PWD/two is of another pipeline: resume it with the same text" dp-worker --at $AT --shard 2/2 --checkpoint two -- "$SAMPLE --shard 2/2 | $STEP --threads 2"
    complains 1 "dp-worker: the checkpoint $PWD/two is of shard 2/2" dp-worker --at $AT --shard 1/2 --checkpoint two -- "$SAMPLE --shard 2/2 | $STEP"
    chmod 755 two
    complains 5 "dp-worker: two: what a checkpoint holds is private: it needs a directory of your own, mode 0700" dp-worker --at $AT --shard 2/2 --checkpoint two -- "$SAMPLE --shard 2/2 | $STEP"
    killed gate
}

@test "interrupted while it waits for a worker: it ends soon, fused and processes" {
    for exec in fused processes; do
        worker 1
        gate '--on-lost wait' --exec $exec
        sleep 0.5
        kill -INT "$(cat gate.pid)"
        sleep 0.7
        kill -INT "$(cat gate.pid)" 2> /dev/null || true
        for _ in $(seq 60); do kill -0 "$(cat gate.pid)" 2> /dev/null || break; sleep 0.1; done
        ! kill -0 "$(cat gate.pid)" 2> /dev/null || fail 'it does not end'
        assert_equal "$(cat said)" "dp-loop: interrupted after lap 0 of $LAPS"
        killed 1 || true
    done
}

@test "interrupted within the run, it is resumed where it stopped" {
    whole
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | ./hold" worker $k --checkpoint c$k; done
    gate '' --checkpoint kept
    eventually test -e there
    kill -INT "$(cat gate.pid)"
    touch go
    wait "$(cat gate.pid)" || true
    assert_regex "$(cat said)" 'dp-loop: interrupted after lap (19|20) of 40, whose model is in part'
    ended 1 0
    ended 2 0
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | ./hold" worker $k --checkpoint c$k; done
    gate '' --resume kept
    ended gate 0
    cmp whole part
}

@test "a worker whose budget is spent ends the run, or is left out" {
    filter spent '
if frame.get("lap") == 10: frame = {"kind": "end", "status": 3, "message": "the words of a site"}'
    PIPELINE="$SAMPLE --shard 1/2 | $STEP" worker 1
    PIPELINE="$SAMPLE --shard 2/2 | $STEP | ./spent" worker 2
    gate '--on-lost wait'
    ended gate 3
    assert_regex "$(cat said)" 'dp-loop: the child pipeline ended the run early$'
    ended 1 0
    ended 2 3
    assert_equal "$(cat worker-2)" 'dp-worker: the words of a site'
    PIPELINE="$SAMPLE --shard 1/2 | $STEP" worker 1
    PIPELINE="$SAMPLE --shard 2/2 | $STEP | ./spent" worker 2
    gate '--on-lost continue'
    ended gate 0
    assert_equal "$(cat said)" 'dp-gather: warning: shard 2 of 2 has ended at lap 10: its budget is spent'
    assert_equal "$(dp-cat --kind lap part.stream | grep -c '"lost":1')" 31
}

@test "unpaid sums do not go over a plain connection to another machine" {
    complains 5 'dp-worker: tcp://192.0.2.1:4444: sums that nobody has paid for yet need keys (dp-key) or a loopback address' \
        dp-worker --at tcp://192.0.2.1:4444 --insecure-plaintext --shard 1/2 -- "$SAMPLE | $STEP"
    complains 5 "dp-gather: tcp://*:4444: sums that nobody has paid for yet need keys (dp-key) or a loopback address" \
        dp-loop --laps 1 -q -o m -- "dp-gather -k 1 --at 'tcp://*:4444' --insecure-plaintext | $GATE"
}

# often KILLS EXEC: workers and dp-loop, each started again whenever it is killed, until the run has ended; went: how many kills.
often() {
    local kills=$1 exec=$2 k what
    went=0
    for k in 1 2; do again $k "$exec" & echo $! > "again-$k.pid"; done
    again loop "$exec" &
    echo $! > again-loop.pid
    RANDOM=$SEED
    while [ $went -lt "$kills" ] && [ ! -e ended-loop ]; do
        sleep 0.$((RANDOM % 30 + 10))
        what=(1 2 loop)
        kill -9 "$(cat "${what[RANDOM % 3]}.pid")" 2> /dev/null && went=$((went + 1))
    done
    eventually test -e ended-loop
    for k in 1 2; do eventually test -e ended-$k; done
}

# over STARTS: waits until dp-loop has ended by itself. Fails if it was killed in its own end and has been started again since it had been
# started so often, or if it has not ended for twice as long as a gather waits for its workers at the end.
over() {
    for _ in $(seq 1000); do
        [ ! -e ended-loop ] || return 0
        [ "$(wc -l < starts)" = "$1" ] || return
        sleep 0.02
    done
    return 1
}

# again NAME EXEC: runs it until it ends by itself. A worker that has ended is not started again while dp-loop may still end: no gather
# would come for it.
again() {
    local got=137 how starts
    while [ $got = 137 ]; do
        got=0
        if [ "$1" = loop ]; then
            echo "$BASHPID" >> starts
            how=--checkpoint
            [ ! -e kept/loop ] || how=--resume
            dp-loop $how kept --checkpoint-every 10 --laps $LAPS --seed 11 -q --exec "$2" -o part -- \
                "dp-gather --at $AT --workers 2 --on-lost wait | $GATE" > part.stream 2>> said &
        else
            dp-worker --at $AT --allow-seeded --shard "$1/2" --checkpoint "c$1" --exec "$2" -- "$SAMPLE --shard $1/2 | $STEP" 2>> "worker-$1" &
        fi
        echo $! > "$1.pid"
        wait $! 2> /dev/null || got=$?
        starts=$(wc -l < starts)
        # if a gather in a separate process is killed, dp-loop ends, and a run that has failed ends its workers
        case $1-$got in
            loop-1 | [12]-4) got=137 ;;
            [12]-0) over "$starts" || got=137 ;;
            # killed after its checkpoint had gone: it has answered, or will be given up
            [12]-137) [ -e "c$1" ] || ! laps_done 1 || ! over "$starts" || got=0 ;;
        esac
    done
    echo $got > "ended-$1"
}

@test "each process killed at random moments, fused and processes: the same bytes" {
    LAPS=250
    whole
    SEED=1
    for exec in fused processes; do
        often 12 $exec
        [ "$went" -ge 4 ] || fail "only $went kills"
        assert_equal "$(cat ended-loop ended-1 ended-2)" "$(printf '0\n0\n0')"
        cmp whole part
        rm -rf part part.stream kept c1 c2 ended-* starts ./*.pid
        SEED=2
    done
}

@test "a worker that a signal ends within a lap is gone, and has not failed" {
    whole
    worker 1
    PIPELINE="$SAMPLE --shard 2/2 | $STEP | ./hold"
    worker 2 --checkpoint two
    gate '--on-lost wait'
    eventually test -e there
    kill -TERM "$(cat 2.pid)"
    ended 2 143
    touch go
    worker 2 --checkpoint two
    ended gate 0
    same
}
