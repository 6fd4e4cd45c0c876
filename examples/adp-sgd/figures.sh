#!/bin/bash -p
# Draws the figures of what run.sh has measured.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
command -v gnuplot > /dev/null || exit 0
dp='#b3541e' adp='#1b5e9b'

# figure NAME COMMANDS: COMMANDS with the settings that all figures share
figure() {
    gnuplot << END
set terminal pngcairo size 640,420 font "DejaVu Sans,11"
set output "$out/$1.png"
set datafile separator "\t"
set grid linecolor rgb "#dddddd"
set xlabel "lap t"
set xrange [0:*]
set style line 1 linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb "$dp"
set style line 2 linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb "$adp"
set style line 3 linewidth 2 dashtype 2 linecolor rgb "$dp"
set style line 4 linewidth 2 dashtype 2 linecolor rgb "$adp"
$2
END
}

if [ -s "$out/spent.tsv" ]; then
    awk -v b=sqrt:20:1 -v T=11719 -v laps=200 -f gain.awk > "$out/noise.dat"
    figure noise "set title 'Noise multiplier z_t, b_t = √(20 + t), epsilon = 1'
        set ylabel 'noise / C'
        set key bottom right
        set yrange [0:]
        plot '$out/noise.dat' using 1:($(sigma 1 11719 constant)) with lines linestyle 1 title 'DP-SGD', \
            '' using 1:($(sigma 1 11719 sqrt:20:1) * \$2) with lines linestyle 2 title 'ADP-SGD'"
    figure spent "set title 'Epsilon spent up to lap t, delta = 1e-5'
        set ylabel 'epsilon'
        set logscale y
        set yrange [0.005:20]
        set key bottom right
        plot '$out/spent.tsv' using 1:6 skip 1 with lines linestyle 3 title 'DP-SGD, by Lemma 2.2', \
            '' using 1:7 skip 1 with lines linestyle 4 title 'ADP-SGD, by Lemma 2.2', \
            '' using 1:4 skip 1 with linespoints linestyle 1 title 'DP-SGD, by the accountant', \
            '' using 1:5 skip 1 with linespoints linestyle 2 title 'ADP-SGD, by the accountant'"
fi

# accuracy NAME TITLE EPOCHS SCHEDULE STEP_OF_1 STEP_OF_5: both methods at C = 1 and C = 5
accuracy_figure() {
    local plots='' method clip step file style=0
    for clip in 1 5; do
        step=$5
        [ $clip = 1 ] || step=$6
        for method in dp adp; do
            style=$((style + 1))
            file=$(file_of $method mnist softmax 1 "$3" $clip "$step" "$4" 1)
            [ -s "$file" ] || return 0
            plots+="${plots:+, }'$file' using 1:3 skip 1 with lines linewidth 2 linecolor rgb '$([ $method = dp ] && echo "$dp" || echo "$adp")' dashtype $([ $clip = 1 ] && echo 1 || echo 2) title '$([ $method = dp ] && echo DP-SGD || echo ADP-SGD), C = $clip'"
        done
    done
    figure "$1" "set title '$2'
        set ylabel 'test accuracy'
        set key bottom right
        set yrange [0.8:0.92]
        plot $plots"
}
accuracy_figure accuracy-sqrt 'MNIST, softmax, epsilon = 1, b_t = √(20 + t)' 200 sqrt:20:1 200 50
accuracy_figure accuracy-linear 'MNIST, softmax, epsilon = 1, 1 / b_t linear in √t' 60 linear:0 32 8

# the mean over the seeds that both methods have
mean_curve() { # METHOD EPSILON
    local seed files=()
    for seed in $(seq 10); do
        [ ! -s "$(file_of dp images network "$2" 10 0.1 200 sqrt:20:1 "$seed")" ] || [ ! -s "$(file_of adp images network "$2" 10 0.1 200 sqrt:20:1 "$seed")" ] ||
            files+=("$(file_of "$1" images network "$2" 10 0.1 200 sqrt:20:1 "$seed")")
    done
    [ ${#files[@]} -eq 0 ] || awk -F '\t' -v OFS='\t' 'FNR > 1 { n[$1]++; sum[$1] += $3 } END { for (t in n) print t, sum[t] / n[t] }' "${files[@]}" | sort -n
}
mean_curve dp 1 > "$out/network-dp.dat"
mean_curve adp 1 > "$out/network-adp.dat"
[ ! -s "$out/network-dp.dat" ] || figure network "set title 'MNIST, a CNN, epsilon = 1, b_t = √(20 + t)'
    set ylabel 'test accuracy, mean over seeds'
    set key bottom right
    plot '$out/network-dp.dat' with linespoints linestyle 1 title 'DP-SGD', '$out/network-adp.dat' with linespoints linestyle 2 title 'ADP-SGD'"

# the paper's figure 2: its two schedules, for T of 60, 120 and 200 of its epochs
falling=''
for t in 11760 23520 39200; do
    falling+=", [0:$t] .1 * (1 - sqrt(x / $t)) linewidth 2 linecolor rgb '$dp' title '.1 (1 - √(t / $t))'"
done
figure schedules "set title 'Step sizes'
    set ylabel 'eta_t'
    set yrange [0:0.25]
    set xrange [0:39200]
    set samples 2000
    plot 1 / sqrt(20 + x) linewidth 2 linecolor rgb '$adp' title '1 / √(20 + t)'$falling"

# the paper's figure 4: test error and both epsilons against the lap, a panel for each sigma; the keys are below the panels
panels=''
slopes=(0 1e-5 1e-3 1e-2 1e-1 5e-1) colours=('#000000' '#d55e00' '#e69f00' '#009e73' '#56b4e9' '#7b3294')
for z in 1.6 3.2 6.4 12.8; do
    plots=''
    for i in "${!slopes[@]}"; do
        file=$(file_of dp images network "noise:$z" "${PASSES:-50}" 1 1 "sqrt:2:${slopes[i]}" 1)
        dash=1
        [ "${slopes[i]}" != 1e-5 ] || dash=2 # it lies on c = 0
        [ ! -s "$file" ] || plots+="'$file' using 1:(1 - \$3) skip 1 with lines linewidth 2 dashtype $dash linecolor rgb '${colours[i]}' title 'c = ${slopes[i]}', "
    done
    [ -z "$plots" ] || panels+="set title 'sigma = $z'
        plot $plots'$(file_of dp images network "noise:$z" "${PASSES:-50}" 1 1 sqrt:2:0 1)' using 1:2 skip 1 axes x1y2 with lines dashtype 4 linecolor rgb '#888888' title 'epsilon', \
            '' using 1:(q * sqrt(log(16 * q * \$1 / $delta) * log(1.25 / $delta) * \$1) / $z) skip 1 axes x1y2 with lines dashtype 3 linecolor rgb '#888888' title 'epsilon-bar'
        "
done
[ -z "$panels" ] || figure figure-4 "set terminal pngcairo size 1100,880 font 'DejaVu Sans,10'
    set output '$out/figure-4.png'
    set multiplot layout 2,2
    q = $paper_batch. / $rows
    set ylabel 'test error'
    set y2label 'epsilon'
    set ytics nomirror
    set y2tics
    set yrange [0:*]
    set y2range [0:*]
    set key below maxrows 3
    set bmargin 7
    $panels"
