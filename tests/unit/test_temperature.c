/* math/temperature.h, against differences of the loss, and a search for the best factor. */
#include "random.h"
#include "unit.h"

#include "math/metrics.h"
#include "math/temperature.h"

enum { OUTPUTS = 7 };

static double loss_at(enum dp_loss loss, double label, size_t classes, const double *u, size_t outputs, double factor)
{
    double scaled[OUTPUTS];
    for (size_t k = 0; k < outputs; k++)
        scaled[k] = factor * u[k];
    return dp_loss_row_value(loss, 1, label, classes, scaled, outputs);
}

TEST(derivatives_are_those_of_the_loss)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 3000; i++) {
        const size_t classes = 2 + gsl_rng_uniform_int(rng, 6), outputs = dp_loss_outputs(classes);
        const enum dp_loss loss = classes > 2 && i % 3 > 0 ? DP_LOSS_SOFTMAX : DP_LOSS_LOGISTIC;
        const double label = (double)gsl_rng_uniform_int(rng, classes), size = pow(10, gsl_rng_uniform(rng) * 2 - 1), h = 1e-4;
        double u[OUTPUTS], slope[OUTPUTS], pair[2];
        for (size_t k = 0; k < outputs; k++)
            u[k] = size * (2 * gsl_rng_uniform(rng) - 1);
        dp_temperature_row(loss, label, classes, u, outputs, slope, pair);
        double above = loss_at(loss, label, classes, u, outputs, 1 + h),
               below = loss_at(loss, label, classes, u, outputs, 1 - h);
        double at = loss_at(loss, label, classes, u, outputs, 1);
        assert_near(pair[0] * DP_TEMPERATURE_UNIT, (above - below) / (2 * h), 1e-6 * (1 + size));
        assert_near(pair[1] * DP_TEMPERATURE_UNIT * DP_TEMPERATURE_UNIT, (above - 2 * at + below) / (h * h),
                    1e-5 * (1 + size * size));
        assert_true(pair[1] >= 0);
    }
}

/* Scores that differ by hundreds have probabilities of 0 and 1, and finite numbers. */
TEST(large_scores)
{
    double u[3] = {900, -900, 0}, slope[3], pair[2];
    dp_temperature_row(DP_LOSS_SOFTMAX, 0, 3, u, 3, slope, pair);
    assert_true(pair[0] == 0 && pair[1] == 0);
    dp_temperature_row(DP_LOSS_SOFTMAX, 1, 3, u, 3, slope, pair);
    assert_near(pair[0] * DP_TEMPERATURE_UNIT, 1800, 1e-9);
    assert_near(pair[1], 0, 1e-9);
    dp_temperature_row(DP_LOSS_LOGISTIC, 0, 2, u, 1, slope, pair);
    assert_near(pair[0] * DP_TEMPERATURE_UNIT, 900, 1e-9);
    assert_near(pair[1], 0, 1e-9);
}

/* Newton's steps on the exact sums of 500 rows, whose labels are drawn from scores of half the size or of twice it. */
TEST(the_steps_find_the_factor)
{
    gsl_rng *rng = random_numbers();
    for (int round = 0; round < 4; round++) {
        const double truth = round % 2 == 0 ? 0.5 : 2;
        double u[4000][4], slope[4], factor = 1, best = 0, least = INFINITY;
        int label[4000];
        for (int i = 0; i < 4000; i++) {
            double total = 0;
            for (int k = 0; k < 4; k++)
                total += exp(truth * (u[i][k] = 4 * gsl_rng_uniform(rng) - 2));
            double left = total * gsl_rng_uniform(rng);
            for (label[i] = 0; label[i] < 3 && (left -= exp(truth * u[i][label[i]])) > 0; label[i]++)
                ;
        }
        for (int64_t turn = 1; turn <= 8; turn++) {
            double mean[2] = {0};
            for (int i = 0; i < 4000; i++) {
                double pair[2], scaled[4];
                for (int k = 0; k < 4; k++)
                    scaled[k] = factor * u[i][k];
                dp_temperature_row(DP_LOSS_SOFTMAX, label[i], 4, scaled, 4, slope, pair);
                mean[0] += pair[0] / 4000;
                mean[1] += pair[1] / 4000;
            }
            factor *= dp_temperature_factor(mean, 0, turn);
        }
        for (double f = 0.2; f < 4; f *= 1.002) {
            double sum = 0;
            for (int i = 0; i < 4000; i++)
                sum += loss_at(DP_LOSS_SOFTMAX, label[i], 4, u[i], 4, f);
            if (sum < least) {
                least = sum;
                best = f;
            }
        }
        assert_near(factor / best, 1, 0.003);
        assert_near(factor / truth, 1, 0.1);
    }
}

TEST(a_factor_has_bounds)
{
    assert_true(dp_temperature_factor((double[]){0, 1}, 0, 1) == 1);
    assert_near(dp_temperature_factor((double[]){0.3, 1}, 0, 1), 0.9, 1e-12);
    assert_near(dp_temperature_factor((double[]){0.3, 1}, 0, 2), 0.9, 1e-12);
    assert_near(dp_temperature_factor((double[]){0.3, 1}, 0, 4), 0.95, 1e-12);
    assert_near(dp_temperature_factor((double[]){0.3, 1}, 2, 1), 1 - 0.1 / 4,
                1e-12); /* twice the noise is above the curvature */
    assert_true(dp_temperature_factor((double[]){9, 1}, 0, 1) == 0.5);
    assert_true(dp_temperature_factor((double[]){-9, 1}, 0, 1) == 2);
    assert_near(dp_temperature_factor((double[]){0.003, -4}, 0, 1), 0.9, 1e-12); /* noise made the curvature negative: 0.01 */
    assert_true(dp_metric_has_probability(DP_LOSS_LOGISTIC) && dp_metric_has_probability(DP_LOSS_SOFTMAX));
    assert_false(dp_metric_has_probability(DP_LOSS_HUBERISED_HINGE) || dp_metric_has_probability(DP_LOSS_SQUARED) ||
                 dp_metric_has_probability(DP_LOSS_POISSON));
}

TESTS(NULL, NULL)
