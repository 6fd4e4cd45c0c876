# Schemas that are paid for: dp-import --private-schema, and what runs on such data sets inherit.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR"
    export DPLINE_REGISTRY=$PWD/registry
}

# people ROWS: people.csv
people() {
    awk -v n="$1" 'BEGIN { print "age,job,income"
        for (i = 0; i < n; i++) {
            job = i % 3 == 0 ? "cook" : "smith"; if (i == 5) job = "king"
            print (i % 7 == 0 ? "" : 20 + i % 50) "," job "," (i * 7919 % 100 < 20 + i % 50 ? "yes" : "no") } }' > people.csv
}
# of MODEL FIELD: what its last frame says
of() { dp-info --get "$2" "$1"; }

@test "a schema that is paid for folds categories that differ only in case" {
    awk 'BEGIN { print "sex,hand,ill"; split("F M f m", sex); split("left right", hand)
        for (i = 0; i < 20000; i++) print sex[1 + i % 4] "," hand[1 + i % 2] "," (i % 3 ? "yes" : "no") }' > t.csv
    dp-import t.csv --infer-schema s.json --private-schema 0.5 --no-ledger --noise-seed 1 -q
    assert_equal "$(jq -c '[.columns[0].categories, .columns[1].categories]' s.json)" '[[["F","f"],["M","m"]],["left","right"]]'
    dp-import t.csv -s s.json -q --no-registry --no-bias --row-norm cap -o t.dp
    assert_equal "$(dp-info --get cols t.dp)" 4
}

@test "a schema is paid for at the gate, and models inherit the charge" {
    people 20000
    dp-import people.csv --infer-schema people.json --private-schema 0.2 --delta 1e-7 2> said
    grep -qx 'dp-import: the schema cost epsilon 0.2, delta 1e-07: a text is named if about [0-9]* rows of 20000 have it' said
    # "king", of one row, is named with probability 1.7e-8. The bounds are 16 and 128, or, where a neighbour exceeds the noise, wider:
    # each side once in 44 times.
    assert_equal "$(jq -c '[.columns[1].categories, .columns[0].indicator, .columns[2].classes, .header]' people.json)" \
        '[["cook","smith"],true,["no","yes"],true]'
    jq -e '.columns[0].bounds | .[0] <= 16 and .[1] >= 128' people.json
    most=$(jq '.columns[0].bounds[1]' people.json)
    assert_equal "$(jq -c 'select(.kind == "plan") | .charges[0].queries[0] | [.noise, .named_delta]' people.json.ledger)" \
        '["gaussian-threshold",5e-08]'
    dp-import people.csv -q -s people.json -o people.dp
    assert_equal "$(dp-info --get private_preprocessing people.dp)" paid-schema
    # a value beyond what was paid for is moved to the bound
    sed "2s/.*/1e30,cook,no/; 3s/.*/$most,cook,no/" people.csv > rich.csv
    dp-import rich.csv -q -s people.json -o rich.dp
    assert_equal "$(/usr/bin/python3 -c 'import numpy; x = numpy.load("rich.dp/X.npy"); print(bool((x[0] == x[1]).all()), bool(x[0, 0] > 0))')" "True True"
    fit.sh people.dp --epsilon 1 --delta 1e-5 -o people.model -q
    assert_equal "$(of people.model epsilon | awk '{ print ($1 > 0.99 && $1 <= 1) }') $(of people.model delta)" "1 9.999999990000001e-06"
    dp-account report --data people.dp people.json.ledger > report
    grep -q '^spent: epsilon 1 at delta 1e-05' report
    dp-account certify --data people.dp --model people.model > certificate
    assert_equal "$(jq -c '[(.runs | length), .private_preprocessing, (.epsilon > 0.999 and .epsilon <= 1.0000001)]' certificate)" '[2,["paid-schema"],true]'
    dp-account verify --certificate certificate --model people.model people.json.ledger
    # each page says that the schema was paid for
    assert_equal "$(dp-info people.dp | grep '^privacy')" "privacy    the schema was paid for: epsilon 0.2, delta 1e-07, which models inherit"
    dp-info people.model | grep -qx '  bounds, categories or knots of the table were paid for: epsilon includes them'
    grep -q '  done  schema paid for$' report
    dp-account report --data people.dp --model people.model -o page.html people.json.ledger
    grep -q 'paid for: ε includes them' page.html
    refute grep -q 'Not paid for' page.html
    # without privacy or with another adjacency nothing is forgotten silently
    complains 5 "dp-account: the schema was charged under null-record adjacency, this run is under replace-one: they do not add up" \
        fit.sh people.dp --epsilon 1 --delta 1e-5 --adjacency replace-one -o other.model -q
    complains 3 "dp-fit: the schema of people.dp has cost epsilon 0.2 at delta 1e-07: --epsilon and --delta must be above that" \
        fit.sh people.dp --epsilon 0.2 -o other.model -q
}

# loop DATA MODEL OPTION…: a run of its own, not planned within what is left by the schema
loop() {
    dp-loop --laps 3 -q -o "$2" -- "dp-sample --data $1 --rate 0.1 | dp-grad --data $1 --loss logistic --clip 1 | dp-noise -z 20 |
        dp-account --epsilon 1 --delta 1e-5 ${*:3} | dp-step --step 1" > stream
}

@test "a model states what its schema has cost, epsilon and delta, also without a ledger" {
    people 20000
    dp-import people.csv -q --infer-schema people.json --private-schema 0.25 --delta 3e-6
    dp-import people.csv -q -s people.json -o paid.dp
    jq 'del(.paid, .private_preprocessing)' people.json > own.json
    dp-import people.csv -q -s own.json -o own.dp
    loop own.dp own.model --no-ledger
    for ledger in --no-ledger ''; do
        loop paid.dp paid.model $ledger
        /usr/bin/python3 -c "assert abs($(of paid.model epsilon) - $(of own.model epsilon) - 0.25) < 1e-6 and $(of own.model epsilon) < .3"
        /usr/bin/python3 -c "assert abs($(of paid.model delta) - 1.3e-5) < 1e-12 and abs($(of own.model delta) - 1e-5) < 1e-12"
        dp-cat --last paid.model | jq -e '.prior_epsilon == 0.25 and .prior_delta == 3e-6'
        # and so does a model that is trained from it
        dp-loop --init paid.model --laps 3 -q -o next.model -- "dp-sample --data paid.dp --rate 0.1 | dp-grad --data paid.dp --loss logistic --clip 1 |
            dp-noise -z 20 | dp-account --epsilon 1 --delta 1e-5 $ledger | dp-step --step 1" > stream
        /usr/bin/python3 -c "assert abs($(of next.model delta) - 2.3e-5) < 1e-12 and $(of next.model epsilon) > $(of paid.model epsilon)"
    done
}

@test "a second schema is a second charge, and noise of one seed is the same" {
    people 20000
    dp-import people.csv -q --infer-schema a.json --private-schema 0.2
    dp-import people.csv -q --infer-schema b.json --private-schema 0.2
    [ ! -e b.json.ledger ]
    assert_equal "$(jq -c 'select(.kind == "close").epsilon < 0.2000001' a.json.ledger)" "true
true"
    dp-import people.csv -q --infer-schema c.json --private-schema 0.2 --noise-seed 7
    dp-import people.csv -q --infer-schema d.json --private-schema 0.2 --noise-seed 7
    cmp c.json d.json
    assert_equal "$(jq -c '[.paid, .private_preprocessing]' c.json)" '[null,["inferred-schema"]]'
    assert_equal "$(wc -l < a.json.ledger)" 6
}

@test "a budget that has no room for a schema is no reason to look without paying" {
    people 20000
    dp-import people.csv -q --infer-schema a.json --private-schema 0.2
    dp-import people.csv -q -s a.json -o a.dp
    dp-account budget --epsilon 0.21 --delta 1e-5 --after-runs a.dp > /dev/null
    run fit.sh people.csv --label income --epsilon 1 -q
    assert_equal "$status" 5
    assert_not_exists people.json
    assert_not_exists people.dp
}

