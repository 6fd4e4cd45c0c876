# dp-import --infer-schema: what it proposes for tables as people have them, column by column.
load helper

# propose FILE [OPTION…]: a line for each column: name, type, and whether there is an indicator
propose() {
    dp-import csv --infer-schema s.json -q -f "$@" 2> notes
    jq -r '.columns[] | [.name, .type, (if .indicator then "indicator" else empty end)] | join(" ")' s.json
}
schema() { jq -c "$1" s.json; }

@test "a table of passengers: identifiers and names are left out, missing ages are numbers" {
    {
        echo PassengerId,Survived,Pclass,Name,Sex,Age,Ticket,Fare,Cabin,Embarked
        for i in $(seq 150); do
            echo "$i,$((i % 2)),$((i % 3 + 1)),\"Nr. $i, Mr.\",$([ $((i % 5)) -gt 2 ] && echo male || echo female),$((20 + i % 40)).5,T$((i * 7)),$((i * i % 90)),$([ $((i % 6)) = 0 ] && echo "C$i"),$(echo S C Q | cut -d ' ' -f $((i % 3 + 1)))"
        done
    } | sed '7,12s/,[0-9]*\.5,/,,/' > t.csv
    assert_equal "$(propose t.csv --label Survived)" "PassengerId ignore
Survived label
Pclass numeric
Name ignore
Sex categorical
Age numeric indicator
Ticket ignore
Fare numeric
Cabin ignore
Embarked categorical"
    assert_equal "$(cat notes)" "dp-import: column 'PassengerId' is left out: its name and its values look like an identifier
dp-import: column 'Name' is left out: more than half of its texts are different, as in names, identifiers and free text
dp-import: column 'Ticket' is left out: more than half of its texts are different, as in names, identifiers and free text
dp-import: column 'Cabin' is left out: more than half of its texts are different, as in names, identifiers and free text"
    assert_equal "$(schema '[.header, .delimiter, .columns[1].classes]')" '[true,",",["0","1"]]'
    dp-import csv -s s.json -q -o t.dp t.csv
    assert_equal "$(dp-info --get columns t.dp)" '["Pclass","Sex=female","Sex=male","Age","Age missing","Fare","Embarked=C","Embarked=Q","Embarked=S","bias"]'
}

@test "semicolons, decimal commas and words for missing values" {
    printf 'Größe;Gewicht;Einkommen;Raucher;krank\n' > t.csv
    printf '1,75;80,5;1.234,5;none;ja\n1,60;k.A.;12.000;unknown;nein\n1,82;90;unknown;none;Ja\n1,5;70;;ja;nein\n' >> t.csv
    assert_equal "$(propose t.csv)" "Größe numeric
Gewicht numeric indicator
Einkommen numeric indicator
Raucher categorical
krank label"
    assert_equal "$(schema '[.delimiter, .decimal, .missing, .columns[2].missing, .columns[2].bounds, .columns[3].categories, .columns[4].classes]')" \
        '[";",",",["k.A."],["unknown"],[1234.5,12000],["ja","none","unknown"],[["Ja","ja"],"nein"]]'
    dp-import csv -s s.json --no-bias -q -o t.dp t.csv
    assert_equal "$(dp-info --get cols t.dp)" 8
    assert_equal "$(/usr/bin/python3 -c 'import numpy; x = numpy.load("t.dp/X.npy"); print(numpy.round(x[:, 0] / x[2, 0], 4), x[:, 2] > 0, x[:, 4] > 0)')" \
        "[0.7812 0.3125 1.     0.    ] [False  True False False] [False False  True  True]"
    # a model carries the decimal comma
    sed 's/"inferred-schema"//' s.json | jq '.private_preprocessing = []' > public.json
    dp-import csv -s public.json -q -f -o t.dp t.csv
    assert_equal "$(jq -c .schema.decimal t.dp/dataset.json)" '","'
    printf 'Größe;Gewicht;Einkommen;Raucher;krank\n1.75;80,5;1,5;ja;ja\n1,75,5;80,5;1,5;ja;ja\n' > wrong.csv
    complains 1 "dp-import: wrong.csv: line 3, column 1 (Größe): expected a number, got '1,75,5'" \
        dp-import csv -s public.json -o u.dp wrong.csv
    jq '.decimal = ";"' public.json > odd.json
    complains 1 'dp-import: odd.json: "decimal" is a point or a comma' dp-import csv -s odd.json -o u.dp t.csv
}

