# The methods of the pipelines, on small and on real data: they learn, and spend their budget.
load helper
load pipelines

@test "privgene.sh learns, has as many choices as the paper, and spends its budget on them, with a delta or hardly any" {
    dp-synth classification --rows 1000 --cols 6 --seed 2 -o train.dp --test held-out.dp -q
    privgene.sh -q --data train.dp --epsilon 8 --seed 1 -o model
    above "$(accuracy held-out.dp model)" 0.85
    assert_equal "$(dp-info --get lap model)" 80
    above "$(dp-info --get epsilon model)" 7.999
    privgene.sh -q --data train.dp --epsilon 80 --allow-weak --seed 1 --offspring 10 -o model
    assert_equal "$(dp-info --get lap model)" 100 # .00125 of epsilon times the rows
    # each choice has its share, independent of delta
    privgene.sh -q --data train.dp --epsilon 2 --delta 1e-100 --epochs 50 --intercept 0.5 --offspring 10 --seed 1 | dp-cat --last > last
    grep -q '"noise":"exponential","epsilon":0.0399996' last
    privgene.sh --data train.dp --epsilon 2 --epochs 50 --decay 0.5 --parents 3 --adjacency replace-one --lambda 0.1 --print > printed
    grep -qE -- '--offspring 200 --parents 3 --mutation 2 --decay 0.5 .*--lambda 0.1 .*--clip 0.1 --relative .*--adjacency replace-one' <(tr -d '\n' < printed)
}

@test "dp-sgd.sh, dp-adam.sh and adp-sgd.sh learn, spend their budget to the last lap, and say what they are" {
    # laps of many multipliers take long to plan: fewer of them
    for p in "dp-sgd --epochs 10" "dp-adam --epochs 10" "adp-sgd --epochs 1" "adp-sgd --epochs 10 --schedule adaptive"; do
        read -ra words <<< "$p"
        "${words[0]}.sh" "${words[@]:1}" --data small.dp --epsilon 2 --batch 50 --intercept 0.5 --seed 1 -o model
        above "$(accuracy test.dp model)" 0.85
        assert_equal "$(dp-info --get lap model) $(dp-info --get method model)" "$((40 * words[2])) gradient"
        above "$(dp-info --get epsilon model)" 1.999
        above 2 "$(dp-info --get epsilon model)"
    done
}

@test "blsgd.sh, blgd.sh and agd.sh learn without a step size, end within the budget, and show each private query" {
    for p in blsgd blgd agd; do
        $p.sh --data small.dp --epsilon 2 --seed 1 -o model 2> said
        assert_regex "$(cat said)" "^$p.sh: epsilon (2|1.[89][0-9]*), delta 1e-05 \\(seeded: not private\\); one row is taken for one person; [0-9]+ laps; the model is in model\$"
        above "$(accuracy test.dp model)" 0.9
        above 2 "$(dp-info --get epsilon model)"
        $p.sh --data small.dp --epsilon 2 --seed 1 -o other --print > command
        assert_equal "$(grep -cE '^ *dp-(noise +--on gradient|linesearch +--on search|account) ' command)" 3
        bash command > /dev/null 2>&1
        cmp model other
    done
    # laps that are fixed before the run are charged as such, and the budget pays for all of them
    blsgd.sh -q --data small.dp --epsilon 2 --seed 1 -o model
    assert_equal "$(dp-info --get lap model)" 160
    above "$(dp-info --get epsilon model)" 1.8
}

