#!/usr/bin/env bash
# Figure 5: networks by DP-BLSGD, with nothing tuned, and by DP-SGD with the best of 16 settings. Results go to
# build/examples/dp-blsgd/network; an interrupted run continues.
#   network.sh [--write]     --write also puts what was measured into network.tsv and README.md
# NETWORKS="small" names what is run: small (one hidden layer of 32, minutes on two cores), and at the paper's sizes, which take hours,
# mlp-1000 (MNIST), mlp-256 (Fashion-MNIST), cnn (MNIST); cifar is the paper's network with an eighth of its channels.
# EPSILONS="1 3" names what is run. The setting is chosen with seed 1; the seeds from 2 to SEEDS=6 are compared. QUICK=1 tries 4 of the
# 16 settings, those of 2 epochs, and gives DP-BLSGD 2 epochs, too.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
out=$out/network
mkdir -p "$out"
seeds=${SEEDS:-6}
read -ra epsilons <<< "${EPSILONS:-1 3}"

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
    local epochs step every='2 5' steps='5 10 20 40'
    [ -z "${QUICK:-}" ] || every=2 steps='10 20'
    for epochs in $every; do
        for step in $steps; do printf '%s' ",dp-sgd --epochs $epochs --clip 0.5 --step $step $1"; done
        for step in $steps; do printf '%s' ",dp-sgd --epochs $epochs --clip 0.1 --step $((5 * step)) $1"; done
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
        compare "$set" "$epsilon" "$best,blsgd --epochs $(if [ -n "${QUICK:-}" ]; then echo 2; else echo 5; fi) $common" "$seeds"
        setting=${best#dp-sgd }
        awk -F '\t' -v network="$1" -v epsilon="$epsilon" -v best="${setting% --network*}" '
            NR == 1 || $5 == 1 { next }
            $1 ~ /^dp-sgd/ { sgd[$5] = $7; next }
            { a += sgd[$5]; b += $7; d = $7 - sgd[$5]; s += d; q += d * d; n++ }
            END { printf "%s\t%s\t%s\t%.4f\t%.4f\t%+.4f\t%.4f\t%d\n", network, epsilon, best, a / n, b / n, s / n, (n > 1) ? sqrt((q - s * s / n) / (n - 1) / n) : 0, n }' "$out/runs.tsv"
    done
}

# lines of other networks stay, if the table is written
{
    tsv network epsilon 'DP-SGD, the best setting' 'DP-SGD, mean' 'DP-BLSGD, mean' difference 'standard error' seeds
    for network in ${NETWORKS:-small}; do measure "$network"; done
} > "$out/new.tsv"
markdown < "$out/new.tsv"
if [ "${1:-}" = --write ]; then
    awk -F '\t' 'NR == FNR { seen[$1 FS $2]; print; next } !($1 FS $2 in seen)' "$out/new.tsv" network.tsv > "$out/network.tsv"
    cp "$out/network.tsv" network.tsv
    ../common/write-readme.sh "$out"
fi
