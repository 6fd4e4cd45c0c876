#!/bin/bash -p
# Reproduces the experiments of the DP-SCD paper on the data that is there. Results go to build/examples/dp-scd.
#   run.sh [--write | --collect] [part …]     parts: figure1, figure2, figure3, tuning, theory, optimum, variants (default: all)
# --write also puts the tables and figures into this directory's README; --collect trains nothing and does it with what has been
# measured. SEEDS=n sets the number of seeds (10), JOBS=n how many runs are made at a time (one per processor), SETS="set …" what
# figure1 and tuning are about (all that is there), SIZES, CLIPS and STEPS the grids, EPSILONS="e …" the epsilons, METHODS="secret …" what
# is trained.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./data.sh
write='' collect=''
case ${1:-} in
    --write) write=1 && shift ;;
    --collect) write=1 collect=1 && shift ;;
esac
[ $# -gt 0 ] || set -- figure1 figure2 figure3 tuning theory optimum variants
read -ra epsilons <<< "${EPSILONS:-0.1 0.5 1 2}"
read -ra methods <<< "${METHODS:-secret published sequential sgd dp-sgd last}"

# --- appendix E: the grids, and the choice on validation rows --------------------------------------------------------------
# The appendix lists twelve sizes of a batch and thirteen values of C and of eta: 12 × 13 = 156 settings of L and C, and 12 × 13 × 13 = 2028
# of L, C and eta. One of the sizes is 0, which cannot be run, so 143 and 1859 are.
sizes=${SIZES:-5 10 50 100 200 500 1000 1250 1500 1750 2000}
powers='1e-8 1e-7 1e-6 1e-5 1e-4 1e-3 1e-2 1e-1 1 1e1 1e2 1e3 1e4'
grid_of() {
    local size clip step clips=${CLIPS:-$powers} steps=${STEPS:-$powers}
    case $1 in scd) echo - && return ;; sgd) clips='' ;; dp-sgd | last) ;; *) steps='' ;; esac
    for size in $sizes; do
        for clip in ${clips:-''}; do
            for step in ${steps:-''}; do echo "--batch $size${clip:+ --clip $clip}${step:+ --step $step}"; done
        done
    done
}

# measured SET METHOD EPSILON: the file of its trials
measured() { echo "$results/trials/$1-$2-$3.tsv"; }

# try SET METHOD EPSILON: the trials "setting <tab> seed" on standard input that have not been made
try() {
    local file
    file=$(measured "$@")
    mkdir -p "$results/trials"
    touch "$file"
    [ -z "$collect" ] || { cat > /dev/null && return 0; }
    untried "$file" | while IFS=$'\t' read -r setting seed; do
        echo "trial $1 $2 $3 '$setting' $seed $(multiplier_of "$1" "$2" "$3" "$setting")"
    done | run_cells
}

# on SEED …: "setting <tab> seed" for each setting on standard input
on() { while IFS= read -r g; do for seed; do printf '%s\t%s\n' "$g" "$seed"; done; done; }

# front_runners SET METHOD EPSILON: of all settings, each tried with seed 1, the six that are best on the validation rows
front_runners() { awk -F '\t' '$2 == 1' "$(measured "$@")" | better "$1" 3 | awk -F '\t' 'NR <= 6 { print $1 }'; }

# chosen SET METHOD EPSILON: "setting <tab> median on validation rows <tab> median, least, greatest on test rows": the front runner with the best
# median over all seeds on the validation rows
chosen() {
    local file setting
    file=$(measured "$@")
    front_runners "$@" | while IFS= read -r setting; do
        trials_of "$file" "$setting" > "$file.one"
        tsv "$setting" "$(cut -f 3 "$file.one" | median)" "$(cut -f 4 "$file.one" | median)" \
            "$(cut -f 4 "$file.one" | sort -g | awk 'NR == 1 { a = $1 } END { printf "%.4f\t%.4f", a, $1 }')"
    done | better "$1" 2 | sed -n 1p
}
# trials_of FILE SETTING: over the seeds of this run
trials_of() { awk -F '\t' -v g="$2" -v seeds="$seeds" '$1 == g && $2 <= seeds' "$1"; }
# better SET FIELD: lines, the best first; of equal ones the first setting in the alphabet
better() {
    local order=g
    [ "$(metric "$1")" = mse ] || order=gr
    awk -F '\t' -v f="$2" '$f != "nan" && $f != "-"' | sort -t $'\t' -k "$2,$2$order" -k 1,1
}
export -f trials_of better