@test "line search: gradients and searches share the budget as they are told" {
    records() { blsgd.sh -q --data small.dp --epochs 0.4 --seed 1 "$@" | dp-cat --kind lap --full | grep -o '"records":[^]]*'; }
    sigma=$(dp-account sigma --epsilon 1 --delta 1e-5 --rate 200/2000 --laps 4)
    records --share 0.36 > some
    assert_equal "$(wc -l < some)" 8
    /usr/bin/python3 - "$sigma" some << 'EOF'
import json, sys
sigma, records = float(sys.argv[1]), [json.loads("{" + line + "]}")["records"][0] for line in open(sys.argv[2])]
for gradient, search in zip(records[0::2], records[1::2]):
    assert gradient["of"] == "sum" and gradient["rate"] == search["rate"] == 0.1 and gradient["sensitivity"] == 0.5
    assert abs(gradient["multiplier"] / (sigma / 0.8) - 1) < 2e-5, gradient
    assert search["of"] == "choice" and search["most"] == 30 and search["sensitivity"] == 2
    assert abs((search["epsilon"] + 2 * search["query_epsilon"]) / (0.6 / sigma) - 1) < 2e-5, search
EOF
    records --search-epsilon 0.01 --multiplier 40 --loss-clip 3 --tries 7 --clip 0.25 > some
    assert_equal "$(grep -c '"sensitivity":0.25,.*"multiplier":40\b' some) $(grep -c '"sensitivity":3,.*"epsilon":0.005,"query_epsilon":0.0025,"most":7\b' some)" '4 4'
    records --epsilon 4 --search-epsilon 0.01 --noise gaussian > some
    assert_equal "$(grep -c '"noise":"sparse-vector-gaussian","rho":5e-05,"most":30\b' some)" 4
    records --adjacency replace-one > some
    assert_equal "$(grep -c '"adjacency":"replace-one",.*"sensitivity":1,' some) $(grep -c '"adjacency":"replace-one",.*"sensitivity":4,' some)" '4 4'
    agd.sh -q --data small.dp --epochs 4 --search-epsilon 0.1 --seed 1 | dp-cat --kind lap --full > some
    assert_equal "$(grep -c '"of":"choice","sampler":"full",.*"noise":"pure","epsilon":0.1\b' some)" 4
}

@test "line search: noise and clip that follow what was released" {
    # no step is ever found: gradients grow alike, and searches get a larger budget
    blsgd.sh -q --data small.dp --epochs 2 --seed 1 --policy adaptive --armijo 1000 --epsilon 20 | dp-cat --kind lap --full > some
    above "$(grep -o '"of":"choice".*"query_epsilon":[0-9.]*' some | sed 's/.*"query_epsilon"://' | sort -u | wc -l)" 2
    blsgd.sh -q --data small.dp --epochs 2 --seed 1 --policy on-failure --armijo 1000 --epsilon 20 | dp-cat --kind lap --full > some
    above "$(grep -o '"of":"sum".*"multiplier":[0-9.]*' some | sed 's/.*"multiplier"://' | sort -u | wc -l)" 2
    blsgd.sh -q --data small.dp --epochs 1 --seed 1 --clip 1 --policy on-failure --clip-decay 0.5 --armijo 1000 --epsilon 20 | dp-cat --kind lap --full > some
    assert_equal "$(grep -o '"of":"sum".*"bound":[0-9.]*' some | sed 's/.*"bound"://' | head -n 3 | paste -sd ' ')" '1 0.5 0.5'
}

@test "line search: bad budgets, steps and tries, and a budget that does not pay for one lap of each kind" {
    for p in blsgd blgd agd; do
        for dear in "--multiplier 0.01" "--search-epsilon 100"; do
            run $p.sh --data small.dp --seed 1 -o model $dear
            assert_failure 3
            assert_output --regexp "^dp-loop: the budget of epsilon = 1 does not pay for one lap of each kind; epsilon = [0-9.]+ would$"
            assert_not_exists model
        done
    done
    complains 2 "blsgd.sh: --clip-decay needs a --policy: clips fall when budgets grow" blsgd.sh --data small.dp --clip-decay 0.05
}

@test "real data: blsgd.sh on Adult is near the best DP-SGD, with no step size tuned" {
    need_data adult adult.data.gz
    dp-import csv -q --schema "$ROOT/examples/dp-scd/schema-adult.json" --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    blsgd.sh -q --data train.dp --epsilon 0.8 --delta 1e-8 --seed 1 -o model
    above "$(accuracy held-out.dp model)" 0.82 # the majority: 0.76
    above 0.8 "$(dp-info --get epsilon model)"
}

# steps OPTION…: the options of dp-step
steps() { "$1" --data small.dp --print "${@:2}" 2> /dev/null | sed -n "s/^ *dp-step *\\(.*\\)'$/\\1/p"; }

