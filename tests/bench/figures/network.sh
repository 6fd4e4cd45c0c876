#!/usr/bin/env bash
# A fused lap of DP-SGD on a network: the CNN of 26,010 parameters of the examples, and a layer of a million.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
d=$(synth images 20000 784 --classes 10)
wide=$(synth wide 20000 999)
cnn='28x28x1 * 28; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; fc 32 tanh; fc 10'
network() { # DATA NETWORK LOSS THREADS
    echo "dp-loop -q -x fused --laps @L --seed 1 \"dp-sample --data '$1' --rate 4096/20000 | dp-net-grad --data '$1' --network '$2' --loss $3 --clip 0.1 --threads $4 | dp-noise -z 1 | $gate --step 1\""
}
line "CNN, one thread" "$(network "$d" "$cnn" softmax 1)" 4096 8
line "CNN, two threads" "$(network "$d" "$cnn" softmax 2)" 4096 8
line "a million parameters, two threads" "$(network "$wide" '999; fc 1000 tanh; fc 1' logistic 2)" 4096 4
with_memory=1
examples() { # microseconds an example of the turn that has just been measured
    value "CNN, one thread" "µs an example" "$(awk -F '\t' '$1 == "CNN, one thread" && $2 == "M rows/s" { v = $3 } END { print 1 / v }' "$raw")"
}
take_turns examples
wanted "CNN, one thread" "µs an example" "<= 60"
ratio "CNN, two threads to one" "M rows/s" "CNN, two threads" "CNN, one thread" ">= 1.8"
wanted "a million parameters, two threads" "MB private" "<= 200"
