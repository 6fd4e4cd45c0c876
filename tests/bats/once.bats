# A run is charged once: the model once.pml of gate, ledger, death and resumption holds, and finds each fault that is put into it.
load helper

# checked CLAIM [FAULT]: how many counterexamples spin finds
checked() { spin ${2:+"-D$2"} -run -ltl "$1" "$BATS_TEST_DIRNAME/once.pml" | sed -n 's/.*errors: //p'; }

@test "the file never counts less than what has left, nor more than the budget, and every fault is found" {
    command -v spin > /dev/null || skip "needs spin"
    assert_equal "$(checked never_less)" 0
    assert_equal "$(checked within)" 0
    for fault in NOSYNC NOTHING AGAIN BEYOND; do
        assert_equal "$fault $(checked never_less $fault)" "$fault 1"
    done
    assert_equal "$(checked within UNCHECKED)" 1
}
