#!/bin/bash -p
# dpline fit over sites that keep their rows: the gate with --workers, or one of the sites with --shard. dp-fit(1) chooses the run from
# the number of persons of all sites, the columns and the classes, so every machine chooses the same run.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-sites.sh"
summary="Train a classifier with nothing to tune, on rows that stay where they are."

# check_measures: --to-sites, and what a site measures; all refusals come before the run
check_measures() {
    local what
    [ -z "$workers" ] || refuse "a site's" test pay own
    [ -z "$to_sites" ] || [ -n "$model" ] || fail "--to-sites needs -o"
    [ -z "$test" ] || [ -n "$to_sites" ] || fail "--test needs --to-sites: it measures the model"
    [ -z "$test" ] || [ -n "$pay" ] || fail "--test needs --pay: epsilon of the people of $test"
    for what in pay own; do [ -z "${!what}" ] || [ -n "$test" ] || fail "--$what needs --test"; done
    [ -z "$to_sites$model" ] || [ -n "$print" ] || may_write -o "$model"
    [ -n "$test" ] || return 0
    [ "$(dp-info --get held_out "$test")" = true ] || fail "--test: $test was not held out (dp-import --split --test)"
    [ "$(dp-info --get split "$test")" = "$(dp-info --get split "$data")" ] || # the name of a split depends on the table
        fail "--test: $test was not held out of $data, so its people may have trained the model"
    [ -z "$own" ] || dp-fit -q --epsilon "$epsilon" -- "$data" > /dev/null || exit
}

# pass COMMAND…: until it succeeds, for --timeout seconds: each turn of a stream over the endpoint is for one site
pass() {
    local end=$((SECONDS + $(calculate 'up(timeout)'))) said=''
    until said=$(timeout $((end > SECONDS ? end - SECONDS : 1)) "$@" 2>&1 > /dev/null); do
        if ((SECONDS >= end)); then echo "${said:-no answer}" && return 1; fi
        sleep 0.2
    done
}
# give: the gate sends the model, which is public now, to each site in turn
give() {
    local got=0 why=''
    [ -n "$to_sites" ] || return 0
    while ((got < workers)) && why=$(pass dp-cat --frames "${model_port[@]}" --out "@${at#[@>]}" -- "$model"); do got=$((got + 1)); done
    ((got == workers)) || say "warning: $got of $workers sites have the model: $why"
}
# get: a site takes it
get() {
    local why
    why=$(pass dp-cat --frames "${model_port[@]}" --out "$model" -- ">${at#[@>]}") || { say "the model did not come (the gate needs --to-sites, too): $why" && exit 1; }
    say "the model is in $model"
    [ -z "$test" ] || measures
}
# measured NAME MODEL: prints accuracy and the part of the most frequent class, each with its interval
measured() {
    words_of ledger no-ledger registry no-registry adjacency allow-weak
    dp-eval --private --data "$test" --epsilon "$share" -m accuracy,majority "${words[@]}" -- "$1" | tail -n 1 | cut -f 3-8
}
# measures: says how accurate the model of all sites is on the held-out rows. Each number is paid for: the people of the held-out rows pay
# for all measures, and the people of $data pay for a model of these rows only
measures() {
    local together of_own base share=$pay
    [ -z "$own" ] || share=$(calculate 'pay / 2' %.17g)
    together=$(measured "$model") || exit
    base=$(cut -f 4-6 <<< "$together")
    say "on held-out rows, for epsilon $pay of their people; each interval holds for the noise in 95 % of all cases:"
    say "accuracy of the model of all sites   $(interval "$together")"
    if [ -n "$own" ]; then
        words_of epsilon delta adjacency ledger no-ledger registry no-registry allow-weak threads exec seed
        "$here/fit.sh" -q "${words[@]}" -o "$model.own" -- "$data" && of_own=$(measured "$model.own") || exit
        say "accuracy of a model of these rows    $(interval "$of_own"), which is in $model.own"
    fi
    say "the most frequent class              $(interval "$base")"
}
# interval VALUE LOW HIGH
interval() { awk '{ printf "%.4f (%.4f to %.4f)", $1, $2, $3 }' <<< "$1"; }

