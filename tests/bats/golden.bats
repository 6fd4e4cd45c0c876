# What earlier versions wrote is read, and means what it meant: tests/golden/VERSION has a small data set of each storage, a
# schema, models, a stream, a ledger (a budget; runs that ended, one that started from another's model, one that met the
# budget of its own) and a certificate, as the tools of that version wrote them. They are never made anew: a file format that
# changes gets files of the new version beside these.
load helper

prepare() {
    cp -r "$ROOT/tests/golden/0.1/." .
    chmod 600 ledger
}

@test "0.1: data sets" {
    for set in dense sparse; do
        run dp-info --verify $set.dp
        assert_success
    done
    assert_equal "$(dp-info -g digest dense.dp)" 4f2a12af49ec83f8f2b269d9166ecd3c
    assert_equal "$(dp-info -g digest sparse.dp)" 94f403bb3da9d5fff8a1e5ec3775e415
    run dp-loop -q --laps 2 --seed 1 -o new -- "dp-sample --data dense.dp --rate 0.5 | dp-grad --data dense.dp --loss logistic --clip 1 |
        dp-noise -z 2 | dp-account --epsilon 100 --delta 1e-5 --allow-seeded --ledger new.ledger | dp-step --step 1"
    assert_success
}

@test "a later version's data set: a new member is ignored, a new format refused" {
    jq '. + {later: 1}' dense.dp/dataset.json > later && cp later dense.dp/dataset.json
    run dp-info --verify dense.dp
    assert_success
    jq '.format = 2' later > dense.dp/dataset.json
    complains 1 "dp-info: dense.dp/dataset.json is of format 2; 1 is the newest that this version knows" dp-info dense.dp
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
    run dp-cmp model <(dp-cat --last --frames stream)
    assert_success
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
    for line in '^f6fa1c9c9214f08688dae1270b6a67e0 .* 3 +0.528905 +done' '^b3d26f853a2cc3ce008d98196761ff16 .* 4 +0.520942 +done' \
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
    # the first new line says of which format it and those after it are
    assert_equal "$(jq -c 'select(has("format")) | [.seq, .format]' ledger)" '[44,2]'
}

@test "0.1: a certificate" {
    run dp-account verify ledger --certificate certificate --model model
    assert_success
    sed 's/"epsilon": 0.52/"epsilon": 0.51/' certificate > forged
    complains 5 "dp-account verify: the certificate is not what the ledger ledger says: 'epsilon' differs" \
        dp-account verify ledger --certificate forged --model model
}
