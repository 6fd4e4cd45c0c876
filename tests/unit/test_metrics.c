/* Metrics against a plain computation of their definitions, on random data with ties. */
#include "unit.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>

#include "math/metrics.h"

enum { ROWS = 160, CLASSES = 4, COLS = 5 };

struct data {
    gsl_rng *rng;
    double scores[ROWS * CLASSES], y[ROWS];
    uint64_t work[DP_METRIC_AUC_WORK(ROWS)];
};

/* levels: scores have only this many values, so many are equal; 0: any real values. */
static void fill(struct data *d, size_t outputs, size_t classes, unsigned levels)
{
    for (size_t i = 0; i < ROWS; i++)
        d->y[i] = classes > 0 ? (double)gsl_rng_uniform_int(d->rng, classes) : 4 * gsl_rng_uniform(d->rng) - 2;
    for (size_t i = 0; i < ROWS * outputs; i++)
        d->scores[i] =
            levels > 0 ? (double)gsl_rng_uniform_int(d->rng, levels) - levels / 2 : 20 * gsl_rng_uniform(d->rng) - 10;
}

static double auc_by_pairs(const struct data *d, size_t outputs, size_t output, size_t class, size_t rows)
{
    double won = 0, pairs = 0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < rows; j++) {
            if ((size_t)d->y[i] != class || (size_t)d->y[j] == class)
                continue;
            double a = d->scores[i * outputs + output], b = d->scores[j * outputs + output];
            won += a > b ? 1 : a == b ? 0.5 : 0;
            pairs++;
        }
    }
    return won / pairs;
}

TEST(auc_counts_pairs)
{
    struct data *d = *state;
    for (unsigned levels = 0; levels <= 12; levels++) {
        for (size_t rows = 2; rows <= ROWS; rows += 13) {
            fill(d, 1, 2, levels);
            double expected = auc_by_pairs(d, 1, 0, 1, rows), got = dp_metric_auc(d->scores, 1, d->y, rows, d->work);
            if (isnan(expected))
                assert_true(isnan(got));
            else
                assert_near(got, expected, 1e-15);
        }
    }
}

TEST(auc_of_many_classes_is_the_mean)
{
    struct data *d = *state;
    for (unsigned levels = 0; levels <= 6; levels++) {
        fill(d, CLASSES, CLASSES, levels);
        double sum = 0;
        for (size_t k = 0; k < CLASSES; k++)
            sum += auc_by_pairs(d, CLASSES, k, k, ROWS);
        assert_near(dp_metric_auc(d->scores, CLASSES, d->y, ROWS, d->work), sum / CLASSES, 1e-15);
        /* A class without rows is left out. */
        for (size_t i = 0; i < ROWS; i++)
            if (d->y[i] == 2)
                d->y[i] = 0;
        sum =
            auc_by_pairs(d, CLASSES, 0, 0, ROWS) + auc_by_pairs(d, CLASSES, 1, 1, ROWS) + auc_by_pairs(d, CLASSES, 3, 3, ROWS);
        assert_near(dp_metric_auc(d->scores, CLASSES, d->y, ROWS, d->work), sum / 3, 1e-15);
    }
}

TEST(auc_at_the_edges)
{
    struct data *d = *state;
    const double scores[] = {-INFINITY, -0.0, 0.0, INFINITY, -1e308, 1e-308};
    const double apart[] = {0, 0, 1, 1, 0, 1}, same[] = {1, 1, 1, 1, 1, 1};
    assert_near(dp_metric_auc(scores, 1, apart, 6, d->work), (8 + 0.5) / 9, 1e-15); /* −0 and 0 are equal */
    assert_true(isnan(dp_metric_auc(scores, 1, same, 6, d->work)));
    assert_true(isnan(dp_metric_auc(scores, 1, same, 0, d->work)));
    for (size_t i = 0; i < ROWS; i++) {
        d->y[i] = i >= 40;
        d->scores[i] = (double)i;
    }
    assert_true(dp_metric_auc(d->scores, 1, d->y, ROWS, d->work) == 1);
    for (size_t i = 0; i < ROWS; i++)
        d->scores[i] = -(double)i;
    assert_true(dp_metric_auc(d->scores, 1, d->y, ROWS, d->work) == 0);
}

