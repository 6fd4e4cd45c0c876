#!/bin/bash -p
# DP-SGD over sites that keep their rows: the gate with --workers, or one of the sites with --shard.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-sites.sh"
summary="Train by DP-SGD, on rows that stay where they are."
options_of_sites
options_of_data dp-grad logistic softmax
options_of_gradients
option step 1 ETA "step size" number
option schedule constant B "divide it by b_t: $schedules" text
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
place_noise "$sigma"
if [ -n "$workers" ]; then
    loop "
  dp-gather $ports$noise_of_gate |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step --schedule $by --average tail"
else
    work "
  dp-sample  --data $dir --rate $rate$part |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency$noise_of_site$site_account"
fi
