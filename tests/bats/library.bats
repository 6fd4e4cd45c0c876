# make install, a program against the installed library, make uninstall.
load helper

@test "install, link, run, uninstall" {
    make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$PWD/stage" > log 2>&1 || fail "$(cat log)"
    assert_file_exist stage/opt/dpline/bin/dp-loop
    assert_file_exist stage/opt/dpline/share/man/man1/dp-loop.1
    [ -z "$(find stage/opt/dpline/bin -name 'dp-*' -not -perm -111)" ]
    case $BUILD in *asan*) skip "the installed library is not linked under sanitizers" ;; esac
    export PKG_CONFIG_PATH=$PWD/stage/opt/dpline/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/stage
    flags=$(pkg-config --cflags --libs dpline)
    # shellcheck disable=SC2086
    cc "$ROOT/examples/library/solve.c" $flags -o solve
    LD_LIBRARY_PATH=$PWD/stage/opt/dpline/lib run ./solve
    assert_success
    assert_output --partial 'clipped to 0.1000'
    # shellcheck disable=SC2086
    cc "$ROOT/examples/library/solve.c" $(pkg-config --cflags dpline) stage/opt/dpline/lib/libdpline.a -o solve-static \
        $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs msgpack libzmq gsl libsodium mpfr gmp jansson zlib liblzma libzstd) -lm -fopenmp
    run ./solve-static
    assert_success
    make -s -C "$ROOT" uninstall BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$PWD/stage"
    assert_equal "$(find stage -type f -o -type l)" ''
}

@test "pipelines run from where they are installed" {
    small_data
    make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/usr DESTDIR="$PWD/stage" > log 2>&1 || fail "$(cat log)"
    # as commands, by their path with nothing in PATH, and through a link of one's own
    PATH="$PWD/stage/usr/bin:/usr/bin:/bin" run scd.sh --data small.dp --epochs 1 -o model
    assert_success
    mv stage moved
    for p in moved/usr/bin/scd.sh moved/usr/share/dpline/pipelines/scd.sh; do
        PATH=/usr/bin:/bin run $p --data small.dp --epochs 1 -o model
        assert_success
    done
    ln -s moved/usr/bin/dp-sgd.sh mine
    PATH=/usr/bin:/bin run ./mine --data small.dp --epochs 1 -o model
    assert_success
    assert_line --regexp '^mine: epsilon (1|0.9999[0-9]*), delta 1e-05; 4 laps; the model is in model$'
    # where dpline is not
    mkdir alone && cp moved/usr/share/dpline/pipelines/{scd,options}.sh alone/
    PATH=/usr/bin:/bin complains 2 'scd.sh: dp-loop is not in PATH' alone/scd.sh --data small.dp
}

# a directory of commands with everything make needs, and no compiler, pkg-config or apt-get but those named
few_commands() {
    mkdir -p few
    for c in sh bash make sed mkdir rm printf "$@"; do ln -sf "$(command -v "$c")" few/; done
}

@test "make without its packages says which are missing, and what installs them, before it compiles" {
    few_commands cc
    says() { within 20 env PATH="$PWD/few" make -C "$ROOT" "$@"; }
    says BUILD="$PWD/none" all
    assert_failure 2
    assert_line 'dpline needs what this system lacks: pkg-config'
    assert_line --regexp '^The Debian packages are: pkg-config .* libjansson-dev zlib1g-dev liblzma-dev libzstd-dev$'
    refute_output --partial 'CC  '
    assert_file_not_exist none/obj

    few_commands cc pkg-config
    printf '#!/bin/sh\n' > few/apt-get && chmod +x few/apt-get
    PKG_CONFIG_LIBDIR=$PWD/nowhere says BUILD="$PWD/none" all
    assert_failure 2
    assert_line 'dpline needs what this system lacks: msgpack libzmq gsl libsodium mpfr gmp jansson zlib liblzma libzstd'
    assert_line '  sudo apt-get install libmsgpack-dev libzmq3-dev libgsl-dev libsodium-dev libmpfr-dev libgmp-dev libjansson-dev zlib1g-dev liblzma-dev libzstd-dev'
    refute_output --partial 'CC  '

    mkdir pc && for p in msgpack libzmq gsl libsodium mpfr gmp zlib liblzma libzstd; do printf 'Name: x\nDescription: x\nVersion: 1\n' > pc/$p.pc; done
    PKG_CONFIG_LIBDIR=$PWD/pc says BUILD="$PWD/none" all CC=no-such-compiler
    assert_line 'dpline needs what this system lacks: no-such-compiler jansson'
    assert_line '  sudo apt-get install gcc libc6-dev libjansson-dev'

    mkdir none && PKG_CONFIG_LIBDIR=$PWD/nowhere says BUILD="$PWD/none" clean
    assert_success
    assert_file_not_exist none
}
