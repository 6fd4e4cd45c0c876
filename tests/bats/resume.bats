# A run that is killed and resumed ends with exactly the bytes of a run that was not.
load helper
load variants

prepare() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 -o four.dp -q
}

# resumed EXEC TEXT [SEED]: kills a seeded run and resumes it, twice, and compares it with an uninterrupted one
resumed() {
    local exec=$1 text=$2 laps=(--laps 150)
    [[ $text != *' --on search '* ]] || laps=(--plan '(gradient, search) 75')
    [[ $text != *' --on moments '* ]] || laps=(--plan '(moments 1, descent 9) 15')
    [[ $text != *' --on temperature '* ]] || laps=(--plan 'moments 1, descent 50, temperature 100')
    [[ $text != *' cyclic '*' --on descent '* ]] || laps=(--plan 'moments 120, descent 8')
    dp-loop "${laps[@]}" --seed 11 --exec $exec -q -o whole -- "$text" > whole.stream
    run timeout 120 "$ROOT/tests/bats/resume.py" "${3:-1}" 2 kept part 20 -- dp-loop "${laps[@]}" --seed 11 --exec $exec -q -- "$text"
    assert_success
    [ "${output##*$'\n'}" -ge 1 ] || fail "never resumed: $output"
    cmp whole part || fail "$exec: $text"
    assert_not_exists kept
    # the stream is the end of the other stream, after its own hello frame
    dp-cat --kind lap stream > part.laps
    dp-cat --kind lap whole.stream | tail -n "$(wc -l < part.laps)" | cmp - part.laps
}

@test "killed and resumed, coordinate descent, fused" {
    for variant in parallel threads release published sequential primal clip inline shuffle non-private; do
        resumed fused "$(pipeline four.dp squared $variant)"
    done
    resumed fused "$(EXACT=yes pipeline four.dp squared parallel)"
}

@test "killed and resumed, coordinate descent, processes" {
    for variant in parallel release published sequential primal clip inline shuffle non-private erm; do
        resumed processes "$(pipeline two.dp squared $variant)"
    done
    resumed processes "$(EXACT=yes pipeline two.dp squared parallel)"
}

GRADIENTS="gradient gradient-threads gradient-clip gradient-adagrad gradient-adaptive gradient-schedule gradient-adam gradient-correlated sgd"

@test "killed and resumed, gradients, fused" {
    for variant in $GRADIENTS; do resumed fused "$(pipeline four.dp logistic $variant)"; done
    text=$(pipeline two.dp logistic gradient-schedule)
    resumed fused "${text/ --schedule sqrt:1:1 / --schedule linear }"
}

@test "killed and resumed, gradients, processes" {
    for variant in $GRADIENTS; do resumed processes "$(pipeline two.dp logistic $variant)"; done
}

@test "killed and resumed, selections" {
    resumed fused "$(pipeline four.dp softmax select)"
    resumed processes "$(pipeline two.dp logistic select-threads)"
}

@test "killed and resumed, tables" {
    counted_rows
    for exec in fused processes; do resumed $exec "$(pipeline counted.dp '' counts)"; done
}

@test "killed and resumed, searches" {
    resumed fused "$(pipeline four.dp logistic search)"
    resumed processes "$(pipeline two.dp logistic search-same)"
    resumed fused "$(EXACT=yes pipeline two.dp logistic search)"
}

@test "killed and resumed, behind a transform" {
    resumed fused "$(pipeline four.dp logistic behind)"
    resumed processes "$(pipeline two.dp logistic behind-clip)"
    resumed fused "$(pipeline four.dp softmax tempered)"
    resumed processes "$(pipeline two.dp logistic tempered)"
}

# private: CHILD, a private run with a ledger
private() {
    CHILD="dp-sample --data two.dp --rate 0.1 | dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 0.1 |
        dp-noise -z 150 | dp-account --epsilon 5 --delta 1e-5 --ledger $PWD/ledger | dp-step --average tail"
}

