# Whole runs with a line search: the same bytes in every way of running them, ledgers, checkpoints and deaths.
load helper

prepare() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 -o four.dp -q
}

KINDS='search threads gaussian noisy-max average adaptive decay normalise same-batch'

# search VARIANT DATA [GATE]: sets TEXT to a child pipeline, and PLAN to the laps that it has in a short run
search() {
    local data="--data $2" kind=' --on gradient' look=' --on search' grad='--loss logistic --lambda 0.01' clip=' --clip 1'
    local find='--epsilon 1 --tries 12 --clip 2 --first-step 16 --follow' hold='dp-step --on gradient --hold' walk='dp-step --on search --average tail'
    local gate=${3:-dp-account --adaptive --allow-seeded --epsilon 9.3 --delta 1e-5}
    local adapt='-z 3 --policy on-failure --first-step 16 --every 2'
    PLAN=(--plan '(gradient, search) 7')
    case $1 in
        threads) grad+=' --threads 3' find+=' --threads 3' ;;
        gaussian) find="${find/--epsilon 1/--noise gaussian --rho 0.2} --on-failure last" ;;
        noisy-max) find+=' --method noisy-max' ;;
        average) hold+=' --average-gradients' adapt+=' --average-gradients' find="${find/--tries 12/--tries 2}" ;;
        decay) clip=" | dp-clip --on gradient $data --clip 1 --follow" adapt+=' --clip 1' find="${find/--tries 12/--tries 2}" ;;
        adaptive) clip=" | dp-clip --on gradient $data --clip 1 --follow" adapt="${adapt/on-failure/adaptive} --clip 1" find="${find/--tries 12/--tries 2}" ;;
        normalise) hold+=' --normalise' adapt='-z 3 --policy on-failure' find="${find/ --follow/}" ;;
        same-batch)
            PLAN=(--laps 9)
            TEXT="dp-sample $data --rate 0.2 | dp-grad $data $grad$clip --keep-batch | dp-noise -z 3 --follow |
                dp-linesearch --same-batch $data $find | $gate | dp-step --project 5 --average polynomial | dp-adapt $adapt"
            return
            ;;
    esac
    TEXT="dp-sample $data --rate 0.2 | dp-grad$kind $data $grad$clip | dp-noise$kind -z 3 --follow |
        dp-linesearch$look $data $find | $gate | $hold | $walk | dp-adapt $adapt"
}

# train OUT EXEC: TEXT, seeded
train() { timeout 60 dp-loop "${PLAN[@]}" --seed 11 --exec "$2" -q -o "$1" -- "$TEXT" > "$1.stream"; }

@test "processes = fused, on any number of threads, and with the rows inline" {
    for data in $(some two.dp four.dp); do
        for variant in $KINDS; do
            search $variant $data
            train fused fused
            train processes processes
            cmp fused processes || fail "$variant"
            cmp fused.stream processes.stream || fail "$variant"
            [ $variant != search ] || cp fused one
            [ $variant != threads ] || cmp fused one
        done
        search search $data
        TEXT=${TEXT/--rate 0.2/--rate 0.2 --inline}
        train inline fused
        cmp one inline
    done
}

@test "cut at any | by ZeroMQ" {
    chmod 700 .
    for variant in $(some search average adaptive decay same-batch); do
        search $variant four.dp
        train whole fused
        whole=$TEXT
        pipes=$(tr -cd '|' <<< "$whole" | wc -c)
        for n in $(seq "$pipes"); do
            TEXT=$(awk -v RS='|' -v n="$n" -v port="ipc://$PWD/s-$variant-$n" '
                { gsub(/\n/, " "); text = text (NR > 1 ? "|" : "") $0
                  if (NR == n) text = text " --out " port " "
                  if (NR == n + 1) text = text " --in " port " " }
                END { print text }' <<< "$whole")
            train cut auto
            cmp whole cut || fail "$variant cut at $n differs"
        done
    done
}

@test "the loop itself may be cut" {
    mkfifo there back
    for variant in search same-batch; do
        search $variant two.dp
        train whole fused
        (sh -c "$TEXT" > back < there) &
        timeout 60 dp-loop "${PLAN[@]}" --seed 11 --send there --receive back -o ports > ports.stream
        wait
        cmp whole ports
        cmp whole.stream ports.stream
    done
}

@test "the run goes where its searches say, and one record pays for each look at the rows" {
    for variant in $KINDS; do
        search $variant two.dp
        train model fused
        python '
w, steps, choices = numpy.zeros((1, 9)), 0, set()
for lap in frames.laps("model.stream"):
    assert lap["epsilon"] == 9.3 # of the filter
    kinds = [r["of"] for r in lap["records"]]
    assert kinds == (["sum", "choice"] if "lap_kind" not in lap else ["choice"] if lap["lap_kind"] == "search" else ["sum"])
    moved = not (lap["model"] == w).all()
    if "choice" in lap:
        choices.add(lap["choice"][0, 0])
        assert lap["step_size"] == lap["steps"][lap["choice"][0, 0]]
        assert moved == (lap["step_size"] > 0) and ("direction" in lap) == (not moved)
        steps += moved
    else:
        assert not moved and "direction" in lap and "step_size" not in lap
    for private in ("rows", "X", "y", "updates"): assert private not in lap
    w = lap["model"]
assert len(choices) > 1 and steps > 1' || fail "$variant"
    done
    # searches fail, too, and gradients are averaged then
    search average two.dp
    train model fused
    run jq -s 'map(select(.lap_kind == "search" and .step_size == 0)) | length > 0' <(dp-cat --kind lap model.stream)
    assert_output true
}

@test "a run goes on from any lap, in its ledger too, with the same bytes" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > int(open("last").read()) and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    for variant in $(some average decay normalise same-batch search); do
        search $variant two.dp "./stop | dp-account --adaptive --allow-seeded --epsilon 9 --delta 1e-5 --ledger $PWD/ledger"
        rm -f ledger*
        echo 1000 > last
        train whole processes
        laps=$(dp-info --get lap whole)
        at='3 4'
        [ $variant != search ] || at='1 2 3 4 9'
        for lap in $at; do
            rm -f stopped ledger*
            echo $lap > last
            run dp-loop "${PLAN[@]}" --seed 11 -q --checkpoint kept --checkpoint-every 1 -o part -- "$TEXT"
            assert_failure 1
            dp-loop "${PLAN[@]}" --seed 11 -q --resume kept --checkpoint-every 1 -o part -- "$TEXT" > stream
            # the mark of the ledger is another one, and laps that were paid for twice count twice
            assert_equal "$(dp-cat --full part | jq -cS 'del(.ledger, .epsilon)')" "$(dp-cat --full whole | jq -cS 'del(.ledger, .epsilon)')"
            dp-account verify ledger
            run dp-account report ledger
            assert_output --regexp " $laps  +"
        done
    done
}

