/* The choice of a run for a table: its spending, the default delta, refusals, and numbers of printed runs. */
#include "unit.h"

#include "account/account.h"
#include "fit/fit.h"
#include <dpline/fit.h>

static int choose(struct dp_fit *fit, int64_t persons, int64_t columns, int64_t classes, int64_t rows_per_person,
                  double epsilon, double delta, bool replace_one)
{
    const struct dp_fit_facts facts = {
        .persons = persons, .columns = columns, .classes = classes, .rows_per_person = rows_per_person};
    const struct dp_fit_budget budget = {.epsilon = epsilon, .delta = delta, .replace_one = replace_one};
    return dp_fit_choose(&facts, &budget, dp_fit_loss(classes), fit, NULL);
}

/* Adds laps of Gaussian noise on such a sample, with noisy counts of it if there are any. */
static void add(struct dp_charges *charges, double rate, double multiplier, double counts, int64_t laps)
{
    struct dp_event event = dp_event_gaussian(rate < 1 ? DP_SAMPLING_POISSON : DP_SAMPLING_NONE, rate, multiplier, 0);
    if (counts > 0)
        event.query[event.queries++] = dp_event_gaussian(DP_SAMPLING_NONE, 1, counts, 0).query[0];
    if (multiplier > 0 && laps > 0)
        assert_int_equal(dp_charges_add(charges, &event, laps, NULL), DP_OK);
}

/* The epsilon of the noise of a run, at delta. */
static double cost(const struct dp_fit *fit, double delta)
{
    struct dp_charges charges = {0};
    struct dp_answer answer;
    add(&charges, fit->moments_rate, fit->moments, 0, 1);
    if (fit->run == DP_FIT_UNCUT) {
        add(&charges, fit->rate, fit->gradient, fit->counts, fit->late);
        add(&charges, fit->rate, fit->gradient / sqrt(DP_FIT_EARLY), fit->counts, fit->laps - fit->late);
    } else {
        add(&charges, fit->rate, fit->gradient, 0, fit->laps + fit->temperature);
    }
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, delta, &answer, NULL), DP_OK);
    dp_charges_free(&charges);
    return answer.upper;
}

TEST(a_budget_is_spent_and_not_exceeded)
{
    static const double epsilons[] = {0.05, 0.3, 1, 7};
    static const int64_t persons[] = {100, 1000, 24420, 1000000}, columns[] = {1, 8, 300}, classes[] = {0, 2, 3};
    int runs[3] = {0}, samples[3] = {0}, moments = 0;
    for (size_t e = 0; e < 4; e++)
        for (size_t n = 0; n < 4; n++)
            for (size_t i = 0; i < 18; i++) {
                const struct dp_fit_facts facts = {
                    .persons = persons[n], .columns = columns[i / 3 % 3], .classes = classes[i % 3], .here = i >= 9};
                const struct dp_fit_budget budget = {.epsilon = epsilons[e], .delta = 1e-5, .replace_one = e % 2};
                struct dp_fit fit;
                if (dp_fit_choose(&facts, &budget, dp_fit_loss(facts.classes), &fit, &err) != DP_OK)
                    continue;
                double spent = cost(&fit, 1e-5);
                assert_true(spent <= epsilons[e] && spent > 0.999 * epsilons[e]);
                assert_true(fit.rate == 1 || (facts.here && !budget.replace_one && persons[n] == 1000000));
                runs[fit.run]++;
                samples[fit.run] += fit.rate < 1;
                moments += fit.moments_rate < 1;
                assert_true(fit.moments_rate >= fit.rate && (fit.moments_rate == 1 || fit.moments > 0));
            }
    assert_true(runs[0] > 5 && runs[1] > 5 && runs[2] > 5);
    assert_true(samples[1] > 5 && samples[2] > 5 && moments > 5);
}

