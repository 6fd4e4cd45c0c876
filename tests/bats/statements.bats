# Statements about a model and its run: a certificate is about one model, run and lap; the ledger binds the last model; a model
# that was cut from a longer run, and a run that a user stopped, are stated at the cost of everything that the run released or
# was going to release.
load helper

prepare() { small_data 400 6; }
teardown() {
    local pid
    for pid in $(jobs -p); do kill -9 "$pid" 2> /dev/null || true; done
}

# noisy [MULTIPLIER [STEP]]: left of the gate
noisy() { echo "dp-sample --data small.dp --mode full | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z ${1:-10}"; }
# train LAPS MODEL [MULTIPLIER [GATE [STEP [LOOP]]]]: a run on small.dp, its stream in MODEL.run
train() {
    timeout 100 dp-loop --laps "$1" -q -o "$2" ${6:-} -- "$(noisy "${3:-10}") | dp-account --epsilon 500 --delta 1e-5 --allow-weak ${4:-} | dp-step --step 1 ${5:-}" > "$2.run"
}
# stated MODEL FILTER: of its certificate
stated() { dp-account certify --data small.dp --model "$1" | jq -c "$2"; }
# bound: the digest and the lap that the last line of the ledger binds
bound() { tail -n 1 small.dp/ledger | jq -c '.model // empty | [.lap, .digest]'; }
# is_bound MODEL: the ledger has the digest of that model, and a model with other weights is noticed
is_bound() {
    assert_equal "$(stated "$1" '[.lap, .model, .model_in_ledger]')" "$(bound | jq -c '. + [true]')"
    changed "$1" forged 'weights[-1] ^= 1'
    complains 5 "dp-account certify: the model of lap $(dp-info --get lap "$1") is not the one that its run released: the ledger small.dp/ledger has a digest of other weights" \
        dp-account certify --data small.dp --model forged
}
# changed MODEL OTHER PYTHON: writes OTHER, with the frame `f` of MODEL and the bytes `weights` of its matrix after PYTHON has
# edited them
changed() {
    /usr/bin/python3 - "$@" << 'END'
import msgpack, sys
out = []
for f in msgpack.Unpacker(open(sys.argv[1], "rb"), raw=False):
    if f["kind"] == "lap":
        key = "average" if "average" in f else "model"
        weights = bytearray(f[key].data)
        exec(sys.argv[3])
        f[key] = msgpack.ExtType(f[key].code, bytes(weights))
    out.append(msgpack.packb(f))
open(sys.argv[2], "wb").write(b"".join(out))
END
}
# near A B: to one part in 100000
near() { /usr/bin/python3 -c "import sys; a, b = map(float, sys.argv[1:]); sys.exit(not abs(a - b) <= 1e-5 * b)" "$1" "$2" || fail "$1, expected $2"; }
# costs LAPS [MULTIPLIER]: by the calculator
costs() { dp-account epsilon --sampler full -z "${2:-10}" --laps "$1" --delta 1e-5; }

@test "a certificate is of one model, run and lap, and without the model it says that none was looked at" {
    train 100 a .7
    train 1 b 30
    dp-account certify --data small.dp --model a > of.a
    dp-account certify --data small.dp --model b > of.b
    run dp-account verify --certificate of.a --model a small.dp
    assert_line 'the certificate holds for this model'
    run dp-account verify --certificate of.a small.dp
    assert_line 'the certificate holds; no model was looked at (--model FILE)'
    holds() { dp-account verify --json --certificate "$@" | jq -c .certificate; }
    assert_equal "$(holds of.a --model a small.dp)" '{"holds":true,"model":"this"}'
    assert_equal "$(holds of.a small.dp)" '{"holds":true,"model":"none"}'
    assert_equal "$(holds of.a --model b small.dp 2> said || true)" '{"holds":false,"model":"unbound"}'
    # the certificate of the cheap run, with the weights of the other
    jq --slurpfile a of.a '.model = $a[0].model' of.b > forged
    run dp-account verify --certificate forged --model a small.dp
    assert_failure 5
    assert_output --regexp "dp-account verify: the certificate is for lap 1 of the run [0-9a-f]{32}, and the model is of lap 100 of the run [0-9a-f]{32}"
    complains 5 "dp-account verify: the model of lap 1 is not the one that its run released: the ledger small.dp/ledger has a digest of other weights" \
        dp-account verify --certificate forged small.dp
    # the certificate of an earlier lap of the run
    dp-cat --frames --lap 1 a.run > first
    dp-account certify --data small.dp --model first | jq --slurpfile a of.a '.model = $a[0].model' > forged
    run dp-account verify --certificate forged --model a small.dp
    assert_failure 5
    assert_output --partial "the certificate is for lap 1 of the run "
    # and the frame changed with it: the mark and lap of the cheap run belong to other weights
    changed a edited "f['lap'], f['ledger'] = 1, '$(jq -r .mark of.b)'"
    complains 5 "dp-account verify: the model of lap 1 is not the one that its run released: the ledger small.dp/ledger has a digest of other weights" \
        bash -c 'jq --slurpfile a of.a ".model = \$a[0].model" of.b > forged; dp-account verify --certificate forged --model edited small.dp'
}

