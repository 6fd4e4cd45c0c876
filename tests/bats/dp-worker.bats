# dp-worker and dp-gather --at: runs whose rows are in many places, killed at any moment, with the same bytes as undisturbed.
load helper
load workers

prepare() {
    small_run
    LAPS=30
    GATHER="dp-gather --at $AT --on-lost wait"
}
teardown() { end_all; }
workers() { for k in $(seq $K); do worker $k "$@"; done; }
# gate [dp-loop options]
gate() { timeout 100 dp-loop --laps $LAPS --seed 11 -q -o part "$@" -- "$GATHER --workers $K | $GATE" > part.stream; }

big() { [ "$(stat -c %s "$1")" -gt 20000 ]; }

@test "as on one machine: 1, 2, 4 workers, fused and processes" {
    whole
    for K in 1 2 4; do
        for exec in fused processes; do
            workers --exec $exec
            gate --exec $exec
            same
            for k in $(seq $K); do ended $k 0; done
            assert_equal "$(cat worker-*)" ''
        done
    done
}

@test "as on one machine: over tcp, whoever is there first" {
    AT=tcp://127.0.0.1:$(free_port)
    GATHER="dp-gather --at $AT --insecure-plaintext"
    whole
    worker 1 --insecure-plaintext
    sleep 0.3
    gate &
    echo $! > gate.pid
    sleep 0.3
    worker 2 --insecure-plaintext
    wait "$(cat gate.pid)"
    same
    ended 1 0
    ended 2 0
}

@test "sites with data sets of their own" {
    dp-synth classification --rows 300 --cols 9 --seed 4 -o site1.dp -q
    dp-synth classification --rows 500 --cols 9 --seed 5 -o site2.dp -q
    for k in 1 2; do PIPELINE="${SAMPLE/two/site$k} | ${STEP/two/site$k}" worker $k; done
    gate
    run dp-info part
    assert_success
    assert_output --partial 800
}

@test "usage" {
    complains 2 'dp-worker: no pipeline (try --help)' dp-worker --at $AT --shard 1/2
    complains 2 'dp-worker: the pipeline is one argument: quote it' dp-worker --at $AT --shard 1/2 -- dp-sample --data two.dp
    for shard in 1 1/2/3 a/b; do
        complains 2 "dp-worker: --shard: '$shard' is not K/N" dp-worker --at $AT --shard $shard -- cat
    done
    for shard in 0/2 3/2 1/5000; do
        complains 2 "dp-worker: --shard: $shard, but K is from 1 to N, and N at most 1024" dp-worker --at $AT --shard $shard -- cat
    done
    complains 2 'dp-worker: --at: a worker connects, and dp-gather binds' dp-worker --at "@$AT" --shard 1/2 -- cat
    complains 4 "dp-worker: $AT: no gather has been there for 0.2 s (--timeout)" dp-worker --at $AT --timeout 0.2 --shard 1/2 -- cat
}

@test "a worker of another number of shards is refused" {
    GATHER="dp-gather --at $AT --timeout 1"
    K=3 worker 1
    run gate
    assert_failure 1
    ended 1 1
    assert_equal "$(cat worker-1)" 'dp-worker: the gather has refused this worker: it is shard 1 of 3, and the run has 2'
}

@test "a worker that fails sends its status and no word" {
    worker 1 --timeout 2
    PIPELINE="$SAMPLE --mode shuffle --shard 2/2 | $STEP" worker 2
    run gate
    assert_failure 1
    assert_output 'dp-gather: the worker of shard 2 of 2 has failed with status 2; the reason is printed on its own machine'
    ended 1 4
    ended 2 2
    assert_equal "$(cat worker-2)" 'dp-sample: --shard and --mode shuffle exclude each other: that needs all rows at once'
    # it may not have been there before the run had failed
    assert_regex "$(cat worker-1)" '^dp-worker: (the run has failed; dp-gather prints why on its own machine|.*: no gather has been there for 2 s.*)$'
}

@test "what a worker gives away has nothing of its rows, and its checkpoint has" {
    dp-synth classification --rows 300 --cols 9 --seed 4 -o site1.dp -q
    dp-synth classification --rows 500 --cols 9 --seed 5 -o site2.dp -q
    for k in 1 2; do PIPELINE="${SAMPLE/two/site$k} | ${STEP/two/site$k}" worker $k --checkpoint kept.$k; done
    dp-loop --laps 100000 --seed 11 -q -o part -- "$GATHER --workers $K | $GATE" > part.stream &
    echo $! > gate.pid
    eventually big part.stream
    for file in kept.*/loop; do
        grep -qa first_row "$file" && fail "$file has first_row"
        grep -qa sum "$file"
    done
}

