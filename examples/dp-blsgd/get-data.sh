#!/usr/bin/env bash
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network. Anybody who has the IPUMS tables of
# the paper puts them there as dat/NAME.dat: numbers between blanks, a row a line, the label last.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
uci=https://archive.ics.uci.edu/ml/machine-learning-databases

fetch() { # FILE URL FILTER…
    [ ! -e "$raw/$1" ] || return 0
    mkdir -p "$(dirname "$raw/$1")"
    echo "fetching $2" >&2
    if curl -fsSL --retry 2 --max-time 600 "$2" | "${@:3}" > "$raw/$1.part"; then
        mv "$raw/$1.part" "$raw/$1"
    else
        rm -f "$raw/$1.part"
        echo "get-data.sh: could not fetch $2" >&2
        return 1
    fi
}
command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch adult/adult.test.gz $uci/adult/adult.test gzip
fetch bank/bank.zip $uci/00222/bank.zip cat
[ -e "$raw/bank/bank-full.csv.gz" ] || {
    unzip -p "$raw/bank/bank.zip" bank-full.csv | gzip > "$raw/bank/part"
    mv "$raw/bank/part" "$raw/bank/bank-full.csv.gz"
}
