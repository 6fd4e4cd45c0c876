#!/bin/bash -p
# DP-SGD: gradients clipped row by row, summed, noised; Poisson samples.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by private stochastic gradient descent (DP-SGD)."
options_of_data dp-grad logistic softmax
options_of_gradients
options_of_classes
options_of_network
option step 1 ETA "step size" number
option schedule constant B "divide it by b_t: $schedules" text
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
loop "
  dp-sample  --data $dir --rate $rate |
  $gradients --data $dir --loss $loss --lambda $lambda $of_model --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step --schedule $by --average tail"
