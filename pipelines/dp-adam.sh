#!/usr/bin/env bash
# DP-Adam: the released gradients of DP-SGD, stepped along by Adam.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by Adam on private gradients (DP-Adam)."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=1 step=0.05
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step    --step $step --schedule $by --optimizer adam --average tail"
