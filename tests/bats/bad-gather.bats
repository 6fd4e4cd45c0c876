# A malicious gather and a site: the site's payments and the randomness of its draws follow only from its own stages and its own
# state.
load helper

SITE_ACCOUNT='dp-site-account --multiplier 4 --epsilon 1 --delta 1e-5'
prepare() {
    dp-synth classification --rows 500 --cols 5 --seed 1 -o site.dp -q
    LEFT='dp-sample --data site.dp --rate 0.1 | dp-grad --data site.dp --loss logistic --clip 1'
}
teardown() {
    local pid
    for pid in $(cat ./*.pid 2> /dev/null); do kill -9 "$pid" 2> /dev/null || true; done
}

# lied SCRIPT PIPELINE [OPTION…]: what the gather of that script (bad-gather.py) prints to a worker with the pipeline. The
# worker's exit status is in status, its messages are in "said"
lied() {
    rm -rf run
    mkdir -m 700 run
    "$ROOT/tests/bats/bad-gather.py" run/gate "$1" > heard &
    echo $! > gather.pid
    for _ in $(seq 100); do [ ! -S run/gate ] || break; sleep 0.02; done
    status=0
    timeout 60 dp-worker --at ipc://run/gate --shard 1/2 --timeout 1 "${@:3}" -- "$2" 2> said || status=$?
    wait "$(cat gather.pid)" || fail "the gather has failed: $(cat heard said)"
}
# refused STATUS SENTENCE: how that worker ended
refused() { assert_equal "$status $(cat said)" "$1 dp-worker: $2"; }
# entries KIND MEMBER: of the ledger's lines
entries() { jq -c "select(.kind == \"$1\") | $2" site.dp/ledger; }
paid() { ledger_laps site.dp; }

AGAIN='
hello()
for t in range(1, 6): lap(t)
session()
answer = hello(lap=0)
print(answer["kind"], answer["status"])'

@test "a run does not begin again: no new epsilon for laps that were answered" {
    for options in '' '--checkpoint kept'; do
        rm -rf site.dp/ledger* kept
        lied "$AGAIN" "$LEFT | $SITE_ACCOUNT" $options
        refused 5 'the gather begins the run again, and lap 5 of it was answered here: this site answers no lap twice'
        assert_equal "$(cat heard)" 'error 5'
        assert_equal "$(entries open .kind | wc -l) $(paid)" '1 5'
    done
    # nor if nothing is paid, and the stages have no state
    lied "$AGAIN" "$LEFT | dp-noise -z 50"
    refused 5 'the gather begins the run again, and lap 5 of it was answered here: this site answers no lap twice'
    # nor from the checkpoint of another process
    rm -rf site.dp/ledger* kept
    lied 'hello(); lap(1); lap(2); print(gather.name.hex())' "$LEFT | $SITE_ACCOUNT" --checkpoint kept
    assert_equal "$status" 4
    lied "gather.name = bytes.fromhex('$(cat heard)'); hello()" "$LEFT | $SITE_ACCOUNT" --checkpoint kept
    refused 5 'the gather begins the run again, and lap 2 of it was answered here: this site answers no lap twice'
    assert_equal "$(paid)" 2
}

@test "a gather that goes back to a checkpoint is seen, and pays for each lap again until the budget is spent" {
    lied '
hello()
for t in range(1, 6): lap(t)
spent = 5
while True:
    session()
    hello(lap=5)
    for t in (6, 7, 8):
        answer = lap(t, credit=5)
        spent += answer["kind"] == "lap"
    if answer["kind"] != "lap": break
print(spent, answer["kind"], answer["status"])' "$LEFT | $SITE_ACCOUNT" --checkpoint kept
    assert_equal "$status" 3
    read -r laps how code < heard
    assert_equal "$how $code" 'end 3'
    [ "$(paid)" -ge "$laps" ] || fail "$laps answered, $(paid) paid"
    # all payments, as one run of that many laps; the close line covers a gather that stops because of released values
    dp-account epsilon --multiplier 4 --rate 0.1 --laps "$(paid)" --delta 1e-5 | awk '$1 > 1 { exit 1 }'
    assert_regex "$(head -n 1 said)" '^dp-worker: warning: the gather goes back from lap 8 to lap 5: laps that were answered are answered again, with fresh keys$'
    [ "$(grep -c 'goes back from' said)" -ge 3 ] || fail "$(cat said)"
}

@test "without a ledger a site remembers nothing of laps that it goes back behind, and does not go on" {
    lied 'hello(); lap(1); lap(2, credit=1); session(); print(hello(lap=1)["kind"])' "$LEFT | $SITE_ACCOUNT --no-ledger" --checkpoint kept
    assert_equal "$status" 5
    assert_equal "$(tail -n 1 said)" \
        'dp-site-account: --no-ledger: nothing records what this site has paid for since the checkpoint, so it cannot continue from there'
}

@test "keys of a site do not come from a gather" {
    for pipeline in "$LEFT | dp-noise -z 50" "$LEFT | dp-noise -z 50 | $SITE_ACCOUNT" "$LEFT"; do
        lied 'print(hello(seed=7)["status"])' "$pipeline"
        refused 5 'the gather sends a seed: anybody who knows it knows all noise that is drawn here (--allow-seeded for experiments)'
        assert_equal "$(cat heard)" 5
    done
    # not in a lap either
    lied 'hello(); lap(1, seed=7)' "$LEFT | dp-noise -z 50"
    refused 5 "the gather sends a lap frame with 'seed', which only this site may say"
    lied 'print(hello(seed=7)["kind"])' "$LEFT" --allow-seeded
    assert_equal "$(cat heard)" hello
}

@test "what a gather announces of the rows is not written into the ledger of the site" {
    record='dict(of="sum", sampler="poisson", rate=1e-6, rows=7, epoch_laps=0, adjacency="null-record", release="sum", bound=1.0, sensitivity=1.0,
        scale=0.0, on="x", noise="none")'
    lied "hello(records=[$record]); lap(1)" "$LEFT | $SITE_ACCOUNT"
    refused 5 'the hello frame has records, and only this site may announce what happens to its rows'
    for field in 'multipliers=matrix([9.0] * 40)' 'directory="elsewhere"' 'data="0" * 32' 'population="others"' 'n=10**9' 'seeded=True' 'epsilon=0.1' \
        'multiplier=9.0' 'bound=9.0' 'first_row=3' 'adjacency="null-record"'; do
        lied "hello($field)" "$LEFT | $SITE_ACCOUNT"
        refused 5 "the gather sends a hello frame with '${field%%=*}', which only this site may say"
    done
    for field in 'rows=matrix([1.0])' 'X=matrix([1.0])' 'y=matrix([1.0])' 'sum=matrix([1.0])' 'gap=0.1'; do
        lied "hello(); lap(1, $field)" "$LEFT | $SITE_ACCOUNT"
        [[ $field != rows* && $field != sum* ]] || continue # of whole numbers, or of a record: refused before that
        refused 5 "the gather sends a lap frame with '${field%%=*}', which only this site may say"
    done
    [ ! -e site.dp/ledger ]
    lied 'gather.send({"kind": "hello", "format": 2, "run": "00" * 16, "shard": 1, "shards": 2, "stage": 0, "laps": 40}); gather.answer()' "$LEFT | $SITE_ACCOUNT"
    refused 5 'the gather sends a hello frame of another run than its header says'
}

@test "what a gather says of the rows in a lap does not hide what was measured on them" {
    seq 40 | awk '{ print ($1 % 2 ? -1 : 1) " 1:" $1 " 2:" 41 - $1 }' > rows
    dp-import libsvm rows --scale max-abs -q -o site.dp --force
    lied '
told = hello()
gather.kept = {**{key: told[key] for key in KEPT if key in told}, "private_preprocessing": "", "row_norm": "unit", "classes": 5,
               "labels": "[]", "label_scale": 3.0, "label_offset": 1.0}
answer = lap(1)
print(answer["private_preprocessing"], answer["classes"], answer["label_scale"])' "$LEFT | $SITE_ACCOUNT"
    assert_equal "$(cat heard)" 'classes,columns,max-abs 2 1.0'
    assert_equal "$(entries open .private_preprocessing)" '"classes,columns,max-abs"'
}

@test "what a model has cost comes with a model, and costs a site no more than its budget" {
    cost='epsilon=1e6, delta=.5, adjacency="null-record"' model='model=matrix([.1] * 5), method="gradient", scale=1.0'
    lied "hello(); lap(1, $cost)" "$LEFT | $SITE_ACCOUNT"
    refused 5 'lap 1 comes with what a model has cost, and without a model'
    for more in "$cost" 'epsilon=1.0, delta=2e-5' 'epsilon=1.01, delta=1e-5' 'epsilon=.5, epsilon_sound=9.0, as_published=True, delta=1e-5'; do
        lied "hello(); print(lap(1, $model, $more)['status'])" "$LEFT | $SITE_ACCOUNT"
        assert_equal "$status $(cat heard)" '3 3'
        assert_regex "$(cat said)" \
            '^dp-worker: the model it starts from states that it has cost epsilon .* at delta .*, which --epsilon and --delta here do not cover$'
        # nor as the answer of a run that has begun elsewhere
        lied "hello(); print(lap(2, $model, prior_epsilon=2.0, prior_delta=1e-5)['status'])" "$LEFT | $SITE_ACCOUNT"
        assert_equal "$status $(cat heard)" '3 3'
        [ ! -e site.dp/ledger ]
    done
    lied "hello(); lap(1, $model, epsilon=1.0, delta=1e-5); end()" "$LEFT | $SITE_ACCOUNT"
    assert_equal "$status" 0
    assert_equal "$(entries open .prior_epsilon)" 1
}

@test "a frame that a worker cannot read ends it, and the gather hears of that" {
    lied 'print(hello(colour="blue\x1b[31m")["status"])' "$LEFT | $SITE_ACCOUNT"
    refused 1 "the gather sends a frame that cannot be read here (is it of a newer version?): unknown field 'colour' in a frame"
    assert_equal "$(cat heard)" 1
    lied 'hello(); print(lap(1, colour=1)["status"])' "$LEFT | $SITE_ACCOUNT"
    assert_equal "$status $(cat heard)" '1 1'
    lied 'send(b"garbage"); print(gather.answer()["status"])' "$LEFT | $SITE_ACCOUNT"
    assert_equal "$status $(cat heard)" '1 1'
}
