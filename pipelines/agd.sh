#!/bin/bash -p
# DP-AGD: gradients of all rows, and the best of some step sizes by noised sums of losses. If the best step size is 0, gradients get less
# noise, and the next one is averaged with the current one.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-search.sh"
summary="Train by private gradient descent with an adaptive budget (DP-AGD); no step size is needed."
options_of_data dp-grad logistic softmax
option lambda 1e-5 L "L2 regularisation" real
option intercept 0 V "value of a constant column to append, 0 for none" real
option epochs auto E "passes over the data" number
option clip 0.5 C "bound on one person's gradient" number
options_of_search 0.5 20 on-failure
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
batch=all
options "$@"
laps_of_search

# shellcheck disable=SC2086 # empty, or an option and its value
sigma=$(dp-account sigma $accountant --sampler full --epsilon "$epsilon" --delta "$delta" --laps "$laps" --adjacency "$adjacency")
in_turns "$sigma"
loop --until-spent "
  dp-sample     --data $dir --mode full |
  dp-grad       --on gradient --data $dir --loss $loss --lambda $lambda --intercept $intercept \
                --clip $clip --threads $threads --adjacency $adjacency |
  dp-noise      --on gradient --multiplier $multiplier --follow |
  dp-linesearch --on search --method noisy-max --data $dir $searched --tries $tries --clip $loss_clip \
                --first-step $first_step --follow --threads $threads --adjacency $adjacency |
  dp-account    --epsilon $epsilon --delta $delta$gate |
  dp-step       --on gradient --hold $averaged |
  dp-step       --on search --average polynomial |
  dp-adapt      $chosen $averaged"
