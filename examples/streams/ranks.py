#!/usr/bin/python3
"""The rank error of the quantiles that dp-import --private-knots pays for: six columns of Adult.

    ranks.py FILE [EPSILON [IMPORTS]]      FILE: adult.data or adult.data.gz (examples/dp-scd/get-data.sh)

A knot is at rank q if q is among the ranks of the largest number that is not above the knot: 92 of 100 rows have a capital gain of
0, so 0 has all ranks from 0 to .92. Seven knots are the quantiles 1/8 to 7/8, in order. Fewer knots say that numbers are equal; the
nearest of them counts then. With --spread ages are spread evenly over their year, so that no age is frequent.
"""
import bisect
import csv
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

NAMES = ("age workclass fnlwgt education education-num marital occupation relationship race sex capital-gain capital-loss hours country "
         "income").split()
BOUNDS = {"age": [17, 91], "fnlwgt": [0, 1.5e6], "education-num": [1, 17], "capital-gain": [0, 1e5], "capital-loss": [0, 5000],
          "hours": [0, 100]}


def column(name):
    if name in BOUNDS:
        return {"name": name, "type": "numeric", "bounds": BOUNDS[name]}
    return {"name": name, "type": "label", "classes": ["<=50K", ">50K"]} if name == "income" else {"name": name, "type": "ignore"}


def knots(work, epsilon):
    """Of each column, from one import."""
    os.chdir(work)
    subprocess.run(["dp-import", "csv", "-q", "--force", "-s", "schema.json", "--no-registry", "--no-ledger", "--basis", "hats",
                    "--private-knots", epsilon, "--delta", "1e-5", "-o", "table.dp", "table.csv"], check=True)
    with open("table.dp/dataset.json") as f:
        return {c["name"]: [k for k in c["knots"] if BOUNDS[c["name"]][0] < k < BOUNDS[c["name"]][1]]
                for c in json.load(f)["schema"]["columns"] if c["name"] in BOUNDS}


def error(numbers, q, knot):
    last = bisect.bisect_right(numbers, knot)
    first = bisect.bisect_left(numbers, numbers[max(last - 1, 0)])
    return max(first / len(numbers) - q, q - last / len(numbers), 0)


def main(file, epsilon=".1", imports="20"):
    with gzip.open(file, "rt") if file.endswith(".gz") else open(file) as f:
        rows = [[cell.strip() for cell in row] for row in csv.reader(f) if len(row) == len(NAMES)]
    if "--spread" in sys.argv:
        random.seed(1)
        for row in rows:
            row[0] = str(int(row[0]) + random.random())
    numbers = {name: sorted(float(row[NAMES.index(name)]) for row in rows) for name in BOUNDS}
    mean = dict.fromkeys(BOUNDS, 0)
    with tempfile.TemporaryDirectory() as work:
        with open(work + "/table.csv", "w") as f:
            csv.writer(f).writerows([NAMES] + rows)
        with open(work + "/schema.json", "w") as f:
            json.dump({"header": True, "columns": [column(name) for name in NAMES]}, f)
        for _ in range(int(imports)):
            for name, found in knots(work, epsilon).items():
                for i in range(1, 8):
                    near = found[i - 1:i] if len(found) == 7 else found
                    mean[name] += min(error(numbers[name], i / 8, knot) for knot in near) / 7 / int(imports)
    for name in BOUNDS:
        print(f"{name:14} {100 * mean[name]:6.3f} %")
    print(f"{'mean':14} {100 * sum(mean.values()) / len(mean):6.3f} %")


main(*[word for word in sys.argv[1:] if word != "--spread"])
