# Rows of 16 bits: a run, a prediction or an evaluation gives the same result as on the same values as float32.
load helper
load variants

# narrow NAME SYNTH-OPTIONS…: NAME.dp with whole numbers of 16 bits, NAME-wide.dp with the same values as float32
narrow() {
    local name=$1
    shift
    dp-synth "$@" --quantise -o $name.dp -q
    dp-synth "$@" --quantise --storage dense -o $name-wide.dp -q
}

# same NAME LOSS VARIANT: the model and the stream of both
same() {
    train narrow "${HOW:-fused}" "$(pipeline $1.dp $2 $3)"
    train wide "${HOW:-fused}" "$(pipeline $1-wide.dp $2 $3)"
    cmp narrow wide
    cmp narrow.stream wide.stream
    [ "$(stat -c %s narrow)" -gt 300 ]
}

@test "runs give the bytes of the same values as float32: every method and loss" {
    narrow two classification --rows 600 --cols 9 --seed 3
    narrow four classification --rows 600 --cols 9 --classes 4 --seed 4
    narrow real regression --rows 600 --cols 9 --seed 5
    assert_equal "$(dp-info -g digest two.dp)" "$(dp-info -g digest two-wide.dp)"
    for loss in squared hinge logistic; do
        for variant in parallel threads release sequential non-private clip inline; do same four $loss $variant; done
        same two $loss parallel
    done
    same real huber primal
    for variant in gradient gradient-threads gradient-clip gradient-adaptive sgd; do
        same two logistic $variant
        same four softmax $variant
    done
    for variant in behind behind-threads behind-inline behind-clip; do same four logistic $variant; done
    for variant in kinds search search-threads search-inline search-same select select-threads select-inline; do same two logistic $variant; done
    for variant in erm erm-threads erm-inline descent permutation coins; do same two logistic $variant; done
    same real huber perturbed
}

@test "runs give the same bytes whatever instructions there are" {
    narrow two classification --rows 600 --cols 40 --seed 3
    narrow four classification --rows 600 --cols 40 --classes 4 --seed 4
    for what in "two hinge parallel" "two logistic sequential" "four logistic threads" "four softmax gradient-clip" "two hinge search"; do
        same $what
        mv narrow expected
        for isa in $(instructions); do
            DPLINE_ISA=$isa same $what
            cmp narrow expected
        done
    done
}

@test "runs as processes and in shards too, and inline frames have the values" {
    narrow two classification --rows 600 --cols 30 --seed 3
    HOW=processes same two hinge parallel
    for which in two two-wide; do
        train $which fused "dp-gather --workers 2 --local 'dp-sample --data $which.dp --shard %k/%K --rate 0.2 |
            dp-scd-step --data $which.dp --loss hinge --lambda 1e-3 --clip 0.1' | dp-noise -z 1.5 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step"
        dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data $which.dp --rate 0.2 --inline | tee $which.raw |
            dp-grad --loss logistic --clip 1 | dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step --step 1" > /dev/null
    done
    cmp two two-wide
    cmp <(dp-cat --full --kind lap two.raw) <(dp-cat --full --kind lap two-wide.raw)
}

@test "dp-predict, dp-eval and dp-cat: as for float32; rows that are not quantised fit too" {
    narrow two classification --rows 600 --cols 9 --seed 3
    dp-synth classification --rows 600 --cols 9 --seed 3 -o whole.dp -q
    train model fused "$(pipeline two.dp logistic gradient)"
    for tool in "dp-predict --scores model --data" "dp-eval --private-data -i model.stream --data"; do
        $tool two.dp > narrow.said
        $tool two-wide.dp > wide.said
        cmp narrow.said wide.said
        $tool whole.dp > whole.said
        [ "$(wc -l < whole.said)" = "$(wc -l < wide.said)" ]
    done
    dp-cat --kind lap model.stream | jq -e '.row_norm == "unit, quantised"' > /dev/null
    dp-info model | grep -qx 'its rows: unit, quantised'
    train plain fused "$(pipeline whole.dp logistic gradient)"
    dp-predict plain --data two.dp > /dev/null
    dp-synth classification --rows 60 --cols 9 -o other.dp -q
    jq '.row_norm = "cap"' other.dp/dataset.json > edited && cp edited other.dp/dataset.json
    complains 1 "dp-predict: the rows of the model have row norm 'unit, quantised', the rows of other.dp 'cap'" dp-predict model --data other.dp
}

