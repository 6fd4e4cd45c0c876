/* Losses along a line: against MPFR and the definitions of the losses, and one row's part of a sum. */
#include "drawn.h"
#include "unit.h"

#include <mpfr.h>

#include "base/isa.h"
#include "math/grid.h"
#include "math/line.h"

/* The same source for CPUs without wide vectors. */
#define dp_line_block_size plain_block_size
#define dp_line_put plain_put
#define dp_line_losses plain_losses
#define dp_line_fall plain_fall
#undef DP_KERNEL
#define DP_KERNEL(type, name, parameters, arguments) static type name parameters
#include "math/line.c"
#undef dp_line_block_size
#undef dp_line_put
#undef dp_line_losses
#undef dp_line_fall

static struct dp_stream stream;

static double uniform(void)
{
    return uniform_of(&stream);
}

static void start(int64_t seed)
{
    stream = stream_of(seed, "line");
}

/* |value − ln(1 + e^−m)| / ln(1 + e^−m) */
static double error_of(double value, double m)
{
    mpfr_t exact, difference;
    mpfr_inits2(200, exact, difference, (mpfr_ptr)0);
    mpfr_set_d(exact, -m, MPFR_RNDN);
    mpfr_exp(exact, exact, MPFR_RNDN);
    mpfr_log1p(exact, exact, MPFR_RNDN);
    mpfr_d_sub(difference, value, exact, MPFR_RNDN);
    mpfr_div(difference, difference, exact, MPFR_RNDN);
    double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clears(exact, difference, (mpfr_ptr)0);
    return error;
}

TEST(the_logistic_loss_is_as_near_as_promised)
{
    const struct dp_line line = {DP_LOSS_LOGISTIC, 1, 2, 1};
    static double block[2 * DP_LINE_ROWS], loss[DP_LINE_ROWS];
    double m[DP_LINE_ROWS], worst = 0;
    const double special[] = {0, -0.0, 1e-300, -1e-300, 700, -700, 37, -37, 709, 1e300, -1e300};
    start(1);
    assert_int_equal(dp_line_block_size(&line), 2 * DP_LINE_ROWS);
    for (int round = 0; round < 400; round++) {
        for (size_t i = 0; i < DP_LINE_ROWS; i++) {
            double size = round % 4 == 0 ? 700 : round % 4 == 1 ? 40 : round % 4 == 2 ? 1 : ldexp(1, -(int)(i % 60));
            m[i] = size * (2 * uniform() - 1);
            if (round == 0 && i < sizeof special / sizeof *special)
                m[i] = special[i];
            dp_line_put(&line, block, i, 1, &m[i], &(double){0});
        }
        dp_line_losses(&line, block, DP_LINE_ROWS, 0, INFINITY, loss);
        for (size_t i = 0; i < DP_LINE_ROWS; i++) {
            if (m[i] > 700)
                assert_true(loss[i] >= 0 && loss[i] < 1e-303);
            else
                worst = fmax(worst, error_of(loss[i], m[i]));
        }
    }
    assert_true(worst <= DP_LINE_ERROR);
    assert_true(worst > DP_LINE_ERROR / 64); /* the bound is not much larger than the error */
}

/* The loss of a row from math/loss.h; for poisson less its least value. */
static double expected(const struct dp_line *line, double label, const double *u)
{
    double sum = 0;
    if (line->loss == DP_LOSS_SOFTMAX)
        return dp_softmax_value(u, line->outputs, (size_t)label);
    for (size_t k = 0; k < line->outputs; k++)
        sum += dp_loss_value(line->loss, line->width, dp_loss_target(label, line->classes, line->outputs, k), u[k]);
    return sum + (line->loss == DP_LOSS_POISSON && label > 0 ? label * log(label) - label : 0);
}

static struct dp_line random_line(enum dp_loss loss)
{
    bool classes = dp_loss_is_classification(loss);
    size_t outputs = loss == DP_LOSS_SOFTMAX || (classes && uniform() < 0.5) ? 4 : 1;
    return (struct dp_line){loss, 0.2 + uniform(), !classes ? 0 : outputs > 1 ? 4 : 2, outputs};
}

