load helper

@test "commands refuse what their --help says that options exclude or need" {
    run /usr/bin/python3 "$ROOT/tests/bats/rules.py" dp-import
    assert_success
    assert_output --regexp '^[1-9][0-9]+ rules$'
}
