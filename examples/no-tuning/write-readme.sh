#!/usr/bin/env bash
# Puts the tables of measured.tsv and curves.tsv into README.md, between their markers.
set -euo pipefail
cd "$(dirname "$0")"
grep -o '<!-- table [a-z]* -->' README.md | while read -r _ _ kind _; do
    lines=$(awk -v kind="$kind" -f table.awk "$([ "$kind" = curves ] && echo curves.tsv || echo measured.tsv)")
    export lines
    awk -v marker="<!-- table $kind -->" '$0 == marker { print; print ENVIRON["lines"]; skip = 1; next }
        $0 == "<!-- end -->" { skip = 0 }
        !skip' README.md > README.part
    cat README.part > README.md
    rm README.part
done