@test "dp-info says it, as text and in fields" {
    narrow two classification --rows 60 --cols 9 --seed 3
    run dp-info --verify two.dp
    assert_success
    assert_line "columns    9, dense in 16 bits"
    assert_line "row norm   unit, quantised"
    for which in two.dp:int16:true two-wide.dp:dense:true; do
        IFS=: read -r data storage quantised <<< "$which"
        dp-info --verify $data > /dev/null
        assert_equal "$(dp-info -g storage $data) $(dp-info -g quantised $data)" "$storage $quantised"
    done
    dp-synth classification --rows 60 --cols 9 --seed 3 -o whole.dp -q
    assert_equal "$(dp-info -g storage whole.dp) $(dp-info -g quantised whole.dp)" "dense false"
    [ "$(dp-info -g digest whole.dp)" != "$(dp-info -g digest two.dp)" ]
    jq '.quantised = 1' two.dp/dataset.json > edited && cp edited two.dp/dataset.json
    complains 1 'dp-info: two.dp/dataset.json: "quantised" is not true or false' dp-info two.dp
}

table() {
    echo '{"columns": [{"name": "a", "type": "numeric", "bounds": [-40, 3], "scale": "none"},
      {"name": "b", "type": "numeric", "bounds": [0, 0.01], "scale": "none"},
      {"name": "c", "type": "categorical", "categories": ["x", "y"]},
      {"name": "l", "type": "label", "classes": ["0", "1"]}]}' > s.json
    /usr/bin/python3 -c "
import random
random.seed(1)
for i in range(${1:-200}): print(f'{random.uniform(-45, 4):.5f},{random.uniform(0, 0.01):.7f},{random.choice(\"xy\")},{i % 2}')" > t.csv
}

@test "dp-import: values toward zero, by steps of the bounds; the same whatever they are stored as" {
    table
    dp-import csv t.csv -s s.json -o whole.dp -q
    run dp-import csv t.csv -s s.json --quantise -o q.dp
    assert_success
    assert_line --partial "every row is divided by 40.025, the largest norm that the bounds permit, and its values are rounded toward zero to 16 bits; the last"
    dp-import csv t.csv -s s.json --quantise --storage dense -o dense.dp -q
    dp-import csv t.csv -s s.json --quantise --storage csr -o csr.dp -q
    for set in q dense csr; do
        run dp-info --verify $set.dp
        assert_success
        assert_line --regexp '^row norm   divided by 40.0[0-9]+, bias, quantised$'
    done
    /usr/bin/python3 << 'END'
import json, math, numpy
x, q, s = numpy.load("whole.dp/X.npy"), numpy.load("q.dp/X_i16.npy"), numpy.load("q.dp/scales.npy")
wide = numpy.load("dense.dp/X.npy")
assert q.dtype == numpy.int16 and s.dtype == numpy.float32 and q.shape == x.shape and s.shape == (5,)
assert (numpy.frexp(s)[0] == 0.5).all() and list(numpy.log2(s)) == [-15, -26, -20, -20, -20], s
assert ((q * s).astype("f4") == wide).all() and (wide == numpy.trunc(x / s) * s).all() and (q != 0).mean() > 0.7
assert (numpy.abs(q) >= 16384).any(axis=0).all() # no bit is wasted
for row in wide.astype(float): assert math.fsum(row * row) <= 1
start, at, data = (numpy.load(f"csr.dp/X_{n}.npy") for n in ("indptr", "indices", "data"))
for i in range(200): # CSR has what is not 0
    row = numpy.zeros(5, "f4"); row[at[start[i]:start[i + 1]]] = data[start[i]:start[i + 1]]
    assert (row == wide[i]).all()
assert json.load(open("q.dp/dataset.json"))["storage"] == "int16" and json.load(open("q.dp/dataset.json"))["quantised"] is True
assert "quantised" not in json.load(open("whole.dp/dataset.json"))
END
}

