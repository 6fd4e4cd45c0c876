#!/usr/bin/env bash
# Fetches the public files of these experiments into ./data (or $DPLINE_DATA), where there is a network.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
uci=https://archive.ics.uci.edu/ml/machine-learning-databases
libsvm=https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets
lecun=https://ossci-datasets.s3.amazonaws.com/mnist

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
# by_hand FILE WHAT: what is not fetched
by_hand() { [ -e "$raw/$1" ] || echo "get-data.sh: $2: $raw/$1" >&2; }

command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
fetch adult/adult.data.gz $uci/adult/adult.data gzip
fetch phishing/phishing.gz $libsvm/binary/phishing gzip
fetch wine/winequality-red.csv $uci/wine-quality/winequality-red.csv
fetch wine/winequality-white.csv $uci/wine-quality/winequality-white.csv
fetch blogfeedback/BlogFeedback.zip $uci/00304/BlogFeedback.zip
fetch bank/bank.zip $uci/00222/bank.zip
unpack bank/bank-full.csv.gz bank/bank.zip bank-full.csv
fetch bike/bike.zip $uci/00275/Bike-Sharing-Dataset.zip
unpack bike/hour.csv.gz bike/bike.zip hour.csv
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do fetch mnist/$file-ubyte.gz $lecun/$file-ubyte.gz; done
[ -e "$clothes/train-images-idx3-ubyte.gz" ] ||
    echo "get-data.sh: Fashion-MNIST is Debian's package dataset-fashion-mnist; DPLINE_FASHION says where it is, else it is looked for in $clothes" >&2
by_hand credit/UCI_Credit_Card.csv.gz "UCI has the clients of credit cards as a workbook (00350); as CSV with one line of names, compressed, it belongs here"
by_hand protein/protein.csv.gz "UCI's physicochemical properties of protein structure (00265), each column less its mean, the one to predict last, compressed"
by_hand cifar10/cifar10-jpeg.zip "CIFAR-10 as JPEG, an archive of train/CLASS/NNNN.jpg and test/CLASS/NNNN.jpg"
