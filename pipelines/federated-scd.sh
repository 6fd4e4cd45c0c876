#!/usr/bin/env bash
# DP-SCD over sites that keep their rows: the gate with --workers, or one of the sites with --shard.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train a linear model by DP-SCD, on rows that stay where they are."
sites=yes loss=hinge lambda=auto epsilon=1 delta=1e-5 epochs=10 batch=100 clip=auto sigma_prime_scale=0.2
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
[ "$clip" != auto ] || clip=$(calculate "1 / $epochs")
[ "$lambda" != auto ] || lambda=$(calculate "$(by_loss 15 30) * $sigma * $sensitivity * $clip / $rows")
place_noise "$sigma"
if [ -n "$workers" ]; then
    loop "
  dp-gather $ports$noise_of_gate |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step    --average tail"
else
    warn_of_clip
    work "
  dp-sample   --data $dir --rate $rate$part |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency$noise_of_site$consent"
fi
