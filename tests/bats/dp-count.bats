# dp-count and dp-table: counts and means by group.
load helper

prepare() {
    echo '{"header": true, "columns": [{"name": "ward", "type": "categorical", "categories": ["a", "b", "c"], "unknown": "zero"},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"], "drop": "first"},
        {"name": "age", "type": "numeric", "bounds": [0, 100], "basis": "bins", "knots": [30, 50, 70], "indicator": true},
        {"name": "days", "type": "numeric", "bounds": [1, 31]}, {"name": "who", "type": "person", "rows_per_person": 4},
        {"name": "died", "type": "label", "classes": ["no", "yes"]}]}' > four.json
    jq '.columns[4] = {"name": "who", "type": "ignore"}' four.json > t.json
    awk 'BEGIN { srand(3); print "ward,sex,age,days,who,died"; for (i = 0; i < 900; i++) { w = substr("abcd", 1 + int(4 * rand()), 1)
        printf "%s,%s,%s,%d,p%d,%s\n", w, rand() < .5 ? "f" : "m", rand() < .1 ? "" : int(101 * rand()), 1 + int(31 * rand()), int(i / 3),
            rand() < .3 ? "yes" : "no" } }' > t.csv
    dp-import csv -s t.json -q -o t.dp t.csv
    dp-import csv -s four.json -q -o four.dp t.csv
}

GATE='dp-account --epsilon 1e9 --delta 1e-5 --allow-seeded --allow-weak --no-ledger --no-registry'
# counts DATA OPTION…: the exact numbers, with the grid removed
counts() {
    dp-loop -q --laps 1 --seed 1 --exec processes -- "dp-sample --data $1 --mode full | dp-count --data $(printf '%q ' "$@") | tee sum.frames | dp-noise -z 1 |
        $GATE | dp-table" > /dev/null
    dp-cat --full --last sum.frames | jq -c '.grid as $g | .sum.values | map(. * $g * 1000 | round / 1000)'
}
# by AWK: the counts of the table as awk finds them, as JSON
by() { awk -F, 'NR > 1 { '"$1"' } END { for (i = 0; i < n; i++) printf "%s%g", i ? "," : "[", c[i]; print "]" }' t.csv; }
cell='w = index("abcd", $1) - 1; s = $2 == "m"; a = $3 == "" ? 4 : $3 < 30 ? 0 : $3 < 50 ? 1 : $3 < 70 ? 2 : 3;'

