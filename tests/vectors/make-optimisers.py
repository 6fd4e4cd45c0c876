#!/usr/bin/python3
"""Writes optimisers.tsv: where each optimiser is after its steps, computed with NumPy from the formulas of their papers.

Columns: case, then step, then the four weights. The gradient at w in step t is A w - b + c_t, with fixed A, b and
c_t = 0.1 cos(t i) in coordinate i (from 1): smooth, never the same twice."""
import sys

import numpy as np

A = np.array([[2.0, 0.3, 0.0, -0.1], [0.3, 1.0, 0.2, 0.0], [0.0, 0.2, 0.5, 0.1], [-0.1, 0.0, 0.1, 3.0]])
b = np.array([1.0, -2.0, 0.5, 0.25])
STEPS = 12


def gradient(w, t):
    return A @ w - b + 0.1 * np.cos(t * np.arange(1, 5))


def sgd(eta, momentum):
    w, m = np.zeros(4), np.zeros(4)
    for t in range(1, STEPS + 1):
        m = momentum * m + gradient(w, t)
        w = w - eta * m
        yield w


def adagrad_norm(eta, b0, beta, floor, variance, momentum):
    w, m, b2 = np.zeros(4), np.zeros(4), b0**2
    for t in range(1, STEPS + 1):
        g = gradient(w, t)
        b2 = b2 + max(beta * (g @ g - 4 * variance), floor)
        m = momentum * m + g
        w = w - eta / np.sqrt(b2) * m
        yield w


def adam(eta, beta1, beta2, epsilon):
    w, m, v = np.zeros(4), np.zeros(4), np.zeros(4)
    for t in range(1, STEPS + 1):
        g = gradient(w, t)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        w = w - eta * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon)
        yield w


CASES = {
    "sgd": sgd(0.2, 0.0),
    "momentum": sgd(0.1, 0.9),
    "adagrad-norm": adagrad_norm(1.5, 0.5, 1.0, 1e-6, 0.0, 0.0),
    "adagrad-norm-noisy": adagrad_norm(1.5, 0.5, 0.25, 0.125, 0.3, 0.5),
    "adam": adam(0.1, 0.9, 0.999, 1e-8),
    "adam-other": adam(0.3, 0.5, 0.9, 1e-2),
}

for name, path in CASES.items():
    for t, w in enumerate(path, 1):
        sys.stdout.write("\t".join([name, str(t)] + [repr(float(x)) for x in w]) + "\n")
