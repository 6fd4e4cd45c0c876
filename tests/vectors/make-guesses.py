#!/usr/bin/env python3
"""Prints rows of test_audit.c: {correct, guesses, canaries, delta, epsilon}. The largest epsilon, to 1e-7, for which a linear program
finds no probabilities p_t of t right guesses that obey the inequalities of lib/audit/bound.h and sum up to 1 with
Pr[at least `correct`] >= .05. Needs scipy."""
from math import exp

import numpy as np
from scipy.optimize import linprog


def allowed(epsilon, delta, correct, guesses, canaries):
    t = np.arange(guesses + 1)
    rows, least = [], []
    for j in range(1, guesses + 1):
        right = np.where(t >= j, t, 0) / canaries
        wrong = np.where(t >= j - 1, guesses - t, 0) / canaries
        rows.append(right - exp(epsilon) * wrong)
        least.append(delta)
        rows.append(right - exp(-epsilon) * wrong)
        least.append(1 - exp(-epsilon) * (1 - delta))
    answer = linprog(-(t >= correct).astype(float), A_ub=np.array(rows), b_ub=np.array(least), A_eq=np.ones((1, guesses + 1)), b_eq=[1],
                     method="highs")
    return -answer.fun >= .05


for correct, guesses, canaries, delta in ((10, 10, 10, 0), (10, 10, 10, 1e-3), (30, 40, 40, 0), (30, 40, 40, 1e-2), (38, 40, 200, 1e-3),
                                          (75, 100, 500, 1e-4), (24, 40, 40, 0)):
    low, high = 0., 16.
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if allowed(middle, delta, correct, guesses, canaries) else (middle, high)
    print("{%d, %d, %d, %g, %.7f}," % (correct, guesses, canaries, delta, low))
