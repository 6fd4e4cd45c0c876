# dp-net-grad: gradients of networks. Layers, texts and clips are in tests/unit/test_nets.c; here are runs.
load helper

NET='6; fc 5 tanh; fc 1'
IMAGES='4x4x1; conv 3 2x2 relu; pool 2/1; fc 4 tanh; fc 3'
VIEWS='--views 3 --shift 1 --flip'
RESIDUAL='4x4x1; conv 4 3x3 pad 1; norm 2 relu; save; conv 4 3x3 pad 1 relu; conv 4 3x3 pad 1; add relu; mean-pool 2; fc 3'

prepare() {
    dp-synth classification --rows 300 --cols 6 --seed 3 -o two.dp -q --test test.dp
    dp-synth classification --rows 203 --cols 16 --classes 3 --seed 4 -o three.dp -q
}

# train MODEL DATA NETWORK LOSS [more of dp-net-grad [more of dp-sample]]
train() {
    dp-loop --laps 6 --seed 5 --exec "${HOW:-fused}" -o "$1" -q -- "dp-sample --data $2 --rate 0.4 ${6-} |
        dp-net-grad ${DATA---data $2} --network '$3' --loss $4 --clip 0.5 --lambda 1e-3 ${5-} | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1 --momentum 0.5 --average tail" > "$1.stream"
}

@test "usage" {
    run dp-net-grad --help
    assert_success
    assert_output --partial "Usage: dp-net-grad"
    complains 2 "dp-net-grad: network, column 4, 'dense': a layer is conv, pool, mean-pool, norm, add or fc" \
        dp-net-grad --network '6; dense 1' --loss logistic --clip 1
    complains 2 "dp-net-grad: network, column 24: there are too many parameters" \
        dp-net-grad --network '12000; fc 1000; fc 6000; fc 3' --loss logistic --clip 1
    complains 2 "dp-net-grad: network, column 16, 'pool': the window is larger than its input" \
        dp-net-grad --network '6x6x1; pool 6; pool 2; fc 1' --loss logistic --clip 1
    complains 2 "dp-net-grad: network, column 2: the last layer is fc" dp-net-grad --network 6 --loss logistic --clip 1
}

@test "views are of images, and differ" {
    local net='6x1x1; fc 1'
    complains 2 "dp-net-grad: --views: all views are the same without --shift and --flip" \
        dp-net-grad --network "$net" --loss logistic --clip 1 --views 2
    complains 2 "dp-net-grad: --shift and --flip are for images, and the network begins with columns" \
        dp-net-grad --network "$NET" --loss logistic --clip 1 --flip
    train one three.dp "$IMAGES" softmax '--shift 1'
    train many three.dp "$IMAGES" softmax '--shift 1 --views 4'
    train plain three.dp "$IMAGES" softmax
    run -1 cmp -s one many
    run -1 cmp -s one plain
    # all views of an image of one colour are that image, and the sum is that of the image itself
    awk 'BEGIN { srand(1); for (i = 0; i < 90; i++) { c = rand(); for (j = 0; j < 16; j++) printf "%.3f,", c; print i % 3 } }' > colour.csv
    jq -n '{columns: ([range(16) | {name: "c\(.)", type: "numeric", bounds: [0, 1]}] + [{name: "y", type: "label", classes: ["0", "1", "2"]}]), header: false}' > colour.json
    dp-import csv -q --no-bias --schema colour.json -o colour.dp colour.csv
    for views in '' '--views 5 --shift 2 --flip'; do
        dp-loop --laps 1 --seed 1 --exec processes -q -- "dp-sample --data colour.dp --rate 1 |
            dp-net-grad --data colour.dp --network '$IMAGES' --loss softmax --clip 9 $views | tee all | dp-noise -z 1 |
            dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1" > /dev/null
        dp-cat --full --kind lap --allow-private-output all | jq '.sum.values[]' > "sum${views:0:7}"
    done
    paste sum sum--views | awk '{ far += ($1 - $2) ^ 2; all += $1 ^ 2 } END { exit !(all > 0 && far < 1e-8 * all) }'
}

