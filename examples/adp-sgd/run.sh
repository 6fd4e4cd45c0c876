#!/bin/bash -p
# Reproduces the comparison of the ADP-SGD paper with linear models and a small network. Results go to build/examples/adp-sgd.
#   run.sh [--write | --tables] [part …]
# Parts: theory, goal, pilot, sqrt, linear, table3, table6, table1, table2, figure4, constant, steps, fashion, logistic, repeat, network, cifar
# (default: all, in this order).
# --write also puts the tables and figures into this directory's README; --tables trains nothing and makes them of what is there.
# SEEDS=n sets the number of seeds (1, of cifar 3), JOBS=n how many cells run at once, EPOCHS_OF_TABLES the columns of sqrt and linear; of tables
# 1 to 6 and cifar BUDGETS, PASSES and CLIPS choose what is run.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
write='' tables=''
case ${1:-} in
    --write) write=1 && shift ;;
    --tables) write=1 tables=1 && shift ;;
esac
[ $# -gt 0 ] || set -- theory goal pilot sqrt linear table3 table6 table1 table2 figure4 constant steps fashion logistic repeat network cifar

import() { # SET DIRECTORY [row norm]
    [ -e "$2/train-images-idx3-ubyte.gz" ] || {
        say "skipping: no $2/train-images-idx3-ubyte.gz (get-data.sh fetches MNIST; Fashion-MNIST: Debian's dataset-fashion-mnist)"
        return 1
    }
    [ -d "$out/$1-test.dp" ] || for part in train:"$1" t10k:"$1-test"; do
        dp-import idx -q -f --row-norm "${3-unit}" --no-bias -o "$out/${part#*:}.dp" "$2/${part%:*}-images-idx3-ubyte.gz" "$2/${part%:*}-labels-idx1-ubyte.gz"
    done
}
mnist() { import mnist "$raw/mnist"; }
# do_cells: trains what standard input says, unless only tables are asked for
do_cells() { if [ -n "$tables" ]; then cat > /dev/null; else run_cells; fi; }
# each LINE …: the line for each seed in place of @
each() { for seed in $(seq "$seeds"); do echo "${*//@/$seed}"; done; }
show() { column -t -s $'\t' "$out/$1.tsv"; }

clips='0.5 1 2.5 5'
read -ra epochs <<< "${EPOCHS_OF_TABLES:-60 120 200}"
sqrt=sqrt:20:1
linear=linear:0
# --- step sizes: of each schedule and C the best for DP-SGD in 20 epochs; the tables then use it, for both methods ------------
pilot_steps() {
    case $1 in
        "$sqrt") echo '25 50 100 200' ;;
        *) echo '4 8 16 32' ;;
    esac
}
pilot() {
    mnist || return 0
    say "pilot: step sizes, 20 epochs"
    for schedule in $sqrt $linear constant; do
        for clip in $clips; do
            for step in $(pilot_steps "$schedule"); do each "cell dp mnist softmax 1 20 $clip $step $schedule @"; done
        done
    done | do_cells
    {
        printf 'b_t\tC\teta: accuracy\t\t\t\n'
        for schedule in $sqrt $linear constant; do
            for clip in $clips; do
                printf '%s\t%s' "$schedule" "$clip"
                for step in $(pilot_steps "$schedule"); do printf '\t%s: %s' "$step" "$(accuracy dp mnist softmax 1 20 "$clip" "$step" "$schedule")"; done
                printf '\n'
            done
        done
    } > "$out/pilot.tsv"
    show pilot
}


# step_of SCHEDULE C: what the pilot found
step_of() {
    case $1:$2 in
        "$sqrt":0.5 | "$sqrt":1) echo 200 ;;
        "$sqrt":2.5) echo 100 ;;
        "$sqrt":5) echo 50 ;;
        "$linear":0.5 | "$linear":1) echo 32 ;;
        "$linear":2.5) echo 16 ;;
        "$linear":5) echo 8 ;;
        constant:0.5) echo 32 ;;
        constant:1) echo 16 ;;
        *) echo 4 ;;
    esac
}

