#!/usr/bin/env bash
# Fetches UCI Adult into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
mkdir -p "$raw/adult"
for part in data test; do
    file=$raw/adult/adult.$part.gz
    [ -e "$file" ] || { curl -fsSL --retry 2 --max-time 600 "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.$part" |
        gzip > "$file.part" && mv "$file.part" "$file"; }
done