@test "the cell of a row is what the table says: texts of no category, missing numbers, the label" {
    for storage in dense csr; do
        dp-import csv -s t.json -q -f --storage $storage -o t.dp t.csv
        assert_equal "$(counts t.dp --tables ward,sex)" "$(by "$cell n = 8; c[2 * w + s]++")"
        assert_equal "$(counts t.dp --tables 'sex,age;died')" "$(by "$cell n = 12; c[5 * s + a]++; c[10 + (\$6 == \"yes\")]++")"
    done
    dp-import csv -s t.json -q -f --row-norm unit -o t.dp t.csv
    assert_equal "$(counts t.dp --tables age)" "$(by "$cell n = 5; c[a]++")"
}

@test "sums are of centred numbers, and missing numbers are not among those that are present" {
    for how in bounds unit; do
        dp-import csv -s t.json -q -f --row-norm $how -o t.dp t.csv
        got=$(counts t.dp --tables sex --sums days,age)
        # two sums and a count of present numbers: their weight is the fourth root of 48, in sixteenths
        want=$(by "$cell n = 8; w = 2.625; c[s]++; c[2 + s] += w * (\$4 - 16) / 30; if (\$3 != \"\") { c[4 + s] += w * (\$3 - 50) / 100; c[6 + s]++ }")
        jq -e -n --argjson a "$got" --argjson b "$want" '[$a, $b] | transpose | all((.[0] - .[1] | fabs) < 0.002)'
    done
}

@test "the bound is that of the page, and the persons' rows count as many rows as is said" {
    bound() { counts "$@" > /dev/null && dp-cat --full --last sum.frames | jq -c '.records[0] | [.bound, .sensitivity]'; }
    assert_equal "$(bound t.dp --tables 'ward;sex;died,age')" '[1.7320508075688774,1.7320508075688774]'
    assert_equal "$(bound t.dp --tables 'ward;sex' --sums days --adjacency replace-one)" '[2.333519337824309,4.667038675648618]'
    assert_equal "$(bound four.dp --tables 'ward;sex;died,age')" '[6.92820323027551,6.92820323027551]'
    assert_equal "$(bound four.dp --tables ward)" '[4,4]'
    assert_equal "$(bound four.dp --tables ward --per-person 1)" '[1,1]'
    assert_equal "$(counts four.dp --tables ward)" "$(counts t.dp --tables ward)"
    # three rows of each person, of which each counts a third
    jq -e -n --argjson a "$(counts four.dp --tables ward --per-person 1)" --argjson b "$(counts t.dp --tables ward)" \
        '[$a, $b] | transpose | all((3 * .[0] - .[1] | fabs) < 0.002)'
    counts four.dp --tables ward --per-person 1 > /dev/null
    dp-cat --full --last sum.frames | jq -e '(.sum.values | add) * .grid <= 300' # in steps of the grid, too
}

@test "Laplace noise is for the L1 norm, and only for it" {
    dp-loop -q --laps 1 --seed 1 --exec processes -- "dp-sample --data t.dp --mode full | dp-count --data t.dp --tables 'ward;sex' --sums days --noise laplace |
        dp-noise --noise laplace -z 2 | tee noised.frames | $GATE | dp-table" > laplace.model
    assert_equal "$(dp-cat --full --last noised.frames | jq -c '.records[0] | [.noise, .sensitivity, .scale, .multiplier]')" '["laplace-counts",4.875,9.75,2]'
    dp-cat --full --last laplace.model | jq -e '.tables | fromjson | all(.noise == "laplace" and .scale == 9.75)'
    complains 5 "dp-noise: --noise: the sum is bounded in L1, for laplace only (dp-count --noise)" dp-loop -q --laps 1 --seed 1 --exec processes -- \
        "dp-sample --data t.dp --mode full | dp-count --data t.dp --tables ward --noise laplace | dp-noise -z 2 | $GATE | dp-table"
    complains 1 "dp-noise: --noise laplace needs a single number, the sum has 4" dp-loop -q --laps 1 --seed 1 --exec processes -- \
        "dp-sample --data t.dp --mode full | dp-count --data t.dp --tables ward | dp-noise --noise laplace -z 2 | $GATE | dp-table"
}

@test "lists that cannot be counted are refused before the first lap" {
    refused() {
        complains "$1" "dp-count: $2" dp-loop -q --laps 1 --seed 1 --exec processes -- \
            "dp-sample --data ${DATA-t.dp} --mode full | dp-count --data ${DATA-t.dp} ${*:3} | dp-noise -z 2 | $GATE | dp-table"
    }
    refused 2 "there is no column 'nobody'" --tables nobody
    refused 2 "a table has column 'sex' twice" --tables sex,ward,sex
    refused 2 'column '\''days'\'' is a number without bins, so it has no cells to count: dp-import --basis bins, or "basis": "bins" in its schema, gives it cells' --tables days
    refused 2 "column 'ward' is not a number with bounds, so its sum is not bounded" --tables sex --sums ward
    refused 2 "--tables is required, or --at-most for the list of the frame" --noise gaussian
    refused 2 "--tables is required: the frame of lap 1 has no list of tables" --at-most 1
    jq '.columns[3] |= (.knots = [range(2; 30)] | .basis = "bins")' t.json > many.json
    dp-import csv -s many.json -q -o many.dp t.csv
    DATA=many.dp refused 2 "the table of 'ward' and others has 1160 cells, and there are 900 rows: leave out a column" --tables ward,sex,age,days
    jq '.private_preprocessing = ["inferred-schema"]' t.json > private.json
    dp-import csv -s private.json -q -o private.dp t.csv
    DATA=private.dp refused 1 "private.dp carries no public schema, so nobody may know its cells (dp-import --private-schema pays for one; --schema names one of yours)" --tables ward
}

@test "the list of a lap may be a frame's, and a stream that ends early is an error" {
    filter list '
if frame["kind"] == "lap": frame["tables"] = "[{\"columns\":[\"ward\"],\"cells\":[%d]}]" % int(sys.argv[1])'
    run_with=(dp-loop -q --laps 1 --seed 1 --exec processes --)
    rest="dp-sample --data t.dp --mode full | dp-count --data t.dp --at-most 1 | dp-noise -z 1 | $GATE | dp-table"
    "${run_with[@]}" "./list 4 | $rest" > stream
    assert_equal "$(dp-cat --full --last stream | jq '.model.values | length')" 4
    complains 1 "dp-count: the list of tables was made for another schema: table 1 has other cells" "${run_with[@]}" "./list 3 | $rest"
    head -c -9 stream > cut
    complains 4 "dp-table print: cut ends inside a frame" dp-table print cut
}

@test "dp-table prints each cell with its interval, and too few where no mean is sound" {
    dp-loop -q --laps 1 --seed 4 -o m.model -- "dp-sample --data t.dp --mode full | dp-count --data t.dp --tables 'ward,sex;sex' --sums days --noise laplace |
        dp-noise --noise laplace -z 20 | $GATE | dp-table" > /dev/null
    dp-table print m.model > m.csv
    assert_equal "$(head -n 1 m.csv)" ward,sex,count,count_low,count_high,mean_days,mean_days_low,mean_days_high
    assert_equal "$(wc -l < m.csv)" 11
    grep -q '^(all),f,' m.csv
    grep -q ',too few,,$' m.csv
    # the margins of both tables are the same
    awk -F, 'NR > 1 { if ($1 == "(all)") all += $3; else cells += $3 } END { exit !(all - cells < 1 && cells - all < 1) }' m.csv
    dp-table print --to svg m.model > m.svg
    python3 -c 'import xml.dom.minidom as d; d.parse("m.svg")'
    # the longest words of a row are "other", and the two columns 96 wide: nothing is left blank
    assert_equal "$(sed -n '1s/.* width="\([0-9]*\)" .*/\1/p' m.svg)" $((16 + 5 * 7 + 8 + 2 * 96 + 16))
    # the counts with their sums, in whole rows: of the CSV file, in any order of rounding
    dp-table print --to text m.model > m.text
    assert_equal "$(sed -n '1s/; counts ± [0-9.]*, 19 times in 20$//p; 3s/ \+/ /gp' m.text | paste -sd ';')" 'Rows by ward and sex; f m all'
    assert_equal "$(awk -F, 'NR == FNR { if (NR > 1 && $1 != "(all)") { c[$1] += $3; c[$2] += $3; all += $3 } next }
        FNR > 8 { exit } FNR > 3 && $1 == "all" { bad += ($2 - c["f"]) ^ 2 + ($3 - c["m"]) ^ 2 + ($4 - all) ^ 2 > 1; sums++ }
        FNR > 3 && $1 in c { bad += ($4 - c[$1]) ^ 2 > .26; rows++ } END { print bad + 0, rows, sums }' m.csv FS=' ' m.text)" '0 4 1'
    assert_equal "$(sed -n '10s/;.*//p; 12,$p' m.text | awk '{ print $1 }' | paste -sd ' ')" 'Rows f m all'
    complains 1 "dp-table print: cannot read t.dp: Is a directory" dp-table print t.dp
    complains 2 "dp-table print: expected one model (try --help)" dp-table print
}

@test "dp-table plan chooses the noise that leaves less, and refuses tables that would be noise" {
    assert_equal "$(dp-table plan t.dp --tables sex --epsilon 1 --delta 1e-5)" 'laplace 1 1 1e-05 2.99573'
    assert_equal "$(dp-table plan t.dp --tables 'sex;sex;sex;sex;sex;sex' --epsilon 1 --delta 1e-5 | cut -d ' ' -f 1)" laplace
    assert_equal "$(dp-table plan t.dp --tables 'sex;sex;sex;sex;sex;sex;sex' --epsilon 1 --delta 1e-5 | cut -d ' ' -f 1)" gaussian
    complains 2 "dp-table plan: table 1 has 40 cells, 22.5 of the 900 rows in each, and epsilon 0.1 gives counts ± 30.0: 2397 rows would do, or epsilon 0.27, or fewer columns" \
        dp-table plan t.dp --tables ward,sex,age --epsilon 0.1 --delta 1e-5
}

@test "sites count what one machine counts" {
    for shards in 1 2 5; do
        dp-loop -q --laps 1 --seed 2 -o $shards.model -- "dp-gather --workers $shards --local 'dp-sample --data t.dp --shard %k/%K --mode full |
            dp-count --data t.dp --tables pairs' | dp-noise -z 2 | $GATE | dp-table" > /dev/null
    done
    dp-loop -q --laps 1 --seed 2 -o 0.model -- "dp-sample --data t.dp --mode full | dp-count --data t.dp --tables pairs | dp-noise -z 2 | $GATE | dp-table" > /dev/null
    for exec in fused processes; do
        dp-loop -q --laps 1 --seed 2 --exec $exec -o $exec.model -- "dp-sample --data t.dp --mode full | dp-count --data t.dp --tables pairs |
            dp-noise -z 2 | $GATE | dp-table" > /dev/null
        cmp 0.model $exec.model
    done
    cmp 0.model 1.model
    cmp 0.model 2.model
    cmp 0.model 5.model
}
