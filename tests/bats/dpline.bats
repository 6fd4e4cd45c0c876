# dpline WORD: the pipelines as one command.
load helper

@test "dpline lists the pipelines and the commands, each with its summary" {
    for form in '' help --help -h; do
        run dpline $form
        assert_success
        assert_line --regexp '^  scd +Train a linear model by private stochastic dual coordinate descent \(DP-SCD\)\.$'
        shown=$(sed -n '/^Pipelines:$/,/^$/s/^  \([a-z-]*\) .*[a-z].*\.$/\1/p' <<< "$output" | sort)
        assert_equal "$shown" "$(cd "$ROOT/pipelines" && ls *.sh | grep -v "^options" | sed 's/\.sh$//' | sort)"
        assert_line "  dp-loop         $(dp-loop --help | sed -n 2p)"
        shown=$(sed -n '/^Commands/,/^$/s/^  \(dp-[a-z-]*\) .*[a-z].*\.$/\1/p' <<< "$output" | sort)
        assert_equal "$shown" "$(cd "$BUILD/bin" && ls dp-* | sort)"
    done
    run dpline --version
    version=$(dp-loop --version)
    assert_output "dpline ${version#dp-loop }"
}

@test "dpline WORD is the pipeline WORD.sh, called by that name" {
    small_data 400
    dpline scd --data small.dp --epochs 1 --seed 1 -q -o one
    scd.sh --data small.dp --epochs 1 --seed 1 -q -o other
    cmp one other
    run dpline scd --data small.dp --epochs 1 --seed 1 -o one
    assert_line --regexp '^dpline scd: epsilon .*; 4 laps; the model is in one$'
    complains 2 "dpline scd: --data is required" dpline scd
    complains 1 "dp-info: cannot open gone.dp: No such file or directory" dpline scd --data gone.dp
    run dpline help scd
    assert_success
    assert_line --index 0 "Usage: dpline scd --data DIR [options]"
    assert_equal "$output" "$(dpline scd --help)"
}

@test "a word that is no pipeline" {
    complains 2 "dpline: 'colour' is neither a pipeline nor a command (dpline fit TABLE trains a model; dpline help lists all)" dpline colour
    complains 2 "dpline: '' is neither a pipeline nor a command (dpline fit TABLE trains a model; dpline help lists all)" dpline ''
    complains 2 "dpline: 'options' is neither a pipeline nor a command (dpline fit TABLE trains a model; dpline help lists all)" dpline options
    complains 2 "dpline: '../pipelines/scd' is neither a pipeline nor a command (dpline fit TABLE trains a model; dpline help lists all)" dpline ../pipelines/scd
    complains 2 "dpline: 'colour' is neither a pipeline nor a command (dpline fit TABLE trains a model; dpline help lists all)" dpline help colour
}

@test "a word that is a command" {
    dpline synth classification -n 200 -d 3 -q -o small.dp
    assert_equal "$(dpline info --get rows small.dp)" 200
    dpline fit small.dp --epsilon 1 -q -o model
    assert_equal "$(dpline report small.dp)" "$(dp-account report small.dp)"
    dpline certify --data small.dp -m model
    complains 2 "dpline: help: takes one pipeline, got 'sgd' after 'scd'" dpline help scd sgd
    complains 2 "dpline: unknown option '--colour' (try --help)" dpline --colour
}

@test "dpline where it is installed, and behind a link" {
    make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$PWD/stage" > log 2>&1 || fail "$(cat log)"
    PATH=/usr/bin:/bin
    ln -s "$PWD/stage/opt/dpline/bin/dpline" "a link"
    for command in "$PWD/stage/opt/dpline/bin/dpline" "$PWD/a link" "$ROOT/pipelines/dpline"; do
        [ "$BUILD" = "$ROOT/build" ] || [[ $command == *dpline/bin* ]] || continue
        complains 2 "dpline scd: --data is required" "$command" scd
        run "$command"
        assert_line --partial 'scd-published'
        assert_line --regexp '^  dp-grad +Compute .*\.$'
    done
    "$PWD/stage/opt/dpline/bin/dp-synth" classification --rows 200 --cols 4 -q -o demo.dp
    within 30 "$PWD/a link" scd --data demo.dp --epochs 1 -q -o model
    assert_file_exist model
}
