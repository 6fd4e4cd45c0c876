# Rows that arrive: dp-import --out sends them, dp-window makes laps of them, each row in one lap alone.
load helper
load made

prepare() {
    arrivals 1000 > t.csv
    dp-import csv t.csv --schema s.json --out rows -q
}

NOISE='dp-noise -z 3'
GATE='dp-account --epsilon 5 --delta 1e-5 --no-ledger --allow-seeded'
GRAD='dp-grad --loss logistic --lambda 1e-3 --intercept 0.5'

# train OUT HOW LAPS [WINDOW [PIPELINE]]: a seeded run, OUT.said has what it says
train() {
    timeout -k 2 60 dp-loop --laps "$3" --seed 11 --exec "$2" -o "$1" -- \
        "dp-window ${4:---rows rows --size 100} | ${5:-$GRAD --clip 1 | $NOISE | $GATE | dp-step --step 2}" > "$1.stream" 2> "$1.said"
}

# hand LAPS: tokens, what dp-loop would hand its first stage
hand() {
    /usr/bin/python3 - "$1" > tokens << 'END'
import msgpack, sys
out = [{"kind": "hello", "format": 2, "stage": 0, "laps": int(sys.argv[1])}]
out += [{"kind": "lap", "lap": k, "label": "released", "records": [], "laps": int(sys.argv[1])} for k in range(1, int(sys.argv[1]) + 1)]
sys.stdout.buffer.write(b"".join(map(msgpack.packb, out + [{"kind": "end"}])))
END
}

# windows LAPS WINDOW…: raw.frames, the laps that dp-window makes of so many tokens
windows() {
    hand "$1"
    timeout -k 2 30 dp-window "${@:2}" < tokens > raw.frames
}

# change CODE: changed, the stream of rows after CODE has had its frames; array(values, shape, code) makes one
change() {
    recode rows changed "
def reals(values):
    return msgpack.ExtType(1, struct.pack('<BBQ%dd' % len(values), 2, 1, len(values), *values))
$1"
}

@test "usage" {
    run dp-window --help
    assert_success
    assert_line --index 0 "Usage: dp-window [options]"
    complains 2 "dp-window: --rows: standard input has the frames of the run already" dp-window --rows - --size 3 < /dev/null
    complains 1 "dp-window: cannot open absent: No such file or directory" dp-window --rows absent --size 3 < /dev/null
    train model fused 3 '--rows rows --size 100000000' || status=$?
    [ "$status" = 1 ]
    assert_equal "$(cat model.said)" "dp-window: --size: 100000000 rows of 5 columns do not fit a frame"
}

@test "every row that arrives is in one lap, in its order, a lap has all of its window, and the rest is in none" {
    dp-import csv t.csv --schema s.json -q -o t.dp
    (sed 5q t.csv; sleep 0.3; sed -n '6,400p' t.csv; sleep 0.3; sed -n '401,$p' t.csv) |
        dp-import csv - --schema s.json --population t.csv --out pieces -q
    for what in rows:130:7 rows:256:3 rows:1:1000 pieces:100:10 rows:1000:1 pieces:999:1; do
        IFS=: read -r rows size laps <<< "$what"
        windows $((laps + 2)) --rows "$rows" --size "$size"
        /usr/bin/python3 - "$size" "$laps" << 'END'
import sys
sys.path.insert(0, __import__("os").environ["ROOT"] + "/tests/bats")
import numpy, frames
size, count = int(sys.argv[1]), int(sys.argv[2])
laps = frames.laps("raw.frames")
assert [f["lap"] for f in laps] == list(range(1, count + 1)), laps
X, y = numpy.load("t.dp/X.npy"), numpy.load("t.dp/y.npy")
assert (numpy.concatenate([f["X"] for f in laps]) == X[:size * count]).all()
assert (numpy.concatenate([f["y"] for f in laps]) == y[:size * count]).all()
for f in laps:
    assert len(f["X"]) == size and list(f["rows"]) == list(range(size)) and f["label"] == "raw" and f["n"] == size
    (record,) = f["records"]
    assert record["sampler"] == "stream" and record["rate"] == 1 and record["rows"] == size
    assert f["population"] == "t.csv" and f["labels"] == '["no","yes"]' and f["row_norm"].endswith(", bias")
(end,) = frames.frames("raw.frames", "end")
assert end == {"kind": "end", "exhausted": True}, end
END
    done
    windows 3 --rows rows --size 100 # the run ends before the rows do
    [ "$(dp-cat raw.frames | grep -c '"kind":"lap"')" = 3 ]
    run dp-cat raw.frames
    refute_output --partial exhausted
}

