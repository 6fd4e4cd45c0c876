#!/usr/bin/python3
"""export.py FORMAT MODEL TABLE EXPECTED: predicts with an exported model in the way of its world, and compares with
dp-predict --scores of the same table."""
import ast
import csv
import json
import math
import os
import re
import subprocess
import sys

SHORTER = {"unit": lambda n: n > 0, "cap": lambda n: n > 1 - 2**-22}


def number(text):
    return float(text) if re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", text) else None


def basis(column, v, k):
    e = column["knots"]
    i = max(j for j in range(len(e) - 1) if v >= e[j])
    part = (v - e[i]) / (e[i + 1] - e[i])
    if column["basis"] == "cosines":
        return math.cos(math.pi * (k + 1) * (i + part) / (len(e) - 1)) / (k + 1)
    return float(k == i) if column["basis"] == "bins" else {i: 1 - part, i + 1: part}.get(k, 0)


def by_json(model, rows):
    m = json.load(open(model))
    for row in rows:
        x, good = [], True
        for f in m["features"]:
            c = next((c for c in m.get("columns", []) if c["name"] == f.get("column")), None)
            cell = row[c["name"]] if c else ""
            missing = cell in [""] + (m.get("missing") or []) + ((c or {}).get("missing") or [])
            good = good and not (c and missing and "fill" not in c and not c.get("indicator"))
            if f["kind"] == "number":
                low, high = c.get("bounds", [-math.inf, math.inf])
                v = c.get("fill", (low + high) / 2) if missing else number(cell)
                good = good and v is not None
                x.append(f["factor"] * (min(max(v, low), high) - f["shift"]) if good else 0)
            elif f["kind"] == "basis":
                x.append(basis(c, min(max(v, low), high), f["part"]) if good else 0)
            elif f["kind"] == "category":
                names = {t: g[0] for g in c["categories"] if isinstance(g, list) for t in g}
                names |= {g: g for g in c["categories"] if isinstance(g, str)}
                good = good and (missing or cell in names or "unknown" in c)
                x.append(float((c.get("fill") if missing else names.get(cell)) == f["category"]))
            elif f["kind"] == "missing":
                x.append(float(missing))
            else:
                x.append(1.0)
        norm = math.sqrt(sum(v * v for v in x))
        how = m["row_norm"]
        s = (1 - 2**-22) / norm if how in SHORTER and SHORTER[how](norm) else 1
        yield [u + s * sum(v * f["weights"][k] for v, f in zip(x, m["features"])) for k, u in enumerate(m["constant"])] if good else None


def by_csv(model, rows):
    lines = list(csv.DictReader(open(model, newline="")))
    outputs = [c for c in lines[0] if c.startswith("coefficient")]
    for row in rows:
        score, good = [float(lines[0][k]) for k in outputs], True
        for line in lines[1:]:
            cell = row[line["column"]]
            missing = cell in ("", "NA")
            if line["low"]:
                v = number(line["fill"] if missing else cell)
                good = good and v is not None
                value = min(max(v, float(line["low"])), float(line["high"])) if good else 0
            elif line["category"]:
                known = [other["category"] for other in lines if other["column"] == line["column"]]
                # the first category of "drop" has no line, and is no unknown one
                good = good and (missing or cell in known or cell == "rare" or line["column"] != "job")
                value = (line["fill"] if missing else cell) == line["category"]
            else:
                value = missing
            score = [u + value * float(line[k]) for u, k in zip(score, outputs)]
        yield score if good else None


def by_sql(model, rows):
    with open("sql.csv", "w", newline="") as f:
        out = csv.DictWriter(f, rows[0].keys())
        out.writeheader()
        out.writerows(rows)
    said = subprocess.run(["sqlite3", "-csv", "-header", ":memory:", ".import sql.csv rows", ".nullvalue ''", ".read " + model],
                          check=True, capture_output=True, text=True)
    assert not said.stderr, said.stderr
    for row in csv.DictReader(said.stdout.splitlines()):
        yield row


def by_c(model, rows):
    with open("driver.c", "w") as f:
        f.write(f"""#include "{os.path.abspath(model)}"
#include <stdio.h>
int main(void)
{{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {{
        const char *cell[MODEL_COLUMNS];
        double score[MODEL_OUTPUTS];
        char *at = line;
        line[strcspn(line, "\\n")] = 0;
        for (int i = 0; i < MODEL_COLUMNS; i++) {{
            cell[i] = at;
            at += strcspn(at, "\\t");
            *at++ = 0;
        }}
        if (model_score(cell, score) != 0) {{
            puts("");
            continue;
        }}
        for (int k = 0; k < MODEL_OUTPUTS; k++)
            printf("%.17g ", score[k]);
#ifdef CLASSES
        double p[MODEL_CLASSES];
        model_probability(score, p);
        for (int k = 0; k < MODEL_CLASSES; k++)
            printf("%.17g ", p[k]);
        puts(model_classes[model_class(score)]);
#else
        printf("%.17g\\n", model_value(score));
#endif
    }}
}}
""")
    source = open(model).read()
    flags = ["-DCLASSES"] if "model_probability" in source else []
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "driver", "driver.c", "-lm"] + flags, check=True)
    columns = ast.literal_eval("[" + source.split("model_columns[] = {")[1].split(", 0}")[0] + "]")
    columns = [c.encode("latin-1").decode() for c in columns]
    text = "".join("\t".join(row[c] for c in columns) + "\n" for row in rows)
    said = subprocess.run(["./driver"], input=text, check=True, capture_output=True, text=True).stdout
    for line in said.splitlines():
        yield line.split()


def close(a, b):
    return math.isclose(float(a), float(b), rel_tol=2e-6, abs_tol=2e-6)


def main():
    how, model, table, expected = sys.argv[1:]
    rows = list(csv.DictReader(open(table, newline="")))
    want = list(csv.DictReader(open(expected, newline="")))
    got = list({"json": by_json, "csv": by_csv, "sql": by_sql, "c": by_c}[how](model, rows))
    assert len(got) == len(want) == len(rows), (len(got), len(want), len(rows))
    unread = 0
    for row, have, right in zip(rows, got, want):
        scores = [v for k, v in right.items() if k.startswith("score")]
        rest = [v for k, v in right.items() if k.startswith("probability")]
        if not scores[0]:
            unread += 1
            assert not have or (how == "sql" and not have["prediction"]), (row, have)
            continue
        assert have, row
        if how == "sql":
            assert list(have) == list(right), (list(have), list(right))
            have = [v for k, v in have.items() if k != "prediction"] + [have["prediction"]]
        assert len(have) in (len(scores), len(scores) + len(rest) + 1), have
        for a, b in zip(have, scores + rest):
            assert close(a, b), (row, have, right)
        if len(have) > len(scores):
            last, prediction = have[-1], right["prediction"]
            assert last == prediction or (number(last) is not None and close(last, prediction)), (row, have, right)
    print(len(rows) - unread, "rows agree,", unread, "cannot be read")


main()
