# The pipelines over sites that keep their rows, and over two machines.
load helper
load sites

prepare() {
    small_data 300
    mkdir -m 700 meet
}
AT_GATE=ipc://meet/gate AT_SITE=ipc://meet/gate
become() { exec "${@:2}"; }
teardown() {
    local id
    for id in "${RUNNING[@]}"; do kill "$id" 2> /dev/null || true; done
}

@test "federated pipelines: --help, --version, missing and bad options" {
    version=$(dp-loop --version)
    for p in federated-scd federated-sgd; do
        run $p.sh --help
        assert_success
        assert_line --index 0 "Usage: $p.sh --workers K --rows N --at ENDPOINT [options]"
        run $p.sh --version
        assert_output "$p.sh ${version#dp-loop }"
        gate="--workers 3 --rows 900 --at tcp://127.0.0.1:5" site="--shard 2/3 --rows 900 --at tcp://127.0.0.1:5"
        complains 2 "$p.sh: --workers, for the gate, or --shard, for a site, is required" $p.sh
        complains 2 "$p.sh: --workers, for the gate, or --shard, for a site, is required" $p.sh --workers 3 --shard 2/3
        complains 2 "$p.sh: --data, --parts, --server, --mask and --budget are a site's, --workers is the gate's" $p.sh $gate --data small.dp
        complains 2 "$p.sh: --data, --parts, --server, --mask and --budget are a site's, --workers is the gate's" $p.sh $gate --parts
        complains 2 "$p.sh: --at is required" $p.sh --workers 3
        complains 2 "$p.sh: --rows is required: of all sites together" $p.sh --workers 3 --at tcp://127.0.0.1:5
        complains 2 "$p.sh: --ledger is required: the gate has no data set with a ledger, and without one the sites would pay for nothing (--no-ledger goes without)" $p.sh $gate
        complains 2 "$p.sh: --data is required" $p.sh $site
        complains 2 "$p.sh: --mask needs --distributed-noise: the gate would see an exact total" $p.sh $site --data small.dp --mask roster
        complains 2 "$p.sh: --shard: must be I/K, got '2'" $p.sh $site --shard 2
        complains 2 "$p.sh: -o is the gate's" $p.sh $site --data small.dp -o model
        complains 2 "$p.sh: --resume is the gate's" $p.sh $site --data small.dp --resume kept
    done
}

@test "zmq-two-machines.sh: --help, missing and bad options" {
    p=zmq-two-machines
    run $p.sh --help
    assert_success
    assert_line --index 0 "Usage: $p.sh --send ENDPOINT --receive ENDPOINT --rows N [options]"
    complains 2 "$p.sh: --send and --receive are required, or --data, --in and --out" $p.sh
    complains 2 "$p.sh: --in and --out are required beside --data" $p.sh --data small.dp --in tcp://127.0.0.1:5
    complains 2 "$p.sh: --rows is for the machine without --data" $p.sh --data small.dp --in tcp://127.0.0.1:5 --out tcp://127.0.0.1:6 --rows 5
    complains 2 "$p.sh: --rows is required: of the other machine" $p.sh --send tcp://127.0.0.1:5 --receive tcp://127.0.0.1:6
    complains 2 "$p.sh: --in is for the machine that has --data" $p.sh --send tcp://127.0.0.1:5 --receive tcp://127.0.0.1:6 --rows 5 --in tcp://127.0.0.1:5
    complains 2 "$p.sh: --checkpoint is not to be had over two machines" $p.sh --send tcp://127.0.0.1:5 --receive tcp://127.0.0.1:6 --rows 5 --checkpoint kept
}

