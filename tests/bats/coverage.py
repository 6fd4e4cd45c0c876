#!/usr/bin/python3
"""coverage.py RUNS: how often the 95 % intervals of dp-info --coefficients cover the coefficients of the same run without noise.
Each run has its own seed; prints the part for each coefficient, and for all of them."""
import csv
import os
import random
import subprocess
import sys
import tempfile

RUNS = int(sys.argv[1])
SCHEMA = """{"header": true, "columns": [
  {"name": "age", "type": "numeric", "bounds": [18, 90], "fill": 50, "indicator": true},
  {"name": "ward", "type": "categorical", "categories": ["A", "B", "C"], "unknown": "zero"},
  {"name": "cost", "type": "label"%s}]}"""


def write_table(label, bounds):
    random.seed(5)
    with open(label + ".csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["age", "ward", "cost"])
        for _ in range(500):
            age, ward = random.uniform(18, 90), random.choice("ABC")
            cost = age / 30 + 2 * (ward == "B") + random.gauss(0, 1)
            out.writerow([f"{age:.1f}" if random.random() > .1 else "", ward, f"{cost:.3f}" if label == "number" else cost > 3])
    with open(label + ".json", "w") as f:
        f.write(SCHEMA % bounds)
    subprocess.run(["dp-import", "csv", "-s", label + ".json", "-q", "-o", label + ".dp", label + ".csv"], check=True)


def coefficients(data, loss, multiplier, seed, order):
    subprocess.run(["dp-loop", "--laps", "1", "--seed", str(seed), "-q", "-o", "model", "--exec", "fused", "--",
                    f"dp-sample --data {data} --mode full | dp-erm --data {data} --loss {loss} --lambda 0.01 {order} |"
                    f"dp-noise --multiplier {multiplier} | dp-account --epsilon 1e30 --delta 1e-5 --allow-seeded --no-ledger |"
                    "dp-step"], check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run(["dp-info", "--coefficients", "--tsv", "model"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(said.splitlines(), delimiter="\t"))


def count(label, loss, order):
    """covered[name], and the number of intervals of each name"""
    truth = coefficients(label + ".dp", loss, 1e-4, 0, order)
    covered = {row["name"]: 0 for row in truth if float(row["noise_error"]) > 0}
    for seed in range(1, RUNS + 1):  # the two losses have noise of their own
        for row, true in zip(coefficients(label + ".dp", loss, 4, 2 * seed + (label == "class"), order), truth):
            if row["name"] in covered:
                covered[row["name"]] += float(row["low"]) <= float(true["coefficient"]) <= float(row["high"])
    return covered


def main(scratch):
    os.chdir(scratch)
    write_table("class", ', "classes": ["False", "True"]')
    write_table("number", ', "bounds": [-2, 10]')
    total = intervals = 0
    for label, loss in (("class", "logistic"), ("number", "huber")):
        covered = count(label, loss, "--method descent --iterations 30")
        for name, times in covered.items():
            print(f"{loss}\t{name}\t{times / RUNS:.4f}")
        total += sum(covered.values())
        intervals += RUNS * len(covered)
    print(f"all\t{intervals} intervals\t{total / intervals:.4f}")


with tempfile.TemporaryDirectory() as directory:
    main(directory)
