#!/usr/bin/env bash
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
uci=https://archive.ics.uci.edu/ml/machine-learning-databases

fetch() { # FILE URL [filter]
    [ ! -e "$raw/$1" ] || return 0
    mkdir -p "$(dirname "$raw/$1")"
    echo "fetching $2" >&2
    if curl -fsSL --retry 2 --max-time 600 "$2" | ${3:-cat} > "$raw/$1.part"; then
        mv "$raw/$1.part" "$raw/$1"
    else
        rm -f "$raw/$1.part"
        echo "get-data.sh: could not fetch $2" >&2
        return 1
    fi
}
# unpack FILE ARCHIVE MEMBER
unpack() {
    [ -e "$raw/$1" ] || {
        unzip -p "$raw/$2" "$3" | gzip > "$raw/$1.part"
        mv "$raw/$1.part" "$raw/$1"
    }
}
command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch wine/winequality-red.csv $uci/wine-quality/winequality-red.csv
fetch wine/winequality-white.csv $uci/wine-quality/winequality-white.csv
fetch bank/bank.zip $uci/00222/bank.zip
unpack bank/bank-full.csv.gz bank/bank.zip bank-full.csv
fetch bike/bike.zip $uci/00275/Bike-Sharing-Dataset.zip
unpack bike/hour.csv.gz bike/bike.zip hour.csv
[ -e "$raw/credit/UCI_Credit_Card.csv.gz" ] ||
    echo "get-data.sh: UCI has the clients of credit cards as a workbook (00350, default of credit card clients.xls): save it as CSV with one line of" \
        "names, gzip it, and put it into $raw/credit/UCI_Credit_Card.csv.gz" >&2
