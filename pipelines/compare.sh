#!/usr/bin/env bash
# Several pipelines on one data set, at several epsilons, several times: a table with a line for each run, and a picture of it.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/options.sh"
summary="Compare pipelines on one data set: a table of every run, and a plot."
usages=('--methods fit,dp-sgd --data DIR --test DIR [options]')
note='Runs are seeded and enter no ledger, so none of them is private: compare on data that is public, or that you may look at.'
option methods fit,dp-sgd LIST "pipelines, with options of their own: 'fit,dp-sgd --batch 50 --clip 0.5'"
option data '' DIR "data set (see dp-import)"
option test '' DIR "data set of held-out rows"
option epsilon 0.1,1 LIST "privacy budgets of a run, separated by commas"
option delta '' D "(default: the largest power of ten below 1 / rows^1.1, or persons^1.1)" number
option seeds 10 N "runs of each method at each epsilon" whole
option metric '' NAME "of dp-eval (default accuracy; r2 for a regression)"
option plot '' FILE "a picture of the table, as SVG"
flag quiet "no progress"
parse "$@"
check_values
for word in data test; do [ -n "${!word}" ] || fail "--$word is required"; done

# split LIST: sets $parts to what commas separate, without blanks around it
split() {
    IFS=, read -ra parts <<< "$1"
    [ ${#parts[@]} -gt 0 ] || parts=('')
    for word in "${!parts[@]}"; do read -r "parts[$word]" <<< "${parts[word]}"; done
}

# takes OPTION: whether the pipeline of $words has it
takes() { grep -q -- "^ .*--$1\b" <<< "$offered"; }

# pipeline_of METHOD: sets $words to its pipeline and options, and $offered to the options that it could have
pipeline_of() {
    read -ra words <<< "$1"
    [[ -n $1 && -x $here/${words[0]}.sh && ${words[0]} != compare ]] || fail "--methods: '$1' is no pipeline (dpline help lists them)"
    words[0]=$here/${words[0]}.sh
    offered=$("${words[0]}" --help)
    takes data || fail "--methods: '$1' does not train on one data set"
}

split "$epsilon"
epsilons=("${parts[@]}")
for word in "${epsilons[@]}"; do number "$word" || fail "--epsilon: must be numbers > 0, separated by commas, got '$epsilon'"; done
split "$methods"
methods=("${parts[@]}")
for word in "${methods[@]}"; do pipeline_of "$word"; done
persons=$(dp-info --get persons "$data") || exit
classes=$(dp-info --get classes "$data") || exit
[ -n "$metric" ] || if [ "$classes" = 0 ]; then metric=r2; else metric=accuracy; fi
[ -n "$delta" ] || delta=$(awk -v n="$persons" 'BEGIN { k = int(1.1 * log(n) / log(10)); print "1e-" k + (10^-k >= n^-1.1) }')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run METHOD EPSILON SEED: a line of the table. A run that the budget does not pay for, or that fails, has no value.
run() {
    local value=- status=0 with=- privacy=seeded options=(--data "$data" --seed "$3" -o "$work/model" -q)
    pipeline_of "$1"
    ! takes epsilon || { with=$delta && options+=(--epsilon "$2" --delta "$delta"); }
    ! takes no-ledger || options+=(--no-ledger --no-registry)
    rm -f "$work/model"
    "${words[@]}" "${options[@]}" > /dev/null 2> "$work/said" || status=$?
    [ $status != 2 ] || fail "--methods: '$1': $(tail -n 1 "$work/said")"
    if [ $status = 0 ]; then
        [[ $(dp-info "$work/model") != *$'\nprivacy: none'* ]] || privacy=none
        value=$(dp-eval --data "$test" --metrics "$metric" --last --in "$work/model" | tail -n 1 | cut -f 3)
        [ -n "$value" ] || exit 1
    else
        echo "$name: $1, epsilon $2: $(tail -n 1 "$work/said")" >&2
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$with" "$3" "$privacy" "$value"
}

# table: all runs. A method without a budget is the same at each epsilon.
table() {
    local method seed value at
    printf 'method\tepsilon\tdelta\tseed\tprivacy\t%s\n' "$metric"
    for method in "${methods[@]}"; do
        pipeline_of "$method"
        at=(inf)
        ! takes epsilon || at=("${epsilons[@]}")
        for value in "${at[@]}"; do
            for seed in $(seq "$seeds"); do run "$method" "$value" "$seed" || exit; done
            say "$method, epsilon $value: $seeds run$([ "$seeds" = 1 ] || echo s)"
        done
    done
}

# draw: the table on standard input as SVG: the median of the runs of each method at each epsilon, and their range
draw() {
    tail -n +2 | awk -F '\t' '$6 != "-"' | LC_ALL=C sort -t "$(printf '\t')" -s -k 1,1 -k 2,2g -k 6,6g | awk -F '\t' -v list="$(printf '%s\t' "${methods[@]}")" \
        -v metric="$metric" -v seeds="$seeds" -v delta="$delta" -v chance="$chance" '
        function escaped(t) { gsub(/&/, "\\&amp;", t); gsub(/</, "\\&lt;", t); gsub(/>/, "\\&gt;", t); return t }
        function place(e) { return most > least ? 60 + 330 * (log(e) - log(least)) / (log(most) - log(least)) : 225 }
        function height(v) { return 320 - 280 * (v - low) / (high - low) }
        function text(x, y, anchor, t) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, escaped(t) }
        function line(x, y, u, v, class) { printf "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x, y, u, v }
        {
            if (!(($1, $2) in runs) && $2 != "inf") { points[$1] = points[$1] " " $2; least = least == "" || $2 + 0 < least ? $2 + 0 : least; if ($2 + 0 > most) most = $2 + 0; ticks[$2] }
            value[$1, $2, ++runs[$1, $2]] = $6 + 0
            if ($5 == "none") free[$1]
            if (NR == 1 || $6 + 0 < low) low = $6 + 0
            if (NR == 1 || $6 + 0 > high) high = $6 + 0
        }
        END {
            if (chance != "") { if (!NR || chance + 0 < low) low = chance + 0; if (!NR || chance + 0 > high) high = chance + 0 }
            if (!(high > low)) high = low + 0.01
            margin = (high - low) * 0.05; low -= margin; high += margin
            for (step = 1e-6; (high - low) / step > 6; step *= ++k % 3 == 2 ? 2.5 : 2) ;
            print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 385\" width=\"640\" height=\"385\" role=\"img\">"
            print "<title>" metric " against epsilon</title>"
            print "<style>svg { color-scheme: light dark; --ink: #1c2430; --line: #c9d0d9; --ground: #fff; --c1: #2563a8; --c2: #b3541e; --c3: #2f7d4f; --c4: #8a4fa3; --c5: #b08900; --c6: #5c6878 }"
            print "@media (prefers-color-scheme: dark) { svg { --ink: #e4e8ee; --line: #3c4654; --ground: #14181e; --c1: #6aa9ea; --c2: #e8935a; --c3: #6cc494; --c4: #c796de; --c5: #e0bd4a; --c6: #9aa6b5 } }"
            print "text { font: 11px system-ui, sans-serif; fill: var(--ink) } .ground { fill: var(--ground) } .axis { stroke: var(--line) } .flat { stroke-dasharray: 6 4 } .chance { stroke: var(--ink); stroke-dasharray: 1 4 }"
            for (k = 1; k <= 6; k++) printf ".s%d { stroke: var(--c%d); stroke-width: 2; fill: none } .d%d { fill: var(--c%d) }\n", k, k, k, k
            print "</style><rect class=\"ground\" width=\"640\" height=\"385\"/>"
            text(20, 20, "start", metric " on held-out rows")
            for (v = step * int(low / step); v <= high; v += step) if (v >= low) { line(45, height(v), 405, height(v), "axis"); text(40, height(v) + 4, "end", sprintf("%.4g", v)) }
            for (e in ticks) { line(place(e), 320, place(e), 325, "axis"); text(place(e), 339, "middle", e) }
            text(225, 356, "middle", "epsilon")
            text(20, 377, "start", sprintf("Median and range of %d run%s, delta %s. No run is private: seeds make their noise known.", seeds, seeds == 1 ? "" : "s", delta))
            y = 46
            if (chance != "") { line(45, height(chance), 405, height(chance), "chance"); line(420, y - 4, 440, y - 4, "chance"); text(446, y, "start", "the larger class"); y += 18 }
            count = split(list, method, "\t") - 1
            for (m = 1; m <= count; m++) {
                name = method[m]; k = (m - 1) % 6 + 1; path = ""; aside = (m - (count + 1) / 2) * 5
                if ((name, "inf") in runs) points[name] = ""
                n = split(points[name], at, " ")
                for (i = 1; i <= n; i++) {
                    r = runs[name, at[i]]; middle = (value[name, at[i], int((r + 1) / 2)] + value[name, at[i], int(r / 2) + 1]) / 2; x = place(at[i]) + aside
                    line(x, height(value[name, at[i], 1]), x, height(value[name, at[i], r]), "s" k)
                    printf "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", k, x, height(middle)
                    path = path sprintf("%.1f,%.1f ", x, height(middle))
                }
                if (n > 1) printf "<polyline class=\"s%d\" points=\"%s\"/>\n", k, path
                if (r = runs[name, "inf"]) { middle = (value[name, "inf", int((r + 1) / 2)] + value[name, "inf", int(r / 2) + 1]) / 2; line(45, height(middle), 405, height(middle), "s" k " flat") }
                line(420, y - 4, 440, y - 4, "s" k (r && !n ? " flat" : ""))
                text(446, y, "start", (length(name) > 30 ? substr(name, 1, 29) "…" : name) (name in free ? ", without privacy" : "") (n || r ? "" : ": no run"))
                y += 18
            }
            print "</svg>"
        }'
}

table > "$work/table"
cat "$work/table"
chance='' # the accuracy of the larger class, with any model
if [ "$metric" = accuracy ] && [ -e "$work/model" ]; then
    chance=$(dp-eval --data "$test" --metrics majority --last --in "$work/model" | tail -n 1 | cut -f 3)
fi
[ -z "$plot" ] || draw < "$work/table" > "$plot"