@test "dp-import: splits, other formats and other lengths of rows" {
    table 100
    dp-import csv t.csv -s s.json --quantise --split 0.7 -o train.dp --test test.dp -q
    for set in train test; do
        dp-info --verify $set.dp > /dev/null
        assert_equal "$(dp-info -g storage $set.dp)" int16
    done
    cmp train.dp/scales.npy test.dp/scales.npy
    printf '%s\n' '+1 1:0.5 7:1' '-1 2:2' '+1 3:-1e-9' > t.svm
    for norm in unit cap none; do
        [ $norm != none ] || sed -i 's/2:2/2:1/; s/7:1/7:0.25/' t.svm
        dp-import libsvm t.svm --classes -1,1 --cols 9 --no-bias --quantise --row-norm $norm -o $norm.dp -q
        dp-info --verify $norm.dp > /dev/null
    done
    /usr/bin/python3 -c '
import numpy
for norm in "unit", "cap", "none":
    q = numpy.load(norm + ".dp/X_i16.npy")
    assert (numpy.load(norm + ".dp/scales.npy") == 2.0 ** -15).all()
    assert q[1, 1] == 32767 and q[2, 2] == (-32767 if norm == "unit" else 0), (norm, q)'
}

@test "dp-import --out: the rows are those that --output writes" {
    table 50
    dp-import csv t.csv -s s.json --quantise --out rows -q
    dp-import csv t.csv -s s.json --quantise --storage dense -o wide.dp -q
    dp-import csv t.csv -s s.json -o whole.dp -q
    train model fused "dp-sample --data wide.dp --rate 0.5 | dp-grad --data wide.dp --loss logistic --clip 1 | dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step --step 1"
    dp-predict --scores model --data wide.dp > wide
    dp-predict --scores model --rows rows > streamed
    cmp wide streamed
    dp-predict --scores model --data whole.dp > whole
    run cmp -s wide whole
    assert_failure
}

@test "damage is named" {
    dp-synth regression --rows 40 --cols 6 --quantise -o q.dp -q
    cp -r q.dp bad.dp
    truncate -s -1 bad.dp/X_i16.npy
    complains 1 "dp-info: bad.dp/X_i16.npy: holds 479 bytes of data, its shape needs 480" dp-info bad.dp
    cp q.dp/X_i16.npy bad.dp
    truncate -s -4 bad.dp/scales.npy
    complains 1 "dp-sample: bad.dp/scales.npy: holds 20 bytes of data, its shape needs 24" dp-sample --data bad.dp --rate 0.1
    cp q.dp/scales.npy bad.dp
    printf '\0\0\100\100' | dd of=bad.dp/scales.npy bs=1 seek=132 conv=notrunc status=none # 3
    complains 1 "dp-info: bad.dp/scales.npy: the scale of column 2 is not a power of two from 2^-126 to 2^112" dp-info bad.dp
    cp q.dp/scales.npy bad.dp
    printf '\0\200\0\200' | dd of=bad.dp/X_i16.npy bs=1 seek=128 conv=notrunc status=none
    dp-info bad.dp > /dev/null # opening reads no values
    run dp-info --verify bad.dp
    assert_failure 1
    assert_output --regexp '^dp-info: bad.dp: row 1 has norm 1\.[0-9]+, above 1$'
    printf '\0\0' | dd of=bad.dp/X_i16.npy bs=1 seek=128 conv=notrunc status=none
    printf '\0\0' | dd of=bad.dp/X_i16.npy bs=1 seek=130 conv=notrunc status=none
    complains 1 "dp-info: bad.dp: its contents are not those that dp-import wrote: the digest differs" dp-info --verify bad.dp
    rm bad.dp/X_i16.npy
    complains 1 "dp-info: cannot open bad.dp/X_i16.npy: No such file or directory" dp-info bad.dp
}

@test "an audit of such rows: the bound holds, and what stands in a row's place is any value" {
    dp-synth classification --rows 60 --cols 5 --quantise --seed 2 -o q.dp -q
    for stage in "dp-scd-step --data {} --loss hinge --lambda 1e-2 --clip 0.003" "dp-grad --data {} --loss logistic --clip 0.5"; do
        run timeout 120 dp-audit sensitivity --data q.dp --rows 6 --laps 6 --seed 1 -- "dp-sample --data {} --rate 0.3 | $stage"
        assert_success
        # and some value comes close: a stage that sums nothing would satisfy any bound
        awk -v r="$(sed -n 's/^worst ratio \([0-9.]*\) .*/\1/p' <<< "$output")" 'BEGIN { exit !(r > 0.999 && r <= 1) }' || fail "$stage: $output"
    done
}
