#!/usr/bin/env bash
# A fused lap of all rows, DP-SGD, 600,000 × 176.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
rows=600000 cols=176
d=$(synth wide $rows $cols)
for threads in one two; do
    line "lap, $threads" "dp-loop -q -x fused --laps @L --seed 1 \"dp-sample --data '$d' --mode full |
        dp-grad --data '$d' --loss logistic --clip 1 --threads $([ $threads = one ] && echo 1 || echo 2) | dp-noise -z 4 | $gate --step 0.5\"" $rows
done
# the rows that a program gets which only reads
floors() {
    floor "$d/X.npy" $cols | awk -F '\t' -v OFS='\t' -v bytes=$((4 * cols)) \
        '/^all rows/ { sub(/.*, /, "read, "); sub(/ threads?/, "", $1); print $1, "M rows/s", 1000 * $3 / bytes }' | values
}
take_turns floors
for threads in one two; do ratio "of what memory gives, $threads" "M rows/s" "lap, $threads" "read, $threads"; done
wanted "of what memory gives, one" ratio ">= 0.67"
ratio "two threads to one" "M rows/s" "lap, two" "lap, one"
