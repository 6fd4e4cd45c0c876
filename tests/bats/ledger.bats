# The ledger from the command line: runs that write to it, report and verify, budgets over runs, certificates, and files that
# were edited, cut, rolled back or cannot be written.
load helper

prepare() {
    small_data
    RUN="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 20 | dp-account --epsilon 10 --delta 1e-5 --ledger ledger"
}

# train LAPS OPTIONS…: a run into ./ledger, its last model in ./model
train() {
    local laps=$1
    shift
    dp-loop --laps "$laps" -o model "$@" -- "$RUN | dp-step" > /dev/null
}

# ask PYTHON: prints an expression over r, the JSON on standard input
ask() { /usr/bin/python3 -c "import json, sys; r = json.load(sys.stdin); print($1)"; }

@test "what a run writes is what dp-ledger(5) says, by the program on that page" {
    train 20
    sed -n '/^\.Bd -literal/,/^\.Ed/p' "$ROOT/man/dp-ledger.5" | sed -e '1d;$d' -e 's/\\e/\\/g' > page.py
    run bash -c '/usr/bin/python3 page.py < ledger'
    assert_success
    assert_output --regexp "^\{'[0-9a-f]{32}': 20\}$"
    sed -i '2s/"laps":[0-9]*/"laps":0/' ledger
    run bash -c '/usr/bin/python3 page.py < ledger'
    assert_failure
    assert_output "line 2 was edited"
}

@test "a report has the runs, adds them up, and composes them under its condition" {
    train 20
    train 30
    dp-account report ledger --json > report.json
    assert_equal "$(ask "[run['laps'] for run in r['runs']]" < report.json)" "[20, 30]"
    assert_equal "$(ask "[run['closed'] for run in r['runs']]" < report.json)" "[True, True]"
    assert_equal "$(ask "r['populations'][0]['laps']" < report.json)" 50
    # 50 laps at once cost what the calculator says, which is less than 20 and 30 laps added
    calculator=$(dp-account epsilon --multiplier 20 --rate 0.2 --laps 50 --delta 1e-5)
    assert_equal "$(ask "abs(r['populations'][0]['composed']['epsilon'] / $calculator - 1) < 1e-5" < report.json)" True
    assert_equal "$(ask "r['populations'][0]['epsilon'] == r['runs'][0]['epsilon'] + r['runs'][1]['epsilon'] > $calculator" < report.json)" True
    assert_equal "$(ask "(r['populations'][0]['delta'], r['populations'][0]['accountant'])" < report.json)" "(2e-05, 'added')"
    run dp-account report ledger --data small.dp
    assert_success
    assert_line --regexp '^spent: epsilon [0-9.]+ at delta 2e-05, by 2 runs and 50 laps \(added\)$'
    assert_line --regexp '^if all runs had been planned together: epsilon [0-9.]+ at delta 1e-05$'
    complains 1 "dp-account report: the ledger ledger has nothing on 00000000000000000000000000000000" \
        dp-account report ledger --data 00000000000000000000000000000000
}

@test "a report of an empty ledger says so, and no line ends in blanks" {
    : > empty
    run dp-account report empty
    assert_success
    assert_output "empty is empty: it records no spending"
    dp-synth classification --rows 100 --cols 3 --seed 1 -o one.dp -q
    dp-loop --laps 1 -q -o model -- "dp-sample --data one.dp --rate 0.2 | dp-scd-step --data one.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 2 | dp-account --epsilon 100 --delta 1e-5 --ledger one.ledger | dp-step" > /dev/null
    run dp-account report one.ledger
    assert_line --partial "by 1 run and 1 lap ("
    refute_line --regexp ' $'
}

@test "verify: an intact ledger, a torn line, an edited one" {
    train 20
    run dp-account verify ledger
    assert_success
    assert_output --regexp '^ledger is intact: [0-9]+ lines, 1 run, epsilon recomputed for 1$'
    printf '{"seq":' >> ledger
    run dp-account verify ledger --json
    assert_success
    assert_equal "$(ask "(r['torn'], r['intact'])" <<< "$output")" "(True, True)"
    train 5 # and goes on behind it
    run dp-account verify ledger --json
    assert_equal "$(ask "(r['torn'], r['intact'], len(r['runs']))" <<< "$output")" "(False, True, 2)"
    sed -i '1s/"rows":400/"rows":401/' ledger
    run dp-account verify ledger
    assert_failure 5
    assert_output --partial 'line 1 of the ledger ledger was edited or damaged: its hash does not fit'
    cp ledger before
    complains 5 "dp-account: line 1 of the ledger ledger was edited or damaged: its hash does not fit" \
        dp-loop --laps 5 -- "$RUN | dp-step"
    cmp ledger before
}

