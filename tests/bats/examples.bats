# Commands of examples/ that no other test runs: the commands in comments of programs, and run.sh on small made-up tables.
# run.sh of dp-blsgd, federated, no-tuning and private-erm have files of their own.
load helper
load environments

# pictures DIRECTORY COUNT [SIDE]: COUNT pictures of 4 x 4 (SIDE x SIDE) points to learn from and 100 others, in ten classes that
# are easy to separate
pictures() {
    mkdir -p "$1"
    /usr/bin/python3 - "$@" << 'EOF'
import gzip, random, struct, sys
random.seed(1)
side = int(sys.argv[3]) if len(sys.argv) > 3 else 4
for part, n in ("train", int(sys.argv[2])), ("t10k", 100):
    labels = bytes(random.randrange(10) for _ in range(n))
    pixels = bytes(200 if i % 10 == label else random.randrange(60) for label in labels for i in range(side * side))
    with gzip.open(f"{sys.argv[1]}/{part}-images-idx3-ubyte.gz", "wb") as f:
        f.write(struct.pack(">IIII", 2051, n, side, side) + pixels)
    with gzip.open(f"{sys.argv[1]}/{part}-labels-idx1-ubyte.gz", "wb") as f:
        f.write(struct.pack(">II", 2049, n) + labels)
EOF
}

# elsewhere: $PWD/other replaces the build directory for scripts that write there
elsewhere() {
    mkdir other
    ln -s "$(realpath "$BUILD")"/{bin,lib} other
}

# example FOLDER [WORD…]: runs its script in this directory, within two minutes, and what it measured is in ./out
example() {
    BUILD=$PWD/other OUT=$PWD/out DPLINE_DATA=$PWD/raw within 120 "$ROOT/examples/$1" "${@:2}"
}

# again FUNCTION: in an empty directory and in a foreign environment it says what it has said, $output, but for seconds. In `make ci`:
# environments.bats has the pipelines that they call.
again() {
    local plain=$output
    [ "${DPLINE_TESTS-}" = whole ] || return 0
    mkdir again
    cd again
    foreign
    "$1"
    assert_equal "$(sed -E 's/\t[0-9.]+$//; s|/again/|/|g' <<< "$output")" "$(sed -E 's/\t[0-9.]+$//' <<< "$plain")"
}

@test "the commands in the comments of examples/library, as they stand" {
    make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$PWD/stage" > log 2>&1 || fail "$(cat log)"
    export PKG_CONFIG_PATH=$PWD/stage/opt/dpline/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/stage
    export LD_LIBRARY_PATH=$PWD/stage/opt/dpline/lib
    dp-synth classification --rows 400 --cols 5 --seed 1 -o a.dp -q
    cp "$ROOT"/examples/library/*.c .
    for program in *.c; do
        # text that is indented further
        sed -n '1,/\*\//s/^ \*   \( *[^ ].*\)/\1/p' "$program" | sed 's| \*/$||; s/LEDGER/my.ledger/' > commands
        [ -s commands ] || fail "$program has no command"
        bash -e commands > out 2> err || fail "$program: $(cat commands err)"
    done
    assert_equal "$(dp-account report a.dp | grep -c ' done$')" 1
    grep -q '"kind":"close"' my.ledger
}

@test "what was measured with another library is measured again" {
    elsewhere
    cd "$ROOT/examples/demo"
    results() { BUILD=$BATS_TEST_TMPDIR/other OUT=$BATS_TEST_TMPDIR/out bash -c 'source ../common/common.sh && echo "$results"'; }
    before=$(results)
    assert_equal "$(results)" "$before"
    rm "$BATS_TEST_TMPDIR/other/lib"
    mkdir -p "$BATS_TEST_TMPDIR/other/lib/dpline"
    echo other > "$BATS_TEST_TMPDIR/other/lib/dpline/libdpline-0.so"
    [ "$(results)" != "$before" ]
}

demo() {
    elsewhere
    pictures fashion 600 16
    DPLINE_FASHION=$PWD/fashion SEEDS=2 EPSILONS=3 example demo/run.sh
}

@test "examples/demo/run.sh, in any environment" {
    demo
    assert_success
    assert_line --regexp '^fit, features +3 +[01]\.[0-9]{4}  \([0-9.]+ to [0-9.]+\)$'
    assert_line --regexp '^dp-sgd --batch 500 .*, pixels +3 '
    assert_line --regexp '^erm .*, features +inf '
    assert_equal "$(grep -o '>[^<]*without privacy' other/demo/demo.svg)" '>erm …, features, without privacy'
    again demo
}

images() {
    elsewhere
    pictures fashion 600 16
    pictures raw/mnist 600 16
    DPLINE_FASHION=$PWD/fashion SEEDS=1 EPSILONS=3 example images/run.sh
}

@test "examples/images/run.sh, in any environment" {
    images
    assert_success
    assert_line --regexp '^\| fashion, features \| [0-9.]+ \|$'
    assert_line --regexp '^\| mnist, pixels \| [0-9.]+ \|$'
    assert_equal "$(tail -n +2 out/measured.tsv | cut -f 2 | sort | xargs)" "$(echo {fashion,mnist}-{features,network,pixels}.dp)"
    again images
}

adp_sgd() {
    elsewhere
    pictures raw/mnist 1200
    DPLINE_FASHION=$PWD/none example adp-sgd/run.sh goal fashion
}

@test "examples/adp-sgd/run.sh, a part of it, in any environment" {
    adp_sgd
    assert_success
    assert_line --regexp '^3 +adp-sgd\.sh +[0-9.]+ +[0-9]+ +[0-9]+$'
    assert_line --partial 'skipping: no '
    again adp_sgd
}

