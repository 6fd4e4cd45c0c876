#!/usr/bin/env bash
# From the start of dp-loop to its first released model, of a run that plans a million laps.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
d=$(synth small 10000 10)
first() { # option of the noise
    seconds bash -c "dp-loop -q -x fused --laps 1000000 --seed 1 \"dp-sample --data '$d' --rate 0.001 | dp-scd-step --data '$d' --loss hinge --lambda 1e-4 --clip 0.1 | dp-noise -z 4 $1 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step\" | dp-cat | sed -n '/\"lap\":1,/q'"
}
for ((turn = 0; turn < turns; turn++)); do
    value "a million equal laps" s "$(first '')"
    value "a million laps, --schedule linear" s "$(first '--schedule linear')"
done
wanted "a million equal laps" s "<= 0.1"
wanted "a million laps, --schedule linear" s "<= 0.1"
