# Attacks of a hostile or broken stage left of the gate: the record and the public fields must stay as in the first lap.
load helper

GATE='dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded'
STEP='dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1'

prepare() { small_data 400 6 2; }

# noised SAMPLE [STEP [NOISE]]: noised.frames, three laps before the gate
noised() {
    dp-loop --laps 3 --seed 1 --exec processes -- "dp-sample --data small.dp $1 | ${2:-$STEP} | dp-noise ${3:--z 2} |
        tee noised.frames | dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded ${4:-} | dp-step ${5:-}" > /dev/null
}

# changed PYTHON: changed.frames, after `frame` (a lap frame) or, if it begins with "stream:", each frame was edited
changed() {
    recode noised.frames changed.frames '
for frame in frames if sys.argv[1].startswith("stream:") else laps:
    exec(sys.argv[1].removeprefix("stream:"))' "$1"
}

# refused PYTHON MESSAGE [OPTION]: the gate says that of frames which were edited so
refused() {
    changed "$1"
    complains 5 "dp-account: $2" $GATE "${@:3}" --in changed.frames
}

# announced MEMBERS: noised.frames, where the records of all frames, the hello frame too, have these members
announced() {
    changed "stream:for r in frame.get('records', []): r.update($1)" && mv changed.frames noised.frames
}

@test "adjacency, number of rows and release are those of the first lap" {
    for how in "--mode full" "--rate 0.2 --mode shuffle" "--rate 0.2"; do
        noised "$how"
        refused 'm = frame["records"][0]
if frame["lap"] == 3: m.update(adjacency="replace-one", sensitivity=0.2, scale=0.4)' "lap 3 records another 'adjacency' than the first lap"
    done
    complains 5 "dp-account: lap 3 records another 'adjacency' than the first lap" $GATE --adaptive --in changed.frames
    refused 'frame["records"][0]["rows"] += frame["lap"] == 2' "lap 2 records another 'rows' than the first lap"
    complains 5 "dp-account: lap 2 records another 'rows' than the first lap" $GATE --adaptive --in changed.frames
    refused 'if frame["lap"] == 2: frame["records"][0]["release"] = "sum"' "lap 2 records another 'release' than the first lap"
}

@test "no frame is charged as a release of another tool" {
    noised '--mode full'
    for said in 'noise="zcdp", rho=1e-9' 'noise="stated", epsilon=1e-9, delta=1e-9'; do
        changed "stream:for r in frame.get('records', []): r.pop('multiplier'); r.update($said)"
        kind=${said#noise=?}
        complains 5 "dp-account: a record has ${kind%%\"*} noise, which is what another tool states: a ledger has it, no frame" \
            $GATE --in changed.frames
    done
}

@test "clip bound and sensitivity are those of the first lap, unless a released count moves them" {
    noised '--rate 0.2'
    refused 'm = frame["records"][0]
if frame["lap"] == 2: m.update(bound=0.05, sensitivity=0.05, scale=0.1); frame["bound"] = 0.05; frame["grid"] /= 2' "lap 2 records another 'bound' than the first lap"
    $GATE --adaptive --in changed.frames > out.frames # a bound may follow what was released, and is in the frame
    refused 'm = frame["records"][0]
if frame["lap"] == 2: m.update(bound=0.05, sensitivity=0.05, scale=0.1)' "the clip bounds of lap 2 disagree: 0.1 on the sum, 0.05 in its record" --adaptive
    refused 'm = frame["records"][0]
if frame["lap"] == 2: m.update(sensitivity=0.3, scale=0.6)' "lap 2 records another 'sensitivity' than the first lap"
    refused 'frame["grid"] /= frame["lap"]' "lap 2 has another grid than its bound implies"
    refused 'frame["grid"] /= 2' "lap 1 has another grid than its bound implies"
    noised '--rate 0.2' 'dp-grad --data small.dp --loss logistic | dp-clip --data small.dp --clip 1 --adaptive 0.5' \
        '-z 2 --count-multiplier 10' '' '--step 1'
    refused 'm = frame["records"][0]
if frame["lap"] == 2: m["sensitivity"] *= 1.5; m["scale"] *= 1.5' "lap 2 records another 'sensitivity' than the first lap"
}

@test "no lap is let through after the last one that was announced" {
    noised '--rate 0.2'
    refused 'stream:
if frame["kind"] == "end" and len(frames) == 5: frames.insert(4, dict(frames[3], lap=4))' "lap 4 is beyond the 3 laps that were planned"
}

@test "every public text and number of a run is that of the first lap" {
    noised '--rate 0.2'
    # all fields that the table calls fixed; a model without privacy has a separate sentence
    sed -n 's/^ *X(DP_F_[A-Z_]*, "\([A-Za-z_]*\)", DP_T_\([A-Z]*\), DP_FIXED, .*/\1 \2/p' "$ROOT/lib/wire/schema.h" | grep -v non_private > fixed
    [ "$(wc -l < fixed)" -ge 17 ]
    while read -r field type; do
        case $type in TEXT) value='"row 17 has 12345"' ;; INT) value=12345 ;; REAL) value=12345.5 ;; BOOL) value="not frame.get('$field')" ;; esac
        refused "if frame['lap'] == 2: frame['$field'] = $value" "lap 2 has another '$field' than the first lap"
    done < fixed
    refused "if frame['lap'] == 2: del frame['lambda']" "lap 2 has another 'lambda' than the first lap"
    refused "if frame['lap'] == 2: frame['lambda'] = -0.0
