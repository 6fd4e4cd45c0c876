# What crosses to other tools. dp-account charge writes what a tool states about people of a ledger, and everything that adds up
# counts it, and says that nothing here shows it. dp-account certify --deployment is for a public registry.
load helper

prepare() {
    small_data 1000
}

# state NAME OPTION…: one release
STATE="dp-account charge small.dp --adjacency null-record --what"
state() { $STATE "$@"; }
# pay EPSILON: one release of a run, its model in ./model
pay() {
    dp-loop --laps 1 -q --exec processes -o model -- "dp-sample --data small.dp --mode full | dp-grad --data small.dp --loss logistic \
        --clip 1 | dp-noise --multiplier $(dp-account sigma --sampler full --laps 1 --epsilon "$1" --delta 1e-6) |
        dp-account --epsilon $1 --delta 1e-6 | dp-step --step 1" > /dev/null
}
export -f pay
ask() { jq -r "$1"; }
spent() { dp-account report small.dp --json | ask "$1"; }

@test "a stated release is a line that the report shows, adds up and says is stated" {
    run state "survey of 2025, randomised response" --stated 0.5
    assert_success
    assert_output 'dp-synth:classification:7: epsilon 0.5 at delta 0 under null-record adjacency, about one row: as stated by "survey of 2025, randomised response", not shown by this program'
    state "a histogram" --stated 0.25,1e-6
    pay 0.5
    run dp-account report small.dp
    assert_success
    assert_line --regexp '^[0-9a-f]{32}  [0-9TZ:-]+ +-  +0\.5  stated by "survey of 2025, randomised response"$'
    assert_line --regexp '^[0-9a-f]{32}  [0-9TZ:-]+ +-  +0\.25  stated by "a histogram"$'
    assert_line "spent: epsilon 1.25 at delta 2e-06, by 1 run, 1 lap and 2 releases of other tools (added)"
    assert_line "what other tools have released counts as they state it: this program does not show it"
    assert_equal "$(jq -r .kind small.dp/ledger | paste -sd ' ')" "stated stated open plan close"
    run dp-account verify small.dp
    assert_success
    assert_output "small.dp/ledger is intact: 5 lines, 3 runs, epsilon recomputed for 3"
}

# The delta of a statement is apart from that of the run: 1e-6 and 1e-6. By hand, with a Gaussian of mu.
@test "together they cost what the calculator says of the same charges" {
    state "a histogram" --stated 0.25,1e-6
    state "census" --zcdp 0.01 --delta 1e-6
    pay 0.5
    jq -c 'select(.kind == "stated") | .charge' small.dp/ledger > charges
    jq -c 'select(.kind == "plan") | .charges[]' small.dp/ledger >> charges
    expected=$(dp-account epsilon --delta 2e-6 charges)
    assert_equal "$(spent '.populations[0].composed | [.delta, .accountant] | @tsv')" $'2e-06\trdp'
    assert_equal "$(spent ".populations[0].composed.epsilon / $expected | . <= 1 and . > 1 - 1e-5")" true
    assert_equal "$(spent ".populations[0] | .epsilon > .composed.epsilon")" true
}

@test "a budget counts it, and the gate refuses a run that exceeds the budget with it" {
    dp-account budget small.dp --epsilon 1 --delta 1e-5 > /dev/null
    state survey --stated 0.5
    complains 5 "dp-account: the budget of epsilon = 1 for dp-synth:classification:7 in the ledger $PWD/small.dp/ledger affords 0 of the run's 1 laps; epsilon 0.5 of it is spent, and with as many laps a run of --epsilon 0.5 fits" bash -c "pay 0.9"
    pay 0.3
    assert_equal "$(spent '.populations[0].budget.spent <= 0.8')" true
    assert_equal "$(spent '.populations[0].budget.spent > 0.5')" true
    complains 5 "dp-account charge: the population has a budget under null-record adjacency in the ledger small.dp/ledger, the run is under replace-one" \
        dp-account charge small.dp --adjacency replace-one --what other --stated 0.1
}

