#!/usr/bin/env bash
# Measures what curves of numbers are worth: `dpline fit` with numbers as lines, as cosines, and with products of cosines.
#   curves.sh [--write] [SET …]     sets: adult credit insurance protein bike abalone tweets-1024 tweets-16384 (default: all that are there)
# --write also puts curves.tsv and its table into this directory. SPLITS=n (10; 5 in curves.tsv), EPSILONS="0.1 1".
# Every run is what `dpline fit TABLE` makes of the columns: rows of norm 1, 80 % of the rows, delta 1e-5, and a twentieth of epsilon for
# knots at quantiles where that is enough for them. A run that was interrupted continues where it stopped.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./methods.sh
read -ra wanted <<< "${EPSILONS:-0.1 1}"
write=''
if [ "${1:-}" = --write ]; then write=1 && shift; fi
[ $# -gt 0 ] || set -- adult credit insurance protein bike abalone tweets-1024 tweets-16384

# columns FILE: a schema of numbers with round bounds ("NAME LOW HIGH"), categories ("NAME A,B,C") and a label ("label LOW HIGH")
columns() {
    printf '{"header": true, "columns": [\n'
    awk -v name="$1" '{
        printf "%s {\"name\": \"%s\", \"type\": \"%s\", ", (NR > 1 ? ",\n" : ""), $1, (name == $1 ? "label" : NF == 3 ? "numeric" : "categorical")
        gsub(",", "\", \"", $2)
        if (NF == 3) printf "\"bounds\": [%s, %s]}", $2, $3
        else printf "\"categories\": [\"%s\"]}", $2
    }'
    printf '\n]}\n'
}
# bounds SET: the schema. Bounds are round numbers beyond which the documentation, or common sense, has nothing
bounds() {
    local numbers='age 17 90 education-num 1 16 capital-gain 0 99999 capital-loss 0 5000 hours-per-week 1 99'
    case $1 in
        adult)
            schema adult | sed 's/, "drop": "first", "fill": "mode"/, "indicator": true/' |
                awk -v numbers="$numbers" 'BEGIN { for (n = split(numbers, a, " "); n > 0; n -= 3) to[a[n - 2]] = "\"bounds\": [" a[n - 1] ", " a[n] "]" }
                    split($0, a, "\"") > 3 && a[4] in to { sub("\"scale\": \"max-abs\"", to[a[4]]) } { print }'
            ;;
        protein)
            printf '%s\n' 'x1 -10000 40000' 'x2 -5000 20000' 'x3 -0.5 0.5' 'x4 -100 500' 'x5 -2000000 5000000' 'x6 -200 500' 'x7 -5000 200000' \
                'x8 -100 500' 'x9 -50 50' 'label -2 2' | columns label | sed 's/"header": true/"header": false/'
            ;;
        insurance)
            printf '%s\n' 'age 18 64' 'sex female,male' 'bmi 15 55' 'children 0 5' 'smoker no,yes' 'region northeast,northwest,southeast,southwest' \
                'label 0 70000' | columns label
            ;;
        abalone)
            printf '%s\n' 'Diameter 0 1' 'Height 0 1' 'Length 0 1' 'Rings 0 30' 'Sex F,I,M' 'ShellWeight 0 2' 'ShuckedWeight 0 2' \
                'VisceraWeight 0 1' 'WholeWeight 0 3' | columns Rings
            ;;
        tweets-*)
            printf '{"header": true, "columns": [{"name": "text", "type": "text", "columns": %s},
                {"name": "airline_sentiment", "type": "label", "classes": ["negative", ["neutral", "positive"]]}]}' "${1#*-}"
            ;;
        *) schema "$1" ;;
    esac
}
# file SET: the table
file() {
    case $1 in
        insurance | abalone) echo "$raw/tables/$1.csv.gz" ;;
        tweets-*) echo "$raw/tables/tweets.csv.gz" ;;
        *) raw_of "$1" ;;
    esac
}

# curve SET WAY EPSILON SPLIT: leaves the scores in its file
curve() {
    local set=$1 way=$2 epsilon=$3 split=$4 data cell metrics said knots=()
    data=$out/curves/$set-$way-$epsilon-$split cell=$results/curves/$set/$way/$epsilon/$split
    [ ! -s "$cell" ] || return 0
    mkdir -p "${data%/*}" "${cell%/*}"
    [ "$way" = line ] || knots=(--private-knots "$(calculate "$epsilon / 20")" --delta 1e-6 --no-ledger --else-unpaid)
    table "$(file "$set")" | dp-import csv --schema "$out/curves-$set.json" --basis "$way" --row-norm unit -q "${knots[@]}" \
        --population "${set%%-*}" --split 0.8 --seed "$split" -o "$data.dp" --test "$data-test.dp" --force -
    metrics=accuracy,auc,logloss
    [ "$(dp-info --get classes "$data.dp")" != 0 ] || metrics=r2
    said=$(fit.sh --data "$data.dp" --epsilon "$epsilon" --delta 1e-5 --seed "$split" --no-ledger -o "$cell.model" 2>&1) || {
        [[ $said == *' does not pay for '* ]] && echo refused > "$cell" && rm -r "$data.dp" "$data-test.dp" && return 0
        echo "$said" >&2 && return 1
    }
    dp-eval --last --metrics $metrics --in "$cell.model" --data "$data-test.dp" | awk -F '\t' -v OFS='\t' -v cols="$(dp-info --get cols "$data.dp")" \
        -v rule="$([[ $said == *' would do better'* ]] && echo no || echo yes)" \
        'NR == 2 { print rule, cols, $3, (NF > 3 ? $4 : "-"), (NF > 4 ? $5 : "-") }' > "$cell.part"
    rm -r "$cell.model" "$data.dp" "$data-test.dp"
    mv "$cell.part" "$cell"
}
export -f curve file table raw_of

for set; do
    [ -e "$(file "$set")" ] || continue
    bounds "$set" > "$out/curves-$set.json"
    for way in line $([[ $set == tweets-* ]] || echo cosines products); do
        for split in $(seq "$splits"); do
            for epsilon in "${wanted[@]}"; do echo "curve $set $way $epsilon $split"; done | jobs=1 run_cells
        done
        for epsilon in "${wanted[@]}"; do
            for split in $(seq "$splits"); do cat "$results/curves/$set/$way/$epsilon/$split"; done |
                awk -v set="$set" -v way="$way" -v epsilon="$epsilon" -v OFS='\t' '
                    /refused/ { bad = 1 }
                    { for (i = 3; i <= 5; i++) list[i] = list[i] (NR > 1 ? " " : "") ($i == "-" ? "-" : sprintf("%.4f", $i)); rule = $1; cols = $2 }
                    END { if (!bad) print set, epsilon, way, rule, cols, list[3], list[4], list[5] }'
        done
    done
done | tee "$out/curves.tsv"
[ -z "$write" ] || {
    cp "$out/curves.tsv" curves.tsv
    ../common/write-readme.sh
}
