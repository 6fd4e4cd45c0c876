# shellcheck shell=bash
# Sourced by the scripts here: how data sets and their folds are made.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export folds=${FOLDS:-10} repetitions=${REPETITIONS:-5} parts=${PARTS:-10}

# dat SET: prints the table of a set as a .dat, numbers between blanks, the label last: 1, or anything less for the other class
dat() {
    case $1 in
        ADULT) gzip -dc "$raw/adult/adult.data.gz" "$raw/adult/adult.test.gz" | awk -f "$here/adult.awk" ;;
        BANK) gzip -dc "$raw/bank/bank-full.csv.gz" | awk -f "$here/bank.awk" ;;
        *) cat "$raw/dat/$1.dat" ;;
    esac
}
# sets: those that are there
sets() {
    [ ! -e "$raw/adult/adult.data.gz" ] || [ ! -e "$raw/adult/adult.test.gz" ] || echo ADULT
    [ ! -e "$raw/bank/bank-full.csv.gz" ] || echo BANK
    for file in "$raw"/dat/*.dat; do [ ! -e "$file" ] || basename "$file" .dat; done
}

# prepare SET: its rows for dp-import, their divisor, and the fold of each row in each repetition
prepare() {
    local dir=$out/$1 r
    mkdir -p "$dir"
    [ -s "$dir/all.csv" ] || {
        dat "$1" > "$dir/all.dat"
        awk -v schema="$dir/schema.json" -v divisor="$dir/divisor" -f "$here/scale.awk" "$dir/all.dat" "$dir/all.dat" "$dir/all.dat" > "$dir/part"
        mv "$dir/part" "$dir/all.csv"
    }
    for r in $(seq "$repetitions"); do
        [ -s "$dir/folds-$parts-$r" ] || {
            awk -v rows="$(wc -l < "$dir/all.csv")" -v folds="$parts" -v seed="$r" -f "$here/folds.awk" > "$dir/part"
            mv "$dir/part" "$dir/folds-$parts-$r"
        }
    done
}

# import SET REPETITION FOLD: the data sets train-PARTS-R-K.dp and test-PARTS-R-K.dp. They hold rows of the same people, and say so.
import() {
    local dir=$out/$1 which to
    for which in test train; do
        to=$dir/$which-$parts-$2-$3.dp
        [ -d "$to" ] || awk -v fold="$3" -v which="$which" 'NR == FNR { of[NR] = $1; next } (of[FNR] == fold) == (which == "test")' \
            "$dir/folds-$parts-$2" "$dir/all.csv" |
            dp-import csv -q --schema "$dir/schema.json" --row-norm cap --no-bias --storage csr --population "$1" -o "$to" -
    done
}

export delta=1e-8 mu=0.001

# in_rows SET: "D lambda". Rows are divided by D: where the paper has clip C, step eta and lambda mu, this is C / D, eta D² and mu / D², for a
# model that is D times as long.
in_rows() { awk -v mu=$mu '{ printf "%.10g %.10g\n", $1, mu / $1 / $1 }' "$out/$1/divisor"; }