# stopped SIGNAL [dp-loop options]: a run of $LAPS laps that a signal ended after it had a checkpoint in kept and had continued. It
# writes to a pipe, so it has a hundred laps at most when nobody reads further.
LAPS=1000
stopped() {
    local signal=$1 got=0 checkpoint=--checkpoint in
    shift
    [ ! -e kept ] || checkpoint=--resume
    [ -p pipe ] || mkfifo pipe
    dp-loop --laps $LAPS -q $checkpoint kept --checkpoint-every 50 -o model "$@" -- "$CHILD" > pipe 2> said &
    loop=$!
    exec {in}< pipe
    head -c 5000 <&$in > stream
    for _ in $(seq 3000); do
        [ ! -e kept/loop ] || break
        sleep 0.01
    done
    # a pipe that is full, or nearly: there have been laps after the checkpoint
    [ $signal != KILL ] || timeout 30 python3 -c 'import array, fcntl, termios, time
waits, before = array.array("i", [0]), -1
while waits[0] != before:
    before = waits[0]
    time.sleep(0.3)
    fcntl.ioctl(0, termios.FIONREAD, waits)' <&$in
    kill -$signal $loop
    cat <&$in >> stream
    exec {in}<&-
    wait $loop 2> /dev/null || got=$?
    [ $got -gt 128 ] || fail "status $got: $(cat said)"
    while [ $signal = KILL ] && pgrep -f "dp-account .*--ledger $PWD/ledger" > /dev/null; do sleep 0.02; done
}

@test "a run that is resumed keeps its name" {
    filter stop '
if frame["kind"] == "hello":
    print(frame["run"], file=open("names", "a"))
if frame["kind"] == "lap" and frame["lap"] == 3 and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    private
    run dp-loop --laps 5 -q --checkpoint kept --checkpoint-every 1 -o model -- "$CHILD | ./stop"
    assert_failure 1
    dp-loop --laps 5 -q --resume kept -o model -- "$CHILD | ./stop"
    assert_equal "$(wc -l < names) $(sort -u names | wc -l)" "2 1"
}

laps_spent() { ledger_laps ledger; }
# laps that a killed run may have released: those until its next checkpoint, unless its gate lived to say how many
laps_out() { jq -s 'map(select(.kind == "checkpoint" or .kind == "close"))[-1] | .until // .charges | map(.laps) | add' ledger; }

