# The ADP-SGD paper's accountant, and its steps that adapt with noise by a plan, against NumPy written from the paper
# (tests/vectors/make-adp-sgd.py).
load helper

@test "the accountant of the ADP-SGD paper is its Theorem C.1, equation (6) for batches, and is never called sound" {
    # said EXPECTED MOST ARGUMENT…: epsilon is as expected, up to six digits that are rounded up, or up to a factor of MOST
    said() {
        run --separate-stderr dp-account epsilon "${@:3}" --accountant adp-sgd --json
        assert_success
        python 'a, expected, most = json.loads(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
assert 1 - 1e-9 < a["epsilon"] / expected < most + 1e-5, (a, sys.argv)
assert a["sound"] is False and a["why"] == ["the accountant of the ADP-SGD paper is not sound"], a' "$output" "$1" "$2"
    }
    checked=0 exact=0
    while IFS=$'\t' read -r kind m n laps g sigma a c delta epsilon; do
        [ "$kind" = epsilon ] || continue
        # alpha_1 sigma is the noise on the mean, so that alpha_1 sigma m / G is its multiplier; a plan is rounded to 2^(1/64)
        plan="sqrt:$a:$c" most=1.0109
        [ "$c" != None ] || plan=constant a=1 c=0 most=1
        z=$(python 'm, g, sigma, a, c = map(float, sys.argv[1:]); print((a + c) ** .25 * sigma * m / g)' "$m" "$g" "$sigma" "$a" "$c")
        said "$epsilon" $most -z "$z" --rate "$m/$n" --laps "$laps" --schedule "$plan" --delta "$delta"
        # a multiplier under replace-one adjacency is relative to 2 G
        half=$(python 'print(float(sys.argv[1]) / 2)' "$z")
        said "$epsilon" $most -z "$half" --rate "$m/$n" --laps "$laps" --schedule "$plan" --delta "$delta" --adjacency replace-one
        : $((++checked))
        [ "$laps" -le 384 ] || continue # lap by lap, nothing is rounded
        python 'm, n, T, g, sigma, a, c = map(float, sys.argv[1:])
for t in range(1, int(T) + 1): print(json.dumps({"laps": 1, "sampling": "poisson", "rate": m / n, "queries": [
    {"noise": "gaussian", "multiplier": (a + t * c) ** .25 * sigma * m / g}]}))' "$m" "$n" "$laps" "$g" "$sigma" "$a" "$c" > charges
        said "$epsilon" 1 --delta "$delta" charges
        : $((++exact))
    done < "$ROOT/tests/vectors/adp-sgd.tsv"
    assert_equal "$checked $exact" "6 2"
}

@test "the accountant of the ADP-SGD paper: noise, and what it does not cover" {
    # section 6: epsilon-bar = .8, so epsilon = 16 x .8, with T = 11,700, m = 256, n = 50,000
    run --separate-stderr dp-account sigma --epsilon 12.8 --delta 1e-5 --rate 256/50000 --laps 11700 --accountant adp-sgd
    assert_output 10.1668496
    z=$output
    run --separate-stderr dp-account epsilon -z "$z" --delta 1e-5 --rate 256/50000 --laps 11700 --accountant adp-sgd
    assert_output 12.8
    run dp-account sigma --epsilon 12.8 --delta 1e-5 --rate 256/50000 --laps 11700 --accountant adp-sgd --explain
    assert_line "NOT SOUND: the accountant of the ADP-SGD paper is not sound"
    for more in "--sampler full" "--mechanism laplace --rate .1" "--count-multiplier 10 --rate .1" "--sampler shuffle --rows 1000 --rate .1" \
        "--visible-batch --rate .1"; do
        complains 1 "dp-account epsilon: accountant adp-sgd does not cover these mechanisms" \
            dp-account epsilon -z 2 --laps 10 --delta 1e-5 --accountant adp-sgd $more
    done
    # no gate takes it
}

adaptive() { adp-sgd.sh --data two.dp --schedule adaptive --batch 30 --epochs 2.5 --lambda 0 --epsilon 2 "$@"; }

@test "adp-sgd.sh --schedule adaptive: the noise follows its plan and the steps follow b_t, as in section 5.2" {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o two.dp -q
    adaptive --beta 64 --noise-schedule sqrt:20:3 --step 3 --seed 1 --exec processes --print > train
    sed -i "s/| *$/|/; s/^\( *dp-step\)/  tee released |\n\1/" train
    assert grep -q tee train
    bash train > stream 2> said
    python '
released, models = frames.laps("released"), frames.laps("stream")
assert len(models) == len(released) == 25
b_squared, w = 20., numpy.zeros_like(models[0]["model"])
for t, (lap, moved) in enumerate(zip(released, models)):        # t from 0, as in the paper
    alpha = (20 + 3 * (t + 1)) ** .25                           # alpha_{t+1}
    if t == 0: sigma = lap["noise_scale"] / alpha
    assert abs(lap["noise_scale"] / (sigma * alpha) - 1) < 1e-6, (t, lap["noise_scale"])
    g = -lap["sum"] * lap["grid"] / 30
    norm_squared = (g ** 2).sum() - g.size * (lap["noise_scale"] / 30) ** 2
    b_squared += max(max(64 / (t % 10 + 1), 1) * norm_squared, 1e-5)
    w = w - 3 / b_squared ** .5 * g
    assert numpy.allclose(moved["model"], w, rtol=0, atol=1e-6), (t, moved["model"], w)
'
    # the plan is paid for: all of the budget
    python 'spent = frames.laps("stream")[-1]["epsilon"]
assert 1.99 < spent <= 2, spent'
}

@test "adp-sgd.sh: plans of noise and of steps, as they are and as they are not" {
    dp-synth classification --rows 300 --cols 5 --seed 3 -o two.dp -q
    shown() { adp-sgd.sh --data two.dp --batch 30 --multiplier 4 --print "$@" | grep -oE 'dp-noise .*|dp-step .*' | tr -s '| \n' ' '; }
    run shown --schedule adaptive
    assert_output "dp-noise --multiplier 4 --schedule sqrt:20:1e-4 dp-step --step 10 --optimizer adagrad-norm --b0 4.47213595 --floor 1e-5 --beta 512 --beta-epoch 10 --average tail' "
    run shown --schedule adaptive --beta 1 --noise-schedule constant
    assert_output "dp-noise --multiplier 4 --schedule constant dp-step --step 10 --optimizer adagrad-norm --b0 4.47213595 --floor 1e-5 --beta 1 --beta-epoch 10 --average tail' "
    run shown
    assert_output "dp-noise --multiplier 4 --schedule sqrt:20:1 dp-step --step 10 --schedule sqrt:20:1 --average tail' "
    run shown --schedule inverse --noise-schedule first:3:2
    assert_output "dp-noise --multiplier 4 --schedule first:3:2 dp-step --step 10 --schedule inverse --average tail' "
    # the multiplier is that of the plan of noise
    z=$(dp-account sigma --epsilon 2 --delta 1e-5 --rate 30/300 --laps 25 --schedule sqrt:20:9)
    adaptive --noise-schedule sqrt:20:9 --print | grep -qF -- "--multiplier $z "
    complains 2 "adp-sgd.sh: --beta is for --schedule adaptive" adp-sgd.sh --data two.dp --beta 2
    complains 2 "dp-account sigma: --schedule: sqrt:A:C needs C >= 0 and A + C > 0, got 'sqrt:20'" \
        adp-sgd.sh --data two.dp --schedule adaptive --noise-schedule sqrt:20
}
