#!/bin/bash -p
# Measures what curves of numbers are worth: `dpline fit` with numbers as lines, as cosines, and with products of cosines.
#   curves.sh [--write] [SET …]     sets: those of tables.sh (default: all that are there, but many classes)
# --write also puts curves.tsv and its table into this directory. SPLITS=n (10; 5 in curves.tsv), EPSILONS="0.1 1".
# Every run is what `dpline fit TABLE` makes of the columns: rows of norm 1, 80 % of the rows, delta 1e-5, and a part of epsilon for knots at
# quantiles where that is enough for them. A run that was interrupted continues where it stopped.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./methods.sh
. ./tables.sh
read -ra wanted <<< "${EPSILONS:-0.1 1}"
write=''
if [ "${1:-}" = --write ]; then write=1 && shift; fi
[ $# -gt 0 ] || set -- adult credit insurance protein bike abalone elec diamonds phoneme bank telco spambase tweets-1024 tweets-16384

# curve SET WAY EPSILON SPLIT: leaves the scores in its file
curve() {
    local set=$1 way=$2 epsilon=$3 split=$4 data cell metrics said knots=() basis=(--basis "$2") paid
    data=$out/curves/$set-$way-$epsilon-$split cell=$results/curves/$set/$way/$epsilon/$split
    [ ! -s "$cell" ] || return 0
    mkdir -p "${data%/*}" "${cell%/*}"
    paid=$(cat "$results/curves/$set/$epsilon")
    if [[ $way = products && $paid = *products* ]]; then read -ra basis <<< "$paid"; fi
    [ "$way" = line ] || knots=(--private-knots "$(knots_of "$epsilon" "${basis[@]}")" --of "$epsilon" --delta 1e-6 --no-ledger --else-unpaid)
    lines "$set" | dp-import csv --schema "$out/curves-$set.json" "${basis[@]}" --row-norm unit --bad-cells missing -q "${knots[@]}" \
        --population "${set%%-*}" --split 0.8 --seed "$split" -o "$data.dp" --test "$data-test.dp" --force -
    metrics=accuracy,auc,logloss,majority
    [ "$(dp-info --get classes "$data.dp")" != 0 ] || metrics=r2
    said=$(fit.sh --data "$data.dp" --epsilon "$epsilon" --delta 1e-5 --seed "$split" --no-ledger -o "$cell.model" 2>&1) || {
        [[ $said == *' does not pay for '* ]] && echo refused > "$cell" && rm -r "$data.dp" "$data-test.dp" && return 0
        echo "$said" >&2 && return 1
    }
    dp-eval --last --metrics $metrics --in "$cell.model" --data "$data-test.dp" | awk -F '\t' -v OFS='\t' -v cols="$(dp-info --get cols "$data.dp")" \
        -v rule="$([[ $way = line || $paid = *"$way"* || "$way $paid" = cosines*products* ]] && echo yes || echo no)" \
        'NR == 2 { print rule, cols, $3, (NF > 3 ? $4 : "-"), (NF > 4 ? $5 : "-"), (NF > 5 ? $6 : "-") }' > "$cell.part"
    rm -r "$cell.model" "$data.dp" "$data-test.dp"
    mv "$cell.part" "$cell"
}
export -f curve

for set; do
    [ -e "$(file "${set%-above}")" ] || continue
    bounds "$set" > "$out/curves-$set.json"
    mkdir -p "$results/curves/$set"
    for epsilon in "${wanted[@]}"; do basis_of "$set" "$out/curves-$set.json" "$epsilon" > "$results/curves/$set/$epsilon"; done
    for way in line $([[ $set == tweets-* ]] || echo "${WAYS:-cosines products}"); do
        for split in $(seq "$splits"); do
            for epsilon in "${wanted[@]}"; do echo "curve $set $way $epsilon $split"; done | jobs=${JOBS:-1} run_cells
        done
        for epsilon in "${wanted[@]}"; do
            for split in $(seq "$splits"); do cat "$results/curves/$set/$way/$epsilon/$split"; done |
                awk -v set="$set" -v way="$way" -v epsilon="$epsilon" -v OFS='\t' '
                    /refused/ { bad = 1 }
                    { for (i = 3; i <= 6; i++) list[i] = list[i] (NR > 1 ? " " : "") ($i == "-" ? "-" : sprintf("%.4f", $i)); rule = $1; cols = $2 }
                    END { if (!bad) print set, epsilon, way, rule, cols, list[3], list[4], list[5], list[6] }'
        done
    done
done | tee "$out/curves.tsv"
[ -z "$write" ] || {
    cp "$out/curves.tsv" curves.tsv
    ../common/write-readme.sh
}