/* The runs of such a table of two classes with all rows in a lap, and with samples. */
static void choose_both(struct dp_fit_facts facts, double epsilon, struct dp_fit *all, struct dp_fit *some)
{
    const struct dp_fit_budget budget = {.epsilon = epsilon, .delta = 1e-8};
    facts.here = false;
    assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_LOGISTIC, all, NULL), DP_OK);
    facts.here = true;
    assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_LOGISTIC, some, NULL), DP_OK);
    assert_true(all->rate == 1 && all->moments_rate == 1 && some->laps == all->laps);
    assert_near(some->moments / some->moments_rate / all->moments, some->gradient / some->rate / all->gradient, 1e-6);
}

/* A mean over a sample has the noise of a mean over all rows, and some percent more: amplification is short of its limit. Where
 * the noise is far below what samples differ by, it may be further from the limit. */
TEST(samples_have_the_noise_of_all_rows)
{
    struct dp_fit_facts facts = {.persons = 3000000, .columns = 4000, .classes = 2};
    struct dp_fit all, some;
    choose_both(facts, 0.3, &all, &some);
    assert_true(some.rate > 0.0218 && some.rate < 0.07 && some.moments_rate > 0.087 && some.moments_rate < 0.3);
    assert_true(some.gradient >= 4 && some.moments >= 4);
    assert_true(some.gradient / some.rate > all.gradient && some.gradient / some.rate < 1.16 * all.gradient);
    facts.columns = 137;
    choose_both(facts, 3, &all, &some);
    assert_true(some.reach > 32768 && some.gradient >= 1 && some.moments >= 1);
    assert_true(some.gradient / some.rate < 2.1 * all.gradient && some.rate < 0.07);
    assert_int_equal(some.laps, 64);
    facts.persons = 2 * 65536;
    choose_both(facts, 1, &all, &some);
    assert_true(some.rate == 1 && some.moments_rate == 1);
}

/* 64 laps from a reach of 16384 on, 128 up to 8192, and as many as x / D asks for if these are fewer. */
TEST(laps_far_from_the_noise)
{
    struct dp_fit fit;
    for (int64_t persons = 10000; persons < 100000000; persons = persons * 5 / 4) {
        assert_int_equal(choose(&fit, persons, 400, 2, 0, 1, 1e-6, false), DP_OK);
        const double x = fit.reach, most = x > 16384 ? 64 : x > 8192 ? floor(64 * 16384 / x) : 128;
        assert_true(fit.run != DP_FIT_TRANSFORMED || fit.laps == (int64_t)fmax(16, fmin(most, floor(9 * x / 401 + 0.5))));
    }
    assert_int_equal(fit.laps, 64);
    assert_near(fit.whole * fit.whole / (fit.moments * fit.moments), 0.3, 1e-7);
}

TEST(parts_of_the_budget)
{
    struct dp_fit fit;
    assert_int_equal(choose(&fit, 6000, 10, 0, 0, 1, 1e-5, false), DP_OK);
    double w2 = fit.whole * fit.whole;
    assert_near(w2 / (fit.moments * fit.moments), 0.1, 1e-7);
    assert_near((double)fit.laps * w2 / (fit.counts * fit.counts), 0.045, 1e-7);
    assert_near((32 + 64 * DP_FIT_EARLY) * w2 / (fit.gradient * fit.gradient), 0.855, 1e-7);
    assert_int_equal(fit.laps, 96);
    assert_int_equal(choose(&fit, 6000, 10, 2, 0, 1, 1e-5, false), DP_OK);
    assert_near(w2 / (fit.moments * fit.moments), 0.15, 1e-7);
    assert_near((double)fit.laps * w2 / (fit.gradient * fit.gradient), 0.85, 1e-7);
    assert_int_equal(fit.temperature, 0);
    assert_int_equal(choose(&fit, 6000, 10, 3, 0, 1, 1e-5, false), DP_OK);
    assert_int_equal(fit.temperature, 4);
    assert_near((double)(fit.laps + 4) * w2 / (fit.gradient * fit.gradient), 0.85, 1e-7);
}

TEST(numbers_have_a_constant)
{
    for (int64_t classes = 0; classes <= 3; classes++) {
        const struct dp_fit_facts facts = {.persons = 6000, .columns = 10, .classes = classes, .constant = true};
        const struct dp_fit_budget budget = {.epsilon = 1, .delta = 1e-5};
        struct dp_fit fit;
        if (classes != 1) {
            assert_int_equal(dp_fit_choose(&facts, &budget, dp_fit_loss(classes), &fit, &err), DP_OK);
            assert_true(fit.intercept == (classes == 0 ? 0.1 : 0));
        }
    }
}

