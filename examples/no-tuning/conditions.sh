#!/bin/bash -p
# Measures both choices for numbers of two classes, lines and cosines, near the limits of the rules, on the tables that the limits were
# found on and on those that they were tested on.
#   conditions.sh [--write]
# --write also puts conditions.tsv and its table into this directory. SPLITS=n (3). A run that was interrupted continues where it stopped.
# A set whose name ends with -above is a table of numbers: a label above a round number is the second class. claims is made up.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
export SPLITS=${SPLITS:-3} WAYS=cosines
{
    EPSILONS='0.03 0.1 0.3 1' ./curves.sh claims
    EPSILONS='0.01 0.03 0.1 0.3 1 3' ./curves.sh bank phoneme credit telco spambase
    EPSILONS='0.03 0.1 0.3' ./curves.sh adult elec-above diamonds-above vocab-above protein-above bike-above abalone-above white-6 insurance-above
    EPSILONS=0.01 ./curves.sh adult elec-above diamonds-above vocab-above protein-above bike-above claims
    EPSILONS='0.003 0.005' ./curves.sh adult bank credit elec-above diamonds-above vocab-above protein-above bike-above claims
} | tee "$out/conditions.tsv"
[ "${1:-}" != --write ] || {
    cp "$out/conditions.tsv" conditions.tsv
    ../common/write-readme.sh
}
