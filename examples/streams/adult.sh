#!/bin/bash -p
# Adult as a stream: accuracy and AUC of `dpline stream` on the official test file, at epsilon .3, 1 and 3, RUNS (3) runs each.
# The rows come in the order of the file, once. With SEED the same runs are made again; they are not private.
# Needs adult/ in $DPLINE_DATA, else in ./data (examples/dp-scd/get-data.sh fetches it).
# shellcheck disable=SC1091,SC2154 # what common.sh and tables.sh set
set -euo pipefail
cd "$(dirname "$0")/../no-tuning" # its schema has round public bounds for each number
OUT=${OUT:-${BUILD:-../../build}/examples/streams}
. ./common.sh
. ./tables.sh
runs=${RUNS:-3} delta=1e-5
for part in data test; do
    [ -e "$raw/adult/adult.$part.gz" ] ||
        { echo "adult.sh: $raw/adult/adult.$part.gz is not there, so nothing is measured (examples/dp-scd/get-data.sh fetches it)" && exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
(cd "$here" && bounds adult) > adult.json
zcat "$raw/adult/adult.data.gz" | grep . > train.csv
zcat "$raw/adult/adult.test.gz" | sed '/^|/d; /^$/d' > test.csv
dp-import csv --schema adult.json --basis bins --row-norm unit --no-registry -q -o test.dp test.csv

# measured EPSILON RUN: accuracy and AUC of a run
measured() {
    rm -f model
    dpline stream --schema adult.json --rows "$(wc -l < train.csv)" --epsilon "$1" --delta $delta --no-ledger --no-registry -q -o model \
        ${SEED:+--seed $((SEED + $2))} < train.csv
    dp-eval --data test.dp --metrics accuracy,auc --last --in model 2> /dev/null | awk 'END { print $(NF - 1), $NF }'
}
{
    tsv epsilon run accuracy AUC
    for epsilon in 0.3 1 3; do
        for ((run = 1; run <= runs; run++)); do
            found=$(measured $epsilon "$run")
            printf '%s\t%s\t%.4f\t%.4f\n' $epsilon "$run" "${found% *}" "${found#* }"
        done
    done
} | markdown
