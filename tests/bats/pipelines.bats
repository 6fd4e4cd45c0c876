# What all pipelines have: options, ledgers, checkpoints, paths; and scd.sh, the first that a newcomer runs.
load helper
load pipelines

@test "every pipeline: --help, --version, missing and bad options" {
    version=$(dp-loop --version)
    for p in scd scd-published seq-scd primal-scd scd-nonprivate sgd erm dp-sgd dp-adam adp-sgd bassily rrpsgd outpert-gd outpert-psgd objpert blsgd blgd agd; do
        run $p.sh --help
        assert_success
        assert_line "Usage: $p.sh --data DIR [options]"
        run $p.sh --version
        assert_success
        assert_output "$p.sh ${version#dp-loop }"
        complains 2 "$p.sh: --data is required" $p.sh
        complains 1 "dp-info: cannot open gone.dp: No such file or directory" $p.sh --data gone.dp
    done
    # what options.sh says to each of them
    for p in scd erm blsgd; do
        complains 2 "$p.sh: unexpected argument 'small.dp' (--data names the data set, try --help)" $p.sh small.dp
        complains 2 "$p.sh: unexpected argument 'extra' (try --help)" $p.sh --data small.dp -o m extra
        complains 2 "$p.sh: unknown option '--colour' (try --help)" $p.sh --colour
        complains 2 "$p.sh: unknown option '-x' (try --help)" $p.sh -x 1
        for word in lamdba lambd lambada lamda lumbda; do
            complains 2 "$p.sh: unknown option '--$word' (did you mean --lambda?)" $p.sh --$word 1
        done
        complains 2 "$p.sh: --lambda: needs a value" $p.sh --lambda -o m --data small.dp
        complains 2 "$p.sh: --init: needs a value" $p.sh --data small.dp --init '' -o m
        complains 2 "$p.sh: --init: needs a value" $p.sh --data small.dp --init= -o m
        complains 2 "$p.sh: -o: needs a value" $p.sh --data small.dp -o --epochs 1
        complains 2 "$p.sh: --print: takes no value" $p.sh --print=yes
    done
    while read -r option must bad; do
        complains 2 "scd.sh: --$option: must be ${must//_/ }, got '$bad'" scd.sh --data small.dp "--$option" "$bad"
    done << END
epsilon a_number_>_0 -1
epsilon a_number_>_0 1,5
clip a_number_>_0 0
exec one_of_auto|processes|fused auto|processes
lambda a_number 1e-4|tee
seed a_whole_number_>=_0 -1
threads a_whole_number_>=_1 1e3
threads a_whole_number_>=_1 1.5
batch a_whole_number_>=_1 0
batch a_whole_number_>=_1 1000000000000000000000
END
}

@test "a word for a number is taken where it is the default" {
    for p in scd dp-sgd; do
        complains 2 "$p.sh: --batch: must be a whole number >= 1, got 'all'" $p.sh --data small.dp --batch all
        complains 2 "$p.sh: --epochs: must be a number > 0, got 'auto'" $p.sh --data small.dp --epochs auto
    done
    blsgd.sh --data small.dp --batch auto --epochs auto --print > print
    agd.sh --data small.dp --epochs auto --clip 0.5 --print > print
}

@test "what families share: options-dual.sh, options-output.sh and options-search.sh" {
    source <(sed -n '/^real()/p; /^calculate()/,/^}/p' "$ROOT/pipelines/options.sh")
    for file in dual output search; do source "$ROOT/pipelines/options-$file.sh"; done
    loss=logistic clip=auto lambda=auto epochs=4 sensitivity=2 rows=1500
    auto_bounds 5
    assert_equal "$clip $lambda" '0.25 0.025'
    loss=huber lambda=auto
    auto_bounds 5
    assert_equal "$clip $lambda" '0.25 0.05'
    data=small.dp intercept=0
    assert_equal "$(weights)" 8
    intercept=0.5
    assert_equal "$(weights)" 9
    loss_width=auto loss=logistic norm=1 lambda=0.5 intercept=0
    bound_of_loss
    assert_equal "$pull $beta" '1 0.75' # a logistic slope of at most 1, and a curvature of at most 1/4
    gate='' policy=none
    for known in '1 100 30' '1 2000 40' '2 100000 300'; do
        read -r epsilon rows expected <<< "$known"
        epochs=auto laps=''
        laps_of_search
        assert_equal "$laps$gate" "$expected"
    done
    policy=adaptive epochs=auto
    laps_of_search
    assert_equal "$gate $accountant" ' --adaptive --accountant rdp'
}

