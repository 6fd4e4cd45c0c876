#!/usr/bin/env bash
# Primal DP-SCD (Algorithm 2): --batch counts columns here; every lap reads every row, so sampling amplifies nothing.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train by private stochastic coordinate descent on the weights (primal DP-SCD); --batch counts columns."
loss=logistic lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=1 clip=1 sigma_prime_scale=1
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
  dp-account  --epsilon $epsilon --delta $delta $gate |
  dp-step     --average tail"
