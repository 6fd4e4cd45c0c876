# Masks between sites: the gather gets the total of the sites and nothing else. Shards are parts of one small data set, and each
# has keys of its own.
load helper
load variants

K=3 AT=ipc://run/gate
SHARE='dp-noise -z 4 --share --colluding 1 --allow-seeded'
prepare() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
    mkdir -m 700 run
    for k in 1 2 3; do
        dp-key new keys-$k > /dev/null
        echo "site-$k $(dp-key show keys-$k)" >> roster
    done
}
teardown() {
    local pid
    for pid in $(cat ./*.pid 2> /dev/null); do kill -9 "$pid" 2> /dev/null || true; done
}

# worker SHARD [OPTION…]: in the background, with masks unless BARE is set
worker() {
    local k=$1
    shift
    [ -n "${BARE-}" ] || set -- --mask roster --keys "keys-$k" "$@"
    dp-worker --at $AT --shard "$k/$K" --allow-seeded --timeout 30 "$@" -- "${PIPELINE:-dp-sample --data two.dp --rate 0.1 --shard $k/$K |
        dp-grad --data two.dp --loss logistic --clip 1 | $SHARE}" 2> "worker-$k" &
    echo $! > "$k.pid"
}
# gate MODEL [OPTION…]: of the gather
gate() {
    timeout 60 dp-loop --laps "${LAPS:-20}" --seed 11 -q -o "$1" -- "dp-gather --workers $K --at $AT ${*:2} |
        dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger ${GATE-} | dp-step --step 1 --average tail" > "$1.stream" 2> said
}
# ended SHARD STATUS [SENTENCE]: how that worker ends
ended() {
    local got=0
    wait "$(cat "$1.pid")" || got=$?
    assert_equal "$got$(tail -n 1 "worker-$1" | sed 's/^/ /')" "$2${3:+ dp-worker: $3}"
}
ended_all() { for k in 1 2 3; do ended $k 0; done; }

@test "the model of masked sites has the bytes of the model of unmasked sites, as processes and fused, with a count next to the sum" {
    for exec in fused processes; do
        for masks in plain masked; do
            BARE=$([ $masks = masked ] || echo 1)
            for k in 1 2 3; do
                PIPELINE="dp-sample --data two.dp --rate 0.1 --shard $k/$K | dp-grad --data two.dp --loss logistic --threads $k |
                    dp-clip --data two.dp --clip 0.3 --adaptive 0.5 | $SHARE --count-multiplier 9" worker $k --exec $exec
            done
            GATE=--adaptive gate $masks
            ended_all
        done
        cmp plain masked
        cmp plain.stream masked.stream
    done
    dp-cat --last masked.stream | jq -e '(.records | length == 2) and .records[0].shares == 3'
}

# among VARIANT…: fused and as processes, the model and stream of masked sites have the bytes of those of unmasked sites
among() {
    local variant text how k
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 -o four.dp -q
    for variant; do
        text=$(pipeline four.dp softmax "$variant")
        [[ $variant = gradient* || $variant = behind* || $variant = tempered* || $variant = kinds* ]] || text=$(pipeline four.dp logistic "$variant")
        for how in plain fused processes; do
            BARE=$([ $how != plain ] || echo 1)
            for k in 1 2 3; do PIPELINE=$(of_site "$text" $k/$K) worker $k --exec "${how/plain/auto}"; done
            train $how "${how/plain/auto}" "dp-gather --workers $K --at $AT | $(of_gate "$text")" "$text" 2> said || fail "$variant, $how: $(cat said worker-*)"
            ended_all
            [ $how = plain ] || { cmp plain $how && cmp plain.stream $how.stream; } || fail "$variant, $how"
        done
        [ "$(stat -c %s plain)" -gt 300 ]
    done
}

@test "each variant of a run that sites can mask has the bytes of unmasked sites" { among $(some $MASKED); }

@test "tables of masked sites have the bytes of tables of unmasked sites, and without shares of noise the bytes of one machine" {
    echo '{"header": true, "columns": [{"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "unknown": "zero"},
        {"name": "b", "type": "numeric", "bounds": [-3, 3]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    awk 'BEGIN { srand(6); print "c,b,y"; for (i = 0; i < 600; i++) printf "%s,%.2f,%s\n", substr("uvwz", 1 + int(4 * rand()), 1), 8 * rand() - 4, rand() < .5 ? "yes" : "no" }' > t.csv
    dp-import csv -s s.json -q -o t.dp t.csv
    local count="dp-count --data t.dp --tables 'c,y;y' --sums b" charge='dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger | dp-table'
    for how in plain masked bare; do
        BARE=$([ $how = masked ] || echo 1)
        for k in 1 2 3; do PIPELINE="dp-sample --data t.dp --mode full --shard $k/$K | $count$([ $how = bare ] || echo " | $SHARE")" worker $k; done
        timeout 60 dp-loop --laps 1 --seed 11 -q -o $how -- "dp-gather --workers $K --at $AT | $([ $how != bare ] || echo 'dp-noise -z 4 |') $charge" > $how.stream
        ended_all
    done
    cmp plain masked
    cmp plain.stream masked.stream
    dp-loop --laps 1 --seed 11 -q -o one -- "dp-sample --data t.dp --mode full | $count | dp-noise -z 4 | $charge" > one.stream
    cmp bare one
    run -1 cmp -s plain one
    dp-table print masked > tables.csv
    assert_equal "$(grep -c . tables.csv)" 11
}

@test "a roster that is not this site's, or not a roster" {
    start() { complains "$1" "dp-worker: $2" dp-worker --at $AT --shard 1/3 --keys keys-1 --timeout 1 "${@:3}" -- "$SHARE"; }
    start 1 'cannot open nowhere: No such file or directory' --mask nowhere
    head -n 2 roster > two
    start 2 '--mask: two has 2 keys, and the run has 3 shards: line K is for shard K' --mask two
    sed '1s/site-1/one two/' roster > odd
    start 1 'odd:1: not a name and a key' --mask odd
    sed '1{h;d}; 2G' roster > without
    start 5 '--mask: the key of shard 1 in without is not the key of this site (dp-key show)' --mask without
    sed -n '1p; 2p; 2s/site-2/again/p' roster > twice
    start 5 '--mask: twice has one key twice, for site-2 and for again' --mask twice
    sed "3s/ .*/ $(printf '0%.0s' {1..40})/" roster > zero
    start 5 '--mask: the key of shard 3 in zero is not a valid key' --mask zero
    chmod o+w roster
    start 5 'roster is open to others: chmod go-w' --mask roster
    start 2 "keys-9: there are no keys (dp-key new makes a pair, dp-key trust lets others in)" --mask two --keys keys-9 --shard 1/2
}

@test "masks at one site only, or by two rosters: the run does not begin" {
    BARE=1 worker 2
    for k in 1 3; do worker $k; done
    run ! gate model
    assert_equal "$(head -n 1 said)" 'dp-gather: shard 1 has masks, and shard 2 does not (dp-worker --mask)'
    for k in 1 2 3; do wait "$(cat $k.pid)" || true; done
    dp-key new keys-4 > /dev/null
    sed "1s/ .*/ $(dp-key show keys-4 | sed 's/[&/]/\\&/g')/" roster > other
    worker 1
    worker 2
    worker 3 --mask other
    run ! gate model
    assert_equal "$(head -n 1 said)" 'dp-gather: shards 1 and 3 have different rosters of masks (dp-worker --mask)'
}

# lied SCRIPT [OPTION…]: what the gather of that script (bad-gather.py) prints to shard 1, which has a ledger
lied() {
    rm -rf run
    mkdir -m 700 run
    SHARDS=3 "$ROOT/tests/bats/bad-gather.py" run/gate "$1" > heard &
    echo $! > gather.pid
    for _ in $(seq 100); do [ ! -S run/gate ] || break; sleep 0.02; done
    timeout 60 dp-worker --at ipc://run/gate --shard 1/3 --timeout 3 --mask roster --keys keys-1 "${@:2}" -- "${PIPELINE:-dp-sample --data two.dp --rate 0.1 |
        dp-grad --data two.dp --loss logistic --clip 1 | $SHARE | dp-site-account --epsilon 9 --delta 1e-5}" 2> said || true
    wait "$(cat gather.pid)" || fail "the gather has failed: $(cat heard said)"
}
refused() { assert_equal "$(grep -v warning said)" "dp-worker: $1"; }
paid() { ledger_laps two.dp; }