@test "a table that is too small is not looked at, or is said to be" {
    people 300
    complains 5 "dp-import: --private-schema: people.csv is too small: noise for epsilon = 0.1 would hide a text of a quarter of the rows; nothing was charged: --classes and a schema of your own need no payment; dpline fit --unpaid-schema pays nothing, and then epsilon does not cover the schema" \
        dp-import people.csv --infer-schema people.json --private-schema 0.1
    assert_not_exists people.json
    assert_not_exists people.json.ledger
    # fit pays up to three tenths, and says no as well, before it is told that nobody pays
    people 150
    run fit.sh people.csv --label income
    assert_failure 5
    assert_line --partial "epsilon = 0.3 would hide"
    assert_not_exists people.json
    assert_not_exists people.json.ledger
    run fit.sh people.csv --label income --adjacency replace-one
    assert_failure 2
    assert_output "fit.sh: --adjacency: a schema is paid for under null-record: --schema names one of yours, --unpaid-schema does without"
    fit.sh people.csv --label income --unpaid-schema 2> said
    assert_equal "$(head -n 1 said)" "fit.sh: --unpaid-schema: nothing is paid for people.json, and epsilon does not cover it"
    assert_equal "$(jq -c '[.paid, .private_preprocessing]' people.json)" '[null,["inferred-schema"]]'
}

@test "a small table pays as much more as its numbers of rows and columns ask for" {
    people 700 # 308 have the rarer class, which is not named in 2e-9 of the runs
    dp-import people.csv --infer-schema people.json --private-schema 0.1 --at-most 0.3 2> said
    grep -q '^dp-import: the schema cost epsilon 0.244141, delta 1e-05: ' said
    assert_equal "$(jq '.paid.epsilon' people.json) $(jq 'select(.kind == "open").epsilon' people.json.ledger)" \
        "0.244140625 0.244140625"
    complains 5 "dp-import: --private-schema: people.csv is too small: noise for epsilon = 0.2 would hide a text of a quarter of the rows; nothing was charged: --classes and a schema of your own need no payment; dpline fit --unpaid-schema pays nothing, and then epsilon does not cover the schema" \
        dp-import people.csv --infer-schema other.json --private-schema 0.1 --at-most 0.2
    complains 2 "dp-import: --at-most: must be at least --private-schema" \
        dp-import people.csv --infer-schema other.json --private-schema 0.1 --at-most 0.09
    rm people.json*
    fit.sh people.csv --label income --epsilon 1 2> said
    grep -q '^dp-import: the schema cost epsilon 0.244141, ' said
    refute grep -q 'does not cover' said
    assert_equal "$(of people.model epsilon | awk '{ print ($1 > 0.99 && $1 <= 1) }')" 1
}

@test "fit pays a tenth for the schema of a table, within epsilon" {
    people 20000
    fit.sh people.csv --label income --epsilon 2 2> said
    grep -q 'dp-import: the schema cost epsilon 0.2, ' said
    assert_equal "$(of people.model epsilon | awk '{ print ($1 > 1.99 && $1 <= 2) }')" 1
    refute grep -q 'does not cover' said
    dp-predict people.model people.csv > scores.csv
    assert_equal "$(wc -l < scores.csv)" 20001
}

@test "a schema that is paid for has nothing but noised counts: tables with the same counts have the same schema" {
    awk 'BEGIN { print "age,born,job,id,ill"; for (i = 0; i < 20000; i++)
        print 20 + i % 40 + i / 1e5 ",2001-" 1 + i % 12 "-" 1 + i % 28 "," (i % 2 ? "cook" : "none") "," i "," (i % 3 ? "yes" : "no") }' > t.csv
    sed '2s/.*/17,2001-12-31,none,0,no/; 41s/.*/63.99,2001-1-31,cook,39,no/' t.csv > other.csv
    propose() { dp-import "$1.csv" --infer-schema "$1.json" --private-schema 3 --row-is-person --no-ledger --noise-seed 1 --delta 1e-7 -q -f "${@:2}"; }
    awk -F , '{ print $3, $5 }' t.csv | sort | uniq -c > texts
    awk -F , '{ print $3, $5 }' other.csv | sort | uniq -c | cmp - texts
    propose t
    propose other
    cmp t.json other.json
    assert_equal "$(jq -c '[.columns[0].bounds, .columns[3].type, .columns[4].classes, .note]' t.json)" '[[16,64],"ignore",["no","yes"],null]'
    # nobody pays, and extremes are there
    dp-import other.csv --infer-schema other.json -q -f
    assert_equal "$(jq -c '[.columns[0].bounds, .private_preprocessing]' other.json)" '[[17,63.99],["inferred-schema"]]'
    # what was paid is not enough, and there is no schema, although the rows have bounds
    awk 'BEGIN { print "age,ill"; for (i = 0; i < 2000; i++) print i % 40 ",c" i % 400 }' > rare.csv
    run propose rare
    assert_failure 5
    assert_output "dp-import: no class or number (a date is neither) of the label is frequent enough for what was paid, epsilon 3: --classes and a schema of your own need no payment; dpline fit --unpaid-schema pays nothing, and then epsilon does not cover the schema"
    assert_not_exists rare.json
}

@test "words for missing values are the same in any case, whether a schema is paid for or not" {
    awk 'BEGIN { split("n/A NULL nan K.a. - 7 8 9 10", cell); print "x,y"; for (i = 0; i < 20000; i++) print cell[1 + i % 9] "," (i % 2 ? "a" : "b") }' > t.csv
    dp-import t.csv --infer-schema s.json -q
    assert_equal "$(jq -c '[.columns[0].type, .columns[0].indicator, (.missing | sort)]' s.json)" '["numeric",true,["-","K.a.","NULL","n/A","nan"]]'
    dp-import t.csv -s s.json -q -o t.dp
    dp-import t.csv --infer-schema p.json --private-schema 0.5 --no-ledger --noise-seed 1 -q
    assert_equal "$(jq -c '[.columns[0].type, .columns[0].indicator]' p.json)" '["numeric",true]'
    jq '.columns[0].bounds = [7, 10] | del(.columns[0].missing)' p.json > b.json
    dp-import t.csv -s b.json -q -o p.dp
    cmp t.dp/X.npy p.dp/X.npy
}

@test "rare classes: rows of zeros, or one class for all texts that are not named" {
    # 900 of 20000 have a class that is not named: at this delta one of them is in 1.5e-8 of the runs
    people 20000
    awk -F , -v OFS=, 'NR > 2 && NR <= 902 { $3 = "maybe" NR } { print }' people.csv > rare.csv && mv rare.csv people.csv
    fit.sh people.csv --label income --epsilon 2 --delta 1e-9 -q 2> said
    grep -qx "dp-import: column 'income': about [0-9]* rows, give or take [0-9]*, have no label, or a class that is too rare to be named: they teach nothing, are not measured, and it is never predicted (--classes names it)" said
    assert_equal "$(jq -c '.columns[2] | [.classes, .unknown]' people.json)" '[["no","yes"],"zero"]'
    # such rows are measured nowhere
    dp-predict people.model people-test.dp -H > predicted 2> said
    grep -qx 'dp-predict: [0-9]* of 4000 rows have no label, and no features in a data set: their predictions are empty' said
    /usr/bin/python3 - << 'PYTHON'
import numpy
zero = (numpy.load("people-test.dp/X.npy") == 0).all(axis=1)
assert zero.sum() > 100
assert set(numpy.array(open("predicted").read().split())[zero]) == {'""'} and (numpy.load("people-test.dp/nulls.npy") == zero.nonzero()[0]).all()
PYTHON
    jq '.columns[2].unknown = "other"' people.json > other.json
    complains 1 "dp-import: other.json: column 'income': \"unknown\" is zero, or the name of a class" dp-import people.csv -s other.json -o other.dp
    rm -r people.* people-test.dp
    # nearly all have one class. The 5 others are named with probability 3.4e-7.
    awk 'BEGIN { print "age,ill"; for (i = 0; i < 9000; i++) print 20 + i % 50 "," (i % 1800 < 1 ? "yes" : i % 1800 < 2 ? "" : "no") }' > rare.csv
    fit.sh rare.csv --label ill --epsilon 1 2> said
    grep -q "^dp-import: column 'ill': only 'no' is frequent enough to be named: all other texts are one class, of about [0-9]* rows, " said
    assert_equal "$(jq -c '[.columns[1].classes, .columns[1].unknown, .private_preprocessing]' rare.json)" '[["no","not no"],"not no",null]'
    refute grep -q 'does not cover' said
    # of 10 rows without a label and 10 others: one row in 7200 and 1800 is null
    /usr/bin/python3 -c "
import numpy
y = [numpy.load(d + '/y.npy') for d in ('rare.dp', 'rare-test.dp')]
null = [numpy.load(d + '/nulls.npy') for d in ('rare.dp', 'rare-test.dp')]
assert len(null[0]) + len(null[1]) == 5
assert sum((a == 1).sum() for a in y) == 5, [set(a) for a in y]"
}

