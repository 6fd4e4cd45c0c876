#!/usr/bin/env bats
# The page of dp-account report: what it says, and that it loads nothing and shows what was asked for.
load helper

prepare() {
    export DPLINE_REGISTRY=$PWD/registry SOURCE_DATE_EPOCH=1000000000
    awk 'BEGIN { srand(7); print "age,<b>smoker</b>,ill"; for (i = 0; i < 3000; i++) { a = int(18 + 70 * rand()); s = rand() < .3
        printf "%d,%s,%s\n", a, s ? "yes" : "no", (a / 88 + .4 * s + .5 * rand() > 1) ? "yes" : "no" } }' > patients.csv
    cat > schema.json << 'END'
{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [18, 88]},
  {"name": "<b>smoker</b>", "type": "categorical", "categories": ["no", "yes"]},
  {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}
END
    dp-import csv -s schema.json --split .7 -q -o p.dp -t q.dp patients.csv
}

fits() { dpline fit p.dp --epsilon 1 --delta 1e-5 -q -o model > /dev/null; }
# words FILE: the text of a page, whose tags must be closed and which must not load anything
words() {
    /usr/bin/python3 - "$1" << 'END'
import html.parser, sys
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], []
    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe"), tag
        assert not any("http" in (value or "") for name, value in attributes), attributes
        if tag not in ("meta", "rect", "line", "circle", "polyline"):
            self.open.append(tag)
    def handle_endtag(self, tag):
        if tag not in ("rect", "line", "circle", "polyline"):
            assert self.open.pop() == tag, tag
        self.text.append(" " if tag in ("td", "th", "p", "text", "h2") else "")
    def handle_data(self, data):
        self.text.append(data)
page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
assert "url(" not in text and "@import" not in text
page.feed(text)
assert page.open == [], page.open
print(" ".join("".join(page.text).split()))
END
}

@test "the page says whose rows, what it costs, what that means, how good the model is and how to check it" {
    dp-account budget --epsilon 3 --delta 1e-5 p.dp > /dev/null
    fits
    dp-account report p.dp --model model --test q.dp -o page.html > said
    assert_equal "$(cat said)" ''
    words page.html > text
    for sentence in 'ε = 1 at δ = 1e-05' 'The people of patients.csv: 2100 rows.' 'One row is taken for one person.' 'a model that predicts ill. Made on 2001-09-09 by dpline' \
        'The model predicts ill: one of no, yes.' 'No column of the table is left out. The names of all columns are taken to be public.' \
        'trust model central: the operator of the machines with the rows sees them the name of the operator' \
        '5 % 8.43 %' 'From even odds, a guess is right at most 55.4 % of the time.' 'μ (mu) = 0.2681:' '(at the same δ if none is named)' 'of a budget of 3.' 'Measured on 900 rows' \
        "accuracy $(dp-eval --data q.dp --last --metrics accuracy --in model -f json | jq .accuracy | xargs printf '%.4g')" \
        'The file has only the last model of the run, so measures along the run are not shown.' \
        '<b>smoker</b>=yes' 'dp-account verify p.dp/ledger' 'The ledger has the digest of this model.'; do
        grep -qF -- "$sentence" text || fail "missing: $sentence
$(cat text)"
    done
    assert_equal "$(grep -c '<svg' page.html)" 5
    dp-account certify --ledger p.dp/ledger --model model | jq -e '.mu >= 0.268 and .mu < 0.2682 and .mu_delta == 0 and (.curve | length) > 9' > /dev/null
    # the coefficients are those of dp-info
    for name in age '<b>smoker</b>=yes'; do
        grep -qF "$name $(dp-info -c --tsv model | awk -F '\t' -v n="$name" '$2 == n { printf "%.4g %.4g", $3, $4 }')" text || fail "$name: $(cat text)"
    done
    # the commands that the page prints
    grep -o '<code>dp-account [^<]*' page.html | sed 's/<code>//' > commands
    assert_equal "$(wc -l < commands)" 2
    while read -r command; do run bash -c "$command"; assert_success; done < commands
}

@test "the page as text says the same, in 78 columns" {
    dp-account budget --epsilon 3 --delta 1e-5 p.dp > /dev/null
    fits
    dp-account report p.dp --model model --test q.dp -o page.html
    dp-account report p.dp --model model --test q.dp --text > text
    run grep -E '^.{79}|<(p|t|d|s|/[^b])|&[a-z]+;| $' text
    assert_output ''
    grep -qE '^  <b>smoker</b>=yes  +-?[0-9.]+  +[0-9.]+$' text
    # the same words, but for the drawings and the sentence about them
    words page.html | sed 's/ eε / e^ε /' | tr -s ' ' '\n' > one
    # (of a table that is too wide, a row is "- first cell: second | third")
    sed -E 's/^(  - (layer|privacy loss|unit of privacy|trust model|side channels|data collection)):/\1/' text | tr -s ' \n' '\n\n' | grep -vx '[-|]' > two
    added=$(diff one two | sed -n 's/^> //p' || true)
    assert_equal "$added" ''
}