@test "a row without a label teaches nothing when it arrives, fused as with processes" {
    sed -i 's/"no", "yes"]/&, "unknown": "zero"/' s.json
    sed -E '2,$s/,[a-z]*$/,/' t.csv | dp-import csv - --schema s.json --out rows -q
    windows 1 --rows rows --size 1000
    /usr/bin/python3 - << 'END'
import math, msgpack, struct
lap = list(msgpack.Unpacker(open("raw.frames", "rb"), raw=False))[1]
body = {name: lap[name].data for name in ("X", "y")}
rows = struct.unpack("<1000d", body["y"][-8000:])
assert all(map(math.isnan, rows)), rows[:9]
assert not any(body["X"][-16000:])
END
    dp-grad --loss logistic --intercept 0.5 --clip 1 < raw.frames > sum.frames
    assert_equal "$(dp-cat --full sum.frames | jq -c 'select(.sum).sum.values')" '[0,0,0,0,0,0]'
    sed -E '2,300s/,[a-z]*$/,/' t.csv | dp-import csv - --schema s.json --out rows -q
    train fused fused 10
    train processes processes 10
    cmp fused processes
}

@test "the run ends well with its rows, fused as with processes, and says after which lap" {
    train fused fused 50
    train processes processes 50
    cmp fused processes
    cmp fused.stream processes.stream
    assert_equal "$(cat fused.said)" "dp-loop: warning: the rows came to their end after lap 10 of 50"
    assert_equal "$(cat processes.said)" "$(cat fused.said)"
    run dp-cat --last fused
    assert_output --partial '"lap":10,'
    dp-cat fused.stream | tail -1 | grep -qx '{"kind":"end"}'
    timeout 60 dp-loop -q --laps 50 --seed 11 -o quiet -- "dp-window --rows rows --size 100 | $GRAD --clip 1 | $NOISE | $GATE | dp-step --step 1" \
        > quiet.stream 2> quiet.said
    [ ! -s quiet.said ]
    train whole fused 10
    cmp <(dp-cat --last whole) <(dp-cat --last fused | sed 's/"laps":50/"laps":10/')
    train few fused 5 '--rows rows --size 1001' || status=$?
    [ "$status" = 1 ]
    assert_equal "$(cat few.said)" "dp-window: rows: its rows do not fill one window of 1001"
    train few processes 5 '--rows rows --size 1001' || true
    assert_equal "$(cat few.said)" "dp-window: rows: its rows do not fill one window of 1001"
    [ ! -e few ]
}

@test "rows come from a pipe, and from standard input where nothing else does" {
    train file fused 10
    mkfifo pipe
    cat rows > pipe &
    train pipe.model processes 10 '--rows pipe --size 100'
    cmp file pipe.model
    dp-import csv t.csv --schema s.json --out - -q | train input fused 10 '--rows - --size 100'
    cmp file input
    exec 7< rows
    train number processes 10 '--rows /dev/fd/7 --size 100'
    cmp file number
}

