#!/bin/bash -p
# Fetches UCI Adult into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ../common/fetch.sh
for part in data test; do fetch adult/adult.$part.gz $uci/adult/adult.$part gzip; done
