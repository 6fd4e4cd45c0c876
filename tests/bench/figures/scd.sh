#!/usr/bin/env bash
# A fused lap of DP-SCD, hinge, 347,786 × 90.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
d=$(large)
for b in 100 1000 34779; do line "batch $b" "$(scd "$d" $b $large_rows)" $b; done
line "batch 34779, two threads" "$(scd "$d" 34779 $large_rows 2)" 34779
if option dp-synth --quantise; then
    narrow=$(synth large-int16 $large_rows $large_cols --quantise)
    for b in 1000 34779; do line "batch $b, int16" "$(scd "$narrow" $b $large_rows)" $b; done
    wanted "batch 1000, int16" "M rows/s" ">= 14"
    wanted "batch 34779, int16" "M rows/s" ">= 19.6"
else
    skip "batch 34779, int16" "dp-synth has no --quantise"
fi
floors() { floor "$d/X.npy" $large_cols 100 1000 34779 | values; }
take_turns floors
wanted "batch 100" "µs a lap" "<= 25"
wanted "batch 1000" "M rows/s" ">= 10"
wanted "batch 34779" "M rows/s" ">= 14"
for b in 1000 34779; do ratio "batch $b, of what memory gives" "M rows/s" "batch $b" "rows of batches of $b"; done
ratio "two threads to one" "M rows/s" "batch 34779, two threads" "batch 34779" ">= 1.7"
! option dp-synth --quantise || ratio "int16 to float32" "M rows/s" "batch 34779, int16" "batch 34779" ">= 1.4"