@test "the same bytes fused and as processes, whatever makes the sum" {
    for rest in "$GRAD --clip 1 --threads 3 | $NOISE --correlated 4 | $GATE | dp-step --step 1 --momentum 0.5 --average tail" \
        "$GRAD | dp-clip --clip 1 | $NOISE | $GATE | dp-step --step 1" \
        "$GRAD | dp-clip --clip 1 --adaptive 0.5 | $NOISE --count-multiplier 5 | $GATE | dp-step --step 1" \
        "$GRAD --clip 1 | $NOISE --schedule sqrt:1:1 | $GATE | dp-step --step 1 --schedule sqrt:1:1" \
        "$GRAD --clip 1 --keep-batch | $NOISE | dp-linesearch --same-batch --armijo 0.01 --epsilon 1 --tries 5 --clip 1.5 --first-step 4 | $GATE | dp-step"; do
        train fused fused 10 '' "$rest" || fail "$(cat fused.said)"
        train processes processes 10 '' "$rest"
        cmp fused processes
        cmp fused.stream processes.stream
        [ "$(stat -c %s fused)" -gt 300 ]
    done
}

@test "the model is the one that dp-sample makes of the same batches" {
    dp-import csv t.csv --schema s.json -q -o t.dp
    rest="$GRAD --clip 1 | $NOISE | $GATE | dp-step --step 2 --momentum 0.5"
    timeout 60 dp-loop --laps 10 --seed 11 --exec processes -o sampled -- \
        "dp-sample --data t.dp --mode shuffle --rate 0.1 --inline | tee raw | $rest" > /dev/null
    /usr/bin/python3 - > shuffled << 'END'
import msgpack, sys
names = ["kind", "label", "X", "y", "data", "population", "private_preprocessing", "row_norm", "labels", "classes", "label_scale", "label_offset"]
for f in msgpack.Unpacker(open("raw", "rb"), raw=False):
    if f["kind"] == "lap":
        f = dict({k: f[k] for k in names}, lap=f["lap"], records=[])
    sys.stdout.buffer.write(msgpack.packb({"kind": "hello", "format": 2} if f["kind"] == "hello" else f))
END
    train arrived processes 10 '--rows shuffled --size 100' "$rest"
    dp-cmp --weights-only sampled arrived
    cmp <(dp-cat --last --full sampled | grep -o '"model":{[^}]*}') <(dp-cat --last --full arrived | grep -o '"model":{[^}]*}')
    # it is no accident: other windows make another model
    train other processes 10 "--rows rows --size 100" "$rest"
    run dp-cmp --weights-only sampled other
    assert_failure
}

@test "a stream costs what one lap over every row costs, in frame, ledger, report and certificate, and two runs cost two" {
    gate='dp-account --epsilon 5 --delta 1e-5 --ledger ledger'
    one=$(dp-account epsilon -z 3 --sampler full --laps 1 --delta 1e-5)
    for laps in 1 2 10; do
        rm -f ledger ledger.mark
        dp-loop -q --laps $laps -o model -- "dp-window --rows rows --size 100 | $GRAD --clip 1 | $NOISE | $gate | dp-step --step 1" > stream
        dp-cat stream | grep '"kind":"lap"' > laps
        [ "$(wc -l < laps)" = $laps ]
        [ "$(grep -o '"epsilon":[0-9.]*' laps | sort -u | wc -l)" = 1 ]
        same_number "$(dp-cat --last model | grep -o '"epsilon":[0-9.]*' | cut -d: -f2)" "$one"
        grep -q '"sampling":"stream"' ledger
        dp-account verify ledger
    done
    dp-account certify --ledger ledger --model model > certificate
    grep -qE '"sampling": *"stream"' certificate
    dp-account verify ledger --certificate certificate --model model
    dp-loop -q --laps 3 -o model -- "dp-window --rows rows --size 100 | $GRAD --clip 1 | $NOISE | $gate | dp-step --step 1" > stream
    two=$(dp-account epsilon -z 3 --sampler full --laps 2 --delta 1e-5)
    run dp-account report ledger --json
    same_number "$(jq -r '.populations[0].composed.epsilon' <<< "$output")" "$two"
    # somebody looked between the two
    same_number "$(jq -r '.populations[0].epsilon' <<< "$output")" "$(jq -n "2 * $one")"
    # what it learned goes on in another run, whose cost is added
    dp-loop -q --laps 3 --init model -o again -- "dp-window --rows rows --size 100 | $GRAD --clip 1 | $NOISE | $GATE | dp-step --step 1" > stream
    dp-cat --last again | grep -q '"prior_epsilon":'
}
same_number() { /usr/bin/python3 -c "import sys; a, b = map(float, sys.argv[1:]); sys.exit(not abs(a - b) < 1e-4 * b)" "$1" "$2" || fail "$1 is not $2"; }

