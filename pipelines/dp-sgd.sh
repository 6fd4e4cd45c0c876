#!/usr/bin/env bash
# DP-SGD: gradients clipped row by row, summed, noised; Poisson samples.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by private stochastic gradient descent (DP-SGD)."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=1 step=1
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step    --step $step --schedule $by --average tail"
