load helper

@test "commands and pipelines refuse what rules.txt says that options exclude, need and take, in these words" {
    run "$ROOT/tests/bats/rules.py"
    assert_success
    assert_output --regexp '^[1-9][0-9]+ rules$'
}
