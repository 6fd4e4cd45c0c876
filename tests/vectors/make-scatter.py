#!/usr/bin/python3
"""Writes scatter.tsv: scattering of a grey and of a colour image, by NumPy from the definitions in images/scatter.h and morlet.h.

Columns: height, width, channels, number of a column, its value; each STRIDE-th column. Images are made by picture()."""
import numpy as np

STRIDE = 17  # a map has 16 cells: another cell of each map
DIRECTIONS, CELLS, REACH = 8, 4, 3


def picture(height, width, channels):
    i = np.arange(height * width * channels)
    pixel, line = i // channels, i // (width * channels)
    return ((pixel * pixel * 3 + line * line * 5 + i * 11 + i % channels * 40) % 251 + (line > height // 2) * 4).reshape(height, width, channels)


def morlet(k):
    """Real and imaginary part, in units of 1/4096. The centre takes what rounding leaves of the sum."""
    y, x = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1].astype(float)
    theta = np.pi * k / DIRECTIONS
    u, v = x * np.cos(theta) + y * np.sin(theta), y * np.cos(theta) - x * np.sin(theta)
    bell = np.exp(-(u * u + v * v / 4) / (2 * 0.8**2))
    wave = bell * np.exp(0.75j * np.pi * u)
    wave = (wave - bell * wave.sum() / bell.sum()) / (4 * np.pi * 0.8**2) * 4096
    real, imaginary = np.rint(wave.real), np.rint(wave.imag)
    real[REACH, REACH] -= real.sum()
    return real, imaginary


WAVELETS = [morlet(k) for k in range(DIRECTIONS)]


def lengths(x):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, REACH, mode="symmetric"), (2 * REACH + 1, 2 * REACH + 1))
    return [np.hypot((windows * real).sum((2, 3)), (windows * imaginary).sum((2, 3))) / 4096 for real, imaginary in WAVELETS]


def halved(x):
    def half(n):
        matrix = np.zeros((n // 2, n))
        for i in range(n // 2):
            for at, w in zip((2 * i - 1, 2 * i, 2 * i + 1, 2 * i + 2), (1, 3, 3, 1)):
                matrix[i, min(max(at, 0), n - 1)] += w / 8
        return matrix

    return half(x.shape[0]) @ x @ half(x.shape[1]).T


def averages(x):
    def weights(n):
        hat = np.maximum(0, 1 - np.abs((np.arange(n) + 0.5) * CELLS / n - (np.arange(CELLS)[:, None] + 0.5)))
        return hat / hat.sum(1, keepdims=True)

    return weights(x.shape[0]) @ x @ weights(x.shape[1]).T


def numbers(x):
    maps, small = [x], x
    for scale in range(3):
        small = halved(small) if scale else x
        maps += lengths(small)
    for first in lengths(x):
        maps += lengths(halved(first))
    return np.array([averages(m) for m in maps])


def scattering(image):
    """All columns of one image, before a mirror counts: images × 89 × 4 × 4."""
    grey = image.astype(float) / 255
    r, g, b = (grey[..., c] for c in (0, 1, 2)) if image.shape[2] == 3 else (grey[..., 0],) * 3
    h = np.array([numbers(x) for x in ([(r + g + b) / 3, r - g, (r + g) / 2 - b] if image.shape[2] == 3 else [r])])
    h[:, 1:] = np.sqrt(h[:, 1:] / np.sqrt((h[:, 1:25] ** 2).sum((0, 1)) + 0.01))
    return h


def row(image):
    h = scattering(image)
    if image.shape[2] == 1:
        return h.ravel()
    twice = h + scattering(image[:, ::-1])  # in the order of the first image: here mirror images are really made
    turn = (-np.arange(DIRECTIONS)) % DIRECTIONS
    other = np.concatenate([[0]] + [1 + DIRECTIONS * l + turn for l in range(3)] + [25 + DIRECTIONS * turn[k] + turn for k in range(DIRECTIONS)])
    keep = [(m, r, c) for m in range(89) for r in range(CELLS) for c in range(CELLS) if (other[m], CELLS - 1 - c) > (m, c)]
    m, r, c = zip(*keep)
    return twice[:, m, r, c].ravel() / 2


for shape in ((16, 20, 1), (20, 16, 3)):
    values = row(picture(*shape))
    for k in range(0, len(values), STRIDE):
        print(*shape, k, f"{values[k]:.9g}", sep="\t")
