# shellcheck shell=bash
# Sourced by the scripts of an example from its own directory: where things are, and what several examples need. What an example compares
# that is a pipeline, an epsilon and a seed on one data set is left to dpline compare; its own loops are over folds, splits, settings
# that have to be tried, or objectives that dp-eval does not know.
export LC_ALL=C # numbers have points, whatever the user's language
unset POSIXLY_CORRECT
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "${BUILD:-$top/build}")
export PATH="$build/bin:$top/pipelines:$PATH"
export top here=$PWD raw=${DPLINE_DATA:-$top/data} clothes=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}
export out=${OUT:-$build/examples/${PWD##*/}}
export DPLINE_REGISTRY=$out/registry # never the registry of the user
export jobs=${JOBS:-$(nproc)}
# What is measured is kept apart by the programs, their library and the pipelines that it was measured with.
results=$out/results-$(cat "$build"/bin/dp-* "$build"/lib/dpline/* "$top"/pipelines/*.sh | cksum | cut -d ' ' -f 1)
export results
mkdir -p "$results/cells"

say() { echo "== $*" >&2; }
# tsv FIELD …: a line of a table; markdown: a table on standard input for README.md
tsv() {
    local IFS=$'\t'
    echo "$*"
}
markdown() { awk -F '\t' -f "$top/examples/common/markdown.awk"; }
calculate() { awk "BEGIN { printf \"%.10g\", ($1) }"; }

# median: of the numbers on standard input, one a line; - if there are none
median() {
    sort -g | awk '{ a[NR] = $1 } END { if (NR == 0) print "-"; else printf "%.4f\n", (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

# multiplier EPSILON DELTA RATE LAPS [option…]: the smallest noise multiplier for that budget, computed once
multiplier() {
    local file part=$results/multiplier.$BASHPID
    file=$results/$(tr ' /:' '___' <<< "multiplier-$*")
    [ -s "$file" ] || { dp-account sigma --epsilon "$1" --delta "$2" --rate "$3" --laps "$4" "${@:5}" > "$part" && mv "$part" "$file"; }
    cat "$file"
}

# run_cells: the lines on standard input, each a call of a function that leaves its result in a file, $jobs at a time. Cells that are done
# are not done again, so that an interrupted run continues where it stopped.
run_cells() { xargs -d '\n' -P "$jobs" -I LINE bash -c 'set -euo pipefail; LINE'; }
export -f say tsv calculate median multiplier
