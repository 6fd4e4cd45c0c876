# Medians and quartiles of a figure's raw lines: awk -v figure=NAME -f summary.awk NAME.raw
# The fields of a line are: figure, what, unit, median, lower quartile, upper quartile, turns, bound; or figure, what, "skipped", why; or figure, "note", text.
BEGIN { FS = OFS = "\t" }
function seen(key) {
    if (!(key in at)) {
        at[key] = ++keys
        order[keys] = key
    }
}
$3 == "wanted" { bound[$1 FS $2] = $4; next }
$3 == "note" { if (!($1 in noted)) print figure, "note", $1; noted[$1] = 1; next }
$3 == "skipped" { seen($1 FS "skipped"); why[$1 FS "skipped"] = $4; next }
$3 == "ratio" { seen($1 FS $2); over[$1 FS $2] = $5 FS $4; under[$1 FS $2] = $6 FS $4; next }
{
    key = $1 FS $2
    seen(key)
    list[key, ++n[key]] = $3
}
# a[1…n] ascending
function ascend(a, n,    i, j, x) {
    for (i = 2; i <= n; i++) {
        x = a[i]
        for (j = i - 1; j >= 1 && a[j] > x; j--) a[j + 1] = a[j]
        a[j + 1] = x
    }
}
function quantile(a, n, p,    at, low) {
    at = 1 + p * (n - 1)
    low = int(at)
    return low == n ? a[n] : a[low] + (at - low) * (a[low + 1] - a[low])
}
END {
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (key in why) {
            print figure, key, why[key]
            continue
        }
        turns = n[key]
        if (key in over) {
            turns = n[over[key]] < n[under[key]] ? n[over[key]] : n[under[key]]
            for (t = 1; t <= turns; t++) list[key, t] = list[over[key], t] / list[under[key], t]
        }
        if (turns == 0) continue
        for (t = 1; t <= turns; t++) a[t] = list[key, t] + 0
        ascend(a, turns)
        printf "%s\t%s\t%.4g\t%.4g\t%.4g\t%d\t%s\n", figure, key, quantile(a, turns, .5), quantile(a, turns, .25), quantile(a, turns, .75), turns, bound[key]
    }
}
