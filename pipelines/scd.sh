#!/usr/bin/env bash
# DP-SCD: dual coordinate descent; the dual variables stay secret, only the noised shared vector is released.
set -euo pipefail
. "$(dirname "$0")/options.sh"
summary="Train a linear model by private stochastic dual coordinate descent (DP-SCD)."
loss=hinge lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=0.01 sigma_prime_scale=0.2
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" --laps "$laps")}
loop "
  dp-sample   --data $dir --rate $rate |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta $seeded |
  dp-step     --average tail"