@test "a site asks for shares of noise, two honest sites and enough noise without the lost ones" {
    LEFT='dp-sample --data two.dp --rate 0.1 | dp-grad --data two.dp --loss logistic --clip 1'
    PIPELINE=$LEFT lied 'hello()'
    refused '--mask: without noise in shares (dp-noise --share) the gather gets an exact total'
    PIPELINE="$LEFT | dp-noise -z 4" lied 'hello()'
    refused '--mask: without noise in shares (dp-noise --share) the gather gets an exact total'
    PIPELINE="$LEFT | dp-noise -z 4 --share --colluding 2" lied 'hello()'
    refused '--mask: --colluding leaves 1 honest site, whose sum the gather would get: at least two are needed'
    PIPELINE="$LEFT | dp-noise -z 4 --share --colluding 1" lied 'hello()' --lost 2
    refused '--lost: the noise is enough without 1 sites (dp-noise --colluding), and not 2'
    assert_not_exists two.dp/ledger
}

@test "a gather that says with whom a site has masks gets nothing, and nothing is paid" {
    for lost in 0 1; do
        lied 'hello(); lap(1)' --lost $lost
        refused '--mask: the gather does not say which sites take part in the masks of the lap'
        lied 'hello(); roster([5, 6, 7]); lap(1)' --lost $lost
        refused '--mask: the gather asks for a lap whose masks are without this site'
        lied 'n = hello()["fresh"]; roster([n, 0, 0]); lap(1)' --lost $lost
        refused "--mask: the gather continues without 2 of 3 sites, and --lost allows $lost"
        lied 'n = hello()["fresh"]; roster([n, 6]); lap(1)' --lost $lost
        refused '--mask: the gather does not say which sites take part in the masks of the lap'
    done
    lied 'n = hello()["fresh"]; roster([n, 6, 0]); lap(1)'
    refused '--mask: the gather continues without 1 of 3 sites, and --lost allows 0'
    assert_not_exists two.dp/ledger
}

