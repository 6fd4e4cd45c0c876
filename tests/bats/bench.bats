# The harness of figures of speed; the figures themselves are not tested.
load helper

@test "a figure is measured by its name, and its row is written" {
    run env OUT="$PWD/results" TURNS=2 "$ROOT/tests/bench/run" no-such-figure
    assert_failure 2
    assert_output --partial "there is no figure 'no-such-figure'"
    # With its own small data.
    mkdir -p results
    dp-synth classification --rows 2000 --cols 90 --seed 2 -q -o results/large.dp
    OUT="$PWD/results" TURNS=2 run "$ROOT/tests/bench/run" floor
    assert_success
    assert_output --partial '6 bare hops of 2000 bytes'
    awk -F '\t' '$1 == "floor" && $2 == "rows of batches of 100" && $3 == "M rows/s" && $4 > 0 && $5 <= $4 && $4 <= $6 && $7 == 2 { n++ } END { exit n != 1 }' results/measured.tsv
    # A second measurement replaces the first.
    lines=$(wc -l < results/measured.tsv)
    OUT="$PWD/results" TURNS=2 "$ROOT/tests/bench/run" floor
    assert_equal "$(wc -l < results/measured.tsv)" "$lines"
}

@test "make bench measures a figure, as the README has it" {
    mkdir -p results
    dp-synth classification --rows 2000 --cols 90 --seed 2 -q -o results/large.dp
    grep -q 'make bench FIGURE=' "$ROOT/tests/bench/README.md" || fail "the README has another command"
    OUT="$PWD/results" TURNS=1 run make -s -C "$ROOT" bench FIGURE=floor BUILD="$BUILD"
    assert_success
    assert_output --partial '== floor, '
    assert_output --partial 'GB/s'
    assert_output --partial '6 bare hops of 20000 bytes'
}

@test "a figure that cannot be measured is a failure, and keeps what was measured before" {
    mkdir -p results/large.dp
    echo "floor	before" > results/measured.tsv
    OUT="$PWD/results" run "$ROOT/tests/bench/run" floor
    assert_failure 1
    assert_output --partial 'floor could not be measured'
    assert_equal "$(cat results/measured.tsv)" "floor	before"
}

@test "a program that is older than its source is not measured" {
    mkdir -p old/bench
    touch -d @0 old/bench/shards
    BUILD=$PWD/old OUT=$PWD/results run "$ROOT/tests/bench/run" shards
    assert_failure 1
    assert_output "run: shards.c has changed: 'make bench' builds what is measured"
}

@test "medians, quartiles and ratios of turns are what they are called" {
    printf '%s\n' 'a	s	1' 'a	s	10' 'a	s	3' 'b	s	2' 'b	s	5' 'b	s	2' 'a to b	ratio	ratio	s	a	b' 'a to b	ratio	wanted	>= 1.5' |
        awk -v figure=f -f "$ROOT/tests/bench/summary.awk" > measured
    assert_equal "$(sed -n 1p measured)" "f	a	s	3	2	6.5	3	"
    assert_equal "$(sed -n 3p measured)" "f	a to b	ratio	1.5	1	1.75	3	>= 1.5"
    run awk -v figure=f -v plain=1 -f "$ROOT/tests/bench/table.awk" measured
    assert_output --partial 'at least 1.5: yes'
    sed -i 's/1.5$/1.6/' measured
    run awk -v figure=f -v plain=1 -f "$ROOT/tests/bench/table.awk" measured
    assert_output --partial 'at least 1.6: no'
}

@test "the tables of figures are those of what was measured" {
    "$ROOT/tests/bench/write-readme.sh" --check
    # and each figure appears there
    for figure in $("$ROOT/tests/bench/run" --list); do
        grep -q "^<!-- figure $figure\b" "$ROOT/tests/bench/README.md" || fail "$figure has no table"
        [ -e "$ROOT/tests/bench/figures/$figure.sh" ] || fail "$figure is no figure"
    done
}
