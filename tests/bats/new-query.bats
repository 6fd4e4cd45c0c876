# Another kind of query is three files, from the frame to the certificate: shown by adding one to a copy of the sources.
load helper
bats_require_minimum_version 1.5.0

# patched: the copy in tree, built as it is and without optimisation, its commands first in PATH
patched() {
    mkdir tree
    cp -r "$ROOT"/{lib,bin,Makefile} tree
    mkdir tree/tests
    cp "$ROOT/tests/check-packages" tree/tests
    "$ROOT/tests/new-query/apply" tree
    for program in account loop step cat; do set -- "$@" "build/bin/dp-$program"; done
    # Not with the variables of the make that runs this test.
    run env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u EXTRA make -C tree -j2 CFLAGS=-O0 "$@"
    assert_success
    PATH=$PWD/tree/build/bin:$PATH
}

# holds PYTHON: an expression of numbers is true
holds() { /usr/bin/python3 -c "import sys; sys.exit(not ($1))" || fail "$1"; }
ask() { /usr/bin/python3 -c "import json, sys; r = json.load(sys.stdin); print($1)"; }

@test "a new kind of query is three files, and gate, calculator, ledger and certificate know it" {
    patched
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
