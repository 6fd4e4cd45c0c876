#!/usr/bin/env bash
# Figure 5 at the size of two cores: on MNIST, a network with one hidden layer by DP-BLSGD, with nothing tuned, and by DP-SGD with the best
# of 16 settings. Results go to build/examples/dp-blsgd/network; an interrupted run continues.
#   network.sh [--write]     --write also puts the table into README.md
# EPSILONS="1 3" names what is run. The setting is chosen with seed 1; SEEDS="2 3 4 5 6" are compared.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
out=$out/network
mkdir -p "$out"
read -ra seeds <<< "${SEEDS:-2 3 4 5 6}"
read -ra epsilons <<< "${EPSILONS:-1 3}"

for part in train t10k; do
    [ -d "$out/$part.dp" ] ||
        dp-import idx -q --no-bias -o "$out/$part.dp" "$raw/mnist/$part-images-idx3-ubyte.gz" "$raw/mnist/$part-labels-idx1-ubyte.gz"
done
network="$(dp-info --get cols "$out/train.dp") * 28; fc 32 tanh; fc 10"

# accuracy PIPELINE EPSILON SEED [options]: on the test rows, of the model that it trains
accuracy() {
    local file
    file=$out/$(tr ' ' _ <<< "$*")
    [ -s "$file" ] || {
        "$1.sh" --data "$out/train.dp" --network "$network" --epsilon "$2" --delta 1e-5 --seed "$3" --batch 3000 "${@:4}" \
            --no-ledger --no-registry -q -o "$out/model"
        dp-eval --last --metrics accuracy --data "$out/t10k.dp" --in "$out/model" | tail -n 1 | cut -f 3 > "$file"
    }
    cat "$file"
}
settings() {
    for epochs in 2 5; do
        for step in 5 10 20 40; do echo "--epochs $epochs --clip 0.5 --step $step"; done
        for step in 25 50 100 200; do echo "--epochs $epochs --clip 0.1 --step $step"; done
    done
}

{
    printf 'epsilon\tDP-SGD, the best setting\tDP-SGD, mean\tDP-BLSGD, mean\tdifference\tstandard error\tseeds\n'
    for epsilon in "${epsilons[@]}"; do
        # shellcheck disable=SC2086 # options
        best=$(settings | while read -r setting; do echo "$(accuracy dp-sgd "$epsilon" 1 $setting) $setting"; done | sort -rg | head -n 1)
        best=${best#* }
        # shellcheck disable=SC2086
        for seed in "${seeds[@]}"; do
            echo "$(accuracy dp-sgd "$epsilon" "$seed" $best) $(accuracy blsgd "$epsilon" "$seed" --epochs 5)"
        done | awk -v epsilon="$epsilon" -v best="$best" '{ a += $1; b += $2; d = $2 - $1; s += d; q += d * d }
            END { printf "%s\t%s\t%.4f\t%.4f\t%+.4f\t%.4f\t%d\n", epsilon, best, a / NR, b / NR, s / NR,
                (NR > 1) ? sqrt((q - s * s / NR) / (NR - 1) / NR) : 0, NR }'
    done
} > "$out/network.tsv"
awk -F '\t' '{ printf "|"; for (i = 1; i <= NF; i++) printf " %s |", $i; print "" }
    NR == 1 { printf "|"; for (i = 1; i <= NF; i++) printf " --- |"; print "" }' "$out/network.tsv" | tee "$out/network.md"
[ "${1:-}" != --write ] || sed -i -e "/^<!-- network -->/,/^<!-- end -->/{/^<!--/!d}" -e "/^<!-- network -->/r $out/network.md" README.md
