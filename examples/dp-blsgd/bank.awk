# UCI Bank Marketing, bank-full.csv, as a .dat: 32 columns, the label last, as in the .dat of DP-AGD's authors.
#   awk -f bank.awk bank-full.csv > BANK.dat
# A category that stands for "unknown" (of marital, divorced) has no column; day and month are one number, pdays one and whether there
# was an earlier campaign.
BEGIN {
    FS = ";"
    list(2, "management,technician,entrepreneur,blue-collar,retired,admin.,services,self-employed,unemployed,housemaid,student")
    list(3, "single,married")
    list(4, "primary,secondary,tertiary")
    list(9, "cellular,telephone")
    list(16, "failure,other,success")
    months = "jan feb mar apr may jun jul aug sep oct nov dec"
}
NR > 1 {
    gsub(/["\r]/, "")
    month = (index(months, $11) + 3) / 4
    earlier = $14 != -1
    print $1 " " units(2) units(3) units(4) yes($5) " " $6 " " yes($7) " " yes($8) " " units(9) 30 * month + $10 " " $12 " " $13 " " \
        earlier " " (earlier ? $14 : 0) " " $15 " " units(16) yes($17)
}
function list(i, names,    parts, k) {
    categories[i] = split(names, parts, ",")
    for (k in parts) place[i, parts[k]] = k
}
function units(i,    line, k) {
    for (k = 1; k <= categories[i]; k++) line = line (k == place[i, $i]) " "
    return line
}
function yes(word) { return word == "yes" ? 1 : 0 }
