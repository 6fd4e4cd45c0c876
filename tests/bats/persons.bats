# The unit of privacy is a person with several rows, which are sampled together, and bounded together.
load helper

prepare() {
    for kind in '2 two' '4 four'; do
        set -- $kind
        dp-synth classification --rows 400 --cols 6 --classes $1 --rows-per-person 4 --seed 4 -o $2.dp -q
    done
}

GATE='dp-account --epsilon 1000 --delta 1e-5 --allow-seeded'

# sums FILE: of the first lap of a stream, as one line of JSON
sums() { dp-cat --kind lap --full "$1" 2> /dev/null | head -1 | jq -c '[.sum.values | flatten[]]'; }

@test "what a person adds is one vector, clipped as one: the sum of a lap is that of NumPy" {
    for what in two:0.5 two:0.2 four:0.7; do
        IFS=: read -r data bound <<< "$what"
        for loss in logistic huberised-hinge; do
            dp-loop -q --laps 1 --seed 3 --exec processes -- "dp-sample --data $data.dp --rate 0.5 | dp-grad --data $data.dp --loss $loss |
                tee raw | dp-clip --data $data.dp --clip $bound | tee clipped | dp-noise -z 1 | $GATE | dp-step --step 1" > /dev/null
            expected=$("$BATS_TEST_DIRNAME/persons.py" clip $data.dp raw $bound | tr -d ' ')
            assert_equal "$(sums clipped)" "$expected"
            [ $data = two ] || continue # of several outputs, dp-grad clips the coefficients of single rows before it rounds them
            dp-loop -q --laps 1 --seed 3 --exec processes -- "dp-sample --data $data.dp --rate 0.5 |
                dp-grad --data $data.dp --loss $loss --clip $bound | tee clipped | dp-noise -z 1 | $GATE | dp-step --step 1" > /dev/null
            assert_equal "$(sums clipped)" "$expected"
        done
    done
}

@test "moments of a person: the sum of a lap is that of NumPy" {
    for bound in 0.7 1 3; do
        dp-loop -q --laps 1 --seed 3 --exec processes -- "dp-sample --data two.dp --mode full | dp-moments --data two.dp --clip $bound |
            tee moments | dp-noise -z 1 | $GATE | dp-transform" > /dev/null 2>&1 || true
        assert_equal "$(sums moments)" "$("$BATS_TEST_DIRNAME/persons.py" moments two.dp $bound | tr -d ' ')"
    done
}

# A table of patients: of `many` there are five rows, all different; p1 … p40 have one or two.
table() {
    cat > s.json << END
{"header": true, "columns": [{"name": "patient_id", "type": "person"}, {"name": "x", "type": "numeric", "bounds": [0, 1000]},
  {"name": "y", "type": "label", "classes": ["no", "yes"]}]}
END
    {
        echo patient_id,x,y
        for i in 1 2 3 4 5; do
            echo "many,$((900 + i)),no"
            for p in 1 2 3 4 5 6 7 8; do echo "p$((8 * i + p)),$((10 * i + p)),yes"; done
            [ $i = 3 ] || echo "p$((8 * i + 2)),$((500 + i)),no"
        done
    } > t.csv
}
xs() { /usr/bin/python3 -c "import numpy; print(*(int(round(1000 * x)) for x in numpy.load('$1/X.npy')[:, 0]))"; }
starts() { /usr/bin/python3 -c "import numpy; print(*numpy.load('$1/persons.npy'))"; }

