load helper
load made

# The example of dpline fit: its data, the choice among settings, the making of its README.

prepare() {
    mkdir -p examples
    cp -r "$ROOT/examples/common" "$ROOT/examples/no-tuning" "$ROOT/examples/dp-scd" "$ROOT/examples/private-erm" examples
    cp -r "$ROOT/pipelines" .
    cd examples/no-tuning
}

# models METHOD SETTING SCORES: a line of measured.tsv
models() { printf 'models\tadult\t1\t%s\t%s\t%s\t1\t%s\t-\t-\n' "$1" "$2" "$(wc -w <<< "$3")" "$3"; }

@test "the README has the tables of its measurements" {
    cp README.md before
    ../common/write-readme.sh
    diff before README.md
}

@test "the measurements of the example can be drawn" {
    command -v gnuplot > /dev/null || skip "needs gnuplot"
    rm -f gaps.png
    ./figures.sh
    [ -s gaps.png ]
    grep -q '(gaps.png)' README.md
}

@test "the table has the best median of the settings that were measured in full" {
    {
        printf 'set\tadult\tclasses\tfound\t1e-3\t100\t5\t2\n'
        models fit x '0.9 0.7 0.8'
        models sgd tried '0.99 0.99'
        models sgd one '0.5 0.9 0.6'
        models sgd two '0.7 0.1 0.8'
    } > lines
    assert_equal "$(awk -v kind=classes -f table.awk lines)" $'data\trules were\tepsilon\t`fit`\tDP-SGD, best of 24\nAdult\tfound on it\t1\t0.8000\t0.7000'
    assert_equal "$(awk -v kind=against -f table.awk lines | tail -n 1)" $'found on it\t1\t1\t0.0000\t+0.1000\t\t\t'
}

@test "AdaSSP solves for the weights that moments and sums ask for" {
    # M = [[2, 1], [1, 3]], twice sqrt(2) off the diagonal; lambda is nearly 0; v = M (1, -1)
    {
        printf 'moments %s\n' 2 1.414213562 3
        printf 'gradient %s\n' 1 -2
        printf 'row %s\n' '1 0' '0 1' '1 2' '2 1'
        printf 'label %s\n' 1 -1 0 1.5
    } > lines
    # predictions 1, -1, -1, 1: squared error 1.25, of 3.6875
    assert_equal "$(awk -v cols=2 -v classes=0 -v z=1e-9 -f adassp.awk lines)" "$(printf '0.66102\t-\t-')"
    # classes 1, 0, 0, 1 by the sign
    sed -i 's/label .*/label 1/' lines
    assert_equal "$(awk -v cols=2 -v classes=2 -v z=1e-9 -f adassp.awk lines | cut -f 1)" 0.50000
    # with z = 1 lambda is sqrt(2 ln(160) / 2) = 2.2528, and w = (.33988, -.44545), which is 0 at (1, .76300)
    { grep -v 'row\|label' lines; printf 'row 1 %s\n' 0.762 0.764; printf 'label %s\n' 1 0; } > regularised
    assert_equal "$(awk -v cols=2 -v classes=2 -v z=1 -f adassp.awk regularised | cut -f 1)" 1.00000
    run awk -v cols=2 -v classes=0 -v z=1 -f adassp.awk <(grep -v row lines)
    assert_failure
}

@test "what is measured again takes the place of what was measured" {
    printf 'set\tadult\tclasses\tfound\t1e-3\t100\t5\t2\n' > measured.tsv
    { models fit x '0.1 0.2' && models sgd one 0.3 && models sgd two 0.4; } >> measured.tsv
    models sgd three '0.5 0.6' > new
    ./keep.sh new
    assert_equal "$(cut -f 4,5,8 measured.tsv)" "$(printf 'found\t1e-3\t2\nfit\tx\t0.1 0.2\nsgd\tthree\t0.5 0.6')"
}

