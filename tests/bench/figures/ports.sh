#!/usr/bin/env bash
# Frames of 1 MB over sockets, through a port and without one.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
ports | values
