# dp-cat: frames as JSON, frames cut out of a stream, and messages about broken streams.
load helper

CHILD="dp-sample --data small.dp --rate 0.2 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1"
GATE="dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded | dp-step"

prepare() {
    small_data 200 5 2
    dp-loop --laps 5 --seed 1 -q -o model -- "$CHILD | $GATE" > run
}

# raw_frames: raw.frames, the rows of one lap
raw_frames() {
    token
    dp-sample --data small.dp --rate 0.2 < token.frames > raw.frames
}

@test "usage" {
    run dp-cat --help
    assert_success
    assert_line --index 0 "Usage: dp-cat [options] [PORT …]"
}

@test "a run, frame by frame" {
    run dp-cat run
    assert_success
    [ "${#lines[@]}" -eq 7 ]
    assert_line --index 0 --regexp '^\{"kind":"hello","format":2,"software":"dpline [0-9.]+","stage":5,"laps":5\}$'
    assert_line --index 3 --regexp '^\{"kind":"lap","lap":3,"label":"released","records":\[\{"of":"sum","sampler":"poisson","rate":0\.2,"rows":200,'
    assert_line --index 3 --regexp '"model":\{"dtype":"f8","shape":\[1,5\],"values":\[(-?[0-9.e-]+,){3}-?[0-9.e-]+\],"more":1\}'
    assert_line --index 6 '{"kind":"end"}'
    run dp-cat < run
    [ "${#lines[@]}" -eq 7 ]
    dp-cat run | /usr/bin/python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]'
}

@test "selections" {
    run dp-cat --kind hello run
    assert_output --regexp '^\{"kind":"hello"'
    [ "${#lines[@]}" -eq 1 ]
    run dp-cat --kind end run
    assert_output '{"kind":"end"}'
    run dp-cat --kind error run
    assert_success
    assert_output ''
    run dp-cat --kind lap run
    [ "${#lines[@]}" -eq 5 ]
    run dp-cat --label released run
    [ "${#lines[@]}" -eq 5 ]
    run dp-cat --label noised run
    assert_success
    assert_output ''
    run dp-cat --lap 4 run
    [ "${#lines[@]}" -eq 1 ]
    assert_output --partial '"lap":4,'
    run dp-cat --last run
    [ "${#lines[@]}" -eq 1 ]
    assert_output --partial '"lap":5,'
    run dp-cat --lap 9 run
    assert_success
    assert_output ''
}

@test "several streams one after the other" {
    run dp-cat --last model run
    [ "${#lines[@]}" -eq 1 ]
    run dp-cat run - < model
    [ "${#lines[@]}" -eq 10 ]
    complains 1 "dp-cat: cannot open nowhere: No such file or directory" dp-cat model nowhere
}

@test "--full has every value, as stored" {
    short=$(dp-cat --lap 2 run)
    full=$(dp-cat --lap 2 --full run)
    [[ $short == *'"more":'* ]]
    [[ $full != *'"more":'* ]]
    dp-cat --last --full run > full.json
    dp-info --get model model > values
    /usr/bin/python3 - << 'END'
import json
frame = json.load(open("full.json"))
assert frame["model"]["values"] == [float(line) for line in open("values")], frame
END
}

@test "a model is cut out of a run, byte for byte" {
    dp-cat --last --frames -o cut run
    cmp cut model
    dp-cat --last --frames < run | cmp - model
    dp-cat --frames run | cmp - run
    dp-cat --frames --lap 2 run > second
    run dp-cat --kind lap second
    assert_output --partial '"lap":2,'
    complains 1 "dp-cat: there is no such lap frame" dp-cat --frames --lap 9 -o cut9 run
    assert_not_exists cut9
    complains 1 "dp-cat: there is no such lap frame" dp-cat --frames --label raw -o cut9 run
}

@test "a run whose budget was spent keeps its status" {
    dp-loop --laps 50 --seed 1 -q -- "$CHILD | dp-noise -z 1 | dp-account --epsilon 3 --delta 1e-5 --allow-seeded | dp-step" > spent || [ $? -eq 3 ]
    run dp-cat --kind end spent
    assert_output '{"kind":"end","status":3}'
    dp-cat --frames spent | cmp - spent
}

@test "over ZeroMQ" {
    chmod 700 .
    timeout 20 bash -c 'dp-cat ipc://$PWD/socket > there & dp-cat --frames -o ipc://$PWD/socket model; wait'
    dp-cat model | cmp - there
}

