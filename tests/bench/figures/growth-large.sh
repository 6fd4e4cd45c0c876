#!/usr/bin/env bash
# 1e8 rows of 20 columns, 8 GB: laps of batch 100, and an epoch of batch 1e5. The rows are made for it and taken away afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
n=${ROWS:-100000000} cols=20 with_memory=1 turns=${TURNS:-3}
d=$out/n$n.dp
free=$(df --output=avail -B 1000000000 "$out" | tail -n 1)
if [ ! -d "$d" ] && [ "$free" -lt 12 ]; then
    skip "N = $n" "$free GB are free in $out; 12 are needed"
    exit 0
fi
trap 'rm -rf "$d"' EXIT # whatever happens: 8 GB
read -r took memory _ <<< "$(timed dp-synth classification --rows "$n" --cols $cols --seed 2 -q -f -o "$d")"
value "dp-synth" s "$took"
value "dp-synth" "MB private" "$memory"
cat "$d"/*.npy > /dev/null # from the disk into memory
# So many laps that most pages have been met, whose first use the kernel answers one by one, before a fifth of them is over.
line "N = $n" "$(scd "$d" 100 "$n")" '' 300000
line "347786 rows, 90 columns" "$(scd "$(large)" 100 $large_rows)"
once() { value "N = $n" "s in all" "$(seconds bash -c "$(scd "$d" 100 "$n" | sed 's/@L/1/')")"; }
take_turns once
ratio "N = $n to 347786 rows" "µs a lap" "N = $n" "347786 rows, 90 columns" "<= 1.5"
# An epoch: n / 100,000 laps. Alpha is 8 bytes for each row.
epoch=$(scd "$d" 100000 "$n" "$(nproc)")
for ((turn = 0; turn < turns; turn++)); do
    floor "$d/X.npy" $cols 100000 | values
    read -r took memory _ <<< "$(timed bash -c "exec ${epoch//@L/$((n / 100000))}")"
    value "an epoch, batch 100000" s "$took"
    value "an epoch, batch 100000" "M rows/s" "$(calculate "$n / 1e6 / $took")"
    value "an epoch, batch 100000" "MB private" "$memory"
    value "an epoch, beyond alpha" "MB private" "$(calculate "$memory - 8 * $n / 1e6")"
done
wanted "an epoch, beyond alpha" "MB private" "<= 200"
ratio "an epoch, of what memory gives one thread" "M rows/s" "an epoch, batch 100000" "rows of batches of 100000"
