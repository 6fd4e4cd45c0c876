#!/usr/bin/python3
"""Writes words.tsv: columns of the words and pairs of words of texts, with SipHash-2-4 written from its definition.

Columns: text, number of columns, sorted 1 + indices (negative for pairs). Letters fold by Python, as far as it is stated."""
from siphash import siphash


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