@test "frames that are not released stay off a terminal" {
    raw_frames
    run dp-cat raw.frames
    assert_success
    assert_output --partial '"label":"raw"'
    run script -qec "dp-cat raw.frames" /dev/null
    assert_failure 5
    assert_output --partial "dp-cat: will not write a raw frame to a terminal (--allow-private-output overrides)"
    refute_output --partial '"rows":{'
    run script -qec "dp-cat --allow-private-output raw.frames" /dev/null
    assert_success
    assert_output --partial '"rows":{'
    assert_output --partial '"label":"raw"'
    script -qec "dp-cat run" /dev/null
    complains 5 "dp-cat: will not write a raw frame in plain text to a network: leave out --insecure-plaintext" \
        dp-cat --frames -o tcp://192.0.2.1:5555 --insecure-plaintext --allow-private-output --patience 1 raw.frames
}

@test "a truncated stream: everything before the cut, then one sentence" {
    size=$(stat -c %s run)
    for cut in 1 20 100 600 $((size - 1)); do
        head -c $cut run > short
        complains 4 "dp-cat: short ends inside a frame" dp-cat short
        dp-cat run > whole.json
        dp-cat short > short.json 2> /dev/null || true
        head -n "$(wc -l < short.json)" whole.json | cmp - short.json
    done
    complains 4 "dp-cat: standard input ends before its end frame" dp-cat < /dev/null
    edit kind=end < run > endless
    complains 4 "dp-cat: endless ends before its end frame" dp-cat endless
    [ "$(dp-cat endless 2> /dev/null | wc -l)" -eq 6 ]
    complains 4 "dp-cat: endless ends before its end frame" dp-cat --frames -o cut endless
    assert_not_exists cut
}

@test "--last of a stream that broke off is a model, marked" {
    edit kind=end < run > endless
    size=$(stat -c %s run)
    head -c $((size - 100)) run > short
    { cat endless; printf '\x81\xa4kind\xa5error'; } > failed
    for broken in endless short failed; do
        lap=5
        [ $broken != short ] || lap=4
        got=0
        dp-cat --last --frames -o cut $broken 2> /dev/null || got=$?
        assert_equal $got 4
        dp-cat --last --frames $broken 2> /dev/null | cmp - cut
        dp-eval --data small.dp --last --in cut --private-data 2> said || fail "$(cat said)"
        run dp-info cut
        assert_line "laps: $lap of 5, interrupted"
        [ "$(dp-cat --kind end cut)" = '{"kind":"end","interrupted":true}' ]
        got=0
        dp-cat --last $broken > line 2> /dev/null || got=$?
        assert_equal $got 4
        cmp line <(dp-cat --lap $lap run)
        dp-loop --laps 2 --seed 1 -q --init cut -o again -- "$CHILD | $GATE" > /dev/null
        run dp-cat again
        refute_output --partial interrupted
    done
}

@test "a corrupt stream" {
    complains 1 "dp-cat: standard input: no model and no other stream of dpline: it begins with 'm', as a text does" dp-cat <<< "my diary"
    LC_ALL=C sed 's/\xa5label/\xc1label/' run > broken
    complains 1 "dp-cat: broken: corrupt frame: byte 0xc1 at offset 17 is not msgpack" dp-cat broken
    [ "$(dp-cat broken 2> /dev/null)" = "$(dp-cat --kind hello run)" ]
    edit kind=hello < run > headless
    complains 1 "dp-cat: headless does not begin with a hello frame" dp-cat headless
    { edit kind=end < run && cat run; } > two
    complains 1 "dp-cat: two: a second hello frame in one stream" dp-cat two
    edit colour=1 < run > colour
    complains 1 "dp-cat: colour: unknown field 'colour' in a frame" dp-cat colour
}

@test "any flipped byte gives JSON or a sentence, never a crash" {
    size=$(stat -c %s model)
    for at in $(seq 0 23 $((size - 1))); do
        cp model flipped
        byte=$(od -An -tu1 -j "$at" -N1 model)
        printf "\\$(printf %03o $((byte ^ 0x55)))" | dd of=flipped bs=1 seek="$at" conv=notrunc status=none
        status=0
        dp-cat --full flipped > out.json 2> said || status=$?
        case $status in
            0) [ ! -s said ] ;;
            1 | 4)
                assert_equal "$(wc -l < said)" 1
                grep -q "^dp-cat: " said
                ;;
            *) fail "byte $at: status $status: $(cat said)" ;;
        esac
    done
}

