#!/bin/bash -p
# DP-SCD on two machines: one keeps the model and begins the laps. The other has the rows; only what its gate has released leaves it.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-dual.sh"
. "$here/options-sites.sh"
summary="Train a linear model by DP-SCD, the loop on one machine and the rows on another."
usages=('--send ENDPOINT --receive ENDPOINT --rows N [options]' '--in ENDPOINT --out ENDPOINT --data DIR [options]')
note='The first keeps the model and has no rows; the second has the rows. Give both the same options.'
option send '' ENDPOINT "destination of the model, such as @tcp://*:5555; @ binds, > connects" text
option receive '' ENDPOINT "source of the returned model" text
option rows '' N "rows of the other machine; public" whole
option in '' ENDPOINT "source of the model, such as '>tcp://host:5555'" text
option out '' ENDPOINT "destination of the model" text
option patience '' S "seconds to wait for the other machine (default 30)" number
options_of_port
options_of_data dp-scd-step hinge
option lambda auto L "L2 regularisation" real
option epochs 10 E "passes over the data" number
option batch 100 B "expected rows per lap" whole
option clip auto C "bound on one person's update" number
option sigma-prime-scale 0.2 S "below 1: less cautious subproblems" number
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget

# where: one machine has the model, the other one the rows
where() {
    if [ -n "$data" ]; then
        { [ -n "$in" ] && [ -n "$out" ]; } || fail "--in and --out are required beside --data"
        refuse "for the machine without --data" send receive rows model init
    else
        { [ -n "$send" ] && [ -n "$receive" ]; } || fail "--send and --receive are required, or --data, --in and --out"
        [ -n "$rows" ] || fail "--rows is required: of the other machine"
        refuse "for the machine that has --data" in out
    fi
    refuse "not to be had over two machines" checkpoint resume
    port=(${insecure_plaintext:+"$insecure_plaintext"} ${keys:+--keys "$keys"} ${server:+--server "$server"} ${patience:+--patience "$patience"})
    quote_port
}
options "$@"

if [ -z "$data" ]; then
    exec='' # there are no stages here
    run_loop --send "$send" --receive "$receive" "${port[@]}"
else
    sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
        --laps "$laps" --adjacency "$adjacency")}
    auto_bounds "$sigma"
    warn_of_clip
    text=$(without_holes "
  dp-sample   --in $(in_text "$in")$ports --data $dir --rate $rate |
  dp-scd-step --data $dir --loss $loss --lambda $lambda --clip $clip \
              --sigma-prime-scale $sigma_prime_scale --threads $threads --adjacency $adjacency |
  dp-noise    --multiplier $sigma |
  dp-account  --epsilon $epsilon --delta $delta$gate |
  dp-step     --average tail --out $(in_text "$out")$ports")
    if [ -n "$print" ]; then printf '%s\n' "$text"; else exec bash -p -o pipefail -c "$text"; fi
fi
