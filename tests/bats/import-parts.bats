# dp-import --part and --join: a table that several jobs import has the bytes of one import.
load helper

schema() {
    cat > s.json << 'END'
{"header": true, "missing": ["?"], "columns": [
 {"name": "age", "type": "numeric", "bounds": [18, 100], "fill": 20, "basis": "hats"},
 {"name": "job", "type": "categorical", "fill": "cook", "categories": ["cook", "smith"], "unknown": "zero"},
 {"name": "income", "type": "label", "classes": ["no", "yes"], "unknown": "zero"}]}
END
}

# Lines of every kind that is not a row, and a last line without an end.
table() {
    awk 'BEGIN { print "\xef\xbb\xbfage,job,income"; print "years,text,text"
        for (i = 0; i < 500; i++) {
            print 18 + i % 80 "," (i % 3 ? "cook" : i % 2 ? "\"smi\"\"th, x\"" : "") "," (i % 5 ? "no" : i % 7 ? "yes" : "maybe")
            if (i % 97 == 0) print "\r"
            if (i % 50 == 0) print "total,,\n   20,cook,no\n# a comment"
            if (i == 250) print "age,job,income"
        }
        printf "33,cook,no\r\ntotal,,9\n\n  \n" }' > t.csv
}

# same ONE TWO: the two data sets differ by their salt and digest only
same() {
    local file
    for file in "$1"/*.npy; do
        cmp "$file" "$2/${file##*/}"
    done
    diff <(grep -v '"salt"\|"digest"' "$1/dataset.json") <(grep -v '"salt"\|"digest"' "$2/dataset.json")
    dp-info --verify "$2" > info
}

import() { dp-import csv -s s.json --comment '#' --bad-cells missing -q "$@"; }

# parts N [OPTION...]: all at once
parts() {
    local n=$1 k
    shift
    for k in $(seq "$n"); do
        import "$@" --part "$k/$n" -o two.dp t.csv 2> "said-$k" && touch "done-$k" &
    done
    wait
    for k in $(seq "$n"); do
        rm "done-$k"
    done
}

@test "import in parts: the bytes of one import, dense, sparse, in 16 bits, and with a split of all rows" {
    schema
    table
    for storage in '--storage dense' '--storage csr' '--quantise --skip-bad 3'; do
        import $storage --split .8 -t one.test -o one.dp t.csv
        for n in 1 2 5 31; do
            parts $n $storage
            import $storage --split .8 -t two.test --join $n -o two.dp t.csv
            same one.dp two.dp
            same one.test two.test
            rm -r two.dp* two.test
        done
        rm -r one.dp one.test
    done
}

@test "import in parts: cells with line ends are refused at a border, and whole elsewhere, at each border of a table" {
    echo '{"columns": [{"name": "a", "type": "numeric", "bounds": [0, 9]}, {"name": "b", "type": "ignore"},
        {"name": "c", "type": "label", "classes": ["x", "y"]}]}' > s.json
    # the lines in the cells look like rows
    printf '%s\n' '1,p,x' '2,"q' '3,r,y' '4,s",x' '5,t,y' '' '6,"u' '7,v",y' '8,w,x' > t.csv
    import -o one.dp t.csv
    good=0 bad=0
    for n in $(seq 2 9); do
        rm -rf two.dp*
        for k in $(seq "$n"); do
            import --part "$k/$n" -o two.dp t.csv 2> said || break
        done
        if [ -e "two.dp.part-$n" ] && import --join "$n" -o two.dp t.csv 2> said; then
            same one.dp two.dp
            good=$((good + 1))
        else
            grep -q 'begins inside of a cell with line ends\|no line begins\|fields, the schema has\|a quote is not closed' said
            bad=$((bad + 1))
        fi
    done
    [ $good -ge 1 ] || fail "$good $bad"
    [ $bad -ge 2 ] || fail "$good $bad"
    # both parts can be read
    printf '%s\n' '1,"p' '2,z,y' '3,q",x' > t.csv
    rm -rf two.dp*
    import --part 1/2 -o two.dp t.csv
    import --part 2/2 -o two.dp t.csv
    complains 1 "dp-import: two.dp.part-2: begins inside of a cell with line ends, at byte 11 of the table: make another number of parts" \
        dp-import csv -s s.json --join 2 -o two.dp t.csv
}