@test "no state of a row, no other laps between, no noise chosen along the way" {
    train model fused 3 '' "dp-scd-step --loss hinge --lambda 1e-3 --clip 1 | $NOISE | $GATE | dp-step" || status=$?
    [ "$status" = 5 ]
    assert_equal "$(cat model.said)" "dp-scd-step: keeps a state of each row, and rows that arrive are in only one lap: dp-grad takes them"
    complains 5 "dp-account: --adaptive: noise that changes has no accountant with a stream" \
        dp-loop -q --laps 3 -o model -- "dp-window --rows rows --size 100 | $GRAD --clip 1 | $NOISE | $GATE --adaptive | dp-step --step 1"
    complains 5 "dp-account: lap 2 has another mechanism in the middle of a stream" \
        dp-loop -q --plan 'one 1, two 1' -o model -- "dp-window --rows rows --size 100 | $GRAD --clip 1 | dp-noise -z 3 --on one |
            dp-noise -z 4 --on two | $GATE | dp-step --step 1"
    # two stages that have the same rows would each count them for themselves
    complains 5 "dp-account: lap 2 has another mechanism in the middle of a stream" \
        dp-loop -q --plan 'one 1, two 1' -o model -- "dp-window --on one --rows rows --size 100 | dp-window --on two --rows rows --size 100 |
            $GRAD --clip 1 | $NOISE | $GATE | dp-step --step 1"
}

@test "streams of several sites: the bytes of one stream that has their windows in turns; the first to end ends the run" {
    sed -n '2,501p' t.csv > one
    sed -n '502,$p' t.csv > two
    for k in one two; do
        (sed 1q t.csv; cat $k) | dp-import csv - --schema s.json --population $k --out "rows.$k" -q
    done
    mv rows.one rows.1
    mv rows.two rows.2
    (sed 1q t.csv; for i in $(seq 1 50 500); do sed -n "$i,$((i + 49))p" one; sed -n "$i,$((i + 49))p" two; done) |
        dp-import csv - --schema s.json --out turns -q
    rest="$NOISE --correlated 3 | $GATE | dp-step --step 2"
    train turned fused 10 '--rows turns --size 100' "$GRAD --clip 1 | $rest"
    for how in fused processes; do
        for laps in 10 30; do
            timeout 60 dp-loop --laps $laps --seed 11 --exec $how -o gathered -- \
                "dp-gather --workers 2 --local 'dp-window --rows rows.%k --size 50 | $GRAD --clip 1' | $rest" > stream 2> said
            dp-cmp --weights-only turned gathered
            [ $laps = 10 ] || grep -qx "dp-loop: warning: the rows came to their end after lap 10 of 30" said
        done
    done
    complains 2 "dp-window: --rows: a run with streams at several sites has no checkpoint" dp-loop -q --laps 3 --checkpoint kept -o sites -- \
        "dp-gather --workers 1 --local 'dp-window --rows rows.%k --size 50 | $GRAD --clip 1' | $rest"
    cp rows.1 rows.2
    complains 5 "dp-gather: shards 1 and 2 have the same data set, whose people would count twice (dp-sample --shard divides one)" \
        dp-loop -q --laps 3 -o gathered -- "dp-gather --workers 2 --local 'dp-window --rows rows.%k --size 50 | $GRAD --clip 1' | $rest"
}

