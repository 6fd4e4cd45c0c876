#!/usr/bin/env bash
# Several runs on Adult side by side, and as many one after another.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
if ! d=$(adult); then
    skip "dp-loop --lanes" "$no_adult"
    exit 0
fi
if ! option dp-loop --lanes; then
    skip "dp-loop --lanes" "dp-loop has no --lanes"
    exit 0
fi
# run DATA RATE LAPS LAMBDA OPTION…
run() {
    echo "dp-loop -q -x fused --laps $3 ${*:5} \"dp-sample --data '$1' --rate $2 | dp-scd-step --data '$1' --loss hinge --lambda $4 --clip 0.1 --threads 1 | dp-noise -z 4 | $gate\""
}
lambdas="1e-3 3e-4 1e-4 3e-5 1e-5 3e-6 1e-6 3e-7"
{ echo seed && seq 10; } > "$out/seeds.tsv"
{ printf 'seed\tlambda\n' && for l in $lambdas; do printf '1\t%s\n' "$l"; done; } > "$out/settings.tsv"
# compare NAME TABLE DATA RATE LAPS: the lanes of a table, and its lines one by one
compare() {
    local apart seed lambda threads what=$1 table=$out/$2.tsv lanes
    apart=$(tail -n +2 "$table" | while read -r seed lambda; do run "${@:3}" "${lambda:-1e-4}" --seed "$seed" -o "$out/apart.model"; done)
    lambda=1e-4
    ! grep -q lambda "$table" || lambda='{lambda}'
    value "$what, one after another" s "$(seconds bash -ec "$apart")"
    for threads in 1 2; do
        rm -rf "$out/lanes"
        lanes=$(run "${@:3}" "$lambda" --lanes "$table" --threads $threads -o "$out/lanes/")
        value "$what, --lanes, --threads $threads" s "$(seconds bash -c "exec $lanes")"
    done
}
for ((turn = 0; turn < turns; turn++)); do
    compare "10 seeds, Adult" seeds "$d" 100/$adult_rows 2442
    compare "8 settings, Adult" settings "$d" 100/$adult_rows 2442
    compare "8 settings, 347786 × 90, batch 34779" settings "$(large)" 34779/$large_rows 30
done
for what in "10 seeds, Adult" "8 settings, Adult" "8 settings, 347786 × 90, batch 34779"; do
    ratio "$what: one after another to --lanes" s "$what, one after another" "$what, --lanes, --threads 1"
    ratio "$what: one after another to --lanes --threads 2" s "$what, one after another" "$what, --lanes, --threads 2"
done