@test "a budget that counts more than the runs state says so on the page" {
    dp-account budget --epsilon 3 --delta 1e-5 p.dp > /dev/null
    fits
    dp-account report p.dp -o page.html
    words page.html > text
    grep -q 'Added up, the runs state ε = 1 at δ = 1e-05.' text
    counted=$(dp-account report --json p.dp | jq '.populations[0].epsilon')
    together=$(sed 's/.*Together: ε = \([0-9.]*\) .*/\1/' text)
    /usr/bin/python3 -c "import sys; a, b = map(float, sys.argv[1:]); sys.exit(not b <= a <= b * 1.001)" "$together" "$counted"
}

@test "several runs without a budget: the page adds them up" {
    fits
    fits
    dp-account report p.dp -o page.html
    words page.html > text
    grep -q 'Together: ε = 2 at δ = 2e-05. There is no budget' text || fail "$(cat text)"
    # the headline, and what an attacker can learn, hold if somebody looked between the runs
    grep -q 'ε = 2 at δ = 2e-05 This is what all runs below have cost each person' text || fail "$(cat text)"
    grep -q 'If all of them were planned before the first: ε = 1' text || fail "$(cat text)"
    grep -q 'guess is right at most 88.1 %' text || fail "$(cat text)"
}

@test "the page says that runs in other ledgers are apart" {
    dp-account charge p.dp --adjacency null-record --what survey --stated 0.5 > /dev/null
    for what in one two; do
        dp-account charge p.dp --ledger "$what" --adjacency replace-one --what "$what" --stated 0.75 > /dev/null
    done
    dp-account report p.dp --text | tr -s ' \n' ' ' > text
    assert_file_contains text 'No number on this page covers 2 runs on these people in other ledgers, under another adjacency or with another unit\.'
}

@test "the page of a ledger with one run has the curve of the run, and says where it has not" {
    fits
    dp-account report --json p.dp > report.json
    dp-account certify --data p.dp --model model > certificate.json
    assert_equal "$(jq -c '.populations[0] | [.curve, .mu, .mu_delta]' report.json)" "$(jq -c '[.curve, .mu, .mu_delta]' certificate.json)"
    jq -e '.curve | length > 9' certificate.json > /dev/null
    dp-account report p.dp --text > one
    grep -q '^  *5 %  *8.43 %$' one
    run grep -c 'follow from only' one
    assert_output 0
    dpline fit p.dp --epsilon .1 --delta 1e-6 -q -o model > /dev/null
    dp-account report --json p.dp | jq -e '.populations[0].curve == null' > /dev/null
    dp-account report p.dp --text | tr -s ' \n' '  ' > two
    grep -q ' 5 % 15.1 % .*follow from only ε and δ, because the cost is a budget, a statement or a sum over runs.' two || fail "$(cat two)"
    # a budget that begins with a cost counts more than the run
    dp-synth classification --rows 1500 --cols 5 --seed 5 -q -o c.dp
    dpline fit c.dp --epsilon 1 --delta 1e-5 -q -o model > /dev/null
    dp-account budget --epsilon 3 --delta 1e-4 --after-runs c.dp > /dev/null
    dp-account report --json c.dp | jq -e '.populations[0] | .runs == 1 and .budget.before != null and .curve == null' > /dev/null
}

@test "the page names the columns that were left out, if it knows" {
    sed -i 's/"columns": \[/&{"name": "id \& co", "type": "ignore"}, /' schema.json
    awk -F , '{ print (NR == 1 ? "id & co" : NR) "," $0 }' patients.csv > more.csv
    dp-import csv -s schema.json -f -q -o p.dp more.csv
    fits
    assert_equal "$(jq -c .left_out p.dp/dataset.json)" '["id & co"]'
    dp-account report p.dp -m model -o page.html
    grep -qF 'Columns of the table that are left out: id &amp; co.' page.html
    # a model is enough where its ledger is in the data set
    dp-account report model --text | tr -s ' \n' '  ' | grep -qF 'left out: id & co. The names'
    rm -r registry
    dp-account report model --text | tr -s ' \n' '  ' | grep -qF 'Which columns of the table were left out is not known here.'
    # an older import does not say
    jq 'del(.left_out)' p.dp/dataset.json > before.json
    mv before.json p.dp/dataset.json
    dp-account report p.dp -m model --text | tr -s ' \n' '  ' | grep -qF 'Which columns of the table were left out is not known here.'
}

