# Accuracy against epsilon. Variables: table (lines of set, rows, epsilon, median accuracy), picture (PNG to write).
set terminal pngcairo size 900,480 font "DejaVu Sans,12"
set output picture
set title "dpline fit on features and on pixels, DP-SGD of a network; delta = 1e-5" font ",14"
set xlabel "epsilon"
set ylabel "accuracy on 10,000 test images"
set logscale x
set xrange [0.4:4]
set xtics (0.5, 1, 2, 3)
set yrange [0.8:1]
set grid xtics ytics linecolor rgb "#dddddd"
set border linecolor rgb "#888888"
set key outside right center
of(set, rows) = sprintf("< awk '$1 == \"%s\" && $2 == \"%s\"' %s", set, rows, table)
set style line 1 linewidth 2.5 linecolor rgb "#1b7a3d" pointtype 7
set style line 2 linewidth 2.5 linecolor rgb "#1b5e9b" pointtype 5
plot of("mnist", "features") using 3:4 with linespoints linestyle 1 title "MNIST, features", \
     of("mnist", "network") using 3:4 with linespoints linestyle 1 dashtype 4 title "MNIST, network", \
     of("mnist", "pixels") using 3:4 with linespoints linestyle 1 dashtype 2 title "MNIST, pixels", \
     of("fashion", "features") using 3:4 with linespoints linestyle 2 title "Fashion-MNIST, features", \
     of("fashion", "network") using 3:4 with linespoints linestyle 2 dashtype 4 title "Fashion-MNIST, network", \
     of("fashion", "pixels") using 3:4 with linespoints linestyle 2 dashtype 2 title "Fashion-MNIST, pixels"