@test "a network that does not fit the rows or the labels is refused before anything is paid for" {
    misfit() {
        complains 1 "dp-net-grad: $3" dp-loop --laps 2 -q -- "dp-sample --data two.dp --rate 0.4 |
            dp-net-grad --data two.dp --network '$1' --loss $2 --clip 1 |
            dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 | dp-step --step 1"
    }
    misfit '7; fc 1' logistic '--network: its input has 7 values, the rows have 6 columns'
    misfit '6; fc 2' logistic '--network: the last layer has 2 outputs, the labels need 1'
    misfit '6; fc 1' softmax '--loss softmax needs three classes or more; for two, --loss logistic is the same'
    assert_not_exists two.dp/ledger
}

@test "processes = fused, on any number of threads, by any instruction set, inline and not, over parts of the rows" {
    for of in "two.dp|$NET|logistic" "three.dp|$IMAGES|softmax" "three.dp|$RESIDUAL|softmax|$VIEWS"; do
        IFS='|' read -r data net loss views <<< "$of"
        train fused $data "$net" "$loss" "$views"
        HOW=processes train processes $data "$net" "$loss" "$views"
        cmp fused.stream processes.stream
        cmp fused processes
        train threads $data "$net" "$loss" "--threads 3 $views"
        cmp fused threads
        for isa in $(instructions); do
            DPLINE_ISA=$isa train $isa $data "$net" "$loss" "--threads 2 $views"
            cmp fused $isa
        done
        DATA='' train inline $data "$net" "$loss" "$views" --inline
        cmp fused inline
    done
}