# --- figure 1, and what its choices cost ---------------------------------------------------------------------------------------
figure1() {
    local set method e line row
    for set in ${SETS:-$(sets)}; do
        there "$set" || continue
        import_set "$set"
        say "$set: training"
        search "$set" scd 0
        for method in "${methods[@]}"; do
            case $method in
                sgd) search "$set" sgd 0 ;;
                *) for e in "${epsilons[@]}"; do search "$set" "$method" "$e"; done ;;
            esac
        done
        {
            tsv epsilon scd "${methods[@]}"
            for e in "${epsilons[@]}"; do
                row=("$e")
                for method in scd "${methods[@]}"; do row+=("$(chosen "$set" "$method" "$(budget "$method" "$e")" | cut -f 3)"); done
                tsv "${row[@]}"
            done
        } > "$out/$set.tsv"
        {
            tsv epsilon method setting 'validation, median' 'test, median' least greatest
            for e in "${epsilons[@]}"; do
                for method in scd "${methods[@]}"; do
                    [[ $method != scd && $method != sgd ]] || [ "$e" = "${epsilons[0]}" ] || continue
                    line=$(chosen "$set" "$method" "$(budget "$method" "$e")")
                    [ -z "$line" ] || tsv "$(budget "$method" "$e")" "$method" "$line"
                done
            done
        } > "$out/$set-chosen.tsv"
        column -t -s $'\t' "$out/$set.tsv"
    done
}
# search SET METHOD EPSILON: every setting with one seed, the front runners with all
search() {
    grid_of "$2" | on 1 | try "$@"
    front_runners "$@" | on $(seq "$seeds") | try "$@"
}
# budget METHOD EPSILON: 0 for a method without privacy
budget() { case $1 in scd | sgd) echo 0 ;; *) echo "$2" ;; esac; }

# The seconds are those of all trials one after another. A part of the paper's grid is counted as the part that it is.
tuning() {
    local set method e file
    {
        tsv data epsilon method settings runs seconds 'test, chosen'
        for set in ${SETS:-$(sets)}; do
            for e in "${epsilons[@]}"; do
                for method in "${methods[@]}"; do
                    [ "$method" != sgd ] || continue
                    file=$(measured "$set" "$method" "$e")
                    [ -s "$file" ] || continue
                    tsv "$set" "$e" "$method" "$(cut -f 1 "$file" | sort -u | wc -l)" "$(wc -l < "$file")" \
                        "$(awk -F '\t' '{ s += $5 } END { printf "%.0f", s }' "$file")" "$(chosen "$set" "$method" "$e" | cut -f 3)"
                done
            done
        done
    } > "$out/tuning.tsv"
    column -t -s $'\t' "$out/tuning.tsv"
}

