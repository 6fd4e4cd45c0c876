#!/bin/bash -p
# The minimum of the objective, without privacy: one lap, no step size, no noise.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train without privacy, to the minimum of the objective: the model is marked non-private."
options_of_data dp-erm logistic softmax
option lambda 1e-5 L "L2 regularisation" real
option intercept 0 V "value of a constant column to append, 0 for none" real
option tolerance 1e-6 G "largest final norm of the gradient" number
option threads 1 N "threads of the stage that reads rows" whole
options "$@"

loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss --lambda $lambda --intercept $intercept --tolerance $tolerance --non-private --threads $threads |
  dp-account --non-private${seeded:+ $seeded} |
  dp-step"
