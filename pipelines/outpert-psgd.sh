#!/bin/bash -p
# Output perturbation of stochastic gradient descent: --epochs passes over one random order of the rows, and noise on the result, once
# (Wu, Li, Kumar, Chaudhuri, Jha and Naughton 2017); or as many steps of Poisson batches (Chen, Lee and Kifer 2019).
# shellcheck disable=SC2034 # names in calculations
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-output.sh"
summary="Train by stochastic gradient descent, and perturb the result (output perturbation)."
options_of_data dp-erm logistic softmax huber
option lambda 1e-3 L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 50 B "rows per step" whole
option step '' ETA "step size (default: by --distance)" number
option order permutation HOW "permutation|coins: how batches are drawn" choice
options_of_bounds
option distance 10 D "estimated distance of the minimum from zero" number
option noise gaussian KIND "gaussian|gamma: with gamma epsilon holds without a delta" choice
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

[[ $order = permutation || $noise = gaussian ]] || fail "--order coins: takes Gaussian noise only, got '$noise'"
bound_of_loss
once
passes=$(calculate 'most(1, up(epochs))')
# as far as outpert-gd.sh, in the available number of steps
[ -n "$step" ] || way=$(way) step=$(calculate 'least(way / (passes * int(rows / batch)), .99 / beta)')
# far enough above the contraction that dp-erm records, which includes the rounding of rows
if [ "$order" = coins ] && [ -z "$multiplier" ]; then
    rho=$(calculate 'least(1, most(1 - step * lambda, step * beta * 1.000003 - 1) + 1e-9)' %.12g)
    draws=$(((passes * rows - 1) / batch + 1))
    sigma=$(dp-account sigma --sampler repeated --rate "$batch/$rows" --draws "$draws" --contraction "$rho" --epsilon "$epsilon" --delta "$delta")
fi
laps=1
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss$width --lambda $lambda --intercept $intercept --norm $norm --method $order \
             --passes $passes --batch $batch --step $step --threads $threads --adjacency $adjacency |
  dp-noise   --noise $noise --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step"
