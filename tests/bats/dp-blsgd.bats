load helper

# The example of DP-BLSGD: the preparation of its data, and the README that it makes.

prepare() {
    mkdir examples
    cp -r "$ROOT/examples/common" "$ROOT/examples/dp-blsgd" examples
    ln -s examples/dp-blsgd example
}

# fields N: the lines of standard input have N fields each
fields() { awk -v n="$1" 'NF != n { print NR ": " NF; bad = 1 } END { exit bad }'; }

@test "a row of Adult has a column for each category and bin" {
    printf '%s\n' '39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K' \
        '|1x3 Cross validator' '' '25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 30, ?, >50K.' > table
    awk -f example/adult.awk table > dat
    [ "$(wc -l < dat)" = 2 ]
    fields 124 < dat
    # 14 attributes, 3 of them missing in the second row; the label is last
    assert_equal "$(awk '{ n = 0; for (i = 1; i < NF; i++) n += $i; print n, $NF }' dat)" $'14 0\n11 1'
}

@test "bins of Adult have about equally many rows, and none is empty" {
    awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 60 + 17 ", Private, " i ", 11th, " i % 16 + 1 ", Widowed, Sales, Wife, White, Male, " \
        (i % 10 ? 0 : i) ", 0, " i % 7 * 10 ", Cuba, <=50K" }' | awk -f example/adult.awk > dat
    # fnlwgt is different in each row: five bins of 200
    assert_equal "$(awk '{ for (i = 14; i <= 18; i++) n[i] += $i } END { print n[14], n[15], n[16], n[17], n[18] }' dat)" '200 200 200 200 200'
    # age, education-num and hours: all five are used
    assert_equal "$(awk '{ for (i = 1; i <= 123; i++) n[i] += $i } END { for (i = 1; i <= 5; i++) if (!n[i] || !n[i + 34] || !n[i + 77]) print i }' dat)" ''
    # capital-gain: nothing, or something
    assert_equal "$(awk '{ a += $74; b += $75 } END { print a, b }' dat)" '901 99'
}

@test "a row of Bank has 32 columns and the label" {
    printf '%s\n' '"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";"month";"duration";"campaign";"pdays";"previous";"poutcome";"y"' \
        '58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"' \
        '30;"unknown";"divorced";"unknown";"yes";-5;"no";"yes";"telephone";17;"nov";508;4;184;2;"success";"yes"' | awk -f example/bank.awk > dat
    assert_equal "$(sed -n 1p dat)" '58 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1 0 2143 1 0 0 0 155 261 1 0 0 0 0 0 0 0'
    assert_equal "$(sed -n 2p dat)" '30 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 -5 0 1 0 1 347 508 4 1 184 2 0 0 1 1'
}

@test "folds are parts of a permutation that the seed alone decides" {
    awk -v rows=1003 -v folds=10 -v seed=1 -f example/folds.awk > one
    awk -v rows=1003 -v folds=10 -v seed=2 -f example/folds.awk > two
    assert_equal "$(sort one | uniq -c | awk '{ print $1 }' | sort | uniq -c | awk '{ print $1 "×" $2 }' | tr '\n' ' ')" '7×100 3×101 '
    run -1 cmp -s one two
    # not the order of the rows: of the pairs of neighbours about a tenth is in one fold
    awk 'NR > 1 && $1 == before { n++ } { before = $1 } END { exit !(n > 50 && n < 150) }' one
    assert_equal "$(head -n 5 one | tr '\n' ' ')" "$(awk -v rows=1003 -v folds=10 -v seed=1 -f example/folds.awk | head -n 5 | tr '\n' ' ')"
}

@test "columns of a .dat are scaled to [0, 1], and rows to a norm of at most 1" {
    printf '%s\n' '1 7 -0.5 0' '3 7 2 1' '2 7 -0.5 -1' > t.dat
    awk -v schema=t.json -v divisor=t.d -f example/scale.awk t.dat t.dat t.dat > t.csv
    # (1, 1, and the ones) has the largest norm
    assert_equal "$(cat t.d)" 1.73205081
    assert_equal "$(cat t.csv)" $'0,0,0.577350269,0\n0.577350269,0.577350269,0.577350269,1\n0.288675134,0,0.577350269,0'
    dp-import csv -q --schema t.json --row-norm cap --no-bias -o t.dp - < t.csv
    assert_equal "$(dp-info --get private_preprocessing t.dp)" inferred-schema
    assert_equal "$(dp-info --get columns t.dp)" '["x1","x3","ones"]'
    printf '%s\n' '1 2 0' '1 2' > bad.dat
    run awk -v schema=b.json -v divisor=b.d -f example/scale.awk bad.dat bad.dat bad.dat
    assert_failure
    assert_output --partial 'line 2 has 2 fields, the first has 3'
}

@test "the README has the tables of its measurements" {
    cp example/README.md before
    (cd example && ../common/write-readme.sh)
    diff before example/README.md
}

@test "the measurements of the example can be drawn" {
    command -v gnuplot > /dev/null || skip "needs gnuplot"
    rm -f example/*.png
    example/figures.sh
    for picture in logistic svm settings; do
        [ -s example/$picture.png ] || fail "$picture was not drawn"
        grep -q "($picture.png)" example/README.md || fail "$picture is not shown"
    done
}

@test "the example runs on a table that is not known to it" {
    mkdir -p data/dat
    awk 'BEGIN { srand(1); for (i = 0; i < 600; i++) { a = rand(); b = int(3 * rand()); c = rand(); print a, b, 5, c, (a + c + b / 4 > 1.2) ? 1 : -1 } }' > data/dat/SMALL.dat
    cp -r "$ROOT/pipelines" .
    DPLINE_DATA=$PWD/data OUT=$PWD/out QUICK=1 PARTS=3 EPSILONS=0.8 within 300 examples/dp-blsgd/run.sh --write logistic counts
    assert_success
    # every method; models that are better than the majority where nothing is private
    for method in majority non-private sgd blsgd blsgd-published blgd blgd-published ac agd outpert-gd outpert-rsgd objpert privgene; do
        awk -F '\t' -v method=$method '$1 == "logistic" && $2 == "SMALL" && $3 == method { n++ } END { exit !n }' examples/dp-blsgd/measured.tsv || fail "no $method"
    done
    awk -F '\t' '$1 == "logistic" { a[$3] = $7 } END { exit !(a["non-private"] > a["majority"] + .1) }' examples/dp-blsgd/measured.tsv
    # a repeated run trains nothing again
    touch now
    DPLINE_DATA=$PWD/data OUT=$PWD/out QUICK=1 PARTS=3 EPSILONS=0.8 within 60 examples/dp-blsgd/run.sh logistic counts
    assert_success
    assert_equal "$(find out -name 'non-private*' -newer now)" ''
    # with some methods only: the lines of other methods stay, and the differences are to the tuned DP-SGD
    cp examples/dp-blsgd/measured.tsv whole.tsv
    DPLINE_DATA=$PWD/data OUT=$PWD/other QUICK=1 PARTS=3 EPSILONS=0.8 METHODS=objpert within 60 examples/dp-blsgd/run.sh --write logistic
    assert_success
    diff whole.tsv examples/dp-blsgd/measured.tsv
    assert_equal "$(cut -f 3 other/logistic.tsv | sort -u)" objpert
}
