# Compares released counts and means with the table: bounds of the schema, the table, the release; -v means=NAME,…
# Numbers are clamped to the bounds, as dp-import clamps them. A group that the schema does not name is in `other`.
BEGIN { n = split(means, name, ",") }
FNR == 1 { file++; if (file > 1) { FS = ","; $0 = $0; for (i = 1; i <= NF; i++) at[file, $i] = i } }
file == 1 { split($0, b, "\t"); low[b[1]] = b[2]; high[b[1]] = b[3]; next }
FNR == 1 { next }
file == 2 {
    rows[++total] = $at[2, "occupation"]
    for (k = 1; k <= n; k++) {
        v = $at[2, name[k]]
        v = v < low[name[k]] ? low[name[k]] : v > high[name[k]] ? high[name[k]] : v
        value[total, k] = v
    }
    next
}
{
    group = $at[3, "occupation"]; named[group] = 1; line[++released] = $0
}
END {
    for (i = 1; i <= total; i++) {
        g = rows[i] in named ? rows[i] : "other"
        count[g]++
        for (k = 1; k <= n; k++) sum[g, k] += value[i, k]
    }
    for (i = 1; i <= released; i++) {
        split(line[i], f, ",")
        g = f[at[3, "occupation"]]
        print "count", f[at[3, "count_low"]] <= count[g] && count[g] <= f[at[3, "count_high"]]
        for (k = 1; k <= n; k++) {
            m = "mean_" name[k]
            if (f[at[3, m]] == "too few") { print "few"; continue }
            if (count[g] == 0) { print "mean", 1, 0; continue }
            truth = sum[g, k] / count[g]; e = f[at[3, m]] - truth
            print "mean", 100 * (e < 0 ? -e : e) / (high[name[k]] - low[name[k]]), f[at[3, m "_low"]] <= truth && truth <= f[at[3, m "_high"]]
        }
    }
}
