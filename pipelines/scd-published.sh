#!/usr/bin/env bash
# DP-SCD as the paper has it: shuffled epochs accounted as Poisson samples, alpha noised and released too. Every frame and
# the model say so, with the sound epsilon beside the published one.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train as published: Algorithm 1 of the DP-SCD paper with the paper's own accounting (not sound)."
loss=hinge lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=0.01 sigma_prime_scale=1
options "$@"

sigma=${multiplier:-$(dp-account sigma --accountant published --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate --mode shuffle |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip --release-alpha \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta --as-published $gate |
  dp-step"