@test "a number that is predicted has its bounds, and an axis of dates has dates" {
    awk 'BEGIN { srand(5); print "day,pay"; for (i = 0; i < 2000; i++) printf "2024-%02d-%02d,%d\n", 1 + 12 * rand(), 1 + 28 * rand(), 100 * rand() }' > pays.csv
    cat > schema.json << 'END'
{"header": true, "columns": [{"name": "day", "type": "numeric", "date": "%Y-%m-%d", "bounds": ["2024-01-01", "2024-12-31"], "basis": "hats", "knots": 4},
  {"name": "pay", "type": "label", "bounds": [0, 100]}]}
END
    dp-import csv -s schema.json -f -q -o p.dp pays.csv
    fits
    dp-account report p.dp -m model -o page.html
    words page.html > text
    grep -qF 'The model predicts pay: a number from 0 to 100, in the units of the table.' text
    grep -qF 'day 2024-01-01 2024-12-31' text || fail "$(cat text)"
    dp-info --curves --json model | jq -e '.curves[0].date == "%Y-%m-%d"' > /dev/null
}

@test "held-out rows: whose they are, a table of right and wrong, the probability of several classes; and none with a label" {
    dp-synth classification --rows 900 --cols 5 --classes 3 --seed 3 -q -o p.dp -f --test q.dp
    dpline fit p.dp --epsilon 8 --delta 1e-5 -q -o model > /dev/null
    dp-account report p.dp -m model -t q.dp -o page.html
    words page.html > text
    grep -qF 'Measured on 300 rows of dp-synth:classification:3 that were held out of training.' text || fail "$(cat text)"
    counts=$(dp-eval --data q.dp --last --metrics confusion --in model -f json | jq -r '.confusion | to_entries[] | "c\(.key) \(.value | map(tostring) | join(" "))"' | xargs)
    grep -qF "rows of class taken for c0 taken for c1 taken for c2 $counts" text || fail "$counts: $(cat text)"
    grep -qF 'here for the class that it predicts.' text
    assert_equal "$(grep -c '<title>calibration</title>' page.html)" 1
    # the dots: rows whose predicted class has about this probability, and how often it is right
    dp-predict -p model q.dp > probabilities
    /usr/bin/python3 - << 'END'
import csv, re
import numpy as np
y = np.load("q.dp/y.npy")
rows = list(csv.DictReader(open("probabilities")))
p = np.array([[float(r[f"probability_c{k}"]) for k in range(3)] for r in rows])
best, right = p.max(1), p.argmax(1) == y
svg = re.search(r"<title>calibration</title>.*?</svg>", open("page.html").read(), re.S).group()
dots = np.array([[float(v) for v in dot] for dot in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)])
x, up = (dots[:, 0] - 44) / 220, 1 - (dots[:, 1] - 10) / 220
edges = np.linspace(0, 1, 11)
want = [(best[g].mean(), right[g].mean()) for g in [(best >= a) & (best < b) for a, b in zip(edges, edges[1:])] if g.any()]
assert len(x) > 3 and np.abs(np.array(want) - np.array([x, up]).T).max() < .002, (want, x, up)
END
    # rows of other people
    dp-synth classification --rows 60 --cols 5 --classes 3 --seed 8 -q -o other.dp
    dp-account report p.dp -m model -t other.dp -o page.html
    words page.html | grep -qF "Measured on 60 rows of $(dp-info --get population other.dp), another population. These numbers are exact: they are as private as those rows, and ε does not cover what they show about the people there."
    # nothing to measure on
    sed -i 's/"yes"\]/&, "unknown": "zero"/' schema.json
    sed 's/,[a-z]*$/,/; 1s/,$/,ill/; 12q' patients.csv > none.csv
    dp-import csv -s schema.json -q -f -o p.dp patients.csv
    dp-import csv -s schema.json -q -o none.dp none.csv
    fits
    dp-account report p.dp -m model -t none.dp --text > text
    tr -s ' \n' ' ' < text | grep -qF 'Not measured: none of the 11 rows of the test set has a label.'
    refute grep -q 'Measured on' text
}

