# If a process dies at any moment, no run hangs, and payments so far are kept.
load helper

prepare() {
    small_data
    CHILD="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 500 | dp-account --epsilon 1000 --delta 1e-5 --allow-weak --ledger ledger | dp-step"
}

# killed TIMES KILLED LEAST: each stage of CHILD is killed or crashes so often, and at least LEAST of the runs had released something
killed() {
    run timeout 300 "$ROOT/tests/bats/kill-stages.py" "$1" 1 ledger -- dp-loop --laps 20000 --exec processes -o model -- "$CHILD"
    assert_success
    read -r killed some <<< "$output"
    assert_equal "$killed" "$2"
    [ "$some" -ge "$3" ] || fail "only $some runs had released something"
    dp-account verify ledger
}

@test "every stage killed or crashed 8 times at random moments: the run ends, the ledger holds" {
    killed 8 80 36
}

@test "the same of stages that breed and choose" {
    CHILD="dp-breed --data small.dp --offspring 20 | dp-sample --data small.dp --mode full |
        dp-select --data small.dp --loss hinge --epsilon 0.001 --clip 1 | dp-account --epsilon 1000 --delta 1e-5 --ledger ledger | dp-step"
    killed 4 40 15
}

@test "a stage says why before it passes an error on, because dp-loop then ends stages that take long" {
    token
    head -c -9 token.frames > cut
    dp-sample --data small.dp --rate 0.2 --in cut > both 2>&1 || assert_equal $? 4
    said=$(grep -abo 'dp-sample: cut ends inside a frame' both | head -n 1 | cut -d : -f 1)
    passed=$(grep -abo 'error' both | tail -n 1 | cut -d : -f 1)
    [ "$said" -lt "$passed" ] || fail "said at $said, passed at $passed"
}

# start EXEC LAPS [dp-loop options]: a run in the background that has released something
start() {
    local exec=$1 laps=$2
    shift 2
    rm -f stream
    dp-loop --laps "$laps" --exec "$exec" -q "$@" -- "$CHILD" > stream 2> said &
    loop=$!
    for _ in $(seq 1500); do # 30 s, which a loaded machine may need
        [ ! -s stream ] || [ "$(stat -c %s stream)" -lt 2000 ] || return 0
        sleep 0.02
    done
    fail "the run does not start: $(cat said)"
}

# ended STATUS SECONDS: it ends with that status
ended() {
    local got=0 from=$SECONDS
    wait $loop || got=$?
    assert_equal "$got" "$1"
    [ $((SECONDS - from)) -le "$2" ] || fail "it took $((SECONDS - from)) s"
}

@test "a signal: what was reserved and not used is given back, and every tool reads what is there" {
    for exec in fused processes; do
        start $exec 3000000 -o model
        kill -INT $loop
        ended 130 20
        run dp-info model
        assert_output --regexp 'laps: [0-9]+ of 3000000, interrupted'
        laps=$(dp-cat --last model | grep -o '"lap":[0-9]*' | cut -d: -f2)
        run dp-account report ledger
        assert_output --regexp " $laps  +[0-9.e-]+  interrupted"
        run grep -c "\"laps\":$laps," <(tail -n 1 ledger)
        assert_output 1
        dp-cat --last --frames stream | cmp - model
        dp-eval --data small.dp --private-data --in stream > lines 2> warnings || fail "$(cat warnings)"
        dp-loop --laps 1 -q --init model -o next -- "$CHILD" > /dev/null
        for signal in TERM HUP QUIT; do
            rm -f model ledger ledger.mark
            start $exec 3000000 -o model
            kill -$signal $loop
            ended $((128 + $(kill -l $signal))) 20
            assert_exist model
        done
        rm -f model next ledger ledger.mark
    done
}

@test "SIGHUP that was ignored from the start stays ignored" {
    (trap '' HUP; exec dp-loop --laps 2000 --exec processes -q -o model -- "$CHILD" > stream) &
    loop=$!
    while [ ! -s stream ]; do sleep 0.02; done
    kill -HUP $loop
    ended 0 300
}