@test "options.sh: an option without a kind, and a calculation with what is no number" {
    sed 's/^option lambda .* real$/option lambda 1 L "what it is"/' "$ROOT/pipelines/erm.sh" > erm.sh
    sed 's/^option lambda .* real$/option lambda 1 L "what it is" numeral/' "$ROOT/pipelines/erm.sh" > kind.sh
    sed 's/^options "\$@"$/options "$@"; calculate "1 + data"/' "$ROOT/pipelines/erm.sh" > data.sh
    cp "$ROOT/pipelines/options.sh" .
    chmod +x erm.sh kind.sh data.sh
    run ./erm.sh --data small.dp --print
    assert_failure
    assert_output --partial '--lambda has no kind'
    complains 2 'kind.sh: --lambda has no kind' ./kind.sh --data small.dp --lambda 2 --print
    complains 2 "data.sh: data: must be a number, got 'small.dp'" ./data.sh --data small.dp --print
}

@test "--print: a line of a script that goes on in the next one is printed without a hole, and a name keeps its blanks" {
    hole="a          name  of   a data set.dp"
    cp -r small.dp "$hole"
    scd.sh --data "$hole" --epochs 1 --seed 1 -o model --print > command
    run grep -E '[^ ] {6,}-' command
    assert_output ''
    bash command > /dev/null
    mv model printed
    scd.sh --data "$hole" --epochs 1 --seed 1 -o model -q
    cmp model printed
}

@test "every option may be written in one word, and a part of an epoch is laps rounded up" {
    scd.sh -q --data=small.dp --epochs=.26 --batch=100 --seed=3 -omodel
    assert_equal "$(dp-info --get lap model)" 6
    scd.sh --quiet --data small.dp --epochs 0.26 --batch 100 --seed 3 --model same
    cmp model same
    primal-scd.sh -q --data small.dp --epochs .5 --batch 3 --seed 1 -o model
    assert_equal "$(dp-info --get lap model)" 2
}

@test "the last line of a run says what it has cost and where the model is, unless -q" {
    small='--data small.dp --epochs 1 --batch 1000'
    {
        said=$(scd.sh $small -o model 2>&1)
        assert_regex "$said" '^scd.sh: epsilon (1|0.9999[0-9]*), delta 1e-05; one row is taken for one person; 2 laps; the model is in model$'
        said=$(dp-sgd.sh $small --epochs .1 --batch 200 --seed 1 -o model 2>&1)
        assert_regex "$said" '^dp-sgd.sh: epsilon (1|0.9999[0-9]*), delta 1e-05 \(seeded: not private\); one row is taken for one person; 1 lap; the model is in model$'
        said=$(scd-published.sh $small -o model 2>&1)
        assert_regex "$said" '^scd-published.sh: epsilon [0-9.]*, delta 1e-05; one row is taken for one person; 2 laps; the model is in model$'
        assert_equal "$(sgd.sh $small -o model 2>&1)" 'sgd.sh: not private, trained without noise; 2 laps; the model is in model'
        assert_equal "$(scd.sh -q $small -o model 2>&1)" ''
        said=$(scd.sh $small --batch 100 --epochs 2 --multiplier 2 -o model 2>&1) || assert_equal $? 3
        assert_regex "$said" 'scd.sh: epsilon [0-9.]*, delta 1e-05; one row is taken for one person; [0-9]* laps; the model is in model$'
        said=$(scd.sh $small --multiplier 0.01 -o model 2>&1) || assert_equal $? 3
        assert_regex "$said" '^dp-loop: the budget of epsilon = 1 does not pay for one lap; epsilon = [0-9e+]* would$'
        assert_equal "$(scd.sh $small 2>&1 > stream)" ''
    }
}

