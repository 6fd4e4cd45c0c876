#!/usr/bin/python3
"""export.py FORMAT MODEL TABLE EXPECTED: predicts with an exported model in the way of its world, and compares with
dp-predict --scores of the same table."""
import ast
import csv
import datetime
import json
import math
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../vectors"))
from siphash import siphash

SHORTER = {"unit": lambda n: n > 0, "cap": lambda n: n > 1 - 2**-22}


def number(text):
    return float(text) if re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", text) else None


def number_of(column, text):
    """The number in a cell: of a date, its days since 1970."""
    if "date" not in column:
        return number(text)
    try:
        return (datetime.datetime.strptime(text, column["date"]) - datetime.datetime(1970, 1, 1)).total_seconds() / 86400
    except ValueError:
        return None


def basis(column, v, k):
    e = column["knots"]
    i = max(j for j in range(len(e) - 1) if v >= e[j])
    part = (v - e[i]) / (e[i + 1] - e[i])
    if column["basis"] == "cosines":
        return math.cos(math.pi * (k + 1) * (i + part) / (len(e) - 1)) / (k + 1)
    return float(k == i) if column["basis"] == "bins" else {i: 1 - part, i + 1: part}.get(k, 0)


def read_cells(m, row):
    """The cells of a row by column: their number or category, and whether they are missing; None if one cannot be read."""
    cells = {}
    for c in m.get("columns", []):
        cell = row[c["name"]]
        missing = cell in [""] + (m.get("missing") or []) + c.get("missing", [])
        if missing and "fill" not in c and not c.get("indicator") and "unknown" not in c:
            return None
        if c["type"] == "numeric":
            low, high = c.get("bounds", [-math.inf, math.inf])
            missing |= "bad_cells" in m and number_of(c, cell) is None
            value = c.get("fill", (low + high) / 2) if missing else number_of(c, cell)
            if value is None:
                return None
        else:
            names = {t: g[0] for g in c["categories"] if isinstance(g, list) for t in g}
            names |= {g: g for g in c["categories"] if isinstance(g, str)}
            missing |= "bad_cells" in m and cell not in names and not c.keys() & {"unknown", "buckets"}
            if not missing and cell not in names and "unknown" not in c and "buckets" not in c:
                return None
            value = c.get("fill") if missing else names.get(cell)
            if value is None and not missing and "buckets" in c:
                value = f"(bucket {1 + siphash(cell.encode()) % c['buckets']})"
        cells[c["name"]] = c, value, missing
    return cells


def label(m, score):
    low, high = m["label"].get("bounds", [-math.inf, math.inf])
    score = math.exp(score) if m["loss"] == "poisson" else score
    return min(max(m["label"]["scale"] * score + m["label"]["offset"], low), high)


def by_json(model, rows):
    m = json.load(open(model))
    place = {f["name"]: j for j, f in enumerate(m["features"])}
    for row in rows:
        cells, x = read_cells(m, row), []
        if cells is None:
            yield None
            continue
        for f in m["features"]:
            c, value, missing = cells.get(f.get("column"), ({}, None, False))
            if f["kind"] in ("number", "basis"):
                low, high = c.get("bounds", [-math.inf, math.inf])
                v = min(max(value, low), high)
                x.append(f["factor"] * (v - f["shift"]) if f["kind"] == "number" else basis(c, v, f["part"]))
            elif f["kind"] == "category":
                x.append(float(value == f["category"]))
            elif f["kind"] == "product":
                x.append(f["factor"] * math.prod(x[place[name]] for name in f["of"]))
            else:
                x.append(float(f["kind"] == "bias" or missing))
        norm = math.sqrt(sum(v * v for v in x))
        how = m["row_norm"]
        s = (1 - 2**-22) / norm if how in SHORTER and SHORTER[how](norm) else 1
        scores = [u + s * sum(v * f["weights"][k] for v, f in zip(x, m["features"])) for k, u in enumerate(m["constant"])]
        yield scores if "classes" in m else {"scores": scores, "prediction": label(m, scores[0])}


def plain_inputs(model, rows, clamp):
    """What the exports take that begin with features: numbers, and 1 or 0 for categories and missing cells."""
    m = json.loads(subprocess.run(["dp-export", "--to", "json", model], check=True, capture_output=True).stdout)
    for row in rows:
        cells, x = read_cells(m, row), []
        for f in m["features"] if cells is not None else []:
            if f["kind"] in ("basis", "bias", "product"):
                continue
            c, value, missing = cells[f["column"]]
            if f["kind"] == "number":
                low, high = c.get("bounds", [-math.inf, math.inf])
                x.append(min(max(value, low), high) if clamp else value)
            else:
                x.append(float(missing if f["kind"] == "missing" else value == f["category"]))
        yield x
    yield m.get("classes", [])


