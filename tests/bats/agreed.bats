# Nothing is charged before every stage has agreed: a mismatch that the hello frame shows is refused before the first
# reservation.
load helper

prepare() {
    dp-synth classification --rows 400 --cols 5 --seed 3 -o small.dp -q
    dp-synth regression --rows 400 --cols 5 --seed 3 -o real.dp -q
}

gate='dp-account --epsilon 50 --delta 1e-5'
grad='dp-sample --data small.dp --rate 0.1 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 2'
scd='dp-sample --data small.dp --rate 0.1 | dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | dp-noise -z 2'

own="(a stage of your own says in its hello frame what it has taken)"

# refused STATUS SENTENCE PIPELINE LOOP-OPTION…: the run is refused, and no ledger has a line of it
refused() {
    local status=$1 sentence=$2 pipeline=$3
    shift 3
    for how in fused processes; do
        complains "$status" "$sentence" dp-loop -q --exec $how -o model "$@" -- "$pipeline"
        assert_not_exists small.dp/ledger
        assert_not_exists real.dp/ledger
        assert_not_exists model
    done
}

@test "dp-step is asked before anything is paid for: gradients and what is none" {
    refused 2 "dp-step: --step is required: the sums are gradients" "$grad | $gate | dp-step" --laps 3
    refused 2 "dp-step: --step is for gradients; what laps release is what the model moves by" "$scd | $gate | dp-step --step 1" --laps 3
    refused 2 "dp-step: --project is for gradients; what laps release is what the model moves by" "$scd | $gate | dp-step --project 1" --laps 3
    refused 2 "dp-step: --hold is for gradients; what laps release is what the model moves by" "$scd | $gate | dp-step --hold" --laps 3
    refused 2 "dp-step: --hold is for gradients; what laps release is what the model moves by" \
        "dp-sample --data small.dp --mode full | dp-erm --data small.dp --loss logistic --lambda 0.1 --method descent --iterations 5 | dp-noise -z 9 | $gate | dp-step --hold" --laps 1
}

@test "the schedule of dp-step is read before anything is paid for" {
    printf '1\n2\n' > two
    refused 1 "dp-step: --schedule: the file has values for 2 laps, the run has 3" "$grad | $gate | dp-step --step 1 --schedule two" --laps 3
}

@test "searches: their step is not dp-step's" {
    search='dp-sample --on search --data small.dp --rate 0.1 | dp-linesearch --on search --data small.dp --clip 1 --epsilon 0.1 --tries 5 --first-step 1'
    refused 2 "dp-step: --step is for gradients; what laps of kind 'search' release is a choice" \
        "dp-sample --on gradient --data small.dp --rate 0.1 | dp-grad --on gradient --data small.dp --loss logistic --clip 1 |
         dp-noise --on gradient -z 2 | $search | $gate | dp-step --on gradient --hold | dp-step --on search --step 1" --plan 'gradient 1, search 1'
}

@test "moments are for dp-transform, and dp-transform is for moments" {
    both="dp-sample --data small.dp --rate 0.5 | dp-moments --on moments --data small.dp |
        dp-grad --on gradient --data small.dp --loss logistic --clip 1 | dp-noise -z 2 | $gate"
    plan=(--plan 'moments 1, gradient 2')
    refused 2 "dp-step: what laps of kind 'moments' release is for dp-transform (--on KIND names the laps of dp-step)" \
        "$both | dp-transform --on moments | dp-step --step 1" "${plan[@]}"
    refused 2 "dp-transform: laps of kind 'gradient' release no moments (--on KIND names the laps of dp-moments)" \
        "$both | dp-transform | dp-step --on gradient --step 1" "${plan[@]}"
    refused 2 "dp-step: --hold: gradients of laps of kind 'gradient' are behind a transform, where no search is made" \
        "$both | dp-transform --on moments | dp-step --on gradient --hold" "${plan[@]}"
    refused 1 "dp-loop: no stage of the child pipeline takes the sum: put dp-transform after dp-account $own" \
        "$both | dp-step --on gradient --step 1" "${plan[@]}"
}

