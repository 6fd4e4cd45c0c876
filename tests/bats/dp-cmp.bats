# dp-cmp: the same or not, and what differs first.
load helper

# train OUT SEED [dp-loop options]
train() {
    dp-loop --laps 4 --seed "$2" -q -o "$1" "${@:3}" -- "dp-sample --data small.dp --rate 0.2 |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step" > "$1.run"
}

prepare() {
    small_data 200 5 2
    train one 1
}

@test "usage" {
    run dp-cmp --help
    assert_success
    assert_line --index 0 "Usage: dp-cmp [options] MODEL MODEL"
    complains 2 "dp-cmp: expected two models (try --help)" dp-cmp one
    complains 2 "dp-cmp: expected two models (try --help)" dp-cmp one one one
    complains 2 "dp-cmp: only one of the two models can come from standard input" dp-cmp - -
}

@test "the same run gives the same model, another seed another" {
    train again 1 --exec processes
    run dp-cmp one again
    assert_success
    assert_output ''
    run dp-cmp - again < one
    assert_success
    # a model against the run it came from: the last lap counts
    dp-cmp one again.run
    train other 2
    run dp-cmp one other
    assert_failure 1
    assert_output --regexp '^one other differ: model\[0, 0\]: -?[0-9.e-]+ and -?[0-9.e-]+$'
}

@test "every field counts, unless only the weights do" {
    edit epsilon=77 < one > dearer
    run dp-cmp one dearer
    assert_failure 1
    assert_output --regexp '^one dearer differ: epsilon: [0-9.]+ and 77$'
    run dp-cmp --tolerance 1e9 one dearer
    assert_failure 1
    run dp-cmp --weights-only one dearer
    assert_success
    assert_output ''
    edit seeded= < one > denies
    run dp-cmp one denies
    assert_failure 1
    assert_output "one denies differ: seeded: only the first has it"
    edit record.rows=199 < one > fewer
    run dp-cmp one fewer
    assert_failure 1
    assert_output "one fewer differ: rows in record 1"
    edit lap=7 < one > later
    run dp-cmp one later
    assert_failure 1
    assert_output "one later differ: lap: 4 and 7"
}

@test "tolerances on the weights" {
    scale=$(dp-info --get scale one)
    largest=$(dp-info --get model one | sort -g | awk -v s="$scale" '{ a = $1 * s; if (a < 0) a = -a; if (a > m) m = a } END { printf "%.6g", m }')
    edit scale="$(awk -v s="$scale" 'BEGIN { print s * 1.01 }')" < one > longer
    run dp-cmp --weights-only one longer
    assert_failure 1
    assert_output --partial "one longer differ: weight[0, 0]: "
    dp-cmp --weights-only --relative 0.011 one longer
    run dp-cmp -w -r 0.009 one longer
    assert_failure 1
    dp-cmp -w -t "$(awk -v m="$largest" 'BEGIN { print m * 0.0101 }')" one longer
    run dp-cmp -w -t "$(awk -v m="$largest" 'BEGIN { print m * 0.0099 }')" one longer
    assert_failure 1
    # scale is part of the weights
    dp-cmp --relative 0.011 one longer
    run dp-cmp one longer
    assert_failure 1
}

@test "models of different shapes" {
    dp-synth classification --rows 200 --cols 6 --seed 7 -o wide.dp -q
    mv small.dp narrow.dp && mv wide.dp small.dp
    train wide 1
    run dp-cmp --weights-only one wide
    assert_failure 1
    assert_output "one wide differ: weights: 1 × 5 and 1 × 6"
}

@test "what is not a model" {
    complains 1 "dp-cmp: cannot open nowhere: No such file or directory" dp-cmp one nowhere
    head -c 300 one > short
    complains 4 "dp-cmp: short ends inside a frame" dp-cmp one short
    edit kind=end < one > endless
    complains 4 "dp-cmp: endless ends before its end frame: the run behind it did not finish" dp-cmp one endless
    edit kind=lap < one > empty
    complains 1 "dp-cmp: empty holds no model" dp-cmp empty one
    edit 'label="noised"' < one > noised
    complains 5 "dp-cmp: noised holds a noised frame, not a released model" dp-cmp one noised
    edit model= < one > bare
    complains 1 "dp-cmp: bare holds no model" dp-cmp one bare
    head -c 100 /dev/zero > zeros
    complains 1 "dp-cmp: zeros: no model and no other stream of dpline: it begins with byte 0x00" dp-cmp one zeros
    dp-sample --data nowhere.dp < one > failed 2> /dev/null || true
    complains 4 "dp-cmp: failed ends with the failure of dp-sample: cannot open nowhere.dp/dataset.json: not a data set (see dp-import)" dp-cmp failed one
}

@test "standard output closed or full" {
    train other 2
    complains 1 "dp-cmp: cannot write standard output: No space left on device" bash -c 'dp-cmp one other > /dev/full'
    complains 1 "dp-cmp: cannot write standard output: Bad file descriptor" bash -c 'dp-cmp one other >&-'
}
