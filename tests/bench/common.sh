# shellcheck shell=bash disable=SC2034 # variables are for the figures
# Sourced by each figure: where things are, and what figures are written in. A figure's values are lines "what <tab> unit <tab> value"
# of $RAW, one for each turn; summary.awk makes medians and quartiles of them.
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$top" && realpath -m "${BUILD:-build}") # as make says it: from the top directory, wherever a figure runs
export PATH="$build/bench:$build/bin:$top/pipelines:$PATH"
data=${DPLINE_DATA:-$top/data}
out=$(cd "$top" && realpath -m "${OUT:-$build/bench/results}")
turns=${TURNS:-5}
span=${SPAN:-0.5} # seconds that a run of laps should last, at least
raw=${RAW:-/dev/stdout}
mkdir -p "$out"
export DPLINE_REGISTRY=$out/registry # never that of the user

value() {
    [[ $3 =~ ^[0-9.e+-]+$ && $3 != 0 ]] || { echo "$1: nothing was measured" >&2 && return 1; }
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$raw"
}
values() { cat >> "$raw"; } # of a program that prints such lines
# wanted WHAT UNIT BOUND: "<= 25", ">= 1.4"
wanted() { printf '%s\t%s\twanted\t%s\n' "$1" "$2" "$3" >> "$raw"; }
# ratio WHAT UNIT A B [BOUND]: of A to B, turn by turn, both in that unit
ratio() {
    printf '%s\tratio\tratio\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >> "$raw"
    [ -z "${5-}" ] || wanted "$1" ratio "$5"
}
# skip WHAT REASON
skip() { printf '%s\t\tskipped\t%s\n' "$1" "$2" >> "$raw"; }
calculate() { awk "BEGIN { printf \"%.9g\", ($1) }"; }
has() { command -v "$1" > /dev/null; }
# option COMMAND OPTION: whether it has it
option() { "$1" --help | grep -q -- "$2\b"; }
# python MODULE: the first Python that has it, in $python
python() {
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        ! "$python" -c "import $1" 2> /dev/null || return 0
    done
    return 1
}
peer() { "$python" "$top/tests/bench/peers.py" "$@"; }

about() {
    local cpu
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    printf '%s; dpline %s, %s; %s, %s cores; load %s' "$(date -u +%F)" "$(sed -n 's/.*DP_VERSION "\(.*\)"/\1/p' "$top/lib/base/version.h")" \
        "$(git -C "$top" rev-parse --short HEAD 2> /dev/null || echo 'no commit')" "$cpu" "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg)"
}

# seconds COMMAND…: by the wall's clock
seconds() { timed "$@" | cut -d ' ' -f 1; }

# lap TEMPLATE LAPS: of a run of that many laps, which stand where @L does: seconds in all, private memory in MB, microseconds a lap
lap() { timed "$2" bash -c "exec ${1//@L/$2}"; }
# laps_for TEMPLATE: how many make a run whose laps last $span, by a short run and then by one that is about as long
laps_for() {
    local laps=20 us=0
    while [ "$(calculate "$us * $laps < 1e5 * $span")" = 1 ]; do
        laps=$((laps * 4))
        [ $laps -lt 100000000 ] || { echo "no lap can be told from another: $1" >&2 && return 1; }
        read -r _ _ us <<< "$(lap "$1" $laps)"
        [ -n "$us" ] || return 1
    done
    laps=$(calculate "int(1e6 * $span / $us) + 20")
    read -r _ _ us <<< "$(lap "$1" "$laps")"
    calculate "$us * $laps > 0.8e6 * $span || $us == 0 ? $laps : int(1e6 * $span / $us) + 20"
}

# --- lines of several things that take turns: line NAME TEMPLATE [BATCH [LAPS]] for each, then take_turns COMMAND, which runs the command in each turn too
names=()
declare -A template batch laps
line() {
    names+=("$1")
    template[$1]=$2 batch[$1]=${3-} laps[$1]=${4-0}
}
take_turns() {
    local name turn us memory tries _
    for name in "${names[@]}"; do
        [ "${laps[$name]}" -gt 0 ] || laps[$name]=$(laps_for "${template[$name]}") || return 1
    done
    for ((turn = 0; turn < turns; turn++)); do
        for name in "${names[@]}"; do
            for tries in 1 2 3; do
                read -r _ memory us <<< "$(lap "${template[$name]}" "${laps[$name]}")"
                [ "$us" = 0 ] || break
                laps[$name]=$((laps[$name] * 2))
            done
            value "$name" "µs a lap" "$us"
            [ -z "${batch[$name]}" ] || value "$name" "M rows/s" "$(calculate "${batch[$name]} / $us")"
            [ -z "${with_memory-}" ] || value "$name" "MB private" "$memory"
        done
        "$@"
    done
}

# --- pipelines, with @L for the number of laps
gate="dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded --no-ledger | dp-step"
# scd DATA BATCH ROWS [THREADS] [EXEC]
scd() {
    echo "dp-loop -q -x ${5:-fused} --laps @L --seed 1 \"dp-sample --data '$1' --rate $2/$3 | dp-scd-step --data '$1' --loss hinge --lambda 1e-4 --clip 0.1 --threads ${4:-1} | dp-noise -z 4 | $gate\""
}
# sgd DATA BATCH ROWS LOSS [EXEC]
sgd() {
    echo "dp-loop -q -x ${5:-fused} --laps @L --seed 1 \"dp-sample --data '$1' --rate $2/$3 | dp-grad --data '$1' --loss $4 --clip 1 --threads 1 | dp-noise -z 1 | $gate --step 0.5\""
}

# --- data sets: made once, in $out
# synth NAME ROWS COLS [option…]: prints where
synth() {
    local path=$out/$1.dp
    [ -d "$path" ] || dp-synth classification --rows "$2" --cols "$3" --seed 2 -q -o "$path" "${@:4}"
    echo "$path"
}
large_rows=347786 large_cols=90
large() { synth large $large_rows $large_cols; }
# adult: three quarters of UCI Adult, as in examples/dp-scd; fails where the raw data are not there
adult_rows=24420
adult() {
    local path=$out/adult.dp file=$data/adult/adult.data.gz
    [ -e "$file" ] || return 1
    [ -d "$path" ] || dp-import csv -q --row-norm unit --no-bias --schema "$top/examples/dp-scd/schema-adult.json" --split 0.75 --seed 1 \
        -o "$path" --test "$out/adult-test.dp" "$file"
    echo "$path"
}
no_adult="no $data/adult: examples/dp-scd/get-data.sh fetches it"
