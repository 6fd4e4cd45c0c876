#!/usr/bin/env bash
# Nothing to tune: a private second moment of the rows, and gradients of all rows behind what it gives. Every number below follows
# from what is public: rows, columns, classes, epsilon and delta.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Train a linear model with nothing to tune: data and epsilon in, a model out."

# refuse STATUS TEXT: nothing has been spent
refuse() {
    echo "$name: $2" >&2
    exit "$1"
}

# --- what is public ------------------------------------------------------------------------------------------------

# a_file: what to do with a table that is no data set yet, or with a model
a_file() {
    local stem=${data##*/} format=csv
    ! dp-info --get lap "$data" > /dev/null 2>&1 ||
        refuse 1 "$data is a model, and what is needed is the data set to train on (dp-predict $(quote "$data") DATA applies a model)"
    stem=${stem%.gz} stem=${stem%.xz} stem=${stem%.zst}
    case $stem in *.tsv) format=tsv ;; *.arff) format=arff ;; *.libsvm | *.svm) format=libsvm ;; esac
    case $format in
        [ct]sv) refuse 1 "$data is a file, not a data set; write down what its columns mean (a first schema is made of the rows: put in what is known
without them), and import it:
  dp-import $format --header --infer-schema $(quote "${stem%.*}.json") $(quote "$data")   # --header: the first line has the names
  dp-import $format --schema $(quote "${stem%.*}.json") --split 0.8 -o $(quote "${stem%.*}.dp") --test $(quote "${stem%.*}-test.dp") $(quote "$data")" ;;
        *) refuse 1 "$data is a file, not a data set; import it:
  dp-import $format --split 0.8 -o $(quote "${stem%.*}.dp") --test $(quote "${stem%.*}-test.dp") $(quote "$data")" ;;
    esac
}

look() {
    [ -n "$data" ] || fail "the data set is missing: $name DATA --epsilon 1 (try --help)"
    [ ! -f "$data" ] || a_file
    rows=$(dp-info --get persons "$data") && columns=$(dp-info --get cols "$data") && classes=$(dp-info --get classes "$data") || exit
    most=$(dp-info --get rows_per_person "$data" 2> /dev/null) || most='' # rows of one person; none: one row is taken for one person
    [ "$classes" != 1 ] || refuse 1 "the label of $data has one class only: there is nothing to learn"
    [ "$(dp-info --get held_out "$data")" = false ] || echo "$name: warning: $data has the rows that were held out for tests: a model that is \
trained on them cannot be tested on them" >&2
}

# of_persons: how many there are, whose rows they are
of_persons() {
    case $most in '') echo "$rows rows" ;; 1) echo "$rows persons with one row each" ;; *) echo "$rows persons with at most $most rows each" ;; esac
}
whose() { [ -n "$most" ] && echo 'that is for all rows of a person together' || echo 'one row is taken for one person'; }

# of_label: what is to be learnt
of_label() { [ "$classes" = 0 ] && echo "a number" || echo "$classes classes"; }

# defaults: of delta, of the model's name and of the loss
defaults() {
    number "$epsilon" || fail "--epsilon: must be a number > 0, got '$epsilon'"
    said=''
    [ -n "$delta" ] || delta=$(awk "BEGIN { print \"1e-\" int(1.1 * log($rows) / log(10)) + 1 }") said=', the largest power of ten below 1 / rows^1.1'
    { number "$delta" && [ "$(calculate "$delta < 1")" = 1 ]; } || fail "--delta: must be a number > 0 and < 1, got '$delta'"
    if [ -z "$threads" ]; then # few rows are faster on one
        threads=1
        [ $((rows * columns * (classes > 2 ? classes : 1))) -lt 10000000 ] || threads=$(nproc)
    fi
    if [ -z "$model" ]; then
        model=${data%"${data##*[!/]}"} # without slashes at its end
        model=${model##*/} model=${model%.dp}.model
        [ ! -e "$model" ] || [ -n "$print" ] || fail "$model is there already (-o $(quote "$model") writes a new one there)"
    fi
    [[ -z $loss || "|$losses|" = *"|$loss|"* ]] || fail "--loss: must be one of $losses, got '$loss'"
    case $classes in
        0) loss=${loss:-squared} ;;
        2) loss=${loss:-logistic} ;;
        *) loss=${loss:-softmax} ;;
    esac
}

# --- the rules -----------------------------------------------------------------------------------------------------

# budget: `whole` is the multiplier of one release that spends all of it; `reach` says how far a mean over all rows is above the noise
# of that release, in its norm
budget() {
    whole=$(dp-account sigma --sampler full --laps 1 --epsilon "$epsilon" --delta "$delta" --adjacency "$adjacency") || exit
    reach=$(calculate "$rows / ($sensitivity * $whole * sqrt($columns + ($intercept > 0)))")
}

