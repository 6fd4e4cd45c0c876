#!/usr/bin/env python3
"""The known answers of tests/unit/test_{gaussian,laplace,gamma_norm}.c: the noise by its definition, in Python's own
floating point, from a ChaCha20 written out here. A draw that comes too near to a rounding boundary for that is an
error."""
import math
import struct
from statistics import NormalDist

KEY = bytes(range(32))
NOISE, LAP = 5, 7


def block(nonce, counter):
    """One block of ChaCha20 (Bernstein's, 64-bit nonce and counter)."""
    start = struct.unpack("<16I", b"expand 32-byte k" + KEY + struct.pack("<QQ", counter, nonce))
    s = list(start)

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            s[z] ^= s[x]
            s[z] = ((s[z] << turn) | (s[z] >> (32 - turn))) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.unpack("<8Q", struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(s, start))))


def word(index, j):
    if j == 0:
        return block(NOISE << 56 | LAP, index // 8)[index % 8]
    return block(NOISE << 56 | ((j - 1) // 8 + 1) << 40 | LAP, index)[(j - 1) % 8]


def nearest(y):
    assert abs(y - math.floor(y) - 0.5) > 1e-9 * abs(y), "too near to a boundary"
    return math.floor(y + 0.5)


def sign_and_rest(index):
    w = word(index, 0)
    return (-1 if w >> 63 else 1), (w & (1 << 63) - 1) / 2**63


def gaussian(index, scale):
    sign, v = sign_and_rest(index)
    return sign * nearest(-scale * NormalDist().inv_cdf(v / 2))


def laplace(index, scale):
    sign, v = sign_and_rest(index)
    y = scale * (math.log(2 / (1 + math.exp(-1 / scale))) - math.log(v))
    assert abs(y - nearest(y)) > 1e-9 * y, "too near to a boundary"
    return sign * math.floor(y)


def gamma_norm(vector, scale, d):
    def uniform(j):
        return (word(vector << 20 | j, 0) * 2**64 + word(vector << 20 | j, 1)) / 2**128

    radius = -scale * sum(math.log(uniform(j)) for j in range(d))
    normals = []
    for pair in range((d + 1) // 2):
        length = math.sqrt(-2 * math.log(uniform(d + 2 * pair)))
        angle = 2 * math.pi * uniform(d + 2 * pair + 1)
        normals += [length * math.cos(angle), length * math.sin(angle)]
    norm = math.hypot(*normals[:d])
    return [nearest(radius * g / norm) for g in normals[:d]]


print("word   ", " ".join(hex(word(3, j)) for j in (0, 1, 9)))
for scale in (1.5, 1e3, 1e6):
    print("gaussian", scale, [gaussian(i, scale) for i in range(10)])
for scale in (0.5, 20, 1e6):
    print("laplace", scale, [laplace(i, scale) for i in range(10)])
for d in (1, 4, 5):
    print("gamma  ", d, gamma_norm(2, 1e6, d))
