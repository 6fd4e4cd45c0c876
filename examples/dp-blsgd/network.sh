#!/bin/bash -p
# Figure 5: networks by DP-BLSGD, with nothing tuned, and by DP-SGD with the best of 16 settings. Results go to
# build/examples/dp-blsgd/network; an interrupted run continues.
#   network.sh [--write]     --write also puts what was measured into network.tsv and README.md
# NETWORKS="small" names what is run: small (one hidden layer of 32, minutes on two cores), and at the paper's sizes, which take hours,
# mlp-1000 (MNIST), mlp-256 (Fashion-MNIST), cnn (MNIST); cifar is the paper's network with an eighth of its channels.
# EPSILONS="1 3" names what is run. The setting is chosen with seed 1; the seeds from 2 to SEEDS=6 are compared. EPOCHS="2 5" are
# the two lengths of the 16 settings; DP-BLSGD has the second, and the paper's search for networks: Armijo's constant .001, a tenth of the
# budget, losses up to 3. Its first step is not published: 20, see README.md.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
out=$out/network
search="--armijo 0.001 --share 0.1 --loss-clip 3 --first-step 20"
mkdir -p "$out"
seeds=${SEEDS:-6}
read -ra epsilons <<< "${EPSILONS:-1 3}"
read -ra lengths <<< "${EPOCHS:-2 5}"

# set_of NETWORK: the images it is trained on
set_of() {
    case $1 in
        cifar) echo cifar ;;
        mlp-256) echo fashion ;;
        *) echo mnist ;;
    esac
}
# prepare SET: train and test rows
prepare() {
    local part folder=$raw/mnist
    [ "$1" != fashion ] || folder=$clothes
    for part in train t10k; do
        [ ! -d "$out/$1-$part.dp" ] || continue
        case $1 in
            cifar) dp-import images -q --no-bias --population "cifar-$part" -o "$out/$1-$part.dp" "$raw/cifar10/cifar10-jpeg.zip/$(if [ $part = train ]; then echo train; else echo test; fi)" ;;
            *) dp-import idx -q --no-bias -o "$out/$1-$part.dp" "$folder/$part-images-idx3-ubyte.gz" "$folder/$part-labels-idx1-ubyte.gz" ;;
        esac
    done
}
# layers NETWORK COLUMNS: pixels are in [0, 1]
layers() {
    local side
    side=$(calculate "sqrt($2)")
    case $1 in
        small) echo "$2 * $side; fc 32 tanh; fc 10" ;;
        mlp-1000) echo "$2 * $side; fc 1000 tanh; fc 10" ;;
        mlp-256) echo "$2 * $side; fc 256 tanh; fc 256 tanh; fc 10" ;;
        cnn) echo "${side}x${side}x1 * $side; conv 6 5x5 pad 2 tanh; pool 2; conv 16 5x5 tanh; pool 2; fc 256 tanh; fc 128 tanh; fc 10" ;;
        cifar) echo "32x32x3 * $side; conv 4 3x3 pad 1 tanh; conv 8 3x3 pad 1 tanh; pool 2; conv 16 3x3 pad 1 tanh; conv 16 3x3 pad 1 tanh; pool 2;" \
            "conv 32 3x3 pad 1 tanh; conv 32 3x3 pad 1 tanh; pool 2; fc 512 tanh; fc 128 tanh; fc 64 tanh; fc 10" ;;
        *) echo "network.sh: unknown network '$1': see the first lines of this file" >&2 && exit 2 ;;
    esac
}

