#!/usr/bin/python3
"""Writes cheb.tsv: budgets, clip bounds and weights of DP-BLSGD-AC, with NumPy from the pseudo code of Chen and Lee, 2022 (algorithms 2
and 3, equations 7 to 9), for fixed released gradients and fixed results of searches.

Columns: kind of lap; draw (5 numbers), the released gradient, or 0; eta, the step that a search returns, 0 for none; then, after
the lap, rho / rho_0, epsilon_BT / epsilon_0, C / C_0; the gradient that is searched along (5) and the weights (5)."""
import sys

import numpy as np

XI, PSI, PHI_MAX, PHI_MIN, ZETA = 0.3, 0.8, 1.1, 0.5, 0.05
ANGLES = [0, 95, 0, 20, 100, 50, 60, 30, 5, 0, 40, 82, 95, 130, 5, 12, 0, 3, 50, 20, 70, 15, 0, 0, 60, 8, 110, 6, 20, 30]  # of draw k
STEPS = [0, .25, 0, .5, 0, 0, .5, .25, 0, .4, .5, 0, 0, 0, .2, 0, .5, 0, .5, 0, 0, .3, .3, .3, 0, .1, 0, 0, 0, .5]  # of search k


def draw(k):  # at a fixed angle to (1, 1, 0, 0, 0), each with another part off the plane
    along, across = np.array([1.0, 1, 0, 0, 0]) / np.sqrt(2), np.array([1.0, -1, 0.1 * np.cos(k), 0, 0.1 * np.sin(k)])
    a = np.radians(ANGLES[k])
    return (1 + 0.1 * np.cos(3 * k)) * (np.cos(a) * along + np.sin(a) * across / np.linalg.norm(across))


def angle(a, b):
    return np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


def out(kind, drawn, eta):
    numbers = [*drawn, eta, rho, epsilon, clip, *g, *w]
    sys.stdout.write("\t".join([kind] + [repr(float(x)) for x in numbers]) + "\n")


w, before, average = np.zeros(5), None, 90.0
rho = epsilon = clip = 1.0
k, seen = 0, set()
while k < len(STEPS):
    g, grown = draw(k), False  # algorithm 2, line 5
    out("gradient", g, 0)
    while True:
        eta = STEPS[k]  # line 10
        k += 1
        if eta > 0:
            w = w - eta * g  # line 13
            if before is not None:  # line 14
                average = PSI * average + (1 - PSI) * angle(g, before)
            before = g
        out("search", np.zeros(5), eta)
        if eta > 0 or k == len(STEPS):
            break
        second = draw(k)  # algorithm 3
        theta = angle(g, second)
        if g @ second < 0 or theta > PHI_MAX * average:
            seen.add("above" if theta > PHI_MAX * average else "negative")
            rho *= 1 + XI
            seen.add("clip") if not grown else seen.add("clip stays")
            clip *= 1 if grown else 1 - ZETA
            grown = True
        elif theta < PHI_MIN * average:
            seen.add("below")
            epsilon *= 1 + XI
        else:
            seen.add("between")
        g = (g + second) / 2
        out("gradient", second, 0)
assert seen == {"negative", "above", "below", "between", "clip", "clip stays"}, seen
