# Loaded by tests of pipelines: two data sets, made once for the file, and what is measured on them.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    dp-synth classification --rows 2000 --cols 8 --seed 7 -o small.dp --test test.dp -q
    dp-synth regression --rows 2000 --cols 8 --seed 7 -o real.dp --test real-test.dp -q
}
prepare() { cp -r "$BATS_FILE_TMPDIR"/*.dp .; } # with ledgers of their own

accuracy() { dp-eval --last --metrics accuracy --data "$1" --in "$2" | tail -n 1 | cut -f 3; }
logloss() { dp-eval --last --metrics logloss --data "$1" --in "$2" | tail -n 1 | cut -f 3; }
