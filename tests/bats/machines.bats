# Models have the same bytes on every machine. tests/arm64 does the same on an emulated ARM64.
load helper
load variants
load machines

@test "an x86 without fused multiply-add and without AVX2 trains the same models" {
    [ "$(uname -m)" = x86_64 ] || skip "needs an x86"
    machine_data
    machine_models here
    (export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2 DPLINE_ISA=portable && machine_models there)
    assert_equal "$(ls here | wc -l)" 25
    diff -r here there
    # of every machine, which compares with others only by this line
    assert_equal "$(weights here/fit-two) $(weights here/fit-four) $(weights here/fit-real)" \
        "78b15fde471beffe 3db709fb71df76e0 e2a32e8060f4b4a7"
}

@test "an x86 without them passes the units that have digests" {
    [ "$(uname -m)" = x86_64 ] || skip "needs an x86"
    for unit in eigen schedule; do
        GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2 "$BUILD/unit/test_$unit"
    done
}

@test "made-up data are the same on every machine" {
    run made_up
    assert_output "68cbfbbeff955598c3d133104b7aa54783d8115be9f6610ff3059d93051d4d15  p.csv
112848633c03ffef955e2310dc8182be2b118429ae39a95e22d092582d795216  r.dp/X.npy
74d9f27e1582ae3053a577de20cc7a247d3d971a92df61c2cc10a41879a286e4  r.dp/y.npy
a2bbcb1e7a96420f73ab8dd7333eff2486d2a3dd85769cdc9fe3af9ab93e0547  c.dp/X.npy
a7120dd6bac87abe8668cf110a47d889dde2f4fa6b0bdaa626dee82b32787339  c.dp/y.npy"
}
