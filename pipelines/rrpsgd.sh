#!/bin/bash -p
# RRPSGD (Zhang, Zheng, Mou and Wang 2017, Algorithm 2) on Poisson batches: the number of laps is drawn before the run, the
# noise is chosen for this number, and the last model is the result. The loss need not be convex.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train by private stochastic gradient descent of a random number of laps (RRPSGD)."
options_of_data dp-grad logistic softmax
options_of_gradients
option step 1 ETA "step size" number
option schedule constant B "divide it by b_t: constant or a file, which needs --smoothness" text
option rounds random R "laps of the run, up to --epochs" whole
option smoothness none BETA "smoothness of the objective, if the step size changes" number
option threads 1 N "threads of the stage that reads rows" whole
options_of_budget
options "$@"

# draw: the number of laps. The probability of a model is proportional to 2 eta - BETA eta^2, with eta the next step from it: the law for which
# the bound of Theorem 5 is proved (Ghadimi and Lan). The paper prints R = k + 1 for eta_k, the step to the model; with that law the bound is
# false for some steps, and with constant steps the two are the same. The initial model is left out. The bits come from the kernel, or
# from the seed.
draw() {
    local bits
    bits=$(if [ -n "$seed" ]; then echo "rounds $seed"; else head -c 32 /dev/urandom; fi | sha256sum | cut -c 1-13)
    if [ "$schedule" = constant ]; then seq $((most + 1)) | sed 's/.*/1/'; else cat "$schedule"; fi |
        awk -v u="$((16#$bits))" -v most="$most" -v step="$step" -v beta="${smoothness/none/0}" '
            NF == 0 || /^#/ || n++ == 0 || n > most + 1 { next }
            { weight = $1 + 0 > 0 ? 2 * step / $1 - beta * (step / $1) ^ 2 : 0 }
            !(weight > 0) { exit bad = 1 }
            { sum[n - 1] = sum[n - 2] + weight }
            END {
                if (bad || n <= most) exit 1
                for (k = 1; sum[k] <= u / 2 ^ 52 * sum[most]; k++);
                print k
            }' || fail "--schedule, --step, --smoothness: need $((most + 1)) steps above 0 and below 2 / BETA"
}
most=$laps
if [ "$schedule" != constant ]; then
    [ -r "$schedule" ] || fail "--schedule: must be constant or a file, got '$schedule'"
    number "$smoothness" || fail "--schedule: needs --smoothness, by which the number of laps is drawn"
fi
[ -z "$resume" ] || [ "$rounds$seed" != random ] || fail "--resume: needs --rounds, the laps that the run was to have"
[ "$rounds" != random ] || rounds=$(draw)
[ "$rounds" -le "$most" ] || fail "--rounds: must be at most $most, got '$rounds'"
laps=$rounds
say "$laps of at most $most laps"

sigma=${multiplier:-$(dp-account sigma --epsilon "$epsilon" --delta "$delta" --rate "$rate" \
    --laps "$laps" --adjacency "$adjacency")}
loop "
  dp-sample  --data $dir --rate $rate |
  dp-grad    --data $dir --loss $loss --lambda $lambda --intercept $intercept --clip $clip \
             --threads $threads --adjacency $adjacency |
  dp-noise   --multiplier $sigma |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step --schedule $by"