/* Near the noise the bound of a lap moves by .4 persons over the noise of a count, else by .15 / (1 − quantile). */
TEST(bounds_move_slowly_near_the_noise)
{
    struct dp_fit fit;
    assert_int_equal(choose(&fit, 1070, 11, 0, 0, 0.1, 1e-5, false), DP_OK);
    assert_near(fit.quantile_rate, 0.4 * 1070 / fit.counts, 1e-6);
    assert_int_equal(choose(&fit, 6000, 10, 0, 0, 1, 1e-5, false), DP_OK);
    assert_near(fit.quantile_rate, 0.15 / (1 - fit.quantile), 1e-5);
}

/* The rest and the cost are less than the whole, by a digit that nobody is shown. */
TEST(what_a_schema_leaves)
{
    struct dp_fit_budget budget = {.epsilon = 1, .delta = 1e-5};
    assert_int_equal(dp_fit_left(&budget, 0.1, 1e-6, "d.dp", &err), DP_OK);
    assert_true(budget.epsilon == 0.9 && budget.delta == 8.99999999e-06);
    assert_true(budget.delta + 1e-6 < 1e-5);
    budget = (struct dp_fit_budget){.epsilon = 1, .delta = 1e-5};
    assert_int_equal(dp_fit_left(&budget, 0, 0, "d.dp", &err), DP_OK);
    assert_true(budget.epsilon == 1 && budget.delta == 1e-5);
    assert_int_equal(dp_fit_left(&budget, 1, 1e-6, "d.dp", &err), DP_E_BUDGET);
    assert_int_equal(dp_fit_left(&budget, 0.5, 1e-5, "d.dp", &err), DP_E_BUDGET);
}

/* 0.04, between a tenth and four tenths; a tenth where samples follow. */
TEST(a_schema_has_its_part)
{
    static const double part[][2] = {{0.01, 0.4}, {0.1, 0.4}, {0.16, 0.25}, {0.4, 0.1}, {1, 0.1}, {8, 0.1}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        assert_float_equal(dp_fit_schema_share(part[i][0], 131072), part[i][1], 1e-12);
        assert_float_equal(dp_fit_schema_share(part[i][0], 131073), 0.1, 0);
    }
}

TEST(default_delta)
{
    for (int64_t persons = 2; persons < 3000000; persons += 1 + persons / 7) {
        double delta = dpline_fit_delta(persons), most = pow((double)persons, -1.1);
        assert_true(delta < most && 10 * delta >= most * (1 - 1e-12));
    }
    assert_true(dpline_fit_delta(1000) == 1e-4 && dpline_fit_delta(24420) == 1e-5 && dpline_fit_delta(1) == 0.1);
}

TEST(refusals)
{
    struct dp_fit fit;
    assert_int_equal(choose(&fit, 99, 4, 2, 0, 100, 1e-5, false), DP_E_RUN);
    assert_int_equal(choose(&fit, 100, 4, 2, 0, 100, 1e-5, false), DP_OK);
    assert_int_equal(choose(&fit, 2000, 4, 1000, 0, 100, 1e-5, false), DP_E_RUN);
    assert_int_equal(choose(&fit, 2000, 4, 1, 0, 100, 1e-5, false), DP_E_RUN);
    assert_int_equal(choose(&fit, 2000, 8, 2, 0, 0.01, 1e-5, false), DP_E_BUDGET);
    assert_int_equal(choose(&fit, 2000, 8, 2, 0, 0.016, 1e-5, false), DP_OK);
    assert_int_equal(choose(&fit, 3000, 8, 2, 0, 0.01, 1e-5, false), DP_OK);
    /* replace-one doubles what a person can change */
    assert_int_equal(choose(&fit, 3000, 8, 2, 0, 0.01, 1e-5, true), DP_E_BUDGET);
    assert_int_equal(choose(&fit, 2000, 8, 2, 0, 0, 1e-5, false), DP_E_USAGE);
    assert_int_equal(choose(&fit, 2000, 8, 2, 0, NAN, 1e-5, false), DP_E_USAGE);
    assert_int_equal(choose(&fit, 2000, 8, 2, 0, 1, 1, false), DP_E_USAGE);
    assert_int_equal(choose(&fit, 0, 8, 2, 0, 1, 1e-5, false), DP_E_USAGE);
}

