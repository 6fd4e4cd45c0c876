#!/usr/bin/env bash
# DP-SGD over sites that keep their rows: the gate with --workers, or one of the sites with --shard.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by DP-SGD, on rows that stay where they are."
sites=yes loss=logistic many_classes=softmax lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=1 step=1
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
place_noise "$sigma"
if [ -n "$workers" ]; then
    loop "
  dp-gather $ports$noise_of_gate |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step    --step $step --schedule $by --average tail"
else
    work "
  dp-sample  --data $dir --rate $rate$part |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency$noise_of_site$consent"
fi
