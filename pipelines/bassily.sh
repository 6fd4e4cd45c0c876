#!/bin/bash -p
# The noisy SGD of Bassily, Smith and Thakurta (2014) on Poisson batches: a projection follows each step, and the last model is the result.
# With --lambda the objective is strongly convex and step t is 1 / (lambda t). Without it the step is D / (G sqrt(t)), where G^2 bounds
# the expected squared norm of a noisy gradient.
# shellcheck disable=SC2034 # names in calculations
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-output.sh"
summary="Train by projected stochastic gradient descent with noise (Bassily, Smith and Thakurta)."
options_of_data dp-grad logistic softmax
option lambda 0 L "L2 regularisation" real
option intercept 0 V "value of a constant column to append, 0 for none" real
option epochs 10 E "passes over the data" number
option batch 50 B "expected rows per lap" whole
option clip 1 C "bound on one person's gradient" number
option radius auto D "largest distance of the weights from zero" number
option constants tight C "tight|2014: constants of the noise" choice
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

case $constants in
    tight) sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
        --laps "$laps" --adjacency "$adjacency")} ;;
    2014) # the paper's sigma, for a batch in place of one row; dp-noise wants it in sensitivities
        sigma=${multiplier:-$(calculate 'batch / rows * sqrt(32 * laps * log(rows / delta) * log(1 / delta)) / (epsilon * sensitivity)')} ;;
esac
if number "$lambda"; then
    [ "$radius" != auto ] || radius=$(calculate 'clip / lambda') # the minimum is not farther from zero
    steps="--step $(calculate '1 / lambda') --schedule inverse"
else
    [ "$radius" != auto ] || radius=10
    weights=$(weights)
    steps="--step $(calculate 'radius / (clip * sqrt(1 + 1 / batch + weights * (sensitivity * sigma / batch) ^ 2))') --schedule sqrt:0:1"
fi
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    $steps --project $radius"
