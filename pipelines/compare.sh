#!/bin/bash -p
# Several pipelines on one data set, at several epsilons, several times: a table with a line for each run, and a picture of it.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Compare pipelines on one data set: a table of every run, and a plot."
usages=('--methods fit,dp-sgd --data DIR --test DIR [options]')
note='Runs are seeded and enter no ledger, so none of them is private: compare on data that is public, or that you may look at.'
option methods fit,dp-sgd LIST "pipelines, with options of their own: 'fit,dp-sgd --batch 50 --clip 0.5'" text
option data '' DIR "data set (see dp-import); {seed} stands for the seed, to compare on several splits" text
option test '' DIR "data set of held-out rows, {seed} as well" text
option epsilon 0.1,1 LIST "privacy budgets of a run, separated by commas" text
option delta '' D "(default: the largest power of ten below 1 / rows^1.1, or persons^1.1)" number
option seeds 10 N "runs of each method at each epsilon" whole
option metric '' LIST "of dp-eval; the first is drawn (default accuracy; r2 for a regression)" text
option table '' FILE "append each run to this table; runs that are in it are not made again" text
option plot '' FILE "a picture of the table, as SVG" text
flag quiet "no progress"
parse "$@"
for word in data test; do [ -n "${!word}" ] || fail "--$word is required"; done
[ -z "$plot" ] || may_write --plot "$plot"

# split LIST: sets $parts to what commas separate, without blanks around it
split() {
    IFS=, read -ra parts <<< "$1"
    [ ${#parts[@]} -gt 0 ] || parts=('')
    for word in "${!parts[@]}"; do read -r "parts[$word]" <<< "${parts[word]}"; done
}

# takes OPTION: whether the pipeline of $words has it
takes() { grep -q -- "^ .*--$1\b" <<< "$offered"; }

# pipeline_of METHOD: sets $words to its pipeline and options, and $offered to the options that it could have. Options may be quoted.
pipeline_of() {
    local quoted
    # shellcheck disable=SC2016 # for that shell
    quoted=$(xargs bash -pc 'printf "%q " "$@"' _ <<< "$1" 2> /dev/null) || fail "--methods: '$1' has a quote without an end"
    eval "words=($quoted)"
    [[ -n $1 && -x $here/${words[0]}.sh && ${words[0]} != compare ]] || fail "--methods: '$1' is not a pipeline (dpline help lists them)"
    words[0]=$here/${words[0]}.sh
    offered=$("${words[0]}" --help)
    takes data || fail "--methods: '$1' does not train on one data set"
}

# of_seed DIR SEED
of_seed() { echo "${1//'{seed}'/$2}"; }

split "$epsilon"
epsilons=("${parts[@]}")
for word in "${epsilons[@]}"; do number "$word" || fail "--epsilon: must be numbers > 0, separated by commas, got '$epsilon'"; done
split "$methods"
methods=("${parts[@]}")
for word in "${methods[@]}"; do pipeline_of "$word"; done
persons=$(dp-info --get persons "$(of_seed "$data" 1)") || exit
classes=$(dp-info --get classes "$(of_seed "$data" 1)") || exit
[ -n "$metric" ] || if [ "$classes" = 0 ]; then metric=r2; else metric=accuracy; fi
[ -n "$delta" ] || delta=$(awk -v n="$persons" 'BEGIN { k = int(1.1 * log(n) / log(10)); print "1e-" k + (10^-k >= n^-1.1) }')
head=$'method\tdata\tepsilon\tdelta\tseed\tprivacy\t'${metric//,/$'\t'}$'\tseconds'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$table" ] || table=$work/table
[ -s "$table" ] || echo "$head" > "$table"
[ "$(head -n 1 "$table")" = "$head" ] || fail "--table: $table has other columns; these would be '${head//$'\t'/ }'"

# known METHOD EPSILON DELTA SEED: the line of a run that is in the table
known() {
    METHOD=$1 DATA=${data##*/} awk -F '\t' -v epsilon="$2" -v delta="$3" -v seed="$4" '
        $1 == ENVIRON["METHOD"] && $2 == ENVIRON["DATA"] && $3 == epsilon && $4 == delta && $5 == seed { print; found = 1; exit }
        END { exit !found }' "$table"
}

# run METHOD EPSILON SEED: a line of the table. A run that the budget does not pay for, or that fails, has no values.
run() {
    local values status=0 with=- privacy=seeded rows options TIMEFORMAT='%U %S'
    pipeline_of "$1"
    ! takes epsilon || with=$delta
    ! known "$1" "$2" "$with" "$3" || return 0
    rows=$(of_seed "$data" "$3")
    options=(--data "$rows" --seed "$3" -o "$work/model" -q)
    [ "$with" = - ] || options+=(--epsilon "$2" --delta "$delta")
    ! takes no-ledger || options+=(--no-ledger --no-registry)
    rm -f "$work/model"
    { time "${words[@]}" "${options[@]}" > /dev/null 2> "$work/said"; } 2> "$work/time" || status=$?
    [ $status != 2 ] || fail "--methods: '$1': $(tail -n 1 "$work/said")"
    values=$(sed 's/[^,]*/-/g; s/,/\t/g' <<< "$metric")
    if [ $status = 0 ]; then
        [[ $(dp-info "$work/model") != *$'\nprivacy: none'* ]] || privacy=none
        values=$(dp-eval --data "$(of_seed "$test" "$3")" --metrics "$metric" --last --in "$work/model" | tail -n 1 | cut -f 3-)
        [ -n "$values" ] || exit 1
    else
        echo "$name: $1, epsilon $2: $(tail -n 1 "$work/said")" >&2
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "${data##*/}" "$2" "$with" "$3" "$privacy" "$values" \
        "$(awk '{ printf "%.1f", $1 + $2 }' "$work/time")" | tee -a "$table"
}

# runs: all of them. A method without a budget is the same at each epsilon.
runs() {
    local method seed value at
    for method in "${methods[@]}"; do
        pipeline_of "$method"
        at=(inf)
        ! takes epsilon || at=("${epsilons[@]}")
        for value in "${at[@]}"; do
            for seed in $(seq "$seeds"); do run "$method" "$value" "$seed" || exit; done
            say "$method, epsilon $value: $seeds run$([ "$seeds" = 1 ] || echo s)"
        done
    done
}

echo "$head"
runs
[ -n "$plot" ] || exit 0
chance='' # the accuracy of guessing the most frequent class
if [[ ${metric%%,*} = accuracy && -e $work/model ]]; then
    chance=$(dp-eval --data "$(of_seed "$test" "$seeds")" --metrics majority --last --in "$work/model" | tail -n 1 | cut -f 3)
fi
# like a model it gets its name when it is whole; a device or a pipe is written in place
picture=$plot
if [[ $plot != /dev/* && (-f $plot || ! -e $plot) ]]; then
    picture=$(mktemp -- "$plot.XXXXXX")
    trap 'rm -rf "$work" "$picture"' EXIT
    chmod '=rw' "$picture"
fi
if ! awk -F '\t' -v chance="$chance" -f "$here/plot.awk" "$table" > "$picture"; then
    echo "$name: cannot write $plot" >&2
    exit 1
fi
[ "$picture" = "$plot" ] || mv -f -- "$picture" "$plot"
