# What goes wrong around a run: children that die, ^C, full disks, closed outputs. One sentence, the right status, no partial
# file under its final name, no orphans, nothing private.
load helper

prepare() {
    small_data 400 6 2
    CHILD='dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 2 | dp-account --epsilon 1e4 --delta 1e-5 --allow-weak | dp-step'
}

# nothing is left of the run that named this directory
no_orphans() {
    for _ in $(seq 50); do
        pgrep -f "[d]p-.*$BATS_TEST_TMPDIR" > /dev/null || return 0
        sleep 0.2
    done
    fail "still running: $(pgrep -af "[d]p-.*$BATS_TEST_TMPDIR")"
}

# waits until dp-loop has had some laps, even on a busy machine
under_way() {
    for _ in $(seq 200); do
        if pgrep -f "^dp-loop .*$BATS_TEST_TMPDIR" > /dev/null && [ "$(stat -c %s stream 2> /dev/null || echo 0)" -gt 2000 ]; then return 0; fi
        sleep 0.1
    done
    fail "dp-loop does not start"
}

nothing_left() {
    run bash -c 'ls -A | grep -E "^model"'
    assert_output ''
}

# no temporary file, and a model of the last lap that was paid for
only_the_model_left() {
    run bash -c 'ls -A | grep -E "^model"'
    assert_output model
    run dp-info model
    assert_output --regexp 'laps: [0-9]+ of [0-9]+, interrupted'
    rm model
}

@test "usage of dp-loop" {
    complains 2 "dp-loop: no child pipeline (try --help)" dp-loop --laps 2
    complains 2 "dp-loop: the child pipeline is one argument: quote it" dp-loop --laps 2 -- dp-sample --data small.dp
    complains 2 "dp-loop: --send and --receive leave no room for a child pipeline" dp-loop --laps 2 --send ipc:///tmp/x --receive ipc:///tmp/y -- "$CHILD"
    complains 2 "dp-loop: --exec=fused: '\$' in the pipeline needs a shell" dp-loop --laps 2 --exec fused -- 'dp-sample --data $x'
    complains 2 "dp-loop: --exec=fused: a quote in the pipeline is not closed" dp-loop --laps 2 --exec fused -- "dp-sample --data 'x"
    complains 2 "dp-loop: --exec=fused: an element of the pipeline is empty" dp-loop --laps 2 --exec fused -- "dp-sample | | dp-step"
}

@test "a stage of the child refuses its options: its sentence alone, in both modes" {
    for exec in fused processes; do
        complains 1 "dp-sample: cannot open gone.dp/dataset.json: not a data set (see dp-import)" \
            dp-loop --laps 2 --exec $exec -o model -- "${CHILD/small.dp/gone.dp}"
    done
    nothing_left
}

@test "a missing stage is refused, in both modes" {
    for exec in fused processes; do
        complains 5 "dp-account: takes noised frames and got a bounded one: a stage is missing or out of place" \
            dp-loop --laps 2 --exec $exec -o model -- "${CHILD/| dp-noise -z 2 /}"
        for child in "${CHILD/| dp-account --epsilon 1e4 --delta 1e-5 --allow-weak /}" "${CHILD/| dp-account*/}"; do
            complains 5 "dp-loop: the child pipeline gave back a hello frame that has passed no gate: dp-account is missing" \
                dp-loop --laps 2 --exec $exec -o model -- "$child"
            # and the announcements of the stages are not written
            dp-loop --laps 2 --exec $exec "$child" > out 2> /dev/null || true
            assert_equal "$(dp-cat out 2> /dev/null)" '{"kind":"error","status":5}'
        done
        complains 1 "dp-loop: no stage of the child pipeline takes the sum: put dp-step after dp-account (a stage of your own says in its hello frame what it has taken)" \
            dp-loop --laps 2 --exec $exec -o model -- "${CHILD% | dp-step}"
    done
    nothing_left
}

