#!/bin/bash -p
# dpline fit on features of images and on pixels, and a small network on pixels. Writes to build/examples/images: a line of measured.tsv for each run, and a table.
#   run.sh [--write]     --write also replaces measured.tsv, the picture and the table of README.md in this directory
# SETS="fashion mnist cifar10", ROWS="features network pixels" and EPSILONS="0.5 1 3" name what is run, SEEDS=5 how many seeds of the noise.
# Fashion-MNIST is looked for in DPLINE_FASHION (the Debian package dataset-fashion-mnist), MNIST in DPLINE_DATA/mnist,
# and CIFAR-10 in DPLINE_DATA/cifar10, as a zip archive of JPEG files; its network is run only if ROWS names it (25 minutes of one core).
set -euo pipefail
cd "$(dirname "$0")"
. ../common/common.sh
read -ra sets <<< "${SETS:-fashion mnist cifar10}"
read -ra epsilons <<< "${EPSILONS:-0.5 1 3}"

folder() { if [ "$1" = fashion ]; then echo "$clothes"; else echo "$raw/$1"; fi; }

# there SET: whether it is here
there() { [ -e "$(folder "$1")/train-images-idx3-ubyte.gz" ] || [ -e "$(folder "$1")/cifar10-jpeg.zip" ]; }

# import SET ROWS: train/SET-ROWS.dp and test/SET-ROWS.dp, of features or pixels; of pictures in colour, scattering
import() {
    local part files options=() folder
    folder=$(folder "$1")
    for part in train test; do
        files=("$folder/${part/test/t10k}-images-idx3-ubyte.gz" "$folder/${part/test/t10k}-labels-idx1-ubyte.gz")
        [ "$1" != cifar10 ] || files=("$folder/cifar10-jpeg.zip/$part")
        case $1-$2 in
            cifar10-features) options=(--features scatter) ;;
            *-features) options=(--features hog) ;;
            *-network) options=(--no-bias) ;;
        esac
        mkdir -p "$out/$part"
        dp-import "$(if [ "$1" = cifar10 ]; then echo images; else echo idx; fi)" -q -f "${options[@]}" --population "$1-$part" \
            -o "$out/$part/$1-$2.dp" "${files[@]}"
    done
}

# network SET EPSILON: dp-sgd with a CNN of 26,010 parameters, for pictures in colour of 113,738. The inputs of mnist are in [0, 1],
# those of the others have mean 0 and variance 1 or so; these numbers and the step sizes were chosen by hand.
network() {
    local side inputs step
    if [ "$1" = cifar10 ]; then
        echo "dp-sgd --network '32x32x3 * 221.7 - 1.9; conv 32 3x3 pad 1 tanh; pool 2; conv 64 3x3 pad 1 tanh; pool 2;" \
            "conv 128 3x3 pad 1 tanh; pool 2; fc 10' --batch 2048 --epochs 20 --clip 0.1 --lambda 0 --schedule linear-decay --step 40 --flip"
        return
    fi
    side=$(dp-info --get cols "$out/train/$1-network.dp" | awk '{ print sqrt($1) }')
    case $1:$2 in
        fashion:0.5) step=25 ;;
        fashion:1) step=40 ;;
        fashion:*) step=60 ;;
        mnist:0.5) step=15 ;;
        mnist:1) step=20 ;;
        mnist:*) step=40 ;;
    esac
    inputs="* $side"
    [ "$1" = mnist ] || inputs="* $(awk "BEGIN { print $side / 0.353 }") - 0.81"
    echo "dp-sgd --network '${side}x${side}x1 $inputs; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; fc 32 tanh; fc 10'" \
        "--batch 2048 --epochs 40 --clip 0.1 --lambda 0 --schedule linear-decay --step $step"
}

# measure SET ROWS: a line for each epsilon and seed; of features several seeds, of the others one shows it
measure() {
    local epsilon method=fit
    for epsilon in "${epsilons[@]}"; do
        [ "$2" != network ] || method=$(network "$1" "$epsilon")
        dpline compare --data "$out/train/$1-$2.dp" --test "$out/test/$1-$2.dp" --methods "$method" --epsilon "$epsilon" --delta 1e-5 \
            --seeds "$(if [ "$2" = features ]; then echo "${SEEDS:-5}"; else echo 1; fi)" --metric accuracy,logloss --table "$out/measured.tsv"
    done
}

for set in "${sets[@]}"; do
    there "$set" || {
        say "$set is not in $(folder "$set")"
        continue
    }
    for rows in ${ROWS:-features network pixels}; do
        [ "$set-$rows" != cifar10-network ] || [ -n "${ROWS:-}" ] || continue
        import "$set" "$rows"
        measure "$set" "$rows"
        rm -rf "$out"/{train,test}/"$set-$rows.dp"
    done
done

awk -f ../common/medians.awk "$out/measured.tsv" | sort -t $'\t' -k 2,2 -k 3,3g | awk -F '\t' '
    !($2 in rows) { rows[$2]; order[++several] = $2 }
    !($3 in at) { at[$3]; epsilon[++count] = $3 }
    { value[$2, $3] = substr($4, 2) }
    END {
        for (e = 1; e <= count; e++) head = head FS epsilon[e]
        print "epsilon" head
        for (r = 1; r <= several; r++) {
            text = order[r]
            sub("-", ", ", text)
            for (e = 1; e <= count; e++) text = text FS value[order[r], epsilon[e]]
            print text
        }
    }' > "$out/accuracy.tsv"
markdown < "$out/accuracy.tsv"
if [ "${1:-}" = --write ]; then
    cp "$out/measured.tsv" measured.tsv
    sed 's/^dp-sgd [^\t]*/dp-sgd/' measured.tsv | awk -F '\t' -f "$top/pipelines/plot.awk" > accuracy.svg
    ../common/write-readme.sh "$out"
fi