@test "bassily.sh: step sizes and radius, of lambda or of the bound on a noisy gradient" {
    assert_equal "$(steps bassily.sh --lambda 0.01)" '--step 100 --schedule inverse --project 100'
    assert_equal "$(steps bassily.sh --lambda 0.01 --clip 0.5 --radius 7)" '--step 100 --schedule inverse --project 7'
    # with almost no noise G = C sqrt(1 + 1/b); eight weights, nine with an intercept, three times as many with three classes
    assert_equal "$(steps bassily.sh --multiplier 1e-9 --clip 2 --batch 8)" '--step 4.71405 --schedule sqrt:0:1 --project 10'
    assert_equal "$(steps bassily.sh --multiplier 20 --batch 50 --radius 3)" "--step $(calculate '3 / sqrt(1.02 + 8 * 0.16)') --schedule sqrt:0:1 --project 3"
    assert_equal "$(steps bassily.sh --multiplier 20 --adjacency replace-one --intercept 1)" "--step $(calculate '10 / sqrt(1.02 + 9 * 0.64)') --schedule sqrt:0:1 --project 10"
    dp-synth classification --rows 300 --cols 4 --classes 3 --seed 1 -q -o three.dp
    assert_equal "$(steps bassily.sh --multiplier 20 --data three.dp | sed 's/^--step //; s/ .*//')" "$(calculate '10 / sqrt(1.02 + 12 * 0.16)')"
    bassily.sh -q --data small.dp --radius 0.1 --seed 1 -o model
    dp-info --get model model > weights
    above "$(awk '{ s += $1 * $1 } END { print 0.1000001 - sqrt(s) }' weights)" 0
}
calculate() { awk "BEGIN { OFMT = \"%.6g\"; print ($1) }"; }

@test "bassily.sh learns, with and without strong convexity, and spends its budget to the last lap" {
    for more in "" "--lambda 1e-3"; do
        bassily.sh -q --data small.dp --epsilon 2 --seed 1 $more -o model
        above "$(accuracy test.dp model)" 0.9
        assert_equal "$(dp-info --get lap model) $(dp-info --get method model)" "400 gradient"
        above "$(dp-info --get epsilon model)" 1.999
        above 2 "$(dp-info --get epsilon model)"
    done
}

@test "bassily.sh --constants 2014: the paper's noise, and the epsilon that it costs" {
    z=$(calculate '50/2000 * sqrt(32 * 400 * log(2000 / 1e-5) * log(1 / 1e-5)) / 1.5')
    bassily.sh -q --data small.dp --constants 2014 --epsilon 1.5 --seed 1 -o model
    run dp-cat --full --last model
    assert_output --partial "\"multiplier\":$z}"
    stated=$(dp-info --get epsilon model)
    cost=$(dp-account epsilon --multiplier "$z" --delta 1e-5 --rate 50/2000 --laps 400)
    above "$stated" "$(calculate "$cost * 0.9999")"
    above "$(calculate "$cost * 1.0001")" "$stated"
    above 0.06 "$stated"
    # under replace-one adjacency the scale is the paper's, too, in units of twice the clip bound
    bassily.sh --data small.dp --constants 2014 --epsilon 1.5 --adjacency replace-one --print > print
    grep -q "dp-noise *--multiplier $(calculate "$z / 2") " print
    # where they are too small the gate ends the run
    run bassily.sh -q --data small.dp --constants 2014 --epsilon 200 --seed 1 -o model
    assert_failure 3
    above 200 "$(dp-info --get epsilon model)"
}

@test "rrpsgd.sh: noise for the laps that were drawn, spent to the last of them, and the last model" {
    for seed in 3 4; do
        rrpsgd.sh --data small.dp --step 4 --seed $seed -o model 2> said
        laps=$(dp-info --get lap model)
        assert_equal "$(head -n 1 said)" "rrpsgd.sh: $laps of at most 200 laps"
        above "$(dp-info --get epsilon model)" 0.999
        above 1 "$(dp-info --get epsilon model)"
        run dp-cat --full --last model
        assert_output --partial "\"multiplier\":$(dp-account sigma --epsilon 1 --delta 1e-5 --rate 100/2000 --laps "$laps")}"
        refute_output --partial '"average"'
        # the number follows from the seed only
        rrpsgd.sh -q --data small.dp --step 4 --seed $seed -o again
        cmp model again
    done
    above "$(accuracy test.dp model)" 0.85
}

