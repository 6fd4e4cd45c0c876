#!/usr/bin/python3
"""persons.py clip DIR RAW C: the sum that dp-clip makes of the rows and updates of the first lap of the frames RAW, rows of a person
clipped together to C. persons.py moments DIR BOUND: that of dp-moments over all rows of DIR. Either is one JSON array of whole numbers,
by NumPy and in the words of the manuals. Fails where a person moves the sum by more than the bound."""
import json, math, os, sys
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))


LESS = 1 - 1e-14 # a margin for rounding, as the program has one


def toward_zero(x):
    f = np.asarray(x).astype(np.float32)
    return np.where(np.abs(f.astype(np.float64)) > np.abs(x), np.nextafter(f, np.float32(0)), f).astype(np.float64)


def grid_of(bound):
    return 2.0 ** (math.floor(math.log2(bound)) - 20)


def within(part, bound, grid):
    """Whole numbers, whose norm is compared without rounding."""
    assert sum(int(k) ** 2 for k in part.flatten()) * grid**2 <= bound**2, "a person is beyond the bound"
    return part


def clip(x, start, raw, bound):
    import frames

    lap = frames.laps(raw)[0]
    grid, total, at = grid_of(bound), 0, 0
    for person in lap["rows"]:
        rows = x[start[person] : start[person + 1]]
        a = lap["updates"][at : at + len(rows)].astype(np.float64)
        at += len(rows)
        if len(rows) == 1:  # of a single row the coefficients are clipped, and rounded to floats
            size = math.sqrt(math.fsum(a[0] ** 2))
            assert math.fsum(rows[0] ** 2) <= 1
            a = a if size <= bound * LESS else toward_zero(a * (bound / size * LESS))
        v = np.zeros((a.shape[1], x.shape[1]))
        for coefficients, row in zip(a, rows):
            v += coefficients[:, None] * row[None, :]
        norm = math.sqrt(math.fsum((v**2).flatten()))
        if norm > bound * LESS:
            v *= bound / norm * LESS
        total = total + within(np.trunc(v / grid).astype(np.int64), bound, grid)
    assert at == len(lap["updates"])
    return total


def moments(x, start, bound):
    h, total = 2.0 ** math.ceil(math.log2(bound / 2**29) / 2), 0  # the grid of moments is h²
    for from_, to in zip(start[:-1], start[1:]):
        rows = x[from_:to]
        size = math.fsum((rows**2).flatten())
        z = rows if size <= bound * LESS else rows * (math.sqrt(bound / size) * LESS)
        q, r = np.trunc(z / h), np.trunc(float.fromhex("0x1.6a09e6p+0") * z / h)
        d = z.shape[1]
        part = [((q if i == j else r)[:, i] * q[:, j]).sum() for i in range(d) for j in range(i, d)]
        total = total + within(np.array(part).astype(np.int64), bound, h * h)
    return total


what, path = sys.argv[1:3]
x = np.load(path + "/X.npy").astype(np.float64)
start = np.load(path + "/persons.npy")
made = clip(x, start, sys.argv[3], float(sys.argv[4])) if what == "clip" else moments(x, start, float(sys.argv[3]))
json.dump([int(k) for k in made.flatten()], sys.stdout)
