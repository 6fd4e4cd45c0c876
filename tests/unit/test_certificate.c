/* The certificate of dual variables and a model against the duality gap in 113 bits: it is never below the gap, and hardly above
 * it. */
#include "drawn.h"
#include "unit.h"

#include <mpfr.h>

#include "stages/scd.h"

#define BITS 113
#define ROWS 400
#define COLS 20
#define OUTPUTS 3

static struct dp_stream stream;
static float x[ROWS * COLS];
static double y[ROWS], v[OUTPUTS * COLS];
static int64_t number[ROWS];
static struct dp_scd_options options;
static struct dp_scd s;

static double uniform(void)
{
    return uniform_of(&stream);
}

static struct dp_batch batch_of(void)
{
    return (struct dp_batch){
        .count = s.row.rows, .rows = s.row.rows, .features = s.row.cols, .cols = s.row.cols, .id = number, .x = x, .y = y};
}

/* A function of MPFR, with 106 bits. */
static quad by_mpfr(int f(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), quad at)
{
    mpfr_t m;
    mpfr_init2(m, BITS);
    mpfr_set_d(m, (double)at, MPFR_RNDN);
    mpfr_add_d(m, m, (double)(at - (double)at), MPFR_RNDN);
    f(m, m, MPFR_RNDN);
    const double high = mpfr_get_d(m, MPFR_RNDN);
    mpfr_sub_d(m, m, high, MPFR_RNDN);
    const quad value = (quad)high + mpfr_get_d(m, MPFR_RNDN);
    mpfr_clear(m);
    return value;
}

/* l(y, u) */
static quad exact_loss(double target, quad u)
{
    const quad width = options.row.width, g = 1 - target * u, off = u < target ? target - u : u - target;
    switch (options.row.loss) {
    case DP_LOSS_SQUARED:
        return off * off / 2;
    case DP_LOSS_HUBER:
        return off <= width ? off * off / 2 : width * (off - width / 2);
    case DP_LOSS_HINGE:
        return g > 0 ? g : 0;
    case DP_LOSS_SMOOTH_HINGE:
        return g <= 0 ? 0 : g >= width ? g - width / 2 : g * g / (2 * width);
    default:
        return by_mpfr(mpfr_log1p, by_mpfr(mpfr_exp, -target * u));
    }
}

static quad exact_entropy(quad b)
{
    return b > 0 ? b * by_mpfr(mpfr_log, b) : 0;
}

/* l*(y, −alpha) */
static quad exact_conjugate(double target, quad alpha)
{
    const quad b = alpha * target;
    switch (options.row.loss) {
    case DP_LOSS_SQUARED:
    case DP_LOSS_HUBER:
        return alpha * alpha / 2 - b;
    case DP_LOSS_LOGISTIC:
        return exact_entropy(b) + exact_entropy(1 - b);
    default:
        return -b + (options.row.loss == DP_LOSS_SMOOTH_HINGE ? b * b * options.row.width / 2 : 0);
    }
}

/* The losses and their conjugates, / N, and (‖v‖² + ‖Σ alpha x‖²)/(2 lambda N²) of each output */
static quad exact_gap(void)
{
    const quad rows = s.row.rows;
    quad losses = 0, squares = 0;
    for (size_t k = 0; k < s.outputs; k++) {
        for (size_t i = 0; i < s.row.rows; i++) {
            const double target = dp_scd_target(&s, y[i], k);
            quad u = 0;
            for (size_t j = 0; j < s.row.cols; j++)
                u += (quad)x[i * s.row.cols + j] * v[k * s.row.cols + j];
            losses += exact_loss(target, u / (options.row.lambda * rows)) + exact_conjugate(target, s.alpha[i * s.outputs + k]);
        }
        for (size_t j = 0; j < s.row.cols; j++) {
            quad sum = 0;
            for (size_t i = 0; i < s.row.rows; i++)
                sum += (quad)x[i * s.row.cols + j] * s.alpha[i * s.outputs + k];
            squares += sum * sum + (quad)v[k * s.row.cols + j] * v[k * s.row.cols + j];
        }
    }
    return losses / rows + squares / (2 * options.row.lambda * rows * rows);
}

