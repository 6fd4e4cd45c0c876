#!/usr/bin/env bash
# Frames of 1 MB over sockets, through a port and without one.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
ports | values
for way in "ipc" "tcp, plain" "tcp, keys"; do wanted "$way, a port to bare" ratio ">= 0.8"; done
