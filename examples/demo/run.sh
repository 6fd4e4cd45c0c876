#!/bin/bash -p
# The demo: 60,000 images of clothes, ten classes, linear models at delta = 1e-5: dpline fit on features of the images and on pixels,
# DP-SGD on pixels with the setting that was best of 24 (examples/no-tuning), and features without privacy. Writes to build/demo; ends
# with a table and a picture. Takes about six minutes of processor time: one run of each slow method, whose seeds differ by a few
# thousandths, and three of DP-SGD. Runs that are in the table are not made again. SEEDS and EPSILONS=0.3,1,3 say what is run.
set -euo pipefail
export LC_ALL=C
unset POSIXLY_CORRECT
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build}")
export PATH="$build/bin:$PWD/pipelines:$PATH"
pictures=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}
out=$build/demo

[ -e "$pictures/train-images-idx3-ubyte.gz" ] || {
    echo "demo: no Fashion-MNIST in $pictures (Debian package dataset-fashion-mnist)" >&2
    exit 1
}
mkdir -p "$out"
echo "== importing Fashion-MNIST, as features and as pixels"
for part in train t10k; do
    mkdir -p "$out/$part"
    files=("$pictures/$part-images-idx3-ubyte.gz" "$pictures/$part-labels-idx1-ubyte.gz")
    dp-import idx --force -q --features hog -o "$out/$part/features.dp" "${files[@]}"
    dp-import idx --force -q --row-norm unit --no-bias -o "$out/$part/pixels.dp" "${files[@]}"
done

# compare ROWS METHODS SEEDS [options]: adds to the table and to the picture
compare() {
    dpline compare --data "$out/train/$1.dp" --test "$out/t10k/$1.dp" --methods "$2" --epsilon "${EPSILONS:-0.3,1,3}" --delta 1e-5 \
        --seeds "${SEEDS:-$3}" --table "$out/demo.tsv" --plot "$out/demo.svg" "${@:4}" > "$out/added.tsv"
}
compare features fit 1
compare pixels fit 1
compare pixels 'dp-sgd --batch 500 --clip 0.5 --step 32' 3
compare features 'erm --tolerance 1e-3' 1 --seeds 1

if command -v rsvg-convert > /dev/null; then
    rsvg-convert --zoom 2 -o "$out/demo.png" "$out/demo.svg"
fi
echo "== picture: $out/demo.svg"
echo
awk -f examples/common/medians.awk "$out/demo.tsv" | awk -F '\t' '
    BEGIN { printf "%-48s %8s %9s\n", "Fashion-MNIST, 10,000 test images", "epsilon", "accuracy" }
    { printf "%-48s %8s %9s  (%s to %s)\n", $1 ", " $2, $3, $4, $5, $6 }'
