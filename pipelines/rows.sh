#!/bin/bash -p
# Makes synthetic rows of a table: two laps release tables, and dp-rows draws rows from them.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-tables.sh"
summary="Make synthetic rows, with nothing to tune: a table and epsilon in, a table out."
usages=('TABLE -o ROWS.csv [options]') manual=dpline-rows
option target '' COLUMN "the column that matters most, whose tables count double (default: all matter alike)" text
option without '' NAMES "leave these columns out" text
option rows '' N "how many rows (default: as many as TABLE has)" whole
options_of_counts
help[model]="write the rows there, as CSV"
parse "$@"
check_data "TABLE --epsilon 1 -o ROWS.csv"
[ -n "$model$print" ] || fail "-o is required: where the rows go"
((${rows:-1} <= 10000000)) || fail "--rows: must be at most 10000000, got '$rows'"
[[ -z $target || ,$without, != *",$target,"* ]] || fail "--target: '$target' is left out by --without"

# check_size: refuses a table without the target, or of too few rows, if its rows and columns can be counted
check_size() {
    local columns rows skip
    check_name --target "$target"
    columns=$(header | wc -l)
    skip=$(tr ',' '\n' <<< "$without" | grep -c .) || true
    rows=$(($(plain | wc -l) - 1))
    words_of delta
    ((columns - skip < 2 || rows < 2)) || dp-rows plan --rows "$rows" --columns "$((columns - skip))" --epsilon "$epsilon" "${words[@]}" || return
    [ -n "$target" ] || say "without --target the last column is the label of the proposed schema: it must have classes or numbers"
}
# check_schema SCHEMA: refuses a target that is no column, and columns that cannot have cells
check_schema() {
    words_of target
    dp-rows plan --schema "$1" "${words[@]}" || exit
}
# adapt SCHEMA: numbers of which the schema only knows whether they are 0
adapt() { sed -i 's/"basis": "line"/"basis": "bins", "knots": 2/' "$1"; }

words_of without
# Parts of epsilon for names and for bins, chosen on bank marketing, credit default and telco churn: a text that has no name is lost to
# all tables
import "$target" "$(calculate 'epsilon * 0.4')" "$(calculate 'epsilon * 0.2')" "${words[@]}"

words_of delta target no-ledger
noise=$(dp-rows plan --epsilon "$epsilon" "${words[@]}" -- "$data") || charged $?
read -r pairs cells epsilon delta tables with <<< "$noise"
run_laps 'pairs 1, cells 1' "dp-sample --data $(in_text "$data") --mode full |
dp-count --on pairs --data $(in_text "$data") --tables pairs |
dp-count --on cells --data $(in_text "$data") --at-most $tables |
dp-noise --on pairs --multiplier $pairs |
dp-noise --on cells --multiplier $cells |
$(gate) |
dp-rows${target:+ --target $(in_text "$target")}"
keep_model
words_of rows
dp-rows draw "${words[@]}" --errors "$directory/errors" "$laps_model" > "$directory/csv" || lost
cat > "$directory/mark" << END
synthetic rows: dpline rows drew them from tables with noise, and they belong to nobody; ${csv##*/}.model says what was paid
$(b2sum -l 256 < "$directory/csv" | cut -d ' ' -f 1)
$(cat "$directory/errors")
END
put "$directory/mark" "$csv.synthetic"
put "$directory/csv" "$csv" # after its mark, so that rows of people are not made of a part of them
say "$csv has synthetic rows, which are nobody's: measures on them are not measures on people; $csv.model has their tables, and $csv.synthetic \
is their mark: keep it next to them"
