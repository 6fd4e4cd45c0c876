# dpline fit: nothing to tune.
load helper

prepare() {
    dp-synth classification --rows 2000 --cols 8 --seed 7 -o small.dp --test test.dp -q
}

# printed OPTION…: the run on small.dp as one line
printed() { dpline fit small.dp --print -q "$@" | tr -s ' \n' ' '; }

@test "fit: the data set is an operand or an option, and every option is looked at before anything is run" {
    dpline fit small.dp --print -q > operand
    dpline fit --data small.dp --print -q > option
    cmp operand option
    fit.sh --print -q small.dp > script
    cmp operand script
    complains 2 "dpline fit: the data set is missing: dpline fit DATA --epsilon 1 (try --help)" dpline fit
    complains 2 "dpline fit: unexpected argument 'test.dp' (try --help)" dpline fit small.dp test.dp
    complains 2 "dpline fit: unexpected argument 'test.dp' (try --help)" dpline fit --data small.dp test.dp
    complains 2 "dpline fit: unknown option '--epochs' (try --help)" dpline fit small.dp --epochs 3
    complains 2 "dpline fit: --epsilon: needs a value" dpline fit small.dp --epsilon
    for epsilon in 0 -1 one 1e 0x1; do
        complains 2 "dpline fit: --epsilon: must be a number > 0, got '$epsilon'" dpline fit small.dp --epsilon $epsilon
    done
    for delta in 0 1 2 -1e-5; do
        complains 2 "dpline fit: --delta: must be a number > 0 and < 1, got '$delta'" dpline fit small.dp --delta $delta
    done
    complains 2 "dp-account sigma: --adjacency: must be one of null-record|replace-one|null, got 'nobody'" dpline fit small.dp --adjacency nobody
    [ ! -e small.model ] && [ ! -e small.dp/ledger ]
}

@test "fit: delta is the largest power of ten below 1 / rows^1.1, and is said" {
    delta() { dp-synth classification --rows "$1" --cols 2 -q -o n.dp -f && dpline fit n.dp --print 2> said | sed -n 's/.*--delta \([^ ]*\) .*/\1/p'; }
    for rows in 500 1001 5000 24420; do
        assert_equal "$(delta $rows)" "1e-$(/usr/bin/python3 -c "import math; print(math.floor(1.1 * math.log10($rows)) + 1)")"
    done
    assert_regex "$(cat said)" '^dpline fit: 24420 rows, .*; epsilon 1, delta 1e-5, the largest power of ten below 1 / rows\^1.1'
    dpline fit n.dp --print --delta 1e-3 2> said > print
    assert_regex "$(cat said)" 'epsilon 1, delta 1e-3$'
    assert_equal "$(sed -n 's/.*--delta \([^ ]*\) .*/\1/p' print)" 1e-3
}

@test "fit: a table that is no data set yet, and a model" {
    printf 'age,job\n1,2\n' > people.csv
    cp people.csv people.tsv
    cp people.csv "a table.arff"
    complains 1 "dpline fit: people.csv is a file, not a data set; write down what its columns mean, and import it:
  dp-import csv --infer-schema people.json people.csv   # a first schema: put in what is known without the rows
  dp-import csv --schema people.json --split 0.8 -o people.dp --test people-test.dp people.csv" dpline fit people.csv
    gzip people.tsv
    run dpline fit people.tsv.gz
    assert_failure 1
    assert_line "  dp-import tsv --schema people.json --split 0.8 -o people.dp --test people-test.dp people.tsv.gz"
    complains 1 "dpline fit: a table.arff is a file, not a data set; import it:
  dp-import arff --split 0.8 -o 'a table.dp' --test 'a table-test.dp' 'a table.arff'" dpline fit "a table.arff"
    complains 1 "dp-info: cannot open gone.dp: No such file or directory" dpline fit gone.dp
    mkdir empty.dp
    complains 1 "dp-info: cannot open empty.dp/dataset.json: not a data set (see dp-import)" dpline fit empty.dp
    sgd.sh --data small.dp --epochs 1 -q -o model
    complains 1 "dpline fit: model is a model, and what is needed is the data set to train on (dp-predict model DATA applies a model)" dpline fit model
    rm small.dp/y.npy
    complains 1 "dp-info: cannot open small.dp/y.npy: No such file or directory" dpline fit small.dp
}

@test "fit: a model that is there already is not overwritten unless it is named" {
    echo precious > small.model
    complains 2 "dpline fit: small.model is there already (-o small.model writes a new one there)" dpline fit small.dp
    assert_equal "$(cat small.model)" precious
    assert_regex "$(printed)" ' --model small\.model '
    assert_regex "$(cd / && dpline fit "$OLDPWD/small.dp/" --print -q)" ' --model small\.model '
    assert_regex "$(printed -o mine)" ' --model mine '
}
