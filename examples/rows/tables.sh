#!/usr/bin/env bash
# Measures dpline tables: means of three columns of Adult by 15 occupations, at epsilon 1 and delta 1e-5. Prints, for a schema that
# costs nothing and for one that is paid for, the median error of a mean in % of its range, and how many of the 95 % intervals of
# counts and means hold. The table of the figures: tables.sh [SEEDS], 25 seeds if nothing is said. Needs DPLINE_DATA.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
. ../common/common.sh
seeds=${1:-25} means=age,education-num,hours-per-week
work=$out/tables
rm -rf "$work"
mkdir -p "$work"
names=age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,income
{ echo "$names" && zcat "$raw/adult/adult.data.gz" | sed 's/, */,/g; /^$/d'; } > "$work/adult.csv"
jq -n '{header: true, columns: [{name: "age", type: "numeric", bounds: [17, 90]}, {name: "education-num", type: "numeric", bounds: [1, 16]},
    {name: "hours-per-week", type: "numeric", bounds: [1, 99]}, {name: "occupation", type: "categorical", categories: ["?", "Adm-clerical", "Armed-Forces",
    "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty",
    "Protective-serv", "Sales", "Tech-support", "Transport-moving"]}, {name: "income", type: "label", classes: ["<=50K", ">50K"]}]}' > "$work/public.json"

# cell SCHEMA SEED: the lines "mean ERROR HOLDS", "few" and "count HOLDS" of one release
cell() {
    local dir=$work/$1-$2 schema=()
    mkdir -p "$dir"
    ln -s "$work/adult.csv" "$dir/adult.csv"
    [ "$1" = paid ] || schema=(--schema "$work/public.json" --seed "$2")
    (cd "$dir" && dpline tables adult.csv --by occupation --mean $means --epsilon 1 --delta 1e-5 "${schema[@]}" --no-registry -q \
        -o tables.csv)
    jq -r '.columns[] | select(.bounds) | [.name, .bounds[0], .bounds[1]] | @tsv' "${schema[1]:-$dir/adult.json}" > "$dir/bounds"
    awk -v means=$means -f tables.awk "$dir/bounds" "$work/adult.csv" "$dir/tables.csv"
    rm -r "$dir"
}
export -f cell
export work means
tsv "schema" "median error of a mean, % of its range" "too few" "intervals of means that hold" "intervals of counts that hold"
for schema in public paid; do
    for seed in $(seq "$seeds"); do echo "cell $schema $seed"; done | run_cells > "$work/$schema"
    tsv "$schema" "$(awk '$1 == "mean" { print $2 }' "$work/$schema" | median)" "$(grep -c few "$work/$schema" || true)" \
        "$(awk '$1 == "mean" { n++; s += $3 } END { printf "%.3f", s / n }' "$work/$schema")" \
        "$(awk '$1 == "count" { n++; s += $2 } END { printf "%.3f", s / n }' "$work/$schema")"
done