@test "examples/adp-sgd/run.sh cifar: the start knows one half, without its last layer, and private runs have the other half" {
    elsewhere
    mkdir -p raw/cifar10
    /usr/bin/python3 - << 'EOF'
import random, zipfile
random.seed(1)
with zipfile.ZipFile("raw/cifar10/cifar10-jpeg.zip", "w") as archive:
    for part, n in ("train", 4), ("test", 2):
        for label in range(10):
            for i in range(n):
                pixels = bytes(200 if k % 10 == label else random.randrange(60) for k in range(3072))
                archive.writestr(f"{part}/class{label}/{i}.ppm", b"P6\n32 32\n255\n" + pixels)
EOF
    SEEDS=2 BUDGETS=0.8 PASSES=1 example adp-sgd/run.sh cifar
    assert_success
    assert_line --regexp '/T\)\) +0\.8 +0\.26 +0\.37 +2 +[01]\.[0-9]{4} +[01]\.[0-9]{4} '
    PYTHONPATH=$ROOT/examples/python DPLINE_LIBRARY=$BUILD/lib/libdpline.so /usr/bin/python3 - out/results-*/ << 'EOF'
import sys
import dpline
import numpy as np
trained, start = (dpline.read_model(sys.argv[1] + name)["model"].ravel() for name in ("cifar-public-1", "cifar-start-1"))
assert len(start) == 10986 and np.all(trained[-5130:-10] != 0) and np.all(start[-5130:] == 0), start[-5130:]
assert np.array_equal(start[:-5130], trained[:-5130])
halves = [set(map(bytes, dpline.read_dataset(f"out/{name}.dp")[0])) for name in ("cifar-public", "cifar")]
assert [len(half) for half in halves] == [20, 20] and not halves[0] & halves[1]
EOF
    public=$(cd "$ROOT/examples/adp-sgd" && BUILD=$OLDPWD/other OUT=$OLDPWD/out bash -c \
        '. ./common.sh && train dp cifar network bar:0.8 1 1 1 sqrt:20:1 1 | dp-cat --kind lap | jq -r .public_start | sort -u')
    assert_regex "$public" '^[0-9a-f]{64}$'
}

network() {
    elsewhere
    pictures raw/mnist 600
    SEEDS=2 EPSILONS=3 example dp-blsgd/network.sh
}

@test "examples/dp-blsgd/network.sh, in any environment" {
    network
    assert_success
    assert_line --index 2 --regexp '^\| small \| 3 \| --epochs [25] --clip 0\.[15] --step [0-9]+ \| [0-9.]+ \| [0-9.]+ \| [+-][0-9.]+ \| 0\.0000 \| 1 \|$'
    again network
    run awk -F '\t' 'NR > 1 { if (NF != 8 || $4 != 2 && $4 != 5) exit 1; print $3, ($8 > 0) }' out/network/new-curves.tsv
    assert_success
    assert_output $'dp-sgd 1\nblsgd 1'
}

scd() {
    [ -d other ] || elsewhere
    mkdir -p raw/protein raw/phishing
    /usr/bin/python3 - << 'EOF'
import gzip, random
random.seed(1)
with gzip.open("raw/protein/protein.csv.gz", "wt") as f:
    for _ in range(15244):
        x = [round(random.random() - .5, 4) for _ in range(9)]
        print(*x, round(sum((k % 3 - 1) * v for k, v in enumerate(x, 1)) / 2, 4), sep=",", file=f)
with gzip.open("raw/phishing/phishing.gz", "wt") as f:
    for _ in range(11055):
        y = random.random() < .5
        print(f"{y:d} {1 + random.randrange(30) + 30 * (y ^ (random.random() < .2))}:1 68:1", file=f)
EOF
    SEEDS=2 EPOCHS=2 EPSILONS=1 SIZES=500 CLIPS='1e-2 1' STEPS='1 1e1' example dp-scd/run.sh "${@:-figure1}"
}

@test "examples/dp-scd/run.sh, a part of it, in any environment" {
    scd
    assert_success
    assert_line --regexp '^epsilon +scd +secret +published +sequential +sgd +dp-sgd +last$'
    assert_equal "$(cat out/*.tsv | grep -c 'batch 500')" 12
    # rows to train, to choose and to test, as in appendix E
    for part in phishing{,-validation,-test}.dp; do dp-info --get rows out/$part; done > rows
    assert_equal "$(xargs < rows)" '6218 2073 2764'
    again scd
}

@test "examples/dp-scd/run.sh: a setting is chosen on validation rows, and measured on test rows" {
    scd figure1 figure2 figure3 tuning
    assert_success
    assert_line --regexp '^epoch +scd +sgd +secret, epsilon 1 +published, epsilon 1 +dp-sgd, epsilon 1 +last, epsilon 1$'
    assert_line --regexp '^protein +1 +dp-sgd +4 '
    # accuracies of one setting are great on validation rows, those of the other on test rows
    printf -- '--batch 500 --clip %s\t%s\t%s\t%s\t.1\n' 1 1 .9 .2 1 2 .8 .3 1e-2 1 .7 .9 1e-2 2 .7 .9 > "$(echo out/results-*/trials)/phishing-secret-1.tsv"
    SETS=phishing METHODS=secret scd
    assert_success
    assert_line --regexp '^1 +[0-9.]+ +0.2500$'
    assert_equal "$(grep secret out/phishing-chosen.tsv | cut -f 3-)" $'--batch 500 --clip 1\t0.8500\t0.2500\t0.2000\t0.3000'
}
