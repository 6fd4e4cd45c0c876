# Files of a data set that change while they are read: truncated, overwritten, replaced.
load helper

prepare() {
    small_data 4000 6 2
    CHILD='dp-sample --data small.dp --rate 0.02 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 200 | dp-account --epsilon 1e4 --delta 1e-5 | dp-step'
}

# ends_with MESSAGE MODE COMMAND…: a long run during which COMMAND happens ends with status 1 and prints exactly that sentence
ends_with() {
    local message=$1 mode=$2 got=0 run
    shift 2
    timeout -k 2 60 dp-loop --laps 10000000 --exec "$mode" -o model -- "$CHILD" > stream 2> said & run=$!
    for _ in $(seq 300); do
        [ "$(stat -c %s stream)" -gt 100000 ] && break
        sleep 0.1
    done
    "$@"
    wait $run || got=$?
    assert_equal "$got" 1
    run grep -v warning said
    assert_output --regexp "$message"
    # no other message
    assert_equal "$(grep -v warning said | grep -c '^dp-')" 1
    assert_equal "$(find . -name 'model.*')" ''
}

cut() { truncate -s 200 small.dp/X.npy; }
cut_narrow() { truncate -s 200 small.dp/X_i16.npy; }
write_over() { cp small.dp/X.npy copy && cat copy > small.dp/X.npy; }
edit_label() { printf '\0\0\0\0\0\0\360\77' | dd of=small.dp/y.npy bs=1 seek=128 conv=notrunc status=none; }

@test "a data file that is cut short ends the run with its name, in both modes" {
    for mode in fused processes; do
        dp-synth classification --rows 4000 --cols 6 --seed 7 -q -f -o small.dp
        ends_with '^dp-[a-z-]+: small.dp/X.npy was (cut short|changed) while it was read(, or its disk fails)?$' $mode cut
    done
    dp-synth classification --rows 4000 --cols 6 --seed 7 --quantise -q -f -o small.dp
    ends_with '^dp-[a-z-]+: small.dp/X_i16.npy was (cut short|changed) while it was read(, or its disk fails)?$' fused cut_narrow
}

@test "a data file that is written over ends the run with its name" {
    ends_with '^dp-[a-z-]+: small.dp/X.npy was (cut short|changed) while it was read(, or its disk fails)?$' fused write_over
    ends_with '^dp-[a-z-]+: small.dp/y.npy was changed while it was read$' processes edit_label
}

@test "a data set that is replaced stays whole for those who have it open" {
    printf '1 1:1\n0 1:2\n' > a.svm
    printf '0 1:1\n1 1:2\n' > b.svm
    dp-import libsvm -q -o t.dp a.svm
    (for _ in $(seq 20); do for t in a b; do dp-import libsvm -q -f -o t.dp $t.svm; done; done) & writer=$!
    while kill -0 $writer 2> /dev/null; do
        dp-info --verify t.dp > info
    done
    wait $writer
}

@test "a file of a data set that is no file is refused, not waited for" {
    for file in X.npy y.npy dataset.json; do
        rm -rf small.dp
        small_data
        rm small.dp/$file
        mkfifo small.dp/$file
        complains 1 "dp-info: small.dp/$file is not a file" dp-info small.dp
    done
}

@test "too few descriptors are not taken for a missing data set" {
    few() { (ulimit -n 4 && exec dp-info small.dp) 3>&- 4>&-; }
    run few
    assert_failure 1
    assert_output "dp-info: cannot open small.dp/dataset.json: Too many open files"
}

@test "a command that is no stage says it too, at its end" {
    dp-synth classification --rows 40000 --cols 6 --seed 7 -q -f -o small.dp
    dp-loop --laps 2 -o model -- "$CHILD" > /dev/null 2> said
    predict() { dp-predict model small.dp && echo 0 > status || echo $? > status; }
    # the pipe cannot hold all lines, so some are computed after the file was cut
    predict 2> said | { head -c 1 > /dev/null; truncate -s 200 small.dp/X.npy; cat > /dev/null; }
    assert_equal "$(cat status said)" "1
dp-predict: small.dp/X.npy was cut short while it was read, or its disk fails"
}