drawn() { rrpsgd.sh --data small.dp --multiplier 1 --print "$@" 2>&1 | sed -n 's/^rrpsgd.sh: \([0-9]*\) of at most.*/\1/p'; }

@test "rrpsgd.sh: the law of the number of laps" {
    # of three laps a third each
    for seed in $(seq 36); do drawn --seed "$seed" --batch 1000 --epochs 1.5; done | sort -n | uniq -c > counts
    assert_equal "$(awk '{ printf "%s ", $2 }' counts)" '1 2 3 '
    above "$(awk '{ print $1 }' counts | sort -n | head -n 1)" 5
    # weights 2 eta - beta eta^2 of the step after the last, here nearly all on one: all steps are small except one, or one is
    # near 2 / beta
    printf '%s\n' '# b' 1 1e6 '' 1 1e6 1e6 > b
    assert_equal "$(drawn --seed 1 --batch 1000 --epochs 2 --schedule b --smoothness 1)" 2
    printf '%s\n' 1 1.0000001 2 1.0000001 1.0000001 9 9 > b
    for seed in 1 2 3; do assert_equal "$(drawn --seed $seed --batch 1000 --epochs 2 --schedule b --smoothness 2)" 2; done
    # without a seed it is random
    for run in 1 2 3 4 5; do drawn --batch 2 --epochs 100; done | sort -u > several # the same five times: once in 10^20
    above "$(wc -l < several)" 2
}

@test "rrpsgd.sh: the bound of Theorem 5 holds for this law, and not for the printed one" {
    # F = w^2 / 2 from its minimum, beta = 1, unit noise on the gradient, exactly; steps 1, .01, .01, … to a horizon of 100 laps. The bound is
    # (0 + sum eta_k^2) / sum (2 eta_k - eta_k^2), for which the gradient at the model of R is w itself.
    { echo 1 && yes 100 | sed 100q; } > b
    awk '{ eta[NR - 1] = 1 / $1 }
        END {
            for (k = 0; k < NR; k++) {
                a = 2 * eta[k] - eta[k] ^ 2
                if (k > 0) { here += a * v; weight += a } # v: of w before step k, which is the model of R = k
                v = (1 - eta[k]) ^ 2 * v + eta[k] ^ 2
                if (k < NR - 1) { printed += a * v; all += a; bound += eta[k] ^ 2 }
            }
            print here / weight, printed / all, (bound + eta[NR - 1] ^ 2) / weight, bound / all
        }' b > sums
    read -r here printed bound bound_printed < sums
    above "$bound" "$here"
    above "$printed" "$bound_printed"
    # here is the law of the pipeline: half of its R are below the median of 2 eta - eta^2 over the steps 1 to 100, so not nearly all are 1
    for seed in 1 2 3 4 5; do drawn --seed $seed --batch 1000 --epochs 50 --schedule b --smoothness 1; done | sort -n > laps
    above "$(sed -n 3p laps)" 5
}

@test "rrpsgd.sh: steps and laps that are not, and a run that goes on" {
    seq 6 > b
    short='--data small.dp --batch 1000 --epochs 3'
    {
        complains 2 "rrpsgd.sh: --schedule: needs --smoothness, by which the number of laps is drawn" rrpsgd.sh $short --schedule b
        complains 2 "rrpsgd.sh: --schedule: must be constant or a file, got 'sqrt:1:1'" rrpsgd.sh $short --schedule sqrt:1:1
        complains 2 "rrpsgd.sh: --schedule, --step, --smoothness: need 7 steps above 0 and below 2 / BETA" \
            rrpsgd.sh $short --schedule b --smoothness 1
        complains 2 "rrpsgd.sh: --schedule, --step, --smoothness: need 7 steps above 0 and below 2 / BETA" rrpsgd.sh $short --step 4 --smoothness 0.5
        complains 2 "rrpsgd.sh: --rounds: must be at most 6, got '7'" rrpsgd.sh $short --rounds 7
        complains 2 "rrpsgd.sh: --resume: needs --rounds, the laps that the run was to have" rrpsgd.sh $short --resume kept
        rrpsgd.sh -q $short --rounds 4 -o model
    }
    assert_equal "$(dp-info --get lap model)" 4
    run_of="rrpsgd.sh -q --data small.dp --epochs 100 --batch 10 --seed 4"
    $run_of -o whole
    $run_of --checkpoint kept --checkpoint-every 100 2> said | head -c 200000 > part || true
    assert_dir_exist kept
    $run_of --resume kept -o resumed
    dp-cmp whole resumed
}