@test "the ledger binds the last model, however the run ran and ended" {
    for how in fused processes; do
        train 5 model 10 '' '' "--exec $how"
        is_bound model
        train 5 model 10 '' '--average tail' "--exec $how"
        is_bound model
        # its own budget ends it
        train 50 model 10 "--epsilon $(costs 5)" '--average tail' "--exec $how" 2> said || [ $? = 3 ]
        assert_equal "$(dp-info --get lap model)" 5
        is_bound model
        train 50 model 10 "--epsilon $(costs 5)" '' "--exec $how --until-spent"
        is_bound model
    done
    # a search, and laps that move nothing
    dp-loop -q --plan 'gradient, search, gradient, search' -o model -- "dp-sample --data small.dp --rate 0.25 | dp-grad --on gradient --data small.dp --loss logistic --clip 1 |
        dp-noise --on gradient -z 4 | dp-linesearch --on search --data small.dp --epsilon 0.5 --tries 8 --clip 1 --first-step 8 |
        dp-account --epsilon 90 --delta 1e-5 | dp-step --on gradient --hold | dp-step --on search" > /dev/null
    is_bound model
    # dual variables, whose weights have a scale
    dp-loop -q --laps 5 -o model -- "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 2 | dp-account --epsilon 90 --delta 1e-5 | dp-step" > /dev/null
    is_bound model
    changed model forged 'f["scale"] *= 2'
    run dp-account certify --data small.dp --model forged
    assert_failure 5
}

@test "the ledger binds a model over sockets, of shards, of a selection, of rows that came to their end and of a budget of all runs" {
    mkdir -m 700 own
    dp-sample --data small.dp --mode full -i ipc://own/a -o ipc://own/b &
    dp-grad --data small.dp --loss logistic --clip 1 -i ipc://own/b -o ipc://own/c &
    dp-noise -z 10 -i ipc://own/c -o ipc://own/d &
    dp-account --epsilon 9 --delta 1e-5 -i ipc://own/d -o ipc://own/e &
    dp-step --step 1 -i ipc://own/e -o ipc://own/f &
    timeout 60 dp-loop --laps 5 -q -o model --send ipc://own/a --receive ipc://own/f > /dev/null
    wait
    is_bound model
    dp-loop -q --laps 5 -o model -- "dp-gather --workers 2 --local 'dp-sample --data small.dp --rate 0.2 --shard %k/2 | dp-grad --data small.dp --loss logistic --clip 1' |
        dp-noise -z 10 | dp-account --epsilon 9 --delta 1e-5 --ledger small.dp/ledger | dp-step --step 1" > /dev/null
    is_bound model
    printf 'step\n1\n2\n' > grid
    dp-tune --grid grid --trials all --score-data small.dp --score-multiplier 1000 --epsilon 9 --delta 1e-5 -o model -q -- \
        "dp-loop --laps 3 -- '$(noisy 30) | dp-account --trial {trial} | dp-step --step {step}'"
    is_bound model
    # rows that arrive, and end
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    { echo a,y; for i in $(seq 95); do echo "$((i % 10)),$([ $((i % 3)) = 0 ] && echo yes || echo no)"; done; } > t.csv
    dp-import csv t.csv --schema s.json --out rows -q
    for how in fused processes; do
        rm -f small.dp/ledger*
        dp-loop -q --laps 50 --exec $how -o model -- "dp-window --rows rows --size 10 | dp-grad --loss logistic --clip 1 | dp-noise -z 10 |
            dp-account --epsilon 9 --delta 1e-5 --ledger small.dp/ledger | dp-step --step 1" > /dev/null
        assert_equal "$(dp-info --get lap model)" 9
        is_bound model
    done
}

