#!/usr/bin/python3
"""Writes cheb.tsv: budgets, clip bounds and weights of DP-BLSGD-AC, with NumPy from the pseudo code of Chen and Lee, 2022 (algorithms 2
and 3, equations 7 to 9), for fixed released gradients and fixed results of searches. Written from the paper, without a look at the C.

Columns: kind of lap; draw (5 numbers), the released gradient, or 0; eta, the step that a search returns, 0 for none; then, after
the lap, rho / rho_0, epsilon_BT / epsilon_0, C / C_0; the gradient that is searched along (5) and the weights (5).

Line 11 of algorithm 3, the average of the two gradients, is taken at any angle. In the text that we have it is indented like line 10, but
so is line 11 of algorithm 1, which belongs to the loop around. Section 4.2 wants a better gradient where the angle is small, and says
nothing of the other case; without the average the next search would be along the gradient that has just failed."""
import numpy as np

XI, PSI, PHI_MAX, PHI_MIN, ZETA = 0.3, 0.8, 1.1, 0.5, 0.05
ANGLES = [0, 95, 0, 20, 100, 50, 60, 30, 5, 0, 40, 82, 95, 130, 5, 12, 0, 3, 50, 20, 70, 15, 0, 0, 60, 8, 110, 6, 20, 30]  # of draw k
STEPS = [0, .25, 0, .5, 0, 0, .5, .25, 0, .4, .5, 0, 0, 0, .2, 0, .5, 0, .5, 0, 0, .3, .3, .3, 0, .1, 0, 0, 0, .5]  # of search k


def gradients():
    """At fixed angles to (1, 1, 0, 0, 0), each with another part off the plane."""
    along = np.array([1.0, 1, 0, 0, 0]) / np.sqrt(2)
    for k, degrees in enumerate(ANGLES):
        across = np.array([1.0, -1, 0.1 * np.cos(k), 0, 0.1 * np.sin(k)])
        a = np.radians(degrees)
        yield (1 + 0.1 * np.cos(3 * k)) * (np.cos(a) * along + np.sin(a) * across / np.linalg.norm(across))


def angle_between(a, b):
    return np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


def algorithm_2(draws, searches, cases):
    """Yields a line for each gradient and each search, until there is no draw left."""
    rho = epsilon = c = 1.0
    theta_bar, w, previous = 90.0, np.zeros(5), None  # line 2; previous is g_{t-1}, and there is none for t = 0
    for g in draws:  # lines 4 to 6
        yield "gradient", *g, 0, rho, epsilon, c, *g, *w
        clip_fell = False
        while (eta := next(searches)) == 0:  # lines 9 and 10
            yield "search", *[0] * 5, 0, rho, epsilon, c, *g, *w
            g2 = next(draws, None)  # algorithm 3, lines 2 to 4
            if g2 is None:
                return
            theta = angle_between(g, g2)
            if g @ g2 < 0 or theta > PHI_MAX * theta_bar:  # line 7, with (8)
                cases.add("above" if theta > PHI_MAX * theta_bar else "negative")
                rho *= 1 + XI
                cases.add("clip stays" if clip_fell else "clip falls")
                if not clip_fell:  # (9), once in a step of the weights
                    c *= 1 - ZETA
                clip_fell = True
            elif theta < PHI_MIN * theta_bar:  # line 9
                cases.add("below")
                epsilon *= 1 + XI
            else:
                cases.add("between")
            g = (g + g2) / 2  # line 11
            yield "gradient", *g2, 0, rho, epsilon, c, *g, *w
        w = w - eta * g  # algorithm 2, line 13
        if previous is not None:  # line 14, with (7)
            theta_bar = PSI * theta_bar + (1 - PSI) * angle_between(g, previous)
        previous = g
        yield "search", *[0] * 5, eta, rho, epsilon, c, *g, *w


cases = set()
for kind, *numbers in algorithm_2(gradients(), iter(STEPS), cases):
    print(kind, *(repr(float(x)) for x in numbers), sep="\t")
assert cases == {"negative", "above", "below", "between", "clip falls", "clip stays"}, cases
