# Accuracy against spent epsilon. Variables: fit, scd (TSV of dp-eval), without (accuracy without privacy), picture (PNG to write).
set terminal pngcairo size 900,540 font "DejaVu Sans,12"
set output picture
set title "Fashion-MNIST, ten classes, linear models, delta = 1e-5" font ",14"
set xlabel "epsilon spent so far"
set ylabel "test accuracy"
set xrange [0:1.02]
set yrange [0.6:0.95]
set grid xtics ytics linecolor rgb "#dddddd"
set border linecolor rgb "#888888"
set key bottom right
set datafile separator "\t"
plot fit using 2:3 skip 1 with lines linewidth 2.5 linecolor rgb "#1b7a3d" title "dpline fit on features", \
     without with lines linewidth 2 dashtype 2 linecolor rgb "#555555" title "pixels, without privacy", \
     scd using 2:3 skip 1 with lines linewidth 2.5 linecolor rgb "#1b5e9b" title "DP-SCD on pixels"