@test "import: rows of a person are stored together, in the order of the table, and ids are not stored" {
    table
    run dp-import csv t.csv -s s.json --rows-per-person 5 --no-bias -o t.dp
    assert_success
    assert_output "dp-import: t.dp: 41 persons, 1 column, 2 classes
dp-import: every row is divided by 1, the largest norm that the bounds permit; there is no bias column
dp-import: at most 5 rows of one person are kept, and privacy is for all of them together
dp-import: the population is t.csv"
    assert_equal "$(xs t.dp | cut -d' ' -f1-12)" "901 902 903 904 905 11 12 501 13 14 15 16"
    assert_equal "$(starts t.dp | cut -d' ' -f1-6)" "0 5 6 8 9 10"
    assert_equal "$(starts t.dp | tr ' ' '\n' | wc -l)" 42
    run dp-info --verify t.dp
    assert_success
    assert_line "persons    41, with at most 5 rows each"
    assert_equal "$(dp-info --get persons t.dp),$(dp-info --get rows t.dp),$(dp-info --get rows_per_person t.dp)" 41,49,5
    run grep -ra 'p17\|many' t.dp
    assert_failure
}

@test "import: of a person with more rows K are kept, by a secret draw; others keep theirs" {
    table
    for i in $(seq 30); do
        dp-import csv t.csv -s s.json --rows-per-person 2 --no-bias -o "t$i.dp" -q
    done
    /usr/bin/python3 > draws << 'END'
import numpy
for i in range(1, 31):
    x = numpy.rint(1000 * numpy.load(f"t{i}.dp/X.npy")[:9, 0]).astype(int)
    print(*x[:2], "|", *x[2:], "|", *numpy.load(f"t{i}.dp/persons.npy")[:6])
END
    assert_equal "$(cut -d'|' -f2- draws | sort -u)" " 11 12 501 13 14 15 16 | 0 2 3 5 6 7"
    cut -d' ' -f1,2 draws | sort -u > pairs
    # 30 draws of 10 pairs: fewer than 5 different ones have a probability below 1e-6
    [ "$(wc -l < pairs)" -ge 5 ]
    awk '$1 >= $2 || $1 < 901 || $2 > 905 { exit 1 }' pairs
    run dp-import csv t.csv -s s.json --rows-per-person 2 --no-bias -o t.dp -f --private-counts
    assert_line "dp-import: private: 3 rows of persons who have more than are kept, left out"
}

@test "import: --split divides persons" {
    table
    run dp-import csv t.csv -s s.json --rows-per-person 5 --no-bias --split 0.5 -o t.dp --test e.dp
    assert_line "dp-import: t.dp: 20 persons, 1 column, 2 classes; e.dp: 21 persons"
    [ "$(dp-info --get rows t.dp)" -gt 20 ] || [ "$(dp-info --get rows e.dp)" -gt 21 ]
    # a label of 900 or more is one of `many`: all are in one of the two
    many() { xs $1 | tr ' ' '\n' | grep -c '^90'; }
    assert_equal "$(($(many t.dp) * $(many e.dp) + $(many t.dp) + $(many e.dp)))" 5
    dp-info --verify e.dp > /dev/null
}

# 3000 patients with one to four visits each, which the columns of a person's number have.
visits() {
    awk 'BEGIN { srand(3); print "mrn,visit,age,sex,ill"; for (i = 0; i < 3000; i++) { a = int(20 + 60 * rand()); s = rand() < .5; n = 1 + int(4 * rand())
        for (v = 0; v < n; v++) printf "%d,v%d,%d,%s,%s\n", 700000 + 13 * i, v, a, s ? "f" : "m", (a / 80 + .5 * s + .5 * rand() > 1.15) ? "yes" : "no" } }' > visits.csv
}