@test "--print prints the command, which gives the same model" {
    cp -r small.dp "it's a set.dp"
    scd.sh --data "it's a set.dp" --epochs 1 --seed 1 -o "a model" --print > command
    assert_not_exists "a model"
    bash command > /dev/null
    scd.sh -q --data "it's a set.dp" --epochs 1 --seed 1 -o model
    cmp model "a model"
}

@test "the default loss is that of the labels" {
    dp-synth classification --rows 300 --cols 4 --classes 3 --seed 1 -q -o three.dp
    # the stage that has the loss is told it; one model is made, and says it
    loss_of() {
        local spared='--multiplier 9' # nothing to calibrate
        case $1 in scd-* | sgd.sh | erm.sh) spared='' ;; bl* | agd*) spared+=' --search-epsilon 0.01' ;; esac
        "$@" $spared --lambda 1e-3 --seed 1 -q -o model --print | grep -oE -e '--loss [a-z-]+' | sort -u | cut -c 8-
    }
    dp-sgd.sh --data three.dp --epochs 1 --lambda 1e-3 --seed 1 -q -o model
    assert_equal "$(dp-info --get loss model)" softmax
    for p in scd scd-published seq-scd scd-nonprivate; do
        assert_equal "$(loss_of $p.sh --data small.dp)" hinge
        assert_equal "$(loss_of $p.sh --data real.dp)" squared
        assert_equal "$(loss_of $p.sh --data three.dp)" hinge
    done
    assert_equal "$(loss_of primal-scd.sh --data real.dp)" squared
    for p in outpert-gd outpert-psgd; do
        assert_equal "$(loss_of $p.sh --data small.dp)" logistic
        assert_equal "$(loss_of $p.sh --data real.dp)" huber
        assert_equal "$(loss_of $p.sh --data three.dp)" softmax
        $p.sh --help | grep -qF '(default logistic; huber for a regression, softmax for three classes or more)'
    done
    for p in sgd erm dp-sgd dp-adam adp-sgd bassily rrpsgd blsgd blgd agd; do
        assert_equal "$(loss_of $p.sh --data small.dp)" logistic
        assert_equal "$(loss_of $p.sh --data real.dp)" squared
        assert_equal "$(loss_of $p.sh --data three.dp)" softmax
        assert_equal "$(loss_of $p.sh --data three.dp --loss logistic)" logistic
    done
    said=$(scd.sh --data three.dp --epochs 1 2>&1 > stream)
    assert_equal "$said" 'scd.sh: 3 classes: hinge for one against the rest each (dp-sgd.sh has softmax)'
}

@test "a private run is in the ledger of its data set, or where --ledger says, or nowhere with --no-ledger" {
    rows() { awk '/"kind":"open"/ { n++ } END { print n + 0 }' "$1"; }
    dp-sgd.sh -q --data small.dp --epochs 1 -o model
    before=$(rows small.dp/ledger)
    above "$before" 1
    dp-sgd.sh -q --data small.dp --epochs 1 --ledger "my ledger" -o model
    assert_equal "$(rows small.dp/ledger)" "$before"
    above "$(rows 'my ledger')" 1
    for p in scd dp-adam adp-sgd bassily rrpsgd outpert-gd outpert-psgd objpert blsgd blgd agd privgene seq-scd scd-published primal-scd; do
        short='--epochs 0.2 --multiplier 9' # nothing to calibrate
        case $p in
            objpert) short='--multiplier 9' ;;
            privgene) short='--epochs 0.2 --offspring 10' ;;
            scd-published) short='--epochs 0.2' ;;
            blsgd | blgd | agd) short+=' --search-epsilon 0.01' ;;
        esac
        $p.sh -q --data small.dp $short --ledger $p.ledger -o model
        above "$(rows $p.ledger)" 1
        $p.sh -q --data small.dp $short --no-ledger -o model
        assert_equal "$(dp-info --get untracked model)" true
    done
    assert_equal "$(rows small.dp/ledger)" "$before"
    rm small.dp/ledger
    sgd.sh -q --data small.dp --epochs 1 -o model
    erm.sh -q --data small.dp -o model
    scd-nonprivate.sh -q --data small.dp --epochs 1 -o model
    assert_not_exists small.dp/ledger
}

