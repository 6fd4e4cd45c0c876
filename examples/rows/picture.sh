#!/bin/bash -p
# Draws rows.png, here: a made-up table of 6,000 patients next to the synthetic rows that dpline rows makes of it at epsilon 1. Needs gnuplot.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
. ../common/common.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
dp-synth patients --rows 6000 --seed 1 -q -o patients.csv
dpline rows patients.csv --row-is-person --target readmitted --epsilon 1 --no-registry -q -o rows.csv 2> /dev/null

# part FILE: ten years of age, their part of the rows, and the part of these rows that were readmitted; without rows that lack a number
part() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            g = $at["age"]
            label = tolower($NF)
            if (g !~ /^[0-9]+$/ || g + 0 < 20 || g + 0 >= 100 || label !~ /^(yes|no)$/) next
            g = 10 * int(g / 10)
            n++; rows[g]++; again[g] += label == "yes"
        }
        END { for (g in rows) print g, rows[g] / n, again[g] / rows[g] }' "$1" | sort
}
for table in patients rows; do part $table.csv > $table; done
gnuplot << END
set terminal pngcairo size 900,330 font "DejaVu Sans,10"
set output "$here/rows.png"
set multiplot layout 1,2 margins 0.09,0.99,0.15,0.82 spacing 0.1,0.05
set style data histogram
set style histogram clustered gap 1
set style fill solid
set grid ytics linecolor rgb "#dddddd"
set yrange [0:*]
set border 3
set tics nomirror scale 0.5
set key outside top center horizontal
set ylabel "part of the rows"
set xlabel "ten years of age, from"
plot "patients" using 2:xtic(1) linecolor rgb "#5c6878" title "6,000 made-up patients", "rows" using 2 linecolor rgb "#2563a8" title "rows, epsilon 1"
set ylabel "part that was readmitted"
plot "patients" using 3:xtic(1) linecolor rgb "#5c6878" title "6,000 made-up patients", "rows" using 3 linecolor rgb "#2563a8" title "rows, epsilon 1"
END
