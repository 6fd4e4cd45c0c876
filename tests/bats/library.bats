# make install, programs against the installed library, make uninstall.
load helper

setup_file() { make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$BATS_FILE_TMPDIR" > "$BATS_FILE_TMPDIR/log" 2>&1; }

# as a package is made of it: under DESTDIR, in $PWD/stage
install_library() {
    mkdir stage
    cp -a "$BATS_FILE_TMPDIR/opt" stage
    export PKG_CONFIG_PATH=$PWD/stage/opt/dpline/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/stage
    export LD_LIBRARY_PATH=$PWD/stage/opt/dpline/lib
}

# program NAME: examples/library/NAME.c against the installed copy, in C (NAME), C++ (NAME-cc) and linked statically (NAME-static)
program() {
    local source=$ROOT/examples/library/$1.c warnings='-Wall -Wextra -Wpedantic -Werror'
    {
        cc -std=c11 $warnings "$source" $(pkg-config --cflags --libs dpline) -lm -o "$1"
        c++ -std=c++17 $warnings -Wno-missing-field-initializers -x c++ "$source" -x none $(pkg-config --cflags --libs dpline) -lm -o "$1-cc"
        cc -std=c11 $warnings "$source" $(pkg-config --cflags dpline) stage/opt/dpline/lib/libdpline.a -o "$1-static" \
            $(sed -n 's/^Libs.private: //p' stage/opt/dpline/lib/pkgconfig/dpline.pc)
    }
}

@test "install and uninstall" {
    install_library
    assert_file_exist stage/opt/dpline/bin/dp-loop
    assert_file_exist stage/opt/dpline/share/man/man1/dp-loop.1
    assert_file_exist stage/opt/dpline/share/man/man3/dpline.3
    [ -z "$(find stage/opt/dpline/bin -name 'dp-*' -not -perm -111)" ]
    case $BUILD in *asan*) ;; *) [ "$(du -sk stage | cut -f 1)" -lt 10000 ] ;; esac
    assert_equal "$(find stage/opt/dpline/include -type f | sort)" "$(cd "$ROOT/lib/public" && find dpline -type f | sed 's|^|stage/opt/dpline/include/|' | sort)"
    api=$(sed -n 's/^#define DPLINE_API //p' stage/opt/dpline/include/dpline/error.h)
    run readelf -d stage/opt/dpline/lib/libdpline.so
    assert_line --regexp "SONAME.*\[libdpline\.so\.$api\]"
    assert_file_exist "stage/opt/dpline/lib/libdpline.so.$api"
    make -s -C "$ROOT" uninstall BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$PWD/stage"
    assert_equal "$(find stage -type f -o -type l)" ''
}

@test "each public header by itself, in C and C++" {
    install_library
    for header in stage/opt/dpline/include/dpline/*.h; do
        echo "#include <dpline/${header##*/}>" > one.c
        {
            cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Werror $(pkg-config --cflags dpline) -fsyntax-only one.c
            c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags dpline) -fsyntax-only -x c++ one.c
        }
    done
}

@test "the examples against the installed library, in C, C++ and linked statically" {
    case $BUILD in *asan*) skip "the installed library is not linked under sanitizers" ;; esac
    install_library
    for example in epsilon sum; do program $example; done
    PATH=$BUILD/bin:$PATH
    for p in epsilon epsilon-cc epsilon-static; do
        run ./$p
        assert_success
        assert_output --regexp '^epsilon 1\.5595 at delta 1e-05 \(and not below 1\.55[0-9]+\), dpline [0-9.]+$'
    done
    complains 2 'usage: sum LEDGER' ./sum
    for p in sum sum-cc sum-static; do
        run ./$p ledger
        assert_success
        assert_output --regexp '^noised sum: -?[0-9.]+ -?[0-9.]+$'
    done
    dp-account verify ledger
    run dp-account report --json ledger
    assert_equal "$(jq -c '[.runs[] | [.population, .laps, .closed]]' <<< "$output")" '[["three people",1,true],["three people",1,true],["three people",1,true]]'
    echo '{}' > edited
    run ./sum edited
    assert_failure
}