else: frame['lambda'] = 0.0" "lap 2 has another 'lambda' than the first lap"
}

@test "what the gate states is its own, and fields of other frames do not pass in a lap" {
    noised '--rate 0.2'
    $GATE < noised.frames > honest.frames
    changed 'frame.update(software="person 17", message="person 17", where="person 17", stage=123, status=12345, format=7)
if frame["lap"] > 1: frame.update(noise_scale=17.0, epsilon=17.0, delta=17.0, adjacency="person 17", ledger="person 17")'
    $GATE < changed.frames > out.frames
    cmp honest.frames out.frames
}

@test "hello, end and error frames are made anew at the gate" {
    noised '--rate 0.2'
    $GATE < noised.frames > honest.frames
    changed 'stream:
if frame["kind"] == "hello": frame.update(software="person 17", message="person 17", labels="[1]", noise_scale=17.0)
if frame["kind"] == "end": frame.update(message="row 17 has income 12345", where="person 17", loss="12345", status=12345)'
    $GATE < changed.frames > out.frames
    cmp <(dp-cat --kind hello --kind lap honest.frames) <(dp-cat --kind hello --kind lap out.frames)
    assert_equal "$(dp-cat --kind end out.frames)" '{"kind":"end","status":1}'
    changed 'stream:
if frame["kind"] == "end": frame.clear(); frame.update(kind="error", status=-12345, message="row 17 has income 12345", loss="12345")'
    $GATE --in changed.frames > out.frames || assert_equal $? 4
    assert_equal "$(dp-cat --kind error out.frames)" '{"kind":"error","status":1}'
    # in one process as well
    dp-loop --laps 2 --seed 1 -- "dp-sample --data small.dp --rate 0.2 | $STEP | dp-noise -z 2 | $GATE | dp-step" > fused.frames
    assert_equal "$(dp-cat --kind hello fused.frames | grep -oE '"(software|laps|stage)":[^,}]*' | sort | tr '\n' ' ')" \
        "\"laps\":2 \"software\":\"dpline $(dp-cat --version | grep -oE '[0-9.]+$')\" \"stage\":5 "
}

@test "the name of a run passes the gate when it is digits, and nothing else under its key does" {
    noised '--rate 0.2'
    run jq -r .run <(dp-cat --kind hello noised.frames)
    assert_output --regexp '^[0-9a-f]{32}$'
    name=$output
    assert_equal "$($GATE < noised.frames | dp-cat --kind hello | jq -r .run)" "$name"
    for other in "person 17 has income 12345 and gout" 17 "${name}0" "${name^^}" ''; do
        changed "stream:
if frame['kind'] == 'hello': frame['run'] = '$other'"
        assert_equal "$($GATE < changed.frames | dp-cat --kind hello | jq -r .run)" null
    done
}

