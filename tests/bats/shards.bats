# Pipelines that each have a part of the rows.
load helper
load variants

prepare() { dp-synth classification --rows 60 --cols 4 --seed 2 -o small.dp -q; }

@test "dp-sample --shard: what is no part" {
    for text in 3 /2 1/ a/2 1/b 1/2/3 '' 1.5/2 99999999999999999999999/2; do
        complains 2 "dp-sample: --shard: '$text' is not K/N" dp-sample --data small.dp --shard "$text"
    done
    for text in 0/2 3/2 -1/2 1/1025 0/0; do
        complains 2 "dp-sample: --shard: $text, but K is from 1 to N, and N at most 1024" dp-sample --data small.dp --shard "$text"
    done
}

@test "dp-sample --shard: disjoint parts whose records count all rows" {
    dp-loop --laps 1 --seed 1 --exec processes -- 'tee token | dp-sample --data small.dp --rate 0.5 | tee all |
        dp-grad --data small.dp --loss logistic --non-private | dp-account --non-private --allow-seeded | dp-step --step 1' > /dev/null
    for of in 1 2 7 60 100; do
        rm -f parts
        for k in $(seq "$of"); do
            dp-sample --data small.dp --rate 0.5 --shard "$k/$of" < token | dp-cat --full --kind lap --allow-private-output >> parts
        done
        assert_equal "$(jq -c '[.n, .records[0].rows, .records[0].rate]' parts | uniq -c | xargs)" "$of [60,60,0.5]"
        dp-cat --full --kind lap --allow-private-output all | jq -c '.rows.values[]' | cmp - <(jq -c '.rows.values[]' parts)
    done
}

@test "what a pipeline with a part of the rows bounds keeps to its sensitivity" {
    for shard in '--rate 0.2 --shard 1/2' '--rate 0.2 --shard 2/2' '--mode full --shard 2/3'; do
        run "$BUILD/audit/dp-audit" sensitivity --data small.dp --seed 1 --rows 8 -- \
            "dp-sample --data {} $shard | dp-scd-step --data {} --loss logistic --lambda 1e-2 --clip 0.003"
        assert_success
        assert_output --regexp '^worst ratio (0\.99[0-9]*|1) of the declared'
    done
}

@test "a checkpoint is of the part that the pipeline had then" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] == 3 and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    printf '#!/bin/sh\nexec dp-sample --data small.dp --rate 0.2 $(cat part)\n' > sample
    chmod +x sample
    child='./sample | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 4 |
        dp-account --epsilon 1000 --delta 1e-5 --allow-seeded | dp-step --step 1 | ./stop'
    echo '--shard 2/3' > part
    run dp-loop --laps 5 --seed 1 -q --checkpoint kept --checkpoint-every 1 -o model -- "$child"
    assert_failure 1
    for other in '' '--shard 1/3' '--shard 2/4' '--shard 3/4'; do
        echo "$other" > part
        complains 1 "dp-sample: --shard: the checkpoint is of another part of small.dp" dp-loop --laps 5 --seed 1 -q --resume kept -o model -- "$child"
    done
    echo '--shard 2/3' > part
    dp-loop --laps 5 --seed 1 -q --resume kept -o model -- "$child" > /dev/null
    assert_equal "$(dp-info -g lap model)" 5
}

# --- dp-gather --local: the bytes of one machine with all rows

# table ROWS KIND: all.csv and its schema; KIND: two or four classes, or real labels
table() {
    awk -v rows="$1" -v kind="$2" 'BEGIN {
        srand(7)
        for (i = 0; i < rows; i++) {
            s = 0
            for (j = 1; j <= 5; j++) { x = 2 * rand() - 1; s += j * x; printf "%.6f,", x }
            if (kind == "real") printf "%.6f\n", s / 15
            else print "c" (s < -2 ? 0 : s < 0 ? (kind == "two" ? 0 : 1) : s < 2 || kind == "two" ? (kind == "two" ? 1 : 2) : 3)
        }
    }' > all.csv
    local label='{"name": "y", "type": "label", "classes": ["c0", "c1"]}'
    [ "$2" != four ] || label='{"name": "y", "type": "label", "classes": ["c0", "c1", "c2", "c3"]}'
    [ "$2" != real ] || label='{"name": "y", "type": "label", "bounds": [-1, 1]}'
    for name in a b c d e; do printf '{"name": "%s", "type": "numeric", "bounds": [-1, 1]}, ' $name; done > columns
    printf '{"header": false, "columns": [%s%s]}' "$(cat columns)" "$label" > schema.json
    import all.csv whole.dp
}
import() {
    local whose=people
    [ "$1" != odd.csv ] || whose=others
    dp-import csv "$1" --schema schema.json --population $whose -o "$2" -q -f ${3:-$BY_PERSON}
}
BY_PERSON=

