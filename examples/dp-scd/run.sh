#!/bin/bash -p
# Reproduces the experiments of the DP-SCD paper on the data that is there. Results go to build/examples/dp-scd.
#   run.sh [--write] [part …]     parts: classification, optimum, tuning, regression, batch, variants (default: all)
# --write also puts the tables and figures into this directory's README. SEEDS=n sets the number of seeds (10), JOBS=n how
# many runs are made at a time (one per processor), SETS="set …" what the part classification is run for (adult phishing), and
# TUNING="set/epsilon …" what tuning is.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
write=
[ "${1:-}" != --write ] || { write=1 && shift; }
[ $# -gt 0 ] || set -- classification optimum tuning regression batch variants

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
file_of() { case $1 in adult) echo adult/adult.data.gz ;; phishing) echo phishing/phishing.gz ;; esac; }
# import_classification SET [SEED …]
import_classification() {
    for seed in ${2:-$(seq "$seeds")}; do
        [ -d "$out/$1-$seed-test.dp" ] || case $1 in
            adult) dp-import csv -q --row-norm unit --no-bias --schema schema-adult.json --split 0.75 --seed "$seed" -o "$out/adult-$seed.dp" \
                --test "$out/adult-$seed-test.dp" "$raw/adult/adult.data.gz" ;;
            phishing) dp-import libsvm -q --row-norm unit --no-bias --classes 0,1 --cols 68 --scale max-abs --split 0.75 --seed "$seed" \
                -o "$out/phishing-$seed.dp" --test "$out/phishing-$seed-test.dp" "$raw/phishing/phishing.gz" ;;
        esac
    done
}

# settings SET: what the paper fixes
fixed() {
    case $1 in
        adult) echo "--loss hinge --lambda 1e-5 --epochs 10" ;;
        phishing) echo "--loss logistic --lambda 1e-4 --epochs 10" ;;
    esac
}

# with_multiplier SET EPSILON "--batch B …": " --multiplier Z", for a run of 10 epochs at delta = 0.001
with_multiplier() {
    local batch=${3#--batch }
    echo " --multiplier $(multiplier "$1" "$2" 1e-3 10 "${batch%% *}")"
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
sgd_grid() {
    for batch in 50 200 500; do
        for step in 1 4 16 64; do echo "--batch $batch --step $step"; done
    done
}
gradient_grid() {
    for batch in 50 200 500; do
        for clip in 0.5 1; do
            for step in 1 4 16 64; do echo "--batch $batch --clip $clip --step $step"; done
        done
    done
}
# what dp-sgd.sh does when not told otherwise
gradient="--batch 100 --clip 1 --step 1"

# private NAME PIPELINE SETTING: the line for a cell of the set, seed and epsilon at hand
private() {
    echo "cell '$set/$1' accuracy $set $seed $2 $(fixed "$set") $3 --delta 1e-3 --epsilon $e$(with_multiplier "$set" "$e" "$3")"
}

classification() {
    for set in ${SETS:-adult phishing}; do
        have "$(file_of "$set")" "get-data.sh fetches it" || continue
        say "$set: importing $seeds splits, training"
        import_classification "$set"
        for seed in $(seq "$seeds"); do
            echo "cell $set/scd accuracy $set $seed scd-nonprivate.sh $(fixed "$set") --epochs 100"
            sgd_grid | while read -r g; do
                echo "cell '$set/sgd/$g' accuracy $set $seed sgd.sh $(fixed "$set") $g"
            done
            for e in $epsilons; do
                private "secret/$e" scd.sh "$(secret "$set")"
                private "dp-sgd/$e" dp-sgd.sh "$gradient"
                gradient_grid | while read -r g; do private "dp-sgd-tuned/$e/$g" dp-sgd.sh "$g"; done
                grid | while read -r g; do
                    private "tuned/$e/$g" scd.sh "$g"
                    echo "cell '$set/published/$e/$g' accuracy $set $seed scd-published.sh $(fixed "$set") $g --delta 1e-3 --epsilon $e"
                done
                sequential_grid | while read -r g; do
                    echo "cell '$set/sequential/$e/$g' accuracy $set $seed seq-scd.sh $(fixed "$set") $g --delta 1e-3 --epsilon $e"
                done
            done
        done | run_cells
        {
            tsv epsilon scd secret 'secret, tuned' published sequential sgd dp-sgd 'dp-sgd, tuned' \
                'setting secret, tuned' 'setting published' 'setting sgd' 'setting dp-sgd, tuned'
            sgd=$(best "$set/sgd" sgd_grid)
            for e in $epsilons; do
                tuned=$(best "$set/tuned/$e" grid)
                published=$(best "$set/published/$e" grid)
                sequential=$(best "$set/sequential/$e" sequential_grid)
                gradients=$(best "$set/dp-sgd-tuned/$e" gradient_grid)
                tsv "$e" "$(median_of "$set/scd")" "$(median_of "$set/secret/$e")" \
                    "${tuned%% *}" "${published%% *}" "${sequential%% *}" \
                    "${sgd%% *}" "$(median_of "$set/dp-sgd/$e")" "${gradients%% *}" \
                    "${tuned#* }" "${published#* }" "${sgd#* }" "${gradients#* }"
            done
        } > "$out/$set.tsv"
        {
            tsv epsilon least median greatest
            for e in $epsilons; do
                tsv "$e" "$(spread_of "$set/secret/$e" head)" "$(median_of "$set/secret/$e")" "$(spread_of "$set/secret/$e" tail)"
            done
        } > "$out/$set-spread.tsv"
        column -t -s $'\t' "$out/$set.tsv"
    done
}

# --- logistic loss on both, otherwise as above -------------------------------------------------------------------------------
logistic() {
    case $1 in
        adult) echo "--loss logistic --lambda 1e-5 --epochs 10" ;;
        phishing) echo "--loss logistic --lambda 1e-4 --epochs 10" ;;
    esac
}
export -f logistic

