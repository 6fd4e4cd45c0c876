load helper
load made

# The example of Zhang et al.: its data, its formulas, the making of its README.

prepare() {
    mkdir -p examples
    cp -r "$ROOT/examples/common" "$ROOT/examples/private-erm" "$ROOT/examples/dp-scd" examples
    cp -r "$ROOT/pipelines" .
    cd examples/private-erm
}

# columns SET OPTION: of the data set that the table on standard input makes
columns() {
    dp-import csv -q --schema "schema-$1.json" "$2" --row-norm unit -o "$1.dp" -
    dp-info --get cols "$1.dp"
}

@test "tables have as many columns as in the paper, Adult one less" {
    assert_equal "$(printf '%s\n' '"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";"month";"duration";"campaign";"pdays";"previous";"poutcome";"y"' \
        '58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"' | columns BANK --no-bias)" 42
    assert_equal "$(echo '25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, ?, <=50K' | columns ADULT --bias)" 109
    assert_equal "$(printf '%s\n' 'ID,LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,PAY_3,PAY_4,PAY_5,PAY_6,BILL_AMT1,BILL_AMT2,BILL_AMT3,BILL_AMT4,BILL_AMT5,BILL_AMT6,PAY_AMT1,PAY_AMT2,PAY_AMT3,PAY_AMT4,PAY_AMT5,PAY_AMT6,Default' \
        '1,20000,2,2,1,24,2,2,-1,-1,-2,-2,3913,3102,689,0,0,0,0,689,0,0,0,0,1' | columns CREDIT --bias)" 34
    assert_equal "$(printf '%s\n' 'instant,dteday,season,yr,mnth,hr,holiday,weekday,workingday,weathersit,temp,atemp,hum,windspeed,casual,registered,cnt' \
        '1,2011-01-01,1,0,1,0,0,6,0,1,0.24,0.2879,0.81,0,3,13,16' | columns BIKE --bias)" 62
    mkdir wine
    wine 3 1 > wine/winequality-red.csv
    wine 2 2 > wine/winequality-white.csv
    assert_equal "$(raw=$PWD bash -c '. ./common.sh && raw=$0 table WINE' "$PWD" | columns WINE --no-bias)" 12
    # three red ones, two white ones
    assert_equal "$(dp-info --get rows WINE.dp)" 5
    assert_equal "$(raw=$PWD bash -c '. ./common.sh && raw=$0 table WINE' "$PWD" | cut -d ';' -f 12 | tr '\n' ' ')" 'colour red red red white white '
}

@test "iterations and noise are those that the paper prints" {
    dp-synth classification --rows 1000 --cols 4 --seed 1 -o set.dp
    printed() { noise=${3-gaussian} OUT=$PWD bash -c '. ./common.sh && . ./methods.sh && out=$1 && as_printed set $2 $3' - "$PWD" "$1" "$2"; }
    # beta = 0.26, D = sqrt(2 ln 2 / 0.01) = 11.774, d = 4, delta = 0.001: T = (mu² + beta²) / (mu beta) ln((mu n epsilon D)² / (d ln(1 / delta)))
    # = 26.0385 ln(501.69) = 161.9; sigma = 5 (1 + beta / mu) / (n beta) sqrt(2 ln(2 / delta))
    assert_equal "$(printed 0.01 1)" '162 3.703703704 2.024454396'
    # beta = 0.25, D = 20: T = ((beta n epsilon D)² / (d ln(1 / delta)))^(1/3); 3 T / (beta n) sqrt(2 ln(2 / delta)) / epsilon
    assert_equal "$(printed 0 2)" '154 4 3.602629067'
    # epsilon alone: d² in place of d ln(1 / delta), and the noise has the scale of the sensitivity / epsilon
    assert_equal "$(printed 0.01 1 gamma)" '177 3.703703704 0.5192307692'
    assert_equal "$(printed 0 2 gamma)" '185 4 1.11'
    # an epsilon so small that the logarithm is negative: one iteration
    assert_equal "$(printed 0.01 0.001 | cut -d ' ' -f 1)" 1
}

@test "the README has the tables of its measurements" {
    cp README.md before
    ../common/write-readme.sh
    diff before README.md
}

@test "the measurements of the example can be drawn" {
    command -v gnuplot > /dev/null || skip "needs gnuplot"
    rm -f errors.png
    ./figures.sh
    [ -s errors.png ]
    grep -q '(errors.png)' README.md
}

@test "the example runs on a small table" {
    mkdir -p data/wine
    wine 400 1 > data/wine/winequality-red.csv
    wine 600 2 > data/wine/winequality-white.csv
    export DPLINE_DATA=$PWD/data OUT=$PWD/out ROUNDS=5 SEEDS=2 MUS='0 0.01' EPSILONS=1 JOBS=1
    within 300 ./run.sh --write table
    assert_success
    # only objective perturbation needs a regulariser
    assert_equal "$(awk -F '\t' '$1 == "cell" { n[$4] = n[$4] $5 " " } END { for (mu in n) print mu ": " n[mu] }' measured.tsv | sort)" \
        '0.01: published gamma tight stopped psgd gd objective sgd-2014 sgd published-wide sgd-2014-wide sgd-theorem-wide 
0: published gamma tight stopped psgd gd sgd-2014 sgd published-wide sgd-2014-wide sgd-theorem-wide '
    # no model is better than the minimum; the same descent has less noise with the tight bound, and its gate reports the
    # requested numbers
    awk -F '\t' '$1 == "cell" && $9 <= 0 { bad = 1 } END { exit bad }' measured.tsv
    awk -F '\t' '$1 == "cell" { e[$5, $4, $6] = $9; c[$5, $4, $6] = $15 }
        END { for (i in e) if (i ~ /^tight/) { split(i, p, SUBSEP); if (!(e["published", p[2], p[3]] > e[i]) || c[i] > p[3] || !(c["published", p[2], p[3]] < c[i])) exit 1 } }' measured.tsv
    # finished work is not repeated
    touch now
    within 60 ./run.sh table
    assert_success
    assert_equal "$(find out/results-*/ -type f -newer now)" ''
}
