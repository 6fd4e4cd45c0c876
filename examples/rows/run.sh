#!/usr/bin/env bash
# Measures dpline rows: run.sh [--write]. Rows of five tables are made in RUNS (3) runs, whose noise differs. measure.py compares them
# with the table, and trains classifiers on them that are tested on the rows of a test file, as `dpline fit` is on the table itself.
# Adult has its official test file; of the other tables a fifth is kept out. adult-names has the public schema of adult.jq,
# and pays only for the bins of numbers; adult-pgm is the table of pgm.sh, with such a schema and delta 1e-9. Writes a line for each run to
# build/examples/rows, and a table; runs that are there are not made again. --write also replaces measured.tsv and the table of README.md.
# PYTHON (python3) must have NumPy and scikit-learn. Needs adult/, bank/, credit/ and tables/ in $DPLINE_DATA.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
. ../common/common.sh
work=$out/rows measured=$out/measured.tsv
[ -d "$raw/tables" ] || { echo "run.sh: $raw/tables is not there, so nothing is measured" && exit 0; }
mkdir -p "$work"
touch "$measured"

# divide NAME: standard input, a table of which every fifth row is for tests
divide() { awk -v all="$work/$1.csv" -v test="$work/$1-test.csv" 'NR == 1 { print > all; print > test; next } { print > (NR % 5 ? all : test) }'; }
adult=age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,income
german=status,duration,history,purpose,amount,savings,employment,rate,personal,others,residence,property,age,plans,housing,credits,job,liable,phone,foreign,risk
{ echo $adult && zcat "$raw/adult/adult.data.gz" | grep , | sed 's/, /,/g'; } > "$work/adult.csv"
{ echo $adult && zcat "$raw/adult/adult.test.gz" | grep , | sed 's/, /,/g; s/\.$//'; } > "$work/adult-test.csv"
for part in '' -test; do ln -f "$work/adult$part.csv" "$work/adult-names$part.csv"; done
jq -n -f adult.jq > "$work/adult-names.json"
./pgm.sh > "$work/adult-pgm.csv"
jq -n --arg of cells -f adult.jq > "$work/adult-pgm.json"
zcat "$raw/bank/bank-full.csv.gz" | tr -d '"' | tr ';' , | divide bank
zcat "$raw/credit/UCI_Credit_Card.csv.gz" | cut -d, -f 2- | divide credit
zcat "$raw/tables/telco_customer_churn.csv.gz" | cut -d, -f 2- | divide telco
{ echo $german && zcat "$raw/tables/german.data.gz" | tr ' ' ,; } | divide german

# fitted TARGET POSITIVE: the AUC of a fit of the table on the test file, with a schema of its own, or the public one
fitted() {
    mkdir fit
    ln table.csv fit/table.csv
    dpline fit fit/table.csv "${schema[@]:---label=$1=$2}" --row-is-person --test test.csv --epsilon "$epsilon" "${delta[@]}" --no-registry -q -o fit.model
    dp-eval --data fit/table-test.dp --metrics auc --last --in fit.model 2> /dev/null | awk 'END { printf "%.4f", $NF }'
}
# measure NAME TARGET POSITIVE EPSILON RUN [CELLS]: table, epsilon, run, seconds, 2-way, its largest, 3-way; accuracy and AUC of a
# logistic regression and of trees; the AUC of a fit. Without a test file it ends with the errors
measure() {
    local epsilon=$4 test=test.csv start seconds fit=() schema=()
    ! grep -q "^$1	$4	$5	" "$measured" || return 0
    rm -rf "$work/run"
    mkdir "$work/run"
    cp "$work/$1.csv" "$work/run/table.csv"
    [ ! -e "$work/$1.json" ] || { cp "$work/$1.json" "$work/run/public.json" && schema=(--schema public.json); }
    if [ -e "$work/$1-test.csv" ]; then cp "$work/$1-test.csv" "$work/run/test.csv"; else test=-; fi
    cd "$work/run"
    start=$EPOCHREALTIME
    if dpline rows table.csv "${schema[@]}" --target "$2" --row-is-person --epsilon "$4" "${delta[@]}" --no-registry -q -o rows.csv 2> said; then
        seconds=$(calculate "$EPOCHREALTIME - $start")
        ${PYTHON:-python3} "$here/measure.py" table.csv $test rows.csv "$2" "$3" "${@:6}" > figures
        [ $test = - ] || fit=("$(fitted "$2" "$3")")
        tsv "$1" "$4" "$5" "$(printf %.1f "$seconds")" "$(grep -oE '[0-9]+\.[0-9]+' figures | paste -s)" "${fit[@]}" >> "$measured"
    else
        tsv "$1" "$4" "$5" refused "$(tail -n 1 said)" >> "$measured"
    fi
    cd "$here"
}
cells=age=16,fnlwgt=8,capital-gain=7,capital-loss=7,hours-per-week=12,education-num=16
for run in $(seq "${RUNS:-3}"); do
    delta=()
    measure telco Churn Yes 1 "$run"
    measure credit Default 1 1 "$run"
    measure bank y yes 1 "$run"
    measure german risk 2 1 "$run"
    delta=(--delta 1e-5)
    measure adult income '>50K' 1 "$run" $cells
    measure adult income '>50K' 0.3 "$run" $cells
    measure adult-names income '>50K' 1 "$run" $cells
    delta=(--delta 1e-9)
    measure adult-pgm income '>50K' 1 "$run" age=all,fnlwgt=all,education-num=all,capital-gain=all,capital-loss=all,hours-per-week=all
done
awk -f table.awk "$measured" | markdown
if [ "${1:-}" = --write ]; then
    cp "$measured" measured.tsv
    ../common/write-readme.sh "$out"
fi
