# tables.sh, dpline tables: counts and means by group with one command.
load helper

# 900 rows, and visits of 300 patients
prepare() {
    export XDG_STATE_HOME=$PWD/state
    awk 'BEGIN { srand(1); print "ward,sex,days,age"; for (i = 0; i < 900; i++) printf "%s,%s,%d,%d\n", substr("ABCDE", 1 + int(5 * rand()), 1), rand() < .5 ? "f" : "m", 30 * rand(), 18 + 70 * rand() }' > u.csv
    jq -n '{header: true, columns: [{name: "ward", type: "label", classes: ["A", "B", "C", "D", "E"]}, {name: "sex", type: "categorical", categories: ["f", "m"]},
        {name: "days", type: "numeric", bounds: [0, 30]}, {name: "age", type: "numeric", bounds: [18, 88]}]}' > u.json
}

@test "one command, whose cost is in the ledger and in the certificate" {
    dpline tables u.csv --by ward,sex --mean days -o out.csv --svg out.svg -q
    assert_equal "$(head -n 1 out.csv)" ward,sex,count,count_low,count_high,mean_days,mean_days_low,mean_days_high
    [ -s out.svg ]
    dp-account report --data u.dp u.dp | grep -q '^spent: epsilon 0.99.* by 1 run and 1 lap'
    dp-account certify --model out.csv.model --data u.dp > certificate
    jq -e '.model_in_ledger and .release == "tables of counts"' certificate
    dp-account verify --model out.csv.model --certificate certificate u.dp
    jq '.release = "synthetic rows"' certificate > other
    complains 5 "dp-account verify: the certificate says that the model is of synthetic rows, and it is of tables of counts" \
        dp-account verify --model out.csv.model --certificate other u.dp
    dp-account report --data u.dp --model out.csv.model --text > page
    grep -q ': tables of counts[.]' page
    run -1 grep 'a model that predicts' page
    complains 2 "dpline tables: u.dp is there already (dpline tables u.dp counts its rows)" dpline tables u.csv --by ward
    complains 2 "dpline tables: --by is required: the columns whose groups are counted" dpline tables u.dp
    complains 2 "dpline tables: the table is missing: dpline tables TABLE --by ward,sex --epsilon 1 (try --help)" dpline tables --by ward
    complains 2 "dp-table plan: there is no column 'nobody'" dpline tables u.dp --by nobody
    dp-account report --data u.dp u.dp | grep -q ' by 1 run and 1 lap' # nothing of the refusals was charged
}

@test "a proposed schema is paid for, and the cost that is said has it" {
    awk 'NR == 1 { print; next } { for (i = 0; i < 5; i++) print }' u.csv > many.csv
    run dpline tables many.csv --by ward,sex --epsilon 1 -o out.csv
    assert_success
    assert_line --regexp '^dpline tables: spent epsilon (1|0[.]9999[0-9]*), delta [0-9.e-]+; one row is taken for one person$'
    assert_equal "$(grep -c . out.csv)" 16 # of each ward f, m and other
    run dp-account report many.json.ledger
    assert_line --regexp '^spent: epsilon (1|0[.]9999[0-9]*) at delta .* by 2 runs'
}

@test "schema and a lap of Gaussian noise are one composition, which costs what was asked and hardly less" {
    awk 'NR == 1 { print; next } { for (i = 0; i < 5; i++) print }' u.csv > many.csv
    dpline tables many.csv --by 'ward,sex;days;age;ward,age;sex,age' --mean days --epsilon 1 --delta 1e-5 --no-registry -o out.csv -q
    assert_equal "$(ledger_noise many.json.ledger)" 'gaussian-threshold gaussian'
    costs_whole many.json.ledger
}