# facts DIR: how many classes, and rows without a label
facts() { echo "$(dp-info --get classes "$1") $(/usr/bin/python3 -c "import numpy; print(len(numpy.load('$1/nulls.npy')))")"; }
# labels: the JSON of the label in s.json
labels() { jq -c '.columns[] | select(.type == "label") | [.classes, .unknown, .bounds]' s.json; }

@test "classes that the user names are not paid for, however rare" {
    awk 'BEGIN { print "age,ill"; for (i = 0; i < 3000; i++) print 20 + i % 50 "," (i % 100 < 2 ? "yes" : i % 100 < 3 ? "" : i % 100 < 13 ? "maybe" : "NO") }' > t.csv
    propose() { dp-import t.csv --infer-schema s.json --private-schema 1 --no-ledger --noise-seed 2 -f "$@" 2> said; }
    propose --classes no,yes
    assert_equal "$(labels)" '[[["no","No","NO"],["yes","Yes","YES"]],"zero",null]'
    grep -qE "^dp-import: column 'ill': about 3[0-9]{2} rows, give or take [0-9]*, have no label, or one that --classes does not name: they teach nothing, are not measured, " said
    dp-import t.csv -s s.json --label ill --classes no,yes -q -o t.dp
    assert_equal "$(facts t.dp)" "2 330"
    # a whole number may have a point
    awk 'BEGIN { print "age,ill"; split("0 1 0.0 1.0", y, " "); for (i = 0; i < 3000; i++) print 20 + i % 50 "," y[1 + i % 4] }' > n.csv
    dp-import n.csv --infer-schema n.json --private-schema 1 --no-ledger --noise-seed 2 --classes 0,1 -q
    dp-import n.csv -s n.json -q -o n.dp
    assert_equal "$(jq -c '.columns[1].classes' n.json) $(facts n.dp)" '[["0","0.0"],["1","1.0"]] 2 0'
    # one class against all others that are not empty
    propose --label ill=yes
    assert_equal "$(labels)" '[["not yes",["yes","Yes","YES"]],"not yes",null]'
    dp-import t.csv -s s.json --label ill=yes -q -f -o t.dp
    assert_equal "$(facts t.dp)" "2 30"
    # a class that hardly a row has is said
    propose --label ill=Sick || assert_equal $? 5
    grep -qE "^dp-import: column 'ill': about [0-9]+ rows, give or take [0-9]+, have the class 'Sick'" said
    # what a schema says is not said otherwise
    complains 2 "dp-import: --label: s.json says that the label has the classes not Sick, Sick" dp-import t.csv -s s.json --label ill=yes -o u.dp
    complains 2 "dp-import: --label: s.json says that the label is 'ill'" dp-import t.csv -s s.json --label age -o u.dp
    complains 2 "dp-import: --number: s.json says that the label has the classes not Sick, Sick" dp-import t.csv -s s.json --number -o u.dp
    complains 2 "dp-import: --label COLUMN=CLASS, --classes and --number exclude each other" \
        dp-import t.csv --infer-schema s.json -f --label ill=yes --classes no,yes
    # the same from exact facts, with exact counts
    dp-import t.csv --infer-schema s.json -f --classes no,yes 2> said
    grep -qx "dp-import: column 'ill': 330 rows have no label, or one that --classes does not name: they teach nothing, are not measured, and it is never predicted (--classes names it)" said
    dp-import t.csv --infer-schema s.json -f --label ill=Sick 2> said
    grep -qx "dp-import: column 'ill': no row has the class 'Sick'; 30 rows have no label: they teach nothing and are not measured" said
}

@test "columns that are left out are neither counted nor asked about" {
    awk 'BEGIN { print "patient_id,age,job,ill"; for (i = 0; i < 3000; i++) print i "," 20 + i % 50 "," (i % 3 ? "cook" : "smith") "," (i % 4 ? "no" : "yes") }' > t.csv
    for how in "--without patient_id,job" "--columns age"; do
        for paid in "--private-schema 0.5 --no-ledger --noise-seed 2" ""; do
            dp-import t.csv --infer-schema s.json -f $paid $how 2> said
            assert_equal "$(jq -c '[.columns[].type]' s.json)" '["ignore","numeric","ignore","label"]'
            grep -qx "dp-import: column 'job' is left out: so the options say" said
        done
    done
    complains 2 "dp-import: --without: t.csv has no column 'jobs', only patient_id, age, job, ill" dp-import t.csv --infer-schema s.json -f --without jobs
    for how in '--without patient_id,age,job,ill' '--columns ill'; do
        # shellcheck disable=SC2086 # words
        complains 2 'dp-import: t.csv: the options leave no feature' dp-import t.csv --infer-schema s.json -f --private-schema 1 --row-is-person $how
    done
    complains 2 "dp-import: --columns: t.csv has no column '', only patient_id, age, job, ill" dp-import t.csv --infer-schema s.json -f --columns age,
}

@test "a label is a number or classes: a guess is said, and an option decides" {
    awk 'BEGIN { print "age,visits"; for (i = 0; i < 3000; i++) print 20 + i % 50 "," (i % 10 == 0 ? "" : i % 3 ? 0 : i % 9 ? "1.0" : 1) }' > t.csv
    for paid in "--private-schema 1 --no-ledger --noise-seed 2" ""; do
        propose() { dp-import t.csv --infer-schema s.json $paid -f "$@" 2> said; }
        propose
        grep -qx "dp-import: column 'visits' is taken for classes, a guess: --number takes it for a number" said
        assert_equal "$(labels)" '[["0",["1","1.0"]],"zero",null]'
        grep -qE "^dp-import: column 'visits': (300 rows|about [23][0-9]{2} rows, give or take [0-9]+,) have no label" said
        propose --number
        refute grep -q guess said
        jq -e '.columns[1] | .classes == null and .unknown == "zero" and .bounds[0] == 0' s.json
        # rows without a number are null
        dp-import t.csv -s s.json -q -f -o t.dp
        assert_equal "$(facts t.dp)" "0 300"
    done
    awk 'BEGIN { print "age,ill"; for (i = 0; i < 3000; i++) print 20 + i % 50 "," (i % 2 ? "Y" : i % 3 ? "Yes" : "no") }' > t.csv
    propose
    grep -qF "dp-import: column 'ill': 'Y' and 'Yes' are taken for one of its classes, a guess, which the schema decides" said
    jq -ec '.columns[1].classes == ["no", ["Y", "Yes"]]' s.json
    complains 1 "dp-import: --number: the label 'ill' of t.csv has cells that cannot be read as numbers" dp-import t.csv --infer-schema s.json -f --number
}

@test "spellings of one word: Y is yes, and F may be Female, which is said" {
    awk 'BEGIN { srand(3); split("Y Yes y yes N No n no", a, " "); split("F Female M male", b, " "); print "age,sex,out"
        for (i = 0; i < 8000; i++) print 20 + i % 50 "," b[1 + int(4 * rand())] "," a[1 + i % 8] }' > t.csv
    for how in "--private-schema 1 --no-ledger --row-is-person" ""; do
        dp-import t.csv --infer-schema s.json -f --label out --no-registry $how 2> said
        jq -ec '.columns[2].classes == [["N", "n", "No", "no"], ["Y", "y", "Yes", "yes"]]' s.json
        jq -ec '.columns[1].categories == ["F", "Female", "M", "male"]' s.json
        grep -qF "dp-import: column 'out': 'Y' and 'yes' are taken for one of its classes, a guess, which the schema decides" said
        grep -qF "dp-import: column 'sex': 'M' and 'male' are taken for two categories, a guess: [\"M\", \"male\"] in the schema's \"categories\" makes them one" said
    done
}

