#!/usr/bin/env bats
# Tables as programs write them: lines that are no rows, lone quotes, headers that are one field short, and what is said about them.
load helper

prepare() {
    awk 'BEGIN { srand(7); print "id,age,place,note,y"; for (i = 0; i < 300; i++) printf "p%d,%d,%s,ok,%s\n", i, 18 + 70 * rand(),
        rand() < .4 ? "home" : "ward", rand() < .4 ? "yes" : "no" }' > plain.csv
    cat > s.json << 'END'
{"header": true, "columns": [{"name": "id", "type": "ignore"}, {"name": "age", "type": "numeric", "bounds": [18, 88], "fill": 50},
  {"name": "place", "type": "categorical", "categories": ["home", "ward"], "unknown": "zero"}, {"name": "note", "type": "ignore"},
  {"name": "y", "type": "label", "classes": ["no", "yes"]}]}
END
    dp-import csv -s s.json --no-registry -q -o plain.dp plain.csv
}

# same_rows TABLE [OPTIONS]: the data set of the table has the rows of plain.csv; `said` has the warnings
same_rows() {
    rm -rf odd.dp
    dp-import csv -s s.json --no-registry -q --bad-cells missing -o odd.dp "${@:2}" "$1" 2> said || fail "$(cat said)"
    cmp plain.dp/X.npy odd.dp/X.npy
    cmp plain.dp/y.npy odd.dp/y.npy
}

@test "the header again, units below it and a total at the end are no persons" {
    { sed 1q plain.csv && echo ',years,(place),,' && sed -n 2,101p plain.csv && sed 1q plain.csv && sed '1,101d' plain.csv &&
        printf '\xef\xbb\xbf' && sed 1q plain.csv && printf ' Total ,123,,,\r\n\n \n'; } > odd.csv
    same_rows odd.csv
    assert_equal "$(cat said)" "dp-import: warning: line 103 is the header again, so it is skipped (such lines: 2)
dp-import: warning: line 2 has the units of the columns, so it is skipped
dp-import: warning: line 305, the last one, is a total, so it is skipped"
    same_rows - < odd.csv
    # the proposer sees the same rows
    dp-import csv --infer-schema plain.json --label y --json plain.csv > rows 2> /dev/null
    dp-import csv --infer-schema odd.json --label y --json odd.csv 2> /dev/null | cmp - rows
    cmp plain.json odd.json
    # each row has a prediction, and nothing else has one
    dpline scd --data plain.dp --loss logistic --epochs 3 --seed 1 -q -o model
    assert_equal "$(dp-predict --schema s.json model odd.csv 2> said | wc -l)" 301
    assert_equal "$(sed -n 2p said)" 'dp-predict: warning: line 2 has the units of the columns, so it is skipped'
}

@test "a line of strokes below the header is no person" {
    for ruler in '---+---+---+---+---' '|---|:--|--:|---|---|' '=====,====,=====,====,='; do
        { sed 1q plain.csv && echo "$ruler" && sed 1d plain.csv; } > odd.csv
        same_rows odd.csv
        assert_equal "$(cat said)" "dp-import: warning: line 2 is a line of strokes, so it is skipped"
    done
    { sed 1q plain.csv && echo '-----,----,-----,----,-' && echo ',years,(place),,' && sed 1d plain.csv; } > odd.csv
    same_rows odd.csv
    assert_equal "$(sed -n 1p said)" "dp-import: warning: line 3 has the units of the columns, so it is skipped"
}

@test "rows that only resemble such lines are persons" {
    # a total that is not the last line, or has no empty cell; no units directly below the header
    { sed 1q plain.csv && echo 'p1,years,ward,(note),no' && echo 'p1,40,years,years,no' && echo 'total,,home,,no' &&
        echo ',,ward,kg,no' && echo 'total,40,home,ok,yes' && echo '---,40,home,---,yes'; } > odd.csv
    dp-import csv -s s.json --no-registry -q --bad-cells missing -o odd.dp odd.csv 2> said
    assert_equal "$(cat said)" ''
    assert_equal "$(dp-info --get rows odd.dp)" 6
    # a first line that nobody calls a header decides about no other line
    { echo 'a,b,n' && seq 30 | sed 's/.*/a,b,n/' && seq 30 | sed 's/.*/c,b,y/'; } > votes.csv
    assert_equal "$(dp-import csv --infer-schema votes.json --json votes.csv 2> /dev/null)" '{"rows": 61}'
    assert_equal "$(jq .header votes.json)" false
    dp-import csv -s votes.json --no-registry -q -o votes.dp votes.csv
    assert_equal "$(dp-info --get rows votes.dp)" 61
}

