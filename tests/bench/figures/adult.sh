#!/usr/bin/env bash
# A lap of DP-SGD on Adult: fused, as processes, and as others do it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
if ! d=$(adult); then
    skip "DP-SGD, Adult" "$no_adult"
    exit 0
fi
for b in 100 256; do
    line "fused, batch $b" "$(sgd "$d" $b $adult_rows logistic)"
    line "processes, batch $b" "$(sgd "$d" $b $adult_rows logistic processes)"
done
# of the frames that leave a run
bytes=$(($(bash -c "$(sgd "$d" 100 $adult_rows logistic | sed 's/@L/100/')" | wc -c) / 100))
peers() {
    hops 6 $bytes | values
    ! python numpy || for b in 100 256; do peer numpy-sgd "$d" $b | values; done
    ! python opacus || for b in 100 256; do peer opacus "$d" $b | values; done
}
take_turns peers
wanted "fused, batch 100" "µs a lap" "<= 25"
wanted "processes, batch 100" "µs a lap" "<= 100"
ratio "processes, batch 100, to bare hops" "µs a lap" "processes, batch 100" "6 bare hops of $bytes bytes"
for b in 100 256; do
    if python numpy; then ratio "NumPy to fused, batch $b" "µs a lap" "NumPy, batch $b" "fused, batch $b"; else skip "NumPy, batch $b" "no Python has numpy"; fi
    if python opacus; then ratio "Opacus to fused, batch $b" "µs a lap" "Opacus, batch $b" "fused, batch $b"; else skip "Opacus, batch $b" "no Python has opacus"; fi
done
! python opacus || wanted "Opacus to fused, batch 100" ratio ">= 25"
