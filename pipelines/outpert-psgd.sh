#!/usr/bin/env bash
# Output perturbation of stochastic gradient descent: --epochs passes over one random order of the rows, and noise on the result, once
# (Wu, Li, Kumar, Chaudhuri, Jha and Naughton 2017).
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses='logistic|smooth-hinge|huber|huberised-hinge|softmax'
summary="Train by stochastic gradient descent, and perturb the result (output perturbation)."
loss=logistic many_classes=softmax regression=huber lambda=1e-3 epsilon=1 delta=1e-5 epochs=10 batch=50 clip=none
distance=10 norm=1 loss_width=auto noise=gaussian order=permutation
options "$@"

[ "$order" = permutation ] || fail "--order: must be permutation, got '$order'"
bound_of_loss
once
passes=$(whole "$epochs")
# as far as outpert-gd.sh goes, in as many steps as there are
[ -n "$step" ] || step=$(awk "BEGIN { step = $(way) / ($passes * int($rows / $batch)); print (step < .99 / $beta ? step : .99 / $beta) }")
laps=1
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss$width --lambda $lambda --intercept $intercept --norm $norm --method permutation \
             --passes $passes --batch $batch --step $step --threads $threads --adjacency $adjacency |
  dp-noise   --noise $noise --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step"
