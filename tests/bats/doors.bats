# Doors beside the gate: what a private run takes for public, and what is printed beside paid numbers.
load helper

setup() {
    export DPLINE_REGISTRY=$BATS_TEST_TMPDIR/registry
    cd "$BATS_TEST_TMPDIR" || return
}

# table FILE [COUNT]: rows with a label that follows from the age
table() {
    awk -v n="${2:-300}" 'BEGIN { srand(5); print "age,income"; for (i = 0; i < n; i++) { a = 18 + int(70 * rand()); print a "," (a > 50 ? "yes" : "no") } }' > "$1"
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [16, 128]}, {"name": "income", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
}
# import DIR FILE [OPTION…]
import() { dp-import csv --schema schema.json -q -o "$1" "${@:3}" "$2" 2> /dev/null; }
# exact GATE DATA OUT [OPTION…]: a run without noise, by this option of the gate
exact() {
    dp-loop --laps 2 -q -o "$3" "${@:4}" -- "dp-sample --data $2 --mode full | dp-grad --data $2 --loss logistic --clip 1 |
        dp-account $1 | dp-step --step 1" > /dev/null
}
# private DATA OUT [OPTION…]: a private run; gate: more options of its gate
private() {
    dp-loop --laps 1 -q -o "$2" "${@:3}" -- "dp-sample --data $1 --mode full | dp-grad --data $1 --loss logistic --clip 1 |
        dp-noise -z 1000 | dp-account --epsilon 1 --delta 1e-5 ${gate:-} | dp-step --step 1" > /dev/null
}
same="dp-account: the model it starts from, or one before it, was made without noise from rows of the same people, or does not say of whose: no epsilon bounds what it shows of them"
owes="dp-account: models were made from the rows of people.csv as if they were public, and nothing shows that the model to start from owes nothing to them (--no-registry goes without this check)"
# refused MESSAGE COMMAND…: status 5 and the message; no ledger has a run
refused() {
    local message=$1 got=0 said
    shift
    said=$("$@" 2>&1) || got=$?
    assert_equal "$got $said" "5 $message"
    assert_not_exist bad
    assert_equal "$(find . -name ledger -size +0)" ""
}

@test "no private run starts from an exact model of its own people, whatever data set it is of" {
    table people.csv
    import people.dp people.csv --split .5 --test test.dp
    import again.dp people.csv
    exact --public people.dp open
    refused "$same" private people.dp bad --init open
    refused "$same" private test.dp bad --init open  # the other part of the split
    refused "$same" private again.dp bad --init open # another import
    gate=--no-ledger refused "$same" private people.dp bad --init open
    gate=--no-registry refused "$same" private people.dp bad --init open
    exact --public people.dp more --init open # a public run may go on from it
    refused "$same" private people.dp bad --init more
    assert_equal "$(dp-info --get population more)" people.csv
    assert_equal "$(dp-info --get schema more)" "$(dp-info --get schema open)"
    # a frame that does not say whose rows it is made from
    edit population= exact_of= < open > unnamed
    refused "$same" private people.dp bad --init unnamed
    # the same bytes of a table under another population, and a model that says that it is of nobody
    import other.dp people.csv --population others
    refused "$owes" private other.dp bad --init open
    gate=--no-ledger refused "$owes" private other.dp bad --init open
    edit 'population="others"' < open > edited
    refused "$same" private other.dp bad --init edited
}

