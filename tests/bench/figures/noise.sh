#!/usr/bin/env bash
# Draws of noise by one core.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
for ((turn = 0; turn < 3; turn++)); do noise | values; done
