# The table of README.md, of the lines of measured.tsv: awk -f table.awk measured.tsv. The picture's numbers: awk -v kind=picture -f table.awk measured.tsv
# The fields of a line are
#   rows, site, rows to train on, rows to test on
#   method, epsilon, what it is trained on, seed, accuracy at each site and over all test rows
BEGIN {
    FS = OFS = "\t"
    sites = split("private government self-employed all", site, " ")
    methods = split("alone gate shares shares-1", method, " ")
    title["alone"] = "alone"
    title["gate"] = "together, trusted gate"
    title["shares"] = "together, shares"
    title["shares-1"] = "together, shares, one colluding"
}
$1 == "rows" { next }
{
    if ($1 == "exact") {
        for (s = 1; s <= sites; s++) exact[$3, site[s]] = $(4 + s)
        next
    }
    if (!($2 in seen)) {
        seen[$2] = 1
        epsilon[++epsilons] = $2
    }
    for (s = 1; s <= sites; s++)
        if ($3 == "all" || $3 == site[s]) list[$1, $2, site[s]] = list[$1, $2, site[s]] " " $(4 + s)
}
function median(text,    a, n, i, j, x) {
    n = split(text, a, " ")
    if (n == 0) return ""
    for (i = 2; i <= n; i++) {
        x = a[i]
        for (j = i - 1; j >= 1 && a[j] + 0 > x + 0; j--) a[j + 1] = a[j]
        a[j + 1] = x
    }
    return sprintf("%.4f", (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2)
}
END {
    for (i = 1; i <= epsilons; i++)
        for (j = i + 1; j <= epsilons; j++)
            if (epsilon[j] + 0 < epsilon[i] + 0) { x = epsilon[i]; epsilon[i] = epsilon[j]; epsilon[j] = x }
    if (kind == "picture") {
        for (s = 1; s < sites; s++)
            for (i = 1; i <= epsilons; i++) {
                text = site[s] OFS epsilon[i]
                for (m = 1; m <= methods; m++) text = text OFS median(list[method[m], epsilon[i], site[s]])
                print text, exact[site[s], site[s]], exact["all", site[s]]
            }
        exit
    }
    text = "tested at" OFS "epsilon"
    for (m = 1; m <= methods; m++) text = text OFS title[method[m]]
    print text, "alone, without privacy", "together, without privacy"
    for (s = 1; s <= sites; s++)
        for (i = 1; i <= epsilons; i++) {
            text = site[s] OFS epsilon[i]
            for (m = 1; m <= methods; m++) text = text OFS median(list[method[m], epsilon[i], site[s]])
            print text, site[s] == "all" ? "" : sprintf("%.4f", exact[site[s], site[s]]), sprintf("%.4f", exact["all", site[s]])
        }
}
