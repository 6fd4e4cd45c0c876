#!/bin/bash -p
# Reproduces figures 1 to 4 of the DP-BLSGD paper on the data that is there. Results go to build/examples/dp-blsgd.
#   run.sh [--write | --collect] [part …]     parts: logistic, svm, hinge, settings, counts (default: all, in this order)
# --write also puts the tables and figures into this directory; --collect trains nothing and makes them of what has been measured.
# PARTS=10 is the number of parts of the cross-validation, FOLDS=n runs n of these, REPETITIONS=n as many permutations (5), each
# fold of all cells before the next. SETS="ADULT BANK …" and EPSILONS="0.2 0.8 …" name what is run, JOBS=n how many runs are made at once;
# METHODS="objpert …" runs these alone of figures 1, 3 and 4 and the hinge, and DP-SGD, which figures 3 and 4 compare with, as in measured.tsv;
# what is there of other methods stays;
# QUICK=1 runs one fold, with two epsilons and one setting of DP-SGD, and of section 5.4 only the settings of the paper;
# ALL=1 all folds of the slow methods too.
set -euo pipefail
cd "$(dirname "$0")"
[ -z "${QUICK:-}" ] || export FOLDS=1 REPETITIONS=1 EPSILONS="${EPSILONS:-0.2 0.8}"
. ./common.sh
. ./cells.sh
write='' collect=''
case ${1:-} in
    --write) write=1 && shift ;;
    --collect) write=1 collect=1 && shift ;;
esac
[ $# -gt 0 ] || set -- logistic svm hinge settings counts
read -ra sets <<< "${SETS:-$(sets | tr '\n' ' ')}"
[ ${#sets[@]} -gt 0 ] || { echo "run.sh: there is no data in $raw: get-data.sh fetches it, DPLINE_DATA says where it is" >&2 && exit 1; }
read -ra epsilons <<< "${EPSILONS:-0.05 0.1 0.2 0.4 0.8 1.6}"
private=${METHODS:-sgd-c3 blsgd ac paper blgd agd outpert-gd outpert-rsgd objpert privgene}

# --- what is compared. A cell is "METHOD SET LOSS EPSILON SETTING"; each part says which there are -----------------------------
part_logistic() { methods logistic; }
part_svm() { methods svm; }
# methods LOSS: figures 3 and 4
methods() {
    local set epsilon method
    for set in "${sets[@]}"; do
        [ -n "${METHODS:-}" ] || for method in majority non-private; do tsv $method "$set" "$1" 0 ''; done
        for epsilon in "${epsilons[@]}"; do
            tsv sgd "$set" "$1" "$epsilon" "$(chosen "$set" "$1" "$epsilon")"
            for method in $private; do
                tsv "$method" "$set" "$1" "$epsilon" "$([ "$method" != sgd-c3 ] || chosen "$set" "$1" "$epsilon")"
                case $method in blsgd | ac | paper | blgd) tsv "$method-published" "$set" "$1" "$epsilon" '' ;; esac
            done
        done
    done
}

# part_hinge: the SVM by the loss that the paper's own methods have, beside the Huberised one with the same batches
part_hinge() {
    local set epsilon method loss
    for set in "${sets[@]}"; do
        for epsilon in "${epsilons[@]}"; do
            for method in ${METHODS:-blsgd paper blgd}; do
                for loss in hinge svm; do tsv "$method" "$set" "$loss" "$epsilon" ''; done
            done
        done
    done
}

# part_settings: figure 1, one thing at a time; part_counts: figure 2
part_settings() {
    local set=${SET_OF_FIGURE_1:-ADULT} epsilon method value
    [[ " ${sets[*]} " == *" $set "* ]] || return 0
    for epsilon in ${EPSILONS:-0.05 0.2}; do
        for method in ${METHODS:-blsgd ac paper}; do
            tsv "$method" "$set" logistic "$epsilon" ''
            case $method in
                ac) for value in 0.01 0.1 0.2; do tsv "$method" "$set" logistic "$epsilon" "--clip-decay $value"; done ;;
                paper) for value in no must; do tsv "$method" "$set" logistic "$epsilon" "--policy $value"; done ;;
            esac
            [ "$method" != ac ] || continue
            for value in 0.1 0.3 0.7 0.9; do tsv "$method" "$set" logistic "$epsilon" "--armijo $value"; done
            for value in 0.5 0.6 0.7 0.9; do tsv "$method" "$set" logistic "$epsilon" "--beta $value"; done
            tsv "$method" "$set" logistic "$epsilon" "--noise gaussian"
            for value in $rates; do tsv "$method" "$set" logistic "$epsilon" "--rate $value"; done
        done
    done
}
rates='0.02 0.05 0.2 0.5 1'
part_counts() {
    local set value method
    for set in "${sets[@]}"; do
        for value in $rates; do
            for method in paper paper-published; do tsv $method "$set" logistic 0.4 "--rate $value"; done
        done
        for method in paper paper-published blsgd blgd agd; do tsv $method "$set" logistic 0.4 ''; done
    done
}