@test "import in parts: every row is in one part, and a run over the parts makes the model of one machine" {
    schema
    table
    import -o one.dp t.csv
    parts 3
    total=0
    for k in 1 2 3; do
        total=$((total + $(dp-info --get rows two.dp.part-$k)))
    done
    assert_equal $total "$(dp-info --get rows one.dp)"
    assert_equal "$(dp-info --get population two.dp.part-2)" "$(dp-info --get population one.dp)"
    dp-loop --laps 5 --seed 1 --exec fused -o alone -- "dp-sample --data one.dp --rate .2 |
        dp-grad --data one.dp --loss logistic --clip 1 | dp-noise -z 1 | dp-account --epsilon 9 --delta 1e-5 --allow-seeded | dp-step --step 1"
    mkdir -m 700 meet
    for k in 1 2 3; do
        dp-worker --shard $k/3 --allow-seeded --at ipc://meet/gate -- "dp-sample --data two.dp.part-$k --rate .2 |
            dp-grad --data two.dp.part-$k --loss logistic --clip 1" 2> worker-$k &
    done
    dp-loop --laps 5 --seed 1 --exec fused -o together -- "dp-gather --workers 3 --at @ipc://meet/gate |
        dp-noise -z 1 | dp-account --epsilon 9 --delta 1e-5 --allow-seeded | dp-step --step 1"
    wait
    model() { dp-cat --full "$1" | jq -c 'del(.data)'; } # the digest is of one data set or of three
    assert_equal "$(model together)" "$(model alone)"
}

@test "import in parts: refusals" {
    schema
    table
    dp='dp-import csv -s s.json -q -o two.dp'
    complains 2 "dp-import: --part: '3' is not K/N" $dp --part 3 t.csv
    complains 2 "dp-import: --part: 4/3, but K is from 1 to N, and N at most 10000" $dp --part 4/3 t.csv
    gzip -k t.csv
    complains 2 "dp-import: t.csv.gz: only a file that is not compressed can be imported in parts" $dp --part 1/3 t.csv.gz
    complains 2 "dp-import: standard input: only a file that is not compressed can be imported in parts" $dp --part 1/3 - < <(cat t.csv)
    iconv -f UTF-8 -t UTF-16 t.csv > wide.csv
    complains 2 "dp-import: wide.csv: only UTF-8 can be imported in parts, and this is UTF-16" $dp --part 1/3 wide.csv
    { cat t.csv && printf '20,caf\xe9,no\n'; } > latin.csv
    complains 1 "dp-import: latin.csv, part 3/3: line 182 is not UTF-8, as it must be for an import in parts (iconv converts it)" \
        $dp --comment '#' --bad-cells missing --part 3/3 latin.csv
    sed 's/"fill": "cook"/"fill": "mode"/' s.json > mode.json
    complains 2 "dp-import: --part: the schema measures something on the rows, which needs all rows at once" \
        dp-import csv -s mode.json -o two.dp --part 1/2 t.csv
    complains 1 "dp-import: t.csv, part 2/2: line 1, column 1 (age): expected a number, got 'total'" $dp --comment '#' --part 2/2 t.csv
    # joining
    complains 1 "dp-import: cannot open two.dp.part-1/dataset.json: not a data set (see dp-import)" $dp --join 2 t.csv
    parts 2
    complains 1 "dp-import: two.dp.part-1: is not part 1/3 of a table (dp-import --part makes it)" $dp --join 3 t.csv
    complains 1 "dp-import: two.dp.part-1: was made with another schema or with other options: its cols differs" \
        $dp --bad-cells missing --no-bias --join 2 t.csv
    touch -d yesterday t.csv
    complains 1 "dp-import: two.dp.part-1: the table has changed since this part was made: make all parts again" $dp --join 2 t.csv
    assert_not_exist two.dp
    printf 'age,job,income\n1,cook,no\n' > small.csv
    complains 1 "dp-import: small.csv: no line begins in part 2/3: make fewer parts" ${dp/two/three} --part 2/3 small.csv
    complains 2 "dp-import: small.csv: has fewer than 99 bytes of rows, which cannot be 99 parts" ${dp/two/three} --part 2/99 small.csv
}

@test "import in parts: malformed lines count together" {
    schema
    printf 'age,job,income\n' > t.csv
    for i in 1 2 3 4; do
        printf '30,cook,no\nx,cook,no\n40,cook,yes\n' >> t.csv
    done
    import() { dp-import csv -s s.json -q "$@"; }
    parts 2 --skip-bad 3
    complains 1 "dp-import: t.csv: all parts together have more malformed lines than --skip-bad 3" \
        dp-import csv -s s.json -q --skip-bad 3 --join 2 -o two.dp t.csv
    rm -r two.dp*
    import --skip-bad 4 -o one.dp t.csv
    parts 2 --skip-bad 4
    import --skip-bad 4 --join 2 -o two.dp t.csv
    same one.dp two.dp
}
