#!/usr/bin/env bats
# "These people" are these people: spending on a population is found wherever its data sets are.
load helper

prepare() {
    awk 'BEGIN { srand(3); for (i = 0; i < 2000; i++) { x = rand(); y = rand(); printf "%.4f,%.4f,%s\n", x, y, (x + y + .3 * rand() > 1.15) ? "yes" : "no" } }' > people.csv
    schema > people.json
}

# schema [LABEL]: c is the label, or the column that is named
schema() {
    /usr/bin/python3 - "${1:-c}" << 'END'
import json, sys
columns = [dict(name=n, type="numeric", bounds=[0, 1]) for n in "ab"] + [dict(name="c", type="categorical", categories=["no", "yes"])]
for column in columns:
    if column["name"] == sys.argv[1]:
        column["type"] = "label"
        if "categories" in column:
            column["classes"] = column.pop("categories")
print(json.dumps(dict(columns=columns)))
END
}

# refuses STATUS MESSAGE FUNCTION…: like complains, for a function
refuses() {
    local status=$1 message=$2 got=0 said
    shift 2
    said=$("$@" 2>&1 > /dev/null) || got=$?
    [ "$got" = "$status" ] || fail "status $got, expected $status; it said: $said"
    [ "$said" = "$message" ] || fail "said:     $said
expected: $message"
}

# import DIR [FILE [OPTION…]]
import() { dp-import csv --schema people.json -q -o "$1" "${@:3}" "${2:-people.csv}"; }
population() { dp-info --get population "$1"; }
# pay DATA EPSILON [OPTION…]: one release of so much
pay() {
    local data=$1 epsilon=$2
    shift 2
    dp-loop --laps 1 -q --exec processes -- "dp-sample --data $data --mode full | dp-grad --data $data --loss logistic --clip 1 |
        dp-noise --multiplier $(dp-account sigma --sampler full --laps 1 --epsilon "$epsilon" --delta 1e-6) |
        dp-account --epsilon $epsilon --delta 1e-6 $* | dp-step --step 1" > /dev/null
}
# spent DATA [OPTION…]: the report on all runs
spent() { dp-account report "$@" | grep '^by all runs '; }
runs() { grep -c '"kind":"open"' "$1"; }

@test "a second import elsewhere is charged by the same ledger and held by its budget" {
    import people.dp
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    pay people.dp 0.5
    mkdir elsewhere
    import elsewhere/again.dp
    assert_equal "$(population elsewhere/again.dp)" people.csv
    refuses 5 "dp-account: the budget of epsilon = 1 for people.csv in the ledger $PWD/people.dp/ledger affords 0 of the run's 1 laps; epsilon 0.5 of it is spent, and with as many laps a run of --epsilon 0.849 fits" \
        pay elsewhere/again.dp 0.9
    assert_not_exists elsewhere/again.dp/ledger
    pay elsewhere/again.dp 0.3
    assert_equal "$(runs people.dp/ledger)" 2
    assert_equal "$(spent elsewhere/again.dp)" "$(spent people.dp)"
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.[0-9]* at delta 1e-05 of a budget of 1, by 2 runs and 2 laps$'
}

@test "two targets of one table are the same people" {
    import by-c.dp
    schema a > people.json
    import by-a.dp
    assert_equal "$(population by-a.dp)" people.csv
    assert_equal "$(population by-c.dp)" people.csv
    pay by-c.dp 0.5
    dpline fit by-a.dp --epsilon 0.5 --delta 1e-6 -o model 2> said
    assert_not_exists by-a.dp/ledger
    assert_regex "$(grep 'by all runs' said)" '^dpline fit: by all runs on these people: epsilon (1|0\.99999[0-9]*) at delta 2e-06, by 2 runs and [0-9]* laps; epsilon 0\.[0-9]* at delta 1e-06 if all of them were planned before the first$'
}

@test "a table that was imported as two populations is of the newer one" {
    import one.dp people.csv --population first
    import two.dp people.csv --population second
    import three.dp
    assert_equal "$(population three.dp)" second
}

