#!/bin/bash -p
# Measures `dpline fit TABLE --label NAME` where nothing is known of a table, so that a part of epsilon pays for its schema.
#   paid.sh [--write] [SET …]     sets: adult (its official test file) and vocab (as a number; a fifth of the rows are for tests)
# --write also puts paid.tsv and its table into this directory. RUNS=n (5), EPSILONS="0.1 1". Runs are not seeded, so figures differ from
# run to run. mu of the run is that of its moments and laps together, and mu of the whole budget is next to it.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./tables.sh
read -ra wanted <<< "${EPSILONS:-0.1 1}"
write=''
if [ "${1:-}" = --write ]; then write=1 && shift; fi
[ $# -gt 0 ] || set -- adult vocab

# named SET: the table, with a line of names; for adult also the official test file
named() {
    local names=age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours,country,income
    if [ "$1" = adult ]; then
        { echo $names && gzip -dc "$raw/adult/adult.data.gz" | sed '/^$/d'; } > adult.csv
        { echo $names && gzip -dc "$raw/adult/adult.test.gz" | sed '1d; /^$/d; s/\.$//'; } > official.csv
    else
        gzip -dc "$(file "$1")" > "$1.csv"
    fi
}
# mu_of: from the text of a run, √(Σ laps / multiplier²) over moments and laps of gradients, all of which have all rows
mu_of() {
    awk '{ for (i = 1; i < NF; i++) {
            if ($i ~ /^--laps$/ || $i == "gradient" && $(i + 1) + 0 > 0) laps = $(i + 1) + 0
            if ($i == "first:32:9" || $i == "--schedule" && $(i + 1) == "first:32:9") late = 32
            if ($i == "--multiplier") { if (/--on moments/) moments = $(i + 1); else gradient = $(i + 1) }
            if ($i == "--count-multiplier") counts = $(i + 1)
        } }
        END { printf "%.3f", sqrt((moments ? 1 / moments ^ 2 : 0) + (late + (late ? 9 : 1) * (laps - late)) / gradient ^ 2 + (counts ? laps / counts ^ 2 : 0)) }'
}
# paid SET EPSILON RUN: leaves the score, mu of the run and the number of columns in a file
paid() {
    local cell=$results/paid/$1/$2/$3 scratch options=(--label income --test official.csv) metrics=accuracy
    [ ! -s "$cell" ] || return 0
    [ "$1" = adult ] || { options=(--label vocab --number) && metrics=r2; }
    mkdir -p "${cell%/*}"
    scratch=$(mktemp -d "$out/paid.XXXXXX")
    (
        cd "$scratch"
        named "$1"
        fit.sh "$1.csv" "${options[@]}" --epsilon "$2" --delta 1e-5 --no-ledger --population "$1" -q 2> said || { cat said >&2 && exit 1; }
        dp-eval --last --metrics $metrics --in "$1.model" --data "$1-test.dp" | awk -F '\t' 'NR == 2 { printf "%s\t", $3 }'
        dp-fit --epsilon "$2" --delta 1e-5 --no-ledger -- "$1.dp" 2> /dev/null | mu_of
        printf '\t%s\n' "$(dp-info --get cols "$1.dp")"
    ) > "$cell.part"
    rm -r "$scratch"
    mv "$cell.part" "$cell"
}
export -f paid named mu_of

tsv data epsilon measure fit 'of runs' 'mu of the run' 'of the whole' columns > "$out/paid.tsv"
for set; do
    [ -e "$(file "$set")" ] || continue
    for epsilon in "${wanted[@]}"; do
        for run in $(seq "${RUNS:-5}"); do echo "paid $set $epsilon $run"; done | run_cells
        whole=$(multiplier "$epsilon" 1e-5 1 1 --sampler full)
        column() { for run in $(seq "${RUNS:-5}"); do cut -f "$1" "$results/paid/$set/$epsilon/$run"; done; }
        tsv "$set" "$epsilon" "$([ "$set" = adult ] && echo accuracy || echo 'R²')" "$(column 1 | median)" \
            "$(column 1 | sort -g | sed -n '1p; $p' | awk '{ printf "%s%.4f", (NR > 1 ? " to " : ""), $1 }')" \
            "$(column 2 | median | sed 's/.$//')" "$(calculate "int(1000 / $whole + 0.5) / 1000")" "$(column 3 | median | sed 's/\..*//')"
    done
done | tee -a "$out/paid.tsv"
[ -z "$write" ] || {
    cp "$out/paid.tsv" paid.tsv
    ../common/write-readme.sh
}
