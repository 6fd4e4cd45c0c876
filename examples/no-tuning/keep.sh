#!/bin/bash -p
# keep.sh FILE: puts the lines of FILE into measured.tsv, here, in place of all that is there of the same data set, epsilon and method.
set -euo pipefail
cd "$(dirname "$0")"
touch measured.tsv
awk -F '\t' '
    function key() { return $1 FS $2 (($1 == "models") ? FS $3 FS $4 : "") }
    FILENAME == ARGV[1] { new[key()] = 1; print; next }
    !(key() in new)' "$1" measured.tsv | sort -t $'\t' -s -k 1,1r -k 2,2 -k 3,3g -k 4,4 > measured.part
mv measured.part measured.tsv
