#!/usr/bin/env bash
# DP-SCD on two machines: one keeps the model and begins the laps, the other has the rows, and only what its gate has released leaves it.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train a linear model by DP-SCD, the loop on one machine and the rows on another."
apart=yes loss=hinge lambda=auto epsilon=1 delta=1e-5 epochs=10 batch=100 clip=auto sigma_prime_scale=0.2
options "$@"

if [ -z "$data" ]; then
    loop --send "$send" --receive "$receive" "${port[@]}"
else
    sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
        --laps "$laps" --adjacency "$adjacency")}
    [ "$clip" != auto ] || clip=$(calculate "1 / $epochs")
    [ "$lambda" != auto ] || lambda=$(calculate "$(by_loss 15 30) * $sigma * $sensitivity * $clip / $rows")
    warn_of_clip
    stages "
  dp-sample   --in $(quote "$in")$ports --data $dir --rate $rate |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta $gate |
  dp-step     --average tail --out $(quote "$out")$ports"
fi