TEST(ties_go_to_the_lower_class)
{
    const double zero = 0, tiny = 5e-324, level[] = {1, 3, 3, 2}, all[] = {0, 0, 0, 0};
    assert_int_equal(dp_metric_class(&zero, 1), 0);
    assert_int_equal(dp_metric_class(&tiny, 1), 1);
    assert_int_equal(dp_metric_class(level, 4), 1);
    assert_int_equal(dp_metric_class(all, 4), 0);
}

TEST(accuracy_and_confusion_agree)
{
    struct data *d = *state;
    for (size_t classes = 2; classes <= CLASSES; classes++) {
        size_t outputs = classes == 2 ? 1 : classes;
        for (unsigned levels = 0; levels <= 8; levels += 4) {
            uint64_t counts[CLASSES * CLASSES], expected[CLASSES * CLASSES] = {0}, total = 0, right = 0, most = 0;
            fill(d, outputs, classes, levels);
            for (size_t i = 0; i < ROWS; i++) {
                const double *u = d->scores + i * outputs;
                size_t order[CLASSES];
                gsl_sort_largest_index(order, 1, u, 1, outputs);
                size_t best = outputs == 1 ? u[0] > 0 : order[0];
                for (size_t k = outputs; outputs > 1 && k-- > 0;)
                    if (u[k] == u[order[0]])
                        best = k;
                expected[(size_t)d->y[i] * classes + best]++;
            }
            dp_metric_confusion(d->scores, outputs, d->y, ROWS, classes, counts);
            for (size_t i = 0; i < classes * classes; i++) {
                assert_int_equal(counts[i], expected[i]);
                total += counts[i];
                right += i % (classes + 1) == 0 ? counts[i] : 0;
            }
            assert_int_equal(total, ROWS);
            for (size_t k = 0; k < classes; k++) {
                uint64_t rows = 0;
                for (size_t j = 0; j < classes; j++)
                    rows += counts[k * classes + j];
                most = rows > most ? rows : most;
            }
            assert_true(dp_metric_majority(d->y, ROWS, classes, counts) == (double)most / ROWS);
            assert_near(dp_metric_accuracy(d->scores, outputs, d->y, ROWS), (double)right / ROWS, 1e-15);
        }
    }
    assert_true(isnan(dp_metric_accuracy(d->scores, 1, d->y, 0)));
    uint64_t none[2];
    assert_true(isnan(dp_metric_majority(d->y, 0, 2, none)));
}

TEST(log_loss_from_probabilities)
{
    struct data *d = *state;
    for (size_t classes = 2; classes <= CLASSES; classes++) {
        size_t outputs = classes == 2 ? 1 : classes;
        double sum = 0;
        fill(d, outputs, classes, 0);
        for (size_t i = 0; i < ROWS; i++) {
            double p[CLASSES], plain[CLASSES], total = 0, mass = 0;
            for (size_t k = 0; k < outputs; k++)
                total += plain[k] = 1 / (1 + exp(-d->scores[i * outputs + k]));
            if (outputs == 1) {
                plain[1] = plain[0];
                plain[0] = 1 - plain[1];
                total = 1;
            }
            dp_metric_probability(DP_LOSS_LOGISTIC, d->scores + i * outputs, outputs, p);
            for (size_t k = 0; k < classes; k++) {
                assert_near(p[k], plain[k] / total, 1e-12);
                mass += p[k];
            }
            assert_near(mass, 1, 1e-14);
            sum -= log(plain[(size_t)d->y[i]] / total);
        }
        assert_near(dp_metric_log_loss(DP_LOSS_LOGISTIC, d->scores, outputs, d->y, ROWS), sum / ROWS, 1e-10);
    }
    /* Even if the model is certain and wrong, the loss is a number. */
    const double sure[] = {-1e6, -2e6, -3e6}, third = 2, wrong = 1e6, zero = 0;
    assert_near(dp_metric_log_loss(DP_LOSS_LOGISTIC, sure, 3, &third, 1), 2e6, 1e-9);
    assert_near(dp_metric_log_loss(DP_LOSS_LOGISTIC, &wrong, 1, &zero, 1), 1e6, 1e-9);
}

