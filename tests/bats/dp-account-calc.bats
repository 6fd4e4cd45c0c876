# The calculator: dp-account sigma, dp-account epsilon.
load helper

# refuses STATUS MESSAGE ARGUMENT…: that status, that one line on stderr, nothing on stdout
refuses() {
    local status_wanted=$1 message=$2
    shift 2
    run --separate-stderr dp-account "$@"
    assert_equal "$status" "$status_wanted"
    assert_equal "$output" ''
    # shellcheck disable=SC2154
    assert_equal "$stderr" "$message"
}

bats_require_minimum_version 1.5.0

# answers NUMBER ARGUMENT…
answers() {
    local number=$1
    shift
    run --separate-stderr dp-account "$@"
    assert_success
    assert_output "$number"
    assert_equal "$stderr" ''
}

# at_most A B
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 <= b + 0) }'; }

@test "calculator: --help names every option, --version the version" {
    for word in sigma epsilon; do
        run dp-account $word --help
        assert_success
        assert_line --index 0 --partial "Usage: dp-account $word [options]"
        for option in --delta --rate --laps --sampler --accountant --visible-batch --json; do
            assert_output --partial " $option"
        done
        run dp-account $word --version
        assert_success
        assert_output --regexp "^dp-account $word \(dpline\) [0-9.]+$"
    done
}

@test "help lists the words, each with a line, and names a page that exists" {
    for page in help --help -h; do
        run dp-account $page
        assert_success
        for word in sigma epsilon delta laps rate curve sensitivity budget report verify certify; do
            assert_line --regexp "^  $word +[A-Z][a-z ,A-Z0-9]+$"
        done
    done
    for word in sigma epsilon delta laps rate curve sensitivity budget report verify certify; do
        assert_equal "$(dp-account help $word)" "$(dp-account $word --help)"
        assert_equal "$(dp-account $word --help | tail -1)" "The manual: man dp-account"
    done
    complains 2 "dp-account: expected sigma, epsilon, delta, laps, rate, curve, sensitivity, budget, report, verify, certify, help or the gate's options, got 'sigmas'" dp-account help sigmas
    [ -e /dev/full ] || return 0
    complains 1 "dp-account: cannot write standard output: No space left on device" bash -c 'dp-account help > /dev/full'
}

# the truth is not above what the truth is "at least": by JSON, by words, rounded down in both
@test "calculator: a lower bound is rounded down" {
    for options in "-z 1 -r 100/10000 -n 1000" "-z .9 -r .01 -n 1000" "-z .7 -r .004 -n 3000" "-z 1.1 -r .02 -n 900" "-z 2 -r .1 -n 100" "-z .5 -r .001 -n 50000"; do
        # shellcheck disable=SC2086
        said=$(dp-account epsilon $options -d 1e-5 --explain)
        # shellcheck disable=SC2086
        json=$(dp-account epsilon $options -d 1e-5 --json)
        /usr/bin/python3 - "$said" "$json" << 'END'
import json, re, sys
said, answer = sys.argv[1], json.loads(sys.argv[2])
words = float(re.search(r"at least ([0-9.e-]+):", said).group(1))
assert words <= answer["lower"] * 1.000001 <= answer["epsilon"] * 1.000001, sys.argv
assert words >= answer["lower"] * 0.998 and len(str(answer["lower"]).replace(".", "").lstrip("0")) <= 6, sys.argv
END
    done
}

@test "calculator: JSON has numbers in their shortest form" {
    run dp-account epsilon -z 1.1 --delta 1e-5 --rate 0.1 --laps 10 --json
    assert_output --partial '"rate":0.1,'
    assert_output --partial '"multiplier":1.1,'
    refute_output --regexp '[0-9]{12}'
}

@test "calculator: epsilon of known runs" {
    answers 2.10137 epsilon --multiplier 1 --rate 0.01 --laps 1000 --delta 1e-5 --accountant rdp
    answers 4.72851 epsilon --multiplier 10 --laps 100 --delta 1e-5 --accountant rdp
    # the released state of a visible batch: nothing amplifies
    answers 23.3914 epsilon --multiplier 1 --rate 0.01 --laps 1000 --delta 1e-5 --visible-batch
}