# until_lap LAP FILE: waits for the model of that lap
until_lap() { for _ in {1..600}; do [ "$(dp-info --get lap "$2" 2> /dev/null)" != "$1" ] || return 0; sleep 0.05; done; fail "no lap $1"; }
# later FIRST [LAST]: sends the rows from FIRST on
later() { (sed 1q t.csv; sed -n "$(($1 + 1)),${2-\$}p" t.csv) | dp-import csv - --schema s.json --population t.csv --out pipe -q; }
# begin PIPELINE HOW: a run that is killed after five windows of 100, while 50 rows wait
begin() {
    rm -rf kept model pipe
    mkfifo pipe
    dp-loop -q --laps 10 --seed 11 --exec "$2" --checkpoint kept --checkpoint-every 1 --model-every 1 -o model -- "$1" > /dev/null 3>&- &
    local run=$!
    (sed 551q t.csv; sleep 60) 3>&- | dp-import csv - --schema s.json --population t.csv --out pipe -q 3>&- &
    until_lap 5 model
    kill -KILL $run %% 2> /dev/null
    wait $run || true
    [ -e kept ]
    rm pipe && mkfifo pipe # a stage of the killed run may still read the old one
}
# resume HOW PIPELINE [option…]
resume() { timeout 60 dp-loop -q --laps 10 --seed 11 --exec "$1" --resume kept --checkpoint-every 1 -o model "${@:3}" -- "$2" > /dev/null; }

@test "a killed run continues with the rows that come next, and has the bytes of a run that was not killed" {
    rest="$GRAD --clip 1 | $NOISE | $GATE | dp-step --step 2 --momentum 0.5 --average tail"
    train whole fused 10 '' "$rest"
    for how in fused processes; do
        begin "dp-window --rows pipe --size 100 | $rest" $how
        later 501 3>&- &
        resume $how "dp-window --rows pipe --size 100 | $rest"
        cmp whole model
        [ ! -e kept ]
    done
}

@test "a table that is read again from its beginning is refused, and a run whose rows have ended can have more" {
    pipeline="dp-window --rows pipe --size 100 | $GRAD --clip 1 | $NOISE | $GATE | dp-step --step 2"
    begin "$pipeline" fused
    cp model before
    later 1 3>&- &
    complains 5 "dp-window: pipe: the run began with these rows, and each row is in one window: give the rows that come next" \
        dp-loop -q --laps 10 --seed 11 --exec fused --resume kept --checkpoint-every 1 -o model -- "$pipeline"
    cmp before model
    later 501 750 3>&- &
    resume fused "$pipeline"
    [ "$(dp-info --get lap model)" = 7 ]
    later 701 3>&- &
    resume fused "$pipeline"
    [ "$(dp-info --get lap model)" = 10 ]
    [ ! -e kept ]
}

@test "a stream that is resumed costs one release, with the laps that were lost, and its noise begins again" {
    one=$(dp-account epsilon -z 3 --sampler full --laps 1 --delta 1e-5)
    for bands in 1 8; do
        pipeline="dp-window --rows pipe --size 100 | $GRAD --clip 1 | dp-noise -z 3 --correlated $bands |
            dp-account --epsilon 0$one --delta 1e-5 --ledger ledger --allow-seeded | dp-step --step 2"
        rm -f ledger*
        begin "$pipeline" fused
        [ $bands = 1 ] || LC_ALL=C grep -qaP 'ring\xc4\x00' kept/stage-3.* # no noise is kept
        later 501 3>&- &
        resume fused "$pipeline"
        same_number "$(dp-info --get epsilon model)" "$one"
        dp-account verify ledger
        same_number "$(dp-account report ledger --json | jq -r '.populations[0].epsilon')" "$one"
    done
}

@test "a row that comes twice, or is missing, ends the run as unsafe" {
    hand 9
    change 'frames.insert(2, frames[1])'
    complains 5 "dp-window: changed: frame 1 came after frame 1, and no row may be missing or come twice" dp-window --in tokens --rows changed --size 300
    change 'del frames[2]'
    complains 5 "dp-window: changed: frame 3 came after frame 1, and no row may be missing or come twice" dp-window --in tokens --rows changed --size 300
    change 'frames[1]["lap"] = 2'
    complains 5 "dp-window: changed: frame 2 came after frame 0, and no row may be missing or come twice" dp-window --in tokens --rows changed --size 300
    train model fused 5 '--rows changed --size 300' || status=$?
    [ "$status" = 5 ]
    [ ! -e model ]
}

