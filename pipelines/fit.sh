#!/bin/bash -p
# Nothing to tune: dp-fit(1) chooses the run from public facts about the table, and this script runs it.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train a linear model with nothing to tune: data and epsilon in, a model out."
usages=('DATA [options]' 'TABLE --label NAME [options]') losses_of=dp-fit operand=data manual=dpline-fit
option data '' DIR "data set (see dp-import), as DATA" text
option label '' NAME "TABLE: the column to predict; COLUMN=CLASS: that class against all others" text
option classes '' A,B,... "TABLE: the classes of the label, public, so that rare ones are named without payment" text
flag number "TABLE: the label is a number, not classes"
option schema '' FILE "TABLE: what its columns mean (default: a file next to it, as people.json, or a proposal for a part of epsilon)" text
flag unpaid-schema "TABLE: take the schema from the rows; epsilon does not cover it"
option person '' COLUMN "TABLE: a person may have several rows, and this column says whose they are" text
flag row-is-person "TABLE: each row is another person, although a column looks like an identifier"
option test 0.2 PART "TABLE: this part of the rows is for tests, or a second table; with none all rows are trained on" text
flag header "TABLE: the first line names the columns"
flag no-header "TABLE: the first line is a row"
option delimiter '' C "TABLE: between fields" text
option skip-lines '' N "TABLE: skip the first N lines" count
option comment '' C "TABLE: skip lines that begin with C" text
option columns '' NAMES "TABLE: only these columns are features" text
option without '' NAMES "TABLE: these columns are not features" text
option bad-cells missing HOW "refuse|missing: TABLE: a cell of a feature that cannot be read is an error, or a missing value" choice
option sql '' QUERY "TABLE is an SQLite database: the SELECT statement whose rows are the table" text
option loss '' LOSS "(default logistic; squared for a regression, softmax for three classes or more)" choice
option epsilon 1 E "privacy budget" number
option delta '' D "(default: the largest power of ten below 1 / rows^1.1, or persons^1.1)" number
option adjacency null-record HOW "null-record|replace-one: what one person can change" choice
option population '' NAME "TABLE: whose rows these are, as for dp-import" text
options_of_classes
flag additive "TABLE: no products of pairs of columns, so that columns act one by one"
flag linear "TABLE: numbers are lines, as the schema says; coefficients are readable"
option threads '' N "(default: all cores, for small data sets one)" whole
options_of_ledger
options_of_run
flag json "print what the model is, as dp-info --json does"
help[model]="write the model there (default: into the current directory, as NAME.model for NAME.dp or TABLE)"
parse "$@"
[ -n "$allow_weak$seed" ] || [ "$(calculate 'epsilon > 10')" = 0 ] ||
    fail "--epsilon: above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)"
