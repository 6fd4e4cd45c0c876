# Loaded by tests of runs over sites: three of them, and a table with the rows of all.

# three_sites [CLASSES]: north.dp, east.dp and south.dp, from a table whose rows are all in all.dp, of two classes or three
three_sites() {
    local third=''
    [ "${1:-2}" = 2 ] || third=', "maybe"'
    cat > schema.json << END
{"columns": [{"name": "a", "type": "numeric", "bounds": [-1, 1]}, {"name": "b", "type": "numeric", "bounds": [-1, 1]},
 {"name": "c", "type": "numeric", "bounds": [-1, 1]}, {"name": "y", "type": "label", "classes": ["no", "yes"$third]}]}
END
    awk -v third="$third" 'BEGIN { srand(1)
        while (n++ < 900) {
            a = 2 * rand() - 1
            b = 2 * rand() - 1
            score = a - b + rand()
            print a "," b "," 2 * rand() - 1 "," (third != "" && score > 1.1 ? "maybe" : score > .5 ? "yes" : "no")
        } }' > table
    head -n 500 table | import north
    sed -n 501,800p table | import east
    tail -n 100 table | import south
    import all < table
}
import() { dp-import csv -q --schema schema.json --population "$1" -o "$1.dp" -; }

# begin PIPELINE OPTION…: at the three sites and the gate, in the background, with become MACHINE before each command; each
# machine's messages are in its file. AT_GATE and AT_SITE are the addresses.
begin() {
    local site shard=0
    RUNNING=()
    for site in north east south; do
        shard=$((shard + 1))
        begin_site $site $shard "$@"
    done
    become gate "$1" --workers 3 --at "$AT_GATE" --keys keys/gate --rows 900 --epsilon 2 "${@:2}" -o model > said.gate 2>&1 3>&- &
    RUNNING+=($!)
}
# begin_site SITE SHARD PIPELINE OPTION…
begin_site() {
    become "$1" "$3" --shard "$2/3" --data "$1.dp" --at "$AT_SITE" --keys "keys/$1" --rows 900 --epsilon 2 "${@:4}" > "said.$1" 2>&1 3>&- &
    RUNNING+=($!)
}
# done_all: waits for all of them, which must succeed
done_all() {
    local id
    for id in "${RUNNING[@]}"; do wait "$id" || fail "status $?: $(tail -n 3 said.*)"; done
}
# of_one_machine PIPELINE OPTION…: the model equals the model of one machine with all rows and the same stages, except for the
# names of its data
of_one_machine() {
    local text
    text=$("$1" --data all.dp --epsilon 2 "${@:2}" -q -o one --print |
        sed 's/^ *dp-noise *--multiplier \([^ ]*\) /dp-site-account --multiplier \1 --epsilon 2 --delta 1e-5 --allow-seeded |\n&/')
    bash -c "$text" > /dev/null
    dp-cat --last --full one | jq -S 'del(.data, .population)' > one.json
    dp-cat --last --full model | jq -S 'del(.data, .population)' | diff one.json - || fail "it is another one"
}