# --- what theory says: M_dp / M_adp, and the multipliers that the accountant asks for ----------------------------------------
theory() {
    say "theory: multipliers"
    {
        printf 'b_t\tT\tepsilon\tM_dp/M_adp\tsame gain by the accountant\tz, DP-SGD\tz, ADP-SGD, lap 1\tlap T\n'
        while read -r schedule epsilon laps; do
            dp=$(sigma "$epsilon" "$laps" constant)
            adp=$(sigma "$epsilon" "$laps" "$schedule")
            IFS=$'\t' read -r m measured end < <(awk -v b="$schedule" -v T="$laps" -v zdp="$dp" -v zadp="$adp" -f gain.awk)
            printf '%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\n' "$schedule" "$laps" "$epsilon" "$m" "$measured" "$dp" "$adp" "$end"
        done
    } > "$out/theory.tsv" << END
$sqrt 1 100
$sqrt 1 1172
$sqrt 1 3516
$sqrt 1 7032
$sqrt 1 11700
$sqrt 0.2 11700
$sqrt 3 11700
$linear 1 3516
$linear 1 11700
END
    show theory
    # epsilon against t, by the gate's accountant and by the composition of the paper's Lemma 2.2; noise against t
    [ -s "$out/spent.tsv" ] || {
        dp=$(sigma 1 11719 constant)
        adp=$(sigma 1 11719 $sqrt)
        printf 't\tnoise dp\tnoise adp\taccountant dp\taccountant adp\tlemma dp\tlemma adp\n'
        awk -v b=$sqrt -v T=11719 -v laps=16 -f gain.awk | while read -r t ratio; do
            printf '%s\t%s\t%s' "$t" "$dp" "$(awk "BEGIN { print $adp * $ratio }")"
            for accountant in best advanced; do
                printf '\t%s' "$(spent "$t" "$accountant" "$dp")" "$(spent "$t" "$accountant" "$adp" --schedule $sqrt)"
            done
            printf '\n'
        done
    } > "$out/spent.part"
    [ ! -s "$out/spent.part" ] || mv "$out/spent.part" "$out/spent.tsv"
    rm -f "$out/spent.part"
}
spent() { dp-account epsilon --laps "$1" --accountant "$2" --multiplier "$3" --delta $delta --rate "$batch/$rows" "${@:4}"; }

# --- the goal: MNIST at epsilon 1 and 3 with the ready pipelines, the best of a small grid --------------------------------------
goal_methods() { # a pipeline with its options each, between commas
    local epochs step
    for epochs in 5 20; do
        for step in 16 32; do printf ',dp-sgd --epochs %s --step %s%s' $epochs $step "$goal_options"; done
        for step in 20 40; do printf ',adp-sgd --epochs %s --step %s%s' $epochs $step "$goal_options"; done
    done
}
goal_options=" --loss softmax --lambda 0 --batch $batch --schedule constant"
goal() {
    mnist || return 0
    say "goal: dp-sgd.sh and adp-sgd.sh at epsilon 1 and 3"
    local methods
    methods=$(goal_methods)
    [ -n "$tables" ] || dpline compare --data "$out/mnist.dp" --test "$out/mnist-test.dp" --methods "sgd --epochs 20 --step 32$goal_options$methods" \
        --epsilon 1,3 --delta $delta --seeds "$seeds" --table "$results/goal.tsv" > "$results/goal.out"
    awk -f ../common/medians.awk "$results/goal.tsv" | sed 's/ --epochs / /; s/ --step / /; s/ --loss[^\t]*//' |
        awk -F '[ \t]' -v OFS='\t' '{ print ($5 == "inf" ? "∞" : $5), $1 ".sh", $6, $2, $3 }' | sort -t $'\t' -k 1,1g -k 2,2r -k 3,3gr | awk -F '\t' '
            BEGIN { print "epsilon\tpipeline\taccuracy\tepochs\tstep" }
            $1 == "∞" { last = $0; next }
            !(($1, $2) in best) { best[$1, $2]; print }
            END { print last }' > "$out/goal.tsv"
    show goal
}

