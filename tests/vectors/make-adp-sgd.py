#!/usr/bin/python3
"""Writes adp-sgd.tsv, with NumPy, from the ADP-SGD paper (Wu et al., 2021). Kinds of lines, by their first column:

epsilon m n T G sigma b0_squared C delta epsilon: Theorem C.1 (of batches; equation (6) for m = 1), solved for epsilon. The noise on
    the mean gradient of lap t has the standard deviation alpha_t sigma, with alpha_t^2 = sqrt(b_0^2 + t C), and for C = none alpha_t = 1.
step beta period t b_squared w_1 w_2 w_3: section 6.2 with b_0^2 = 20 and eta = 2 on gradients whose noise has been given: the paper's
    t from 0, beta_t = max(beta / ((t mod period) + 1), 1), b_{t+1}^2 = b_t^2 + max(beta_t |grad f|^2, 1e-5), theta_{t+1} = theta_t -
    eta / b_{t+1} (grad f + alpha_{t+1} c_t). |grad f|^2 is that of the released gradient less the expected square of its noise."""
import numpy as np


def line(*words):
    print("\t".join(w if isinstance(w, str) else repr(float(w)) for w in words))


def alpha_squared(b0_squared, c, t):
    return np.ones(len(t)) if c is None else np.sqrt(b0_squared + t * c)


def epsilon(m, n, steps, g, sigma, b0_squared, c, delta):
    t = np.arange(1, steps + 1)  # the theorem's sum over 1 / alpha_{t+1}^2, t = 0 ... T - 1
    b_delta = np.log(16 * steps * m / (n * delta)) * np.log(1.25 / delta)
    return np.sqrt((16 * g) ** 2 * b_delta / (n**2 * sigma**2) * np.sum(1 / alpha_squared(b0_squared, c, t)))


for m, n, steps, g, sigma, b0_squared, c, delta in [
    (256, 50000, 11700, 1.0, 0.04, 20, None, 1e-5),
    (256, 50000, 11700, 1.0, 0.02, 20, 1e-5, 1e-5),
    (256, 50000, 11700, 2.5, 0.03, 20, 1.0, 1e-5),
    (256, 60000, 39200, 0.5, 0.01, 20, 1e-2, 1e-6),
    (1, 1000, 300, 1.0, 7.0, 20, 1e-1, 1e-3),
    (500, 1000, 3, 5.0, 0.3, 1, 4.0, 1e-2),
]:
    line("epsilon", *map(str, (m, n, steps, g, sigma, b0_squared, c, delta)), epsilon(m, n, steps, g, sigma, b0_squared, c, delta))

for beta, period in (1024.0, 4), (2.0, 5), (1.0, 3):
    w, b_squared, deviation = np.zeros(3), 20.0, 0.25
    for t in range(12):
        gradient = w - np.array([1.0, -2.0, 0.5]) + 0.1 * np.cos((t + 1) * np.arange(1, 4))  # released: it has its noise
        norm_squared = gradient @ gradient - 3 * deviation**2
        beta_t = max(beta / ((t % period) + 1), 1)
        b_squared = b_squared + max(beta_t * norm_squared, 1e-5)
        w = w - 2 / np.sqrt(b_squared) * gradient
        line("step", str(beta), str(period), str(t), b_squared, *w)