@test "a lap has one answer, whatever the roster, and other masks after a gather goes back" {
    lied '
n = hello()["fresh"]
roster([n, 6, 7])
one = lap(1)["sum"]
roster([n, 6, 8])
print(lap(1)["sum"] == one)
roster([n, 6, 0])
print(lap(1)["sum"] == one)
print(hello()["fresh"] == n)
lap(2, credit=1)
session()
again = hello(lap=1)["fresh"]
print(again == n)
roster([n, 6, 7])
lap(2)' --lost 1 --checkpoint kept
    assert_equal "$(paste -sd ' ' heard)" 'True True True False'
    refused '--mask: the gather asks for a lap whose masks are without this site'
    assert_equal "$(paid)" 2
}

# under_way LAPS: returns when the run has made that many laps
under_way() {
    local tries
    for tries in $(seq 1500); do
        [ "$(grep -ao released "$STREAM" | wc -l)" -lt "$1" ] || return 0
        sleep 0.01
    done
    fail "the run does not get to lap $1: $(cat said worker-*)"
}
# start_gate MODEL [OPTION…]: in the background
start_gate() {
    STREAM=$1.stream
    : > "$STREAM"
    dp-loop --laps "$LAPS" ${SEED---seed 11} -q -o "$1" ${KEEP-} -- "dp-gather --workers $K --at $AT ${*:2} |
        dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1 --average tail" > "$STREAM" 2> said &
    echo $! > gate.pid
}
whole() {
    BARE=1
    for k in 1 2 3; do worker $k; done
    gate whole
    ended_all
    BARE=
}

