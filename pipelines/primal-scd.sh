#!/bin/bash -p
# Primal DP-SCD (Algorithm 2): --batch counts columns here; every lap reads every row, so sampling does not amplify.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by private stochastic coordinate descent on the weights (primal DP-SCD); --batch counts columns."
options_of_data dp-scd-step logistic
option lambda 1e-5 L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 1 B "columns per lap" whole
option clip 1 C "bound on one person's update" number
option sigma-prime-scale 1 S "below 1: less cautious subproblems" number
options_of_budget
options "$@"

columns=$(dp-info --get cols "$data")
[ "$batch" -le "$columns" ] || batch=$columns
laps=$(laps_of "$columns")
sigma=${multiplier:-$(dp-account sigma --sampler full --epsilon "$epsilon" --delta "$delta" \
    --laps "$laps" --adjacency "$adjacency")}
loop "
  dp-sample   --data $dir --mode full --columns $batch |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip --variant primal \
              --sigma-prime-scale $sigma_prime_scale --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta$gate |
  dp-step     --average tail"
