#!/usr/bin/env bash
# The demo: 60,000 pictures of clothes, ten classes, linear models at epsilon = 1 and delta = 1e-5: dpline fit on features of the
# pictures, DP-SCD on their pixels, and pixels without privacy. Writes everything to build/demo; ends with a table and a picture.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}")
export PATH="$build/bin:$PWD/pipelines:$PATH"
pictures=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}
out=$build/demo
export DPLINE_REGISTRY=$out/registry # never that of the user
epsilon=1 delta=1e-5

[ -e "$pictures/train-images-idx3-ubyte.gz" ] || {
    echo "demo: no Fashion-MNIST in $pictures (Debian package dataset-fashion-mnist)" >&2
    exit 1
}
mkdir -p "$out"
echo "== importing Fashion-MNIST, as pixels and as features"
for part in train t10k; do
    files=("$pictures/$part-images-idx3-ubyte.gz" "$pictures/$part-labels-idx1-ubyte.gz")
    dp-import idx --force --row-norm unit --no-bias -o "$out/$part.dp" "${files[@]}"
    dp-import idx --force -q --features hog -o "$out/$part-features.dp" "${files[@]}"
done

echo "== training privately on features, with nothing to tune: dpline fit, epsilon = $epsilon, delta = $delta"
# dpline fit runs the pipeline that dp-fit prints. Here its stream of models goes to the evaluation, too.
bash -c "$(dp-fit "$out/train-features.dp" --epsilon $epsilon --delta $delta -q)" |
    tee >(dp-cat --last --frames -o "$out/model-fit" -) |
    dp-eval --data "$out/t10k-features.dp" --metrics accuracy --every 4 > "$out/fit.tsv"

echo "== training privately on pixels: DP-SCD, hinge, one-vs-rest, epsilon = $epsilon, delta = $delta"
# The last model also goes to a file.
scd.sh --data "$out/train.dp" --loss hinge --lambda 1e-5 --epsilon $epsilon --delta $delta \
    --epochs 10 --batch 300 --clip 0.01 --sigma-prime-scale 0.3 |
    tee >(dp-cat --last --frames -o "$out/model" -) |
    dp-eval --data "$out/t10k.dp" --metrics accuracy --every 50 > "$out/laps.tsv"

echo "== the same without privacy, for comparison"
scd-nonprivate.sh --data "$out/train.dp" --loss hinge --lambda 1e-5 --epochs 5 -o "$out/model-nonprivate" -q
dp-eval --data "$out/t10k.dp" --metrics accuracy --last --in "$out/model-nonprivate" > "$out/nonprivate.tsv"

# last FILE COLUMN
last() { tail -n 1 "$1" | cut -f "$2"; }

if command -v gnuplot > /dev/null; then
    gnuplot -e "fit='$out/fit.tsv'; scd='$out/laps.tsv'; without=$(last "$out/nonprivate.tsv" 3); picture='$out/demo.png'" \
        examples/demo/plot.gp
    echo "== picture: $out/demo.png"
fi

echo
row() { printf '%-28s %10.4f %10s\n' "$@"; }
printf '%-28s %10s %10s\n' 'Fashion-MNIST, 10,000 test' accuracy epsilon
row 'dpline fit on features' "$(last "$out/fit.tsv" 3)" "$(printf %.4f "$(last "$out/fit.tsv" 2)")"
row 'DP-SCD on pixels' "$(last "$out/laps.tsv" 3)" "$(printf %.4f "$(last "$out/laps.tsv" 2)")"
row 'pixels without privacy' "$(last "$out/nonprivate.tsv" 3)" infinite
