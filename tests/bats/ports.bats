# Attacks on ports of ZeroMQ by peers that can reach them: nothing that they send costs a lap, or becomes a model.
load helper

CHILD='dp-sample --data small.dp --rate 0.2 |
    dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 1 |
    dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step'

prepare() {
    small_data 200 5 2
    umask 077
    PORT=$(free_port 4)
    # waits in lap 50 for a file
    filter hold '
import time
while frame["kind"] == "lap" and frame["lap"] == 50 and not os.path.exists("go"):
    open("held", "w").close()
    time.sleep(0.02)'
}

# Processes that a failed test leaves behind would keep bats waiting.
teardown() {
    local job
    for job in $(jobs -p); do kill -KILL $(pgrep -P "$job") "$job" 2> /dev/null || true; done
}

bad_peer() { timeout -k 1 60 "$ROOT/tests/bats/zmtp.py" "$@"; }

# until_file NAME: waits for it
until_file() {
    local i
    for ((i = 0; i < 1500; i++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.02
    done
    fail "no file $1: $(cat said.* 2> /dev/null)"
}

# gone_within SECONDS PID: its status is in $status
gone_within() {
    local i
    for ((i = 0; i < $1 * 50; i++)); do
        kill -0 "$2" 2> /dev/null || break
        sleep 0.02
    done
    ! kill -0 "$2" 2> /dev/null || fail "still there after $1 s"
    status=0
    wait "$2" || status=$?
}

# start_run OPTIONS…: 100 laps through three sockets that all stages and the loop bind to PORT, PORT + 1 and PORT + 2
start_run() {
    local a=tcp://127.0.0.1:$PORT b=tcp://127.0.0.1:$((PORT + 1)) c=tcp://127.0.0.1:$((PORT + 2))
    (exec dp-sample --data small.dp --rate 0.2 --in $a "$@" 2> said.sample |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 --out $b "$@" 2> said.step) 3>&- &
    (exec dp-noise -z 1 --in $b "$@" 2> said.noise | tee seen | ./hold | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger |
        dp-step --out $c "$@" 2> said.out) 3>&- &
    timeout -k 1 200 dp-loop --laps 100 --seed 11 -q --send $a --receive $c "$@" -o cut > stream 2> said.loop 3>&- &
    loop=$!
    until_file held
}

memory_of() { awk '/VmHWM/ { print $2 }' "/proc/$1/status"; }

# attack COUNT: every attack of a bad peer, at each of the three ports
attack() {
    local i address peers=()
    for i in 0 1 2; do
        address=127.0.0.1:$((PORT + i))
        { sleep 20 | bad_peer $address idle 70 > idle.$i 2> peers.said 3>&-; } 3>&- &
        { sleep 20 | bad_peer $address lengths 20 > lengths.$i 2> peers.said 3>&-; } 3>&- &
        bad_peer $address scan 60 2> peers.said &
        peers+=($!)
        bad_peer $address garbage $(($1 / 6)) 2> peers.said &
        peers+=($!)
        bad_peer $address headers $(($1 / 6)) 2> peers.said &
        peers+=($!)
        bad_peer $address replay 10 seen 2> peers.said &
        peers+=($!)
    done
    wait "${peers[@]}" || true
}

# attacked OPTIONS…: with bad peers while it waits and while it runs, a run gives the same model as without them
attacked() {
    dp-loop --laps 100 --seed 11 -q -o whole -- "$CHILD" > whole.stream
    start_run "$@"
    stage=$(pgrep -P $loop dp-loop)
    before=$(memory_of "$stage")
    attack 100000
    after=$(memory_of "$stage")
    touch go
    attack 6000
    gone_within 30 $loop
    [ $status = 0 ] || fail "status $status: $(cat said.*)"
    cmp whole cut
    cmp <(dp-cat --kind lap whole.stream) <(dp-cat --kind lap stream)
    # sanitizers keep freed memory
    case $BUILD in *asan*) ;; *) [ $((after - before)) -lt 40000 ] || fail "$before KB, and $after KB when they had been" ;; esac
    [ "$(cat said.* | wc -l)" -lt 60 ]
}

# two_keys: directories a and b that trust each other
two_keys() {
    dp-key new a > a.key
    dp-key new b > b.key
    dp-key trust a b "$(cat b.key)"
    dp-key trust b a "$(cat a.key)"
}

