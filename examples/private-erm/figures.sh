#!/bin/bash -p
# Draws the picture of measured.tsv, here.
set -euo pipefail
cd "$(dirname "$0")"
command -v gnuplot > /dev/null || exit 0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# style_of METHOD: its colour, its mark and the dash of its line
style_of() {
    case $1 in
        published) echo "'#b3541e' 4 2" ;;
        tight) echo "'#1b5e9b' 7 1" ;;
        stopped) echo "'#7fb2dd' 11 1" ;;
        gd) echo "'#3a7d44' 5 1" ;;
        objective) echo "'#c9a227' 9 1" ;;
        sgd-2014) echo "'#7d3a6b' 6 2" ;;
        sgd) echo "'#c2185b' 13 1" ;;
    esac
}
label_of() {
    case $1 in
        published) echo 'output perturbation, noise as printed' ;;
        tight) echo 'output perturbation, tight' ;;
        stopped) echo 'output perturbation, stopped early' ;;
        gd) echo 'noisy gradient descent' ;;
        objective) echo 'objective perturbation' ;;
        sgd-2014) echo 'noisy SGD, constants of 2014' ;;
        sgd) echo 'noisy SGD, tight' ;;
    esac
}
# panel SET MU: one "plot" command; the error of the zero model is a line without marks
panel() {
    local method file plots='' style zero
    zero=$(awk -F '\t' -v set="$1" -v mu="$2" '$1 == "minimum" && $3 == set && $4 == mu { print $10 - $7; exit }' measured.tsv)
    plots="$zero with lines linewidth 1.5 dashtype 3 linecolor rgb '#444444' title 'the zero model'"
    for method in published sgd-2014 sgd tight stopped objective gd; do
        file=$scratch/$1-$2-$method
        awk -F '\t' -v set="$1" -v mu="$2" -v method=$method '$1 == "cell" && $3 == set && $4 == mu && $5 == method { print $6, $9 }' measured.tsv > "$file"
        [ -s "$file" ] || echo "1 NaN" > "$file" # for the key, which has all methods
        read -ra style <<< "$(style_of $method)"
        plots+=", '$file' with linespoints linewidth 1.8 pointsize .9 pointtype ${style[1]} dashtype ${style[2]} linecolor rgb ${style[0]} title '$(label_of $method)'"
    done
    echo "plot $plots"
}

read -ra sets <<< "$(awk -F '\t' '$1 == "minimum" && $2 == "table" && !seen[$3]++ { print $3 }' measured.tsv | tr '\n' ' ')"
read -ra mus <<< "$(awk -F '\t' '$1 == "minimum" && $2 == "table" && !seen[$4]++ { print $4 }' measured.tsv | sort -g | tr '\n' ' ')"
panels=''
for mu in "${mus[@]}"; do
    for set in "${sets[@]}"; do
        panels+="set title '$set, mu = $mu'
            set xlabel '$([ "$mu" = "${mus[-1]}" ] && echo epsilon)'
            set ylabel '$([ "$set" = "${sets[0]}" ] && echo 'F(w) − F(ŵ)')'
            $([ -n "$panels" ] && echo 'unset key' || echo 'set key at screen 0.5,0.995 center top maxrows 3 width 2 Left reverse')
            $(panel "$set" "$mu")
            "
    done
done
gnuplot << END
set terminal pngcairo size $((120 + 240 * ${#sets[@]})),$((110 + 250 * ${#mus[@]})) font "DejaVu Sans,10"
set output "errors.png"
set grid linecolor rgb "#dddddd"
set logscale xy
set format y "10^{%T}"
set xtics (0.1, 0.5, 1, 2)
set xrange [0.085:2.4]
set multiplot layout ${#mus[@]},${#sets[@]} margins 0.065,0.99,0.07,0.86 spacing 0.035,0.075
$panels
END