@test "a checkpoint is on disk before it has its name, and its name before the run goes on" {
    need_strace
    private
    for exec in fused processes; do
        rm -rf ledger* kept
        ASAN_OPTIONS=detect_leaks=0 strace -f -y -qq -s 4096 -e trace=fsync,rename -o calls \
            dp-loop -q --exec $exec --laps 5 --checkpoint "$PWD/kept" --checkpoint-every 2 -o model -- "$CHILD" > /dev/null
        # for each process: the file, its name, and the directory of the name
        sort -s -n -k 1,1 calls | awk -v kept="$PWD/kept" '
            { call = $0; sub(/^[0-9]+ +/, "", call) }
            waits != "" && call ~ /^fsync/ && index(call, "<" kept ">)") { waits = ""; last = ""; next }
            waits != "" { print waits " is not on disk"; exit bad = 1 }
            call ~ /^fsync/ && index(call, "<" kept "/") { last = call; sub(/.*</, "", last); sub(/>.*/, "", last) }
            index(call, "rename(\"" kept "/") == 1 {
                from = call; sub(/^rename\("/, "", from); sub(/".*/, "", from)
                if (from != last) { print from " is not synced"; exit bad = 1 }
                waits = from; n++
            }
            END { if (!bad && (n < 12 || waits != "")) { print n + 0 " files"; exit 1 } exit bad }' || fail "$exec"
    done
}

@test "a signal: the last checkpoint is of the last lap, nothing is lost, and the ledger agrees" {
    private
    dp-loop --laps $LAPS --exec fused -q -o whole -- "${CHILD/--ledger $PWD\/ledger/--no-ledger}" > /dev/null
    for exec in fused processes; do
        rm -rf ledger* kept
        stopped INT --exec $exec
        [ "$(stat -c %a kept)" = 700 ]
        [ "$(stat -c %a kept/* | sort -u)" = 600 ]
        lap=$(dp-info --get lap model)
        [ "$lap" -lt $LAPS ]
        run ls kept
        assert_output "loop
stage-1.lap-$lap
stage-2.lap-$lap
stage-3.lap-$lap
stage-4.lap-$lap
stage-5.lap-$lap"
        assert_equal "$(laps_spent)" "$lap"
        cp -a kept copy
        dp-loop --laps $LAPS --exec $exec -q --resume kept -o model -- "$CHILD" > stream
        assert_equal "$(dp-info --get lap model)" $LAPS
        assert_equal "$(dp-cat --kind lap stream | wc -l)" $((LAPS - lap))
        # its cost equals the cost of an uninterrupted run
        assert_equal "$(dp-info --get epsilon model)" "$(dp-info --get epsilon whole)"
        assert_equal "$(laps_spent)" $LAPS
        dp-account verify ledger
        [ ! -e kept ]
        # only once
        run dp-loop --laps $LAPS --exec $exec -q --resume copy -o again -- "$CHILD"
        assert_failure 5
        assert_output --partial "dp-account: the run "
        assert_not_exists again
        rm -rf copy
    done
}

@test "kill -9: laps that were released after the checkpoint stay spent, beside those that come again" {
    private
    for exec in fused processes; do
        rm -rf ledger* kept
        stopped KILL --exec $exec
        mv stream first
        [ $exec = processes ] || assert_equal "$(laps_spent)" $LAPS
        spent=$(laps_out)
        dp-loop --laps $LAPS --exec $exec -q --resume kept -o model -- "$CHILD" > stream
        lap=$((LAPS - $(dp-cat --kind lap stream | wc -l)))
        [ "$(dp-cat --kind lap first 2> /dev/null | wc -l)" -le "$spent" ]
        assert_equal "$(laps_spent)" $((spent + LAPS - lap))
        dp-account verify ledger
        # the model states all of it
        assert_equal "$(dp-info --get lap model)" $LAPS
        dp-account epsilon --delta 1e-5 --rate 0.1 --multiplier 150 --laps $((spent + LAPS - lap)) > cost
        python3 -c '
import sys
stated, least = float(sys.argv[1]), float(sys.argv[2])
sys.exit(not least * 0.9999 <= stated <= 5)' "$(dp-info --get epsilon model)" "$(sed 's/.*epsilon[^0-9]*\([0-9.e-]*\).*/\1/' cost | head -n 1)" || fail "$(dp-info model) $(cat cost)"
    done
}

@test "killed again and again: laps that were lost before an earlier resumption still count" {
    private
    for i in 1 2 3; do stopped KILL --exec fused; done
    dp-loop --laps $LAPS --exec fused -q --resume kept -o model -- "$CHILD" > stream
    spent=$(laps_spent)
    [ "$spent" -gt $LAPS ]
    cost=$(dp-account epsilon --delta 1e-5 --rate 0.1 --multiplier 150 --laps "$spent")
    python3 -c 'import sys; sys.exit(not float(sys.argv[1]) >= 0.9999 * float(sys.argv[2]))' "$(dp-info --get epsilon model)" "$cost" ||
        fail "stated: $(dp-info --get epsilon model), $spent laps cost $cost"
    # and the certificate says no less than the model
    dp-account certify --ledger ledger --model model > certificate
    python3 -c 'import json, sys; sys.exit(not json.load(open("certificate"))["epsilon"] >= 0.9999 * float(sys.argv[1]))' "$cost" ||
        fail "$spent laps cost $cost: $(cat certificate)"
    dp-account verify --certificate certificate --model model ledger
    dp-account verify ledger
}

@test "a run goes on with the mechanism that it had, whatever the text of the pipeline takes from elsewhere" {
    private
    seq 1 $LAPS > falling
    seq $LAPS -1 1 > rising
    cp falling schedule
    for ledger in "--ledger $PWD/ledger" --no-ledger; do
        for part in "--rate \$Q" "-z \$Z" "--schedule schedule -z \$Z" "--epsilon \$E --adaptive"; do
            rm -rf ledger* kept
            CHILD="dp-sample --data two.dp --rate 0.1 | dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 0.1 |
                dp-noise -z 150 | dp-account --delta 1e-5 $ledger --epsilon 5 | dp-step --average tail"
            case $part in
                --rate*) CHILD=${CHILD/--rate 0.1/$part} ;;
                -*E*) CHILD=${CHILD/--epsilon 5/$part} ;;
                *) CHILD=${CHILD/-z 150/$part} ;;
            esac
            export Q=0.1 Z=150 E=5
            cp falling schedule
            stopped INT
            Q=0.01 Z=1500 E=500
            cp rising schedule
            run sh -c 'dp-loop --laps "$1" -q --resume kept -o again -- "$2" > /dev/null' sh $LAPS "$CHILD"
            assert_failure 5
            assert_regex "$output" "is not the (mechanism|budget) of the run before its checkpoint|differs from the run that it resumes"
            assert_not_exists again
        done
    done
}

