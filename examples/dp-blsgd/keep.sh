#!/bin/bash -p
# Puts what run.sh has measured into measured.tsv, here, in place of the line of the same part, set, method and epsilon, and of the same
# setting where settings are compared; what is new comes last in its part.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
touch measured.tsv
for part in logistic svm hinge settings counts; do
    [ -e "$out/$part.tsv" ] || touch "$out/$part.tsv"
    awk -F '\t' -v part="$part" '
        function key() { return $2 FS $3 FS $4 FS (part ~ /settings|counts/ ? $5 : "") }
        FILENAME == ARGV[1] { line[key()] = $0; order[++n] = key(); next }
        $1 != part { next }
        key() in line { print line[key()]; kept[key()] = 1; next }
        { print }
        END { for (i = 1; i <= n; i++) if (!(order[i] in kept)) print line[order[i]] }' "$out/$part.tsv" measured.tsv
done > measured.part
mv measured.part measured.tsv