TEST(softmax_and_poisson)
{
    struct data *d = *state;
    const struct dp_affine unit = {.scale = 1};
    double w[CLASSES * COLS] = {0}, losses = 0, error = 0;
    fill(d, CLASSES, CLASSES, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double p[CLASSES], total = 0;
        for (size_t k = 0; k < CLASSES; k++)
            total += exp(d->scores[i * CLASSES + k]);
        dp_metric_probability(DP_LOSS_SOFTMAX, d->scores + i * CLASSES, CLASSES, p);
        for (size_t k = 0; k < CLASSES; k++)
            assert_near(p[k], exp(d->scores[i * CLASSES + k]) / total, 1e-13);
        losses -= log(exp(d->scores[i * CLASSES + (size_t)d->y[i]]) / total) / ROWS;
    }
    w[3] = 2;
    assert_near(dp_metric_log_loss(DP_LOSS_SOFTMAX, d->scores, CLASSES, d->y, ROWS), losses, 1e-12);
    assert_near(dp_metric_objective(DP_LOSS_SOFTMAX, 1, 0.3, d->scores, CLASSES, d->y, unit, ROWS, CLASSES, w, CLASSES * COLS),
                losses + 0.6, 1e-12);
    assert_true(dp_metric_has_probability(DP_LOSS_SOFTMAX) && !dp_metric_has_probability(DP_LOSS_HINGE));
    /* A Poisson regression predicts e^u. */
    fill(d, 1, 0, 0);
    for (size_t i = 0; i < ROWS; i++)
        error += pow(exp(d->scores[i]) - d->y[i], 2) / ROWS;
    assert_near(dp_metric_mse(DP_LOSS_POISSON, d->scores, unit, d->y, unit, ROWS), error, 1e-12);
    /* The deviance is twice the loss, less the loss of a model that knows each count t, which is t - t ln t. */
    static const double count[] = {0, 1, 4}, score[] = {-1, 0.5, 2}, negative[] = {0, 1, -4};
    const double loss = dp_metric_objective(DP_LOSS_POISSON, 1, 0, score, 1, count, unit, 3, 0, w, 0);
    assert_near(dp_metric_deviance(DP_LOSS_POISSON, score, unit, count, unit, 3), 2 * (loss - (1 + 4 - 4 * log(4)) / 3), 1e-12);
    assert_near(dp_metric_deviance(DP_LOSS_SQUARED, count, unit, count, unit, 3), 0, 1e-12);
    assert_true(isnan(dp_metric_deviance(DP_LOSS_POISSON, score, unit, negative, unit, 3)));
    assert_true(isnan(dp_metric_deviance(DP_LOSS_SQUARED, negative, unit, count, unit, 3)));
    assert_true(isnan(dp_metric_deviance(DP_LOSS_POISSON, score, unit, count, unit, 0)));
}