@test "two lone quotes that take in rows are warned of, with the line of the first one" {
    sed -e '100s/ok/"12 inch/' -e '120s/ok/rack 9"/' plain.csv > odd.csv
    dp-import csv -s s.json --no-registry -q -o odd.dp odd.csv 2> said
    warned='line 100: a quote opens here, and the cell takes in 20 lines that look like rows: is a quote missing, or one too many?'
    assert_equal "$(cat said)" "dp-import: warning: $warned"
    dpline scd --data plain.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict --schema s.json model odd.csv 2> said > predictions
    assert_equal "$(cat said)" "dp-predict: warning: $warned"
    # a schema that is paid for would depend on one row by the 20 that it takes away
    complains 1 "dp-import: odd.csv: $warned nothing was charged" \
        dp-import csv --infer-schema paid.json --label y --row-is-person --private-schema 1 odd.csv
    assert_not_exist paid.json
    # lines of a text are no rows, with or without commas
    awk 'NR % 7 == 2 { sub(/ok/, "\"one\n, two, and\n\nthree, four, five, six\"") } 1' plain.csv > texts.csv
    same_rows texts.csv
    assert_equal "$(cat said)" ''
}

@test "rows of a prediction without a cell are counted" {
    dpline scd --data plain.dp --loss logistic --epochs 3 --seed 1 -q -o model
    { sed 3q plain.csv && echo p9,,,a note,; } > odd.csv # others than features do not count
    dp-predict --schema s.json model odd.csv > predictions 2> said || true
    grep -qx 'dp-predict: warning: 1 of 3 rows are empty: their prediction is of missing cells only' said
}

@test "words of units in half of the first row, or in its only cell, leave it a row" {
    printf 'shift,y\n%s' "$(for i in $(seq 30); do printf 'day,no\nnight,yes\n'; done)" > words.csv
    dp-import words.csv --infer-schema words.json --label y -q 2> said
    dp-import words.csv -s words.json --no-registry -q -o words.dp 2>> said
    assert_equal "$(cat said) $(dp-info --get rows words.dp)" ' 60'
}

@test "a line sep=, and UTF-16 without a mark are read" {
    { printf 'sep=;\r\n' && tr , ';' < plain.csv; } > odd.csv
    dp-import csv --infer-schema odd.json --label y odd.csv 2> /dev/null
    assert_equal "$(jq -r .delimiter odd.json)" ';'
    same_rows odd.csv --delimiter ';'
    same_rows odd.csv --delimiter ';' --skip-lines 1
    for encoding in utf-16le utf-16be; do
        iconv -t $encoding plain.csv > odd.csv
        same_rows odd.csv
        dp-import csv --infer-schema odd.json -f --label y odd.csv 2> said
        assert_equal "$(sed 1q said)" 'dp-import: the text is not UTF-8: it is read as UTF-16'
    done
    printf '\0\0\0\0a,b\n' > odd.csv
    complains 1 'dp-import: odd.csv: line 1: holds a NUL byte, so this is not text in UTF-8' dp-import csv --infer-schema - odd.csv
}

@test "a header that is one field short: names of rows as R writes them, or a delimiter at the end of the rows" {
    awk 'NR == 1 { print; next } { print "\"" NR - 1 "\"," $0 }' plain.csv > odd.csv
    same_rows odd.csv
    assert_equal "$(cat said)" \
        'dp-import: warning: line 1 names one column less than the rows have: the first one, of row names, has no name'
    dp-import csv --infer-schema odd.json --label y odd.csv 2> said
    grep -qx "dp-import: column '' is left out: it counts the rows" said
    dp-import csv -s odd.json --no-registry -q -o read.dp odd.csv
    tr , ' ' < odd.csv > odd.ssv
    dp-import csv --infer-schema blanks.json --label y odd.ssv 2> /dev/null
    assert_equal "$(jq -c '[.delimiter, .columns[].name]' blanks.json)" '[" ","","id","age","place","note","y"]'
    sed '2,$s/$/,/' plain.csv > odd.csv
    same_rows odd.csv
    assert_equal "$(cat said)" \
        'dp-import: warning: line 1 names one column less than the rows have: the last one, which is empty, has no name'
    dp-import csv --infer-schema -  --label y odd.csv 2> said | jq -r '.columns[-1].name' > last
    assert_equal "$(cat last)" ''
    # one row of this shape is a bad row, and where all of the first rows have it, another shape is refused, whatever may be skipped
    sed '2s/$/,/' plain.csv > odd.csv
    complains 1 'dp-import: odd.csv: line 2: 6 fields, the header has 5 columns' dp-import csv -s s.json -o x.dp odd.csv
    sed '2,21s/$/,/' plain.csv > odd.csv
    complains 1 'dp-import: odd.csv: line 22: 5 fields, the header has 6 columns' \
        dp-import csv -s s.json --skip-bad 300 -o x.dp odd.csv
}

