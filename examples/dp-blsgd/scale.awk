# A .dat as a table for dp-import: each column scaled to [0, 1] by its least and greatest value, a column of ones after them, and all
# divided by D, the largest norm that a row then has. The last column is the label, 0 or 1.
#   awk -v schema=FILE.json -v divisor=FILE -f scale.awk SET.dat SET.dat SET.dat > SET.csv
# reads the table three times: for the bounds, for D, and to print. All of these are measured on the rows, as in the paper, and the
# schema says so. A column of one value only is left out: the ones stand for it.
FNR == 1 { pass++ }
FNR > 1 && NF != columns + 1 {
    print FILENAME ": line " FNR " has " NF " fields, the first has " columns + 1 > "/dev/stderr"
    exit failed = 1
}
{ columns = NF - 1 }
pass == 1 {
    for (i = 1; i <= columns; i++) {
        if (FNR == 1 || $i + 0 < least[i]) least[i] = $i + 0
        if (FNR == 1 || $i + 0 > most[i]) most[i] = $i + 0
    }
}
pass == 2 {
    sum = 1
    for (i = 1; i <= columns; i++) if (most[i] > least[i]) sum += (($i - least[i]) / (most[i] - least[i])) ^ 2
    if (sum > largest) largest = sum
}
pass == 3 {
    if (FNR == 1) one = sprintf("%.9g", 1 / sqrt(largest))
    line = ""
    for (i = 1; i <= columns; i++)
        if (most[i] > least[i]) {
            part = ($i - least[i]) / (most[i] - least[i])
            line = line (part == 0 ? 0 : part == 1 ? one : sprintf("%.9g", part * one)) ","
        }
    print line one "," ($NF > 0 ? 1 : 0)
}
END {
    if (failed || pass != 3) exit 1
    print "{\"private_preprocessing\": [\"inferred-schema\"], \"columns\": [" > schema
    for (i = 1; i <= columns; i++)
        if (most[i] > least[i]) printf " {\"name\": \"x%d\", \"type\": \"numeric\", \"scale\": \"none\", \"bounds\": [0, 1]},\n", i > schema
    print " {\"name\": \"ones\", \"type\": \"numeric\", \"scale\": \"none\", \"bounds\": [0, 1]}," > schema
    print " {\"name\": \"label\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}\n]}" > schema
    printf "%.9g\n", sqrt(largest) > divisor
}
