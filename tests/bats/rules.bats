load helper

@test "commands refuse what their --help says that options exclude or need" {
    commands=(dp-account\ {sigma,epsilon,delta,laps,rate,sensitivity,curve,budget,report,verify,certify})
    for program in "$BUILD"/bin/dp-*; do commands+=("$(basename "$program")"); done
    run /usr/bin/python3 "$ROOT/tests/bats/rules.py" "${commands[@]}"
    assert_success
    assert_output --regexp '^[1-9][0-9]+ rules$'
}
