# UCI Adult, adult.data and adult.test one after the other, as a .dat: 123 columns of 0 and 1, the label last.
#   cat adult.data adult.test | awk -f adult.awk > ADULT.dat
# The columns are those of LIBSVM's a9a: a column for each category, none for a missing value; of the numeric attributes a column
# for each of 5, 5, 5, 2, 2, 5 bins with about equally many rows. Where a9a cut them is not said; here a bin takes values until it has
# its share of the rows that are left. Categories are those of the documentation of the data.
BEGIN {
    FS = ", *"
    list(2, "Private,Self-emp-not-inc,Self-emp-inc,Federal-gov,Local-gov,State-gov,Without-pay,Never-worked")
    list(4, "Bachelors,Some-college,11th,HS-grad,Prof-school,Assoc-acdm,Assoc-voc,9th,7th-8th,12th,Masters,1st-4th,10th,Doctorate,5th-6th,Preschool")
    list(6, "Married-civ-spouse,Divorced,Never-married,Separated,Widowed,Married-spouse-absent,Married-AF-spouse")
    list(7, "Tech-support,Craft-repair,Other-service,Sales,Exec-managerial,Prof-specialty,Handlers-cleaners,Machine-op-inspct,Adm-clerical,Farming-fishing,Transport-moving,Priv-house-serv,Protective-serv,Armed-Forces")
    list(8, "Wife,Own-child,Husband,Not-in-family,Other-relative,Unmarried")
    list(9, "White,Asian-Pac-Islander,Amer-Indian-Eskimo,Other,Black")
    list(10, "Female,Male")
    list(14, "United-States,Cambodia,England,Puerto-Rico,Canada,Germany,Outlying-US(Guam-USVI-etc),India,Japan,Greece,South,China,Cuba,Iran,Honduras,Philippines,Italy,Poland,Jamaica,Vietnam,Mexico,Portugal,Ireland,France,Dominican-Republic,Laos,Ecuador,Taiwan,Haiti,Columbia,Hungary,Guatemala,Nicaragua,Scotland,Thailand,Yugoslavia,El-Salvador,Trinadad&Tobago,Peru,Hong,Holand-Netherlands")
    bins[1] = bins[3] = bins[5] = bins[13] = 5
    bins[11] = bins[12] = 2
}
NF == 15 {
    rows++
    sub(/\r$/, "")
    for (i = 1; i <= 14; i++) {
        value[rows, i] = $i
        if (i in bins) seen[i, $i + 0]++
    }
    label[rows] = $15 ~ /^>50K/
}
END {
    for (i in bins) cut(i)
    for (r = 1; r <= rows; r++) {
        line = ""
        for (i = 1; i <= 14; i++) line = line (i in bins ? units(bin[i, value[r, i] + 0], bins[i]) : units(place[i, value[r, i]], categories[i]))
        print line label[r]
    }
}
function list(i, names,    parts, k) {
    categories[i] = split(names, parts, ",")
    for (k in parts) place[i, parts[k]] = k
}
# units(k, n): n columns, of which number k is 1; none for a value that is not listed
function units(k, n,    line, j) {
    for (j = 1; j <= n; j++) line = line (j == k) " "
    return line
}
# cut(i): the bin of each value that column i has, in ascending order
function cut(i,    least, most, parts, key, v, n, b, left, have) {
    n = 0
    for (key in seen) {
        split(key, parts, SUBSEP)
        if (parts[1] == i) sorted[++n] = parts[2] + 0
    }
    sort(n)
    left = rows
    b = 1
    have = 0
    for (v = 1; v <= n; v++) {
        bin[i, sorted[v]] = b
        have += seen[i, sorted[v]]
        if (b < bins[i] && have >= left / (bins[i] - b + 1)) {
            left -= have
            have = 0
            b++
        }
    }
}
# sort(n): sorted[1 … n], ascending, by heaps
function sort(n,    k, t) {
    for (k = int(n / 2); k >= 1; k--) sift(k, n)
    for (k = n; k > 1; k--) {
        t = sorted[1]
        sorted[1] = sorted[k]
        sorted[k] = t
        sift(1, k - 1)
    }
}
function sift(k, n,    c, t) {
    while (2 * k <= n) {
        c = 2 * k
        if (c < n && sorted[c + 1] > sorted[c]) c++
        if (sorted[k] >= sorted[c]) return
        t = sorted[k]
        sorted[k] = sorted[c]
        sorted[c] = t
        k = c
    }
}