@test "a data set that was deleted and imported again begins with what its runs had cost at most" {
    import people.dp
    pay people.dp 0.5
    rm -r people.dp
    import people.dp
    pay people.dp 0.25
    assert_equal "$(spent people.dp)" "by all runs on these people: epsilon 0.75 at delta 2e-06, by 1 run and 1 lap; of it at most epsilon 0.5 by 1 run of $PWD/people.dp/ledger, which is gone"
    dp-account report --json people.dp > report
    assert_equal "$(/usr/bin/python3 -c 'import json; t = json.load(open("report"))["populations"][0]; print(t["lost"]["runs"], t["lost"]["epsilon"] >= 0.5, len(t["ledgers"]))')" '1 True 1'
    complains 5 "dp-account budget: people.csv has runs in the ledger people.dp/ledger or elsewhere already: a budget comes before them, or begins with what they have cost (--after-runs)" \
        dp-account budget --epsilon 1 --delta 1e-5 people.dp
    run dp-account budget --after-runs --epsilon 2 --delta 1e-5 people.dp
    assert_line '2 runs had cost epsilon 0.75 and delta 2e-06 of it'
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.75 at delta 1e-05 of a budget of 2,'
}

@test "a budget whose ledger is gone stops runs until another begins with what was spent" {
    import people.dp
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    pay people.dp 0.5
    rm -r people.dp
    import people.dp
    refuses 5 "dp-account: people.csv had a budget in the ledger $PWD/people.dp/ledger, which is gone (dp-account budget --after-runs sets one that begins with what was spent; --no-registry goes without)" \
        pay people.dp 0.1
    complains 5 "dp-account budget: people.csv has runs in the ledger people.dp/ledger or elsewhere already: a budget comes before them, or begins with what they have cost (--after-runs)" \
        dp-account budget --epsilon 1 --delta 1e-5 people.dp
    run dp-account budget --after-runs --epsilon 1 --delta 1e-5 people.dp
    assert_line '1 run had cost epsilon 0.5 and delta 1e-06 of it'
    refuses 5 "dp-account: the budget of epsilon = 1 for people.csv in the ledger $PWD/people.dp/ledger affords 0 of the run's 1 laps; epsilon 0.5 of it is spent, and with as many laps a run of --epsilon 0.501 fits" pay people.dp 0.6
    pay people.dp 0.2
    # the cost with which the budget began is not added again
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.[67][0-9]* at delta 1e-05 of a budget of 1, by 1 run and 1 lap; of it at most epsilon 0\.5 by 1 run of '
}

@test "a registry that was lost notes the budget again at the next run, and then misses its ledger" {
    import people.dp
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    rm -r "$DPLINE_REGISTRY"
    pay people.dp 0.2
    pay people.dp 0.2
    assert_equal "$(jq -r .kind "$DPLINE_REGISTRY/lines" | paste -sd ' ')" "budget run run"
    assert_equal "$(jq -c 'select(.kind == "budget") | [.population, .ledger, .adjacency, .epsilon, .delta]' "$DPLINE_REGISTRY/lines")" \
        "[\"people.csv\",\"$PWD/people.dp/ledger\",\"null-record\",1,1e-05]"
    mv people.dp/ledger gone
    rm people.dp/ledger.mark
    refuses 5 "dp-account: people.csv had a budget in the ledger $PWD/people.dp/ledger, which is gone (dp-account budget --after-runs sets one that begins with what was spent; --no-registry goes without)" \
        pay people.dp 0.2
}

@test "an older copy of the ledger does not give a budget back" {
    import people.dp
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    pay people.dp 0.2
    cp -r people.dp copy
    pay people.dp 0.5
    rm -r people.dp
    older() {
        refuses 5 "dp-account: the ledger $1/ledger does not have all runs on people.csv since their budget, and no other one has them (was an older copy put in its place? without it, dp-account budget --after-runs sets a budget that begins with what was spent; --no-registry goes without)" \
            pay "$1" 0.5
    }
    older "$PWD/copy"
    mv copy people.dp
    older "$PWD/people.dp"
    rm people.dp/ledger*
    run dp-account budget --after-runs --epsilon 1 --delta 1e-5 people.dp
    assert_line '2 runs had cost epsilon 0.700001 and delta 2e-06 of it'
    pay people.dp 0.2
}