@test "a column that is not there is refused before a schema is paid for, and a column that the schema leaves out after it, which is said" {
    awk -F, -v OFS=, 'NR == 1 { print "note", $0; next } { for (i = 0; i < 5; i++) print "day " NR " " i, $0 }' u.csv > texts.csv
    complains 2 "dpline tables: --by: there is no column 'wrad' in texts.csv" dpline tables texts.csv --by sex,wrad -o out.csv
    complains 2 "dpline tables: --mean: there is no column 'day' in texts.csv" dpline tables texts.csv --by sex --mean day -o out.csv
    # a cell of a row is private, and is not looked at
    complains 2 "dpline tables: --by: there is no column '$(sed -n '2s/^[^,]*,\([^,]*\),.*/\1/p' texts.csv)' in texts.csv" \
        dpline tables texts.csv --by "sex,$(sed -n '2s/^[^,]*,\([^,]*\),.*/\1/p' texts.csv)" -o out.csv
    tr , '|' < texts.csv > bars.csv
    { printf '\xff\xfe' && iconv -t UTF-16LE texts.csv; } > wide.csv
    { echo 'sep=,' && cat texts.csv; } > hint.csv
    for table in bars wide hint; do
        complains 2 "dpline tables: --mean: there is no column 'day' in $table.csv" dpline tables $table.csv --by note,sex --mean day -o out.csv
    done
    [ ! -e texts.json.ledger ]
    run -2 dpline tables texts.csv --by 'ward;note' --row-is-person -q -o out.csv
    # in one of 17 runs the noise cuts the days, which is said too
    assert_line "dp-import: column 'note' is left out: no number, date or text of it is frequent enough: these are names, free texts, or numbers in a notation that is not read"
    assert_line "dp-table plan: there is no column 'note'"
    assert_equal "${lines[-1]}" "dpline tables: the schema has been paid for, epsilon 0.1, and texts.dp has it for the next run"
    dpline tables texts.dp --by ward -q -o out.csv
}

@test "a list that no schema can mend is refused before one is paid for" {
    refused() { complains 2 "dp-table plan: $1" dpline tables u.csv "${@:2}" -o out.csv; }
    mv u.json kept.json
    refused "a table has column 'ward' twice" --by ward,ward
    refused "a table has column 'sex' twice" --by 'ward;sex,ward,sex'
    refused "a table has the sum of 'days' twice" --by ward --mean days,age,days
    refused "there is no column ''" --by ward,
    refused "there is no column ''" --by 'ward;;sex'
    refused "there is no column ''" --by ward --mean days,
    complains 2 "dp-table plan: a table has more than 8 columns" dp-table plan --tables a,b,c,d,e,f,g,h,i
    complains 2 "dp-table plan: a table has more than 8 sums" dp-table plan --tables a --sums a,b,c,d,e,f,g,h,i
    complains 2 "dp-table plan: more than 10000 tables, or 67108864 numbers in them: leave out columns" dp-table plan --tables "$(printf 'a;%.0s' {1..10000})a"
    run -0 dp-table plan --tables 'a,b;a' --sums c
    assert_output ''
    # a blank within a name is of the name, and blanks around names are not
    sed '1s/days/length of stay/' u.csv > blanks.csv
    complains 2 "dpline tables: --mean: there is no column 'length ofstay' in blanks.csv" dpline tables blanks.csv --by sex --mean 'length ofstay' -o out.csv
    [ ! -e u.json.ledger ]
    [ ! -e blanks.json.ledger ]
    dpline tables u.csv --schema kept.json --by ' ward , sex; age' --mean ' days' -q -o out.csv
    assert_equal "$(head -n 1 out.csv)" ward,sex,age,count,count_low,count_high,mean_days,mean_days_low,mean_days_high
}

@test "options that would change nothing are refused" {
    dp-import csv -s u.json -q --basis bins -o other.dp u.csv
    for option in '--without sex' '--schema u.json' '--population us'; do
        complains 2 "dpline rows: ${option% *} is for a table, and other.dp is a data set" dpline rows other.dp $option -o rows.csv
    done
    for option in '--label sex' '--schema u.json' '--population us' '--person sex'; do
        complains 2 "dpline tables: ${option% *} is for a table, and other.dp is a data set" dpline tables other.dp --by sex $option
    done
    complains 2 "dpline rows: --without is for a proposed schema, and u.json says what the columns are" dpline rows u.csv --without sex -o rows.csv
    complains 2 "dpline tables: --label is for a proposed schema, and u.json says what the columns are" dpline tables u.csv --by sex --label sex
    [ ! -e rows.csv ]
    [ ! -e u.dp ]
}