@test "--partial trains as long as the budget of the data set allows" {
    dp-account budget --data small.dp --epsilon 1 --delta 1e-5 b.ledger > /dev/null
    within 30 dp-sgd.sh -q --data small.dp --epsilon 2 --ledger b.ledger -o model
    assert_failure 5
    assert_output --regexp "^dp-account: the budget .* affords [0-9]+ of the run's 200 laps \(--partial lets it run that far\); epsilon 0 of it is spent, and with as many laps a run of --epsilon 1 fits$"
    assert_not_exists model
    within 30 dp-sgd.sh -q --data small.dp --epsilon 2 --ledger b.ledger --partial -o model
    assert_failure 3
    above "$(dp-info --get lap model)" 1
    above 1 "$(dp-info --get epsilon model)"
}

@test "--checkpoint and --resume go on to the very model of the uninterrupted run" {
    for p in "scd.sh --loss logistic" "dp-adam.sh"; do
        run_of="$p -q --data small.dp --epochs 20 --batch 10 --seed 1"
        $run_of -o whole
        $run_of --checkpoint kept --checkpoint-every 100 2> said | head -c 200000 > part || true
        assert_dir_exist kept
        above 3999 "$(dp-cat --kind lap part 2> /dev/null | wc -l)"
        $run_of --resume kept -o resumed
        dp-cmp whole resumed
        rm -rf kept
    done
}

@test "a run with line search goes on from a checkpoint to the very model of the uninterrupted run" {
    for p in "blsgd.sh --policy adaptive --growth 0.001 --clip-decay 0.001" "blgd.sh --growth 0.001" "agd.sh --growth 0.001"; do
        run_of="$p -q --data small.dp --epsilon 200 --delta 1e-3 --epochs 300 --multiplier 8 --search-epsilon 0.1 --seed 1"
        $run_of -o whole
        $run_of --checkpoint kept --checkpoint-every 100 2> said | head -c 400000 > part || true
        assert_dir_exist kept
        above "$(dp-info --get lap whole)" "$(dp-cat --kind lap part 2> /dev/null | sed '$d' | wc -l)"
        $run_of --resume kept -o resumed
        dp-cmp whole resumed
        rm -rf kept
    done
}

@test "--init goes on from a model, and --adjacency replace-one doubles the sensitivity" {
    for p in scd dp-sgd; do
        $p.sh -q --data small.dp --epochs 1 --batch 500 --lambda 1e-3 --seed 1 -o first
        $p.sh -q --data small.dp --epochs 1 --batch 500 --lambda 1e-3 --seed 2 --init first -o second
        above "$(dp-info --get epsilon second)" 1.999
        $p.sh -q --data small.dp --epochs 1 --batch 500 --clip 0.5 --adjacency replace-one -o model
        assert_equal "$(dp-cat --last --full model | grep -o '"adjacency":"[a-z-]*","release":"[a-z-]*","bound":0.5,"sensitivity":[0-9.]*' |
            sed 's/"release":"[a-z-]*",//')" '"adjacency":"replace-one","bound":0.5,"sensitivity":1'
        above "$(dp-info --get epsilon model)" 0.999
    done
}

