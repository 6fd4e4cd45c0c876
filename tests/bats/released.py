"""The law of the noise of what is released, for released-noise.bats: of the Gaussian mechanism by itself, computed without dpline."""
from math import erfc, exp, sqrt
from statistics import NormalDist

normal = NormalDist()


def multiplier(epsilon, delta):
    """The least sigma with delta(epsilon) = Phi(1/(2 sigma) - epsilon sigma) - e^epsilon Phi(-1/(2 sigma) - epsilon sigma)."""
    def phi(x):
        return erfc(-x / sqrt(2)) / 2
    low, high = 1e-3, 1e3
    for _ in range(200):
        middle = sqrt(low * high)
        spent = phi(0.5 / middle - epsilon * middle) - exp(epsilon) * phi(-0.5 / middle - epsilon * middle)
        low, high = (middle, high) if spent > delta else (low, middle)
    return high


def scores(outcomes):
    """outcomes: (z, n, k): of n values at z standard deviations above a threshold, k were found above it. Returns two sums of scores
    in standard deviations: of the threshold (positive if it is lower than it should be), and of the scale of the noise."""
    sums, squares = [0, 0], [0, 0]
    for z, n, k in outcomes:
        p = normal.cdf(z)
        for i, slope in enumerate((normal.pdf(z), z * normal.pdf(z))):
            sums[i] += (k - n * p) * slope / (p * (1 - p))
            squares[i] += n * slope * slope / (p * (1 - p))
    return [s / sqrt(v) for s, v in zip(sums, squares)]


def is_normal(draws, what):
    """draws: independent ones of N(0, 1). Fails by chance less than once in 5e6 times: their distribution function may be off by
    d with 2 exp(-2 n d^2) = 1e-7, and of the cube root of the mean of their squares, which is nearly normal (Wilson and Hilferty),
    5.3 standard deviations are exceeded once in 1e7 times."""
    n, draws = len(draws), sorted(draws)
    far = max(max(abs(normal.cdf(x) - i / n), abs(normal.cdf(x) - (i + 1) / n)) for i, x in enumerate(draws))
    assert far < sqrt(8.41 / n), f"{what}: a distance of {far} with {n} draws"
    square = sum(x * x for x in draws) / n
    off = (square ** (1 / 3) - (1 - 2 / (9 * n))) / sqrt(2 / (9 * n))
    assert abs(off) < 5.3, f"{what}: the noise has {sqrt(square)} times the scale that was paid for"
