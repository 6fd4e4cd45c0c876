"""Writes broken tables into the current directory: NAME.csv. All are meant to be
age,job,ill with the rows 31,cook,no 64,smith,yes 47,cook,yes."""

HEADER, ROWS = b"age,job,ill\n", [b"31,cook,no\n", b"64,smith,yes\n", b"47,cook,yes\n"]
GOOD = HEADER + b"".join(ROWS)


def with_row(row):
    return HEADER + ROWS[0] + row + b"\n" + ROWS[2]


def with_age(age):
    return with_row(age + b",smith,yes")


TABLES = {
    "good": GOOD,
    # the file
    "empty": b"",
    "blank-lines": b"\n\n\n",
    "header-only": HEADER,
    "header-without-end": HEADER.rstrip(),
    "byte-order-mark": b"\xef\xbb\xbf" + GOOD,
    "two-marks": b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD,
    "utf-16": GOOD.decode().encode("utf-16"),
    "utf-16-without-mark": GOOD.decode().encode("utf-16-le"),
    "dos-lines": GOOD.replace(b"\n", b"\r\n"),
    "mac-lines": GOOD.replace(b"\n", b"\r"),
    "mixed-lines": HEADER + ROWS[0].replace(b"\n", b"\r\n") + ROWS[1] + ROWS[2],
    "last-line-without-end": GOOD.rstrip(),
    "empty-lines-between": GOOD.replace(b"\n", b"\n\n"),
    "blanks-on-empty-line": HEADER + ROWS[0] + b"   \n" + ROWS[1] + ROWS[2],
    "nul-in-cell": with_row(b"64,smi\0th,yes"),
    "nul-at-end": GOOD + b"\0" * 16,
    "control-z-at-end": GOOD + b"\x1a",
    "cut-short": GOOD[:-6],
    "cut-in-label": GOOD[:-3],
    "binary": bytes(range(1, 256)) * 9,
    "html": b"<!DOCTYPE html>\n<html><body>404</body></html>\n",
    "json": b'[{"age": 31, "job": "cook", "ill": "no"}]\n',
    # the header
    "no-header": b"".join(ROWS),
    "two-headers": HEADER + GOOD,
    "header-again-in-the-middle": HEADER + ROWS[0] + HEADER + ROWS[1],
    "header-in-capitals": GOOD.replace(b"age", b"Age"),
    "name-twice": b"age,age,job,ill\n31,31,cook,no\n",
    "other-name-twice": b"x,age,x,job,ill\n1,31,1,cook,no\n1,64,1,smith,yes\n1,47,1,cook,yes\n",
    "name-missing": b"age,,ill\n31,cook,no\n",
    "column-missing": b"age,ill\n31,no\n",
    "label-missing": b"age,job\n31,cook\n",
    "columns-reordered": b"ill,age,job\nno,31,cook\nyes,64,smith\nyes,47,cook\n",
    "quoted-header": GOOD.replace(b"age", b'"age"'),
    "blanks-in-header": GOOD.replace(b"age,job", b" age , job"),
    "title-line-first": b"Patients of 2024\n" + GOOD,
    "comma-at-end-of-header": GOOD.replace(b"ill\n", b"ill,\n"),
    # the delimiter
    "semicolons": GOOD.replace(b",", b";"),
    "tabs": GOOD.replace(b",", b"\t"),
    "one-line-with-semicolons": with_row(b"64;smith;yes"),
    "one-column": b"age\n31\n64\n",
    # quotes
    "all-quoted": b'"age","job","ill"\n"31","cook","no"\n"64","smith","yes"\n"47","cook","yes"\n',
    "quote-not-closed": with_row(b'64,"smith,yes'),
    "quote-not-closed-in-label": with_row(b'64,smith,"yes'),
    "quote-in-cell": with_row(b'64,smi"th,yes'),
    "text-after-quote": with_row(b'64,"smi"th,yes'),
    "line-end-in-quotes": with_row(b'64,"smi\nth",yes'),
    "single-quotes": with_row(b"64,'smith','yes'"),
    # rows
    "field-too-many": with_row(b"64,smith,yes,1"),
    "field-too-few": with_row(b"64,smith"),
    "comma-at-end": with_row(b"64,smith,yes,"),
    "only-commas": with_row(b",,"),
    "total-at-end": GOOD + b"142,,\n",
    "comment": HEADER + b"# patients\n" + b"".join(ROWS),
    # numbers
    "decimal-comma": with_age(b'"64,5"'),
    "currency": with_age(b"$ 64"),
    "thousands": with_age(b'"1,064"'),
    "exponent-too-large": with_age(b"1e400"),
    "negative-exponent-too-large": with_age(b"-1e400"),
    "exponent-too-small": with_age(b"1e-400"),
    "nan": with_age(b"nan"),
    "infinity": with_age(b"inf"),
    "hexadecimal": with_age(b"0x40"),
    "unit": with_age(b"64 years"),
    "quotient": with_age(b"128/2"),
    "plus-sign": with_age(b"+64"),
    "two-points": with_age(b"6.4.0"),
    "point-alone": with_age(b"."),
    "unicode-minus": with_age("−64".encode()),
    "unicode-digits": with_age("６４".encode()),
    "non-breaking-blank": with_age(b"\xc2\xa064"),
    "beyond-bounds": with_age(b"640"),
    "hundred-digits": with_age(b"6" * 100),
    "empty-number": with_age(b""),
    # texts
    "mixed-encodings": HEADER + "31,ärztin,no\n".encode("latin-1") + "64,ärztin,yes\n".encode(),
    "latin-1": with_row("64,ärztin,yes".encode("latin-1")),
    "cut-character": with_row(b"64,smith\xc3,yes"),
    "surrogate": with_row(b"64,\xed\xa0\x80,yes"),
    "other-case": with_row(b"64,Smith,yes"),
    "new-category": with_row(b"64,baker,yes"),
    "blanks-around": with_row(b" 64 ,\tsmith , yes "),
    "huge-cell": with_row(b"64," + b"s" * 1000000 + b",yes"),
    "many-columns": with_row(b"64" + b",smith" * 100000),
    # the label
    "label-empty": with_row(b"64,smith,"),
    "label-unknown": with_row(b"64,smith,maybe"),
    "label-in-capitals": with_row(b"64,smith,YES"),
    "label-missing-word": with_row(b"64,smith,NA"),
    "label-a-number": with_row(b"64,smith,1"),
    "one-class": HEADER + b"".join(r.replace(b"yes", b"no") for r in ROWS),
}

if __name__ == "__main__":
    for name, content in TABLES.items():
        with open(name + ".csv", "wb") as f:
            f.write(content)
