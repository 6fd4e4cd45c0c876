#!/usr/bin/env bash
# Reproduces the experiments of the DP-SCD paper on the data that is there. Results go to build/examples/dp-scd.
#   run.sh [--write] [part …]     parts: classification, regression, batch, variants (default: all)
# --write also puts the tables and figures into this directory's README. SEEDS=n sets the number of seeds (10).
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
write=
[ "${1:-}" != --write ] || { write=1 && shift; }
[ $# -gt 0 ] || set -- classification regression batch variants

say() { echo "== $*" >&2; }
have() {
    [ -e "$raw/$1" ] && return
    say "skipping: $raw/$1 is not there ($2)"
    return 1
}
epsilons='0.1 0.5 1 2'

# best NAME GRID: "score setting" of the best cell of a grid
best() {
    "$2" | while read -r g; do echo "$(median_of "$1/$g") $g"; done | sort -rg | head -n 1
}

# --- the paper's two classification tasks, appendix E: 75 % of the rows train, 10 epochs, delta = 0.001 -------------------
import_classification() {
    for seed in $(seq "$seeds"); do
        [ -d "$out/$1-$seed-test.dp" ] || case $1 in
            adult) dp-import csv -q --schema schema-adult.json --split 0.75 --seed "$seed" -o "$out/adult-$seed.dp" \
                --test "$out/adult-$seed-test.dp" "$raw/adult/adult.data.gz" ;;
            phishing) dp-import libsvm -q --classes 0,1 --cols 68 --scale max-abs --split 0.75 --seed "$seed" -o "$out/phishing-$seed.dp" \
                --test "$out/phishing-$seed-test.dp" "$raw/phishing/phishing.gz" ;;
        esac
    done
}

# settings SET: what the paper fixes
fixed() {
    case $1 in
        adult) echo "--loss hinge --lambda 1e-5 --delta 1e-3 --epochs 10" ;;
        phishing) echo "--loss logistic --lambda 1e-4 --delta 1e-3 --epochs 10" ;;
    esac
}

# One setting of DP-SCD for every epsilon; a grid for what is published, the best of which is shown.
secret() {
    case $1 in
        adult) echo "--batch 100 --clip 0.01 --sigma-prime-scale 0.2" ;;
        phishing) echo "--batch 50 --clip 0.02 --sigma-prime-scale 0.2" ;;
    esac
}
grid() {
    for batch in 50 200 500; do
        for clip in 0.002 0.005 0.01 0.05; do
            for scale in 0.2 1; do echo "--batch $batch --clip $clip --sigma-prime-scale $scale"; done
        done
    done
}
sequential_grid() {
    for batch in 5 20; do
        for clip in 0.0005 0.002 0.01; do echo "--batch $batch --clip $clip --sigma-prime-scale 1"; done
    done
}

classification() {
    for set in adult phishing; do
        file=adult/adult.data.gz
        [ $set = adult ] || file=phishing/phishing.gz
        have $file "get-data.sh fetches it" || continue
        say "$set: importing $seeds splits, training"
        import_classification $set
        for seed in $(seq "$seeds"); do
            echo "$set/scd accuracy $set $seed scd-nonprivate.sh --loss $(fixed $set | cut -d ' ' -f 2) --lambda $(fixed $set | cut -d ' ' -f 4)"
            for e in $epsilons; do
                echo "$set/secret/$e accuracy $set $seed scd.sh $(fixed $set) $(secret $set) --epsilon $e"
                grid | while read -r g; do
                    echo "'$set/tuned/$e/$g' accuracy $set $seed scd.sh $(fixed $set) $g --epsilon $e"
                    echo "'$set/published/$e/$g' accuracy $set $seed scd-published.sh $(fixed $set) $g --epsilon $e"
                done
                sequential_grid | while read -r g; do
                    echo "'$set/sequential/$e/$g' accuracy $set $seed seq-scd.sh $(fixed $set) $g --epsilon $e"
                done
            done
        done | run_cells
        {
            printf 'epsilon\tscd\tsecret\tsecret, tuned\tpublished\tsequential\tsetting secret, tuned\tsetting published\n'
            for e in $epsilons; do
                tuned=$(best "$set/tuned/$e" grid)
                published=$(best "$set/published/$e" grid)
                sequential=$(best "$set/sequential/$e" sequential_grid)
                printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$e" "$(median_of $set/scd)" "$(median_of $set/secret/"$e")" \
                    "${tuned%% *}" "${published%% *}" "${sequential%% *}" "${tuned#* }" "${published#* }"
            done
        } > "$out/$set.tsv"
        column -t -s $'\t' "$out/$set.tsv"
    done
}

# --- regression: YearPredictionMSD where it is, and what stands in for it -------------------------------------------------
# table_schema COLUMNS LABEL LOW HIGH: every column numeric, divided by its largest magnitude; the label centred, as in the paper,
# and scaled by known bounds
table_schema() {
    printf '{"columns": [\n'
    for i in $(seq "$1"); do
        [ "$i" = 1 ] || printf ',\n'
        if [ "$i" = "$2" ]; then
            printf ' {"name": "label", "type": "label", "bounds": [%s, %s], "center": true}' "$3" "$4"
        else
            printf ' {"name": "x%s", "type": "numeric", "scale": "max-abs"}' "$i"
        fi
    done
    printf '\n]}\n'
}

import_regression() {
    for seed in $(seq "$regression_seeds"); do
        [ -d "$out/$1-$seed-test.dp" ] && continue
        local files=(-o "$out/$1-$seed.dp" --test "$out/$1-$seed-test.dp" -q)
        case $1 in
            year) table_schema 91 1 1922 2011 > "$out/year.json"
                dp-import csv --schema "$out/year.json" --split 0.75 --seed "$seed" "${files[@]}" "$raw/year/YearPredictionMSD.txt" ;;
            protein) table_schema 10 10 -2 2 > "$out/protein.json"
                protein_rows | dp-import csv --schema "$out/protein.json" --split 0.75 --seed "$seed" "${files[@]}" - ;;
            blogfeedback) table_schema 281 281 0 1500 > "$out/blogfeedback.json"
                unzip -p "$raw/blogfeedback/BlogFeedback.zip" blogData_train.csv |
                    dp-import csv --schema "$out/blogfeedback.json" --split 0.75 --seed "$seed" "${files[@]}" - ;;
            synth) dp-synth --like year-prediction-msd --test-rows 51630 --seed "$seed" "${files[@]}" ;;
        esac
    done
}
# the columns of this copy are centred; the last one is predicted
protein_rows() { gzip -dc "$raw/protein/protein.csv.gz"; }