TEST(errors_in_label_units)
{
    struct data *d = *state;
    const struct dp_affine model = {.scale = 3, .offset = 10}, data = {.scale = 0.5, .offset = -2};
    double error = 0, mean = 0, variance = 0;
    fill(d, 1, 0, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double truth = 0.5 * d->y[i] - 2, predicted = 3 * d->scores[i] + 10;
        error += pow(truth - predicted, 2) / ROWS;
        mean += truth / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++)
        variance += pow(0.5 * d->y[i] - 2 - mean, 2) / ROWS;
    assert_near(dp_metric_mse(DP_LOSS_SQUARED, d->scores, model, d->y, data, ROWS), error, 1e-12);
    assert_near(dp_metric_r2(DP_LOSS_SQUARED, d->scores, model, d->y, data, ROWS), 1 - error / variance, 1e-12);
    assert_near(dp_metric_r2(DP_LOSS_SQUARED, d->y, data, d->y, data, ROWS), 1, 1e-15);
    /* Predictions stay within the bounds of the label. */
    const struct dp_affine bounded = {3, 10, 9.5, 11};
    double within = 0, absolute = 0;
    size_t low = 0, high = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double truth = 0.5 * d->y[i] - 2, predicted = 3 * d->scores[i] + 10;
        low += predicted < 9.5;
        high += predicted > 11;
        predicted = fmin(fmax(predicted, 9.5), 11);
        assert_true(dp_metric_prediction(DP_LOSS_SQUARED, d->scores[i], bounded) == predicted);
        within += pow(truth - predicted, 2) / ROWS;
        absolute += fabs(truth - predicted) / ROWS;
    }
    assert_true(low > 10 && high > 10);
    assert_near(dp_metric_mse(DP_LOSS_SQUARED, d->scores, bounded, d->y, data, ROWS), within, 1e-12);
    assert_near(dp_metric_r2(DP_LOSS_SQUARED, d->scores, bounded, d->y, data, ROWS), 1 - within / variance, 1e-12);
    assert_near(dp_metric_mae(DP_LOSS_SQUARED, d->scores, bounded, d->y, data, ROWS), absolute, 1e-12);
    assert_true(isnan(dp_metric_prediction(DP_LOSS_SQUARED, NAN, bounded)));
    for (size_t i = 0; i < ROWS; i++)
        d->y[i] = 7;
    assert_true(isnan(dp_metric_r2(DP_LOSS_SQUARED, d->scores, model, d->y, data, ROWS)));
    assert_true(isnan(dp_metric_mse(DP_LOSS_SQUARED, d->scores, model, d->y, data, 0)));
}

TEST(objective_is_the_sum_of_the_binary_ones)
{
    struct data *d = *state;
    const double lambda = 0.3, width = 0.5;
    const struct dp_affine unit = {.scale = 1}, label = {.scale = 2, .offset = -1};
    double w[CLASSES * COLS];
    for (size_t i = 0; i < CLASSES * COLS; i++)
        w[i] = gsl_rng_uniform(d->rng) - 0.5;
    for (int loss = DP_LOSS_SQUARED; loss <= DP_LOSS_HUBER; loss++) {
        fill(d, CLASSES, CLASSES, 0);
        double total = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            double binary = 0;
            for (size_t i = 0; i < ROWS; i++)
                binary +=
                    dp_loss_value((enum dp_loss)loss, width, (size_t)d->y[i] == k ? 1 : -1, d->scores[i * CLASSES + k]) / ROWS;
            for (size_t j = 0; j < COLS; j++)
                binary += lambda / 2 * w[k * COLS + j] * w[k * COLS + j];
            total += binary;
        }
        assert_near(dp_metric_objective((enum dp_loss)loss, width, lambda, d->scores, CLASSES, d->y, unit, ROWS, CLASSES, w,
                                        CLASSES * COLS),
                    total, 1e-12);
    }
    fill(d, 1, 2, 0);
    double hinge = 0, squared = 0, norm = 0;
    for (size_t j = 0; j < COLS; j++)
        norm += lambda / 2 * w[j] * w[j];
    for (size_t i = 0; i < ROWS; i++)
        hinge += fmax(0, 1 - (d->y[i] > 0 ? 1 : -1) * d->scores[i]) / ROWS;
    assert_near(dp_metric_objective(DP_LOSS_HINGE, 1, lambda, d->scores, 1, d->y, unit, ROWS, 2, w, COLS), hinge + norm, 1e-12);
    fill(d, 1, 0, 0);
    for (size_t i = 0; i < ROWS; i++)
        squared += 0.5 * pow(d->scores[i] - (2 * d->y[i] - 1), 2) / ROWS;
    assert_near(dp_metric_objective(DP_LOSS_SQUARED, 1, lambda, d->scores, 1, d->y, label, ROWS, 0, w, COLS), squared + norm,
                1e-12);
}

static int start(void **state)
{
    struct data *d = calloc(1, sizeof *d);
    d->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(d->rng, 20);
    *state = d;
    return 0;
}

static int finish(void **state)
{
    struct data *d = *state;
    gsl_rng_free(d->rng);
    free(d);
    return 0;
}

TESTS(start, finish)
