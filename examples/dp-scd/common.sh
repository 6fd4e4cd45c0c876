# shellcheck shell=bash
# Sourced by the scripts here: how one model is trained and measured.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export seeds=${SEEDS:-10}
# score METRIC MODEL DATA: one number
score() {
    dp-eval --last --metrics "$1" --in "$2" --data "$3" | awk -F '\t' 'NR == 2 { print $3 }'
}

# cell NAME METRIC SET SEED PIPELINE [options]: trains on SET-SEED.dp, appends "NAME <tab> SEED <tab> score" to its file.
# Done cells are not done again, so that an interrupted run continues where it stopped.
cell() {
    local name=$1 metric=$2 set=$3 seed=$4 file
    file=$results/cells/${1//[\/ ]/_}-$seed
    shift 4
    [ -s "$file" ] && return
    "$1" --data "$out/$set-$seed.dp" --seed "$seed" -q -o "$file.model" "${@:2}"
    printf '%s\t%s\t%s\n' "$name" "$seed" "$(score "$metric" "$file.model" "$out/$set-$seed-test.dp")" > "$file.part"
    rm -f "$file.model"
    mv "$file.part" "$file"
}
# now: microseconds, in whatever locale
now() { echo "${EPOCHREALTIME/[.,]/}"; }

# trial FILE SETTING SET SEED PIPELINE [options]: one cell of a large grid. Trains on SET-SEED.dp and appends
# "setting <tab> seed <tab> accuracy <tab> seconds" to FILE, in one write, so that trials can run side by side.
trial() {
    local file=$1 setting=$2 data=$out/$3-$4 seed=$4 model start accuracy
    model=$file.$BASHPID
    start=$(now)
    "$5" --data "$data.dp" --seed "$seed" -q -o "$model" "${@:6}"
    accuracy=$(score accuracy "$model" "$data-test.dp")
    printf '%s\t%s\t%s\t%s\n' "$setting" "$seed" "$accuracy" "$(seconds_since "$start")" >> "$file"
    rm -f "$model"
}
seconds_since() {
    local us=$(($(now) - $1))
    printf '%d.%06d' $((us / 1000000)) $((us % 1000000))
}

# untried FILE: of the lines "setting <tab> seed" on standard input those that FILE has no trial for
untried() {
    touch "$1"
    awk -F '\t' -v file="$1" 'BEGIN { while ((getline line < file) > 0) { split(line, f); done[f[1] FS f[2]] = 1 } } !($0 in done)'
}
export -f cell score trial now seconds_since

# multiplier_of SET EPSILON DELTA EPOCHS BATCH [2]: the noise multiplier of a run on SET, computed once; with 2, the seconds it took, which
# count as tuning
multiplier_of() {
    local rows file start z
    rows=$(dp-info --get rows "$out/$1-1.dp")
    file=$results/multipliers/$rows-$2-$3-$4-$5
    if [ ! -s "$file" ]; then
        mkdir -p "$results/multipliers"
        start=$(now)
        z=$(dp-account sigma --epsilon "$2" --delta "$3" --rate "$5/$rows" --laps $((($4 * rows + $5 - 1) / $5)))
        printf '%s\t%s\n' "$z" "$(seconds_since "$start")" > "$file.part"
        mv "$file.part" "$file"
    fi
    cut -f "${6:-1}" "$file"
}

# spread_of CELL head|tail: the least or the greatest over seeds
spread_of() { printf '%.4f\n' "$(cat "$results/cells/${1//[\/ ]/_}"-* | cut -f 3 | sort -g | "$2" -n 1)"; }

# The median over seeds of a cell
median_of() {
    cat "$results/cells/${1//[\/ ]/_}"-* 2> /dev/null | cut -f 3 | median
}
