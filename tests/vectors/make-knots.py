#!/usr/bin/python3
"""Writes knots.tsv: knots of a numeric column from noised counts of 16 cells, computed with NumPy.

Columns: bounds, kind, deviation of the noise, counts, edges. Half of the deviation is added to each count. The ascending sums are those of the formula max over a <= i of min over b >= i of a mean."""
import json
import sys

import numpy as np

rng = np.random.default_rng(24)
CELLS = 16
ROWS = 2000


def ascending(f):
    mean = lambda a, b: f[a : b + 1].mean()
    n = len(f)
    return np.array([max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)])


def cells(low, high):
    if low > 0 and high / low >= 1000:
        return np.geomspace(low, high, CELLS + 1)
    if low <= 0 and max(-low, high) >= 1000:
        at = np.linspace(np.sign(low) * np.log1p(abs(low)), np.log1p(high), CELLS + 1)
        return np.sign(at) * np.expm1(abs(at))
    return np.linspace(low, high, CELLS + 1)


def short(low, high, k):
    """Six digits, and as many more as the bounds have in common."""
    return float(f"{k:.{6 + max(0, int(np.floor(np.log10(max(abs(low), abs(high)) / (high - low)))))}g}")


def bins(low, high, edge, count, deviation):
    """Cells that are bins, one after the other in rounds; then runs of the other cells."""
    places = int(np.sqrt(ROWS / deviation).clip(4, 16)) if deviation > 0 else 16
    own = []
    while True:
        before = len(own)
        for i in range(CELLS):
            part = (count.sum() - count[own].sum()) / (places - len(own))
            if i not in own and len(own) < places - 1 and count[i] > max(part, 2 * deviation):
                own.append(i)
        if len(own) == before:
            break
    part = max((count.sum() - count[own].sum()) / (places - len(own)), 4 * deviation)
    out, run = [], []
    for i in range(CELLS):
        run = [] if i in own else run + [i]
        if i in own or count[run].sum() >= part:
            out += [edge[i], edge[i + 1]] if i in own else [edge[i + 1]]
            run = []
    return sorted({k for k in (short(low, high, k) for k in out) if low < k < high})


def knots(low, high, kind, noise, counts):
    m = 16 if kind == "cosines" else 8
    edge, f = cells(low, high), ascending(np.r_[0, np.cumsum(counts + noise / 2)])
    f -= f[0]
    if f[-1] <= 0:
        return None
    if kind == "bins":
        return [low] + bins(low, high, edge, np.diff(f), 4 * noise) + [high]
    if kind == "cosines":
        f += 0.2 * f[-1] * (edge - low) / (high - low)
    out = [low]
    for i in range(CELLS):
        levels = [k for k in range(1, m) if f[i] < k / m * f[-1] <= f[i + 1]]
        if not levels:
            continue
        inside = edge[i] + (edge[i + 1] - edge[i]) * (levels[0] / m * f[-1] - f[i]) / (f[i + 1] - f[i])
        knot = short(low, high, edge[i + 1] if len(levels) > 1 else inside)
        if out[-1] < knot < high:
            out.append(knot)
    return out + [high]


for low, high in [(0, 100), (-1e6, 2e6), (0.001, 100), (-3, 8)]:
    for kind in ("hats", "bins", "cosines"):
        for part in (0.1, 1, 30):
            counts = rng.integers(-40, 1000, CELLS) * (rng.random(CELLS) < 0.6) + np.rint(100 * part * rng.standard_normal(CELLS)).astype(int)
            if part == 1:
                counts[3] += 9000  # a cell with most of the rows
            noise = 20 * part if kind == "bins" else 100 * part
            edges = knots(low, high, kind, noise, counts)
            print(json.dumps([low, high]), kind, noise, " ".join(map(str, counts)), json.dumps(edges), sep="\t", file=sys.stdout)