@test "a budget holds over runs" {
    train 20
    spent=$(dp-account report ledger --json | ask "r['populations'][0]['epsilon']")
    rm ledger ledger.mark
    dp-account budget ledger --data small.dp --epsilon "$(ask "1.5 * r" <<< "$spent")" --delta 1e-5
    train 20
    run train 1000
    assert_failure 5
    assert_output --partial "laps (--partial lets it run that far)"
    RUN+=" --partial"
    run train 1000
    assert_failure 3
    run train 1
    assert_failure 3
    dp-account report ledger --json > report.json
    assert_equal "$(ask "r['populations'][0]['budget']['spent'] <= r['populations'][0]['budget']['epsilon']" < report.json)" True
    assert_equal "$(ask "r['populations'][0]['laps'] > 20" < report.json)" True
    dp-account verify ledger
    run dp-account budget ledger --data small.dp --epsilon 9 --delta 1e-5
    assert_failure 5
}

@test "a run that starts from a model asks for the ledger that paid for it" {
    train 5
    cp ledger old
    cp model first
    train 5 --init first
    cp model second
    train 5 --init second
    dp-account verify ledger
    cp old ledger
    run train 5 --init second
    assert_failure 5
    assert_output --partial 'is in ledger.mark: it is an older copy, or another ledger'
    dp-info --get ledger first > ledger.mark
    run train 5 --init second
    assert_failure 5
    assert_output --partial 'rolled back to an older state'
    cmp ledger old
    rm ledger ledger.mark
    run train 5 --init second
    assert_failure 1
    assert_not_exists ledger
}

@test "a ledger has what the model of --init has cost, where no line of it paid for that, with --adaptive too" {
    child="dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 2"
    dp-loop --laps 3 --exec fused -o first -- "$child | dp-account --epsilon 9 --delta 1e-5 --no-ledger | dp-step --step 1" > /dev/null
    spent=$(dp-info --get epsilon first)
    for adaptive in "" --adaptive; do
        rm -f own.ledger own.ledger.mark
        dp-loop --laps 3 --exec fused --init first -o second -- "$child | dp-account --epsilon 9 --delta 1e-5 $adaptive --ledger own.ledger |
            dp-step --step 1" > /dev/null
        /usr/bin/python3 - "$spent" << 'END'
import json, sys
opened, = [line for line in map(json.loads, open("own.ledger")) if line["kind"] == "open"]
assert opened["prior_epsilon"] == float(sys.argv[1]) and opened["prior_delta"] == 1e-5, opened
END
    done
}

@test "a ledger has the sound cost of a model of --init that also states what a paper claims" {
    child="dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 2"
    dp-loop --laps 5 -o first -- "$child | dp-account --epsilon 99 --delta 1e-5 --no-ledger | dp-step --step 1" > /dev/null
    edit as_published=true epsilon=0.1 epsilon_sound=9.0 < first > old
    dp-loop --laps 3 --init old -o second -- "$child | dp-account --epsilon 99 --delta 1e-5 --ledger own.ledger | dp-step --step 1" > /dev/null
    assert_equal "$(jq 'select(.kind == "open") | .prior_epsilon' own.ledger)" 9
}

@test "no certificate for a model that went on without privacy" {
    train 5
    cp model paid
    dp-loop --laps 2 -o model --init paid -- "dp-sample --data small.dp --rate 0.2 |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --variant non-private | dp-account --non-private | dp-step" > bare.frames
    complains 5 "dp-account certify: model: the model comes from a run without privacy" \
        dp-account certify --ledger ledger --model model
    run grep -c '"ledger"' <(dp-cat --kind lap bare.frames)
    assert_output 0
}

@test "a certificate says what the model has cost, and verify recomputes it" {
    train 20
    dp-account certify --ledger ledger --model model > certificate
    assert_equal "$(ask "(r['lap'], r['rows'], r['adjacency'], r['mechanisms'][0]['laps'], r['seeded'])" < certificate)" \
        "(20, 400, 'null-record', 20, False)"
    assert_equal "$(ask "r['data']" < certificate)" "$(ask "r['digest']" < small.dp/dataset.json)"
    calculator=$(dp-account epsilon --multiplier 20 --rate 0.2 --laps 20 --delta 1e-5)
    assert_equal "$(ask "abs(r['epsilon'] / $calculator - 1) < 1e-5" < certificate)" True
    dp-account verify ledger --certificate certificate --model model
    cp ledger then
    cp model certified
    train 5 --init certified # later runs change nothing
    dp-account verify ledger --certificate certificate --model certified
    complains 5 "dp-account verify: the certificate is for another model" \
        dp-account verify ledger --certificate certificate --model model
    sed 's/"delta": 1[^,]*/"delta": 1e-6/' certificate > wrong
    complains 5 "dp-account verify: the certificate is not what the ledger ledger says: 'delta' differs" \
        dp-account verify ledger --certificate wrong
    # its cost includes the cost of the model from which it started
    dp-account certify --ledger ledger --model model > second
    assert_equal "$(ask "(sum(m['laps'] for m in r['mechanisms']), len(r['runs']))" < second)" "(25, 2)"
    cp then ledger
    dp-info --get ledger certified > ledger.mark
    run dp-account verify ledger --certificate second
    assert_failure 5
    assert_output --partial 'rolled back to an older state'
}

