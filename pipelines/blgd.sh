#!/usr/bin/env bash
# DP-BLGD: DP-BLSGD on all rows in every lap. After a search that found no step the noise of gradients falls, and the next one is
# averaged with the one at hand.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by private gradient descent with line search on all rows (DP-BLGD); no step size is needed."
loss=logistic many_classes=softmax lambda=1e-5 epsilon=1 delta=1e-5 epochs=auto batch=all clip=0.5
share=0.2 first_step=50 tries=30 loss_clip=2 beta=0.8 armijo=0.5 policy=on-failure growth=0.3
options "$@"

# shellcheck disable=SC2086 # none, or an option and its value
sigma=$(dp-account sigma $accountant --sampler full --epsilon "$epsilon" --delta "$delta" --laps "$laps" --adjacency "$adjacency")
in_turns "$sigma"
loop --until-spent "
  dp-sample     --data $dir --mode full |
  dp-grad       --on gradient --data $dir --loss $loss --lambda $lambda --intercept $intercept \
                --clip $clip --threads $threads --adjacency $adjacency |
  dp-noise      --on gradient --multiplier $multiplier --follow |
  dp-linesearch --on search --data $dir $searched --tries $tries --clip $loss_clip --first-step $first_step --follow \
                --beta $beta --armijo $armijo --threads $threads --adjacency $adjacency |
  dp-account    --epsilon $epsilon --delta $delta $gate |
  dp-step       --on gradient --hold $averaged |
  dp-step       --on search --average polynomial |
  dp-adapt      $chosen $averaged"
