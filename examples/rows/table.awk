# The table of README.md, of measured.tsv: medians of the runs of a table and an epsilon.
BEGIN { FS = OFS = "\t" }
{
    key = $1 OFS $2
    if (!(key in seen)) order[++count] = key
    seen[key]
    if ($4 == "refused") next
    k = ++runs[key]
    for (i = 4; i <= NF; i++) put(key OFS i, k, $i + 0)
    if (NF < 12) next # only errors
    put(key OFS "logistic", k, $9 / $12)
    put(key OFS "trees", k, $11 / $12)
}
# put LIST K X: x into a list of k - 1 sorted numbers
function put(list, k, x) {
    for (; k > 1 && value[list, k - 1] > x; k--) value[list, k] = value[list, k - 1]
    value[list, k] = x
}
function median(i,    k) {
    k = runs[key]
    return (value[key OFS i, int((k + 1) / 2)] + value[key OFS i, int(k / 2) + 1]) / 2
}
function text(i) { return (key OFS i, 1) in value ? sprintf("%.3f", median(i)) : "–" }
END {
    print "table", "epsilon", "runs", "seconds", "2-way error", "largest", "3-way error", "logistic, accuracy", "AUC", "trees, accuracy", "AUC", \
        "AUC of `fit`", "share, logistic", "share, trees"
    for (o = 1; o <= count; o++) {
        key = order[o]
        if (!runs[key]) { print key, 0, "refused"; continue }
        print key, runs[key], sprintf("%.0f", median(4)), text(5), text(6), text(7), text(8), text(9), text(10), \
            text(11), text(12), text("logistic"), text("trees")
    }
}