# --- figure 2: the objective on the training rows by epoch, with the settings that figure 1 chose --------------------------------
# curve SET METHOD EPSILON SETTING SEED [option…]: leaves "epoch objective" lines in its file
curve() {
    local file=$results/curves/$1-$2-$3-${4// /}-$5 every=1 batch rows
    [ ! -s "$file" ] || return 0
    rows=$(dp-info --get rows "$out/$1.dp")
    [ "$4" = - ] || { batch=${4#--batch } && every=$(((rows + ${batch%% *} - 1) / ${batch%% *})); }
    train "${@:1:5}" - "${@:6}" | dp-eval --private-data --metrics objective --every "$every" --data "$out/$1.dp" |
        awk -v every="$every" 'NR > 1 && $1 % every == 0 { print $1 / every, $3 }' > "$file.part"
    mv "$file.part" "$file"
}
export -f curve

figure2() {
    local set method e setting epoch row series=() names=()
    set=$(sets | grep -v -e adult -e phishing | sed -n 1p) # the paper's: year
    [ -n "$set" ] || return 0
    import_set "$set"
    mkdir -p "$results/curves"
    for e in 0 0.1 1; do
        for method in scd "${methods[@]}"; do
            [[ $method != sequential && $e = "$(budget "$method" "$e")" && -s $(measured "$set" "$method" "$e") ]] || continue
            setting=$(chosen "$set" "$method" "$e" | cut -f 1)
            [ -n "$collect" ] || for seed in $(seq "$seeds"); do
                echo "curve $set $method $e '$setting' $seed $(multiplier_of "$set" "$method" "$e" "$setting")"
            done | run_cells
            series+=("$set-$method-$e-${setting// /}") names+=("$method$([ "$e" = 0 ] || echo ", epsilon $e")")
        done
    done
    {
        tsv epoch "${names[@]}"
        for epoch in 1 2 3 5 10 15 20 30 40 50; do
            row=("$epoch")
            for name in "${series[@]}"; do
                row+=("$(awk -v e="$epoch" '$1 <= e || FNR == 1 { last[FILENAME] = $2 } END { for (f in last) print last[f] }' \
                    "$results/curves/$name"-* | sort -g | awk '{ x[NR] = $1 } END { printf "%.6f", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }')")
            done
            tsv "${row[@]}"
        done
    } > "$out/figure2.tsv"
    column -t -s $'\t' "$out/figure2.tsv"
}

# --- figure 3: L and C at epsilon = 1, of the trials of figure 1: one run each ---------------------------------------------------
figure3() {
    local set method
    set=$(sets | grep -v -e adult -e phishing | sed -n 1p)
    [ -n "$set" ] || return 0
    for method in published secret; do
        [ -s "$(measured "$set" $method 1)" ] || continue
        awk -F '[\t ]' -v OFS='\t' -v sizes="$sizes" '$5 == 1 { mse[$2, $4] = sprintf("%.4g", $7) }
            END {
                n = split(sizes, size, " ")
                m = split("1e-4 1e-3 1e-2 1e-1 1 1e1", clip, " ")
                printf "L"
                for (j = 1; j <= m; j++) printf OFS "C = %s", clip[j]
                print ""
                for (i = 1; i <= n; i++) {
                    printf "%s", size[i]
                    for (j = 1; j <= m; j++) printf OFS "%s", mse[size[i], clip[j]]
                    print ""
                }
            }' "$(measured "$set" $method 1)" > "$out/figure3-$method.tsv"
        column -t -s $'\t' "$out/figure3-$method.tsv"
    done
}

# --- Theorem 2 and Table 1: how far models are above the optimum ------------------------------------------------------------------
# Theorem 2 asks for L (2 (1 - kappa) mu lambda - 1) > mu lambda N. Logistic loss has mu = 4, and C = 1 cuts nothing, so kappa = 0. No L up to N
# does for lambda = 1/4 or less; lambda = .5 and L = .8 N do.
# above SET METHOD EPSILON SEED LAPS: leaves F - F* in its file
above() {
    local data=$out/$1.dp file=$results/theory/$1-$2-$3-$4 words scd
    [ ! -s "$file" ] || return 0
    # shellcheck disable=SC2086 # several words
    {
        words="--data $data -q --seed $4 --lambda 0.5 --loss logistic -o $file.model"
        scd="--clip 1 --sigma-prime-scale 1 --batch $(($(dp-info --get rows "$data") * 4 / 5)) --epochs $(calculate ".8 * $5 - .001")"
        case $2 in
            least) erm.sh $words --tolerance 1e-10 ;;
            published) scd-published.sh $words $scd --epsilon "$3" --delta 1e-3 --no-ledger ;;
            secret) scd.sh $words $scd --epsilon "$3" --delta 1e-3 --no-ledger ;;
            output) outpert-gd.sh $words --as-published --distance 1.67 --epsilon "$3" --delta 1e-3 --no-ledger ;;
            objective) objpert.sh $words --epsilon "$3" --delta 1e-3 --no-ledger ;;
        esac
    }
    score objective "$file.model" "$data" --private-data > "$file.part"
    mv "$file.part" "$file"
    rm "$file.model"
}
export -f above