/* Rows, labels, and dual variables: inside their range, and at its ends. */
static void fill(double ends)
{
    for (size_t i = 0; i < s.row.rows; i++) {
        double norm2 = 0;
        number[i] = (int64_t)i;
        for (size_t j = 0; j < s.row.cols; j++)
            x[i * s.row.cols + j] = uniform() < 0.3 ? 0 : (float)(uniform() - 0.5);
        for (size_t j = 0; j < s.row.cols; j++)
            norm2 += (double)x[i * s.row.cols + j] * (double)x[i * s.row.cols + j];
        for (size_t j = 0; j < s.row.cols; j++)
            x[i * s.row.cols + j] = (float)((double)x[i * s.row.cols + j] / sqrt(norm2 + 1e-3));
        y[i] = s.row.classes > 0 ? floor(uniform() * (double)s.row.classes) : 4 * uniform() - 2;
        for (size_t k = 0; k < s.outputs; k++) {
            double low, high, at = uniform();
            dp_dual_range((enum dp_loss)options.row.loss, options.row.width, dp_scd_target(&s, y[i], k), &low, &high);
            low = isfinite(low) ? low : -2;
            high = isfinite(high) ? high : 2;
            at = low + at * (high - low);
            s.alpha[i * s.outputs + k] = uniform() < ends ? (uniform() < 0.5 ? low : high) : at;
        }
    }
}

/* v = Σ alpha x, with dual variables at the optimum: the rest of the gap is rounding. */
static void descend(int passes)
{
    memset(v, 0, sizeof v);
    for (int pass = 0; pass <= passes; pass++)
        for (size_t i = 0; i < s.row.rows; i++)
            for (size_t k = 0; k < s.outputs; k++) {
                double *alpha = &s.alpha[i * s.outputs + k], low, high, before = *alpha, target = dp_scd_target(&s, y[i], k);
                struct dp_row row = dp_row_dense(x + i * s.row.cols, s.row.cols);
                if (pass == 0) {
                    dp_row_axpy(*alpha, row, v + k * s.row.cols);
                    continue;
                }
                dp_dual_range((enum dp_loss)options.row.loss, options.row.width, target, &low, &high);
                *alpha += dp_dual_update((enum dp_loss)options.row.loss, options.row.width, target, before,
                                         dp_row_dot(row, v + k * s.row.cols) / s.lambda_n, dp_row_norm2(row) / s.lambda_n, 30);
                *alpha = fmin(fmax(*alpha, low), high);
                dp_row_axpy(*alpha - before, row, v + k * s.row.cols);
            }
}

static void begin(int loss, size_t rows, size_t cols, size_t outputs, double lambda)
{
    options = (struct dp_scd_options){.row = {.loss = loss, .width = 0.25 + uniform(), .lambda = lambda}, .newton = 10};
    s = (struct dp_scd){.row = {.rows = rows, .cols = cols}, .options = &options, .own_rows = rows, .outputs = outputs};
    s.row.classes = !dp_loss_is_classification((enum dp_loss)loss) ? 0 : outputs > 1 ? outputs : 2;
    s.lambda_n = lambda * (double)rows;
    s.alpha = calloc(rows * outputs, sizeof *s.alpha);
    assert_non_null(s.alpha);
    dp_scd_certificate_alloc(&s);
    for (size_t i = 0; i < rows; i++)
        s.certificate.place[i] = (uint32_t)i;
}

static void end(void)
{
    free(s.alpha);
    dp_scd_certificate_free(&s.certificate);
}

static void check(double *least)
{
    struct dp_batch batch = batch_of();
    const quad gap = exact_gap();
    dp_scd_certify(&s, &batch, v);
    const double above = (double)(s.certificate.gap - gap), truth = (double)gap;
    if (!(s.certificate.gap >= gap) || above > 1e-10 * (1 + s.certificate.objective))
        fail_msg("%s, %zu rows: the gap is %.17g, the certificate %.3g more", dp_loss_names[options.row.loss], s.row.rows,
                 truth, above);
    *least = fmin(*least, truth);
}

