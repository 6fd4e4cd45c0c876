# dp-moments: the sum of x xᵀ, exactly; and runs with such laps, which make no model.
load helper

prepare() {
    dp-synth classification --rows 300 --cols 6 --seed 4 -o two.dp -q
    filter take '
for record in frame.get("records", []):
    if frame["kind"] == "hello" and record.get("means") == "moments": record["means"] = "taken"
if frame["kind"] == "lap" and frame.get("lap_kind") != "gradient": # as dp-transform takes a sum of moments
    del frame["sum"]'
}

SAMPLE='dp-sample --mode full'
GATE='dp-account --epsilon 1000 --delta 1e-5 --allow-seeded'

# sum OPTION…: the moments that dp-moments computes from $DATA, as one line of JSON
sum() {
    dp-loop -q --laps 1 --seed 1 --exec processes -- "${SAMPLER:-$SAMPLE} --data $DATA | dp-moments $* | tee sum.frames | dp-noise -z 1 |
        $GATE | ./take" > /dev/null 2>&1 || true
    dp-cat --full --last sum.frames 2> /dev/null | jq -c .sum.values
}

@test "the sum is that of NumPy, with constant and labels" {
    for what in 'classification 2' 'classification 4' regression; do
        set -- $what
        dp-synth $1 --rows 200 --cols 7 ${2:+--classes $2} --seed 3 -o data.dp -q --force
        DATA=data.dp
        assert_equal "$(sum --data data.dp)" "$("$BATS_TEST_DIRNAME/moments.py" data.dp | tr -d ' ')"
        assert_equal "$(sum --data data.dp --intercept 0.3)" "$("$BATS_TEST_DIRNAME/moments.py" data.dp 0.3 | tr -d ' ')"
        assert_equal "$(sum --data data.dp --intercept 0.3 --unit)" "$("$BATS_TEST_DIRNAME/moments.py" data.dp 0.3 unit | tr -d ' ')"
        assert_equal "$(sum --data data.dp --intercept 0.3 --labels --label-bound 0.4)" \
            "$("$BATS_TEST_DIRNAME/moments.py" data.dp 0.3 0.4 | tr -d ' ')"
    done
}

@test "threads, rows inline and how rows are stored change no bit" {
    for classes in 2 4; do
        dp-synth classification --rows 500 --cols 90 --classes $classes --seed 3 -o data.dp -q --force
        dp-synth classification --rows 500 --cols 90 --classes $classes --seed 3 --storage csr -o sparse.dp -q --force
        DATA=data.dp
        more='--intercept 0.3 --labels --label-bound 0.5 --clip 0.9' # some rows are cut
        whole=$(sum --data data.dp $more)
        [ "$(jq length <<< "$whole")" -gt 4000 ]
        assert_equal "$(sum --data data.dp $more --threads 3)" "$whole"
        assert_equal "$(SAMPLER="$SAMPLE --inline" sum $more --threads 2)" "$whole"
        DATA=sparse.dp
        assert_equal "$(sum --data sparse.dp $more --threads 2)" "$whole"
    done
}

@test "moments first, then gradients: one plan, one gate, and a model in the original columns" {
    dp-loop -q --plan 'moments 1, gradient 5' --seed 1 -o model -- "dp-sample --data two.dp --mode full |
        dp-moments --on moments --data two.dp --intercept 0.5 | dp-grad --on gradient --data two.dp --loss logistic --clip 1 --intercept 0.5 |
        dp-noise --on moments -z 3 | dp-noise --on gradient -z 9 | $GATE | ./take | dp-step --on gradient --step 1" > stream
    assert_equal "$(dp-cat --kind lap stream | jq -c '[.lap_kind, has("model")]' | sort | uniq -c | tr -s ' ')" \
        ' 5 ["gradient",true]
 1 ["moments",false]'
    # a multiplier of 3 and five of 9 are one Gaussian of 9 / sqrt(9 + 5)
    run jq -n "$(dp-info --get epsilon model) / $(dp-account epsilon --sampler full -z 2.4053512 --laps 1 --delta 1e-5) | . > 0.9999 and . < 1.0001"
    assert_output true
    run dp-eval --data two.dp --private-data --in stream
    assert_success
    assert_equal "${#lines[@]}" 6
    dp-predict --no-header model two.dp
    run dp-info stream
    assert_line --partial "1 × 7 weights"
}

# moments PIPELINE-END: laps of moments only
moments() { echo "dp-sample --data two.dp --mode full | dp-moments --data two.dp | dp-noise -z 9 | $GATE $*"; }

@test "a run that makes no model says so as soon as each kind has had a lap, and leaves an older one alone" {
    echo old > model
    complains 1 "dp-loop: the child pipeline gave back no model" dp-loop -q --laps 3 --seed 1 -o model -- "$(moments '| ./take')"
    complains 1 "dp-loop: the child pipeline gave back no model" \
        dp-loop -q --plan 'a, b, a 9' --seed 1 -o model -- "$(moments '| ./take | tee frames')"
    assert_equal "$(dp-cat --kind lap frames 2> /dev/null | wc -l)" 2
    assert_equal "$(cat model)" old
    complains 1 "dp-loop: no stage of the child pipeline takes the sum: put dp-transform after dp-account (a stage of your own says in its hello frame what it has taken)" \
        dp-loop -q --laps 1 --seed 1 -o model -- "$(moments)"
    complains 2 "dp-step: what laps release is for dp-transform (--on KIND names the laps of dp-step)" \
        dp-loop -q --laps 1 --seed 1 -o model -- "$(moments '| dp-step --step 1')"
    # an existing model stays
    dp-loop -q --laps 1 --seed 1 -o start -- "dp-sample --data two.dp | dp-grad --data two.dp --loss logistic --clip 1 |
        dp-noise -z 9 | $GATE | dp-step --step 1" > /dev/null
    filter lose 'if frame["kind"] == "lap": del frame["model"]'
    complains 1 "dp-loop: the child pipeline gave back no model" \
        dp-loop -q --plan 'a, b' --init start --seed 1 -o model -- "$(moments '| ./take | ./lose')"
}