@test "the page says which class a large score is for, how a count follows from it, and the means of numbers" {
    awk 'BEGIN { srand(4); print "id,age,dose,visits,ill"; for (i = 0; i < 4000; i++) { age = 20 + int(60 * rand()); dose = 10 * rand()
        n = 0; for (p = rand() * exp(age / 30); p > .5; p /= 2) n++; print "p" i "," age "," dose "," n "," (rand() < age / 80 ? "yes" : "no") } }' > t.csv
    echo '{"header": true, "columns": [{"name": "id", "type": "ignore"}, {"name": "age", "type": "numeric", "bounds": [20, 80], "basis": "cosines"},
        {"name": "dose", "type": "numeric", "bounds": [0, 10]}, {"name": "visits", "type": "ignore"},
        {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > two.json
    jq '.columns[3] = {name: "visits", type: "label", bounds: [0, 8], scale: "count"} | .columns[4].type = "ignore" | del(.columns[4].classes)' two.json > count.json
    for kind in two count; do
        dp-import csv -s $kind.json --split 0.8 -q -o $kind.dp --test $kind-test.dp t.csv
        dpline fit $kind.dp $([ $kind = two ] || echo --loss poisson) --epsilon 1 -q -o $kind.model > /dev/null
        dp-account report $kind.dp -m $kind.model -t $kind-test.dp -o page.html
        words page.html > $kind.text
        run ! grep -q 'more, each for one category' $kind.text # all curves are drawn, and a column is left out
    done
    grep -qF 'A large score speaks for yes.' two.text || fail "$(cat two.text)"
    run ! grep -qE 'factor e|mean of the' two.text
    run ! grep -q 'speaks for' count.text
    grep -qE 'The prediction grows by the factor e ?x if the score grows by x\.' count.text || fail "$(cat count.text)"
    labels=$(dp-predict count.model count-test.dp | awk 'NR > 1 { s += $1 } END { printf "%.4g", s / (NR - 1) }')
    grep -qF "mean of the predictions $labels" count.text || fail "$labels: $(cat count.text)"
    labels=$(/usr/bin/python3 -c 'import numpy, json; print("%.4g" % (numpy.load("count-test.dp/y.npy").mean() * 2))') # 0 to 8 are stored as 0 to 4
    grep -qF "mean of the labels $labels" count.text || fail "$labels: $(cat count.text)"
}

@test "people whom nobody has named have no digest for a name" {
    dp-synth classification --rows 900 --cols 3 --seed 3 -q -f -o p.dp
    digest=$(dp-info --get digest p.dp)
    jq --arg d "$digest" '.population = $d' p.dp/dataset.json > edited && cp edited p.dp/dataset.json
    dpline fit p.dp --epsilon 8 --delta 1e-5 -q -o model > /dev/null
    dp-account report p.dp -m model -o page.html
    words page.html > text
    grep -qF 'A data set without a name' text || fail "$(cat text)"
    grep -qF "The people of a data set without a name (the digest of its rows is $digest): 900 rows." text || fail "$(cat text)"
}

@test "one number for each column, and contributions to the score" {
    dp-import csv -s schema.json --row-norm unit -q -f -o p.dp patients.csv
    fits
    dp-info -c --json model > known
    dp-account report p.dp -m model -o page.html
    words page.html > text
    grep -qF 'How much each column moves the score' text
    sentence=$(jq -r '[.importance[] | [100 * .share, .column]] | sort | reverse | .[] | "\(.[1])\t\(.[0])"' known |
        while IFS=$'\t' read -r name share; do printf '%s %.3g %% ' "$name" "$share"; done)
    grep -qF "importance $sentence" text || fail "$sentence: $(cat text)"
    dp-account report p.dp -m model --text > plain
    for name in age '<b>smoker</b>'; do
        grep -qE "^  $name +$(jq --arg n "$name" '.importance[] | select(.column == $n).share * 100' known | xargs printf %.3g) %$" plain || fail "$(cat plain)"
    done
    grep -qE "^  \(an average row\) +$(jq '.usual.scores[0]' known | xargs printf %.3g) " plain
    # without a schema there are weights of stored columns
    dp-synth classification --rows 1500 --cols 5 --seed 5 -q -o s.dp
    dpline fit s.dp --epsilon 1 --delta 1e-5 -q -o stored > /dev/null
    dp-account report s.dp -m stored --text | tr -s ' \n' ' ' | grep -qF 'in the scale in which rows were stored, each divided by its length.'
}

@test "what was not paid for is said" {
    dp-import libsvm -q -o s.dp --scale max-abs - <<< $'1 1:3 2:4\n2 1:1 2:8\n1 1:2\n2 2:7'
    dp-loop --laps 3 -q -o model -- "dp-sample --data s.dp --mode full | dp-grad --data s.dp --loss logistic --clip 1 | dp-noise -z 20 |
        dp-account --epsilon 9 --delta .01 | dp-step --step 1" > /dev/null
    dp-account report s.dp -m model -o page.html
    words page.html > text
    grep -q 'Not paid for: the data were looked at before training (classes,columns,max-abs)' text || fail "$(cat text)"
}

