# Peers at a gather's port that are not its workers: they change neither the model nor the laps nor its memory.
load helper

prepare() {
    dp-synth classification --rows 400 --cols 9 --seed 3 -o two.dp -q
    PORT=$(free_port 2) LAPS=4000
    THROUGH=$((PORT + 1))
    AT=tcp://127.0.0.1:$PORT
    SAMPLE='dp-sample --data two.dp --rate 0.1'
    STEP='dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 0.1'
    GATE='dp-noise -z 1.5 | dp-account --epsilon 1e5 --delta 1e-5 --allow-seeded --no-ledger | dp-step'
    # in one worker: laps take time while bad peers are there, and some laps come afterwards
    filter slow '
import time
if frame["kind"] == "lap" and not os.path.exists("over"):
    time.sleep(0.002 if frame["lap"] < 3900 else 0.5)'
    dp-loop --laps $LAPS --seed 11 -q -o whole -- "$SAMPLE | $STEP | $GATE" > whole.stream
}
teardown() {
    local pid
    for pid in $(cat ./*.pid 2> /dev/null); do kill -9 "$pid" 2> /dev/null || true; done
}

# gate GATHER-OPTION…: in the background
gate() {
    true > part.stream # which may be read before the command below begins
    timeout 200 dp-loop --laps $LAPS --seed 11 -q -o part -- "dp-gather --at $AT --workers 2 $* | $GATE" > part.stream 2> said &
    echo $! > gate.pid
}
# worker SHARD [OPTION…]
worker() {
    local shard=$1 slow=
    shift
    [ "$shard" = 2 ] || slow='| ./slow'
    dp-worker --allow-seeded --shard "$shard/2" "$@" -- "$SAMPLE --shard $shard/2 | $STEP $slow" &
    echo $! > "$shard.pid"
}
# memory FIELD: KiB of the process that gathers
memory() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$(pgrep -P "$(cat gate.pid)")/status"; }
# dropped: how many messages it has dropped, by what it said
dropped() { sed -n 's/.*: dropped.* (\([0-9]*\) such things.*/\1/p' said | awk '{ n += $1 } END { print n + 0 }'; }
laps_are_made() { while [ "$(stat -c %s part.stream)" -lt 200000 ]; do sleep 0.05; done; }

# nothing_happened BEFORE: the run ends as if no peer had been there, and its memory, in KiB, has hardly grown
nothing_happened() {
    local after
    [ "$(stat -c %s part.stream)" -lt "$(stat -c %s whole.stream)" ] || fail 'the run was over too early'
    after=$(memory VmHWM)
    touch over
    wait "$(cat gate.pid)" || fail "$(cat said)"
    cmp whole part
    cmp whole.stream part.stream
    case $BUILD in *asan*) ;; *) [ "$after" -lt $(($1 + 16384)) ] || fail "memory: $1 KiB before, $after KiB then" ;; esac
    [ "$(wc -l < said)" -lt 12 ] || fail "$(cat said)"
}

@test "a hundred thousand messages, port scans and idle connections, without keys" {
    "$ROOT/tests/bats/bad-workers.py" forward $THROUGH $PORT recorded &
    echo $! > forward.pid
    gate --insecure-plaintext
    worker 1 --at $AT --insecure-plaintext
    worker 2 --at tcp://127.0.0.1:$THROUGH --insecure-plaintext
    laps_are_made
    before=$(memory VmHWM)
    laps=$(stat -c %s part.stream)
    run timeout 100 "$ROOT/tests/bats/bad-workers.py" attack $PORT 100000 recorded
    assert_success
    assert_output --regexp '^200 idle, [1-9][0-9]+ messages recorded$'
    [ "$(stat -c %s part.stream)" -gt $((laps + 10000)) ] || fail 'no laps while they were there'
    sleep 5 # the next sentence says how many there have been
    timeout 100 "$ROOT/tests/bats/bad-workers.py" attack $PORT 16 > attacked
    nothing_happened "$before"
    assert_equal "$(sed 's/: dropped.*/: dropped/' said | sort -u)" "dp-gather: warning: $AT: dropped"
    [ "$(dropped)" -gt 90000 ] || fail "$(cat said)"
    wait "$(cat 1.pid)"
    wait "$(cat 2.pid)"
}

@test "port scans, idle connections, peers without keys, with others' keys, and with keys but no shard" {
    for name in gate one two third stranger; do dp-key new $name > $name.key; done
    for name in one two third; do dp-key trust gate $name "$(cat $name.key)"; done
    for name in one two third stranger; do dp-key trust $name gate "$(cat gate.key)"; done
    gate --keys gate
    worker 1 --at $AT --keys one
    worker 2 --at $AT --keys two
    laps_are_made
    before=$(memory VmHWM)
    for k in 1 2 3; do
        dp-worker --at $AT --shard 1/2 --keys stranger --timeout 8 -- "$SAMPLE | $STEP" 2>> strange &
        strangers+=($!)
    done
    complains 1 'dp-worker: the gather has refused this worker: its shard belongs to another worker' \
        dp-worker --at $AT --shard 1/2 --keys third -- "$SAMPLE | $STEP"
    timeout 100 "$ROOT/tests/bats/bad-workers.py" attack $PORT 1000
    run timeout 3 dp-cat ">$AT" --keys third
    assert_failure
    for pid in "${strangers[@]}"; do wait "$pid" && fail 'a stranger has taken part'; done
    nothing_happened "$before"
    assert_equal "$(sort -u said | sed -n 's/.*: turned away whose key is not trusted.*/strangers/p' | uniq)" strangers
    wait "$(cat 1.pid)"
    wait "$(cat 2.pid)"
}