@test "runs in two ledgers that do not add up are in no budget, and the report does not leave them out" {
    awk -F, 'NR == 1 { print "id,x,y" } { print "p" NR % 500 "," $1 "," $3 }' people.csv > visits.csv
    echo '{"header": true, "columns": [{"name": "id", "type": "person"}, {"name": "x", "type": "numeric", "bounds": [0, 1]},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > visits.json
    dp-import csv -s visits.json visits.csv -q -o persons.dp --rows-per-person 4
    sed 's/"person"/"ignore"/' visits.json > rows.json
    dp-import csv -s rows.json visits.csv -q -o rows.dp
    pay persons.dp 0.5
    pay rows.dp 0.5 --ledger rows.ledger
    run dp-account budget --after-runs --epsilon 3 --delta 1e-5 persons.dp
    assert_failure 5
    assert_output --regexp '^dp-account budget: of the runs [0-9a-f]{32} and [0-9a-f]{32} on visits.csv one is about rows and one about persons with several rows: what they cost does not add up to a budget$'
    assert_regex "$(spent persons.dp)" '^by all runs on these people: epsilon 0\.5 at delta 1e-06, by 1 run and 1 lap in 2 ledgers; without 1 run in other ledgers, under another adjacency or with another unit of privacy$'
    assert_equal "$(dp-account report --json persons.dp | jq .populations[0].apart)" 1
    # nor if the ledgers are gone
    gone="dp-account budget: of the runs on visits.csv some are about rows and some about persons with several rows, in the ledger $PWD/rows.ledger, which is gone: what they cost does not add up to a budget"
    rm rows.ledger*
    complains 5 "$gone" dp-account budget --after-runs --epsilon 3 --delta 1e-5 persons.dp
    assert_regex "$(spent persons.dp)" '^by all runs on these people: epsilon 0\.5 at delta 1e-06, by 1 run and 1 lap; without 1 run in other ledgers, '
    rm persons.dp/ledger*
    complains 5 "$gone" dp-account budget --after-runs --epsilon 3 --delta 1e-5 persons.dp
}

@test "a data set that was moved takes its ledger with it, and nothing is lost" {
    import people.dp
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    pay people.dp 0.5
    mv people.dp other.dp
    pay other.dp 0.2
    assert_equal "$(runs other.dp/ledger)" 2
    assert_regex "$(spent other.dp)" 'of a budget of 1, by 2 runs and 2 laps$'
}

@test "a renamed or compressed file with the same bytes holds the same people" {
    import people.dp
    pay people.dp 0.5
    mkdir away
    cp people.csv away/renamed.csv
    gzip -n < people.csv > away/packed.csv.gz
    import renamed.dp away/renamed.csv
    import packed.dp away/packed.csv.gz
    dp-import csv --schema people.json -q -o piped.dp - < people.csv
    for data in renamed packed piped; do
        assert_equal "$(population $data.dp)" people.csv
        assert_equal "$(spent $data.dp)" "$(spent people.dp)"
    done
}

@test "a table with other rows under the same path holds the same people, one elsewhere under the same name does not" {
    import people.dp
    echo "0.5,0.5,no" >> people.csv
    run dp-import csv --schema people.json -o more.dp people.csv
    assert_line 'dp-import: the population is people.csv, as in an import before'
    mkdir february
    sed 1d people.csv > february/people.csv
    run dp-import csv --schema people.json -q -o february.dp february/people.csv
    assert_output "dp-import: 'people.csv' is the population of another table, $PWD/people.csv, and these rows are of 'people.csv-2' (--population 'people.csv' says that they are the same people)"
    assert_equal "$(population february.dp)" people.csv-2
    import february.dp february/people.csv --force # as it was called before
    assert_equal "$(population february.dp)" people.csv-2
    run dp-import csv --schema people.json --population people.csv -q --force -o february.dp february/people.csv
    assert_output "dp-import: the registry knows this table as rows of 'people.csv-2', and what was spent on those does not count for 'people.csv'"
    import february.dp february/people.csv --force # the last word counts
    assert_equal "$(population february.dp)" people.csv
}

