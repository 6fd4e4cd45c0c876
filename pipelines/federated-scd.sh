#!/bin/bash -p
# DP-SCD over sites that keep their rows: the gate with --workers, or one of the sites with --shard.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-dual.sh"
. "$here/options-sites.sh"
summary="Train a linear model by DP-SCD, on rows that stay where they are."
options_of_sites
options_of_data dp-scd-step hinge
option lambda auto L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip auto C "bound on one person's update" number
option sigma-prime-scale 0.2 S "below 1: less cautious subproblems" number
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
auto_bounds "$sigma"
place_noise "$sigma"
if [ -n "$workers" ]; then
    loop "
  dp-gather $ports$noise_of_gate |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --average tail"
else
    warn_of_clip
    work "
  dp-sample   --data $dir --rate $rate$part |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency$noise_of_site$site_account"
fi
