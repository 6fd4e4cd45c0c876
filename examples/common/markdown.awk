# A table with tabs as one of Markdown: awk -F '\t' -f markdown.awk
{
    line = $0
    gsub(/\t/, " | ", line)
    print "| " line " |"
}
NR == 1 {
    line = "|"
    for (i = 1; i <= NF; i++) line = line " --- |"
    print line
}
