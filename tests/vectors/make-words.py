#!/usr/bin/python3
"""Writes words.tsv: columns of the words and pairs of words of texts, with SipHash-2-4 written from its definition.

Columns: text, number of columns, sorted 1 + indices (negative for pairs). Letters fold by Python, as far as it is stated."""
KEY = b"dpline words: 1\0"
MASK = (1 << 64) - 1


def rotate(x, b):
    return (x << b | x >> (64 - b)) & MASK


def siphash(data):
    k0, k1 = (int.from_bytes(KEY[i : i + 8], "little") for i in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 255])
    for i in range(0, len(padded), 8):
        m = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def letter(c):
    o = ord(c)
    if o < 0xC0:
        return c.isascii() and c.isalnum()
    return c not in "×÷" and not 0x2000 <= o <= 0x2BFF and not 0x3000 <= o <= 0x303F and not 0xFE00 <= o <= 0xFE0F


def columns(text, count):
    words = "".join(c.lower() if letter(c) else " " for c in text).split(" ")
    words = [w for w in words if w]
    index = lambda w: siphash(w.encode()) % count + 1
    return sorted([index(w) for w in words] + [-index(a + " " + b) for a, b in zip(words, words[1:])])


TEXTS = ["", " ", "Hello", "hello, HELLO world!", "don't stop—me now", "a", "ÄRGER über Öl ÷ 2 × 3", "Žluťoučký KŮŇ", "ΑΒΓ Привет МИР Ѓ",
         "日本語 テキスト、東京", "😊😊 ok ❤️", "x" * 300 + " y", "@VirginAmerica What @dhepburn said.", "  many   blanks\tand-hyphens  ", "Ÿ Ĺ ŉ ĸ"]
for text in TEXTS:
    assert all(len(c.lower()) == 1 for c in text)
    for count in (1, 7, 1024, 1000000):
        print(text.replace("\t", "\\t"), count, " ".join(map(str, columns(text, count))), sep="\t")
