"""For tests: what dp-transform(1) and dp-grad(1) say, by NumPy and in the words of their pages."""
import json
import struct

import msgpack
import numpy as np

DTYPES = {"f4": (1, np.float32), "f8": (2, np.float64), "i8": (4, np.int64)}


def packed(array, dtype):
    code, kind = DTYPES[dtype]
    array = np.ascontiguousarray(array, kind)
    return msgpack.ExtType(1, struct.pack("<BB%dQ" % array.ndim, code, array.ndim, *array.shape) + array.tobytes())


def stream(path, laps):
    """A stream of released frames, as it comes out of the gate. Each lap: a dictionary of fields."""
    with open(path, "wb") as out:
        out.write(msgpack.packb({"kind": "hello", "format": 2, "software": "test", "stage": 1, "laps": len(laps)}))
        for t, fields in enumerate(laps, 1):
            out.write(msgpack.packb({"kind": "lap", "lap": t, "laps": len(laps), "label": "released"} | fields))
        out.write(msgpack.packb({"kind": "end", "status": 0}))


def record(rows, rate=1.0):
    return {"of": "sum", "sampler": "full", "rate": rate, "rows": rows, "epoch_laps": 0, "adjacency": "null-record",
            "release": "sum", "bound": 1.0, "sensitivity": 1.0, "scale": 1.0, "noise": "gaussian", "multiplier": 1.0}


def moments(m, grid):
    """The sum that stands for the symmetric matrix m."""
    i, j = np.triu_indices(len(m))
    return np.rint(m[i, j] * np.where(i == j, 1, np.sqrt(2)) / grid).astype(np.int64)[None]


def unpack(total, d):
    m = np.zeros((d, d))
    i, j = np.triu_indices(d)
    m[i, j] = m[j, i] = total / np.where(i == j, 1, np.sqrt(2))
    return m


def whiten(m, rows, noise, rho=0.5, radius=0.7, rank=None):
    """T and the curvature."""
    mu, v = np.linalg.eigh(m)
    mu, v = np.maximum(mu[::-1], 0)[:rank], v[:, ::-1][:, :rank]
    floor = rho * noise * np.sqrt(len(m))
    effective = (mu / (mu + floor)).sum()
    directions = (v * np.sqrt(rows / (mu + floor)) / (radius * np.sqrt(effective))).T
    return (directions if rank else v @ directions), 1 / (radius**2 * effective)


def rows_of(path, intercept):
    about = json.load(open(path + "/dataset.json"))
    if about["storage"] == "dense":
        x = np.load(path + "/X.npy").astype(float)
    else:
        data, at, where = (np.load("%s/X_%s.npy" % (path, name)) for name in ("data", "indices", "indptr"))
        x = np.zeros((about["rows"], about["cols"]))
        for i in range(about["rows"]):
            x[i, at[where[i] : where[i + 1]]] = data[where[i] : where[i + 1]]
    return np.hstack([x, np.full((len(x), 1), intercept)]) if intercept else x


def cut(x, t, unit=False, uncut=False):
    """z, and s of each row."""
    s = 1 / np.linalg.norm(x, axis=1) if unit else np.ones(len(x))
    product = x @ t.T
    if not uncut:
        s = np.minimum(s, 1 / np.maximum(np.linalg.norm(product, axis=1), 1e-300))
    return s[:, None] * product, s