# --- C by epochs, DP-SGD and ADP-SGD with the same decaying steps at epsilon 1 by the accountant ------------------------------------------------
both() { # SCHEDULE SET LOSS EPOCHS…: the cells
    for e in "${@:4}"; do
        for clip in $clips; do
            for method in dp adp; do each "cell $method $2 $3 1 $e $clip $(step_of "$1" "$clip") $1 @"; done
        done
    done
}
both_table() { # SCHEDULE SET LOSS EPOCHS…
    printf 'C'
    for e in "${@:4}"; do printf '\tDP-SGD, %s epochs\tADP-SGD, %s epochs\tdifference' "$e" "$e"; done
    printf '\n'
    for clip in $clips; do
        printf '%s' "$clip"
        for e in "${@:4}"; do
            dp=$(accuracy dp "$2" "$3" 1 "$e" "$clip" "$(step_of "$1" "$clip")" "$1")
            adp=$(accuracy adp "$2" "$3" 1 "$e" "$clip" "$(step_of "$1" "$clip")" "$1")
            printf '\t%s\t%s\t%s' "$dp" "$adp" "$(difference "$dp" "$adp")"
        done
        printf '\n'
    done
}
difference() {
    case "$1 $2" in
        *–*) echo – ;;
        *) awk "BEGIN { printf \"%+.4f\", $2 - $1 }" ;;
    esac
}
decaying() { # NAME SCHEDULE SET LOSS EPOCHS…
    say "$1: $3, $4, b_t = $2"
    both "${@:2}" | do_cells
    both_table "${@:2}" > "$out/$1.tsv"
    show "$1"
}
sqrt() { ! mnist || decaying sqrt $sqrt mnist softmax "${epochs[@]}"; }
linear() { ! mnist || decaying linear $linear mnist softmax "${epochs[@]}"; }
logistic() { ! mnist || decaying logistic $sqrt mnist logistic 60; }
fashion() { ! import fashion "$clothes" || decaying fashion $sqrt fashion softmax 60; }

