#!/bin/bash -p
# Rows that look like those of a table and are nobody's: two laps of tables, from which dp-rows draws rows.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Make synthetic rows, with nothing to tune: a table and epsilon in, a table out."
usages=('TABLE -o ROWS.csv [options]') operand=data manual=dpline-rows
option data '' DIR "data set whose numbers have bins (dp-import --basis bins), as TABLE" text
option target '' COLUMN "the column that matters most, whose tables count double (default: all matter alike)" text
option schema '' FILE "what the columns of TABLE mean (default: a file next to it, as people.json, or a proposal for a part of epsilon)" text
option without '' NAMES "leave these columns out" text
option rows '' N "how many rows (default: as many as TABLE has)" whole
option epsilon 1 E "privacy budget" number
option delta '' D "(default: the largest power of ten below 1 / rows^1.1)" number
option population '' NAME "whose rows TABLE has, as for dp-import" text
options_of_ledger
options_of_run
help[model]="write the rows there, as CSV"
parse "$@"
[ -n "$data" ] || fail "the table is missing: $name TABLE --epsilon 1 -o ROWS.csv (try --help)"
[ -e "$data" ] || fail "$data is not there: a table or a data set is expected"
[ -n "$model$print" ] || fail "-o is required: where the rows go"
[ -n "$allow_weak$seed" ] || [ "$(calculate 'epsilon > 10')" = 0 ] ||
    fail "--epsilon: above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)"
csv=$model
[ -n "$print" ] || may_write -o "$csv"
[ ! "$data" -ef "$csv" ] || fail "-o: $csv is read by this command, and would be replaced"

# header: the names of the columns of a CSV or TSV table, one a line; nothing if a name has quotes
header() {
    local first
    read -r first < <(case $data in *.gz) gzip -dc "$data" ;; *.xz) xz -dc "$data" ;; *) cat "$data" ;; esac 2> /dev/null) || true
    [[ $first = *'"'* ]] || tr ',;\t' '\n' <<< "${first%$'\r'}"
}

# check_size: refuses a table of too few rows before its schema is paid for, if rows and columns can be counted
check_size() {
    local columns rows skip
    columns=$(header | wc -l)
    skip=$(tr ',' '\n' <<< "$without" | grep -c .) || true
    rows=$(case $data in *.gz) gzip -dc "$data" ;; *.xz) xz -dc "$data" ;; *) cat "$data" ;; esac 2> /dev/null | wc -l) || true
    words_of delta
    ((columns - skip < 2 || rows < 2)) || dp-rows plan --rows "$rows" --columns "$((columns - skip))" --epsilon "$epsilon" "${words[@]}"
}
# import FORMAT: the table becomes a data set next to it
import() {
    local stem=${data%.gz} own
    stem=${stem%.*}
    own=${schema:-$stem.json}
    [ ! -e "$stem.dp" ] || fail "$stem.dp is there already ($name $(quote "$stem.dp") makes rows from it, if its numbers have bins)"
    [ -z "$schema" ] || [ -e "$schema" ] || fail "--schema: $schema is not there"
    [[ -z $target || -n $schema || -z $(header) ]] || header | grep -qxF -- "$target" || fail "--target: there is no column '$target' in $data"
    if [ -s "$own" ]; then
        say "the columns are what $own says"
    else
        case $1 in csv | tsv) check_size || exit ;; esac
        words_of without ledger no-ledger registry no-registry population allow-weak quiet
        [ -z "$seed" ] || words+=(--noise-seed "$seed")
        [ -z "$target" ] || words+=(--label "$target")
        dp-import "$1" --infer-schema "$own" --private-schema "$(calculate 'epsilon / 10')" --row-is-person \
            --at-most "$(calculate 'epsilon * 0.3')" ${delta:+--delta "$(calculate 'delta / 10')"} "${words[@]}" "$data" || exit
        sed -i 's/"basis": "line"/"basis": "bins", "knots": 2/' "$own" # numbers of which the schema only knows whether they are 0
    fi
    [ -n "$ledger$no_ledger" ] || [ ! -e "$own.ledger" ] || ledger=$own.ledger
    words_of registry no-registry population quiet
    if [ -z "$seed" ] && grep -q '"bounds"' "$own"; then
        words_of registry no-registry population quiet ledger no-ledger allow-weak
        words+=(--else-unpaid --private-knots "$(calculate 'epsilon / 20')" ${delta:+--delta "$(calculate 'delta / 10')"})
    fi
    dp-import "$1" --schema "$own" --basis bins --bad-cells missing "${words[@]}" -o "$stem.dp" -- "$data" || exit
    data=$stem.dp
}
format=''
[[ $data = *.dp || $data = *.dp/ ]] || format=$(dp-info --get format "$data" 2> /dev/null) || true
[ -z "$format" ] || import "$format"
if [[ -z $format && -z $ledger$no_ledger && ! -e ${data%/}/ledger && -e ${data%.dp*}.json.ledger ]]; then ledger=${data%.dp*}.json.ledger; fi

words_of delta target
noise=$(dp-rows plan --epsilon "$epsilon" "${words[@]}" -- "$data") || exit
read -r pairs cells epsilon delta tables <<< "$noise"
words_of ledger no-ledger registry no-registry partial allow-weak
text="dp-sample --data $(in_text "$data") --mode full |
dp-count --on pairs --data $(in_text "$data") --tables pairs |
dp-count --on cells --data $(in_text "$data") --at-most $tables |
dp-noise --on pairs --multiplier $pairs |
dp-noise --on cells --multiplier $cells |
dp-account --epsilon $epsilon --delta $delta${seed:+ --allow-seeded}$([ ${#words[@]} = 0 ] || printf ' %s' "$(show "${words[@]}")") |
dp-rows${target:+ --target $(in_text "$target")}"
if [ -n "$print" ]; then
    show dp-loop --plan 'pairs 1, cells 1' -o rows.model -- "$text"
    exit
fi
directory=$(mktemp -d) && trap 'rm -rf "$directory"' EXIT
model=$directory/model
attend -q --plan 'pairs 1, cells 1' ${seed:+--seed "$seed"} --exec "$exec" --model "$model" -- "$text" > /dev/null || exit
words_of rows
dp-rows draw "${words[@]}" "$model" > "$directory/csv" || exit
cat "$directory/csv" > "$csv"
cp "$model" "$csv.model"
cat > "$csv.synthetic" << END
synthetic rows: dpline rows drew them from tables with noise, and they belong to nobody; ${csv##*/}.model says what was paid
$(b2sum -l 256 < "$directory/csv" | cut -d ' ' -f 1)
END
say "spent epsilon $(calculate epsilon), delta $(calculate delta)${seed:+ (seeded: not private)}; one row is taken for one person"
say "$csv has synthetic rows: nobody's, and measures on them are not measures on people; $csv.model has their tables, and $csv.synthetic is their mark: keep it next to them"