@test "whose row it is: a name that looks like an identifier is a question, before anything is charged" {
    visits
    ask="column 'mrn' looks like an identifier. If a person may have several rows, --person 'mrn' protects all of them; --row-is-person if each row is another person; nothing was charged"
    complains 5 "dp-import: $ask" dpline fit visits.csv --label ill
    complains 5 "dp-import: $ask" dp-import visits.csv --infer-schema visits.json --private-schema 0.1
    for file in visits.json visits.dp visits.model visits.json.ledger; do assert_not_exists $file; done
    # the same for any rows: the name decides
    awk -F, 'NR == 1 || !seen[$1]++' visits.csv > once.csv
    complains 5 "dp-import: $ask" dpline fit once.csv --label ill
    complains 2 "dp-import: --person: visits.csv has no column 'pid', only mrn, visit, age, sex, ill" dp-import visits.csv --infer-schema x.json --person pid
    complains 2 "dp-import: --person: 'ill' is the label" dp-import visits.csv --infer-schema x.json --person ill --private-schema 0.1
    complains 2 "dp-import: --person: the table is read twice, so it must be a file" dp-import csv - --infer-schema x.json --person mrn
    complains 2 "dp-import: --rows-per-person: --person names the column of persons" dp-import visits.csv --infer-schema x.json --rows-per-person 3
    sed '100s/^[0-9]*/NA/' visits.csv > torn.csv
    complains 1 "dp-import: torn.csv: line 100, column 1 (mrn): the person is missing, got 'NA'" dp-import torn.csv --infer-schema x.json --person mrn --private-schema 0.1
    assert_not_exists x.json
    # a schema that nobody pays for: the rows decide, and a number that repeats is no feature
    complains 5 "dp-import: ${ask/looks like an identifier/looks like an identifier, and repeats}" dp-import visits.csv --infer-schema x.json
    dp-import once.csv --infer-schema once.json -q
    dp-import visits.csv --infer-schema rows.json -q --row-is-person
    for file in once rows; do assert_equal "$(jq -r '.columns[0].type' $file.json)" ignore; done
}

@test "dpline fit --person: the schema, the rows and the model are of persons, and their costs are added" {
    visits
    dpline fit visits.csv --label ill --person mrn > said 2>&1
    grep -qE '^dp-import: the schema cost epsilon 0.1, delta 1e-05: a text is named if about [0-9]* persons of 3000 have it$' said
    grep -qx "dp-import: column 'mrn' is person, rows_per_person 8" said
    grep -q '^dp-import: visits.dp: 2400 persons, ' said
    grep -q '^dpline fit: spent epsilon 1, delta 0.0001; that is for all rows of a person together$' said
    # it depends on the noise of the schema whether a tenth is enough for knots
    grep -q '^dpline fit: by all runs on these people: epsilon 1 at delta 0.0001, by [23] runs and ' said
    assert_regex "$(jq -r 'select(.kind == "open").unit' visits.json.ledger | paste -sd,)" '^person:1(,person:8){1,2}$'
    assert_equal "$(jq -c '[.columns[0], .paid.person]' visits.json)" '[{"name":"mrn","type":"person","rows_per_person":8},"mrn"]'
    # with the schema: nothing else is said of persons, and it is their number that chooses the run
    rm -r visits.dp visits-test.dp visits.model
    for other in --row-is-person "--person visit"; do
        run dpline fit visits.csv $other
        assert_failure 2
        assert_line "dp-import: ${other% visit}: visits.json says whose a row is by column 'mrn'"
    done
    jq 'del(.paid) | .columns[0] = {name: "mrn", type: "ignore"}' visits.json > ignored.json
    complains 2 "dp-import: --person: ignored.json has no column of persons" dp-import visits.csv -s ignored.json --person mrn -o other.dp
    printf '#!/bin/sh\necho "$@" >> %s/asked\nexec %s "$@"\n' "$PWD" "$(command -v dp-fit)" > dp-fit
    chmod +x dp-fit
    PATH=$PWD:$PATH dpline fit visits.csv --person mrn -q --no-ledger
    grep -q -- '--rows 2400 ' asked
    # no row of another meaning
    for other in '.columns[0].type = "ignore" | del(.columns[0].rows_per_person)' \
        '.columns[1] = {name: "visit", type: "person", rows_per_person: 9} | .columns[0] = {name: "mrn", type: "ignore"}'; do
        jq "$other" visits.json > other.json
        complains 5 "dp-import: the schema was paid for with one row of each person: its column of persons must be 'mrn'" dp-import visits.csv -s other.json -o other.dp
    done
    sed 's/"rows_per_person": 8/"rows_per_person": 0/' visits.json > none.json
    complains 1 "dp-import: none.json: column 'mrn': \"rows_per_person\" is a whole number from 1 to 1000000" dp-import visits.csv -s none.json -o other.dp
}

