#!/bin/bash -p
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ../common/fetch.sh
libsvm=https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets
fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch adult/adult.test.gz $uci/adult/adult.test gzip
fetch phishing/phishing.gz $libsvm/binary/phishing gzip
fetch blogfeedback/BlogFeedback.zip $uci/00304/BlogFeedback.zip
fetch year/YearPredictionMSD.zip $uci/00203/YearPredictionMSD.txt.zip
[ -e "$raw/year/YearPredictionMSD.txt" ] || unzip -p "$raw/year/YearPredictionMSD.zip" > "$raw/year/YearPredictionMSD.txt"
