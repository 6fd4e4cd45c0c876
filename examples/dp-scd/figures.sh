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
        DP-SCD | 'DP-SCD, tuned') echo "'#1b5e9b' 7" ;;
        'DP-SCD, one setting') echo "'#7fb2dd' 6" ;;
        'as published, tuned' | 'as published') echo "'#b3541e' 9" ;;
        seqDP-SCD) echo "'#3a7d44' 11" ;;
        SGD) echo "'#c9a227' 1" ;;
        'DP-SGD, tuned') echo "'#c2185b' 5" ;;
        'DP-SGD, defaults') echo "'#eaa0bd' 4" ;;
        *) echo "'#7d3a6b' 13" ;;
    esac
}

# range FILE COLUMN: "least greatest"
range() { awk -F '\t' -v c="$2" 'NR == 2 { a = b = $c } NR > 1 { if ($c < a) a = $c; if ($c > b) b = $c } END { print a, b }' "$1"; }

# figure NAME TITLE XLABEL YLABEL LEAST COLUMN:TITLE …   values below LEAST would stretch the axis: a series that has some says so
figure() {
    local name=$1 title=$2 x=$3 y=$4 least=$5 plots='' series column label style low high
    shift 5
    [ -s "$out/$name.tsv" ] || return 0
    for series; do
        column=${series%%:*} label=${series#*:}
        read -r low high <<< "$(range "$out/$name.tsv" "$column")"
        read -ra style <<< "$(style_of "$label")"
        if [ "$(awk "BEGIN { print ($high < $least) }")" = 1 ]; then
            label=$(printf '%s (below: %.6g to %.6g)' "$label" "$low" "$high")
            plots+="${plots:+, }keyentry"
        else
            [ "$(awk "BEGIN { print ($low < $least) }")" = 0 ] || label=$(printf '%s (down to %.6g)' "$label" "$low")
            plots+="${plots:+, }'$out/$name.tsv' using 1:(\$$column < $least ? NaN : \$$column) skip 1"
        fi
        plots+=" with linespoints linewidth 2 pointsize 1.2 pointtype ${style[1]} linecolor rgb ${style[0]} title \"$label\""
    done
    [ ! -s "$out/$name-spread.tsv" ] || plots+=", '$out/$name-spread.tsv' using 1:3:2:4 skip 1 with yerrorbars linewidth 1.5 pointtype 0
        linecolor rgb '#7fb2dd' title 'DP-SCD, one setting: all seeds'"
    plots=${plots//$'\n'/ }
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

figure adult 'Adult, hinge (figure 1c): medians of 10 seeds' epsilon 'test accuracy' 0.8 2:SCD '3:DP-SCD, one setting' '4:DP-SCD, tuned' '5:as published, tuned' \
    6:seqDP-SCD 7:SGD '8:DP-SGD, defaults' '9:DP-SGD, tuned'
figure phishing 'Phishing, logistic (figure 1b): medians of 10 seeds' epsilon 'test accuracy' 0.91 2:SCD '3:DP-SCD, one setting' '4:DP-SCD, tuned' '5:as published, tuned' \
    6:seqDP-SCD 7:SGD '8:DP-SGD, defaults' '9:DP-SGD, tuned'
for set in year protein blogfeedback synth; do
    figure $set "$set, ridge (figure 1a): medians of 3 seeds" epsilon 'test R²' 0 2:SCD 3:DP-SCD '4:as published'
done
figure batch 'protein, epsilon = 1, the batch size: medians of 3 seeds' 'rows per lap' 'test R²' 0.2 2:DP-SCD '3:as published' 4:seqDP-SCD
figure variants 'protein, the variants: medians of 3 seeds' epsilon 'test R²' 0 2:DP-SCD 3:seqDP-SCD '4:primal DP-SCD'

# The accuracy at epsilon = 1 against the seconds of all trials, a panel for each data set; a label is the number of configurations.
tuning() {
    local set plots='' panels='' method style place
    for set in adult phishing; do
        plots=
        for method in DP-SCD DP-SGD; do
            awk -F '\t' -v set="$set" -v method="$method" '$1 == set && $2 == 1 && $3 == method { print $6, $7, $4 }' \
                "$out/tuning.tsv" > "$out/tuning-$set-$method.xy"
            [ -s "$out/tuning-$set-$method.xy" ] || continue
            style="'#1b5e9b'" place='0,1'
            [ $method = DP-SCD ] || { style="'#c2185b'" && place='0,-1'; }
            plots+="${plots:+, }'$out/tuning-$set-$method.xy' with points pointsize 1.5 pointtype 7 linecolor rgb $style title '$method'"
            plots+=", '' using 1:2:3 with labels offset $place textcolor rgb $style notitle"
        done
        [ -z "$plots" ] || panels+="set title '$set'"$'\n'"plot $plots"$'\n'"unset ylabel"$'\n'
    done
    [ -n "$panels" ] || return 0
    gnuplot << END
set terminal pngcairo size 860,420 font "DejaVu Sans,11"
set output "$out/tuning.png"
set multiplot layout 1,2 title "What tuning costs: logistic loss, epsilon = 1, medians of 10 seeds"
set xlabel "seconds of all trials (labels: configurations)"
set ylabel "test accuracy"
set logscale x
set grid linecolor rgb "#dddddd"
set format y "%.3f"
set key top left
set offsets graph 0.12, graph 0.12, graph 0.25, graph 0.15
$panels
END
}
[ ! -s "$out/tuning.tsv" ] || tuning
