#!/usr/bin/env bash
# Stochastic gradient descent without privacy, to compare with; --epsilon, --delta and --clip are taken and not used.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by stochastic gradient descent without privacy: the model is marked non-private."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=none delta=none epochs=10 batch=100 clip=none step=1
options "$@"

loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --non-private --threads $threads |
  dp-account --non-private $seeded |
  dp-step    --step $step --schedule $by --average tail"
