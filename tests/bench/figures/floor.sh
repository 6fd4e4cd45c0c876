#!/usr/bin/env bash
# What memory and pipes give to somebody who does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
file=$(large)/X.npy
for ((turn = 0; turn < turns; turn++)); do
    floor "$file" $large_cols 100 1000 34779 | values
    hops 6 2000 | values
    hops 6 20000 | values
done