# --- gradient descent against the optimum that SCD certifies, without privacy ----------------------------------------------
# certified SET SEED: objective, gap, epochs and seconds of SCD, objective and seconds of SGD, and by how much of the optimum
# SGD is above it, all on the training rows. The optimum lies between the objective of SCD and that minus the gap.
certified() {
    local data=$out/$1-$2.dp file=$results/optimum/$1-$2 start scd sgd fixed
    [ -s "$file" ] && return
    mkdir -p "$results/optimum"
    read -ra fixed <<< "$(logistic "$1")"
    start=$(now)
    scd-nonprivate.sh --data "$data" "${fixed[@]}" --epochs 100 --seed "$2" -q -o "$file.scd"
    scd=$(seconds_since "$start") start=$(now)
    sgd.sh --data "$data" "${fixed[@]}" --epochs 200 --batch 100 --step 16 --schedule linear --seed "$2" -q -o "$file.sgd"
    sgd=$(seconds_since "$start")
    echo "$(score objective "$file.scd" "$data") $(dp-info --get gap "$file.scd") $(dp-info --get lap "$file.scd") $scd" \
        "$(score objective "$file.sgd" "$data") $sgd" | awk '{ print $0, ($5 - ($1 - $2)) / ($1 - $2) }' > "$file.part"
    rm -f "$file.scd" "$file.sgd"
    mv "$file.part" "$file"
}
export -f certified