@test "nor does a trial of dp-tune, nor a run of sites one of which has made the model" {
    table people.csv
    import people.dp people.csv --split .5 --test valid.dp
    exact --public people.dp open
    printf 'step\n1\n2\n' > grid
    run dp-tune --grid grid --trials all --score-data valid.dp --score-multiplier 5 --epsilon 50 --delta 1e-5 -q -o bad -- \
        "dp-loop --laps 1 -q --init open -- 'dp-sample --data people.dp --mode full | dp-grad --data people.dp --loss logistic --clip 1 | dp-noise -z 9 | dp-account --trial {trial} | dp-step --step {step}'"
    assert_failure
    assert_output --partial "dp-tune: a trial failed" # its messages are private, and the choice was paid for before
    assert_not_exist bad
    rm people.dp/ledger*
    table other.csv 200
    import other.dp other.csv
    mv people.dp site1.dp
    mv other.dp site2.dp
    gathered="dp-gather --workers 2 --local 'dp-sample --data site%k.dp --mode full | dp-grad --data site%k.dp --loss logistic --clip 1'"
    sites() { dp-loop --laps 1 -q -o bad --init "$1" -- "$gathered | dp-noise -z 1000 | dp-account --epsilon 1 --delta 1e-5 --no-ledger | dp-step --step 1" > stream; }
    refused "$same" sites open
    # a model of all sites is of each of them
    dp-loop --laps 1 -q -o both -- "$gathered | dp-account --public | dp-step --step 1" > /dev/null
    refused "$same" sites both
    refused "$same" private site2.dp bad --init both
}

@test "nor through models of others" {
    table people.csv
    table other.csv 200
    table third.csv 250
    import people.dp people.csv
    import other.dp other.csv
    import third.dp third.csv
    exact --public people.dp open
    exact --public other.dp second --init open
    assert_equal "$(dp-info --get exact_of second)" $'people.csv\nother.csv'
    run dp-info second
    assert_line --partial "  it shows without noise rows of people.csv"
    refused "$same" private people.dp bad --init second
    gate=--no-ledger refused "$same" private people.dp bad --init second
    gate=--no-registry refused "$same" private people.dp bad --init second
    # nor if it does not say it: an earlier version made it
    edit exact_of= < second > older
    refused "$owes" private people.dp bad --init older
    gate=--no-ledger refused "$owes" private people.dp bad --init older
    exact --public other.dp later --init older
    refused "$owes" private people.dp bad --init later
    exact --public other.dp later --init later
    refused "$owes" private people.dp bad --init later
    # a public model of others is no door
    exact --public other.dp strange
    private people.dp good --init strange
    private people.dp zero # from nothing
    private people.dp next --init zero
    # a private run of others does not hide where it began
    private third.dp third --init open
    assert_equal "$(dp-info --get exact_of third)" people.csv
    rm people.dp/ledger* third.dp/ledger* registry/lines
    import people.dp people.csv --force
    refused "$same" private people.dp bad --init third
}

@test "a table under two names has the same people: exact models of one are doors to the other" {
    table people.csv
    import alpha.dp people.csv --population alpha
    import beta.dp people.csv --population beta
    exact --public alpha.dp open
    refused "${owes/people.csv/alpha}" private beta.dp bad --init open
    # also if the ledger has a charge for the model: of others
    table third.csv 250
    import third.dp third.csv
    gate="--ledger L" private third.dp third --init open
    run bash -c "$(declare -f private); gate='--ledger L' private beta.dp bad --init third"
    assert_failure 5
    assert_output "${owes/people.csv/alpha}"
    assert_not_exist bad
    private beta.dp good
    run dp-account report beta.dp
    assert_output --partial "without any bound, 1 run without privacy"
    rm good
    # also in a trial of dp-tune, which knows no start
    printf 'step\n1\n2\n' > grid
    run dp-tune --grid grid --trials all --score-data beta.dp --score-multiplier 500 --epsilon 1 --delta 1e-5 -q -o bad -- \
        "dp-loop --laps 1 -q --init open -- 'dp-sample --data beta.dp --mode full | dp-grad --data beta.dp --loss logistic --clip 1 | dp-noise -z 1000 | dp-account --trial {trial} | dp-step --step {step}'"
    assert_failure
    assert_output --partial "dp-tune: a trial failed"
    assert_not_exist bad
    rm beta.dp/ledger*
    # the other way round
    table others.csv 200
    import gamma.dp others.csv --population gamma
    import delta.dp others.csv --population delta
    private gamma.dp good
    run exact --public delta.dp bad
    assert_failure 5
    assert_output "dp-account: --public: gamma has runs or a budget in the ledger $PWD/gamma.dp/ledger, so its rows are not public"
    assert_not_exist bad
}

