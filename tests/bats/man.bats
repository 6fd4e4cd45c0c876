# The manual as a reader sees it: rendered for 80 columns. The commands in EXAMPLES are pasted from there and run.
load helper
load environments

# Three renderings, without bold and underlining, blanks for tabs.
in_groff() { MANWIDTH=80 man -l --warnings "$1" 2> "${2:-/dev/null}" | col -bx; }
in_mandoc() { mandoc -T "$1" -O width=80 "$2" | col -bx; }

# examples: the displays in EXAMPLES of a rendered page on standard input. They begin after an empty line, further right than
# prose; displays that are not for a shell are indented like prose.
examples() { sed -n '/^EXAMPLES/,/^[A-DF-Z]/p' | displays; }
displays() {
    awk '
        /^$/ { blank = 1; next }
        /^ / { match($0, / */); if (!base) base = RLENGTH; if (RLENGTH == base) inside = 0; else if (blank) inside = 1; if (inside) print }
        { blank = 0 }'
}

# Versions of groff indent differently.
unindented() { awk 'NR == 1 { match($0, / */) } { print substr($0, RLENGTH + 1) }' "$@"; }

# python PAGE: its program in Python, from the rendered page
python_of() { in_mandoc ascii "$1" | sed -n '/^EXAMPLES/,/^SEE ALSO/p' | sed -n '/^ *import /,/^ *\(sys.exit("trunc\|print(spent\)/p' | sed 's/^     //'; }