@test "a lap of a network of a million parameters keeps less than 200 MB, and nothing of the size batch × parameters" {
    # the limit is on what the process allocates: the rows of a data set are mapped from its file
    dp-synth classification --rows 4096 --cols 999 --seed 3 -o wide.dp -q
    (limit_memory 200000 -d && dp-loop --laps 1 --seed 1 --exec fused -q -o wide.model -- "dp-sample --data wide.dp --rate 1 |
        dp-net-grad --data wide.dp --network '999; fc 1000 tanh; fc 1' --loss logistic --clip 0.5 --threads 2 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1" > /dev/null)
}

# agrees DATA NETWORK LOSS [WEIGHTS]: the sum of the second lap, after a step that has moved all parameters, is that of NumPy
agrees() {
    dp-loop --laps 2 --seed 1 --exec processes -q -- "dp-sample --data $1 --rate 1 |
        dp-net-grad --data $1 --network '$2' --loss $3 --clip 0.3 ${4:+--class-weights $4} | tee all | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 9" > /dev/null
    dp-cat --full --kind lap --allow-private-output all | sed -n 2p > lap
    jq '.model.values[]' lap | /usr/bin/python3 "$ROOT/tests/vectors/network.py" "$1" "$2" 0.3 "$(jq .grid lap)" "$3" ${4:+"$4"} > expected
    jq '.sum.values[]' lap | paste - expected | awk -v grid="$(jq .grid lap)" '{ far = ($1 - $2) * grid; far *= far < 0 ? -1 : 1; if (far > worst) worst = far; sum += $2 * $2 }
        END { print NR, worst, sum; exit !(NR > 30 && sum > 0 && worst < 1e-5) }' > far || fail "$2 $3: $(cat far)"
}

@test "the sum is that of an independent computation in NumPy, with every kind of layer" {
    dp-synth classification --rows 120 --cols 72 --classes 3 --seed 4 -o all.dp -q
    for net in '6x6x2; conv 4 3x3/1 pad 1; norm 2 relu; save; conv 4 3x3 pad 1 tanh; pool 2/1; conv 4 2x2 pad 1; add tanh; mean-pool 2; conv 5 2x2/1 pad 1 relu; fc 3' \
        '6x6x2; norm 1; conv 5 3x3/2 pad 1 relu; pool 2/1; fc 9 tanh; save; fc 9; norm 3; add relu; fc 3'; do
        agrees all.dp "$net" softmax
    done
}

@test "squared loss: an output for each class, or one for a number" {
    agrees three.dp "$IMAGES" squared
    dp-synth regression --rows 150 --cols 6 --seed 4 -o real.dp -q
    agrees real.dp '6; fc 5 tanh; fc 1' squared
    complains 1 "dp-net-grad: --network: the last layer has 2 outputs, the labels need 1" dp-loop --laps 1 -q -- "dp-sample --data real.dp --rate 1 |
        dp-net-grad --data real.dp --network '6; fc 2' --loss squared --clip 1 | dp-noise -z 1 | dp-account --epsilon 1 --delta 1e-5 | dp-step --step 1"
}

@test "weights of classes come before the clip; as many as classes" {
    agrees three.dp "$IMAGES" softmax 1,.3,.05
    dp-cat --kind lap all | head -n 1 | jq -e '.class_weights == "1,.3,.05"'
    complains 2 "dp-net-grad: --class-weights: 2 weights, and there are 3 classes" dp-loop --laps 1 -q -- "dp-sample --data three.dp --rate 1 |
        dp-net-grad --data three.dp --network '$IMAGES' --loss softmax --clip 1 --class-weights 1,1 | dp-noise -z 1 | dp-account --epsilon 1 --delta 1e-5 | dp-step --step 1"
    dpline dp-sgd --data three.dp --network "$IMAGES" --class-weights 1,1,.5 --print | grep -qF -- '--class-weights 1,1,.5 --clip'
}

@test "an example with a gradient that is not finite adds nothing to the sum" {
    cp -r three.dp worse.dp
    /usr/bin/python3 -c '
import numpy
x = numpy.load("worse.dp/X.npy", mmap_mode="r+")
x[7, 3], x[8, 0], x[100] = numpy.nan, numpy.inf, -numpy.inf
x.flush()'
    for net in "$IMAGES" "$RESIDUAL" '16; fc 9 relu; fc 3'; do
        agrees worse.dp "$net" softmax
    done
}

@test "sums of shards add up to the sum of all rows" {
    "$BUILD/bin/dp-loop" --laps 1 --seed 1 --exec processes -- "tee token | dp-sample --data three.dp --rate 0.5 |
        dp-net-grad --data three.dp --network '$IMAGES' --loss softmax --clip 0.3 $VIEWS | tee all |
        dp-noise -z 1 | dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1" > /dev/null
    for k in 1 2 3; do
        dp-sample --data three.dp --rate 0.5 --shard $k/3 < token |
            dp-net-grad --data three.dp --network "$IMAGES" --loss softmax --clip 0.3 --views 3 --shift 1 --flip |
            dp-cat --full --kind lap --allow-private-output | jq -c .sum.values > part.$k
    done
    dp-cat --full --kind lap --allow-private-output all | jq -c .sum.values > whole
    jq -sc 'transpose | map(add)' part.1 part.2 part.3 > added
    cmp whole added
}

@test "one person changes the sum by at most the bound, whatever the rows and the model are" {
    for of in "$IMAGES|null-record" "$IMAGES|replace-one" "$RESIDUAL|null-record" "$IMAGES|null-record $VIEWS"; do
        IFS='|' read -r net adjacency <<< "$of"
        run "$BUILD/audit/dp-audit" sensitivity --data three.dp --seed 1 --rows 8 -- \
            "dp-sample --data {} --rate 0.2 | dp-net-grad --data {} --network '$net' --loss softmax --clip 0.3 --adjacency $adjacency"
        assert_success
        assert_output --regexp '^worst ratio (0\.[5-9][0-9]*|1) of the declared'
    done
}

@test "a network learns what a linear model cannot, and is scored by dp-eval and dp-predict" {
    /usr/bin/python3 -c '
import numpy
rng = numpy.random.default_rng(1)
x = rng.uniform(-1, 1, (4000, 2))
numpy.savetxt("xor.csv", numpy.column_stack([x, (x[:, 0] * x[:, 1] > 0)]), delimiter=",", fmt="%.4f,%.4f,%d", header="a,b,same", comments="")'
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [-1, 1]}, {"name": "b", "type": "numeric", "bounds": [-1, 1]},
        {"name": "same", "type": "label", "classes": ["0", "1"]}]}' > xor.json
    dp-import csv -q --schema xor.json --split 0.75 -o xor.dp --test xor-test.dp xor.csv
    cols=$(dp-info --get cols xor.dp)
    dp-sgd.sh --data xor.dp --network "$cols * 1.7; fc 16 tanh; fc 1" --batch 300 --epochs 60 --clip 0.5 --step 8 --epsilon 3 --seed 1 -q -o net.model
    dp-sgd.sh --data xor.dp --batch 300 --epochs 20 --epsilon 3 --seed 1 -q -o linear.model
    accuracy() { dp-eval --last --metrics accuracy --data xor-test.dp --in "$1" | tail -n 1 | cut -f 3; }
    [ "$(calculate "$(accuracy net.model) >= 0.9")" = 1 ] || fail "$(accuracy net.model)"
    [ "$(calculate "$(accuracy linear.model) <= 0.65")" = 1 ] || fail "$(accuracy linear.model)"
    dp-predict net.model xor.csv | tail -n +2 | awk -F '\t' 'NR <= 50 { print $1 }' > predicted
    tail -n +2 xor.csv | cut -d , -f 3 | head -n 50 | paste - predicted | awk '$1 == $2' > right
    [ "$(wc -l < right)" -ge 40 ] || fail "$(head -n 3 predicted)"
    run dp-info net.model
    assert_line "network: $cols * 1.7; fc 16 tanh; fc 1"
}

