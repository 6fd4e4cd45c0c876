# Short versions of the long runs that tests/soak makes.
load helper

@test "workers that are killed and started again, without a state, over tcp with keys" {
    run timeout 100 "$ROOT/tests/soak" --laps 3000 --every 300
    assert_success
    assert_output --regexp 'soak: 3000 laps, 4 workers, [78] killed and started again: the bytes of one machine'
}

@test "workers that are killed and started again, with checkpoints, over ipc" {
    run timeout 100 "$ROOT/tests/soak" --laps 1000 --every 100 --workers 3 --stages descent --at ipc://port
    assert_success
    assert_output --regexp 'soak: 1000 laps, 3 workers, [78] killed and started again: the bytes of one machine'
}
