#!/bin/bash -p
# Draws the figures of measured.tsv, here.
set -euo pipefail
cd "$(dirname "$0")"
command -v gnuplot > /dev/null || exit 0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# style_of METHOD: its colour and its mark
style_of() {
    case $1 in
        blsgd*) echo "'#1b5e9b' 7" ;;
        blgd*) echo "'#3a7d44' 5" ;;
        ac*) echo "'#7fb2dd' 9" ;;
        paper*) echo "'#7d3a6b' 15" ;;
        agd*) echo "'#c9a227' 11" ;;
        sgd) echo "'#c2185b' 13" ;;
        outpert-gd) echo "'#e07b39' 4" ;;
        outpert-rsgd) echo "'#8d5524' 6" ;;
        objpert) echo "'#111111' 3" ;;
        privgene) echo "'#5aa9a3' 2" ;;
        non-private) echo "'#444444' 0" ;;
        *) echo "'#999999' 0" ;;
    esac
}
label_of() {
    case $1 in
        blsgd) echo DP-BLSGD ;;
        blgd) echo DP-BLGD ;;
        ac) echo DP-BLSGD-AC ;;
        agd) echo DP-AGD ;;
        paper) echo 'DP-BLSGD, section 5.4' ;;
        sgd) echo 'DP-SGD, tuned' ;;
        outpert-gd) echo OutPert-GD ;;
        outpert-rsgd) echo OutPert-RSGD ;;
        objpert) echo ObjPert ;;
        privgene) echo PrivGene ;;
        majority) echo Majority ;;
        non-private) echo Non-private ;;
        *-published) echo "$(label_of "${1%-published}"), as published" ;;
    esac
}

# draw NAME WIDTH HEIGHT COMMANDS
draw() {
    gnuplot << END
set terminal pngcairo size $2,$3 font "DejaVu Sans,10"
set output "$1.png"
set datafile separator "\t"
set grid linecolor rgb "#dddddd"
set key spacing 1.1
$4
END
}

# points PART SET METHOD COLUMN: "epsilon mean deviation" for each epsilon; a method without epsilon has the same for all. The accuracy of what
# was run on fewer folds than DP-SGD is that of DP-SGD and the difference to it on those folds.
points() {
    awk -F '\t' -v OFS='\t' -v part="$1" -v set="$2" -v method="$3" -v c="$4" '
        $1 == part && $2 == set && $4 > 0 { seen[$4] = 1 }
        $1 == part && $2 == set && $3 == "sgd" { folds[$4] = $6; accuracy[$4] = $7 }
        $1 == part && $2 == set && $3 == method && $c != "nan" {
            mean[$4] = c == 7 && $6 < folds[$4] ? accuracy[$4] + $15 : $c
            deviation[$4] = $(c + 1)
            any = 1
        }
        END { if (any) for (e in seen) if (e in mean) print e, mean[e], deviation[e]; else if ("0" in mean) print e, mean["0"], 0 }' measured.tsv | sort -g
}

# panel PART SET COLUMN: one "plot" command; what is missing is left out
panel() {
    local method file plots='' style n=0
    for method in majority non-private sgd privgene outpert-gd outpert-rsgd objpert agd blgd blgd-published paper paper-published ac ac-published blsgd blsgd-published; do
        file=$scratch/$1-$2-$3-$method
        n=$((n + 1))
        points "$1" "$2" "$method" "$3" > "$file"
        [ -s "$file" ] || continue
        read -ra style <<< "$(style_of "$method")"
        plots+="${plots:+, }'$file' using (\$1 * 1.012 ** ($n - 8)):2"
        case $method in
            majority | non-private) plots+=" with lines linewidth 2 dashtype 3" ;;
            *-published) plots+=" with linespoints linewidth 1.3 dashtype 2 pointsize .8 pointtype $((style[1] == 15 ? 14 : style[1] - 1))" ;;
            *) plots+=":3 with yerrorlines linewidth 1.8 pointsize .9 pointtype ${style[1]}" ;;
        esac
        plots+=" linecolor rgb ${style[0]} title '$(label_of "$method")'"
    done
    echo "plot $plots"
}