@test "pictures become IDX files in grey, by class and name" {
    for program in djpeg cjpeg zip; do command -v $program > /dev/null || skip "needs $program"; done
    for part in train test; do
        for class in ape bee; do
            mkdir -p "$part/$class"
            for n in 1 2 3; do
                { printf 'P5\n32 32\n255\n' && printf "%1024s" '' | tr ' ' "$([ $class = ape ] && echo "$n" || echo A)"; } | cjpeg > "$part/$class/$n.jpg"
            done
        done
    done
    zip -qr all.zip train test
    bash -c '. ./common.sh && out=$PWD && grey all.zip'
    assert_equal "$(od -A n -t u1 cifar-train-labels | tr -s ' \n' ' ')" ' 0 0 8 1 0 0 0 6 0 0 0 1 1 1 '
    assert_equal "$(head -c 16 cifar-test-images | od -A n -t u1 | tr -s ' \n' ' ')" ' 0 0 8 3 0 0 0 6 0 0 0 16 0 0 0 16 '
    assert_equal "$(tail -c +17 cifar-test-images | tr -s '1-9A')" 123A
    assert_equal "$(wc -c < cifar-test-images)" $((16 + 6 * 256))
}

@test "the example runs on small tables" {
    mkdir -p data/wine
    wine 600 2 > data/wine/winequality-white.csv
    export DPLINE_DATA=$PWD/data DPLINE_FASHION=$PWD OUT=$PWD/out SPLITS=2 TRIED=1 FINALISTS=1 JOBS=1 METHODS='fit sgd adam scd adassp optimum'
    rm -f measured.tsv
    within 300 ./run.sh --write classes numbers
    assert_success
    # every data set whose table is there, and every method; a setting that is best for one method is measured twice
    assert_equal "$(awk -F '\t' '$1 == "models" && $6 == 2 { print $2 "/" $4 }' measured.tsv | sort -u)" \
        "$(for set in white white-6; do printf "$set/%s\n" $METHODS; done | sort)"
    assert_equal "$(awk -F '\t' '$1 == "models" && $4 == "sgd"' measured.tsv | wc -l)" 48
    # quality follows from the numbers: there is something to learn
    awk -F '\t' '$1 == "models" && $4 == "optimum" && !($8 > .6) { bad = 1 } END { exit bad }' measured.tsv
    # finished work is not repeated
    touch now
    within 60 ./run.sh classes numbers
    assert_success
    assert_equal "$(find out/results-*/ -type f -newer now)" ''
}

@test "curves of a small table are measured" {
    mkdir -p data/tables
    awk 'BEGIN {
        srand(3)
        print "age,sex,bmi,children,smoker,region,label"
        while (n++ < 1000) {
            age = int(18 + 46 * rand())
            print age ",female," 15 + 40 * rand() ",0," (rand() < .5 ? "no" : "yes") ",southwest," 30000 + 20 * (age - 41) ^ 2 * (age < 41 ? -1 : 1)
        }
    }' | gzip > data/tables/insurance.csv.gz
    export DPLINE_DATA=$PWD/data OUT=$PWD/out SPLITS=1 EPSILONS='0.01 8'
    within 100 ./curves.sh --write insurance adult
    assert_success
    # at .01 every way is refused; at 8 the age bends, cosines bend with it
    assert_equal "$(cut -f 1-5 curves.tsv)" "$(printf 'insurance\t8\t%s\t%s\n' line $'yes\t12' cosines $'yes\t36' products $'yes\t100')"
    awk -F '\t' '$3 == "line" { line = $6 } $3 == "cosines" && !($6 > line) { bad = 1 } END { exit bad }' curves.tsv
    grep -q '^| insurance | 8 | R² | ' README.md
    # fit is ahead of a line without privacy, and of the best of DP-SGD with lines
    EPSILONS=8 within 60 ./rivals.sh --write insurance
    assert_success
    awk -F '\t' 'NR == 2 && $4 > $5 && $4 > $6 && $6 > 0.5 { good = 1 } END { exit NR != 2 || !good }' rivals.tsv
    grep -q '^| insurance | 8 | R² | [0-9. |]*$' README.md
}