@test "a page of the wrong things is refused" {
    fits
    complains 5 'dp-account report: p.dp is the training set: what is measured on it is not covered by epsilon' \
        dp-account report p.dp -m model -t p.dp -o page.html
    assert_not_exists page.html
    complains 2 'dp-account report: --model is for a page: -o FILE or --text' dp-account report p.dp -m model
    complains 2 'dp-account report: --test goes with --model' dp-account report p.dp -t q.dp -o page.html
    complains 2 'dp-account report: --json is for ledgers: model is a model' dp-account report model --json
    complains 2 'dp-account report: model is a model, and --model names another' dp-account report model -m model
    complains 2 'dp-account report: of a model, --data is the directory of its data set' dp-account report model -D patients.csv
    complains 5 'dp-account report: p.dp is the training set: what is measured on it is not covered by epsilon' dp-account report model -t p.dp
    complains 2 'dp-account report: which ledger? (a file, a data set that has one, or a model)' dp-account report
    complains 1 'dp-account report: cannot create nowhere/page.html: No such file or directory' dp-account report p.dp -o nowhere/page.html
}

@test "a model is enough: with the ledger that the registry knows, the page is the page of that ledger" {
    dp-account budget --epsilon 3 --delta 1e-5 p.dp > /dev/null
    fits
    dp-account report p.dp --model model --test q.dp -o one.html
    dpline report model --test q.dp -o two.html
    # the ledger has another name, and its whole path
    assert_equal "$(sed "s|$PWD/p.dp/ledger|p.dp/ledger|" two.html)" "$(cat one.html)"
    # printed where no file is named, from anywhere
    mkdir elsewhere
    (cd elsewhere && dpline report ../model) > text
    grep -q '^Together: ε = .* of a budget of 3' text
    # the directory of the data set stands in for the registry, which alone knows of other ledgers
    DPLINE_REGISTRY=$PWD/none dpline report model --data p.dp --test q.dp -o three.html
    assert_equal "$(grep -c 'All runs on these people' one.html)" 1
    assert_equal "$(sed 's|All runs on these people|All runs in this ledger|' one.html | sed '/^$/d')" \
        "$(sed 's|<p>No registry says whether there were other runs on these people.</p>||' three.html | sed '/^$/d')"
}

@test "a model without its ledger: the page says what the model states and what is not known" {
    fits
    rm -rf registry
    dpline report model --text > text
    tr -s ' \n' '  ' < text > words
    for sentence in 'ε = 1 at δ = 1e-05' 'This is what the model model states that it has cost each person, by lap 129 of 129.' \
        'The ledger of its run was not found, so nothing confirms this.' 'The people of patients.csv: 2100 rows.' '1 % 2.72 %' \
        'Not known: whether there were other runs, what all runs have cost together, and whether a budget limits them.' \
        "This is in the ledger of the run $(dp-info --get ledger model | cut -d: -f1)." 'odds ratio' \
        'dp-account report LEDGER --model model -o report.html'; do
        grep -qF -- "$sentence" words || fail "missing: $sentence
$(cat text)"
    done
    run grep -E 'Together|has the digest|dp-account verify' text
    assert_failure
    dpline report model -o page.html
    words page.html > text
    grep -qF 'so nothing confirms this.' text
    # the ledger of other runs is not the run's
    mkdir other && cp -r p.dp other/p.dp && rm other/p.dp/ledger*
    dpline fit other/p.dp --epsilon 2 --delta 1e-5 -q --no-registry -o second > /dev/null
    dpline report model --data other/p.dp | tr -s ' \n' '  ' | grep -qF 'The ledger of its run was not found'
}

@test "of a ledger of two populations the page of a model shows its own: people, runs, budget and what was not paid for" {
    dp-synth classification --rows 1500 --cols 5 --seed 5 -q -o one.dp
    dp-import libsvm -q -o two.dp --scale max-abs - <<< "$(awk 'BEGIN { srand(3); for (i = 0; i < 800; i++) print i % 2 + 1, "1:" rand() + i % 2, "2:" rand() }')"
    dpline fit one.dp --epsilon 1 --delta 1e-5 -q --ledger both -o first > /dev/null
    dp-account budget --epsilon 2.5 --delta 1e-4 --data one.dp --after-runs both > /dev/null
    timeout 100 dp-loop --laps 3 -q -o second -- "dp-sample --data two.dp --mode full | dp-grad --data two.dp --loss logistic --clip 1 | dp-noise -z 20 |
        dp-account --epsilon .75 --delta 2e-5 --ledger both | dp-step --step 1" > /dev/null
    for model in first second; do
        dp-account report both -m $model --text | tr -s ' \n' '  ' > $model.text
        run grep -oE 'a budget of [0-9.]+|There is no budget|[0-9]+ rows|Not paid for' $model.text
        case $model in
        first) assert_output $'1500 rows\na budget of 2.5.' ;;
        second) assert_output $'Not paid for\n800 rows\nThere is no budget' ;;
        esac
        run grep -oE '[0-9a-f]{8} 20[0-9]{2}-' $model.text
        assert_equal "${output%% *}" "$(dp-info --get ledger $model | cut -c 1-8)"
        assert_equal "${#lines[@]}" 1
    done
    grep -q '^Privacy report .* ε = 1 at δ = 1e-05 This is' first.text
    grep -q ' at δ = 2e-05 This is' second.text
}