@test "--ledger elsewhere: refused beside a budget, counted without one" {
    import people.dp
    pay people.dp 0.5
    pay people.dp 0.25 --ledger other.ledger
    for what in people.dp 'other.ledger --data people.dp' 'other.ledger --data people.csv'; do
        assert_regex "$(spent $what)" '^by all runs on these people: epsilon 0\.75 at delta 2e-06, by 2 runs and 2 laps in 2 ledgers; epsilon 0\.[0-9]* at delta 1e-06 if all of them were planned before the first$'
    done
    run dp-account budget --after-runs --epsilon 2 --delta 1e-5 people.dp
    assert_line '2 runs had cost epsilon 0.75 and delta 2e-06 of it'
    refuses 5 "dp-account: people.csv has a budget of epsilon = 2 in the ledger $PWD/people.dp/ledger, and what is spent in other.ledger would not count there (--no-registry charges it nevertheless)" \
        pay people.dp 0.1 --ledger other.ledger
    complains 5 "dp-account budget: people.csv has a budget of epsilon = 2 in the ledger people.dp/ledger, and what is spent in other.ledger would not count there (--no-registry charges it nevertheless)" \
        dp-account budget --data people.dp --epsilon 1 --delta 1e-5 other.ledger
    assert_equal "$(runs other.ledger)" 1
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.75 at delta 1e-05 of a budget of 2, by 2 runs and 2 laps in 2 ledgers$'
    pay people.dp 0.1 --ledger other.ledger --no-registry
    # the registry was not told, and the ledger that it knows shows this
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.85 at delta [0-9.e-]* of a budget of 2, by 3 runs'
}

@test "rows that score are of the same people as those that train, or dp-tune refuses" {
    import train.dp people.csv --split 0.5 --test score.dp
    printf 'step\n1\n2\n' > grid
    tune() {
        dp-tune --grid grid --trials all --score-data score.dp --score-multiplier 200 --epsilon 1 --delta 1e-6 -q -o best "$@" -- \
            "dp-loop --laps 1 -q -- 'dp-sample --data train.dp --mode full | dp-grad --data train.dp --loss logistic --clip 1 | dp-noise --multiplier 20 |
            dp-account --trial {trial} | dp-step --step {step}'"
    }
    dp-account budget --epsilon 1 --delta 1e-5 score.dp > /dev/null
    tune
    assert_equal "$(runs score.dp/ledger)" 1
    assert_not_exists train.dp/ledger
    refuses 5 "dp-tune: people.csv has a budget of epsilon = 1 in the ledger score.dp/ledger, and what is spent in other.ledger would not count there (--no-registry charges it nevertheless)" \
        tune --ledger other.ledger
    # if the registry does not know the budget
    rm -r "$DPLINE_REGISTRY"
    tune --epsilon 0.9
    assert_equal "$(runs score.dp/ledger)" 2
}

@test "no registry: what is said is said of the ledger, and names what is not known" {
    import people.dp
    pay people.dp 0.5
    import again.dp
    pay again.dp 0.5 --no-registry
    assert_equal "$(spent --no-registry people.dp)" 'by all runs in people.dp/ledger: epsilon 0.5 at delta 1e-06, by 1 run and 1 lap'
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.5 '
    dpline fit again.dp --no-registry --epsilon 0.5 --delta 1e-6 -o model 2> said
    grep -qE '^dpline fit: by all runs in again.dp/ledger: epsilon (1|0\.99999[0-9]*) at delta 2e-06, by 2 runs' said
    # from here on it knows that ledger
    pay people.dp 0.1
    pay again.dp 0.1
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 1\.7 at delta [0-9.e-]*, by 5 runs and [0-9]* laps in 2 ledgers'
}