@test "a count of which only the small values are frequent is a number, and no patient is dropped" {
    # visits to a doctor, made up: most patients have none, and few have more than one
    awk 'BEGIN { print "age,visits"; split("4200 750 180 32 25 10 11 11 5 1", n, " ")
        for (k = 1; k <= 10; k++) for (i = 0; i < n[k]; i++) print 20 + (i + 5 * k) % 60 "," k - 1 }' > t.csv
    for how in "3 --noise-seed 1" "3 --noise-seed 2" "0.4 --noise-seed 3" "0.1 --noise-seed 4"; do
        dp-import t.csv --infer-schema s.json -f --label visits --private-schema $how --no-ledger --no-registry 2> said
        grep -qx "dp-import: column 'visits' is taken for a number, a guess: --classes A,B,... takes it for classes" said
        jq -ec '.columns[1] | .classes == null and .bounds[0] == 0 and .bounds[1] >= 4' s.json
        dp-import t.csv -s s.json -q -f --no-registry -o t.dp
        assert_equal "$(facts t.dp)" "0 0"
    done
    # 0 and 1 that nothing larger follows are classes
    awk -F , -v OFS=, 'NR == 1 || $2 < 2' t.csv > u.csv
    dp-import u.csv --infer-schema s.json -f --label visits --private-schema 0.4 --noise-seed 1 --no-ledger --no-registry 2> said
    jq -ec '.columns[1].classes == ["0", "1"]' s.json
    # texts are no numbers: 3 % of them leave three classes, and 20 % of them are said
    awk 'BEGIN { print "age,visits"; for (i = 0; i < 5000; i++) print 20 + i % 60 "," (i % 100 < 3 ? "t" i : i % 3) }' > u.csv
    dp-import u.csv --infer-schema s.json -f --label visits --private-schema 1 --noise-seed 1 --no-ledger --no-registry 2> said
    jq -ec '.columns[1].classes == ["0", "1", "2"]' s.json
    awk 'BEGIN { print "age,visits"; for (i = 0; i < 5000; i++) print 20 + i % 60 "," (i % 100 < 20 ? "t" i : i % 3) }' > u.csv
    dp-import u.csv --infer-schema s.json -f --label visits --private-schema 1 --noise-seed 1 --no-ledger --no-registry 2> said
    grep -qE "^dp-import: column 'visits': about (9[5-9]|10[0-4])[0-9] rows, give or take [0-9]*, have no label that is a number: they teach nothing and are not measured$" said
    dp-import u.csv -s s.json -q -f --no-registry -o t.dp
    assert_equal "$(facts t.dp)" "0 1000"
}

@test "dp-tune charges a schema once" {
    people 20000
    dp-import people.csv -q --infer-schema people.json --private-schema 0.2 --delta 1e-7
    dp-import people.csv -q -s people.json --split 0.8 -o train.dp --test test.dp
    printf 'step\n0.5\n1\n' > grid
    dp-tune --grid grid --trials all --score-data test.dp --metric accuracy --score-multiplier 50 --epsilon 1 --delta 1e-5 \
        -o tuned.model -q -- 'dp-loop --laps 5 -- "dp-sample --data train.dp --rate 0.1 |
        dp-grad --data train.dp --loss logistic --clip 1 | dp-noise --multiplier 20 | dp-account --trial {trial} |
        dp-step --step {step}"'
    assert_equal "$(of tuned.model prior_epsilon)" 0.2
    assert_equal "$(jq -c 'select(.kind == "open") | has("init")' people.json.ledger)" "false
true"
    assert_equal "$(of tuned.model epsilon | awk '{ print ($1 > 0.2 && $1 < 1.2) }')" 1
}

@test "dpline fit TABLE --no-registry charges the schema and the run in one ledger" {
    people 20000
    fit.sh people.csv --label income --epsilon 1 --no-registry -q
    assert_equal "$(jq -c 'select(.kind == "open") | .epsilon' people.json.ledger)" "0.1
0.1
1"
}

# mu_of RUN...: the root of the sum of 1/z^2 over the Gaussian noise of the close lines of the ledger, from that line on
mu_of() {
    jq -s --argjson n "$1" '[[.[] | select(.kind == "close")][$n].charges[] | .laps as $laps | .queries[] | $laps / (.multiplier * .multiplier)] |
        add | sqrt' "${2:-people.json.ledger}"
}

@test "schema, knots and run of a table are one composition, and nothing of it is left out" {
    people 20000
    fit.sh people.csv --label income --epsilon 1 --no-registry -q
    # the run has the charges of the schema and of the knots, and its own
    all=$(mu_of 2) schema=$(mu_of 0) knots=$(mu_of 1)
    assert_equal "$(jq -c 'select(.kind == "close") | .charges[0]' people.json.ledger | sort -u | grep -c threshold)" 1
    # delta(1) of one Gaussian of that mu, and the delta for names: an independent computation
    run python3 -c "
from math import erfc, exp, sqrt
def above(x): return erfc(x / sqrt(2)) / 2
mu = $all
print(0.5e-6 + above(1 / mu - mu / 2) - exp(1) * above(1 / mu + mu / 2))"
    assert_success
    awk -v delta="$output" 'BEGIN { exit !(delta <= 1e-5 && delta > 0.999e-5) }'
    # and the calculator has the same list
    jq -s -c '[.[] | select(.kind == "close")][2].charges[]' people.json.ledger > list
    run dp-account epsilon --delta 1e-5 --json list
    assert_success
    awk -v e="$(jq .epsilon <<< "$output")" 'BEGIN { exit !(e <= 1 && e > 0.999) }'
    # the run has nearly all of it: by addition it had .85
    awk -v all="$all" -v schema="$schema" -v knots="$knots" 'BEGIN { exit !(sqrt(all^2 - schema^2 - knots^2) > 0.97 * all) }'
    # statements: the model, its certificate and the report of the people
    assert_equal "$(dp-info --get epsilon people.model | awk '{ print ($1 <= 1 && $1 > 0.999) }') $(dp-info --get delta people.model)" "1 1e-05"
    dp-account certify --ledger people.json.ledger --model people.model > certificate
    assert_equal "$(jq -c '[.epsilon <= 1, .delta, (.runs | length), .not_in_ledger]' certificate)" '[true,1e-05,1,null]'
    run dp-account report people.json.ledger
    assert_line --partial "spent: epsilon 1 at delta 1e-05, by 3 runs"
    dp-account verify people.json.ledger
    # a budget of the people begins with the cost of the composition, not with the sum of its parts
    dp-account budget people.json.ledger --data people.dp --epsilon 2 --delta 2e-5 --after-runs --addition --no-registry
    assert_equal "$(jq -s '[.[] | select(.kind == "budget")][-1].before | [.epsilon <= 1, .delta]' -c people.json.ledger)" '[true,1e-05]'
    # a second run on the same data set has another budget, as large
    fit.sh people.dp --epsilon 1 --no-registry -q -o second
    run dp-account report people.json.ledger
    assert_line --partial "spent: epsilon 2 at delta 2e-05"
    # and no third one fits
    run fit.sh people.dp --epsilon 1 --no-registry -q -o third
    assert_failure 5
}

@test "a small budget pays more of itself for a schema, and no more than itself in all" {
    people 20000
    fit.sh people.csv --label income --epsilon 0.1 --no-registry -q
    assert_equal "$(jq -s -c '[.[] | select(.kind == "open")][0].epsilon' people.json.ledger)" 0.04
    run dp-account report people.json.ledger
    assert_line --partial "spent: epsilon 0.1 at delta 1e-05, by"
}

@test "a run is one composition with a schema only under the budget that was fixed before it" {
    people 20000
    fit.sh people.csv --label income --epsilon 1 --no-registry -q
    # another budget: the cost of the schema is added
    fit.sh people.dp --epsilon 2 --no-registry -q -o second --print | grep -q -- --with-schema && false
    fit.sh people.dp --epsilon 2 --no-registry -q -o second
    assert_equal "$(jq -s '[.[] | select(.kind == "open")][-1].epsilon' people.json.ledger)" 1.8
    gate() {
        run dp-loop --laps 2 -q -- "dp-sample --data ${2:-people.dp} --mode full | dp-grad --data ${2:-people.dp} --loss logistic --clip 1 |
            dp-noise --multiplier 100 | dp-account $1 --no-ledger | dp-step --step 1"
    }
    gate "--epsilon 2 --delta 1e-5 --with-schema"
    assert_failure 5
    assert_output --partial "--with-schema: the schema was paid for as a part of epsilon 1 at delta 1e-05"
    gate "--epsilon 1 --delta 1e-5 --with-schema"
    assert_success
    gate "--epsilon 1 --delta 1e-5 --with-schema --adaptive"
    assert_failure 2
    dp-import people.csv --schema <(jq 'del(.paid)' people.json) -o free.dp -q
    gate "--epsilon 1 --delta 1e-5 --with-schema" free.dp
    assert_failure 5
    assert_output --partial "--with-schema: the schema of the data set was not paid for as a part of a budget"
    # samples are no Gaussian mechanism of all rows
    run dp-loop --laps 2 -q -- "dp-sample --data people.dp --rate 0.1 | dp-grad --data people.dp --loss logistic --clip 1 |
        dp-noise --multiplier 100 | dp-account --epsilon 1 --delta 1e-5 --with-schema --no-ledger | dp-step --step 1"
    assert_failure 5
    assert_output --partial "--with-schema: a lap is no Gaussian mechanism of all rows"
}

