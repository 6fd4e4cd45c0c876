#!/usr/bin/env bash
# Puts the tables of measured.tsv into README.md, between their markers; --check only says whether they are there already.
set -euo pipefail
cd "$(dirname "$0")"
awk '/^<!-- figure / {
        print
        system("awk -v figure=" $3 " -v wide=" ($4 == "wide") " -f table.awk measured.tsv")
        skip = 1
        next
    }
    /^<!-- end -->/ { skip = 0 }
    !skip' README.md > "${TMPDIR:-/tmp}/bench-readme.$$"
trap 'rm -f "${TMPDIR:-/tmp}/bench-readme.$$"' EXIT
if [ "${1:-}" = --check ]; then
    diff README.md "${TMPDIR:-/tmp}/bench-readme.$$"
else
    cat "${TMPDIR:-/tmp}/bench-readme.$$" > README.md
fi
