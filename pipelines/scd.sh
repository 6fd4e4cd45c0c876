#!/bin/bash -p
# DP-SCD: dual coordinate descent; the dual variables stay secret, only the noised shared vector is released.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-dual.sh"
summary="Train a linear model by private stochastic dual coordinate descent (DP-SCD)."
options_of_data dp-scd-step hinge
option lambda auto L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip auto C "bound on one person's update" number
option sigma-prime-scale 0.2 S "below 1: less cautious subproblems" number
options_of_classes
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
auto_bounds "$sigma"
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate |
  dp-scd-step --data $dir --loss $loss --lambda $lambda$weights_of_classes --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta$gate |
  dp-step     --average tail"