ADAPTIVE='dp-grad --data small.dp --loss logistic | dp-clip --data small.dp --clip 1 --adaptive 0.5'

@test "every paid field has one record, and every record its paid field" {
    noised '--rate 0.2' "$ADAPTIVE" '-z 2 --count-multiplier 10' '' '--step 1'
    assert_equal "$($GATE < noised.frames | dp-cat --kind lap | grep -c '"of":"sum".*"of":"within"')" 3
    # a paid field without a record, left of the noise as well
    for field in sum within; do
        refused "frame['records'] = [r for r in frame['records'] if r['of'] != '$field']" "the $field of lap 1 has no record"
        changed "frame['label'] = 'bounded'
frame['records'] = [dict(r, noise='none') for r in frame['records'] if r['of'] != '$field']
for r in frame['records']: del r['multiplier']"
        complains 5 "dp-noise: the $field of lap 1 has no recorded sensitivity" dp-noise -z 2 --count-multiplier 10 --in changed.frames
    done
    # two records of one field
    for field in sum within; do
        refused "frame['records'] = [r for r in frame['records'] if r['of'] == '$field'] * 2" "lap 1 has two records of '$field'"
    done
    # a record of a field that is absent, or that nobody pays for
    refused 'if frame["lap"] == 2: del frame["within"]' "lap 2 has a record of 'within', and no 'within'"
    refused 'frame["records"][1]["of"] = "model"' "lap 1 has a record of 'model', which nobody pays for"
    # a record of no field, which would be charged for nothing
    refused 'frame["records"].append(dict(frame["records"][0])); del frame["records"][2]["of"]' "a record of lap 1 is of no field"
    # and a bound that differs from the record
    refused 'frame["records"][1].update(bound=0.25, sensitivity=0.25, scale=2.5)' \
        "the clip bounds of lap 1 disagree: 0.5 on the count, 0.25 in its record"
}

@test "noise in shares is charged where enough of them came, and of one number from lap to lap" {
    noised '--rate 0.2'
    $GATE < noised.frames > whole.frames
    announced 'shares=4, colluding=1, gathered=4'
    # as noise of the multiplier of the shares without the known ones
    $GATE < noised.frames > shared.frames
    share='r = frame["records"][0]
'
    for frames in whole shared; do dp-cat --kind lap $frames.frames | grep -o '"epsilon":[^,]*' > $frames; done
    cmp whole shared
    # the stated noise is the actual noise
    assert_equal "$(dp-cat --kind lap shared.frames | grep -o '"noise_scale":[^,]*' | sort -u)" "\"noise_scale\":$(
        /usr/bin/python3 -c 'print(0.1 * 2 * (4 / 3) ** .5)')"
    # a lost share counts as a known one
    changed "$share"'r["gathered"] = 3'
    $GATE < changed.frames > few.frames
    refused "$share"'r["gathered"] -= frame["lap"]' "a record has 2 of 4 shares of noise, and 1 of them may be known to others"
    refused "$share"'r["gathered"] = 0' "a record has 0 of 4 shares of noise, and 1 of them may be known to others"
    # invalid numbers: shares, colluding, gathered
    for wrong in '4 1 5' '-1 1 -1' '4 -1 4' '4 4 4' '1 1 1' '1 0 4'; do
        read -r shares colluding gathered <<< "$wrong"
        refused "$share""r.update(shares=$shares, colluding=$colluding, gathered=$gathered)" \
            "a record has $gathered of $shares shares of noise, and $colluding of them may be known to others"
    done
    refused "$share"'if frame["lap"] == 2: r["colluding"] = 2' "lap 2 records another 'colluding' than the first lap"
    refused "$share"'if frame["lap"] == 2: r.update(shares=5, gathered=5)' "lap 2 records another 'shares' than the first lap" --adaptive
    refused "$share"'r["noise"] = "gamma"' "a record has gamma noise in shares, and only Gaussian noise adds up"
}

