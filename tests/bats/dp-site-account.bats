# A site's own account: its charges and its end; nobody else's numbers are part of it.
load helper

LAPS=6
K=2
prepare() {
    for k in 1 2 3; do dp-synth classification --rows $((k * 200)) --cols 5 --seed $k -o site$k.dp -q; done
    mkdir -m 700 run
}
teardown() {
    local pid
    for pid in $(cat ./*.pid 2> /dev/null); do kill -9 "$pid" 2> /dev/null || true; done
}

LEFT='dp-sample --data site%k.dp --rate 0.2 | dp-scd-step --data site%k.dp --loss hinge --lambda 1e-3 --clip 0.1'
GATE='dp-account --epsilon 50 --delta 1e-5 --no-ledger --allow-seeded | dp-step'

# gathered LEFT RIGHT [dp-gather options] [dp-loop options]: a run on K sites
gathered() {
    dp-loop --laps $LAPS -q -o model ${4:-} -- "dp-gather --workers $K ${3:-} --local '$LEFT | $1' | $2" > stream
}

# entries LEDGER KIND MEMBER: of its lines
entries() { jq -c "select(.kind == \"$2\") | $3" "$1"; }
# paid LEDGER: laps that are reserved, or used
paid() { ledger_laps "$1"; }

# captured PYTHON: site.frames, the frames that reach dp-site-account at site 1, after `frame` was edited
captured() {
    [ -e left.frames ] || dp-loop --laps $LAPS -q --exec processes -- "dp-gather --workers 2 --local '$LEFT | tee left%k.frames' |
        dp-noise -z 2 | $GATE" > /dev/null
    recode left1.frames site.frames '
for frame in frames[:]:
    keep = True
    exec(sys.argv[1])
    keep or frames.remove(frame)' "$1"
}
SITE_ACCOUNT='dp-site-account --multiplier 2 --epsilon 5 --delta 1e-5'

# worker SHARD SITE_ACCOUNT [OPTION…]: at that site, in the background; its messages go to worker-SHARD
worker() {
    local shard=$1 left=${LEFT//%k/$1}
    left+=" | $2"
    shift 2
    dp-worker --at ipc://run/gate --shard "$shard/$K" "$@" -- "$left" 2>> "worker-$shard" &
    echo $! > "$shard.pid"
}
# at_gate OPTION…: the run of these workers
at_gate() { timeout 100 dp-loop --laps $LAPS -q -o model -- "dp-gather --at ipc://run/gate --workers $K $* | dp-noise -z 2 | $GATE" > stream; }
# ended SHARD STATUS: how that worker ends
ended() {
    local got=0 pid
    pid=$(cat "$1.pid")
    wait "$pid" || got=$?
    [ $got = "$2" ] || fail "worker $1 ends with $got, expected $2: $(cat "worker-$1")"
}

@test "each site pays in its own ledger for its own rows, what is promised and what is in shares" {
    dp-account epsilon --multiplier 2 --rate 0.2 --laps $LAPS --delta 1e-5 > cost
    gathered "$SITE_ACCOUNT" "dp-noise -z 2.5 | $GATE"
    for k in 1 2; do
        assert_equal "$(entries site$k.dp/ledger open .rows)" $((k * 200))
        assert_equal "$(paid site$k.dp/ledger)" $LAPS
        assert_equal "$(entries site$k.dp/ledger close .status)" '"done"'
        assert_equal "$(entries site$k.dp/ledger close .charges[0].queries)" '[{"noise":"gaussian","multiplier":2}]'
        assert_equal "$(printf '%.4g' "$(entries site$k.dp/ledger close .epsilon)")" "$(printf '%.4g' "$(sed 's/[^0-9.]*\([0-9.]*\).*/\1/' cost)")"
        rm site$k.dp/ledger*
    done
    assert_equal "$(dp-cat --kind lap stream | grep -c '"scale":0.25,"promised":2,"noise":"gaussian","multiplier":2.5')" $LAPS
    gathered "dp-noise -z 3 --share --colluding 1 | dp-site-account --epsilon 5 --delta 1e-5" "$GATE"
    for k in 1 2; do
        assert_equal "$(paid site$k.dp/ledger)" $LAPS
        assert_equal "$(entries site$k.dp/ledger close .charges[0].queries)" '[{"noise":"gaussian","multiplier":3}]'
    done
    assert_equal "$(dp-cat --kind lap stream | grep -c '"shares":2,"colluding":1,"gathered":2,"noise":"gaussian","multiplier":3')" $LAPS
}

@test "a run with accounts has the same bytes fused, as processes, and where noise is in shares, without them" {
    budget="--epsilon 5 --delta 1e-5 --allow-seeded" shares="dp-noise --multiplier 2 --share --allow-seeded"
    for left in "dp-site-account --multiplier 2 $budget" "$shares | dp-site-account $budget"; do
        right=$GATE
        [[ $left == *share* ]] || right="dp-noise -z 2 | $GATE"
        for exec in fused processes; do
            dp-loop --laps $LAPS -q -o $exec --seed 5 --exec $exec -- "
                dp-gather --workers $K --exec $exec --local '$LEFT | $left' | $right" > $exec.stream
        done
        cmp fused processes
        cmp fused.stream processes.stream
    done
    dp-loop --laps $LAPS -q -o without --seed 5 -- "dp-gather --workers $K --local '$LEFT | $shares' | $GATE" > without.stream
    # except for the number of stages in its hello frame
    /usr/bin/python3 -c '
import msgpack
a, b = ([f for f in msgpack.Unpacker(open(name, "rb")) if f["kind"] != "hello"] for name in ("without.stream", "fused.stream"))
assert len(a) == 7 and a == b'
}

@test "the lap is in the ledger before its sum leaves" {
    captured ''
    $SITE_ACCOUNT --in site.frames | /usr/bin/python3 -c '
import json, sys, msgpack
reader, laps = msgpack.Unpacker(raw=False, max_buffer_size=2**30), 0
while chunk := sys.stdin.buffer.read1(256):
    reader.feed(chunk)
    for frame in reader:
        lines = [json.loads(line) for line in open("site1.dp/ledger")] if frame["kind"] == "lap" else []
        paid = sum(line["charges"][0]["laps"] for line in lines if line["kind"] == "plan")
        assert frame["kind"] != "lap" or paid >= frame["lap"], (paid, frame["lap"])
        laps += frame["kind"] == "lap"
assert laps == 6'
    # and stays there, when the site dies
    rm site1.dp/ledger*
    captured 'keep = frame["kind"] == "hello" or frame.get("lap", 9) <= 2'
    run -4 $SITE_ACCOUNT --in site.frames
    assert_equal "$(paid site1.dp/ledger)" 2
}

@test "what a gather says of rows, laps and models changes nothing in what is charged" {
    captured ''
    $SITE_ACCOUNT --in site.frames > /dev/null
    entries site1.dp/ledger close .charges > honest
    rm site1.dp/ledger*
    captured 'if frame["kind"] == "lap":
    frame["n"] = 10**9
    frame["records"][0]["rows"] = 10**9'
    $SITE_ACCOUNT --in site.frames > /dev/null
    entries site1.dp/ledger close .charges | cmp - honest
    assert_equal "$(entries site1.dp/ledger open .rows)" 200
    # but it is one number in all laps
    captured 'if frame["kind"] == "lap": frame["records"][0]["rows"] += frame["lap"]'
    complains 5 "dp-site-account: lap 2 records another 'rows' than the first lap" $SITE_ACCOUNT --no-ledger --in site.frames
    captured 'if frame["kind"] == "lap": frame["n"] += frame["lap"]'
    complains 5 "dp-site-account: lap 2 has another 'n' than the first lap" $SITE_ACCOUNT --no-ledger --in site.frames
}

@test "a lap is paid for once, and laps that passed the site by are paid for as they were announced" {
    captured 'keep = frame.get("lap") not in (2, 3, 6)'
    $SITE_ACCOUNT --in site.frames > out.frames
    assert_equal "$(dp-cat --kind lap out.frames | grep -o '"lap":[0-9]*' | tr -d '\n')" '"lap":1"lap":4"lap":5'
    assert_equal "$(paid site1.dp/ledger)" 5
    rm site1.dp/ledger*
    captured 'keep = frame.get("lap") not in (1, 2, 3, 5)'
    $SITE_ACCOUNT --in site.frames > /dev/null
    assert_equal "$(paid site1.dp/ledger)" 6
    rm site1.dp/ledger*
    $SITE_ACCOUNT --adaptive --in site.frames > /dev/null
    assert_equal "$(paid site1.dp/ledger)" 2
    # no lap beyond the plan, under any name
    captured 'if frame.get("lap") == 6: frame["lap"] = 10**6'
    complains 5 "dp-site-account: lap 1000000 is beyond the 6 laps that were planned" $SITE_ACCOUNT --no-ledger --in site.frames
    captured 'if frame.get("lap") == 3: frame["lap"] = 2'
    complains 5 "dp-site-account: lap 2 comes after lap 2: in a shard what is drawn for a lap is drawn once" $SITE_ACCOUNT --no-ledger --in site.frames
}

@test "noise that is not there is promised, and noise that is there is charged" {
    captured ''
    complains 2 "dp-site-account: --multiplier is required: the noise has not been added yet" dp-site-account --epsilon 5 --delta 1e-5 --in site.frames
    complains 2 "dp-site-account: --on: every lap has to be paid for, of whichever kind" $SITE_ACCOUNT --on a --in site.frames
    dp-noise -z 2 --in site.frames --out noised.frames
    complains 5 "dp-site-account: --multiplier: there is noise, and what is charged is in its record" $SITE_ACCOUNT --in noised.frames
    # a stage that states it only in the laps, or states noise in a frame without noise
    captured 'if frame["kind"] == "hello": frame["records"] = []'
    complains 2 "dp-site-account: --multiplier is required: the noise has not been added yet" dp-site-account --epsilon 5 --delta 1e-5 --in site.frames
    captured 'for r in frame.get("records", []): r.update(noise="gaussian", multiplier=2.0, scale=0.2)'
    complains 5 "dp-site-account: --multiplier: there is noise, and what is charged is in its record" \
        dp-site-account --epsilon 5 --delta 1e-5 --no-ledger --in site.frames
    [ ! -e site1.dp/ledger ]
}

@test "a promise is kept by the gate, or nothing leaves it" {
    for z in '1.9' '2 --schedule first:3:4'; do
        run -5 --separate-stderr gathered "$SITE_ACCOUNT" "dp-noise -z $z | $GATE"
        [ ! -e model ]
    done
    gathered "$SITE_ACCOUNT" "dp-noise -z 4 --schedule first:3:4 | $GATE"
    rm model
    # an account after the noise of shares, not before it; and all sites get the same promise
    run -5 --separate-stderr gathered "$SITE_ACCOUNT | dp-noise -z 2 --share" "$GATE"
    [[ $stderr == *"put dp-site-account after dp-noise"* ]] || fail "$stderr"
    run --separate-stderr gathered "dp-site-account --multiplier %k --epsilon 5 --delta 1e-5 --no-ledger" "dp-noise -z 4 | $GATE"
    assert_equal "$status" 5
    [[ $stderr == *"shards 1 and 2 differ in 'promised' of a record"* ]] || fail "$stderr"
}

@test "a seeded run is none that a site takes part in unasked" {
    run --separate-stderr gathered "$SITE_ACCOUNT" "dp-noise -z 2 | $GATE" '' '--seed 3'
    assert_equal "$status" 5
    [[ $stderr == *"dp-site-account: the run is seeded"* ]] || fail "$stderr"
}

@test "parts of one data set do not each pay for all of it" {
    LEFT='dp-sample --data site1.dp --shard %k/%K --rate 0.2 | dp-grad --data site1.dp --loss logistic --clip 1'
    run --separate-stderr gathered "$SITE_ACCOUNT" "dp-noise -z 2 | $GATE --step 1"
    assert_equal "$status" 2
    [[ $stderr == *"the shards are parts of one data set, and each would pay for all of it"* ]] || fail "$stderr"
    gathered "$SITE_ACCOUNT --no-ledger" "dp-noise -z 2 | $GATE --step 1"
}


@test "a site counts a run that starts from a model by what that states, since its line is in the gate's ledger" {
    gathered "$SITE_ACCOUNT" "dp-noise -z 2 | dp-account --epsilon 50 --delta 1e-5 --ledger gate | dp-step"
    spent=$(dp-cat --last model | sed 's/.*"epsilon":\([0-9.]*\).*/\1/')
    dp-loop --laps 2 -q -o next --init model -- "dp-gather --workers 2 --local '$LEFT | $SITE_ACCOUNT' |
        dp-noise -z 2 | dp-account --epsilon 50 --delta 1e-5 --ledger gate | dp-step" > /dev/null
    for k in 1 2; do assert_equal "$(entries site$k.dp/ledger open .prior_epsilon | tail -n 1)" "$spent"; done
    assert_equal "$(entries gate open .init | tail -n 1 | cut -c 2-33)" "$(entries gate open .run | head -n 1 | cut -c 2-33)"
}

@test "a budget that ends at a site ends its part of the run, and no sum more leaves it" {
    # for three laps at each site, all of which a continued run would have in its ledger
    dp-account epsilon --multiplier 2 --rate 0.2 --laps 3 --delta 1e-5 > cost
    few=$(sed 's/[^0-9.]*\([0-9.]*\).*/\1/' cost)
    run -3 --separate-stderr gathered "dp-site-account --multiplier 2 --epsilon $few --delta 1e-5" "dp-noise -z 2 | $GATE"
    [[ $stderr == *"dp-gather: warning: a shard has ended the run: the budget of epsilon = "*" is spent after lap 3"* ]] || fail "$stderr"
    for k in 1 2; do
        assert_equal "$(paid site$k.dp/ledger)" 3
        assert_equal "$(entries site$k.dp/ledger close .status)" '"budget"'
    done
    assert_equal "$(dp-cat --kind lap stream | grep -c '"lap":[0-9]')" 3
    # only one of them, and the run continues without it
    rm site?.dp/ledger*
    worker 1 "dp-site-account --multiplier 2 --epsilon $few --delta 1e-5"
    worker 2 "dp-site-account --multiplier 2 --epsilon 50 --delta 1e-5"
    at_gate --on-lost continue
    ended 1 3
    ended 2 0
    # the spending is printed to the nearest digit, the cost of three laps is rounded up
    assert_equal "$(sed 's/[0-9])$/)/' worker-1)" "dp-worker: the budget of epsilon = $few is spent after lap 3 (epsilon ${few%?})"
    assert_equal "$(dp-cat --kind lap stream | grep -c '"lost":1')" $((LAPS - 3))
    assert_equal "$(paid site1.dp/ledger)" 3
    assert_equal "$(paid site2.dp/ledger)" $LAPS
}

# The account is killed at four calls in a row by which it waits for the disk. So one of them is between the payment for a lap and the
# checkpoint after it, where all that was paid ahead would be lost.
@test "a site that is killed and comes back has paid twice for the laps around its checkpoint, and for nothing else" {
    need_strace
    LAPS=250
    cat > mortal << 'END'
#!/bin/bash
deaths=$(ls death.* 2> /dev/null | wc -l)
[ "$deaths" -lt 4 ] || exec "$@"
touch "death.$deaths"
strace -qq -o /dev/null -e trace=fsync -e "inject=fsync:signal=KILL:when=$((101 + deaths))" "$@"
[ $? != 137 ] || kill -9 "$(cat 1.pid)" # the machine of the site goes down as a whole
END
    chmod +x mortal
    site_account="dp-site-account --multiplier 2 --epsilon 50 --delta 1e-5"
    worker 1 "./mortal $site_account" --checkpoint kept1
    worker 2 "$site_account" --checkpoint kept2
    at_gate --on-lost wait &
    echo $! > gate.pid
    for _ in 1 2 3 4; do
        wait "$(cat 1.pid)" || true
        worker 1 "./mortal $site_account" --checkpoint kept1
    done
    wait "$(cat gate.pid)"
    ended 1 0
    ended 2 0
    assert_exists death.3
    assert_equal "$(paid site2.dp/ledger)" $LAPS
    laps=$(paid site1.dp/ledger)
    [ "$laps" -ge $LAPS ]
    [ "$laps" -le $((LAPS + 8)) ] || fail "$laps laps are paid for" # of the newest checkpoint, if the one before serves
    assert_equal "$(entries site1.dp/ledger open .kind | grep -c .)" 5
    dp-account verify site1.dp
}

@test "noise that a site adds after its account is no less than what it has charged" {
    captured ''
    $SITE_ACCOUNT --no-ledger --in site.frames > charged
    complains 5 "dp-noise: --multiplier: dp-site-account has charged for a multiplier of 2, and this is 1" dp-noise -z 1 --in charged
    dp-noise -z 3 --in charged > /dev/null
}

@test "a run that goes on from an earlier lap is paid for again from there, and nothing before is forgotten" {
    LAPS=60
    text="dp-gather --at ipc://run/gate --workers 2 | dp-noise -z 2 | $GATE"
    for _ in 1 2; do
        rm -rf site?.dp/ledger* kept? ck stream
        site_account="dp-site-account --multiplier 2 --epsilon 50 --delta 1e-5"
        for k in 1 2; do worker $k "$site_account" --checkpoint kept$k; done
        dp-loop --laps $LAPS -q -o model --checkpoint ck --checkpoint-every 20 -- "$text" > stream &
        echo $! > gate.pid
        for _ in $(seq 400); do
            [ "$(cat site1.dp/ledger 2> /dev/null | grep -c '"checkpoint"')" -lt 32 ] || break
            sleep 0.01
        done
        kill -9 "$(cat gate.pid)" "$(cat 1.pid)" "$(cat 2.pid)"
        wait || true
        before=$(jq -s 'map(select(.kind == "checkpoint" or .kind == "close"))[-1] | .until // .charges | map(.laps) | add' site1.dp/ledger)
        for k in 1 2; do worker $k "$site_account" --checkpoint kept$k; done
        timeout 60 dp-loop --laps $LAPS -q -o model --checkpoint-every 20 --resume ck -- "$text" > stream
        for k in 1 2; do ended $k 0; done
        from=$(($(dp-cat --kind lap stream | head -n 1 | jq .lap) - 1)) # the checkpoint of lap 20, or on a busy machine a later one
        [ $((from % 20)) = 0 ] && [ $from -ge 20 ] || fail "the run goes on from lap $from"
        assert_equal "$(paid site1.dp/ledger)" $((before + LAPS - from))
        dp-account verify site1.dp
        # the stated cost of the run includes all of them
        dp-account epsilon --multiplier 2 --rate 0.2 --laps $((before + LAPS - from)) --delta 1e-5 > cost
        assert_equal "$(printf '%.4g' "$(entries site1.dp/ledger close .epsilon)")" \
            "$(printf '%.4g' "$(sed 's/[^0-9.]*\([0-9.]*\).*/\1/' cost)")"
    done
}
