#!/usr/bin/env bash
# Puts the tables of measured.tsv into README.md, between their markers, which are the kind of the table and perhaps mu.
set -euo pipefail
cd "$(dirname "$0")"
grep -o '<!-- table [a-z]* *[0-9.]* -->' README.md | while read -r _ _ kind mu _; do
    [ "$mu" != '-->' ] || mu=
    lines=$(awk -F '\t' -v kind="$kind" -v mu="$mu" -f table.awk measured.tsv)
    export lines
    awk -v marker="<!-- table $kind${mu:+ $mu} -->" '$0 == marker { print; print ENVIRON["lines"]; skip = 1; next }
        $0 == "<!-- end -->" { skip = 0 }
        !skip' README.md > README.part
    cat README.part > README.md
    rm README.part
done
