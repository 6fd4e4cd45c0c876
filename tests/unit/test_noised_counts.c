/* Measures from counts with Laplace noise: tails against closed forms, and how often intervals hold the exact measure. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_randist.h>

#include "math/noised_counts.h"

enum { RUNS = 1000 };

TEST(tails_have_their_closed_forms)
{
    for (double x = 0; x < 60; x = 1.3 * x + 0.1) {
        assert_near(dp_noised_beyond(1, 1, 0, 0, x), exp(-x), 1e-5);
        assert_near(dp_noised_beyond(1, 2, 3, 0, x), exp(-x / 2), 1e-5);
        assert_near(dp_noised_beyond(2, 1, 0, 0, x), exp(-x) * (1 + x / 2), 1e-5);
        assert_near(dp_noised_beyond(1, 2, 1, 1, x), (4 * exp(-x / 2) - exp(-x)) / 3, 1e-5);
    }
    assert_near(dp_noised_within(1, 5), 5 * log(20), 1e-4);
}

static struct dp_estimate measure(int which, const double *counts, size_t classes, double persons, double scale)
{
    static const enum dp_metric_rate rate[] = {DP_METRIC_PRECISION, DP_METRIC_RECALL, DP_METRIC_F1};
    if (which == 3 || which == 5)
        return dp_noised_accuracy(counts, classes, which == 3 ? persons : (double)NAN, scale);
    if (which == 4 || which == 6) /* the sum comes after the counts */
        return dp_noised_mean(counts[classes * classes], counts, classes, which == 4 ? persons : (double)NAN, scale);
    if (which == 7 || which == 8)
        return dp_noised_majority(counts, classes, which == 7 ? persons : (double)NAN, scale);
    return dp_noised_rate(rate[which], counts, classes, scale);
}

/* How many of RUNS intervals hold the measure of the exact counts. */
static int held(gsl_rng *rng, int which, const double *exact, size_t classes, double scale, int runs)
{
    double persons = 0, noised[17];
    int in = 0;
    for (size_t i = 0; i < classes * classes; i++)
        persons += exact[i];
    double truth = measure(which, exact, classes, persons, 1e-9).value;
    for (int run = 0; run < runs; run++) {
        for (size_t i = 0; i <= classes * classes; i++)
            noised[i] = exact[i] + gsl_ran_laplace(rng, scale);
        struct dp_estimate m = measure(which, noised, classes, persons, scale);
        assert_true(m.low <= m.high && m.low >= 0 && m.high <= 1);
        in += m.low <= truth + 1e-12 && truth <= m.high + 1e-12;
    }
    return in;
}

/* With two classes the level is .95: of 1,000 runs, a number that is 5 standard deviations (34) off has probability 6e-7 in each
 * of 18 cells; the generator has the same seed each time, so the test does not fail by chance. */
LONG_TEST(intervals_of_two_classes_hold_95_percent)
{
    const double exact[2][5] = {{700, 200, 180, 920, 310}, {40, 3, 5, 12, 9}};
    gsl_rng *rng = random_numbers();
    for (int table = 0; table < 2; table++)
        for (int which = 0; which < 9; which++) {
            /* The noise may cut an interval at 0 or 1, but not away from the truth. */
            int in = held(rng, which, exact[table], 2, 4, RUNS);
            double spread = 5 * sqrt(0.95 * 0.05 * RUNS);
            assert_true(in > 0.95 * RUNS - spread);
            assert_true(table > 0 || which > 6 || in < 0.95 * RUNS + spread); /* the most frequent class: at least so often */
        }
}

LONG_TEST(intervals_of_more_classes_hold_at_least_95_percent)
{
    const double exact[10] = {300, 20, 10, 30, 250, 40, 5, 15, 330, 170};
    gsl_rng *rng = random_numbers();
    /* Intervals of rates of more classes hold more often. Accuracy and a mean may be 3 standard deviations off. */
    for (int which = 0; which < 9; which++)
        assert_true(held(rng, which, exact, 3, 3, RUNS) >= 0.95 * RUNS - (which >= 3 ? 3 * sqrt(0.95 * 0.05 * RUNS) : 0));
}

TEST(without_noise_the_measures_are_those_of_the_counts)
{
    const double counts[4] = {700, 200, 180, 920};
    uint64_t whole[4] = {700, 200, 180, 920};
    for (int rate = 0; rate < 3; rate++) {
        struct dp_estimate m = dp_noised_rate((enum dp_metric_rate)rate, counts, 2, 1e-9);
        assert_near(m.value, dp_metric_rate((enum dp_metric_rate)rate, whole, 2), 1e-12);
        assert_near(m.low, m.value, 1e-9);
        assert_near(m.high, m.value, 1e-9);
    }
    assert_near(dp_noised_accuracy(counts, 2, 2000, 1e-9).value, 0.81, 1e-12);
    assert_near(dp_noised_accuracy(counts, 2, (double)NAN, 1e-9).value, 0.81, 1e-12);
    for (int which = 7; which < 9; which++)
        assert_near(measure(which, counts, 2, 2000, 1e-9).value, 0.55, 1e-12); /* (180 + 920) / 2000 */
    assert_near(dp_noised_mean(500, counts, 2, (double)NAN, 1e-9).high, 0.25, 1e-9);
}

TEST(what_noise_leaves_no_rate_of_has_no_value)
{
    const double counts[4] = {10, -3, 1, 2};
    struct dp_estimate m = dp_noised_rate(DP_METRIC_PRECISION, counts, 2, 5);
    assert_true(isnan(m.value) && m.low == 0 && m.high == 1);
}

/* Ten classes of 100 rows each: the largest of ten noised counts is far above 100, and a level of .95 for each class would hold
 * too rarely. 5 standard deviations (34) below .95: 6e-7, and the seed is fixed. */
TEST(the_most_frequent_of_equal_classes_is_in_its_interval)
{
    double noised[100];
    int in = 0;
    gsl_rng *rng = random_numbers();
    for (int run = 0; run < RUNS; run++) {
        for (size_t i = 0; i < 100; i++)
            noised[i] = 10 + gsl_ran_laplace(rng, 2);
        struct dp_estimate m = dp_noised_majority(noised, 10, 1000, 2);
        in += m.low <= 0.1 && 0.1 <= m.high;
    }
    assert_true(in > 0.95 * RUNS - 5 * sqrt(0.95 * 0.05 * RUNS));
}

TESTS(NULL, NULL)
