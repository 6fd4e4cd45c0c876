#!/bin/bash -p
# Measures `dpline fit` and what it is compared with on the data that is there. Results go to build/examples/no-tuning.
#   run.sh [--write | --collect] [part …]     parts: classes, numbers, pictures (default: all)
# --write also puts measured.tsv, the tables and the picture into this directory; --collect trains nothing and makes them of what has been
# measured. METHODS="fit sgd …" and SETS="adult …" name what is run, SPLITS=n (10) and DRAWS=n (10, for pictures) how often. Where a
# method has several settings, all are tried TRIED=n times (2), and the best of these, FINALISTS=n by each measure (3), as often as the others.
# JOBS=n is how many models are trained at once.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./methods.sh
write='' collect=''
case ${1:-} in
    --write) write=1 && shift ;;
    --collect) write=1 collect=1 && shift ;;
esac
[ $# -gt 0 ] || set -- classes numbers pictures
read -ra methods <<< "${METHODS:-fit sgd full tuned adam scd adassp optimum}"


# chosen_sets PART: of those that are there
chosen_sets() {
    local set
    for set in $(sets "$1"); do
        [[ -n ${SETS:-} && " $SETS " != *" $set "* ]] || echo "$set"
    done
}
# grid SET: "method epsilon setting" of all that is compared; what is not private has no epsilon
grid() {
    local method epsilon setting list
    for method in "${methods[@]}"; do
        list=$(epsilons "$1")
        [ "$method" != optimum ] || list=inf
        for epsilon in $list; do
            settings "$method" "$1" | while read -r setting; do tsv "$method" "$epsilon" "$setting"; done
        done
    done
}
# measured_lines SET: for measured.tsv, the settings that something is known of; rounds in their order
measured_lines() {
    grid "$1" | while IFS=$'\t' read -r method epsilon setting; do
        for round in $(seq "$(rounds "$1")"); do
            file=$(file_of "$method" "$1" "$epsilon" "$setting" "$round")
            [ ! -s "$file" ] || cat "$file"
        done | awk -F '\t' -v OFS='\t' -v set="$1" -v epsilon="$epsilon" -v method="$method" -v setting="$setting" '
            { for (i = 1; i <= 4; i++) list[i] = list[i] (NR > 1 ? " " : "") $i }
            END { if (NR) print "models", set, epsilon, method, setting, NR, list[1], list[2], list[3], list[4] }'
    done
}
# finalists_of SET: "method epsilon setting" of the settings that are measured in full: the best by each measure of those tried
finalists_of() {
    measured_lines "$1" | awk -F '\t' -v OFS='\t' -v most="$finalists" '
        function mean(list,    a, n, i, s) {
            n = split(list, a, " ")
            if (a[1] == "-") return "none"
            for (i = 1; i <= n && i <= '"$tried"'; i++) s += a[i]
            return s / (i - 1)
        }
        {
            cell = $4 OFS $3
            for (m = 8; m <= ($2 ~ /bank|credit/ ? 10 : 8); m++) {
                x = mean($m)
                if (x == "none") continue
                line[++n] = cell OFS m OFS $5
                value[n] = m == 10 ? -x : x
            }
        }
        END { for (i = 1; i <= n; i++) printf "%s\t%.8f\n", line[i], value[i] }' |
        sort -t $'\t' -k 1,3 -k 5,5gr | awk -F '\t' -v OFS='\t' -v most="$finalists" '{ if (++n[$1, $2, $3] <= most) print $1, $2, $4 }' | sort -u
}
measure() { # SET
    local round method epsilon setting
    say "$1: importing"
    import "$1"
    say "$1: $(grid "$1" | wc -l) settings"
    grid "$1" | while IFS=$'\t' read -r method epsilon setting; do
        for round in $(seq $((tried < $(rounds "$1") ? tried : $(rounds "$1")))); do echo "cell $method $1 $epsilon '$setting' $round"; done
    done | run_cells
    say "$1: the best of them"
    finalists_of "$1" | while IFS=$'\t' read -r method epsilon setting; do
        for round in $(seq "$(rounds "$1")"); do echo "cell $method $1 $epsilon '$setting' $round"; done
    done | run_cells
}

for part; do
    [ -n "$(all_sets "$part")" ] || { echo "run.sh: unknown part '$part': see the first lines of this file" >&2 && exit 2; }
    [ -n "$(sets "$part")" ] || say "$part: there is no data for it in $raw; get-data.sh fetches it, DPLINE_DATA says where it is"
done
for part; do
    for set in $(chosen_sets "$part"); do
        [ -n "$collect" ] || measure "$set"
        [ ! -d "$(data "$set" 1).dp" ] || tsv set "$set" "$part" "$(role "$set")" "$(delta "$set")" "$(dp-info --get rows "$(data "$set" 1).dp")" \
            "$(dp-info --get cols "$(data "$set" 1).dp")" "$(dp-info --get classes "$(data "$set" 1).dp")"
        measured_lines "$set"
    done
done > "$out/new-$$.tsv"
awk -F '\t' '$1 == "models"' "$out/new-$$.tsv" | cut -f 2-6,8- | column -t -s $'\t'
[ -z "$write" ] || {
    ./keep.sh "$out/new-$$.tsv"
    ./figures.sh
    ../common/write-readme.sh
}
rm "$out/new-$$.tsv"