@test "a budget of all runs binds the model of the last lap that it affords, and the run gets no more than it was opened with" {
    dp-account budget small.dp --epsilon 3 --delta 1e-5 --multiplier 10 --rate 1 --sampler full --laps 20 > /dev/null
    train 1000 model 10 --partial 2> said || [ $? = 3 ]
    assert_equal "$(tail -n 1 small.dp/ledger | jq -r .status)" budget
    is_bound model
    assert_equal "$(jq -c 'select(.kind == "plan") | .charges[0].laps' small.dp/ledger)" "$(dp-info --get lap model)"
    assert_equal "$(stated model '[.status, .runs[0].stated_at]')" '["budget","laps"]'
}

@test "an interrupted run binds its last model, a resumed one the newest, a killed one none" {
    train 100000000 model 1000 '--epsilon 9000' '' '--checkpoint kept --checkpoint-every 50' & pid=$!
    for _ in $(seq 300); do grep -qs '"kind":"checkpoint"' small.dp/ledger && break; sleep 0.1; done
    kill -INT "$(pgrep -P $pid dp-loop || pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
    wait $pid || true
    assert_equal "$(tail -n 1 small.dp/ledger | jq -r .status)" interrupted
    is_bound model
    cp model before
    # killed
    train 100000000 killed 1000 '--epsilon 9000' & pid=$!
    reaches killed.run 5000
    kill -KILL "$(pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
    wait $pid || true
    /usr/bin/python3 - << 'END'
import msgpack
frames = msgpack.Unpacker(open("killed.run", "rb"), raw=False)
open("first", "wb").write(b"".join(map(msgpack.packb, [next(frames), next(frames), {"kind": "end"}])))
END
    assert_equal "$(stated first '[.model_in_ledger, .status, .runs[0].stated_at]')" '[false,"going or killed","plan"]'
    changed first edited 'weights[-1] ^= 1'
    assert_equal "$(stated edited .model_in_ledger)" false
    dp-account certify --data small.dp --model edited > certificate
    run dp-account verify --certificate certificate --model edited small.dp
    assert_line 'the certificate holds for this model, whose weights the ledger does not have'
}

@test "a resumed run binds the model of its end, under its newest name" {
    for seed in '' '--seed 3'; do
        rm -rf kept small.dp/ledger*
        options="--epsilon 9000 --ledger small.dp/ledger ${seed:+--allow-seeded}"
        train 20000 half 100 "$options" '' "--checkpoint kept --checkpoint-every 100 $seed" & pid=$!
        for _ in $(seq 300); do [ -e kept/loop ] && break; sleep 0.02; done
        kill -KILL "$(pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
        wait $pid || true
        assert_equal "$(bound)" ''
        train 20000 model 100 "$options" '' "--resume kept $seed"
        is_bound model
        assert_equal "$(stated model '[.status, .runs[0].stated_at, .lap]')" '["done","laps",20000]'
    done
}

