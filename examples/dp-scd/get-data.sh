#!/usr/bin/env bash
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
uci=https://archive.ics.uci.edu/ml/machine-learning-databases
libsvm=https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets

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
command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch adult/adult.test.gz $uci/adult/adult.test gzip
fetch phishing/phishing.gz $libsvm/binary/phishing gzip
fetch blogfeedback/BlogFeedback.zip $uci/00304/BlogFeedback.zip
fetch year/YearPredictionMSD.zip $uci/00203/YearPredictionMSD.txt.zip
[ -e "$raw/year/YearPredictionMSD.txt" ] || unzip -p "$raw/year/YearPredictionMSD.zip" > "$raw/year/YearPredictionMSD.txt"
