#!/usr/bin/python3
"""moments.py DIR [INTERCEPT [BOUND]] [unit]: the sum of second moments of the rows of a dense or sparse data set, as one JSON array of
whole numbers, by NumPy and in the words of dp-moments(1). BOUND is that of --labels, which are left out without it."""
import json, math, sys
import numpy as np


def rows(path, about):
    if about["storage"] == "dense":
        return np.load(path + "/X.npy")
    data, at, where = (np.load("%s/X_%s.npy" % (path, name)) for name in ("data", "indices", "indptr"))
    x = np.zeros((about["rows"], about["cols"]), np.float32)
    for i in range(about["rows"]):
        x[i, at[where[i] : where[i + 1]]] = data[where[i] : where[i + 1]]
    return x


def toward_zero(x):
    f = x.astype(np.float32)
    return np.where(np.abs(f.astype(np.float64)) > np.abs(x), np.nextafter(f, np.float32(0)), f)


unit = sys.argv[-1] == "unit"
if unit:
    sys.argv.pop()
path, intercept, bound = sys.argv[1], float(sys.argv[2:3][0]) if sys.argv[2:] else 0, sys.argv[3:4]
about = json.load(open(path + "/dataset.json"))
x = rows(path, about).astype(np.float64)
y = np.load(path + "/y.npy")
part = [x]
v = float(np.float32(intercept))
limit = 1 + v * v
if v:
    part.append(np.full((len(x), 1), v))
if unit:
    x = np.hstack(part)
    part = [toward_zero(x / np.sqrt((x * x).sum(1))[:, None]).astype(np.float64)]
    limit = 1
if bound:
    b = float(np.float32(bound[0]))
    limit += b * b
    classes = len(about["label"].get("classes") or [])
    if classes > 2:
        part.append(b * (y[:, None] == np.arange(classes)))
    else:
        part.append(np.where(y == 1, b, -b)[:, None] if classes else toward_zero(np.clip(y, -b, b)).astype(np.float64)[:, None])
z = np.hstack(part)
assert ((z * z).sum(1) < limit * (1 - (0 if unit else 1e-9))).all(), "a row would be cut"
h = 2.0 ** math.ceil(math.log2(limit / 2**29) / 2)  # the grid of moments is h²
q, r = np.trunc(z / h), np.trunc(float.fromhex("0x1.6a09e6p+0") * z / h)
d = z.shape[1]
total = []
for i in range(d):
    for j in range(i, d):
        total.append(int(((q if i == j else r)[:, i] * q[:, j]).sum()))
json.dump(total, sys.stdout)