@test "a child that gives nothing back does not hang the loop" {
    for exec in auto fused processes; do
        complains 2 "dp-loop: dp-eval prints text: it has no place in a child pipeline" dp-loop --laps 2 --exec $exec -- "$CHILD | dp-eval --data small.dp"
        complains 2 "dp-loop: dp-step must write to standard output: it ends the child pipeline" dp-loop --laps 2 --exec $exec -- "$CHILD --out elsewhere"
        for redirected in ' > elsewhere' ' 1>elsewhere' '>> elsewhere' '>elsewhere 2>&1'; do
            complains 2 "dp-loop: '>' after the last stage: its output is the child pipeline's (-o FILE writes the model)" \
                timeout 20 dp-loop --laps 2 --exec $exec -- "$CHILD$redirected"
        done
    done
}

@test "a model of another lambda is no start" {
    dp-loop --laps 2 -o model -- "$CHILD" > /dev/null
    complains 1 "dp-scd-step: the model to start from has another scale of its weights, by lambda, rows or --scale" \
        dp-loop --laps 2 --init model -- "${CHILD/--lambda 1e-3/--lambda 1e-2}"
    complains 1 "dp-scd-step: --lambda: 1e+308 for each of $(dp-info --get rows small.dp) rows is not finite" \
        dp-loop --laps 2 --init model -- "${CHILD/--lambda 1e-3/--lambda 1e308}"
    rm model
}

@test "a command that does not exist" {
    got=0
    said=$(timeout 20 dp-loop --laps 2 -o model -- "dp-sample --data small.dp | no-such-command | dp-step" 2>&1 > /dev/null) || got=$?
    assert_equal $got 1
    [[ $said == *"no-such-command: not found"* ]]
    nothing_left
    no_orphans
}

@test "a child that dies in the middle" {
    cat > die.sh << 'EOF'
#!/bin/sh
# passes some frames' worth of bytes on, then dies without a message
dd bs=1 count=20000 2> /dev/null
kill -KILL $$
EOF
    chmod +x die.sh
    got=0
    said=$(timeout 20 dp-loop --laps 1000000 -o model -- "${CHILD/| dp-noise/| ./die.sh | dp-noise}" 2>&1 > /dev/null) || got=$?
    assert_equal $got 1
    [[ $said == *"ends inside a frame"* || $said == *"the input ended before its end frame"* ]] || fail "$said"
    only_the_model_left
    no_orphans
}

@test "a signal: the lap under way is the last, its model is kept, the signal is the cause of death" {
    for exec in fused processes; do
        for signal in INT TERM HUP QUIT; do
            rm -f stream model
            timeout 60 dp-loop --laps 10000000 --exec $exec -o "$BATS_TEST_TMPDIR/model" -- "${CHILD//small.dp/$BATS_TEST_TMPDIR/small.dp}" > stream 2> said &
            job=$!
            under_way
            pkill -$signal -f "^dp-loop .*$BATS_TEST_TMPDIR"
            got=0
            wait $job || got=$?
            [ $got = $((128 + $(kill -l $signal))) ] || fail "$exec, $signal: status $got: $(cat said)"
            run grep -v '^dp-account: warning: ' said
            assert_output --regexp "^dp-loop: interrupted after lap [0-9]+ of 10000000, whose model is in $BATS_TEST_TMPDIR/model\$"
            [[ $output == *" lap $(dp-cat --last model | sed 's/.*"lap":\([0-9]*\).*/\1/') of "* ]] || fail "$(cat said)"
            run ls
            assert_output $'model\nsaid\nsmall.dp\nstream'
            [ "$(dp-cat --kind end stream)" = '{"kind":"end","interrupted":true}' ]
            no_orphans
        done
    done
}

@test "dp-loop killed outright: its children end by themselves" {
    timeout 60 dp-loop --laps 100000 --exec processes -o "$BATS_TEST_TMPDIR/model" -- "${CHILD//small.dp/$BATS_TEST_TMPDIR/small.dp}" > stream 2> /dev/null &
    under_way
    pkill -KILL -f "^dp-loop .*$BATS_TEST_TMPDIR"
    wait || true
    no_orphans
    assert_not_exists model
}