regression_seeds=${REGRESSION_SEEDS:-3}
regression_fixed="--loss squared --lambda 1e-4 --delta 1e-5 --epochs 10"
regression_grid() {
    for clip in 0.001 0.01 0.05 0.2; do
        for scale in 0.2 1; do echo "--clip $clip --sigma-prime-scale $scale"; done
    done
}
regression_sets() {
    [ ! -e "$raw/year/YearPredictionMSD.txt" ] || echo year
    [ ! -e "$raw/protein/protein.csv.gz" ] || echo protein
    [ ! -e "$raw/blogfeedback/BlogFeedback.zip" ] || ! command -v unzip > /dev/null || echo blogfeedback
    echo synth
}
batch_of() { case $1 in year | synth) echo 1000 ;; *) echo 200 ;; esac; }

regression() {
    have year/YearPredictionMSD.txt "get-data.sh fetches it; protein, BlogFeedback and synthetic data stand in" || true
    for set in $(regression_sets); do
        say "$set: importing $regression_seeds splits, training"
        import_regression "$set"
        batch=$(batch_of "$set")
        for seed in $(seq "$regression_seeds"); do
            echo "$set/scd r2 $set $seed scd-nonprivate.sh --loss squared --lambda 1e-4 --epochs 20"
            for e in $epsilons; do
                regression_grid | while read -r g; do
                    echo "'$set/secret/$e/$g' r2 $set $seed scd.sh $regression_fixed --batch $batch $g --epsilon $e"
                    echo "'$set/published/$e/$g' r2 $set $seed scd-published.sh $regression_fixed --batch $batch $g --epsilon $e"
                done
            done
        done | run_cells
        {
            printf 'epsilon\tscd\tsecret\tpublished\tsetting secret\tsetting published\n'
            for e in $epsilons; do
                secret=$(best "$set/secret/$e" regression_grid)
                published=$(best "$set/published/$e" regression_grid)
                printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$e" "$(median_of "$set/scd")" "${secret%% *}" "${published%% *}" \
                    "${secret#* }" "${published#* }"
            done
        } > "$out/$set.tsv"
        column -t -s $'\t' "$out/$set.tsv"
    done
}

# --- the batch size: what a lap's size does to DP-SCD, as published and sequential (epsilon = 1) --------------------------
batch() {
    have protein/protein.csv.gz "the batch experiment runs on it" || return 0
    import_regression protein
    sizes='5 20 100 500 2000'
    variants='secret published sequential'
    pipeline_of() { case $1 in secret) echo scd.sh ;; published) echo scd-published.sh ;; *) echo seq-scd.sh ;; esac; }
    for seed in $(seq "$regression_seeds"); do
        for size in $sizes; do
            for variant in $variants; do
                regression_grid | while read -r g; do
                    echo "'batch/$variant/$size/$g' r2 protein $seed $(pipeline_of "$variant") $regression_fixed --batch $size $g --epsilon 1"
                done
            done
        done
    done | run_cells
    {
        printf 'batch\tsecret\tpublished\tsequential\n'
        for size in $sizes; do
            printf '%s' "$size"
            for variant in $variants; do
                found=$(best "batch/$variant/$size" regression_grid)
                printf '\t%s' "${found%% *}"
            done
            printf '\n'
        done
    } > "$out/batch.tsv"
    column -t -s $'\t' "$out/batch.tsv"
}

# --- the variants side by side: parallel, sequential, primal ------------------------------------------------------------------
variant_grid() { for clip in 0.001 0.01 0.1; do echo "--clip $clip"; done; }
variants() {
    have protein/protein.csv.gz "the variants run on it" || return 0
    import_regression protein
    for seed in $(seq "$regression_seeds"); do
        for e in $epsilons; do
            variant_grid | while read -r g; do
                echo "'variants/parallel/$e/$g' r2 protein $seed scd.sh $regression_fixed --batch 200 $g --epsilon $e"
                echo "'variants/sequential/$e/$g' r2 protein $seed seq-scd.sh $regression_fixed --batch 20 $g --epsilon $e"
                echo "'variants/primal/$e/$g' r2 protein $seed primal-scd.sh $regression_fixed --batch 3 $g --epsilon $e"
            done
        done
    done | run_cells
    {
        printf 'epsilon\tparallel\tsequential\tprimal\n'
        for e in $epsilons; do
            printf '%s' "$e"
            for variant in parallel sequential primal; do
                found=$(best "variants/$variant/$e" variant_grid)
                printf '\t%s' "${found%% *}"
            done
            printf '\n'
        done
    } > "$out/variants.tsv"
    column -t -s $'\t' "$out/variants.tsv"
}

for part; do
    case $part in
        classification | regression | batch | variants) "$part" ;;
        *) echo "run.sh: unknown part '$part': classification, regression, batch, variants" >&2 && exit 2 ;;
    esac
done
./figures.sh
[ -z "$write" ] || ./write-readme.sh
