# What a user's environment holds changes no number and no command. examples.bats and man.bats have the examples and the README's blocks.
load helper
load environments

prepare() {
    dp-synth classification --rows 300 --cols 4 --seed 7 -o small.dp -q
    counted
    mkdir other
}

# in_environment NAME COMMAND…
in_environment() { (environment "$1" && env "${words_of_env[@]}" "${@:2}"); }

# same ENVIRONMENT FILE…: files of this name are the same in ./ and other/. Debian's busybox has no logarithm and no root: its awk may
# say so, and nothing else.
same() {
    local environment=$1
    shift
    if [ "$environment" = busybox ] && grep -q '^awk: .*Math support is not compiled in$' other/said; then
        assert_file_empty "other/$1"
        return
    fi
    for file; do cmp "$file" "other/$file" || fail "$environment, ${usual[*]-}: $(cat other/said; diff "$file" "other/$file")"; done
}

# prints ENVIRONMENT WORD OPTIONS…: the command of a pipeline, without what names the search path
prints() { in_environment "$1" "$2.sh" "${@:3}" --seed 1 --print | sed '/^PATH=/d'; }

@test "every pipeline prints the same command" {
    for word in $(words); do
        [ "$word" != compare ] || continue
        while read -ra usual; do
            "$word.sh" "${usual[@]}" --seed 1 --print 2> said | sed '/^PATH=/d' > out
            assert_file_not_empty out
            for environment in $environments; do
                prints "$environment" "$word" "${usual[@]}" > other/out 2> other/said || true
                same "$environment" out
            done
        done < <(usual "$word")
    done
}

@test "a comparison and its picture" {
    methods="erm --lambda '0.001', sgd --epochs 2"
    compares() { in_environment "$1" compare.sh --data small.dp --test small.dp --methods "$methods" --seeds 2 --plot "$2" | sed 's/\t[0-9.]*$//'; }
    compares plain plot.svg > out
    for environment in $environments; do
        compares "$environment" other/plot.svg > other/out 2> other/said || true
        same "$environment" out plot.svg
    done
}

@test "dpline fit TABLE ends with a model where nobody has a home, and the ledger has what was paid for the schema" {
    dp-synth patients --rows 6000 --seed 1 -o patients.csv -q # as in the README: its noise does not decide between names
    for environment in homeless nowhere relative; do
        mkdir $environment
        cp patients.csv $environment
        cd $environment
        in_environment $environment dpline fit patients.csv --label readmitted --row-is-person > said 2>&1 || fail "$environment: $(cat said)"
        assert_file_exists patients.model
        grep -q '^dpline fit: by all runs in patients.json.ledger: epsilon [0-9.]* at delta [0-9e.-]*, by [23] runs and ' said || fail "$environment: $(cat said)"
        assert_not_exists home
        cd ..
    done
}

@test "options after an operand are options" {
    printf 'age,ill\n31,no\n64,yes\n' > t.csv
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [0, 100]},
        {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    in_environment posix dp-import csv t.csv -s s.json --no-registry -q -o t.dp
    assert_equal "$(dp-info --get rows t.dp)" 2
}

@test "a program finds the others of its directory, whatever PATH is" {
    run="dp-sample --data small.dp --rate 0.2 | cat | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 4 |
        dp-account --epsilon 5 --delta 1e-5 --no-ledger --no-registry --allow-seeded | dp-step --step 1"
    dp-loop --laps 2 --seed 1 -o plain -- "$run"
    mkdir old
    printf '#!/bin/sh\nexit 3\n' > old/dp-sample
    chmod +x old/dp-sample
    for path in /usr/bin:/bin "$PWD/old:/usr/bin:/bin"; do
        PATH=$path "$BUILD/bin/dp-loop" --laps 2 --seed 1 -o model -- "$run"
        cmp plain model
        PATH=$path "$BUILD/bin/dp-audit" --data small.dp --laps 2 --rows 2 sensitivity "dp-sample --data {} --rate 0.2 | cat |
            dp-grad --data {} --loss logistic --clip 1"
    done
    # where PATH leads to the program, it stays as it is
    ln -s "$BUILD/bin/dp-loop" old/dp-loop
    PATH=$PWD/old:$BUILD/bin:/usr/bin:/bin run "$BUILD/bin/dp-loop" --laps 2 --seed 1 -o model -- "$run"
    assert_failure
}