@test "a gate that adds less noise than it has promised is refused, and so is one that promises otherwise later" {
    noised '--rate 0.2'
    refused 'if frame["lap"] == 2: frame["records"][0]["promised"] = 1.0' "lap 2 records another 'promised' than the first lap" --adaptive
    announced 'promised=1.5'
    $GATE < noised.frames > out.frames
    announced 'promised=2.0'
    $GATE < noised.frames > out.frames
    refused 'frame["records"][0]["promised"] = 2.5' "a record has a noise multiplier of 2, but 2.5 was promised"
    refused 'frame["records"][0]["promised"] = float("nan")' "a record has a noise multiplier of 2, but nan was promised"
    refused 'frame["records"][0]["promised"] = -1.0' "a record has a promise of -1"
    refused 'frame["records"][0]["promised"] = 2.0 / frame["lap"]' "lap 2 records another 'promised' than the first lap"
    # a schedule that does
    noised '--rate 0.2' '' '-z 2 --schedule first:2:4'
    changed 'stream:
for r in frame.get("records", []): r["promised"] = 1.0'
    $GATE < changed.frames > out.frames
    refused 'stream:
for r in frame.get("records", []): r["promised"] = 1.5' "lap 3 is planned to have a noise multiplier of 1, but 1.5 was promised"
    noised '--rate 0.2'
    refused 'frame["records"][0].update(promised=1.0, noise="gamma")' "a record has gamma noise, but Gaussian noise was promised"
}

@test "a promise is of the laps of one kind, with a schedule or not" {
    grad() { echo "dp-grad --on $1 --data small.dp --loss logistic --clip 1"; }
    for schedule in '' '--schedule first:2:4'; do
        dp-loop --plan '(one, two) 3' --seed 1 --exec processes -- "dp-sample --data small.dp --rate 0.2 | $(grad one) | $(grad two) |
            dp-noise --on one -z 8 $schedule | dp-noise --on two -z 2 $schedule | tee noised.frames | $GATE | dp-step --step 1" > /dev/null
        least=([1]=8 [2]=2)
        [ -z "$schedule" ] || least=([1]=4 [2]=1)
        for one in 1 2 4 8 9; do
            for two in 1 2 4; do
                changed "stream:
for r in frame.get('records', []): r['promised'] = {'one': $one.0, 'two': $two.0}[r.get('on') or frame['lap_kind']]"
                expected=5
                [ $one -gt ${least[1]} ] || [ $two -gt ${least[2]} ] || expected=0
                status=0
                $GATE --in changed.frames > out.frames 2> said || status=$?
                [ $status = $expected ] || fail "'$schedule' $one $two: status $status: $(cat said)"
                [ $status = 0 ] || assert_equal "$(dp-cat --kind lap out.frames 2> /dev/null)" '' # not the first laps of a schedule either
            done
        done
    done
}

@test "a choice has a record of a search, and is one of its steps" {
    noised '--rate 0.2'
    # three laps of a search: the sum becomes a choice of three
    local search='for key in ("sum", "grid", "bound", "columns"): frame.pop(key, None)
i8 = lambda dims, *v: msgpack.ExtType(1, struct.pack("<BB%dQ%dq" % (len(dims), len(v)), 4, len(dims), *dims, *v))
f8 = lambda *v: msgpack.ExtType(1, struct.pack("<BBQ%dd" % len(v), 2, 1, len(v), *v))
m = frame["records"][0]
del m["multiplier"]
m.update(of="choice", noise="sparse-vector-laplace", scale=0.0, epsilon=0.2, query_epsilon=0.1, most=2)
frame.update(choice=i8((1, 1), 2), steps=f8(1.0, 0.5, 0.0))'
    changed "stream:
if frame['kind'] == 'hello': del frame['records'] # announced was a sum
else:
    if frame['kind'] == 'lap':
        $(sed '2,$s/^/        /' <<< "$search")"
    cp changed.frames noised.frames
    $GATE --in changed.frames > out.frames
    assert_equal "$(dp-cat --kind lap out.frames | grep -c '"of":"choice".*"choice":')" 3
    for choice in 3 -1; do
        refused "frame['choice'] = msgpack.ExtType(1, struct.pack('<BB2Qq', 4, 2, 1, 1, $choice))" "the choice of lap 1 is not one of its steps"
    done
    refused "frame['choice'] = msgpack.ExtType(1, struct.pack('<BB2Q2q', 4, 2, 1, 2, 1, 1))" "the choice of lap 1 is not one of its steps"
    refused "frame['records'][0]['most'] = 3" "the search of lap 1 has 3 steps, and its record is of 3 queries"
    refused "m = frame['records'][0]; m.update(noise='gaussian', multiplier=2.0, scale=0.2)
for key in ('epsilon', 'query_epsilon', 'most'): del m[key]" "the choice of lap 1 has a record of gaussian, which is noise on numbers"
    refused "frame['records'] = []" "the frame of lap 1 has no record"
    changed "del frame['steps']"
    complains 1 "dp-account: the frame of lap 1 has no 'steps'" $GATE --in changed.frames
}