@test "no number of a page, an export or a sentence is below the cost that the model states" {
    fits
    mv registry gone
    # so close above a rounded number that rounding to the nearest would lose something
    for cost in '1.00001 1.00000049e-05' '0.43210432 3.3333349e-06' '2.7182818 9.99999951e-06' '0.051000001 1.2345641e-07'; do
        read -r epsilon delta <<< "$cost"
        "$ROOT/tests/bats/edit-frames.py" "epsilon=$epsilon" "delta=$delta" < model > odd
        dpline report odd -o page.html
        words page.html > text
        dpline report odd | tr -s ' \n' '  ' > plain
        for format in json csv sql c onnx pmml; do dp-export --to $format odd > "odd.$format"; done
        /usr/bin/python3 - "$epsilon" "$delta" << 'PYTHON'
import re, sys
from decimal import Decimal as D, getcontext
getcontext().prec = 40
epsilon, delta = map(D, sys.argv[1:])
def least(name, text, pattern, truth, most=D("1.01")):
    found = re.findall(pattern, text)
    assert found, (name, pattern, text[:3000])
    for number in found:
        assert truth <= D(number) <= truth * most, (name, pattern, number, truth)
NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?)"
for name in "text", "plain":
    text = open(name).read()
    least(name, text, "(?<![e^])ε = " + NUMBER, epsilon)
    least(name, text, "δ = " + NUMBER, delta)
    least(name, text, "= " + NUMBER + r"\. δ", epsilon.exp())
    least(name, text, r"δ \(delta\), " + NUMBER, delta)
    least(name, text, "right at most " + NUMBER, 100 * (epsilon.exp() + delta) / (epsilon.exp() + 1))
    for alarms in "1", "5", "10", "25":
        a = D(alarms) / 100
        found = min(D(1), epsilon.exp() * a + delta, 1 - (-epsilon).exp() * (1 - delta - a))
        least(name, text, rf"(?<![.\d]){alarms} % {NUMBER} %", 100 * found)
for name in "sql", "c", "onnx", "pmml":
    text = open("odd." + name, "rb").read().decode("latin-1")
    least(name, text, "epsilon " + NUMBER, epsilon)
    least(name, text, "delta " + NUMBER, delta)
text = open("odd.json").read()
least("json", text, "epsilon " + NUMBER, epsilon)
least("json", text, "delta " + NUMBER, delta)
PYTHON
    done
}

@test "a model that has no ledger, is of an earlier lap, of an earlier version, seeded, of persons or not private" {
    says() { grep -qF -- "$1" <<< "$(dpline report model --no-registry | tr -s ' \n' '  ')" || fail "missing: $1"; }
    dpline fit p.dp --epsilon 1 --delta 1e-5 -q --no-ledger --seed 3 -o model > /dev/null 2>&1
    says 'No ledger has its run, because its gate was told to record nothing. '
    says 'A seed was given:'
    says 'There is no table: knowledge of the seed takes all protection away.'
    says 'privacy loss: not bounded: the noise has a known seed'
    run grep -E 'found at most|household' <<< "$(dpline report model --no-registry)"
    assert_failure
    says 'Nobody can check its cost: no ledger has the run.'
    dpline dp-sgd --data p.dp --epochs 1 -q --no-registry > run 2> /dev/null
    dp-cat --lap 3 --frames run > model
    says 'by lap 3 of 21. If its results chose this lap, it has cost what all laps cost, which is not known.'
    cp "$ROOT/tests/golden/0.2/claimed" model # states what a paper claims, 1.3157, and the sound epsilon
    says 'ε = 4.013 at δ = '
    dpline dp-sgd --data p.dp --epochs 1 -q --no-registry -o first > /dev/null
    dpline dp-sgd --data p.dp --epochs 1 -q --no-registry --init first -o model > /dev/null
    says 'The model that it started from has cost ε = '
    dp-synth classification --rows 600 --rows-per-person 3 -q -o persons.dp
    dpline fit persons.dp -q -o model > /dev/null
    says ': 300 persons. All rows of a person count together, at most 3 of them.'
    dpline sgd --data p.dp --epochs 1 -q -o model
    complains 5 'dp-account report: model: the model comes from a run without privacy' dpline report model
}