@test "bad peers at ports without keys: the same model, and no more memory" {
    attacked --insecure-plaintext
    # their messages arrived, and were reported briefly
    grep -q '^dp-loop: warning: tcp://127.0.0.1:[0-9]*: dropped ' said.loop
    grep -q '^dp-noise: warning: tcp://127.0.0.1:[0-9]*: dropped ' said.noise
}

@test "bad peers at ports with keys: the same model, and no more memory" {
    dp-key new k > k.key
    dp-key trust k self "$(cat k.key)"
    attacked --keys k
}

@test "keys: with those that are trusted, under their name, and with no others" {
    two_keys
    dp-key new c > c.key
    dp-key trust c a "$(cat a.key)"
    dp-loop --laps 3 --seed 1 -q -o model -- "$CHILD" > run
    p=tcp://127.0.0.1:$PORT
    timeout 100 dp-cat $p --keys a > there 2> said &
    reader=$!
    # c trusts a, but not the other way round
    timeout 100 dp-cat --frames -o $p --keys c --patience 1 run 2> said.c || true
    grep -qx "dp-cat: warning: $p: could not connect: the other end does not trust our key, from a" said.c
    # and a peer without a key is refused
    timeout 100 dp-cat --frames -o $p --insecure-plaintext --patience 1 run 2> said.plain || true
    timeout 100 dp-cat --frames -o $p --keys b run
    gone_within 30 $reader
    assert_equal $status 0
    dp-cat --kind lap run | cmp - <(grep '"kind":"lap"' there)
    grep -q "^dp-cat: warning: $p: turned away whose key is not trusted" said
    # the name of the trusted key
    complains 2 "dp-cat: $p: a trusts nobody as 'z'" dp-cat --frames -o $p --keys a --server z run
    dp-key trust a c "$(cat c.key)"
    complains 2 "dp-cat: $p: a trusts 2 keys: say with --server whose the other end has" dp-cat --frames -o $p --keys a run
    timeout 100 dp-cat $p --keys b > there &
    reader=$!
    timeout 100 dp-cat --frames -o $p --keys a --server b run
    gone_within 30 $reader
    assert_equal $status 0
    # also where it is not the first in the list
    for name in b c; do
        timeout 20 dp-cat $p --keys $name > there 2> said &
        reader=$!
        timeout 20 dp-cat --frames -o $p --keys a --server $name --patience 5 run
        gone_within 5 $reader
        assert_equal $status 0
    done
}

@test "who binds a port before its reader gets nothing" {
    two_keys
    dp-loop --laps 3 --seed 1 -q -o model -- "$CHILD" > run
    p=127.0.0.1:$PORT
    bad_peer $p serve 1 stolen > bound 2> /dev/null 3>&- &
    thief=$!
    until [ -s bound ]; do sleep 0.02; done
    timeout 100 dp-cat --frames -o tcp://$p --keys b run 2> said &
    writer=$!
    for _ in $(seq 500); do
        [ "$(stat -c %s stolen 2> /dev/null || echo 0)" -le 10 ] || break
        sleep 0.02
    done
    sleep 0.5
    kill $(pgrep -P $thief) $thief 2> /dev/null || true
    run grep -caE 'kind|hello|released|model' stolen
    assert_output 0
    [ "$(stat -c %s stolen)" -gt 10 ] # they have talked
    timeout 100 dp-cat tcp://$p --keys a > there
    gone_within 30 $writer
    assert_equal $status 0
    dp-cat --kind lap run | cmp - <(grep '"kind":"lap"' there)
}

@test "a stream of another run, whole as it is, becomes no model" {
    dp-loop --laps 5 --seed 99 -q -o theirs -- "${CHILD/ | dp-step/ | dp-step | tee theirs.frames}" > /dev/null
    a=tcp://127.0.0.1:$PORT c=tcp://127.0.0.1:$((PORT + 1))
    timeout 60 dp-loop --laps 5 --seed 11 -q --insecure-plaintext --send $a --receive $c -o cut > stream 2> said &
    loop=$!
    for ((i = 0; i < 3000; i++)); do
        ! (exec 4<> /dev/tcp/127.0.0.1/$((PORT + 1))) 2> /dev/null || break
        sleep 0.02
    done
    bad_peer 127.0.0.1:$((PORT + 1)) replay 3 theirs.frames
    for ((i = 0; i < 3000; i++)); do
        [ ! -s said ] || break
        sleep 0.02
    done
    kill -0 $loop
    assert_not_exists cut
    assert_equal "$(wc -c < stream)" 0
    grep -q "dropped a message of another run" said || fail "$(cat said)"
    # and peers that connect then are served
    (dp-sample --data small.dp --rate 0.2 --in $a --insecure-plaintext | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --out $c --insecure-plaintext) &
    gone_within 60 $loop
    assert_equal $status 0
    dp-loop --laps 5 --seed 11 -q -o whole -- "$CHILD" > /dev/null
    cmp whole cut
}

