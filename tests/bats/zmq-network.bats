# Traffic across a network: machines that are network namespaces, with cables between them that can be cut, and that a listener
# can read.
load helper
load network
load sites

AT_GATE='@tcp://*:5555' AT_SITE='>tcp://10.77.0.1:5555'

teardown() { unplug; }

# heard_rows FILE ARRAY: how many of its rows, of the listener's file
heard_rows() { "$ROOT/tests/bats/capture.py" --rows "$@" | cut -d ' ' -f 1; }

# pass_rows READER WRITER ENDPOINT OPTION…: raw rows from one machine to the other; READER binds
pass_rows() {
    local reader=$1 writer=$2 endpoint=$3 ours
    shift 3
    on "$reader" dp-cat --frames "$@" --keys "keys/$reader" "@$endpoint" > arrived.frames &
    ours=$!
    on "$writer" dp-sample --data small.dp --mode full --inline "$@" --keys "keys/$writer" --in token.frames --out ">$endpoint"
    wait "$ours"
}

@test "the listener finds rows that cross in the clear" {
    network gate site
    small_data 400 6
    capture gate cable heard
    on gate /usr/bin/python3 -c '
import socket
server = socket.create_server(("10.77.0.1", 5555))
there = server.accept()[0]
while there.recv(65536): pass' &
    reader=$!
    on site /usr/bin/python3 -c '
import socket, time
for _ in range(100):
    try: there = socket.create_connection(("10.77.0.1", 5555)); break
    except OSError: time.sleep(0.05)
there.sendall(open("small.dp/X.npy", "rb").read())'
    wait "$reader"
    end_capture
    found=$(heard_rows heard small.dp/X.npy)
    [ "$found" -gt 360 ] || fail "$found rows of 400 were heard"
}

@test "rows that cross a port are not heard, but on loopback in plaintext" {
    network gate site
    keys
    small_data 400 6
    token
    dp-sample --data small.dp --mode full --inline --in token.frames > piped.frames
    assert_equal "$(heard_rows piped.frames small.dp/X.npy)" 400

    capture gate cable sealed
    pass_rows gate site tcp://10.77.0.1:5555
    end_capture
    cmp arrived.frames piped.frames
    [ "$(stat -c %s sealed)" -gt "$(stat -c %s small.dp/X.npy)" ] || fail "nothing was heard"
    assert_equal "$(heard_rows sealed small.dp/X.npy)" 0

    capture gate lo plain
    pass_rows gate gate tcp://127.0.0.1:5556 --insecure-plaintext
    end_capture
    cmp arrived.frames piped.frames
    found=$(heard_rows plain small.dp/X.npy)
    [ "$found" -gt 360 ] || fail "$found rows of 400 were heard"
}

# under_way: returns when the sites have been connected for a moment
under_way() {
    local tries
    for tries in $(seq 200); do
        [ "$(on gate ss -Htn state established 'sport = :5555' | wc -l)" != 3 ] || break
        sleep 0.1
    done
    sleep 0.7
    kill -0 "${RUNNING[3]}" || fail "the run is over: $(tail -n 3 said.*)"
}
@test "three sites and a gate: the model of one machine, and neither rows nor sums are heard" {
    network gate north east south
    keys
    three_sites
    capture gate cable heard
    begin federated-scd.sh --seed 1 --batch 30
    done_all
    end_capture
    of_one_machine scd.sh --seed 1 --batch 30
    [ "$(stat -c %s heard)" -gt 100000 ] || fail "nothing was heard"
    for word in bounded released hinge "$(dp-info --get population north.dp)"; do
        ! grep -qaF "$word" heard || fail "$word was heard"
    done
    for site in north east south; do assert_equal "$(heard_rows heard $site.dp/X.npy)" 0; done
}

@test "a cable that is pulled and put back costs no lap: the same model" {
    network gate north east south
    keys
    three_sites
    begin federated-scd.sh --seed 1 --batch 3 --epochs 20 --on-lost wait
    under_way
    cut_cable east
    sleep 2
    mend_cable east
    under_way
    cut_cable gate
    sleep 1
    mend_cable gate
    done_all
    of_one_machine scd.sh --seed 1 --batch 3 --epochs 20
}

@test "a cable that stays cut: the run stops" {
    network gate north east south
    keys
    three_sites
    begin federated-scd.sh --seed 1 --batch 3 --epochs 20 --on-lost stop --timeout 4
    under_way
    cut_cable east
    status=0
    wait "${RUNNING[3]}" || status=$?
    assert_equal $status 1
    grep -qE "dp-gather: lap [0-9]+: the worker of shard 2 of 3 has been (missing|silent) for 4 s" said.gate || fail "$(cat said.gate)"
}

@test "a cable that stays cut: the run goes on without the site, where that was said" {
    network gate north east south
    keys
    three_sites
    begin federated-scd.sh --seed 1 --batch 3 --epochs 20 --on-lost continue --timeout 4
    under_way
    cut_cable east
    wait "${RUNNING[3]}" || fail "$(cat said.gate)"
    assert_equal "$(dp-info --get lap model)" 6000
    assert_equal "$(dp-cat --last model | jq .lost)" 1
    above=$(dp-eval --last --metrics accuracy --data all.dp --in model | tail -n 1 | cut -f 3)
    [ "$(awk "BEGIN { print ($above > 0.7) }")" = 1 ] || fail "$above" # 0.875, deviation 0.001
}

# masked_sites: three sites with rows and keys, and their roster
masked_sites() {
    network gate north east south
    keys
    three_sites
    local site
    for site in north east south; do echo "$site $(dp-key show keys/$site)" >> roster; done
}