@test "a composition that leaves out a charge is refused, by the gate and by each reader of the ledger" {
    people 20000
    fit.sh people.csv --label income --epsilon 1 --no-registry -q
    edit=people.dp/dataset.json
    jq '.paid.charges |= .[:1]' $edit > less && cp less $edit
    run fit.sh people.dp --epsilon 1 --no-registry -q -o second
    assert_failure 5
    assert_output --partial "the schema has not cost in the ledger people.json.ledger what its data set says"
}

@test "a ledger whose chain fits, but whose run leaves out what its knots have cost, is refused" {
    numbers 20000
    fit.sh numbers.csv --epsilon 1 -q --no-registry
    forge() { # the last line but MORE, after an edit, with the hash that fits
        /usr/bin/python3 - "$1" "$2" << 'P'
import hashlib, json, sys
lines = [json.loads(line) for line in open("numbers.dp.ledger")]
lines = lines[:len(lines) - int(sys.argv[1])]
line = lines[-1]
exec(sys.argv[2])
line.pop("hash")
body = json.dumps(line, separators=(",", ":"))[:-1]
mark = hashlib.blake2b(body.encode(), digest_size=32).hexdigest()
kept = open("numbers.dp.ledger").read().splitlines(True)[:len(lines) - 1]
open("forged", "w").write("".join(kept) + body + ',"hash":"' + mark + '"}\n')
open("forged.mark", "w").write(line["run"] + ":%d:%s\n" % (len(lines), mark))
P
    }
    forge 0 pass
    dp-account verify forged > /dev/null
    for edit in "0:line.update(charges=[], laps=0, epsilon=0.0, accountant='none', status='interrupted'); line.pop('model')" \
        "0:line['charges'].pop(0); line['laps'] -= 1" "1:line['charges'].pop(0)"; do
        forge "${edit%%:*}" "${edit#*:}"
        run dp-account verify forged
        assert_failure 5
        assert_line --partial "its charges are not one composition with what its schema has cost"
    done
}

@test "a budget of epsilon pays for a schema and its run, and one that has no room for the run counts what its knots have cost" {
    numbers 20000
    dp-import csv --schema numbers.json -o zero.dp -q --no-registry --population people numbers.csv
    budget() { dp-account budget --data zero.dp --epsilon "$1" --delta 1e-5 --no-registry "$2"; }
    budget 0.9 numbers.dp.ledger
    run fit.sh numbers.csv --epsilon 1 --population people --no-registry
    assert_failure 5
    assert_line --partial "epsilon 0.1 of it is spent"
    rm -r numbers.dp numbers-test.dp numbers.dp.ledger*
    # a filter has no room for a run of all of the budget, so knots choose addition
    budget 1 numbers.dp.ledger
    fit.sh numbers.csv --epsilon 1 --population people --no-registry -q
    run dp-account report numbers.dp.ledger
    assert_line --regexp '^spent: epsilon 1 at delta 1e-05 of a budget of 1, by 2 runs and [0-9]* laps .addition.$'
    people 20000
    budget 1 people.json.ledger
    fit.sh people.csv --label income --epsilon 1 --population people --no-registry -q
    run dp-account report people.json.ledger
    assert_line --regexp '^spent: epsilon 1 at delta 1e-05 of a budget of 1, by 3 runs and [0-9]* laps .addition.$'
    # where there is room, the filter stays
    rm -r numbers.dp numbers-test.dp numbers.model numbers.dp.ledger*
    budget 3 numbers.dp.ledger
    fit.sh numbers.csv --epsilon 1 --population people --no-registry -q
    run dp-account report numbers.dp.ledger
    assert_line --regexp '^spent: epsilon 1[.][0-9]* at delta 1e-05 of a budget of 3, by 2 runs and [0-9]* laps .filter at order '
}

@test "a run with its schema that is resumed is still one composition with it" {
    people 20000
    fit.sh people.csv --label income --epsilon 1 --no-registry -q
    filter stop '
if frame["kind"] == "lap" and frame["lap"] == 9 and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    pipeline='dp-sample --data people.dp --mode full | dp-grad --data people.dp --loss logistic --clip 1 | dp-noise --multiplier 30 |
        dp-account --epsilon 1 --delta 1e-5 --with-schema --ledger '"$PWD"'/people.json.ledger | dp-step --step 1 | ./stop'
    run dp-loop --laps 12 --checkpoint there --checkpoint-every 4 -q -o whole -- "$pipeline"
    assert_failure 1
    dp-loop --laps 12 --resume there -q -o whole -- "$pipeline"
    dp-account verify people.json.ledger
    # lap 9 went out twice, so it is paid for twice; one lap of the schema and one of the knots
    assert_equal "$(jq -s '[.[] | select(.kind == "close")][-1].laps' people.json.ledger)" "$((12 + 1 + 2))"
    # one Gaussian of all these, by an independent computation
    run python3 -c "
from math import erfc, exp, sqrt
def above(x): return erfc(x / sqrt(2)) / 2
mu, e = $(mu_of -1), $(jq -s '[.[] | select(.kind == "close")][-1].epsilon' people.json.ledger)
print(0.5e-6 + above(e / mu - mu / 2) - exp(e) * above(e / mu + mu / 2))"
    awk -v delta="$output" 'BEGIN { exit !(delta <= 1e-5 && delta > 0.999e-5) }'
    assert_equal "$(dp-info --get epsilon whole | awk -v e="$(jq -s '[.[] | select(.kind == "close")][-1].epsilon' people.json.ledger)" '{ print ($1 >= e * (1 - 1e-6)) }')" 1
}

way_out='--header or --no-header says what this line is; --skip-lines N skips lines above a header'

@test "names may be numbers, or empty above the numbers of rows, in a line that names the label" {
    people 20000
    awk -F, -v OFS=, '{ $1 = NR == 1 ? "0" : $1; print NR == 1 ? "" : NR - 2, $0 }' people.csv > numbered.csv
    dp-import numbered.csv -q --label income --infer-schema n.json --private-schema 0.2
    assert_equal "$(jq -r '.columns[0] | .name, .type, .note' n.json)" "
ignore
it has no name, as a column that numbers the rows"
    assert_equal "$(jq -r '.columns[1] | .name, .type' n.json)" "0
numeric"
    dp-import numbered.csv -q -s n.json -o numbered.dp
    complains 1 "dp-import: numbered.csv: line 1, column 1: a schema that is paid for takes names from the first line, and '' is not a name ($way_out)" \
        dp-import numbered.csv --infer-schema h.json --private-schema 1
}

@test "a first line that is a row gives no names" {
    # cells of a person in place of names: a date is refused before anything is paid
    awk 'BEGIN { srand(9); split("asthma diabetes flu none", d); print "first person,12.03.1961,diabetes,dead"
        for (i = 0; i < 4000; i++) printf "p%d,%02d.%02d.%d,%s,%s\n", 1e6 * rand(), 1 + 28 * rand(), 1 + 12 * rand(), 1930 + 70 * rand(), d[1 + int(4 * rand())], rand() < .3 ? "dead" : "alive" }' > ward.csv
    complains 1 "dp-import: ward.csv: line 1, column 2: a schema that is paid for takes names from the first line, and '12.03.1961' is not a name ($way_out)" \
        dp-import csv --infer-schema w.json --private-schema 1 ward.csv
    assert_not_exist w.json
    # the paid counts show the rest: a name is among the named texts of its own column
    cut -d, -f1,3,4 ward.csv > texts.csv
    run dp-import csv --infer-schema t.json --private-schema 1 texts.csv
    assert_success
    assert_line "dp-import: the first line is a row: it has a value of its own column, so columns are named column1, column2, ..."
    assert_equal "$(jq -c '[.header, .columns[].name]' t.json)" '[false,"column1","column2","column3"]'
    refute grep -q 'first person' t.json
    # with the label's name, numbers are names, and the name of a class is one, but not this name and that of another text
    awk -F'[.,]' 'NR == 1 { print "1961,flu,dead"; next } { print $4 "," $5 "," $6 }' ward.csv > years.csv
    dp-import csv --infer-schema y.json --private-schema 1 --label dead -q years.csv
    assert_equal "$(jq -c '[.header, .columns[].name]' y.json)" '[false,"column1","column2","column3"]'
    dp-import csv -s y.json -q -o y.dp years.csv
    # also where the user names the classes
    complains 5 "dp-import: years.csv: line 1 has 'dead', which is the name of the label and a class of it: --header says that the line names the columns, --no-header that it is a row; nothing was charged" \
        dp-import csv --infer-schema y.json --private-schema 1 --label dead --classes alive,dead -q -f years.csv
    dp-import csv --infer-schema y.json --private-schema 1 --label dead --classes alive,dead --header -q -f years.csv
    assert_equal "$(jq -c '[.header, .columns[].name]' y.json)" '[true,"1961","flu","dead"]'
    # a header is one, and its names are said
    sed '1s/.*/code,illness,state/' texts.csv > named.csv
    run dp-import csv --infer-schema n.json --private-schema 1 named.csv
    assert_line "dp-import: names that are taken to be public: code, illness, state"
    assert_equal "$(jq -c '[.header, .columns[].name]' n.json)" '[true,"code","illness","state"]'
}

