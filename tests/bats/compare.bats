# dpline compare (pipelines/compare.sh): a line for each run of several pipelines, and a plot of them.
load helper

prepare() {
    dp-synth classification --rows 600 --cols 4 --seed 7 -q -o small.dp --test test.dp
}

@test "every run is in the table, as the pipeline gives it, marked as not private, and enters no ledger" {
    dpline compare --methods 'fit, dp-sgd --batch 50 --step 4,scd-nonprivate' --data small.dp --test test.dp --epsilon 1,4 --seeds 3 -q \
        --plot plot.svg > table 2> err
    [ ! -s err ] || fail "$(cat err)"
    assert_not_exists small.dp/ledger
    assert_equal "$(head -n 1 table)" $'method\tdata\tepsilon\tdelta\tseed\tprivacy\taccuracy\tseconds'
    assert_equal "$(tail -n +2 table | cut -f 1,3-6 | tr '\t' '/')" "$(for m in fit 'dp-sgd --batch 50 --step 4'; do
        for e in 1 4; do for s in 1 2 3; do echo "$m/$e/1e-4/$s/seeded"; done; done
    done
    for s in 1 2 3; do echo "scd-nonprivate/inf/-/$s/none"; done)"
    dp-sgd.sh --data small.dp --batch 50 --step 4 --epsilon 4 --delta 1e-4 --seed 2 --no-ledger -q -o model
    assert_equal "$(awk -F '\t' '$1 ~ /dp-sgd/ && $3 == 4 && $5 == 2 { print $7 }' table)" \
        "$(dp-eval --data test.dp --metrics accuracy --last --in model | tail -n 1 | cut -f 3)"
    # a point for each method and epsilon at the median, a line over the range, and words for what is not private
    /usr/bin/python3 - << 'END'
import xml.dom.minidom as xml
page = xml.parse("plot.svg")
texts = [t.firstChild.data for t in page.getElementsByTagName("text")]
assert len(page.getElementsByTagName("circle")) == 4 and len(page.getElementsByTagName("polyline")) == 2
assert {"accuracy on held-out rows", "the most frequent class: 0.53, below", "fit", "dp-sgd --batch 50 --step 4", "scd-nonprivate, without privacy"} < set(texts), texts
assert "Median and range of 3 runs, delta 1e-4. No run is private: seeds make their noise known." in texts
END
}

@test "a picture is whole under its name or not there, and that it can be there is known before the first run" {
    compares() { dpline compare --data small.dp --test test.dp --methods scd --epsilon 1 --seeds 1 -q --table runs --plot "$1"; }
    for picture in nowhere/plot.svg .; do
        complains 2 "dpline compare: --plot: $picture cannot be written" \
            dpline compare --data small.dp --test test.dp --methods scd --table runs --plot $picture
    done
    assert_not_exists runs
    (umask 027 && compares plot.svg > table)
    assert_equal "$(stat -c %a plot.svg)" 640
    cp plot.svg before
    for picture in plot.svg new.svg; do
        run bash -c "ulimit -f 1; dpline compare --data small.dp --test test.dp --methods scd --epsilon 1 --seeds 1 -q --table runs --plot $picture"
        assert_failure 1
        assert_line "dpline compare: cannot write $picture"
        cmp plot.svg before
        assert_equal "$(find . -name 'new*' -o -name '*.svg?*')" ''
    done
    # as a model: a symbolic link of that name is replaced, a pipe is written
    ln -s before link.svg
    compares link.svg > table
    assert [ ! -L link.svg ]
    mkfifo pipe
    timeout 60 cat pipe > out &
    compares pipe > table
    wait $!
    cmp out link.svg
    run compares /dev/full
    assert_failure 1
    assert_line 'dpline compare: cannot write /dev/full'
}