@test "a full disk" {
    complains 1 "dp-loop: cannot write standard output: No space left on device" \
        bash -c "dp-loop --laps 3 -- '$CHILD' > /dev/full"
    token
    complains 1 "dp-sample: cannot write /dev/full: No space left on device" dp-sample --data small.dp --in token.frames --out /dev/full
    complains 1 "dp-account: cannot write standard output: No space left on device" bash -c 'dp-account --help > /dev/full'
    if small_disk; then
        cat /dev/zero > full/filler 2> /dev/null || true
        got=0
        dp-loop --laps 3 -o full/model -- "${CHILD}" > /dev/null 2> said || got=$?
        assert_equal "$got" 1
        assert_equal "$(cat said)" "dp-loop: cannot write full/model: No space left on device"
        assert_equal "$(ls -A full)" filler
    fi
}

@test "a model that has been paid for and no room at its place is written elsewhere" {
    dp-synth patients --rows 2000 --seed 4 -q -o patients.csv
    small_disk || skip "needs to mount a file system"
    for command in "fit --label readmitted -o full/model" "rows -o rows.csv"; do
        rm -rf patients.[jd]*
        cat /dev/zero > full/filler 2> /dev/null || true
        truncate -s -8K full/filler # for the hello frame
        got=0
        TMPDIR=$PWD/full dpline ${command/ / patients.csv } --row-is-person --no-registry -q 2> said || got=$?
        echo "$got $(tail -n 2 said)"
        rm -r full/*
    done > listing
    assert_equal "$(sed -E 's/dpline-.{6}/dpline-ANY/; s,write [^:]*,write FILE,' listing)" "$(for _ in fit rows; do
        echo '1 dp-loop: warning: the model is in ./dpline-ANY.model'
        echo 'dp-loop: cannot write FILE: No space left on device'
    done)"
    for model in dpline-*.model; do assert_equal "$(printf %.4f "$(dp-info --get epsilon "$model")")" 1.0000; done
    assert_equal "$(ls dpline-*.model | wc -l)" 2
    rm dpline-*.model
    # a model of 8,000 bytes in the middle of a run; but no exact one, and no other file for a reader that left
    dp-synth classification --rows 300 --cols 1000 --seed 3 -q -o wide.dp
    child() { echo "dp-sample --data wide.dp --rate 0.1 --inline | dp-grad --loss logistic --clip 1 | $1 | dp-step --step 1"; }
    paid=$(child 'dp-noise -z 2 | dp-account -e 1000 -d 1e-5 --allow-weak --no-ledger --no-registry')
    cat /dev/zero > full/filler 2> /dev/null || true
    truncate -s -8K full/filler
    ! dp-loop --laps 3 --model-every 1 -q -o full/model -- "$paid" > all 2> said || fail 'it has no room'
    assert_equal "$(sed -n '1s/dpline-.\{6\}/dpline-ANY/p' said)" 'dp-loop: warning: the model is in ./dpline-ANY.model'
    assert_equal "$(dp-info --get lap dpline-*.model)" 1
    rm dpline-*.model
    complains 1 'dp-loop: cannot write full/model: No space left on device' dp-loop --laps 3 -q -o full/model -- "$(child 'dp-account --non-private')"
    dp-loop --laps 3 -q -o >(head -c 10 > some) -- "$paid" > all 2> said || true
    assert_equal "$(compgen -G '*.model')" ''
}

@test "an output that cannot be created" {
    complains 1 "dp-loop: cannot create nowhere/model: No such file or directory" dp-loop --laps 2 -o nowhere/model -- "$CHILD"
}

@test "a closed standard output" {
    token
    complains 1 "dp-sample: cannot write standard output: Bad file descriptor" bash -c 'dp-sample --data small.dp < token.frames >&-'
    complains 1 "dp-loop: cannot write standard output: Bad file descriptor" bash -c "dp-loop --laps 2 -- '$CHILD' >&-"
    complains 1 "dp-account: cannot write standard output: Bad file descriptor" bash -c 'dp-account --version >&-'
}

@test "a reader that goes away ends the run by SIGPIPE, quietly" {
    for exec in fused processes; do
        said=$({ timeout 20 dp-loop --laps 10000000 --exec $exec -o model -- "${CHILD//small.dp/$BATS_TEST_TMPDIR/small.dp}"; echo $? > status; } 2>&1 | head -c 100 | wc -c)
        assert_equal "$said" 100
        assert_equal "$(cat status)" 141
        only_the_model_left
        no_orphans
    done
}

@test "nothing private is printed: a run with a person in or out says the same but for the model" {
    # the same data except for one row's label
    cp -r small.dp other.dp
    printf '\000\000\000\000\000\000\360\077' | dd of=other.dp/y.npy bs=1 seek=128 conv=notrunc status=none
    for d in small other; do
        dp-loop --laps 20 --progress plain -o model-$d -- "${CHILD//small.dp/$d.dp}" > /dev/null 2> said-$d
        sed -i -E 's/[0-9]+ laps\/s +took [0-9:]+//' said-$d
    done
    cmp said-small said-other
}

@test "a failed training leaves a readable error at the end of the stream" {
    dp-loop --laps 2 -- "${CHILD/| dp-noise -z 2 /}" > stream 2> /dev/null || true
    complains 4 "dp-eval: stream ends with the failure of a run" dp-eval --data small.dp --in stream
}

@test "progress: plain lines, a bar on a terminal, silence" {
    run bash -c "dp-loop --laps 5 --progress plain -- '$CHILD' 2>&1 > /dev/null"
    assert_output --regexp '^lap 5/5  epsilon [0-9.]+  [0-9]+ laps/s  took 0:[0-9]{2}$'
    run bash -c "dp-loop --laps 5 -q -- '$CHILD' 2>&1 > /dev/null"
    assert_output ''
    run script -qec "dp-loop --laps 5 --progress bar -o model -- '$CHILD'" /dev/null
    assert_output --partial '[########################]'
    assert_output --partial 'took 0:0'
}

@test "progress of rows: on a terminal, from the second second on, and the line goes" {
    awk 'BEGIN { srand(2); print "a,y"; for (i = 0; i < 60000; i++) { a = rand(); printf "%.9f,%s\n", a, a < .5 ? "no" : "yes" } }' > t.csv
    slowly() { head -c 300000 t.csv; sleep 2.2; tail -c +300001 t.csv; }
    export -f slowly
    bar='\[[#.]*\]'
    # shown COMMAND: the states of the terminal, without control sequences
    shown() { TERM=xterm NO_COLOR=1 script -qec "bash -c '$1'" /dev/null | sed 's/\x1b\[K//g' | tr '\r' '\n' | grep . || true; }
    run shown "slowly | dp-import csv - --infer-schema s.json --header"
    assert_line --regexp '^dp-import: [0-9]{5} rows, [01] MB, 0:0[2-9] so far$'
    assert_line --partial "dp-import: column 'a' is numeric"
    run shown "slowly | dp-import csv - -s s.json -o t.dp --split .5 --test u.dp"
    assert_line --regexp '^dp-import: [0-9]{5} rows, [01] MB, 0:0[2-9] so far$'
    for command in "slowly | dp-import csv - -s s.json -q -f -o t.dp --split .5 --test u.dp" "dp-import csv t.csv -s s.json -q -f -o t.dp"; do
        run shown "$command"
        refute_output --partial ' rows, '
    done
    dpline sgd --data t.dp --epochs 1 -q -o model
    run shown "dp-predict model --schema s.json t.csv | (sleep 2.2; cat > out)"
    assert_line --regexp "^$bar dp-predict: [0-9]{4,5} rows, [01] of 1 MB, 0:[0-5][0-9] left$"
    run shown "dp-predict model t.dp | (sleep 2.2; cat > out)"
    assert_line --regexp "^$bar dp-predict: [0-9]+ of 60000 rows, 0:[0-5][0-9] left$"
    run bash -c 'slowly | dp-import csv - -s s.json -f -o t.dp 2>&1 > /dev/null'
    refute_output --partial ' so far'
}

@test "memory: a data set is mapped, not copied" {
    case $BUILD in *asan*) skip "the limit on memory does not go with sanitizers" ;; esac
    dp-synth classification --rows 60000 --cols 250 --seed 1 -o large.dp -q # 60 MB
    for command in "dp-sample --data large.dp --rate 0.01" "dp-scd-step --data large.dp --loss hinge --lambda 1e-5 --clip 1"; do
        # private memory is limited to 40 MB; a copy of the data would not fit
        dp-loop --laps 2 --exec processes -- "tee first.frames | dp-sample --data large.dp --rate 0.01 | tee raw.frames |
            dp-scd-step --data large.dp --loss hinge --lambda 1e-5 --clip 1 | dp-noise -z 9 | dp-account --epsilon 9 --delta 1e-6 | dp-step" > /dev/null
        input=first.frames
        [[ $command == dp-scd* ]] && input=raw.frames
        run bash -c "ulimit -d 40000; $command --in $input --out /dev/null"
        assert_success
    done
}

@test "memory that runs out in an accountant is said, and never changes an answer" {
    case $BUILD in *asan*) skip "the limit on memory does not go with sanitizers" ;; esac
    local right failed=0 limit
    # exchanges of a row in batches of one size are accounted on a grid, which needs memory; null records are not
    right=$(dp-account epsilon --multiplier 0.6 --delta 1e-9 --rate 0.01 --sampler fixed --laps 20000 --adjacency replace-one)
    for limit in 24000 29000 32000 40000 80000; do
        run bash -c "ulimit -v $limit; dp-account epsilon --multiplier 0.6 --delta 1e-9 --rate 0.01 --sampler fixed --laps 20000 --adjacency replace-one"
        if [ "$status" = 0 ]; then
            assert_output "$right"
            continue
        fi
        [ "$status" != 127 ] || continue # not even loaded
        failed=$((failed + 1))
        assert_equal "$status" 1
        assert_regex "$output" '^dp-account: out of memory( \([0-9]+ × [0-9]+ bytes\))?$'
    done
    [ $failed -gt 0 ]
    failed=0
    for limit in 28000 30000 32000 36000 40000; do
        run bash -c "ulimit -v $limit; dp-loop --laps 20000 --exec fused -o model -- 'dp-sample --data small.dp --rate 0.01 --mode fixed |
            dp-grad --data small.dp --loss logistic --clip 1 --adjacency replace-one | dp-noise -z 0.6 | dp-account --epsilon 1 --delta 1e-9 | dp-step --step 1' > stream"
        [ "$status" = 1 ] || continue # 3 where memory was enough
        failed=$((failed + 1))
        assert_regex "$output" '^dp-(account|loop): out of memory( \([0-9]+ × [0-9]+ bytes\))?$'
        assert [ ! -e model ]
    done
    [ $failed -gt 0 ]
}

# on_terminal COLUMNS TERM COMMAND: what the command writes to a terminal of that width
on_terminal() {
    python3 - "$@" << 'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = sys.argv[2]
    os.read(0, 1)  # until the width is set
    os.execvp("sh", ["sh", "-c", sys.argv[3]])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
os.write(fd, b"\n")
out = b""
try:
    while chunk := os.read(fd, 4096):
        out += chunk
except OSError:
    pass
sys.stdout.write(out.decode())
END
}

@test "progress keeps to the width of the terminal and to what it knows" {
    cat > widest.py << 'END'
import re, sys
text = sys.stdin.read()
lines = re.sub("\033\\[[0-9;]*[mK]", "", text).replace("\r", "\n").split("\n")
lines = [line.rstrip() for line in lines if not line.startswith("dp-")]
print(max(len(line) for line in lines), "\033" in text, any("[#" in line or "[." in line for line in lines))
END
    run bash -c "$(declare -f on_terminal); on_terminal 40 xterm \"dp-loop --laps 30000 -o model -- '$CHILD'\" | python3 widest.py"
    assert_output --regexp '^3[0-9] True'
    run bash -c "$(declare -f on_terminal); on_terminal 100 xterm \"dp-loop --laps 300 -o model -- '$CHILD'\" | python3 widest.py"
    assert_output --regexp '^[6-9][0-9] True True$'
    run bash -c "$(declare -f on_terminal); on_terminal 100 dumb \"dp-loop --laps 300 -o model -- '$CHILD'\" | python3 widest.py"
    assert_output --regexp '^[6-9][0-9] False True$'
    run bash -c "dp-loop --laps 100000 --progress plain -- '${CHILD/-z 2/-z 90}' 2>&1 > /dev/null | head -n 1"
    assert_output 'lap 0/100000  planning'
}

@test "lines of dp-eval do not stand behind the bar" {
    on_terminal 80 xterm "dp-loop --laps 5 -- '$CHILD' | dp-eval --data small.dp --private-data --metrics accuracy --every 1; sleep 0.3" > written
    # a terminal that only knows carriage return, line feed and 'erase to the end of the line'
    python3 -c '
import re, sys
lines, line, at = [], "", 0
for part in re.findall("\033\\[[0-9;]*[mK]|\r|\n|[^\r\n\033]+", open("written", newline="").read()):
    if part == "\n": lines.append(line); line, at = "", 0
    elif part == "\r": at = 0
    elif part.endswith("K"): line = line[:at]
    elif part.endswith("m"): pass
    else: line = line[:at] + part + line[at + len(part):]; at += len(part)
for line in lines + [line]: print(line)
' > screen
    [ "$(grep -cE $'^[1-5]\t[0-9.e-]+\t[01](\\.[0-9]+)?\tyes$' screen)" = 5 ] || fail "$(cat -A screen)"
    # the last state of the bar is complete, on a separate line, even if another process wrote last
    [ "$(grep -cE '^\[#{24}\] lap 5/5 .* took [0-9:]+$' screen)" = 1 ] || fail "$(cat -A screen)"
}

@test "a file that may not grow is an error with a sentence, of every command" {
    complains 1 'dp-synth: cannot write t.dp/X.npy: File too large' \
        bash -c 'ulimit -f 1; exec dp-synth classification --rows 2000 --cols 50 -o t.dp -q' # KiB
    run bash -c "ulimit -f 1; dp-loop --laps 2000 --exec processes -q -o limited -- '$CHILD' 2>&1 > frames"
    assert_failure 1
    assert_output --partial 'File too large'
}

@test "what is written to standard output is written completely, or a sentence says so" {
    awk 'BEGIN { print "a,y"; for (i = 0; i < 3000; i++) print i % 10 "," (i % 10 > 4 ? "yes" : "no") }' > t.csv
    dp-import csv t.csv --infer-schema t.json --label y --row-is-person -q
    dp-import csv t.csv -s t.json -o t.dp -q
    dpline scd --data t.dp --loss logistic --epochs 1 -q -o model
    local tried=0 command
    while read -r command; do
        run -1 bash -c "$command > /dev/full"
        assert_output --regexp "^${command%% *}( [a-z]+)?: cannot write standard output: No space left on device\$"
        tried=$((tried + 1))
    done << 'END'
dp-predict --schema t.json model t.csv
dp-predict model t.dp
dp-eval --data t.dp --private-data -m accuracy --last --in model
dp-info model
dp-info t.dp
dp-cat --full model
dp-export model --to csv
dp-export model --to c
dp-fit t.dp
dp-import csv t.csv --infer-schema - --label y --row-is-person -q
dp-import csv t.csv -s t.json -o t.dp -q --force --json
dp-account report t.dp
dp-account report --json t.dp
dp-account sigma --epsilon 1 --delta 1e-5 --laps 10
END
    assert_equal $tried 14
    run -1 bash -c 'dpline --help > /dev/full'
    refute_line --partial 'is neither a pipeline nor a command'
}

@test "a schema has its name when it is complete: an import that is killed leaves none" {
    mkfifo table
    dp-import csv table --infer-schema t.json --label y --row-is-person -q &
    exec 7> table
    printf 'a,y\n1,no\n2,yes\n' >&7
    for _ in $(seq 200); do [ ! -e t.json.lock ] || break; sleep 0.02; done
    assert_exist t.json.lock
    assert_not_exist t.json
    complains 1 "dp-import: another import is writing t.json" dp-import csv --infer-schema t.json --label y t.csv
    kill -KILL $!
    wait $! || true
    exec 7>&-
    assert_not_exist t.json
    printf 'a,y\n1,no\n2,yes\n' > t.csv
    dp-import csv t.csv --infer-schema t.json --label y --row-is-person -q
    assert_not_exist t.json.lock
}