@test "import: what is wrong with persons is said" {
    table
    complains 2 "dp-import: --rows-per-person is required: column 'patient_id' says whose row it is, and how many rows of one person are kept at most is a public number that you choose" \
        dp-import csv t.csv -s s.json -o t.dp
    complains 2 "dp-import: --out: a stream cannot keep the rows of one person together: with \"type\": \"ignore\" for column 'patient_id' each row is taken for one person" \
        dp-import csv t.csv -s s.json --out rows
    sed 's/"person"/"ignore"/' s.json > rows.json
    complains 2 "dp-import: --rows-per-person: no column of the schema has \"type\": \"person\"" dp-import csv t.csv -s rows.json -o t.dp --rows-per-person 3
    sed 's/"x", "type": "numeric"/"x", "type": "person"/' s.json > two.json
    complains 1 "dp-import: two.json: a second person column, 'x'" dp-import csv t.csv -s two.json -o t.dp --rows-per-person 3
    sed 's/^p15,.*/,17,no/' t.csv > empty.csv
    line=$(grep -n '^,17,no' empty.csv | cut -d: -f1)
    for skip in '' '--skip-bad 5'; do # whose it is nobody knows
        complains 1 "dp-import: empty.csv: line $line, column 1 (patient_id): the person is missing, got ''" \
            dp-import csv empty.csv -s s.json -o t.dp --rows-per-person 3 $skip
    done
    # a malformed row of a known person is a null record of this person
    sed 's/^many,903,.*/many,perhaps,no/' t.csv > bad.csv
    dp-import csv bad.csv -s s.json --rows-per-person 5 --no-bias -o t.dp -q --skip-bad 1
    assert_equal "$(xs t.dp | cut -d' ' -f1-6),$(dp-info --get persons t.dp)" "901 902 0 904 905 11,41"
}

@test "persons.npy is checked, and the digest has it" {
    cp -r two.dp bad.dp
    refused() { # EXPRESSION MESSAGE
        /usr/bin/python3 -c "import numpy; p = numpy.load('two.dp/persons.npy'); $1; numpy.save('bad.dp/persons.npy', p)"
        complains 1 "dp-info: $2" dp-info ${3:-} bad.dp
    }
    whole="bad.dp/persons.npy: does not divide 400 rows among 160 persons with 1 to 4 rows each"
    refused 'p[1] = 0' "$whole"
    refused 'p[-1] = 399' "$whole"
    refused 'p = p[:-1]' "$whole"
    refused 'p[5] -= 2' "$whole" # one person has six rows
    refused 'p[2] -= 1' "bad.dp: its contents are not those that dp-import wrote: the digest differs" --verify
    rm bad.dp/persons.npy
    complains 1 "dp-info: cannot open bad.dp/persons.npy: No such file or directory" dp-info bad.dp
}

@test "stages that bound single rows refuse persons with several, and nothing is charged" {
    refused() { # STAGE PIPELINE
        complains 2 "$1: the data set has up to 4 rows of a person, and this stage bounds single rows: import it with --rows-per-person 1" \
            dp-loop -q --laps 2 -o m -- "$2 | dp-account --epsilon 1000 --delta 1e-5 | dp-step"
        [ ! -e two.dp/ledger ]
    }
    refused dp-scd-step "dp-sample --data two.dp --rate 0.1 | dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 1 | dp-noise -z 1"
    refused dp-scd-step "dp-sample --data two.dp --rate 0.1 --inline | dp-scd-step --loss hinge --lambda 1e-3 --clip 1 | dp-noise -z 1"
    refused dp-erm "dp-sample --data two.dp --mode full | dp-erm --data two.dp --loss logistic --lambda 1e-2 --multiplier 2 | dp-noise -z 1"
    refused dp-linesearch "dp-sample --data two.dp --rate 0.1 | dp-grad --data two.dp --loss logistic --clip 1 --keep-batch | dp-noise -z 1 |
        dp-linesearch --data two.dp --same-batch --epsilon 1 --tries 3 --clip 1 --first-step 1"
    complains 2 "dp-select: the data set has up to 4 rows of a person, and this stage bounds single rows: import it with --rows-per-person 1" \
        dp-loop -q --laps 2 -o m -- "dp-breed --data two.dp | dp-sample --data two.dp --mode full | dp-select --data two.dp --loss logistic --epsilon 1 --clip 1 |
            dp-account --epsilon 1000 --delta 1e-5 | dp-step"
    [ ! -e two.dp/ledger ]
}

