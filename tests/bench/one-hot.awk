# UCI Adult as LIBSVM lines of ones, here .25 so that no row is longer than 1: a column for each word, for each of five ranges of a number
# where it has so many, and a constant. Columns are numbered as they come.
BEGIN {
    FS = ", *"
    cuts[1] = "25 32 40 50"
    cuts[3] = "110000 160000 195000 260000"
    cuts[5] = "8 9 10 12"
    cuts[11] = "1 5000"
    cuts[12] = "1 2000"
    cuts[13] = "34 39 40 49"
    number["constant"] = columns = 1
}
NF < 15 { next }
{
    n = 0
    at[++n] = 1
    for (i = 1; i <= 14; i++) {
        if ($i == "?") continue
        word = $i
        if (i in cuts) {
            k = split(cuts[i], cut, " ")
            for (word = 0; word < k && $i + 0 > cut[word + 1] + 0; word++) continue
        }
        if (!((i, word) in number)) number[i, word] = ++columns
        at[++n] = number[i, word]
    }
    for (i = 2; i <= n; i++) {
        x = at[i]
        for (j = i - 1; j >= 1 && at[j] > x; j--) at[j + 1] = at[j]
        at[j + 1] = x
    }
    line = $15 ~ />/ ? "+1" : "-1"
    for (i = 1; i <= n; i++) line = line " " at[i] ":0.25"
    print line
}