@test "statements about all runs name those without privacy and without a ledger" {
    table people.csv
    import people.dp people.csv
    exact --non-private people.dp open
    gate=--no-ledger private people.dp loose
    private people.dp first
    one=$(dp-info --get epsilon first)
    run dp-account report people.dp
    assert_line --regexp '^by all runs on these people: epsilon [0-9.e-]+ at delta 2e-05, by 1 run and 1 lap; of it at most epsilon 1 by 1 run in no ledger; and without any bound, 1 run without privacy$'
    dp-account report people.dp --json > json
    assert_equal "$(jq "(.populations[0].epsilon - 1 - $one | fabs < 1e-6), .populations[0].untracked.runs, .populations[0].unbounded" json | tr '\n' ' ')" "true 1 1 "
    run dp-account report --text people.dp
    assert_output --partial "No number covers all runs on these people: there was 1 run without privacy."
    assert_output --partial "- 1 run without privacy on these people: no bound."
    assert_output --regexp "This includes at most ε = 1 by 1 run in no"
    # a private run in no ledger shows that the rows are not public, a run without privacy does not
    table other.csv 200
    import other.dp other.csv
    exact --non-private other.dp open
    exact --public other.dp open
    gate=--no-ledger private other.dp loose
    run exact --public other.dp bad
    assert_failure 5
    assert_output "dp-account: --public: other.csv has runs or a budget in no ledger, so its rows are not public"
    exact --non-private people.dp again
    assert_equal "$(dp-account report people.dp --json | jq .populations[0].unbounded)" 2
    # the registry's lines are read by earlier versions: kind, population, ledger, run, adjacency and delta, and no epsilon
    assert_equal "$(jq -c 'select(.gate == "non-private") | [.format, .kind, .population, .ledger, .run, .adjacency, .delta, .epsilon]' registry/lines | sort -u | tail -n 1)" \
        '[1,"run","people.csv","","","null-record",0,null]'
    # a budget binds runs that are charged
    dp-account budget --epsilon 3 --delta 1e-4 --after-runs people.dp > /dev/null
    gate=--no-ledger private people.dp loose
    private people.dp second
}

# Everything that leaves a run on persons, in the form of text; hashes and times are taken out. The noise is the same each time.
everything() {
    rm -rf here
    cp -r "$1" here
    cd here || return
    export DPLINE_REGISTRY=$PWD/registry LD_PRELOAD=$BATS_TEST_TMPDIR/fixed.so
    printf '{"header": true, "columns": [{"name": "id", "type": "person"}, {"name": "age", "type": "numeric", "bounds": [0, 100]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
    {
        dp-import csv --schema schema.json --rows-per-person 4 --population people --split .6 -o p.dp --test t.dp p.csv
        echo "import $?"
        dp-loop --laps 3 --progress plain -o m -- "dp-sample --data p.dp --rate .5 | dp-grad --data p.dp --loss logistic --clip 1e-3 |
            dp-noise -z 9 | dp-account --epsilon 3 --delta 1e-5 | dp-step --step 100" > stream
        echo "loop $?"
        for format in tsv json; do
            dp-eval --data t.dp --private --epsilon .5 --allow-weak --format $format --metrics accuracy,precision,recall,f1,confusion --last --in m
            dp-eval --data t.dp --private --epsilon .5 --allow-weak --no-ledger --format $format --last --in m
            echo "eval $?"
        done
        dp-cat stream
        dp-cat --full m
        dp-info m
        cat p.dp/ledger registry/lines
        dp-account certify --data p.dp --model m
        dp-account report p.dp
        dp-account report --json p.dp
        dp-account report p.dp --text --model m
        dp-account verify p.dp
        wc -c stream m
    } 2>&1 | sed -E 's/(^|[^.0-9a-f])[0-9a-f]{8,}/\1H/g; s/"(time|opened)": ?[0-9]+/T/g; s/20[0-9-]+T[0-9:]+Z|20[0-9]{2}-[0-9]{2}-[0-9]{2}/T/g; s/[0-9.]+ ?(ms|s|laps\/s)( left)?\b/S/g'
}

