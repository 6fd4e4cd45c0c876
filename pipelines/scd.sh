#!/usr/bin/env bash
# DP-SCD: dual coordinate descent; the dual variables stay secret, only the noised shared vector is released.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train a linear model by private stochastic dual coordinate descent (DP-SCD)."
loss=hinge lambda=auto epsilon=1 delta=1e-5 epochs=10 batch=100 clip=auto sigma_prime_scale=0.2
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
# A dual variable can reach 1; the noise of a lap moves the score of a row of norm 1 by 1/15, or 1/30. See dpline-pipelines(7).
[ "$clip" != auto ] || clip=$(calculate "1 / $epochs")
[ "$lambda" != auto ] || lambda=$(calculate "$(by_loss 15 30) * $sigma * $sensitivity * $clip / $rows")
warn_of_clip
loop "
  dp-sample   --data $dir --rate $rate |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta $gate |
  dp-step     --average tail"
