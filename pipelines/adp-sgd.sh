#!/usr/bin/env bash
# ADP-SGD. With a schedule b_t the step is eta/b_t and the noise of a lap grows with sqrt(b_t): smaller steps bear more noise. With
# --schedule adaptive the steps are AdaGrad-norm's on released gradients, less the noise's share of their norm, and the noise is
# the same in every lap.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
schedules="adaptive, $schedules"
summary="Train by private stochastic gradient descent with noise adapted to the step sizes (ADP-SGD)."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=1 delta=1e-5 epochs=10 batch=100 clip=1 step=10 schedule=sqrt:20:1
options "$@"

if [ "$schedule" = adaptive ]; then
    steps="--optimizer adagrad-norm" noise='' schedule=''
else
    steps="--schedule $by" noise="--schedule $by"
fi
sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency" ${schedule:+--schedule "$schedule"})}
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma $noise |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step    --step $step $steps --average tail"
