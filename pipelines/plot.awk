# The table of compare.sh as SVG: the median of the runs of each method at each epsilon, and their range. A method without a budget is
# a line over all epsilons. -v chance=ACCURACY: draws the accuracy of always guessing the most frequent class.
function escaped(t) { gsub(/&/, "\\&amp;", t); gsub(/</, "\\&lt;", t); gsub(/>/, "\\&gt;", t); return t }
function place(e) { return most > least ? 60 + 330 * (log(e) - log(least)) / (log(most) - log(least)) : 225 }
function height(v) { return 320 - 280 * (v - low) / (high - low) }
function text(x, y, anchor, t) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, escaped(t) }
function line(x, y, u, v, class) { printf "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x, y, u, v }
function middle(s, e,    n) { n = count[s, e]; return (value[s, e, int((n + 1) / 2)] + value[s, e, int(n / 2) + 1]) / 2 }
function stretch(v) { if (low == "" || v < low) low = v; if (high == "" || v > high) high = v }

# a colour of text, lines and ground for light and for dark; plain values, which every viewer knows
function palette(    k, light, dark) {
    colours = split("#2563a8 #b3541e #2f7d4f #8a4fa3 #b08900 #5c6878 #0f8a94 #c2417e", light, " ")
    split("#6aa9ea #e8935a #6cc494 #c796de #e0bd4a #9aa6b5 #5fc7d0 #ee8fb8", dark, " ")
    print "<style>text { font: 11px system-ui, sans-serif; fill: #1c2430 } .ground { fill: #fff } .axis { stroke: #c9d0d9 }"
    print ".flat { stroke-dasharray: 6 4 } .again { stroke-dasharray: 2 3 } .chance { stroke: #1c2430; stroke-dasharray: 1 4 }"
    for (k = 1; k <= colours; k++) printf ".s%d { stroke: %s; stroke-width: 2; fill: none } .d%d { fill: %s }\n", k, light[k], k, light[k]
    print "@media (prefers-color-scheme: dark) { text { fill: #e4e8ee } .ground { fill: #14181e } .axis { stroke: #3c4654 } .chance { stroke: #e4e8ee }"
    for (k = 1; k <= colours; k++) printf ".s%d { stroke: %s } .d%d { fill: %s }\n", k, dark[k], k, dark[k]
    print "}</style>"
}

# axes: of values from low to high, with at most nine ticks, and of the epsilons
function axes(    step, v, e, k) {
    for (step = 1e-6; (high - low) / step > 8; step *= ++k % 3 == 2 ? 2.5 : 2) ;
    for (v = step * int(low / step); v <= high; v += step) if (v >= low) {
        line(45, height(v), 405, height(v), "axis")
        text(40, height(v) + 4, "end", sprintf("%.4g", v))
    }
    for (e in ticks) {
        line(place(e), 320, place(e), 325, "axis")
        text(place(e), 339, "middle", e)
    }
    text(225, 356, "middle", "epsilon")
}

# key: a line of the legend
function key(class, t) {
    if (class != "") line(420, row - 4, 440, row - 4, class)
    text(446, row, "start", t)
    row += 18
}

# series S: its points with their ranges; each series stands a little aside, so that ranges can be told apart
function draw(s,    class, n, at, i, x, path) {
    class = (s - 1) % colours + 1 (s > colours ? " again" : "")
    n = split(points[s], at, " ")
    for (i = 1; i <= n; i++) {
        x = place(at[i]) + (s - (several + 1) / 2) * (several > 3 ? 3 : 5)
        line(x, height(value[s, at[i], 1]), x, height(value[s, at[i], count[s, at[i]]]), "s" class)
        printf "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", class, x, height(middle(s, at[i]))
        path = path sprintf("%.1f,%.1f ", x, height(middle(s, at[i])))
    }
    if (n > 1) printf "<polyline class=\"s%s\" points=\"%s\"/>\n", class, path
    if ((s, "inf") in count) line(45, height(middle(s, "inf")), 405, height(middle(s, "inf")), "s" class " flat")
    key("s" class (n ? "" : " flat"), label(s) (s in free ? ", without privacy" : "") (n || (s, "inf") in count ? "" : ": no run"))
}
# label: the method, and where there are several data sets, which; long options are cut
function label(s,    room, where, words) {
    where = differ ? ", " data[s] : ""
    room = (s in free ? 18 : 34) - length(where)
    words = method[s]
    if (length(words) > room) {
        words = substr(words, 1, room)
        sub(/ [^ ]*$/, "", words)
        words = words " …"
    }
    return words where
}

NR == 1 { metric = $7; next }
!(($1, $2) in number) {
    number[$1, $2] = ++several
    method[several] = $1
    data[several] = $2
    sub(/\.dp$/, "", data[several])
    if (data[several] != data[1]) differ = 1
}
$7 != "-" {
    s = number[$1, $2]
    if (!(n = count[s, $3]++) && $3 != "inf") {
        for (i = split(points[s], at, " "); i && at[i] + 0 > $3 + 0; i--) ;
        points[s] = ""
        for (j = 1; j in at; j++) { if (j == i + 1) points[s] = points[s] " " $3; points[s] = points[s] " " at[j] }
        if (i + 1 == j) points[s] = points[s] " " $3
        split("", at)
        ticks[$3]
        if (least == "" || $3 + 0 < least) least = $3 + 0
        if ($3 + 0 > most) most = $3 + 0
    }
    for (; n && value[s, $3, n] > $7 + 0; n--) value[s, $3, n + 1] = value[s, $3, n]
    value[s, $3, n + 1] = $7 + 0
    if ($6 == "none") free[s]
    if ($4 != "-") delta = $4
    stretch($7 + 0)
}
END {
    if (low == "") low = high = chance == "" ? 0 : chance + 0
    # a line that would take most of the picture is words
    far = chance != "" && low - chance > high - low
    if (chance != "" && !far) stretch(chance + 0)
    if (!(high > low)) high = low + 0.01
    margin = (high - low) * 0.05; low -= margin; high += margin
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 385\" width=\"680\" height=\"385\" role=\"img\">"
    print "<title>" metric " against epsilon</title>"
    palette()
    print "<rect class=\"ground\" width=\"680\" height=\"385\"/>"
    text(20, 20, "start", metric " on held-out rows")
    axes()
    for (i in count) {
        if (count[i] > most_runs) most_runs = count[i]
        if (least_runs == "" || count[i] < least_runs) least_runs = count[i]
    }
    text(20, 377, "start", sprintf("Median and range of %s%d run%s, delta %s. No run is private: seeds make their noise known.",
        least_runs < most_runs ? least_runs " to " : "", most_runs, most_runs == 1 ? "" : "s", delta))
    row = 46
    for (s = 1; s <= several; s++) draw(s)
    if (chance != "" && !far) { line(45, height(chance), 405, height(chance), "chance"); key("chance", "the most frequent class") }
    if (far) key("", sprintf("the most frequent class: %.4g, below", chance))
    print "</svg>"
}
