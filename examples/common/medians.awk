# Of a table of dpline compare: method, data, epsilon, the median of its runs, the least and the greatest, and the median of the seconds.
#   awk -f medians.awk table.tsv
BEGIN { FS = OFS = "\t" }
NR == 1 || $7 == "-" { next }
{
    key = $1 OFS $2 OFS $3
    if (!(key in runs)) order[++count] = key
    put(key, ++runs[key], $7 + 0)
    put("seconds" OFS key, runs[key], $NF + 0)
}
# put LIST N X: x into a list of n - 1 sorted numbers
function put(list, n, x) {
    for (; n > 1 && value[list, n - 1] > x; n--) value[list, n] = value[list, n - 1]
    value[list, n] = x
}
function median(list, n) { return (value[list, int((n + 1) / 2)] + value[list, int(n / 2) + 1]) / 2 }
END {
    for (i = 1; i <= count; i++) {
        key = order[i]
        n = runs[key]
        name = key
        sub(/\.dp\t/, OFS, name)
        printf "%s\t%.4f\t%.4f\t%.4f\t%.1f\n", name, median(key, n), value[key, 1], value[key, n], median("seconds" OFS key, n)
    }
}
