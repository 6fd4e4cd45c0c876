#!/usr/bin/env bats
# dp-import npy and npz: arrays of NumPy.
load helper

arrays() {
    /usr/bin/python3 - << 'END'
import numpy as np
rng = np.random.default_rng(1)
x = rng.normal(size=(300, 5)) * 10
y = rng.integers(0, 3, 300)
np.save("x.npy", x)
np.save("y.npy", y)
np.savez("stored.npz", X=x.astype("f4"), y=y.astype("u1"), other=np.arange(3))
np.savez_compressed("packed.npz", rows=x.astype("f4"), labels=(y - 1).astype("f8")[:, None])
np.save("bytes.npy", rng.integers(0, 256, (300, 16, 16), dtype="u1"))
np.save("fortran.npy", np.asfortranarray(x))
np.save("big.npy", x.astype(">f8"))
np.save("texts.npy", np.array([["a", "b"]] * 300))
np.save("objects.npy", np.array([[None, 1]] * 300), allow_pickle=True)
np.save("flat.npy", x[:, 0])
np.save("cube.npy", x.reshape(300, 5, 1))
np.save("few.npy", y[:10])
np.save("none.npy", x[:0]), np.save("no.npy", y[:0])
x[7, 2] = np.nan
np.save("nan.npy", x)
for kind in "i1 i2 i4 i8 u2 u4 u8 f4 b1".split():
    np.save(kind + ".npy", np.ascontiguousarray(x[:, :3] > 0).astype(kind))
END
}

@test "npy and npz: the rows of NumPy, whatever their type, stored or compressed" {
    arrays
    run dp-import npy --classes 3 --row-norm unit -o t.dp x.npy y.npy
    assert_output "dp-import: t.dp: 300 rows, 6 columns, 3 classes
dp-import: each row is scaled to norm 1 by itself; the last column is a bias
dp-import: one row is taken for one person
dp-import: the population is x.npy"
    dp-info --verify t.dp > info
    dp-import npz -q --classes 3 -o stored.dp stored.npz
    dp-import npz -q --classes -1,0,1 -o packed.dp packed.npz rows labels
    gzip -c x.npy > x.npy.gz
    dp-import -q --classes 3 -o packed-file.dp x.npy.gz y.npy
    dp-import npy -q --number --no-bias -o real.dp x.npy y.npy
    for kind in i1 i2 i4 i8 u2 u4 u8 f4 b1; do
        dp-import npy -q --classes 3 --row-norm unit -o $kind.dp $kind.npy y.npy
        cmp i1.dp/X.npy $kind.dp/X.npy
    done
    assert_equal "$(jq -r .row_norm b1.dp/dataset.json)" unit
    dp-import npy -q --classes 3 -o b.dp b1.npy y.npy # truth values have bounds
    assert_equal "$(jq -r '"\(.row_norm) \(.row_divisor * 1e5 | round)"' b.dp/dataset.json)" "bounds 200000"
    /usr/bin/python3 - << 'END'
import numpy as np
load = lambda name: np.load(name + ".dp/X.npy").astype(float)
x, y = np.load("x.npy"), np.load("y.npy")
wanted = np.c_[x, np.ones(300)]
wanted /= np.linalg.norm(wanted, axis=1)[:, None]
for name in "t", "stored", "packed", "packed-file":
    assert abs(load(name) - wanted).max() < 1e-6, name
    assert (np.load(name + ".dp/y.npy") == y).all(), name
assert (np.load("real.dp/y.npy") == y).all()
END
    dp-import npy -q --classes 3 --features hog -o images.dp bytes.npy y.npy
    assert_equal "$(dp-info -g row_norm images.dp)" "hog:v1 16x16 seed 1, unit, bias"
}

@test "npy and npz: one sentence for each array that cannot be read" {
    arrays
    says() { complains 1 "dp-import: $1" dp-import npy --classes 3 -o x.dp "${@:2}"; }
    complains 2 "dp-import: npy takes two files: rows and labels" dp-import npy --classes 3 -o x.dp x.npy
    complains 2 "dp-import: npz takes a file, and perhaps the names of two arrays in it (X y)" dp-import npz --classes 3 -o x.dp stored.npz X
    complains 1 "dp-import: stored.npz has no array 'A', but X, y, other" dp-import npz --classes 3 -o x.dp stored.npz A y
    complains 1 "dp-import: packed.npz has no array 'X', but rows, labels" dp-import npz --classes 3 -o x.dp packed.npz
    says "fortran.npy is in Fortran order: numpy.ascontiguousarray(X) makes rows of it" fortran.npy y.npy
    says "big.npy has elements of type '>f8': numbers are read, little endian, as X.astype(\"<f4\") makes them" big.npy y.npy
    says "texts.npy has elements of type '<U1': numbers are read, little endian, as X.astype(\"<f4\") makes them" texts.npy y.npy
    says "objects.npy has elements of type '|O': numbers are read, little endian, as X.astype(\"<f4\") makes them" objects.npy y.npy
    says "flat.npy has 1 dimension: rows and columns are expected" flat.npy y.npy
    says "cube.npy has 3 dimensions: only images of bytes (uint8) have more than two" cube.npy y.npy
    says "x.npy: one label for each row is expected" x.npy x.npy
    says "x.npy has 300 rows, few.npy has 10" x.npy few.npy
    says "nan.npy: row 8, column 3: expected a number, got nan" nan.npy y.npy
    says "none.npy: no rows" none.npy no.npy
    complains 1 "dp-import: y.npy: row $(/usr/bin/python3 -c 'import numpy; print(numpy.load("y.npy").tolist().index(2) + 1)'): the label 2 is not one of the classes (--classes: 0, 1)" \
        dp-import npy --classes 2 -o x.dp x.npy y.npy
    complains 1 "dp-import: x.npy: --features is for images: bytes (uint8) with rows, height, width and perhaps channels" \
        dp-import npy --classes 3 --features hog -o x.dp x.npy y.npy
    head -c 5000 x.npy > short.npy
    says "short.npy is cut short" short.npy y.npy
    { cat x.npy && echo; } > long.npy
    says "long.npy is longer than its shape says" long.npy y.npy
    printf '\x93NUMPY\x01\x00\x04\x00{}\n\n' > empty.npy
    says "empty.npy: its header makes no sense, or it has more than 4 dimensions" empty.npy y.npy
    assert_not_exists x.dp
}