# certified DATA LOSS LAMBDA EPOCHS STEP: full-batch sgd.sh reaches the optimum that scd-nonprivate.sh certifies by its gap
certified() {
    scd-nonprivate.sh --data "$1" --loss "$2" --lambda "$3" --epochs 3000 -q -o optimum
    above 1e-6 "$(dp-info --get gap optimum)"
    sgd.sh --data "$1" --loss "$2" --lambda "$3" --batch 1000000 --epochs "$4" --step "$5" -q -o model
    assert_equal "$(dp-info --get non_private model)" true
    reached=$(dp-eval --data "$1" --metrics objective -i model | tail -n 1 | cut -f 3)
    /usr/bin/python3 -c '
import sys
best, gap, reached = map(float, sys.argv[1:])
assert best - gap - 1e-12 <= reached <= best + 1e-4 * best, sys.argv' "$(dp-info --get objective optimum)" "$(dp-info --get gap optimum)" "$reached"
}

@test "sgd.sh reaches the optimum that the duality gap certifies, within 1e-4 of the objective" {
    certified small.dp logistic 1e-2 300 4
    certified small.dp smooth-hinge 1e-2 300 1
    certified real.dp squared 1e-2 300 1
}

@test "real data: sgd.sh reaches the certified optimum on Phishing" {
    need_data phishing phishing.gz
    dp-import libsvm -q --row-norm unit --no-bias --scale max-abs --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    certified train.dp logistic 1e-3 1500 6
}

@test "scd-published.sh: with its sound epsilon, and the calculator has the published one" {
    scd-published.sh --data small.dp --batch 50 --seed 1 -o model > run
    above "$(dp-info --get epsilon model)" 2.9
    scd-published.sh --data small.dp --batch 50 --seed 1 > run
    assert_equal "$(dp-cat run | dp-account epsilon --accountant published --delta 1e-5 2> said)" 1
}

@test "seq-scd.sh and primal-scd.sh run for every loss they take" {
    for loss in squared hinge logistic smooth-hinge huber; do
        seq-scd.sh --data small.dp --loss $loss --epochs 1 --batch 20 --seed 1 -o model
        [ $loss = hinge ] || primal-scd.sh --data small.dp --loss $loss --epochs 3 --epsilon 5 --seed 1 -o model
    done
    above 5 "$(dp-info --get epsilon model)"
}

@test "non-private SCD: duality gap below 1e-6 for every loss but hinge's slow tail, and for hinge" {
    for loss in squared logistic smooth-hinge huber hinge; do
        scd-nonprivate.sh --data small.dp --loss $loss --lambda 1e-2 --epochs 3000 -q -o model
        gap=$(dp-info --get gap model)
        above 1e-6 "$gap"
        above "$gap" -1e-12
        assert_equal "$(dp-info --get non_private model)" true
    done
}

@test "non-private SCD: ridge regression is the solution of the normal equations" {
    dp-loop --laps 400 --seed 1 -o model -- "dp-sample --data real.dp --mode shuffle | dp-scd-step --data real.dp --loss squared --lambda 0.01 --variant non-private |
        dp-account --non-private --allow-seeded | dp-step" > /dev/null
    dp-info --get model model > weights
    /usr/bin/python3 - "$(dp-info --get scale model)" << 'EOF'
import numpy as np, sys
X, y = np.load("real.dp/X.npy").astype(float), np.load("real.dp/y.npy")
exact = np.linalg.solve(X.T @ X / len(y) + 0.01 * np.eye(X.shape[1]), X.T @ y / len(y))
found = np.loadtxt("weights") * float(sys.argv[1])
assert np.allclose(found, exact, rtol=0, atol=1e-9), (found, exact)
EOF
}