@test "the records of frames are charged by what they are of, not by their order" {
    noised '--rate 0.2' "$ADAPTIVE" '-z 2 --count-multiplier 10' '' '--step 1'
    $GATE < noised.frames > honest.frames
    changed 'if frame["lap"] == 2: frame["records"].reverse()'
    $GATE < changed.frames > out.frames
    assert_equal "$(dp-cat out.frames | grep -oE '"(epsilon|noise_scale)":[0-9.e-]+')" "$(dp-cat honest.frames | grep -oE '"(epsilon|noise_scale)":[0-9.e-]+')"
}

@test "a stream of format 1 passes the gate as it did" {
    noised '--rate 0.2' "$ADAPTIVE" '-z 2 --count-multiplier 10' '' '--step 1'
    $GATE < noised.frames > honest.frames
    changed 'stream:
if frame["kind"] == "hello": frame["format"] = 1
if frame["kind"] == "lap":
    frame["mechanisms"] = [{key: value for key, value in r.items() if key != "of"} for r in frame.pop("records")]'
    $GATE < changed.frames > out.frames
    cmp honest.frames out.frames
    dp-cat --kind lap changed.frames | cmp - <(dp-cat --kind lap noised.frames)
    # then the multipliers of a schedule were in the first lap, which means nothing in format 2
    noised '--rate 0.2' "$STEP" '-z 2 --schedule sqrt:1:1'
    $GATE < noised.frames > honest.frames
    for format in 1 2; do
        changed "stream:
if frame['kind'] == 'hello':
    frame['format'] = $format
    del frame['records']
    frames[1]['plan'] = frame.pop('multipliers')"
        # the hello frame without announcements states less on its way out; the laps are the same
        [ $format = 2 ] || $GATE < changed.frames | dp-cat --full --kind lap | cmp - <(dp-cat --full --kind lap honest.frames)
    done
    complains 5 "dp-account: the mechanism of lap 2 is not what was announced: noise that changes needs a schedule or --adaptive" \
        $GATE --in changed.frames
    # and rows that were sampled then still have to be summed
    dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data small.dp --rate 0.2 | tee noised.frames | $STEP | dp-noise -z 2 | $GATE | dp-step" > /dev/null
    $STEP < noised.frames > honest.frames
    changed 'stream:
if frame["kind"] == "hello": frame["format"] = 1
if frame["kind"] == "lap":
    frame["mechanisms"] = [dict(r, multiplier=0.0) for r in frame.pop("records")]'
    $STEP < changed.frames > out.frames
    cmp honest.frames out.frames
}

@test "a scale that the multiplier does not imply is refused, however large the numbers" {
    noised '--rate 0.2'
    refused 'frame["records"][0].update(sensitivity=1e308, multiplier=1e6)' "a record has noise of scale 0.2, its multiplier implies inf"
    refused 'frame["records"][0].update(adjacency="replace-one", bound=1e308, sensitivity=1e308, scale=1.5e308, multiplier=1.5)' \
        "a record states a sensitivity of 1e+308, its bound implies inf"
}