# No order bounds a statement with a delta: the filter is closed, and addition counts.
@test "a statement with a delta is counted by addition; before the budget it is deducted" {
    dp-account budget small.dp --epsilon 1 --delta 1e-5 > /dev/null
    state survey --stated 0.25,1e-6
    pay 0.25
    assert_equal "$(spent '.populations[0].budget | [.by, .spent] | @tsv')" $'addition\t0.5'
    rm small.dp/ledger*
    state survey --stated 0.25,1e-6
    dp-account budget small.dp --epsilon 1 --delta 1e-5 --after-runs > before
    assert_equal "$(sed -n 3p before)" "1 run had cost epsilon 0.25 and delta 1e-06 of it"
    for _ in 1 2 3 4; do pay 0.1; done
    assert_equal "$(spent '.populations[0].budget | [.by, .spent < 0.65] | @tsv')" $'filter\ttrue'
}

@test "a release that exceeds the budget is written, and no run fits any more" {
    dp-account budget small.dp --epsilon 1 --delta 1e-5 > /dev/null
    run --separate-stderr state survey --stated 1.5
    assert_success
    assert_equal "$stderr" "dp-account charge: warning: with this release the budget of epsilon = 1 for dp-synth:classification:7 in the ledger small.dp/ledger is spent, and more than that: it has room for no run"
    complains 5 "dp-account: the budget of epsilon = 1 for dp-synth:classification:7 in the ledger $PWD/small.dp/ledger affords 0 of the run's 1 laps; epsilon 1.5 of it is spent, and no run of as many laps fits at delta = 1e-06" bash -c "pay 0.01"
    run dp-account verify small.dp
    assert_failure 1
    assert_line "dp-synth:classification:7: its budget is epsilon = 1, 1.5 are spent"
}

@test "a certificate lists what other tools state about these people, and what it comes to" {
    pay 0.5
    dp-account certify --data small.dp --model model > alone.json
    state survey --stated 0.25,1e-6
    dp-account certify --data small.dp --model model > with.json
    assert_equal "$(ask '.stated_releases // "none"' < alone.json)" none
    assert_equal "$(ask '.stated_releases[] | [.what, .epsilon, .delta, .mechanisms[0].queries[0].noise] | @tsv' < with.json)" \
        $'survey\t0.25\t1e-06\tstated'
    assert_equal "$(ask '(.with_stated_releases.epsilon / (.epsilon + 0.25) - 1) | . >= 0 and . < 1e-12' < with.json)" true
    assert_equal "$(ask '.with_stated_releases.delta * 1e6 | round' < with.json)" 2
    dp-account verify small.dp --certificate with.json > /dev/null
    dp-account verify small.dp --certificate alone.json > /dev/null
    jq 'del(.stated_releases, .with_stated_releases)' with.json > hidden.json
    complains 5 "dp-account verify: the certificate is not what the ledger small.dp/ledger says: 'stated_releases' differs" \
        bash -c 'dp-account verify small.dp --certificate hidden.json > /dev/null'
    dp-account report small.dp --text > page
    assert_file_contains page 'of another tool, as it states: “survey”'
}

@test "a certificate lists what is stated under another adjacency, apart from its sum" {
    pay 0.5
    dp-account charge small.dp --adjacency replace-one --what swap --stated 0.75 > /dev/null
    dp-account certify --data small.dp --model model > c.json
    assert_equal "$(ask '.stated_apart[] | [.what, .epsilon, .delta, .adjacency, .unit] | @tsv' < c.json)" $'swap\t0.75\t0\treplace-one\trow'
    assert_equal "$(ask '[.stated_releases, .with_stated_releases] | @csv' < c.json)" ,
    dp-account verify small.dp --certificate c.json > /dev/null
    jq 'del(.stated_apart)' c.json > hidden.json
    complains 5 "dp-account verify: the certificate is not what the ledger small.dp/ledger says: 'stated_apart' differs" \
        bash -c 'dp-account verify small.dp --certificate hidden.json > /dev/null'
    state survey --stated 0.25
    dp-account certify --data small.dp --model model --deployment > e.json
    assert_equal "$(ask .deployment.privacy_loss.privacy_parameters_description < e.json | grep -o 'With what.*')" \
        "With what other tools state that they have released about the same people: epsilon = 0.75 at delta = 1.00001e-06. In no sum above, because costs under another adjacency or with another unit do not add up with these: epsilon = 0.75 at delta = 0 under replace-one adjacency, about one row."
}