TEST(a_gap_is_never_below_the_truth)
{
    double least = INFINITY;
    stream = stream_of(1, "certificate");
    for (int round = 0; round < 200; round++) {
        int loss = DP_LOSS_SQUARED + round % 5;
        size_t outputs = dp_loss_is_classification((enum dp_loss)loss) && round % 2 == 0 ? OUTPUTS : 1;
        begin(loss, 1 + dp_stream_below(&stream, round % 10 == 9 ? ROWS : 30), 1 + dp_stream_below(&stream, COLS), outputs,
              pow(10, -3 * uniform()));
        fill(round % 3 == 0 ? 0.7 : 0);
        descend(round % 4 == 0 ? 0 : 300);
        if (round % 8 == 1) /* a model that does not belong to the dual variables */
            for (size_t j = 0; j < outputs * s.row.cols; j++)
                v[j] *= 1 + uniform();
        check(&least);
        end();
    }
    assert_true(least < 1e-15); /* some are at their optimum, where a rounded sum may be negative */
}

/* With a loss of 2^51, a sum of doubles has no room for a loss of .2. */
TEST(small_losses_count_beside_a_large_one)
{
    double least = 0;
    begin(DP_LOSS_SQUARED, ROWS, 2, 1, 0.5);
    memset(x, 0, sizeof x);
    memset(v, 0, sizeof v);
    for (size_t i = 0; i < ROWS; i++) {
        number[i] = (int64_t)i;
        y[i] = i == 0 ? 0x1p26 : 0.63;
    }
    check(&least);
    end();
}

TEST(outside_of_the_domain_the_gap_is_infinite)
{
    stream = stream_of(2, "certificate");
    begin(DP_LOSS_HINGE, 5, 3, 1, 0.1);
    fill(0);
    descend(0);
    struct dp_batch batch = batch_of();
    dp_scd_certify(&s, &batch, v);
    assert_true(isfinite(s.certificate.gap));
    s.alpha[2] = 1.001 * dp_scd_target(&s, y[2], 0);
    dp_scd_certify(&s, &batch, v);
    assert_true(isinf(s.certificate.gap));
    end();
}

/* Slopes are taken at the point, and rows may be in any order: the same bits. */
TEST(the_order_of_a_batch_does_not_matter)
{
    double slope[30], gap;
    stream = stream_of(3, "certificate");
    begin(DP_LOSS_SMOOTH_HINGE, 30, 7, 1, 0.01);
    fill(0.3);
    descend(2);
    struct dp_batch batch = batch_of();
    dp_scd_certify(&s, &batch, v);
    memcpy(slope, s.certificate.slope, sizeof slope);
    gap = s.certificate.gap;
    for (size_t i = 0; i < 30; i++) {
        double u = dp_row_dot(dp_row_dense(x + i * s.row.cols, s.row.cols), v) / s.lambda_n,
               target = dp_scd_target(&s, y[i], 0);
        assert_true(slope[i] == dp_dual_slope(DP_LOSS_SMOOTH_HINGE, options.row.width, target, s.alpha[i], u));
    }
    for (size_t i = 0; i < 15; i++) { /* the rows in reverse order */
        for (size_t j = 0; j < s.row.cols; j++) {
            float swap = x[i * s.row.cols + j];
            x[i * s.row.cols + j] = x[(29 - i) * s.row.cols + j];
            x[(29 - i) * s.row.cols + j] = swap;
        }
        double swap = y[i];
        y[i] = y[29 - i];
        y[29 - i] = swap;
    }
    for (size_t i = 0; i < 30; i++) {
        number[i] = (int64_t)(29 - i);
        s.certificate.place[i] = (uint32_t)(29 - i);
    }
    dp_scd_certify(&s, &batch, v);
    assert_true(s.certificate.gap == gap);
    assert_memory_equal(s.certificate.slope, slope, sizeof slope);
    end();
}

TESTS(NULL, NULL)