# share PART LAPS: the multiplier of so many laps that together have a part of the budget, rounded up
share() { awk "BEGIN { printf \"%.9g\", $whole * sqrt($2 / ($1)) * 1.00000001 }"; }

# constant_column: a data set without one gets one that counts half in a row of norm 1
constant_column() {
    intercept=0.5
    case $(dp-info --get row_norm "$data") in *bias*) intercept=0 ;; esac
}

# between LEAST MOST NUMBER
between() { awk "BEGIN { x = ($3); print (x < $1 ? $1 : x > $2 ? $2 : x) }"; }

# two_classes: slopes of the logistic loss are clipped at 1/2, where the row is on the wrong side of the boundary. From there on that is a
# loss which grows linearly, as a hinge does; its weights are about 1 / scale times as long as those of probabilities. --step is 4 / the
# largest curvature of the loss. What is far above the noise pays for rows that are cut less, up to a radius of 1, and these for weights that
# are the longer. Found on Adult, Phishing and wine, and on made-up rows.
two_classes() {
    part=0.15 floor=0.5 laps=$(between 8 128 "int($reach / 4 + 0.5)")
    radius=$(between 0.7 1 "0.7 * ($reach / 150) ^ 0.25")
    clip=1 step=4 scale=1
    [ "$loss" != logistic ] || clip=0.5 step=16 scale=$(calculate "0.62 * ($radius / 0.7) ^ 0.4")
}

# many_classes: the largest score is that of a row of any length, so rows are made 1 first. Found on Fashion-MNIST.
many_classes() {
    part=0.15 floor=0.5 radius=0.5 laps=32
    moments=' --unit' clip=0.5 scale=1 step=$(between 0 24 "$reach / 6")
}

# numbers: a row that is cut would have another residual than the one to be learnt, so rows are as long as they are, and their residuals
# have the less room. How large these may be is not public: the bound begins at 1 and follows a quantile, for which there are counts that
# have 5 % of the budget; in the first 32 laps nothing else matters. The less is above the noise, the lower the quantile.
# Found on protein, bicycles and wine.
numbers() {
    local late=32 rest
    part=0.1 floor=0.5 radius=0.7 scale=1 step=1
    laps=$((late + ($(calculate "$reach / 4 > 45") ? 64 : 32)))
    schedule=first:$late:100 tail=$(calculate "($laps - $late) / (2 * $laps)")
    rest="(1 - $part)"
    counts=$(share "0.05 * $rest" $laps)
    quantile=$(calculate "1 - $(between 0.01 0.4 "10 / $reach")")
    follow=$(between 0 "$(between 0 10 "0.2 * $rows / $counts")" "0.15 / (1 - $quantile)")
    part_of_gradients="0.95 * $rest" noisy="100 * ($laps - $late + $late / 100)" # a tenth of the noise once the bound is found
}

# plain: gradients of the rows as they are, where the moments would be noise for the most part
plain() {
    laps=64 step=2 clip=0.5 scale=1
    [ "$loss" != logistic ] || scale=0.62
}

rules() {
    moments='' run=behind
    if [ "$(calculate "$reach < 43 || $columns + ($intercept > 0) > 8192")" = 1 ]; then # dp-transform takes so many
        run=as_they_are
        plain
    else
        case $classes in 0) run=behind_uncut && numbers ;; 2) two_classes ;; *) many_classes ;; esac
    fi
    # A person's rows pull together, and residuals grow with what is too long a step; slopes of classes are cut before they do.
    [ "$classes" != 0 ] || [ -z "$most" ] || step=$(calculate "$step / $most")
}

# up NUMBER: to two digits, upwards
up() { awk "BEGIN { x = ($1); d = 10 ^ (int(log(x) / log(10) + 1000) - 1001); print (int(x / d * 0.999999) + 1) * d }"; }

# worth_it: with a reach below 4 models of made-up rows were not better than one that says the most frequent class of every row, whatever
# the columns and the balance of the classes; from 8 on they were.
worth_it() {
    local least=$((50 * (classes > 2 ? classes : 2))) wanted
    [ "$rows" -ge $least ] || refuse 1 "$data has $(of_persons), which are too few to hide one of them: $least would do for $(of_label)"
    [ "$(calculate "$reach < 4")" = 1 ] || return 0
    wanted=$(dp-account epsilon --sampler full --laps 1 --multiplier "$(calculate "$whole * $reach / 4")" --delta "$delta" --adjacency "$adjacency")
    refuse 3 "epsilon $epsilon at delta $delta does not pay for one useful lap over $rows rows of $columns columns; epsilon $(up "$wanted") would, \
and so would $(up "$rows * 4 / $reach") rows"
}