# --- DP-SGD is tuned: the setting with the best accuracy on the test rows of two folds, a choice that no epsilon pays for ---------
grid() { # rate, passes, step, clip
    local passes step bound
    [ -z "${QUICK:-}" ] || { echo "0.1 10 20 1" && return; }
    for bound in 0.5 1; do
        for passes in 4 10 30; do
            for step in 10 20 40 80; do echo "0.1 $passes $step $bound"; done
        done
        for step in 40 80; do echo "1 80 $step $bound"; done
    done
}
tune() {
    local set epsilon setting fold chosen
    for fold in $(seq 0 $((folds > 1))); do
        for set in "${sets[@]}"; do
            import "$set" 1 "$fold"
            for epsilon in "${epsilons[@]}"; do
                known "$set" "$1" "$epsilon" > /dev/null || grid | while read -r setting; do echo "cell sgd $set $1 $epsilon 1 $fold '$setting'"; done
            done
        done
    done | run_cells
    for set in "${sets[@]}"; do
        for epsilon in "${epsilons[@]}"; do
            chosen=$results/chosen-$set-$1-$epsilon
            [ -s "$chosen" ] || known "$set" "$1" "$epsilon" > /dev/null || grid | while read -r setting; do
                echo "$(cat "$(file_of sgd "$set" "$1" "$epsilon" 1 0 "$setting")" "$(file_of sgd "$set" "$1" "$epsilon" 1 $((folds > 1)) "$setting")" |
                    awk '{ s += $1 } END { print s }') $setting"
            done | sort -rg | head -n 1 | cut -d ' ' -f 2- > "$chosen"
        done
    done
}
chosen() { known "$@" || cat "$results/chosen-$1-$2-$3"; }
# known SET LOSS EPSILON: the setting that was chosen before, where some methods are run alone
known() {
    [ -n "${METHODS:-}" ] && awk -F '\t' -v set="$1" -v loss="$2" -v epsilon="$3" '
        $1 == loss && $2 == set && $3 == "sgd" && $4 == epsilon && !found { print $5; found = 1 }
        END { exit !found }' measured.tsv
}

# measure PART …: every cell, a fold of all after the other, so that a run that is cut short has the same folds of each
measure() {
    local r k set
    for r in $(seq "$repetitions"); do
        for k in $(seq 0 $((folds - 1))); do
            say "repetition $r, fold $k"
            for set in "${sets[@]}"; do import "$set" "$r" "$k"; done
            for part; do "part_$part"; done | sort -u | while IFS=$'\t' read -r method set loss epsilon setting; do
                rare "$r" "$k" "$method" "$setting" || echo "cell $method $set $loss $epsilon $r $k '$setting'"
            done | run_cells
        done
    done
}
# rare REPETITION FOLD METHOD SETTING: what takes minutes is run for a few folds of the first repetition only, unless ALL=1: the paper's
# budgets last for thousands of laps; methods on all rows take ten times as long as others, and PrivGene looks at them with 200 models in
# each lap
rare() {
    local most=$((folds * repetitions))
    case $3$4 in
        paper | ac | paper-published | ac-published) most=10 ;;
        paper* | ac*) # settings
            [ -z "${QUICK:-}" ] || return 0
            most=2
            ;;
        agd) most=3 ;;
        privgene) most=1 ;;
        blgd*) most=2 ;;
    esac
    [ -z "${ALL:-}" ] && [ $((($1 - 1) * folds + $2)) -ge "$most" ]
}

# collected PART: a line for each cell of the part that was measured; beside it the difference to DP-SGD, or of a setting to none
collected() {
    "part_$1" | while IFS=$'\t' read -r method set loss epsilon setting; do
        [[ -z ${METHODS:-} || $method != sgd ]] || continue # only what others are compared with
        line=$(mean "$method" "$set" "$loss" "$epsilon" "$setting")
        [ -n "$line" ] || continue
        case $1$setting in
            logistic | svm) [ "$epsilon" = 0 ] || line+=$'\t'$(against "$method" "$setting" sgd "$(chosen "$set" "$loss" "$epsilon")" "$set" "$loss" "$epsilon") ;;
            hinge) [ "$loss" = svm ] || { line+=$'\t'$(against "$method" '' "$method" '' "$set" hinge "$epsilon" svm) && method+=-hinge; } ;;
            settings?*) line+=$'\t'$(against "$method" "$setting" "$method" '' "$set" "$loss" "$epsilon") ;;
        esac
        tsv "$1" "$set" "$method" "$epsilon" "$setting" "$line"
    done
}

for part; do
    case $part in
        logistic | svm | hinge | settings | counts) ;;
        *) echo "run.sh: unknown part '$part': see the first lines of this file" >&2 && exit 2 ;;
    esac
done
for set in "${sets[@]}"; do prepare "$set" && import "$set" 1 0; done
if [ -z "$collect" ]; then
    for part; do
        case $part in logistic | svm) say "$part: tuning DP-SGD" && tune "$part" ;; esac
    done
    measure "$@"
fi
for part; do
    collected "$part" > "$out/$part.tsv"
    column -t -s $'\t' "$out/$part.tsv"
done
[ -z "$write" ] || {
    ./keep.sh
    ./figures.sh
    ../common/write-readme.sh
}