@test "units, a decimal comma of a column and codes, in a schema that nobody pays for" {
    awk -v OFS=, 'BEGIN { print "weight,price,zip,mixed,age,ill"; for (i = 0; i < 90; i++)
        print 40 + i % 30 (i % 9 ? " kg" : ""), "\"1." 100 + i "," 10 + i "\"", (i % 3 ? "01067" : "10115"), i % 5 (i % 2 ? " kg" : " lb"), 20 + i % 40, (i % 2 ? "yes" : "no") }' > t.csv
    dp-import csv --infer-schema s.json -q t.csv
    assert_equal "$(jq -c '[.columns[] | [.name, .type, .unit, .decimal, .bounds]]' s.json)" \
        '[["weight","numeric","kg|KG|Kg|kgs",null,[40,69]],["price","numeric",null,",",[1100.1,1189.99]],["zip","categorical",null,null,null],["mixed","categorical",null,null,null],["age","numeric",null,null,[20,59]],["ill","label",null,null,null]]'
    dp-import csv -s s.json -q -o t.dp t.csv
}

@test "a column of dates of several formats, or of eight digits, and dates that mean no end" {
    awk 'BEGIN { print "mixed,compact,code,number,ill"; for (i = 0; i < 90; i++) { m = 1 + i % 12; d = 1 + i % 28
        printf i % 3 ? "2020-%02d-%02d," : "%d/%d/2020,", m, d
        printf i % 9 ? "2020%02d%02d," : "99991231,", m, d
        printf "2020%02d%02d,%d,%s\n", i, d, 20 + i, i % 2 ? "yes" : "no" } }' > t.csv
    dp-import csv --infer-schema s.json -q t.csv
    assert_equal "$(schema '[.columns[] | select(.date) | [.name, .date, .missing, .bounds, .indicator]]')" \
        '[["mixed","%Y-%m-%d|%m/%d/%Y|%d/%m/%Y",["9999-12-31","12/31/9999","31/12/9999"],["2020-01-01","2020-12-28"],null],["compact","%Y%m%d",["99991231"],["20200101","20201228"],true]]'
    dp-import csv -s s.json -q -o t.dp t.csv
    jq '.columns[0].date = "%Y-%m-%d|%Q"' s.json > odd.json
    complains 1 "dp-import: odd.json: column 'mixed': \"date\" is a format with a year, such as %Y-%m-%d, or a time, such as %H:%M" \
        dp-import csv -s odd.json -o u.dp t.csv
}

@test "dates are numbers of days" {
    /usr/bin/python3 - << 'END'
import datetime, random
random.seed(3)
forms = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d"]
days = [datetime.datetime(1950, 1, 31) + datetime.timedelta(days=random.randrange(40000), hours=6) for _ in range(500)]
with open("t.csv", "w") as f:
    print("iso;german;american;british;time;some;ill", file=f)
    for k, d in enumerate(days):
        cells = [d.strftime(form) for form in forms]
        print(*cells[:5], ["NA", "unknown", cells[5]][min(k % 7, 2)], "no" if k % 3 else "yes", sep=";", file=f)
END
    assert_equal "$(propose t.csv)" "iso numeric
german numeric
american numeric
british numeric
time numeric
some numeric indicator
ill label"
    assert_equal "$(schema '[.columns[:6][].date] | unique')" '["%Y-%m-%d","%Y-%m-%d %H:%M:%S","%d.%m.%Y","%d/%m/%Y","%m/%d/%Y"]'
    # months and weekdays on request, and bounds as dates
    jq '.private_preprocessing = [] | .columns |= [{name: "iso", type: "numeric", date: .[0].date, bounds: ["1950-01-01", "2100-01-01"]},
        {name: "german", type: "numeric", date: .[1].date, scale: "none", bounds: [-7305, 47482]}, .[4],
        {name: "iso", type: "categorical", date: .[0].date, part: "month"},
        {name: "iso", type: "categorical", date: .[0].date, part: "weekday", drop: "first"}, .[5], .[6]]' s.json > months.json
    dp-import csv -s months.json --no-bias -q -o t.dp t.csv
    assert_equal "$(dp-info --get columns t.dp | jq -r '.[3,14,15,21]' | tr '\n' ' ')" 'iso=January iso=December iso=Tuesday some '
    /usr/bin/python3 - << 'END'
import csv, datetime, json, numpy
x = numpy.load("t.dp/X.npy").astype(float) * json.load(open("t.dp/dataset.json"))["row_divisor"]
origin = datetime.date(1970, 1, 1)
first, last = [(datetime.date(y, 1, 1) - origin).days for y in (1950, 2100)]
for row, line in zip(x, csv.DictReader(open("t.csv"), delimiter=";")):
    d = datetime.date.fromisoformat(line["iso"])
    days = (d - origin).days
    want = [(days - first) / (last - first)] + [d.month == m for m in range(1, 13)] + [d.weekday() == w for w in range(1, 7)]
    assert numpy.allclose(row[[0, *range(3, 21)]], want, atol=1e-2), (row, want)
    assert abs(row[1] - days) < .1
