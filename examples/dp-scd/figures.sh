#!/usr/bin/env bash
# Draws the figures of what run.sh has measured.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
command -v gnuplot > /dev/null || exit 0

# figure NAME TITLE XLABEL YLABEL COLUMN:TITLE …
figure() {
    local name=$1 title=$2 x=$3 y=$4 plots='' colours=('#888888' '#7fb2dd' '#1b5e9b' '#b3541e' '#3a7d44') i=0 column
    shift 4
    [ -s "$out/$name.tsv" ] || return 0
    for series; do
        column=${series%%:*}
        plots+="${plots:+, }'$out/$name.tsv' using 1:$column skip 1 with linespoints linewidth 2 pointtype 7 linecolor rgb '${colours[i]}' title '${series#*:}'"
        i=$((i + 1))
    done
    gnuplot << EOF
set terminal pngcairo size 640,420 font "DejaVu Sans,11"
set output "$out/$name.png"
set datafile separator "\t"
set title "$title"
set xlabel "$x"
set ylabel "$y"
set logscale x
set grid linecolor rgb "#dddddd"
set key bottom right
set offsets graph 0, 0, graph 0.05, graph 0.05
plot $plots
EOF
}

figure adult 'Adult, hinge (figure 1c)' epsilon 'test accuracy' 2:SCD '3:DP-SCD, one setting' '4:DP-SCD, tuned' '5:as published, tuned' 6:seqDP-SCD
figure phishing 'Phishing, logistic (figure 1b)' epsilon 'test accuracy' 2:SCD '3:DP-SCD, one setting' '4:DP-SCD, tuned' '5:as published, tuned' 6:seqDP-SCD
for set in year protein blogfeedback synth; do
    figure $set "$set, ridge (figure 1a)" epsilon 'test R²' 2:SCD 3:DP-SCD '4:DP-SCD as published'
done
figure batch 'protein, epsilon = 1: the batch size' 'rows per lap' 'test R²' 2:DP-SCD '3:DP-SCD as published' 4:seqDP-SCD
figure variants 'protein: the variants' epsilon 'test R²' 2:DP-SCD 3:seqDP-SCD '4:primal DP-SCD'
