#!/bin/bash -p
# Draws the picture of measured.tsv, here: accuracy of each site alone and together.
set -euo pipefail
cd "$(dirname "$0")"
command -v gnuplot > /dev/null || exit 0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
awk -v kind=picture -f table.awk measured.tsv > "$scratch/all"
[ -s "$scratch/all" ] || exit 0

# lines FILE: the lines of a panel; with NaN for a file, those of the key
lines() {
    local column style title plots=''
    while IFS='|' read -r column style title; do
        if [ "$1" = NaN ]; then plots+="${plots:+, }NaN with $style title '$title'"; else plots+="${plots:+, }'$1' using 2:$column with $style notitle"; fi
    done << 'END'
3|linespoints linewidth 2 pointtype 7 linecolor rgb '#b3541e'|alone
4|linespoints linewidth 2 pointtype 9 linecolor rgb '#1b5e9b'|together, trusted gate
6|linespoints linewidth 2 pointtype 8 linecolor rgb '#7fb2dd'|together, shares, one colluding
8|lines linewidth 1.5 dashtype 2 linecolor rgb '#888888'|together, without privacy
END
    echo "plot $plots"
}
panels=''
for site in private government self-employed; do
    awk -F '\t' -v site=$site '$1 == site' "$scratch/all" > "$scratch/$site"
    rows=$(awk -F '\t' -v site=$site '$1 == "rows" && $2 == site { print $3 }' measured.tsv)
    panels+="set title '$site, $rows rows'
$(lines "$scratch/$site")
unset ylabel
"
done
gnuplot << END
set terminal pngcairo size 1000,440 font "DejaVu Sans,10"
set output "sites.png"
set multiplot layout 1,3 margins 0.065,0.985,0.12,0.79 spacing 0.055,0 title "Accuracy on a site's own test rows: its rows alone, and with the others"
set datafile separator "\t"
set logscale x
set xtics (0.1, 0.3, 1, 3)
set xrange [0.08:3.7]
set offsets 0, 0, graph 0.06, graph 0.04
set xlabel "epsilon"
set ylabel "accuracy"
set format y "%.2f"
set ytics 0.01
set grid linecolor rgb "#dddddd"
unset key
$panels
unset logscale
unset title
unset tics
unset grid
unset border
unset xlabel
set offsets 0, 0, 0, 0
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0.885
set tmargin at screen 0.94
set key center center horizontal Left reverse samplen 2 width -2
set xrange [0:1]
set yrange [0:1]
$(lines NaN)
END
