#!/usr/bin/python3
"""Writes network.tsv, with NumPy: five columns, counts of all pairs with noise, and what lib/rows must make of them by the
formulas of lib/rows/rows.h. Lines: sizes; each pair; its projection; its dependence; each table of the network."""
import itertools

import numpy as np

rng = np.random.default_rng(11)
size, rows, target, noise_1, noise_2 = [2, 3, 4, 2, 5], 4000, 3, 9.0, 6.0
z = rng.integers(0, 3, rows)
x = np.stack([(rng.random(rows) < 0.2 + 0.3 * z) * 1, z, (z + rng.integers(0, 3, rows)) % 4, (rng.random(rows) < 0.1 + 0.4 * (z == 2)) * 1,
              rng.integers(0, 5, rows)], 1)
J = len(size)


def project(v):
    low, high = v.min() - rows, v.max()
    for _ in range(200):  # bisection on the level, where lib/rows sorts
        level = (low + high) / 2
        low, high = (level, high) if np.maximum(v - level, 0).sum() > rows else (low, level)
    return np.maximum(v - low, 0)


pair = {}
for a, b in itertools.combinations(range(J), 2):
    table = np.zeros((size[a], size[b]))
    np.add.at(table, (x[:, a], x[:, b]), 1)
    pair[a, b] = np.round(table + rng.normal(0, noise_1, table.shape), 3)
one = [project(np.mean([t.sum(1) if a == j else t.sum(0) for (a, b), t in pair.items() if j in (a, b)], 0)) for j in range(J)]
w = np.zeros((J, J))
for (a, b), t in pair.items():
    w[a, b] = w[b, a] = np.abs(t - np.outer(one[a], one[b]) / rows).sum() - np.sqrt(2 / np.pi) * noise_1 * t.size
chosen, network = [target], []
while len(chosen) < J:
    others, best = [c for c in chosen if c != target], None
    for j in (j for j in range(J) if j not in chosen):
        for k in range(3):
            for parents in itertools.combinations(others, k):
                for with_target in (False, True):
                    all_of = parents + ((target,) if with_target else ())
                    cells = size[j] * int(np.prod([size[p] for p in all_of]))
                    if not all_of or (len(all_of) > 1 and cells > rows / (4 * noise_2)):
                        continue
                    each = sorted([w[j, p] * (2 if p == target else 1) for p in all_of], reverse=True)
                    score = each[0] + 0.4 * sum(each[1:]) - 0.5 * np.sqrt(2 / np.pi) * noise_2 * cells
                    if best is None or score > best[0]:
                        best = (score, (j,) + all_of)
    network.append(best[1])
    chosen.append(best[1][0])
with open("network.tsv", "w") as out:
    for (a, b), t in pair.items():
        print("pair", a, b, *["%.3f" % v for v in t.ravel()], file=out)
        print("projected", a, b, *["%.9g" % v for v in project(t.ravel())], file=out)
        print("dependence", a, b, "%.9g" % w[a, b], file=out)
    for table in network:
        print("table", len(table), *table, file=out)