# by_person: the same table, whose rows belong to persons with 1, 2, 3, 1, 2, 3 … rows
by_person() {
    BY_PERSON='--rows-per-person 3'
    awk '{ place = (NR - 1) % 6; print "p" 3 * int((NR - 1) / 6) + (place > 0) + (place > 2) "," $0 }' all.csv > persons.csv
    mv persons.csv all.csv
    sed -i 's/"columns": \[/&{"name": "id", "type": "person"}, /' schema.json
    import all.csv whole.dp
}

# sites ROWS…: a data set for each number, site-1.dp with the first ROWS rows, and so on; together they have all rows
sites() {
    local from=1 k=0 rows
    for rows; do
        k=$((k + 1))
        sed -n "$from,$((from + rows - 1))p" all.csv > part.csv
        import part.csv site-$k.dp
        from=$((from + rows))
    done
    [ $from = "$(($(wc -l < all.csv) + 1))" ] || fail "$from rows"
}

# alike STREAM STREAM: equal except for the names of their data
alike() {
    cmp <(dp-cat --full "$1" | jq -c 'del(.data, .population)') <(dp-cat --full "$2" | jq -c 'del(.data, .population)')
}

# same VARIANT LOSS: with parts of one data set, and with separate data sets
same() {
    in_parts whole.dp "$2" "$1"
    sites 600
    train part processes "$(gathered 1 fused site-%k.dp "$text")"
    alike one.stream part.stream || fail "$1, $2, one site"
    if [ -z "$BY_PERSON" ]; then sites 1 300 2 297; else sites 6 300 12 282; fi
    train part processes "$(gathered 4 processes site-%k.dp "$text")"
    alike one.stream part.stream || fail "$1, $2, four sites, processes"
    train part fused "$(gathered 4 fused site-%k.dp "$text")"
    alike one.stream part.stream || fail "$1, $2, four sites, fused"
    assert_equal "$(dp-info -g population part)" people
    [ "$(dp-info -g data part)" != "$(dp-info -g data one)" ]
}

@test "as on one machine: coordinate descent, released dual variables, two classes" {
    table 600 two
    same parallel hinge
    same release logistic
}

@test "as on one machine: coordinate descent of four classes, clipped by a stage of its own" {
    table 600 four
    same clip squared
}

@test "as on one machine: coordinate descent of a regression, rows inline" {
    table 600 real
    same inline huber
}

@test "as on one machine: gradients, and a bound that adapts" {
    table 600 four
    same gradient-adam softmax
    same gradient-adaptive logistic
}

@test "as on one machine: moments, and gradients behind the transform that is made of them" {
    table 600 two
    same behind logistic
    same behind-clip logistic
    same tempered logistic
}

@test "as on one machine: persons with several rows" {
    table 600 four
    by_person
    assert_equal "$(dp-info --get persons whole.dp)" 300
    same gradient softmax
    same gradient-adaptive logistic
    same behind logistic
    same tempered softmax
}

# disagrees MESSAGE [LEFT]: the message of a run of whole.dp and odd.dp
disagrees() {
    cp -r whole.dp site-1.dp
    rm -rf site-2.dp
    mv odd.dp site-2.dp
    complains 5 "dp-gather: $1" dp-loop --laps 2 --seed 1 -o m -- "dp-gather --workers 2 --local '
        dp-sample --data site-%k.dp ${2:---rate 0.1} | dp-grad --data site-%k.dp --loss ${LOSS:-logistic} --clip 1' | dp-noise -z 4 |
        dp-account --epsilon 1000 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1"
    assert_not_exists m
    rm -rf site-1.dp
}