@test "a stage of one's own in a pipeline" {
    case $BUILD in *asan*) skip "the installed library is not linked under sanitizers" ;; esac
    install_library
    program own-grad
    dp-synth regression --rows 200 --cols 3 --seed 1 -o s.dp -q
    child() { echo "dp-sample --data s.dp --rate 0.2 --inline | $1 | dp-noise -z 2 | dp-account -e 50 -d 1e-5 --allow-seeded --no-ledger | dp-step --step 1"; }
    dp-loop --laps 20 --seed 3 -q -o model -- "$(child 'dp-grad --loss squared --clip 0.5')" > stream
    for own in own-grad own-grad-cc own-grad-static; do
        dp-loop --laps 20 --seed 3 -q -o model.own -- "$(child "./$own --clip 0.5")" > stream.own
        # Products have other rounding errors, so a product near a point of the grid may be truncated to another point: a step
        # of the grid, 0.5 x 2^-20 in a sum that is divided by 40, in each of 20 laps. A missing row moves the model by 10^4
        # times as much.
        dp-cmp --tolerance 2.4e-7 model model.own
        assert_equal "$(dp-cat --last model.own | jq .epsilon)" "$(dp-cat --last model | jq .epsilon)"
    done
    dp-audit sensitivity --data s.dp --laps 4 --rows 3 'dp-sample --data {} --rate 0.2 --inline | ./own-grad --clip 0.5'
    dp-audit sensitivity --data s.dp --laps 4 --rows 3 'dp-sample --data {} --rate 0.2 --inline | ./own-grad --clip 0.5 --replace-one'
    # it announces gradients: dp-step refuses the run before anything is paid for
    complains 2 'dp-step: --step is required: the sums are gradients' \
        dp-loop --laps 3 -q -- "dp-sample --data s.dp --rate 0.2 --inline | ./own-grad --clip 0.5 | dp-noise -z 2 | dp-account -e 50 -d 1e-5 | dp-step"
    assert_not_exists s.dp/ledger
    # like any stage: help, options, labels, a failure upstream
    run ./own-grad --help
    assert_success
    assert_line --partial '-C, --clip C'
    complains 2 'own-grad: --clip is required' ./own-grad < stream
    complains 5 'own-grad: takes raw frames and got a released one: a stage is missing or out of place' ./own-grad --clip 1 --in stream --out none
    complains 1 "own-grad: the frame has no array 'X'" dp-loop --laps 2 -q -- "$(child './own-grad --clip 0.5' | sed 's/ --inline//')"
    # it keeps no state, so a run may have checkpoints; one that might keep state is refused there
    dp-loop --laps 4 --seed 3 -q --checkpoint state -o model.own -- "$(child './own-grad --clip 0.5')" > stream.own
    sed '/ephemeral/d' "$ROOT/examples/library/own-grad.c" > keeps.c
    cc keeps.c $(pkg-config --cflags --libs dpline) -lm -o keeps
    complains 2 'own-grad: this stage keeps a state that no checkpoint holds: run without --checkpoint' \
        dp-loop --laps 4 --seed 3 -q --checkpoint state -- "$(child './keeps --clip 0.5')"
}

@test "a stage of one's own that prints, and one that fails in silence" {
    case $BUILD in *asan*) skip "the installed library is not linked under sanitizers" ;; esac
    install_library
    small_data
    cat > tell.c << 'END'
#include <dpline/stage.h>
#include <stdio.h>
#include <string.h>

struct state { long long laps; };

static int say(struct dpline_stage *stage, const char *text, struct dpline_error *error)
{
    return dpline_stage_print(stage, text, strlen(text), error);
}
static int start(struct dpline_stage *stage, struct dpline_error *error)
{
    return dpline_stage_emit(stage, NULL, error) == DPLINE_E_USAGE && say(stage, "x", NULL) == DPLINE_E_USAGE
               ? DPLINE_OK : dpline_fail(error, DPLINE_E_RUN, "it could emit in open");
}
static int hello(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error)
{
    return dpline_frame_kind(frame) == DPLINE_HELLO && ((struct state *)dpline_stage_state(stage))->laps == 0
               ? DPLINE_OK : dpline_fail(error, DPLINE_E_RUN, "not a hello frame");
}
static int fire(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error)
{
    char text[40];
    if (dpline_frame_lap(frame) == 2)
        dpline_stage_warn(stage, "lap 2 is here");
    if (dpline_frame_lap(frame) == 4)
        return DPLINE_E_RUN;
    ((struct state *)dpline_stage_state(stage))->laps++;
    snprintf(text, sizeof text, "lap %lld\n", (long long)dpline_frame_lap(frame));
    return say(stage, text, error);
}
static int drain(struct dpline_stage *stage, struct dpline_error *error)
{
    char text[40];
    snprintf(text, sizeof text, "%lld in all\n", ((struct state *)dpline_stage_state(stage))->laps);
    return say(stage, text, error);
}
static void finish(struct dpline_stage *stage)
{
    (void)stage;
    fputs("closed\n", stderr);
}
int main(int argc, char **argv)
{
    struct dpline_stage_class tell = {0};
    tell.name = "tell";
    tell.summary = "Tell the laps";
    tell.state_size = sizeof(struct state);
    tell.takes = DPLINE_RELEASED;
    tell.open = start;
    tell.hello = hello;
    tell.fire = fire;
    tell.drain = drain;
    tell.close = finish;
    return dpline_stage_main(&tell, argc, argv);
}
END
    cc tell.c $(pkg-config --cflags --libs dpline) -o tell
    child='dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 4 | dp-account -e 5 -d 1e-5 --no-ledger | dp-step --step 1'
    dp-loop --laps 3 -q -- "$child" > three
    ./tell three > out 2> err
    assert_equal "$(cat out)" $'lap 1\nlap 2\nlap 3\n3 in all'
    assert_equal "$(cat err)" $'tell: warning: lap 2 is here\nclosed'
    dp-loop --laps 4 -q -- "$child" > four
    run ./tell four
    assert_failure 1
    assert_line 'tell: a function of the stage failed and did not say why'
    assert_line closed
    complains 2 "dp-loop: --exec=fused: './tell' is not a dp stage" dp-loop --laps 2 --exec fused -- "$child | ./tell"
}

