#!/usr/bin/env bash
# Fetches MNIST into ./data (or $DPLINE_DATA), where there is a network. Fashion-MNIST is the Debian package dataset-fashion-mnist.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
mkdir -p "$raw/mnist"
for part in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    file=$raw/mnist/$part-ubyte.gz
    [ ! -e "$file" ] || continue
    curl -fsSL --retry 2 --max-time 600 -o "$file.part" "https://ossci-datasets.s3.amazonaws.com/mnist/$part-ubyte.gz"
    mv "$file.part" "$file"
done
