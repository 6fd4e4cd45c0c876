# dp-loop --lanes: several runs side by side in one process.
load helper

prepare() { dp-synth classification --rows 600 --cols 6 --seed 7 -o a.dp -q; }

# the text of a pipeline; GATE: options of its gate in place of a budget
pipeline() {
    echo "dp-sample --data a.dp --rate {q} | dp-grad --data a.dp --loss logistic --clip 1 | dp-noise -z {z} |
        dp-account ${GATE:---epsilon 1000 --delta 1e-5 --allow-seeded} | dp-step --step {step}"
}
# lane TEXT Q Z STEP: the text with these in their places
lane() { sed "s/{q}/$2/; s/{z}/$3/; s/{step}/$4/" <<< "$1"; }

TABLE='seed\tq\tz\tstep\n1\t0.1\t2\t1\n2\t0.1\t2\t1\n2\t0.1\t2\t0.3\n# a comment\n\n5\t0.02\t4\t1\n'
# alone OPTION… -- TEXT: the lanes of TABLE one after another, as alone-1 … alone-4
alone() {
    local i=0 seed q z step text=${*: -1} options=("${@:1:$#-2}")
    while read -r seed q z step; do
        i=$((i + 1))
        dp-loop "${options[@]}" --seed "$seed" --exec fused -o "alone-$i" -- "$(lane "$text" "$q" "$z" "$step")" > "alone-$i.stream"
    done < <(printf %b "$TABLE" | grep '^[0-9]')
}

@test "a lane gives the bytes of the same run alone, on one core or several" {
    printf %b "$TABLE" > table
    alone --laps 30 -- "$(pipeline)"
    for threads in 1 2 3 4 9; do
        run dp-loop --lanes table --laps 30 --threads $threads -o "at-$threads/" -- "$(pipeline)"
        assert_success
        assert_output ''
        for i in 1 2 3 4; do cmp "alone-$i" "at-$threads/$i.frames"; done
        [ "$(ls "at-$threads" | wc -l)" = 4 ]
    done
    # the models are four, and names may come from the table
    [ "$(cat alone-? | cksum)" != "$(cat alone-1 alone-1 alone-1 alone-1 | cksum)" ]
    dp-loop --lanes table --laps 30 -o 'm-{seed}-{q}-{step}' -- "$(pipeline)"
    cmp alone-3 m-2-0.1-0.3
}

@test "laps, plan and first model may differ from lane to lane" {
    printf 'laps q z step\n5 0.1 2 1\n12 0.1 2 1\n' > table
    dp-loop --lanes table --seed 4 -o 'm-{laps}-{seed}' -- "$(pipeline)"
    for laps in 5 12; do
        dp-loop --laps $laps --seed 4 -x fused -o alone -- "$(lane "$(pipeline)" 0.1 2 1)" > /dev/null
        cmp alone m-$laps-4
    done
    printf 'from n q z step\nm-5-4 3 0.1 2 1\nm-12-4 4 0.1 2 1\n' > table
    dp-loop --lanes table --seed 5 --plan 'a {n}, b 2' --init '{from}' -o 'next-{from}' -- "$(pipeline)"
    dp-loop --plan 'a 4, b 2' --seed 5 --init m-12-4 -x fused -o alone -- "$(lane "$(pipeline)" 0.1 2 1)" > /dev/null
    cmp alone next-m-12-4
    [ "$(dp-cat --last next-m-5-4 | jq .lap)" = 5 ]
}

# what stays of a JSON text without names of runs, times and what follows from them
bare() { jq -cS 'walk(if type == "object" then del(.run, .time, .prev, .hash, .mark, .ledger, .file) else . end)' "$1"; }

@test "a lane's charge, lines in a ledger and certificate are those of the same run alone" {
    export GATE='--epsilon 1000 --delta 1e-5 --allow-seeded --ledger {l}'
    printf 'seed q z step l\n1 0.1 2 1 lanes-1\n2 0.1 2 1 lanes-2\n' > table
    dp-loop --lanes table --laps 6 --threads 2 -o models/ -- "$(pipeline)"
    for i in 1 2; do
        dp-loop --laps 6 --seed $i -x fused -o alone -- "$(lane "$(pipeline)" 0.1 2 1 | sed "s/{l}/one-$i/")" > /dev/null
        [ "$(wc -l < one-$i)" -ge 3 ]
        diff <(bare one-$i) <(bare lanes-$i)
        diff <(dp-cat --last alone | bare -) <(dp-cat --last models/$i.frames | bare -)
        dp-account certify --ledger one-$i --model alone | sed "s/one-$i/x/" > c
        dp-account certify --ledger lanes-$i --model models/$i.frames | sed "s/lanes-$i/x/" > d
        [ "$(jq .epsilon c)" != null ]
        diff <(bare c) <(bare d)
    done
    # one ledger for both: a run for each lane, with all of its laps
    sed -i 's/lanes-./all/' table
    for threads in 1 2; do
        rm -f all all.mark
        dp-loop --lanes table --laps 6 --threads $threads -o models/ -- "$(pipeline)"
        dp-account report all --json > report
        assert_equal "$(jq -c '[.runs[].laps]' report)" '[6,6]'
        assert_equal "$(jq -c '[.runs[].closed]' report)" '[true,true]'
        dp-account verify all
    done
}

