/* ROC curve and calibration, against counts by hand. */
#include "unit.h"

#include "math/curves.h"

TEST(roc_by_hand)
{
    /* two rows with the score .8, one of each class, are one corner */
    const double score[] = {.9, .8, .8, .3, .1}, y[] = {1, 1, 0, 0, 1};
    struct dp_curve_point p[102];
    size_t count;
    assert_int_equal(dp_curve_roc(score, y, 5, 100, p, &count, NULL), DP_OK);
    assert_int_equal(count, 5);
    const double x[] = {0, 0, .5, 1, 1}, part[] = {0, 1. / 3, 2. / 3, 2. / 3, 1};
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs(p[i].x - (x[i])) <= 1e-15);
        assert_true(fabs(p[i].y - (part[i])) <= 1e-15);
    }
}

TEST(roc_has_few_points)
{
    enum { ROWS = 100000, MOST = 50 };
    double *score = calloc(ROWS, sizeof *score), *y = calloc(ROWS, sizeof *y);
    struct dp_curve_point p[MOST + 2];
    size_t count;
    for (int i = 0; i < ROWS; i++) {
        score[i] = (i * 7919) % ROWS;
        y[i] = score[i] + (i % 1000) * 50 > ROWS / 2;
    }
    assert_int_equal(dp_curve_roc(score, y, ROWS, MOST, p, &count, NULL), DP_OK);
    assert_true(count <= MOST + 2);
    assert_true(p[count - 1].x == 1 && p[count - 1].y == 1);
    for (size_t i = 1; i < count; i++)
        assert_true(p[i].x >= p[i - 1].x && p[i].y >= p[i - 1].y);
    free(score);
    free(y);
}

TEST(roc_of_one_class)
{
    const double score[] = {1, 2}, y[] = {1, 1};
    struct dp_curve_point p[12];
    size_t count;
    assert_fails(dp_curve_roc(score, y, 2, 10, p, &count, &err), DP_E_RUN, "all rows have one class: there is no ROC curve");
}

TEST(calibration_by_hand)
{
    const double probability[] = {.05, .15, .95, 1, .99, .1}, y[] = {0, 1, 1, 1, 0, 0};
    struct dp_curve_point p[10];
    assert_int_equal(dp_curve_calibration(probability, y, 6, 10, p), 3);
    assert_true(fabs(p[0].x - (.05)) <= 1e-15);
    assert_true(fabs(p[1].x - (.125)) <= 1e-15);
    assert_true(fabs(p[1].y - (.5)) <= 1e-15);
    assert_true(fabs(p[2].x - ((.95 + 1 + .99) / 3)) <= 1e-15);
    assert_true(fabs(p[2].y - (2. / 3)) <= 1e-15);
    assert_int_equal(p[2].rows, 3);
}

TESTS(NULL, NULL)
