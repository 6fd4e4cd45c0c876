#!/bin/bash -p
# DP-SCD as in the paper: its accounting treats shuffled epochs as Poisson samples and ignores that alpha is released too, so the
# noise is too small for --epsilon. The gate charges the sound epsilon, and the calculator has the paper's (dp-account(1)).
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-dual.sh"
summary="Train as published: Algorithm 1 of the DP-SCD paper with the noise of the paper's accounting (not sound)."
options_of_data dp-scd-step hinge
option lambda auto L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip auto C "bound on one person's update" number
option sigma-prime-scale 1 S "below 1: less cautious subproblems" number
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --accountant published --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
sound=$(dp-account epsilon --delta "$delta" --multiplier "$sigma" --sampler shuffle --rows "$rows" --rate "$rate" --laps "$laps" \
    --adjacency "$adjacency")
auto_bounds "$(calculate 'sqrt(2) * sigma' %.12g)"
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate --mode shuffle |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip --release-alpha \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $sound --delta $delta$gate |
  dp-step"
