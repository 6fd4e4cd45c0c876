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
    printf 'Größe;Gewicht;Einkommen;Raucher;krank\n1.75;80,5;1,5;ja;ja\n' > wrong.csv
    complains 1 "dp-import: wrong.csv: line 2, column 1 (Größe): expected a number, got '1.75'" \
        dp-import csv -s public.json -o u.dp wrong.csv
    jq '.decimal = ";"' public.json > odd.json
    complains 1 'dp-import: odd.json: "decimal" is a point or a comma' dp-import csv -s odd.json -o u.dp t.csv
}

@test "a header is found, or is not there" {
    printf '1,2,x\n2,3,y\n' > t.csv
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "column1 column2 column3 "
    printf 'a,b,c\n2,3,y\n' > t.csv
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "a b c "
    printf 'red,big,yes\nblue,small,no\nred,small,no\n' > t.csv # texts alone: red is there twice
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "column1 column2 column3 "
    assert_equal "$(schema '.columns[0].categories')" '["blue","red"]'
    printf 'colour,size,wanted\nblue,small,no\nred,small,no\n' > t.csv
    assert_equal "$(propose t.csv | cut -d ' ' -f 1 | tr '\n' ' ')" "colour size wanted "
    printf '5,a\n6,b\n7,a\n' > t.csv
    for i in $(seq 8 40); do echo "$i,a"; done >> t.csv
    assert_equal "$(propose t.csv | head -n 1)" "column1 ignore" # it counts the rows, the first one too
    { echo 90,a; cat t.csv; } > u.csv
    assert_equal "$(propose u.csv | head -n 1)" "column1 numeric"
}

@test "other delimiters" {
    for delimiter in '\t' '|' ';'; do
        printf "a${delimiter}\"b,c;\"${delimiter}y\n1.5${delimiter}2,3${delimiter}u\n2.5${delimiter}3,4${delimiter}v\n" > t.csv
        propose t.csv | cut -d ' ' -f 1 > names
        assert_equal "$(tr '\n' ' ' < names)" "a b,c; y "
    done
}

@test "the proposals for Adult, credit default and the bank, column by column" {
    need_data adult adult.data.gz
    assert_equal "$(propose "$DATA_FILE" | cut -d ' ' -f 2- | tr '\n' ',')" \
        "numeric,categorical indicator,numeric,categorical,numeric,categorical,categorical indicator,categorical,categorical,categorical,numeric,numeric,numeric,categorical indicator,label,"
    need_data credit UCI_Credit_Card.csv.gz
    assert_equal "$(propose "$DATA_FILE" | cut -d ' ' -f 2- | uniq -c | tr -s ' ' | tr '\n' ',')" " 1 ignore, 23 numeric, 1 label,"
    need_data bank bank-full.csv.gz
    assert_equal "$(propose "$DATA_FILE" | cut -d ' ' -f 2- | tr '\n' ',')" \
        "numeric,categorical,categorical,categorical,categorical,numeric,categorical,categorical,categorical,numeric,categorical,numeric,numeric,numeric,numeric,categorical,label,"
}
