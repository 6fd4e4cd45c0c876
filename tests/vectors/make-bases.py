#!/usr/bin/python3
"""Writes bases.tsv: the features of numbers in each basis of a schema, computed with NumPy.

Columns: the column of the schema, the number, its features."""
import json
import sys

import numpy as np

COLUMNS = [([20, 60], 4), ([20, 60], [20, 25.5, 31, 60]), ([20, 60], [40]), ([0.001, 100], 5), ([0, 99999], 8),
           ([-1e6, 1e6], 6), ([-3, 8], 1), ([1000, 5000], 3)]


def edges(low, high, knots):
    if isinstance(knots, list):
        return np.array([low] + [k for k in knots if low < k < high] + [high])
    if low > 0 and high / low >= 1000:
        return np.geomspace(low, high, knots + 1)
    if low <= 0 and max(-low, high) >= 1000:
        at = np.linspace(np.sign(low) * np.log1p(abs(low)), np.log1p(high), knots + 1)
        return np.sign(at) * np.expm1(abs(at))
    return np.linspace(low, high, knots + 1)


def features(basis, e, x):
    if basis == "hats":
        return [np.interp(x, e, unit) for unit in np.eye(len(e))]
    if basis == "bins":
        inside = np.clip(np.searchsorted(e, x, side="right") - 1, 0, len(e) - 2)
        return np.eye(len(e) - 1)[inside]
    u = np.interp(x, e, np.linspace(0, 1, len(e)))
    return [np.cos(np.pi * k * u) / k for k in range(1, 9)]


for bounds, knots in COLUMNS:
    for basis in ("hats", "bins", "cosines"):
        e = edges(*bounds, knots)
        column = json.dumps({"bounds": bounds, "basis": basis, "knots": knots}, separators=(",", ":"))
        # Edges are off by their rounding, so numbers are well between them, or the bounds.
        for x in [bounds[0], bounds[1]] + [float(e[i] + part * (e[i + 1] - e[i])) for i in range(len(e) - 1) for part in (0.01, 0.7)]:
            values = [repr(float(v)) for v in features(basis, e, x)]
            sys.stdout.write("\t".join([column, repr(float(x))] + values) + "\n")
