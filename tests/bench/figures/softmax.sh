#!/usr/bin/env bash
# Softmax regression, 784 × 10, batches of 256, against two products of such matrices.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
for ((turn = 0; turn < 3; turn++)); do gradient | values; done
wanted "dp-grad to two float32 products" ratio "<= 2"