@test "sites that do not fit each other are refused, with what differs" {
    table 60 two
    tac all.csv > odd.csv
    jq '.columns[5].classes = ["c1", "c0"]' schema.json > other && mv schema.json first && mv other schema.json
    import odd.csv odd.dp
    disagrees "shards 1 and 2 differ in 'labels': '[\"c0\",\"c1\"]' and '[\"c1\",\"c0\"]'"
    jq '.columns[5].classes = ["c0", "c1", "c2"]' first > schema.json
    import odd.csv odd.dp
    disagrees "shards 1 and 2 differ in 'classes': 2 and 3"
    jq '.columns[1].type = "ignore"' first > schema.json
    import odd.csv odd.dp
    disagrees "shards 1 and 2 differ in 'row_norm': 'divided by 2.44949033, bias' and 'divided by 2.23606851, bias'"
    import odd.csv odd.dp '--row-norm unit'
    import all.csv whole.dp '--row-norm cap'
    disagrees "shards 1 and 2 differ in 'row_norm': 'cap, bias' and 'unit, bias'"
    import odd.csv odd.dp '--row-norm unit'
    cp first schema.json
    import all.csv whole.dp '--row-norm unit'
    disagrees "shards 1 and 2 were imported by different schemas"
    jq '.columns[1] = {name: "b", type: "numeric", scale: "max-abs"}' first > schema.json
    import odd.csv odd.dp
    disagrees "shards 1 and 2 differ in 'private_preprocessing': '' and 'max-abs'"
    import odd.csv odd.dp '--row-norm unit'
    import all.csv whole.dp '--row-norm unit'
    disagrees "shard 1 has divided a column by its own largest magnitude (max-abs): the column means something else at another site, and needs public bounds"
    cp first schema.json
    import all.csv rows.dp
    by_person
    mv whole.dp odd.dp && mv rows.dp whole.dp
    disagrees "shards 1 and 2 differ in 'unit': nothing and 'person:3'"
}

@test "labels of a regression that are scaled otherwise, the same people twice, and pipelines that differ" {
    table 60 real
    tac all.csv > odd.csv
    cp schema.json first
    jq '.columns[5].bounds = [-2, 2]' first > schema.json
    import odd.csv odd.dp
    LOSS=huber disagrees "shards 1 and 2 differ in 'label_scale': 1 and 2"
    cp -r whole.dp odd.dp
    LOSS=huber disagrees "shards 1 and 2 have the same data set, whose people would count twice (dp-sample --shard divides one)"
    cp first schema.json
    import odd.csv odd.dp
    LOSS=huber disagrees "shards 1 and 2 differ in 'rate' of a record" '--rate 0.%k'
    import odd.csv odd.dp
    LOSS=huber disagrees "shards 1 and 2 are of different kinds: one has a part of a data set, the other a whole data set" \
        '$([ %k = 1 ] || echo --shard 2/2)'
}

# out_of_place SAID LEFT
out_of_place() {
    complains 2 "$1 needs all rows at once: it has no place in a shard" dp-loop --laps 2 --seed 1 -o m -- "
        dp-gather --workers 2 --exec fused --local '$2' | dp-noise -z 4 | dp-account --epsilon 1000 --delta 1e-5 --no-ledger --allow-seeded |
        dp-step --step 1"
}

@test "what needs all rows at once has no place in a worker" {
    out_of_place 'dp-sample: --mode fixed, shuffle or cyclic' \
        'dp-sample --data small.dp --mode shuffle --rate 0.1 | dp-grad --data small.dp --loss logistic --clip 1'
    out_of_place dp-erm: 'dp-sample --data small.dp --mode full |
        dp-erm --data small.dp --loss logistic --lambda 1e-2 --method descent --iterations 5'
    out_of_place 'dp-grad: --non-private' \
        'dp-sample --data small.dp --rate 0.1 | dp-grad --data small.dp --loss logistic --non-private'
    out_of_place 'dp-scd-step: this --variant' \
        'dp-sample --data small.dp --rate 0.1 | dp-scd-step --data small.dp --loss hinge --lambda 1e-2 --variant sequential --clip 1'
    out_of_place dp-account: 'dp-sample --data small.dp --rate 0.1 | dp-grad --data small.dp --loss logistic --clip 1 |
        dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5'
}
