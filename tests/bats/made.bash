# Tables that several files of tests make.

# arrivals ROWS: a table, on standard output, and s.json, its schema
arrivals() {
    cat > s.json << 'END'
{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "b", "type": "numeric", "bounds": [-1, 1]},
  {"name": "job", "type": "categorical", "categories": ["cook", "nurse"]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}
END
    awk -v rows="$1" 'BEGIN { srand(3); print "a,b,job,y"
        for (i = 0; i < rows; i++) { a = rand() * 10; b = 2 * rand() - 1
            printf "%.4f,%.4f,%s,%s\n", a, b, (rand() < 0.5 ? "cook" : "nurse"), (a / 5 - 1 + b + rand() / 3 > 0 ? "yes" : "no") } }'
}

# wine N SEED: a table like the wine data, whose quality follows from its numbers
wine() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        print "\"fixed acidity\";\"volatile acidity\";\"citric acid\";\"residual sugar\";\"chlorides\";\"free sulfur dioxide\";" \
            "\"total sulfur dioxide\";\"density\";\"pH\";\"sulphates\";\"alcohol\";\"quality\""
        while (n--) {
            a = rand()
            b = rand()
            print 16 * a ";" 2 * b ";" rand() ";" 70 * rand() ";" rand() ";" 300 * rand() ";" 450 * rand() ";" .98 + .06 * rand() ";" \
                2.5 + rand() ";" rand() ";" 8 + 7 * a ";" int(3 + 6 * a - 2 * b + rand())
        }
    }'
}