# --- the run -------------------------------------------------------------------------------------------------------

# held_out: the rows that were kept for tests, if one data set beside this one has them
held_out() {
    local other found='' population split
    population=$(dp-info --get population "$data" 2> /dev/null || true)
    split=$(dp-info --get split "$data" 2> /dev/null || true)
    for other in "$(dirname "$data")"/*.dp; do
        [ "$(dp-info --get held_out "$other" 2> /dev/null)" = true ] &&
            [ "$(dp-info --get population "$other")" = "$population" ] &&
            [ "$(dp-info --get split "$other")" = "$split" ] && found+=$(quote "${other#./}")$'\n'
    done
    [ "$(wc -l <<< "$found")" = 2 ] && printf '%s' "${found%$'\n'}" || echo TEST.dp
}

# spent: what a run says in the end
spent() {
    local cost line metrics=accuracy test where=()
    [ -z "$quiet" ] || return 0
    cost=$(dp-info --get epsilon "$model" 2> /dev/null) || return 0 # the budget did not last for a lap
    say "spent epsilon $(calculate "$cost"), delta $delta${seed:+ (seeded: not private)}; $(whose)"
    if [ -z "$no_ledger" ]; then
        [ -z "$registry" ] || where+=(--registry "$registry")
        [ -z "$no_registry" ] || where+=(--no-registry)
        line=$(dp-account report --data "$data" "${where[@]}" "${ledger:-$data}" 2> /dev/null | grep '^by all runs ' || true)
        [ -z "$line" ] || say "$line"
    fi
    [ "$classes" != 0 ] || metrics=r2
    test=$(held_out)
    say "the model is in $model; next:"
    cat >&2 << END
  dp-eval --data $test --metrics $metrics --last --in $(quote "$model")
  dp-predict $(quote "$model") $test > predictions.csv
END
}

behind() {
    plan="moments 1, gradient $laps"
    loop "
  dp-sample    --data $dir --mode full |
  dp-moments   --on moments $all$moments $every |
  dp-grad      --on gradient $all --loss $loss --clip $clip --scale $scale $every |
  dp-noise     --on moments --multiplier $(share "$part" 1) |
  dp-noise     --on gradient --multiplier $(share "1 - $part" "$laps") |
  dp-account   --epsilon $epsilon --delta $delta$gate |
  dp-transform --on moments --floor $floor --radius $radius |
  dp-step      --on gradient --step $step --relative --average tail"
}

behind_uncut() {
    plan="moments 1, gradient $laps"
    loop "
  dp-sample    --data $dir --mode full |
  dp-moments   --on moments $all $every |
  dp-grad      --on gradient $all --loss $loss --threads $threads |
  dp-clip      --on gradient --data $dir --clip 1 --adaptive $quantile --adaptive-rate $follow --adaptive-most 4 $every |
  dp-noise     --on moments --multiplier $(share "$part" 1) |
  dp-noise     --on gradient --multiplier $(share "$part_of_gradients" "$noisy") --schedule $schedule --count-multiplier $counts |
  dp-account   --epsilon $epsilon --delta $delta$gate |
  dp-transform --on moments --floor $floor --radius $radius --uncut |
  dp-step      --on gradient --step $step --relative --schedule $schedule --average tail --tail $tail"
}

as_they_are() {
    loop "
  dp-sample  --data $dir --mode full |
  dp-grad    $all --loss $loss --clip $clip --scale $scale $every |
  dp-noise   --multiplier $(share 1 "$laps") |
  dp-account --epsilon $epsilon --delta $delta$gate |
  dp-step    --step $step --momentum 0.9 --average tail"
}

losses='squared|logistic|smooth-hinge|huber|huberised-hinge|softmax'
usages=('DATA [options]')
option data '' DIR "data set (see dp-import), as DATA"
option loss '' LOSS "$losses (default logistic; squared for a regression, softmax for three classes or more)"
option epsilon 1 E "privacy budget"
option delta '' D "(default: the largest power of ten below 1 / rows^1.1)"
option adjacency null-record HOW "null-record|replace-one: what one person can change"
option threads '' N "(default: all cores, for small data sets one)"
options_of_ledger
options_of_run
operand=data
parse "$@"
look
defaults
quote_options
constant_column
budget
worth_it
rules
every="--threads $threads --adjacency $adjacency"
all="--data $dir --intercept $intercept"
say "$(of_persons), $columns columns, $(of_label): $loss; epsilon $epsilon, delta $delta$said"
$run