count=''
[ "$loss" != poisson ] || count=yes number=''
[ -z "$count" ] || [ -z "$class_weights$classes" ] || fail "--loss poisson is for counts: numbers from 0 on, and not classes"
[[ -z $class_weights || $class_weights =~ ^[0-9.e-]+(,[0-9.e-]+)+$ ]] || fail "--class-weights: a number for each class, got '$class_weights'"
[ -z "$class_weights" ] || [ -z "$number" ] || fail "--class-weights are for classes, and --number for a number"
said=$classes
[[ $label != *=* ]] || said=one,other
[[ -z $class_weights || $said != *,* || ${class_weights//[^,]/} = "${said//[^,]/}" ]] ||
    fail "--class-weights: one for each class, in the order of their names"
[ -z "$person" ] || [ ! -f "$test" ] || fail "--person: a second table may have rows of the same persons; --test takes a part or none"
[ -n "$data" ] || fail "the data set is missing: $name DATA --epsilon 1 (try --help)"

# place_model STEM: where the model goes. That it can is known before anything is paid for
place_model() {
    elsewhere=''
    if [ -z "$model" ]; then
        [[ $data != */*[!/]* ]] || elsewhere=' in the current directory'
        model=${1##*/}.model
        [ ! -e "$model" ] || [ -n "$print" ] || fail "$model is there already (-o $(quote "$model") replaces it; each run costs budget)"
    fi
    [ -n "$print" ] || may_replace -o "$model" "$own_schema" "${tests:-}"
}
# check_table STEM: what would be in the way of its result
check_table() {
    [ -z "$print" ] || fail "--print: $data is a table, and only a run on a data set is printed"
    [ ! -e "$1.dp" ] || fail "$1.dp is there already ($name $(quote "$1.dp") trains on it)"
    divide
    [[ -z $tests && $part = 1 ]] || [ ! -e "$1-test.dp" ] || fail "$1-test.dp is there already, and would have the rows for tests"
    place_model "$1"
}
# describe FORMAT: a table that says itself what its columns are; for npy, --label is the file of the labels
describe() {
    local stem two=()
    stem=$(stem_of "$data")
    [ -z "$unpaid_schema$person$schema$sql$columns$without" ] || fail "$data is a table of the format $1, which takes no schema"
    check_table "$stem"
    [ -z "$tests" ] || fail "--test: for the format $1, a part of the rows or none"
    words_of classes number population registry no-registry quiet
    case $1 in npy) two=("$label") ;; *) [ -z "$label" ] || fail "--label: a table of the format $1 has its label" ;; esac
    [ "$part" = 1 ] || words+=(--split "$part" --test "$stem-test.dp")
    dp-import "$1" -o "$stem.dp" "${words[@]}" -- "$data" "${two[@]}" || exit
    data=$stem.dp
}
# import FORMAT: a table next to which there is a schema, or is one now, becomes a data set and one for tests
import() {
    local stem
    stem=$(stem_of "$data")
    own_schema=${schema:-$stem.json}
    check_table "$stem"
    [ -z "$schema" ] || [ -e "$schema" ] || fail "--schema: $schema is not there"
    [ -s "$own_schema" ] || [ -n "$label" ] || fail "--label is required: the column of $data to predict"
    if [ -s "$own_schema" ]; then
        unused "is for a proposed schema, and $own_schema says what the columns are" columns without
        say "the columns are what $own_schema says"
    else
        propose "$1" || exit
    fi
    words_of class-weights loss epsilon adjacency # before knots are paid for
    [ -z "$class_weights" ] || dp-fit "${words[@]}" --rows 1000000 --delta 0.1 -- "$own_schema" > /dev/null || exit
    place_ledger "$stem"
    table=$data data=$stem.dp
    import_as "$1" || exit
    place_ledger "$stem"
    [[ $(dp-info --get private_preprocessing "$data") =~ ^(paid-schema)?$ ]] ||
        say "epsilon does not cover what $own_schema took from the rows; put in what is known without them, and leave out inferred-schema"
}
# divide: from --test, $part of the rows for training, and $tests, a second table
divide() {
    part=1 tests=''
    if [ -f "$test" ]; then
        tests=$test
    elif [ "$test" != none ]; then
        { real "$test" && [ "$(calculate 'test >= 0 && test < 1')" = 1 ]; } ||
            fail "--test: must be a table, a part below 1, or none, got '$test'"
        part=$(calculate '1 - test')
    fi
}
# propose FORMAT: a schema for the table, paid for with a tenth of the budget, or more if the budget or the table is small
propose() {
    local said paying=(ledger no-ledger allow-weak)
    [ -z "$unpaid_schema" ] || paying=()
    words_of label classes number header no-header delimiter skip-lines comment columns without sql population person row-is-person registry no-registry \
        quiet "${paying[@]}"
    [ -z "$count" ] || words+=(--count)
    if [ -n "$unpaid_schema" ]; then
        say "--unpaid-schema: nothing is paid for $own_schema, and epsilon does not cover it"
    elif [ "$adjacency" != null-record ]; then
        fail "--adjacency: a schema is paid for under null-record: --schema names one of yours, --unpaid-schema does without"
    else
        words+=(--private-schema "$(calculate 'epsilon / 10')" --of "$(calculate epsilon)" --at-most "$(calculate 'epsilon * 0.3')"
            ${delta:+--delta "$(calculate 'delta / 10')"} ${seed:+--noise-seed "$seed"})
    fi
    said=$(dp-import "$1" --infer-schema "$own_schema" --json "${words[@]}" "$data") || return
    persons=$(calculate "int(part * $(value rows "$said") + 1e-9)")
}
# value NAME JSON: a number or a word of a flat object
value() { [[ $2 =~ \"$1\":\ \"?([a-z0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
# rows FORMAT [OPTION]: the rows of the table, divided. They have norm 1, because loose bounds would make them short, except where the
# coefficients of --linear are to be read
rows() {
    words_of label classes number person row-is-person delimiter skip-lines comment bad-cells sql population registry no-registry quiet
    [ -z "$count" ] || words+=(--count)
    [ -n "$linear" ] || words+=(--row-norm unit)
    [ -z "$again" ] || words+=(--force)
    [[ -z $tests && $part = 1 ]] || words+=(--test "${data%.dp}-test.dp")
    [ "$part" = 1 ] || words+=(--split "$part")
    dp-import "$1" --schema "$own_schema" -o "$data" "${words[@]}" "${@:2}" -- "$table" ${tests:+"$tests"}
}
# import_as FORMAT: numbers are curves, with products of two, if the budget pays for them, which depends on rows, columns and epsilon
import_as() {
    local said='' basis status said_of_basis with
    if [ -n "$linear" ]; then
        rows "$1"
        return
    fi
    if [ -z "$persons" ]; then # the schema was there, and nobody has counted the rows
        said=$(rows "$1" --basis cosines 2>&1) || { status=$? && echo "$said" >&2 && return $status; }
        persons=$(dp-info --get persons "$data") again=1
    fi
    said_of_basis=$(choose_basis) || said_of_basis='"basis": "line"'
    basis=$(value basis "$said_of_basis")
    [ "$basis" != products ] || [ -z "$additive" ] || basis=cosines
    with=(--basis "${basis/none/cosines}")
    if [ "$basis" = products ]; then
        with+=(--products "$(value products "$said_of_basis")")
    fi
    if [[ -z $additive && ! $(value left_out "$said_of_basis") =~ ^0?$ ]]; then
        say "$(value pairs "$said_of_basis") pairs of columns have products; \
$(value left_out "$said_of_basis") have none, because the budget does not pay for more columns"
    fi
    if [ "$basis" = line ]; then
        say "numbers are lines: the budget does not pay for curves"
        rows "$1"
    elif [ "$basis" != none ] && [ "$adjacency" = null-record ] && [ -z "$seed" ] && ! grep -q '"inferred-schema"' "$own_schema"; then
        place_knots "$1"
    elif [ "$basis" = products ] || [ -z "$said" ]; then
        rows "$1" "${with[@]}"
    else
        echo "$said" >&2
    fi
}
# choose_basis: prints what numbers and pairs of columns get for a budget of .95 epsilon: knots take the rest, or less
choose_basis() {
    words_of loss delta adjacency
    dp-fit "${words[@]}" --epsilon "$(calculate 'epsilon * 0.95')" --rows "$persons" -- "$own_schema" 2> /dev/null
}
# place_knots FORMAT: the rows, with knots at quantiles that a twentieth of the budget pays for, a tenth for products. The accountant
# of knots is for null records, a seeded run pays for nothing, and a model whose bounds are private does not carry its knots, so no table
# could be scored
place_knots() {
    words_of ledger no-ledger allow-weak
    rows "$1" "${with[@]}" --else-unpaid --private-knots "$(calculate "epsilon / ($([ "$basis" = products ] && echo 10 || echo 20))")" --of "$(calculate epsilon)" \
        ${delta:+--delta "$(calculate 'delta / 10')"} "${words[@]}"
}
# choose: the run for the data set
choose() {
    words_of loss class-weights epsilon delta adjacency threads ledger no-ledger registry no-registry partial allow-weak exec seed model quiet
    dp-fit "${words[@]}" -- "$data"
}
check_there
own_schema='' persons='' again=''
format=''
[[ $data = *.dp || $data = *.dp/ ]] || format=$(dp-info --get format "$data" 2> /dev/null) || true
case $format in
    csv | tsv | sqlite | arff) import "$format" ;;
    ?*) describe "$format" ;;
    *) [ -d "$data" ] || [ -z "$label" ] || fail "$data: a table has a name that ends with its format, as .csv or .csv.gz"
        [ -z "$label" ] || fail "--label is for a table; a data set has its label"
        [ -z "$population" ] || fail "--population is for a table; a data set has its population"
        unused "is for a table, and $data is a data set" schema unpaid-schema person columns without sql classes number ;;
esac
if [ -z "$own_schema" ]; then
    stem=${data%"${data##*[!/]}"} # without slashes at its end
    stem=${stem%.dp}
    place_model "$stem"
    [ "$(dp-info --get private_preprocessing "$data" 2> /dev/null)" != paid-schema ] || place_ledger "$stem"
fi
run=$(choose) || exit
about=${run%%$'\n'*} run=${run#*$'\n'} # a comment, and the command
say "${about#'# '}"

# held_out: the rows that were kept for tests, if one data set next to this one has them
held_out() {
    local other found='' population split
    population=$(dp-info --get population "$data" 2> /dev/null || true)
    split=$(dp-info --get split "$data" 2> /dev/null || true)
    for other in "$(dirname "$data")"/*.dp; do
        [[ ! $other -ef $data && $(dp-info --get held_out "$other" 2> /dev/null) = true ]] &&
            [ "$(dp-info --get population "$other")" = "$population" ] &&
            [ "$(dp-info --get split "$other")" = "$split" ] && found+=$(quote "${other#./}")$'\n'
    done
    [ "$(wc -l <<< "$found")" = 2 ] && printf '%s' "${found%$'\n'}" || echo TEST.dp
}

# spent: the cost that a run states at its end
spent() {
    local cost delta line metrics=accuracy,majority,auc passed='pass on --metrics accuracy --private --epsilon E' test words
    [ -z "$json" ] || dp-info --json "$model" 2> /dev/null || return 0
    [ -z "$quiet" ] || return 0
    cost=$(dp-info --get epsilon "$model" 2> /dev/null) || return 0 # the budget did not pay for a lap
    delta=$(dp-info --get delta "$model")
    say "spent epsilon $(calculate cost), delta $(calculate delta)${seed:+ (seeded: not private)}; $(whose)"
    if [ -z "$no_ledger" ]; then
        words_of registry no-registry
        line=$(dp-account report --data "$data" "${words[@]}" "${ledger:-$data}" 2> /dev/null | grep '^by all runs ' || true)
        [ -z "$line" ] || say "$line"
    fi
    if [ "$(dp-info --get classes "$data")" = 0 ]; then
        metrics=r2 passed='do not pass them on'
    else
        case $(dp-info --get loss "$model") in logistic | softmax) metrics+=,logloss ;; esac
    fi
    test=$(held_out)
    say "the model is in $model$elsewhere; next:"
    cat >&2 << END
  dp-eval --data $test --metrics $metrics --last --in $(quote "$model")
    (exact measures of people are not charged: $passed)
  dp-predict $(quote "$model") $test > predictions.csv
END
    words_of sql skip-lines comment
    [ -z "$own_schema" ] ||
        echo "  dp-predict $(quote "$model") $(dp-info --get schema "$model" > /dev/null 2>&1 || printf -- '--schema %s ' "$(quote "$own_schema")")$([ ${#words[@]} = 0 ] || { show "${words[@]}" | tr '\n' ' '; })NEW.csv > scores.csv" >&2
}

eval "words=($run)"
if [ -n "$print" ]; then printf '%s\n' "$run"; else run_model "${words[@]:1}"; fi
