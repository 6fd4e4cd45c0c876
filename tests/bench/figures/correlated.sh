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
# spent SIZE NOISE: processor time of a lap, in microseconds; what happens once is a hundredth of it
spent() {
    local TIMEFORMAT='%U %S' count=$((640000 / $1 < 40000 ? 640000 / $1 : 40000))
    { time dp-loop -q -x fused --laps $count --seed 1 "dp-window --rows '$rows' --size $1 | dp-grad --loss logistic --clip 1 --threads 1 |
        dp-noise -z 4 $2 | $gate --step 0.5" > /dev/zero; } 2>&1 | awk -v laps="$count" '{ print ($1 + $2) / laps * 1e6 }'
}
for ((turn = 0; turn < turns; turn++)); do
    for size in 8 39 127; do
        value "window of $size, plain" "CPU µs a lap" "$(spent $size '')"
        value "window of $size, correlated" "CPU µs a lap" "$(spent $size '--correlated 256')"
    done
done
for size in 8 39 127; do
    ratio "window of $size, correlated to plain" "CPU µs a lap" "window of $size, correlated" "window of $size, plain" "<= 1.5"
done