@test "killed before it saves, after it has saved, and after it has sent: the same bytes" {
    LAPS=60
    whole
    # a stage behind the others that dies with its worker at one lap, once
    for when in 'before' 'after'; do
        filter die '
if frame.get("lap") == 20 and not os.path.exists(sys.argv[1]):
    open(sys.argv[1], "w").close()
    if sys.argv[2] == "after": out.write(packer.pack(frame)); out.flush(); import time; time.sleep(float(sys.argv[3]))
    os.kill(int(open("2.pid").read()), 9); os.kill(os.getpid(), 9)'
        for delay in 0 0.002 0.01 0.05; do
            rm -rf kept died
            worker 1
            PIPELINE="$SAMPLE --shard 2/2 | $STEP | ./die died $when $delay"
            dp-worker --at $AT --allow-seeded --shard 2/2 --checkpoint kept -- "$PIPELINE" 2>> worker-2 &
            echo $! > 2.pid
            (eventually test -e died; sleep 0.2; exec dp-worker --at $AT --allow-seeded --shard 2/2 --checkpoint kept -- "$PIPELINE" 2>> worker-2) &
            echo $! > again.pid
            unset PIPELINE
            gate
            same
            wait "$(cat again.pid)"
            assert_not_exists kept
        done
    done
}

@test "what a gather says of bounds is not taken for what the site has said" {
    cat > lie.py << 'END'
import sys
import msgpack
reader = msgpack.Unpacker(raw=False)
while chunk := sys.stdin.buffer.read1(65536):
    reader.feed(chunk)
    for frame in reader:
        if frame["kind"] == "lap":
            frame["records"] = [{"of": "sum", "sampler": "poisson", "rate": 0.2, "rows": 600, "epoch_laps": 0, "adjacency": "null-record",
                "release": "sum", "bound": 0.1, "sensitivity": 1e-6, "scale": 0.0, "noise": "none"}]
        sys.stdout.buffer.write(msgpack.packb(frame))
        sys.stdout.buffer.flush()
END
    for k in 1 2; do worker $k; done
    GATHER="/usr/bin/python3 lie.py | $GATHER"
    run timeout 60 dp-loop --laps 2 -q -o part -- "$GATHER --workers $K | $GATE"
    assert_failure
    ended 1 5
    assert_equal "$(cat worker-1)" 'dp-worker: lap 1 has records, and only this site may record the bounds on its sums'
}

@test "where noise is in shares, no kind of laps leaves without" {
    for k in 1 2; do PIPELINE="$SAMPLE --shard $k/2 | $STEP | dp-noise --share -z 4 --on a" worker $k; done
    run timeout 60 dp-loop --plan a,b -q -o part -- "$GATHER --workers 2 | dp-noise -z 4 --on b | ${GATE#*| }"
    assert_failure
    ended 1 5
    assert_equal "$(cat worker-1)" 'dp-worker: lap 2 is without noise, and other laps have shares of it: it is not sent'
}

# three_keys: of a gate and two sites, each in a directory of its name
three_keys() {
    AT=tcp://127.0.0.1:$(free_port)
    for end in gate site other; do dp-key new $end > $end.key; done
    for end in site other; do
        dp-key trust gate $end "$(cat $end.key)"
        dp-key trust $end gate "$(cat gate.key)"
    done
    PIPELINE="$SAMPLE | dp-grad --data two.dp --loss logistic --clip 1 | dp-noise -z 2 --share --colluding 1 --allow-seeded"
}
nobody_binds() { ! (exec 3<> "/dev/tcp/127.0.0.1/${AT##*:}"); }
part() { echo "${PIPELINE/--rate 0.1/--rate 0.1 --shard $1\/$K}"; }

@test "one who has two shards has two shares of the noise, and is refused" {
    three_keys
    for K in 2 3; do
        [ $K = 2 ] || PIPELINE=$(part 1) worker 1 --keys other
        for k in $(seq $((K - 1)) $K); do PIPELINE=$(part $k) worker $k --keys site; done
        complains 5 "dp-gather: shards $((K - 1)) and $K both belong to site, who would know two shares of the noise" \
            dp-loop --laps 3 -q -o part -- "dp-gather --at $AT --keys gate --workers $K |
            dp-account --epsilon 1000 --delta 1e-5 --no-ledger | dp-step --step 1"
        assert [ ! -e part ]
        for k in $(seq $K); do ended $k 4; done
    done
}