@test "a format that is not counted is refused in words of this command" {
    echo '1 1:0.5' > u.libsvm
    printf 'SQLite format 3\0' > u.sqlite
    for format in libsvm sqlite; do
        message="u.$format is a table of the format $format, and tables of csv, tsv and arff are counted (or a data set of yours: dp-import --basis bins)"
        complains 2 "dpline tables: $message" dpline tables u.$format --by ward
        complains 2 "dpline rows: $message" dpline rows u.$format -o rows.csv
    done
}

@test "no file of the user's is replaced" {
    refused() { complains 2 "dpline $1: $2: $3 is used by this command, and would be replaced" dpline "$1" u.csv --by ward "${@:4}"; }
    mv u.json schema.json
    refused tables -o u.csv -o u.csv
    refused tables -o ./u.json -o ./u.json
    refused tables -o u.dp -o u.dp
    refused tables -o schema.json --schema schema.json -o schema.json
    refused tables --svg u.csv --svg u.csv -o out.csv
    refused tables --svg out.csv --svg out.csv -o out.csv
    refused tables --svg out.csv.model --svg out.csv.model -o out.csv
    complains 2 "dpline rows: -o: u.json is used by this command, and would be replaced" dpline rows u.csv -o u.json
    assert_equal "$(ls -- u.*)" u.csv
    dp-import csv -s schema.json -q --basis bins -o u.dp u.csv
    mkdir v1.2
    cp -r u.csv u.dp v1.2
    for word in "rows u" "tables u" "rows ./u" "tables ../${PWD##*/}/u" "rows v1.2/u"; do
        stem=${word#* }
        for data in "$stem.dp" "$stem.dp/"; do
            complains 2 "dpline ${word% *}: -o: $stem.csv may be the table that $data was made of, and would be replaced" dpline ${word% *} $data -o $stem.csv
        done
    done
    dp-import csv -s schema.json -q -o v.dp u.csv
    for file in u.csv.model u.csv.synthetic; do
        ln -s "$PWD/schema.json" out${file#u}
        complains 2 "dpline rows: -o: out${file#u} is used by this command, and would be replaced" dpline rows u.dp --schema schema.json -o out.csv
        rm out${file#u}
    done
    cp u.csv v.csv
    complains 2 "dpline fit: -o: v.csv may be the table that v.dp was made of, and would be replaced" dpline fit v.dp -o v.csv
    gzip -k u.csv
    complains 2 "dpline rows: -o: u.csv may be the table that u.csv.gz was made of, and would be replaced" dpline rows u.csv.gz -o u.csv
    for word in rows tables fit; do
        complains 2 "dpline $word: -o: u.csv.gz may be the table that u.dp was made of, and would be replaced" dpline $word u.dp -o u.csv.gz
    done
    for word in rows fit; do
        for file in u.dp.ledger u.dp.ledger.mark u.json.ledger u.json; do
            complains 2 "dpline $word: -o: $file is used by this command, and would be replaced" dpline $word u.dp -o $file
        done
        complains 2 "dpline $word: -o: l is used by this command, and would be replaced" dpline $word u.dp --ledger l -o l
        complains 2 "dpline $word: -o: u.dp/dataset.json is in a data set" dpline $word u.dp -o u.dp/dataset.json
    done
    assert_equal "$(head -n 1 u.csv)" ward,sex,days,age
}

@test "nothing is paid for if the run would be refused, or is only printed" {
    for word in rows "tables --by ward"; do
        complains 2 "dpline ${word%% *}: --print: u.csv is a table, and only a run on a data set is printed" dpline $word u.csv --print
    done
    rm -f u.json
    for word in "rows -o rows.csv" "tables --by ward"; do
        run dpline $word u.csv --row-is-person --delta 5e-3 --no-registry
        assert_failure 5
        assert_line --regexp '^dp-import: delta = 0.005 is not below 1/N = '
        assert_not_exists u.json.ledger
    done
}

@test "an identifier is a question, for tables and for rows, and nothing is charged" {
    awk 'NR == 1 { print "patient_id," $0; next } { for (i = 0; i < 5; i++) print "P" NR "," $0 }' u.csv > visits.csv
    message="dp-import: column 'patient_id' looks like an identifier. If a person may have several rows, --person 'patient_id' protects all of them; --row-is-person if each row is another person; nothing was charged"
    complains 5 "$message" dpline tables visits.csv --by ward,sex -o out.csv
    complains 5 "$message" dpline rows visits.csv -q -o rows.csv
    [ ! -e visits.json.ledger ]
    [ ! -e rows.csv ]
    dpline tables visits.csv --by ward,sex --person patient_id --epsilon 8 -o out.csv 2> said
    grep -q '; that is for all rows of a person together$' said
    rm -r visits.*[!v]
    # the last column, a number, is the label
    dpline rows visits.csv --row-is-person -o rows.csv 2> said
    grep -q '^dpline rows: spent epsilon 1, delta .*; one row is taken for one person$' said
    grep -q '^dp-rows draw: do not believe a group of fewer than [0-9]* rows, by two columns or one: noise hides it$' said
    dp-account certify --model rows.csv.model --data visits.dp | jq -e '.release == "synthetic rows"'
    dp-account report --data visits.dp --model rows.csv.model --text > page
    tr "\n" " " < page | grep -q "Rows that are drawn from it belong to nobody"
}

@test "the mean of dates is a date" {
    awk -F, -v OFS=, '{ $3 = NR == 1 ? "day" : sprintf("2026-01-%02d", 1 + (NR % 30)) } 1' u.csv > dates.csv
    jq '.columns[2] = {"name": "day", "type": "numeric", "date": "%Y-%m-%d", "bounds": ["2026-01-01", "2026-01-31"]}' u.json > dates.json
    dp-import csv -s dates.json -q -o dates.dp dates.csv
    dpline tables dates.dp --by sex --mean day --epsilon 10 --seed 1 -q > out
    # the days of 400 rows have a mean at noon of 15 January, with a deviation of .4; the interval is a third of a day wide
    assert_equal "$(awk -F, 'NR > 1 && $5 ~ /^2026-01-1[2-8]$/ && $6 ~ /^2026-01-1[2-8]$/ && $7 ~ /^2026-01-1[2-8]$/' out | wc -l)" "$(($(wc -l < out) - 1))"
    assert_equal "$(head -n 1 out)" sex,count,count_low,count_high,mean_day,mean_day_low,mean_day_high
}

@test "the mean of a label that is a number, or a count" {
    mean=$(awk -F, 'NR > 1 { s += $3 } END { print s / 900 }' u.csv)
    for scale in '' ', "scale": "count"'; do
        echo '{"header": true, "columns": [{"name": "ward", "type": "categorical", "categories": ["A", "B", "C", "D", "E"]}, {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
            {"name": "days", "type": "label", "bounds": [0, 30]'"$scale"'}, {"name": "age", "type": "ignore"}]}' > l.json
        dp-import csv -s l.json -q -f -o l.dp u.csv
        dpline tables l.dp --by sex --mean days --epsilon 10 --seed 1 -q > out
        assert_equal "$(awk -F, -v mean="$mean" 'NR > 1 { n += $2; s += $2 * $5 } END { print (s / n - mean) ^ 2 < .2 }' out)" 1
        # the cells of the label are eight even parts of its bounds
        dpline tables l.dp --by days --epsilon 10 --seed 1 -q > cells
        assert_equal "$(sed -n '2p;9p' cells | cut -d, -f 1 | paste -sd ' ')" '0..3.75 26.25..30'
        assert_equal "$(awk -F, 'FNR == 1 { next } FNR == NR { c[int($3 / 3.75)]++; next } { bad += ($2 - c[FNR - 2]) ^ 2 > 4 } END { print bad + 0 }' u.csv cells)" 0
    done
}
