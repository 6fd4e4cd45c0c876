# dp-audit: accepts sound pipelines, and finds each known mistake. $AUDIT also has the stages of tests/audit/mutant.c. All
# audits are seeded, so they cannot fail by chance; without a seed each step would fail with a probability of 1e-4.
load helper

AUDIT=$BUILD/audit/dp-audit

prepare() { dp-synth classification --rows 50 --cols 3 --seed 1 -o small.dp -q; }

SAMPLE="dp-sample --data {} --rate 0.2"
STEP="dp-scd-step --data {} --loss hinge --lambda 1"
GATE="dp-account --epsilon 1e6 --delta 0.1 --allow-seeded"

failures() { within 300 "$AUDIT" failures --data small.dp --rows 2 --laps 6 "$@"; }
sensitivity() { within 300 "$AUDIT" sensitivity --data small.dp "$@"; }
epsilon() { within 300 "$AUDIT" epsilon --data small.dp --confidence 0.9999 --seed 1 "$@"; }

@test "usage" {
    run dp-audit --help
    assert_success
    assert_line --index 0 "Usage: dp-audit [options] sensitivity|failures|epsilon|canaries [--] 'STAGE | STAGE …'"
    complains 2 "dp-audit: expected one of: sensitivity, failures, epsilon, canaries" dp-audit --data small.dp
    complains 2 "dp-audit: expected one of: sensitivity, failures, epsilon, canaries" dp-audit --data small.dp keys x
    complains 2 "dp-audit: no pipeline (try --help)" dp-audit --data small.dp epsilon
    complains 2 "dp-audit: the pipeline is one argument: quote it" dp-audit --data small.dp epsilon -- dp-sample --data
    complains 2 "dp-audit: the pipeline has no {}, which the path of the data set replaces" dp-audit --data small.dp sensitivity 'dp-sample --data small.dp | dp-clip'
    complains 2 "dp-audit: an element of the pipeline is empty" dp-audit --data small.dp sensitivity 'dp-sample --data {} | | dp-clip'
    complains 2 "dp-audit: ';' in the pipeline: it must be stages joined by bars" dp-audit --data small.dp sensitivity 'true; dp-sample --data {}'
    complains 2 "dp-audit: a quote in the pipeline is not closed" dp-audit --data small.dp sensitivity "dp-sample --data '{}"
    complains 2 "dp-audit: the pipeline must sample rows and bound a sum: it is one stage" dp-audit --data small.dp sensitivity 'dp-sample --data {}'
    complains 2 "dp-audit: the pipeline has no dp-account, so that it claims nothing" dp-audit --data small.dp epsilon 'dp-sample --data {} | dp-step'
    complains 2 "dp-audit: small.dp has 50 rows" dp-audit --data small.dp --row 51 epsilon "$SAMPLE | $STEP | $GATE"
    complains 1 "dp-audit: cannot open none.dp/dataset.json: not a data set (see dp-import)" dp-audit --data none.dp sensitivity "$SAMPLE | $STEP"
}

@test "what cannot be audited is refused, and nothing is left behind" {
    mkdir tmp
    export TMPDIR=$PWD/tmp
    complains 2 "dp-audit: the pipeline ends with a raw frame: end it where the sum is bounded, before dp-noise" \
        dp-audit sensitivity --data small.dp "$SAMPLE | $STEP"
    complains 2 "dp-audit: the pipeline ends with a noised frame: end it where the sum is bounded, before dp-noise" \
        dp-audit sensitivity --data small.dp "$SAMPLE | $STEP --clip 1 | dp-noise -z 1"
    complains 2 "dp-scd-step: --lambda is required" dp-audit sensitivity --data small.dp "$SAMPLE | dp-scd-step --loss hinge"
    complains 5 "dp-account: the run is seeded: anybody who knows the seed knows the noise (--allow-seeded for experiments)" \
        dp-audit epsilon --seed 1 --data small.dp "$SAMPLE | $STEP --clip 1 | dp-noise -z 1 | dp-account -e 9 -d .1 | dp-step"
    complains 3 "dp-audit: the budget of epsilon = 1 does not pay for one lap; epsilon = 47.4 would" \
        dp-audit epsilon --data small.dp "$SAMPLE | $STEP --clip 1 | dp-noise -z .1 | dp-account -e 1 -d .1 | dp-step"
    complains 2 "dp-audit: no stage applies the released sum: put dp-step after dp-account" \
        dp-audit epsilon --data small.dp "$SAMPLE | $STEP --clip 1 | dp-noise -z 1 | dp-account -e 9 -d .01"
    complains 5 "dp-audit: the pipeline claims no epsilon" \
        dp-audit epsilon --data small.dp "$SAMPLE | $STEP --clip 1 | dp-noise -z 1 | dp-account --non-private | dp-step"
    run ls tmp
    assert_output ''
}

