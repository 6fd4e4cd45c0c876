# dpline federated-fit: three sites make the model of one machine, and each pays in its own ledger.
load helper
load sites

prepare() { mkdir -m 700 meet; }
teardown() {
    local id
    for id in "${RUNNING[@]}"; do kill "$id" 2> /dev/null || true; done
}

# together DIRECTORY ROWS COLS OPTION…: north, east and south of the directory, and the gate
together() {
    local site shard=0 dir=$1 rows=$2 cols=$3
    shift 3
    RUNNING=()
    for site in north east south; do
        shard=$((shard + 1))
        timeout 600 federated-fit.sh --shard $shard/3 --data "$dir/$site.dp" --at ipc://meet/gate --rows "$rows" "${@/#--classes=*/--exec=auto}" > said.$site 2>&1 3>&- &
        RUNNING+=($!)
    done
    set -- "${@/#--budget=*/--exec=auto}" # for sites only
    timeout 600 federated-fit.sh --workers 3 --cols "$cols" --at ipc://meet/gate --rows "$rows" "$@" --ledger gate.ledger -o model > said.gate 2>&1 3>&- &
    RUNNING+=($!)
    done_all
}

# as_one DATA ROWS COLS OPTION…: the model equals the model of one machine with all rows and the same stages
as_one() {
    local text promise
    promise=$(federated-fit.sh --shard 1/3 --data "$1" --at ipc://meet/gate --rows "$2" "${@:4}" --print -q | grep dp-site-account | tr -d "'")
    text=$(dpline fit "$1" "${@:4}" --no-ledger -q -o one --print)
    text=$(awk -v promise="$promise --no-ledger |" '/dp-noise/ && !n++ { print promise } { print }' <<< "$text")
    bash -c "$text" > /dev/null
    dp-cat --last --full one | jq -S 'del(.data, .population, .ledger, .untracked)' > one.json
    dp-cat --last --full model | jq -S 'del(.data, .population, .ledger, .untracked)' | diff one.json - || fail "it is another one"
}

@test "three sites make the model of one machine, with and without a transform" {
    three_sites
    together . 900 4 --epsilon 2 --seed 1
    as_one all.dp 900 4 --epsilon 2 --seed 1
    assert_equal "$(dp-info --get laps model)" 129
    together . 900 4 --epsilon 0.06 --adjacency replace-one --seed 2
    as_one all.dp 900 4 --epsilon 0.06 --adjacency replace-one --seed 2
    assert_equal "$(dp-info --get laps model)" 64
}

@test "three classes, whose temperature has laps of its own, with and without a transform" {
    three_sites 3
    for epsilon in 2 0.3; do
        together . 900 4 --classes=3 --epsilon $epsilon --seed 1
        as_one all.dp 900 4 --epsilon $epsilon --seed 1
    done
    together . 900 4 --classes=3 --epsilon 1.5 --delta 1e-4 --budget=4
    assert_regex "$(cat said.gate)" 'epsilon 1\.(5|49999[0-9]*), delta 0\.0001; '
    for site in north east south; do
        dp-account report --json $site.dp | jq -e '[.runs[] | .epsilon <= 1.5 and .epsilon > 1.49] == [true]' || fail "$(dp-account report $site.dp)"
    done
}

@test "each site pays for both kinds of laps in its own ledger, no more than epsilon" {
    three_sites
    for noise in --partial --distributed-noise; do
        together . 900 4 --epsilon 1.5 --delta 1e-4 --budget=4 $noise
        assert_regex "$(cat said.gate)" 'epsilon 1\.(5|49999[0-9]*), delta 0\.0001; '
    done
    for site in north east south; do
        dp-account report --json $site.dp | jq -e '[.runs[] | .epsilon <= 1.5 and .epsilon > 1.49 and .laps == 129] == [true, true]' ||
            fail "$(dp-account report $site.dp)"
    done
}

@test "with --colluding the shares of each site's noise are so large that the others may know theirs" {
    three_sites
    for colluding in 0 1 2; do
        together . 900 4 --epsilon 2 --seed 1 --distributed-noise --colluding $colluding
        dp-cat --last model | jq -e ".records | length == 1 and all(.[]; .shares == 3 and .colluding == $colluding and .gathered == 3)"
        # each noise of a lap, the moments' too
        federated-fit.sh --shard 1/3 --data north.dp --at ipc://meet/gate --rows 900 --epsilon 2 --distributed-noise --colluding $colluding --print -q > print
        assert_equal "$(grep -c '^ *dp-noise ' print)" 2
        assert_equal "$(grep -c "^ *dp-noise .* --share --colluding $colluding " print)" 2
    done
}

# divided: the three sites, each of which has held out two fifths of its rows
divided() {
    three_sites
    local site first=1 rows
    for site in north:500 east:300 south:100; do
        rows=${site#*:} site=${site%:*}
        sed -n "$first,$((first + rows - 1))p" table | dp-import csv -q --schema schema.json --population $site --split .6 --seed 1 -f -o $site.dp --test $site-test.dp -
        first=$((first + rows))
    done
}
@test "data sets with held-out rows take part as others do" {
    divided
    together . 540 4 --epsilon 2 --seed 1
    assert_equal "$(dp-info --get n model)" 540
}

# each_site ROWS OPTION…: the gate, and the sites, whose words have NAME in the place of @; south has too few rows for --own
each_site() {
    local site shard=0 rows=$1
    shift
    RUNNING=()
    for site in north east south; do
        shard=$((shard + 1))
        [ $site != south ] || set -- "${@/#--own/--exec=auto}"
        timeout 300 federated-fit.sh --shard $shard/3 --data $site.dp --at ipc://meet/gate --rows "$rows" --epsilon 1 --delta 1e-4 "${@//@/$site}" > said.$site 2>&1 3>&- &
        RUNNING+=($!)
    done
    timeout 300 federated-fit.sh --workers 3 --cols 4 --at ipc://meet/gate --rows "$rows" --epsilon 1 --delta 1e-4 --ledger gate.ledger --to-sites -o model --timeout "${GATE_WAITS:-60}" > said.gate 2>&1 3>&- &
    RUNNING+=($!)
    done_all
}

@test "sites whose data sets have held-out rows get the model, and measure what together was worth" {
    divided
    each_site 540 --to-sites -o @.model --budget 14 --test @-test.dp --pay 10 --own
    for site in north east south; do
        cmp model $site.model
        run cat said.$site
        assert_line "federated-fit.sh: the model is in $site.model"
        assert_line "federated-fit.sh: on held-out rows, for epsilon 10 of their people; each interval holds for the noise in 95 % of all cases:"
        rows=$(dp-info --get rows $site-test.dp)
        models=2
        [ $site != south ] || models=1
        for model in '' .own; do
            [ -e $site.model$model ] || [ $site != south ] || continue
            exact=$(dp-eval --data $site-test.dp --last -m accuracy,majority --private-data $site.model$model | tail -n 1 | cut -f 3,4)
            if [ -z $model ]; then said=$(grep 'model of all sites' said.$site); else said=$(grep 'model of these rows' said.$site); fi
            # two draws of scale 1/5 in the sum of two counts: 5 rows are below 1e-9
            /usr/bin/python3 -c "import sys; exact, said = float('${exact%	*}'), float('$said'.split(':', 1)[1].split('(')[0].split()[-1])
assert abs(exact - said) <= min(1, 5 / $rows), (exact, said)"
        done
        # the held-out rows pay for two measures, and the others for two models
        dp-account report --json $site.dp | jq -e '[.runs[] | select(.laps == 1) | .epsilon] | length == '$models' and add <= 10 and add > 9.9' || fail "$(dp-account report $site.dp)"
        dp-account report --json $site.dp | jq -e '[.runs[] | select(.laps > 1) | .epsilon] | length == '$models' and all(. <= 1 and . > 0.99)'
    done
}

@test "a site that does not come for the model, and one that does not pay for more than the model of all" {
    divided
    GATE_WAITS=2 each_site 540 --budget 4
    grep -q '^federated-fit.sh: warning: 0 of 3 sites have the model' said.gate
    each_site 540 --to-sites -o @.model --test @-test.dp --pay 0.5
    for site in north east south; do
        assert_equal "$(grep -c 'accuracy of the model of all\|most frequent class\|these rows' said.$site)" 2
        [ ! -e $site.model.own ]
        dp-account report --json $site.dp | jq -e '[.runs[] | select(.laps == 1) | .epsilon] | length == 1 and add <= 0.5 and add > 0.49'
    done
}

@test "a site whose gate gives no model says so" {
    small_data 300
    cat > dp-worker << 'END'
#!/bin/sh
exit 0
END
    chmod +x dp-worker
    PATH=$PWD:$PATH run -1 federated-fit.sh --shard 1/3 --data small.dp --rows 900 --at ipc://meet/gate --timeout 1 --to-sites -o m --seed 1
    assert_line --index 1 "federated-fit.sh: the model did not come (the gate needs --to-sites, too): no answer"
    [ ! -e m ]
}

@test "a gate that adds less noise to moments, or to gradients, than was promised gets no sum through" {
    three_sites
    gate() {
        dp-loop --plan 'moments 1, gradient 2' --seed 1 -q -- "
            dp-gather --workers 2 --local 'sh -c \"case %k in 1) site=north ;; 2) site=east ;; esac
                dp-sample --data \\\$site.dp --mode full | dp-moments --on moments --data \\\$site.dp |
                dp-grad --on gradient --data \\\$site.dp --loss logistic --clip 0.5 |
                dp-site-account --multiplier 30 --moments-multiplier 9 --epsilon 1 --delta 1e-4 --no-ledger --allow-seeded\"' |
            dp-noise --on moments --multiplier $1 | dp-noise --on gradient --multiplier $2 |
            dp-account --epsilon 5 --delta 1e-4 --no-ledger --allow-seeded | dp-transform --on moments | dp-step --on gradient --step 1"
    }
    gate 9 30 > /dev/null
    for less in '8.9 30' '9 29'; do
        run gate $less
        assert_failure 5
        assert_output --regexp 'dp-account: .*promised'
    done
}

@test "missing and bad options" {
    small_data 300
    gate="--workers 3 --rows 900 --at tcp://127.0.0.1:5" site="--shard 2/3 --rows 900 --at tcp://127.0.0.1:5"
    {
        complains 2 "federated-fit.sh: --cols is required: the columns of each site's data set, as dp-info --get cols DATA prints them" federated-fit.sh $gate --no-ledger
    complains 2 "federated-fit.sh: --ledger is required: the gate has no data set with a ledger, and without one the sites would pay for nothing (--no-ledger goes without)" federated-fit.sh $gate --cols 5
        complains 2 "federated-fit.sh: --cols is the gate's" federated-fit.sh $site --data small.dp --cols 7
        dp-synth regression --rows 300 -q -o number.dp
        complains 2 'federated-fit.sh: federated-fit.sh trains classifiers: noise for a number follows a schedule, which no site can be promised' \
            federated-fit.sh $site --data number.dp
    }
    divided
    sed -n 1,500p table | dp-import csv -q --schema schema.json --population north --split .5 --seed 2 -o again.dp --test again-test.dp -
    site="--shard 1/3 --rows 540 --at ipc://meet/gate --data north.dp" both="--to-sites -o m"
    {
        complains 1 "dp-fit: 60 rows are too few to hide one of them: for 2 classes there must be 100" \
            federated-fit.sh ${site/north/south} $both --test south-test.dp --pay 1 --own
        complains 2 "federated-fit.sh: -o is the gate's" federated-fit.sh $site -o m
        complains 2 "federated-fit.sh: --to-sites needs -o" federated-fit.sh $site --to-sites
        complains 2 "federated-fit.sh: --test needs --to-sites: it measures the model" federated-fit.sh $site --test north-test.dp --pay 1
        complains 2 "federated-fit.sh: --test needs --pay: epsilon of the people of north-test.dp" federated-fit.sh $site $both --test north-test.dp
        complains 2 "federated-fit.sh: --pay needs --test" federated-fit.sh $site $both --pay 1
        complains 2 "federated-fit.sh: --own needs --test" federated-fit.sh $site $both --own
        complains 2 "federated-fit.sh: --own is a site's" federated-fit.sh $gate --cols 4 --no-ledger --own
        complains 2 "federated-fit.sh: --test: north.dp was not held out (dp-import --split --test)" federated-fit.sh $site $both --test north.dp --pay 1
        for other in east-test.dp again-test.dp; do
            complains 2 "federated-fit.sh: --test: $other was not held out of north.dp, so its people may have trained the model" \
                federated-fit.sh $site $both --test $other --pay 1
        done
    }
    complains 2 'dp-fit: expected one data set, or --rows and --cols of one elsewhere' dp-fit --rows 5
    complains 2 'dp-fit: --cols needs --rows' dp-fit --cols 5 small.dp
    complains 2 'dp-fit: --cols is for data elsewhere' dp-fit --rows 5 --cols 5 small.dp
    # the facts of a data set, told instead of read
    diff <(dp-fit --rows 300 --cols 7 --epsilon 8 | sed 1d) <(dp-fit small.dp --epsilon 8 | sed '1d; s| --data [^ ]*||; s| --intercept 0.5| --intercept 0|')
}

@test "Adult in three sites" {
    need_data adult adult.data.gz
    for site in north:Private east:-gov south:Self-emp; do
        gzip -dc "$DATA_FILE" | awk -F ', *' -v class="${site#*:}" 'NF > 2 && $2 ~ class' > "${site%:*}.csv"
    done
    cat north.csv east.csv south.csv > all.csv
    for name in north east south all; do
        dp-import csv -q --schema "$ROOT/examples/private-erm/schema-ADULT.json" --population $name -o $name.dp $name.csv
    done
    rows=$(dp-info --get rows all.dp) cols=$(dp-info --get cols all.dp)
    together . "$rows" "$cols" --epsilon 1 --seed 1
    as_one all.dp "$rows" "$cols" --epsilon 1 --seed 1
}
