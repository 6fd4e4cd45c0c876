# The tables of README.md, with tabs. kind is the name of a table; see there.
BEGIN {
    FS = "\t"
    name["adult"] = "Adult"; name["phishing"] = "Phishing"; name["white-6"] = "white wine, quality 6 or more"; name["white"] = "white wine"
    name["red"] = "red wine"; name["bank"] = "bank marketing"; name["credit"] = "credit default"; name["protein"] = "protein"
    name["bike"] = "bike sharing"; name["blogfeedback"] = "BlogFeedback"; name["fashion"] = "Fashion-MNIST"; name["mnist"] = "MNIST"
    name["cifar"] = "CIFAR-10, grey, 16 × 16"; name["insurance"] = "insurance"; name["abalone"] = "abalone"; name["elec"] = "electricity"; name["phoneme"] = "phoneme"; name["diamonds"] = "diamonds"; name["telco"] = "telephone customers"; name["spambase"] = "spambase"; name["tweets-1024"] = "tweets, 1024 columns"; name["tweets-16384"] = "tweets, 16384 columns"
    title["fit"] = "`fit`"; title["fit-first"] = "`fit`, first rule"; title["sgd"] = "DP-SGD, best of 24"; title["full"] = "full batches, best of 32"
    title["tuned"] = "full batches, choice charged"; title["adam"] = "DP-Adam, best of 6"; title["scd"] = "DP-SCD"; title["adassp"] = "AdaSSP"
    title["optimum"] = "without privacy"
    split("line cosines products", way, " ")
    columns = split("fit fit-first sgd full tuned adam scd adassp optimum", column, " ")
    number = split("adult phishing white-6 bank credit protein bike white blogfeedback red fashion mnist cifar", order, " ")
}
function median(list,    a, n) {
    n = sorted(list, a)
    return (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2
}
# take MEASURE VALUES: keeps the best median of a cell, of those settings that were measured most often
function take(m, list, setting,    cell, x, n, a) {
    if (list ~ /-( |$)/) return
    cell = $2 SUBSEP $3 SUBSEP $4 SUBSEP m
    n = split(list, a, " ")
    x = median(list)
    if (!(cell in runs) || n > runs[cell] || (n == runs[cell] && (m == "logloss" ? x < best[cell] : x > best[cell]))) {
        runs[cell] = n
        best[cell] = x
        values[cell] = list
        which[cell] = setting
        took[cell] = median($7)
    }
}
FILENAME ~ /(rivals|linear|paid).tsv$/ {
    fields = split($0, texts, FS)
    if (texts[1] in name) texts[1] = name[texts[1]]
    line(fields, texts)
    next
}
FILENAME ~ /(curves|conditions).tsv$/ {
    if (!(($1, $2) in seen)) {
        seen[$1, $2] = 1
        round[++rounds] = $1 SUBSEP $2
    }
    chosen[$1, $2, $3] = $4
    list[$1, $2, $3] = $7
    accuracies[$1, $2, $3] = $6; losses[$1, $2, $3] = $8; largest[$1, $2, $3] = $9
    for (k = 6; k <= 8; k++) of[$1, $2, $3, k] = $k ~ /^-/ && $k !~ /[0-9]/ ? "-" : median($k)
    next
}
$1 == "set" { part[$2] = $3; role[$2] = $4; delta[$2] = $5; rows[$2] = $6; cols[$2] = $7; classes[$2] = $8; next }
$1 == "models" {
    if (!(($2, $3) in seen) && $3 != "inf") {
        seen[$2, $3] = 1
        epsilons[$2] = epsilons[$2] " " $3
    }
    has[part[$2], $4] = 1
    take("score", $8, $5)
    take("auc", $9, $5)
    take("logloss", $10, $5)
}
function line(n, texts,    i, text) {
    text = texts[1]
    for (i = 2; i <= n; i++) text = text FS texts[i]
    print text
}
function value(s, e, m, measure,    cell) {
    if (m == "optimum") e = "inf"
    cell = s SUBSEP e SUBSEP m SUBSEP measure
    return cell in best ? sprintf("%.4f", best[cell]) : ""
}
function sorted(list, a,    n, i, j, t) {
    n = split(list, a, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) {
            t = a[j]
            a[j] = a[j - 1]
            a[j - 1] = t
        }
    return n
}
# --- the table of a part: its measure by data set and epsilon, a column for each method
function part_table(p, measure,    n, texts, i, j, k, s, e, c, used, m) {
    texts[1] = "data"; texts[2] = "rules were"; texts[3] = "epsilon"; n = 3
    for (i = 1; i <= columns; i++)
        if ((p, column[i]) in has) {
            used[++n] = column[i]
            texts[n] = title[column[i]]
        }
    line(n, texts)
    for (i = 1; i <= number; i++) {
        s = order[i]
        if (part[s] != p || (measure != "score" && s !~ /^(bank|credit)$/)) continue
        m = sorted(epsilons[s], c)
        for (j = 1; j <= m; j++) {
            texts[1] = name[s]; texts[2] = role[s] " on it"; texts[3] = c[j]
            for (k = 4; k <= n; k++) texts[k] = value(s, c[j], used[k], measure)
            line(n, texts)
        }
    }
}
# --- fit against the tuned baselines
function against(    i, j, s, m, c, r, n, texts, x, d, over, under, cells, worst, sum, b) {
    n = split("rules were|cells|above DP-SGD, best of 24|largest loss to it|mean gain on it|above full batches, best of 32|largest loss to them|mean gain on them", texts, "|")
    line(n, texts)
    for (r = 1; r <= 2; r++) {
        for (b in cells) delete cells[b]
        for (b in over) delete over[b]
        for (b in sum) delete sum[b]
        for (b in worst) delete worst[b]
        for (i = 1; i <= number; i++) {
            s = order[i]
            if (role[s] != (r == 1 ? "found" : "tested")) continue
            m = sorted(epsilons[s], c)
            for (j = 1; j <= m; j++) {
                x = value(s, c[j], r == 2 && value(s, c[j], "fit-first", "score") != "" ? "fit-first" : "fit", "score")
                for (b = 1; b <= 2; b++) {
                    d = value(s, c[j], b == 1 ? "sgd" : "full", "score")
                    if (x == "" || d == "") continue
                    d = x - d
                    cells[b]++
                    over[b] += d > 0
                    sum[b] += d
                    if (-d > worst[b]) worst[b] = -d
                }
            }
        }
        if (!cells[1]) continue
        texts[1] = (r == 1 ? "found" : "tested") " on it"
        texts[2] = cells[1]
        for (b = 1; b <= 2; b++) {
            texts[3 * b] = cells[b] ? over[b] + 0 : ""
            texts[3 * b + 1] = cells[b] ? sprintf("%.4f", worst[b]) : ""
            texts[3 * b + 2] = cells[b] ? sprintf("%+.4f", sum[b] / cells[b]) : ""
        }
        line(n, texts)
    }
}
# --- the data, and how long fit takes
function data_table(    i, s, n, texts, m, c, j) {
    n = split("data|rules were|training rows × columns|label|delta|rounds|CPU seconds of `fit`", texts, "|")
    line(n, texts)
    for (i = 1; i <= number; i++) {
        s = order[i]
        if (!(s in part)) continue
        texts[1] = name[s]
        texts[2] = role[s] " on it"
        texts[3] = rows[s] " × " cols[s]
        texts[4] = classes[s] ? classes[s] " classes" : "numbers"
        texts[5] = delta[s]
        m = ""
        for (j = 1; j <= columns; j++)
            if (((s, 1, column[j], "score") in runs)) m = m (m == "" ? "" : " ") runs[s, 1, column[j], "score"]
        texts[6] = (part[s] == "pictures" ? "draws of the noise: " : "splits: ") least(m)
        texts[7] = (s, 1, "fit", "score") in took ? sprintf("%.2f", took[s, 1, "fit", "score"]) : ""
        line(n, texts)
    }
}
function least(list,    a, n) {
    n = sorted(list, a)
    return a[1] == a[n] ? a[1] : a[1] " to " a[n]
}
# --- for the picture: METHOD, row of the picture, score less that of fit, name of the row; those that the rules were found on first
function gaps(    r, i, j, k, s, m, c, x, d, at) {
    for (r = 1; r <= 2; r++)
        for (i = 1; i <= number; i++) {
            s = order[i]
            if (role[s] != (r == 1 ? "found" : "tested")) continue
            m = sorted(epsilons[s], c)
            for (j = 1; j <= m; j++) {
                x = value(s, c[j], "fit", "score")
                if (x == "") continue
                at++
                for (k = 1; k <= columns; k++) {
                    d = value(s, c[j], column[k], "score")
                    if (d != "") printf "%s\t%d\t%.4f\t%s, %s\t%s\n", column[k], at, d - x, name[s], c[j], role[s]
                }
            }
        }
}
# --- curves.tsv: lines, curves and products next to each other; in brackets what fit would not take
function curves_table(    i, k, w, n, c, texts, text) {
    n = split("data|epsilon|measure|lines|cosines|with products", texts, "|")
    line(n, texts)
    for (i = 1; i <= rounds; i++) {
        split(round[i], c, SUBSEP)
        for (k = 6; k <= 8; k++) {
            if (of[round[i], "line", k] == "-") continue
            texts[1] = name[c[1]]
            texts[2] = c[2]
            texts[3] = k == 7 ? "AUC" : k == 8 ? "log loss" : of[round[i], "line", 7] == "-" ? "R²" : "accuracy"
            for (w = 1; w <= 3; w++) {
                text = (round[i], way[w], k) in of ? sprintf("%.4f", of[round[i], way[w], k]) : c[1] ~ /^tweets/ ? "" : "refused"
                texts[3 + w] = chosen[round[i], way[w]] == "no" ? "(" text ")" : text
            }
            line(n, texts)
        }
    }
}
# mean_gap A B: the mean of the differences of two lists over splits, and in `error` twice its standard error
function mean_gap(first, second,    a, b, n, i, sum, squares) {
    n = split(first, a, " ")
    split(second, b, " ")
    for (i = 1; i <= n; i++) {
        sum += a[i] - b[i]
        squares += (a[i] - b[i]) ^ 2
    }
    error = n > 1 ? 2 * sqrt((squares - sum * sum / n) / (n - 1) / n) : 0
    return sum / n
}
# entropies SHARES: for each split, the log loss of a model that gives the shares of two classes as probabilities
function entropies(shares,    n, i, p, text) {
    n = split(shares, p, " ")
    for (i = 1; i <= n; i++) text = text " " (-p[i] * log(p[i]) - (1 - p[i]) * log(1 - p[i]))
    return text
}
# --- conditions.tsv: lines and cosines for two classes, what the rules choose, and where the other one is better by more than noise
function conditions_table(    r, i, n, c, cell, texts, gap, choice, way, other) {
    n = split("data|conditions were|epsilon|lines: AUC|cosines: AUC|lines: log loss|cosines: log loss|chosen|AUC less that of the other|beyond the noise|accuracy less the largest class|log loss less that of the shares", texts, "|")
    line(n, texts)
    for (r = 1; r <= 2; r++)
        for (i = 1; i <= rounds; i++) {
            cell = round[i]
            split(cell, c, SUBSEP)
            if ((c[1] ~ /^(adult|white-6|phoneme|spambase|protein-above|bike-above|abalone-above|insurance-above|claims)$/) != (r == 1)) continue
            if (!((cell, "line", 7) in of)) continue
            other = (cell, "cosines", 7) in of
            choice = other && chosen[cell, "cosines"] == "yes"
            way = cell SUBSEP (choice ? "cosines" : "line")
            gap = other ? mean_gap(list[cell, "cosines"], list[cell, "line"]) * (choice ? 1 : -1) : 0
            texts[1] = c[1] in name ? name[c[1]] : c[1]
            texts[2] = r == 1 ? "found on it" : "tested on it"
            texts[3] = c[2]
            texts[4] = sprintf("%.4f", of[cell, "line", 7]); texts[5] = other ? sprintf("%.4f", of[cell, "cosines", 7]) : "refused"
            texts[6] = sprintf("%.4f", of[cell, "line", 8]); texts[7] = other ? sprintf("%.4f", of[cell, "cosines", 8]) : ""
            texts[8] = choice ? "cosines" : "lines"
            texts[9] = other ? sprintf("%+.4f", gap) : ""
            texts[10] = !other ? "" : gap < -error ? "worse" : gap > error ? "better" : ""
            texts[11] = sprintf("%+.4f", mean_gap(accuracies[way], largest[way]))
            texts[12] = sprintf("%+.4f", mean_gap(losses[way], entropies(largest[way])))
            line(n, texts)
        }
}
END {
    if (kind == "conditions") conditions_table()
    else if (kind == "curves") curves_table()
    else if (kind == "against") against()
    else if (kind == "gaps") gaps()
    else if (kind == "data") data_table()
    else if (kind == "auc" || kind == "logloss") part_table("classes", kind)
    else if (kind !~ /^(rivals|linear|paid)$/) part_table(kind, "score")
}