@test "real data: Fashion-MNIST, 2 epochs at epsilon = 1" {
    [ -e "$FASHION/train-images-idx3-ubyte.gz" ] || skip "needs dataset-fashion-mnist"
    for part in train t10k; do
        dp-import idx -q --row-norm unit --no-bias -o $part.dp "$FASHION/$part-images-idx3-ubyte.gz" "$FASHION/$part-labels-idx1-ubyte.gz"
    done
    scd.sh --data train.dp --lambda 1e-5 --epochs 2 --batch 300 --clip 0.02 --sigma-prime-scale 0.3 --seed 1 -o model
    above "$(accuracy t10k.dp model)" 0.76
}

@test "real data: Adult at epsilon = 1 beats the majority by far" {
    need_data adult adult.data.gz
    dp-import csv -q --row-norm unit --no-bias --schema "$ROOT/examples/dp-scd/schema-adult.json" --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    assert_equal "$(dp-info --get rows train.dp) $(dp-info --get cols train.dp)" "24420 81"
    scd.sh --data train.dp --loss hinge --lambda 1e-5 --delta 1e-3 --seed 1 -o model
    above "$(accuracy held-out.dp model)" 0.82
}

@test "real data: Phishing at epsilon = 1" {
    need_data phishing phishing.gz
    dp-import libsvm -q --row-norm unit --no-bias --scale max-abs --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    assert_equal "$(dp-info --get rows train.dp) $(dp-info --get cols train.dp)" "8291 68"
    scd.sh --data train.dp --loss logistic --lambda 1e-4 --delta 1e-3 --batch 50 --clip 0.02 --seed 1 -o model
    above "$(accuracy held-out.dp model)" 0.91
}

@test "real data: gradients on Adult and Phishing at epsilon = 1" {
    need_data adult adult.data.gz
    dp-import csv -q --row-norm unit --no-bias --schema "$ROOT/examples/dp-scd/schema-adult.json" --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    dp-sgd.sh --data train.dp --lambda 0 --delta 1e-3 --intercept 0.5 --clip 0.5 --step 32 --seed 1 -o model
    above "$(accuracy held-out.dp model)" 0.835
    need_data phishing phishing.gz
    dp-import libsvm -q --row-norm unit --no-bias --scale max-abs --split 0.75 --seed 1 -o train.dp --test held-out.dp --force "$DATA_FILE"
    dp-sgd.sh --data train.dp --lambda 0 --delta 1e-3 --intercept 0.5 --clip 0.5 --step 16 --schedule linear --batch 50 --seed 1 -o model
    above "$(accuracy held-out.dp model)" 0.923
}

# almost_noiseless VARIANT…: weights after many laps with a noise multiplier of 1e-9, against the normal equations
almost_noiseless() {
    local sample=$1 step=$2 laps=$3
    dp-loop --laps "$laps" --seed 1 -o model -- "dp-sample --data real.dp $sample | dp-scd-step --data real.dp --loss squared --lambda 0.01 --clip 100 $step | dp-noise -z 1e-9 | dp-account --non-private --allow-seeded | dp-step" > /dev/null
    dp-info --get model model > weights
    /usr/bin/python3 - "$(dp-info --get scale model)" << 'EOF'
import numpy as np, sys
X, y = np.load("real.dp/X.npy").astype(float), np.load("real.dp/y.npy")
exact = np.linalg.solve(X.T @ X / len(y) + 0.01 * np.eye(X.shape[1]), X.T @ y / len(y))
found = np.loadtxt("weights") * float(sys.argv[1])
error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
assert error < 1e-3, error
EOF
}

@test "without noise and clipping every variant goes to the exact optimum of ridge regression" {
    almost_noiseless '--rate 0.05' '' 3000
    almost_noiseless '--rate 0.05' '--sigma-prime-scale 0.3' 2000
    almost_noiseless '--rate 0.01' '--variant sequential' 4000
    almost_noiseless '--mode full --columns 3' '--variant primal' 600
}