@test "moments of a run whose model has another shape move nothing" {
    dp-loop -q --laps 1 --seed 1 -o start -- "dp-sample --data two.dp | dp-grad --data two.dp --loss logistic --clip 1 |
        dp-noise -z 9 | $GATE | dp-step --step 1" > /dev/null
    complains 2 "dp-step: what laps release is for dp-transform (--on KIND names the laps of dp-step)" \
        dp-loop -q --laps 1 --init start --seed 1 -o model -- "$(moments '| dp-step --step 1')"
    complains 1 "dp-moments: --intercept: 0.5, but the model has 0" \
        dp-loop -q --laps 1 --init start --seed 1 -o model -- "$(moments '| ./take' | sed 's/dp-moments/& --intercept 0.5/')"
}

@test "a run that ends before its first model leaves an older one alone" {
    filter die 'if frame.get("lap") == 2: sys.exit(1)'
    echo old > model
    run timeout 30 dp-loop -q --plan 'moments, gradient 5' --seed 1 -o model -- "$(moments '| ./die | ./take')"
    assert_failure 1
    assert_output --partial "dp-loop: the child pipeline ended before it gave back a frame"
    assert_equal "$(cat model)" old
}

@test "labels behind the rows are no part of the transform" {
    # the same moments with and without labels, noise far below them: the same transform
    for how in '' '--labels --label-bound 0.5'; do
        dp-loop -q --plan 'moments 1, gradient 1' --seed 1 -o model -- "dp-sample --data two.dp --mode full |
            dp-moments --on moments --data two.dp --clip 2 $how | dp-grad --on gradient --data two.dp --loss logistic --clip 1 |
            dp-noise -z 1e-3 | ${GATE/1000/1e9} | dp-transform --on moments | dp-step --on gradient --step 1" > stream
        dp-cat --lap 1 --full stream | jq -c '.transform | .values, .shape' > "transform$how"
    done
    jq -n --slurpfile a transform --slurpfile b "transform$how" '$a[1] == $b[1] and $a[1] == [6, 6] and
        ([$a[0], $b[0]] | transpose | map(.[0] - .[1] | fabs) | max) < 1e-3' | grep true
}

@test "the bound of moments is not what a clip follows" {
    dp-loop -q --plan 'moments 1, gradient 2' --seed 1 -o model -- "dp-sample --data two.dp --mode full |
        dp-moments --on moments --data two.dp --intercept 2 | dp-grad --on gradient --data two.dp --intercept 2 --loss logistic |
        dp-clip --on gradient --data two.dp --clip 0.1 --follow | dp-noise -z 9 | ${GATE} --adaptive |
        dp-transform --on moments | dp-step --on gradient --step 1" > stream
    assert_equal "$(dp-cat --kind lap stream | jq -c .bound | tr '\n' ' ')" 'null 0.1 0.1 '
}

@test "what is public and comes with the first lap of a later kind stays what it is from then on" {
    # run WHERE CODE: three laps of gradients after one of moments, with a stage left of the gate that changes a frame
    run_edited() {
        filter change "if frame['kind'] == 'lap': $1"
        complains 5 "dp-account: $2" dp-loop -q --plan 'moments 1, gradient 3, moments 1' --seed 1 -o model -- "
            dp-sample --data two.dp --mode full | dp-moments --on moments --data two.dp ${3:-} | dp-grad --on gradient --data two.dp \
            --loss logistic --clip 1 ${3:-} | ./change | dp-noise -z 9 | $GATE | ./take | dp-step --on gradient --step 1"
    }
    dp-loop -q --plan 'moments 1, gradient 3, moments 1' --seed 1 -o model -- "dp-sample --data two.dp --mode full |
        dp-moments --on moments --data two.dp | dp-grad --on gradient --data two.dp --loss logistic --clip 1 | dp-noise -z 9 |
        $GATE | ./take | dp-step --on gradient --step 1" > stream
    assert_equal "$(dp-cat --kind lap stream | jq -c '[has("loss"), has("model")]' | tr -d '\n')" \
        '[false,false][true,true][true,true][true,true][true,true]'
    run_edited "frame['lambda'] = 0.1 * (frame['lap'] > 2)" "lap 3 has another 'lambda' than the first lap"
    run_edited "frame['n'] = 300 + (frame['lap'] == 2)" "lap 2 has another 'n' than the first lap"
    run_edited "frame['lap'] < 4 or frame.pop('loss')" "lap 4 has another 'loss' than the first lap"
    run_edited "frame['lap'] < 5 or frame.update(label_columns=3)" "lap 5 has another 'label_columns' than the first lap"
    run_edited "frame['lap'] != 2 or frame.update(intercept=0.25)" "lap 2 has another 'intercept' than the first lap" '--intercept 0.5'
}

@test "usage" {
    complains 2 "dp-moments: --intercept: 1e-50 is too small" dp-moments --intercept 1e-50
    complains 2 "dp-moments: --label-bound: 1e-50 is too small" dp-moments --labels --label-bound 1e-50
    dp-synth classification --rows 10 --cols 12000 --storage csr --seed 4 -o wide.dp -q
    complains 1 "dp-moments: rows of 12000 columns have no moments that fit a frame, which takes those of 1 to 8192" \
        dp-loop -q --laps 1 --seed 1 -o model -- "dp-sample --data wide.dp | dp-moments --data wide.dp | dp-noise -z 9 | $GATE | ./take"
}
