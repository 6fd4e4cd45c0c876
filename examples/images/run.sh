#!/usr/bin/env bash
# dpline fit on features of images and on pixels, and a small network on pixels. Writes to build/examples/images: a line of measured.tsv for each run, and a table.
#   run.sh [--write]     --write also replaces measured.tsv, the picture and the table of README.md in this directory
# SETS="fashion mnist", ROWS="features network pixels" and EPSILONS="0.5 1 3" name what is run, SEEDS=3 how many seeds of the noise.
# Fashion-MNIST is looked for in DPLINE_FASHION (the Debian package dataset-fashion-mnist), MNIST in DPLINE_DATA/mnist.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/examples/images
build=$(realpath "${BUILD:-build}")
export PATH="$build/bin:$PWD/pipelines:$PATH"
out=${OUT:-$build/examples/images}
export DPLINE_REGISTRY=$out/registry # never that of the user
mkdir -p "$out"
read -ra sets <<< "${SETS:-fashion mnist}"
read -ra epsilons <<< "${EPSILONS:-0.5 1 3}"

folder() {
    case $1 in
        fashion) echo "${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}" ;;
        mnist) echo "${DPLINE_DATA:-$PWD/data}/mnist" ;;
    esac
}

# import SET ROWS: SET-train.dp and SET-test.dp of features or pixels
import() {
    local part options=() images
    case $2 in
        features) options=(--features hog) ;;
        network) options=(--no-bias) ;;
    esac
    images=$(folder "$1")
    for part in train t10k; do
        dp-import idx -q -f "${options[@]}" --population "$1-$part" -o "$out/$1-$2-$part.dp" \
            "$images/$part-images-idx3-ubyte.gz" "$images/$part-labels-idx1-ubyte.gz"
    done
}

# cpu COMMAND…: its seconds of processor time
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" > "$out/stdout" 2> "$out/stderr"; } 2>&1 | awk '{ printf "%.1f", $1 + $2 }'
}

# network SET EPSILON: options of dp-sgd for a CNN of 26,010 parameters. The inputs of mnist are in [0, 1], those of fashion have
# mean 0 and variance 1; both numbers and the step sizes were chosen by hand.
network() {
    local side inputs step
    side=$(dp-info --get cols "$out/$1-network-train.dp" | awk '{ print sqrt($1) }')
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
    net=(--network "${side}x${side}x1 $inputs; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; fc 32 tanh; fc 10"
        --batch 2048 --epochs 40 --clip 0.1 --lambda 0 --step "$step" --schedule linear-decay)
}

# measure SET ROWS EPSILON SEED: a line
measure() {
    local seconds data=$out/$1-$2 net train
    rm -f "$data-train.dp/ledger" "$data-train.dp/ledger.mark"
    train=(dpline fit "$data-train.dp")
    [ "$2" != network ] || { network "$1" "$3" && train=(dpline dp-sgd --data "$data-train.dp" "${net[@]}"); }
    seconds=$(cpu "${train[@]}" --epsilon "$3" --delta 1e-5 --seed "$4" --no-registry -q -o "$data.model")
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" \
        "$(dp-eval --data "$data-t10k.dp" --metrics accuracy,logloss --last --in "$data.model" | tail -n 1 | cut -f 3-)" "$seconds"
}

printf 'set\trows\tepsilon\tseed\taccuracy\tlogloss\tcpu_seconds\n' > "$out/measured.tsv"
for set in "${sets[@]}"; do
    [ -e "$(folder "$set")/train-images-idx3-ubyte.gz" ] || {
        echo "run.sh: $set is not in $(folder "$set")" >&2
        continue
    }
    for rows in ${ROWS:-features network pixels}; do
        import "$set" "$rows"
        for seed in $(seq "${SEEDS:-3}"); do
            for epsilon in "${epsilons[@]}"; do measure "$set" "$rows" "$epsilon" "$seed" | tee -a "$out/measured.tsv"; done
            [ "$rows" = features ] || break # one seed shows it
        done
        rm -rf "$out/$set-$rows"-*.dp "$out/$set-$rows.model"
    done
done

# Of each set, rows and epsilon the median accuracy of the seeds.
tail -n +2 "$out/measured.tsv" | sort -t "$(printf '\t')" -k 1,1 -k 2,2 -k 3,3n -k 5,5n |
    awk -F '\t' 'function flush() { if (n) print last, value[int((n + 1) / 2)]; n = 0 }
        { if ($1 " " $2 " " $3 != last) flush(); last = $1 " " $2 " " $3; value[++n] = $5 } END { flush() }' > "$out/medians"
{
    printf '| epsilon |%s\n|---|%s\n' "$(printf ' %s |' "${epsilons[@]}")" "$(printf -- '---|%.0s' "${epsilons[@]}")"
    awk '{ if ($1 " " $2 != last) { printf "%s| %s, %s |", last ? "\n" : "", $1, $2; last = $1 " " $2 }
        text = sprintf("%.4f", $4); sub(/^0/, "", text); printf " %s |", text } END { print "" }' "$out/medians"
} > "$out/table.md"
cat "$out/table.md"
if [ "${1:-}" = --write ]; then
    cp "$out/measured.tsv" "$here/measured.tsv"
    sed -i -e "/^<!-- table -->/,/^<!-- end -->/{/^<!--/!d}" -e "/^<!-- table -->/r $out/table.md" "$here/README.md"
    gnuplot -e "table='$out/medians'; picture='$here/accuracy.png'" "$here/plot.gp"
fi