@test "the page lists under a total what it covers, and names the totals that nothing adds to it" {
    state survey --stated 0.5,1e-6
    dp-account charge small.dp --adjacency replace-one --what swap --stated 0.75 > /dev/null
    dp-account report small.dp --text | tr -s ' \n' ' ' > page
    assert_file_contains page 'ε = 0.5 at δ = 1e-06 This is what all runs of the first table below have cost each person'
    assert_file_contains page 'No number covers all runs on these people: costs under another adjacency or with another unit do not add up with these. Apart from ε above: ε = 0.75 at δ = 0 under replace-one adjacency, about one row, by 1 run\.'
    assert_file_contains page '“survey” [0-9-]* stated 1 0.5 Together: ε = 0.5 at δ = 1e-06\. There is no budget'
    assert_file_contains page '“swap” [0-9-]* stated 1 0.75 Together: ε = 0.75 at δ = 0\. There is no budget'
    # and the page of a model
    rm small.dp/ledger*
    pay 0.5
    dp-account charge small.dp --adjacency replace-one --what swap --stated 0.75 > /dev/null
    dp-account report small.dp --model model --text | tr -s ' \n' ' ' > page
    assert_file_contains page 'Apart from ε above: ε = 0.75 at δ = 0 under replace-one adjacency'
}

@test "rows and persons have a total of their own on the page" {
    dp-synth classification --rows 900 --cols 4 --rows-per-person 3 --seed 7 -o many.dp -q
    state survey --stated 0.5 --ledger l
    dp-account charge many.dp --ledger l --adjacency null-record --what visits --stated 0.75 > /dev/null
    dp-account report l --text | tr -s ' \n' ' ' > page
    assert_file_contains page 'Apart from ε above: ε = 0.75 at δ = 0 under null-record adjacency, about all rows of a person, by 1 run\.'
    assert_file_contains page '“survey” [0-9-]* stated 1 0.5 Together: ε = 0.5 at'
    assert_file_contains page '“visits” [0-9-]* stated 1 0.75 Together: ε = 0.75 at'
}

@test "a certificate lists what is stated about other people that the model has seen" {
    dp-synth classification --rows 1000 --cols 6 --seed 8 -o other.dp -q
    for data in other small; do
        dp-loop --laps 1 -q --exec processes ${start:-} -o model -- "dp-sample --data $data.dp --mode full | dp-grad --data $data.dp --loss logistic --clip 1 |
            dp-noise -z 20 | dp-account --epsilon 1 --delta 1e-6 --ledger l | dp-step --step 1" > /dev/null
        start="--init model"
    done
    dp-account charge other.dp --ledger l --adjacency null-record --what census --stated 0.25 > /dev/null
    dp-account charge other.dp --ledger l --adjacency replace-one --what swap --stated 0.75 > /dev/null
    dp-account certify --ledger l --model model > c.json
    assert_equal "$(ask '.stated_releases // "none"' < c.json)" none
    assert_equal "$(ask '.other_data[] | [.stated_releases[0].what, .stated_apart[0].what, (.with_stated_releases.epsilon - .epsilon - 0.25 | fabs < 1e-12)] | @tsv' < c.json)" \
        $'census\tswap\ttrue'
    dp-account verify l --certificate c.json > /dev/null
    dp-account report l --text > page
    run grep -c 'Apart from' page
    assert_line 1
    run grep -c 'No number' page
    assert_line 1
    assert_equal "$(grep -c '^Together' page)" 2
}

