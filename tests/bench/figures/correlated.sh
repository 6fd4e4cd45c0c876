#!/usr/bin/env bash
# A fused lap of 82 numbers over a window of rows that arrive, with correlated noise and with plain noise.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
rows=$out/arrivals schema=$out/arrivals.json
if [ ! -e "$rows" ]; then
    awk 'BEGIN {
        printf "{\"header\": false, \"columns\": ["
        for (k = 0; k < 81; k++) printf "{\"name\": \"x%d\", \"type\": \"numeric\", \"bounds\": [-1, 1]}, ", k
        print "{\"name\": \"y\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}" }' > "$schema"
    block=$(awk 'BEGIN { srand(1); for (i = 0; i < 5000; i++) {
        for (k = 0; k < 81; k++) printf "%.2f,", 2 * rand() - 1
        print int(2 * rand()) } }')
    for _ in {1..130}; do echo "$block"; done | dp-import csv --schema "$schema" --no-registry -q --out - - > "$rows.part"
    mv "$rows.part" "$rows"
fi
for size in 8 39 127; do
    for noise in plain correlated; do
        line "window of $size, $noise" "dp-loop -q -x fused --laps @L --seed 1 \"dp-window --rows '$rows' --size $size |
            dp-grad --loss logistic --clip 1 --threads 1 | dp-noise -z 4 $([ $noise = plain ] || echo '--correlated 256') |
            $gate --step 0.5\"" $size $((640000 / size < 20000 ? 640000 / size : 20000))
    done
done
take_turns :
for size in 8 39 127; do
    ratio "window of $size, correlated to plain" "µs a lap" "window of $size, correlated" "window of $size, plain" "<= 1.5"
done
