#!/bin/bash -p
# Measures what three sites gain by training together. Results go to build/examples/federated.
#   run.sh [--write] [part …]     parts: same, models (default: both)
# same: the model of the three machines and the one of a machine with all rows, compared byte by byte, and those with masks and without. models: accuracies, site by site.
# --write also puts measured.tsv, the table and the picture into this directory. SEEDS=n sets the number of seeds (10), EPSILONS="E …" which.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
write=
[ "${1:-}" != --write ] || { write=1 && shift; }
[ $# -gt 0 ] || set -- same models
[ -e "$raw/adult/adult.data.gz" ] || { say "there is no $raw/adult/adult.data.gz; get-data.sh fetches it, DPLINE_DATA says where it is" && exit 1; }

# cell NAME COMMAND…: trains a model unless it has been, and keeps its accuracies at the sites and over all test rows
cell() {
    local file=$results/cells/$1 site
    [ ! -s "$file" ] || return 0
    "${@:2}" "$file.model"
    for site in "${sites[@]}" all; do accuracy "$file.model" "$site"; done | paste -s > "$file.part"
    rm "$file.model"
    mv "$file.part" "$file"
}
# with a model's name last
trained_together() { together "$1" "$2" "${@: -1}" "${@:3:$#-3}"; }
trained_exactly() { erm.sh --data "$out/$1.dp" --lambda 1e-7 -q -o "$2"; }

# models: the methods and what they are trained on, as the lines of measured.tsv have them
models() {
    local seed epsilon site
    for seed in $(seq "$seeds"); do
        for epsilon in $epsilons; do
            say "epsilon $epsilon, seed $seed"
            cell "gate,$epsilon,all,$seed" trained_together "$epsilon" "$seed"
            cell "shares,$epsilon,all,$seed" trained_together "$epsilon" "$seed" --distributed-noise
            cell "shares-1,$epsilon,all,$seed" trained_together "$epsilon" "$seed" --distributed-noise --colluding 1
            for site in "${sites[@]}"; do cell "alone,$epsilon,$site,$seed" alone "$site" "$epsilon" "$seed"; done
        done
    done
    for site in "${sites[@]}" all; do cell "exact,inf,$site,1" trained_exactly "$site"; done
    {
        for site in "${sites[@]}" all; do
            printf 'rows\t%s\t%s\t%s\n' "$site" "$(dp-info --get rows "$out/$site.dp")" "$(dp-info --get rows "$out/$site-test.dp")"
        done
        for cell in "$results"/cells/*,*; do
            basename "$cell" | sed 's|,|\t|g' | tr '\n' '\t'
            cat "$cell"
        done | sort -t $'\t' -k 1,1 -k 2,2g -k 3,3 -k 4,4n
    } > "$out/measured.tsv"
    awk -f table.awk "$out/measured.tsv"
}

# same: with a seed, the three machines make the model of one that has all rows and the same stages, to the last bit; they differ in whose rows
# they say that it is of. Keys follow from a stage's place, so dp-site-account has to stand there too.
same() {
    local text promise
    promise=$(federated-fit.sh --shard 1/3 --data "$out/all.dp" --at "$gate" --insecure-plaintext --rows "$(dp-info --get rows "$out/all.dp")" --epsilon 1 --delta "$delta" \
        --no-ledger --seed 1 --print -q | grep dp-site-account | tr -d "'")
    text=$(fit.sh "$out/all.dp" --epsilon 1 --delta "$delta" --no-ledger --seed 1 -q -o "$results/one" --print |
        awk -v promise="$promise |" '/dp-noise/ && !n++ { print promise } { print }')
    bash -c "$text" > /dev/null
    together 1 1 "$results/three"
    dp-cmp --weights-only "$results/one" "$results/three"
    say "the model of three machines is that of one with all rows, bit by bit"
    together 1 1 "$results/shares" --distributed-noise
    at_sites=(--mask "$out/keys/roster")
    together 1 1 "$results/masks" --distributed-noise
    at_sites=()
    cmp "$results/shares" "$results/masks"
    say "the model with masks is the one without, byte by byte"
}

import
trap machines_down EXIT
machines_up
for part; do
    case $part in
        same | models) "$part" ;;
        *) echo "run.sh: parts are same and models, not '$part'" >&2 && exit 2 ;;
    esac
done
[ -z "$write" ] || {
    [ ! -e "$out/measured.tsv" ] || cp "$out/measured.tsv" .
    ./figures.sh
    ../common/write-readme.sh
}
