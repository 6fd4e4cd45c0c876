# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines that count: a table, whose schema is there or is paid for, becomes a data set whose columns have cells.
operand=data person='' paid=''

options_of_counts() {
    option data '' DIR "data set whose numbers have bins (dp-import --basis bins), as TABLE" text
    option schema '' FILE "what the columns of TABLE mean (default: a file next to it, as people.json, or a proposal for a part of epsilon)" text
    flag row-is-person "each row is another person, although a column looks like an identifier"
    option epsilon 1 E "privacy budget" number
    option delta '' D "(default: the largest power of ten below 1 / rows^1.1)" number
    option population '' NAME "whose rows these are, as for dp-import" text
    options_of_ledger
    options_of_run
}

# check_data EXAMPLE: the data are there, and the CSV file that -o names can be written
check_data() {
    [ -n "$data" ] || fail "the table is missing: $name $1 (try --help)"
    check_there
    [ -n "$allow_weak$seed" ] || [ "$(calculate 'epsilon > 10')" = 0 ] ||
        fail "--epsilon: above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)"
    local file
    csv=$model
    [ -z "$csv" ] || [ -n "$print" ] || for file in "$csv" "$csv.model" "$csv.synthetic"; do may_replace -o "$file"; done
    [[ ! -c $csv && ! -p $csv ]] || fail "-o: $csv is no file, and $csv.model goes next to it"
}

# import LABEL PART KNOTS [OPTION…]: if the data are a table, they become a data set. LABEL: of a proposed schema, or ''. PART: epsilon
# for the schema. KNOTS: epsilon for the bins of numbers, or '' for even bins. The options are of the proposal. A run of Gaussian noise
# is one composition with both
import() {
    local format='' stem own pay people=(row-is-person person registry no-registry population quiet)
    [[ $data = *.dp || $data = *.dp/ ]] || format=$(dp-info --get format "$data" 2> /dev/null) || true
    stem=$(stem_of "$data")
    if [ -z "$format" ]; then
        unused "is for a table, and $data is a data set" schema population label person without
        place_ledger "${data%.dp*}"
        return
    fi
    [[ $format = @(csv|tsv|arff) ]] ||
        fail "$data is a table of the format $format, and tables of csv, tsv and arff are counted (or a data set of yours: dp-import --basis bins)"
    [ -z "$print" ] || fail "--print: $data is a table, and only a run on a data set is printed"
    own=${schema:-$stem.json}
    [ ! -s "$own" ] || unused "is for a proposed schema, and $own says what the columns are" label without
    [ ! -e "$stem.dp" ] || fail "$stem.dp is there already ($name $(quote "$stem.dp") counts its rows)"
    [ -z "$schema" ] || [ -e "$schema" ] || fail "--schema: $schema is not there"
    if [ -s "$own" ]; then check_schema "$own"; elif [[ $format = [ct]sv ]]; then check_size || exit; fi
    pay=(--of "$(calculate epsilon)" ${delta:+--delta "$(calculate 'delta / 10')"})
    words_of ledger no-ledger allow-weak "${people[@]}"
    if [ -s "$own" ]; then
        say "the columns are what $own says"
    else
        dp-import "$format" --infer-schema "$own" ${1:+--label "$1"} --private-schema "$2" \
            --at-most "$(calculate 'epsilon * 0.5')" ${seed:+--noise-seed "$seed"} "${pay[@]}" "${words[@]}" "${@:4}" "$data" || exit
        [ -n "$seed" ] || paid=1
        adapt "$own"
    fi
    place_ledger "$stem"
    words_of "${people[@]}"
    if [ -n "$3" ] && [ -z "$seed" ] && grep -q '"bounds"' "$own"; then
        words_of ledger no-ledger allow-weak "${people[@]}"
        words+=(--else-unpaid --private-knots "$3" "${pay[@]}")
        paid=1
    fi
    dp-import "$format" --schema "$own" --basis bins --bad-cells missing "${words[@]}" -o "$stem.dp" -- "$data" || exit
    place_ledger "$stem"
    data=$stem.dp
}
# charged STATUS: ends after a refusal, and says so if a schema or bins have been paid for
charged() {
    local cost
    [ -z "$paid" ] || ! cost=$(dp-info --get paid_epsilon "$data" 2> /dev/null) ||
        echo "$name: the schema has been paid for, epsilon $(calculate "$cost"), and $data has it for the next run" >&2
    exit "$1"
}
# plain: the text of a CSV or TSV table
plain() { case $data in *.gz) gzip -dc -- "$data" ;; *.xz) xz -dc -- "$data" ;; *.zst) zstd -dc -- "$data" ;; *) cat -- "$data" ;; esac 2> /dev/null || true; }
# first_line: the line that names the columns, in ASCII; of another encoding, what is ASCII in it
first_line() { plain | head -n 2 | tr -d '\0\r' | LC_ALL=C sed 's/^\(\xef\xbb\xbf\|\xff\xfe\|\xfe\xff\)//' | awk '!/^sep=/ && !n++'; }
# header [DELIMITERS]: the names in the first line, one a line; quotes hold delimiters together. Nothing if a quote goes on in the next line
header() {
    first_line | awk -v delimiters="${1:-,;|\t}" '{
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (c == "\"" && (quoted || name ~ /^ *$/)) {
                if (!quoted) { quoted = 1; name = "" }
                else if (substr($0, i + 1, 1) == "\"") { name = name c; i++ }
                else quoted = 0
            }
            else if (!quoted && index(delimiters, c)) { text = text name "\n"; name = "" }
            else name = name c
        }
        if (!quoted) print text name }' | sed 's/^ *//; s/ *$//'
}
# check_name OPTION NAME: before a schema is paid for, refuses a name that is not in the first line. It looks at no line of rows: they are
# private. A title, a header of several lines and names of columns without a header are for dp-import to judge
check_name() {
    local names delimiter
    names=$(header)
    [[ -z $2 || $2 = *[!\ -~]* || $2 =~ ^column[0-9]+$ || $names != *$'\n'* ]] && return
    for delimiter in ',' ';' '|' '\t' ',;|\t'; do
        ! header "$delimiter" | grep -xF -- "$2" > /dev/null || return 0
    done
    fail "$1: there is no column '$2' in $data"
}
# A pipeline may check a table before its schema is paid for, or a schema of the user's before bins are, and change a proposed schema.
check_size() { :; }
check_schema() { :; }
adapt() { :; }