def by_liblinear(model, rows):
    *inputs, classes = plain_inputs(model.replace(".liblinear", ".model"), rows, True)
    with open("rows.svm", "w") as f:
        f.writelines("0 " + " ".join(f"{j}:{v!r}" for j, v in enumerate(x, 1) if v) + "\n" for x in inputs)
    sure = "L2R_LR" in open(model).readline()
    command = ["liblinear-predict"] + ["-b", "1"] * sure + ["rows.svm", model, "predicted"]
    subprocess.run(command, check=True, capture_output=True)
    said = open("predicted").read().splitlines()
    order = said.pop(0).split()[1:] if sure else []
    for x, line in zip(inputs, said, strict=True):
        first, *rest = line.split()
        have = {"prediction": classes[int(first)] if classes else float(first)}
        have |= {"probability_" + classes[int(k)]: p for k, p in zip(order, rest)}
        yield have if x else None


def by_onnx(model, rows):
    """OpenCV reads the graph, and a checker of ONNX, where there is one, its form."""
    import cv2
    import numpy as np
    *inputs, classes = plain_inputs(model.replace(".onnx", ".model").replace("-net", ""), rows, False)  # a model of the same schema
    try:
        import onnx
        onnx.checker.check_model(onnx.load(model), full_check=True)
    except ImportError:
        pass
    net = cv2.dnn.readNetFromONNX(model)
    for x in inputs:
        if not x:
            yield None
            continue
        net.setInput(np.array([x], np.float32))
        scores = net.forward("scores").ravel()
        have = {"scores": scores}
        if not classes:
            have["prediction"] = net.forward("prediction").ravel()[0]
        else:
            have["prediction"] = classes[int(scores.argmax() if len(scores) > 1 else scores[0] > 0)]
            have |= {"probability_" + k: p for k, p in zip(classes, net.forward("probabilities").ravel(), strict=True)}
        yield have


def by_csv(model, rows):
    lines = list(csv.DictReader(open(model, newline="")))
    outputs = [c for c in lines[0] if c.startswith("coefficient")]
    for row in rows:
        score, good = [float(lines[0][k]) for k in outputs], True
        for line in lines[1:]:
            cell = row[line["column"]]
            missing = cell in ("", "NA")
            if line["name"] == line["column"]:
                v = number(line["fill"] if missing else cell)
                good = good and v is not None
                value = min(max(v, float(line["low"] or "-inf")), float(line["high"] or "inf")) if good else 0
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
            at += strcspn(at, "\\x1f");
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
    text = "".join("\x1f".join(row[c] for c in columns) + "\n" for row in rows)
    said = subprocess.run(["./driver"], input=text, check=True, capture_output=True, text=True).stdout
    for line in said.splitlines():
        yield line.split()


def by_pmml(model, rows):
    import pmml
    m = pmml.Model(model)
    for row in rows:  # blanks around a number are the reader's affair
        yield m.predict({k: v if m.fields.get(k, {}).get("dataType") == "string" else v.strip() for k, v in row.items()})


def close(a, b, tolerance=2e-6):
    return a != "" and math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=tolerance)


def compare(how, row, have, right):
    """have: some of the columns of dp-predict. OpenCV computes in float32, and liblinear prints six digits."""
    tolerance = {"onnx": 2e-4, "liblinear": 6e-6, "pmml": 2e-6, "json": 2e-6}[how]
    scores = [v for k, v in right.items() if k.startswith("score")]
    for a, b in zip(have.pop("scores", scores), scores, strict=True):
        assert close(a, b, tolerance), (row, have, right)
    for k, v in have.items():
        same = v == right[k] if isinstance(v, str) and number(v) is None else close(v, right[k], tolerance)
        if how == "liblinear" and k == "prediction" and not isinstance(v, str):  # which has no bounds of the label
            same = close(min(max(v, 40), 120), right[k], tolerance)
        assert same, (row, k, have, right)
    return len(have)


def main():
    how, model, table, expected = sys.argv[1:]
    rows = list(csv.DictReader(open(table, newline="")))
    if how not in ("sql", "c", "pmml"):  # the others take cells without blanks around them
        rows = [{name: cell.strip() for name, cell in row.items()} for row in rows]
    want = list(csv.DictReader(open(expected, newline="")))
    got = list({"json": by_json, "csv": by_csv, "sql": by_sql, "c": by_c, "liblinear": by_liblinear,
                "onnx": by_onnx, "pmml": by_pmml}[how](model, rows))
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
        if isinstance(have, dict) and how != "sql":
            assert compare(how, row, have, right) > 0
            continue
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
