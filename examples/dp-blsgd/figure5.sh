#!/bin/bash -p
# Figure 5 with the settings of sections 5.4 and 5.7: DP-SGD with eta = .2, DP-Adam with its defaults, DP-BLSGD, and Adam without privacy.
# Results go to build/examples/dp-blsgd/figure5; an interrupted run continues.
#   figure5.sh [--write]     --write also puts what was measured into figure5.tsv and README.md
# q = 1/200, delta = 1e-8, all clips 3, Armijo's constant .001, mu = .001, pixels in [-1, 1]. Of the budget of an iteration, rho, DP-BLSGD's
# Gaussian search takes a tenth, and a search that fails takes its last step. rho is not published: DP-SGD's epsilon after all
# iterations is 3. NETWORKS="small mlp-1000" names what is run (layers: network.sh; no cifar), EPOCHS=5 how long, SEEDS=3 how often.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
out=$out/figure5
mkdir -p "$out"
export out laps=$((200 * ${EPOCHS:-5}))
z=$(multiplier 3 $delta 1/200 "$laps")
export z

# layers NETWORK: of pixels in [-1, 1]
layers() {
    case $1 in
        small) echo "784 * 56 - 1; fc 32 tanh; fc 10" ;;
        mlp-1000) echo "784 * 56 - 1; fc 1000 tanh; fc 10" ;;
        mlp-256) echo "784 * 56 - 1; fc 256 tanh; fc 256 tanh; fc 10" ;;
        cnn | cnn-fashion) echo "28x28x1 * 56 - 1; conv 6 5x5 pad 2 tanh; pool 2; conv 16 5x5 tanh; pool 2; fc 256 tanh; fc 128 tanh; fc 10" ;;
        *) echo "figure5.sh: unknown network '$1'" >&2 && return 2 ;;
    esac
}
# train METHOD NETWORK SEED: the released models
train() {
    local set=mnist account="dp-account --epsilon 1e6 --delta $delta --allow-seeded --no-ledger" network
    network=$(layers "$2")
    [[ $2 != mlp-256 && $2 != cnn-fashion ]] || set=fashion
    local sample="dp-sample --data $out/$set-train.dp --rate 1/200 |"
    local gradient="dp-net-grad --on gradient --data $out/$set-train.dp --network '$network' --loss softmax --lambda 0.001 --clip 3 |"
    case $1 in
        sgd) set -- "$3" "$laps" "$sample $gradient dp-noise --multiplier $z | $account | dp-step --step 0.2" ;;
        adam) set -- "$3" "$laps" "$sample $gradient dp-noise --multiplier $z | $account | dp-step --optimizer adam --step 0.001" ;;
        non-private) set -- "$3" "$laps" "$sample ${gradient/--clip 3/--clip 1000} dp-account --non-private --allow-seeded | dp-step --optimizer adam --step 0.001" ;;
        blsgd)
            set -- "$3" "(gradient, search) $laps" "$sample $gradient dp-noise --on gradient --multiplier $(calculate "$z / sqrt(0.9)") |
                dp-linesearch --on search --data $out/$set-train.dp --noise gaussian --rho $(calculate "0.05 / $z ^ 2") --tries 30 --armijo 0.001 \
                    --beta 0.8 --clip 3 --on-failure last --first-step 20 --follow |
                $account | dp-step --on gradient --hold | dp-step --on search | dp-adapt --first-step 20"
            ;;
    esac
    case $2 in
        *search*) dp-loop --plan "$2" --seed "$1" -q "$3" ;;
        *) dp-loop --laps "$2" --seed "$1" -q "${3//--on gradient/}" ;;
    esac
}
# cell METHOD NETWORK SEED: leaves "iteration epsilon accuracy logloss step" every tenth of the run
cell() {
    local file=$results/figure5-$1-$2-$3-$laps every=$((laps / 10)) set=mnist
    [[ $2 != mlp-256 && $2 != cnn-fashion ]] || set=fashion
    [ ! -s "$file" ] || return 0
    [ "$1" != blsgd ] || every=$((2 * every))
    train "$@" | dp-eval --data "$out/$set-t10k.dp" --metrics accuracy,logloss --every $every > "$file.part"
    mv "$file.part" "$file"
}
export -f layers train cell

for set in mnist fashion; do
    folder=$raw/mnist
    [ $set = mnist ] || folder=$clothes
    for part in train t10k; do
        [ -d "$out/$set-$part.dp" ] || dp-import idx -q --no-bias --population "figure5-$set-$part" -o "$out/$set-$part.dp" "$folder/$part-images-idx3-ubyte.gz" "$folder/$part-labels-idx1-ubyte.gz"
    done
done
for seed in $(seq "${SEEDS:-3}"); do
    for network in ${NETWORKS:-small mlp-1000}; do
        for method in sgd adam blsgd non-private; do echo "cell $method $network $seed"; done
    done
done | run_cells
{
    tsv network iterations method 'accuracy, a fifth of the run' 'log loss' 'accuracy, end' 'log loss' 'epsilon, end' seeds
    for network in ${NETWORKS:-small mlp-1000}; do
        for method in sgd adam blsgd non-private; do
            for file in "$results/figure5-$method-$network"-*-"$laps"; do [ ! -s "$file" ] || sed -n '3p; 11p' "$file"; done |
                awk -F '\t' -v OFS='\t' -v network="$network" -v laps="$laps" -v method="$method" '
                    { a[NR % 2] += $3; l[NR % 2] += $4; if (NR % 2 == 0) { n++; spent = $2 } }
                    END { if (n) print network, laps, method, sprintf("%.4f", a[1] / n), sprintf("%.3f", l[1] / n), sprintf("%.4f", a[0] / n),
                        sprintf("%.3f", l[0] / n), spent == "inf" ? "∞" : sprintf("%.2f", spent), n }'
        done
    done
} > "$out/figure5.tsv"
column -t -s $'\t' "$out/figure5.tsv"
[ "${1:-}" != --write ] || {
    cp "$out/figure5.tsv" figure5.tsv
    ../common/write-readme.sh "$out"
}