@test "what a paid schema does not cover is refused" {
    people 20000
    dp-import people.csv -q --infer-schema people.json --private-schema 0.2
    jq '.columns[1] = {name: "job", type: "person"}' people.json > person.json
    complains 5 "dp-import: the schema was paid for with one row as one person: it cannot have a column of persons, whose rows have moved the counts together" \
        dp-import people.csv -q -s person.json --rows-per-person 2 -o other.dp
    sed 1d people.csv > headless.csv
    complains 1 "dp-import: headless.csv: line 1, column 1: a schema that is paid for takes names from the first line, and '' is not a name ($way_out)" \
        dp-import headless.csv --infer-schema h.json --private-schema 1
    jq '.paid.epsilon = 0' people.json > free.json
    complains 1 'dp-import: free.json: "paid" does not say epsilon, delta, ledger and population' dp-import people.csv -s free.json -o other.dp
    complains 5 "dp-import: this may cost epsilon = 20, and above 10 little is hidden; see dp-privacy(7) on choosing it (--allow-weak if that is meant)" \
        dp-import people.csv --infer-schema x.json --private-schema 20
    dp-import people.csv -q -s people.json -o people.dp
    fit.sh people.dp -o people.model -q
    dp-import people.csv -q -s people.json --no-bias -o narrow.dp
    complains 5 "dp-sample: the model to start from is of another data set: it has not paid for the schema of this one" \
        dp-loop --laps 1 --init people.model -- "dp-sample --data narrow.dp --rate 0.1 | dp-grad --data narrow.dp --loss logistic --clip 1 |
        dp-noise --multiplier 9 | dp-account --epsilon 1 --delta 1e-5 | dp-step --step 1"
}

@test "cells that cannot be read are missing if you say so, and labels never" {
    printf 'age,job,ill\n31,cook,no\nold,cook,yes\n50,king,no\n,smith,yes\n' > t.csv
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [20, 60]},
        {"name": "job", "type": "categorical", "categories": ["cook", "smith"]}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > s.json
    complains 1 "dp-import: t.csv: line 3, column 1 (age): expected a number, got 'old'" dp-import t.csv -s s.json -o t.dp
    dp-import t.csv -s s.json -o t.dp --bad-cells missing --no-bias --private-counts -q 2> said
    assert_equal "$(cat said)" "dp-import: private: 2 cells could not be read and count as missing
dp-import: private: 0 malformed lines"
    assert_equal "$(/usr/bin/python3 -c 'import numpy; x = numpy.load("t.dp/X.npy") * 2 ** .5; print(x.astype(float).round(3).tolist())')" \
        "[[0.275, 1.0, 0.0], [0.5, 1.0, 0.0], [0.75, 0.0, 0.0], [0.5, 0.0, 1.0]]"
    # models remember it, as do their exports
    dpline scd --data t.dp --loss logistic --epochs 3 --seed 1 -q -o t.model
    dp-predict t.model t.dp --scores > scores
    dp-predict t.model t.csv --scores 2> said | diff scores -
    assert_equal "$(cat said)" "dp-predict: warning: column 'age': 1 of 4 cells cannot be read as numbers, and count as missing
dp-predict: warning: column 'job': 1 of 4 cells have no category of the model"
    for form in c json; do
        dp-export --to $form t.model > t.$form
        run "$ROOT/tests/bats/export.py" $form t.$form t.csv <(dp-predict t.model t.dp --scores --probability)
        assert_output --partial "4 rows agree"
    done
    # dates, too
    printf 'day,ill\n2024-01-01,no\nsoon,yes\n2024-01-31,no\n' > d.csv
    echo '{"header": true, "columns": [{"name": "day", "type": "numeric", "date": "%Y-%m-%d", "bounds": ["2024-01-01", "2024-01-31"]},
        {"name": "day", "type": "categorical", "date": "%Y-%m-%d", "part": "month"}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > d.json
    dp-import d.csv -s d.json -o d.dp --bad-cells missing --no-bias -q
    assert_equal "$(/usr/bin/python3 -c 'import numpy; x = numpy.load("d.dp/X.npy")[:, :3] * 2 ** .5; print(x.astype(float).round(3).tolist())')" \
        "[[0.0, 1.0, 0.0], [0.5, 0.0, 0.0], [1.0, 1.0, 0.0]]"
    echo 40,cook,maybe >> t.csv
    complains 1 "dp-import: t.csv: line 6, column 3 (ill): the label is not one of the classes (no, yes), got 'maybe'" \
        dp-import t.csv -s s.json -o u.dp --bad-cells missing
}

@test "dates and amounts of a schema that is paid for are numbers" {
    /usr/bin/python3 - << 'END'
import datetime, random
random.seed(8)
with open("t.csv", "w") as f:
    print("day,at,price,share,ill", file=f)
    for i in range(6000):
        d = datetime.datetime(2001, 1, 1) + datetime.timedelta(minutes=random.randrange(20 * 525600))
        late = d.year + random.gauss(0, 6) > 2011
        print(f"{d:%m/%d/%Y},{d:%H:%M},\"${random.uniform(600, 9000):,.2f}\",{random.randrange(100)} %,{'31.12.1999' if late else '01.01.1999'}", file=f)
END
    dp-import t.csv --infer-schema s.json --private-schema 0.5 --no-ledger --noise-seed 4 -q
    assert_equal "$(jq -c '[.columns[] | [.type, .date, (.bounds // [])[0]]]' s.json)" \
        '[["numeric","%m/%d/%Y","01/01/2001"],["numeric","%H:%M","00:00"],["numeric",null,512],["numeric",null,1],["label",null,null]]'
    assert_equal "$(jq -c '[.columns[0].bounds[1], .columns[1].bounds[1], .columns[2].bounds[1], .columns[4].classes]' s.json)" \
        '["01/01/2021",1,16384,["01.01.1999","31.12.1999"]]'
    jq '.columns[0].bounds = [0, 20000]' s.json > wide.json
    dp-import t.csv -s wide.json -q --no-registry --no-bias -o t.dp
    /usr/bin/python3 - << 'END'
import csv, datetime, json, numpy
x = numpy.load("t.dp/X.npy").astype(float) * json.load(open("t.dp/dataset.json"))["row_divisor"]
for row, line in zip(x, csv.DictReader(open("t.csv"))):
    days = (datetime.datetime.strptime(line["day"], "%m/%d/%Y") - datetime.datetime(1970, 1, 1)).days
    time = datetime.datetime.strptime(line["at"], "%H:%M")
    price = float(line["price"].strip("$").replace(",", ""))
    want = [days / 20000, time.hour / 24 + time.minute / 1440, (price - 512) / (16384 - 512), (float(line["share"][:-2]) - 1) / 127]
    assert numpy.allclose(row[:4], numpy.clip(want, 0, 1), atol=2e-3), (row, want)
END
}

# numbers ROWS: numbers.csv with a column of squares and its schema
numbers() {
    awk -v n="$1" 'BEGIN { print "id,a,b,y"; for (i = 0; i < n; i++) { u = i * 7919 % n / n; print i % int(n / 2) "," 100 * u * u "," (i % 5 == 0 ? 0 : 5 * u) "," (u > 0.5) } }' > numbers.csv
    echo '{"header": true, "columns": [{"name": "id", "type": "ignore"}, {"name": "a", "type": "numeric", "bounds": [0, 100]},
        {"name": "b", "type": "numeric", "bounds": [0, 10]}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > numbers.json
}
knots() { jq -c ".schema.columns[$2].knots" "$1/dataset.json"; }

