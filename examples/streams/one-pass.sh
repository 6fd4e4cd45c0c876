#!/usr/bin/env bash
# Trains a linear model on rows that arrive once: one-pass.sh SCHEMA ROWS [EPSILON] < TABLE.csv > MODEL
# ROWS: about how many will come, which is public. 256 windows, noise correlated over all of them, step 30: the rule that was found on
# two tables of bank clients (README.md) and is for any number of rows. DELTA is 1e-5 unless the environment says otherwise.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2 && exit 2; }
epsilon=${3:-1} delta=${DELTA:-1e-5} laps=256
z=$(dp-account sigma --sampler stream --epsilon "$epsilon" --delta "$delta")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dp-import csv - --schema "$1" --population "${POPULATION:-stream}" --out - -q |
    dp-loop --exec fused --laps $laps -q -o "$scratch/model" -- "dp-window --rows - --size $(($2 / laps)) |
        dp-grad --loss logistic --clip 1 | dp-noise --multiplier $z --correlated $laps |
        dp-account --epsilon $epsilon --delta $delta ${NO_LEDGER:+--no-ledger} | dp-step --step 30 --average tail" > /dev/null
cat "$scratch/model"
