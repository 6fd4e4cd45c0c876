#!/usr/bin/env python3
"""Measures of synthetic rows: measure.py TRAIN.csv TEST.csv ROWS.csv TARGET POSITIVE [COLUMN=CELLS,...]
                               measure.py TRAIN.csv - ROWS.csv TARGET POSITIVE [COLUMN=CELLS,...]

What is compared: texts as they are, so that a text of ROWS that TRAIN does not have agrees with no text; and numbers in cells,
which are made from TRAIN without noise. A number has 16 cells, or as many as the last argument says: each value that more than
its part of the rows have is a cell, and quantiles divide the other values. With COLUMN=all each number is a cell. A missing value is a
cell.
Prints the mean total variation of all pairs of columns and of 60 random triples, between TRAIN and ROWS; and accuracy and AUC on
TEST of a logistic regression and of boosted trees that are trained on the cells of ROWS, unless TEST is -. Needs NumPy and scikit-learn
(python3-sklearn)."""
import csv
import itertools
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names = rows[0]
    return {name: [row[i].strip() for row in rows[1:] if len(row) == len(names)] for i, name in enumerate(names)}


def number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def is_number(column):
    values = np.array([number(text) for text in column])
    return np.isfinite(values).mean() > 0.5 and len(np.unique(values[np.isfinite(values)])) > 10


def cut(values, cells):
    """The edges of the cells: a value that has more rows than its part begins and ends a cell."""
    value, count = np.unique(values[np.isfinite(values)], return_counts=True)
    own, places = np.zeros(len(value), bool), cells
    while places > 1:
        more = ~own & (count > count[~own].sum() / places)
        if not more.any():
            break
        own[np.argmax(np.where(more, count, 0))] = True
        places -= 1
    edges, step, since = [], count[~own].sum() / places, 0
    for k in range(len(value)):
        if own[k] or since >= step:
            edges.append(value[k])
            since = 0
        if own[k] and k + 1 < len(value):
            edges.append(value[k + 1])
        since += 0 if own[k] else count[k]
    return np.unique(edges)


train, test, rows = (read(path) for path in (sys.argv[1], sys.argv[1 if sys.argv[2] == "-" else 2], sys.argv[3]))
target, positive = sys.argv[4:6]
said = dict(part.split("=") for part in sys.argv[6].split(",")) if len(sys.argv) > 6 else {}
names = [name for name in rows if name in train and name != target] + [target]
cells, sizes = ([], [], []), []

for name in names:
    columns = [table[name] for table in (train, test, rows)]
    if name != target and said.get(name) != "all" and is_number(columns[0]):
        values = [np.array([number(text) for text in column]) for column in columns]
        edges = cut(values[0], int(said.get(name, 16)))
        for k in range(3):
            codes = np.searchsorted(edges, values[k], side="right")
            cells[k].append(np.where(np.isnan(values[k]), len(edges) + 1, codes))
        sizes.append(len(edges) + 2)
    else:
        words = {word: i for i, word in enumerate(sorted(set(columns[0])))}
        for k in range(3):
            cells[k].append(np.array([words.get("?" if word == "" and "?" in words else word, len(words)) for word in columns[k]]))
        sizes.append(len(words) + 1)


def far(columns):
    shape = [sizes[j] for j in columns]
    shares = []
    for k in (0, 2):
        index = np.ravel_multi_index([cells[k][j] for j in columns], shape)
        shares.append(np.bincount(index, minlength=int(np.prod(shape))) / len(index))
    return 0.5 * np.abs(shares[0] - shares[1]).sum()


def one_hot(k):
    return np.concatenate([np.eye(sizes[j])[cells[k][j]] for j in range(len(names) - 1)], 1)


pairs = [far(pair) for pair in itertools.combinations(range(len(names)), 2)]
triples = list(itertools.combinations(range(len(names)), 3))
chosen = np.random.default_rng(5).choice(len(triples), min(60, len(triples)), replace=False)
print("2-way %.4f (largest %.3f), 3-way %.4f" % (np.mean(pairs), max(pairs), np.mean([far(triples[i]) for i in chosen])))
if sys.argv[2] == "-":
    sys.exit()
label = [np.array([word == positive for word in table[target]]) for table in (train, test, rows)]
linear = LogisticRegression(max_iter=400).fit(one_hot(2), label[2])
score = linear.decision_function(one_hot(1))
trees = HistGradientBoostingClassifier(max_leaf_nodes=15).fit(np.stack([cells[2][j] for j in range(len(names) - 1)], 1), label[2])
chance = trees.predict_proba(np.stack([cells[1][j] for j in range(len(names) - 1)], 1))[:, 1]
print("logistic accuracy %.4f AUC %.4f, trees accuracy %.4f AUC %.4f"
      % (np.mean((score > 0) == label[1]), roc_auc_score(label[1], score),
         np.mean((chance > 0.5) == label[1]), roc_auc_score(label[1], chance)))
