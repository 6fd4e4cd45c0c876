#!/bin/bash -p
# PrivGene: each lap makes candidates from the models that were chosen last, and the exponential mechanism chooses one of them by the losses
# of all rows.
# shellcheck disable=SC2034 # names in calculations
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by private selection among candidates that are bred (PrivGene); no gradient is needed."
options_of_data dp-select logistic softmax
option lambda 0 L "L2 regularisation" real
option intercept 0 V "value of a constant column to append, 0 for none" real
option epochs auto E "passes over the data" number
option clip 0.1 C "bound on the difference of one person's losses of candidates, in units of their distance" number
option offspring 200 M "candidates in each lap" whole
option parents 10 P "models that candidates are made from" whole
option mutation 2 S "largest change of an entry in the first lap" number
option decay auto PART "each lap has this part of the mutation of the lap before" number
option threads 1 N "threads of the stage that reads rows" whole
option epsilon 1 E "privacy budget" number
option delta 1e-5 D "probability that epsilon may fail to bound" number
option adjacency null-record HOW "null-record|replace-one: what one person can change" choice
options_of_ledger
batch=all
options "$@"

# As many choices as in the paper, 10 in each of max(8, 0.00125 epsilon N / 10) generations. By the last one mutations fall to a tenth.
[ "$epochs" != auto ] || laps=$(calculate 'most(80, int(.00125 * epsilon * rows))')
[ "$decay" != auto ] || decay=$(calculate '.1 ^ (1 / laps)')
# A choice of epsilon e costs as much as Gaussian noise of multiplier 2 / e by Renyi accounting, and at most e.
# shellcheck disable=SC2086 # empty, or an option and its value
sigma=$(dp-account sigma --accountant rdp --sampler full --epsilon "$epsilon" --delta "$delta" --laps "$laps")
choice=$(calculate 'most(1.99999 / sigma, .99999 * epsilon / laps)')
loop "
  dp-breed   --data $dir --offspring $offspring --parents $parents --mutation $mutation --decay $decay --intercept $intercept |
  dp-sample  --data $dir --mode full |
  dp-select  --data $dir --loss $loss --lambda $lambda --epsilon $choice --clip $clip --relative \
             --threads $threads --adjacency $adjacency |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --average tail"