@test "a registry that cannot be made is no failure, and is not kept quiet" {
    import people.dp
    chmod 755 .
    why='neither DPLINE_REGISTRY nor HOME says where the registry of populations is; spending on these people in other ledgers is not noticed'
    unset DPLINE_REGISTRY XDG_STATE_HOME
    complains 0 "dp-account: warning: $why" env -u HOME bash -c "$(declare -f pay); pay people.dp 0.1"
    assert_equal "$(HOME='' spent people.dp)" 'by all runs in people.dp/ledger: epsilon 0.1 at delta 1e-06, by 1 run and 1 lap'
    HOME=/proc/nobody refuses 0 "dp-account: warning: cannot make the registry /proc/nobody/.local/state/dpline: No such file or directory (--no-registry goes without it); spending on these people in other ledgers is not noticed" \
        pay people.dp 0.1
    mkdir home
    HOME=$PWD/home pay people.dp 0.1
    assert_equal "$(cd home && find . -type f -printf '%p %m\n' | sort)" './.local/state/dpline/key 600
./.local/state/dpline/lines 600'
    assert_equal "$(stat -c %a home/.local/state/dpline)" 700
    mkdir state
    XDG_STATE_HOME=$PWD/state HOME=/proc/nobody pay people.dp 0.1
    assert_exists state/dpline/lines
    # a registry that is named by the user has to work
    refuses 1 'dp-account: cannot make the registry /proc/nobody: No such file or directory (--no-registry goes without it) (--ledger FILE names another one, --no-ledger goes without)' \
        pay people.dp 0.1 --registry /proc/nobody
}

@test "a registry that others can read, that was edited or cannot be written is refused" {
    import people.dp
    chmod 750 registry
    refuses 5 "dp-account: the registry $PWD/registry is open to others: chmod 700" pay people.dp 0.1
    chmod 700 registry && chmod 640 registry/lines
    refuses 5 "dp-account: the registry $PWD/registry is open to others: chmod 600 its files" pay people.dp 0.1
    chmod 600 registry/lines
    cp registry/lines lines
    sed -i '1s/people.csv"/people.csv/' registry/lines
    refuses 5 "dp-account: line 1 of the registry $PWD/registry was edited or damaged (--no-registry goes without it)" pay people.dp 0.1
    refuses 5 "dp-import: line 1 of the registry $PWD/registry was edited or damaged (--no-registry goes without it)" import again.dp
    assert_not_exists again.dp
    sed 's/"format":1/"format":2/' lines > registry/lines
    refuses 5 "dp-account: line 1 of the registry $PWD/registry cannot be used: it is of a newer format (--no-registry goes without it)" pay people.dp 0.1
    cp lines registry/lines
    truncate -s 5 registry/key
    refuses 5 "dp-account: the key of the registry $PWD/registry is not whole: its lines cannot be compared (--no-registry goes without it)" pay people.dp 0.1
    assert_not_exists people.dp/ledger
    pay people.dp 0.1 --no-registry
}

@test "a run whose registry is full releases nothing" {
    import people.dp
    pay people.dp 0.1
    pay_full() (
        trap '' XFSZ
        ulimit -f 1 # KB: the registry has no room for a line more
        pay people.dp 0.1 --ledger other.ledger
    )
    for _ in 1 2 3; do import people.dp people.csv --force; done
    refuses 1 "dp-account: cannot write to the registry $PWD/registry: File too large (--no-registry goes without it)" pay_full
    # its plan stays spent, because the disk takes no close line either
    assert_equal "$(dp-account report --json other.ledger --no-registry | jq -c '.runs[0] | [.closed, .laps]')" '[false,1]'
    pay people.dp 0.1
}

@test "a line of the registry that was cut short does not count, and is cut off" {
    import people.dp
    pay people.dp 0.5
    lines=$(wc -l < registry/lines)
    printf '{"format":1,"kind":"run","popul' >> registry/lines
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.5 '
    pay people.dp 0.25
    assert_equal "$(wc -l < registry/lines)" $((lines + 1))
    /usr/bin/python3 -c 'import json; [json.loads(line) for line in open("registry/lines")]'
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.75 '
}