@test "the gate and the sites of a pipeline agree on rate, noise and lambda, whatever rows a site has" {
    dp-synth classification --rows 100 --cols 6 --seed 8 -o other.dp -q
    said() { federated-scd.sh --at tcp://127.0.0.1:5 --rows 1000 --epsilon 2 --print "$@" | tr -s ' ' '\n' | grep -A 1 -xe "$word"; }
    for word in --rate --lambda --multiplier --clip; do
        one=$(said --shard 1/2 --data small.dp)
        assert_not_equal "$one" ""
        assert_equal "$(said --shard 2/2 --data other.dp)" "$one"
    done
    word=--multiplier
    assert_equal "$(said --workers 2 | head -n 2)" "$(said --shard 1/2 --data small.dp | head -n 2)"
}

@test "sites with rows of their own make the model of one machine, the noise at the gate" {
    three_sites
    begin federated-scd.sh --seed 1
    done_all
    of_one_machine scd.sh --seed 1
    begin federated-scd.sh --seed 1 --loss logistic --adjacency replace-one --epochs 3.3 --batch 70
    done_all
    of_one_machine scd.sh --seed 1 --loss logistic --adjacency replace-one --epochs 3.3 --batch 70
    begin federated-sgd.sh --seed 1 --step 3 --schedule linear --intercept 0.5
    done_all
    of_one_machine dp-sgd.sh --seed 1 --step 3 --schedule linear --intercept 0.5
    begin federated-sgd.sh --seed 1 --exec processes
    done_all
    of_one_machine dp-sgd.sh --seed 1
}

@test "each site's ledger and the gate's say what the run has cost" {
    three_sites
    for how in '' --distributed-noise; do
        rm -rf ./*.dp/ledger* gate.ledger* "$DPLINE_REGISTRY"
        begin_with_ledgers $how
        done_all
        for ledger in gate.ledger north.dp/ledger east.dp/ledger south.dp/ledger; do
            run dp-account report $ledger
            assert_success
            assert_output --partial '90 laps'
            assert_output --regexp 'epsilon (2|1\.9999[0-9]*)'
        done
    done
}
begin_with_ledgers() {
    local site shard=0
    RUNNING=()
    for site in north east south; do begin_site $site $((++shard)) federated-scd.sh --budget 2 "$@"; done
    become gate federated-scd.sh --workers 3 --at $AT_GATE --rows 900 --epsilon 2 "$@" --ledger gate.ledger -o model > said.gate 2>&1 3>&- &
    RUNNING+=($!)
}

@test "a site takes part when a budget limits all runs on its people" {
    site="--shard 1/1 --rows 300 --at $AT_SITE --data small.dp --epsilon 1"
    complains 2 "federated-sgd.sh: --budget: small.dp/ledger has no budget for these people yet: say how much epsilon all runs on them may \
spend, at least --epsilon 1" federated-sgd.sh $site
    assert_not_exists small.dp/ledger
    for run in 1 2; do # the second finds it there
        federated-sgd.sh $site --budget 1.5 > said.site 2>&1 3>&- &
        RUNNING=($!)
        status=0
        federated-sgd.sh --workers 1 --rows 300 --at $AT_GATE --epsilon 1 --ledger gate.ledger -q -o model$run 2> said.gate || status=$?
        wait "${RUNNING[0]}" || true
        assert_equal $status $((run == 1 ? 0 : 5))
    done
    assert_not_exists model2
    assert_equal "$(grep -c '"kind":"budget"' small.dp/ledger)" 1
    complains 2 "federated-sgd.sh: --budget: small.dp/ledger has one of epsilon 1.5 for these people" federated-sgd.sh $site --budget 3
    # a run that writes nothing down needs no ledger
    for more in '--seed 1' --no-ledger --parts; do
        federated-sgd.sh $site $more --at tcp://127.0.0.1:1 --insecure-plaintext --timeout 1 > said.site 2>&1 3>&- &
        RUNNING=($!)
        sleep 0.5
        kill "${RUNNING[0]}" || fail "$(cat said.site)"
    done
}

@test "shares at the sites: the gate adds no noise, and colluding sites are paid for by more" {
    three_sites
    begin federated-scd.sh --seed 1 --distributed-noise
    done_all
    dp-cat --last model | jq -e '.records[0] | .shares == 3 and .colluding == 0 and .gathered == 3'
    # a third of the variance is all that the operator of the gather does not know
    said=$(dp-info model | sed -n 's/^  noise in shares of 3 sites: against the operator of their gather the multiplier of each lap is \(.*\), and not \(.*\), unless dp-worker had --mask$/\1 \2/p')
    awk '{ exit !($1 * sqrt(3) / $2 > 0.9999 && $1 * sqrt(3) / $2 < 1.0001) }' <<< "$said" || fail "'$said': $(dp-info model)"
    z=$(dp-cat --last model | jq '.records[0].multiplier')
    assert_equal "$z" "$(dp-account sigma --epsilon 2 --delta 1e-5 --rate 100/900 --laps 90)"
    begin federated-scd.sh --seed 1 --distributed-noise --colluding 2
    done_all
    dp-cat --last model | jq -e ".records[0] | .shares == 3 and .colluding == 2 and .multiplier == $z"
    dp-info model | grep -q " is \([0-9.]*\), and not \1, unless " # of one honest site, its share is all of it
    # a third of the variance for each share, or all of it
    run -1 grep -q dp-noise <(federated-scd.sh --workers 3 --rows 900 --at $AT_GATE --distributed-noise --print)
    grep -q 'dp-noise .*--share --colluding 2' <(federated-scd.sh --shard 1/3 --data north.dp --rows 900 --at $AT_SITE --distributed-noise --colluding 2 --print)
}

@test "masks hide the sums of the sites, for the same model, and a site says what the gate learns" {
    three_sites
    for site in north east south; do
        dp-key new keys/$site > /dev/null
        echo "$site $(dp-key show keys/$site)" >> roster
    done
    begin federated-sgd.sh --seed 1 --distributed-noise --colluding 1
    done_all
    mv model plain
    # sqrt(2) of the noise is enough, so a share is worth z / sqrt(2)
    z=$(dp-account sigma --epsilon 2 --delta 1e-5 --rate 100/900 --laps 90)
    assert_line_of said.east "federated-sgd.sh: the gate learns epsilon $(dp-account epsilon --multiplier "$(awk "BEGIN { printf \"%.9g\", $z / sqrt(2) }")" --rate 100/900 \
        --laps 90 --delta 1e-5) of a person here: it sees this site's sums with a share of the noise (--mask hides them)"
    RUNNING=()
    for site in north east south; do begin_site $site $((${#RUNNING[@]} + 1)) federated-sgd.sh --seed 1 --distributed-noise --colluding 1 --mask roster --lost 1; done
    become gate federated-sgd.sh --workers 3 --at $AT_GATE --rows 900 --epsilon 2 --seed 1 --distributed-noise --colluding 1 -o model > said.gate 2>&1 3>&- &
    RUNNING+=($!)
    done_all
    cmp plain model
    assert_line_of said.east 'federated-sgd.sh: the gate learns epsilon 2 of a person here: it sees only the total of all sites: no more than a reader of the model'
}
assert_line_of() { grep -qFx "$2" "$1" || fail "$(cat "$1")"; }

@test "a site that is killed and started again goes on, with the bytes of an undisturbed run" {
    three_sites
    options="--seed 1 --batch 10 --epochs 10 --on-lost wait" # 900 laps
    # the last lap that the eastern site has answered
    lap() { find kept.east -name 'stage-*' -printf '%f\n' 2> /dev/null | sed -n 's/.*\.lap-\([0-9]*\)$/\1/p' | sort -n | tail -n 1; }
    {
        RUNNING=()
        begin_site north 1 federated-scd.sh $options --checkpoint kept.north
        begin_site south 3 federated-scd.sh $options --checkpoint kept.south
        begin_site east 2 federated-scd.sh $options --checkpoint kept.east
        become gate federated-scd.sh --workers 3 --at $AT_GATE --rows 900 --epsilon 2 $options -o model > said.gate 2>&1 3>&- &
        RUNNING+=($!)
        for least in 20 120 220; do
            for _ in $(seq 3000); do
                if [ "0$(lap)" -ge $least ]; then break; fi
                sleep 0.01
            done
            [ "0$(lap)" -ge $least ] || fail "the run does not get to lap $least: $(cat said.*)"
            kill -KILL "${RUNNING[2]}"
            wait "${RUNNING[2]}" || true
            gate=${RUNNING[3]}
            unset 'RUNNING[2]'
            kill -0 "$gate" || fail "the run is over: $(cat said.gate)"
            begin_site east 2 federated-scd.sh $options --checkpoint kept.east
            RUNNING=("${RUNNING[0]}" "${RUNNING[1]}" "${RUNNING[4]}" "$gate")
        done
        done_all
        of_one_machine scd.sh --seed 1 --batch 10 --epochs 10
    }
}