# methods PART TITLE: figures 3 and 4, a column of panels for each data set: accuracy, objective. The key has a panel of its own.
methods() {
    local sets set column n=0 commands=''
    read -ra sets <<< "$(awk -F '\t' -v part="$1" '$1 == part && !seen[$2]++ { print $2 }' measured.tsv | tr '\n' ' ')"
    [ ${#sets[@]} -gt 0 ] || return 0
    commands="set multiplot layout 2,${#sets[@]} title \"$2\" margins 0.07,0.72,0.09,0.9 spacing 0.07,0.12
        set logscale x
        set xtics (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
        set xrange [0.042:1.9]"
    for column in 7 9; do
        for set in "${sets[@]}"; do
            n=$((n + 1))
            commands+="
                set title \"$set\"
                set xlabel \"$([ $column = 7 ] || echo epsilon)\"
                set ylabel \"$([ $(((n - 1) % ${#sets[@]})) != 0 ] || { [ $column = 7 ] && echo 'test accuracy' || echo 'objective, training rows'; })\"
                $([ $n = 1 ] && echo 'set key at screen 0.995,0.9 right top Left reverse font ",9" spacing .95' || echo 'unset key')
                $(range "$1" "$set" $column)
                $(panel "$1" "$set" $column)"
        done
    done
    draw "$1" 1240 760 "$commands"
}
# range PART SET COLUMN: of the y axis. An objective above that of the zero model is off the picture, and so is what is far below majority.
range() {
    awk -F '\t' -v part="$1" -v set="$2" -v c="$3" '$1 == part && $2 == set && $c != "nan" {
            if (!n++ || $c < least) least = $c
            if (n == 1 || $c > most) most = $c
            if ($3 == "majority") majority = $c
        }
        END {
            if (c == 7) { if (least < majority - .03) least = majority - .03; pad = (most - least) * .08 }
            else { if (most > .8) most = .8; pad = (most - least) * .06 }
            if (pad > 0) printf "set yrange [%g:%g]\n", least - pad, most + pad
            else print "set yrange [*:*]"
        }' measured.tsv
}

# setting_panel PANEL OPTION DEFAULT METHOD…: accuracy against the values of one option, a line for each method and epsilon
setting_panel() {
    local option=$2 default=$3 epsilon method plots='' file colour dash n=0 title=$1
    shift 3
    for epsilon in 0.05 0.2; do
        for method; do
            file=$scratch/setting$option$epsilon$method
            awk -F '\t' -v OFS='\t' -v option="$option" -v method="$method" -v usual="$default" -v epsilon="$epsilon" '
                $1 != "settings" || $3 != method || $4 != epsilon { next }
                $5 == "" { print usual, $7, $8 }
                index($5, option " ") == 1 { print substr($5, length(option) + 2), $7, $8 }' measured.tsv |
                awk -v OFS='\t' '{ sub(/^(gaussian|no)\t/, "0\t"); sub(/^(laplace|must)\t/, "1\t"); sub(/^adap\t/, "2\t") } 1' | sort -g > "$file"
            [ -s "$file" ] || continue
            n=$((n + 1))
            colour=$([ $epsilon = 0.2 ] && echo '#1b5e9b' || echo '#b3541e')
            dash=$([ "$method" = paper ] && echo 2 || echo 1)
            plots+="${plots:+, }'$file' using (\$1 + $([[ $default =~ ^[0-9.]+$ ]] && echo 0 || echo ".07 * ($n - 2)")):2:3 with yerror"
            plots+=$([[ $default =~ ^[0-9.]+$ ]] && echo lines || echo bars)
            plots+=" linewidth 1.6 dashtype $dash pointtype $((dash == 2 ? 6 : 7)) linecolor rgb '$colour'"
        done
    done
    [ -z "$plots" ] || echo "set title \"$title\"
        $(case $default in
            laplace) echo "set xrange [-0.5:1.5]; set xtics ('Gaussian' 0, 'Laplace' 1)" ;;
            adap) echo "set xrange [-0.5:2.5]; set xtics ('no' 0, 'must' 1, 'adap' 2)" ;;
            *) echo 'unset xrange; set xtics autofreq' ;;
        esac)
        plot $plots"
}
settings() {
    grep -q '^settings' measured.tsv || return 0
    draw settings 1100 760 "set multiplot layout 2,3 title \"Figure 1: Adult, logistic, test accuracy by one setting, mean and deviation over folds\\nblue: epsilon = 0.2, red: 0.05; full: DP-BLSGD, hollow and dashed: section 5.4\" margins 0.05,0.98,0.06,0.87 spacing 0.06,0.12
        set offsets graph 0.08, graph 0.08, graph 0.1, graph 0.1
        unset key
        $(setting_panel 'Armijo constant alpha' --armijo 0.5 blsgd paper)
        $(setting_panel 'step factor beta' --beta 0.8 blsgd paper)
        $(setting_panel 'noise of the search' --noise laplace blsgd paper)
        set logscale x
        $(setting_panel 'sampling rate q' --rate 0.1 blsgd paper)
        unset logscale x
        $(setting_panel 'budget policy, section 5.4' --policy adap paper)
        $(setting_panel 'clip decay zeta, DP-BLSGD-AC' --clip-decay 0.05 ac)"
}
counts() {
    local set plots='' file panels=''
    awk -F '\t' '$1 == "counts" && $3 == "paper" { n++ } END { exit !n }' measured.tsv || return 0
    for column in 11 12; do
        plots=
        while read -r set; do
            file=$scratch/counts-$set-$column
            awk -F '\t' -v OFS='\t' -v set="$set" -v c=$column '$1 == "counts" && $2 == set && $3 == "paper" {
                print ($5 == "" ? 0.1 : substr($5, index($5, " ") + 1)), $c }' measured.tsv | sort -g > "$file"
            plots+="${plots:+, }'$file' with linespoints linewidth 1.8 pointtype 7 title '$set'"
        done < <(awk -F '\t' '$1 == "counts" && !seen[$2]++ { print $2 }' measured.tsv)
        panels+="set title \"$([ $column = 11 ] && echo gradients || echo 'values of the objective')\"
            plot $plots
            "
    done
    draw counts 860 380 "set multiplot layout 1,2 title \"Figure 2: how often DP-BLSGD (section 5.4) asks, epsilon = 0.4, logistic\"
        set xlabel \"sampling rate q\"
        set logscale x
        set yrange [0:*]
        set xtics (0.02, 0.05, 0.1, 0.2, 0.5, 1)
        $panels"
}
# networks: figure 5, a column of panels for each network at epsilon 3
networks() {
    local names network column n=0 commands='' labels=('' '' '' '' 'epsilon spent' 'test accuracy' 'log loss, test rows' 'step size')
    [ -s network-curves.tsv ] || return 0
    read -ra names <<< "$(awk -F '\t' 'NR > 1 && $2 == 3 && !seen[$1]++ { print $1 }' network-curves.tsv | tr '\n' ' ')"
    commands="set multiplot layout 4,${#names[@]} title \"Figure 5: networks, epsilon = 3, seed 2\" margins 0.06,0.98,0.06,0.92 spacing 0.05,0.05
        set xrange [0:*]
        set yrange [0:*]"
    for column in 6 7 5 8; do
        for network in "${names[@]}"; do
            n=$((n + 1))
            for method in dp-sgd blsgd; do
                awk -F '\t' -v OFS='\t' -v network="$network" -v method=$method -v c=$column \
                    '$1 == network && $2 == 3 && $3 == method { print $4, $c }' network-curves.tsv > "$scratch/$network-$method-$column"
            done
            commands+="
                set title \"$([ $column != 6 ] || echo "$network")\"
                set xlabel \"$([ $column != 8 ] || echo gradients)\"
                set ylabel \"$([ $(((n - 1) % ${#names[@]})) != 0 ] || echo "${labels[column - 1]}")\"
                $([ $n = 1 ] && echo 'set key bottom right' || echo 'unset key')
                plot '$scratch/$network-dp-sgd-$column' with linespoints linewidth 1.8 pointtype 13 pointsize .6 linecolor rgb '#c2185b' title 'best DP-SGD of 16', \
                    '$scratch/$network-blsgd-$column' with linespoints linewidth 1.8 pointtype 7 pointsize .6 linecolor rgb '#1b5e9b' title 'DP-BLSGD'"
        done
    done
    draw networks $((320 * ${#names[@]} + 60)) 900 "$commands"
}
methods logistic 'Figure 3: logistic regression, mean over folds'
methods svm 'Figure 4: SVM (Huberised hinge, h = 0.5), mean over folds'
settings
counts
networks
