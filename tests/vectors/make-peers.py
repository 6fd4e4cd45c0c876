#!/usr/bin/env python3
"""Writes peers.tsv: delta(epsilon) of one release, by formulas that share nothing with the library, for the kinds of cases that
the tests of other accountants have. First it holds the formulas to values that dp_accounting's own tests print."""
import math


def ndtr(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def tail(x):
    return ndtr(-x)


def gaussian(z, q, e):
    """Adding or leaving out: the mixture (1 - q) N(0, 1) + q N(1/z, 1) against N(0, 1), and the other way round."""
    m, best = 1 / z, 0
    ratio = (math.exp(e) - (1 - q)) / q
    if ratio > 0:
        x = math.log(ratio) / m + m / 2
        best = (1 - q) * tail(x) + q * tail(x - m) - math.exp(e) * tail(x)
    ratio = (math.exp(-e) - (1 - q)) / q
    if ratio > 0:
        x = math.log(ratio) / m + m / 2
        best = max(best, ndtr(x) - math.exp(e) * ((1 - q) * ndtr(x) + q * ndtr(x - m)))
    return best


def coins(z, q, e):
    """Exchanging: the mixture with N(m, 1) against the one with N(-m, 1), z in bounds of one row."""
    m = 1 / z

    def loss(x):
        return math.log((1 - q) + q * math.exp(m * x - m * m / 2)) - math.log((1 - q) + q * math.exp(-m * x - m * m / 2))

    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < e else (low, middle)
    return (1 - q) * tail(low) * (1 - math.exp(e)) + q * (tail(low - m) - math.exp(e) * tail(low + m))


def laplace(b, q, e):
    """Adding or leaving out, with noise of scale b on one number that moves from 0 to 1."""
    # on x >= 1 the likelihood ratio is (1 - q) + q e^(1/b), on x <= 0 it is (1 - q) + q e^(-1/b)
    top, bottom = (1 - q) + q * math.exp(1 / b), (1 - q) + q * math.exp(-1 / b)
    best = 0
    if math.exp(e) < top:  # with the person: x above the place where (1 - q) + q e^((2x - 1)/b) = e^e
        ratio = (math.exp(e) - (1 - q)) / q
        x = min(max((b * math.log(ratio) + 1) / 2, 0), 1)
        up0, up1 = math.exp(-x / b) / 2, 1 - math.exp((x - 1) / b) / 2
        best = (1 - q) * up0 + q * up1 - math.exp(e) * up0
    if math.exp(-e) > bottom:
        ratio = (math.exp(-e) - (1 - q)) / q
        x = min(max((b * math.log(ratio) + 1) / 2, 0), 1)
        down0, down1 = 1 - math.exp(-x / b) / 2, math.exp((x - 1) / b) / 2
        best = max(best, down0 - math.exp(e) * ((1 - q) * down0 + q * down1))
    return best


def check():
    printed = [(gaussian, 1, 1, 1, .12693674), (gaussian, 1 / 3, 1, 1, .78760074), (gaussian, 1, 1, 2, .02092364),
               (gaussian, 1, .8, 1, .0816951786585355), (gaussian, 1 / 3, .7, 1, .5356298793262404),
               (gaussian, 1 / 3, .4, 1, .2888308005139968), (gaussian, 1, .3, 2, .0003341102928869332),
               (gaussian, 1, 1, 0, .38292492), (gaussian, 1, .2, 0, .076584985), (gaussian, 1, .2, .1, .051816131),
               (gaussian, 1, .2, .5, .012494629), (gaussian, 1, .2, 1, .00229682), (laplace, .5, 1, .5, .52763345),
               (laplace, 1, 1, 0, .39346934), (laplace, .5, .8, .5, .4039564635032081), (laplace, 1, .6, .2, .1741992102060086),
               (laplace, 1, .3, 0, .1180408020862099), (laplace, 1, 1, 1, 0)]
    for f, z, q, e, value in printed:
        assert abs(f(z, q, e) - value) < 1e-7, (f.__name__, z, q, e, f(z, q, e), value)


if __name__ == "__main__":
    check()
    with open("tests/vectors/peers.tsv", "w") as out:
        for kind, sizes in (gaussian, (.3, 1, 3)), (coins, (.3, 1, 3)), (laplace, (.4, 1, 3)):
            for z in sizes:
                for q in 1, .8, .2, .01:
                    for e in 1e-3, .1, .5, 1, 2, 4:
                        print(kind.__name__, z, q, e, f"{kind(z, q, e):.12g}", sep="\t", file=out)
