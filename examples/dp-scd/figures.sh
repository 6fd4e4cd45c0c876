#!/usr/bin/env bash
# Draws the figures of what run.sh has measured.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
command -v gnuplot > /dev/null || exit 0

colour_of() {
    case $1 in
        SCD) echo '#888888' ;;
        DP-SCD | 'DP-SCD, tuned') echo '#1b5e9b' ;;
        'DP-SCD, one setting') echo '#7fb2dd' ;;
        'as published, tuned' | 'as published') echo '#b3541e' ;;
        seqDP-SCD) echo '#3a7d44' ;;
        SGD) echo '#c9a227' ;;
        'DP-SGD, tuned') echo '#c2185b' ;;
        'DP-SGD, defaults') echo '#eaa0bd' ;;
        *) echo '#7d3a6b' ;;
    esac
}

# figure NAME TITLE XLABEL YLABEL LEAST COLUMN:TITLE …   values below LEAST are not drawn
figure() {
    local name=$1 title=$2 x=$3 y=$4 least=$5 plots='' column
    shift 5
    [ -s "$out/$name.tsv" ] || return 0
    for series; do
        column=${series%%:*}
        plots+="${plots:+, }'$out/$name.tsv' using 1:(\$$column < $least ? NaN : \$$column) skip 1 with linespoints linewidth 2 pointtype 7 linecolor rgb '$(colour_of "${series#*:}")' title '${series#*:}'"
    done
    gnuplot << EOF
set terminal pngcairo size 640,420 font "DejaVu Sans,11"
set output "$out/$name.png"
set datafile separator "\t"
set datafile missing NaN
set title "$title"
set xlabel "$x"
set ylabel "$y"
set logscale x
set autoscale xfix
set grid linecolor rgb "#dddddd"
set key bottom right
set offsets graph 0.04, graph 0.04, graph 0.05, graph 0.05
plot $plots
EOF
}

figure adult 'Adult, hinge (figure 1c)' epsilon 'test accuracy' 0 2:SCD '3:DP-SCD, one setting' '4:DP-SCD, tuned' '5:as published, tuned' \
    6:seqDP-SCD 7:SGD '8:DP-SGD, defaults' '9:DP-SGD, tuned'
figure phishing 'Phishing, logistic (figure 1b)' epsilon 'test accuracy' 0 2:SCD '3:DP-SCD, one setting' '4:DP-SCD, tuned' '5:as published, tuned' \
    6:seqDP-SCD 7:SGD '8:DP-SGD, defaults' '9:DP-SGD, tuned'
for set in year protein blogfeedback synth; do
    figure $set "$set, ridge (figure 1a)" epsilon 'test R²' -0.2 2:SCD 3:DP-SCD '4:as published'
done
figure batch 'protein, epsilon = 1: the batch size' 'rows per lap' 'test R²' -0.2 2:DP-SCD '3:as published' 4:seqDP-SCD
figure variants 'protein: the variants' epsilon 'test R²' -0.2 2:DP-SCD 3:seqDP-SCD '4:primal DP-SCD'

# The accuracy at epsilon = 1 against the seconds of all trials; a label is the number of configurations.
tuning() {
    local plots='' series mark colour
    for series in adult/DP-SCD adult/DP-SGD phishing/DP-SCD phishing/DP-SGD; do
        awk -F '\t' -v set="${series%/*}" -v method="${series#*/}" '$1 == set && $2 == 1 && $3 == method { print $6, $7, $4 }' \
            "$out/tuning.tsv" > "$out/tuning-${series/\//-}.xy"
        [ -s "$out/tuning-${series/\//-}.xy" ] || continue
        mark=7 colour='#1b5e9b'
        [ "${series%/*}" = adult ] || mark=5
        [ "${series#*/}" = DP-SCD ] || colour='#c2185b'
        plots+="${plots:+, }'$out/tuning-${series/\//-}.xy' with points pointsize 1.5 pointtype $mark linecolor rgb '$colour' title '${series/\//, }'"
        plots+=", '' using 1:2:3 with labels offset 0,1 notitle"
    done
    [ -n "$plots" ] || return 0
    gnuplot << EOF
set terminal pngcairo size 640,420 font "DejaVu Sans,11"
set output "$out/tuning.png"
set title "What tuning costs: logistic loss, epsilon = 1"
set xlabel "seconds of all trials (labels: configurations)"
set ylabel "test accuracy"
set logscale x
set grid linecolor rgb "#dddddd"
set key center right
set offsets graph 0.08, graph 0.08, graph 0.1, graph 0.1
plot $plots
EOF
}
[ ! -s "$out/tuning.tsv" ] || tuning
