#!/bin/bash -p
# Draws the picture of measured.tsv, here: how far the others are from fit, cell by cell.
set -euo pipefail
cd "$(dirname "$0")"
command -v gnuplot > /dev/null || exit 0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
awk -v kind=gaps -f table.awk measured.tsv > "$scratch/gaps"
[ -s "$scratch/gaps" ] || exit 0

# style_of METHOD: its name, its colour, its mark
style_of() {
    case $1 in
        sgd) echo 'DP-SGD, best of 24|#b3541e|7' ;;
        full) echo 'full batches, best of 32|#1b5e9b|5' ;;
        tuned) echo 'full batches, choice charged|#7fb2dd|4' ;;
        adam) echo 'DP-Adam, best of 6|#3a7d44|9' ;;
        scd) echo 'DP-SCD|#c9a227|11' ;;
        adassp) echo 'AdaSSP|#7d3a6b|13' ;;
        optimum) echo 'without privacy|#444444|2' ;;
    esac
}
rows=$(cut -f 2 "$scratch/gaps" | sort -n | tail -n 1)
tics=$(awk -F '\t' '!seen[$2]++ { printf "%s\"%s\" %d", (n++ ? ", " : ""), $4, $2 }' "$scratch/gaps")
tested=$(awk -F '\t' '$5 == "tested" { print $2 - 0.5; exit }' "$scratch/gaps")
least=-0.06
plots=''
for method in scd adam adassp tuned sgd full optimum; do
    IFS='|' read -ra style <<< "$(style_of $method)"
    # what is too far to the left stands at the edge
    awk -F '\t' -v method=$method -v least=$least '$1 == method { print ($3 < least ? least : $3), $2 }' "$scratch/gaps" > "$scratch/$method"
    [ ! -s "$scratch/$method" ] || plots+="${plots:+, }'$scratch/$method' with points pointsize 1.3 linewidth 1.6 pointtype ${style[2]} linecolor rgb '${style[1]}' title '${style[0]}'"
done
gnuplot << END
set terminal pngcairo size 900,$((150 + 22 * rows)) font "DejaVu Sans,10"
set output "gaps.png"
set grid linecolor rgb "#dddddd"
set yrange [$rows.7:0.3]
set ytics ($tics)
set xrange [$least - 0.002:*]
set xlabel "accuracy or R² less that of fit; what is worse by $(awk "BEGIN { print -($least) }") or more stands at the left edge"
set arrow from 0, graph 0 to 0, graph 1 nohead linewidth 2 linecolor rgb "#000000"
$([ -z "$tested" ] || echo "set arrow from graph 0, first $tested to graph 1, first $tested nohead dashtype 2 linecolor rgb '#888888'
set label 'rules were tested on these' at graph 0.01, first $tested + 0.35 textcolor rgb '#888888'")
set tmargin 5
set key at screen 0.6,0.985 center top horizontal maxrows 3 width 1 Left reverse
plot $plots
END
