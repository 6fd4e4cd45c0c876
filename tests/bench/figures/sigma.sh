#!/usr/bin/env bash
# The noise multiplier that a budget asks for.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
tasks=("0.01 10000 1 1e-5 0.05 15" "100/24420 2442 1 1e-3 0.05 100" "100/24420 2442 1 1e-5 0.05" "1e-5 1 1 1e-5 0.5" "1e-5 10 1 1e-5 0.5" "1e-5 1000 1 1e-5 0.5"
    "1e-4 10 1 1e-5 0.5" "1e-4 1000000 1 1e-5 0.5" "1e-3 1000000 1 1e-5 0.5" "0.5 100 1 1e-5 0.5" "1e-5 1 0.1 1e-5 0.5" "1e-5 100000 0.1 1e-5 0.5" "1e-3 1000 0.1 1e-5 0.5")
name() { # TASK
    local rate laps epsilon delta _
    read -r rate laps epsilon delta _ <<< "$1"
    echo "rate $rate, $laps laps, epsilon $epsilon, delta $delta"
}
for ((turn = 0; turn < turns; turn++)); do
    for task in "${tasks[@]}"; do
        read -r rate laps epsilon delta limit factor <<< "$task"
        value "$(name "$task")" "s" "$(seconds dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" --laps "$laps")"
        [ $turn -gt 0 ] || [ -z "$factor" ] || ! python dp_accounting || for ((again = 0; again < 3; again++)); do
            value "dp_accounting, $(name "$task")" "s" "$(peer dp-accounting "$rate" "$laps" "$epsilon" "$delta")"
        done
    done
done
for task in "${tasks[@]}"; do
    read -r rate laps epsilon delta limit factor <<< "$task"
    wanted "$(name "$task")" "s" "<= $limit"
    [ -n "$factor" ] || continue
    if python dp_accounting; then
        ratio "dp_accounting to dp-account, rate $rate" "s" "dp_accounting, $(name "$task")" "$(name "$task")" ">= $factor"
    else
        skip "dp_accounting, $(name "$task")" "no Python has dp_accounting"
    fi
done