@test "scd.sh's own clip and lambda: rows that are hard to fit, near the optimum without privacy for every loss" {
    dp-synth classification --rows 4000 --cols 8 --noise 2 --seed 3 -q -o hard.dp --test hard-test.dp
    for loss in logistic hinge squared smooth-hinge huber; do
        scd-nonprivate.sh -q --data hard.dp --loss $loss --seed 1 -o optimum
        scd.sh -q --data hard.dp --loss $loss --epsilon 2 --seed 1 -o model
        above "$(accuracy hard-test.dp model)" "$(awk "BEGIN { print $(accuracy hard-test.dp optimum) - 0.015 }")"
        [ $loss != logistic ] ||
            above "$(awk "BEGIN { print $(logloss hard-test.dp optimum) + 0.01 }")" "$(logloss hard-test.dp model)"
    done
    for batch in 25 400; do
        scd.sh -q --data hard.dp --loss logistic --epsilon 2 --epochs 5 --batch $batch --seed 1 -o model
        above 0.6 "$(logloss hard-test.dp model)"
    done
}

# bats test_tags=long
@test "real data: scd.sh's log loss on Adult is far below that of a constant" {
    need_data adult adult.data.gz
    dp-import csv -q --schema "$ROOT/examples/dp-scd/schema-adult.json" --row-norm unit --split 0.75 --seed 1 -o train.dp --test held-out.dp "$DATA_FILE"
    scd.sh -q --data train.dp --loss logistic --seed 1 -o model
    above 0.36 "$(logloss held-out.dp model)" # a constant: 0.55
}

@test "scd-published.sh and seq-scd.sh: lambda follows the noise of a lap" {
    # 15 z |noise| / N: the noise on v is sqrt(2) C z, and 2 C sqrt(L (L + 1)) z
    printed() { "$@" --data small.dp --loss logistic --clip 0.5 --batch 20 --multiplier 2 --print | sed -n 's/.*--lambda \([0-9.e-]*\).*/\1/p'; }
    assert_equal "$(printed scd-published.sh)" 0.0106066
    assert_equal "$(printed seq-scd.sh)" 0.307409
    assert_equal "$(printed seq-scd.sh --adjacency replace-one)" 0.307409
}

@test "scd.sh: a clip that keeps dual variables too small is warned of before the run" {
    complains 0 "scd.sh: warning: in 2 epochs --clip 0.02 keeps dual variables below 0.04, logistic needs up to 1: scores and probabilities \
will be wrong (--clip 0.5)" scd.sh --data small.dp --loss logistic --epochs 2 --clip 0.02 --seed 1
    complains 0 "seq-scd.sh: warning: in 1 epoch --clip 0.01 keeps dual variables below 0.01, huber needs up to 1: scores and probabilities \
will be wrong (--clip 1)" seq-scd.sh --data small.dp --loss huber --epochs 1 --clip 0.01 --seed 1
    complains 0 '' scd.sh --data small.dp --loss hinge --epochs 1 --clip 0.02 --seed 1
    # by default there is nothing to warn of
    for p in scd scd-published seq-scd; do
        for loss in logistic smooth-hinge huber; do complains 0 '' $p.sh --data small.dp --loss $loss --epochs 3 --seed 1; done
    done
    complains 0 '' scd.sh -q --data small.dp --loss logistic --epochs 1 --clip 0.02 --seed 1
}

@test "scd.sh learns, spends its budget to the last lap, and says what it is" {
    scd.sh --data small.dp --epsilon 2 --delta 1e-5 --batch 50 --clip 0.05 --seed 1 -o model
    above "$(accuracy test.dp model)" 0.8
    assert_equal "$(dp-info --get lap model)" 400
    above "$(dp-info --get epsilon model)" 1.999
    above 2 "$(dp-info --get epsilon model)"
    assert_equal "$(dp-info --get seeded model)" true
    scd.sh -q --data small.dp --epsilon 2 --epochs 1 -o unseeded
    run dp-info --get seeded unseeded
    refute_output true
}