@test "no page gives a warning, and no line is wider than 80 columns" {
    for page in "$ROOT"/man/*.[1357]; do
        name=$(basename "$page")
        in_groff "$page" warnings > groff
        [ ! -s warnings ] || fail "$name: $(cat warnings)"
        in_mandoc ascii "$page" > ascii
        in_mandoc utf8 "$page" > utf8
        for form in groff ascii utf8; do
            wide=$(grep -E '^.{81}' $form || true)
            [ -z "$wide" ] || fail "$name, $form: $wide"
        done
    done
}

@test "a page is whole in groff: every heading and every reference of the source" {
    for page in "$ROOT"/man/*.[1357]; do
        in_groff "$page" | tr -s ' \n' ' ' > groff
        in_mandoc utf8 "$page" | tr -s ' \n' ' ' > mandoc
        for form in groff mandoc; do
            while read -r title; do
                grep -qF -- "$title" $form || fail "$(basename "$page"), $form: '$title' is missing"
            done < <(sed -n 's/^\.Sh "*\([^"]*\)"*$/\1/p; s/^\.%D //p' "$page")
        done
    done
}

@test "the examples of all pages can be pasted from a terminal of 80 columns" {
    for page in "$ROOT"/man/*.[1357]; do
        name=$(basename "$page")
        in_groff "$page" | examples > pasted
        for form in ascii utf8; do
            in_mandoc $form "$page" | examples | unindented | diff <(unindented pasted) - > difference || fail "$name: groff and mandoc differ: $(cat difference)"
        done
        case $name in
            dp-*.1) [ -s pasted ] || fail "$name has no examples" ;;
        esac
        ! grep -q '^\.D[1l] ' <(sed -n '/^\.Sh EXAMPLES/,/^\.Sh/p' "$page") || fail "$name: .D1 or .Dl in EXAMPLES, which is wrapped"
        [ -s pasted ] || continue
        mkdir "$name"
        (cd "$name" && timeout 240 bash -eo pipefail ../pasted > out 2>&1) || fail "$name: $(tail -n 3 "$name/out")"
    done
}

@test "the tutorial, pasted from the rendered page, in the account that has run the README" {
    run_readme '\*\*Your own table'
    in_groff "$ROOT/man/dpline-tutorial.7" | sed -n '/^DESCRIPTION/,/^SEE ALSO/p' | displays > pasted
    in_mandoc utf8 "$ROOT/man/dpline-tutorial.7" | sed -n '/^DESCRIPTION/,/^SEE ALSO/p' | displays | unindented | diff <(unindented pasted) -
    mkdir hospital && cd hospital
    timeout 240 bash -eo pipefail ../pasted > out 2>&1 || fail "$(tail -n 3 out)"
    # what the page says of it
    assert_file_contains out '4800 rows, .* delta 1e-5, '
    assert_file_contains out '^refused$'
    assert_file_contains out 'with as many laps a run of --epsilon 0\.[5-9]'
    assert_regex "$(tail -n 1 out)" '^by all runs on these people: epsilon 1\.[0-9]* at delta 0.0001 of a budget of 1.2, by 2 runs and '
    # 0.163 more, deviation 0.003, and 0.753, deviation 0.001
    awk -F '\t' '/^lap\t/ { getline; exit !($3 > $4 + 0.05 && $5 > 0.7) }' out || fail "$(cat out)"
    assert_equal "$(wc -l < risk.csv)" 2001
    assert_equal "$(head -n 1 risk.csv)" patient_id,prediction,probability_no,probability_yes
    grep -q '</html>' report.html
}

@test "the programs in Python of dp-frame(5) and dp-ledger(5)" {
    small_data
    dp-loop --laps 3 -o model -- "dp-sample --data small.dp --rate 0.2 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 4 |
        dp-account --epsilon 5 --delta 1e-5 --ledger the.ledger | dp-step --step 1" > run
    python_of "$ROOT/man/dp-frame.5" > frames.py
    run /usr/bin/python3 frames.py < run
    assert_success
    assert_equal "$(echo "$output" | cut -d ' ' -f 1 | tr '\n' ' ')" "1 2 3 "
    python_of "$ROOT/man/dp-ledger.5" > ledger.py
    run /usr/bin/python3 ledger.py < the.ledger
    assert_success
    assert_output --regexp '^\{.*: 3\}$'
    sed 's/"laps":3/"laps":2/' the.ledger > edited.ledger
    run /usr/bin/python3 ledger.py < edited.ledger
    assert_failure
    assert_output --partial 'was edited'
}

# readme TEXT: the first block of shell after the line that begins with this text
readme() { sed -n "/^$1/,/^## /p" "$ROOT/README.md" | sed -n '/^```sh/,/^```$/{/^```sh/d; /^```$/q; p}'; }

# run_readme TEXT: runs that block in a copy of the tree that has what it names
run_readme() {
    mkdir -p copy/build && ln -s "$BUILD"/{bin,lib} copy/build && ln -s "$ROOT/pipelines" "$ROOT/examples" copy/
    readme "$1" > commands.sh
    (cd copy && timeout 120 bash -eo pipefail ../commands.sh > ../out 2>&1) || fail "$(cat out)"
}

# also_abroad FUNCTION: calls it here, and in a foreign environment
also_abroad() {
    (mkdir plain && cd plain && "$1")
    mkdir abroad && cd abroad && foreign
    export DPLINE_REGISTRY=$PWD/registry
    "$1"
}

tour() {
    run_readme '## A tour'
    cd copy/build/tour
    assert_equal "$(dp-info --get lap model)" 1000
    assert_equal "$(jq -r .status certificate.json)" done
    dp-account verify --certificate certificate.json --model model train.dp/ledger
}

@test "the README's tour, as printed, in any environment" {
    also_abroad tour
}

one_command() {
    run_readme '## One command'
    said=$(sed -n '/^## One command/,/^## /p' "$ROOT/README.md" | grep '^dpline fit: ')
    assert_equal "$(wc -l <<< "$said")" 3
    while read -r line; do grep -qxF -- "$line" out || fail "not this line: $line; but $(cat out)"; done <<< "$said"
    cd copy/build/people
    accuracy=$(dp-eval --data people-test.dp --metrics accuracy --last --in people.model | tail -n 1 | cut -f 3)
    # 0.8223, deviation 0.0022
    above "$accuracy" 0.8
    above 0.84 "$accuracy"
    assert_equal "$(wc -l < predictions.csv)" 3001
}

@test "the README's one command, as printed, and what it is said to give, in any environment" {
    also_abroad one_command
}

own_table() {
    run_readme '\*\*Your own table'
    grep -q 'the schema cost epsilon 0.1, delta 1e-06' out || fail "$(cat out)"
    assert_equal "$(head -n 1 copy/build/own/risk.csv)" patient_id,prediction
    assert_equal "$(wc -l < copy/build/own/risk.csv)" 2001
    grep -q readmitted copy/build/own/report.html
}

@test "the README's own table, as printed, in any environment" {
    also_abroad own_table
}
