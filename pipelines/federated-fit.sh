#!/bin/bash -p
# dpline fit over sites that keep their rows: the gate with --workers, or one of the sites with --shard. dp-fit(1) chooses the run from
# the number of persons of all sites, the columns and the classes, so every machine chooses the same run.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
. "$here/options-sites.sh"
summary="Train a classifier with nothing to tune, on rows that stay where they are."
options_of_sites
option cols '' D "the gate: columns of each site's data set, with the constant one; public" whole
option classes 2 K "the gate: number of classes; public" whole
option data '' DIR "data set (see dp-import)" text
option epsilon 1 E "privacy budget" number
option delta '' D "(default: the largest power of ten below 1 / rows^1.1)" number
option adjacency null-record HOW "null-record|replace-one: what one person can change" choice
option threads '' N "threads of the stages that read rows (default: all cores, for small data sets one)" whole
options_of_ledger
options_of_checkpoints
options_of_run
parse "$@"
where
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
