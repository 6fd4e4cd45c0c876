#!/usr/bin/env bash
# PrivGene: candidates are bred of the models that were chosen last, and the exponential mechanism chooses one of them by the losses of all
# rows, lap after lap.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
losses+='|huberised-hinge|poisson|softmax'
summary="Train by private selection among candidates that are bred (PrivGene); no gradient is needed."
loss=logistic many_classes=softmax lambda=0 epsilon=1 delta=1e-5 epochs=auto batch=all clip=0.1
offspring=200 parents=10 mutation=2 decay=auto
options "$@"

# As many choices as the paper makes, 10 in each of max(8, 0.00125 epsilon N / 10) generations. Until the last one mutations fall to a tenth.
[ "$epochs" != auto ] || laps=$(awk "BEGIN { laps = int(.00125 * $epsilon * $rows); print (laps < 80 ? 80 : laps) }")
[ "$decay" != auto ] || decay=$(calculate ".1 ^ (1 / $laps)")
# A choice of epsilon e costs what Gaussian noise of multiplier 2 / e does by Renyi accounting, and e at most.
# shellcheck disable=SC2086 # none, or an option and its value
sigma=$(dp-account sigma --accountant rdp --sampler full --epsilon "$epsilon" --delta "$delta" --laps "$laps")
choice=$(awk "BEGIN { many = 1.99999 / $sigma; few = .99999 * $epsilon / $laps; print (many > few ? many : few) }")
loop "
  dp-breed   --data $dir --offspring $offspring --parents $parents --mutation $mutation --decay $decay --intercept $intercept |
  dp-sample  --data $dir --mode full |
  dp-select  --data $dir --loss $loss --lambda $lambda --epsilon $choice --clip $clip --relative \
             --threads $threads --adjacency $adjacency |
  dp-account --epsilon $epsilon --delta $delta $gate |
  dp-step    --average tail"