# middle SET FIELD FORMAT
middle() {
    cut -d ' ' -f "$2" "$results/optimum/$1"-* | sort -g |
        awk -v format="$3" '{ a[NR] = $1 } END { printf format, (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

optimum() {
    {
        tsv data 'objective scd' 'duality gap' 'epochs scd' 'seconds scd' 'objective sgd' 'epochs sgd' 'seconds sgd' \
            'above the optimum' 'at most'
        for set in adult phishing; do
            have "$(file_of $set)" "get-data.sh fetches it" || continue
            import_classification $set
            for seed in $(seq "$seeds"); do echo "certified $set $seed"; done | run_cells
            most=$(cut -d ' ' -f 7 "$results/optimum/$set"-* | sort -g | tail -n 1)
            tsv $set "$(middle $set 1 %.6f)" "$(middle $set 2 %.1e)" "$(middle $set 3 %d)" "$(middle $set 4 %.2f)" \
                "$(middle $set 5 %.6f)" 200 "$(middle $set 6 %.2f)" "$(middle $set 7 %.1e)" "$(printf %.1e "$most")"
        done
    } > "$out/optimum.tsv"
    column -t -s $'\t' "$out/optimum.tsv"
}

# --- what tuning costs: DP-SGD over the paper's number of configurations beside DP-SCD with one setting -------------------
# Each configuration is tried on a split of its own; the front runners, as many as a small grid has, then on the splits that all
# columns are measured on, where the median chooses.
tuning_seed=1000

# 2028 = 12 batch sizes, 13 clips, 13 step sizes; gradient_grid is a part of it
large_grid() {
    for batch in 50 70 100 150 200 300 500 700 1000 1500 2000 3000; do
        for clip in 0.01 0.015 0.02 0.03 0.05 0.07 0.1 0.15 0.2 0.3 0.5 0.7 1; do
            for step in 0.0625 0.125 0.25 0.5 1 2 4 8 16 32 64 128 256; do echo "--batch $batch --clip $clip --step $step"; done
        done
    done
}

# on SEED …: "setting <tab> seed" for each setting on standard input
on() { while read -r g; do for seed; do printf '%s\t%s\n' "$g" "$seed"; done; done; }

# try PIPELINE FILE: the trials on standard input that are not in FILE, for the set and epsilon at hand
try() {
    untried "$2" | while IFS=$'\t' read -r g seed; do
        echo "trial $2 '$g' $set $seed $1 $(logistic "$set") $g --delta 1e-3 --epsilon $e$(with_multiplier "$set" "$e" "$g")"
    done | run_cells
}

# took FILE: the seconds that the trials on standard input took
took() {
    awk -F '\t' -v file="$1" 'BEGIN { while ((getline line < file) > 0) { split(line, f); took[f[1] FS f[2]] = f[4] } }
        { s += took[$0] }
        END { print s }'
}

# median_trial FILE SETTING: over the splits that all columns are measured on
median_trial() { awk -F '\t' -v g="$2" -v seeds="$seeds" '$1 == g && $2 <= seeds { print $3 }' "$1" | median; }

# front_runners FILE: of the large grid the settings with the greatest accuracy on the split that each was tried on
front_runners() { awk -F '\t' -v seed=$tuning_seed '$2 == seed' "$1" | sort -t $'\t' -k 3,3gr -k 1,1 | awk -F '\t' 'NR <= 24 { print $1 }'; }

tuning() {
    for task in ${TUNING:-adult/1 phishing/1 adult/0.1 phishing/0.1 adult/0.5 phishing/0.5 adult/2 phishing/2}; do
        set=${task%/*} e=${task#*/}
        have "$(file_of "$set")" "get-data.sh fetches it" || continue
        import_classification "$set"
        import_classification "$set" $tuning_seed
        trials=$results/tuning-$set-$e.tsv one=$results/one-$set-$e.tsv
        say "$set, epsilon = $e: $(large_grid | on $tuning_seed | untried "$trials" | wc -l) configurations to try"
        large_grid | on $tuning_seed | try dp-sgd.sh "$trials"
        { echo "$gradient" && gradient_grid && front_runners "$trials"; } | sort -u | on $(seq "$seeds") | try dp-sgd.sh "$trials"
        secret "$set" | on $(seq "$seeds") | try scd.sh "$one"
        one_setting DP-SCD "$one" "$(secret "$set")"
        one_setting DP-SGD "$trials" "$gradient"
        of_many "$trials" 24 gradient_grid < <(gradient_grid | on $(seq "$seeds"))
        of_many "$trials" 2028 "front_runners $trials" < <(
            large_grid | on $tuning_seed
            front_runners "$trials" | on $(seq "$seeds")
        )
    done
    {
        tsv data epsilon method configurations runs seconds accuracy setting
        cat "$results"/row-*
    } > "$out/tuning.tsv"
    column -t -s $'\t' "$out/tuning.tsv"
}

# one_setting METHOD FILE SETTING: a line of the table; the seconds of one run and its multiplier
one_setting() {
    local seconds batch=${3#--batch }
    seconds=$(echo "$3" | on $(seq "$seeds") | took "$2")
    seconds=$(awk "BEGIN { print $seconds / $seeds + $(multiplier_of "$set" "$e" 1e-3 10 "${batch%% *}" 2) }")
    row "$1" 1 1 "$seconds" "$(median_trial "$2" "$3")" "$3"
}

# of_many FILE CONFIGURATIONS FINALISTS: a line of the table; standard input has all trials that were made, which are paid for in
# seconds together with the multipliers, the command FINALISTS the settings of which the greatest median is chosen
of_many() {
    local made best
    made=$(cat)
    best=$($3 | while read -r g; do printf '%s\t%s\n' "$(median_trial "$1" "$g")" "$g"; done | sort -rg | head -n 1)
    row DP-SGD "$2" "$(wc -l <<< "$made")" "$(
        {
            took "$1" <<< "$made"
            awk '{ print $2 }' <<< "$made" | sort -u | while read -r batch; do multiplier_of "$set" "$e" 1e-3 10 "$batch" 2; done
        } | awk '{ s += $1 } END { print s }'
    )" "${best%%$'\t'*}" "${best#*$'\t'}"
}

# row METHOD CONFIGURATIONS RUNS SECONDS ACCURACY SETTING
row() {
    tsv "$set" "$e" "$1" "$2" "$3" "$(printf %.1f "$4")" "$5" "$6" > "$results/row-$set-$e-$1-$(printf %04d "$2")"
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
        local files=(-o "$out/$1-$seed.dp" --test "$out/$1-$seed-test.dp" -q) rows=(--row-norm unit --no-bias)
        case $1 in
            year) table_schema 91 1 1922 2011 > "$out/year.json"
                dp-import csv "${rows[@]}" --schema "$out/year.json" --split 0.75 --seed "$seed" "${files[@]}" "$raw/year/YearPredictionMSD.txt" ;;
            protein) table_schema 10 10 -2 2 > "$out/protein.json"
                protein_rows | dp-import csv "${rows[@]}" --schema "$out/protein.json" --split 0.75 --seed "$seed" "${files[@]}" - ;;
            blogfeedback) table_schema 281 281 0 1500 > "$out/blogfeedback.json"
                unzip -p "$raw/blogfeedback/BlogFeedback.zip" blogData_train.csv |
                    dp-import csv "${rows[@]}" --schema "$out/blogfeedback.json" --split 0.75 --seed "$seed" "${files[@]}" - ;;
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
            echo "cell $set/scd r2 $set $seed scd-nonprivate.sh --loss squared --lambda 1e-4 --epochs 20"
            for e in $epsilons; do
                regression_grid | while read -r g; do
                    echo "cell '$set/secret/$e/$g' r2 $set $seed scd.sh $regression_fixed --batch $batch $g --epsilon $e"
                    echo "cell '$set/published/$e/$g' r2 $set $seed scd-published.sh $regression_fixed --batch $batch $g --epsilon $e"
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
                    echo "cell 'batch/$variant/$size/$g' r2 protein $seed $(pipeline_of "$variant") $regression_fixed --batch $size $g --epsilon 1"
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
                echo "cell 'variants/parallel/$e/$g' r2 protein $seed scd.sh $regression_fixed --batch 200 $g --epsilon $e"
                echo "cell 'variants/sequential/$e/$g' r2 protein $seed seq-scd.sh $regression_fixed --batch 20 $g --epsilon $e"
                echo "cell 'variants/primal/$e/$g' r2 protein $seed primal-scd.sh $regression_fixed --batch 3 $g --epsilon $e"
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
        classification | optimum | tuning | regression | batch | variants) "$part" ;;
        *) echo "run.sh: unknown part '$part': classification, optimum, tuning, regression, batch, variants" >&2 && exit 2 ;;
    esac
done
./figures.sh
[ -z "$write" ] || ../common/write-readme.sh "$out"