@test "outpert-gd.sh: learns, and spends its budget on one release" {
    for more in '--noise gaussian' '--noise gamma --distance 5' '--lambda 0 --adjacency replace-one --intercept 0.5' '--loss huberised-hinge --loss-width 0.2' '--epochs 30 --multiplier 5'; do
        outpert-gd.sh -q --data small.dp --epsilon 2 --seed 1 $more -o model
        above "$(accuracy test.dp model)" 0.85
        above 2 "$(dp-info --get epsilon model)"
        assert_equal "$(dp-info --get lap model)" 1
        case $more in *multiplier*) ;; *) above "$(dp-info --get epsilon model)" 1.999 ;; esac
    done
    outpert-gd.sh -q --data real.dp --epsilon 2 --seed 1 -o model
    above "$(dp-eval --last --metrics r2 --data real-test.dp --in model | tail -n 1 | cut -f 3)" 0.3
}

@test "objpert.sh: learns, and spends its budget on the noise of the objective" {
    for more in '' '--adjacency replace-one --intercept 0.5 --lambda 1e-2' '--loss huberised-hinge --loss-width 0.2 --lambda 1e-2' '--loss smooth-hinge --slack 100' '--multiplier 5'; do
        objpert.sh -q --data small.dp --epsilon 2 --seed 1 $more -o model
        above "$(accuracy test.dp model)" 0.85
        above 2 "$(dp-info --get epsilon model)"
        assert_equal "$(dp-info --get lap model)" 1
        case $more in *multiplier*) ;; *) above "$(dp-info --get epsilon model)" 1.999 ;; esac
    done
    objpert.sh -q --data real.dp --epsilon 2 --lambda 1e-2 --seed 1 -o model
    above "$(dp-eval --last --metrics r2 --data real-test.dp --in model | tail -n 1 | cut -f 3)" 0.3
    assert_equal "$(dp-info --get epsilon model | cut -c1-5)" 1.999
    objpert.sh --data small.dp --print > print
    assert_equal "$(sed -n 's/.*dp-noise *--multiplier \([0-9]*\).*/\1/p' print)" 10000
    complains 2 "objpert.sh: --lambda: must be a number > 0, got '0': without it noise does not hide a person" objpert.sh --data small.dp --lambda 0
    dp-synth classification --rows 300 --cols 4 --classes 3 --seed 2 -o three.dp -q
    complains 1 "objpert.sh: 3 classes: logistic for one against the rest each (dp-sgd.sh has softmax)
dp-erm: the model of 3 classes has several outputs, and an objective is perturbed for one" objpert.sh --data three.dp --no-ledger -o none
    run objpert.sh -q --data small.dp --lambda 1e-6 -o none
    assert_failure 1
    assert_output --regexp 'dp-account sigma: --curvature: [0-9.]+ costs an epsilon of at least [0-9.]+ with any noise: a larger lambda lowers it'
}

@test "outpert-gd.sh: how many steps" {
    iterations() { outpert-gd.sh --data small.dp --print "$@" | sed -n 's/.*--iterations \([0-9]*\).*/\1/p'; }
    calculate() { /usr/bin/python3 -c "import math; log, sqrt, ceil = math.log, math.sqrt, math.ceil; print($1)"; }
    assert_equal "$(iterations --multiplier 4 --lambda 0)" "$(calculate 'ceil((10 * 2000 / 4) ** (2 / 3) / 8)')"
    assert_equal "$(iterations --multiplier 4 --lambda 0 --adjacency replace-one --distance 3)" "$(calculate 'ceil((3 * 2000 / 8) ** (2 / 3) / 8)')"
    assert_equal "$(iterations --multiplier 4 --lambda 0 --norm 2 --intercept 1)" "$(calculate 'ceil((10 * 2000 / 4 / sqrt(5)) ** (2 / 3) / (8 / 5))')"
    assert_equal "$(iterations --multiplier 0.1 --lambda 0.05)" "$(calculate 'ceil(4 / .05 / (2 / .35))')"
    assert_equal "$(iterations --noise gamma --epsilon 0.5 --lambda 0)" "$(calculate 'ceil((10 * 2000 / (2.00002 * 3)) ** (2 / 3) / 8)')"
    assert_equal "$(iterations --loss huber --loss-width 2 --multiplier 4 --lambda 0)" "$(calculate 'ceil((10 * 2000 / 8) ** (2 / 3) / 2)')"
    assert_equal "$(iterations --epochs 17)" 17
    assert_equal "$(iterations --epochs 0.3)" 1
}