/* On small tables R² was far below 0 without the transform, at every reach. With it, R² was below 0 if the reach was below 8. */
TEST(numbers_are_transformed_or_refused)
{
    struct dp_fit fit;
    int runs = 0, refused = 0;
    for (double epsilon = 0.02; epsilon < 2; epsilon *= 1.1) {
        int rc = choose(&fit, 856, 12, 0, 0, epsilon, 1e-5, false);
        refused += rc == DP_E_BUDGET;
        runs += rc == DP_OK;
        assert_true(rc == DP_OK ? fit.run == DP_FIT_UNCUT && fit.reach >= 8 : rc == DP_E_BUDGET && fit.reach < 8);
    }
    assert_true(runs > 5 && refused > 5);
    assert_int_equal(choose(&fit, 856, 9000, 0, 0, 100, 1e-5, false), DP_OK);
    assert_int_equal(fit.run, DP_FIT_PLAIN); /* too many columns for a transform */
    assert_int_equal(choose(&fit, 856, 12, 2, 0, 0.1, 1e-5, false), DP_OK);
    assert_int_equal(fit.run, DP_FIT_PLAIN);
}

TEST(what_is_counted_is_named)
{
    struct dp_fit_facts facts = {.persons = 2000, .columns = 8, .classes = 2};
    const struct dp_fit_budget budget = {.epsilon = 0.01, .delta = 1e-5};
    struct dp_fit fit;
    assert_fails(dp_fit_choose(&facts, &budget, DP_LOSS_LOGISTIC, &fit, &err), DP_E_BUDGET,
                 "epsilon 0.01 at delta 1e-05 does not pay for one useful lap over 2000 rows of 8 columns; "
                 "epsilon 0.016 would, and so would 3000 rows");
    facts.rows_per_person = 3;
    assert_fails(dp_fit_choose(&facts, &budget, DP_LOSS_LOGISTIC, &fit, &err), DP_E_BUDGET,
                 "epsilon 0.01 at delta 1e-05 does not pay for one useful lap over 2000 persons with rows of "
                 "8 columns; epsilon 0.016 would, and so would 3000 persons");
    facts.persons = 20;
    assert_fails(dp_fit_choose(&facts, &budget, DP_LOSS_LOGISTIC, &fit, &err), DP_E_RUN,
                 "20 persons are too few to hide one of them: for 2 classes there must be 100");
}

/* The numbers that fit.sh printed when its rules were in awk. */
TEST(numbers_of_printed_runs)
{
    struct dp_fit fit;
    assert_int_equal(choose(&fit, 2000, 8, 2, 0, 1, 1e-4, false), DP_OK);
    assert_true(fit.run == DP_FIT_TRANSFORMED && fit.laps == 128 && fit.moments == 8.22544986 && fit.gradient == 39.093163 &&
                fit.scale == 0.640992 && fit.radius == 0.760766 && fit.step == 16 && fit.clip == 0.5 && fit.intercept == 0.5);
    assert_int_equal(choose(&fit, 3000, 30, 10, 0, 0.05, 1e-4, false), DP_OK);
    assert_true(fit.run == DP_FIT_PLAIN && fit.laps == 64 && fit.gradient == 369.303218 && fit.scale == 0.5 &&
                fabs(fit.step - pow(30 / (fit.whole), 0.8)) < 1e-5 && fit.last && fit.clip == 0.35);
    assert_int_equal(choose(&fit, 3000, 30, 10, 0, 0.3, 1e-4, false), DP_OK);
    assert_true(fit.run == DP_FIT_TRANSFORMED && fit.unit && fit.laps == 32 && fit.moments == 23.9703478 &&
                fit.gradient == 60.4173611 && fit.step == 9.67318 && fit.radius == 0.5);
}

