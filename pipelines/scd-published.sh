#!/usr/bin/env bash
# DP-SCD as the paper has it: shuffled epochs accounted as Poisson samples, alpha noised and released too. Every frame and
# the model say so, with the sound epsilon beside the published one.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
. "$here/options-dual.sh"
summary="Train as published: Algorithm 1 of the DP-SCD paper with the paper's own accounting (not sound)."
options_of_data dp-scd-step hinge
option lambda 1e-5 L "L2 regularisation"
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip 0.01 C "bound on one person's update" number
option sigma-prime-scale 1 S "below 1: less cautious subproblems"
option threads 1 N "of the stage that reads rows"
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --accountant published --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate --mode shuffle |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip --release-alpha \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta --as-published$gate |
  dp-step"