@test "a site that is lost ends its lap for all, and the others go on" {
    LAPS=700
    for k in 1 2 3; do worker $k --lost 1; done
    start_gate model --on-lost continue --timeout 4
    under_way 20
    kill -9 "$(cat 2.pid)"
    wait "$(cat gate.pid)" || fail "$(cat said worker-*)"
    for k in 1 3; do ended $k 0; done
    assert_equal "$(dp-cat --last model.stream | jq -c '[.lap, .lost, .records[0].gathered]')" '[700,1,2]'
    # in one lap nothing was added, no model is lost, and all laps are charged
    cost=$(dp-account epsilon --multiplier 4 --rate 0.1 --laps $LAPS --delta 1e-5)
    dp-cat --last model.stream | jq -e --argjson cost "$cost" '(.epsilon / $cost - 1) * (.epsilon / $cost - 1) < 1e-8'
    assert_equal "$(dp-cat model.stream | jq .lost | sort | uniq -c | awk '$2 == 3 { print $1 }')" 1
}

@test "a site that is killed and started again: the same bytes with a checkpoint, and without one the run continues" {
    LAPS=600
    whole
    for k in 1 2 3; do worker $k --checkpoint "kept-$k"; done
    start_gate kept
    for laps in 30 150; do
        under_way $laps
        kill -9 "$(cat 2.pid)"
        worker 2 --checkpoint kept-2
    done
    wait "$(cat gate.pid)" || fail "$(cat said worker-*)"
    ended_all
    cmp whole kept
    for k in 1 2 3; do worker $k; done
    start_gate bare
    for laps in 30 150; do
        under_way $laps
        kill -9 "$(cat 2.pid)"
        worker 2
    done
    wait "$(cat gate.pid)" || fail "$(cat said worker-*)"
    ended_all
    # each time one lap is lost at most, and then the site takes part again
    dp-cat bare.stream | jq -se 'map(select(.lost == 3)) | length <= 2'
    dp-cat --last bare | jq -e '.lap == 600 and (has("lost") | not)'
}

@test "a gate that is killed resumes with the bytes of an undisturbed run" {
    LAPS=600
    whole
    for k in 1 2 3; do worker $k --checkpoint "kept-$k"; done
    KEEP='--checkpoint kept-gate --checkpoint-every 7'
    start_gate again
    under_way 50
    kill -9 "$(cat gate.pid)"
    wait "$(cat gate.pid)" || true
    KEEP="--resume kept-gate"
    start_gate again
    wait "$(cat gate.pid)" || fail "$(cat said worker-*)"
    for k in 1 2 3; do wait "$(cat $k.pid)" || fail "$(cat "worker-$k")"; done
    cmp whole again
}

@test "a gate that is killed before its first checkpoint: it cannot resume, a new run refuses the old workers, and none waits forever" {
    LAPS=1000000
    for next in resume new; do
        rm -rf kept-*
        for k in 1 2 3; do worker $k --checkpoint "kept-$k" --timeout $([ $next = resume ] && echo 3 || echo 30); done
        STREAM=lost.stream
        : > $STREAM
        dp-loop --laps $LAPS --exec fused --seed 11 -q --checkpoint kept-gate --checkpoint-every $LAPS -- "dp-gather --workers $K --at $AT |
            dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger --adaptive | dp-step --step 1" > $STREAM 2> said &
        echo $! > gate.pid
        under_way 20
        kill -9 "$(cat gate.pid)"
        wait "$(cat gate.pid)" || true
        if [ $next = resume ]; then
            complains 1 "dp-loop: cannot open kept-gate/loop: No such file or directory: without a checkpoint begin a new run, and start its workers again" \
                dp-loop --laps $LAPS -q --resume kept-gate -- "dp-gather --workers $K --at $AT | dp-account --epsilon 1 --delta 1e-5 --no-ledger | dp-step --step 1"
            for k in 1 2 3; do ended $k 4 "$AT: no gather has been there for 3 s (--timeout)"; done
        else
            run -1 timeout 30 dp-loop --laps 9 -q -o m -- "dp-gather --workers $K --at $AT --timeout 3 2> said | dp-account --epsilon 1 --delta 1e-5 --no-ledger | dp-step --step 1"
            assert_equal "$(grep -v warning said)" "dp-gather: the run begins: the worker of shard 1 of 3 has been missing for 3 s (--timeout, --on-lost)"
            for k in 1 2 3; do ended $k 1 'the gather has refused this worker: it is in the middle of another run'; done
        fi
    done
}

