# A table of README.md, with tabs, of the lines of measured.tsv:
#   awk -F '\t' -v kind=data -f table.awk measured.tsv            the data sets and their minima
#   awk -F '\t' -v kind=printed -v first=0 -f table.awk measured.tsv Table 3: error and CPU seconds of a round, with the noise as printed
#   awk -F '\t' -v kind=wide -v first=0 -f table.awk measured.tsv    the same in wider balls
#   awk -F '\t' -v kind=errors -v first=0 -f table.awk measured.tsv  mean errors of all methods
#   awk -F '\t' -v kind=seconds -v first=0 -f table.awk measured.tsv CPU seconds of a round
#   awk -F '\t' -v kind=adult -f table.awk measured.tsv           ADULT-81, medians beside the means
#   awk -F '\t' -v kind=bank -f table.awk measured.tsv            CPU seconds of all rounds of BANK at all epsilons
#   awk -F '\t' -v kind=bounds -v first=0.01 -f table.awk measured.tsv Table 1: errors in parts of its utility, gradients of rows; for mu =
#                                                                 0 Theorem 3
#   awk -F '\t' -v kind=horizon -f table.awk measured.tsv        Algorithm 2 with R up to n²
#   awk -F '\t' -v kind=worth -f table.awk measured.tsv           the epsilon that the printed noise is worth
# The fields of a line are
#   horizon, noise, runs, mean R, mean error, its deviation, epsilon, CPU seconds
#   minimum, part, set, mu, rows, columns, F, bound on the gradient's norm, norm of the model, F(0)
#   cell, part, set, mu, method, epsilon, rounds, iterations or laps, mean error, median, deviation, CPU seconds of a round, of what was done
#   once for all rounds, of what was done for each, and the epsilon of one round that the gate states
BEGIN {
    name["published"] = "output, as printed"
    name["gamma"] = "output, as printed, epsilon alone"
    name["tight"] = "output, tight"
    name["tight-replace"] = "output, tight, replace-one"
    name["stopped"] = "output, tight, stopped early"
    name["psgd"] = "output, permuted SGD"
    name["gd"] = "noisy GD"
    name["objective"] = "objective"
    name["sgd-2014"] = "noisy SGD, 2014"
    name["published-wide"] = name["published"]
    name["sgd-2014-wide"] = name["sgd-2014"]
    name["sgd-theorem-wide"] = "noisy SGD, 2014, noise for N² steps"
    name["sgd"] = "noisy SGD, tight"
    if (kind == "printed") split("published sgd-2014", methods, " ")
    else if (kind == "errors") split("published gamma tight stopped psgd gd objective sgd-2014 sgd", methods, " ")
    else if (kind == "seconds") split("published tight stopped psgd gd objective sgd-2014 sgd", methods, " ")
    else if (kind == "adult") split("published tight-replace tight stopped gd objective", methods, " ")
    else if (kind == "worth") split("published sgd-2014", methods, " ")
    else if (kind == "bounds") split("published gamma sgd-2014", methods, " ")
    else if (kind == "wide") split("published-wide sgd-2014-wide sgd-theorem-wide", methods, " ")
    for (i = 1; i in methods; i++) width = i
}
$1 == "horizon" && kind == "horizon" {
    if (!shown++) print "noise\truns\tmean R\terror\tdeviation\tepsilon stated\tseconds\t2 β error\tTheorem 5"
    print ($2 == "printed" ? "as printed" : "tight, for R laps") "\t" $3 "\t" $4 "\t" $5 "\t" $6 "\t" $7 "\t" $8 "\t" sprintf("%.3f", 0.5 * $5) "\t" \
        ($2 == "printed" ? sprintf("%.3f", theorem_5(500, 109, 0.25, 1, 0.001)) : "")
}
# theorem_5 N D BETA EPSILON DELTA: its bound on the mean of |grad F|², for L = 1, F(0) = ln 2 and F* = 0
function theorem_5(n, d, beta, epsilon, delta,    variance, far, step) {
    variance = 4 + 4 * d * log(3 * n / delta) * log(2 / delta) / epsilon ^ 2
    far = sqrt(2 * log(2) / beta)
    step = far / (sqrt(variance) * n)
    if (step > 1 / beta) step = 1 / beta
    return beta * (far ^ 2 + variance * n ^ 2 * step ^ 2) / (n ^ 2 * (2 * step - beta * step ^ 2))
}
$1 == "minimum" {
    rise[$3, $4] = $10 - $7
    people[$3] = $5
    columns[$3] = $6
    norm[$3, $4] = $9
    if (kind == "data" && $2 == "table") {
        if (!($3 in shape)) sets[++count] = $3
        shape[$3] = $5 " × " $6
        if (!(("mu", $4) in seen)) mus[++several] = $4
        seen["mu", $4] = 1
        least[$3, $4] = sprintf("%.7f", $7)
        far[$3, $4] = sprintf("%.2f", $9)
    }
}
$1 == "cell" && kind != "data" && (kind == "adult") == ($2 == "adult") && (first == "" || $4 == first) && (kind != "bank" || $3 == "BANK" && $5 ~ /^(published|tight|stopped|objective)$/) {
    row = $3 SUBSEP $4 SUBSEP $6
    if (!(row in rows)) {
        rows[row] = 1
        order[++count] = row
    }
    error[row, $5] = $9
    median[row, $5] = $10
    laps[row, $5] = $8
    seconds[row, $5] = $12
    cost[row, $5] = $15
    once[$4, $5] += $13
    all[$4, $5] += $14
    of[$4, $5] = $7
    if (!(($4, $5) in met)) {
        met[$4, $5] = 1
        pairs[++several] = $4 SUBSEP $5
    }
}
function line(first, texts, n,    text, i) {
    text = first
    for (i = 1; i <= n; i++) text = text "\t" texts[i]
    print text
}
# short NUMBER: two or three digits, without an exponent where there is none needed
function short(x) { return x == "" ? "" : x >= 100 ? sprintf("%.0f", x) : x >= 0.001 || x == 0 ? sprintf("%.3g", x) : sprintf("%.2g", x) + 0 < 1e-4 ? sprintf("%.1e", x) : sprintf("%.2g", x) }
END {
    if (kind == "horizon") exit
    if (kind == "data") {
        n = 0
        texts[++n] = "rows × columns"
        for (m = 1; m <= several; m++) texts[++n] = "F(ŵ), mu = " mus[m]
        for (m = 1; m <= several; m++) texts[++n] = "F(0) − F(ŵ)"
        for (m = 1; m <= several; m++) texts[++n] = "norm of ŵ"
        line("data", texts, n)
        for (s = 1; s <= count; s++) {
            n = 0
            texts[++n] = shape[sets[s]]
            for (m = 1; m <= several; m++) texts[++n] = least[sets[s], mus[m]]
            for (m = 1; m <= several; m++) texts[++n] = short(rise[sets[s], mus[m]])
            for (m = 1; m <= several; m++) texts[++n] = far[sets[s], mus[m]]
            line(sets[s], texts, n)
        }
        exit
    }
    if (kind == "bounds") {
        split("epsilon|output, over d log(1/δ)/(n² ε²)|epsilon alone, over d²/(n² ε²)|SGD, over d log³(n/δ)/(n² ε²)|gradients, output: n T|epsilon alone: n T|SGD here: 50 n|SGD of Table 1: n²", texts, "|")
        if (first == 0) {
            split("epsilon|output, over (√(d log(1/δ))/(n ε))^(2/3)|with L, β and ‖ŵ‖|epsilon alone, over (d/(n ε))^(2/3)|SGD, over √d log^(3/2)(n/δ)/(n ε)|gradients, output: n T|epsilon alone: n T", texts, "|")
            line("data", texts, 7)
            for (r = 1; r <= count; r++) {
                row = order[r]
                split(row, part, SUBSEP)
                people_of = people[part[1]]
                unit = sqrt(columns[part[1]]) / (people_of * part[3])
                beta = part[1] ~ /WINE|BIKE/ ? 1 : 0.25
                texts[1] = part[3]
                texts[2] = short(error[row, "published"] / (unit * sqrt(log(1000))) ^ (2 / 3))
                texts[3] = short(error[row, "published"] / (unit * sqrt(log(1000) * beta) * norm[part[1], part[2]] ^ 2) ^ (2 / 3))
                texts[4] = short(error[row, "gamma"] / (unit * sqrt(columns[part[1]])) ^ (2 / 3))
                texts[5] = short(error[row, "sgd-2014"] / (unit * log(1000 * people_of) ^ 1.5))
                texts[6] = sprintf("%.1e", people_of * laps[row, "published"])
                texts[7] = sprintf("%.1e", people_of * laps[row, "gamma"])
                line(part[1], texts, 7)
            }
            exit
        }
        line("data", texts, 8)
        for (r = 1; r <= count; r++) {
            row = order[r]
            split(row, part, SUBSEP)
            people_of = people[part[1]]
            unit = columns[part[1]] / (people_of * part[3]) ^ 2
            texts[1] = part[3]
            texts[2] = short(error[row, "published"] / (unit * log(1000)))
            texts[3] = short(error[row, "gamma"] / (unit * columns[part[1]]))
            texts[4] = short(error[row, "sgd-2014"] / (unit * log(1000 * people_of) ^ 3))
            texts[5] = sprintf("%.1e", people_of * laps[row, "published"])
            texts[6] = sprintf("%.1e", people_of * laps[row, "gamma"])
            texts[7] = sprintf("%.1e", 50 * people_of)
            texts[8] = sprintf("%.1e", people_of ^ 2)
            line(part[1], texts, 8)
        }
        exit
    }
    if (kind == "bank") {
        n = 0
        texts[++n] = "method"
        texts[++n] = "rounds for each epsilon"
        texts[++n] = "seconds of all rounds"
        line("mu", texts, n)
        for (p = 1; p <= several; p++) {
            split(pairs[p], part, SUBSEP)
            texts[1] = name[part[2]]
            texts[2] = of[pairs[p]]
            texts[3] = sprintf("%.1f", once[pairs[p]] + all[pairs[p]])
            line(part[1], texts, 3)
        }
        exit
    }
    n = 0
    if (kind != "adult") texts[++n] = "epsilon"
    else texts[++n] = "epsilon"
    if (kind == "errors") texts[++n] = "w = 0"
    for (i = 1; i <= width; i++) texts[++n] = (kind == "printed" || kind == "wide" ? "error, " : "") name[methods[i]]
    if (kind == "printed" || kind == "wide")
        for (i = 1; i <= width; i++) texts[++n] = "seconds, " name[methods[i]]
    if (kind == "seconds" || kind == "printed" || kind == "wide") texts[++n] = "T of output"
    if (kind == "adult") texts[++n] = "as printed / tight"
    line(kind == "adult" ? "mu" : kind == "worth" ? "data, mu" : "data", texts, n)
    for (r = 1; r <= count; r++) {
        row = order[r]
        split(row, part, SUBSEP)
        n = 0
        texts[++n] = part[3]
        if (kind == "errors") texts[++n] = short(rise[part[1], part[2]])
        for (i = 1; i <= width; i++) {
            m = methods[i]
            text = short(kind == "seconds" ? seconds[row, m] : kind == "worth" ? cost[row, m] : error[row, m])
            if (kind == "adult" && text != "") text = text " (" short(median[row, m]) ")"
            texts[++n] = text
        }
        if (kind == "printed" || kind == "wide")
            for (i = 1; i <= width; i++) texts[++n] = short(seconds[row, methods[i]])
        if (kind == "seconds" || kind == "printed" || kind == "wide") texts[++n] = laps[row, kind == "wide" ? "published-wide" : "published"]
        if (kind == "adult") texts[++n] = error[row, "tight"] > 0 && error[row, "published"] != "" ? sprintf("%.0f", error[row, "published"] / error[row, "tight"]) : ""
        line(kind == "adult" ? part[2] : kind == "worth" ? part[1] ", " part[2] : part[1], texts, n)
    }
}
