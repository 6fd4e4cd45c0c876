#!/bin/bash -p
# Stochastic dual coordinate ascent without privacy: the optimum to compare with. No step size, no noise, nothing to tune.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train without privacy, to the optimum: the model is marked non-private."
options_of_data dp-scd-step hinge
option lambda 1e-5 L "L2 regularisation" real
option epochs 100 E "passes over the data at most" whole
options "$@"

laps=$epochs
loop --stop-gap 1e-6 "
  dp-sample   --data $dir --mode full |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --variant non-private |
  dp-account  --non-private${seeded:+ $seeded} |
  dp-step"