@test "a child that hangs is ended, a child that dies is reported" {
    mkdir tmp
    export TMPDIR=$PWD/tmp
    complains 1 "dp-audit: the child pipeline gave no answer within 1 s" \
        dp-audit sensitivity --timeout 1 --data small.dp "$SAMPLE | sh -c 'echo \$\$ > pid; exec sleep 60' {}"
    run ps -o stat= -p "$(cat pid)" # gone, or a zombie that nobody has fetched
    refute_output --regexp '^[^Z]'
    complains 1 "dp-audit: the child pipeline ended before it gave back a frame" \
        dp-audit sensitivity --data small.dp "$SAMPLE | true {}"
    # after a signal, long before that
    for signal in INT TERM HUP; do
        rm pid
        timeout --foreground 120 dp-audit sensitivity --data small.dp "$SAMPLE | sh -c 'echo \$\$ > pid; exec sleep 60' {}" 2> said &
        until [ -s pid ]; do sleep 0.05; done
        kill -$signal $(ps -o pid= --ppid $!)
        got=0 && wait $! || got=$?
        [ "$(cat said)" = 'dp-audit: interrupted' ] || fail "$signal, status $got: $(cat said)"
        run ps -o stat= -p "$(cat pid)"
        refute_output --regexp '^[^Z]'
    done
    run ls tmp
    assert_output ''
}

@test "sensitivity: every variant keeps to its bound, and comes close where it can" {
    worst() { sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output"; }
    for loss in squared hinge logistic smooth-hinge huber; do
        sensitivity --rows 6 -- "$SAMPLE | dp-scd-step --data {} --loss $loss --lambda 1e-2 --clip 0.003"
        assert_success
        awk "BEGIN { exit !($(worst) > 0.9999 && $(worst) <= 1) }" || fail "$loss: $output"
    done
    sensitivity -- "$SAMPLE | dp-scd-step --data {} --loss squared --lambda 1e-2 | dp-clip --data {} --clip 0.003"
    assert_success
    sensitivity -- "$SAMPLE --inline | dp-scd-step --loss squared --lambda 1e-2 | dp-clip --clip 0.003 --adjacency replace-one"
    assert_success
    sensitivity --rows 2 --laps 5 -- "dp-sample --data {} --rate 0.2 --mode shuffle | $STEP --clip 0.003 --release-alpha --threads 2"
    assert_success
    sensitivity --rows 6 -- "$SAMPLE | dp-scd-step --data {} --loss logistic --lambda 1e-2 --clip 0.003 --class-weights 1,.5"
    assert_success
    awk "BEGIN { exit !($(worst) > 0.9999 && $(worst) <= 1) }" || fail "$output"
    sensitivity -- "$SAMPLE | $STEP --clip 0.003 --variant sequential"
    assert_success
    sensitivity -- "dp-sample --data {} --mode full --columns 2 | dp-scd-step --data {} --loss logistic --lambda 1e-2 --clip 0.1 --variant primal"
    assert_success
    dp-synth classification --rows 60 --cols 9 --classes 4 --storage csr --seed 2 -o small.dp -q -f
    sensitivity -- "$SAMPLE | dp-scd-step --data {} --loss hinge --lambda 1e-2 --clip 0.003"
    assert_success
    dp-synth regression --rows 60 --cols 4 --seed 2 -o small.dp -q -f
    sensitivity -- "$SAMPLE | dp-scd-step --data {} --loss huber --lambda 1e-2 --clip 0.003"
    assert_success
}

@test "sensitivity: persons with several rows, which change together" {
    worst() { sed -n 's/^worst ratio \([0-9.]*\) of the declared sensitivity [0-9.]*: person .*/\1/p' <<< "$output"; }
    for classes in 2 4; do
        dp-synth classification --rows 60 --cols 3 --classes $classes --rows-per-person 3 --seed 2 -o small.dp -q -f
        for stages in 'dp-grad --data {} --loss logistic --clip 0.05' "dp-grad --data {} --loss hinge --clip 0.05 --class-weights $([ $classes = 2 ] || echo 1,.9,)1,.3" 'dp-grad --data {} --loss huberised-hinge --clip 0.3 --threads 3' \
            'dp-grad --data {} --loss smooth-hinge | dp-clip --data {} --clip 0.05 --adaptive 0.5' 'dp-moments --data {} --clip 0.5' 'dp-moments --data {}'; do
            sensitivity --rows 6 -- "$SAMPLE | $stages"
            assert_success
            awk "BEGIN { exit !($(worst) > 0.9999 && $(worst) <= 1) }" || fail "$stages: $output"
        done
        sensitivity --rows 6 -- "$SAMPLE --inline | dp-grad --loss logistic --clip 0.05 --adjacency replace-one"
        assert_success
        sensitivity --rows 6 -- "dp-sample --data {} --mode full | dp-grad --data {} --loss logistic --clip 0.05"
        assert_success
    done
    dp-synth classification --rows 60 --cols 9 --classes 4 --storage csr --rows-per-person 4 --seed 2 -o small.dp -q -f
    sensitivity -- "$SAMPLE | dp-grad --data {} --loss softmax --clip 0.05 --intercept 0.5"
    assert_success
    dp-synth regression --rows 60 --cols 4 --rows-per-person 11 --seed 2 -o small.dp -q -f
    sensitivity -- "$SAMPLE | dp-grad --data {} --loss huber --clip 0.05"
    assert_success
}

@test "sensitivity: rows with products of categories keep to their bound, and use all of it" {
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "c", "type": "categorical", "categories": ["u", "v"]},
        {"name": "d", "type": "categorical", "categories": ["p", "q"]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    { echo a,c,d,y; for i in {1..50}; do echo "$((i % 2)),$([ $((i % 3)) = 0 ] && echo u || echo v),$([ $((i % 5)) = 0 ] && echo p || echo q),$([ $((i % 7)) -lt 3 ] && echo yes || echo no)"; done; } > t.csv
    for how in '' --quantise; do
        dp-import csv -s s.json --basis products --products 100 $how --row-norm bounds -q -f -o small.dp t.csv
        for stages in 'dp-moments --data {}' 'dp-grad --data {} --loss logistic --clip 0.05 --threads 2' 'dp-scd-step --data {} --loss hinge --lambda 1e-2 --clip 0.003'; do
            sensitivity --rows 3 --laps 3 -- "$SAMPLE | $stages"
            assert_success
            awk -v r="$(sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output")" 'BEGIN { exit !(r > 0.999 && r <= 1) }' || fail "$stages: $output"
        done
        epsilon --canary row --others keep --row 50 --runs 300 --laps 1 -- "dp-sample --data {} --mode full | dp-moments --data {} | dp-noise -z 1 | $GATE"
        passed
    done
}

