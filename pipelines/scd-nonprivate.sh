#!/usr/bin/env bash
# Stochastic dual coordinate ascent without privacy: the optimum to compare with. No step size, no noise, nothing to tune;
# --epsilon, --delta, --batch and --clip are taken and not used, so that the pipelines share their options.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train without privacy, to the optimum: the model is marked non-private."
loss=hinge lambda=1e-5 epsilon=none delta=none epochs=100 batch=100 clip=none sigma_prime_scale=1
options "$@"

[[ $epochs =~ ^[1-9][0-9]*$ ]] || fail "--epochs: must be a whole number >= 1, got '$epochs'"
laps=$epochs
loop --stop-gap 1e-6 "
  dp-sample   --data $dir --mode full |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --variant non-private |
  dp-account  --non-private $seeded |
  dp-step"