# nested MEGABYTES KEY: a lap frame whose fields are lists of lists of lists, each of at most 256 values: each byte is a value
nested() {
    python3 - "$1" "$2" << 'END'
import struct, sys
def items(of): return b"\xdc" + struct.pack(">H", len(of)) + b"".join(of)
inner = items([items([b"\xc0"] * 256)] * 256)
fields = [items([inner] * 64)] * int(float(sys.argv[1]) * 1e6 / (64 * len(inner)))
names = [b"\xa4kind"] + [bytes([0xa0 + len(sys.argv[2])]) + sys.argv[2].encode()] * len(fields)
values = [b"\xa3lap"] + fields
sys.stdout.buffer.write(b"\xde" + struct.pack(">H", len(names)) + b"".join(map(b"".join, zip(names, values))))
END
}

@test "a frame of millions of values is refused at its head, from a file and from a pipe" {
    nested 40 k00 > deep
    limit_memory 200000
    complains 1 "dp-cat: deep: corrupt frame: 'k00' is a list or map" timeout 10 dp-cat deep
    complains 1 "dp-cat: standard input: corrupt frame: 'k00' is a list or map" timeout 10 bash -c 'cat deep | dp-cat'
    for list in records mechanisms; do # the second in format 1
        nested 40 $list > deep
        complains 1 "dp-cat: standard input: corrupt frame: nested deeper than 3" timeout 10 bash -c 'cat deep | dp-cat'
    done
}

@test "a large frame takes its own size in memory, and time in proportion to it, in small pieces too" {
    python3 - << 'END' > large
import struct, sys
data = bytes([1, 1]) + struct.pack("<Q", 10_000_000) + bytes(40_000_000)
sys.stdout.buffer.write(b"\x81\xa4kind\xa5hello\x85\xa4kind\xa3lap\xa3lap\x01\xa5label\xa8released\xa7records\x90\xa5model\xc9"
                        + struct.pack(">I", len(data)) + b"\x01" + data + b"\x81\xa4kind\xa3end")
END
    limit_memory 300000
    timeout 20 bash -c 'dd if=large bs=4k status=none | dp-cat' > got
    grep -q '"dtype":"f4","shape":\[10000000\]' got
    [ "$(wc -l < got)" -eq 3 ]
}

@test "a stream that ends with a failure" {
    dp-sample --data nowhere.dp < run > failed 2> /dev/null || true
    run dp-cat failed
    assert_failure 4
    assert_line --index 0 --regexp '^\{"kind":"error","status":1,"where":"dp-sample","message":"cannot open nowhere.dp'
    complains 4 "dp-cat: the stream ends with a failure: dp-sample: cannot open nowhere.dp/dataset.json: not a data set (see dp-import)" dp-cat failed
    dp-cat --frames failed > passed 2> /dev/null || true
    run dp-cat passed
    assert_failure 4
    assert_line --index 0 --partial '"where":"dp-cat"'
}

@test "standard output closed or full" {
    complains 1 "dp-cat: cannot write standard output: No space left on device" bash -c 'dp-cat run > /dev/full'
    complains 1 "dp-cat: cannot write standard output: Bad file descriptor" bash -c 'dp-cat run >&-'
    complains 1 "dp-cat: cannot write standard output: No space left on device" bash -c 'dp-cat --frames run > /dev/full'
    complains 1 "dp-cat: cannot write standard output: Bad file descriptor" bash -c 'dp-cat --frames run >&-'
    # a reader that leaves is not a failure
    complains 141 "" bash -c 'dp-cat $(yes run | head -n 500) | head -n 1; exit ${PIPESTATUS[0]}'
}

@test "the Python of dp-frame(5) reads a stream" {
    sed -n '/^\.Bd -literal$/,/^\.Ed/p' "$ROOT/man/dp-frame.5" | sed '/^\.[BE]d/d; s/\\e/\\/g' > read.py
    grep -q ext_hook read.py
    run /usr/bin/python3 read.py < run
    assert_success
    [ "${#lines[@]}" -eq 5 ]
    norm=$(dp-info --get model model | awk -v s="$(dp-info --get scale model)" '{ t += $1 * $1 * s * s } END { printf "%d", 1e6 * sqrt(t) }')
    [ "$(awk "{ printf \"%d\", 1e6 * \$3 }" <<< "${lines[4]}")" = "$norm" ]
    head -c 700 run > short
    run /usr/bin/python3 read.py < short
    assert_failure 1
    assert_line truncated
}

@test "frames that are cut out end with the name of the last model, if its lap is among them" {
    token 2
    dp-cat --frames token.frames | cmp - token.frames
    assert_equal "$(dp-cat --frames --lap 2 token.frames | dp-cat | jq -c 'select(.kind == "end") | has("model_digest")')" true
    assert_equal "$(dp-cat --frames --lap 1 token.frames | dp-cat | jq -c 'select(.kind == "end") | has("model_digest")')" false
}