# counted ROWS_PER_PERSON: small.dp, 60 rows with missing numbers, texts of no category and a category that is dropped; persons if R > 1
counted() {
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": [0.3, 0.6], "indicator": true},
        {"name": "b", "type": "numeric", "bounds": [-3, 3]}, {"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "unknown": "zero"},
        {"name": "d", "type": "categorical", "categories": ["p", "q"], "drop": "first"}, {"name": "who", "type": "person", "rows_per_person": '$1'},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    [ $1 -gt 1 ] || { jq '.columns[4] = {name: "who", type: "ignore"}' s.json > one.json && mv one.json s.json; }
    awk 'BEGIN { srand(5); print "a,b,c,d,who,y"; for (i = 0; i < 60; i++) printf "%s,%.2f,%s,%s,%d,%s\n", i % 7 ? rand() : "", 8 * rand() - 4,
        substr("uvwz", 1 + int(4 * rand()), 1), rand() < .5 ? "p" : "q", i / 3, rand() < .5 ? "yes" : "no" }' > t.csv
    dp-import csv -s s.json -q -f "${@:2}" -o small.dp t.csv
}

@test "sensitivity: tables of counts and sums, of rows and of persons, and all of the bound is used" {
    for how in '1 --row-norm unit' '1 --row-norm bounds --storage csr' '3 --row-norm bounds'; do
        counted $how
        clips=()
        [ "${how%% *}" = 1 ] || clips=('--tables pairs --per-person 1.3')
        for stages in '--tables pairs' "--tables 'c,d;a;y' --sums b --adjacency replace-one" "--tables 'c,d;a' --sums b" "--tables 'c;y' --sums a,b --noise laplace" '--tables pairs --noise laplace' "${clips[@]}"; do
            sensitivity --rows 6 --laps 2 -- "$SAMPLE | dp-count --data {} $stages"
            assert_success
            # a row that is replaced leaves other cells than it enters, so √2 C of 2 C; rows of a person are rarely in the same cells
            least=.95
            [ "${how%% *}" = 1 ] || least=.8
            [[ $stages != *replace* ]] || least=.5
            awk -v least=$least -v r="$(sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output")" 'BEGIN { exit !(r > least && r <= 1) }' || fail "$how, $stages: $output"
        done
        sensitivity --rows 6 --laps 2 -- "dp-sample --data {} --mode full | dp-count --data {} --tables pairs --adjacency replace-one"
        assert_success
    done
    counted 1
    epsilon --row 50 --runs 300 --laps 1 -- "$SAMPLE | dp-count --data {} --tables 'c,d;a' --sums b | dp-noise -z 1 | $GATE | dp-table"
}

@test "sensitivity: the primal comes close to its bound where it can" {
    # one column: 2C of 2C sqrt(2)
    sensitivity -- "dp-sample --data {} --mode full --columns 1 | dp-scd-step --data {} --loss logistic --lambda 1e-2 --clip 0.001 --variant primal"
    assert_success
    awk -v r="$(sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output")" 'BEGIN { exit !(r > 0.6 && r < 0.70711) }' || fail "$output"
}

@test "sensitivity: what is kept of other rows does not depend on the one" {
    for loss in logistic squared; do
        sensitivity --rows 3 --laps 8 -- "dp-sample --data {} --rate 0.9 | dp-scd-step --data {} --loss $loss --lambda 1 --clip 10"
        assert_success
        sensitivity --rows 3 --laps 8 -- "dp-sample --data {} --rate 0.9 | dp-scd-step --data {} --loss $loss --lambda 1 | dp-clip --data {} --clip 10 --adaptive 0.5"
        assert_success
    done
}

