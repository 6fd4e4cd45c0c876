#!/bin/bash -p
# unseen.sh [SET...]: `dpline stream` on tables that its rule was not found on, and `dpline fit` on the same rows, which sees them many times.
# Four fifths of a table, in an order of its own for each of RUNS (5) runs, train; the others test. Epsilon 1 and .3, delta 1e-5.
# Classes: AUC; numbers: R². With SEED the same runs are made again; they are not private. Needs tables/ and phishing/ in $DPLINE_DATA.
# shellcheck disable=SC1091,SC2154 # what common.sh and tables.sh set
set -euo pipefail
cd "$(dirname "$0")/../no-tuning" # schemas with round public bounds
OUT=${OUT:-${BUILD:-../../build}/examples/streams}
. ./common.sh
. ./tables.sh
runs=${RUNS:-5} delta=1e-5
[ -d "$raw/tables" ] || { echo "unseen.sh: $raw/tables is not there, so nothing is measured" && exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# rows_of SET: the table; phishing and w8a have 0 and 1 in each column, which are numbers; w8a-flags: categories without the first
rows_of() {
    case $1 in
        phishing) flags 68 "$(file phishing)" ;;
        w8a | w8a-flags) flags 300 "$raw/tables/w8a.gz" ;;
        telco) table "$(file telco)" | sed 's/No [a-z]* service/No/g' ;;
        *) table "$(file "$1")" ;;
    esac
}
flags() {
    seq -s , "$1" | sed 's/[0-9]*/x&/g; s/$/,label/'
    zcat "$2" | awk -v cols="$1" '{
        for (i = 1; i <= cols; i++) there[i] = 0
        for (i = 2; i <= NF; i++) { split($i, a, ":"); there[a[1]] = 1 }
        for (i = 1; i <= cols; i++) printf "%d,", there[i]
        print ($1 > 0 ? "yes" : "no") }'
}
schema_of() {
    case $1 in
        phishing | w8a) { tr , '\n' < "$work/$1.head" | sed 's/label/& no,yes/; t; s/$/ 0 1/'; } | columns label |
            sed 's/"label", "categories"/"label", "classes"/' ;;
        w8a-flags) { tr , '\n' < "$work/$1.head" | sed 's/label/& no,yes/; t; s/$/ 0,1/'; } | columns label |
            sed 's/"label", "categories"/"label", "classes"/; s/"categories"/"drop": "first", &/' ;;
        *) bounds "$1" ;;
    esac
}
# measured MODEL TEST: of the last model
measured() { dp-eval --data "$2" --metrics "$metric" --last --in "$1" 2> /dev/null | awk 'END { printf "%.4f", $NF }'; }
# trial SET EPSILON RUN: what a stream and a fit of the same rows reach
trial() {
    local rows taken seed=()
    cd "$work"
    rm -rf ./*.dp model s.json train.csv test.csv
    [ -z "${SEED-}" ] || seed=(--seed $((SEED + $3)))
    cp "$1.json" s.json
    shuf --random-source=<(yes "$3") < "$1.rows" > shuffled
    rows=$(wc -l < shuffled) taken=$((rows * 4 / 5))
    { cat "$1.head" && head -n $taken shuffled; } > train.csv
    { cat "$1.head" && tail -n +$((taken + 1)) shuffled; } > test.csv
    metric=auc
    ! grep -q '"label", "bounds"' s.json && ! grep -A 1 '"label"' s.json | grep -q '"bounds"' || metric=r2
    stream=(dpline stream --schema s.json --rows "$taken" --epsilon "$2" --delta "$delta" --no-ledger --no-registry -q -o model "${seed[@]}")
    basis=$("${stream[@]}" --print < /dev/null | sed -n 1p)
    "${stream[@]}" < train.csv
    dp-import csv --schema s.json --basis "${basis##* }" --row-norm unit --no-registry -q -o streamed.dp test.csv
    found=$(measured model streamed.dp)
    dpline fit train.csv --schema s.json --test test.csv --row-is-person --epsilon "$2" --delta $delta --no-ledger --no-registry -q -o model "${seed[@]}"
    tsv "$1" "$taken" "$2" "$3" "$metric" "$found" "$(measured model train-test.dp)"
}
[ $# -gt 0 ] || set -- telco costarica phishing w8a w8a-flags vocab
for set; do
    rows_of "$set" > "$work/rows"
    head -n 1 "$work/rows" > "$work/$set.head"
    tail -n +2 "$work/rows" > "$work/$set.rows"
    schema_of "$set" > "$work/$set.json"
    for epsilon in 0.3 1; do
        for ((run = 1; run <= runs; run++)); do trial "$set" "$epsilon" "$run"; done
    done
done | awk -F '\t' -v OFS='\t' 'BEGIN { print "table", "rows", "epsilon", "measure", "stream", "its least", "fit", "its least" }
    { key = $1 OFS $2 OFS $3 OFS $5
      if (!(key in n)) { keys[++count] = key; low[key] = least[key] = 2 }
      n[key]++; one[key] += $6; other[key] += $7
      if ($6 < low[key]) low[key] = $6
      if ($7 < least[key]) least[key] = $7 }
    END { for (i = 1; i <= count; i++) { k = keys[i]; printf "%s\t%.4f\t%.4f\t%.4f\t%.4f\n", k, one[k] / n[k], low[k], other[k] / n[k], least[k] } }' | markdown
