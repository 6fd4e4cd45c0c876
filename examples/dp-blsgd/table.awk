# A table of README.md, with tabs, of the lines of measured.tsv, with a column for each epsilon:
#   awk -F '\t' -v kind=logistic -v first=ADULT -v second=accuracy -f table.awk measured.tsv    figures 3 and 4: a row for each method
#   awk -F '\t' -v kind=sound -f table.awk measured.tsv                                     what the published accounting leaves out
#   awk -F '\t' -v kind=settings -f table.awk measured.tsv                                  figure 1
#   awk -F '\t' -v kind=counts -f table.awk measured.tsv                                    figure 2, without epsilons
#   awk -F '\t' -v kind=tuned -f table.awk measured.tsv                                     the settings of DP-SGD
# second is accuracy, objective, or difference: to DP-SGD on the same folds. The fields are: part, set, method, epsilon, setting, folds, accuracy, its deviation, objective, its deviation, gradients, values of the
# objective, epsilon spent, sound epsilon, difference in accuracy to DP-SGD, or of a setting to none, and its standard error.
BEGIN {
    name["majority"] = "Majority"
    name["non-private"] = "Non-private"
    name["sgd"] = "DP-SGD, tuned"
    name["sgd-c3"] = "DP-SGD, tuned, but C_grad = 3"
    name["blsgd"] = "DP-BLSGD"
    name["blgd"] = "DP-BLGD"
    name["ac"] = "DP-BLSGD-AC"
    name["agd"] = "DP-AGD"
    name["outpert-gd"] = "OutPert-GD"
    name["outpert-rsgd"] = "OutPert-RSGD"
    name["objpert"] = "ObjPert"
    name["privgene"] = "PrivGene"
    name["blsgd-hinge"] = "DP-BLSGD, hinge"
    name["paper"] = "DP-BLSGD, section 5.4"
    name["paper-hinge"] = "DP-BLSGD, section 5.4, hinge"
    name["blgd-hinge"] = "DP-BLGD, hinge"
    for (m in name) name[m "-published"] = name[m] ", as published"
}
kind == $1 && $2 == first && second != "" {
    if ($6 > most) most = $6
    count_folds(name[$3])
    if (second == "accuracy") put(name[$3], $4, with("%.4f", $7, $8))
    else if (second == "objective" && $9 != "nan") put(name[$3], $4, with("%.4f", $9, $10))
    else if (second == "difference" && $15 != "" && $3 != "sgd") put(name[$3], $4, with("%+.4f", $15, $16))
}
kind == "tuned" && $3 == "sgd" && $1 ~ /logistic|svm/ { put($1 ", " $2, $4, $5) }
kind == "sound" && $3 ~ /-published$/ { put($1 ", " $2 ", " substr(name[$3], 1, length(name[$3]) - length(", as published")), $4, sprintf("%.3g", $14)) }
kind == "settings" && $1 == kind {
    if ($6 > most) most = $6
    count_folds(name[$3] ($5 == "" ? "" : " " $5))
    put(name[$3] ($5 == "" ? "" : " " $5), $4, sprintf("%.4f", $7) ($15 == "" ? "" : " (" with("%+.4f", $15, $16) ")"))
}
kind == "counts" && $1 == kind {
    row = $2 ", " name[$3] ($3 !~ /^paper/ ? "" : ", q = " ($5 == "" ? "0.1" : substr($5, index($5, " ") + 1)))
    put(row, "gradients", sprintf("%.1f", $11))
    put(row, "values of the objective", sprintf("%.1f", $12))
    put(row, "accuracy", sprintf("%.4f", $7))
}
# a row says of how many folds it is, and a cell if it has more
function count_folds(row) {
    of[row, $4] = $6
    if (!(row in folds) || $6 < folds[row]) folds[row] = $6
}
# with FORMAT VALUE ERROR: one fold has no error
function with(format, value, error) { return sprintf(format, value) ($6 > 1 ? sprintf(" ± %.4f", error) : "") }
function put(row, column, text) {
    if (!(row in rows)) {
        rows[row] = 1
        order[++count] = row
    }
    if (column != "0" && !(column in columns)) {
        columns[column] = 1
        across[++width] = column
    }
    cell[row, column] = text
}
function more(row, column) { return of[row, column] > folds[row] ? ", " of[row, column] " folds" : "" }
END {
    if (!count) exit # a table of another file
    head = kind == "counts" ? " " : "epsilon"
    for (c = 1; c <= width; c++) head = head "\t" across[c]
    print head
    for (r = 1; r <= count; r++) {
        line = order[r] (order[r] in folds && folds[order[r]] < most ? ", " folds[order[r]] " fold" (folds[order[r]] > 1 ? "s" : "") : "")
        for (c = 1; c <= width; c++) line = line "\t" ((order[r], across[c]) in cell ? cell[order[r], across[c]] more(order[r], across[c]) : cell[order[r], "0"])
        print line
    }
}
