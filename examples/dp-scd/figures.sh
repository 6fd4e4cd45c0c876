#!/bin/bash -p
# figures.sh: draws the figures of what run.sh has measured.
# figures.sh --committed: draws those of the tables in README.md, here, without measuring anything.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
command -v gnuplot > /dev/null || exit 0
if [ "${1:-}" = --committed ]; then
    out=$PWD
    trap 'rm -f "$out"/*.tsv "$out"/*.xy' EXIT
    awk -F ' *[|] *' -v OFS='\t' '/^<!-- table / { name = $0; sub("<!-- table ", "", name); sub(" -->", "", name); line = 0 }
        /^<!-- end/ { name = "" }
        name != "" && /^[|]/ && ++line != 2 { row = $2; for (i = 3; i < NF; i++) row = row OFS $i; print row > (name ".tsv") }' README.md
fi

# style_of SERIES: its colour and its mark, by which series that coincide can be told apart
style_of() {
    case $1 in
        SCD) echo "'#888888' 2" ;;
        secret*) echo "'#1b5e9b' 7" ;;
        published*) echo "'#b3541e' 9" ;;
        sequential) echo "'#3a7d44' 11" ;;
        SGD) echo "'#c9a227' 1" ;;
        'DP-SGD, last') echo "'#eaa0bd' 4" ;;
        DP-SGD*) echo "'#c2185b' 5" ;;
        'C = .0001') echo "'#888888' 2" ;;
        'C = .001') echo "'#1b5e9b' 7" ;;
        'C = .01') echo "'#3a7d44' 9" ;;
        'C = .1') echo "'#c9a227' 5" ;;
        *) echo "'#7d3a6b' 13" ;;
    esac
}

# range FILE COLUMN: "least greatest"
range() { awk -F '\t' -v c="$2" 'NR > 1 && $c != "" && $c != "-" { if (!n++ || $c < a) a = $c; if (n == 1 || $c > b) b = $c } END { print a + 0, b + 0 }' "$1"; }

# figure NAME TITLE XLABEL YLABEL LEAST MOST COLUMN:TITLE …   values outside would stretch the axis: a series that has some says so
figure() {
    local name=$1 title=$2 x=$3 y=$4 least=$5 most=$6 plots='' series column label style low high
    shift 6
    [ -s "$out/$name.tsv" ] && [ "$(wc -l < "$out/$name.tsv")" -gt 2 ] || return 0
    for series; do
        column=${series%%:*} label=${series#*:}
        read -r low high <<< "$(range "$out/$name.tsv" "$column")"
        read -ra style <<< "$(style_of "$label")"
        [ "$(awk "BEGIN { print ($low < $least || $high > $most) }")" = 0 ] || label=$(printf '%s (%.4g to %.4g)' "$label" "$low" "$high")
        if [ "$(awk "BEGIN { print ($high < $least || $low > $most) }")" = 1 ]; then
            plots+="${plots:+, }keyentry"
        else
            plots+="${plots:+, }'$out/$name.tsv' using 1:(\$$column < $least || \$$column > $most ? NaN : \$$column) skip 1"
        fi
        plots+=" with linespoints linewidth 2 pointsize 1.2 pointtype ${style[1]} linecolor rgb ${style[0]}"
        [[ $label != *', .1'* ]] || plots+=" dashtype 2"
        plots+=" title \"$label\""
    done
    gnuplot << END
set terminal pngcairo size 900,420 font "DejaVu Sans,11"
set output "$out/$name.png"
set datafile separator "\t"
set datafile missing NaN
set title "$title"
set xlabel "$x"
set ylabel "$y"
set logscale x
set autoscale xfix
set grid linecolor rgb "#dddddd"
$([ "$x" != epsilon ] || echo 'set xtics (0.1, 0.2, 0.5, 1, 2)')
set key outside right center vertical Left reverse spacing 1.3
set offsets graph 0.04, graph 0.04, graph 0.05, graph 0.05
plot $plots
END
}

columns='2:SCD 3:secret 4:published 5:sequential 6:SGD 7:DP-SGD'
# shellcheck disable=SC2086 # several words
{
    figure adult 'Adult, hinge (figure 1c): medians of 10 runs' epsilon 'test accuracy' 0.76 1 $columns
    figure phishing 'Phishing, logistic (figure 1b): medians of 10 runs' epsilon 'test accuracy' 0.88 1 $columns
    figure year 'YearPredictionMSD, ridge (figure 1a): medians of 10 runs' epsilon 'test MSE' 0 1e9 $columns
    figure protein 'protein, ridge (figure 1a): medians of 10 runs' epsilon 'test MSE' 0 0.5 $columns
    figure blogfeedback 'BlogFeedback, ridge (figure 1a): medians of 10 runs' epsilon 'test MSE' 0 1e9 $columns
}
figure figure2 'Figure 2: the objective by epoch' epoch 'objective, training rows' 0 0.06 2:SCD 3:SGD '4:secret, .1' '5:published, .1' '6:DP-SGD, .1' \
    '7:secret, 1' '8:published, 1' '9:DP-SGD, 1'
for method in published secret; do
    figure figure3-$method "Figure 3: L and C, $method, epsilon = 1" L 'test MSE' 0 0.6 '2:C = .0001' '3:C = .001' '4:C = .01' '5:C = .1' '6:C = 1' '7:C = 10'
done