# --- tables 3 and 6: steps that adapt, as in section 6.2; the noise constant, or by the plan sqrt(20 + C t) --------------------------
# adaptive CLIP BUDGET PLAN: the words of a cell after its method, up to the seed. All steps are 20 times the paper's
adaptive() { echo "mnist softmax bar:$2 50 $1 20 $3"; }
adaptive_steps() { echo "--optimizer adagrad-norm --b0 4.47213595 --floor 1e-5 --beta $1 --beta-epoch 234"; }
read -ra budgets <<< "${BUDGETS:-0.8 1.6 3.2 6.4}"
# the pairs that the paper's table 6 has, and one that table6 below found: clip, budget, beta for DP-SGD, beta and C for ADP-SGD
chosen() {
    local line
    while read -ra line; do [[ " ${budgets[*]} " != *" ${line[1]} "* ]] || echo "${line[*]}"; done << END
1 0.8 1024 1024 1e-5
1 1.6 512 512 1e-4
1 3.2 1 512 1e-4
1 6.4 1 1 1e-4
2.5 0.8 1024 1024 1e-5
2.5 1.6 512 512 1e-5
2.5 3.2 512 512 1e-5
2.5 6.4 1 1 1e-2
1 0.8 1024 1024 0.1
END
}
table3() {
    mnist || return 0
    say "table3: MNIST, softmax, adaptive steps with the paper's (beta, C), 50 passes"
    for seed in $(seq "$seeds"); do
        chosen | while read -r clip budget dp adp c; do
            echo "cell dp $(adaptive "$clip" "$budget" constant) $seed $(adaptive_steps "$dp")"
            echo "cell adp $(adaptive "$clip" "$budget" "sqrt:20:$c") $seed $(adaptive_steps "$adp")"
        done
    done | do_cells
    {
        printf 'C_G\tepsilon-bar\tbeta, DP-SGD\t(beta, C), ADP-SGD\tepsilon, DP-SGD\tepsilon, ADP-SGD\tseeds\tDP-SGD, best\tADP-SGD, best\tdifference ± 95 %%\tDP-SGD, last\tADP-SGD, last\tdifference ± 95 %%\n'
        chosen | while read -r clip budget dp adp c; do
            printf '%s\t%s\t%s\t(%s, %s)\t' "$clip" "$budget" "$dp" "$adp" "$c"
            gaps "$(adaptive "$clip" "$budget" constant)" "$(adaptive_steps "$dp")" "$(adaptive "$clip" "$budget" "sqrt:20:$c")" "$(adaptive_steps "$adp")"
        done
    } > "$out/table3.tsv"
    show table3
}
# gaps WORDS OPTIONS WORDS OPTIONS: both epsilons by the accountant, seeds, and for the best accuracies of runs and the last ones both means
# and the mean difference of the pairs with its interval by Student's t
gaps() {
    # shellcheck disable=SC2086 # words
    join <(accuracies dp $1 $2) <(accuracies adp $3 $4) | awk -v OFS='\t' '
        { for (k = 0; k < 2; k++) { a[k] += $(2 + k); b[k] += $(5 + k); d = $(5 + k) - $(2 + k); s[k] += d; q[k] += d * d } cost = sprintf("%.2f\t%.2f", $4, $7) }
        function interval(k) { return NR < 2 ? "" : sprintf(" ± %.4f", t[NR] * sqrt((q[k] > s[k] * s[k] / NR ? q[k] - s[k] * s[k] / NR : 0) / (NR - 1) / NR)) }
        END {
            split("0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
            if (NR == 0) { print "–", "–", 0, "–", "–", "–", "–", "–", "–"; exit }
            printf "%s\t%d", cost, NR
            for (k = 0; k < 2; k++) printf "\t%.4f\t%.4f\t%+.4f%s", a[k] / NR, b[k] / NR, s[k] / NR, interval(k)
            printf "\n"
        }'
}
method_of() { [ "$1" = constant ] && echo dp || echo adp; }
# the search behind table 6, on one seed: the last accuracy over the paper's grid of (beta, C)
table6() {
    mnist || return 0
    say "table6: MNIST, softmax, the grid of (beta, C), 50 passes"
    local betas='1 512 1024 2048 4096 8192' plans='constant sqrt:20:1e-5 sqrt:20:1e-4 sqrt:20:0.001 sqrt:20:0.01 sqrt:20:0.1 sqrt:20:1'
    local clip=${CLIPS:-1} budget=${budgets[0]} beta plan
    for beta in $betas; do
        for plan in $plans; do
            echo "cell $(method_of "$plan") $(adaptive "$clip" "$budget" "$plan") 1 $(adaptive_steps "$beta")"
        done
    done | do_cells
    {
        printf 'beta\tDP-SGD\tC = 1e-5\tC = 1e-4\tC = .001\tC = .01\tC = .1\tC = 1\n'
        for beta in $betas; do
            printf %s "$beta"
            # shellcheck disable=SC2046 # words
            for plan in $plans; do
                printf '\t%s' "$(accuracy "$(method_of "$plan")" $(adaptive "$clip" "$budget" "$plan") $(adaptive_steps "$beta"))"
            done
            printf '\n'
        done
    } > "$out/table6.tsv"
    show table6
}

# --- tables 1 and 4 (linear in the root of t), 2 and 5 (the root): the paper's noise, the best accuracy of a run and the last one ------
decayed() { # NAME SCHEDULE STEP CLIP…
    local budget clip p method clips=${CLIPS:-${*:4}}
    mnist || return 0
    say "$1: MNIST, softmax, b_t = $2"
    for budget in "${budgets[@]}"; do
        for p in ${PASSES:-50 100 167}; do
            for clip in $clips; do echo "$budget $p $clip"; done
        done
    done > "$out/$1.settings"
    while read -r budget p clip; do
        for method in dp adp; do each "cell $method mnist softmax bar:$budget $p $clip $3 $2 @"; done
    done < "$out/$1.settings" | do_cells
    {
        printf 'epsilon-bar\tpasses\tC_G\tepsilon, DP-SGD\tepsilon, ADP-SGD\tseeds\tDP-SGD, best\tADP-SGD, best\tgap\tDP-SGD, last\tADP-SGD, last\tgap\n'
        while read -r budget p clip; do
            printf '%s\t%s\t%s\t' "$budget" "$p" "$clip"
            gaps "mnist softmax bar:$budget $p $clip $3 $2" '' "mnist softmax bar:$budget $p $clip $3 $2" ''
        done < "$out/$1.settings" | grep -v –
    } > "$out/$1.tsv"
    show "$1"
}
table1() { decayed table1 $linear 2 0.5 1 2.5; }
table2() { decayed table2 $sqrt 20 0.5 1 2.5 5; }

# --- figure 4, section F.3: constant steps against decaying ones, 1/sqrt(2 + c t), on a network, for four multipliers ------------------
slopes='0 1e-5 1e-3 1e-2 1e-1 5e-1'
figure4() {
    import images "$raw/mnist" bounds || return 0
    say "figure4: MNIST, a network, C_G = 1, ${PASSES:-50} passes"
    local z c passes=${PASSES:-50} batch=$paper_batch t
    t=$(laps "$passes")
    for z in 1.6 3.2 6.4 12.8; do
        for c in $slopes; do each "cell dp images network noise:$z $passes 1 1 sqrt:2:$c @"; done
    done | do_cells
    {
        printf 'sigma\tepsilon, numerical\tepsilon, equation (6)\tepsilon-bar, equation (6)'
        for c in $slopes; do printf '\tc = %s' "$c"; done
        printf '\n'
        for z in 1.6 3.2 6.4 12.8; do
            printf '%s\t%.3f\t%.2f\t%.3f' "$z" "$(spent "$t" best "$z")" "$(spent "$t" adp-sgd "$z")" "$(calculate "$(spent "$t" adp-sgd "$z") / 16")"
            for c in $slopes; do printf '\t%s' "$(accuracy dp images network "noise:$z" "$passes" 1 1 "sqrt:2:$c" | awk '{ print $1 == "–" ? $1 : sprintf("%.4f", 1 - $1) }')"; done
            printf '\n'
        done
    } > "$out/figure4.tsv"
    show figure4
}

# --- the same with the linear model: constant against decaying steps, 60 epochs ---------------------------------------------------------------------------------
constant() {
    mnist || return 0
    say "constant: MNIST, softmax, 60 epochs"
    for clip in $clips; do each "cell dp mnist softmax 1 60 $clip $(step_of constant "$clip") constant @"; done | do_cells
    {
        printf 'C\tDP-SGD, constant\tDP-SGD, sqrt(20 + t)\tADP-SGD, sqrt(20 + t)\tDP-SGD, linear\tADP-SGD, linear\n'
        for clip in $clips; do
            printf '%s\t%s' "$clip" "$(accuracy dp mnist softmax 1 60 "$clip" "$(step_of constant "$clip")" constant)"
            for schedule in $sqrt $linear; do
                for method in dp adp; do
                    printf '\t%s' "$(accuracy $method mnist softmax 1 60 "$clip" "$(step_of "$schedule" "$clip")" "$schedule")"
                done
            done
            printf '\n'
        done
    } > "$out/constant.tsv"
    show constant
}

# --- does the gain outlive tuning: both methods over step sizes, C = 2.5, 60 epochs ---------------------------------------------
steps='12.5 25 50 100 200 400'
steps() {
    mnist || return 0
    say "steps: MNIST, softmax, C = 2.5, 60 epochs"
    for step in $steps; do
        for method in dp adp; do each "cell $method mnist softmax 1 60 2.5 $step $sqrt @"; done
    done | do_cells
    {
        printf 'eta\tDP-SGD\tADP-SGD\tdifference\n'
        for step in $steps; do
            dp=$(accuracy dp mnist softmax 1 60 2.5 "$step" $sqrt)
            adp=$(accuracy adp mnist softmax 1 60 2.5 "$step" $sqrt)
            printf '%s\t%s\t%s\t%s\n' "$step" "$dp" "$adp" "$(difference "$dp" "$adp")"
        done
    } > "$out/steps.tsv"
    show steps
}

# --- is a difference more than chance: pairs of cells with ten seeds ---------------------------------------------------------------
pairs() { # SEEDS SCHEDULE SET LOSS EPSILON EPOCHS CLIP STEP [options of dp-step]: the cells
    for seed in $(seq "$1"); do
        for method in dp adp; do echo "cell $method ${*:3:6} $2 $seed ${*:9}"; done
    done
}
paired() { # SCHEDULE SET LOSS EPSILON EPOCHS CLIP STEP [options of dp-step]: the row of the table, of the pairs that are there
    for seed in $(seq 10); do
        dp=$(file_of dp "${@:2:6}" "$1" "$seed" "${@:8}")
        adp=$(file_of adp "${@:2:6}" "$1" "$seed" "${@:8}")
        [ ! -s "$dp" ] || [ ! -s "$adp" ] || echo "$(tail -n 1 "$dp" | cut -f 3) $(tail -n 1 "$adp" | cut -f 3)"
    done | awk '{ a += $1; b += $2; d = $2 - $1; s += d; q += d * d; more += d > 0 }
        END { if (NR > 1) printf "%d\t%.4f\t%.4f\t%+.4f\t%.4f\t%d of %d\n",
            NR, a / NR, b / NR, s / NR, sqrt((q - s * s / NR) / (NR - 1) / NR), more, NR }'
}
paired_head='seeds\tDP-SGD, mean\tADP-SGD, mean\tdifference\tstandard error\tADP-SGD ahead'
repeat() {
    mnist || return 0
    say "repeat: MNIST, softmax, C = 5, 20 epochs, ten seeds"
    pairs 10 $sqrt mnist softmax 1 20 5 50 | do_cells
    {
        printf '%b\n' "$paired_head"
        paired $sqrt mnist softmax 1 20 5 50
    } > "$out/repeat.tsv"
    show repeat
}

# --- ADP-SGD on a network, with ten seeds -------------------------------------------------------------------------------------------
network() {
    import images "$raw/mnist" bounds || return 0
    say "network: MNIST, C = 0.1, eta = 200, 10 epochs, ten seeds"
    for epsilon in 1 3; do pairs 10 $sqrt images network $epsilon 10 0.1 200; done | do_cells
    {
        printf 'epsilon\t%b\n' "$paired_head"
        for epsilon in 1 3; do printf '%s\t%s\n' $epsilon "$(paired $sqrt images network $epsilon 10 0.1 200)"; done
    } > "$out/network.tsv"
    show network
}

# --- CIFAR-10, both schedules, from a network that was trained on public pictures: one half of the training pictures -------------------
cifar_rows() {
    [ -e "$raw/cifar10/cifar10-jpeg.zip" ] || { say "skipping: no $raw/cifar10/cifar10-jpeg.zip" && return 1; }
    # two imports with one seed, since the halves are of different people
    local all="$raw/cifar10/cifar10-jpeg.zip/train"
    [ -d "$out/cifar-public.dp" ] || dp-import images -q -f --no-bias --population cifar-public --split .5 -o "$out/cifar-public.dp" --test "$out/unused.dp" "$all"
    [ -d "$out/cifar.dp" ] || dp-import images -q -f --no-bias --population cifar --split .5 -o "$out/unused.dp" --test "$out/cifar.dp" "$all"
    [ -d "$out/cifar-test.dp" ] || dp-import images -q --no-bias --population cifar-test -o "$out/cifar-test.dp" "$raw/cifar10/cifar10-jpeg.zip/test"
    rm -rf "$out/unused.dp"
}
# cifar_start PASSES: over the public half; then the last layer, 512 x 10 weights and 10 biases, becomes 0 as in a new network
cifar_start() {
    local public=$results/cifar-public-$1 start=$results/cifar-start-$1
    [ ! -s "$start" ] || return 0
    say "cifar: the public network"
    dp-loop --laps $(($1 * 196)) --seed 1 -q -o "$public" "
        dp-sample   --data $out/cifar-public.dp --rate 128/25000 |
        dp-net-grad --data $out/cifar-public.dp --network '$cifar_network' --loss softmax --clip 100 --shift 2 --flip |
        dp-account  --public --allow-seeded |
        dp-step     --optimizer adam --step 0.003 --schedule cosine" > /dev/null
    dp-eval --metrics accuracy --last --data "$out/cifar-test.dp" --in "$public" > "$public.accuracy"
    DPLINE_LIBRARY=$build/lib/libdpline.so PYTHONPATH=../python /usr/bin/python3 - "$public" "$start" << 'END'
import sys
import dpline

frames = list(dpline.read_frames(sys.argv[1]))
for frame in frames:
    if "model" in frame:
        model = frame["model"].copy()
        model[:, -5130:] = 0
        frame["model"] = model
dpline.write_frames(sys.argv[2], frames)
END
}
cifar() {
    cifar_rows || return 0
    local seeds=${SEEDS:-3} budget clip=${CLIPS:-1} passes=${PASSES:-20} schedule seed method
    [ -n "$tables" ] || cifar_start "$passes"
    say "cifar: CIFAR-10, C_G = $clip, $passes passes over each half, $seeds seeds"
    for seed in $(seq "$seeds"); do
        for budget in ${BUDGETS:-0.8 1.2 1.6 3.2 6.4}; do
            for schedule in "1 $sqrt" "0.1 $linear"; do
                for method in dp adp; do echo "cell $method cifar network bar:$budget $passes $clip $schedule $seed"; done
            done
        done
    done | do_cells
    {
        printf 'steps\tepsilon-bar\tepsilon, DP-SGD\tepsilon, ADP-SGD\tseeds\tDP-SGD, best\tADP-SGD, best\tgap\tDP-SGD, last\tADP-SGD, last\tgap\n'
        for schedule in "1 $sqrt" "0.1 $linear"; do
            for budget in ${BUDGETS:-0.8 1.2 1.6 3.2 6.4}; do
                printf '%s\t%s\t' "$([ "${schedule#* }" = $sqrt ] && echo '1/√(20 + t)' || echo '.1 (1 - √(t/T))')" "$budget"
                gaps "cifar network bar:$budget $passes $clip $schedule" '' "cifar network bar:$budget $passes $clip $schedule" ''
            done
        done | grep -v –
    } > "$out/cifar.tsv"
    show cifar
}

for part; do
    case $part in
        theory | goal | pilot | sqrt | linear | table[1236] | figure4 | constant | steps | fashion | logistic | repeat | network | cifar) "$part" ;;
        *) echo "run.sh: unknown part '$part': see the first lines of this file" >&2 && exit 2 ;;
    esac
done
./figures.sh
[ -z "$write" ] || ../common/write-readme.sh "$out"
