#!/bin/bash -p
# Counts, and means of numbers, in groups of the rows of a table: one lap of dp-count, whose noise dp-table chooses from public facts.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-tables.sh"
summary="Print counts and means by group, with nothing to tune: a table and epsilon in, a table out."
usages=('TABLE --by NAME,... [options]') manual=dpline-tables
option by '' NAMES "the columns whose groups are counted: ward,sex; several tables: ward,sex;age" text
option mean '' NAMES "numbers whose means are printed for each group" text
option label '' NAME "the column of TABLE that the schema takes for the label (default: the first of --by)" text
option person '' COLUMN "a person may have several rows, and this column says whose they are" text
option svg '' FILE "draw the first table there" text
options_of_counts
help[model]="write the CSV table there (default: to standard output)"
parse "$@"
check_data "TABLE --by ward,sex --epsilon 1"
[ -n "$by" ] || fail "--by is required: the columns whose groups are counted"
[ -z "$svg" ] || may_replace --svg "$svg" "$csv" "${csv:+$csv.model}"
# trim LIST: without the blanks around names
trim() { sed -E 's/ *([,;]) */\1/g; s/^ +| +$//g' <<< "$1"; }
by=$(trim "$by") mean=$(trim "$mean")
dp-table plan --tables "$by" ${mean:+--sums "$mean"}
check_size() {
    local one
    while IFS= read -r one; do check_name --by "$one"; done < <(tr ',;' '[\n*]' <<< "$by")
    while IFS= read -r one; do check_name --mean "$one"; done < <(tr , '\n' <<< "$mean")
    check_name --label "${label##*=*}"
}
import "${label:-${by%%[,;]*}}" "$(calculate 'epsilon / 10')" ''

words_of delta no-ledger
plan=$(dp-table plan "$data" --tables "$by" ${mean:+--sums "$mean"} --epsilon "$epsilon" "${words[@]}") || charged $?
read -r noise multiplier epsilon delta width with <<< "$plan"
say "one lap of $noise noise for epsilon $epsilon, delta $delta: counts are within $(calculate width %.3g) rows, 19 times in 20"
run_laps 1 "dp-sample --data $(in_text "$data") --mode full |
dp-count --data $(in_text "$data") --tables $(in_text "$by")${mean:+ --sums $(in_text "$mean")} --noise $noise |
dp-noise --noise $noise --multiplier $multiplier |
$(gate) |
dp-table"
if [ -z "$csv" ]; then
    dp-table print "$laps_model" || lost
else
    keep_model
    dp-table print "$laps_model" > "$directory/csv" || lost
    put "$directory/csv" "$csv"
    say "the tables are in $csv, and what certificates need in $csv.model"
fi
[ -z "$svg" ] || { dp-table print --to svg "$laps_model" > "$directory/svg" && put "$directory/svg" "$svg"; } || lost
