#!/bin/bash -p
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ../common/fetch.sh
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