/* With moments the number of laps follows from reach / columns; without, the step size follows from persons / whole. */
TEST(laps_and_steps_follow_the_budget)
{
    struct dp_fit fit;
    assert_int_equal(choose(&fit, 12000, 1024, 2, 0, 1, 1e-5, false), DP_OK);
    assert_true(fit.run == DP_FIT_PLAIN && fit.reach > 90 && fit.reach < 0.4 * 1025);
    assert_int_equal(choose(&fit, 12000, 1024, 3, 0, 1, 1e-5, false), DP_OK);
    assert_true(fit.run == DP_FIT_TRANSFORMED);
    for (double epsilon = 0.03; epsilon < 4; epsilon *= 1.1) {
        assert_int_equal(choose(&fit, 12000, 100, 2, 0, epsilon, 1e-5, false), DP_OK);
        assert_int_equal(fit.run, fit.reach < fmax(4 * sqrt(101), 0.4 * 101) ? DP_FIT_PLAIN : DP_FIT_TRANSFORMED);
        assert_int_equal(choose(&fit, 12000, 400, 2, 0, epsilon, 1e-5, false), DP_OK);
        assert_int_equal(fit.run, fit.reach < 0.4 * 401 ? DP_FIT_PLAIN : DP_FIT_TRANSFORMED);
        assert_int_equal(choose(&fit, 12000, 100, 3, 0, epsilon, 1e-5, false), DP_OK);
        assert_int_equal(fit.run, fit.reach < 43 ? DP_FIT_PLAIN : DP_FIT_TRANSFORMED);
    }
    for (double epsilon = 0.1; epsilon < 50; epsilon *= 1.5) {
        assert_int_equal(choose(&fit, 16000, 16, 26, 0, epsilon, 1e-5, false), DP_OK);
        assert_true(fit.run == DP_FIT_TRANSFORMED && fit.scale == 0.5);
        assert_near((double)fit.laps, fmin(fmax(9 * fit.reach / 17, 32), 128), 0.51);
        assert_int_equal(choose(&fit, 16000, 100, 2, 0, epsilon + 0.3, 1e-5, false), DP_OK);
        assert_true(fit.run == DP_FIT_TRANSFORMED);
        assert_near((double)fit.laps, fmin(fmax(9 * fit.reach / 101, 16), 128), 0.51);
        assert_int_equal(choose(&fit, 16000, 10000, 2, 0, epsilon + 1, 1e-5, false), DP_OK);
        assert_true(fit.run == DP_FIT_PLAIN && fit.scale == 0.6 && fit.clip == 0.3 && fit.last);
        assert_near(fit.step, fmin(1.6 * pow(16000 / fit.whole / 100, 0.7), 64), 1e-4);
    }
    /* near the noise steps without a transform are short: (x / 12)² */
    for (double epsilon = 0.05; epsilon < 0.3; epsilon *= 1.3) {
        assert_int_equal(choose(&fit, 2000, 60, 2, 0, epsilon, 1e-5, false), DP_OK);
        const double near = fmin(fit.reach * fit.reach / 144, 1), size = 20 / fit.whole;
        assert_true(fit.run == DP_FIT_PLAIN);
        assert_near(fit.step, near * 1.6 * pow(size, 0.7), 1e-5);
        assert_int_equal(choose(&fit, 2000, 60, 3, 0, epsilon, 1e-5, false), DP_OK);
        assert_near(fit.step, near * pow(size, 0.8), 1e-5);
    }
}

/* Two classes: rows are cut less where the budget reaches far, and from a radius of 1 on the weights stay as they are. */
TEST(rows_are_cut_less_far_from_the_noise)
{
    struct dp_fit fit;
    for (double epsilon = 0.1; epsilon < 12; epsilon *= 1.3) {
        assert_int_equal(choose(&fit, 50000, 15, 2, 0, epsilon, 1e-5, false), DP_OK);
        assert_near(fit.radius, fmin(fmax(0.7 * pow(fit.reach / 150, 0.25), 0.7), 2), 1e-5);
        assert_near(fit.scale, fit.radius < 1 ? 0.62 * pow(fit.radius / 0.7, 0.4) : 0.715076, 1e-5);
    }
    assert_true(fit.radius == 2);
}