@test "what is no stream of rows is refused by name" {
    hand 9
    complain() { complains "$1" "dp-window: changed: $2" dp-window --in tokens --rows changed --size 300; }
    change 'frames[3:] = []'
    complains 1 "dp-window: changed ended before its end frame: the sender of the rows is gone" dp-window --in tokens --rows changed --size 300
    head -c 20000 rows > changed
    complains 1 "dp-window: changed ends inside a frame" dp-window --in tokens --rows changed --size 3000
    change 'frames[-1] = {"kind": "error", "status": 1}'
    complain 1 "the sender of the rows has failed"
    change 'frames.insert(2, frames[0])'
    complain 1 "a second hello frame in one stream"
    change 'del frames[0]'
    complain 1 "the stream does not begin with a hello frame"
    change 'frames[0]["format"] = 9'
    complain 1 "the stream has frame format 9, and streams of rows have formats from 2 to 2"
    change 'frames[2]["label"] = "released"'
    complain 1 "frame 2 is not one of rows, as dp-import --out makes them"
    change 'frames[2]["rows"] = reals([1])'
    complain 1 "frame 2 is not one of rows, as dp-import --out makes them"
    change 'del frames[1]["X"]'
    complain 1 "frame 1 is not one of rows, as dp-import --out makes them"
    change 'frames[2]["y"] = reals([1.0] * 7)'
    complain 1 "X and y of frame 2 have other shapes than its rows"
    change 'frames[2]["y"] = reals([1.0] * 255 + [2.0])'
    complain 1 "frame 2 has an invalid label"
    change 'frames[2]["y"] = reals([1.0] * 255 + [0.5])'
    complain 1 "frame 2 has an invalid label"
    change 'frames[2]["y"] = reals([1.0] * 255 + [float("inf")])'
    complain 1 "frame 2 has an invalid label"
    change 'frames[2]["population"] = "others"'
    complain 1 "frame 2 describes other rows than the first frame"
    change 'del frames[1]["classes"]'
    complain 1 "frame 1 does not say what its rows are: no 'classes'"
    change 'frames[1]["label_scale"] = 0.0'
    complain 1 "frame 1 does not say what its rows are: labels of 2 classes and a scale of 0"
    change 'frames[1]["colour"] = "red"'
    complain 1 "unknown field 'colour' in a frame"
    printf 'no frames\n' > changed
    complain 1 "no model and no other stream of dpline: it begins with 'n', as a text does"
}

@test "laps follow rows as they trickle in, and signals are heard while none come" {
    for how in fused processes; do
        rm -f table pipe
        mkfifo table pipe
        dp-import csv table --schema s.json --out pipe -q &
        timeout -k 2 60 dp-loop -q --laps 50 --seed 1 --exec $how -o model -- \
            "dp-window --rows pipe --size 10 | $GRAD --clip 1 | $NOISE | $GATE | dp-step --step 1" > stream 2> said &
        loop=$!
        exec 7> table
        laps_are() {
            for _ in $(seq 400); do
                [ "$(dp-cat stream 2> /dev/null | grep -c '"kind":"lap"')" -lt "$1" ] || return 0
                sleep 0.1
            done
            fail "no lap $1"
        }
        sed 36q t.csv >&7
        laps_are 3
        sleep 0.5
        [ "$(dp-cat stream 2> /dev/null | grep -c '"kind":"lap"')" = 3 ] # the fourth has five rows yet
        sed -n '37,61p' t.csv >&7
        laps_are 6
        begun=$(date +%s)
        kill -INT "$(pgrep -P $loop dp-loop)"
        wait $loop || true
        [ $(($(date +%s) - begun)) -lt 15 ] # a lap under way has five seconds
        grep -q "interrupted after lap 6 of 50, whose model is in model" said
        run dp-cat --last model
        assert_output --partial '"lap":6,'
        exec 7>&-
        wait
    done
}

