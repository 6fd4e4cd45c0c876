"""reported.py DIR: one table of 3,000 rows, written in DIR in the ways in which people have reported trouble with tables.

Each file is a table of age, income, sex, region, seen and the label y, in which income and the date seen matter."""
import datetime
import math
import os
import random
import sys

NAMES = ["age", "income", "sex", "region", "seen", "y"]
random.seed(41)


def rows():
    for _ in range(3000):
        age, income = random.randint(18, 90), round(random.gauss(3000, 2500), 2)
        day = datetime.date(2024, 1, 1) + datetime.timedelta(random.randrange(366))
        sex, region = random.choice("mf"), random.choice(["north", "south", "east"])
        score = 1.6 * (income - 3000) / 2500 + 1.2 * (sex == "m") - .6 + (day.timetuple().tm_yday - 183) / 130 + (age - 54) / 60
        yield [age, income, sex, region, day, "yes" if random.random() < 1 / (1 + math.exp(-score)) else "no"]


CLEAN = list(rows())


def table(name, change=lambda i, row: row, head=NAMES, sep=",", end="\n", encoding="utf-8", before="", after="", lines=lambda all: all):
    all = [sep.join(head)] + [sep.join(str(c) for c in change(i, list(row))) for i, row in enumerate(CLEAN)]
    with open(os.path.join(sys.argv[1], name + ".csv"), "wb") as f:
        f.write((before + end.join(lines(all)) + end + after).encode(encoding, "surrogateescape"))


def cell(k, write):
    """A change of one column."""
    def change(i, row):
        row[k] = write(i, row[k])
        return row
    return change


def income(name, write, **more):
    table(name, cell(1, write), **more)


def seen(name, write):
    table(name, cell(4, write))


def label(name, write):
    table(name, cell(5, write))


def more(name, column, write, **other):
    table(name, lambda i, row: [write(i, row)] + row, [column] + NAMES, **other)


def within(text, at=1500):
    return lambda all: all[:at] + [text] + all[at:]


table("clean")
table("bom_quoted", head=['"%s"' % n for n in NAMES], before="\ufeff")
table("utf16le", encoding="utf-16-le", before="\ufeff")
table("utf16be_nobom", encoding="utf-16-be")
table("nul", lines=within("50,1\0,m,north,2024-01-01,no"))
table("latin1", cell(3, lambda i, c: "Süd" if c == "south" else c), encoding="latin-1")
table("crlf", end="\r\n")
table("mixed_ends", lines=lambda all: [line + "\r" * (i % 2) for i, line in enumerate(all)])
table("crlf_in_quotes", cell(3, lambda i, c: '"%s\r\nside"' % c))
table("cr_only", end="\r")
table("quote_open_once", lines=within('50,1,m,"north,2024-01-01,no'))
table("quote_open_twice", lines=lambda all: [line.replace(",m,", ',"m,').replace(",f,", ',"f,') if i == 1500 else
                                             line.replace(",m,", ',m",').replace(",f,", ',f",') if i == 1800 else line for i, line in enumerate(all)])