@test "a shard of a run that is resumed belongs to the worker that had it, whichever shard it is" {
    three_keys
    GATHER="dp-gather --at $AT --keys gate --timeout 10"
    text="$GATHER --workers 2 | dp-account --epsilon 1000 --delta 1e-5 --no-ledger --allow-seeded | dp-step --step 1 | ./die"
    filter die '
if frame.get("lap") == 6 and not os.path.exists("died"):
    open("died", "w").close()
    os.kill(int(open("gate.pid").read()), 9)'
    PIPELINE=$(part 1) worker 1 --keys site
    PIPELINE=$(part 2) worker 2 --keys other
    dp-loop --laps 9 --seed 1 -q -o part --checkpoint kept --checkpoint-every 2 -- "$text" > part.stream &
    echo $! > gate.pid
    wait $! || true
    for k in 1 2; do killed $k || true; done
    eventually nobody_binds # the gather of the run that was killed has its last words
    dp-key new third > third.key
    dp-key trust gate third "$(cat third.key)"
    dp-key trust third gate "$(cat gate.key)"
    PIPELINE=$(part 1) worker 1 --keys site --timeout 3
    PIPELINE=$(part 2) worker 2 --keys third --timeout 3
    complains 5 'dp-gather: shard 2 of 2 belongs to another worker than the one that has joined' \
        timeout 30 dp-loop --laps 9 --seed 1 -q -o part --resume kept -- "$text"
    for k in 1 2; do ended $k 4; done
    # the one that had it
    PIPELINE=$(part 1) worker 1 --keys site
    PIPELINE=$(part 2) worker 2 --keys other
    timeout 30 dp-loop --laps 9 --seed 1 -q -o part --resume kept -- "$text" > part.stream
    for k in 1 2; do ended $k 0; done
}

@test "a worker that comes back announces what it announced when the run began" {
    PIPELINE="$SAMPLE --shard 1/2 | dp-grad --data two.dp --loss logistic --clip 1 | dp-noise -z 4 --share --allow-seeded"
    filter hold '
if frame.get("lap") == 6:
    open("there", "w").close()
    while not os.path.exists("go"): __import__("time").sleep(0.01)'
    PIPELINE="$PIPELINE | ./hold" worker 1 --timeout 3
    PIPELINE=${PIPELINE/1\/2/2\/2} worker 2
    timeout 60 dp-loop --laps 9 --seed 1 -q -o part -- "$GATHER --workers 2 | ${GATE#*| } --step 1" > /dev/null 2> said &
    echo $! > gate.pid
    eventually test -e there
    killed 2
    PIPELINE=${PIPELINE/1\/2/2\/2} PIPELINE=${PIPELINE/-z 4/-z 5} worker 2 --timeout 3 # as many characters
    ended gate 5
    touch go
    assert_equal "$(tail -n 1 said)" 'dp-gather: shard 2 of 2 announces something else than when the run began'
}

@test "a sum that is larger than the rows of its shard can make it is not added, and the shard is named" {
    filter inflate '
import struct, msgpack
if frame["kind"] == "lap" and frame["lap"] == 3:
    data = frame["sum"].data
    frame["sum"] = msgpack.ExtType(1, data[:18] + struct.pack("<q", 2**62) * ((len(data) - 18) // 8))'
    for k in 1 2; do dp-synth classification --rows 300 --cols 9 --seed 4$k -o site$k.dp -q; done
    for noise in '' '| dp-noise --share -z 4 --allow-seeded'; do
        rm -f part worker-?
        PIPELINE="${SAMPLE/two/site1} | ${STEP/two/site1} $noise" worker 1
        PIPELINE="${SAMPLE/two/site2} | ${STEP/two/site2} $noise | ./inflate" worker 2
        gate=$GATE
        [ -z "$noise" ] || gate=${GATE#*| }
        complains 5 "dp-gather: shard 2 gives a 'sum' that is larger than its 300 rows can make it" \
            timeout 60 dp-loop --laps 5 --seed 1 -q -o part -- "$GATHER --workers 2 | $gate"
        ended 1 4
        assert_equal "$(dp-info -g lap part)" 2
    done
}

@test "a worker that ends with a status that there is not" {
    early='dp-gather: the worker of shard 2 of 2 has ended early; the reason is printed on its own machine'
    for status in 0 -3 9; do
        liar $status "$early"
    done
    # beyond the range of the field
    liar 4611686018427387904 "dp-gather: warning: ipc://run/gate: dropped a message that is not a frame
dp-gather: the run begins: the worker of shard 2 of 2 has been silent for 10 s (--timeout, --on-lost)"
}
liar() { # STATUS MESSAGE
    rm -f run/gate
    worker 1 --timeout 2 # it may not have been there before the run had failed
    { while [ ! -S run/gate ]; do sleep 0.02; done
        exec "$ROOT/tests/bats/bad-worker.py" run/gate 2/2 "answer = lambda frame: {'kind': 'error', 'status': $1}"; } &
    echo $! > liar.pid
    complains 1 "$2" timeout 60 dp-loop --laps 5 --seed 1 -q -o part -- "dp-gather --at $AT --workers 2 --timeout 10 | $GATE"
    ended 1 4
    wait "$(cat liar.pid)" || true
}

@test "strangers do not take the descriptors of workers: a gather takes all that it may have" {
    hard=$(ulimit -Hn)
    [ "$hard" != unlimited ] && [ "$hard" -lt 16384 ] || hard=16384
    (ulimit -Sn 100 && exec dp-loop --laps 1 -q --exec fused -o part -- "dp-gather --at $AT --workers 1 --timeout 20 | $GATE") 2> said > /dev/null &
    echo $! > gate.pid
    eventually test -S run/gate
    eventually grep -qE "^Max open files +$hard " "/proc/$(cat gate.pid)/limits"
    killed gate
}