@test "lines above the header, comments and other quotes: the message says the way out" {
    { printf 'Report of ward 7\nprinted 2024-03-01,page 1\n\n' && cat plain.csv; } > odd.csv
    said="dp-import: odd.csv: line 1 has no column 'y', but line 4 has: --skip-lines 3 begins there"
    for options in '' '--private-schema 1 --no-ledger'; do
        complains 1 "$said" dp-import csv --infer-schema x.json --label y $options odd.csv
    done
    complains 2 "dp-import: --label: plain.csv has no column 'yes', only id, age, place, note, y" \
        dp-import csv --infer-schema x.json --label yes plain.csv
    { cat plain.csv && echo 'Source: ward 7'; } > odd.csv
    complains 1 "dp-import: odd.csv: line 302: 1 field, the first line has 5 (a note? take it out of the table)" \
        dp-import csv --infer-schema x.json odd.csv
    awk 'NR == 20 { print "# a note" } 1' plain.csv > odd.csv
    complains 1 "dp-import: odd.csv: line 20: 1 field, the first line has 5 (a comment? --comment '#' skips such lines)" dp-import csv --infer-schema x.json odd.csv
    sed '2s/ok/"a \\"b\\", c"/' plain.csv > odd.csv
    complains 1 "dp-import: odd.csv: line 2: 6 fields, the first line has 5 (in quotes, a quote is written as \"\", and not as \\\": \
sed 's/\\\\\"/\"\"/g' converts it)" dp-import csv --infer-schema x.json odd.csv
    sed -i 's/\\"/""/g' odd.csv
    same_rows odd.csv
    sed "2s/ok/'a, b'/" plain.csv > odd.csv
    convert=$'tr "\'" \'"\' converts a table without other quotes'
    complains 1 "dp-import: odd.csv: line 2: 6 fields, the first line has 5 (cells are quoted by \", and not by ': $convert)" \
        dp-import csv --infer-schema x.json odd.csv
    complains 1 "dp-import: odd.csv: line 2: 6 fields, the header has 5 columns (cells are quoted by \", and not by ': $convert)" \
        dp-import csv -s s.json -o x.dp odd.csv
}

@test "a count of mostly zeros and indicators with few ones, or few zeros, are features" {
    /usr/bin/python3 - > t.csv << 'END'
import math, random
random.seed(5)
print("reports,flag,most,age,sex,card")
for _ in range(1319):
    reports = 0 if random.random() < .8 else min(14, 1 + int(random.expovariate(.55)))
    flag, most, age = int(random.random() < .21), int(random.random() < .6), round(random.gauss(45, 12))
    score = 3 - 6 * (reports > 0) + flag + most - 1 + .02 * (age - 45)
    print(reports, flag, most, age, random.choice("mf"), "yes" if random.random() < 1 / (1 + math.exp(-score)) else "no", sep=",")
END
    dpline fit t.csv --label card --epsilon 1 --seed 3 -q 2> said
    note='0 against all larger numbers, which are too rare for bounds of their own'
    grep -qx "dp-import: column 'reports': $note" said
    jq -e '.columns[0] | .type == "numeric" and .basis == "line" and .bounds == [0, 1e-6]' t.json
    jq -e '[.columns[].type] | index("ignore") == null' t.json
    jq -e '.columns[2].bounds == [0, 2]' t.json
    auc=$(dp-eval --data t-test.dp --metrics auc --last --in t.model | awk 'END { print $NF }')
    awk -v auc="$auc" 'BEGIN { exit !(auc > 0.85) }' || fail "AUC $auc"
}