@test "several classes: a curve and an area of each, as NumPy has them; accuracy and epsilon of each lap" {
    dp-synth classification --rows 900 --cols 5 --classes 12 --seed 3 -q -o p.dp -f --test q.dp
    dpline dp-sgd --data p.dp --epochs 6 --batch 90 --epsilon 5 -q > run
    dpline report run --data p.dp --test q.dp -o page.html
    dpline report run --data p.dp --test q.dp > text
    assert_equal "$(grep -c '<svg' page.html)" 5
    dp-predict -s run q.dp > scores.csv
    dp-eval --data q.dp --metrics accuracy --in run > laps
    dp-eval --data q.dp --metrics auc,majority --last --in run > last
    words page.html > said
    grep -qF 'area under the curve: the 10 smallest of 12 classes.' said
    grep -qF "mean of the classes (.5 is chance) $(sed -n '$p' last | cut -f 3 | xargs printf '%.4g') log loss" said
    /usr/bin/python3 - << 'PYTHON'
import csv, re, xml.etree.ElementTree as tree
import numpy as np
page = open("page.html").read()
attack, roc, calibration, accuracy, epsilon = [tree.fromstring(svg) for svg in re.findall("<svg.*?</svg>", page, re.S)]
scores = list(csv.DictReader(open("scores.csv")))
y = np.load("q.dp/y.npy")
right = []
for k in range(12):
    u = np.array([float(row[f"score_c{k}"]) for row in scores])
    more = u[y == k][:, None] - u[y != k][None, :]
    right.append(((more > 0).mean() + (more == 0).mean() / 2, f"c{k}"))
right = sorted(right)[:10]
names = [t.text for t in roc.iter("text") if re.match(r"[0-9.]+ c\d", t.text)]
assert names == [f"{a:.3f} {c}" for a, c in right], (names, right)
def points(line): return np.array([[float(v) for v in p.split(",")] for p in line.get("points").split()])
def frame(svg): return [float(svg.find("rect").get(k)) for k in ("x", "y", "width", "height")]
x, top, wide, tall = frame(roc)
lines = roc.findall("polyline")
assert len(lines) == 10
for line, (area, c) in zip(lines, right):
    p = points(line)
    got = np.trapz((top + tall - p[:, 1]) / tall, (p[:, 0] - x) / wide)
    assert abs(got - area) < .01, (c, got, area)
laps = [list(map(float, line.split("\t"))) for line in open("laps").read().splitlines()[1:]]
for svg, column in (accuracy, 2), (epsilon, 1):
    x, top, wide, tall = frame(svg)
    ticks = [float(t.text) for t in svg.findall("text") if t.get("text-anchor") == "end"]
    p = points(svg.find("polyline"))
    assert len(p) == 40
    lap = np.rint(1 + (p[:, 0] - x) / wide * (len(laps) - 1)).astype(int)
    assert lap[0] == 1 and lap[-1] == len(laps)
    value = ticks[0] + (top + tall - p[:, 1]) / tall * (ticks[2] - ticks[0])
    want = np.array([laps[i - 1][column] for i in lap])
    assert np.abs(value - want).max() < .003 * (ticks[2] - ticks[0]), (column, value, want)
PYTHON
    grep -qE '^  c[0-9]+ +0\.[0-9]{3}$' text
    grep -qE '^From lap 1 to lap 60, accuracy goes from' text
}

@test "a model without probabilities has a ROC curve, and the page describes no other drawing" {
    dpline scd --data p.dp --loss hinge --epsilon 1 --epochs 1 --no-ledger -q | dp-cat --last --frames - > model
    dpline report model --test q.dp -o page.html
    words page.html > said
    assert_equal "$(grep -c '<svg' page.html)" 3
    grep -qF 'Left: rows found of class yes against false alarms.' said
    assert_equal "$(grep -c 'Right:' said)" 0
}

