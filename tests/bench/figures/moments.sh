#!/usr/bin/env bash
# Second moments of wide rows by one core, and ssyrk.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
for ((turn = 0; turn < 3; turn++)); do moments 20000 2592 | values; done
if grep -q '^ssyrk' "$raw"; then
    ratio 'exact to ssyrk' 'CPU s' exact 'ssyrk of OpenBLAS' '<= 2.5'
else
    skip 'ssyrk of OpenBLAS' 'libopenblas0 is not installed'
fi