@test "lanes without a seed have keys of their own, and a gate refuses seeded ones" {
    export GATE='--epsilon 1000 --delta 1e-5 --no-ledger'
    printf 'q z step\n0.1 2 1\n0.1 2 1\n' > table
    dp-loop --lanes table --laps 3 -o models/ -- "$(pipeline)"
    dp-cat --last models/1.frames | jq -c .model > one
    dp-cat --last models/2.frames | jq -c .model > two
    [ -s one ]
    run cmp -s one two
    assert_failure
    run dp-loop --lanes table --seed 1 --laps 3 -o models/ -- "$(pipeline)"
    assert_failure 5
    assert_line --partial 'dp-account: lane 2: '
    assert_line 'dp-loop: 2 of 2 lanes did not come to their end'
}

@test "a budget holds for all lanes together" {
    export GATE='--epsilon 3 --delta 1e-6 --ledger l --partial'
    printf 'q z step\n0.1 2 1\n0.1 2 1\n0.1 2 1\n' > table
    for threads in 1 3; do
        rm -f l l.mark
        dp-account budget l --data a.dp --epsilon 2 --delta 1e-5
        run dp-loop --lanes table --laps 3000 --threads $threads -o models-$threads/ -- "$(pipeline)"
        assert_failure 3
        assert_line --partial 'lane 1: '
        dp-account report l --json > report
        assert_equal "$(jq '.populations[0].budget | .spent <= .epsilon and .spent > 0.9 * .epsilon' report)" true
        # every lane that was paid for a lap has its model, and no lane has more laps than its run in the ledger
        [ "$(ls models-$threads | wc -l)" -ge 1 ]
        for model in models-$threads/*; do
            run=$(dp-cat --last "$model" | jq -r '.ledger | split(":")[0]')
            assert_equal "$(dp-cat --last "$model" | jq .lap)" "$(jq --arg run "$run" '.runs[] | select(.run == $run) | .laps' report)"
        done
        dp-account verify l
    done
    # one whose end is asked for is no failure
    rm -f l l.mark
    run dp-loop --lanes table --laps 3000 --until-spent -o spent/ -- "$(sed 's/--epsilon 3/--epsilon 1/; s/l --partial/{lane}/' <<< "$(pipeline)")"
    assert_success
    [ "$(ls spent | wc -l)" = 3 ]
}

@test "a lane that fails does not stop the others, and the status is that of the worst" {
    dp-synth classification --rows 600 --cols 4 --seed 8 -o b.dp -q
    text=$(sed 's/dp-grad --data a.dp/dp-grad --data {data}/' <<< "$(pipeline)")
    printf 'data seed q z step\na.dp 1 0.1 2 1\nnone.dp 1 0.1 2 1\nb.dp 1 0.1 2 1\na.dp 2 0.1 2 1\n' > table
    for threads in 1 2; do
        run dp-loop --lanes table --laps 5 --threads $threads -o models-$threads/ -- "$text"
        assert_failure 1
        assert_line 'dp-grad: lane 2: cannot open none.dp/dataset.json: not a data set (see dp-import)'
        assert_line --partial 'dp-grad: lane 3: '
        assert_line 'dp-loop: 2 of 4 lanes did not come to their end'
        assert_equal "$(ls models-$threads | xargs)" '1.frames 4.frames'
    done
    dp-loop --laps 5 --seed 2 -x fused -o alone -- "$(lane "$(pipeline)" 0.1 2 1)" > /dev/null
    cmp alone models-2/4.frames
    # budgets that end: the last affordable model of that lane, and 3
    printf 'e seed q z step\n1000 1 0.1 2 1\n0.9 1 0.1 2 1\n' > table
    text=$(GATE='--epsilon {e} --delta 1e-5 --allow-seeded' pipeline)
    run dp-loop --lanes table --laps 40 -o some/ -- "$text"
    assert_failure 3
    run dp-loop --laps 40 --seed 1 -x fused -o alone -- "$(lane "${text/\{e\}/0.9}" 0.1 2 1)"
    assert_failure 3
    [ "$(dp-cat --last some/1.frames | jq .lap)" = 40 ]
    cmp alone some/2.frames
}

@test "warnings say whose they are" {
    printf 'd q z step\n0.5 0.1 2 1\n1e-5 0.1 2 1\n' > table
    run dp-loop --lanes table --laps 2 -o m/ -- "$(GATE='--epsilon 1000 --delta {d} --no-ledger' pipeline)"
    assert_success
    assert_line --partial 'dp-account: warning: lane 1: delta = 0.5 '
    refute_line --partial 'lane 2: delta'
}

@test "a signal ends all lanes in order, and each has the model of its last lap" {
    export GATE='--epsilon 1000 --delta 1e-5 --ledger l'
    printf 'laps q z step\n2 0.1 200 1\n10000000 0.1 200 1\n10000000 0.1 300 1\n' > table
    for threads in 1 2; do
        rm -rf l l.mark models
        dp-loop --lanes table --threads $threads -o models/ -- "$(pipeline)" 2> said &
        pid=$!
        for ((i = 0; i < 200; i++)); do
            [ ! -e models/1.frames ] || break
            sleep 0.1
        done
        sleep 0.5
        kill -TERM $pid
        for ((i = 0; i < 300; i++)); do
            kill -0 $pid 2> /dev/null || break
            sleep 0.1
        done
        kill -KILL $pid 2> /dev/null || true
        wait $pid || status=$?
        assert_equal "$status" 143
        assert_equal "$(grep -cE '^dp-loop: lane [23]: interrupted after lap [0-9]+ of 10000000, whose model is in models/[23].frames$' said)" 2
        dp-account report l --json > report
        assert_equal "$(jq -c '[.runs[].closed]' report)" '[true,true,true]'
        for i in 1 2 3; do
            run=$(dp-cat --last models/$i.frames | jq -r '.ledger | split(":")[0]')
            assert_equal "$(dp-cat --last models/$i.frames | jq .lap)" "$(jq --arg run "$run" '.runs[] | select(.run == $run) | .laps' report)"
        done
        [ "$(dp-cat --last models/1.frames | jq .interrupted)" = null ]
        [ "$(dp-cat --last models/2.frames | jq .interrupted)" = true ]
    done
}

@test "a hundred lanes open their data once, and each the file of its model" {
    { echo seed && seq 100; } > table
    text=$(lane "$(pipeline)" 0.1 2 1)
    dp-loop --lanes table --laps 2 -o models/ -- "$text"
    [ "$(ls models | wc -l)" = 100 ]
    case $BUILD in *asan*) return ;; esac
    (ulimit -n 120 && exec dp-loop --lanes table --laps 2 -o again/ -- "$text")
    diff -r models again
    # where not even these are to be had, some lanes fail
    run bash -c 'ulimit -n 60 && exec dp-loop --lanes table --laps 2 -o few/ -- "$1"' - "$text"
    assert_failure 1
    assert_line --partial 'lane 100: '
    cmp models/1.frames few/1.frames
}

@test "tables that are wrong, and what does not go with lanes" {
    bad() { # STATUS MESSAGE TABLE [OPTION…]
        local status=$1 message=$2
        printf %b "$3" > t
        shift 3
        complains "$status" "dp-loop: $message" dp-loop --lanes t -o 'm-{lane}' "$@" -- "${TEXT:-$(pipeline)}"
        [ -z "$(ls | grep ^m-)" ] || fail "there is a model"
    }
    good='q z step\n0.1 2 1\n0.1 2 1\n'
    bad 1 't: no rows: a line of names and a line of cells for each row are expected' ''
    bad 1 't: no rows: a line of names and a line of cells for each row are expected' 'q z step\n\n# x\n'
    bad 1 't: line 3: 2 cells, and there are 3 columns' 'q z step\n0.1 2 1\n0.1\t\t2\n'
    bad 1 "t: line 2: '1|cat' has a character that a shell would read" 'q z step\n0.1 2 1|cat\n'
    bad 1 "t: line 2: '{q}' has a character that a shell would read" 'q z step\n0.1 2 {q}\n'
    bad 1 "t: line 1: the column 'q' stands there twice" 'q q\n1 1\n'
    bad 1 "t: line 1: 'q;' is no name of a column: letters, digits, _ and -" 'q; z\n1 1\n'
    bad 1 't: {lane} is the number of the lane, and no column' 'q z step lane\n1 1 1 1\n'
    bad 2 '{step}: the table has no such column' 'q z\n1 1\n' --laps 1
    bad 2 '{more}: neither the pipeline nor --model, --init or --plan has that column of the table' 'q z step more\n0.1 2 1 1\n' --laps 1
    bad 2 't: lane 2: --seed: must be between 0 and 9007199254740992, got -1' 'q z step seed\n0.1 2 1 1\n0.1 2 1 -1\n' --laps 1
    bad 2 "t: lane 1: --laps: must be a whole number, got 'many'" 'q z step laps\n0.1 2 1 many\n'
    bad 2 "--lanes: the table has a column 'seed', and an option says otherwise for all lanes" 'q z step seed\n0.1 2 1 1\n' --laps 1 --seed 2
    bad 2 "--lanes: the table has a column 'laps', and an option says otherwise for all lanes" 'q z step laps\n0.1 2 1 1\n' --laps 1
    bad 2 "--lanes: the table has a column 'laps', and an option says otherwise for all lanes" 'q z step laps\n0.1 2 1 1\n' --plan 'a 3'
    bad 2 '--model: lanes 1 and 2 would both write model' "$good" --laps 1 -o model
    bad 2 '--model: lanes 2 and 3 would both write ./x' 'at q z step\ny 0.1 2 1\nx 0.1 2 1\n./x 0.1 2 1\n' --laps 1 -o '{at}'
    bad 1 'cannot write nowhere/1: No such file or directory' "$good" --laps 1 -o 'nowhere/{lane}'
    bad 2 '--lanes: lanes run in this process: --exec=processes has no place' "$good" --laps 1 -x processes
    bad 2 '--lanes: lanes run in this process: --send and --receive have no place' "$good" --laps 1 --send a --receive b
    bad 2 '--lanes: a lane that has ended has no checkpoint to go on from: --checkpoint and --resume are for one run' "$good" --laps 1 --checkpoint c
    bad 2 '--lanes: a lane that has ended has no checkpoint to go on from: --checkpoint and --resume are for one run' "$good" --laps 1 --resume c
    bad 2 '--lanes: standard input is one, and the lanes that would start from it are several' "$good" --laps 1 --init -
    bad 2 '--threads: must be between 1 and 1024, got 0' "$good" --laps 1 --threads 0
    TEXT='dp-sample --data $A --rate {q} | cat {z} {step}' bad 2 "lane 1, which runs in this process: '\$' in the pipeline needs a shell" "$good" --laps 1
    TEXT="$(pipeline) | tee x" bad 2 "lane 1, which runs in this process: 'tee' is not a dp stage" "$good" --laps 1
    TEXT="dp-window --in x | $(pipeline)" bad 2 'lane 1, which runs in this process: dp-window names a port of its own' "$good" --laps 1
    TEXT="dp-window --rows x | $(pipeline)" bad 2 'lane 1: dp-window waits for others, and all lanes would wait with it' "$good" --laps 1
    complains 2 'dp-loop: --threads is for --lanes' dp-loop --laps 1 --threads 2 -o m -- "$(lane "$(pipeline)" 0.1 2 1)"
    printf %b "$good" > t
    complains 2 "dp-loop: --lanes: each lane's model has a file of its own: --model names them, as a directory with / at its end, or with {lane} or a column" \
        dp-loop --laps 1 --lanes t -- "$(pipeline)"
    complains 2 'dp-loop: no child pipeline (try --help)' dp-loop --laps 1 --lanes t -o m/
    complains 1 'dp-loop: cannot open nowhere: No such file or directory' dp-loop --laps 1 --lanes nowhere -o m/ -- "$(pipeline)"
    complains 2 'dp-loop: lane 1: --laps is required
dp-loop: lane 2: --laps is required
dp-loop: 2 of 2 lanes did not come to their end' dp-loop --lanes t -o m/ -- "$(pipeline)"
}

@test "the bar counts the laps of all lanes" {
    printf 'laps q z step\n3 0.1 2 1\n7 0.1 2 1\n' > table
    run dp-loop --lanes table --seed 1 --progress plain -o m/ -- "$(pipeline)"
    assert_success
    assert_output --regexp '^lap 10/10  [0-9]+ laps/s  took 0:0[0-9]$'
}
