/* The direction of a step from a sum of negative gradients. */
#include "unit.h"

#include "model/direction.h"

enum { OUTPUTS = 2, COLS = 3, SIZE = OUTPUTS * COLS };

/* −sum/(q N) is {3, 0, −4, 0, 0, 12}, of length 13 */
static struct dp_frame *new_sum(void)
{
    struct dp_frame *f;
    int64_t *sum;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = 4;
    f->records = 2;
    f->record[0] = (struct dp_record){.of = DP_F_WITHIN, .sampler = DP_SAMPLER_POISSON, .rate = 0.125, .rows = 64};
    f->record[1] = (struct dp_record){.of = DP_F_SUM, .sampler = DP_SAMPLER_POISSON, .rate = 0.25, .rows = 64};
    dp_frame_set_real(f, DP_F_GRID, 0.5);
    assert_int_equal(dp_frame_make_array(f, DP_F_SUM, DP_I64, OUTPUTS, COLS, &sum, NULL), 0);
    memcpy(sum, (int64_t[]){-96, 0, 128, 0, 0, -384}, SIZE * sizeof *sum);
    return f;
}

TEST(a_gradient_is_a_mean_over_the_expected_batch)
{
    static const double expected[SIZE] = {3, 0, -4, 0, 0, 12};
    double gradient[SIZE], rows;
    struct dp_frame *f = new_sum();
    assert_int_equal(dp_direction_gradient(f, OUTPUTS, COLS, gradient, &rows, NULL), DP_OK);
    assert_true(rows == 16);
    for (int i = 0; i < SIZE; i++)
        assert_true(gradient[i] == expected[i]);
    dp_frame_free(f);
}

static void refuse(struct dp_frame *f, size_t outputs, size_t cols, const char *message)
{
    double gradient[SIZE], rows;
    struct dp_err err = {0};
    assert_fails(dp_direction_gradient(f, outputs, cols, gradient, &rows, &err), DP_E_RUN, message);
}

TEST(sums_that_have_no_direction)
{
    struct dp_frame *f = new_sum();
    refuse(f, COLS, OUTPUTS, "the sum of lap 4 does not have the shape of the model");
    f->record[1].rate = 0;
    refuse(f, OUTPUTS, COLS, "the frame of lap 4 does not record how its rows were sampled");
    f->records = 1;
    refuse(f, OUTPUTS, COLS, "the frame of lap 4 does not record how its rows were sampled");
    dp_frame_drop(f, DP_F_SUM);
    refuse(f, OUTPUTS, COLS, "the frame of lap 4 has no released sum");
    dp_frame_free(f);
}

TEST(a_direction_has_the_regulariser)
{
    static const double g[3] = {3, 0, -4}, w[3] = {1, -2, 0};
    double d[3];
    dp_direction_along(g, w, 3, 0.5, false, d);
    assert_true(d[0] == 3.5 && d[1] == -1 && d[2] == -4);
    dp_direction_along(g, w, 3, 0.5, true, d);
    assert_near(d[0], 0.6 + 0.5, 1e-15);
    assert_near(d[1], -1, 1e-15);
    assert_near(d[2], -0.8, 1e-15);
    memcpy(d, g, sizeof d);
    dp_direction_along(d, w, 3, 0, true, d); /* in place */
    assert_near(d[0], 0.6, 1e-15);
    assert_near(d[2], -0.8, 1e-15);
    dp_direction_along((const double[3]){0}, w, 3, 0.5, true, d); /* it has no length to divide by */
    assert_true(d[0] == 0.5 && d[1] == -1 && d[2] == 0);
}

TESTS(NULL, NULL)
