#!/usr/bin/env bash
# `dpline fit` on a table of ROWS rows and 10 columns, and each of its commands that takes a while: seconds of the clock and of processors.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
rows=${ROWS:-3000000} turns=${TURNS:-3}
work=$(mktemp -d "$out/fit-large.XXXXXX")
trap 'rm -rf "$work"' EXIT
dp-synth patients --rows "$rows" -q -o "$work/table.csv"

mkdir "$work/bin"
# Programs of the same names, which append what the real ones took to $work/took.
for program in dpline dp-import dp-loop; do
    cat > "$work/bin/$program" << END
#!/bin/bash
name=$program
[[ "\$*" != *--infer-schema* ]] || name+=', the schema'
TIMEFORMAT="\$name	%R %U %S"
{ time $(command -v $program) "\$@" 2>&3; } 3>&2 2>> '$work/took'
END
    chmod +x "$work/bin/$program"
done
for ((turn = 0; turn < turns; turn++)); do
    : > "$work/took"
    (
        cd "$work"
        PATH=$work/bin:$PATH dpline fit table.csv --label readmitted --row-is-person --no-registry -q -o model 2> log
    ) || { cat "$work/log" >&2 && exit 1; }
    awk -F '\t' '{ split($2, s, " "); printf "%s\ts\t%s\n%s\tCPU s\t%s\n", $1, s[1], $1, s[2] + s[3] }' "$work/took" | values
    rm -rf "$work"/table.dp "$work"/table-test.dp "$work"/table.json* "$work"/model*
done
wanted dpline s "<= 15"
wanted dpline "CPU s" "<= 25"