@test "many processes at once: each run is in the registry, and a budget holds all of them" {
    import people.dp
    for i in 1 2 3 4; do import "again$i.dp"; done
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    for i in 1 2 3 4; do pay "again$i.dp" 0.4 2> "said$i" & done
    wait
    assert_equal "$(runs people.dp/ledger)" "$(grep -c '"kind":"run"' registry/lines)"
    assert_equal "$(ls again*.dp | grep -c '^ledger$')" 0
    assert_regex "$(spent people.dp)" '^by all runs on these people: epsilon 0\.[0-9]* at delta 1e-05 of a budget of 1,'
    for i in 1 2 3 4; do import "more$i.dp" people.csv & done
    wait
    for i in 1 2 3 4; do assert_equal "$(population "more$i.dp")" people.csv; done
}

@test "the table itself is not in the registry, and its digest tells nobody without the key" {
    import people.dp
    for hash in b2sum sha256sum md5sum; do
        run -1 grep -q "$($hash people.csv | cut -c1-32)" registry/lines
    done
    for length in 128 256; do run -1 grep -q "$(b2sum -l $length people.csv | cut -d' ' -f1 | cut -c1-32)" registry/lines; done
    run -1 grep -q "$(sed -n 5p people.csv)" registry/lines
    first=$(grep -o '"table":"[0-9a-f]*"' registry/lines)
    rm -r registry
    import other.dp
    assert_not_equal "$(grep -o '"table":"[0-9a-f]*"' registry/lines)" "$first"
}

@test "a container keeps the registry with the tables" {
    run cat "$ROOT/Dockerfile"
    assert_line "WORKDIR /data"
    assert_line "ENV DPLINE_REGISTRY=/data/.dpline"
    assert_line --partial 'docker run --rm -v "$PWD:/data" dpline fit people.csv --label '
}

@test "rows that dp-synth has made are nobody's: each data set has its own ledger" {
    dp-synth classification --rows 400 --cols 4 --seed 7 -o one.dp -q
    dp-synth classification --rows 400 --cols 4 --seed 7 -o two.dp -q
    pay one.dp 0.5
    pay two.dp 0.5
    assert_equal "$(runs one.dp/ledger) $(runs two.dp/ledger)" '1 1'
    assert_not_exists registry
    assert_equal "$(spent two.dp)" 'by all runs in two.dp/ledger: epsilon 0.5 at delta 1e-06, by 1 run and 1 lap'
    refuses 2 'dp-import: --population: a name that begins with dp-synth: is reserved for rows that belong to nobody' import people.dp people.csv --population dp-synth:x
}

@test "fit says that it trains on rows that were held out for tests" {
    import people.dp people.csv --split 0.5 --test people-test.dp
    dpline fit people-test.dp --epsilon 0.5 -o model 2> said
    grep -qx 'dp-fit: warning: people-test.dp has the rows that were held out for tests: a model that is trained on them cannot be tested on them' said
    dpline fit people.dp --epsilon 0.5 -o model 2> said
    run -1 grep -q 'warning' said
}

@test "a held-out part is one of one split: of another split of the same table dp-eval and reports refuse it" {
    eval_on() { dp-eval --metrics accuracy --data "$1" --in model > /dev/null; }
    refused='has rows of '\''people.csv'\'' that were held out of another split than the one that the model was trained on, which has seen some of them: what is measured on them is not covered by epsilon (--private-data if that is meant)'
    import one.dp people.csv --split 0.5 --seed 1 --test one-test.dp
    import two.dp people.csv --split 0.5 --seed 2 --test two-test.dp
    import part.dp people.csv --split 0.6 --seed 1 --test part-test.dp
    import all.dp
    import same.dp people.csv --split 0.5 --seed 1 --test same-test.dp
    dpline fit one.dp --epsilon 1 -q -o model
    eval_on one-test.dp
    eval_on same-test.dp # the same rows, imported again
    refuses 5 "dp-eval: two-test.dp $refused" eval_on two-test.dp
    refuses 5 "dp-eval: part-test.dp $refused" eval_on part-test.dp
    report_on() { dp-account report --data one.dp --model model --test "$1" --text; }
    report_on one-test.dp > page
    grep -q 'accuracy' page
    for test in two part; do
        run -5 report_on $test-test.dp
        assert_output "dp-account report: $test-test.dp ${refused% (--private*}"
    done
    run -5 report_on one.dp
    assert_output --partial "one.dp is the training set"
    dp-eval --metrics accuracy --data two-test.dp --in model --private-data > /dev/null
    dpline fit all.dp --epsilon 1 -q -o model
    refuses 5 "dp-eval: one-test.dp $refused" eval_on one-test.dp
    # the part for tests, imported again, is not a valid test for a model that was trained on it
    dpline fit same-test.dp --epsilon 1 -q -o model 2> /dev/null
    refuses 5 "dp-eval: one-test.dp $refused" eval_on one-test.dp
    # without a registry the two parts of one import belong together
    import one.dp people.csv --split 0.5 --test one-test.dp --force --no-registry
    import two.dp people.csv --split 0.5 --test two-test.dp --force --no-registry
    dpline fit one.dp --epsilon 1 -q -o model
    eval_on one-test.dp
    refuses 5 "dp-eval: two-test.dp $refused" eval_on two-test.dp
}

