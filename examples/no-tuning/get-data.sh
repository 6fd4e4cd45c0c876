#!/bin/bash -p
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ../common/fetch.sh
libsvm=https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets
# by_hand FILE WHAT: what is not fetched
by_hand() { [ -e "$raw/$1" ] || echo "get-data.sh: $2: $raw/$1" >&2; }

fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch phishing/phishing.gz $libsvm/binary/phishing gzip
fetch wine/winequality-red.csv $uci/wine-quality/winequality-red.csv
fetch wine/winequality-white.csv $uci/wine-quality/winequality-white.csv
fetch blogfeedback/BlogFeedback.zip $uci/00304/BlogFeedback.zip
fetch bank/bank.zip $uci/00222/bank.zip
unpack bank/bank-full.csv.gz bank/bank.zip bank-full.csv
fetch bike/bike.zip $uci/00275/Bike-Sharing-Dataset.zip
unpack bike/hour.csv.gz bike/bike.zip hour.csv
fetch_mnist
[ -e "$clothes/train-images-idx3-ubyte.gz" ] ||
    echo "get-data.sh: Fashion-MNIST is Debian's package dataset-fashion-mnist; DPLINE_FASHION says where it is, else it is looked for in $clothes" >&2
by_hand credit/UCI_Credit_Card.csv.gz "UCI has the clients of credit cards as a workbook (00350); as CSV with one line of names, compressed, it belongs here"
by_hand protein/protein.csv.gz "UCI's physicochemical properties of protein structure (00265), each column less its mean, the one to predict last, compressed"
by_hand cifar10/cifar10-jpeg.zip "CIFAR-10 as JPEG, an archive of train/CLASS/NNNN.jpg and test/CLASS/NNNN.jpg"