@test "what is no noise on numbers pays for no array" {
    noised '--rate 0.2' "$ADAPTIVE" '-z 2 --count-multiplier 10' '' '--step 1'
    for kind in 'noise="pure", epsilon=1e-9' 'noise="sparse-vector-laplace", epsilon=1e-9, query_epsilon=1e-9, most=1' \
        'noise="sparse-vector-gaussian", rho=1e-9, most=1'; do
        changed "for r in frame['records']:
    if r['of'] == 'sum': del r['multiplier']; r.update($kind, scale=0.0)"
        complains 5 "dp-account: the sum of lap 1 has a record of $(cut -d '"' -f 2 <<< "$kind"), which is not noise on numbers" $GATE --in changed.frames
        changed "for r in frame['records']:
    if r['of'] == 'within': del r['multiplier']; r.update($kind)"
        complains 5 "dp-account: the within of lap 1 has a record of $(cut -d '"' -f 2 <<< "$kind"), which is not noise on numbers" $GATE --in changed.frames
    done
}

@test "a minimiser is charged for the noise on its objective, and is of all rows" {
    local objective='"noise": "objective", "objective": 4.0, "curvature": 0.01, "vertices": 1'
    dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data small.dp --mode full | $STEP | dp-noise -z 2 | tee noised.frames | $GATE | dp-step" > /dev/null
    perturbed() { # PYTHON: and this
        changed "stream:
if frame['kind'] == 'hello': del frame['records']
if frame['kind'] == 'lap':
    r = frame['records'][0]
    r.update({$objective}, release='sum')
    $1"
    }
    perturbed pass
    $GATE --in changed.frames > out.frames
    local epsilon
    epsilon=$(dp-cat --kind lap out.frames | grep -oE '"epsilon":[0-9.e-]+' | cut -d: -f2)
    assert_equal "$(/usr/bin/python3 -c "from math import *; print(ceil($epsilon * 1e5 - 1e-9) / 1e5)")" \
        "$(dp-account epsilon --mechanism objective -z 4 --curvature 0.01 --slack 2 --delta 1e-5)"
    # noise on the result does not count alone, and without noise on it there is none
    perturbed 'r.update(multiplier=0.0, scale=0.0)'
    complains 5 "dp-account: a record has no noise" $GATE --in changed.frames
    perturbed 'r.update(objective=0.0)'
    complains 5 "dp-account: a record has no noise" $GATE --in changed.frames
    perturbed "r['vertices'] = 0"
    complains 5 "dp-account: a record has no noise" $GATE --in changed.frames
    # charges that its accountant does not cover
    perturbed "r.update(sampler='poisson', rate=0.5)"
    complains 5 "dp-account: a record has objective perturbation on a sample of the rows" $GATE --in changed.frames
    perturbed "r['release'] = 'sum-of-secret-state'"
    complains 5 "dp-account: a record has objective perturbation and a state of each row" $GATE --in changed.frames
    perturbed "r.update(adjacency='replace-one', sensitivity=2 * r['sensitivity'], scale=2 * r['scale'])"
    complains 5 "dp-account: a record has objective perturbation of 1 vertices under replace-one adjacency" $GATE --in changed.frames
    perturbed "r.update(adjacency='replace-one', sensitivity=2 * r['sensitivity'], scale=2 * r['scale'], vertices=3)"
    $GATE --in changed.frames > out.frames
}

@test "Laplace noise is taken on a single number alone" {
    noised '--rate 0.2'
    refused 'frame["records"][0]["noise"] = "discrete-laplace"' "the discrete-laplace noise of lap 1 is on 6 numbers, and its accountant is for one"
    dp-synth classification --rows 400 --cols 1 --classes 2 --seed 7 -o small.dp -q --force
    noised '--rate 0.2' "$STEP" '-z 2 --noise laplace'
    $GATE < noised.frames > out.frames
    assert_equal "$(dp-cat --kind lap out.frames | wc -l)" 3
}