# a last stage that passes some frames on and then does not answer any more
stuck() {
    cat > stuck.py << 'END'
import os, time
left = 20000
while left > 0:
    left -= os.write(1, os.read(0, min(left, 65536)))
time.sleep(1000)
END
    dp-loop --laps 100000 --exec processes -q -o model -- "$1 | python3 stuck.py" > stream 2> said &
    loop=$!
    while [ ! -s stream ] || [ "$(stat -c %s stream)" -lt 19000 ]; do sleep 0.02; done
}

@test "stages that do not answer: a second signal ends the run at once, and so does time; the model is kept" {
    for signals in 2 1; do
        stuck "$CHILD"
        sleep 0.2
        for _ in $(seq $signals); do
            kill -TERM $loop
            sleep 0.7
        done
        ended 143 $((signals == 2 ? 4 : 30)) # it waits for 5 s where nobody asks twice
        run dp-info model
        assert_output --regexp 'laps: [0-9]+ of 100000, interrupted'
        [ "$(dp-cat --kind end stream)" = '{"kind":"end","interrupted":true}' ]
        run pgrep -f "python3 stuck.py"
        assert_output ''
    done
}

@test "the shell of the child dies: the run goes on, and its model is there" {
    start processes 3000 -o model
    for _ in {1..50}; do # a process of the start may end between the two commands
        ! kill -KILL "$(pgrep -P $loop | tail -n 1)" 2> /dev/null || break
        sleep 0.1
    done
    ended 0 300
    run dp-info model
    assert_output --partial 'laps: 3000 of 3000'
    refute_output --partial interrupted
}

