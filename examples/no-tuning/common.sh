# shellcheck shell=bash
# Sourced by the scripts here: the data sets and how they are imported.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export splits=${SPLITS:-10} draws=${DRAWS:-10} tried=${TRIED:-2} finalists=${FINALISTS:-3}
# all_sets PART: the data sets of a part of the table, those first that the rules were found on
all_sets() {
    case $1 in
        classes) echo adult phishing white-6 bank credit ;;
        numbers) echo protein bike white blogfeedback red ;;
        pictures) echo fashion mnist cifar ;;
    esac
}
part_of() {
    local part
    for part in classes numbers pictures; do [[ " $(all_sets $part) " != *" $1 "* ]] || echo $part; done
}
# role SET: what the protocol used it for
role() { case $1 in adult | phishing | white-6 | protein | bike | white | fashion) echo found ;; *) echo tested ;; esac; }
# raw_of SET: the file that it is made of
raw_of() {
    case $1 in
        adult) echo "$raw/adult/adult.data.gz" ;;
        phishing) echo "$raw/phishing/phishing.gz" ;;
        white*) echo "$raw/wine/winequality-white.csv" ;;
        red) echo "$raw/wine/winequality-red.csv" ;;
        bank) echo "$raw/bank/bank-full.csv.gz" ;;
        credit) echo "$raw/credit/UCI_Credit_Card.csv.gz" ;;
        protein) echo "$raw/protein/protein.csv.gz" ;;
        bike) echo "$raw/bike/hour.csv.gz" ;;
        blogfeedback) echo "$raw/blogfeedback/BlogFeedback.zip" ;;
        fashion) echo "$clothes/train-images-idx3-ubyte.gz" ;;
        mnist) echo "$raw/mnist/train-images-idx3-ubyte.gz" ;;
        cifar) echo "$raw/cifar10/cifar10-jpeg.zip" ;;
    esac
}
# sets PART: those whose files are there
sets() {
    local set
    for set in $(all_sets "$1"); do
        [ -e "$(raw_of "$set")" ] && { [ "$set" != cifar ] || command -v djpeg > /dev/null; } && echo "$set"
    done
    true
}

# epsilons SET, delta SET: what is asked for
epsilons() {
    case $1 in
        adult | phishing) echo 0.1 0.5 1 2 ;;
        bank | credit) echo 0.1 1 ;;
        *) echo 1 ;;
    esac
}
delta() { case $1 in adult | phishing) echo 1e-3 ;; *) echo 1e-5 ;; esac; }
# rounds SET: splits, or where the source has test rows of its own, draws of the noise
rounds() { [ "$(part_of "$1")" = pictures ] && echo "$draws" || echo "$splits"; }
# data SET ROUND: the name of its training rows; the test rows have -test behind it
data() { [ "$(part_of "$1")" = pictures ] && echo "$out/$1" || echo "$out/$1-$2"; }

# schema SET: the schema of a table. Numbers without documented bounds are divided by their largest magnitude, which is measured.
schema() {
    case $1 in
        adult) cat "$top/examples/dp-scd/schema-adult.json" ;;
        bank | credit | bike) cat "$top/examples/private-erm/schema-${1^^}.json" ;;
        white | red) grep -v '"colour"' "$top/examples/private-erm/schema-WINE.json" ;;
        white-6) schema white | sed 's/"type": "label".*/"type": "label", "classes": [["0","1","2","3","4","5"], ["6","7","8","9","10"]]}/' ;;
        protein) measured 10 -2 2 ;;
        blogfeedback) measured 281 0 1500 ;;
    esac
}
# measured COLUMNS LOW HIGH: the last column is the label, which is centred
measured() {
    printf '{"columns": [\n'
    seq $(($1 - 1)) | sed 's/.*/ {"name": "x&", "type": "numeric", "scale": "max-abs"},/'
    printf ' {"name": "label", "type": "label", "bounds": [%s, %s], "center": true}\n]}\n' "$2" "$3"
}

# import SET: the data sets of all its rounds, every row of norm 1. Adult, Phishing, protein and BlogFeedback are as in examples/dp-scd.
import() {
    local round to file bias=--bias
    file=$(raw_of "$1")
    case $1 in
        fashion | mnist) pictures "$1" "${file%/*}"/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz ;;
        cifar)
            grey "$file"
            pictures cifar "$out"/cifar-{train,test}-{images,labels}
            ;;
        adult | protein | blogfeedback) bias=--no-bias ;;
    esac
    [ "$(part_of "$1")" != pictures ] || return 0
    schema "$1" > "$out/$1.json"
    for round in $(seq "$splits"); do
        to=$(data "$1" "$round")
        [ ! -d "$to-test.dp" ] || continue
        if [ "$1" = phishing ]; then
            dp-import libsvm --classes 0,1 --cols 68 --scale max-abs --no-bias --row-norm unit -q --split 0.75 --seed "$round" -o "$to.dp" --test "$to-test.dp" "$file"
        else
            table "$file" | dp-import csv --schema "$out/$1.json" $bias --row-norm unit -q --population "$1" --split 0.75 --seed "$round" -o "$to.dp" --test "$to-test.dp" -
        fi
    done
}
table() {
    case $1 in
        *.zip) unzip -p "$1" blogData_train.csv ;;
        *.gz) gzip -dc "$1" ;;
        *) cat "$1" ;;
    esac
}
# pictures SET TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS
pictures() {
    [ -d "$out/$1.dp" ] || dp-import idx -q --row-norm unit --no-bias --population "$1" -o "$out/$1.dp" "$2" "$3"
    [ -d "$out/$1-test.dp" ] || dp-import idx -q --row-norm unit --no-bias --population "$1-test" -o "$out/$1-test.dp" "$4" "$5"
}

# grey ARCHIVE: CIFAR-10 in grey on 16 × 16 pixels, as IDX files. djpeg gives that when it decodes at half the size.
grey() {
    local scratch part classes class number files file
    [ ! -e "$out/cifar-test-images" ] || return 0
    scratch=$(mktemp -d "$out/cifar.XXXXXX")
    unzip -q "$1" -d "$scratch"
    for part in train test; do
        files=$(find "$scratch/$part" -name '*.jpg' | wc -l)
        read -ra classes <<< "$(cd "$scratch/$part" && echo *)"
        { big 2051 && big "$files" && big 16 && big 16; } > "$scratch/images"
        { big 2049 && big "$files"; } > "$scratch/labels"
        for number in "${!classes[@]}"; do
            class=$scratch/$part/${classes[number]}
            find "$class" -name '*.jpg' | sort | while read -r file; do djpeg -grayscale -scale 1/2 "$file" | tail -c 256; done >> "$scratch/images"
            find "$class" -name '*.jpg' -printf . | tr . "\\$(printf %03o "$number")" >> "$scratch/labels"
        done
        mv "$scratch/labels" "$out/cifar-$part-labels"
        mv "$scratch/images" "$out/cifar-$part-images"
    done
    rm -r "$scratch"
}
# big NUMBER: four bytes, the most significant first
big() { printf '%b' "$(printf '%08x' "$1" | sed 's/../\\x&/g')"; }

export -f all_sets part_of delta data
