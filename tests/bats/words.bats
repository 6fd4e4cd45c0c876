# Words of texts as columns: "type": "text" in a schema.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR"
    export DPLINE_REGISTRY=$PWD/registry
    awk 'BEGIN { print "said,age,happy"
        for (i = 0; i < 2000; i++) {
            good = i * 7919 % 2
            print "\"" (i % 9 == 0 ? "Well, " : "") (good ? "GREAT seat" : "late AGAIN") " number" i % 5 "\"," i % 60 "," good } }' > said.csv
    schema '{"name": "said", "type": "text", "columns": 64}'
}
# schema COLUMN: said.json
schema() {
    echo "{\"header\": true, \"columns\": [$1, {\"name\": \"age\", \"type\": \"numeric\", \"bounds\": [0, 60]},
        {\"name\": \"happy\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}" > said.json
}

@test "words of a text are sparse columns, and new rows get the same" {
    dp-import said.csv -s said.json -o said.dp 2> message
    grep -qx "dp-import: each row is scaled to norm 1 by itself, since column 'said' has no bounds; the last column is a bias" message
    assert_equal "$(dp-info --get storage said.dp) $(dp-info --get cols said.dp)" "csr 66"
    assert_equal "$(jq -c '.schema.columns[0]' said.dp/dataset.json)" '{"name":"said","type":"text","columns":64}'
    assert_equal "$(jq -r '.names[0, 63, 64]' said.dp/dataset.json)" "said word 1
said word 64
age"
    fit.sh said.dp --epsilon 4 --seed 1 -o said.model -q
    dp-eval --last --metrics accuracy --in said.model --data said.dp | awk 'NR == 2 { exit !($3 > 0.95) }'
    dp-predict said.model said.csv > from-table
    dp-predict said.model said.dp > from-data
    cmp from-table from-data
    dp-import said.csv -q -s said.json --storage dense -o dense.dp
    dp-predict said.model dense.dp > from-dense
    cmp from-table from-dense
    # case does not matter, and a missing text has no words
    sed 's/GREAT/gReaT/; s/AGAIN/again/' said.csv > small.csv
    dp-predict said.model small.csv | cmp - from-table
    printf 'said,age\n,60\n' > none.csv
    dp-predict said.model none.csv > from-none
    complains 1 "dp-export: said.model has words of a text, and only models of single values can be written" dp-export --to c said.model
}

@test "dpline fit takes a table with a text" {
    fit.sh said.csv --epsilon 4 -q
    assert_equal "$(dp-info --get storage said.dp) $([ -e said.model ] && echo made)" "csr made"
}

@test "a text that is none, and columns that are too many" {
    for bad in 0 1000001 1.5 '"many"'; do
        schema "{\"name\": \"said\", \"type\": \"text\", \"columns\": $bad}"
        complains 1 "dp-import: said.json: column 'said': the \"columns\" of a text are a whole number from 1 to 1000000" \
            dp-import said.csv -s said.json -o said.dp
    done
    schema '{"name": "said", "type": "numeric", "bounds": [0, 1], "columns": 64}'
    complains 1 "dp-import: said.json: column 'said': \"columns\" are for a text" dp-import said.csv -s said.json -o said.dp
    schema '{"name": "said", "type": "text", "basis": "hats"}'
    complains 1 "dp-import: said.json: column 'said': a \"basis\" is for numeric columns" dp-import said.csv -s said.json -o said.dp
    schema '{"name": "said", "type": "text", "fill": 3}'
    complains 1 "dp-import: said.json: column 'said': \"fill\" does not fit its type" dp-import said.csv -s said.json -o said.dp
    schema '{"name": "said", "type": "text"}'
    complains 2 "dp-import: --row-norm bounds: column 'said' has no bounds" dp-import said.csv -s said.json --row-norm bounds -o said.dp
    # a proposal leaves a text out, and says so
    awk 'BEGIN { print "said,happy"; for (i = 0; i < 3000; i++) print "text number " i "," i % 2 }' > long.csv
    dp-import long.csv --infer-schema long.json 2> message
    grep -qx "dp-import: column 'said' is left out: it is not numeric and has 1000 different texts or more (\"type\": \"text\" takes its words)" message
}