@test "curves with the interval of the noise, in the page and by dp-info" {
    sed -i 's/"bounds": \[18, 88\]/&, "basis": "hats", "knots": [30, 60]/' schema.json
    dp-import csv -s schema.json --split .7 -f -q -o p.dp -t q.dp patients.csv
    dpline outpert-gd --data p.dp --epsilon 2 --lambda 0.01 --epochs 30 -q -o model > /dev/null
    dp-account report p.dp -m model -t q.dp -o page.html
    assert_equal "$(grep -c '<svg' page.html) $(grep -c 'class="b"' page.html)" '5 1'
    words page.html > text
    grep -qF 'Intervals are of the noise: with probability .95' text
    run grep -F 'age at 30' text
    assert_failure
    grep -qF "<b>smoker</b>=yes $(dp-info -c --tsv model | awk -F '\t' '$2 == "<b>smoker</b>=yes" { printf "%.4g %.4g %.4g … %.4g", $3, $4, $6, $7 }')" text
    dp-info --curves --svg model > curve.svg
    /usr/bin/python3 - << 'END'
import json, re, subprocess, xml.etree.ElementTree as tree
S = "{http://www.w3.org/2000/svg}"
box = list(tree.parse("curve.svg").getroot().iter(S + "svg"))[1]
points = json.loads(subprocess.check_output(["dp-info", "--curves", "--json", "model"]))["curves"][0]["points"]
line = {p.get("class"): [tuple(map(float, c.split(","))) for c in p.get("points").split()] for p in box.iter(S + "polyline")}
frame = {k: float(v) for k, v in box.find(S + "rect").attrib.items() if k != "class"}
low, high = min([0] + [p["low"] for p in points]), max([0] + [p["high"] for p in points])
def down(u): return frame["y"] + frame["height"] * (high - u) / (high - low)
want = {"p": [p["effect"] for p in points], "b": [p["high"] for p in points] + [p["low"] for p in points[::-1]]}
for k, effects in want.items():
    assert len(line[k]) == len(effects) and all(abs(c[1] - down(u)) < .06 for c, u in zip(line[k], effects)), (k, line[k])
assert all(frame["x"] - .1 <= x <= frame["x"] + frame["width"] + .1 for x, y in line["b"])
END
}

@test "the page says what a bucket is, once, and only where one is shown" {
    of_towns() {
        printf '{"header": true, "columns": [{"name": "town", "type": "categorical", "categories": %s},
            {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' "$1" > schema.json
        awk 'BEGIN { print "town,ill"; for (i = 0; i < 600; i++) print (i % 3 ? "(bucket 1)" : "Bath") "," (i % 2 ? "yes" : "no") }' > towns.csv
        dp-import csv -s schema.json -f -q -o p.dp towns.csv
        fits
        dp-account report p.dp -m model -o page.html
        words page.html > said
    }
    of_towns '["Bath"], "buckets": 2'
    grep -qF 'town=(bucket 2)' said
    assert_equal "$(grep -oF 'Categories that have no line of their own share the lines (bucket 1), (bucket 2), …: a hash of the name chooses the line.' said | wc -l)" 1
    dpline report model | tr -s ' \n' ' ' | grep -qF ' share the lines (bucket 1), '
    of_towns '["Bath", "(bucket 1)"]'
    grep -qF 'town=(bucket 1)' said
    run grep -F 'share the lines' said
    assert_failure
}

@test "a page is whole under its name or not there" {
    fits
    dp-account report p.dp -m model -o page.html
    cp page.html before
    for limit in 0 1 4; do
        run bash -c "ulimit -f $limit; dp-account report p.dp -m model -o page.html"
        assert_equal "$status" 1
        assert_output --partial 'dp-account report: cannot write page.html: File too large'
        cmp page.html before
        run bash -c "ulimit -f $limit; dp-account report p.dp -m model -o new.html"
        assert_equal "$status" 1
        assert_equal "$(find . -name 'new*' -o -name 'page.html?*')" ''
    done
    # a symbolic link of that name is replaced, as by a model; a device is written
    ln -s before link.html
    dp-account report p.dp -m model -o link.html
    assert [ ! -L link.html ]
    cmp link.html page.html
    dp-account report p.dp -m model -o /dev/stdout | cmp - page.html
    complains 1 'dp-account report: cannot write /dev/full: No space left on device' dp-account report p.dp -m model -o /dev/full
}

@test "the page prints on two sheets" {
    command -v chromium > /dev/null || skip "needs chromium"
    sed -i 's/"bounds": \[18, 88\]/&, "basis": "cosines"/' schema.json
    dp-import csv -s schema.json --split .7 -f -q -o p.dp -t q.dp patients.csv
    fits
    dp-account report p.dp --model model --test q.dp -o page.html
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --print-to-pdf="$PWD/page.pdf" "file://$PWD/page.html" > log 2>&1
    assert_equal "$(grep -ao '/Count [0-9]*' page.pdf | head -1)" '/Count 2'
}
