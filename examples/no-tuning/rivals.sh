#!/bin/bash -p
# Measures `dpline fit` against the best of 16 settings of DP-SGD, and against the linear model without privacy.
#   rivals.sh [--write] [SET …]      sets: adult credit bank telco spambase tweets-1024 costarica letter protein bike insurance abalone white
#                                    (default: all that are there)
#   rivals.sh --linear [SET …]       without DP-SGD, at epsilon 1: fit and the linear model without privacy; with --write linear.tsv
# --write also puts rivals.tsv and its table into this directory. SPLITS=n (3), EPSILONS="0.1 1".
# fit is what `dpline fit TABLE` makes of the table with this schema: rows of norm 1, 80 % of the rows, delta 1e-5, and cosines, products and
# knots as the rules say. DP-SGD has the same rows, with numbers as lines: 10 passes, batches of 500 (100 for fewer than 5,000 rows), steps of 1, 4, 16
# or 64, clip .25, .5, 1 or 2 (for numbers .01, .03, .1 or .3). All settings are tried on the first split; the best by each measure on its test
# rows are tried on the others. The linear model is the better of lambda 1e-5 and 1e-7, on the same rows, by its test rows.
set -euo pipefail
cd "$(dirname "$0")"
SPLITS=${SPLITS:-3}
. ./common.sh
. ./methods.sh
. ./tables.sh
table=rivals write=''
if [ "${1:-}" = --linear ]; then table=linear && shift; fi
if [ "${1:-}" = --write ]; then write=1 && shift; fi
read -ra wanted <<< "${EPSILONS:-$([ $table = linear ] || echo 0.1) 1}"
if [ $table = linear ] && [ $# = 0 ]; then set -- adult credit bank telco spambase protein bike insurance abalone white elec diamonds phoneme vocab; fi
[ $# -gt 0 ] || set -- adult credit bank telco spambase tweets-1024 costarica letter protein bike insurance abalone white

# divided SET SPLIT DATA [OPTION…]: the rows, as `dpline fit TABLE` imports them
divided() {
    table "$(file "$1")" | dp-import csv --schema "$out/rivals-$1.json" --row-norm unit --bad-cells missing -q --population "${1%%-*}" --split 0.8 --seed "$2" \
        -o "$3.dp" --test "$3-test.dp" --force "${@:4}" -
}
# lines_of SET SPLIT: the data set with numbers as lines, made once
lines_of() {
    [ -d "$out/rivals/$1-$2-test.dp" ] || divided "$1" "$2" "$out/rivals/$1-$2"
    echo "$out/rivals/$1-$2"
}
# scores MODEL DATA: accuracy, AUC and log loss, or R² and two dashes
scores() {
    local metrics=accuracy,auc,logloss
    [ "$(dp-info --get classes "$2.dp")" != 0 ] || metrics=r2
    dp-eval --last --metrics $metrics --in "$1" --data "$2-test.dp" |
        awk -F '\t' -v OFS='\t' 'NR == 2 { print $3, (NF > 3 ? $4 : "-"), (NF > 4 ? $5 : "-") }'
}
# rival METHOD SET EPSILON SETTING SPLIT: leaves the scores in its file
rival() {
    local data cell basis loss
    cell=$results/rivals/$1/$2/$3/${4// /_}/$5
    [ ! -s "$cell" ] || return 0
    mkdir -p "${cell%/*}"
    data=$out/rivals/$2-$5
    case $(dp-info --get classes "$data.dp") in 0) loss=squared ;; 2) loss=logistic ;; *) loss=softmax ;; esac
    case $1 in
        fit)
            data=$out/rivals/fit-$2-$3-$5
            read -ra basis <<< "$(basis_of "$2" "$out/rivals-$2.json" "$3")"
            [ "${basis[1]}" = line ] || basis+=(--private-knots "$(knots_of "$3" "${basis[@]}")" --of "$3" --delta 1e-6 --no-ledger --else-unpaid)
            divided "$2" "$5" "$data" "${basis[@]}"
            fit.sh --data "$data.dp" --epsilon "$3" --delta 1e-5 --seed "$5" --no-ledger -q -o "$cell.model" 2> "$cell.said" ||
                { grep -q ' does not pay for ' "$cell.said" && tsv refused - - > "$cell" && return 0; }
            ;;
        sgd)
            # shellcheck disable=SC2086 # a list of words
            dp-sgd.sh --data "$data.dp" --epsilon "$3" --delta 1e-5 --no-ledger --seed "$5" -q -o "$cell.model" $4 --loss $loss \
                --multiplier "$(of_epochs "$data.dp" tweets "$3" "$4")" 2> "$cell.said" || { grep -q 'no longer finite' "$cell.said" && tsv -1 0 9 > "$cell" && return 0; }
            ;;
        linear)
            erm.sh --data "$data.dp" --lambda "$4" --seed "$5" -q -o "$cell.model" --loss $loss
            ;;
    esac
    scores "$cell.model" "$data" > "$cell.part"
    mv "$cell.part" "$cell"
    rm -f "$cell.model" "$cell.said"
    [ "$1" != fit ] || rm -r "$data.dp" "$data-test.dp"
}
# settings_of SET: of DP-SGD
settings_of() {
    local data clips='0.25 0.5 1 2' batch=500 clip step
    data=$out/rivals/$1-1.dp
    [ "$(dp-info --get classes "$data")" != 0 ] || clips='0.01 0.03 0.1 0.3'
    [ "$(dp-info --get rows "$data")" -ge 5000 ] || batch=100
    for clip in $clips; do for step in 1 4 16 64; do echo "--batch $batch --clip $clip --step $step"; done; done
}
# best_of SET EPSILON: the settings that are the best by a measure on the first split
best_of() {
    local field order
    for field in 1 2 3; do
        order=() && [ $field = 3 ] || order=(-r)
        settings_of "$1" | while read -r setting; do tsv "$(cut -f $field "$results/rivals/sgd/$1/$2/${setting// /_}/1")" "$setting"; done |
            sort -g "${order[@]}" | head -n 1 | cut -f 2
    done | sort -u
}
# middle METHOD SET EPSILON SETTING FIELD: of the splits
middle() { for split in $(seq "$splits"); do cut -f "$5" "$results/rivals/$1/$2/$3/${4// /_}/$split"; done | median; }
# rows_of_table SET EPSILON: fit, the best of DP-SGD, the better linear model
rows_of_table() {
    local field measure own best linear order
    for field in 1 2 3; do
        own=$(middle fit "$1" "$2" rule $field)
        measure=$(cut -d ' ' -f $field <<< 'accuracy AUC log_loss')
        [ "$(dp-info --get classes "$out/rivals/$1-1.dp")" != 0 ] || measure='R²'
        order=() && [ $field = 3 ] || order=(-r)
        best='' && [ $table = linear ] || best=$(best_of "$1" "$2" | while read -r setting; do middle sgd "$1" "$2" "$setting" $field; done | sort -g "${order[@]}" | head -n 1)
        linear=$(for lambda in 1e-5 1e-7; do middle linear "$1" inf $lambda $field; done | sort -g "${order[@]}" | head -n 1)
        tsv "$1" "$2" "${measure/_/ }" "$own" ${best:+"$best"} "$linear"
        [ "$measure" != 'R²' ] || return 0
    done
}
export -f rival divided lines_of scores bounds columns schema measured

mkdir -p "$out/rivals"
best='best of 16 DP-SGD' && [ $table = rivals ] || best=''
tsv data epsilon measure fit ${best:+"$best"} 'linear, without privacy' > "$out/$table.tsv"
for set; do
    [ -e "$(file "$set")" ] || continue
    bounds "$set" > "$out/rivals-$set.json"
    for split in $(seq "$splits"); do lines_of "$set" "$split" > /dev/null; done
    for epsilon in "${wanted[@]}"; do
        for split in $(seq "$splits"); do echo "rival fit $set $epsilon rule $split"; done
        [ $table = linear ] || settings_of "$set" | while read -r setting; do echo "rival sgd $set $epsilon '$setting' 1"; done
    done | run_cells
    for lambda in 1e-5 1e-7; do for split in $(seq "$splits"); do echo "rival linear $set inf $lambda $split"; done; done | run_cells
    for epsilon in "${wanted[@]}"; do
        [ $table = linear ] || best_of "$set" "$epsilon" | while read -r setting; do for split in $(seq "$splits"); do echo "rival sgd $set $epsilon '$setting' $split"; done; done | run_cells
        rows_of_table "$set" "$epsilon"
    done | tee -a "$out/$table.tsv"
    rm -r "$out/rivals/$set"-*
done
[ -z "$write" ] || {
    cp "$out/$table.tsv" $table.tsv
    ../common/write-readme.sh
}