/* 60,000 images of 28 x 28: the whole budget is for gradients, and the path has the same length, in units of the clip bound,
   at each epsilon. */
TEST(images_go_a_way_of_their_own)
{
    struct dp_fit_facts facts = {.persons = 60000, .columns = 1841, .classes = 10, .constant = true, .images = true};
    struct dp_fit_budget budget = {.epsilon = 1, .delta = 1e-5};
    struct dp_fit fit;
    for (budget.epsilon = 0.5; budget.epsilon < 4; budget.epsilon *= 2) {
        assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_SOFTMAX, &fit, &err), DP_OK);
        assert_true(fit.run == DP_FIT_DECAYED && fit.laps == 128 && fit.clip == 0.02 && fit.intercept == 0);
        double spent = cost(&fit, budget.delta);
        assert_true(spent <= budget.epsilon && spent > 0.999 * budget.epsilon);
        /* the steps of all laps, each over 1 - m, in units of the clip bound */
        double way = 0;
        for (int t = 1; t <= 128; t++)
            way += fit.step * fit.clip / 0.1 * (1 - (t - 1) / 128.);
        assert_near(way / (36000 * pow(fit.reach / 415, 0.7)), 129. / 128, 1e-4);
    }
    budget.epsilon = 1e-4;
    assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_SOFTMAX, &fit, &err), DP_E_BUDGET);
    facts.classes = 0;
    budget.epsilon = 1;
    assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_SQUARED, &fit, &err), DP_OK);
    assert_true(fit.run == DP_FIT_UNCUT);
    /* near the noise steps are short: (x / 20)² */
    for (int64_t persons = 1070; persons < 6000; persons += 500) {
        assert_int_equal(choose(&fit, persons, 12, 0, 0, 0.1, 1e-5, false), DP_OK);
        assert_near(fit.step, fmin(fmax(fit.reach * fit.reach / 400, 0.25), 1), 1e-5);
    }
}

TEST(rows_of_a_person_share_a_step)
{
    struct dp_fit one, three;
    assert_int_equal(choose(&one, 6000, 10, 0, 0, 1, 1e-5, false), DP_OK);
    assert_int_equal(choose(&three, 6000, 10, 0, 3, 1, 1e-5, false), DP_OK);
    assert_true(one.step == 1 && three.step == 0.333333 && three.gradient == one.gradient);
    assert_int_equal(choose(&three, 6000, 10, 2, 3, 1, 1e-5, false), DP_OK);
    assert_true(three.step == 16);
}

/* The delta of a Gaussian mechanism of that mu at epsilon (Balle and Wang 2018, equation 6). */
static double delta_of(double mu, double epsilon)
{
    return erfc((epsilon / mu - mu / 2) / sqrt(2)) / 2 - exp(epsilon) * erfc((epsilon / mu + mu / 2) / sqrt(2)) / 2;
}

