#!/usr/bin/env bash
# DP-SGD: gradients clipped row by row, summed, noised; Poisson samples.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train by private stochastic gradient descent (DP-SGD)."
options_of_data dp-grad logistic softmax
option lambda 1e-5 L "L2 regularisation"
option intercept 0 V "value of a constant column to append, 0 for none"
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip 1 C "bound on one person's gradient" number
option step 1 ETA "step size"
option schedule constant B "divide it by b_t: $schedules"
option threads 1 N "threads of the stage that reads rows"
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step --schedule $by --average tail"
