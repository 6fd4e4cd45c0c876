#!/bin/bash -p
# write-readme.sh [DIR]: fills README.md of the current directory. Between <!-- table KIND [FIRST [SECOND]] --> and <!-- end --> goes
# DIR/KIND.tsv; if it is not there, what table.awk here makes with these words of KIND.tsv or of measured.tsv. If there is neither, what
# is there stays. Pictures in DIR are copied to the current directory.
set -euo pipefail
common=$(cd "$(dirname "$0")" && pwd)
from=${1:-/nowhere}

# table [KIND [FIRST [SECOND]]]
table() {
    local measured=measured.tsv
    [ ! -e "${1-}.tsv" ] || measured=$1.tsv
    if [ -s "$from/${1-}.tsv" ]; then
        cat "$from/$1.tsv"
    elif [ -e table.awk ]; then
        awk -F '\t' -v kind="${1-}" -v first="${2-}" -v second="${3-}" -f table.awk "$measured"
    fi
}
sed -n 's/^<!-- table *\(.*\) *-->$/\1/p' README.md | while read -r words; do
    # shellcheck disable=SC2086 # several words
    lines=$(table $words | awk -F '\t' -f "$common/markdown.awk")
    [ -n "$lines" ] || continue
    export lines
    awk -v marker="<!-- table $words${words:+ }-->" '$0 == marker { print; print ENVIRON["lines"]; skip = 1; next }
        $0 == "<!-- end -->" { skip = 0 }
        !skip' README.md > README.part
    cat README.part > README.md
    rm README.part
done
for picture in "$from"/*.png; do [ ! -e "$picture" ] || cp "$picture" .; done