@test "calculator: sigma of known budgets" {
    answers 0.914179107 sigma --epsilon 1 --delta 1e-3 --rate 100/24420 --laps 2442 --accountant rdp
    answers 1.08610681 sigma --epsilon 1 --delta 1e-3 --rate 100/24420 --laps 2442 --accountant published
    answers 1.19732553 sigma -e 1 -d 1e-5 -r 300/60000 -n 2000 -a rdp
    answers 8.6394426 sigma --epsilon 1 --delta 1e-3 --rate 100/24420 --laps 2442 --visible-batch
}

@test "calculator: what sigma prints meets the target, asked again" {
    for epsilon in 0.01 0.1 1 10 50; do
        for delta in 1e-9 1e-5 1e-2; do
            sigma=$(dp-account sigma --epsilon $epsilon --delta $delta --rate 0.02 --laps 700)
            spent=$(dp-account epsilon --multiplier "$sigma" --delta $delta --rate 0.02 --laps 700)
            at_most "$spent" $epsilon || fail "epsilon $epsilon delta $delta: sigma $sigma spends $spent"
            less=$(awk -v s="$sigma" 'BEGIN { printf "%.9g", s * 0.9999 }')
            spent=$(dp-account epsilon --multiplier "$less" --delta $delta --rate 0.02 --laps 700)
            at_most "$spent" $epsilon && fail "epsilon $epsilon delta $delta: sigma $sigma is more than needed"
        done
    done
    true
}

@test "calculator: a quotient is its decimal" {
    answers "$(dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.005 --laps 2000)" \
        sigma --epsilon 1 --delta 1e-5 --rate 300/60000 --laps 2000
}

@test "calculator: shuffling is one Gaussian per epoch begun, a full batch one per lap" {
    one=$(dp-account epsilon --multiplier 5 --laps 1 --delta 1e-5)
    two=$(dp-account epsilon --multiplier 5 --laps 2 --delta 1e-5)
    answers "$one" epsilon --multiplier 5 --laps 10 --rate 1/10 --delta 1e-5 --sampler shuffle
    answers "$two" epsilon --multiplier 5 --laps 11 --rate 1/10 --delta 1e-5 --sampler shuffle
    answers "$one" epsilon --multiplier 5 --laps 244 --rate 100/24420 --delta 1e-5 --sampler shuffle
    answers "$two" epsilon --multiplier 5 --laps 2 --delta 1e-5 --sampler full
}

@test "calculator: --json says what was assumed" {
    run dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.01 --laps 1000 --json
    assert_success
    /usr/bin/python3 - "$output" << 'PY'
import json, subprocess, sys
o = json.loads(sys.argv[1])
said = subprocess.check_output("dp-account sigma -e 1 -d 1e-5 -r .01 -n 1000".split(), text=True)
assert o["multiplier"] == float(said), o
assert (o["epsilon"], o["delta"], o["rate"], o["laps"]) == (1, 1e-5, 0.01, 1000), o
assert (o["sampler"], o["accountant"], o["adjacency"], o["sound"]) == ("poisson", "pld", "null-record", True), o
PY
    run dp-account epsilon --multiplier 1 --delta 1e-5 --rate 0.01 --laps 1000 --accountant published --json
    assert_success
    /usr/bin/python3 - "$output" << 'PY'
import json, sys
o = json.loads(sys.argv[1])
assert o["multiplier"] == 1 and 2.1 < o["epsilon"] < 3 and o["sound"] is False, o
PY
}

@test "calculator: missing options" {
    refuses 2 "dp-account sigma: --epsilon is required" sigma
    refuses 2 "dp-account sigma: --delta is required" sigma --epsilon 1
    refuses 2 "dp-account sigma: --laps is required" sigma --epsilon 1 --delta 1e-5
    refuses 2 "dp-account epsilon: --multiplier is required" epsilon --delta 1e-5 --laps 10
    refuses 2 "dp-account sigma: --laps: needs a value" sigma --epsilon 1 --delta 1e-5 --laps
}

