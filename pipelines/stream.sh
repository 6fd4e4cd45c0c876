#!/bin/bash -p
# Rows that arrive once: dp-import(1) reads them, dp-fit(1) chooses the run, and dp-loop(1) trains window by window.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train a linear model on rows that arrive once, from a pipe or a message queue, with nothing to tune."
usages=('--schema FILE --rows N -o MODEL [options] [TABLE]') losses_of=dp-fit operand=table manual=dpline-stream
option table '' FILE "where the CSV rows come from, as TABLE: a pipe or a file; -, standard input, without it" text
option schema '' FILE "what the columns mean" text
option label '' NAME "the column to predict, as the schema says" text
option rows '' N "about how many rows will come, which is public" whole
option epsilon 1 E "privacy budget" number
option delta '' D "(default: the largest power of ten below 1 / rows^1.1)" number
option loss '' LOSS "(default logistic; squared for a regression, softmax for three classes or more)" choice
option population '' NAME "whose rows these are (default: the name of the schema)" text
option delimiter '' C "between fields" text
option skip-bad 0 K "up to K malformed lines become rows of zeros" count
options_of_classes
option threads 1 N "of the stage that reads rows" whole
option kept '' DIR "the checkpoint (default: MODEL.kept)" text
flag resume "continue the run of the checkpoint with the rows that come next"
option ledger '' FILE "record the spending there (default: MODEL.ledger)" text
flag no-ledger "write nothing down; every frame and the model say so"
option registry '' DIR "the registry of populations (default: \$DPLINE_REGISTRY, else ~/.local/state/dpline)" text
flag no-registry "neither read nor write the registry"
flag allow-weak "train although epsilon is above 10, or delta is not below 1 / rows"
options_of_run
help[model]="write the model there again after each window; a reader always finds a whole model"
parse "$@"
[ -n "$schema" ] || fail "--schema is required: what the columns mean (man dp-dataset)"
[ -n "$rows" ] || fail "--rows is required: about how many rows will come, which is public"
[ -n "$model" ] || fail "-o is required: where the model goes"
[ -e "$schema" ] || fail "--schema: $schema is not there"
[ -z "$table" ] || [ -e "$table" ] || fail "$table is not there"
[ -n "$table" ] || [ ! -t 0 ] || [ -n "$print" ] || fail "standard input is a terminal, and rows are expected (dpline stream … < TABLE)"
may_write -o "$model" "$table" "$schema" "$kept"
table=${table:--} kept=${kept:-$model.kept} population=${population:-$(basename "$schema" .json)}
[ -n "$ledger$no_ledger$seed" ] || ledger=$model.ledger
if [ -n "$resume" ]; then
    [ -n "$print" ] || [ -d "$kept" ] || fail "--resume: $kept is not there, so there is no run to continue"
elif [ -e "$kept" ]; then
    fail "$kept is there: a run has not had all its rows (--resume continues it; without the directory another run begins)"
fi
words_of loss class-weights epsilon delta rows threads ledger no-ledger registry no-registry allow-weak exec seed model quiet
run=$(dp-fit --stream /dev/fd/3 "${words[@]}" -- "$schema") || exit
about=${run%%$'\n'*} run=${run#*$'\n'}
basis=${run%%$'\n'*} run=${run#*$'\n'}
eval "run=($run)"
run=("${run[0]}" --model-every 1 --checkpoint-every 1 --"$([ -n "$resume" ] && echo resume || echo checkpoint)" "$kept" "${run[@]:1}")
words_of label population delimiter skip-bad registry no-registry
import=(dp-import csv --schema "$schema" --basis "$basis" --row-norm unit "${words[@]}" -q --out - -- "$table")
if [ -n "$print" ]; then
    printf '%s\n' "$about" "$(show "${run[@]}") 3< <($(show "${import[@]}"))"
    exit
fi
say "${about#'# '}"

# spent: what the run has cost, how far it came, and which rows it may still have. A dp-loop that was killed may have a checkpoint of the
# lap after the model
spent() {
    local cost lap all size file
    cost=$(dp-info --get epsilon "$model" 2> /dev/null) || return 0
    lap=$(dp-info --get lap "$model") all=$(dp-info --get laps "$model") size=$(dp-info --get n "$model")
    for file in "$kept"/stage-*.lap-*; do if [ -e "$file" ] && ((${file##*-} > lap)); then lap=${file##*-}; fi; done
    say "spent epsilon $(calculate cost), delta $(dp-info --get delta "$model")${seed:+ (seeded: not private)}, however many windows; one row is \
taken for one person"
    say "$((lap * size)) rows are in $lap of $all windows; the model is in $model"
    [ ! -d "$kept" ] || say "--resume continues with the rows after these"
}

# Signals are for dp-loop, which ends the run. The importer has nothing to save, and ends with it.
exec 3< <(trap '' INT TERM HUP QUIT && exec "${import[@]}" 3<&-)
importer=$!
status=0
attend "${run[@]}" > /dev/null || status=$?
exec 3<&-
# an importer that has failed says why
for ((wait = 0; status > 0 && wait < 20; wait++)); do
    kill -0 "$importer" 2> /dev/null || break
    sleep 0.05
done
kill -KILL "$importer" 2> /dev/null || true
spent
exit "$status"
