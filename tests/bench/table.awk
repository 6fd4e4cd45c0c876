# The table of a figure: awk -v figure=NAME -f table.awk measured.tsv. wide=1: a row for each thing and a column for each unit;
# otherwise a row for each value. plain=1: for a terminal.
BEGIN { FS = "\t" }
$1 != figure { next }
$2 == "about" { about = $3; next }
$2 == "note" { notes = notes "; " $3; next }
{
    if ($3 == "skipped") {
        add($2)
        why[$2] = $4
        next
    }
    add($2)
    if (!(($2, $3) in middle)) units[$2] = units[$2] FS $3
    if (!($3 in unit_at)) {
        unit_at[$3] = ++kinds
        unit[kinds] = $3
    }
    middle[$2, $3] = $4
    lower[$2, $3] = $5
    upper[$2, $3] = $6
    turns[$2, $3] = $7
    bound[$2, $3] = $8
}
function add(what) {
    if (!(what in at)) {
        at[what] = ++things
        thing[things] = what
    }
}
# three figures, thousands with commas
function shown(x,    text, head) {
    if (x >= 999.5) {
        text = sprintf("%d", x + .5)
        head = ""
        while (length(text) > 3) {
            head = "," substr(text, length(text) - 2) head
            text = substr(text, 1, length(text) - 3)
        }
        return text head
    }
    text = sprintf("%.3g", x)
    return text ~ /e/ ? sprintf("%.6f", x) : text
}
function spread(what, unit) { return turns[what, unit] > 1 ? shown(lower[what, unit]) "–" shown(upper[what, unit]) : "" }
function verdict(what, unit,    b) {
    b = bound[what, unit]
    if (b == "") return ""
    split(b, part, " ")
    if (part[1] == "<=") return "at most " part[2] (middle[what, unit] <= part[2] + 0 ? ": yes" : ": **no**")
    return "at least " part[2] (middle[what, unit] >= part[2] + 0 ? ": yes" : ": **no**")
}
function row(text) {
    if (plain) {
        gsub(/\*\*/, "", text)
        print "  " text
        return
    }
    gsub(FS, " | ", text)
    print "| " text " |"
}
function rule(n,    text) {
    if (plain) return
    text = "---"
    for (i = 2; i <= n; i++) text = text FS "---"
    row(text)
}
END {
    if (things == 0) exit
    if (wide) {
        text = "what"
        for (k = 1; k <= kinds; k++) text = text FS unit[k]
        row(text)
        rule(kinds + 1)
        for (t = 1; t <= things; t++) {
            text = thing[t]
            if (text in why) text = text FS "skipped: " why[text]
            else for (k = 1; k <= kinds; k++) text = text FS ((thing[t], unit[k]) in middle ? shown(middle[thing[t], unit[k]]) : "")
            row(text)
        }
    } else {
        row("what" FS "median" FS "unit" FS "quartiles" FS "wanted")
        rule(5)
        for (t = 1; t <= things; t++) {
            if (thing[t] in why) row(thing[t] FS "" FS "" FS "" FS "skipped: " why[thing[t]])
            n = split(units[thing[t]], u, FS)
            for (k = 2; k <= n; k++)
                row(thing[t] FS shown(middle[thing[t], u[k]]) FS u[k] FS spread(thing[t], u[k]) FS verdict(thing[t], u[k]))
        }
    }
    if (about != "" && !plain) printf "\n%s%s.\n", about, notes
}
