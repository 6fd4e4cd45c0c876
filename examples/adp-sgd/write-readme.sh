#!/usr/bin/env bash
# Puts the tables that run.sh has measured into README.md, between their markers, and the figures next to it.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
for table in "$out"/*.tsv; do
    name=$(basename "$table" .tsv)
    grep -q "<!-- table $name -->" README.md || continue
    awk -F '\t' 'NR == 1 { n = NF } { printf "|"; for (i = 1; i <= n; i++) printf " %s |", $i; print "" }
        NR == 1 { printf "|"; for (i = 1; i <= n; i++) printf " --- |"; print "" }' "$table" > "$out/$name.md"
    sed -i -e "/<!-- table $name -->/,/<!-- end -->/ {
        /<!-- table $name -->/ {
            r $out/$name.md
            b
        }
        /<!-- end -->/ b
        d
    }" README.md
done
for picture in "$out"/*.png; do [ ! -e "$picture" ] || cp "$picture" .; done
