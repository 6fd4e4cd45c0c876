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
        $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs msgpack libzmq gsl libsodium mpfr jansson) -lz -lm -fopenmp
    run ./solve-static
    assert_success
    make -s -C "$ROOT" uninstall BUILD="$BUILD" PREFIX=/opt/dpline DESTDIR="$PWD/stage"
    assert_equal "$(find stage -type f -o -type l)" ''
}

@test "pipelines run from where they are installed" {
    small_data
    make -s -C "$ROOT" install BUILD="$BUILD" PREFIX=/usr DESTDIR="$PWD/stage" > log 2>&1 || fail "$(cat log)"
    PATH="$PWD/stage/usr/bin:/usr/bin:/bin" run "$PWD/stage/usr/share/dpline/pipelines/scd.sh" --data small.dp --epochs 1 -o model
    assert_success
}