@test "sensitivity: gradients of every loss, clipped by dp-clip or in place, keep to their bound" {
    worst() { sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output"; }
    # tight MORE LOSS: both methods give the same answer, and a row of some kind uses the whole bound
    tight() {
        sensitivity --rows 3 --laps 3 -- "$SAMPLE | dp-grad --data {} --loss $2 $1 --clip 0.003"
        assert_success
        awk "BEGIN { exit !($(worst) > 0.999 && $(worst) <= 1) }" || fail "$2 $1: $output"
        in_place=$output
        sensitivity --rows 3 --laps 3 -- "$SAMPLE | dp-grad --data {} --loss $2 $1 | dp-clip --data {} --clip 0.003"
        assert_success
        assert_output "$in_place"
    }
    for loss in logistic squared huberised-hinge hinge smooth-hinge; do
        tight "" $loss
    done
    tight "--intercept 1" logistic
    dp-synth classification --rows 60 --cols 9 --classes 4 --seed 2 -o small.dp -q -f
    tight "" softmax
    tight "--intercept 0.7" softmax
    tight "--threads 2" huberised-hinge
    dp-synth classification --rows 60 --cols 9 --classes 4 --storage csr --seed 2 -o small.dp -q -f
    tight "--intercept 1" softmax
    dp-synth regression --rows 60 --cols 4 --seed 2 -o small.dp -q -f
    tight "--intercept 1" huber
    /usr/bin/python3 -c "import numpy; numpy.save('small.dp/y.npy', numpy.random.default_rng(1).poisson(2, 60).astype(float))"
    tight "" poisson
    tight "--intercept 1" poisson
}

@test "sensitivity: gradients under replace-one, of batches of fixed size, and of rows inline" {
    sensitivity --rows 3 --laps 8 -- "dp-sample --data {} --rate 0.2 --mode fixed | dp-grad --data {} --loss logistic --clip 0.003 --adjacency replace-one"
    assert_success
    sensitivity --rows 3 --laps 8 -- "$SAMPLE --inline | dp-grad --loss logistic --intercept 1 --clip 0.003 --adjacency replace-one"
    assert_success
    assert_output --regexp "of the declared sensitivity 0.006:"
    sensitivity --rows 3 --laps 8 -- "dp-sample --data {} --mode full | dp-grad --data {} --loss logistic --clip 0.003"
    assert_success
}

@test "sensitivity: a bound that adapts, and its count" {
    for adjacency in null-record replace-one; do
        sensitivity --rows 3 -- "$SAMPLE | dp-grad --data {} --loss logistic | dp-clip --data {} --clip 0.1 --adaptive 0.5 --adjacency $adjacency"
        assert_success
        adaptive="$SAMPLE | dp-scd-step --data {} --loss hinge --lambda 1 | dp-clip --data {} --clip 0.003 --adaptive 0.9 --adjacency $adjacency"
        sensitivity --rows 3 -- "$adaptive"
        assert_success
    done
    # the count of a row that is present or not moves by 1/2: no smaller sensitivity may be claimed
    sensitivity --rows 3 -- "$SAMPLE | dp-grad --data {} --loss logistic | dp-clip --data {} --clip 0.1 --adaptive 0.5 | dp-mutant --count 0.5"
    assert_success
    sensitivity --rows 3 -- "$SAMPLE | dp-grad --data {} --loss logistic | dp-clip --data {} --clip 0.1 --adaptive 0.5 | dp-mutant --count 0.499"
    assert_failure 1
    assert_output --regexp "the count moved by 0.5, and the declared sensitivity is 0.499 "
    sensitivity --rows 3 -- "$SAMPLE | dp-grad --data {} --loss logistic | dp-clip --data {} --clip 0.1 --adaptive 0.5 --adjacency replace-one | dp-mutant --count 0.999"
    assert_failure 1
    assert_output --regexp "the count moved by 1, and the declared sensitivity is 0.999 "
}

@test "sensitivity: processes give the answer that fused stages give" {
    sensitivity --rows 2 --laps 3 --json -- "$SAMPLE | $STEP --clip 0.01"
    assert_success
    fused=$output
    sensitivity --rows 2 --laps 3 --json -- "$SAMPLE | $STEP --clip 0.01 | cat"
    assert_success
    assert_equal "$output" "$fused"
    assert_output --regexp '^\{"exceeded":false,"ratio":0\.[0-9]+,"measured":0\.00[0-9]+,"declared":0.01,"adjacency":"null-record",.*"sums":78\}$'
}

@test "sensitivity catches: no clipping" {
    sensitivity -- "$SAMPLE | $STEP --clip 1000 | dp-mutant --bound 0.01"
    assert_failure 1
    assert_output --regexp "^dp-audit: row [0-9]+ as '[^']+', lap [0-9]+: the sum moved by [0-9.]+, and the declared sensitivity is 0.01 \(ratio [0-9.]+\)$"
    # even one step of the grid too far is found: the claimed bound is just below the true one
    sensitivity -- "$SAMPLE | dp-scd-step --data {} --loss hinge --lambda 1e-2 --clip 0.00300001 | dp-mutant --bound 0.00299999"
    assert_failure 1
    sensitivity -- "$SAMPLE | dp-scd-step --data {} --loss hinge --lambda 1e-2 --clip 0.003 | dp-mutant --bound 0.003"
    assert_success
}

@test "sensitivity catches: division by the size of the batch" {
    sensitivity -- "$SAMPLE | $STEP | dp-mutant-mean --data {} --clip 0.01"
    assert_failure 1
    assert_output --regexp "the sum moved by [0-9.]+, and the declared sensitivity is 0.01 \(ratio [1-9][0-9.]+\)$"
    sensitivity -- "$SAMPLE | $STEP | dp-clip --data {} --clip 0.01"
    assert_success
}

@test "sensitivity catches: a record whose sampler is not the one that sampled" {
    sensitivity -- "dp-sample --data {} --rate 0.2 --mode shuffle | $STEP --clip 0.01 | dp-mutant --sampler poisson"
    assert_failure 5
    assert_output "dp-audit: rows were sampled as shuffle of rate 0.2, and lap 1 records poisson of rate 0.2"
}

# caught: the last audit found a lower bound above the claim; passed: it did not
caught() {
    assert_failure 1
    assert_output --regexp "^dp-audit: the pipeline claims epsilon = [0-9.]+, and at least [0-9.]+ was measured \(delta [0-9.]+, confidence 0.9999, [0-9]+ runs\)$"
}
passed() {
    assert_success
    assert_output --regexp "^epsilon is at least [0-9.]+ as measured, at most [0-9.]+ as claimed \(delta [0-9.]+, confidence 0.9999, [0-9]+ runs\)$"
}

@test "epsilon catches: twice the sensitivity" {
    epsilon --laps 1 --runs 1000 -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    passed
    epsilon --laps 1 --runs 2000 -- "dp-sample --data {} | $STEP --clip 0.02 | dp-mutant --bound 0.01 | dp-noise -z 1 | $GATE | dp-step"
    caught
}

@test "epsilon catches: half the noise, on all of the sum or on one output" {
    epsilon --laps 1 --runs 40 -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 0.5 | dp-mutant --multiplier 1 | $GATE | dp-step"
    assert_failure 1
    assert_output --regexp '^dp-audit: the noise on output 1 of the sum has 0\.[45][0-9]* times the scale in its record \(confidence 0.9999\)$'
    dp-synth classification --rows 60 --cols 9 --classes 4 --seed 2 -o small.dp -q -f
    epsilon --laps 2 --runs 40 -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 1 | dp-mutant --halve 4 | $GATE | dp-step"
    assert_failure 1
    assert_output --regexp '^dp-audit: the noise on output 4 of the sum has 0\.[45][0-9]* times the scale in its record \(confidence 0.9999\)$'
}

@test "epsilon: noise in shares, to one who knows those that may be known; and shares that are too small for that" {
    shares() {
        epsilon --laps 1 --runs "$1" --json -- "dp-gather --workers 4 --exec fused --local 'dp-sample --data {} --shard %k/%K --mode full |
            dp-grad --data {} --loss logistic --clip 0.01 | $2' | $GATE | dp-step --step 1"
    }
    # claimed: 1.1603, the analytic Gaussian at z = 1 and delta = 0.1. An adversary without a share sees more noise, one who
    # knows one of four shares sees exactly this noise.
    shares 400 "dp-noise -z 1 --share --colluding 1 --allow-seeded"
    assert_success
    shares 2000 "dp-mutant-share -z 1 --colluding 1 --among 3"
    assert_success
    /usr/bin/python3 -c 'import json, sys; a = json.loads(sys.argv[1]); assert 0.5 < a["measured"] < a["claimed"] < 1.17, a' "$output"
    shares 40 "dp-mutant-share -z 1 --colluding 3 --among 4"
    assert_failure 1
    assert_output --regexp '^dp-audit: the noise on output 1 of the sum has 0\.[0-9]* times the scale in its record \(confidence 0.9999\)$'
}

@test "a search whose choices have a hundredth of the noise that they are charged for is found out, an honest one is not" {
    search="dp-sample --data {} | dp-grad --data {} --loss logistic --clip 0.1 --keep-batch | dp-noise -z 5 |
        dp-linesearch --same-batch --data {} --tries 1 --clip 1.4 --first-step 1e4"
    for how in "--epsilon 1 --armijo 0" "--noise gaussian --rho 0.5 --armijo 0" "--method noisy-max --epsilon 1"; do
        epsilon --laps 1 --runs 500 -- "$search $how | $GATE | dp-step"
        assert_success
    done
    for how in "--epsilon 100 --armijo 0 | dp-mutant --search 0.01" "--noise gaussian --rho 5000 --armijo 0 | dp-mutant --search 1e-4" \
        "--method noisy-max --epsilon 100 | dp-mutant --search 0.01"; do
        epsilon --laps 1 --runs 2000 -- "$search $how | $GATE | dp-step"
        assert_failure 1
        assert_output --regexp '^dp-audit: the pipeline claims epsilon = [01]\.[0-9]+, and at least 3\.[0-9]+ was measured'
    done
}

@test "epsilon: the noise of dp-noise is honest on every output" {
    dp-synth classification --rows 60 --cols 9 --classes 3 --seed 2 -o small.dp -q -f
    epsilon --laps 3 --runs 40 -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    assert_success
    epsilon --laps 3 --runs 40 -- "dp-sample --data {} | dp-grad --data {} --loss softmax --intercept 1 --clip 0.01 | dp-noise -z 1 | $GATE | dp-step --step 1"
    assert_success
}

@test "epsilon: a person with several rows goes as a whole, and is bounded as a whole" {
    dp-synth classification --rows 60 --cols 3 --rows-per-person 3 --seed 2 -o small.dp -q -f
    step="dp-grad --data {} --loss logistic"
    epsilon --laps 1 --runs 1000 --row 3 -- "dp-sample --data {} | $step --clip 0.01 | dp-noise -z 1 | $GATE | dp-step --step 1"
    passed
    # as if the bound held for each row
    epsilon --laps 1 --runs 2000 --row 3 -- "dp-sample --data {} | $step --clip 0.02 | dp-mutant --bound 0.01 | dp-noise -z 1 | $GATE | dp-step --step 1"
    caught
}

@test "epsilon: of a single Gaussian, most of what there is" {
    # z = 1, delta = 0.1: epsilon is 1.1603 (analytic Gaussian). 2 x 8000 runs show over half of it and no more than all.
    epsilon --laps 1 --runs 8000 --json -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    assert_success
    assert_output --regexp '^\{"exceeded":false,"measured":[0-9.]+,"claimed":[0-9.]+,"delta":0.1[0-9]*,"confidence":'
    number() { sed "s/.*\"$1\":\([0-9.]*\).*/\1/" <<< "$output"; }
    awk "BEGIN { exit !($(number measured) > 0.6 && $(number measured) < 1.1603 && $(number claimed) > 1.1603) }" || fail "$output"
}

@test "epsilon catches: no clipping" {
    epsilon --runs 1000 -- "$SAMPLE | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    passed
    epsilon --runs 1000 -- "$SAMPLE | $STEP --clip 1 | dp-mutant --bound 0.01 | dp-noise -z 1 | $GATE | dp-step"
    caught
    epsilon --runs 1000 --others keep --canary row --row 7 -- "$SAMPLE | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    passed
}

@test "epsilon catches: shuffled batches accounted as Poisson samples" {
    epsilon --runs 500 -- "dp-sample --data {} --rate 0.2 --mode shuffle | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    passed
    epsilon --runs 500 -- "dp-mutant-sample --data {} --rate 0.2 --mode shuffle | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    assert_failure 1
    assert_output --regexp "^dp-audit: the batches are not Poisson samples of rate 0.2: [0-9]+ rows in both of two consecutive batches, expected [0-9.]+ \(confidence 0.9999\)$"
}

@test "epsilon catches: alpha released with its batch visible, and what the paper claims of that" {
    gate="dp-account --epsilon 1e6 --delta 0.01 --allow-seeded"
    pipeline="dp-sample --data {} --rate 0.02 | $STEP --clip 0.01 --release-alpha | dp-noise -z 1"
    epsilon --laps 250 --runs 1000 -- "$pipeline | $gate | dp-step"
    passed
    claim=$(dp-account epsilon --accountant published -z 1 --rate 0.02 --laps 250 --delta 0.01)
    epsilon --laps 250 --runs 2000 -- "$pipeline | $gate | dp-mutant --claim $claim | dp-step"
    caught
}

@test "epsilon catches: a reused key" {
    epsilon --runs 100 -- "$SAMPLE | $STEP --clip 0.01 | dp-mutant-noise -z 1 | $GATE | dp-step"
    assert_failure 1
    assert_output --regexp "^dp-audit: a key is used twice: lap [0-9]+ of run ([0-9]+) has the noise of lap [0-9]+ of run \1$"
    epsilon --runs 100 -- "$SAMPLE | $STEP --clip 0.01 | dp-mutant-key -z 1 | $GATE | dp-step"
    assert_failure 1
    assert_output --regexp "^dp-audit: a key is used twice: lap ([0-9]+) of run [0-9]+ has the noise of lap \1 of run [0-9]+$"
}

@test "epsilon: fresh keys without a seed, processes, one-vs-rest, the primal" {
    run dp-audit epsilon --data small.dp --runs 40 --laps 2 -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 1 | dp-account -e 1e6 -d 0.1 --allow-weak | dp-step"
    assert_success
    epsilon --runs 40 --laps 2 -- "dp-sample --data {} | $STEP --clip 0.01 | dp-noise -z 0.1 | $GATE | dp-step"
    fused=$output
    epsilon --runs 40 --laps 2 -- "dp-sample --data {} | $STEP --clip 0.01 | cat | dp-noise -z 0.1 | $GATE | dp-step"
    assert_success
    assert_output "$fused"
    dp-synth classification --rows 60 --cols 9 --classes 4 --storage csr --seed 2 -o classes.dp -q
    within 60 "$AUDIT" epsilon --data classes.dp --seed 1 --runs 400 -- "$SAMPLE | $STEP --clip 0.01 | dp-noise -z 1 | $GATE | dp-step"
    assert_success
    epsilon --runs 400 --laps 3 -- "dp-sample --data {} --mode full --columns 2 | dp-scd-step --data {} --loss logistic --lambda 1e-2 --clip 0.1 --variant primal | dp-noise -z 1 | $GATE | dp-step"
    assert_success
}

@test "epsilon: gradients, and a bound that adapts" {
    epsilon --runs 400 --laps 3 -- "$SAMPLE | dp-grad --data {} --loss logistic --intercept 1 --clip 0.1 | dp-noise -z 1 | $GATE | dp-step --step 0.5"
    passed
    epsilon --runs 400 --laps 3 -- "$SAMPLE | dp-grad --data {} --loss logistic | dp-clip --data {} --clip 0.1 --adaptive 0.5 | dp-noise -z 1 --count-multiplier 5 | $GATE | dp-step --step 0.5"
    passed
    epsilon --runs 400 --laps 3 -- "$SAMPLE | dp-grad --data {} --loss logistic --clip 1 | dp-mutant --bound 0.1 | dp-noise -z 1 | $GATE | dp-step --step 0.5"
    caught
}

@test "moments: no row moves them by more than the square of its norm, and the canary shows no more than is claimed" {
    for how in '' '--intercept 0.5' '--intercept 0.5 --labels' '--labels --label-bound 0.3 --threads 2' '--clip 0.2 --adjacency replace-one'; do
        for data in 'classification --cols 3' 'classification --cols 3 --classes 4 --storage csr' 'regression --cols 3'; do
            dp-synth $data --rows 50 --seed 1 -o small.dp -q -f
            sensitivity --rows 2 --laps 2 -- "$SAMPLE | dp-moments --data {} $how"
            assert_success
            # some row uses the whole bound; an exchange moves moments by at most the root of 2 of the bound, and is charged as
            # twice the bound
            least=$([[ $how == *replace-one ]] && echo 0.6 || echo 0.999)
            awk -v r="$(sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output")" -v least="$least" \
                'BEGIN { exit !(r > least && r <= 1) }' || fail "$how: $output"
        done
    done
    sensitivity --rows 6 -- "$SAMPLE --inline | dp-moments --intercept 0.5"
    assert_success
    dp-synth classification --rows 50 --cols 3 --seed 1 -o small.dp -q -f
    epsilon --runs 400 --laps 3 -- "dp-sample --data {} --mode full | dp-moments --data {} | dp-noise -z 1 | $GATE"
    passed
    epsilon --runs 400 --laps 1 -- "dp-sample --data {} --mode full | dp-moments --data {} | dp-mutant --bound 0.1 | dp-noise -z 1 | $GATE"
    caught
    epsilon --runs 400 --laps 3 -- "$SAMPLE | dp-moments --data {} --intercept 0.5 --labels | dp-noise -z 1 | $GATE"
    assert_success
}

