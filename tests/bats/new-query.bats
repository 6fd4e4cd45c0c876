# Another kind of query is three files, from the frame to the certificate, so is a stage that releases another field, and another
# loss is a row: shown by adding them to a copy of the sources.
load helper

# One copy gets all changes, since building takes long: no test uses what another adds.
setup_file() {
    local built=$BATS_FILE_TMPDIR/built
    mkdir -p "$built"/{tests,build}
    cp -a "$ROOT"/{lib,bin,Makefile} "$built"
    cp "$ROOT/tests/check-packages" "$built/tests"
    # What does not change is compiled already.
    [ "$BUILD" != "$ROOT/build" ] || cp -a "$BUILD"/{obj,gen} "$built/build"
    "$ROOT/tests/new-query/apply" "$built"
    "$ROOT/tests/new-field/apply" "$built"
    "$ROOT/tests/new-loss/apply" "$built"
    # Not with the variables of the make that runs this test.
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u EXTRA make -C "$built" -j2 CFLAGS=-O0 \
        build/bin/dp-{account,loop,step,cat,tally,headcount,sample,noise,gather,adapt,transform,grad,erm,linesearch,eval}
}

# patched FOLDER: the sources, changed by FOLDER/apply, are in tree, and the commands of the built copy first in PATH
patched() {
    mkdir tree
    cp -r "$ROOT"/{lib,bin,Makefile} tree
    "$ROOT/tests/$1/apply" tree
    PATH=$BATS_FILE_TMPDIR/built/build/bin:$PATH
}

# holds PYTHON: an expression of numbers is true
holds() { /usr/bin/python3 -c "import sys; sys.exit(not ($1))" || fail "$1"; }
ask() { /usr/bin/python3 -c "import json, sys; r = json.load(sys.stdin); print($1)"; }