END
    # a model carries the formats
    dpline scd --data t.dp --loss logistic --epochs 1 --seed 1 -q -o model
    dp-predict model t.csv -p -s | cmp - <(dp-predict model t.dp -p -s)
    complains 1 "dp-export: model reads dates in column 'german', for which csv has no place: json, sql and c have one" dp-export --to csv model
    dp-predict -p -s model t.csv > expected.csv
    tr ';' , < t.csv > cells.csv
    for format in c sql; do
        dp-export --to $format model > model.$format
        run "$ROOT/tests/bats/export.py" $format model.$format cells.csv expected.csv
        assert_output "$(($(wc -l < t.csv) - 1)) rows agree, 0 cannot be read"
    done
    { head -n 1 t.csv; sed -n 2p t.csv | sed 's/^[^;]*/2023-02-29/'; } > wrong.csv
    complains 1 "dp-import: wrong.csv: line 2, column 1 (iso): expected a date as the schema says, got '2023-02-29'" \
        dp-import csv -s months.json -o u.dp wrong.csv
}

@test "texts that differ in case are one category, and a schema has synonyms" {
    awk 'BEGIN { split("cook Cook COOK smith Smith baker", j); srand(2); print "job,age,ill"
        for (k = 0; k < 300; k++) { a = int(100 * rand()); print j[k % 6 + 1] "," a "," (a > 50 + 5 * (k % 6 < 3) ? "yes" : "no") } }' > t.csv
    propose t.csv > types
    assert_equal "$(schema '.columns[0].categories')" '["baker",["COOK","Cook","cook"],["Smith","smith"]]'
    jq '.private_preprocessing = [] | .columns[0].categories = [["craft", "smith", "Smith", "baker"], ["cook", "Cook", "COOK"]]' s.json > p.json
    dp-import csv -s p.json -q -o t.dp t.csv
    assert_equal "$(dp-info --get columns t.dp)" '["job=craft","job=cook","age","bias"]'
    # as if the table had one text for each
    tr '[:upper:]' '[:lower:]' < t.csv | sed 's/^smith\|^baker/craft/' > plain.csv
    jq '.columns[0].categories = ["craft", "cook"]' p.json > plain.json
    dp-import csv -s plain.json -q -o plain.dp plain.csv
    cmp t.dp/X.npy plain.dp/X.npy
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o model
    dp-predict model t.dp -p -s | cmp - <(dp-predict model t.csv -p -s)
    dp-predict model plain.dp -p -s | cmp - <(dp-predict model t.dp -p -s) # the same features, read in another way
    complains 1 "dp-export: model has synonyms in column 'job', for which csv has no place: json, sql, c, onnx and pmml have one" \
        dp-export --to csv model
    for categories in '[["cook", "Cook"], ["smith", "cook"]]' '["cook", ["smith", "cook"]]' '[["smith", "cook"], "cook"]'; do
        jq ".columns[0].categories = $categories" p.json > twice.json
        complains 1 "dp-import: twice.json: column 'job': 'cook' is in two categories" dp-import csv -s twice.json -o u.dp t.csv
    done
    jq '.columns[0].categories[1] = []' p.json > none.json
    complains 1 "dp-import: none.json: column 'job': category 2 has no text" dp-import csv -s none.json -o u.dp t.csv
}

@test "a schema says what a date is" {
    printf 'd,y\n2024-01-05,1\n' > t.csv
    column() {
        echo "{\"header\": true, \"columns\": [{\"name\": \"d\", $1}, {\"name\": \"y\", \"type\": \"label\"}]}" > s.json
        complains 1 "dp-import: s.json: column 'd': $2" dp-import csv -s s.json -o t.dp t.csv
    }
    for format in '%m-%d' '%Q' '' '%d %H:%M' x; do
        column "\"type\": \"numeric\", \"scale\": \"none\", \"date\": \"$format\"" '"date" is a format with a year, such as %Y-%m-%d, or a time, such as %H:%M'
    done
    column '"type": "numeric", "date": "%Y-%m-%d", "bounds": ["2024-01-01", "soon"]' '"bounds" must be [low, high]'
    column '"type": "categorical", "date": "%Y-%m-%d"' '"part" of a date is month or weekday'
    column '"type": "categorical", "date": "%Y-%m-%d", "part": "year"' '"part" of a date is month or weekday'
    column '"type": "categorical", "date": "%Y-%m-%d", "part": "month", "categories": ["May"]' \
        'a date is numeric, or categorical with a "part" and no "categories"'
    column '"type": "ignore", "date": "%Y-%m-%d"' 'a date is numeric, or categorical with a "part" and no "categories"'
}