canaries() { within 300 "$AUDIT" canaries --data small.dp --confidence 0.9999 --seed 1 "$@"; }
CHARGE="dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded"
GRAD="dp-grad --data {} --loss logistic --clip .1"

@test "canaries: forty runs of mu = .5 show a bound each, and none above the truth" {
    pipeline="dp-sample --data {} --mode full | $GRAD | dp-noise -z 8 | dp-account --epsilon 9 --delta 1e-5 --allow-seeded | dp-step --step 1"
    for seed in {1..40}; do dp-audit canaries --data small.dp --confidence .95 --laps 16 --seed "$seed" --json -- "$pipeline"; done > runs
    # at 95 %, two of 40 on average are above the truth; that ten or more are has a probability below 1e-4, and these seeds are fixed
    run jq -s '[.[].mu] | {above: map(select(. > .5)) | length, median: (sort | .[20] > .15), claims: (map(select(. > 0)) | length > 30)}' -c runs
    assert_output '{"above":0,"median":true,"claims":true}'
    run jq -s 'all(.claimed > 1.9 and .claimed < 2.1 and .guesses == 200 and (.exceeded | not))' runs
    assert_output true
}

@test "canaries: out of the rows is out of the batches" {
    # of 40 canaries the coins of this seed leave 10 to 30 in, with all 50 rows
    pipeline="dp-sample --data {} --rate 1 --mode poisson | tee batches | $GRAD | dp-noise -z 8 | $CHARGE | dp-step --step 1"
    canaries --canaries 40 --laps 1 -- "$pipeline"
    assert_success
    run jq '.rows.shape[0] | . >= 60 and . <= 80' <(dp-cat --full --lap 1 batches)
    assert_output true
}