@test "a signal for the script alone ends its run in order" {
    for signal in INT TERM HUP QUIT; do
        for how in "-o model" ""; do
            rm -f ledger* model
            # in a shell without job control, commands in the background ignore SIGINT and SIGQUIT
            python3 -c 'import os, signal, sys
for s in signal.SIGINT, signal.SIGQUIT: signal.signal(s, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' scd.sh --data small.dp --epochs 5000 --exec processes --multiplier 900 -q --ledger "$PWD/ledger" $how > stream 2> said &
            script=$!
            for _ in $(seq 1500); do
                ! grep -q '"kind":"plan"' ledger 2> /dev/null || break
                sleep 0.02
            done
            kill -$signal $script
            got=0
            wait $script || got=$?
            assert_equal $got $((128 + $(kill -l $signal)))
            run pgrep -f "dp-loop .*--ledger $PWD/ledger"
            assert_output ''
            [[ $(dp-account report ledger) == *interrupted* ]]
            [ -z "$how" ] || [[ $(dp-info model) == *interrupted* ]]
            [ -n "$how" ] || [[ $(dp-cat --kind end stream) == *interrupted* ]]
        done
    done
}

@test "with standard input or standard error closed a script does the same" {
    for p in "scd.sh --data" "dpline fit"; do
        {
            $p small.dp --no-ledger --no-registry --seed 1 -o model
            $p small.dp --no-ledger --no-registry --seed 1 -o closed 2>&-
            cmp model closed
            $p small.dp --no-ledger --no-registry --seed 1 -o closed <&- 2>&-
            cmp model closed
            complains 0 '' $p small.dp --no-ledger --no-registry --seed 1 -q -o closed <&-
            got=0
            $p small.dp --seed 0.5 2>&- || got=$?
            assert_equal $got 2
        }
    done
}

@test "--multiplier spares the calibration and not the gate" {
    for p in "scd.sh --clip 0.05" "dp-sgd.sh --step 4"; do
        z=$(dp-account sigma --epsilon 2 --delta 1e-5 --rate 50/2000 --laps 400)
        $p --data small.dp --epsilon 2 --batch 50 --seed 1 -o computed
        $p --data small.dp --epsilon 2 --batch 50 --seed 1 --multiplier "$z" -o given
        cmp computed given
        run $p --data small.dp --epsilon 2 --batch 50 --seed 1 --multiplier "$(awk "BEGIN { print $z * 0.8 }")" -q -o early
        assert_failure 3
        above 399 "$(dp-info --get lap early)"
        above 2 "$(dp-info --get epsilon early)"
    done
}

@test "without -o the models are streamed, one a lap" {
    assert_equal "$(scd.sh --data small.dp --epochs 2 --batch 100 --seed 1 | dp-eval --data test.dp | wc -l)" 41
}

@test "paths with blanks, quotes, line feeds and letters beyond ASCII, in any locale" {
    i=0
    for name in $'d\303\251 x' $'tab\tnew\nline' "it's" '$HOME `x` \ *' '"' ; do
        mkdir $((++i))
        mv small.dp "$i/$name.dp"
        printf '%s\n' 1 2 3 4 > "$i/$name.b"
        for locale in C C.UTF-8; do
            LC_ALL=$locale scd.sh --data "$i/$name.dp" --epochs 1 --batch 1000 --epsilon 5 --multiplier 5 -q -o "$i/$name m" --exec processes
            LC_ALL=$locale adp-sgd.sh --data "$i/$name.dp" --epochs 2 --batch 1000 --epsilon 5 --schedule "$i/$name.b" --multiplier 5 -q -o "$i/$name m" --exec processes
            assert_equal "$(dp-info --get lap "$i/$name m")" 4
        done
        mv "$i/$name.dp" small.dp
    done
}