@test "a model that has seen two splits has no rows that are held out" {
    import one.dp people.csv --split 0.5 --seed 1 --test one-test.dp
    import two.dp people.csv --split 0.5 --seed 2 --test two-test.dp
    pay() {
        dp-loop --laps 1 -q ${2:+--init $2} -o "$3" -- "dp-sample --data $1 --mode full | dp-grad --data $1 --loss logistic --clip 1 |
            dp-noise --multiplier 20 | dp-account --epsilon 9 --delta 1e-6 | dp-step --step 1"
    }
    pay one.dp '' first
    pay two.dp first second
    for data in one two; do
        run dp-eval --metrics accuracy --data $data-test.dp --in second
        assert_failure 5
    done
}

# on_disk NAME COMMAND…: runs it; lines and key of the registry and lines of ledgers are on disk before anything else happens
on_disk() {
    local name=$1
    shift
    ASAN_OPTIONS=detect_leaks=0 strace -f -y -qq -s 300 -o calls -e trace=fsync,fdatasync,rename,renameat2,link,linkat,write,pwrite64,ftruncate,mkdir \
        "$@" > "$name.out"
    "$BATS_TEST_DIRNAME/on-disk.py" calls '.*/registry/key' '.*/registry/lines' '.*/ledger' > "$name" || fail "$name: $(cat "$name")"
}

@test "key and lines of the registry, a model, and the ledger of a data set that is replaced are on disk before what follows" {
    need_strace
    on_disk import dp-import people.csv -s people.json -q --split 0.7 -o people.dp --test test.dp
    assert_equal "$(cut -d ' ' -f 2 import | tr '\n' ' ')" '1 1 0 '
    # the new files have their names in the directory of the registry
    grep -q "fsync([0-9]*<$PWD/registry>) = 0" calls
    for exec in fused processes; do
        rm -rf model people.dp/ledger*
        on_disk run dp-loop --laps 3 --exec $exec -q -o model -- "dp-sample --data people.dp --rate 0.1 |
            dp-grad --data people.dp --loss logistic --clip 1 | dp-noise -z 20 | dp-account --epsilon 0.5 --delta 1e-5 | dp-step --step 1"
        assert_regex "$(cut -d ' ' -f 2 run | tr '\n' ' ')" '^0 1 [2-9] $'
        grep -q '"model", AT_SYMLINK_FOLLOW' calls
    done
    on_disk measure dp-eval --private --epsilon 0.1 --last --data test.dp model
    assert_regex "$(cut -d ' ' -f 2 measure | tr '\n' ' ')" '^0 1 [2-9] $'
    on_disk replace dp-import people.csv -s people.json -q --split 0.7 --force -o people.dp --test test.dp
    [ -e people.dp/ledger ]
    grep -q 'renameat2(.*"people.dp", RENAME_EXCHANGE) = 0' calls
}