@test "canaries: what cannot be audited is refused, and nothing is left behind" {
    mkdir tmp
    export TMPDIR=$PWD/tmp
    pipeline="$SAMPLE | $GRAD | dp-noise -z 2 | $CHARGE"
    refused=("$AUDIT" canaries --data small.dp --seed 1)
    complains 2 "dp-audit: the pipeline must sample rows, release a noised sum of them through dp-account, and apply it" "${refused[@]}" "$pipeline"
    complains 2 "dp-audit: the pipeline must sample rows, release a noised sum of them through dp-account, and apply it" "${refused[@]}" "$SAMPLE | $GRAD"
    complains 2 "dp-audit: the batches of this pipeline are visible: use dp-audit epsilon" \
        "${refused[@]}" "$SAMPLE | $STEP --clip .01 --release-alpha | dp-noise -z 2 | $CHARGE | dp-step"
    complains 2 "dp-audit: the audit needs a linear model of all columns" \
        "${refused[@]}" "$SAMPLE | dp-moments --data {} | dp-noise -z 2 | $CHARGE | dp-transform"
    complains 3 "dp-audit: the budget of epsilon = 1 does not pay for one lap; epsilon = 47.4 would" \
        "${refused[@]}" "$SAMPLE | $GRAD | dp-noise -z .1 | dp-account -e 1 -d .1 --allow-seeded | dp-step --step 1"
    printf 'who,x,y\na,1,0\na,2,1\nb,0,1\n' > people.csv
    echo '{"header": true, "columns": [{"name": "who", "type": "person"}, {"name": "x", "type": "numeric", "bounds": [0, 2]},
        {"name": "y", "type": "label", "classes": [["0"], ["1"]]}]}' > schema.json
    dp-import csv --schema schema.json --rows-per-person 2 -o people.dp -q people.csv
    complains 2 "dp-audit: the rows of people.dp belong to persons: use dp-audit epsilon" \
        "$AUDIT" canaries --data people.dp "$pipeline | dp-step --step 1"
    run ls tmp
    assert_output ''
}

