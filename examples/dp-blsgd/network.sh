#!/usr/bin/env bash
# Figure 5 at the size of two cores: on MNIST, a network with one hidden layer by DP-BLSGD, with nothing tuned, and by DP-SGD with the best
# of 16 settings. Results go to build/examples/dp-blsgd/network; an interrupted run continues.
#   network.sh [--write]     --write also puts the table into README.md
# EPSILONS="1 3" names what is run. The setting is chosen with seed 1; the seeds from 2 to SEEDS=6 are compared.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
out=$out/network
mkdir -p "$out"
seeds=${SEEDS:-6}
read -ra epsilons <<< "${EPSILONS:-1 3}"

for part in train t10k; do
    [ -d "$out/$part.dp" ] ||
        dp-import idx -q --no-bias -o "$out/$part.dp" "$raw/mnist/$part-images-idx3-ubyte.gz" "$raw/mnist/$part-labels-idx1-ubyte.gz"
done
common="--network '$(dp-info --get cols "$out/train.dp") * 28; fc 32 tanh; fc 10' --batch 3000"

# compare EPSILON METHODS SEEDS: adds to the table what it has not
compare() {
    dpline compare --data "$out/train.dp" --test "$out/t10k.dp" --epsilon "$1" --delta 1e-5 --methods "$2" --seeds "$3" -q --table "$results/network.tsv" > "$out/runs.tsv"
}
settings() { # with commas between
    for epochs in 2 5; do
        for step in 5 10 20 40; do printf '%s' ",dp-sgd --epochs $epochs --clip 0.5 --step $step $common"; done
        for step in 25 50 100 200; do printf '%s' ",dp-sgd --epochs $epochs --clip 0.1 --step $step $common"; done
    done
}
grid=$(settings)
{
    tsv epsilon 'DP-SGD, the best setting' 'DP-SGD, mean' 'DP-BLSGD, mean' difference 'standard error' seeds
    for epsilon in "${epsilons[@]}"; do
        compare "$epsilon" "${grid#,}" 1
        best=$(tail -n +2 "$out/runs.tsv" | sort -t $'\t' -k 7,7gr | head -n 1 | cut -f 1)
        compare "$epsilon" "$best,blsgd --epochs 5 $common" "$seeds"
        setting=${best#dp-sgd }
        awk -F '\t' -v epsilon="$epsilon" -v best="${setting% --network*}" '
            NR == 1 || $5 == 1 { next }
            $1 ~ /^dp-sgd/ { sgd[$5] = $7; next }
            { a += sgd[$5]; b += $7; d = $7 - sgd[$5]; s += d; q += d * d; n++ }
            END { printf "%s\t%s\t%.4f\t%.4f\t%+.4f\t%.4f\t%d\n", epsilon, best, a / n, b / n, s / n, (n > 1) ? sqrt((q - s * s / n) / (n - 1) / n) : 0, n }' "$out/runs.tsv"
    done
} > "$out/network.tsv"
markdown < "$out/network.tsv"
[ "${1:-}" != --write ] || ../common/write-readme.sh "$out"
