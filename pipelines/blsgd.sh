#!/usr/bin/env bash
# DP-BLSGD: noised gradients of Poisson samples, and for each the longest step that a private line search on a sample of its own finds
# good. With --clip-decay it is DP-BLSGD-AC.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by private stochastic gradient descent with line search (DP-BLSGD); no step size is needed."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=1 delta=1e-5 epochs=auto batch=auto clip=0.5
share=0.2 first_step=50 tries=30 loss_clip=2 beta=0.8 armijo=0.5 policy=none growth=0.3 clip_decay=none
options "$@"

# shellcheck disable=SC2086 # none, or an option and its value
sigma=$(dp-account sigma $accountant --epsilon "$epsilon" --delta "$delta" --rate "$rate" --laps "$laps" --adjacency "$adjacency")
in_turns "$sigma"
loop --until-spent "
  dp-sample     --data $dir --rate $rate |
  dp-grad       --on gradient --data $dir --loss $loss --lambda $lambda --intercept $intercept \
                $clipped --threads $threads --adjacency $adjacency |
  dp-noise      --on gradient --multiplier $multiplier --follow |
  dp-linesearch --on search --data $dir $searched --tries $tries --clip $loss_clip --first-step $first_step --follow \
                --beta $beta --armijo $armijo --threads $threads --adjacency $adjacency |
  dp-account    --epsilon $epsilon --delta $delta $gate |
  dp-step       --on gradient --hold |
  dp-step       --on search --average polynomial |
  dp-adapt      $chosen"