# run_laps PLAN TEXT: the laps; their model is $laps_model
run_laps() {
    local plan=("$1")
    [ "$1" = 1 ] && plan=(--laps 1) || plan=(--plan "$1")
    if [ -n "$print" ]; then
        show dp-loop "${plan[@]}" -o "${csv:-tables}.model" -- "$2"
        exit
    fi
    directory=$(mktemp -d) && trap 'rm -rf "$directory"' EXIT
    laps_model=$directory/model
    attend dp-loop -q "${plan[@]}" ${seed:+--seed "$seed"} --exec "$exec" --model "$laps_model" -- "$2" > /dev/null || exit
    say "spent epsilon $(calculate "$(dp-info --get epsilon "$laps_model")"), delta $(dp-info --get delta "$laps_model")${seed:+ (seeded: not private)}; $(whose)"
}

# lost: ends after a failure, and says where the release is, which may be printed again for nothing
lost() {
    trap - EXIT
    echo "$name: what was paid for is in $laps_model" >&2
    exit 1
}
# put FROM TO: FROM gets the name TO when it is whole, with the rights of a new file
put() {
    local to part=''
    to=$(realpath -m -- "$2")
    if [[ -e $to && ! -f $to ]]; then
        cat -- "$1" > "$to" || lost
    elif ! { part=$(mktemp -- "$to.XXXXXX") && cp -- "$1" "$part" && chmod '=rw' -- "$part" && mv -f -- "$part" "$to"; }; then
        [ -z "$part" ] || rm -f -- "$part"
        lost
    fi
}
# keep_model: the model next to the CSV file
keep_model() {
    put "$laps_model" "$csv.model"
    laps_model=$csv.model
}
# gate: dp-account with the options of the ledger
gate() {
    words_of ledger no-ledger registry no-registry partial allow-weak
    printf '%s' "dp-account --epsilon $epsilon --delta $delta${seed:+ --allow-seeded}"
    [ ${#words[@]} = 0 ] || printf ' %s' "$(show "${words[@]}")"
    printf '%s' "${with:+ $with}"
}
