#!/bin/bash -p
# Reproduces Table 3 of Zhang, Zheng, Mou and Wang (IJCAI 2017) on the tables that are there. Results go to build/examples/private-erm.
#   run.sh [--write | --collect] [part …]     parts: table, adult, horizon (default: all)
# --write also puts measured.tsv, the tables and the picture into this directory; --collect runs nothing and makes them of what has
# been measured. SETS="BANK WINE …", MUS="0 0.001 0.01", EPSILONS="0.1 0.5 1 2" and METHODS="published tight …" name what is run,
# ROUNDS=n (100) how often noise is drawn, SEEDS=n (20) how often noisy SGD and GD are run, JOBS=n how many cells run at once.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./methods.sh
write='' collect=''
case ${1:-} in
    --write) write=1 && shift ;;
    --collect) write=1 collect=1 && shift ;;
esac
[ $# -gt 0 ] || set -- table adult horizon
read -ra sets <<< "${SETS:-$(sets | tr '\n' ' ')}"
[ ${#sets[@]} -gt 0 ] || { echo "run.sh: there is no data in $raw: get-data.sh fetches it, DPLINE_DATA says where it is" >&2 && exit 1; }
read -ra mus <<< "${MUS:-0 0.001 0.01}"
read -ra epsilons <<< "${EPSILONS:-0.1 0.5 1 2}"
read -ra methods <<< "${METHODS:-published gamma tight tight-replace stopped psgd gd objective sgd-2014 sgd published-wide sgd-2014-wide sgd-theorem-wide}"

# cells PART: what is measured for a part of the page, one a line. Objective perturbation needs a regulariser. ADULT-81 has a table of
# its own, without SGD, with both adjacencies.
cells() {
    local method set mu epsilon
    for method in "${methods[@]}"; do
        for set in "${sets[@]}"; do
            for mu in "${mus[@]}"; do
                [ "$method $mu" != 'objective 0' ] || continue
                case "$1 $set $method" in
                    'table ADULT-81 '* | table*tight-replace) continue ;;
                    'adult ADULT-81 sgd'* | adult*' psgd' | adult*' gamma' | adult*-wide) continue ;;
                    table* | 'adult ADULT-81 '*) [ "$1 $mu" = 'adult 0' ] || tsv "$method" "$set" "$mu" ;;
                esac
            done
        done
    done | while IFS=$'\t' read -r method set mu; do
        for epsilon in "${epsilons[@]}"; do tsv "$method" "$set" "$mu" "$epsilon"; done
    done
}

# collected PART: the lines of the part for measured.tsv
collected() {
    local method set mu epsilon file
    cells "$1" | cut -f 2,3 | sort -u | while read -r set mu; do
        file=$results/minimum-$set-$mu
        [ ! -s "$file" ] || tsv minimum "$1" "$set" "$mu" "$(dp-info --get rows "$out/$set.dp")" "$(dp-info --get cols "$out/$set.dp")" "$(cat "$file")"
    done
    cells "$1" | while read -r method set mu epsilon; do
        file=$results/cells/$method-$set-$mu-$epsilon
        [ ! -s "$file" ] || [ ! -s "$results/minimum-$set-$mu" ] || tsv cell "$1" "$set" "$mu" "$method" "$epsilon" "$(above "$(cut -f 1 "$results/minimum-$set-$mu")" < "$file")"
    done
}

# above F: the line of a cell, with errors in place of values of F
above() { awk -F '\t' -v OFS='\t' -v least="$1" '{ $3 = sprintf("%.4g", $3 - least); $4 = sprintf("%.4g", $4 - least) } 1'; }

for part; do
    case $part in
        table | adult | horizon) ;;
        *) echo "run.sh: unknown part '$part': see the first lines of this file" >&2 && exit 2 ;;
    esac
done
for set in "${sets[@]}"; do import "$set"; done
for part; do
    [ -z "$collect" ] || continue
    [ "$part" != horizon ] || { horizon && continue; }
    say "$part: minima"
    cells "$part" | cut -f 2,3 | sort -u | sed 's/^/minimum\t/' | run_cells
    say "$part: cells"
    cells "$part" | sed 's/^/cell\t/' | run_cells
done
for part; do
    case $part in horizon) horizon_lines ;; *) collected "$part" ;; esac > "$out/$part.tsv"
done
cat "$out"/{table,adult,horizon}.tsv 2> /dev/null > "$out/measured.tsv" || true
column -t -s $'\t' "$out/measured.tsv"
[ -z "$write" ] || {
    cp "$out/measured.tsv" measured.tsv
    ./figures.sh
    ../common/write-readme.sh
}