@test "nine methods in a picture look different" {
    { printf 'method\tdata\tepsilon\tdelta\tseed\tprivacy\taccuracy\tseconds\n'
        for m in {1..9}; do for e in 1 3; do printf 'm%s\td.dp\t%s\t1e-5\t1\tseeded\t0.%s%s\t1\n' $m $e $m $e; done; done; } |
        awk -F '\t' -f "$ROOT/pipelines/plot.awk" > plot.svg
    assert_equal "$(grep -o '<polyline class="[^"]*"' plot.svg | sort -u | wc -l)" 9
    assert_equal "$(sed '/@media/q' plot.svg | grep -oE '^\.s[0-9]+ \{ stroke: #[0-9a-f]*' | sed 's/.* //' | sort -u | wc -l)" 8
}

@test "a run that the budget does not pay for has no value" {
    dpline compare --methods fit --data small.dp --test test.dp --epsilon 0.01,1 --seeds 1 -q --plot plot.svg > table 2> err
    assert_equal "$(cut -f 3,7 table | sed -n 2p)" $'0.01\t-'
    assert_regex "$(cat err)" '^dpline compare: fit, epsilon 0.01: dp-fit: epsilon 0.01 at delta 0.0001 does not pay for one useful lap '
    assert_equal "$(grep -c '<circle' plot.svg)" 1
}

@test "a run in the table is not made again; a picture shows all data sets of the table" {
    args=(--data small.dp --test test.dp --epsilon 1 --seeds 2 --metric accuracy,logloss -q --table runs)
    dpline compare --methods 'fit,dp-sgd --network "4; fc 2 tanh; fc 1"' "${args[@]}" > all
    diff all runs
    # a number that no run could give
    awk -F '\t' -v OFS='\t' 'NR == 2 { $7 = 2 } { print }' runs > marked
    sed '$ d' marked > runs
    dpline compare --methods 'fit,dp-sgd --network "4; fc 2 tanh; fc 1"' "${args[@]}" > again
    diff <(cut -f 1-8 marked) <(cut -f 1-8 again)
    diff again runs
    # splits of their own for each seed
    for seed in 1 2; do dp-synth classification --rows 300 --cols 4 --seed $seed -q -o split-$seed.dp --test split-$seed-test.dp; done
    dpline compare --methods fit "${args[@]}" --data 'split-{seed}.dp' --test 'split-{seed}-test.dp' --plot plot.svg > splits
    dpline fit split-2.dp --epsilon 1 --delta 1e-3 --seed 2 --no-ledger -q -o model
    assert_equal "$(cut -f 2,7 splits | tail -n 1)" "split-{seed}.dp"$'\t'"$(dp-eval --data split-2-test.dp --metrics accuracy --last --in model | tail -n 1 | cut -f 3)"
    assert_equal "$(wc -l < runs)" 7
    assert_equal "$(grep -oE '>(fit|dp-sgd)[^<]*' plot.svg)" '>fit, small
>dp-sgd --network "4; fc 2 …, small
>fit, split-{seed}'
    complains 2 "dpline compare: --table: runs has other columns; these would be 'method data epsilon delta seed privacy accuracy seconds'" \
        dpline compare --data small.dp --test test.dp --table runs
}

@test "a regression by R^2, and persons" {
    dp-synth regression --rows 600 --cols 4 --seed 7 --rows-per-person 3 -q -o r.dp --test rt.dp
    dpline compare --methods fit --data r.dp --test rt.dp --epsilon 4 --seeds 1 -q > table
    assert_equal "$(head -n 1 table | cut -f 7)" r2
}

@test "bad input" {
    compare() { complains 2 "dpline compare: $1" dpline compare --data small.dp --test test.dp "${@:2}"; }
    compare "--methods: 'nosuch' is not a pipeline (dpline help lists them)" --methods nosuch
    compare "--methods: '' is not a pipeline (dpline help lists them)" --methods fit,,scd
    compare "--methods: 'compare' is not a pipeline (dpline help lists them)" --methods compare
    compare "--methods: 'options' is not a pipeline (dpline help lists them)" --methods options
    compare "--methods: 'dp-sgd --colour 1': dp-sgd.sh: unknown option '--colour' (try --help)" --methods 'dp-sgd --colour 1' -q
    compare "--methods: 'scd \"a' has a quote without an end" --methods 'scd "a'
    compare "--epsilon: must be numbers > 0, separated by commas, got '1,x'" --epsilon 1,x
    compare "--seeds: must be a whole number >= 1, got '0'" --seeds 0
    complains 2 'dpline compare: --test is required' dpline compare --data small.dp
    complains 1 'dp-info: cannot open gone.dp: No such file or directory' dpline compare --data gone.dp --test test.dp
    complains 1 "dp-eval: cannot open gone.dp/dataset.json: not a data set (see dp-import)" dpline compare --data small.dp --test gone.dp --methods scd -q
}