@test "a budget that the lost laps have used up ends the run" {
    private
    z=$(dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.1 --laps $LAPS)
    CHILD=${CHILD/-z 150/-z $z}
    CHILD=${CHILD/--epsilon 5/--epsilon 1}
    stopped KILL --exec processes
    [ "$(laps_out)" -lt $LAPS ]
    run dp-loop --laps $LAPS -q --resume kept -o model -- "$CHILD"
    assert_failure 3
    python3 -c 'import sys; sys.exit(not float(sys.argv[1]) <= 1)' "$(dp-info --get epsilon model)"
    dp-account verify ledger
}

@test "an older checkpoint is refused by the ledger" {
    private
    stopped TERM
    cp -a kept old
    stopped TERM
    run dp-loop --laps $LAPS -q --resume old -o again -- "$CHILD"
    assert_failure 5
    dp-account verify ledger
}

@test "a resumed run without a seed has fresh keys: noise never serves twice" {
    private
    CHILD=${CHILD/--ledger $PWD\/ledger/--no-ledger}
    stopped INT
    for i in 1 2; do
        cp -a kept kept-$i
        dp-loop --laps $LAPS -q --resume kept-$i -o model-$i -- "$CHILD" > stream-$i
    done
    run cmp model-1 model-2
    assert_failure 1
    # from the first lap
    run cmp <(dp-cat --kind lap --full stream-1 | head -n 1) <(dp-cat --kind lap --full stream-2 | head -n 1)
    assert_failure 1
}

@test "shuffled epochs: without a seed a checkpoint is at the end of one" {
    private
    CHILD=${CHILD/--rate 0.1/--rate 1\/7 --mode shuffle}
    for signal in INT KILL; do
        rm -rf ledger* kept
        stopped $signal --exec processes
        [ -e kept/loop ]
        for lap in $(ls kept | sed -n 's/stage-1.lap-//p'); do [ $((lap % 7)) = 0 ]; done
        dp-loop --laps $LAPS -q --resume kept -o model -- "$CHILD" > /dev/null
        assert_equal "$(dp-info --get lap model)" $LAPS
    done
}

