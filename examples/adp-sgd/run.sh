#!/usr/bin/env bash
# Reproduces the comparison of the ADP-SGD paper with linear models. Results go to build/examples/adp-sgd.
#   run.sh [--write | --tables] [part …]
# Parts: theory, goal, pilot, sqrt, linear, adaptive, constant, steps, fashion, logistic (default: all, in this order).
# --write also puts the tables and figures into this directory's README; --tables trains nothing and makes them of what is there.
# SEEDS=n sets the number of seeds (1), JOBS=n how many cells run at once, EPOCHS_OF_TABLES the columns of tables 1 and 2.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
write='' tables=''
case ${1:-} in
    --write) write=1 && shift ;;
    --tables) write=1 tables=1 && shift ;;
esac
[ $# -gt 0 ] || set -- theory goal pilot sqrt linear adaptive constant steps fashion logistic

say() { echo "== $*" >&2; }
import() { # SET DIRECTORY
    [ -e "$2/train-images-idx3-ubyte.gz" ] || {
        say "skipping: no $2/train-images-idx3-ubyte.gz (get-data.sh fetches MNIST; Fashion-MNIST: Debian's dataset-fashion-mnist)"
        return 1
    }
    [ -d "$out/$1-test.dp" ] || for part in train:"$1" t10k:"$1-test"; do
        dp-import idx -q -f --row-norm unit -o "$out/${part#*:}.dp" "$2/${part%:*}-images-idx3-ubyte.gz" "$2/${part%:*}-labels-idx1-ubyte.gz"
    done
}
mnist() { import mnist "$raw/mnist"; }
# do_cells: trains what standard input says, unless only tables are asked for
do_cells() { if [ -n "$tables" ]; then cat > /dev/null; else run_cells; fi; }
# each LINE …: the line for each seed in place of @
each() { for seed in $(seq "$seeds"); do echo "${*//@/$seed}"; done; }
show() { column -t -s $'\t' "$out/$1.tsv"; }

clips='0.5 1 2.5 5'
epochs=${EPOCHS_OF_TABLES:-60 120 200}
sqrt=sqrt:20:1
linear=linear:0
fixed='softmax 1'    # loss and epsilon of most parts

# --- step sizes: of each schedule and C the best for DP-SGD in 20 epochs; the tables then use it, for both methods ------------
pilot_steps() {
    case $1 in
        "$sqrt") echo '25 50 100 200' ;;
        *) echo '4 8 16 32' ;;
    esac
}
pilot() {
    mnist || return 0
    say "pilot: step sizes, 20 epochs"
    for schedule in $sqrt $linear constant; do
        for clip in $clips; do
            for step in $(pilot_steps $schedule); do each "cell dp mnist $fixed 20 $clip $step $schedule @"; done
        done
    done | do_cells
    {
        printf 'b_t\tC\teta: accuracy\t\t\t\n'
        for schedule in $sqrt $linear constant; do
            for clip in $clips; do
                printf '%s\t%s' "$schedule" "$clip"
                for step in $(pilot_steps $schedule); do printf '\t%s: %s' "$step" "$(accuracy dp mnist $fixed 20 "$clip" "$step" $schedule)"; done
                printf '\n'
            done
        done
    } > "$out/pilot.tsv"
    show pilot
}

for part; do
    case $part in
        theory | goal | pilot | sqrt | linear | adaptive | constant | steps | fashion | logistic) "$part" ;;
        *) echo "run.sh: unknown part '$part' (--help is the first lines of this file)" >&2 && exit 2 ;;
    esac
done
