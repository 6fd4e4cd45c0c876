# Accuracy and spent epsilon against laps. Variables: laps (TSV of dp-eval), picture (PNG to write).
set terminal pngcairo size 900,540 font "DejaVu Sans,12"
set output picture
set title "Fashion-MNIST, linear model, DP-SCD: one run" font ",14"
set xlabel "laps"
set ylabel "test accuracy" textcolor rgb "#1b5e9b"
set y2label "epsilon spent" textcolor rgb "#b3541e"
set yrange [0.6:0.9]
set y2range [0:1.2]
set ytics nomirror textcolor rgb "#1b5e9b"
set y2tics textcolor rgb "#b3541e"
set grid xtics ytics linecolor rgb "#dddddd"
set border linecolor rgb "#888888"
set key bottom right
set datafile separator "\t"
plot laps using 1:3 skip 1 with lines linewidth 2.5 linecolor rgb "#1b5e9b" title "accuracy", \
     laps using 1:2 skip 1 axes x1y2 with steps linewidth 2.5 linecolor rgb "#b3541e" title "epsilon (delta = 1e-5)"