@test "a ledger without its mark is refused, so that nothing can be cut off" {
    local lost="the ledger ledger has lines and no ledger.mark, so nothing says that none is missing at its end: put back the mark that belongs to it, or write into it what dp-info --get ledger prints for the newest model"
    again() { train 5; }
    export -f train again
    export RUN
    train 5
    train 5
    cp ledger whole
    cp ledger.mark mark
    head -n -5 whole > ledger
    complains 5 "dp-account: the ledger ledger does not hold line $(cut -d: -f2 mark), whose mark is in ledger.mark: it is an older copy, or another ledger" bash -c again
    rm ledger.mark
    complains 5 "dp-account: $lost" bash -c again
    complains 5 "dp-account report: $lost" dp-account report ledger
    complains 5 "dp-account verify: ledger does not hold: 1 finding" dp-account verify ledger
    run dp-account verify ledger
    assert_line "$lost"
    complains 5 "dp-account budget: $lost" dp-account budget ledger --data small.dp --epsilon 9 --delta 1e-5
    assert_not_exist ledger.mark
    # as the sentence says: the mark of the newest model finds the cut
    dp-info --get ledger model > ledger.mark
    run dp-account verify ledger
    assert_failure 5
    cp whole ledger
    dp-account verify ledger
    train 5
    # a budget without its runs, and no mark
    rm ledger ledger.mark
    dp-account budget ledger --data small.dp --epsilon 9 --delta 1e-5
    cp ledger before
    train 5
    cp before ledger
    rm ledger.mark
    complains 5 "dp-account: $lost" bash -c again
    # a file without a line is a new ledger
    : > ledger
    train 5
    dp-account verify ledger
}

@test "a first run that dies between its line and its mark leaves a ledger that the next one takes" {
    need_strace
    local call
    for call in openat renameat rename fsync pwrite64 ftruncate; do
        for n in 1 2 3 4 5 6 7 8; do
            rm -f ledger ledger.mark ledger.mark.new model
            strace -f -qq -o /dev/null -P ledger -P ledger.mark -P ledger.mark.new -P . -e inject=$call:signal=KILL:when=$n \
                dp-loop --laps 2 -q -o model -- "dp-sample --data small.dp --rate 0.2 |
                    dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 1 |
                    dp-account --epsilon 3 --delta 1e-5 --ledger ledger | dp-step" > /dev/null 2>&1 || true
            train 2
            dp-account verify ledger > /dev/null
        done
    done
}

@test "a certificate of a model that started from a model adds up, as their frames do" {
    chain() {
        dp-loop --laps 5 -o "$1" ${3:-} -- "dp-sample --data small.dp --rate 0.2 |
            dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z $2 | dp-account --epsilon 10 --delta 1e-5 --ledger ledger | dp-step" > /dev/null
    }
    chain first 1
    chain second 1.7 "--init first"
    dp-account certify --ledger ledger --model second > certificate
    stated=$(dp-info --json second | ask "(r['epsilon'], r['delta'])")
    assert_equal "$(ask "tuple(abs(r[k] / s - 1) < 1e-5 for k, s in zip(('epsilon', 'delta'), $stated))" < certificate)" "(True, True)"
    assert_equal "$(ask "r['accountant'], r['if_planned_together']['accountant'], r['if_planned_together']['epsilon'] < r['epsilon']" < certificate)" \
        "added pld True"
    dp-account verify ledger --certificate certificate --model second
    sed 's/"accountant": "added"/"accountant": "pld"/' certificate > wrong
    complains 5 "dp-account verify: the certificate is not what the ledger ledger says: 'accountant' differs" \
        dp-account verify ledger --certificate wrong
}

@test "what cannot be written releases nothing" {
    mkdir directory
    ln -s elsewhere link
    for file in directory link /dev/full nowhere/ledger; do
        got=0
        dp-loop --laps 5 -o model -- "${RUN/--ledger ledger/--ledger $file} | dp-step" > stream 2> said || got=$?
        assert_equal "$got" 1
        grep -q "ledger $file" said || fail "it said: $(cat said)"
        assert_not_exists model
        run bash -c 'dp-cat stream 2> /dev/null | grep -c released'
        assert_output 0
    done
}

@test "a ledger that everybody can write to is read, and nothing is spent there" {
    train 2
    chmod 666 ledger
    complains 5 'dp-account: everybody can write to the ledger ledger and change what it records (chmod o-w)' \
        dp-loop --laps 2 -q -o again -- "$RUN | dp-step"
    assert_not_exists again
    dp-account report ledger > /dev/null
    chmod 664 ledger # a group may share one
    train 2
}

@test "a full disk releases nothing that it did not take" {
    small_disk || skip "needs to mount a file system"
    for free in 0 1 2; do # pages for the first mark, the ledger and the next mark
        rm -f full/*
        head -c $((65536 - 4096 * free)) /dev/zero > full/filler
        got=0
        dp-loop --laps 1000 --exec processes -- "${RUN/--ledger ledger/--ledger full/ledger} | dp-step" > stream 2> said || got=$?
        if [ $got != 1 ] || [ "$(dp-cat stream 2> /dev/null | grep -c '"label":"released"')" != 0 ]; then
            fail "status $got: $(cat said)"
        fi
        [ $free != 1 ] || assert_equal "$(cat said)" "dp-account: cannot write to the ledger full/ledger: No space left on device"
    done
}
