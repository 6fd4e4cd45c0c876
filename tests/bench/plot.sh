#!/usr/bin/env bash
# Draws growth.png of measured.tsv, here: time and private memory against rows, columns, laps, classes and threads.
set -euo pipefail
cd "$(dirname "$0")"
command -v gnuplot > /dev/null || exit 0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# series LETTER UNIT: "x <tab> median <tab> lower <tab> upper"; the largest N is a figure of its own
series() {
    awk -F '\t' -v letter="$1 = " -v unit="$2" '($1 == "growth" || $1 == "growth-large") && index($2, letter) == 1 && $3 == unit {
        x = substr($2, length(letter) + 1)
        if (x ~ /^[0-9]+$/ && !seen[x]++) print x "\t" $4 "\t" $5 "\t" $6 }' measured.tsv | sort -g > "$scratch/$3"
}
series N "µs a lap" n-time
series N "MB private" n-memory
series M "µs a lap" m-time
series M "MB private" m-memory
series L "s in all" l-time
series L "MB private" l-memory
series K "µs a lap" k-time
series K "MB private" k-memory
series threads "M rows/s" t-rate
series N "s in all" n-once
[ -s "$scratch/n-time" ] || exit 0
style="with yerrorlines linewidth 2 pointtype 7 pointsize 0.8"
panel() { # FILE TITLE LABEL-X LABEL-Y COLOUR
    [ -s "$scratch/$1" ] || return 0
    echo "set title '$2'
set xlabel '$3'
set ylabel '$4'
plot '$scratch/$1' using 1:2:3:4 $style linecolor rgb '$5' notitle"
}
LC_ALL=C.UTF-8 gnuplot << END
set encoding utf8
set terminal pngcairo size 1200,920 font "DejaVu Sans,10"
set output "growth.png"
set multiplot layout 3,3 margins 0.075,0.985,0.06,0.955 spacing 0.075,0.095
set datafile separator "\t"
set logscale xy
set format x "10^{%T}"
set format y "%g"
set yrange [*:*]
set offsets graph 0.05, graph 0.05, 0, 0
set grid linecolor rgb "#bbbbbb"
set yrange [1:*]
$(panel n-time 'DP-SCD, batch 100, 20 columns' 'rows (N)' 'µs a lap' '#1b5e9b')
$(panel m-time 'DP-SCD, batch 100, 20,000 rows' 'columns (M)' 'µs a lap' '#1b5e9b')
set format x "%g"
$(panel k-time 'softmax, batch 256, 100 columns' 'classes (K)' 'µs a lap' '#1b5e9b')
set format x "10^{%T}"
set yrange [0.1:*]
$(panel n-memory 'the same: private memory' 'rows (N)' 'MB' '#b3541e')
$(panel m-memory 'the same: private memory' 'columns (M)' 'MB' '#b3541e')
set format x "%g"
$(panel k-memory 'the same: private memory' 'classes (K)' 'MB' '#b3541e')
set format x "10^{%T}"
set yrange [0.005:*]
$(panel l-time 'whole run: 10,000 rows, batch 100' 'laps (L)' 's in all' '#1b5e9b')
$(panel n-once 'a run of one lap: what happens once' 'rows (N)' 's in all' '#1b5e9b')
unset logscale
set format x "%g"
set xtics 1
set yrange [0:*]
set xrange [0.5:$(awk '{ most = $1 } END { print most + 0.5 }' "$scratch/t-rate")]
$(panel t-rate 'DP-SCD, batch 34,779, 90 columns' 'threads' 'M rows/s' '#1b5e9b')
END
