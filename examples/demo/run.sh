#!/usr/bin/env bash
# The demo: 60,000 pictures of clothes, ten classes, a linear model trained one-vs-rest at epsilon = 1 and delta = 1e-5.
# Writes everything to build/demo; ends with a table and a picture.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}")
export PATH="$build/bin:$PWD/pipelines:$PATH"
pictures=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}
out=$build/demo
export DPLINE_REGISTRY=$out/registry # never the registry of the user
epsilon=1 delta=1e-5

[ -e "$pictures/train-images-idx3-ubyte.gz" ] || {
    echo "demo: no Fashion-MNIST in $pictures (Debian package dataset-fashion-mnist)" >&2
    exit 1
}
mkdir -p "$out"
echo "== importing Fashion-MNIST"
for part in train t10k; do
    dp-import idx --force --row-norm unit --no-bias -o "$out/$part.dp" \
        "$pictures/$part-images-idx3-ubyte.gz" "$pictures/$part-labels-idx1-ubyte.gz"
done

echo "== training privately: hinge, ten classes one-vs-rest, epsilon = $epsilon, delta = $delta"
# The stream of models goes to the evaluation and, its last frame, to a file.
scd.sh --data "$out/train.dp" --loss hinge --lambda 1e-5 --epsilon $epsilon --delta $delta \
    --epochs 10 --batch 300 --clip 0.01 --sigma-prime-scale 0.3 |
    tee >(dp-cat --last --frames -o "$out/model" -) |
    dp-eval --data "$out/t10k.dp" --metrics accuracy --every 50 > "$out/laps.tsv"

echo "== the same without privacy, for comparison"
scd-nonprivate.sh --data "$out/train.dp" --loss hinge --lambda 1e-5 --epochs 5 -o "$out/model-nonprivate" -q
dp-eval --data "$out/t10k.dp" --metrics accuracy --last --in "$out/model-nonprivate" > "$out/nonprivate.tsv"

if command -v gnuplot > /dev/null; then
    gnuplot -e "laps='$out/laps.tsv'; picture='$out/demo.png'" examples/demo/plot.gp
    echo "== picture: $out/demo.png"
fi

echo
private=$(tail -n 1 "$out/laps.tsv" | cut -f 3)
spent=$(tail -n 1 "$out/laps.tsv" | cut -f 2)
printf '%-28s %10s %10s\n' 'Fashion-MNIST, 10,000 test' accuracy epsilon
printf '%-28s %10.4f %10.4f\n' 'DP-SCD (hinge)' "$private" "$spent"
printf '%-28s %10.4f %10s\n' 'SCD without privacy' "$(tail -n 1 "$out/nonprivate.tsv" | cut -f 3)" infinite