options_of_sites
option cols '' D "the gate: columns of each site's data set, with the constant one; public" whole
option classes 2 K "the gate: number of classes; public" whole
option data '' DIR "data set (see dp-import)" text
option epsilon 1 E "privacy budget" number
option delta '' D "(default: the largest power of ten below 1 / rows^1.1)" number
option adjacency null-record HOW "null-record|replace-one: what one person can change" choice
option threads '' N "threads of the stages that read rows (default: all cores, for small data sets one)" whole
flag to-sites "each site gets the model when the run has ended, and writes it to its -o"
option test '' DIR "a site, with --to-sites: its held-out rows, which measure what together was worth" text
option pay '' E "a site, with --test: what the measures cost the people of these rows" number
flag own "a site, with --test: also train on its rows only, which costs its people --epsilon again, and compare"
options_of_ledger
options_of_checkpoints
options_of_run
parse "$@"
where
check_measures
model_port=(${insecure_plaintext:+"$insecure_plaintext"} ${keys:+--keys "$keys"} ${server:+--server "$server"})
if [ -n "$data" ]; then
    refuse "the gate's" cols
    classes=$(dp-info --get classes "$data") || exit
    ! dp-info --get features "$data" > /dev/null 2>&1 || fail "$data has features of images: $name is for tables"
elif [ -z "$cols" ]; then
    fail "--cols is required: the columns of each site's data set, as dp-info --get cols DATA prints them"
fi
[ "$classes" -ge 2 ] || fail "$name trains classifiers: noise for a number follows a schedule, which no site can be promised"

# The run that dp-fit prints: its stages left of the noise are at the sites, the others at the gate.
words_of rows epsilon delta adjacency threads ledger no-ledger registry no-registry partial allow-weak seed
if [ -n "$data" ]; then words+=(-- "$data"); else words+=(--cols "$cols" --classes "$classes"); fi
run=$(dp-fit -q "${words[@]}") || exit
about=${run%%$'\n'*}
eval "words=(${run#*$'\n'})"
text=${words[-1]}
[[ " ${words[*]} " != *' --plan '* ]] || plan=$(sed -n "s/.* --plan '\([^']*\)' .*/\1/p" <<< "${run#*$'\n'}" | head -n 1)
laps=$(sed -n 's/^dp-loop .* --laps \([0-9]*\) .*/\1/p' <<< "${run#*$'\n'}" | head -n 1)
laps=${laps:-$(tr -cs '0-9' '\n' <<< "$plan" | awk '{ all += $1 } END { print all }')} rate=1
delta=${about##* delta } delta=${delta%%[,;]*}
at_site=$(grep -E '^  dp-(sample|moments|grad|temperature) ' <<< "$text")
noise=$(grep -E '^  dp-noise ' <<< "$text")
at_gate=$(grep -vE '^  dp-(sample|moments|grad|temperature|noise) |^$' <<< "$text")
multiplier() { sed -nE "s/^  dp-noise +$1 *--multiplier ([^ ]*) .*/\1/p" <<< "$noise"; }
quote_options
promised=" --multiplier $(multiplier "${plan:+--on gradient}")"
[[ $plan != *moments* ]] || promised+=" --moments-multiplier $(multiplier '--on moments')"
if [ -n "$distributed_noise" ]; then
    # shellcheck disable=SC2001 # each line
    at_site+=$'\n'$(sed "s/ |\$/ --share --colluding $colluding${seeded:+ $seeded} |/" <<< "$noise")
    # full batches of all kinds of laps are one Gaussian
    view=$(awk -v noise="$noise" -v plan="${plan:- $laps}" 'BEGIN {
        for (n = split(plan, kinds, / *, */); n; n--) { split(kinds[n], part, " "); laps[part[2] == "" ? "" : part[1]] = part[part[2] == "" ? 1 : 2] }
        for (n = split(noise, stages, "\n"); n; n--) {
            kind = match(stages[n], /--on [^ ]*/) ? substr(stages[n], RSTART + 5, RLENGTH - 5) : ""
            match(stages[n], /--multiplier [^ ]*/)
            all += laps[kind] / substr(stages[n], RSTART + 13, RLENGTH - 13) ^ 2
        }
        printf "%.9g", 1 / sqrt(all) }')
    promised='' noise=''
fi
say "${about#'# '}"
[ -z "$distributed_noise" ] || say_view "$view" 1 1
if [ -n "$workers" ]; then
    loop "
  dp-gather $ports |${noise:+
$noise}
$at_gate"
else
    [ -n "$parts" ] || at_site+="
  dp-site-account$promised --epsilon $epsilon --delta $delta$gate |"
    at_site=${at_site/--mode full/--mode full$part}
    work "
${at_site% |}"
fi
