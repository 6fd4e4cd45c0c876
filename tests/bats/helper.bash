# Loaded by every bats file: the assertion libraries, the built tools in PATH, a scratch directory.
bats_require_minimum_version 1.5.0 # run --separate-stderr
ROOT=${BATS_TEST_DIRNAME%/*/*}
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
export ROOT BUILD
export PATH="$BUILD/bin:$ROOT/pipelines:$PATH"
export LC_ALL=C.UTF-8
# Threads of NumPy take longer to start than the tests to calculate, and threads that wait must not take processors from other tests.
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export DPLINE_REGISTRY=${BATS_FILE_TMPDIR:-$BATS_RUN_TMPDIR}/registry # of what setup_file imports; never that of the user
FASHION=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}

# The functions of the libraries. Their own load.bash starts a process per file: half of the time of a short test.
for functions in "${BATS_LIB_PATH:-/usr/lib/bats}"/bats-{support,assert,file}/src/*.bash; do
    source "$functions"
done

# bats looks at the stack before each command, for its report of a failure: a third of a millisecond. Here it looks when a command fails.
trace_failures() {
    trap - DEBUG
    trap 'bats_check_status_from_trap; trace' ERR
}
trace() {
    bats_capture_stack_trace
    BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# small_disk: the directory full, which has room for 64 KiB until the test ends; fails if nothing can be mounted
small_disk() { mkdir full && mount -t tmpfs -o size=64k tmpfs full 2> /dev/null; }
teardown() { ! mountpoint -q "$BATS_TEST_TMPDIR/full" || umount "$BATS_TEST_TMPDIR/full"; }

setup() {
    trace_failures
    cd "$BATS_TEST_TMPDIR" || return 1
    export DPLINE_REGISTRY=$BATS_TEST_TMPDIR/registry
    if declare -F prepare > /dev/null; then prepare; fi
}

# some WORD…: of settings of a kind, all in `make ci` without sanitizers (DPLINE_TESTS=whole); elsewhere one, another in each test
some() {
    case ${DPLINE_TESTS-}-$BUILD in
        whole-*asan*) ;;
        whole-*) echo "$@" && return ;;
    esac
    shift $((BATS_TEST_NUMBER % $#))
    echo "$1"
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

# ledger_laps LEDGER: that its runs have reserved, or used if they have ended
ledger_laps() { dp-account report --json "$1" | jq '[.runs[].laps] | add // 0'; }

# ledger_noise LEDGER: the kinds of noise of the last run, one for each lap
ledger_noise() { jq -rs 'map(select(.kind == "plan"))[-1].charges | map(.laps as $n | range($n) as $i | .queries[].noise) | join(" ")' "$1"; }
# costs_whole LEDGER: all runs of it together cost at most epsilon 1 at delta 1e-5, and the last one, as one Gaussian mechanism whose mu is
# the root of the sum of squares, costs at least .999
costs_whole() {
    local mu named cost
    read -r mu named <<< "$(jq -rs 'map(select(.kind == "plan"))[-1].charges
        | [(map(.laps / .queries[].multiplier / .queries[].multiplier) | add | sqrt), (map(.queries[].named_delta // 0) | add)] | @tsv' "$1")"
    cost=$(dp-account epsilon --multiplier "$(calculate "1 / $mu")" --sampler full --laps 1 --delta "$(calculate "1e-5 - $named")")
    [ "$(calculate "$cost <= 1.0000001 && $cost >= 0.999")" = 1 ] || fail "the last run costs epsilon $cost"
    cost=$(dp-account report --json "$1" | jq '.populations[0].epsilon')
    [ "$(calculate "$cost <= 1")" = 1 ] || fail "all runs cost epsilon $cost"
}

# reaches FILE BYTES: waits until the stream of a run in the background is that long
reaches() {
    for _ in $(seq 1500); do
        [ ! -e "$1" ] || [ "$(stat -c %s "$1")" -lt "$2" ] || return 0
        sleep 0.02
    done
    fail "$1 does not grow"
}

need_strace() {
    command -v strace > /dev/null || skip "needs strace"
    strace -f -qq -c -U name,calls -o counts true 2> /dev/null || skip "strace may not trace here"
}

# instructions: those that this CPU has, the plainest first; with sanitizers the plainest, and unit tests have the others
instructions() {
    local isa sets='portable avx2 avx512'
    case $BUILD in *asan*) sets=portable ;; esac
    for isa in $sets; do
        ! DPLINE_ISA=$isa dp-noise --multiplier 1 < /dev/null 2>&1 | grep -q 'this CPU has no' || continue
        echo $isa
    done
}

# limit_memory KILOBYTES [-d]: of address space, or of what is allocated, from here on; an address sanitizer takes terabytes, and
# goes without
limit_memory() {
    case $BUILD in *asan*) ;; *) ulimit "${2:--v}" "$1" ;; esac
}

# within SECONDS COMMAND…: bats' run with a time limit
within() {
    local seconds=$1
    shift
    run timeout -k 2 "$seconds" "$@"
}

# free_port [COUNT]: the first of that many consecutive unused ports, below the range for outgoing connections
free_port() {
    local count=${1:-1} first
    while first=$((20000 + RANDOM % (12000 - count))); do
        [ -n "$(ss -Htln "sport >= :$first and sport < :$((first + count))")" ] || break
    done
    echo $first
}

# complains STATUS MESSAGE COMMAND…: the command ends with that status and writes exactly that message to stderr (frames on
# standard output are ignored). MESSAGE may be several lines.
complains() {
    local status=$1 message=$2 got=0 said
    shift 2
    said=$(timeout -k 2 120 "$@" 2>&1 > /dev/null) || got=$?
    [ "$got" = "$status" ] || fail "status $got, expected $status; it said: $said"
    [ "$said" = "$message" ] || fail "said:     $said
expected: $message"
}

# token [LAPS]: token.frames, the frames that dp-loop passes to its child in that many laps of a run on small.dp
token() {
    dp-loop --laps "${1:-1}" --seed 1 --exec processes -- "tee token.frames | dp-sample --data small.dp --rate 0.2 |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step" > /dev/null
}
edit() { "$ROOT/tests/bats/edit-frames.py" "$@"; }
# recode IN OUT CODE [ARGUMENT…]: the stream IN after CODE has had its frames, and laps, which are some of them
recode() {
    /usr/bin/python3 -c 'import msgpack, struct, sys
frames = list(msgpack.Unpacker(open(sys.argv[1], "rb"), raw=False, strict_map_key=False))
laps = [frame for frame in frames if frame["kind"] == "lap"]
source, to, code = [sys.argv.pop(1) for _ in range(3)]
exec(code)
open(to, "wb").write(b"".join(map(msgpack.packb, frames)))' "$@"
}
# at_laps FRAMES: copies of the first lap of a stream as laps 1 and 2^k + 1 for all k < 40, in at-laps.frames
at_laps() { recode "$1" at-laps.frames 'frames[1:-1] = [dict(laps[0], lap=n) for n in [1] + [2**k + 1 for k in range(40)]]'; }

# jq, with numbers as numbers: since version 1.7 it prints the digits that it read (9.0, 4.9999999999999998E-8) until it calculates.
jq() {
    local before=()
    while [[ ${1-} == -* ]]; do
        case $1 in
            --arg | --argjson | --slurpfile | --rawfile) before+=("$1" "$2" "$3") && shift 3 ;;
            --indent) before+=("$1" "$2") && shift 2 ;;
            *) before+=("$1") && shift ;;
        esac
    done
    command jq "${before[@]}" "walk(if type == \"number\" then . + 0 else . end) | (${1-.}
)" "${@:2}"
}

# above A B: A >= B, which must be numbers
above() {
    awk -v a="$1" -v b="$2" 'BEGIN { number = "^[-+]?[0-9.]+(e[-+]?[0-9]+)?$"; exit !(a ~ number && b ~ number && a + 0 >= b + 0) }' ||
        fail "$1 is below $2"
}

# states MODEL EPSILON: the model states EPSILON, rounded up to 32 bits
states() {
    /usr/bin/python3 -c 'import math, sys
part, exponent = math.frexp(float(sys.argv[2]))
stated, expected = float(sys.argv[1]), math.ldexp(math.ceil(math.ldexp(part, 32)), exponent - 32)
assert stated == expected, (stated, expected)' "$(dp-info --get epsilon "$1")" "$2"
}

# calculate EXPRESSION: its value; 1 or 0 for a comparison
calculate() { awk "BEGIN { printf \"%.17g\\n\", ($1) }"; }

# filter NAME CODE: a new stage that runs CODE on every frame
filter() {
    cat > "$1" << END
#!/usr/bin/python3
import msgpack, os, signal, struct, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGALRM, signal.SIG_DFL) # what runs tests side by side may ignore it
signal.alarm(300) # whoever waits for a file that never comes
packer, out = msgpack.Packer(), sys.stdout.buffer
unpacker = msgpack.Unpacker(raw=False)
while data := sys.stdin.buffer.read1(65536):
    unpacker.feed(data)
    for frame in unpacker:
$(sed 's/^/        /' <<< "$2")
        out.write(packer.pack(frame))
        out.flush()
END
    chmod +x "$1"
}

# choose NAME: a new stage that makes a search's choice, but without privacy: argument n, I:STEP,STEP…, is the choice of lap n
# and its steps; if there are fewer arguments than laps, the last one repeats
choose() {
    filter "$1" '
for record in frame.get("records", []) if frame["kind"] == "hello" else []:
    record["means"] = "taken"
if frame["kind"] == "lap":
    word = sys.argv[min(frame["lap"], len(sys.argv) - 1)].split(":")
    steps = [float(step) for step in word[1].split(",")]
    frame["steps"] = msgpack.ExtType(1, struct.pack("<BBQ%dd" % len(steps), 2, 1, len(steps), *steps))
    frame["choice"] = msgpack.ExtType(1, struct.pack("<BBQQq", 4, 2, 1, 1, int(word[0])))'
}

# python TEXT ARGUMENTS…: with numpy and the frames of streams
python() { PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 -c "import sys, json, math, numpy, frames"$'\n'"$1" "${@:2}"; }

# data_of_all_labels ROWS OPTION…: two.dp and four.dp have so many classes, real.dp numbers and counts.dp counts; options of two.dp
data_of_all_labels() {
    dp-synth classification --rows "$1" --cols 5 --seed 3 -o two.dp -q "${@:2}"
    dp-synth classification --rows "$1" --cols 5 --classes 4 --seed 4 -o four.dp -q
    dp-synth regression --rows "$1" --cols 5 --seed 5 -o real.dp -q
    cp -r real.dp counts.dp
    python "numpy.save('counts.dp/y.npy', numpy.random.default_rng(1).poisson(2, $1).astype(float))"
}