@test "knots at quantiles are paid for, and the model carries them" {
    numbers 20000
    # noise that is next to nothing: quantiles of the rows, as far as 256 cells tell; the zeros of b are one knot
    dp-import numbers.csv -q -s numbers.json --basis hats --private-knots 1e6 --allow-weak --delta 1e-6 --no-ledger -o exact.dp
    knots exact.dp 0 | jq -e 'length == 9 and ([range(1; 8) as $k | .[$k] - 100 * $k * $k / 64 | fabs] | max) < 0.4'
    knots exact.dp 1 | jq -e '.[0] == 0 and .[1] < 0.05 and ([range(2; 8) as $k | .[$k] - 5 * ($k / 8 - 0.2) / 0.8 | fabs] | max) < 0.05'
    # with a split, test rows are not looked at: they may be anything
    awk -F , -v OFS=, '{ print $0, NR == 1 ? "n" : NR - 2 }' numbers.csv > rows.csv
    jq '.columns += [{name: "n", type: "numeric", bounds: [0, 20000], basis: "line"}]' numbers.json > rows.json
    divide=(-q -s rows.json --basis hats --private-knots 1e6 --allow-weak --delta 1e-6 --no-ledger --split 0.5)
    dp-import rows.csv "${divide[@]}" -o half.dp --test half-test.dp
    /usr/bin/python3 - << 'END'
import numpy
test, train = (numpy.load(name + ".dp/X.npy")[:, -2] for name in ("half-test", "half"))
rows = set(numpy.rint(test / max(test.max(), train.max()) * 19999).astype(int))
assert len(rows) == 10000
with open("rows.csv") as old, open("other.csv", "w") as new:
    for number, line in enumerate(old, -1):
        part = line.split(",")
        part[1] = "99" if number in rows else part[1]
        new.write(",".join(part))
END
    refute cmp -s rows.csv other.csv
    dp-import other.csv "${divide[@]}" -o other.dp --test other-test.dp
    # the noise is not nothing
    jq -en --argjson a "$(knots half.dp 0)" --argjson b "$(knots other.dp 0)" '[$a, $b] | transpose | map(.[0] - .[1] | fabs) | max < 0.01'
    # charged, once
    dp-import numbers.csv -s numbers.json --basis cosines --private-knots 0.05 --delta 1e-7 -o numbers.dp 2> said
    grep -qx 'dp-import: knots cost epsilon 0.05, delta 1e-07: noise of [0-9]* on sums of counts of 20000 rows in 256 cells' said
    assert_equal "$(jq -c 'select(.kind == "plan") | .charges[0].queries[0].noise' numbers.dp.ledger)" '"gaussian"'
    assert_equal "$(dp-info numbers.dp | grep '^privacy')" "privacy    the schema was paid for: epsilon 0.05, delta 1e-07, which models inherit"
    dp-import numbers.csv -q -s numbers.json --basis cosines --private-knots 0.05 --delta 1e-7 -o again.dp
    refute cmp -s <(knots numbers.dp 0) <(knots again.dp 0)
    fit.sh numbers.dp --epsilon 1 --delta 1e-5 -o numbers.model -q
    assert_equal "$(of numbers.model epsilon | awk '{ print ($1 > 0.99 && $1 <= 1) }') $(of numbers.model delta)" "1 9.999999990000001e-06"
    dp-account certify --data numbers.dp --model numbers.model > certificate
    dp-account verify --certificate certificate --model numbers.model numbers.dp.ledger
    # new rows get the same features
    dp-predict numbers.model numbers.csv > from-table
    dp-predict numbers.model numbers.dp > from-data
    cmp from-table from-data
}

@test "knots cost in addition to a schema, and all rows of a person" {
    people 20000
    dp-import people.csv -q --infer-schema people.json --private-schema 0.2 --delta 1e-7
    dp-import people.csv -q -s people.json --basis cosines --private-knots 0.1 --delta 1e-7 -o people.dp
    dp-info people.dp | grep -q 'the schema was paid for: epsilon 0.3, delta 2e-07,'
    fit.sh people.dp --epsilon 1 --delta 1e-5 -o people.model -q
    assert_equal "$(of people.model epsilon | awk '{ print ($1 > 0.99 && $1 <= 1) }')" 1
    dp-account report --data people.dp people.json.ledger > report
    grep -q '^spent: epsilon 1 at delta 1e-05' report
    numbers 20000
    jq '.columns[0].type = "person"' numbers.json > persons.json
    dp-import numbers.csv -s persons.json --rows-per-person 2 --basis hats --private-knots 0.1 --delta 1e-7 -o persons.dp 2> said
    noise=$(sed -n 's/.*noise of \([0-9]*\) on sums of counts of 10000 persons in 128 cells/\1/p' said)
    dp-import numbers.csv -s numbers.json --basis hats --private-knots 0.1 --delta 1e-7 -o rows.dp 2> said
    assert_equal "$(sed -n 's/.*noise of \([0-9]*\) on sums.*/\1/p' said | awk -v noise="$noise" '{ print (noise / $1 > 1.84 && noise / $1 < 1.85) }')" 1 # 2 |c|^2, of 128 cells and of 256
    assert_equal "$(jq -r 'select(.kind == "open").unit' persons.dp.ledger | head -n 1)" person:2
}

@test "knots that the budget does not pay for, or that are for nothing" {
    numbers 2000
    complains 3 "dp-import: --private-knots: epsilon = 0.01 does not pay for knots of 2 columns and 2000 rows" \
        dp-import numbers.csv -q -s numbers.json --basis hats --private-knots 0.01 -o numbers.dp
    assert_not_exists numbers.dp
    assert_not_exists numbers.dp.ledger
    dp-import numbers.csv -s numbers.json --basis hats --private-knots 0.01 --else-unpaid -o numbers.dp 2> said
    grep -qx 'dp-import: knots are even: epsilon = 0.01 does not pay for others' said
    assert_equal "$(knots numbers.dp 0) $(dp-info --get private_preprocessing numbers.dp)" "[0,12.5,25,37.5,50,62.5,75,87.5,100] "
    [ ! -e numbers.dp.ledger ]
    # the grid of so many rows of a person is coarser than a row, whatever epsilon
    awk 'BEGIN { print "who,a,b,c,d,e,ill"; for (i = 0; i < 2000; i++) print i ",1,2,3,4,5," (i % 2 ? "no" : "yes") }' > wide.csv
    echo '{"header": true, "columns": [{"name": "who", "type": "person"}, {"name": "a", "type": "numeric", "bounds": [0, 9]},
        {"name": "b", "type": "numeric", "bounds": [0, 9]}, {"name": "c", "type": "numeric", "bounds": [0, 9]},
        {"name": "d", "type": "numeric", "bounds": [0, 9]}, {"name": "e", "type": "numeric", "bounds": [0, 9]},
        {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > wide.json
    complains 3 "dp-import: --private-knots: epsilon = 1e+09 does not pay for knots of 5 columns and 2000 persons" \
        dp-import wide.csv -q -s wide.json --rows-per-person 1000000 --basis hats --private-knots 1e9 --allow-weak -o wide.dp
    assert_not_exists wide.dp.ledger
    # a column with knots of its own pays for nothing
    jq '.columns[1] += {basis: "hats", knots: [50]} | .columns[2] += {basis: "line"}' numbers.json > own.json
    dp-import numbers.csv -q -s own.json --basis hats --private-knots 1 -o own.dp
    assert_equal "$(knots own.dp 0)" "[0,50,100]"
    [ ! -e own.dp.ledger ]
    # a budget without room
    dp-import numbers.csv -q -s numbers.json -o plain.dp
    dp-account budget --epsilon 0.5 --delta 1e-5 plain.dp > /dev/null
    run dp-import numbers.csv -q -s numbers.json --basis hats --private-knots 1 -o none.dp
    assert_equal "$status" 5
    [[ $output == *' affords 0 of the run'* ]]
    [ ! -e none.dp ]
}

@test "fit pays a twentieth for knots where curves pay, and a tenth where products pay" {
    numbers 20000
    fit.sh numbers.csv --epsilon 1 --additive -o additive.model 2> said
    grep -q '^dp-import: knots cost epsilon 0.05, delta 1e-06: ' said
    rm -r numbers.dp numbers-test.dp numbers.dp.ledger*
    fit.sh numbers.csv --epsilon 1 2> said
    grep -q '^dp-import: knots cost epsilon 0.1, delta 1e-06: ' said
    assert_equal "$(of numbers.model epsilon | awk '{ print ($1 > 0.99 && $1 <= 1) }')" 1
    run dp-account report numbers.dp.ledger
    assert_line --regexp '^spent: epsilon 1 at delta '
    # knots and run are one composition: by addition the run had .95 of it
    awk -v all="$(mu_of 1 numbers.dp.ledger)" -v knots="$(mu_of 0 numbers.dp.ledger)" \
        'BEGIN { exit !(knots > 0 && sqrt(all^2 - knots^2) > 0.99 * all && all > 0.267 && all < 0.269) }'
    rm -r numbers.dp numbers-test.dp numbers.model
    fit.sh numbers.csv --epsilon 1 --seed 1 -q
    assert_equal "$(dp-info --get private_preprocessing numbers.dp)" ""
}

@test "rare names share buckets, identifiers do not, and years have bounds of their own" {
    # 200 towns of 50 rows, the first 40 of which decide; 10000 visits; job has one frequent name and 50 rare ones
    awk 'BEGIN { print "town,visit,year,job,ill"; for (i = 0; i < 10000; i++) { t = i * 7919 % 200
        print "t" t ",v" i "," 1960 + i % 30 "," (i % 5 ? "cook" : "j" i / 5 % 50) "," (t < 40 ? "yes" : "no") } }' > towns.csv
    dp-import towns.csv --infer-schema towns.json --private-schema 0.3 --noise-seed 1 2> said
    grep -qx "dp-import: column 'town' is categorical, categories \[\], buckets 64" said
    grep -qx "dp-import: column 'visit' is left out: no number, date or text of it is frequent enough: these are names, free texts, or numbers in a notation that is not read" said
    assert_equal "$(jq -c '.columns | map([.type, .categories, .buckets, .bounds])' towns.json)" \
        '[["categorical",[],64,null],["ignore",null,null,null],["numeric",null,null,[1936,2016]],["categorical",["cook"],32,null],["label",null,null,null]]'
    dp-import towns.csv -q -s towns.json -o towns.dp
    assert_equal "$(dp-info --get cols towns.dp)" 99 # with a number and a bias
    # SipHash-2-4 by another program: the bucket of each town
    PYTHONPATH=$ROOT/tests/vectors /usr/bin/python3 - << 'PYTHON'
