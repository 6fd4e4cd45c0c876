#!/bin/bash -p
# Objective perturbation: the minimum of an objective with a random linear term, in one lap. --multiplier is for that term, --slack for
# the noise on the minimum, which hides the error of the solver: --slack is so large that it costs nothing, and the error so small that this
# noise does not matter.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-output.sh"
summary="Train to the minimum of an objective that is perturbed (objective perturbation)."
options_of_data dp-erm logistic '' huber
option lambda 1e-3 L "L2 regularisation" real
options_of_bounds
option slack 10000 M "noise on the minimum, in units of the solver's error" number
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

bound_of_loss
number "$lambda" || fail "--lambda: must be a number > 0, got '$lambda': without it noise does not hide a person"
if [ -z "$multiplier" ]; then
    # beta belongs to the objective; dp-erm records a little more because rows were rounded
    curvature=$(calculate '(1.00002 * beta - lambda) / (lambda * rows)')
    two_sided=''
    [ "$loss" != huber ] || two_sided=--two-sided
    multiplier=$(dp-account sigma --mechanism objective --epsilon "$epsilon" --delta "$delta" --curvature "$curvature" \
        --slack "$slack" --adjacency "$adjacency" $two_sided)
fi
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss$width --lambda $lambda --intercept $intercept --norm $norm \
             --multiplier $multiplier --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $slack |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step"