@test "until the budget is spent, in a ledger that says so" {
    for exec in fused processes; do
        rm -f ledger*
        search search two.dp "dp-account --adaptive --allow-seeded --epsilon 9 --delta 1e-5 --ledger $PWD/ledger"
        TEXT=${TEXT/--average tail/--average polynomial}
        complains 0 '' dp-loop --plan '(gradient, search) 5000' --until-spent --seed 5 --exec $exec -o model -- "$TEXT"
        laps=$(dp-info --get lap model)
        [ "$laps" -gt 20 ]
        [ "$laps" -lt 10000 ]
        run jq -n "$(dp-info --get epsilon model) <= 9"
        assert_output true
        dp-account verify ledger
        run dp-account report ledger
        assert_output --regexp " $laps  +"
        dp-eval --data two.dp --private-data --metrics accuracy --last --in model 2> /dev/null | awk 'NR == 2 && $3 < 0.7 { exit 1 }' || fail "no better than that"
    done
}

@test "first steps that follow need no filter, and the run has more laps without one" {
    for gate in --adaptive ''; do
        search search two.dp "dp-account $gate --allow-seeded --epsilon 1 --delta 1e-5"
        TEXT=$(sed 's/-z 3 --policy on-failure //; s/-z 3 --follow/-z 20/; s/--epsilon 1 --tries/--epsilon 0.1 --tries/; s/--average tail/--average polynomial/' <<< "$TEXT")
        complains 0 '' dp-loop --plan '(gradient, search) 5000' --until-spent --seed 3 -o "model$gate" -- "$TEXT"
        # it did follow
        run jq -n "$(dp-info --get first_step "model$gate") != 16"
        assert_output true
    done
    [ "$(dp-info --get lap model)" -gt "$(dp-info --get lap model--adaptive)" ]
    # noise that follows does need it
    search search two.dp "dp-account --allow-seeded --epsilon 9 --delta 1e-5"
    complains 5 "dp-account: the mechanism of lap 3 is not what was announced: noise that changes needs a schedule or --adaptive" \
        dp-loop "${PLAN[@]}" --seed 11 -o m -- "${TEXT/--tries 12/--tries 12 --armijo 1e9}"
}

@test "killed and resumed, with and without a seed" {
    for variant in $(some search same-batch); do
        search $variant two.dp
        plan=("${PLAN[@]/7/150}")
        plan=("${plan[@]/#9/300}")
        quiet="${TEXT//-z 3/-z 60}"
        quiet="${quiet/--epsilon 1 /--epsilon 0.05 }"
        quiet="${quiet/--policy adaptive/--policy none}"
        dp-loop "${plan[@]}" --seed 11 -q -o whole -- "$quiet" > whole.stream
        for exec in fused processes; do
            run timeout 120 "$ROOT/tests/bats/resume.py" 1 2 kept part 10 -- dp-loop "${plan[@]}" --seed 11 --exec $exec -q -- "$quiet"
            assert_success
            [ "${lines[-1]}" -ge 1 ] || fail "never resumed: $output"
            cmp whole part
            rm part
        done
        # fresh keys: lost laps stay spent, and the run ends in its budget or before
        search $variant two.dp "dp-account --adaptive --epsilon 9 --delta 1e-5 --ledger $PWD/ledger-$variant"
        timeout 120 "$ROOT/tests/bats/resume.py" 2 2 kept part 10 -- dp-loop "${plan[@]}" --until-spent -q -- "$TEXT"
        dp-account verify "ledger-$variant"
        run jq -n "$(dp-info --get epsilon part) <= 9"
        assert_output true
        rm part
    done
}

@test "every process killed, early and late: the run ends, the ledger holds" {
    small_data
    for variant in $(some search same-batch); do
        search $variant small.dp "dp-account --adaptive --epsilon 9 --delta 1e-5 --ledger ledger"
        rm -f ledger*
        TEXT=${TEXT//-z 3/-z 900}
        run timeout 300 "$ROOT/tests/bats/kill-stages.py" 2 1 ledger -- dp-loop "${PLAN[0]}" "${PLAN[1]/[79]/20000}" --exec processes -o model -- "${TEXT/--epsilon 1 /--epsilon 0.001 }"
        assert_success
        read -r killed some <<< "$output"
        assert_equal "$killed" $((4 * $(tr -cd '|' <<< "$TEXT" | wc -c) + 4))
        [ "$some" -ge $((killed / 2)) ] || fail "only $some runs had released something"
        dp-account verify ledger
    done
}