@test "with one row per person everything works, and the unit is named" {
    table
    dp-import csv t.csv -s s.json --rows-per-person 1 -o t.dp -q
    dp-loop -q --laps 3 -o m -- "dp-sample --data t.dp --rate 0.5 | dp-scd-step --data t.dp --loss hinge --lambda 1e-3 --clip 1 |
        dp-noise -z 9 | dp-account --epsilon 10 --delta 1e-5 | dp-step" > stream
    assert_equal "$(dp-cat --last stream | jq -r .unit)" person:1
    assert_equal "$(head -1 t.dp/ledger | jq -r '.unit, .rows')" "person:1
41"
}

@test "dpline fit: N and what is said are about persons, and steps are no longer than their rows allow" {
    dp-synth classification --rows 6000 --cols 8 --seed 2 --rows-per-person 3 -o small.dp --test test.dp -q
    run dpline fit small.dp --epsilon 1
    assert_success
    assert_line --index 0 "dpline fit: 3000 persons with at most 3 rows each, 8 columns, 2 classes: logistic; epsilon 1, delta 1e-4, the largest power of ten below 1 / persons^1.1"
    assert_line --regexp '^dpline fit: spent epsilon (1|0.99999[0-9]*), delta 0.0001; that is for all rows of a person together$'
    assert_equal "$(dp-info --get n small.model 2> /dev/null || dp-cat --last small.model | jq .n)" 3000
    score() { dp-eval --data test.dp --metrics "$1" --last --in small.model | tail -1 | cut -f3 | awk -v least="$2" '{ exit !($1 >= least) }'; }
    score accuracy 0.85 # 0.928, deviation 0.001
    dp-synth regression --rows 20000 --cols 8 --seed 2 --rows-per-person 20 -o small.dp --test test.dp -q -f # a step for single rows is too long
    dpline fit small.dp --epsilon 4 -q -o small.model --seed 1
    score r2 0.8
}

# charged DATA OPTION…: a run of three laps that writes to both.ledger
charged() {
    dp-loop -q --laps 3 -o "${1%.dp}.model" -- "dp-sample --data $1 --rate 0.1 | dp-grad --data $1 --loss logistic --clip 1 |
        dp-noise -z 9 | dp-account --epsilon 2 --delta 1e-5 --ledger ${LEDGER:-both.ledger} | dp-step --step 1" > /dev/null
}

@test "reports and certificates name the unit, and what rows and what persons have cost is not added up" {
    dp-synth classification --rows 400 --cols 6 --seed 4 -o rows.dp -q # of the same population as two.dp
    charged two.dp
    charged rows.dp
    run dp-account report both.ledger
    assert_success
    assert_line "population dp-synth:classification:4, 160 persons, null-record adjacency"
    assert_line "all rows of a person count together: at most 4 of them"
    assert_line "population dp-synth:classification:4, 400 rows, null-record adjacency"
    assert_line "one row is taken for one person"
    assert_equal "$(grep -c '^spent: .*, by 1 run and 3 laps' <<< "$output")" 2
    assert_equal "$(dp-account report both.ledger --json | jq -c '[.runs[].unit], [.populations[] | [.unit, .rows, .runs]]')" \
        '["person:4","row"]
[["person:4",160,1],["row",400,1]]'
    dp-account certify --model two.model --ledger both.ledger > certificate
    assert_equal "$(jq -r '.unit, .rows' certificate)" "person:4
160"
    dp-account verify --certificate certificate both.ledger > /dev/null
    assert_equal "$(dp-account certify --model rows.model --ledger both.ledger | jq -r .unit)" row
    jq '.unit = "person:3"' certificate > edited
    complains 5 "dp-account verify: the certificate is not what the ledger both.ledger says: 'unit' differs" \
        dp-account verify --certificate edited both.ledger
    jq 'del(.unit)' certificate > edited
    complains 5 "dp-account verify: the certificate is not what the ledger both.ledger says: 'unit' differs" \
        dp-account verify --certificate edited both.ledger
}

