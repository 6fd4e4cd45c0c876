# Loaded by every bats file: the assertion libraries, the built tools in PATH, a scratch directory.
ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
export ROOT BUILD
export PATH="$BUILD/bin:$ROOT/pipelines:$PATH"
export LC_ALL=C.UTF-8
FASHION=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}

for library in bats-support bats-assert bats-file; do
    load "${BATS_LIB_PATH:-/usr/lib/bats}/$library/load.bash"
done

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    if declare -F prepare > /dev/null; then prepare; fi
}

# need_data NAME FILE: skips unless the raw data set is there; prints nothing.
need_data() {
    local dir=${DPLINE_DATA:-$ROOT/data}
    [ -e "$dir/$1/$2" ] || skip "needs $1/$2 in \$DPLINE_DATA or ./data"
    DATA_FILE=$dir/$1/$2
}

# small_data [ROWS [COLS [CLASSES]]]: a seeded data set in small.dp
small_data() {
    dp-synth classification --rows "${1:-400}" --cols "${2:-6}" --classes "${3:-2}" --seed 7 -o small.dp -q
}

# within SECONDS COMMAND…: bats' run with a time limit
within() {
    local seconds=$1
    shift
    run timeout -k 2 "$seconds" "$@"
}
