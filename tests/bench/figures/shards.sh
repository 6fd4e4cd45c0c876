#!/usr/bin/env bash
# A lap of one machine, and of workers, over each of the ways between them. The program takes turns by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
shards | values