@test "rows over sockets: the same model, by ipc and with keys by tcp; who dies or leaves is noticed" {
    train file fused 10
    mkdir -m 700 own
    for how in fused processes; do
        timeout 30 dp-import csv t.csv --schema s.json --out ipc://own/rows -q &
        train arrived $how 10 '--rows ipc://own/rows --size 100'
        wait
        cmp file arrived
    done
    dp-key new keys > /dev/null
    dp-key trust keys me "$(dp-key show keys)"
    port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    timeout 30 dp-import csv t.csv --schema s.json --out "tcp://127.0.0.1:$port" --keys keys -q &
    train arrived fused 10 "--keys keys --rows tcp://127.0.0.1:$port --size 100"
    wait
    cmp file arrived
    timeout 30 dp-import csv t.csv --schema s.json --out "tcp://127.0.0.1:$port" --keys keys -q &
    timeout 30 dp-predict file --rows "tcp://127.0.0.1:$port" --keys keys > lines
    wait
    cmp lines <(dp-predict file --rows rows)
    # without keys there is no stream
    run timeout 30 dp-import csv t.csv --schema s.json --out "tcp://127.0.0.1:$port" --keys none -q
    assert_failure
    for how in fused processes; do
        rm -f table
        mkfifo table
        dp-import csv table --schema s.json --out ipc://own/rows -q &
        import=$!
        exec 7> table
        sed 151q t.csv >&7
        train broken $how 10 '--rows ipc://own/rows --size 100' &
        loop=$!
        for _ in $(seq 1500); do # the first hundred rows make a lap
            [ "$(dp-cat --kind lap broken.stream 2> /dev/null | wc -l)" -lt 1 ] || break
            sleep 0.02
        done
        kill -KILL $import
        exec 7>&-
        status=0
        wait $loop || status=$?
        [ "$status" = 1 ]
        assert_equal "$(cat broken.said)" "dp-window: ipc://own/rows ended before its end frame: the sender of the rows is gone"
        run dp-cat --last broken
        assert_output --partial '"lap":1,'
        wait
    done
    arrivals 200000 > many.csv
    complains 1 "dp-import: nobody reads the rows any more" timeout 30 dp-import csv many.csv --schema s.json --out ipc://own/rows -q &
    import=$!
    train few fused 3 '--rows ipc://own/rows --size 100'
    wait $import
}

@test "a stage that waits for rows ends with those behind it" {
    mkfifo pipe
    sleep 100 > pipe &
    hand 1
    # shellcheck disable=SC2094
    (cat tokens; exec sleep 100) | dp-window --rows "$PWD/pipe" --size 10 2> said | (head -c 1 > /dev/null; sleep 1) &
    waits() { pgrep -f "^dp-window --rows $PWD/pipe" > /dev/null; }
    for _ in $(seq 500); do
        waits && break || sleep 0.02
    done
    waits
    for _ in $(seq 300); do
        waits || break
        sleep 0.1
    done
    kill $(jobs -p) 2> /dev/null || true
    run waits
    assert_failure
    [ ! -s said ]
}

@test "memory stays flat over 100000 rows" {
    case $BUILD in *asan*) skip "sanitizers keep what was freed" ;; esac
    peak() { /usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(["sh", "-c", sys.argv[1]], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$1"; }
    arrivals 100000 > many.csv
    head -5001 many.csv > few.csv
    for what in few many; do

        peak "dp-import csv $what.csv --schema s.json --out - -q |
            dp-loop -q --laps 2000 --seed 1 --exec fused -o $what.model -- 'dp-window --rows - --size 50 | $GRAD --clip 1 | $NOISE | $GATE | dp-step --step 1' > /dev/null" > $what
    done
    run dp-cat --last many.model
    assert_output --partial '"lap":2000,'
    [ "$(cat many)" -lt $(($(cat few) + 2000)) ] || fail "$(cat few) KB for 5000 rows, $(cat many) KB for 100000"
}
