# The instructions of dpline-hacking(7) work, and the files that it names exist.
load helper

PAGE=$ROOT/man/dpline-hacking.7

# display TEXT: the display of the page that has this text
display() {
    awk -v text="$1" '/^\.Bd / { shown = ""; inside = 1; next } /^\.Ed/ { if (index(shown, text)) printf "%s", shown; inside = 0 }
        inside { gsub(/\\e/, "\\"); shown = shown $0 "\n" }' "$PAGE"
}

# in_source TEXT: runs that display at the top of a copy of the source tree
in_source() {
    case $BUILD in */build) ;; *) skip "not the usual build" ;; esac
    local copy=$PWD/copy
    mkdir -p copy/build
    (cd "$ROOT" && cp -rp Makefile .clang-format lib bin tests pipelines examples man "$copy")
    (cd "$ROOT/build" && find . -mindepth 1 -maxdepth 1 | grep -vxE './(asan|aligned|arm64|clang|fuzz|mutants)' | xargs cp -rpt "$copy/build")
    # the objects of the mutants' build are the same, under another name
    mkdir copy/mutants
    cp -rp copy/build/{obj,bin,lib,unit,gen,version} copy/mutants
    find copy/mutants -name '*.d' -exec sed -i 's,\bbuild/,build/mutants/,g' {} +
    mv copy/mutants copy/build/mutants
    display "$1" > commands
    [ -s commands ] || fail "the page does not show '$1'"
    (cd copy && unset BUILD && bash -eo pipefail ../commands < /dev/null > ../out 2>&1) || fail "$(tail -n 30 out)"
}

@test "one test at a time" {
    in_source 'make -j2 all units'
    assert_file_contains out '^ok 1 selections$'
    assert_file_contains out '^ok . layering'
}

@test "one mutant" {
    in_source 'tests/mutants/run -j 1'
    assert_equal "$(tail -n 1 out)" "1 caught, 0 survived"
}

@test "a stage on one frame, and in the debugger" {
    display 'tee bounded' > commands
    bash -eo pipefail commands > out || fail "$(cat out)"
    assert_equal "$(grep -c '"kind":"lap"' out)" 5 # all of the run, one of it twice
    assert_equal "$(tail -n 2 out | jq -r .kind | tr '\n' ' ')" "lap end "
    assert_equal "$(tail -n 2 out | head -n 1 | jq -c '[.lap, .label]')" '[2,"noised"]'
    gdb --version > /dev/null 2>&1 && gdb -batch -ex run --args true > /dev/null 2>&1 || skip "no debugger that works here"
    display 'gdb ' > commands
    bash -eo pipefail commands > out 2>&1 || fail "$(cat out)"
    assert_file_contains out '^#0 .*dp_grid_add_gaussian'
}

@test "files and targets that the page names are there" {
    sed -nE 's/^\.(It )?Pa //p; s/.* Pa ([^ ]*).*/\1/p' "$PAGE" | tr -d ',' | tr ' ' '\n' | grep / | grep -v '^build/' > paths
    [ "$(wc -l < paths)" -gt 8 ]
    while read -r path; do [ -e "$ROOT/$path" ] || fail "$path is not there"; done < paths
    {
        sed -nE 's/^\.(It )?Ql make //p' "$PAGE" | tr ' ' '\n'
        sed -nE 's/^\* \*\*make ([^*]*)\*\*.*/\1/p' "$ROOT/tests/README.md" | tr ' ' '\n'
    } | grep -xE '[a-z][a-z-]+' | sort -u > targets
    [ "$(wc -l < targets)" -gt 8 ]
    while read -r target; do grep -qE "^([a-z -]+ )?$target( [a-z -]+)?:" "$ROOT/Makefile" || fail "make $target"; done < targets
}

# mutants_of LIST: tests/mutants/run with these mutants, in a tree of one file and three tests
mutants_of() {
    mkdir -p tree/{lib,bin,tests/bats,tests/mutants,pipelines,examples,man}
    awk -v list="$1" '/^EOF$/ { inside = 0 } !inside; /<< .EOF.$/ { inside = 1; print list }' "$ROOT/tests/mutants/run" > tree/tests/mutants/run
    printf 'programs:\n\tmkdir -p build/mutants\n' > tree/Makefile
    echo one > tree/lib/x.c
    : > runs
    # a % in front, or bats would take these for tests of this file
    sed 's/^ *%//' > tree/tests/bats/t.bats << END
        rule() (cd "\$BATS_TEST_DIRNAME/../.."; grep -q one lib/x.c)
        too_late() ( echo "status 124" && false )
        %@test "a rule" { rule; }
        %@test "never ends without the rule" { rule || too_late; }
        %@test "misses its limit on a busy machine" { echo >> "$PWD/runs"; [ "\$(wc -l < "$PWD/runs")" = 1 ] || too_late; }
END
    run bash tree/tests/mutants/run -j 1
}

@test "a mutant is caught by the test that it names, and not by a busy machine or by no test" {
    mutants_of 'one is two @ lib/x.c @ s/one/two/ @ bats/t.bats:a rule
one never ends @ lib/x.c @ s/one/two/ @ bats/t.bats:never ends'
    assert_success
    assert_line 'caught: one is two'
    assert_line 'caught: one never ends'
    assert_line '2 caught, 0 survived'
    mutants_of 'one is busy @ lib/x.c @ s/one/two/ @ bats/t.bats:busy machine'
    assert_failure 1
    assert_line 'TOO SLOW, WITHOUT THE MUTANT TOO: one is busy (bats/t.bats:busy machine)'
    mutants_of 'one is three @ lib/x.c @ s/one/three/ @ bats/t.bats:no such test'
    assert_failure 1
    assert_line 'NO SUCH TEST: bats/t.bats:no such test'
    refute_line --partial 'caught: '
    run bash tree/tests/mutants/run -n
    assert_failure 1
    assert_line 'NO SUCH TEST: one is three (bats/t.bats:no such test)'
    mutants_of 'one is two @ lib/x.c @ s/one/two/ @ bats/t.bats:a rule
one is two @ lib/x.c @ s/two/three/ @ bats/t.bats:a rule'
    run bash tree/tests/mutants/run -n
    assert_failure 1
    assert_line 'TWICE: one is two'
    assert_line 'NOT APPLIED: one is two (lib/x.c has changed)'
}
