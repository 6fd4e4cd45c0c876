#!/usr/bin/env bash
# Output perturbation of stochastic gradient descent: --epochs passes over one random order of the rows, and noise on the result, once
# (Wu, Li, Kumar, Chaudhuri, Jha and Naughton 2017); or as many steps of Poisson batches (Chen, Lee and Kifer 2019).
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses='logistic|smooth-hinge|huber|huberised-hinge|softmax'
summary="Train by stochastic gradient descent, and perturb the result (output perturbation)."
loss=logistic many_classes=softmax regression=huber lambda=1e-3 epsilon=1 delta=1e-5 epochs=10 batch=50 clip=none
distance=10 norm=1 loss_width=auto noise=gaussian order=permutation
options "$@"

case $order in
    permutation) ;;
    coins) [ "$noise" = gaussian ] || fail "--order coins: takes Gaussian noise only, got '$noise'" ;;
    *) fail "--order: must be permutation or coins, got '$order'" ;;
esac
bound_of_loss
once
passes=$(whole "$epochs")
# as far as outpert-gd.sh goes, in as many steps as there are
[ -n "$step" ] || step=$(awk "BEGIN { step = $(way) / ($passes * int($rows / $batch)); print (step < .99 / $beta ? step : .99 / $beta) }")
# far enough above the contraction that dp-erm records, which is of rows that were rounded
if [ "$order" = coins ] && [ -z "$multiplier" ]; then
    rho=$(awk "BEGIN { a = 1 - $step * $lambda; b = $step * $beta * 1.000003 - 1; r = (a > b ? a : b) + 1e-9; printf \"%.12g\", (r < 1 ? r : 1) }")
    draws=$(((passes * rows - 1) / batch + 1))
    sigma=$(dp-account sigma --sampler drawn --rate "$batch/$rows" --draws "$draws" --contraction "$rho" --epsilon "$epsilon" --delta "$delta")
fi
laps=1
loop "
  dp-sample  --data $dir --mode full |
  dp-erm     --data $dir --loss $loss$width --lambda $lambda --intercept $intercept --norm $norm --method $order \
             --passes $passes --batch $batch --step $step --threads $threads --adjacency $adjacency |
  dp-noise   --noise $noise --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step"
