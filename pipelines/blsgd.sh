#!/bin/bash -p
# DP-BLSGD: noised gradients of Poisson samples. For each gradient a private line search on a separate sample finds the longest good step.
# With --policy adaptive its budgets grow as in the paper, and with --clip-decay as well it is DP-BLSGD-AC.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-search.sh"
summary="Train by private stochastic gradient descent with line search (DP-BLSGD); no step size is needed."
options_of_data dp-grad logistic softmax
option lambda 1e-5 L "L2 regularisation" real
option intercept 0 V "value of a constant column to append, 0 for none" real
options_of_network
option epochs auto E "passes over the data" number
option batch auto B "expected rows per lap" whole
option clip 0.5 C "bound on one person's gradient" number
option clip-decay none Z "with a policy: part by which both clips then fall, once in a step" number
options_of_search 0.2 30 none
options_of_armijo
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"
[ "$clip_decay" = none ] || [ "$policy" != none ] || fail "--clip-decay needs a --policy: clips fall when budgets grow"
laps_of_search

# shellcheck disable=SC2086 # empty, or an option and its value
sigma=$(dp-account sigma $accountant --epsilon "$epsilon" --delta "$delta" --rate "$rate" --laps "$laps" --adjacency "$adjacency")
in_turns "$sigma"
loop --until-spent "
  dp-sample     --data $dir --rate $rate |
  $gradients    --on gradient --data $dir --loss $loss --lambda $lambda $of_model \
                $clipped --threads $threads --adjacency $adjacency |
  dp-noise      --on gradient --multiplier $multiplier --follow |
  dp-linesearch --on search --data $dir $searched --tries $tries --clip $loss_clip --first-step $first_step --follow \
                --beta $beta --armijo $armijo --threads $threads --adjacency $adjacency |
  dp-account    --epsilon $epsilon --delta $delta$gate |
  dp-step       --on gradient --hold |
  dp-step       --on search --average polynomial |
  dp-adapt      $chosen"
