#!/usr/bin/python3
"""Writes minimisers.tsv: where regularised losses are least, by Newton's method in NumPy, run until it stands still.

Columns: loss, lambda, the least value, then the five weights. F(w) = mean of l(y_i, x_i.w) + lambda/2 |w|^2 over 40 rows with
x_ij = cos((i + 1)(j + 1)) / s^j, where s is 1 and for squared 10; y_i is -1 or +1 for logistic, else i mod 4."""
import sys

import numpy as np

N, D = 40, 5
I, J = np.arange(N)[:, None], np.arange(D)
LOSSES = {
    "logistic": (lambda y, u: np.logaddexp(0, -y * u), lambda y, u: -y / (1 + np.exp(y * u)),
                 lambda y, u: 1 / (2 + np.exp(u) + np.exp(-u))),
    "poisson": (lambda y, u: np.exp(u) - y * u, lambda y, u: np.exp(u) - y, lambda y, u: np.exp(u)),
    "squared": (lambda y, u: (u - y) ** 2 / 2, lambda y, u: u - y, lambda y, u: np.ones(N)),
}


def least(loss, lam):
    value, slope, curvature = LOSSES[loss]
    X = np.cos((I + 1.0) * (J + 1)) / (10.0 if loss == "squared" else 1.0) ** J
    i = np.arange(N)
    y = np.where(np.cos(3.0 * i) + 0.5 * np.cos(i + 1.0) > 0, 1.0, -1.0) if loss == "logistic" else i % 4.0
    F = lambda w: value(y, X @ w).mean() + lam / 2 * w @ w
    w = np.zeros(D)
    for _ in range(100):
        u = X @ w
        g = X.T @ slope(y, u) / N + lam * w
        step = np.linalg.solve((X.T * curvature(y, u)) @ X / N + lam * np.eye(D), g)
        while F(w - step) > F(w) + 1e-15:
            step /= 2
        w = w - step
    assert np.linalg.norm(g) < 1e-14
    return F(w), w


for loss, lam in (("logistic", 0.01), ("logistic", 1e-5), ("poisson", 0.001), ("squared", 1e-9)):
    value, w = least(loss, lam)
    sys.stdout.write("\t".join([loss, repr(lam), repr(float(value))] + [repr(float(x)) for x in w]) + "\n")