# compare SET EPSILON METHODS SEEDS: adds to the table what it has not
compare() {
    dpline compare --data "$out/$1-train.dp" --test "$out/$1-t10k.dp" --epsilon "$2" --delta 1e-5 --methods "$3" --seeds "$4" -q --table "$results/network.tsv" > "$out/runs.tsv"
}
settings() { # COMMON: with commas between
    local epochs step
    for epochs in "${lengths[@]}"; do
        for step in 5 10 20 40; do printf '%s' ",dp-sgd --epochs $epochs --clip 0.5 --step $step $1"; done
        for step in 5 10 20 40; do printf '%s' ",dp-sgd --epochs $epochs --clip 0.1 --step $((5 * step)) $1"; done
    done
}
# measure NETWORK: a line of the table for each epsilon
measure() {
    local set grid common epsilon best setting
    set=$(set_of "$1")
    prepare "$set"
    common="--network '$(layers "$1" "$(dp-info --get cols "$out/$set-train.dp")")' --batch 3000"
    grid=$(settings "$common")
    for epsilon in "${epsilons[@]}"; do
        compare "$set" "$epsilon" "${grid#,}" 1
        best=$(tail -n +2 "$out/runs.tsv" | sort -t $'\t' -k 7,7gr | head -n 1 | cut -f 1)
        compare "$set" "$epsilon" "$best,blsgd --epochs ${lengths[1]} $search $common" "$seeds"
        curves "$1" "$epsilon" "$best" "$common"
        setting=${best#dp-sgd }
        awk -F '\t' -v network="$1" -v epsilon="$epsilon" -v best="${setting% --network*}" '
            NR == 1 || $5 == 1 { next }
            $1 ~ /^dp-sgd/ { sgd[$5] = $7; next }
            { a += sgd[$5]; b += $7; d = $7 - sgd[$5]; s += d; q += d * d; n++ }
            END { printf "%s\t%s\t%s\t%.4f\t%.4f\t%+.4f\t%.4f\t%d\n", network, epsilon, best, a / n, b / n, s / n, (n > 1) ? sqrt((q - s * s / n) / (n - 1) / n) : 0, n }' "$out/runs.tsv"
    done
}

# on_the_way NETWORK EPSILON SETTING STEP: what DP-SGD and DP-BLSGD, "SETTING", have reached every five gradients, with seed 2
on_the_way() {
    local every=5 set words
    set=$(set_of "$1")
    eval "words=($3)"
    [ "${words[0]}" = dp-sgd ] || every=10 # a search follows each gradient
    rm -f "$out/frames"
    mkfifo "$out/frames"
    dp-cat --kind lap "$out/frames" | sed -n 's/.*"lap":\([0-9]*\),.*"step_size":\([^,]*\).*/\1\t\2/p' > "$out/steps.tsv" &
    "${words[0]}.sh" "${words[@]:1}" --data "$out/$set-train.dp" --epsilon "$2" --delta 1e-5 --seed 2 -q --no-ledger --no-registry |
        tee "$out/frames" | dp-eval --data "$out/$set-t10k.dp" --metrics accuracy,logloss --every $every > "$out/way.tsv"
    wait $!
    awk -F '\t' -v OFS='\t' -v run="$1\t$2\t${words[0]}" -v step="$4" -v laps=$((every / 5)) '
        FILENAME == ARGV[1] { of[$1] = $2; next }
        FNR > 1 { print run, $1 / laps, $2, $3, $4, $1 in of ? of[$1] : step }' "$out/steps.tsv" "$out/way.tsv"
}
# curves NETWORK EPSILON BEST COMMON: a file of both
curves() {
    local file=$results/way-$1-$2.tsv step=${3#* --step }
    [ -s "$file" ] || {
        on_the_way "$1" "$2" "$3" "${step%% *}"
        on_the_way "$1" "$2" "blsgd --epochs ${lengths[1]} $search $4" 0
    } > "$file.part"
    [ -s "$file" ] || mv "$file.part" "$file"
    rm -f "$file.part"
    cat "$file" >> "$out/new-curves.tsv"
}

# lines of other networks stay, if the tables are written
keep() { # NEW OLD
    [ -e "$2" ] || : > "$2"
    awk -F '\t' 'NR == FNR { seen[$1 FS $2]; print; next } !($1 FS $2 in seen)' "$1" "$2" > "$out/kept.tsv"
    cp "$out/kept.tsv" "$2"
}
tsv network epsilon method gradients spent accuracy 'log loss' step > "$out/new-curves.tsv"
{
    tsv network epsilon 'DP-SGD, the best setting' 'DP-SGD, mean' 'DP-BLSGD, mean' difference 'standard error' seeds
    for network in ${NETWORKS:-small}; do measure "$network"; done
} > "$out/new.tsv"
markdown < "$out/new.tsv"
if [ "${1:-}" = --write ]; then
    keep "$out/new.tsv" network.tsv
    keep "$out/new-curves.tsv" network-curves.tsv
    awk -F '\t' -v OFS='\t' 'NR == 1 { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26", t, " "); $7 = "95 % interval" }
        NR > 1 { $7 = sprintf("± %.4f", $7 * ($8 - 1 in t ? t[$8 - 1] : 2)) }
        1' network.tsv > "$out/network.tsv"
    ./figures.sh
    ../common/write-readme.sh "$out"
fi
