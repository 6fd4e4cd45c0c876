#!/usr/bin/env bash
# Masks of a site.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
for ((turn = 0; turn < 3; turn++)); do masks | values; done
wanted "16 sites, 82 numbers: a lap" µs "<= 15"