# filled ENTRY CERTIFICATE: every member that a registry asks for is there; null and a sentence go together; numbers are the certificate's
filled() {
    /usr/bin/python3 - "$@" << 'P'
import json, sys
entry, certificate = (json.load(open(f)) for f in sys.argv[1:])
asked = {
    "product": "name data_curators description intended_use data_product_type data_product_region data_product_sector publication_date",
    "dp_flavor": "name input_metric bound_on_input_distance output_measure bound_on_output_distance data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_description privacy_parameters privacy_parameters_description",
    "model": "model_name model_name_description actors release_type release_type_description data_source_type "
             "data_source_type_description access_type access_type_description",
    "accounting": "post_processing composition",
    "implementation": "pre_processing_eda_hyperparameter_tuning mechanisms justification"}
found = entry["deployment"]
assert {k: set(v) for k, v in found.items()} == {k: set(v.split()) for k, v in asked.items()}, found
empty = {f"{part}.{member}" for part in found for member, value in found[part].items() if value is None}
assert empty == set(entry["unknown"]) and all(len(why) > 10 for why in entry["unknown"].values()), entry["unknown"]
assert all(value not in ("", {}) for part in found.values() for value in part.values())
loss = found["privacy_loss"]["privacy_parameters"]
if loss is not None:
    for number in "epsilon", "delta":
        assert certificate[number] <= loss[number] <= certificate[number] * (1 + 1e-5), loss
    assert f'{loss["delta"]:g} at epsilon = {loss["epsilon"]:g}' == found["dp_flavor"]["bound_on_output_distance"]
print(found["dp_flavor"]["name"], "|", found["privacy_loss"]["privacy_unit"], "|", found["accounting"]["composition"], "|",
      found["implementation"]["mechanisms"])
P
}

@test "an entry for a registry of deployments has what the ledger knows, and says what it does not know" {
    pay 0.5
    dp-account certify --data small.dp --model model > c.json
    dp-account certify --data small.dp --model model --deployment > e.json
    run filled e.json c.json
    assert_success
    assert_output --regexp '^Approximate DP \| row-level \| composition of all laps, by gdp \(Gaussian differential privacy\) \| 1 laps, sampling none, gaussian multiplier [0-9.]+\. By dpline '
    assert_equal "$(ask .deployment.dp_flavor.unprotected_quantities < e.json)" \
        "the number of rows, and the schema of the table: its columns, bounds and names"
    assert_equal "$(ask '.deployment.privacy_loss.privacy_unit_description' < e.json)" \
        "one row, which is taken for one person, present or contributing nothing (null-record)"
    state survey --stated 0.25,1e-6
    dp-account certify --data small.dp --model model --deployment > e.json
    assert_equal "$(ask .deployment.privacy_loss.privacy_parameters_description < e.json | grep -o 'With what.*')" \
        "With what other tools state that they have released about the same people: epsilon = 0.75 at delta = 2.00001e-06."
}

@test "an entry about persons, exchanged rows or a seed says so" {
    dp-synth classification --rows 900 --cols 4 --rows-per-person 3 --seed 2 -o many.dp -q
    many() {
        dp-loop --laps 20 -q --exec processes -o model "${@:2}" -- "dp-sample --data many.dp --rate 0.1 | dp-grad --data many.dp --loss logistic --clip 1 \
            $1 | dp-noise -z 3 | dp-account --epsilon 50 --allow-weak --delta 1e-5 --ledger l --allow-seeded | dp-step --step 1" > /dev/null
        dp-account certify --ledger l --model model > c.json
        dp-account certify --ledger l --model model --deployment > e.json
    }
    run dp-account charge many.dp --ledger l --adjacency null-record --what survey --stated 0.5
    assert_success
    assert_output --partial ' under null-record adjacency, about all rows of a person: as stated by "survey"'
    many ''
    assert_equal "$(dp-account report l --json | ask '.populations | map([.runs, .releases, .unit] | @tsv) | .[]')" $'2\t1\tperson:3'
    run filled e.json c.json
    assert_success
    assert_output --regexp '^Approximate DP \| person-level \| .* \| 20 laps, sampling poisson, rate 0\.1 gaussian multiplier 3\. By '
    assert_equal "$(ask .deployment.privacy_loss.privacy_unit_description < e.json)" "all rows of one person, at most 3, present or contributing nothing (null-record)"
    rm l l.mark
    many '--adjacency replace-one' --seed 1
    filled e.json c.json
    assert_equal "$(ask '.unknown["privacy_loss.privacy_parameters"]' < e.json)" "the run had a seed, so it is not private"
    assert_regex "$(ask .deployment.privacy_loss.privacy_unit_description < e.json)" 'exchanged for others \(replace-one\)$'
}