static double random_label(const struct dp_line *line)
{
    if (line->classes > 0)
        return floor(uniform() * (double)line->classes);
    return line->loss == DP_LOSS_POISSON ? floor(5 * uniform()) : 4 * uniform() - 2;
}

enum { MOST_OUTPUTS = 4, SIZE = (2 * MOST_OUTPUTS + 2) * DP_LINE_ROWS };

TEST(every_loss_is_that_of_its_definition)
{
    static double block[SIZE], loss[DP_LINE_ROWS], label[DP_LINE_ROWS], u[DP_LINE_ROWS][4], v[DP_LINE_ROWS][4];
    start(2);
    for (int round = 0; round < 20 * DP_LOSS_COUNT; round++) {
        struct dp_line line = random_line((enum dp_loss)(round % DP_LOSS_COUNT));
        size_t count = 1 + (size_t)(uniform() * DP_LINE_ROWS);
        double eta = 2 * uniform(), bound = 0.5 + 3 * uniform();
        assert_true(dp_line_block_size(&line) <= SIZE);
        memset(block, 0, sizeof block);
        for (size_t i = 0; i < count; i++) {
            label[i] = random_label(&line);
            for (size_t k = 0; k < line.outputs; k++) {
                u[i][k] = 8 * uniform() - 4;
                v[i][k] = 4 * uniform() - 2;
            }
            dp_line_put(&line, block, i, label[i], u[i], v[i]);
        }
        dp_line_losses(&line, block, count, eta, bound, loss);
        for (size_t i = 0; i < count; i++) {
            double at[4];
            for (size_t k = 0; k < line.outputs; k++)
                at[k] = u[i][k] - eta * v[i][k];
            double l = expected(&line, label[i], at);
            assert_true(l > -1e-12);
            assert_near(loss[i], fmin(fmax(l, 0), bound), 1e-12);
        }
    }
}

/* Adversarial scores, labels and steps. */
static double hostile(void)
{
    const double values[] = {0,   -0.0, 1,    -1,   1e-320, 1e300, -1e300,   1e308,    -1e308,
                             708, 710,  -745, 1e16, 0.5,    NAN,   INFINITY, -INFINITY};
    double u = uniform();
    return u < 0.7 ? values[dp_stream_below(&stream, sizeof values / sizeof *values)] : 4 * u;
}

TEST(no_row_adds_more_than_its_bound)
{
    static double block[SIZE], at[DP_LINE_ROWS], near[DP_LINE_ROWS];
    static const double nothing[DP_LINE_ROWS];
    int64_t largest = 0, smallest = 0;
    start(3);
    for (int round = 0; round < 40000; round++) {
        struct dp_line line = random_line((enum dp_loss)(round % DP_LOSS_COUNT));
        double bound = ldexp(1 + uniform(), (int)dp_stream_below(&stream, 40) - 20), inverse = 1 / dp_grid_for(bound), u[4],
               v[4];
        int64_t most = (int64_t)floor(bound * inverse);
        for (size_t k = 0; k < 4; k++) {
            u[k] = hostile();
            v[k] = hostile();
        }
        memset(block, 0, dp_line_block_size(&line) * sizeof *block);
        dp_line_put(&line, block, 0, round % 5 == 0 ? hostile() : random_label(&line), u, v);
        dp_line_losses(&line, block, 1, 0, bound, at);
        dp_line_losses(&line, block, 1, fabs(hostile()), bound, near);
        int64_t fall = dp_line_fall(at, near, 1, inverse), sum = dp_line_fall(near, nothing, 1, inverse);
        assert_true(fall >= -most && fall <= most);
        assert_true(sum >= 0 && sum <= most);
        if (bound < 2 && bound >= 1) {
            largest = fall > largest ? fall : largest;
            smallest = fall < smallest ? fall : smallest;
        }
    }
    assert_true(largest > 1 << 20 && smallest < -(1 << 20)); /* the bound is reached */
}

