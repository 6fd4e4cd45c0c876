#!/usr/bin/env bash
# ADP-SGD's adaptive steps: AdaGrad-norm on the released gradients, with the noise's share of their norm taken away.
set -euo pipefail
. "$(dirname "$0")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by private stochastic gradient descent with adaptive step sizes (ADP-SGD)."
loss=logistic lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=1 step=10
options "$@"

sigma=$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" --laps "$laps")
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta $seeded |
  dp-step    --step $step --schedule $schedule --optimizer adagrad-norm --average tail"
