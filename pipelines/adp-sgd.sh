#!/bin/bash -p
# ADP-SGD. With a schedule b_t the step is eta/b_t and the noise of a lap grows with sqrt(b_t): smaller steps tolerate more noise.
# With --schedule adaptive the steps are AdaGrad-norm's on released gradients, less the noise's share of their norm, and every lap has
# the same noise.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by private stochastic gradient descent with noise adapted to the step sizes (ADP-SGD)."
options_of_data dp-grad logistic softmax
options_of_gradients
options_of_network
option step 10 ETA "step size" number
option schedule sqrt:20:1 B "divide it by b_t: adaptive, $schedules" text
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

if [ "$schedule" = adaptive ]; then
    steps="--optimizer adagrad-norm" noise='' schedule=''
else
    steps="--schedule $by" noise="--schedule $by"
fi
sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency" ${schedule:+--schedule "$schedule"})}
loop "
  dp-sample  --data $dir --rate $rate |
  $gradients --data $dir --loss $loss --lambda $lambda $of_model --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma $noise |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step $steps --average tail"