@test "masked sites whose site and gate are killed pay twice for the laps around a checkpoint, and for nothing else" {
    LAPS=300 SEED=''
    for k in 1 2 3; do dp-synth classification --rows 200 --cols 9 --seed $k -o site$k.dp -q; done
    site() {
        PIPELINE="dp-sample --data site$1.dp --rate 0.1 | dp-grad --data site$1.dp --loss logistic --clip 1 | $SHARE |
            dp-site-account --epsilon 50 --delta 1e-5" worker "$1" --checkpoint "kept-$1"
    }
    for k in 1 2 3; do site $k; done
    KEEP='--checkpoint kept-gate --checkpoint-every 20'
    start_gate model
    under_way 60
    kill -9 "$(cat 2.pid)"
    site 2
    under_way 120
    kill -9 "$(cat gate.pid)"
    wait "$(cat gate.pid)" || true
    KEEP="--checkpoint-every 20 --resume kept-gate"
    start_gate model
    wait "$(cat gate.pid)" || fail "$(cat said worker-*)"
    for k in 1 2 3; do
        wait "$(cat $k.pid)" || fail "$(cat "worker-$k")"
        dp-account verify site$k.dp
        laps=$(ledger_laps site$k.dp) # again from the gate's checkpoint, and at site 2 from its own
        [ "$laps" -ge $LAPS ] && [ "$laps" -le $((LAPS + 22 + (k == 2 ? 2 : 0))) ] || fail "site $k has paid for $laps laps"
    done
    assert_equal "$(dp-cat --last model | jq -c '[.lap, .lost]')" '[300,null]'
}

@test "masks stay with a checkpoint of every lap, and else they are new" {
    first='n = hello()["fresh"]; roster([n, 6, 7]); lap(1); lap(2); print(n, gather.name.hex(), gather.own.hex())'
    for every in 1 2; do
        rm -rf kept
        lied "$first" --checkpoint kept --checkpoint-every $every
        read -r n name own < heard
        lied "gather.name, gather.own = bytes.fromhex('$name'), bytes.fromhex('$own'); print(hello(lap=2)['fresh'] == $n)" \
            --checkpoint kept --checkpoint-every $every
        assert_equal "$(cat heard)" "$([ $every = 1 ] && echo True || echo False)"
    done
    complains 5 'dp-worker: --mask: the checkpoint kept is of a worker with masks' dp-worker --at $AT --shard 1/3 --checkpoint kept -- "dp-sample --data two.dp --rate 0.1 |
        dp-grad --data two.dp --loss logistic --clip 1 | $SHARE | dp-site-account --epsilon 9 --delta 1e-5"
}

@test "without --lost the others end the run when a site is lost" {
    LAPS=100000
    for k in 1 2 3; do worker $k; done
    start_gate model --on-lost continue --timeout 1
    under_way 20
    kill -9 "$(cat 2.pid)"
    wait "$(cat gate.pid)" || status=$?
    assert_equal "$status" 5
    ended 1 5 '--mask: the gather continues without 1 of 3 sites, and --lost allows 0'
}

@test "an audit of what the gather receives: of a site masked frames say nothing, and the total as much as the model" {
    # 200 persons who are there and 200 who are not: the deviation of a rank is at most 0.0289, and 6 of them are 0.174. A share has
    # half of the noise, so 8 laps are a Gaussian of mu 2.83, and of all shares 1.41: ranks of 0.977 and 0.841
    mkdir plain masked
    (cd plain && "$ROOT/tests/bats/gather-view.py" 4 2 1 8 400 > view)
    awk -F '\t' 'NR == 1 { exit !($4 > 0.95) }' plain/view || fail "$(cat plain/view)"
    (cd masked && "$ROOT/tests/bats/gather-view.py" --mask 4 2 1 8 400 > view)
    awk -F '\t' '{ off = $4 - (NR == 1 ? 0.5 : 0.841); bad += off * off > 0.174 * 0.174 } END { exit bad > 0 }' masked/view || fail "$(cat masked/view)"
}