@test "the rows of a second table, for tests, are of the population of the first" {
    printf 'a,y\n1,0\n2,1\n3,0\n' > first.csv
    printf 'a,y\n4,1\n,0\n' > second.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 9], "fill": 2}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > s.json
    dp-import -s s.json --row-norm cap --no-bias -q -o train.dp --test test.dp first.csv second.csv
    assert_equal "$(dp-info --get rows train.dp) $(dp-info --get rows test.dp) $(dp-info --get held_out test.dp)" "3 2 true"
    assert_equal "$(dp-info --get split train.dp)" "$(dp-info --get split test.dp)"
    assert_equal "$(/usr/bin/python3 -c 'import numpy; print((9 * numpy.load("test.dp/X.npy")).round().tolist(), numpy.load("test.dp/y.npy").tolist())')" \
        "[[4.0], [2.0]] [1.0, 0.0]"
    run dp-import -s s.json -o again.dp second.csv
    assert_line "dp-import: the population is first.csv, as in an import before"
    complains 2 "dp-import: --test: --split, or a second table, says which rows go there" dp-import -s s.json -o u.dp --test v.dp first.csv
    complains 2 "dp-import: expected one file, or - for standard input" dp-import -s s.json -o u.dp --split 0.5 --test v.dp first.csv second.csv
    sed 's/"numeric", "bounds": .0, 9., "fill": 2/"person"/; s/"columns": ./&{"name": "b", "type": "numeric", "bounds": [0, 1]}, /' s.json > p.json
    printf 'a,b,y\n1,1,0\n2,1,1\n' > persons.csv
    complains 2 "dp-import: persons.csv: a table for tests may have rows of the same persons: --split keeps them apart" \
        dp-import -s p.json --rows-per-person 1 -o u.dp --test v.dp persons.csv persons.csv
    # a payment for a schema is no import
    people() { awk 'BEGIN { print "age,ill"; for (i = 0; i < 3000; i++) print i % 50 "," i % 2 }'; }
    people > folk.csv
    dp-import folk.csv --infer-schema folk.json --private-schema 0.5 -q
    run dp-import folk.csv -s folk.json -o folk.dp
    assert_line "dp-import: the population is folk.csv"
}

@test "a second table of other people is refused, and the registry stays as it is" {
    head -1000 people.csv > train.csv
    tail -1000 people.csv > tests.csv
    import t1.dp tests.csv
    pay t1.dp 0.5
    cp registry/lines before
    said="tests.csv: the registry knows this table as rows of 'tests.csv', and the training table is of"
    complains 5 "dp-import: $said 'train.csv' (--population 'tests.csv' says that they are the same people)" \
        dp-import csv -s people.json -q -o t2.dp --test t2t.dp train.csv tests.csv
    cmp before registry/lines
    assert_equal "$(echo t2*)" 't2*'
    complains 5 "dp-import: $said 'third' (--population 'tests.csv' says that they are the same people)" \
        dp-import csv -s people.json -q --population third -o t2.dp --test t2t.dp train.csv tests.csv
    # by its path, too, whose rows were others
    sed -i 1d tests.csv
    run -5 dp-import csv -s people.json -q -o t2.dp --test t2t.dp train.csv tests.csv
    cmp before registry/lines
    # with the population that the refusal names: what was spent counts
    dp-import csv -s people.json -q --population tests.csv -o t2.dp --test t2t.dp train.csv tests.csv
    assert_equal "$(population t2.dp) $(population t2t.dp)" "tests.csv tests.csv"
    assert_regex "$(spent t2.dp)" '^by all runs on these people: epsilon 0\.5 '
    # and the same import again
    dp-import csv -s people.json -q -f -o t2.dp --test t2t.dp train.csv tests.csv
    assert_equal "$(population t2.dp)" tests.csv
}

@test "the training table is no table for tests, under no name and without a registry" {
    cp people.csv copy.csv
    gzip -k people.csv
    for table in people.csv copy.csv people.csv.gz; do
        for registry in "" --no-registry; do
            complains 2 "dp-import: $table: the tests table is the training table (--split keeps a part of it for tests)" \
                dp-import csv -s people.json -q -o t.dp --test u.dp people.csv "$table" $registry
        done
    done
    assert_not_exists registry/lines
    assert_not_exists t.dp
    run -2 dpline fit people.csv --schema people.json --test people.csv --epsilon 1 -o model
    assert_line "dp-import: people.csv: the tests table is the training table (--split keeps a part of it for tests)"
    assert_not_exists people.dp
}