@test "ipc: a path is for one, and in nobody else's reach" {
    mkdir s
    dp-loop --laps 3 --seed 1 -q -o model -- "$CHILD" > run
    timeout 100 dp-cat "ipc://$PWD/s/a" > there &
    reader=$!
    until [ -S s/a ]; do sleep 0.02; done
    complains 1 "dp-cat: ipc://$PWD/s/a: the address is in use" dp-cat "ipc://$PWD/s/a"
    complains 1 "dp-cat: ipc://$PWD/s/a: the address is in use" dp-cat "ipc://$PWD/s/a"
    dp-cat --frames -o "ipc://$PWD/s/a" run
    gone_within 30 $reader
    assert_equal $status 0
    [ ! -e s/a ]
    # the socket file of a killed process is replaced
    dp-cat "ipc://$PWD/s/a" > /dev/null 3>&- &
    reader=$!
    until [ -S s/a ]; do sleep 0.02; done
    kill -KILL $reader
    wait $reader || true
    [ -S s/a ]
    timeout 100 dp-cat "ipc://$PWD/s/a" > there &
    reader=$!
    dp-cat --frames -o "ipc://$PWD/s/a" run
    gone_within 30 $reader
    assert_equal $status 0
    chmod 710 s
    complains 5 "dp-cat: ipc://$PWD/s/a: others may reach a socket there: put it into a directory of your own of mode 0700 (mkdir -m 700)" \
        dp-cat "ipc://$PWD/s/a"
    chmod 700 s
    echo text > s/file
    complains 1 "dp-cat: ipc://$PWD/s/file: there is a file of that name, which is not a socket" dp-cat "ipc://$PWD/s/file"
}

@test "two that want one path at the same time: one has it" {
    mkdir s
    for round in 1 2 3 4 5; do
        for i in 1 2 3 4; do
            (dp-cat "ipc://$PWD/s/a" > /dev/null 2> said.$i 3>&- || echo $? > status.$i) &
        done
        for ((n = 0; n < 500; n++)); do
            [ "$(ls status.* 2> /dev/null | wc -l)" -lt 3 ] || break
            sleep 0.02
        done
        sleep 0.1
        assert_equal "$(cat status.*)" $'1\n1\n1'
        for job in $(jobs -p); do kill -KILL $(pgrep -P "$job") 2> /dev/null || true; done
        wait
        rm -f status.*
    done
}

@test "all stages killed, and dp-loop ends" {
    start_run --insecure-plaintext
    for job in $(jobs -p); do
        [ $job = $loop ] || kill -KILL $(pgrep -P $job) $job 2> /dev/null || true
    done
    gone_within 30 $loop
    assert_equal $status 1
    grep -qx 'dp-loop: the child pipeline ended before it gave back a frame' said.loop
}

@test "the first stage killed before a frame has come back, and dp-loop ends" {
    a=tcp://127.0.0.1:$PORT
    timeout 100 dp-loop --laps 9 -q --insecure-plaintext --send $a --receive tcp://127.0.0.1:$((PORT + 1)) -o cut > stream 2> said 3>&- &
    loop=$!
    dp-sample --data small.dp --rate 0.2 --in $a --insecure-plaintext 2> said.sample 3>&- > got &
    stage=$!
    until_file got
    for ((i = 0; i < 500; i++)); do
        [ ! -s got ] || break
        sleep 0.02
    done
    kill -KILL $stage
    gone_within 30 $loop
    assert_equal $status 1
    grep -qx 'dp-loop: the child pipeline ended before it gave back a frame' said
}

@test "a signal ends dp-loop where nobody has come" {
    timeout 100 dp-loop --laps 100 -q --insecure-plaintext --send tcp://127.0.0.1:$PORT --receive tcp://127.0.0.1:$((PORT + 1)) > stream 2> said 3>&- &
    loop=$!
    sleep 0.5
    kill -INT "$(pgrep -P $loop dp-loop)"
    gone_within 30 $loop # five seconds are for the lap under way
    grep -qx 'dp-loop: interrupted after lap 0 of 100' said
}