@test "shuffled epochs with a schedule: never less than what an exact mixture shows, with a ledger and without" {
    /usr/bin/python3 -c "
for name, every, laps in ('tenth', 10, 100), ('four', 2, 4), ('half', 2, 100):
    open(name, 'w').write('\\n'.join('1' if t % every == 0 else '1000000' for t in range(laps)))"
    # truth: lower bounds of an independent accountant for one lap with little noise in each epoch, in which a person is by
    # chance
    while read -r z schedule laps rate truth; do
        for ledger in "" "--ledger own.ledger"; do
            dp-loop --laps "$laps" -o model -- "dp-sample --data small.dp --rate $rate --mode shuffle | dp-grad --data small.dp --loss logistic --clip 1 |
                dp-noise -z $z --schedule $schedule | dp-account --epsilon 1000 --delta 1e-5 --allow-weak $ledger | dp-step --step 0.1" > stream 2> said
            awk -v stated="$(dp-info --get epsilon model)" -v truth="$truth" 'BEGIN { exit !(stated >= truth) }' || fail "$z $schedule $laps: $(dp-info --get epsilon model)"
            assert_equal "$(dp-cat stream | sed -n 's/.*"epsilon":\([0-9.]*\).*/\1/p' | sort -gc && echo sorted)" sorted
        done
    done << 'END'
0.3 tenth 100 0.1 35.66
0.3 four 4 0.5 27.59
0.3 half 100 0.5 225.0
1 four 4 0.5 4.853
END
    dp-account verify own.ledger
}

# along OPTIONS…: the answers of dp-account epsilon for $1 laps with the other options
along() { dp-account epsilon --laps "$1" --delta 1e-5 --rate 0.2 "${@:2}"; }

@test "epsilon along a run: by one accountant, never falling, and at its end that of the whole" {
    child="dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1"
    # sampled Gaussians; noise that grows; the state released; a budget that ends the run early; exchanged rows; pure noise
    while IFS='|' read -r laps last step noise budget calculator; do
        dp-loop --laps "$laps" --seed 1 -- "${child/ --clip 1/ --clip 1 $step} | dp-noise $noise |
            dp-account --epsilon $budget --delta 1e-5 --allow-seeded | dp-step --step 0.1" > stream 2> said || assert_equal $? 3
        {
            dp-cat --kind lap stream | sed -n 's/.*"epsilon":\([0-9.e-]*\).*/\1/p' > stated
            assert_equal "$(wc -l < stated)" "$last"
            sort -g -c stated || fail "$calculator: falls"
            for lap in 1 2 $((last / 10)) $((last / 3)) $((last / 2)) $((last * 9 / 10)) "$last"; do
                # a part of a planned run is that run cut: the schedule is for the whole run, so only its end can be asked for
                [[ $calculator != *schedule* ]] || [ "$lap" = "$last" ] || continue
                said=$(along $lap $calculator)
                awk -v a="$(sed -n "${lap}p" stated)" -v b="$said" -v end="$(tail -n 1 stated)" -v last=$((lap == last)) \
                    'BEGIN { exit !(a >= b * 0.999 && (last ? a <= b * 1.0001 : a <= b + end / 28)) }' ||
                    fail "$calculator, lap $lap: stated $(sed -n "${lap}p" stated), asked $said, in the end $(tail -n 1 stated)"
            done
            # no plateau at the end: the last tenth of epsilon takes more than the last thirtieth of the laps
            plateau=$(awk -v end="$(tail -n 1 stated)" '$1 >= end' stated | wc -l)
            [ "$plateau" -le $((last / 15 + 1)) ] || fail "$calculator: $plateau laps of $last with the last epsilon"
        }
    done << 'END'
300|300||-z 2|100|-z 2
20|20||-z 2|100|-z 2
300|300||-z 2 --schedule sqrt:20:1|100|-z 2 --schedule sqrt:20:1
300|300|--adjacency replace-one|-z 2|100|-z 2 --adjacency replace-one
300|300||-z 30 --noise gamma|1000|--mechanism pure --mechanism-epsilon 0.0333333333333334
END
}