@test "a header is found, or is not there" {
    printf '1,2,x\n2,3,y\n' > t.csv
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "column1 column2 column3 "
    printf 'a,b,c\n2,3,y\n4,5,n\n' > t.csv
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "a b c "
    printf 'red,big,yes\nblue,small,no\nred,small,no\n' > t.csv # texts alone: red is there twice
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "column1 column2 column3 "
    assert_equal "$(schema '.columns[0].categories')" '["blue","red"]'
    printf 'colour,size,wanted\nblue,small,no\nred,small,yes\n' > t.csv
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "colour size wanted "
    printf '5,a\n6,b\n7,a\n' > t.csv
    for i in $(seq 8 40); do echo "$i,a"; done >> t.csv
    assert_equal "$(propose t.csv | head -n 1)" "column1 ignore" # it counts the rows, the first one too
    { echo 90,a; cat t.csv; } > u.csv
    assert_equal "$(propose u.csv | head -n 1)" "column1 numeric"
}

@test "penguins, and the row numbers that R and pandas write" {
    awk 'BEGIN { split("Adelie Gentoo Chinstrap", s); split("Torgersen Biscoe Dream", i); split("male female NA", g)
        print "\"\",\"species\",\"island\",\"bill_length_mm\",\"body_mass_g\",\"sex\",\"year\""
        for (k = 1; k <= 60; k++) printf "\"%d\",\"%s\",\"%s\",%s,%s,%s,%d\n", k, s[k % 3 + 1], i[k % 2 + 1], k % 9 ? 39 + k / 10 : "NA",
            k % 9 ? 3000 + 25 * k : "NA", g[k % 3 + 1], 2007 + k % 3 }' > t.csv
    assert_equal "$(propose t.csv --label species)" " ignore
species label
island categorical
bill_length_mm numeric indicator
body_mass_g numeric indicator
sex categorical indicator
year numeric"
    assert_equal "$(cat notes)" "dp-import: column '' is left out: it counts the rows"
    assert_equal "$(schema '.columns[5].categories')" '["female","male"]'
}

@test "other delimiters" {
    for delimiter in '\t' '|' ';'; do
        printf "a${delimiter}\"b,c;\"${delimiter}y\n1.5${delimiter}2,3${delimiter}u\n2.5${delimiter}3,4${delimiter}v\n" > t.csv
        propose t.csv | cut -d ' ' -f 1 > names
        assert_equal "$(tr '\n' ' ' < names)" "a b,c; y "
    done
    printf ' 1.5  red 1\n2.5 blue   0 \n3 blue 1\n' > t.csv
    assert_equal "$(propose t.csv)" "column1 numeric
column2 categorical
column3 label"
    dp-import csv -s s.json -q -o t.dp t.csv
    assert_equal "$(dp-info --get rows t.dp)" 3
}

@test "the proposals for Adult, credit default, German credit and the bank, column by column" {
    need_data adult adult.data.gz
    assert_equal "$(propose "$DATA_FILE" | cut -d ' ' -f 2- | tr '\n' ',')" \
        "numeric,categorical indicator,numeric,categorical,numeric,categorical,categorical indicator,categorical,categorical,categorical,numeric,numeric,numeric,categorical indicator,label,"
    need_data credit UCI_Credit_Card.csv.gz
    assert_equal "$(propose "$DATA_FILE" | cut -d ' ' -f 2- | uniq -c | tr -s ' ' | tr '\n' ',')" " 1 ignore, 23 numeric, 1 label,"
    need_data tables german.data.gz # a word for each code, and blanks
    assert_equal "$(propose "$DATA_FILE" | sed 's/^column//' | tr '\n' ',')" "$(for i in $(seq 20); do case $i in
        2 | 5 | 8 | 11 | 13 | 16 | 18) echo "$i numeric" ;; *) echo "$i categorical" ;; esac; done | tr '\n' ',')21 label,"
    assert_equal "$(schema '[.delimiter, .header, .columns[20].classes]')" '[" ",false,["1","2"]]'
    need_data bank bank-full.csv.gz
    assert_equal "$(propose "$DATA_FILE" | cut -d ' ' -f 2- | tr '\n' ',')" \
        "numeric,categorical,categorical,categorical,categorical,numeric,categorical,categorical,categorical,numeric,categorical,numeric,numeric,numeric indicator,numeric,categorical,label,"
}