@test "canaries: mistakes are found in one run" {
    full="dp-sample --data {} --mode full"
    canaries --laps 4 -- "$full | $GRAD | dp-noise -z 8 | $CHARGE | dp-step --step 1"
    assert_success
    # less noise than recorded; contributions above the bound; a batch that is not drawn by coins; an epsilon that is too small
    for pipeline in "$full | $GRAD | dp-noise -z .5 | dp-mutant --multiplier 8 | $CHARGE" \
        "$full | dp-grad --data {} --loss logistic --clip .4 | dp-mutant --bound .02 | dp-noise -z 8 | $CHARGE" \
        "$full | $GRAD | dp-noise -z .7 | $CHARGE | dp-mutant --claim .5" \
        "$full | $GRAD | dp-noise -z .5 | dp-mutant --multiplier 8 | dp-account --epsilon 2 --delta 1e-5 --allow-seeded --adaptive"; do
        canaries --laps 4 -- "$pipeline | dp-step --step 1"
        assert_failure 1
        assert_output --regexp '^dp-audit: the pipeline claims epsilon = [0-9.]+, and at least [0-9.]+ was measured \(delta [0-9.e-]+, confidence 0.9999, [0-9]+ of 200 guesses right\)$'
    done
}

# At this rate one batch in two is empty without the row.
RARE="dp-sample --data {} --rate 0.02"
END="dp-noise -z 1 | $GATE"

