#!/usr/bin/env bash
# The minimum of the objective, without privacy: one lap, no step size, no noise; --epsilon, --delta, --epochs, --batch and --clip are
# taken and not used, so that the pipelines share their options.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses='squared|logistic|smooth-hinge|huber|huberised-hinge|poisson|softmax'
summary="Train without privacy, to the minimum of the objective: the model is marked non-private."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=none delta=none epochs=1 batch=100 clip=none tolerance=1e-6
options "$@"

laps=1
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss --lambda $lambda --intercept $intercept --tolerance $tolerance --non-private --threads $threads |
  dp-account --non-private $seeded |
  dp-step"