@test "masks and cables: a cable that is put back costs no lap, and one that stays cut costs one" {
    masked_sites
    options=(--seed 1 --batch 3 --epochs 40 --distributed-noise --colluding 1)
    RUNNING=()
    for site in north east south; do begin_site $site $((${#RUNNING[@]} + 1)) federated-sgd.sh "${options[@]}" --mask roster --lost 1; done
    become gate federated-sgd.sh --workers 3 --at "$AT_GATE" --keys keys/gate --rows 900 --epsilon 2 "${options[@]}" --on-lost continue --timeout 5 \
        -o model > said.gate 2>&1 3>&- &
    RUNNING+=($!)
    under_way
    cut_cable south
    sleep 1
    mend_cable south
    under_way
    refute grep -q 'lap' said.gate
    cut_cable east
    wait "${RUNNING[3]}" || fail "$(cat said.*)"
    assert_equal "$(dp-cat --last model | jq -c '[.lap, .lost, .records[0].gathered]')" '[12000,1,2]'
    assert_equal "$(grep -c 'the run continues without it' said.gate)" 1
    above=$(dp-eval --last --metrics accuracy --data all.dp --in model | tail -n 1 | cut -f 3)
    [ "$(awk "BEGIN { print ($above > 0.7) }")" = 1 ] || fail "$above" # that of the run above
}

# With masks and checkpoints: masked_site SITE SHARD OPTION…, masked_gate OPTION…
masked_site() { begin_site "$1" "$2" federated-sgd.sh "${@:3}" --mask roster --checkpoint "kept.$1" --checkpoint-every 1; }
masked_gate() {
    become gate federated-sgd.sh --workers 3 --at "$AT_GATE" --keys keys/gate --rows 900 --epsilon 2 --on-lost wait -o model \
        --checkpoint-every 50 "$@" > said.gate 2>&1 3>&- &
    RUNNING[3]=$!
}

# kept_lap LAP: returns when the north has a checkpoint of that lap, or a later one
kept_lap() {
    local tries lap
    for tries in $(seq 1200); do
        lap=$(ls kept.north 2> /dev/null | sed -n 's/^stage-1.lap-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
        [ "${lap:-0}" -lt "$1" ] || return 0
        kill -0 "${RUNNING[3]}" || break
        sleep 0.05
    done
    fail "no lap $1: $(tail -n 3 said.gate said.north)"
}

@test "masks and kills: a site and the gate crash and are started again, and the model is the model of unmasked sites" {
    masked_sites
    options=(--seed 1 --batch 3 --epochs 3 --distributed-noise --colluding 1)
    begin federated-sgd.sh "${options[@]}"
    done_all
    mv model plain
    RUNNING=()
    for site in north east south; do masked_site $site $((${#RUNNING[@]} + 1)) "${options[@]}"; done
    masked_gate --checkpoint kept.gate "${options[@]}"
    kept_lap 150
    crash south
    wait "${RUNNING[2]}" || true
    masked_site south 3 "${options[@]}"
    RUNNING=("${RUNNING[@]:0:2}" "${RUNNING[4]}" "${RUNNING[3]}")
    kept_lap 300
    crash gate
    wait "${RUNNING[3]}" || true
    masked_gate --resume kept.gate "${options[@]}"
    wait "${RUNNING[3]}" || fail "$(cat said.gate)"
    done_all
    cmp plain model
}

# two_machines OPTION…: rows and loop, the loop being where the model is
two_machines() {
    become site zmq-two-machines.sh --data small.dp --in '>tcp://10.77.0.1:5555' --out '>tcp://10.77.0.1:5556' --keys keys/site --epsilon 2 --seed 1 \
        "$@" > said.site 2>&1 3>&- &
    RUNNING=($!)
    become gate zmq-two-machines.sh --rows 400 --send '@tcp://*:5555' --receive '@tcp://*:5556' --keys keys/gate --epsilon 2 --seed 1 "$@" \
        -o model > said.gate 2>&1 3>&- &
    RUNNING+=($!)
}

@test "zmq-two-machines.sh: the model of one machine, also when the cable is cut meanwhile; what is private is not heard" {
    network gate site
    keys
    small_data 400
    capture gate cable heard
    two_machines --batch 20
    done_all
    end_capture
    scd.sh --data small.dp --epsilon 2 --seed 1 --batch 20 -q -o one
    cmp one model
    assert_equal "$(heard_rows heard small.dp/X.npy)" 0
    run -1 grep -qaF released heard

    two_machines --batch 2 --epochs 30
    until [ "$(on gate ss -Htn state established 'sport = :5556' | wc -l)" = 1 ]; do sleep 0.1; done
    sleep 0.5
    kill -0 "${RUNNING[1]}" || fail "the run is over: $(cat said.gate said.site)"
    cut_cable site
    sleep 2
    kill -0 "${RUNNING[1]}" || fail "the run is over: $(cat said.gate said.site)"
    mend_cable site
    done_all
    scd.sh --data small.dp --epsilon 2 --seed 1 --batch 2 --epochs 30 -q -o one
    cmp one model
}

@test "private rows do not cross a network in plaintext, and without a trusted key nothing does" {
    network gate site other
    keys
    small_data 400
    token
    sample="dp-sample --data small.dp --mode full --inline --in token.frames --out"
    run on site timeout 10 $sample '>tcp://10.77.0.1:5555' --insecure-plaintext
    assert_equal "$status" 5
    dp-key forget keys/gate site
    become gate dp-cat --frames --keys keys/gate '@tcp://*:5555' > arrived.frames 2> said.gate 3>&- &
    reader=$!
    run on site timeout 20 $sample '>tcp://10.77.0.1:5555' --keys keys/site --patience 2
    [ "$status" != 0 ] || fail "it got through"
    kill "$reader" || fail "the reader has ended: $(cat said.gate)"
    wait "$reader" || true
    [ ! -s arrived.frames ]
}