@test "a second dp-step finds nothing, and --relative no curvature" {
    refused 2 "dp-step: another dp-step takes the sum of laps before this one (--on KIND names the laps of each)" \
        "$grad | $gate | dp-step --step 1 | dp-step --step 1" --laps 3
    refused 2 "dp-step: another dp-step takes the sum of laps before this one (--on KIND names the laps of each)" \
        "$scd | $gate | dp-step | dp-step" --laps 3
    both="dp-sample --data small.dp --rate 0.5 | dp-moments --on moments --data small.dp |
        dp-grad --on gradient --data small.dp --loss logistic --clip 1 | dp-noise -z 2 | $gate | dp-transform --on moments"
    refused 2 "dp-step: another dp-step takes the sum of laps of kind 'gradient' before this one (--on KIND names the laps of each)" \
        "$both | dp-step --on gradient --step 1 | dp-step --on gradient --step 1" --plan 'moments 1, gradient 2'
    refused 2 "dp-step: --relative: no laps of the run make a curvature; dp-transform does, from laps of moments" \
        "$grad | $gate | dp-step --step 1 --relative" --laps 3
    refused 2 "dp-step: --relative: no laps of the run make a curvature; dp-transform does, from laps of moments" \
        "$grad | $gate | dp-step --step 1 --relative" --plan 'one 1, other 2'
}

@test "a stage is missing" {
    refused 1 "dp-loop: no stage of the child pipeline takes the sum: put dp-step after dp-account $own" "$grad | $gate" --laps 3
    refused 5 "dp-loop: the child pipeline gave back a hello frame that has passed no gate: dp-account is missing" "$grad" --laps 3
}

@test "dp-adapt stands behind dp-step, and begins with what the others begin with" {
    refused 2 "dp-adapt: nothing follows from the sum of laps before dp-adapt: put it after the last dp-step" \
        "$grad | $gate --adaptive | dp-adapt --multiplier 2 | dp-step --step 1" --laps 3
    follows="dp-sample --data small.dp --rate 0.5 | dp-scd-step --data small.dp --loss logistic --lambda 0.1 | dp-clip --data small.dp --clip 1 --follow | dp-noise -z 2 --follow"
    refused 2 "dp-adapt: laps have a noise multiplier of 2, not 3: dp-noise needs --follow, and to begin with the same value" \
        "$follows | $gate --adaptive | dp-step | dp-adapt --multiplier 3" --laps 3
    refused 2 "dp-adapt: laps have a clip bound of 1, not 4: dp-clip needs --follow, and to begin with the same value" \
        "$follows | $gate --adaptive | dp-step | dp-adapt --multiplier 2 --policy on-failure --clip 4" --laps 3
    refused 2 "dp-adapt: laps do not take the multiplier that is chosen here: dp-noise needs --follow" \
        "$grad | $gate --adaptive | dp-step --step 1 | dp-adapt --multiplier 2" --laps 3
    refused 2 "dp-adapt: laps do not take the clip bound that is chosen here: dp-clip needs --follow" \
        "$grad | $gate --adaptive | dp-step --step 1 | dp-adapt --multiplier 2 --policy on-failure --clip 1" --laps 3
}

@test "a loss that does not suit the labels is refused before laps of another kind are paid for" {
    moments='dp-sample --data real.dp --rate 0.5 | dp-moments --on moments --data real.dp'
    behind="dp-noise -z 2 | $gate | dp-transform --on moments"
    refused 1 "dp-grad: --loss logistic needs labels in classes; the labels of this data set are real numbers" \
        "$moments | dp-grad --on gradient --data real.dp --loss logistic --clip 1 | $behind | dp-step --on gradient --step 1" \
        --plan 'moments 1, gradient 2'
    refused 1 "dp-erm: --loss logistic needs labels in classes; the labels of this data set are real numbers" \
        "$moments | dp-erm --on erm --data real.dp --loss logistic --lambda 0.1 --method descent --iterations 5 | $behind | dp-step --on erm" \
        --plan 'moments 1, erm 1'
}

@test "behind the gate the hello frame says what is released, and not how rows are drawn" {
    dp-loop -q --laps 1 -- "$grad | $gate | tee behind | dp-step --step 1" > stream
    said() { /usr/bin/python3 -c "
import msgpack, sys
for f in msgpack.Unpacker(open('$1', 'rb'), raw=False, strict_map_key=False):
    if f['kind'] == 'hello':
        print([(r['of'], r['means'], r['noise'], r['sampler'], r['rate'], r['rows']) for r in f.get('records', [])])"; }
    assert_equal "$(said behind)" "[('sum', 'gradient', 'gaussian', 'none', 0.0, 0)]"
    assert_equal "$(said stream)" "[]"
}