@test "shuffled epochs that were lost, twice: no lap of another permutation fills one" {
    filter die '
if frame["kind"] == "lap" and frame["lap"] == int(open("last").read()):
    shell = open("/proc/%d/stat" % os.getppid()).read().rsplit(")", 1)[1].split()
    os.kill(int(shell[1]), signal.SIGKILL) # dp-loop
    sys.exit(1)'
    private
    CHILD=${CHILD/--rate 0.1/--rate 1\/8 --mode shuffle}
    CHILD=${CHILD/| dp-step/| .\/die | dp-step}
    died() {
        local got=0
        echo "$1" > last
        dp-loop --laps 24 --exec processes -q "$2" kept --checkpoint-every 1 -o model -- "$CHILD" > stream 2> said || got=$?
        [ $got = 137 ] || fail "status $got: $(cat said)"
        while pgrep -f "dp-account .*--ledger $PWD/ledger" > /dev/null; do sleep 0.02; done
    }
    died 11 --checkpoint
    died 19 --resume
    echo 0 > last
    dp-loop --laps 24 --exec processes -q --resume kept -o model -- "$CHILD" > stream
    assert_equal "$(dp-info --get lap model)" 24
    # three epochs, and the two that were lost: each person was in five
    assert_equal "$(laps_spent)" 40
    run dp-account epsilon --delta 1e-5 --sampler shuffle --rate 1/8 --rows 600 --multiplier 150 --laps 40
    awk "BEGIN { stated = $(dp-info --get epsilon model); cost = $output; exit !(stated > 0.99999 * cost && stated < 1.00001 * cost) }" ||
        fail "stated: $(dp-info --get epsilon model), 40 laps cost $output"
}

@test "a run that releases alpha has no checkpoints without a seed" {
    local why="dp-scd-step: a run that releases alpha has no checkpoints without a seed: the noise on alpha would be drawn twice for one batch"
    for how in --release-alpha '--variant sequential'; do
        for exec in fused processes; do
            complains 5 "$why" dp-loop --laps 50 --exec $exec --checkpoint kept -o model -- "dp-sample --data two.dp --rate 0.1 |
                dp-scd-step --data two.dp --loss hinge --lambda 1e-3 --clip 0.1 $how | dp-noise -z 150 |
                dp-account --epsilon 5 --delta 1e-5 | dp-step"
            assert_not_exists model
            assert_not_exists two.dp/ledger
            rm -rf kept
        done
    done
}

@test "what may not be resumed is refused with one sentence" {
    private
    stopped INT
    here=$PWD
    complains 1 "dp-loop: the checkpoint kept is of a run of $LAPS laps, not 500" dp-loop --laps 500 --resume kept -- "$CHILD"
    complains 1 "dp-loop: the checkpoint kept is of another pipeline: resume it with the same text" dp-loop --laps $LAPS --resume kept -- "$CHILD --tail 0.4"
    complains 1 "dp-loop: the checkpoint kept is of a run with another seed, or without" dp-loop --laps $LAPS --seed 1 --resume kept -- "$CHILD"
    software=$(dp-loop --version | tr -d '()' | cut -d ' ' -f 2-)
    cp -r kept other && sed -i "s/$software/${software/[0-9]/9}/" other/loop
    complains 1 "dp-loop: the checkpoint other was written by ${software/[0-9]/9}, and only that can resume it; this is $software" \
        dp-loop --laps $LAPS --resume other -- "$CHILD"
    complains 2 "dp-loop: kept holds a checkpoint: --resume continues from it" dp-loop --laps $LAPS --checkpoint kept -- "$CHILD"
    complains 1 "dp-loop: cannot use nowhere: No such file or directory" dp-loop --laps $LAPS --resume nowhere -- "$CHILD"
    mkdir -m 755 open
    complains 5 "dp-loop: open: what a checkpoint holds is private: it needs a directory of your own, mode 0700" \
        dp-loop --laps $LAPS --checkpoint open -- "$CHILD"
    mv two.dp one.dp
    dp-synth classification --rows 600 --cols 9 --seed 4 -o two.dp -q
    for exec in fused processes; do
        complains 1 "dp-sample: two.dp is another data set than in the checkpoint" dp-loop --laps $LAPS --exec $exec --resume kept -- "$CHILD"
    done
    rm -r two.dp
    mv one.dp two.dp
    # truncated or missing files
    for file in loop stage-2 stage-5; do
        for part in kept/$file*; do
            cp -a kept cut
            truncate -s -1 cut/"${part#kept/}"
            run timeout 20 dp-loop --laps $LAPS --exec processes -q --resume cut -- "$CHILD"
            assert_failure 1
            assert_output --partial "cut/${part#kept/}: it is damaged, or no file of a checkpoint"
            rm -f cut/"${part#kept/}"
            run timeout 20 dp-loop --laps $LAPS -q --resume cut -- "$CHILD"
            assert_failure 1
            assert_output --partial "cut/${part#kept/}: No such file or directory"
            rm -r cut
        done
    done
    # a stage without an announced checkpoint
    complains 1 "dp-loop: stage 5 has not saved its state in $here/lost: does its environment have DPLINE_CHECKPOINT?" \
        dp-loop --laps $LAPS -q --checkpoint lost --checkpoint-every 10 -- "${CHILD/| dp-step/| env -u DPLINE_CHECKPOINT dp-step}"
}