@test "calculator: numbers that are none, or out of range" {
    for bad in nan inf 1e999 x '' 1/0 0x10; do
        refuses 2 "dp-account sigma: --epsilon: must be a finite number, got '$bad'" sigma --epsilon "$bad"
        refuses 2 "dp-account sigma: --delta: must be a finite number, got '$bad'" sigma --delta "$bad"
        refuses 2 "dp-account sigma: --rate: must be a finite number, got '$bad'" sigma --rate "$bad"
        refuses 2 "dp-account epsilon: --multiplier: must be a finite number, got '$bad'" epsilon --multiplier "$bad"
    done
    for bad in 0 -1; do
        refuses 2 "dp-account sigma: --epsilon: must be > 0, got $bad" sigma --epsilon "$bad"
        refuses 2 "dp-account epsilon: --multiplier: must be > 0, got $bad" epsilon --multiplier "$bad"
    done
    for bad in 0 1 -1e-5 2; do
        refuses 2 "dp-account sigma: --delta: must be > 0 and < 1, got $bad" sigma --delta "$bad"
    done
    for bad in 0 1.0001 -0.5; do
        refuses 2 "dp-account sigma: --rate: must be > 0 and <= 1, got $bad" sigma --rate "$bad"
    done
    for bad in 0 -3 1000000000001; do
        refuses 2 "dp-account sigma: --laps: must be between 1 and 1000000000000, got $bad" sigma --laps "$bad"
    done
    for bad in 1.5 nan 1e3 ''; do
        refuses 2 "dp-account sigma: --laps: must be a whole number, got '$bad'" sigma --laps "$bad"
    done
}

@test "calculator: words it does not know" {
    refuses 2 "dp-account sigma: --sampler: must be one of poisson|fixed|full|shuffle|none, got 'dice'" sigma --sampler dice
    refuses 2 "dp-account sigma: --accountant: must be one of best|pld|rdp|zcdp|gdp|advanced|published, got 'clt'" sigma --accountant clt
    refuses 2 "dp-account sigma: unknown option '--multiplier' (try --help)" sigma --multiplier 2
    refuses 2 "dp-account epsilon: unknown option '--epsilon' (try --help)" epsilon --epsilon 2
    refuses 2 "dp-account sigma: unexpected argument 'more'" sigma --epsilon 1 --delta 1e-5 --laps 1 more
    refuses 2 "dp-account: expected sigma, epsilon, delta, laps, rate, curve, sensitivity, budget, report, verify, certify, help or the gate's options, got 'nonsense'" nonsense
}

@test "calculator: what has no answer" {
    refuses 1 "dp-account sigma: no noise multiplier up to 1e+09 reaches epsilon 1e-06 at delta 1e-12" \
        sigma --epsilon 1e-6 --delta 1e-12 --laps 10 --rate 0.1 --accountant rdp
    refuses 1 "dp-account epsilon: this much noise gives no bound at all" \
        epsilon --multiplier 1e-200 --rate 0.01 --laps 1000 --delta 1e-5
}

@test "calculator: extreme parameters are answered in time" {
    for rate in 1e-8 0.5 1; do
        for laps in 1 1000000; do
            within 40 dp-account sigma --epsilon 0.01 --delta 1e-12 --rate $rate --laps $laps
            assert_success
            within 40 dp-account epsilon --multiplier 0.05 --delta 1e-12 --rate $rate --laps $laps
            assert_success
            within 40 dp-account epsilon --multiplier 10000 --delta 1e-12 --rate $rate --laps $laps --visible-batch
            assert_success
        done
    done
}

@test "calculator: a full standard output is noticed" {
    [ -e /dev/full ] || skip "no /dev/full"
    run bash -c 'dp-account sigma --epsilon 1 --delta 1e-5 --laps 10 > /dev/full'
    assert_equal "$status" 1
    assert_output --partial "cannot write standard output"
}