@test "a private search goes along a network, with every policy, and has the same bytes everywhere" {
    local net='6; fc 5 tanh; fc 1'
    search() { dpline blsgd --data two.dp --network "$net" --epsilon 3 --epochs 4 --seed 1 -q -o "$@"; }
    for policy in '' '--policy on-failure --clip-decay 0.05' '--policy adaptive' '--noise gaussian'; do
        search fused.model --exec fused $policy
        search processes.model --exec processes --threads 3 $policy
        cmp fused.model processes.model
    done
    [ "$(dp-eval --last --metrics accuracy --data test.dp --in fused.model | awk 'NR == 2 { print ($3 > 0.75) }')" = 1 ]
}

@test "a clip follows the frame, whose bound is from released values" {
    dp-loop --plan '(gradient, search) 3' --seed 1 --exec processes -q -- "dp-sample --data two.dp --rate 0.5 | tee raw |
        dp-net-grad --on gradient --data two.dp --network '$NET' --loss logistic --clip 0.5 --follow |
        dp-noise --on gradient -z 0.1 --follow |
        dp-linesearch --on search --data two.dp --epsilon 50 --armijo 1000 --tries 20 --clip 1 --first-step 8 --follow |
        dp-account --epsilon 1e4 --delta 1e-5 --adaptive --allow-seeded --no-ledger | dp-step --on gradient --hold |
        dp-step --on search | dp-adapt -z 0.1 --policy on-failure --first-step 8 --clip 0.5 --clip-decay 0.25" > stream
    clipped() {
        dp-net-grad --on gradient --data two.dp --network "$NET" --loss logistic "$@" < raw |
            dp-cat --full --kind lap --allow-private-output | jq -c 'select(.lap_kind == "gradient") | [.bound, .sum.values]'
    }
    clipped --clip 0.5 --follow > followed
    assert_equal "$(jq -c '.[0]' followed | tr '\n' ' ')" '0.5 0.375 0.375 '
    clipped --clip 0.375 > fixed
    assert_equal "$(sed -n 2p followed)" "$(sed -n 2p fixed)"
    [ "$(sed -n 1p followed)" != "$(sed -n 1p fixed)" ]
    run clipped --clip 5e9 --follow
    assert_output --partial "dp-net-grad: --follow: the frame of lap 3 asks for a bound of 0.375"
}