@test "one frequent number, as -1 for not known, is a category of its own, paid or not" {
    /usr/bin/python3 - > t.csv << 'END'
import math, random
random.seed(5)
print("days,far,children,age,card")
for i in range(2000):
    known = random.random() < .3
    days, far = random.randint(1, 400) if known else -1, 99999 if i == 7 else random.randint(20, 60)
    age = -999 if i % 20 == 0 else random.randint(18, 90)
    score = 3 - 6 * known + .05 * (far - 40) * (i != 7)
    print(days, far, random.randint(-1, 1), age, "yes" if random.random() < 1 / (1 + math.exp(-score)) else "no", sep=",")
END
    dpline fit t.csv --label card --epsilon 1 --seed 3 -q -o paid.model 2> said
    grep -qx "dp-import: column 'days': -1 against all larger numbers, which are too rare for bounds of their own" said
    jq -e '.columns[0] | .basis == "line" and .bounds == [-1, -0.999999]' t.json
    auc=$(dp-eval --data t-test.dp --metrics auc --last --in paid.model | awk 'END { print $NF }')
    awk -v auc="$auc" 'BEGIN { exit !(auc > 0.85) }' || fail "AUC $auc"
    dp-import csv --infer unpaid.json --label card t.csv 2> said
    jq -ec '.columns[0] | .bounds == [2, 399] and .missing == ["-1", "-1.0", "-1.00"] and .indicator' unpaid.json
    jq -ec '.columns[1] | .bounds == [20, 60] and .missing == ["99999", "99999.0", "99999.00"] and .indicator' unpaid.json
    jq -ec '.columns[2] | .bounds == [-1, 1] and .missing == null' unpaid.json
    jq -ec '.columns[3] | .bounds == [18, 90] and .missing[0] == "-999"' unpaid.json
    # a number is said with all its digits
    awk 'BEGIN { srand(1); print "far,y"; for (i = 0; i < 3000; i++) print (i % 10 ? 99999999 : int(exp(15 * rand()))) "," (i % 2 ? "yes" : "no") }' > far.csv
    dp-import csv --infer-schema far.json --label y --private-schema 0.2 --noise-seed 1 far.csv 2> said
    grep -qx "dp-import: column 'far': 99999999 against all smaller numbers, which are too rare for bounds of their own" said
}

@test "a number that is too large, or infinite, cannot be read: it is missing, in a fit and in a prediction" {
    awk 'BEGIN { srand(5); print "x,place,y"; for (i = 0; i < 2000; i++) { x = 100 + int(100 * rand());
        split("1e400 inf -1e400", odd, " "); print (i % 50 ? x : odd[1 + i / 50 % 3]) "," (rand() < .5 ? "a" : "b") "," (x > 150 ? "yes" : "no") } }' > odd.csv
    dp-import csv --infer-schema exact.json --label y -q --no-registry odd.csv 2> said
    assert_equal "$(jq -c '.columns[0] | [.type, .bounds, .missing, .indicator]' exact.json)" \
        '["numeric",[100,199],["1e400","inf","-1e400"],true]'
    dp-import csv --infer-schema paid.json --label y --private-schema 5 --noise-seed 1 --no-ledger -q --no-registry --row-is-person odd.csv
    assert_equal "$(jq -c '.columns[0] | [.type, .bounds]' paid.json)" '["numeric",[64,256]]'
    jq -r '.columns[0].note' paid.json > note
    assert_regex "$(cat note)" '^about (3[0-9]|4[0-9]|5[0-9]) cells, give or take [0-9]*, cannot be read as numbers, or are beyond the bounds$'
    dpline fit odd.csv --label y --row-is-person --epsilon 5 --no-registry -q -o model 2> /dev/null
    dp-predict model odd.csv 2> said > predictions
    assert_equal "$(cat said)" "dp-predict: warning: column 'x': 40 of 2000 cells cannot be read as numbers, and count as missing"
    assert_equal "$(wc -l < predictions)" 2001
    # without an exponent, too
    awk -F , -v OFS=, 'NR == 60 { $1 = "1"; for (i = 0; i < 400; i++) $1 = $1 "0" } 1' odd.csv > zeros.csv
    dp-import csv --infer-schema zeros.json --label y -q --no-registry zeros.csv 2> said
    jq -e '.columns[0] | .type == "numeric" and (.missing | map(length) == [5, 3, 401, 6])' zeros.json
}