@test "several at once are all there, and none twice" {
    for i in 1 2 3 4 5 6; do
        state "release $i" --stated 0.1 > /dev/null &
    done
    wait
    assert_equal "$(grep -c '"kind":"stated"' small.dp/ledger)" 6
    dp-account verify small.dp > /dev/null
    complains 1 "dp-account charge: the ledger small.dp/ledger has a release of these people by this name already; another one needs another name" \
        $STATE "release 1" --stated 0.1
    assert_equal "$(spent '.populations[0] | [.runs, .releases, .laps] | @tsv')" $'6\t6\t0'
}

@test "a line of a statement is held to what it says" {
    state survey --stated 0.25,1e-6
    again() { # with another member, and the hash that fits
        /usr/bin/python3 - "$1" << 'P'
import hashlib, json, sys
line = json.loads(open("small.dp/ledger").read())
exec(sys.argv[1])
line.pop("hash")
body = json.dumps(line, separators=(",", ":"))[:-1]
mark = hashlib.blake2b(body.encode(), digest_size=32).hexdigest()
open("forged", "w").write(body + ',"hash":"' + mark + '"}\n')
open("forged.mark", "w").write(line["run"] + ":1:" + mark + "\n")
P
    }
    again 'pass'
    dp-account verify forged > /dev/null
    for edit in 'line["delta"] = 1' 'line["charge"]["queries"][0]["noise"] = "gaussian"' 'line["charge"]["laps"] = 2' 'line["what"] = ""'; do
        again "$edit"
        run dp-account verify forged
        assert_failure 5
        assert_line --partial "line 1 of the ledger forged was edited or damaged: "
    done
    for edit in 'line["epsilon"] = 0.1' 'line["charge"]["queries"][0]["epsilon"] = 0.1'; do # for readers that do not verify, too
        again "$edit"
        complains 5 "dp-account report: line 1 of the ledger forged was edited or damaged: its epsilon is not the cost of its release" \
            dp-account report forged
    done
}

@test "usage" {
    local c="dp-account charge"
    complains 2 "$c: --stated: needs an epsilon above 0, and a delta from 0 to below 1 after a comma, got '1,1'" $STATE x --stated 1,1
    complains 2 "$c: --stated: needs an epsilon above 0, and a delta from 0 to below 1 after a comma, got '0'" $STATE x --stated 0
    complains 2 "$c: --stated: needs an epsilon above 0, and a delta from 0 to below 1 after a comma, got '1,x'" $STATE x --stated 1,x
    complains 2 "$c: --stated: needs an epsilon above 0, and a delta from 0 to below 1 after a comma, got '1.$(printf '%058d' 0)'" \
        $STATE x --stated "1.$(printf '%058d' 0)$(printf '%09d' 0)9"
    complains 2 "$c: --what: needs 1 to 200 bytes" $STATE "" --stated 1
    for text in $'a\nb' $'a\eb' $'a\x7fb' $'a\xffb' $'a\u202eb'; do
        complains 2 "$c: --what: needs a text in UTF-8 without control characters" $STATE "$text" --stated 1
    done
    complains 2 "$c: which data set?" dp-account charge --stated 1 --adjacency null-record --what x
    assert_not_exists small.dp/ledger
}