@test "another network or family does not continue a model" {
    train net two.dp "$NET" logistic
    run dp-loop --laps 1 --seed 1 --init net -q -- "dp-sample --data two.dp --rate 0.4 |
        dp-net-grad --data two.dp --network '6; fc 4 tanh; fc 1' --loss logistic --clip 1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1"
    assert_failure 1
    assert_output --partial "dp-net-grad: the model to start from is another network: '$NET'"
    run dp-loop --laps 1 --seed 1 --init net -q -- "dp-sample --data two.dp --rate 0.4 |
        dp-grad --data two.dp --loss logistic --lambda 1e-3 --clip 1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1"
    assert_failure 1
    assert_output --partial "dp-grad: the model to start from is of another family"
}

@test "a run starts from a model of public rows at no cost, and frames, model, ledger, certificate and reports say so" {
    local edit="$ROOT/tests/bats/edit-frames.py"
    public="dp-net-grad --network '$NET' --loss logistic --clip 1 | dp-account --public | dp-step --step 1"
    private="dp-sample --data two.dp --rate 0.4 | dp-net-grad --data two.dp --network '$NET' --loss logistic --clip 0.5 --lambda 1e-3 |
        dp-noise -z 2 | tee noised | dp-account --epsilon 5 --delta 1e-5 | dp-step --step 1"
    dp-synth classification --rows 200 --cols 6 --seed 9 -o open.dp -q
    dp-loop --laps 3 -q -o first -- "dp-sample --data open.dp --rate 0.5 --inline | $public" > /dev/null
    assert_equal "$(dp-info --get public first) $(dp-info --get non_private first)" "true "
    run dp-info first
    assert_line "privacy: it was trained on public rows"
    dp-loop --laps 3 -q -o more --init first -- "dp-sample --data open.dp --rate 0.5 --inline | $public" > /dev/null
    # private runs from it and from zero cost the same
    dp-loop --laps 2 -q -o zero -- "$private" > /dev/null
    dp-loop --laps 2 -q -o warm --init more --exec processes -- "$private" > warm.stream
    assert_equal "$(dp-info --get epsilon warm)" "$(dp-info --get epsilon zero)"
    digest=$(dp-info --get public_start warm)
    assert_equal "${#digest} $(dp-info --get public warm) $(dp-info --get public_start zero)" "64  "
    run dp-info warm
    assert_line "  the run started from the public model ${digest:0:12}, which costs nothing"
    assert_equal "$(dp-cat --kind lap warm.stream | jq -r .public_start | sort -u)" "$digest"
    assert_equal "$(jq -r 'select(.kind == "open").public_start' two.dp/ledger)" $'null\n'"$digest"
    dp-account certify --ledger two.dp/ledger --model warm > certificate
    assert_equal "$(jq -r '.runs[].public_start' certificate)" "$digest"
    dp-account verify --certificate certificate --model warm two.dp/ledger
    run dp-account report two.dp/ledger
    assert_output --partial "  from public model ${digest:0:12}"
    assert_equal "$(dp-account report --json two.dp/ledger | jq -r '.runs[1].public_start')" "$digest"
    dp-account report -o page.html two.dp/ledger
    grep -qF ", from the public model <code>${digest:0:12}</code>" page.html
    # the private stages saw the public weights
    assert_equal "$(dp-cat --full --kind lap --allow-private-output noised | head -n 1 | jq -c .model.values)" \
        "$(dp-cat --full --kind lap more | jq -c .model.values)"
    # a run from the private model pays for it, and no private stage can name another one or say that rows are public
    gate="dp-account --epsilon 5 --delta 1e-5 --no-ledger --no-registry"
    "$edit" 'public_start="0123"' < noised > named
    complains 5 "dp-account: lap 1 names another public model than the run starts from" $gate --in named
    "$edit" 'public=true' < noised > said
    complains 5 "dp-account: the frame of lap 1 says that its rows are public" $gate --in said
    dp-loop --laps 2 -q -o again --init warm -- "$private" > /dev/null
    assert_equal "$(dp-info --get prior_epsilon again)" "$(dp-info --get epsilon warm)"
    # no public models
    complains 5 "dp-account: --public: the data set has a ledger, so its rows are not public" \
        dp-loop --laps 1 -q -o bad -- "dp-sample --data two.dp --rate 0.5 --inline | $public"
    # nor are rows of people who have a ledger elsewhere
    export DPLINE_REGISTRY=$PWD/registry
    printf 'a,y\n%s\n' "$(yes $'1,no\n2,yes\n3,no' | head -n 300)" > people.csv
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 3]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > people.json
    dp-import csv -s people.json -q -o people.dp people.csv
    dp-import csv -s people.json -q -o copy.dp people.csv
    open="dp-sample --data copy.dp --rate 0.5 --inline | dp-grad --loss logistic --clip 1 | dp-account --public | dp-step --step 1"
    dp-loop --laps 1 -q -o before -- "$open" > /dev/null
    dp-account budget --epsilon 1 --delta 1e-5 people.dp > /dev/null
    complains 5 "dp-account: --public: people.csv has runs or a budget in the ledger $PWD/people.dp/ledger, so its rows are not public" \
        dp-loop --laps 1 -q -o bad -- "$open"
    complains 5 "dp-account: --public: the model that the run starts from is not public" \
        dp-loop --laps 1 -q -o bad --init warm -- "dp-sample --data open.dp --rate 0.5 --inline | $public"
    "$edit" public= < more > silent
    complains 5 "dp-account: the model it starts from states no cost, and is not public either" dp-loop --laps 1 -q -o bad --init silent -- "$private"
    assert_not_exists bad
}