/* Schema, knots and run are one composition: the run has what the curve of all leaves, and not more. */
TEST(a_run_has_what_its_schema_leaves)
{
    const int64_t classes[] = {0, 2, 3};
    struct dp_fit_budget budget = {.epsilon = 1, .delta = 1e-5, .before = 0.03, .named = 5e-7};
    struct dp_fit_facts facts = {.persons = 20000, .columns = 40, .constant = true, .here = true};
    struct dp_fit fit, free;
    for (size_t i = 0; i < 3; i++)
        for (budget.epsilon = 0.25; budget.epsilon <= 4; budget.epsilon *= 4) {
            facts.classes = classes[i];
            enum dp_loss loss = dp_fit_loss(classes[i]);
            assert_int_equal(dp_fit_choose(&facts, &budget, loss, &fit, &err), DP_OK);
            assert_int_equal(
                dp_fit_choose(&facts, &(struct dp_fit_budget){.epsilon = budget.epsilon, .delta = 1e-5}, loss, &free, &err),
                DP_OK);
            assert_true(fit.whole > free.whole && fit.rate == 1);
            double laps = (double)(fit.laps + fit.temperature);
            double squares = fit.moments > 0 ? 1 / (fit.moments * fit.moments) : 0;
            if (fit.run == DP_FIT_UNCUT)
                laps = (double)fit.late + DP_FIT_EARLY * (double)(fit.laps - fit.late);
            squares += laps / (fit.gradient * fit.gradient);
            squares += fit.counts > 0 ? (double)fit.laps / (fit.counts * fit.counts) : 0;
            double delta = budget.named + delta_of(sqrt(squares + budget.before * budget.before), budget.epsilon);
            assert_true(delta <= budget.delta && delta > 0.999 * budget.delta);
        }
    /* a schema that has cost all of it */
    budget = (struct dp_fit_budget){.epsilon = 0.25, .delta = 1e-5, .before = 0.2, .named = 5e-7};
    assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_SOFTMAX, &fit, &err), DP_E_BUDGET);
    /* samples are no Gaussian of all rows */
    facts.persons = 4 * DP_FIT_MOST_COMPOSED;
    budget = (struct dp_fit_budget){.epsilon = 1, .delta = 1e-7, .before = 0.01, .named = 1e-8};
    assert_int_equal(dp_fit_choose(&facts, &budget, DP_LOSS_SOFTMAX, &fit, &err), DP_OK);
    assert_true(fit.rate == 1);
}

/* Rows that arrive: the windows are of 1/256 of them and at most 2^20 bytes, and all laps have the noise of one release. */
TEST(a_stream_is_one_release)
{
    static const struct {
        int64_t rows, columns, classes, window, laps, bands;
        double step;
    } runs[] = {
        {100000, 20, 2, 390, 256, 256, 30},
        {1000, 20, 2, 3, 333, 333, 23.0631},
        {511, 20, 3, 1, 511, 511, 15.0294},
        {512, 20, 3, 2, 256, 256, 30},
        {10000000, 1000, 2, 261, 38314, 4096, 0.200449},
        {5000, 300000, 2, 1, 5000, 4096, 1.536},
        {10000000, 20, 0, 10922, 915, 915, 0.279781},
    };
    struct dp_fit fit;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (double epsilon = 0.5; epsilon < 9; epsilon *= 4) {
            const struct dp_fit_facts facts = {
                .persons = runs[i].rows, .columns = runs[i].columns, .classes = runs[i].classes, .constant = true};
            const struct dp_fit_budget budget = {.epsilon = epsilon, .delta = 1e-6};
            assert_int_equal(dp_fit_stream(&facts, &budget, dp_fit_loss(facts.classes), &fit, &err), DP_OK);
            assert_int_equal(fit.run, DP_FIT_STREAM);
            assert_int_equal(fit.window, runs[i].window);
            assert_int_equal(fit.laps, runs[i].laps);
            assert_int_equal(fit.bands, runs[i].bands);
            assert_near(fit.step, runs[i].step, 1e-5 * runs[i].step);
            assert_true(fit.clip == 1 && fit.rate == 1 && fit.moments == 0 && fit.counts == 0 && fit.temperature == 0);
            double delta = delta_of(1 / fit.gradient, epsilon);
            assert_true(delta <= 1e-6 && delta > 0.999e-6);
        }
    /* near the noise the steps of numbers are short; 2000 rows are 285 windows of 7 */
    const struct dp_fit_facts numbers = {.persons = 2000, .columns = 20, .constant = true};
    const struct dp_fit_budget one = {.epsilon = 1, .delta = 1e-5}, none = {.delta = 1e-5};
    assert_int_equal(dp_fit_stream(&numbers, &one, DP_LOSS_SQUARED, &fit, &err), DP_OK);
    assert_near(fit.step, 256. / 285 / fit.gradient, 1e-6);
    /* what a schema has cost is part of the same curve */
    const struct dp_fit_budget left = {.epsilon = 1, .delta = 1e-5, .before = 0.1, .named = 5e-7};
    assert_int_equal(dp_fit_stream(&numbers, &left, DP_LOSS_SQUARED, &fit, &err), DP_OK);
    double delta = left.named + delta_of(sqrt(1 / (fit.gradient * fit.gradient) + 0.01), 1);
    assert_true(delta <= 1e-5 && delta > 0.999e-5);
    assert_int_equal(dp_fit_stream(&numbers, &none, DP_LOSS_SQUARED, &fit, &err), DP_E_USAGE);
    const struct dp_fit_facts few = {.persons = 99, .columns = 20, .classes = 2, .constant = true};
    assert_fails(dp_fit_stream(&few, &one, DP_LOSS_LOGISTIC, &fit, &err), DP_E_RUN,
                 "99 rows are too few to hide one of them: for 2 classes there must be 100");
}

