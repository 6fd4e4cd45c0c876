#!/bin/bash -p
# Fetches MNIST into ./data (or $DPLINE_DATA), where there is a network. Fashion-MNIST is the Debian package dataset-fashion-mnist.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ../common/fetch.sh
fetch_mnist