@test "a run that was killed, resumed and stopped is stated at its plan and at what it had lost" {
    train 100000 half 1000 '' '' '--checkpoint kept --checkpoint-every 100' & pid=$!
    for _ in $(seq 300); do [ -e kept/loop ] && break; sleep 0.02; done
    kill -KILL "$(pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
    wait $pid || true
    before=$(wc -l < small.dp/ledger)
    train 100000 part 1000 '' '' '--resume kept' & pid=$!
    reaches part.run 5000
    kill -INT "$(pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
    wait $pid || true
    # laps that may have been released, beyond the checkpoint from which it continued, which may be the one before the newest
    lost=$(jq -s --argjson before "$before" '(map(select(.resumes) | .resumes | split(":")[1] | tonumber)[0]) as $at |
        (.[:$before] | map(select(.kind == "checkpoint"))[-1].until[0].laps) - .[$at - 1].laps' small.dp/ledger)
    assert_equal "$(dp-account report small.dp --json | jq -c '.runs[0] | [.status, .stated_at, .plan_laps]')" "[\"interrupted\",\"plan\",$((100000 + lost))]"
    near "$(stated part .epsilon)" "$(costs $((100000 + lost)) 1000)"
    dp-account verify small.dp
}

@test "a seed of any run of a chain is stated by its certificate, its page and its exports" {
    for seeds in '- -' '1 -' '- 2' '1 2'; do
        read -r first second <<< "$seeds"
        seed() { [ "$1" = - ] || echo "--seed $1"; }
        train 3 a 10 '--allow-seeded --ledger small.dp/ledger' '' "$(seed "$first")"
        train 3 b 10 '--allow-seeded --ledger small.dp/ledger' '' "$(seed "$second") --init a"
        expected=true words='not private: anybody who knows the seed knows the noise'
        [ "$seeds" != '- -' ] || expected=false words='epsilon '
        assert_equal "$seeds $(stated b .seeded)" "$seeds $expected"
        dp-account report small.dp -m b --text > text
        assert_equal "$seeds $(grep -c 'A seed was given' text)" "$seeds $([ $expected = true ] && echo 1 || echo 0)"
        for format in json csv sql c onnx; do
            dp-export --to $format b > exported
            [ $format = csv ] || grep -qaF "$words" exported || fail "$seeds, $format: no '$words'"
        done
    done
}

@test "under a budget a run may start from a model of other people, and from one of these people only with its ledger" {
    dp-synth classification --rows 400 --cols 6 --seed 3 -q -o other.dp
    timeout 100 dp-loop --laps 5 -q -o theirs -- "$(noisy 10 | sed 's/small/other/g') | dp-account --epsilon 500 --delta 1e-5 --allow-weak | dp-step --step 1" > /dev/null
    dp-account budget --epsilon 2000 --delta 1e-4 --addition small.dp > /dev/null
    train 5 own 10 --no-ledger
    run train 5 next 10 '' '' '--init own'
    assert_failure 5
    assert_output --partial 'the model to start from has cost epsilon = 0.819728, which the budget of'
    train 5 mixed 10 '' '' '--init theirs'
    near "$(dp-info --get epsilon mixed)" "$(jq -n "2 * $(dp-info --get epsilon theirs)")"
}

@test "a model that starts from changed weights is noticed" {
    train 5 first
    changed first forged 'weights[-1] ^= 1'
    before=$(wc -l < small.dp/ledger)
    complains 5 "dp-account: the model of lap 5 is not the one that its run released: the ledger $PWD/small.dp/ledger has a digest of other weights" \
        dp-loop --laps 1 -q --init forged -o child -- "$(noisy) | dp-account --epsilon 500 --delta 1e-5 | dp-step --step 1"
    assert_equal "$(wc -l < small.dp/ledger)" "$before"
    train 1 child 10 '' '' '--init first'
    train 5 averaged 10 '' '--average tail'
    train 1 child 10 '' '' '--init averaged'
    is_bound child
}

@test "a model cut from a longer run is stated at all that the run has released" {
    train 100 k
    dp-cat --frames --lap 2 k.run > second
    near "$(stated second .epsilon)" "$(costs 100)"
    near "$(stated second .epsilon_lower)" "$(costs 100)"
    near "$(stated second .if_the_lap_was_fixed.epsilon)" "$(costs 2)"
    assert_equal "$(stated second '[.if_the_lap_was_fixed.laps, .mechanisms[0].laps, .lap, .model_in_ledger]')" '[2,100,2,false]'
    assert_equal "$(stated k 'has("if_the_lap_was_fixed")')" false
    dp-account certify --data small.dp --model second > certificate
    dp-account verify --certificate certificate --model second small.dp
    # a run that starts from it includes all of that cost, in its frames and in its certificate
    train 1 child 100 '' '' '--init second'
    near "$(dp-info --get epsilon child)" "$(awk -v a="$(costs 100)" -v b="$(costs 1 100)" 'BEGIN { print a + b }')"
    assert_equal "$(dp-info --get delta child)" 2e-05
    near "$(dp-info --get prior_epsilon child)" "$(costs 100)"
    near "$(stated child .epsilon)" "$(dp-info --get epsilon child)"
    # and so on
    train 1 grandchild 100 '' '' '--init child'
    near "$(dp-info --get epsilon grandchild)" "$(awk -v a="$(costs 100)" -v b="$(costs 1 100)" 'BEGIN { print a + 2 * b }')"
    near "$(stated grandchild .epsilon)" "$(dp-info --get epsilon grandchild)"
}

@test "a run that somebody stopped is stated at its plan, in report, certificate and close line, and what starts from it, too" {
    # stopped LAPS GATE: a run of that many laps, interrupted
    stopped() {
        rm -f small.dp/ledger* part part.run
        train "$1" part 1000 "$2" & pid=$!
        reaches part.run 5000
        kill -INT "$(pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
        wait $pid || true
    }
    stopped 150000 '--epsilon 9'
    laps=$(dp-info --get lap part)
    [ "$laps" -lt 150000 ]
    assert_equal "$(stated part '[.status, .runs[0].stated_at, .runs[0].laps, .mechanisms[0].laps]')" "[\"interrupted\",\"plan\",$laps,150000]"
    near "$(stated part .epsilon)" "$(costs 150000 1000)"
    near "$(tail -n 1 small.dp/ledger | jq .epsilon)" "$(costs 150000 1000)"
    dp-account verify small.dp
    run dp-account report small.dp
    assert_line --regexp " $laps  +[0-9.]+  interrupted, counted as all 150000 laps of its plan$"
    assert_equal "$(dp-account report small.dp --json | jq -c '.runs[0] | [.stated_at, .plan_laps, .charges[0].laps]')" "[\"plan\",150000,$laps]"
    near "$(dp-account report small.dp --json | jq '.populations[0].epsilon')" "$(costs 150000 1000)"
    train 1 child 100 '' '' '--init part'
    near "$(dp-info --get prior_epsilon child)" "$(costs 150000 1000)"
    # a run with a filter costs its whole budget, as always
    stopped 100000 '--epsilon 9 --adaptive'
    assert_equal "$(stated part '[.status, .runs[0].stated_at, (.epsilon | . > 8.999 and . < 9.001)]')" '["interrupted","budget",true]'
    # with more laps than the budget affords: at those that it affords
    stopped 100000000 '--epsilon 9'
    assert_equal "$(stated part '[.status, .runs[0].stated_at, (.epsilon | . > 8 and . < 9)]')" '["interrupted","plan",true]'
    dp-account verify small.dp
    assert_equal "$(dp-account report small.dp --json | jq '.runs[0].epsilon == .populations[0].epsilon')" true
    run jq -n "$(stated part .epsilon) > $(costs "$(dp-info --get lap part)" 1000)"
    assert_output true
}

@test "a killed run is stated at its plan, and a site's own account as well" {
    train 100000 part 1000 '--epsilon 90' & pid=$!
    reaches part.run 5000
    kill -KILL "$(pgrep -P "$(pgrep -P $pid timeout)" dp-loop)"
    wait $pid || true
    run dp-account report small.dp
    assert_line --regexp '  going or killed, counted as all 100000 laps of its plan$'
    near "$(dp-account report small.dp --json | jq '.runs[0].epsilon')" "$(costs 100000 1000)"
    # the gather ends the run of a site
    for k in 1 2; do dp-synth classification --rows $((k * 200)) --cols 5 --seed $k -o site$k.dp -q; done
    timeout 100 dp-loop --laps 100000 -q -o model -- "dp-gather --workers 2 --local 'dp-sample --data site%k.dp --rate 0.2 | dp-grad --data site%k.dp --loss logistic --clip 1 |
        dp-site-account --multiplier 30 --epsilon 50 --delta 1e-5 --allow-weak' | dp-noise -z 30 | dp-account --epsilon 50 --delta 1e-5 --allow-weak --no-ledger | dp-step --step 1" > stream 2> said & pid=$!
    reaches stream 5000
    kill -INT "$(pgrep -P $pid dp-loop)"
    wait $pid || true
    for k in 1 2; do
        run dp-account report site$k.dp
        assert_line --regexp '  interrupted, counted as all 100000 laps of its plan$'
        near "$(dp-account report site$k.dp --json | jq '.runs[0].epsilon')" "$(dp-account epsilon -z 30 --rate 0.2 --laps 100000 --delta 1e-5)"
        dp-account verify site$k.dp
        assert_equal "$(jq -c 'select(.kind == "close") | has("model")' site$k.dp/ledger)" false
    done
}