@test "pipelines run from where they are installed" {
    dp-synth classification --rows 400 --cols 6 --seed 7 -o small.dp --test test.dp -q
    make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/usr DESTDIR="$PWD/stage" > log 2>&1 || fail "$(cat log)"
    # as commands, by their path with nothing in PATH, and through a link of one's own
    assert_equal "$(find stage/usr/bin -name '*.sh')" ''
    PATH="$PWD/stage/usr/bin:/usr/bin:/bin" run dpline scd --data small.dp --epochs 1 -o model
    assert_success
    mv stage moved
    for p in 'moved/usr/bin/dpline scd' moved/usr/share/dpline/pipelines/scd.sh; do
        PATH=/usr/bin:/bin run $p --data small.dp --epochs 1 -o model
        assert_success
    done
    ln -s moved/usr/share/dpline/pipelines/dp-sgd.sh mine
    PATH=/usr/bin:/bin run ./mine --data small.dp --epochs 1 -o model
    assert_success
    assert_line --regexp '^mine: epsilon (1|0.9999[0-9]*), delta 1e-05; one row is taken for one person; 4 laps; the model is in model$'
    # what starts shells finds the others there
    printf 'step\n1\n' > grid
    PATH=/usr/bin:/bin run moved/usr/bin/dp-tune --grid grid --score-data test.dp --score-multiplier 50 --trials all --epsilon 5 --delta 1e-5 -o tuned \
        "dpline dp-sgd --data small.dp --epochs 1 --multiplier 30 --step {step} --trial {trial} -q"
    assert_success
    # where dpline is not
    mkdir alone && cp moved/usr/share/dpline/pipelines/{scd,options}.sh alone/
    PATH=/usr/bin:/bin complains 2 'scd.sh: dp-loop is not in PATH' alone/scd.sh --data small.dp
}

# a directory of commands with everything that make needs, and no compiler, pkg-config or apt-get except the named ones
few_commands() {
    mkdir -p few
    for c in sh bash make sed mkdir rm printf "$@"; do ln -sf "$(command -v "$c")" few/; done
}

@test "make without its packages says which are missing, and what installs them, before it compiles" {
    few_commands cc
    says() { within 300 env PATH="$PWD/few" make -C "$ROOT" "$@"; }
    says BUILD="$PWD/none" all
    assert_failure 2
    assert_line 'dpline needs what this system lacks: pkg-config'
    assert_line --regexp '^The Debian packages are: pkg-config .* libjansson-dev zlib1g-dev liblzma-dev libzstd-dev libpng-dev libjpeg62-turbo-dev libsqlite3-dev$'
    refute_output --partial 'CC  '
    assert_not_exists none/obj

    few_commands cc pkg-config
    printf '#!/bin/sh\n' > few/apt-get && chmod +x few/apt-get
    PKG_CONFIG_LIBDIR=$PWD/nowhere says BUILD="$PWD/none" all
    assert_failure 2
    assert_line 'dpline needs what this system lacks: msgpack libzmq gsl libsodium mpfr gmp jansson zlib liblzma libzstd libpng libjpeg sqlite3'
    assert_line '  sudo apt-get install libmsgpack-dev libzmq3-dev libgsl-dev libsodium-dev libmpfr-dev libgmp-dev libjansson-dev zlib1g-dev liblzma-dev libzstd-dev libpng-dev libjpeg62-turbo-dev libsqlite3-dev'
    refute_output --partial 'CC  '

    mkdir pc && for p in msgpack-c libzmq gsl libsodium mpfr gmp zlib liblzma libzstd libpng libjpeg sqlite3; do printf 'Name: x\nDescription: x\nVersion: 1\n' > pc/$p.pc; done
    PKG_CONFIG_LIBDIR=$PWD/pc says BUILD="$PWD/none" all CC=no-such-compiler
    assert_line 'dpline needs what this system lacks: no-such-compiler jansson'
    assert_line '  sudo apt-get install gcc libc6-dev libjansson-dev'

    mkdir none && PKG_CONFIG_LIBDIR=$PWD/nowhere says BUILD="$PWD/none" clean
    assert_success
    assert_not_exists none
}