@test "with equal persons, other rows and the same noise, everything that is printed or written for others has the same bytes" {
    cat > fixed.c << 'END'
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/random.h>
void randombytes_buf(void *buf, size_t size) /* runs have names of their own, which are no keys */
{
    memset(buf, 0x5a, size);
    if (size != 32 && strcmp(program_invocation_short_name, "dp-import") != 0)
        (void)!getrandom(buf, size, 0);
}
END
    cc -shared -fPIC -o fixed.so fixed.c
    # All persons have the same row, twice in the first table and 2 or 4 times in the second: what a person adds is the same.
    for table in few many; do
        mkdir $table
        awk -v table=$table 'BEGIN { print "id,age,y"; for (i = 0; i < 400; i++)
            for (j = 0; j < (table == "few" || i % 2 ? 2 : 4); j++) print "u" i ",60,yes" }' > $table/p.csv
    done
    refute cmp -s few/p.csv many/p.csv
    (everything few) > first
    (everything many) > second
    grep -q '"persons":160' first
    assert_equal "$(grep -c '^{"lap":3' first)" 2
    diff first second || fail "differs"
}

@test "no program that maps rows leaves a core file" {
    table people.csv
    import people.dp people.csv
    mkfifo wait
    for command in "dp-import csv --schema schema.json -o new.dp wait" "dp-sample --data people.dp --in wait" "dp-eval --data people.dp wait" "dp-predict --data people.dp wait"; do
        bash -c "ulimit -c unlimited; exec $command" > /dev/null 2>&1 3>&- &
        for _ in {1..100}; do
            limits=$(grep '^Max core' /proc/$!/limits)
            [[ $limits =~ unlimited ]] || break
            sleep .1
        done
        kill -9 $! # it waits for the other end of the pipe
        wait $! || true
        assert_regex "$limits" '^Max core file size +0 +0 +bytes'
    done
}

@test "verify asks the registry about runs that an older copy of the ledger lacks" {
    table people.csv
    import people.dp people.csv
    private people.dp first
    cp people.dp/ledger old
    cp people.dp/ledger.mark old.mark
    private people.dp second
    dp-account verify people.dp
    cp old people.dp/ledger
    cp old.mark people.dp/ledger.mark
    run dp-account verify people.dp
    assert_failure 1
    assert_line --partial "the registry has noted 1 run on people.csv that no ledger has: an older copy was put here"
}

@test "a model of persons says so, and its page counts the people of the model" {
    printf 'id,age,y\n' > p.csv
    for i in {1..200}; do printf 'u%d,%d,no\nu%d,%d,yes\n' "$i" 30 "$i" 60; done >> p.csv
    printf '{"header": true, "columns": [{"name": "id", "type": "person"}, {"name": "age", "type": "numeric", "bounds": [0, 100]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
    import p.dp p.csv --rows-per-person 2 --split .6 --test t.dp
    private p.dp m
    dp-eval --data t.dp --private --epsilon .5 --delta 1e-5 --last --in m > measures
    run dp-info m
    assert_line --regexp '^trained on: data set [0-9a-f]*, 120 persons$'
    assert_line 'all rows of a person count together: at most 2 of them'
    run dp-account report p.dp --text -m m
    assert_output --partial "120 persons."
    run dp-account report p.dp
    assert_line --index 0 "population p.csv, 120 persons, null-record adjacency"
}
