#!/usr/bin/env bash
# A lap of one machine, and of workers, over each of the ways between them. The program takes turns by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
shards | values
for way in "ipc" "tcp, plain" "tcp, CURVE"; do
    wanted "4000 × 10, $way, 4 workers" "µs beyond one machine" "<= 300"
    wanted "347786 × 90, $way, 2 workers" "times the laps of one" ">= 1.6"
done