@test "epsilon along a run that its budget ends early, and along shuffled epochs" {
    child="dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 2"
    got=0
    dp-loop --laps 300 --seed 1 -- "$child | dp-account --epsilon 4 --delta 1e-5 --allow-seeded | dp-step --step 0.1" > stream 2> said || got=$?
    assert_equal $got 3
    dp-cat --kind lap stream | sed -n 's/.*"epsilon":\([0-9.e-]*\).*/\1/p' > stated
    last=$(wc -l < stated)
    [ "$last" -lt 300 ]
    assert_equal "$last" "$(dp-account laps -z 2 --rate 0.2 --epsilon 4 --delta 1e-5)"
    sort -g -c stated
    awk -v a="$(tail -n 1 stated)" -v b="$(along "$last" -z 2)" 'BEGIN { exit !(a <= 4 && a <= b * 1.0001) }'
    [ "$(awk -v end="$(tail -n 1 stated)" '$1 >= end' stated | wc -l)" -le $((last / 15 + 1)) ]
    # so many laps that most of the numbers of laps at which epsilon is computed would be inside of an epoch
    dp-loop --laps 4000 --seed 1 -- "${child/0.2/0.2 --mode shuffle} | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step --step 0.1" > stream
    for epoch in 1 4 8; do
        exact=$(dp-account epsilon -z 2 --sampler full --laps $epoch --delta 1e-5)
        for lap in $((5 * epoch - 4)) $((5 * epoch)); do
            stated=$(dp-cat --lap $lap stream | sed -n "s/.*\"epsilon\":\([0-9.e-]*\).*/\1/p")
            awk -v a="$stated" -v b="$exact" 'BEGIN { exit !(a >= b * 0.99999 && a <= b * 1.06) }' || fail "$lap: $stated, $exact"
        done
    done
}

@test "a delta of 1/N or more and an epsilon above 10 are refused, or warned of once, however the pipeline runs" {
    child="dp-sample --data small.dp --rate 0.2 | $STEP | dp-noise -z"
    delta="delta = 0.0025 is not below 1/N = 0.0025: it would permit publishing somebody's row; see dp-privacy(7) on choosing it"
    epsilon="this may cost epsilon = 20, and above 10 little is hidden; see dp-privacy(7) on choosing it"
    allow=" (--allow-weak if that is meant)"
    for how in fused processes; do
        complains 5 "dp-account: $delta$allow" dp-loop -q --laps 3 --exec $how -- "$child 2 | dp-account --epsilon 100 --delta 1/400 | dp-step"
        complains 0 "" dp-loop -q --laps 3 --exec $how -- "$child 2 | dp-account --epsilon 100 --delta 0.0024 | dp-step"
        complains 5 "dp-account: $epsilon$allow" dp-loop -q --laps 3 --exec $how -- "$child 2 | dp-account --adaptive --epsilon 20 --delta 1e-5 | dp-step"
        complains 0 "dp-account: warning: $delta
dp-account: warning: $epsilon" dp-loop -q --laps 3 --exec $how -- "$child 2 | dp-account --adaptive --epsilon 20 --delta 1/400 --allow-weak | dp-step"
        # statements of a seeded run, or of one without privacy, protect nobody
        complains 0 "" dp-loop -q --laps 3 --seed 1 --exec $how -- "$child 2 | dp-account --adaptive --epsilon 20 --delta 1/400 --allow-seeded | dp-step"
    done
    # nothing was charged for a refused run
    dp-account report --json small.dp > charged
    complains 5 "dp-account: $delta$allow" dp-loop -q --laps 3 -- "$child 2 | dp-account --epsilon 9 --delta 1/400 | dp-step"
    dp-account report --json small.dp | cmp - charged
    dp-loop -q --laps 3 -o model -- "$child 0.3 | dp-account --epsilon 100 --delta 1/400 --allow-weak | dp-step" > /dev/null 2> said
    dp-info model > described
    grep -qx "  delta is not below 1/N = 0.0025: it would permit publishing somebody's row" described
    grep -qx "  epsilon is above 10: little is hidden" described
    # the whole run counts, if it is known, and not the budget
    complains 0 "" dp-loop -q --laps 3 --exec fused -o model -- "$child 2 | dp-account --epsilon 100 --delta 1e-5 | dp-step"
    run dp-info model
    refute_output --regexp 'not below|above 10'
}
