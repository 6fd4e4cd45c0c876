#!/bin/bash -p
# Output perturbation: gradient descent over all rows, and noise on its result, once. With --as-published, steps, sensitivity and noise are
# from Zhang, Zheng, Mou and Wang (2017), Algorithm 1; the gate charges their sound cost.
# shellcheck disable=SC2034 # names in calculations
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-output.sh"
summary="Train by gradient descent, and perturb the result (output perturbation)."
options_of_data dp-erm logistic softmax huber
option lambda 1e-3 L "L2 regularisation" real
option epochs auto E "steps of the descent" number
options_of_bounds
option distance 10 D "estimated distance of the minimum from zero" number
option noise gaussian KIND "gaussian|gamma: with gamma epsilon holds without a delta" choice
flag as-published "the steps, the sensitivity and the noise of the paper"
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

bound_of_loss
if [ -n "$as_published" ]; then
    step=$(calculate '1 / (lambda + beta)') weights=$(weights)
    # the squared norm of the noise in (Delta / epsilon)^2; for the gamma law the square of its mean norm
    case $noise in gamma) spread='weights ^ 2' ;; *) spread='weights * log(1 / delta)' ;; esac
    reach="(beta * rows * epsilon * distance / pull) ^ 2 / ($spread)"
    if number "$lambda"; then
        laps=$(calculate "most(1, up((lambda ^ 2 + beta ^ 2) / (lambda * beta) * log((lambda / beta) ^ 2 * $reach)))")
        change=$(calculate '5 * pull * (1 + beta / lambda) / (rows * beta)')
    else
        laps=$(calculate "most(1, up(($reach) ^ (1 / 3)))")
        change=$(calculate '3 * pull * laps / (beta * rows)')
    fi
    case $noise in gamma) scale='change / epsilon' ;; *) scale='change * sqrt(2 * log(2 / delta)) / epsilon' ;; esac
    bound=$(dp-account sensitivity --rows "$rows" --laps "$laps" --strong-convexity "$lambda" \
        --smoothness "$beta" --lipschitz "$pull" --step "$step" --adjacency "$adjacency")
    sigma=${multiplier:-$(calculate "$scale / bound")}
    steps="--iterations $laps --step $step" laps=1
else
    once
    [ "$epochs" != auto ] || way=$(way) epochs=$(calculate 'way * (lambda + beta) / 2' %.17g)
    steps="--iterations $(calculate 'most(1, up(epochs))')" # of 2 / (lambda + beta)
fi
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss$width --lambda $lambda --intercept $intercept --norm $norm \
             --method descent $steps --threads $threads --adjacency $adjacency |
  dp-noise   --noise $noise --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step"