/* A loss that is not a number adds nothing; an infinite one adds the bound. */
TEST(numbers_that_are_none_count_as_nothing)
{
    static double block[2 * DP_LINE_ROWS], a[DP_LINE_ROWS], b[DP_LINE_ROWS];
    const struct dp_line line = {DP_LOSS_LOGISTIC, 1, 2, 1};
    dp_line_put(&line, block, 0, 1, &(double){NAN}, &(double){1});
    dp_line_put(&line, block, 1, 1, &(double){1}, &(double){NAN});
    dp_line_put(&line, block, 2, 2, &(double){1}, &(double){1}); /* no such class */
    dp_line_put(&line, block, 3, NAN, &(double){1}, &(double){1});
    dp_line_put(&line, block, 4, 1, &(double){-INFINITY}, &(double){0});
    dp_line_losses(&line, block, 5, 1, 3, a);
    for (int i = 0; i < 4; i++)
        assert_true(isnan(a[i]));
    assert_true(a[4] == 3);
    assert_int_equal(dp_line_fall(a, b, 4, 1), 0);
    assert_int_equal(dp_line_fall(b, a, 5, 1), -3);
}

/* trunc, not floor; and of `count` losses. */
TEST(falls_are_cut_toward_zero)
{
    static double a[DP_LINE_ROWS], b[DP_LINE_ROWS];
    int64_t sum = 0;
    start(4);
    for (size_t i = 0; i < DP_LINE_ROWS; i++) {
        a[i] = 2 * uniform();
        b[i] = 2 * uniform();
        sum += (int64_t)trunc((a[i] - b[i]) * 0x1p20);
        assert_int_equal(dp_line_fall(a, b, i + 1, 0x1p20), sum);
    }
    for (size_t i = 0; i < DP_LINE_ROWS; i++) {
        a[i] = 0x1.fffffp0;
        b[i] = 0;
    }
    assert_int_equal(dp_line_fall(a, b, DP_LINE_ROWS, 0x1p20), DP_LINE_ROWS * (int64_t)0x1fffff);
    assert_int_equal(dp_line_fall(b, a, DP_LINE_ROWS, 0x1p20), -DP_LINE_ROWS * (int64_t)0x1fffff);
}

/* With any vectors of this CPU, the bits are the same as without vectors. */
TEST(wide_vectors_change_no_bit)
{
    static double block[SIZE], wide[DP_LINE_ROWS], narrow[DP_LINE_ROWS];
    static const double nothing[DP_LINE_ROWS];
    start(5);
    for (int round = 0; round < 60 * DP_LOSS_COUNT; round++) {
        struct dp_line line = random_line((enum dp_loss)(round % DP_LOSS_COUNT));
        double eta = 4 * uniform(), bound = round % 2 == 0 ? 3 : 1e9;
        for (size_t i = 0; i < DP_LINE_ROWS; i++) {
            double u[4], v[4];
            for (size_t k = 0; k < 4; k++) {
                u[k] = uniform() < 0.05 ? hostile() : 20 * uniform() - 10;
                v[k] = uniform() < 0.05 ? hostile() : 20 * uniform() - 10;
            }
            dp_line_put(&line, block, i, random_label(&line), u, v);
        }
        dp_line_losses(&line, block, DP_LINE_ROWS, eta, bound, wide);
        plain_losses(&line, block, DP_LINE_ROWS, eta, bound, narrow);
        for (size_t i = 0; i < DP_LINE_ROWS; i++)
            assert_true(isnan(wide[i]) ? isnan(narrow[i]) : memcmp(&wide[i], &narrow[i], sizeof *wide) == 0);
        for (size_t count = 0; count <= DP_LINE_ROWS; count += 51)
            assert_int_equal(dp_line_fall(wide, nothing, count, 1e6 / bound), plain_fall(narrow, nothing, count, 1e6 / bound));
    }
}

TESTS(NULL, NULL)
