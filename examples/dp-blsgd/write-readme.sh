#!/usr/bin/env bash
# Puts the tables of measured.tsv into README.md, between their markers.
set -euo pipefail
cd "$(dirname "$0")"
grep -o '<!-- table [a-z]* [A-Z]* [a-z]* -->\|<!-- table [a-z]* -->' README.md | while read -r _ _ words; do
    words=${words% -->}
    read -r kind set what <<< "$words"
    lines=$(awk -F '\t' -v kind="$kind" -v set="$set" -v what="$what" -f table.awk measured.tsv)
    export lines
    awk -v marker="<!-- table $words -->" '$0 == marker { print; print ENVIRON["lines"]; skip = 1; next }
        $0 == "<!-- end -->" { skip = 0 }
        !skip' README.md > README.part
    cat README.part > README.md
    rm README.part
done