import numpy
from siphash import siphash
rows = numpy.load("towns.dp/X.npy")
for line, row in zip(list(open("towns.csv"))[1:300], rows):
    town, _, _, job, _ = line.split(",")
    assert list(numpy.flatnonzero(row[:64])) == [siphash(town.encode()) % 64], town
    assert list(numpy.flatnonzero(row[65:98])) == [0 if job == "cook" else 1 + siphash(job.encode()) % 32], job
PYTHON
    # a table that the program has not seen; --linear keeps the schema readable. 8329 predictions are right, deviation 8.
    rm -r towns.dp towns.json
    fit.sh towns.csv --label ill --epsilon 3 --linear -q
    assert_equal "$(dp-predict towns.model towns.csv -H | paste -d, - <(tail -n +2 towns.csv) | awk -F, '$1 == $6 { good++ } END { print (good > 8100) }')" 1
    dp-info --coefficients towns.model | grep -q 'town=(bucket 64)'
    complains 1 "dp-export: towns.model has buckets for texts of column 'town', for which pmml has no place: json and c have one" \
        dp-export --to pmml towns.model
    head -n 200 towns.csv > few.csv
    dp-predict --scores --probability towns.model few.csv > expected.csv
    for form in c json; do
        dp-export --to $form towns.model > towns.$form
        run "$ROOT/tests/bats/export.py" $form towns.$form few.csv expected.csv
        assert_output --partial "199 rows agree"
    done
}

@test "buckets in a schema that is written by hand" {
    printf 'town,y\na,1\n,0\nb,1\n(bucket 1),0\n' > t.csv
    schema() { echo '{"header": true, "columns": [{"name": "town", '"$1"'}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > t.json; }
    schema '"type": "categorical", "categories": ["a"], "buckets": 1, "indicator": true'
    dp-import t.csv -s t.json -o t.dp --no-bias -q
    assert_equal "$(/usr/bin/python3 -c 'import numpy; print(numpy.load("t.dp/X.npy").round().astype(int).tolist())')" "[[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]"
    for bad in 0 100001 '"many"'; do
        schema '"type": "categorical", "categories": [], "buckets": '"$bad"
        complains 1 "dp-import: t.json: column 'town': \"buckets\" are a whole number from 1 to 100000, and not for dates" dp-import t.csv -s t.json -o u.dp
    done
    schema '"type": "numeric", "bounds": [0, 1], "buckets": 3'
    complains 1 "dp-import: t.json: column 'town': \"buckets\" are for categories" dp-import t.csv -s t.json -o u.dp
    schema '"type": "categorical", "categories": []'
    complains 1 "dp-import: t.json: column 'town': \"categories\" is empty" dp-import t.csv -s t.json -o u.dp
}

@test "fit of a table: what would be in the way of its result is found before the schema is paid for" {
    people 3000
    refused() { # NAME MESSAGE [OPTION…]
        run fit.sh people.csv --label income --epsilon 2 -q "${@:2}"
        assert_failure 2
        assert_output "fit.sh: $1"
        assert_not_exist people.json
        assert_not_exist people.json.ledger
    }
    touch people.model
    refused "people.model is there already (-o people.model replaces it; each run costs budget)"
    rm people.model
    mkdir there
    refused "-o: there cannot be written" -o there
    refused "-o: nowhere/model cannot be written" -o nowhere/model
    mkdir people-test.dp
    refused "people-test.dp is there already, and would have the rows for tests"
    rmdir people-test.dp
    fit.sh people.csv --label income --epsilon 2 -q
}

@test "three fits of a table at once pay for one schema" {
    people 3000
    for i in 1 2 3; do
        { fit.sh people.csv --label income --epsilon 1 -q -o $i.model 2> $i.said; echo $? > $i.got; } &
    done
    wait
    cat ./*.said
    assert_equal "$(sort ./*.got | uniq -c | tr -s ' ' | tr '\n' ';' | grep -o ' 1 0;')" " 1 0;"
    # the knots and the model are charged, too: 3 runs of the one that was first, and nothing of the others
    assert_equal "$(dp-account report people.json.ledger --json | jq '.runs | length')" 3
    assert_equal "$(dp-account report people.json.ledger --json | jq '.populations[].epsilon <= 1')" true
}

@test "a schema's file is taken before it is paid for, and one that a dead import left empty is taken again" {
    people 3000
    pay() { dp-import people.csv --infer-schema people.json --private-schema 0.2 -q "$@"; }
    mkdir people.json
    run pay
    assert_failure 1
    assert_output "dp-import: people.json exists (--force replaces it)"
    run pay --force
    assert_failure 1
    assert_output "dp-import: cannot create people.json: Is a directory"
    rmdir people.json
    exec 8> people.json.lock
    flock 8
    run pay
    assert_failure 1
    assert_output "dp-import: another import is writing people.json"
    exec 8>&-
    assert_not_exist people.json.ledger
    touch people.json
    pay
    assert_not_exist people.json.lock
    jq -e .paid people.json > /dev/null
    # a failure leaves no file of its own, and the old one as it was
    rm people.json
    run pay --delta 1e-300
    assert_not_exist people.json
}

@test "knots are not paid for if their data set cannot be written" {
    people 3000
    dp-import people.csv --infer-schema people.json -q
    mkdir there.dp
    for to in "-o there.dp" "-o people.dp --split 0.5 --test there.dp"; do
        run dp-import people.csv -s people.json --basis cosines --private-knots 0.5 -q $to
        assert_failure 1
        assert_output "dp-import: there.dp exists (--force replaces it)"
        run dp-import people.csv -s people.json --basis cosines --private-knots 0.5 -q --force $to
        assert_failure 1
        assert_output "dp-import: there.dp is not a data set: it will not be replaced"
    done
    run compgen -G '*ledger*'
    assert_failure
}

@test "fit of a table finds the ledger of its schema without a registry, whatever HOME is" {
    unset DPLINE_REGISTRY XDG_STATE_HOME
    for home in none /nonexistent / '' relative; do
        [ "$home" != / ] || [ "$(id -u)" != 0 ] || continue # root may write there
        mkdir "at-${home//\//_}"
        cd "at-${home//\//_}"
        people 3000
        if [ "$home" = none ]; then unset HOME; else export HOME=$home; fi
        fit.sh people.csv --label income --epsilon 1 -q 2> said || { cat said && false; }
        # all of it is in one ledger, and the data set finds it again
        assert_equal "$(dp-account report people.json.ledger --json | jq '.populations[].epsilon <= 1')" true
        fit.sh people.dp --epsilon 1 -q -o again 2> said || { cat said && false; }
        assert_not_exist people.dp/ledger
        cd ..
    done
}