TEST(of_the_library)
{
    const struct dpline_fit_facts facts = {.persons = 2000, .columns = 8, .classes = 2};
    struct dpline_fit fit;
    struct dpline_error error;
    assert_int_equal(dpline_fit_choose(&facts, 1, 0, 0, NULL, &fit, &error), 0);
    assert_true(fit.run == DPLINE_FIT_TRANSFORMED && fit.delta == 1e-4 && fit.gradient == 39.093163 && fit.laps == 128);
    assert_string_equal(fit.loss, "logistic");
    assert_int_equal(fit.temperature, 0);
    assert_int_equal(
        dpline_fit_choose(&(struct dpline_fit_facts){.persons = 2000, .columns = 8, .classes = 3}, 1, 0, 0, NULL, &fit, &error),
        0);
    assert_int_equal(fit.temperature, 4);
    assert_int_equal(dpline_fit_choose(&facts, 1, 1e-4, 0, "huberised-hinge", &fit, &error), 0);
    assert_true(fit.clip == 1 && fit.step == 4 && fit.scale == 1);
    assert_int_equal(dpline_fit_choose(&facts, 1, 0, 0, "hinge", &fit, &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_fit_choose(&facts, 1, 0, 0, "hub", &fit, &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_fit_choose(&facts, 0.001, 0, 0, NULL, &fit, &error), DPLINE_E_BUDGET);
}

/* Curves are from a reach of 55 on. Near the noise they are for two classes, from a larger reach on if lines have a
 * transform. */
TEST(curves_need_a_reach)
{
    const struct dp_fit below = {.reach = 54.9}, at = {.reach = 55};
    struct dp_fit_facts facts = {.columns = 62, .constant = true};
    assert_false(dp_fit_curves(&facts, &below));
    assert_true(dp_fit_curves(&facts, &at));
    /* 38 lines have no transform below a reach of 25, over 62 columns 19 */
    const struct dp_fit near = {.reach = 1.87}, noise = {.reach = 1.85};
    facts.classes = 2;
    assert_false(dp_fit_curves(&facts, &near));
    facts.cosines = 24;
    assert_true(dp_fit_curves(&facts, &near));
    assert_false(dp_fit_curves(&facts, &noise));
    facts.classes = 3;
    assert_false(dp_fit_curves(&facts, &near));
    /* 6 lines have one from a reach of 9.8 on, over 46 columns 3.54 */
    facts = (struct dp_fit_facts){.columns = 46, .classes = 2, .cosines = 40, .constant = true};
    const struct dp_fit first = {.reach = 3.5}, second = {.reach = 9.1}, third = {.reach = 9.3};
    assert_true(dp_fit_curves(&facts, &first));
    assert_false(dp_fit_curves(&facts, &second));
    assert_true(dp_fit_curves(&facts, &third));
}

/* A column for each 12 persons times mu, at most 700, with the constant one. */
TEST(products_need_persons)
{
    struct dp_fit_facts facts = {.columns = 120, .constant = true};
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 3600.001 / sqrt(120)}), 180);
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 3599.9 / sqrt(120)}), 179);
    facts.constant = false;
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 3600.001 / sqrt(121), .intercept = 0.5}), 179);
    facts.constant = true;
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 1440 / sqrt(120)}), 0);
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 1e6}), 580);
    facts.classes = 2;
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 1e6}), 580);
    facts.classes = 3;
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 1e6}), 0);
    facts = (struct dp_fit_facts){.columns = 700, .constant = true};
    assert_int_equal(dp_fit_products(&facts, &(struct dp_fit){.reach = 1e6}), 0);
}

TESTS(NULL, NULL)
