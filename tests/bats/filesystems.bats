# File systems with fewer features: what has been paid for arrives there, too.
load helper

prepare() {
    case $BUILD in *asan*) skip "the sanitizer has to be loaded first" ;; esac
}

# on LESS COMMAND…: where those features are missing (tests/files/less.c)
on() { LESS=$1 LD_PRELOAD=$BUILD/files/less.so "${@:2}"; }

@test "dpline fit of a table makes its model where links, directory syncs, names for unnamed files or shared maps are missing" {
    dp-synth patients --rows 2000 --seed 4 -q -o patients.csv
    for less in links syncs naming shared; do
        mkdir $less
        cd $less
        cp ../patients.csv .
        on $less dpline fit patients.csv --label readmitted --row-is-person --no-registry -o model -q
        dp-info --get epsilon model
        dp-account verify patients.json.ledger
        cd ..
    done
}

@test "a data set that replaces another keeps its ledger where there are no hard links" {
    printf '1 1:1\n0 1:2\n' > t.svm
    on links dp-import libsvm -q -o t.dp t.svm
    on links dp-import libsvm -q -f -o t.dp t.svm
    assert_not_exist t.dp/ledger
    echo paid > t.dp/ledger
    echo mark > t.dp/ledger.mark
    inodes=$(stat -c %i t.dp/ledger t.dp/ledger.mark)
    on links dp-import libsvm -q -f -o t.dp t.svm
    assert_equal "$(stat -c %i t.dp/ledger t.dp/ledger.mark)" "$inodes"
    assert_equal "$(cat t.dp/ledger t.dp/ledger.mark)" "$(printf 'paid\nmark')"
}

@test "checkpoints and --resume, where directories cannot be synced" {
    small_data
    run_of() { dp-loop --laps 20 -q --checkpoint ck --checkpoint-every 3 -o model "$@" -- "dp-sample --data small.dp --rate 0.2 |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 20 | dp-account --epsilon 10 --delta 1e-5 | dp-step" > stream; }
    on syncs run_of
    dp-account verify small.dp
}

@test "a model takes the place of another where a file without a name cannot be named, and the first stays until then" {
    small_data
    echo before > model
    on naming dpline dp-sgd --data small.dp --epochs 1 -o model -q
    dp-info --get lap model
    assert_equal "$(find . -name 'model*')" ./model
}

@test "where nothing can be locked, nothing is paid" {
    small_data
    complains 1 "dp-account: cannot lock the ledger $PWD/small.dp/ledger: No locks available (--ledger FILE names another one, --no-ledger goes without)" env LESS=locks LD_PRELOAD="$BUILD/files/less.so" \
        dpline dp-sgd --data small.dp --epochs 1 -o model -q
    assert_not_exist model
}