@test "a run that fails keeps the model of the last lap that it has paid for" {
    for exec in fused processes; do
        cp -r small.dp other.dp
        CHILD=${CHILD//small.dp/other.dp} start $exec 100000000 -o model
        truncate -s 200 other.dp/X.npy
        ended 1 60
        assert_equal "$(dp-cat --last stream 2> said | jq -c '[.lap, .model.values]')" "$(dp-cat --last model | jq -c '[.lap, .model.values]')"
        run dp-info model
        assert_output --regexp 'laps: [0-9]+ of 100000000, interrupted'
        rm -r other.dp model
    done
    # a resumed run that makes no progress has no model
    start processes 1000000 -o model --checkpoint state
    kill -INT $loop
    ended 130 20
    cp model before
    run dp-loop --laps 1000000 -q --resume state -o model -- "${CHILD/-z 500/-z 400}"
    assert_failure
    cmp model before
}

@test "of a run that was killed a report says that all it reserved is spent" {
    CHILD=${CHILD/--epsilon 1000 --delta 1e-5 --allow-weak/--epsilon 4 --delta 1e-6 --allow-seeded}
    CHILD=${CHILD/-z 500/-z 5000}
    dp-account budget --data small.dp --epsilon 10 --delta 1e-5 ledger > /dev/null
    start fused 1000000 -o model
    kill -KILL $loop
    ended 137 20
    assert_equal "$(dp-account report ledger --json | jq -c '.runs[0] | [.status, .stated_at, .laps]')" '["going or killed","plan",1000000]'
    cost=$(dp-account epsilon --rate 0.2 -z 5000 --laps 1000000 --delta 1e-5 --accountant rdp)
    assert_equal "$(dp-account report ledger --json | jq ".populations[0].budget.spent | . > $cost and . < 4")" true
}

@test "dp-loop killed outright leaves no temporary file" {
    for exec in fused processes; do
        start $exec 100000000 -o model
        kill -KILL $loop
        ended 137 20
        run bash -c 'ls -A | grep ^model'
        assert_output ''
    done
}

@test "a run that cannot afford one lap leaves no older model under its name" {
    dp-loop --laps 5 -q -o model -- "$CHILD" > /dev/null
    cp model old
    poor=${CHILD/-z 500/-z 1}
    for exec in fused processes; do
        mv -f old model
        run dp-loop --laps 5 --exec $exec -q -o model -- "${poor/--epsilon 1000/--epsilon 0.001}"
        assert_failure 3
        assert_not_exists model
        mv model~ old
    done
    # a run that fails or is refused leaves the old model
    mv old model
    run dp-loop --laps 5 -q -o model -- "${CHILD/-z 500/-z -1}"
    assert_failure 2
    assert_file_exist model
}

@test "training into a terminal without --model is refused before the first lap" {
    run script -qec "dp-loop --laps 5 -q -- '$CHILD'" /dev/null
    assert_failure 2
    assert_output --partial "dp-loop: standard output is a terminal, which takes no model: name a file with --model, or redirect"
    assert_not_exists ledger
}

@test "a stored stream that ends with a failure is said to; from a pipe whoever failed has spoken" {
    dp-loop --laps 2 -q -- "${CHILD/dp-noise -z 500 |/}" > stream 2> /dev/null || true
    complains 4 "dp-eval: stream ends with the failure of a run" dp-eval --data small.dp --private-data --in stream
    complains 4 "dp-eval: standard input ends with the failure of a run" bash -c 'dp-eval --data small.dp --private-data < stream'
    complains 4 "" bash -c 'cat stream | dp-eval --data small.dp --private-data'
}

@test "ZeroMQ: every process killed, and the run ends" {
    chmod 700 .
    for victim in dp-sample dp-scd-step dp-noise dp-account dp-step; do
        text='' i=0
        while IFS= read -r -d '|' stage; do
            (exec $stage --in "ipc://$PWD/$victim.$i" --out "ipc://$PWD/$victim.$((i + 1))" 2>> said) &
            pid[i]=$!
            read -r name _ <<< "$stage"
            [ $name != $victim ] || killed=$!
            i=$((i + 1))
        done <<< "${CHILD//$'\n'/ }|"
        dp-loop --laps 100000 -q --send "ipc://$PWD/$victim.0" --receive "ipc://$PWD/$victim.5" > stream 2> said.loop &
        loop=$!
        for _ in $(seq 1500); do
            [ "$(stat -c %s stream)" -lt 2000 ] || break
            sleep 0.02
        done
        kill -KILL $killed
        # No process waits for another: all have ended long before the ten seconds that a frame waits for a late reader.
        ended 1 30
        for p in "${pid[@]}"; do
            for _ in $(seq 400); do
                kill -0 $p 2> /dev/null || continue 2
                sleep 0.02
            done
            fail "$victim killed: $(ps -p $p -o args=) still runs"
        done
    done
}

@test "ZeroMQ: a reader that dies is noticed while its writer waits for input" {
    chmod 700 .
    dp-loop --laps 2 -q -- "$CHILD" > run 2> said
    edit kind=lap < run | edit kind=end > hello
    mkfifo input
    { cat hello; exec sleep 60; } > input 3>&- &
    source=$!
    dp-noise -z 1 --out "ipc://$PWD/there" < input 2> said 3>&- &
    loop=$!
    dp-cat "ipc://$PWD/there" > seen 2> cat.said 3>&- &
    reader=$!
    for _ in $(seq 1500); do
        [ ! -s seen ] || break
        sleep 0.02
    done
    kill -KILL $reader
    for _ in $(seq 400); do
        kill -0 $loop 2> /dev/null || break
        sleep 0.02
    done
    kill $source
    ended 141 20
}

@test "ZeroMQ: a signal where nobody is at the other end" {
    chmod 700 .
    dp-loop --laps 5 -q --send "ipc://$PWD/a" --receive "ipc://$PWD/b" > stream 2> said &
    loop=$!
    sleep 0.5
    kill -TERM $loop
    sleep 0.7
    kill -TERM $loop
    ended 143 4
}

@test "timeout(1) sends its signal twice, which is once" {
    run timeout -s INT 1 dp-loop --laps 3000000 --exec fused -q -o model -- "$CHILD"
    assert_failure 124
    dp-info model
    run dp-account report ledger
    assert_output --partial interrupted
}
