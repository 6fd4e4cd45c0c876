#!/bin/bash -p
# seqDP-SCD (Algorithm 3): updates within a lap use the earlier ones, so the noise grows with the batch.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-dual.sh"
summary="Train by sequential DP-SCD (Algorithm 3 of the DP-SCD paper), with the noise of its accounting."
options_of_data dp-scd-step hinge
option lambda auto L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip auto C "bound on one person's update" number
option sigma-prime-scale 1 S "below 1: less cautious subproblems" number
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --accountant published --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
sound=$(dp-account epsilon --delta "$delta" --multiplier "$sigma" --sampler shuffle --rows "$rows" --rate "$rate" --laps "$laps" \
    --adjacency "$adjacency")
auto_bounds "$(calculate '2 * sqrt(batch * (batch + 1)) * sigma / sensitivity' %.12g)"
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate --mode shuffle |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip --variant sequential \
              --sigma-prime-scale $sigma_prime_scale --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $sound --delta $delta$gate |
  dp-step"