@test "failures passes: batches without a row, in this process and in several; a run that ends in the same lap" {
    failures "$RARE | dp-grad --data {} --loss logistic --clip 1 | $END | dp-step --step 1"
    assert_success
    assert_output "26 runs of 6 laps show nothing else of the row than what is charged"
    failures --rows 1 --laps 3 "$RARE | dp-grad --data {} --loss logistic --clip 1 | cat | $END | dp-step --step 1"
    assert_success
    failures --rows 1 --json "$RARE | $STEP --clip 1 | dp-noise -z 1 | dp-account --epsilon .55 --delta 1e-5 --allow-seeded | dp-step"
    assert_success
    assert_equal "$(jq -c '[.differs, .runs, .ended > 1]' <<< "$output")" '[false,13,true]'
}

@test "failures catches: a status, a warning and a field that depend on a row" {
    dp-synth regression --rows 50 --cols 3 --seed 1 -o reg.dp -q
    for what in fail warn lost; do
        failures "$RARE | dp-mutant --empty $what | dp-grad --data {} --loss logistic --clip 1 | $END | dp-step --step 1"
        assert_equal "$status" 1
        case $what in
        fail) assert_output --regexp "^dp-audit: row [0-9]+ as 'itself': the lap at which the run ends differs from the run without it" ;;
        warn) assert_output --regexp "^dp-audit: row [0-9]+ as 'itself': standard error differs from the run without it" ;;
        lost) assert_output --regexp "^dp-audit: row [0-9]+ as 'itself', lap [1-6]: the frame shows it in a field that is not charged \(lost" ;;
        esac
        # the same as processes, of which nothing but this sentence is seen
        [ $what = fail ] || continue
        failures "$RARE | sh -c 'exec dp-cat' {} | dp-grad --data {} --loss logistic --clip 1 | $END | dp-step --step 1"
        assert_equal "$status" 1
    done
    # a row that is not finite, or a label of 1e300, counts for nothing in every way
    failures --rows 1 --data reg.dp "dp-sample --data {} --mode full | dp-grad --data {} --loss huber --clip 1 | $END | dp-step --step 1"
    assert_success
}

@test "failures: rows inside frames are put into batches, and a row that is in none is an error" {
    inline="dp-sample --data {} --inline" grad="dp-grad --loss logistic --clip 1"
    for mode in poisson fixed; do
        failures --rows 1 "$inline --rate 0.02 --mode $mode | tee -a seen | $grad --adjacency replace-one | $END | dp-step --step 1"
        assert_success
        # three entries of 1e30, in each of six laps
        run -0 env LC_ALL=C grep -aoP '\xca\xf2\x49\x71' seen
        assert_equal "${#lines[@]}" 18
        rm seen
    done
    failures "$inline --rate 0.01 | dp-mutant --empty warn | $grad | $END | dp-step --step 1"
    assert_equal "$status" 1
    assert_output --regexp "^dp-audit: row [0-9]+ as 'itself': standard error differs from the run without it"
    failures --rows 1 --laps 2 "dp-sample --data {} --mode shuffle --rate 0.02 | $grad --data {} | $END | dp-step --step 1"
    assert_equal "$status" 1
    assert_output --regexp "^dp-audit: row [0-9]+ was in no batch: more laps, or a higher rate$"
}

@test "failures: all of standard error, and the frames before and after the laps" {
    own() { failures --rows 1 "$RARE | dp-grad --data {} --loss logistic --clip 1 | sh -c '$1' {}/X.npy | $GATE | dp-step --step 1"; }
    own 'head -c 70000 /dev/zero >&2; cksum "$0" >&2; exec dp-noise -z 1'
    assert_equal "$status" 1
    assert_output --regexp "^dp-audit: row [0-9]+ as 'itself': standard error differs from the run without it"
    own 'exec dp-noise -z 1.$(cksum "$0" | cut -c 1-6)'
    assert_equal "$status" 1
    assert_output --regexp "^dp-audit: row [0-9]+ as 'itself', at the start: the frame shows it in a field that is not charged"
}
