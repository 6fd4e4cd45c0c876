# Files of earlier versions can be read, and mean the same: tests/golden/VERSION has a small data set of each storage, a schema,
# models, a stream, a ledger (a budget; runs that ended, one that started from another's model, one that met its own budget) and
# a certificate, written by the tools of that version; from 0.2 on, the files that tests/golden/make makes, with searches and
# rows of 16 bits. They are never made again: if a file format changes, files of the new version are added. A test's name begins
# with its version.
load helper

prepare() {
    cp -r "$ROOT/tests/golden/${BATS_TEST_DESCRIPTION%%:*}/." .
    chmod 600 ./*ledger
}

@test "0.1: data sets" {
    for set in dense sparse; do
        dp-info --verify $set.dp
    done
    assert_equal "$(dp-info -g digest dense.dp)" 4f2a12af49ec83f8f2b269d9166ecd3c
    assert_equal "$(dp-info -g digest sparse.dp)" 94f403bb3da9d5fff8a1e5ec3775e415
    run dp-loop -q --laps 2 --seed 1 -o new -- "dp-sample --data dense.dp --rate 0.5 | dp-grad --data dense.dp --loss logistic --clip 1 |
        dp-noise -z 2 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded --ledger new.ledger | dp-step --step 1"
    assert_success
}

@test "0.2: a later version's data set: a new member is ignored, a new format refused" {
    jq '. + {later: 1}' dense.dp/dataset.json > later && cp later dense.dp/dataset.json
    dp-info --verify dense.dp
    jq '.format = 5' later > dense.dp/dataset.json
    complains 1 "dp-info: dense.dp/dataset.json is of format 5; 4 is the newest that this version knows" dp-info dense.dp
}

@test "0.2: a model with products of numbers, before categories had any" {
    printf 'c,a,b,y\nv,1,0,yes\nu,0,.3,no\nv,.2,1,no\nu,.7,.6,yes\n' > t.csv
    dp-predict -s products t.csv | diff products.csv -
}

@test "0.1: a schema" {
    printf 'age,job,pay,who\n39,clerk,77516,<=50K\n50,smith,83311,>50K\n,clerk,1000,<=50K.\n' > t.csv
    dp-import csv t.csv --schema schema.json -o t.dp -q
    assert_equal "$(dp-info -g rows t.dp)" 3
    dp-info --verify t.dp | grep -q 'max-abs'
}

@test "0.1: a stream and models" {
    [ "$(dp-cat stream | wc -l)" -eq 6 ]
    assert_equal "$(dp-info -g epsilon model)" "$(dp-cat --last --full stream | grep -o '"epsilon":[0-9.]*' | cut -d: -f2)"
    assert_equal "$(dp-info -g method model)" scd-dual
    complains 1 "dp-info: the model has no 'family'" dp-info -g family model
    dp-cmp model <(dp-cat --last --frames stream)
    assert_equal "$(dp-cat --full stream | dp-account epsilon --delta 1e-5)" 0.520942
    assert_equal "$(dp-predict --data dense.dp model | wc -l)" 13
    run dp-eval --data dense.dp --private-data -i stream
    assert_success
    assert_line --index 4 --regexp '^4	0.5209416862088039	'
}

@test "0.1: a ledger" {
    run dp-account verify ledger
    assert_success
    assert_output "ledger is intact: 43 lines, 4 runs, epsilon recomputed for 4"
    run dp-account report ledger
    assert_success
    for line in '^f6fa1c9c9214f08688dae1270b6a67e0 .* 3 +0.528904 +done' '^b3d26f853a2cc3ce008d98196761ff16 .* 4 +0.520942 +done' \
        '^63ac8a5a0f17c125735228344b16c6e8 .* 2 +0.442806 +done' '^2c7eae81301697e3725101812b06a7c0 .* 48 +1.81297 +budget' \
        '10.5084 at delta 1e-06'; do
        assert_line --regexp "$line"
    done
    # a run of that version that was killed
    head -n 40 ledger > killed
    run dp-account verify killed
    assert_success
    assert_output "killed is intact: 40 lines, 4 runs, epsilon recomputed for 3"
}

@test "0.1: runs go on with its ledger, its budget and its models" {
    dp-loop -q --laps 1 --init next -o new -- "dp-sample --data dense.dp --rate 0.25 | dp-grad --data dense.dp --loss logistic |
        dp-clip --data dense.dp --clip 1 --adaptive 0.5 | dp-noise -z 4 --count-multiplier 8 |
        dp-account --epsilon 2 --delta 1e-5 --ledger ledger | dp-step --step 1" > /dev/null
    run dp-account verify ledger
    assert_output --regexp "^ledger is intact: [0-9]+ lines, 5 runs, epsilon recomputed for 5$"
    run dp-account report ledger
    assert_line --regexp '10.514 at delta 1e-06'
    # the first new line states the format of the lines from here on
    assert_equal "$(jq -c 'select(has("format")) | [.seq, .format]' ledger)" '[44,3]'
}

@test "0.1: a certificate" {
    dp-account verify ledger --certificate certificate --model model
    sed 's/"epsilon": 0.52/"epsilon": 0.51/' certificate > forged
    complains 5 "dp-account verify: the certificate is not what the ledger ledger says: 'epsilon' differs" \
        dp-account verify ledger --certificate forged --model model
}

@test "0.2: data sets" {
    for set in dense sparse narrow persons real people people-test; do
        dp-info --verify $set.dp
    done
    assert_equal "$(dp-info -g digest dense.dp)" e72b2f4ee3ec593d029ddc49aad4b5c7
    assert_equal "$(dp-info -g digest sparse.dp)" 944b8dc4f52ad1209cc91515b389d41c
    assert_equal "$(dp-info -g digest narrow.dp)" e8bdb4d3ad8d704941d53e5aa04b6fc7
    assert_equal "$(dp-info -g storage narrow.dp)" int16
    assert_equal "$(dp-info -g digest persons.dp)" bcae156bae8f62d72a66c13586521a4b
    assert_equal "$(od -An -t d8 -w80 -j 128 persons.dp/persons.npy | tr -s ' ')" " 0 1 3 6 7 9 12 13"
    assert_equal "$(od -An -t d2 -j 128 -N 6 narrow.dp/X_i16.npy | tr -s ' ') $(od -An -t f4 -j 128 narrow.dp/scales.npy | tr -s ' ')" " -12099 7364 29548  3.0517578e-05 3.0517578e-05 3.0517578e-05"
    assert_equal "$(dp-info -g digest real.dp)" 6a95ef11669b1992ad22b90925244009
    assert_equal "$(jq -c '[.population, .held_out, .rows, .row_norm, .bias, .private_preprocessing, .label.classes]' people-test.dp/dataset.json)" \
        '["people",true,8,"bounds",true,["max-abs"],["<=50K",">50K"]]'
}

@test "0.2: a schema" {
    printf 'age,job,pay,id,who\n39,clerk,77516,1,<=50K\n50,smith,83311,2,>50K\n,cook,1000,3,<=50K.\n' > t.csv
    dp-import csv t.csv --schema schema.json -o t.dp -q
    assert_equal "$(dp-info -g rows t.dp)" 3
    dp-info --verify t.dp | grep -q 'max-abs'
}

@test "0.2: streams, of every label" {
    while read -r file label laps fields; do
        assert_equal "$(dp-cat "$file" | jq -r 'select(.kind == "lap") | .label' | sort | uniq -c | tr -s ' ')" " $laps $label"
        assert_equal "$(dp-cat "$file" | jq -r 'select(.lap == 2) | [.records[] | .of + "=" + .noise] | join(",")')" "$fields"
    done << 'END'
raw raw 3 =none
inline raw 3 =none
bounded bounded 4 sum=none
noised noised 3 sum=gaussian,within=gaussian
stream released 4 sum=gaussian
END
    assert_equal "$(dp-cat stream-of-kinds | jq -r 'select(.kind == "lap") | [.lap, .lap_kind, .turn] | join(" ")' | tr '\n' ';')" \
        "1 small 1;2 small 2;3 large 1;"
    # and stages accept them
    dp-clip --data people.dp --clip 1 --adaptive 0.5 --in raw --out again
    dp-cat --full again | jq -c '[.sum, .within]' > clipped.now
    assert_equal "$(grep -vc null clipped.now)" 3
    dp-noise -z 4 --in bounded --out again
    dp-account --epsilon 1 --delta 1e-6 --allow-seeded --no-ledger --in again | dp-step --average tail | dp-cat --frames --last -o model.now
    dp-cmp --weights-only model model.now
    dp-account --epsilon 2 --delta 1e-6 --allow-seeded --no-ledger --in noised | dp-step --step 1 | dp-cat --frames --last -o model.now
    dp-cmp --weights-only clipped model.now
    assert_equal "$(dp-cat stream | dp-account epsilon --delta 1e-6)" 0.618717
}

@test "0.2: models" {
    while read -r name data epsilon; do
        assert_equal "$name $(dp-info -g epsilon "$name" | cut -c 1-7)" "$name $epsilon"
        dp-predict --data "$data" "$name" > predicted
        assert_equal "$name $(wc -l < predicted)" "$name $(($(dp-info -g rows "$data") + 1))"
    done << 'END'
model people.dp 0.61871
first people.dp 1.06070
next people.dp 1.51964
clipped people.dp 0.63254
filtered people.dp 2
gamma real.dp 0.20578
primal sparse.dp 1.92535
alpha sparse.dp 1.51852
broke dense.dp 1.90570
planned real.dp 0.54550
END
    dp-cmp model <(dp-cat --last --frames stream)
    assert_equal "$(dp-info -g interrupted resumed)" true
}

# Weights, bit by bit: the promise of dpline-changes(7). Weights of Poisson batches in chunks, which came during 0.2, are in
# weights: the models next to it, which had a coin for each row, can still be read, but no run makes them. This also holds for
# the minimum of Newton's method, which is nearer to the exact one than the minimum of the first 0.2, and for Adam and adaptive
# clips, whose factors have had the same bytes with every C library since then.
@test "0.2: the same seeds give the same models" {
    local made=0
    rm ./*ledger ./*.mark
    mkdir now
    while IFS='@' read -r name seed how gate before after; do
        gate=${gate/--as-published/} # which the gate had while 0.2 was made: the weights are those that its noise makes
        dp-loop -q --seed $seed $how -o now/$name -- \
            "$(sed 's/| tee [a-z]* //' <<< "$before") | dp-account $gate --delta 1e-6 --allow-seeded --no-ledger | $after" < /dev/null > /dev/null 2> said || [ $? = 3 ] || fail "$name: $(cat said)"
        [ ! -e weights/$name ] || cp weights/$name $name
        run dp-cmp --weights-only $name now/$name
        [ "$status" = 0 ] || fail "$name: $output"
        made=$((made + 1))
    done < <(cat runs searches | sed 's/ @ /@/g')
    assert_equal $made 13
    dp-loop -q --laps 1 -o now/least -- "dp-sample --data real.dp --mode full | dp-erm --data real.dp --loss huber --lambda 0.01 --non-private |
        dp-account --non-private | dp-step" > /dev/null
    dp-cmp --weights-only weights/least now/least
}

@test "0.2: searches: a stream of each side of the gate, models and a ledger" {
    assert_equal "$(dp-cat stream-of-searches | jq -r 'select(.kind == "lap") | [.lap, .lap_kind, .choice.values[0], .step_size, .first_step, (.multiplier * 1000 | round)] | map(. // "-") | join(" ")' | tr '\n' ';')" \
        "1 gradient - - 8 4000;2 search 8 0 8 7303;3 gradient - - 8 3508;4 search 0 8 9.6 3508;5 gradient - - 9.6 3508;6 search 8 0 9.6 6405;"
    dp-cmp searched <(dp-cat --last --frames stream-of-searches)
    # the held gradient at the end of a run, and the noise of a search
    assert_equal "$(dp-cat --full --kind lap searched | jq -c '[(.gradient, .direction).values | length, (.[0] * 1e6 | round)]' | tr '\n' ' ')" \
        "[4,-467198,4,-463672] "
    assert_equal "$(dp-cat searching | jq -c 'select(.lap == 2) | [.label, (.records[0] | .of, .noise, .epsilon, .query_epsilon, .most, .sensitivity)]')" \
        '["noised","choice","sparse-vector-laplace",0.25,0.125,8,1]'
    dp-account --epsilon 5 --delta 1e-6 --adaptive --allow-seeded --no-ledger --in searching | dp-step --on gradient --hold --average-gradients | dp-step --on search |
        dp-cat --frames --last -o model.now
    dp-cmp --weights-only searched model.now
    while read -r name data epsilon; do
        assert_equal "$name $(dp-info -g epsilon "$name" | cut -c 1-7)" "$name $epsilon"
        dp-predict --data "$data" "$name" > predicted
        assert_equal "$name $(wc -l < predicted)" "$name $(($(dp-info -g rows "$data") + 1))"
    done << 'END'
searched people.dp 5
jointly real.dp 1.47855
claimed sparse.dp 4.01252
END
    assert_equal "$(dp-info -g method least) $(dp-info -g non_private least)" "erm true"
    run dp-account verify searches.ledger
    assert_output "searches.ledger is intact: 26 lines, 3 runs, epsilon recomputed for 2"
    run dp-account report searches.ledger
    for line in ' 6 +5.00001 +done' ' 3 +1.47856 +done' ' 4 +4.01253 +done'; do assert_line --regexp "$line"; done
    # each kind of query reads back as the same kind
    assert_equal "$(jq -r '.. | .noise? // empty' searches.ledger | sort -u | tr '\n' ' ')" "gaussian pure sparse-vector-gaussian sparse-vector-laplace "
    dp-loop -q --plan '(gradient, search)' --init searched -o new -- "dp-sample --data people.dp --rate 0.25 | dp-grad --on gradient --data people.dp --loss huberised-hinge --lambda 1e-3 --clip 1 |
        dp-noise --on gradient -z 4 | dp-linesearch --on search --data people.dp --epsilon 0.5 --tries 8 --clip 1 --first-step 8 |
        dp-account --epsilon 9 --delta 1e-6 --adaptive --ledger searches.ledger --allow-seeded | dp-step --on gradient --hold | dp-step --on search" > /dev/null
    run dp-account verify searches.ledger
    assert_output --regexp "^searches.ledger is intact: [0-9]+ lines, 4 runs, epsilon recomputed for 3$"
}

# Written just before frames and lines lost the members that said so.
@test "0.2: a run whose frames say that an accounting that is not sound has chosen its noise" {
    assert_equal "$(dp-info -g epsilon marked | cut -c 1-8)" 0.458938
    dp-account verify marked.ledger --certificate marked.certificate --model marked
    run dp-account report marked.ledger
    assert_line --regexp ' 2 +0.458939 +done'
    dp-loop -q --laps 1 --init marked -o new -- "dp-sample --data dense.dp --rate 0.25 | dp-grad --data dense.dp --loss hinge --clip 1 |
        dp-noise -z 4 | dp-account --epsilon 2 --delta 1e-6 --ledger marked.ledger --allow-seeded | dp-step --step 1" > /dev/null
    run dp-account verify marked.ledger
    assert_output "marked.ledger is intact: 6 lines, 2 runs, epsilon recomputed for 2"
    for gone in '"as_published":false' '"as_published":true' '"epsilon_sound":'; do
        run grep -cF "$gone" <(tail -n 3 marked.ledger; dp-cat --full new)
        assert_output 0
    done
    dp-account certify --ledger marked.ledger --model new > certificate
    run jq 'has("as_published")' certificate
    assert_output false
    jq '.as_published = true' certificate > longer # of an earlier version
    dp-account verify marked.ledger --certificate longer --model new
}

@test "0.2: a ledger" {
    run dp-account verify ledger
    assert_success
    assert_output "ledger is intact: 75 lines, 11 runs, epsilon recomputed for 11"
    run dp-account report ledger
    # the planned laps of the interrupted run are unknown: it is stated at one order
    for line in ' 4 +0.618717 +done' ' 4 +1.06071 +done' ' 2 +0.458939 +done' ' 3 +0.632543 +done' ' 3 +2.00001 +done' ' 3 +0.205789 +done' ' 3 +0.545504 +done' \
        ' 3 +1.92536 +done' ' 3 +1.51853 +done' ' 6 +1.90571 +budget' ' 2 +0.464172 +interrupted, counted at order 22' \
        '5.45851 at delta 1e-05 of a budget of 30, by 5 runs and 16 laps'; do
        assert_line --regexp "$line"
    done
    assert_equal "$(jq -r .kind ledger | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
        " 1 budget; 12 charge; 2 checkpoint; 12 close; 12 open; 36 reserve;"
    assert_equal "$(jq -c 'select(has("format")) | [.seq, .format]' ledger)" '[1,2]'
}

@test "0.2: runs go on with its ledger, its budget and its models" {
    dp-loop -q --laps 1 --init next -o new -- "dp-sample --data people.dp --rate 0.25 | dp-grad --data people.dp --loss hinge --clip 1 |
        dp-noise -z 4 | dp-account --epsilon 2 --delta 1e-6 --ledger ledger --allow-seeded | dp-step --step 1" > /dev/null
    run dp-account verify ledger
    assert_output "ledger is intact: 78 lines, 12 runs, epsilon recomputed for 12"
    assert_equal "$(jq -c 'select(has("format")) | [.seq, .format]' ledger)" "$(printf '[1,2]\n[76,3]')"
    head -n 75 ledger > copy && cp copy ledger
    run dp-account verify ledger
    assert_failure 5
    assert_output --partial "does not hold line 78"
}

@test "0.2: certificates" {
    for model in model next; do
        certificate=certificate
        [ $model = model ] || certificate=certificate-chain
        dp-account verify ledger --certificate $certificate --model $model
        jq '.epsilon = .epsilon / 2' $certificate > forged
        complains 5 "dp-account verify: the certificate is not what the ledger ledger says: 'epsilon' differs" \
            dp-account verify ledger --certificate forged --model $model
        # the lower bound may come from other accountants, but may not exceed the claim
        jq '.epsilon_lower = .epsilon / 2' $certificate > looser
        dp-account verify ledger --certificate looser --model $model
        jq '.epsilon_lower = .epsilon * 1.01' $certificate > forged
        complains 5 "dp-account verify: the certificate is not what the ledger ledger says: 'epsilon_lower' differs" \
            dp-account verify ledger --certificate forged --model $model
    done
    jq '.certificate = 2' certificate > later
    complains 1 "dp-account verify: the certificate is of format 2; 1 is the newest that this version knows" dp-account verify ledger --certificate later
}
