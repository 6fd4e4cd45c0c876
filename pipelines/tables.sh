#!/bin/bash -p
# Counts, and means of numbers, in groups of the rows of a table: one lap of dp-count, whose noise dp-table chooses from public facts.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Print counts and means by group, with nothing to tune: a table and epsilon in, a table out."
usages=('TABLE --by NAME,... [options]') operand=data manual=dpline-tables
option data '' DIR "data set whose numbers have bins (dp-import --basis bins), as TABLE" text
option by '' NAMES "the columns whose groups are counted: ward,sex; several tables: ward,sex;age" text
option mean '' NAMES "numbers whose means are printed for each group" text
option schema '' FILE "what the columns of TABLE mean (default: a file next to it, as people.json, or a proposal for a part of epsilon)" text
option label '' NAME "the column of TABLE that the schema takes for the label (default: the first of --by)" text
option person '' COLUMN "a person may have several rows, and this column says whose they are" text
flag row-is-person "each row is another person, although a column looks like an identifier"
option epsilon 1 E "privacy budget" number
option delta '' D "(default: the largest power of ten below 1 / rows^1.1)" number
option population '' NAME "whose rows these are, as for dp-import" text
option svg '' FILE "draw the first table there" text
options_of_ledger
options_of_run
help[model]="write the CSV table there (default: to standard output)"
parse "$@"
[ -n "$data" ] || fail "the table is missing: $name TABLE --by ward,sex --epsilon 1 (try --help)"
[ -e "$data" ] || fail "$data is not there: a table or a data set is expected"
[ -n "$by" ] || fail "--by is required: the columns whose groups are counted"
[ -n "$allow_weak$seed" ] || [ "$(calculate 'epsilon > 10')" = 0 ] ||
    fail "--epsilon: above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)"
csv=$model
[ -z "$csv" ] || may_write -o "$csv"
[ -z "$svg" ] || may_write --svg "$svg"
[ ! "$data" -ef "$csv" ] || fail "-o: $csv is read by this command, and would be replaced"

# import FORMAT: the table becomes a data set next to it
import() {
    local stem=${data%.*} own
    own=${schema:-$stem.json}
    [ ! -e "$stem.dp" ] || fail "$stem.dp is there already ($name $(quote "$stem.dp") counts its rows)"
    [ -z "$schema" ] || [ -e "$schema" ] || fail "--schema: $schema is not there"
    if [ -s "$own" ]; then
        say "the columns are what $own says"
    else
        words_of person row-is-person ledger no-ledger registry no-registry population allow-weak quiet
        [ -z "$seed" ] || words+=(--noise-seed "$seed")
        dp-import "$1" --infer-schema "$own" --label "${label:-${by%%[,;]*}}" --private-schema "$(calculate 'epsilon / 10')" \
            --at-most "$(calculate 'epsilon * 0.3')" ${delta:+--delta "$(calculate 'delta / 10')"} "${words[@]}" "$data" || exit
    fi
    words_of person row-is-person registry no-registry population quiet
    dp-import "$1" --schema "$own" --basis bins --bad-cells missing "${words[@]}" -o "$stem.dp" -- "$data" || exit
    [ -n "$ledger$no_ledger" ] || [ ! -e "$own.ledger" ] || ledger=$own.ledger
    data=$stem.dp
}
format=''
[[ $data = *.dp || $data = *.dp/ ]] || format=$(dp-info --get format "$data" 2> /dev/null) || true
[ -z "$format" ] || import "$format"
if [[ -z $format && -z $ledger$no_ledger && ! -e ${data%/}/ledger && -e ${data%.dp*}.json.ledger ]]; then ledger=${data%.dp*}.json.ledger; fi

words_of delta
plan=$(dp-table plan "$data" --tables "$by" ${mean:+--sums "$mean"} --epsilon "$epsilon" "${words[@]}") || exit
read -r noise multiplier epsilon delta width <<< "$plan"
plan=''
say "one lap of $noise noise for epsilon $epsilon, delta $delta: counts are within $(calculate width %.3g) rows, 19 times in 20"
directory=$(mktemp -d) && trap 'rm -rf "$directory"' EXIT
model=$directory/model
words_of ledger no-ledger registry no-registry partial allow-weak
text="dp-sample --data $(in_text "$data") --mode full |
dp-count --data $(in_text "$data") --tables $(in_text "$by")${mean:+ --sums $(in_text "$mean")} --noise $noise |
dp-noise --noise $noise --multiplier $multiplier |
dp-account --epsilon $epsilon --delta $delta${seed:+ --allow-seeded}$([ ${#words[@]} = 0 ] || printf ' %s' "$(show "${words[@]}")") |
dp-table"
if [ -n "$print" ]; then
    show dp-loop --laps 1 -o tables.model -- "$text"
    exit
fi
attend -q --laps 1 ${seed:+--seed "$seed"} --exec "$exec" --model "$model" -- "$text" > /dev/null || exit
say "spent epsilon $(calculate epsilon), delta $(calculate delta)${seed:+ (seeded: not private)}; $(whose)"
if [ -z "$csv" ]; then
    dp-table print "$model"
else
    dp-table print "$model" > "$directory/csv"
    cat "$directory/csv" > "$csv"
    cp "$model" "$csv.model"
    say "the tables are in $csv, and what certificates need in $csv.model"
fi
[ -z "$svg" ] || dp-table print --to svg "$model" > "$svg"