@test "a damaged text of a model is refused" {
    train net two.dp "$NET" logistic
    PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 - << 'END'
import sys
data = open("net", "rb").read()
open("worse", "wb").write(data.replace(b"6; fc 5 tanh; fc 1", b"6; fc 6 tanh; fc 1"))
open("words", "wb").write(data.replace(b"6; fc 5 tanh; fc 1", b"6; fc 5 tanh; ff 1"))
END
    complains 1 "dp-eval: the model of lap 6 is 1 × 41, which no network model is" dp-eval --last --data test.dp --in worse
    complains 1 "dp-eval: network, column 15, 'ff': a layer is conv, pool, mean-pool, norm, add or fc" dp-eval --last --data test.dp --in words
}

@test "persons with several rows, and a transform, are refused" {
    printf 'who,a,b,y\n' > people.csv
    for i in $(seq 40); do echo "p$((i % 15)),0.$((i % 7)),0.$((i % 3)),$((i % 2))"; done >> people.csv
    echo '{"header": true, "columns": [{"name": "who", "type": "person"}, {"name": "a", "type": "numeric", "bounds": [0, 1]},
        {"name": "b", "type": "numeric", "bounds": [0, 1]}, {"name": "y", "type": "label", "classes": ["0", "1"]}]}' > people.json
    dp-import csv -q --schema people.json --rows-per-person 3 -o people.dp people.csv
    run dp-loop --laps 1 --seed 1 -q -- "dp-sample --data people.dp --rate 0.4 |
        dp-net-grad --data people.dp --network '$(dp-info --get cols people.dp); fc 1' --loss logistic --clip 1 | dp-noise -z 1 |
        dp-account --epsilon 1e4 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1"
    assert_failure
    assert_output --partial "dp-net-grad: "
    assert_output --partial "person"
    refute_output --partial "norm"
}
