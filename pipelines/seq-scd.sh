#!/usr/bin/env bash
# seqDP-SCD (Algorithm 3): updates within a lap see one another, so the noise grows with the batch.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train by sequential DP-SCD (Algorithm 3 of the DP-SCD paper), accounted as published."
loss=hinge lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=0.01 sigma_prime_scale=1
options "$@"

sigma=${multiplier:-$(dp-account sigma --accountant published --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate --mode shuffle |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip --variant sequential \
              --sigma-prime-scale $sigma_prime_scale --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta --as-published $gate |
  dp-step"