table("quote_mid", cell(3, lambda i, c: c + ' 12" wide'))
table("quote_late", cell(3, lambda i, c: '""","' if i == 2500 else c))
table("backslash_quote", cell(3, lambda i, c: '"%s \\"side\\", left"' % c))
table("single_quotes", cell(3, lambda i, c: "'%s, side'" % c))
income("beyond_range", lambda i, c: "1e400" if i % 100 == 0 else c)
table("title_lines", before="Export of 2024;;\nprinted on Monday\n\n")
table("sep_hint", sep=";", before="sep=;\n")
table("trailing_delimiter", lines=lambda all: all[:1] + [line + "," for line in all[1:]])
table("row_names", lines=lambda all: all[:1] + ["%d,%s" % (i, line) for i, line in enumerate(all[1:], 1)])
more("pandas_index", "", lambda i, row: i)
table("twice_named", head=["age", "income", "sex", "sex", "seen", "y"])
table("comment_lines", before="# export\n# v2\n")
table("comment_inside", lines=within("# new page"))
table("units_line", lines=within("years,EUR,,,,", 1))
table("header_again", lines=within(",".join(NAMES)))
table("total", lines=lambda all: all + ["TOTAL,8990000,,,,"])
income("decimal_comma", lambda i, c: ("%.2f" % c).replace(".", ","), sep=";")
income("thousands", lambda i, c: '"%s"' % format(c, ",.2f"))
income("thousands_eu", lambda i, c: format(c, ",.2f").translate(str.maketrans(",.", ".,")), sep=";")
income("dollar", lambda i, c: '"%s$%s"' % ("-" * (c < 0), format(abs(c), ",.2f")))
income("euro", lambda i, c: "%.2f €" % c)
income("percent", lambda i, c: "%.2f%%" % (c / 100))
income("decimal_comma_quoted", lambda i, c: '"%s"' % ("%.2f" % c).replace(".", ","))
income("trailing_minus", lambda i, c: "%.2f%s" % (abs(c), "-" * (c < 0)))
income("accounting", lambda i, c: "(%.2f)" % -c if c < 0 else "%.2f" % c)
income("unicode_minus", lambda i, c: ("%.2f" % c).replace("-", "\u2212"))
income("limits", lambda i, c: "<500" if c < 500 else ">6000" if c > 6000 else c)
income("unit", lambda i, c: "%.2f kg" % c)
income("flags", lambda i, c: "%.2f%s" % (c, " H" if c > 5000 else " L" if c < 1000 else "*" if i % 9 == 0 else ""))
income("debit", lambda i, c: '"%s %s"' % (format(abs(c), ",.2f"), "DR" if c < 0 else "CR"))
income("sign_behind_mark", lambda i, c: '"$%s"' % format(c, ",.2f"))
income("lakh", lambda i, c: '"%s₹%d,%02d,%03d"' % ("-" * (c < 0), *(lambda v: (v // 100000, v // 1000 % 100, v % 1000))(round(abs(100 * c)))))
income("apostrophe", lambda i, c: "'%.2f" % c)
income("formula", lambda i, c: '"=""%.2f"""' % c)
income("sheet_errors", lambda i, c: ("#DIV/0!", "#VALUE!", "#REF!", "NaT", "\\N")[i % 5] if i % 7 == 0 else c)
more("two_decimals", "fee", lambda i, row: ("%.2f" % (5 + i % 17 / 4)).replace(".", ","), sep=";")
income("swiss", lambda i, c: format(c, ",.2f").replace(",", "'"))
income("no_break_space", lambda i, c: format(c, ",.2f").replace(",", "\u00a0"))
seen("day_first", lambda i, d: d.strftime("%d/%m/%Y"))
seen("month_first", lambda i, d: d.strftime("%m/%d/%Y"))
seen("mixed_dates", lambda i, d: d.strftime("%d.%m.%Y") if i % 2 else d)
seen("serials", lambda i, d: (d - datetime.date(1899, 12, 30)).days)
seen("serials_mixed", lambda i, d: (d - datetime.date(1899, 12, 30)).days if i % 4 == 0 else d.strftime("%d/%m/%Y"))
seen("no_end", lambda i, d: "9999-12-31" if i % 10 == 0 else d)
seen("compact", lambda i, d: d.strftime("%Y%m%d"))
seen("sas_dates", lambda i, d: d.strftime("%d%b%Y").upper())
seen("zone", lambda i, d: d.strftime("%Y-%m-%dT10:00:00+02:00"))
seen("zulu", lambda i, d: d.strftime("%Y-%m-%dT10:00:00Z"))
seen("epoch", lambda i, d: int((d - datetime.date(1970, 1, 1)).days * 86400 + i % 86400))
seen("zero_dates", lambda i, d: "0000-00-00" if i % 10 == 0 else d)
seen("milliseconds", lambda i, d: d.strftime("%Y-%m-%d 10:20:30.") + "%03d" % (i % 1000))
seen("am_pm", lambda i, d: d.strftime("%-m/%-d/%Y 3:07 PM"))
more("zip", "zip", lambda i, row: "0%04d" % (1067 + i % 7))
more("card", "card", lambda i, row: 4000123412000000 + 7 * i)
more("long_id", "serial", lambda i, row: "%020d" % (i * 7919))
label("label_texts", lambda i, y: '"not, really"' if y == "no" else '" of course 😀 "')
label("label_bools", lambda i, y: ("TRUE", "True", "true")[i % 3] if y == "yes" else ("FALSE", "False", "false")[i % 3])
label("label_letters", lambda i, y: (y.title(), y[0].upper())[i % 2])
label("label_numbers", lambda i, y: ("1", "1.0")[i % 2] if y == "yes" else ("0", "0.0")[i % 2])
label("label_is_a_name", lambda i, y: y[0])
label("label_missing", lambda i, y: "" if i % 5 < 2 else ("no", "yes")[random.random() < .3])
label("one_class", lambda i, y: "no")
label("all_different", lambda i, y: "outcome %d" % i)
label("rare", lambda i, y: y if i % 20 == 0 else "no")
table("one_row", lines=lambda all: all[:2])
table("no_rows", lines=lambda all: all[:1])
table("forty_rows", lines=lambda all: all[:41])
table("only_label", lambda i, row: row[5:], ["y"])
more("several_rows", "patient_id", lambda i, row: "p%d" % (i // 3))
more("constant", "site", lambda i, row: "A")
more("all_missing", "note", lambda i, row: "")
more("huge_cell", "note", lambda i, row: "x" * 2000000 if i == 9 else "")
more("formulas", "note", lambda i, row: '"=SUM(A1:A%d)"' % (2 + i % 3))
more("icd", "code", lambda i, row: ("E11", "1E3", "I10", "2E5")[i % 4])
more("rare_texts", "answer", lambda i, row: ("agree", "neither", "disagree")[i % 3] if i % 10 < 7 else "other %d" % i)
more("json", "extra", lambda i, row: '"{""a"": %d}"' % (i % 3))
income("thousands_whole", lambda i, c: format(round(c), ",").replace(",", "."), sep=";")