@test "a budget is about rows or about persons" {
    dp-synth classification --rows 400 --cols 6 --seed 4 -o rows.dp -q
    dp-account budget --epsilon 3 --delta 1e-4 two.dp > /dev/null
    LEDGER=two.dp/ledger
    charged two.dp
    complains 5 "dp-account: the budget of dp-synth:classification:4 in the ledger two.dp/ledger is about persons with several rows, and the run is about rows: what they cost does not add up" \
        dp-loop -q --laps 3 -o rows.model -- "dp-sample --data rows.dp --rate 0.1 | dp-grad --data rows.dp --loss logistic --clip 1 |
            dp-noise -z 9 | dp-account --epsilon 2 --delta 1e-5 --ledger two.dp/ledger | dp-step --step 1"
    [ ! -e rows.model ]
}

@test "a frame that hides its unit, or that is of another one, is refused" {
    filter hide '
if frame["kind"] == "hello":
    frame.pop("unit", None)'
    complains 5 "dp-scd-step: lap 1 has several rows of a person, and this stage bounds single rows" \
        dp-loop -q --laps 2 -o m -- "dp-sample --data two.dp --rate 0.1 | ./hide | dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 1 |
            dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5 --no-ledger | dp-step"
    filter more '
if frame["kind"] == "lap":
    frame["unit"] = "person:2"'
    complains 5 "dp-grad: a person of lap 1 does not have 1 to 2 rows" \
        dp-loop -q --laps 2 -o m -- "dp-sample --data two.dp --rate 0.5 --inline | ./more | dp-grad --loss logistic --clip 1 |
            dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5 --no-ledger | dp-step --step 1"
}

@test "each line about a run names the unit and how its rows were made private, whatever was paid for" {
    awk 'BEGIN { print "id,x,y"; srand(1)
        for (i = 0; i < 3000; i++) { x = rand(); print "p" int(i / 3) "," x "," (x + rand() > 1 ? "yes" : "no") } }' > t.csv
    echo '{"header": true, "columns": [{"name": "id", "type": "person"}, {"name": "x", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    dp-import t.csv -q -s s.json --rows-per-person 3 -o plain.dp
    dp-import t.csv -q -s s.json --rows-per-person 3 --basis hats --private-knots 0.5 --delta 1e-7 --split 0.7 -o t.dp --test test.dp
    bounded() { echo "dp-sample --data $1 --rate 0.1 | dp-grad --data $1 --loss logistic --clip 1"; }
    dp-loop -q --laps 3 -o m -- "$(bounded t.dp) | dp-noise -z 9 | dp-account --epsilon 2 --delta 1e-5 | dp-step --step 1" > /dev/null
    dp-eval --last --private --epsilon 0.5 --data test.dp m > /dev/null
    dp-loop -q --laps 2 -o s -- "dp-gather --workers 1 --local '$(bounded plain.dp) | dp-site-account -z 9 --epsilon 2 --delta 1e-5' |
        dp-noise -z 9 | dp-account --epsilon 2 --delta 1e-5 --ledger gate | dp-step --step 1" > /dev/null
    assert_equal "$(cat t.dp.ledger gate | jq -c 'select(.kind == "open") | [.unit, .rows, .private_preprocessing]')" '["person:3",700,""]
["person:3",700,"paid-schema"]
["person:3",300,"paid-schema"]
["person:3",1000,""]
["person:3",1000,""]'
    assert_equal "$(jq -r 'select(.kind == "run") | .unit' registry/lines | sort | uniq -c | tr -s ' ')" " 5 person:3"
}
