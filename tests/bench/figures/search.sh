#!/usr/bin/env bash
# A lap of a line search in which no step will do.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
for ((turn = 0; turn < 3; turn++)); do search | values; done
