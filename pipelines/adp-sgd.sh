#!/bin/bash -p
# ADP-SGD. With a schedule b_t the step is eta/b_t and the noise of a lap grows with sqrt(b_t): smaller steps tolerate more noise.
# With --schedule adaptive the steps are AdaGrad-norm's on released gradients, less the noise's share of their norm, with b_0^2 = 20 and a
# weight that falls in each epoch. Nobody knows that b_t before the run, so the noise follows a plan of its own, sqrt(20 + C t).
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by private stochastic gradient descent with noise adapted to the step sizes (ADP-SGD)."
options_of_data dp-grad logistic softmax
options_of_gradients
options_of_network
option step 10 ETA "step size" number
option schedule sqrt:20:1 B "divide it by b_t: adaptive, $schedules" text
option noise-schedule '' B "the variance of the noise is proportional to this b_t (default: as --schedule, or sqrt:20:1e-4 if that is adaptive)" text
option beta '' BETA "adaptive: weight of a squared norm, in each epoch divided by 1, 2, ... down to 1 (default 512)" number
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

if [ "$schedule" = adaptive ]; then
    noise_schedule=${noise_schedule:-sqrt:20:1e-4}
    epoch=$(calculate 'most(int(rows / batch), 1)')
    steps="--optimizer adagrad-norm --b0 4.47213595 --floor 1e-5 --beta ${beta:-512} --beta-epoch $epoch"
else
    [ -z "$beta" ] || fail "--beta is for --schedule adaptive"
    noise_schedule=${noise_schedule:-$schedule}
    steps="--schedule $by"
fi
sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency" --schedule "$noise_schedule")}
loop "
  dp-sample  --data $dir --rate $rate |
  $gradients --data $dir --loss $loss --lambda $lambda $of_model --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma --schedule $(in_text "$noise_schedule") |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step $steps --average tail"
