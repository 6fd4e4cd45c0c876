# The sum of the tests: a part that dies is a failure, whatever it printed before.
load helper

@test "tests/ci adds up the totals of its commands" {
    run "$ROOT/tests/ci" 'echo first; echo "3 passed, 0 failed, 1 skipped"' 'echo "4 passed, 0 failed, 0 skipped"'
    assert_success
    assert_equal "${lines[-1]}" "7 passed, 0 failed, 1 skipped"
}

@test "tests/ci fails when any command does, and goes on" {
    run "$ROOT/tests/ci" 'echo "3 passed, 1 failed, 0 skipped"; exit 1' 'echo "2 passed, 0 failed, 0 skipped"'
    assert_failure
    assert_equal "${lines[-1]}" "5 passed, 1 failed, 0 skipped"
    run "$ROOT/tests/ci" 'echo "3 passed, 0 failed, 0 skipped"' 'echo it does not compile; exit 2'
    assert_failure
    assert_line "not ok echo it does not compile; exit 2: status 2"
    assert_equal "${lines[-1]}" "3 passed, 1 failed, 0 skipped"
    run "$ROOT/tests/ci" 'echo "3 passed, 1 failed, 0 skipped"'
    assert_failure
    run "$ROOT/tests/ci" true
    assert_failure
}

@test "tests/run counts a unit test that dies, and a fuzzer that did not run" {
    mkdir -p unit fuzz
    printf '#!/bin/sh\necho ok 1 first\nkill -SEGV $$\n' > unit/test_dies
    printf '#!/bin/sh\necho ok 1 first\n' > unit/test_lives
    chmod +x unit/*
    BUILD=$PWD run "$ROOT/tests/run" unit
    assert_failure
    assert_equal "${lines[-1]}" "2 passed, 1 failed, 0 skipped"
    echo 'csv  9 runs  8 edges  0 findings' > fuzz/csv.result
    echo 'arff  9 runs  8 edges  10 findings' > fuzz/arff.result
    FUZZED="csv arff idx" BUILD=$PWD run "$ROOT/tests/run" fuzzed
    assert_failure
    assert_line "# idx did not run"
    assert_equal "${lines[-1]}" "1 passed, 2 failed, 0 skipped"
}

@test "tests/run counts a file of bats that cannot be run" {
    printf '@test "%s" {\n    true\n}\n' twice twice > twice.bats
    printf '@test "%s" {\n    false\n}\n' fails > fails.bats
    run "$ROOT/tests/run" "$PWD/twice.bats" "$PWD/fails.bats"
    assert_failure
    assert_line --partial "not ok bats $PWD/twice.bats ended with status"
    assert_equal "${lines[-1]}" "0 passed, 2 failed, 0 skipped"
}

@test "tests/run has the tests of several builds in one queue, and those that wait in another, whose totals it adds up" {
    printf '@test "%s" {\n    [ $BUILD = %s ]\n}\n' here one there other > ports.bats
    cp ports.bats busy.bats
    BUILD=one run "$ROOT/tests/run" "$PWD/ports.bats" "$PWD/busy.bats" other:"$PWD/ports.bats"
    assert_failure
    assert_equal "$(grep -c '^not ok 2 there' <<< "$output")" 2
    assert_equal "$(grep -c '^not ok 1 here' <<< "$output")" 1
    assert_equal "${lines[-1]}" "3 passed, 3 failed, 0 skipped"
    run -2 "$ROOT/tests/run" other:nonsense
}

@test "a unit test runs once for each set of instructions, if it calls kernels" {
    mapfile -t sets < <(instructions)
    run "$ROOT/tests/unit/each" "$BUILD/unit/test_metrics"
    assert_success
    for isa in "${sets[@]::${#sets[@]}-1}"; do assert_line "== test_metrics $isa"; done
    assert_equal "$(grep -c '^==' <<< "$output")" ${#sets[@]}
    run "$ROOT/tests/unit/each" "$BUILD/unit/test_base"
    assert_success
    assert_equal "$(grep -c '^==' <<< "$output")" 1
    # one of whole runs
    printf '#!/bin/sh\necho avx512 > $KERNELS_USED\n' > test_shards
    chmod +x test_shards
    run "$ROOT/tests/unit/each" ./test_shards
    assert_success
    assert_output '== test_shards '
    # one that ignores which set it should run
    printf '#!/bin/sh\necho avx2 > $KERNELS_USED\n' > test_stays
    chmod +x test_stays
    run "$ROOT/tests/unit/each" ./test_stays
    assert_failure
    assert_line "not ok test_stays portable ran avx2"
}
