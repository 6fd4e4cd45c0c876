# Noise that is correlated over laps: what it costs, what has no accountant, and what it must not forget.
load helper

prepare() { small_data 400 6; }

GRAD='dp-grad --data small.dp --loss logistic --intercept 0.5 --clip 1'
CYCLE='dp-sample --data small.dp --mode cyclic --rate 1/4'
GATE='dp-account --epsilon 50 --delta 1e-5 --no-ledger --allow-seeded'

RUN='dp-loop --seed 5 -q -o model --laps'
STEP='dp-step --step 1'

# costs EPSILON: that is what model states, to the digits that dp-account prints
costs() { awk -v a="$(dp-info --get epsilon model)" -v b="$1" 'BEGIN { exit !(a <= b && a > b - 1e-5) }'; }

# rows COUNT: a stream of them, in rows
rows() {
    awk -v n="$1" 'BEGIN { print "a,b,y"; for (i = 0; i < n; i++) printf "%.3f,%.3f,%d\n", i % 7 / 7, i % 5 / 5, i % 2 }' > t.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [0, 1]},
      {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > s.json
    dp-import csv t.csv --schema s.json --out rows -q
}

@test "usage" {
    complains 2 "dp-noise: --correlated: laps of several kinds need a noise each (--on)" \
        dp-loop --plan 'a 2, b 2' --seed 1 -q -- "$CYCLE | $GRAD | dp-noise -z 1 --correlated 2 | $GATE | dp-step --step 1"
    complains 2 "dp-noise: --correlated: only the total of all shards gets noise that is correlated" \
        $RUN 2 -- "dp-gather --workers 1 --local 'dp-sample --data small.dp --shard %k/%K | $GRAD | dp-noise -z 1 --correlated 2' | $GATE | $STEP"
    complains 2 "dp-step: --optimizer adagrad-norm: what it takes off for noise is for independent noise" \
        dp-loop --laps 2 --seed 1 -q -- "$CYCLE | $GRAD | dp-noise -z 1 --correlated 2 | $GATE | dp-step --step 1 --optimizer adagrad-norm"
}

@test "a row is in one lap, or in laps that have no noise in common" {
    for mode in 'poisson --rate 0.2' 'shuffle --rate 0.2' full; do
        complains 5 "dp-account: correlated noise has no accountant with a ${mode%% *} sampler: a row must be in one lap (dp-window), or in every bth (dp-sample --mode cyclic)" \
            $RUN 3 -- "dp-sample --data small.dp --mode $mode | $GRAD | dp-noise -z 4 --correlated 3 | $GATE | $STEP"
    done
    complains 5 "dp-account: noise is correlated over 5 laps, and a row comes again after 4" \
        $RUN 3 -- "$CYCLE | $GRAD | dp-noise -z 4 --correlated 5 | $GATE | $STEP"
    complains 5 "dp-account: a secret or released state with correlated noise has no accountant" $RUN 3 -- \
        "$CYCLE | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 4 --correlated 4 | $GATE | dp-step"
    complains 5 "dp-account: --adaptive: noise that changes has no accountant with shuffled epochs" \
        $RUN 3 -- "$CYCLE | $GRAD | dp-noise -z 4 --correlated 4 | $GATE --adaptive | $STEP"
    complains 5 "dp-account: lap 2 records another 'bound' than the first lap" $RUN 3 -- \
        "$CYCLE | ${GRAD/ --clip 1/} | dp-clip --data small.dp --clip 1e-3 --adaptive 0.5 | dp-noise -z 9 --count-multiplier 9 --correlated 4 | $GATE | $STEP"
}

@test "a cycle: a row comes every bth lap, and costs what an epoch costs; a stream costs one lap" {
    for laps in 4 9; do
        $RUN $laps -- "$CYCLE | $GRAD | dp-noise -z 4 --correlated 4 | $GATE | $STEP" > /dev/null
        costs "$(dp-account epsilon --multiplier 4 --sampler cyclic --rate 1/4 --rows 400 --laps $laps --delta 1e-5)"
    done
    dp-loop --laps 9 --seed 5 -q -- "$CYCLE | tee raw | $GRAD | dp-noise -z 4 --correlated 4 | $GATE | dp-step --step 1" > /dev/null
    /usr/bin/python3 - << 'END'
import os, sys
sys.path.insert(0, os.environ["ROOT"] + "/tests/bats")
import frames
laps = [set(f["rows"]) for f in frames.laps("raw")]
assert all(len(lap) == 100 for lap in laps)
assert set.union(*laps[:4]) == set(range(400))
assert all(laps[t] == laps[t - 4] for t in range(4, 9))
END
    rows 300
    $RUN 30 -- "dp-window --rows rows --size 10 | dp-grad --loss logistic --clip 1 | dp-noise -z 4 --correlated 16 | $GATE | $STEP" > stream
    costs "$(dp-account epsilon --multiplier 4 --sampler stream --delta 1e-5)"
    dp-cat --kind lap stream | tail -n 1 | grep -q '"noise":"gaussian-correlated","multiplier":4,"correlated":16'
}

@test "the sensitivity is that of all laps, each lap is there, and all have one grid" {
    dp-loop --laps 3 --seed 5 -q --exec processes -- "$CYCLE | $GRAD | tee bounded | dp-noise -z 4 --correlated 4 | tee noised | $GATE | dp-step --step 1" > /dev/null
    recode noised less '
for f in frames: # without |c|, the noise is for one lap
    for r in f.get("records", []):
        r["sensitivity"] = 1.0
        r["scale"] = 4.0'
    recode bounded gap 'frames.remove(laps[1])'
    recode bounded grid 'laps[2]["grid"] *= 2'
    complains 5 "dp-account: a record states a sensitivity of 1, its bound implies 1.21995" \
        dp-account --epsilon 50 --delta 1e-5 --no-ledger --allow-seeded --in less
    complains 5 "dp-noise: --correlated: lap 3 came after 1 laps" dp-noise -z 4 --correlated 4 --in gap
    complains 5 "dp-noise: --correlated: the sum of lap 3 has another size or grid" dp-noise -z 4 --correlated 4 --in grid
}

@test "an audit compares correlated noise with its record, and a cycle with its epochs" {
    run dp-audit epsilon --data small.dp --laps 8 --runs 200 --seed 3 -- \
        "dp-sample --data {} --mode cyclic --rate 1/4 | dp-grad --data {} --loss logistic --clip 1 | dp-noise -z 1 --correlated 4 | dp-account --epsilon 50 --delta 1e-5 --allow-seeded | dp-step --step 1"
    assert_success
}

@test "a run is not resumed with the noise of another run" {
    pipeline="$CYCLE | $GRAD | dp-noise -z 4 --correlated 4 | dp-account --epsilon 1e6 --delta 1e-5 --ledger ledger --allow-weak | dp-step --step 1"
    for k in one other; do
        timeout 60 dp-loop --laps 100000 --checkpoint $k --checkpoint-every 3 -q -- "$pipeline" > /dev/null 2>&1 3>&- &
        run=$!
        for _ in {1..600}; do [ ! -e $k/loop ] || break; sleep 0.05; done
        kill -TERM $run # timeout passes it on
        wait $run || true
        file=("$k"/stage-3.lap-*)
        [ $k = one ] || cp "${file[0]}" "$into"
        into=${file[0]}
    done
    dp-account verify ledger
    cp ledger before
    complains 1 "dp-noise: stage 3 of the checkpoint $PWD/one is of another run" dp-loop --laps 100000 --resume one -q -- "$pipeline"
    cmp before ledger
}