# begin: the first run, until it has a checkpoint, of which ./copy is a copy; its frames can be read from 8
begin() {
    text="dp-sample --data two.dp --rate 0.1 | dp-grad --data two.dp --loss logistic --clip 1 | dp-noise -z 150 |
        dp-account --epsilon 5 --delta 1e-5 --ledger ledger | dp-step --step 1"
    timeout 100 dp-loop --laps 1000 -q --exec fused --checkpoint-every 200 --checkpoint kept -o first -- "$text" > out 2> first.said &
    first=$!
    exec 8< out
    : > first.stream
    for _ in $(seq 1500); do
        [ ! -e kept/loop ] || break
        head -c 4096 <&8 >> first.stream
    done
    cp -r kept copy
}

resume_copy() { timeout 100 dp-loop --laps 1000 -q --exec fused --checkpoint-every 200 --resume copy -o second -- "$text" > second.stream 2> second.said; }

@test "a run that goes on while it is resumed: no lap of either is free" {
    mkfifo out
    begin
    exec 9< ledger
    flock -s 9 # others can look, and not write
    cat <&8 >> first.stream &
    reader=$!
    sleep 1 # the first run waits, to write its second checkpoint
    resume_copy &
    second=$!
    sleep 1 # the second has seen what the first had released, and waits, too
    flock -u 9
    wait $second || assert_equal "$(cat second.said)" \
        "dp-account: the run made another checkpoint in the ledger ledger while it was resumed: resume that one"
    wait $first || assert_equal "$(cat first.said)" "dp-account: the run was resumed by another process, by the ledger ledger"
    wait $reader
    released=$(cat first.stream second.stream | LC_ALL=C grep -aoE 'kind.lap' | wc -l)
    [ "$released" -ge 1000 ]
    [ "$(dp-account report --json ledger | jq '.runs[0].laps')" -ge "$released" ]
}

@test "a run that was resumed elsewhere says so, and keeps its last model" {
    mkfifo out
    begin
    resume_copy
    cat <&8 > /dev/null &
    got=0
    wait $first || got=$?
    assert_equal $got 5
    assert_equal "$(cat first.said)" "dp-account: the run was resumed by another process, by the ledger ledger"
    assert_exists first
}

@test "killed before the first lap of a cycle, and of correlated noise" {
    for noise in '-z 3' '-z 3 --correlated 4'; do
        resumed fused "dp-sample --data two.dp --mode full --on moments | dp-moments --data two.dp --intercept 0.5 --on moments |
            dp-sample --data two.dp --mode cyclic --rate 1/4 --on descent |
            dp-grad --data two.dp --loss logistic --intercept 0.5 --clip 0.3 --on descent | dp-noise -z 3 --on moments |
            dp-noise $noise --on descent | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded |
            dp-transform --on moments | dp-step --on descent --step 0.5"
    done
}

@test "the order of a cycle has each row once" {
    private
    CHILD=${CHILD/--rate 0.1/--rate 1\/7 --mode cyclic}
    stopped INT
    /usr/bin/python3 - << 'END'
import glob
[path] = glob.glob("kept/stage-1.*")
state = bytearray(open(path, "rb").read())
at = state.index(b"order") + 8 + 8 # its name, a head of some bytes, an entry
state[at + 8:at + 16] = state[at:at + 8] # one row twice
open(path, "wb").write(state)
END
    complains 5 "dp-sample: the order of the checkpoint does not have each of the 600 rows once" dp-loop --laps $LAPS -q --resume kept -o model -- "$CHILD"
}
