#!/usr/bin/env bash
# Objective perturbation: the minimum of an objective with a random linear term, in one lap. --multiplier is of that term, --slack of the
# noise on the minimum, which is for what the solver may miss it by: so large that it costs nothing, of so little that it does not show.
# --epochs, --batch and --clip are taken and not used, so that the pipelines share their options.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses='logistic|smooth-hinge|huber|huberised-hinge'
summary="Train to the minimum of an objective that is perturbed (objective perturbation)."
loss=logistic regression=huber lambda=1e-3 epsilon=1 delta=1e-5 epochs=1 batch=all clip=none slack=10000 norm=1 loss_width=auto
options "$@"

bound_of_loss
number "$lambda" || fail "--lambda: must be a number > 0, got '$lambda': it holds the minimum to where noise hides a person"
if [ -z "$multiplier" ]; then
    # beta is of the objective, and dp-erm records a little more for rows that were rounded
    curvature=$(calculate "(1.00002 * $beta - $lambda) / ($lambda * $rows)")
    two_sided=''
    [ "$loss" != huber ] || two_sided=--two-sided
    multiplier=$(dp-account sigma --mechanism objective --epsilon "$epsilon" --delta "$delta" --curvature "$curvature" \
        --slack "$slack" --adjacency "$adjacency" $two_sided)
fi
laps=1
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss$width --lambda $lambda --intercept $intercept --norm $norm \
             --multiplier $multiplier --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $slack |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step"
