# dp-info: a description of a data set, for readers and for scripts.
load helper

@test "usage" {
    run dp-info --help
    assert_success
    assert_line --index 0 "Usage: dp-info [options] PATH"
    complains 2 "dp-info: expected one data set or model" dp-info
    complains 2 "dp-info: expected one data set or model" dp-info a b
    complains 1 "dp-info: cannot open gone: No such file or directory" dp-info gone
    mkdir empty
    complains 1 "dp-info: cannot open empty/dataset.json: not a data set (see dp-import)" dp-info empty
}

@test "a data set, for a person" {
    small_data 40 3 4
    run dp-info small.dp
    assert_success
    assert_line --index 0 "data set   small.dp"
    assert_line --index 1 "rows       40"
    assert_line --index 2 "persons    one row is taken for one person"
    assert_line --index 3 "columns    3, dense"
    assert_line --index 4 "label      y, 4 classes: c0, c1, c2, c3"
    assert_line --index 5 "privacy    nothing was measured on the rows to prepare them"
    assert_line --index 6 "row norm   unit"
    assert_line --index 7 "population dp-synth:classification:7"
    assert_line --index 8 --regexp '^digest     [0-9a-f]{32}$'
    assert_equal "${#lines[@]}" 9
    dp-synth regression --rows 5 --cols 2 --storage csr -q -o r.dp
    run dp-info r.dp
    assert_line "columns    2, CSR"
    assert_line "label      y, a number: 1 × y +0"
}

@test "--get prints one value, --json all of them" {
    small_data 40 3
    for pair in rows=40 cols=3 classes=2 storage=dense label=y private_preprocessing= 'class_names=["c0","c1"]'; do
        run dp-info --get "${pair%%=*}" small.dp
        assert_success
        assert_output "${pair#*=}"
    done
    complains 2 "dp-info: --get: no field 'row'" dp-info --get row small.dp
    run dp-info --json small.dp
    assert_success
    assert_line --partial '"rows": 40'
    assert_line --partial "\"digest\": \"$(dp-info -g digest small.dp)\""
}

@test "counts per class are private and are not printed" {
    dp-synth classification --rows 40 --cols 3 --seed 2 -q -o a.dp
    dp-synth classification --rows 40 --cols 3 --seed 3 -q -o b.dp
    # two data sets of the same shape differ in name, digest and population, in nothing else
    said() { dp-info "$@" | grep -v 'digest\|population' | sed 's/[ab].dp//'; }
    diff <(said a.dp) <(said b.dp)
    diff <(said --json a.dp) <(said --json b.dp)
}

@test "damaged data sets are refused by name" {
    small_data
    cp -r small.dp cut.dp
    truncate -s -1 cut.dp/X.npy
    complains 1 "dp-info: cut.dp/X.npy: holds 9599 bytes of data, its shape needs 9600" dp-info cut.dp
    cp small.dp/X.npy cut.dp
    truncate -s -8 cut.dp/y.npy
    complains 1 "dp-info: cut.dp/y.npy: holds 3192 bytes of data, its shape needs 3200" dp-info cut.dp
    rm cut.dp/y.npy
    complains 1 "dp-info: cannot open cut.dp/y.npy: No such file or directory" dp-info cut.dp
    cp small.dp/y.npy cut.dp
    sed -i 's/"rows": 400/"rows": 399/' cut.dp/dataset.json
    complains 1 "dp-info: cut.dp: its arrays do not have the shape that dataset.json states" dp-info cut.dp
    echo '{"format": 1,' > cut.dp/dataset.json
    run dp-info cut.dp
    assert_failure 1
    assert_output --regexp '^dp-info: cut.dp/dataset.json: line [12]: '
}

@test "--verify reads the values" {
    small_data
    dp-info --verify small.dp
    printf '\0\0\0\100' | dd of=small.dp/X.npy bs=1 seek=128 conv=notrunc status=none
    dp-info small.dp > info # opening reads no values
    run dp-info --verify small.dp
    assert_failure 1
    assert_output --regexp '^dp-info: small.dp: row 1 has norm 2\.[0-9]+, above 1$'
    printf '\0\0\300\177' | dd of=small.dp/X.npy bs=1 seek=128 conv=notrunc status=none
    complains 1 "dp-info: small.dp: row 1 is not finite" dp-info --verify small.dp
    printf '\0\0\0\0' | dd of=small.dp/X.npy bs=1 seek=128 conv=notrunc status=none
    complains 1 "dp-info: small.dp: its contents are not those that dp-import wrote: the digest differs" \
        dp-info --verify small.dp
}

@test "the digest is what the page says, without zeros" {
    # 300 columns: two parts; numbers of 0, 1 and most columns
    /usr/bin/python3 - << 'END'
import numpy
x = numpy.random.default_rng(1).normal(size=(40, 300)) * (numpy.random.default_rng(2).random(300) < 0.3)
x[3] = 0
x[4, 1:] = 0
numpy.save("x.npy", x.astype("f4"))
numpy.save("y.npy", numpy.arange(40) % 2)
END
    dp-import npy x.npy y.npy --classes 2 -o dense.dp -q
    dp-import npy x.npy y.npy --classes 2 --quantise -o narrow.dp -q
    for set in dense narrow; do
        dp-info --verify $set.dp > verified
        /usr/bin/python3 - $set.dp << 'END'
import hashlib, json, numpy, sys
d = sys.argv[1]
about = json.load(open(d + "/dataset.json"))
assert about["digest_of"] == "nonzero", about
narrow = about["storage"] == "int16"
x = numpy.load(d + "/X_i16.npy") * numpy.load(d + "/scales.npy") if narrow else numpy.load(d + "/X.npy")
assert len(x) == 40 and 256 < x.shape[1] < 512 and x.dtype == "f4"
hash = hashlib.blake2b(key=bytes.fromhex(about["salt"]), digest_size=16)
for row, label in zip(x, numpy.load(d + "/y.npy")):
    for part in (row[:256], row[256:]):
        hash.update(numpy.packbits(part != 0, bitorder="little").tobytes() + part[part != 0].tobytes())
    hash.update(label.tobytes())
hash.update(numpy.array(x.shape, "u8").tobytes())
assert hash.hexdigest() == about["digest"], hash.hexdigest()
END
    done
    sed -i 's/"nonzero"/"most"/' dense.dp/dataset.json
    complains 1 'dp-info: dense.dp/dataset.json: "digest_of" is '"'most', which is unknown" dp-info dense.dp
}

@test "a model: as JSON, and field by field" {
    small_data 40 6
    dp-loop --laps 2 --seed 1 -q -o model -- "dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 2 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded | dp-step" > /dev/null
    dp-info --json model > model.json
    /usr/bin/python3 - << 'END'
import json
model = json.load(open("model.json"))
assert model["labels"] == ["c0", "c1"] and model["model"]["shape"] == [1, 6], model
assert len(model["model"]["values"]) == 6 and all(isinstance(v, float) for v in model["model"]["values"]), model
END
    assert_equal "$(dp-info --get model model | wc -l)" 6
    assert_equal "$(dp-info --get lap model)" 2
    assert_equal "$(dp-info --get labels model)" '["c0","c1"]'
    # and a file that is not a model is named
    complains 1 "dp-info: small.dp/dataset.json is a text, and a data set or a model is expected (dpline fit makes both of a table)" dp-info small.dp/dataset.json
    : > empty
    complains 4 "dp-info: empty ends before its end frame: the run behind it did not finish" dp-info empty
}