theory() {
    local n m name rows e method laps bound row
    mkdir -p "$results/theory"
    {
        tsv data N M epsilon T 'DP-SCD, published' 'over Theorem 2' 'DP-SCD, secret' 'over Theorem 2' 'output, as printed' 'over M/(N² epsilon²)' \
            objective 'over M/(N² epsilon²)'
        for name in synth-20 synth-80 synth-320 adult-6105 adult-12210 adult-24420; do
            n=12210
            case $name in
                synth-*) m=${name#synth-}
                    [ -d "$out/$name.dp" ] ||
                        dp-synth classification -q --rows $n --cols "$m" --seed 1 -o "$out/$name.dp" ;;
                *) there adult || continue
                    import_set adult
                    n=${name#adult-} m=81 how=(csv)
                    head -n "$n" "$out/adult.txt" > "$out/$name.txt"
                    [ -d "$out/$name.dp" ] || import "$name" "$name" ;;
            esac
            rows=$n
            [ -n "$collect" ] || above "$name" least 0 1 0
            for e in "${epsilons[@]}"; do
                [ "$e" = 1 ] || [ "$name" = adult-24420 ] || continue
                # T and the bound of appendix D.2, in which constants are not stated: L^3 T log(1/delta) / (lambda N^4 epsilon^2)
                laps=$(calculate "int(log(.5 * $rows * $e ^ 2 / (.512 * log(1000))) + .5)")
                [ "$laps" -ge 1 ] || laps=1
                bound=$(calculate ".512 * $laps * log(1000) / (.5 * $rows * $e ^ 2)")
                [ -n "$collect" ] || for method in published secret output objective; do
                    for seed in $(seq "$seeds"); do echo "above $name $method $e $seed $laps"; done
                done | run_cells
                row=("${name%-*}" "$rows" "$m" "$e" "$laps")
                for method in published secret output objective; do
                    case $method in output | objective) bound=$(calculate "$m / ($rows * $e) ^ 2") ;; esac
                    row+=("$(cat "$results/theory/$name-$method-$e"-* | awk -v least="$(cat "$results/theory/$name-least-0-1")" -v bound="$bound" \
                        '{ s += $1 - least } END { printf "%.2g\t%.2g", s / NR, s / NR / bound }')")
                done
                tsv "${row[@]}"
            done
        done
    } > "$out/theory.tsv"
    column -t -s $'\t' "$out/theory.tsv"
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
    local data=$out/$1.dp file=$results/optimum/$1-$2 start scd sgd fixed
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
            there $set || continue
            import_set $set
            for seed in $(seq "$seeds"); do echo "certified $set $seed"; done | run_cells
            most=$(cut -d ' ' -f 7 "$results/optimum/$set"-* | sort -g | tail -n 1)
            tsv $set "$(middle $set 1 %.6f)" "$(middle $set 2 %.1e)" "$(middle $set 3 %d)" "$(middle $set 4 %.2f)" \
                "$(middle $set 5 %.6f)" 200 "$(middle $set 6 %.2f)" "$(middle $set 7 %.1e)" "$(printf %.1e "$most")"
        done
    } > "$out/optimum.tsv"
    column -t -s $'\t' "$out/optimum.tsv"
}

# --- the variants side by side: parallel, sequential, and primal, whose batches count columns -------------------------------------
variants() {
    local e
    there protein || return 0
    import_set protein
    {
        tsv epsilon 'parallel (secret)' 'sequential' 'primal' 'setting primal'
        for e in "${epsilons[@]}"; do
            sizes='1 3 9' search protein primal "$e"
            tsv "$e" "$(chosen protein secret "$e" | cut -f 3)" "$(chosen protein sequential "$e" | cut -f 3)" \
                "$(chosen protein primal "$e" | cut -f 3)" "$(chosen protein primal "$e" | cut -f 1)"
        done
    } > "$out/variants.tsv"
    column -t -s $'\t' "$out/variants.tsv"
}

for part; do
    case $part in
        figure1 | figure2 | figure3 | tuning | theory | optimum | variants) "$part" ;;
        *) echo "run.sh: unknown part '$part': figure1, figure2, figure3, tuning, theory, optimum, variants" >&2 && exit 2 ;;
    esac
done
./figures.sh
[ -z "$write" ] || ../common/write-readme.sh "$out"
