#!/usr/bin/python3
"""Writes adp-sgd.tsv, with NumPy, from the ADP-SGD paper (Wu et al., 2021), without a look at the C. Kinds of lines, by their first column:

epsilon m n T G sigma b0_squared C delta epsilon: equation (18) of Theorem C.1 (equation (6) if m = 1), solved for epsilon. The noise on
    the mean gradient of iteration t has the standard deviation alpha_t sigma, where alpha_t^2 = sqrt(b_0^2 + t C), or 1 if C is None.
step beta period t b_squared w_1 w_2 w_3: algorithm 3, lines 5 to 8, with the phi_1 of section 6.2, b_0^2 = 20 and eta = 2, on released
    gradients: |grad f|^2 is the square of the released gradient less the expected square of its noise, .25 in each coordinate."""
import math

import numpy as np


def alpha_squared(t, b0_squared, c):
    """phi_2: section 5.2, or DP-SGD."""
    return 1.0 if c is None else np.sqrt(b0_squared + t * c)


def theorem_c1(m, n, T, G, sigma, b0_squared, c, delta):
    B = np.log(16 * T * m / (n * delta)) * np.log(1.25 / delta)
    total = math.fsum(1 / alpha_squared(t + 1, b0_squared, c) for t in range(T))
    return 16 * G * np.sqrt(B * total) / (n * sigma)


def phi_1(b_squared, t, norm_squared, beta, period):
    """Section 6.2 has period 195: beta_t begins again with each epoch."""
    beta_t = max(beta / (t % period + 1), 1)
    return b_squared + max(beta_t * norm_squared, 1e-5)


for case in [
    (256, 50000, 11700, 1.0, 0.04, 20, None, 1e-5),
    (256, 50000, 11700, 1.0, 0.02, 20, 1e-5, 1e-5),
    (256, 50000, 11700, 2.5, 0.03, 20, 1.0, 1e-5),
    (256, 60000, 39200, 0.5, 0.01, 20, 1e-2, 1e-6),
    (1, 1000, 300, 1.0, 7.0, 20, 1e-1, 1e-3),
    (500, 1000, 3, 5.0, 0.3, 1, 4.0, 1e-2),
]:
    print("epsilon", *case, float(theorem_c1(*case)), sep="\t")

for beta, period in (1024.0, 4), (2.0, 5), (1.0, 3):
    theta, b_squared = np.zeros(3), 20.0
    for t in range(12):
        released = theta - np.array([1, -2, 0.5]) + 0.1 * np.cos((t + 1) * np.arange(1, 4))
        b_squared = phi_1(b_squared, t, released @ released - 3 * 0.25**2, beta, period)  # line 5
        theta = theta - 2 / np.sqrt(b_squared) * released  # lines 7 and 8
        print("step", beta, period, t, *(float(x) for x in (b_squared, *theta)), sep="\t")