@test "a new kind of query is three files, and gate, calculator, ledger and certificate know it" {
    patched new-query
    assert_equal "$(diff -rq "$ROOT/lib" tree/lib | wc -l)" 3
    assert_equal "$(diff -rq "$ROOT/lib" tree/lib | grep -oE '(query|kinds|staircase)\.[ch]( differ)?$' | tr '\n' ' ')" \
        "kinds.c differ staircase.h query.h differ "

    # the calculator, against the density itself
    echo '{"laps": 100, "sampling": "none", "rate": 1, "queries": [{"noise": "staircase", "multiplier": 4, "riser": 0.2}]}' > charge.json
    epsilon=$(/usr/bin/python3 << 'END'
import math
e, riser, delta, laps, parts, steps = 1 / 4, 0.2, 1e-5, 100, 10, 400
def density(x): # on the middle of the x-th tenth of a step from 0
    x = x if x >= 0 else -1 - x
    return math.exp(-e * (x // parts + (x % parts >= riser * parts)))
xs = range(-steps * parts, steps * parts)
total = sum(map(density, xs))
def cost(order):
    r = math.log(sum(density(x - parts) ** order * density(x) ** (1 - order) for x in xs) / total) / (order - 1)
    return laps * r + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
print(min(cost(1 + t / 10) for t in range(10, 60)))
END
    )
    holds "$epsilon <= $(dp-account epsilon --delta 1e-5 --accountant rdp charge.json) <= $epsilon * 1.0001"
    # its pure epsilon bounds it as well, from above and not from below
    pure=$(dp-account epsilon --mechanism pure --mechanism-epsilon 0.25 --sampler none --laps 100 --delta 1e-5 --accountant pld)
    holds "$(dp-account epsilon --delta 1e-5 charge.json) <= min($epsilon * 1.0001, $pure)"
    assert_equal "$(dp-account epsilon --delta 1e-5 --accountant pld charge.json)" "$pure"
    assert_equal "$(dp-account epsilon --delta 1e-5 --json charge.json | ask "(r.get('lower', 0), r['tight'])")" "(0, False)"
    sed 's/"riser": 0.2/"riser": -1/' charge.json > bad.json
    complains 1 "dp-account epsilon: bad.json: line 1: the riser of a query of kind staircase must be positive and finite, got -1" \
        dp-account epsilon --delta 1e-5 bad.json

    # a run, whose noise comes from a foreign stage
    small_data 400 1
    child="dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 8 --noise laplace |
        $ROOT/tests/new-query/noise.py 0.3 | tee noised.frames | dp-account --epsilon 10 --delta 1e-5 --ledger ledger | dp-step --step 1"
    dp-loop --laps 20 --exec processes -o model -- "$child" > stream
    dp-cat --kind lap noised.frames | grep -q '"noise":"staircase","multiplier":8,"riser":0.3'
    charged=$(dp-cat --last stream | grep -oE '"epsilon":[0-9.e-]+' | cut -d: -f2)
    epsilon=$(dp-cat --kind lap noised.frames | dp-account epsilon --delta 1e-5)
    holds "$charged <= $epsilon <= $charged * 1.00001"
    less=$(echo '{"laps": 20, "sampling": "poisson", "rate": 0.2, "queries": [{"noise": "staircase", "multiplier": 8, "riser": 0.3}]}' |
        dp-account epsilon --delta 1e-5)
    assert_equal "$less" "$epsilon"

    # the ledger and its reports
    assert_equal "$(dp-account report ledger --json | ask "r['runs'][0]['charges'][0]['queries']")" \
        "[{'noise': 'staircase', 'multiplier': 8, 'riser': 0.3}]"
    assert_equal "$(dp-account report ledger --json | ask "abs(r['runs'][0]['epsilon'] / $epsilon - 1) < 1e-5")" True
    dp-account verify ledger
    dp-account certify --ledger ledger --model model > certificate
    assert_equal "$(ask "(r['mechanisms'][0]['queries'][0]['noise'], abs(r['epsilon'] / $epsilon - 1) < 1e-5)" < certificate)" \
        "('staircase', True)"
    dp-account verify ledger --certificate certificate --model model

    # a program that does not know the kind reports it
    complains 1 "dp-account: corrupt frame: 'noise' has the wrong type or value" "$BUILD/bin/dp-account" --epsilon 10 --delta 1e-5 --in noised.frames

    # the table restricts it to one number, and the gate knows that
    rm -r small.dp
    small_data 400 6
    dp-loop --laps 1 --seed 1 --exec processes -- "dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 |
        dp-noise -z 8 | tee vector.frames | dp-account --epsilon 10 --delta 1e-5 --allow-seeded | dp-step --step 1" > /dev/null
    edit record.noise='"staircase"' record.riser=0.3 < vector.frames > staircase.frames
    complains 5 "dp-account: the staircase noise of lap 1 is on 6 numbers, and its accountant is for one" \
        dp-account --epsilon 10 --delta 1e-5 --allow-seeded --in staircase.frames
}

# refused STATUS MESSAGE CHILD: the run is refused, and nothing is charged
refused() {
    complains "$1" "$2" dp-loop --laps 3 --seed 1 -q --exec processes -o no-model -- "$3"
    [ ! -e ledger ]
}

@test "a stage that releases a new field is its file and three rows, from the noise to the stage that takes it" {
    patched new-field
    assert_equal "$(diff -rq "$ROOT/lib" tree/lib | grep -oE '(lib|stages|wire).*' | sed 's/.* tree.lib.//' | LC_ALL=C sort | tr '\n' ';')" \
        "lib/stages: tally.c;stages/stages.h differ;wire/paid.h differ;wire/schema.h differ;"
    diff -rq "$ROOT/bin" tree/bin
    diff "$ROOT/Makefile" tree/Makefile

    # the run: the model is the number of rows with a positive label, and its cost that of the noise
    small_data 400 6
    rows='dp-sample --data small.dp --rate 0.2 | dp-tally --data small.dp'
    gate='dp-account --epsilon 10 --delta 1e-5 --allow-seeded'
    child="$rows | dp-noise -z 2 | tee noised.frames | $gate --ledger ledger | dp-headcount"
    dp-loop --laps 20 --seed 1 -q --exec processes -o model -- "$child" > stream
    positive=$(dp-cat --kind lap stream | grep -oP '"values":\[\K[0-9.]*' | /usr/bin/python3 -c 'import sys; print(sum(map(float, sys.stdin)) / 20)')
    [ "$(dp-cat stream | grep -c '"tally":')" = 0 ]
    truth=$(/usr/bin/python3 -c 'import numpy; y = numpy.load("small.dp/y.npy"); print((y > 0).sum())')
    holds "abs($positive - $truth) < 5 * ((2 / 0.2) ** 2 + $truth * 0.8 / 0.2) ** 0.5 / 20 ** 0.5"
    epsilon=$(dp-cat --kind lap noised.frames | dp-account epsilon --delta 1e-5)
    same=$(dp-account epsilon --rate 0.2 --laps 20 --multiplier 2 --delta 1e-5)
    charged=$(dp-cat --last stream | grep -oE '"epsilon":[0-9.e-]+' | cut -d: -f2)
    assert_equal "$epsilon" "$same"
    holds "$charged <= $epsilon <= $charged * 1.00001"
    dp-account verify ledger
    assert_equal "$(dp-cat --last stream | grep -o '"noise_scale":[^,]*')" '"noise_scale":2'
    rm ledger*

    # fused, and added up by a gather, it gives the same bytes
    child="$rows | dp-noise -z 2 | $gate --no-ledger | dp-headcount"
    dp-loop --laps 3 --seed 1 -q --exec fused -o one -- "$child" > stream
    dp-loop --laps 3 --seed 1 -q --exec processes -o parts -- "dp-gather -k 3 --exec fused --local '${rows/dp-sample/dp-sample --shard %k/%K}' |
        ${child#"$rows | "}" > stream
    cmp one parts

    # the stage that takes it is asked for, and no other takes it
    refused 1 "dp-loop: no stage of the child pipeline takes the tally: put dp-headcount after dp-account (a stage of your own says in its hello frame what it has taken)" \
        "$rows | dp-noise -z 2 | $gate --ledger ledger"
    refused 2 "dp-step: what laps release is for dp-headcount (--on KIND names the laps of dp-step)" \
        "$rows | dp-noise -z 2 | $gate --ledger ledger | dp-step"
    refused 2 "dp-adapt: nothing follows from the tally of laps before dp-adapt: put it after the last dp-step" \
        "$rows | dp-noise -z 2 | $gate --ledger ledger | dp-adapt --multiplier 2 --policy on-failure | dp-headcount"
    refused 5 "dp-account: takes noised frames and got a bounded one: a stage is missing or out of place" \
        "$rows | $gate --ledger ledger | dp-headcount"

    # a sum next to it would get the same noise
    filter twin 'if frame["kind"] == "lap":
    frame["sum"] = frame["tally"]
    frame["records"].append(dict(frame["records"][0], of="sum"))'
    refused 5 "dp-noise: lap 1 has a sum and a tally, and both would get the same noise" \
        "$rows | ./twin | dp-noise -z 2 | $gate --ledger ledger | dp-headcount"

    # the gate holds it to its record
    gate="$gate --no-ledger"
    edit records='[]' < noised.frames > changed.frames
    complains 5 "dp-account: the frame of lap 1 has no record" $gate --in changed.frames
    edit record.of='"sum"' < noised.frames > changed.frames
    complains 5 "dp-account: lap 1 has a record of 'sum', and no 'sum'" $gate --in changed.frames
    edit record.bound=0.5 record.sensitivity=0.5 record.scale=1 < noised.frames > changed.frames
    complains 5 "dp-account: the clip bounds of lap 1 disagree: 1 on the tally, 0.5 in its record" $gate --in changed.frames
}

@test "a new loss is a row: gradients, minima, searches and bounds have it" {
    patched new-loss
    assert_equal "$(diff -rq "$ROOT/lib" tree/lib | sed 's/.* tree.lib.//')" "math/loss.h differ"
    dp-synth regression --rows 400 --cols 5 --seed 5 -o real.dp -q
    assert_equal "$(dp-account sensitivity --loss pseudo-huber --loss-width 0.5 --norm 2 --strong-convexity 0)" "1 4"
    loss="--loss pseudo-huber --loss-width 0.5"
    gate="dp-account --epsilon 1e9 --delta 1e-5 --no-ledger --allow-seeded"
    rows="dp-sample --data real.dp --mode full"
    dp-loop --laps 1 -q -o least -- "$rows | dp-erm --data real.dp $loss --lambda 0.01 --tolerance 1e-9 --non-private |
        dp-account --non-private | dp-step" > /dev/null
    dp-loop --plan gradient,search --seed 1 -q -o model --exec processes -- "$rows | dp-grad --on gradient --data real.dp $loss --clip 4 |
        tee sums.frames | dp-noise --on gradient -z 1e-3 |
        dp-linesearch --on search --method noisy-max --data real.dp --tries 12 --clip 1000 --first-step 10 --epsilon 1e6 |
        tee searched.frames | $gate | dp-step --on gradient --hold | dp-step --on search" > /dev/null
    objective=$(dp-eval --data real.dp least --metrics objective | tail -n 1 | cut -f 3)
    PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 - "$objective" << 'END'
import frames, numpy, sys
g, x, y = 0.5, numpy.load("real.dp/X.npy").astype(float), numpy.load("real.dp/y.npy")
def root(w): return numpy.sqrt(1 + ((x @ w - y) / g) ** 2)
def losses(w): return g * g * (root(w) - 1)
def gradient(w): return ((x @ w - y) / root(w)) @ x
w = frames.laps("least")[0]["model"].ravel()
assert abs(gradient(w) / 400 + 0.01 * w).max() < 1e-8
assert abs(losses(w).mean() + 0.005 * w @ w - float(sys.argv[1])) < 1e-12
first, search = frames.laps("sums.frames")[0], frames.laps("searched.frames")[1]
summed = first["sum"].ravel() * first["grid"]
assert abs(summed + gradient(first["model"].ravel())).max() < 400 * first["grid"] # each row is rounded by less than a step
sums = [losses(search["model"].ravel() - eta * search["direction"].ravel()).sum() for eta in search["steps"].ravel()]
assert 0 < search["choice"] == numpy.argmin(sums) < 12, (search["choice"], sums)
END
}
