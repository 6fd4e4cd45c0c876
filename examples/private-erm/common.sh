# shellcheck shell=bash
# Sourced by the scripts here: the data sets, and the numbers that all runs share.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export rounds=${ROUNDS:-100} seeds=${SEEDS:-20}
export wide=''
export delta=0.001
# sets: those whose tables are there, in the order of the paper. ADULT-81 is the same people as in examples/dp-scd: 24,420 rows.
sets() {
    [ ! -e "$raw/bank/bank-full.csv.gz" ] || echo BANK
    [ ! -e "$raw/adult/adult.data.gz" ] || echo ADULT
    [ ! -e "$raw/credit/UCI_Credit_Card.csv.gz" ] || echo CREDIT
    [ ! -e "$raw/wine/winequality-red.csv" ] || [ ! -e "$raw/wine/winequality-white.csv" ] || echo WINE
    [ ! -e "$raw/bike/hour.csv.gz" ] || echo BIKE
    [ ! -e "$raw/adult/adult.data.gz" ] || echo ADULT-81
}

# table SET: its table as text
table() {
    case $1 in
        BANK) gzip -dc "$raw/bank/bank-full.csv.gz" ;;
        ADULT | ADULT-81) gzip -dc "$raw/adult/adult.data.gz" ;;
        CREDIT) gzip -dc "$raw/credit/UCI_Credit_Card.csv.gz" ;;
        WINE) awk -F ';' -v OFS=';' 'FNR == 1 { colour = NR == 1 ? "red" : "white" }
            FNR > 1 || NR == 1 { $NF = (NR == 1 ? "colour" : colour) OFS $NF; print }' \
            "$raw/wine/winequality-red.csv" "$raw/wine/winequality-white.csv" ;;
        BIKE) gzip -dc "$raw/bike/hour.csv.gz" ;;
    esac
}

# import SET: the data set SET.dp, whose rows have norm 1. A column of ones is added where the number of columns that the paper has needs it.
import() {
    local how=(--schema "$here/schema-$1.json" --no-bias)
    [ ! -d "$out/$1.dp" ] || return 0
    case $1 in
        ADULT | CREDIT | BIKE) how=(--schema "$here/schema-$1.json" --bias) ;;
        ADULT-81) how=(--schema "$top/examples/dp-scd/schema-adult.json" --no-bias --split 0.75 --seed 1 --test "$out/$1-test.dp") ;;
    esac
    table "$1" | dp-import csv -q "${how[@]}" --row-norm unit --population "${1%-81}" -o "$out/$1.dp" -
}

# What is public of the problem: a row's gradient has norm 1 at most, and the loss is BETA-smooth; at the zero model it is F0 at most.
loss() { [ "$(dp-info --get classes "$out/$1.dp")" = 2 ] && echo logistic || echo huber; }
beta() { [ "$(loss "$1")" = logistic ] && echo 0.25 || echo 1; }
# radius SET MU: a ball that the minimum is in. F(0) is at most ln 2 or 1/2, so mu/2 |w|^2 is, too. Without mu nothing is known: 20. Where wide
# is set, what a bound on the gradient alone gives, 1/mu, and 200 without mu.
radius() {
    local most=0.5
    [ "$(loss "$1")" != logistic ] || most='log(2)'
    case $wide$2 in
        0) echo 20 ;;
        wide0) echo 200 ;;
        wide*) calculate "1 / $2" ;;
        *) calculate "sqrt(2 * $most / $2)" ;;
    esac
}

export -f loss beta radius
