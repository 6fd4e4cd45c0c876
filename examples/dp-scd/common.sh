# shellcheck shell=bash
# Sourced by the scripts here: where things are, and how one model is trained and measured.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "${BUILD:-$top/build}")
export PATH="$build/bin:$top/pipelines:$PATH"
raw=${DPLINE_DATA:-$top/data}
out=${OUT:-$build/examples/dp-scd}
mkdir -p "$out"
export seeds=${SEEDS:-10}

median() {
    sort -g | awk '{ a[NR] = $1 } END { if (NR == 0) print "-"; else printf "%.4f\n", (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

# score METRIC MODEL DATA: one number
score() {
    dp-eval --last --metrics "$1" --in "$2" --data "$3" | awk -F '\t' 'NR == 2 { print $3 }'
}

# cell NAME METRIC SET SEED PIPELINE [options]: trains on SET-SEED.dp, appends "NAME <tab> SEED <tab> score" to its file.
# Done cells are not done again, so that an interrupted run goes on where it stopped.
cell() {
    local name=$1 metric=$2 set=$3 seed=$4 file
    file=$out/cells/${1//[\/ ]/_}-$seed
    shift 4
    [ -s "$file" ] && return
    mkdir -p "$out/cells"
    "$1" --data "$out/$set-$seed.dp" --seed "$seed" -q -o "$file.model" "${@:2}"
    printf '%s\t%s\t%s\n' "$name" "$seed" "$(score "$metric" "$file.model" "$out/$set-$seed-test.dp")" > "$file.part"
    rm -f "$file.model"
    mv "$file.part" "$file"
}
export -f cell score
export out raw

# Runs "cell …" lines from standard input on every processor.
run_cells() {
    xargs -d '\n' -P "$(nproc)" -I LINE bash -c 'set -euo pipefail; cell LINE'
}

# The median over seeds of a cell
median_of() {
    cat "$out/cells/${1//[\/ ]/_}"-* 2> /dev/null | cut -f 3 | median
}
