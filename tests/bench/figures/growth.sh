#!/usr/bin/env bash
# How time and private memory grow: with rows (N), columns (M), laps (L), classes (K) and threads.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
span=0.3 turns=${TURNS:-3} with_memory=1
# So many laps of the largest that most pages have been met, whose first use the kernel answers one by one.
for n in 10000 100000 1000000 10000000; do line "N = $n" "$(scd "$(synth "n$n" $n 20)" 100 $n)" '' $((n < 10000000 ? 0 : 100000)); done
for m in 10 100 1000 5000; do line "M = $m" "$(scd "$(synth "m$m" 20000 $m)" 100 20000)"; done
for k in 3 10 100; do line "K = $k" "$(sgd "$(synth "k$k" 20000 100 --classes $k)" 256 20000 softmax)"; done
for ((t = 1; t <= $(nproc) && t <= 64; t *= 2)); do line "threads = $t" "$(scd "$(large)" 34779 $large_rows $t)" 34779; done
take_turns :
# Whole runs, with what is done once.
small=$(scd "$(synth n10000 10000 20)" 100 10000)
for ((turn = 0; turn < turns; turn++)); do
    for l in 1 10 100 1000 10000 100000; do
        read -r took memory _ <<< "$(timed bash -c "exec ${small//@L/$l}")"
        value "L = $l" "s in all" "$took"
        value "L = $l" "MB private" "$memory"
    done
    for n in 10000 100000 1000000 10000000; do
        value "N = $n" "s in all" "$(seconds bash -c "$(scd "$out/n$n.dp" 100 $n | sed 's/@L/1/')")"
    done
done
