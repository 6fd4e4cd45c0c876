#!/usr/bin/env bash
# Whole commands that train on Adult, from the shell to the model on disk.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
if ! d=$(adult); then
    skip "scd.sh, Adult, epsilon 1" "$no_adult"
    exit 0
fi
model=$out/whole.model
for ((turn = 0; turn < turns; turn++)); do
    value "scd.sh, epsilon 1, 10 epochs" s "$(seconds scd.sh --data "$d" --epsilon 1 --epochs 10 --no-ledger -q -o "$model")"
    value "of it dp-account sigma" s "$(seconds dp-account sigma --epsilon 1 --delta 1e-5 --rate 100/$adult_rows --laps 2442)"
    value "dp-sgd.sh, epsilon 1, 10 epochs" s "$(seconds dp-sgd.sh --data "$d" --epsilon 1 --epochs 10 --no-ledger -q -o "$model")"
    value "dpline fit, epsilon 1" s "$(seconds dpline fit "$d" --epsilon 1 --delta 1e-5 --no-ledger -q -o "$model")"
    value "objpert.sh, epsilon 1" s "$(seconds objpert.sh --data "$d" --epsilon 1 --no-ledger -q -o "$model")"
    ! python diffprivlib || value "diffprivlib, LogisticRegression, epsilon 1, fit alone" s "$(peer diffprivlib "$d" 1)"
done
wanted "scd.sh, epsilon 1, 10 epochs" s "<= 0.15"
python diffprivlib || skip "diffprivlib, LogisticRegression, epsilon 1" "no Python has diffprivlib"