@test "an old build folder makes programs of the new version, paths may have a blank, and no program needs /proc" {
    case $BUILD in *asan*) skip "what is installed has no sanitizers" ;; esac
    mkdir -p 'a tree/tests' 'a tree/build'
    cp -rp "$ROOT"/{Makefile,bin,lib,man,pipelines} 'a tree'
    cp -p "$ROOT/tests/check-packages" 'a tree/tests'
    cp -rp "$BUILD"/{bin,completion,gen,lib,obj,version} 'a tree/build'
    sed -i 's/DP_VERSION ".*"/DP_VERSION "9.8.7"/' 'a tree/lib/base/version.h'
    mkdir -p 'to here/lib/dpline' && touch 'to here/lib/dpline/libdpline-0.0.1.so'
    make_tree() { env -u BUILD make -s -C 'a tree' PREFIX="$PWD/to here" "$@" > log 2>&1 || fail "$(cat log)"; }
    make_tree -j2 install
    for p in 'to here'/bin/*; do
        run "$p" --version
        assert_line --index 0 "${p##*/} (dpline) 9.8.7"
    done
    assert_equal "$(PKG_CONFIG_PATH="$PWD/to here/lib/pkgconfig" pkg-config --cflags dpline)" "-I${PWD// /\\ }/to\\ here/include "
    if unshare -rm true 2> /dev/null; then
        run unshare -rm sh -c 'mount -t tmpfs none /proc && exec "to here/bin/dp-fit" --version'
        assert_line --index 0 'dp-fit (dpline) 9.8.7'
    fi
    # Another library links nothing again; what older versions have left goes with the rest.
    touch 'a tree/lib/base/text.c'
    make_tree V=1 programs
    refute grep -e '-o build/bin/' log
    make_tree uninstall
    assert_equal "$(find 'to here' -type f -o -type l)" ''
    assert_equal "$(ls)" $'a tree\nlog\nto here'
}

@test "a Debian package is made, and lintian finds no error in it" {
    command -v dpkg-buildpackage > /dev/null && command -v dh > /dev/null || skip "needs dpkg-dev and debhelper"
    case $BUILD in *asan*) skip "a package is not made with sanitizers" ;; esac
    mkdir dpline
    git -C "$ROOT" archive HEAD | tar x -C dpline
    # Programs are linked, installed and packed. DPLINE_TESTS=whole, as in make ci, also compiles with the flags of Debian and asks
    # lintian, which takes minutes.
    local clean=() options=noautodbgsym
    export DPKG_DEB_COMPRESSOR_LEVEL=0
    if [ "${DPLINE_TESTS-}" != whole ]; then
        find dpline -type f -exec touch -d 2020-01-01 {} + # older than what was compiled
        mkdir dpline/build
        cp -a "$BUILD"/{obj,gen,lib} dpline/build
        clean=(--no-pre-clean)
        options+=' nostrip'
    fi
    # No packages of debug symbols: nothing here asks about them.
    (cd dpline && timeout 900 env -u BUILD -u MAKEFLAGS DEB_BUILD_OPTIONS="$options" dpkg-buildpackage -us -uc -b -j2 "${clean[@]}") > log 2>&1 || fail "$(tail log)"
    [ "${DPLINE_TESTS-}" = whole ] || [ "$(grep -c '^  CC ' log)" = 0 ] || fail "it compiles again: $(grep '^  CC ' log)"
    run dpkg -c dpline_*.deb
    assert_line --regexp '\./usr/bin/dpline -> '
    refute_line --partial 'bin/sgd.sh'
    [ "${DPLINE_TESTS-}" != whole ] || ! command -v lintian > /dev/null || lintian --fail-on error dpline_*.changes
}