@test "outpert-gd.sh --as-published: the paper's steps and noise, and what they cost" {
    published() { outpert-gd.sh --data small.dp --as-published --delta 1e-3 --print "$@" | tr -s ' \n' ' ' | sed -n 's/.*--iterations \([0-9]*\) --step \([^ ]*\) .* --noise \([a-z]*\) --multiplier \([^ ]*\) .*/\1 \2 \3 \4/p'; }
    cat > paper.py << 'END'
import sys, math
n, d, D, L, delta = 2000, 8, 10, 1, 1e-3
mu, eps, noise, sides = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3], float(sys.argv[4])
beta = 0.25 + mu
spread = d ** 2 if noise == "gamma" else d * math.log(1 / delta)
inside = (beta * n * eps * D / L) ** 2 / spread
if mu: T, change = (mu ** 2 + beta ** 2) / (mu * beta) * math.log((mu / beta) ** 2 * inside), 5 * L * (1 + beta / mu) / (n * beta)
else: T = inside ** (1 / 3)
T = max(math.ceil(T), 1)
if not mu: change = 3 * L * T / (beta * n)
scale = change / eps * (1 if noise == "gamma" else math.sqrt(2 * math.log(2 / delta)))
eta, moved = 1 / (mu + beta), 0
for _ in range(T): moved = max(abs(1 - eta * mu), abs(1 - eta * beta)) * moved + sides * eta * L / n
got = sys.argv[5:]
assert int(got[0]) == T and abs(float(got[1]) / eta - 1) < 1e-5 and got[2] == noise and abs(float(got[3]) / (scale / moved) - 1) < 3e-5, (got, T, eta, scale / moved)
END
    for mu in 0 0.01; do for eps in 0.1 2; do for noise in gaussian gamma; do
        /usr/bin/python3 paper.py $mu $eps $noise 1 $(published --lambda $mu --epsilon $eps --noise $noise)
        /usr/bin/python3 paper.py $mu $eps $noise 2 $(published --lambda $mu --epsilon $eps --noise $noise --adjacency replace-one)
    done; done; done
    outpert-gd.sh -q --data small.dp --as-published --delta 1e-4 --epsilon 1 --seed 1 -o model
    above 0.25 "$(dp-info --get epsilon model)"
    complains 2 "dp-account sensitivity: --loss squared: nothing bounds one row's gradient" \
        outpert-gd.sh -q --data real.dp --loss squared -o none
}

@test "outpert-psgd.sh: learns, spends its budget on one release, and goes as far as outpert-gd.sh" {
    for more in '' '--noise gamma --distance 5' '--lambda 0 --adjacency replace-one --intercept 0.5' '--epochs 3.2 --batch 7 --step 0.05' '--order coins' '--order coins --lambda 0.01 --adjacency replace-one'; do
        outpert-psgd.sh -q --data small.dp --epsilon 2 --seed 1 $more -o model
        above "$(accuracy test.dp model)" 0.85
        above 2 "$(dp-info --get epsilon model)"
        above "$(dp-info --get epsilon model)" 1.999
    done
    given() { outpert-psgd.sh --data small.dp --print --multiplier 4 --lambda 0 "$@" | sed -n 's/.*--passes \([0-9]*\) --batch \([0-9]*\) --step \([^ ]*\) .*/\1 \2 \3/p'; }
    calculate() { /usr/bin/python3 -c "print('%.6g' % ($1))"; }
    assert_equal "$(given)" "10 50 $(calculate '(10 * 2000 / 4) ** (2 / 3) / (10 * 40)')"
    assert_equal "$(given --epochs 3.2 --batch 300 --distance 1)" "4 300 $(calculate '(2000 / 4) ** (2 / 3) / (4 * 6)')"
    assert_equal "$(given --epochs 1 --batch 1000)" "1 1000 3.96"
    assert_equal "$(given --step 0.5)" "10 50 0.5"
    complains 2 "outpert-psgd.sh: --order coins: takes Gaussian noise only, got 'gamma'" outpert-psgd.sh --data small.dp --order coins --noise gamma
    complains 2 "dp-erm: --step: must be at most 7.99998 here, got 9: beyond 2/beta steps move two models apart, and one row by more than what is recorded" \
        outpert-psgd.sh -q --data small.dp --lambda 0 --step 9 -o none
}
