#!/usr/bin/env bash
# Puts the table of measured.tsv into README.md, between its markers.
set -euo pipefail
cd "$(dirname "$0")"
lines=$(awk -f table.awk measured.tsv)
export lines
awk '$0 == "<!-- table -->" { print; print ENVIRON["lines"]; skip = 1; next }
    $0 == "<!-- end -->" { skip = 0 }
    !skip' README.md > README.part
cat README.part > README.md
rm README.part
