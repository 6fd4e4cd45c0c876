#!/bin/bash -p
# Stochastic gradient descent without privacy, to compare with.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by stochastic gradient descent without privacy: the model is marked non-private."
options_of_data dp-grad logistic softmax
option lambda 1e-5 L "L2 regularisation" real
option intercept 0 V "value of a constant column to append, 0 for none" real
options_of_classes
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option step 1 ETA "step size" number
option schedule constant B "divide it by b_t: $schedules" text
option threads 1 N "threads of the stage that reads rows" whole
options "$@"

loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda $of_model --non-private --threads $threads |
  dp-account --non-private${seeded:+ $seeded} |
  dp-step    --step $step --schedule $by --average tail"
