#!/bin/bash -p
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network. Anybody who has the IPUMS tables of
# the paper puts them there as dat/NAME.dat: numbers between blanks, a row a line, the label last.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ../common/fetch.sh
fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch adult/adult.test.gz $uci/adult/adult.test gzip
fetch bank/bank.zip $uci/00222/bank.zip cat
unpack bank/bank-full.csv.gz bank/bank.zip bank-full.csv
