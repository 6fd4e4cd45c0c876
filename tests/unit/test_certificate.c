/* The certificate of dual variables and a model against the duality gap in MPFR: it is never below the gap, and hardly above
 * it. */
#include "unit.h"

#include <mpfr.h>

#include "stages/scd.h"

#define BITS 400
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
    return (double)(dp_stream_next(&stream) >> 11) * 0x1p-53;
}

static struct dp_batch batch_of(void)
{
    return (struct dp_batch){
        .count = s.row.rows, .rows = s.row.rows, .features = s.row.cols, .cols = s.row.cols, .id = number, .x = x, .y = y};
}

/* l(y, u), and l*(y, −alpha) into `to`. */
static void exact_loss(mpfr_t to, double target, mpfr_t u)
{
    mpfr_t m, g;
    mpfr_inits2(BITS, m, g, (mpfr_ptr)0);
    mpfr_mul_d(m, u, target, MPFR_RNDN);
    mpfr_d_sub(g, 1, m, MPFR_RNDN); /* 1 − y u */
    switch (options.row.loss) {
    case DP_LOSS_SQUARED:
    case DP_LOSS_HUBER:
        mpfr_sub_d(m, u, target, MPFR_RNDN);
        mpfr_abs(m, m, MPFR_RNDN);
        if (options.row.loss == DP_LOSS_SQUARED || mpfr_cmp_d(m, options.row.width) <= 0) {
            mpfr_sqr(to, m, MPFR_RNDN);
            mpfr_div_d(to, to, 2, MPFR_RNDN);
        } else {
            mpfr_sub_d(to, m, options.row.width / 2, MPFR_RNDN);
            mpfr_mul_d(to, to, options.row.width, MPFR_RNDN);
        }
        break;
    case DP_LOSS_HINGE:
        mpfr_max(to, g, (mpfr_set_ui(m, 0, MPFR_RNDN), m), MPFR_RNDN);
        break;
    case DP_LOSS_SMOOTH_HINGE:
        if (mpfr_sgn(g) <= 0) {
            mpfr_set_ui(to, 0, MPFR_RNDN);
        } else if (mpfr_cmp_d(g, options.row.width) >= 0) {
            mpfr_sub_d(to, g, options.row.width / 2, MPFR_RNDN);
        } else {
            mpfr_sqr(to, g, MPFR_RNDN);
            mpfr_div_d(to, to, 2 * options.row.width, MPFR_RNDN);
        }
        break;
    default:
        mpfr_neg(m, m, MPFR_RNDN);
        mpfr_exp(m, m, MPFR_RNDN);
        mpfr_log1p(to, m, MPFR_RNDN);
        break;
    }
    mpfr_clears(m, g, (mpfr_ptr)0);
}

static void exact_entropy(mpfr_t to, mpfr_t b)
{
    mpfr_t l;
    mpfr_init2(l, BITS);
    mpfr_set_ui(to, 0, MPFR_RNDN);
    if (mpfr_sgn(b) > 0) {
        mpfr_log(l, b, MPFR_RNDN);
        mpfr_mul(to, b, l, MPFR_RNDN);
    }
    mpfr_clear(l);
}

static void exact_conjugate(mpfr_t to, double target, double alpha)
{
    mpfr_t a, b, other;
    mpfr_inits2(BITS, a, b, other, (mpfr_ptr)0);
    mpfr_set_d(a, alpha, MPFR_RNDN);
    mpfr_mul_d(b, a, target, MPFR_RNDN); /* alpha y */
    switch (options.row.loss) {
    case DP_LOSS_SQUARED:
    case DP_LOSS_HUBER:
        mpfr_sqr(to, a, MPFR_RNDN);
        mpfr_div_d(to, to, 2, MPFR_RNDN);
        mpfr_sub(to, to, b, MPFR_RNDN);
        break;
    case DP_LOSS_LOGISTIC:
        exact_entropy(to, b);
        mpfr_ui_sub(b, 1, b, MPFR_RNDN);
        exact_entropy(other, b);
        mpfr_add(to, to, other, MPFR_RNDN);
        break;
    default:
        mpfr_neg(to, b, MPFR_RNDN);
        if (options.row.loss == DP_LOSS_SMOOTH_HINGE) {
            mpfr_sqr(b, b, MPFR_RNDN);
            mpfr_mul_d(b, b, options.row.width / 2, MPFR_RNDN);
            mpfr_add(to, to, b, MPFR_RNDN);
        }
        break;
    }
    mpfr_clears(a, b, other, (mpfr_ptr)0);
}

/* (‖v‖² + ‖Σ alpha x‖²)/(2 lambda N²) of output k, added to `gap`. */
static void exact_quadratics(mpfr_t gap, size_t k)
{
    mpfr_t sum, term, scale;
    mpfr_inits2(BITS, sum, term, scale, (mpfr_ptr)0);
    mpfr_set_d(scale, 2 * options.row.lambda, MPFR_RNDN);
    mpfr_mul_d(scale, scale, (double)(s.row.rows * s.row.rows), MPFR_RNDN);
    for (size_t j = 0; j < s.row.cols; j++) {
        mpfr_set_ui(sum, 0, MPFR_RNDN);
        for (size_t i = 0; i < s.row.rows; i++) {
            mpfr_set_d(term, (double)x[i * s.row.cols + j], MPFR_RNDN);
            mpfr_mul_d(term, term, s.alpha[i * s.outputs + k], MPFR_RNDN);
            mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        mpfr_sqr(sum, sum, MPFR_RNDN);
        mpfr_set_d(term, v[k * s.row.cols + j], MPFR_RNDN);
        mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_div(sum, sum, scale, MPFR_RNDN);
        mpfr_add(gap, gap, sum, MPFR_RNDN);
    }
    mpfr_clears(sum, term, scale, (mpfr_ptr)0);
}

static void exact_gap(mpfr_t gap)
{
    mpfr_t u, term, lambda_n;
    mpfr_inits2(BITS, u, term, lambda_n, (mpfr_ptr)0);
    mpfr_set_d(lambda_n, options.row.lambda, MPFR_RNDN);
    mpfr_mul_d(lambda_n, lambda_n, (double)s.row.rows, MPFR_RNDN);
    mpfr_set_ui(gap, 0, MPFR_RNDN);
    for (size_t k = 0; k < s.outputs; k++)
        for (size_t i = 0; i < s.row.rows; i++) {
            double target = dp_scd_target(&s, y[i], k);
            mpfr_set_ui(u, 0, MPFR_RNDN);
            for (size_t j = 0; j < s.row.cols; j++) {
                mpfr_set_d(term, (double)x[i * s.row.cols + j], MPFR_RNDN);
                mpfr_mul_d(term, term, v[k * s.row.cols + j], MPFR_RNDN);
                mpfr_add(u, u, term, MPFR_RNDN);
            }
            mpfr_div(u, u, lambda_n, MPFR_RNDN);
            exact_loss(term, target, u);
            mpfr_add(gap, gap, term, MPFR_RNDN);
            exact_conjugate(term, target, s.alpha[i * s.outputs + k]);
            mpfr_add(gap, gap, term, MPFR_RNDN);
        }
    mpfr_div_d(gap, gap, (double)s.row.rows, MPFR_RNDN);
    for (size_t k = 0; k < s.outputs; k++)
        exact_quadratics(gap, k);
    mpfr_clears(u, term, lambda_n, (mpfr_ptr)0);
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
    mpfr_t gap, over;
    struct dp_batch batch = batch_of();
    mpfr_inits2(BITS, gap, over, (mpfr_ptr)0);
    exact_gap(gap);
    dp_scd_certify(&s, &batch, v);
    mpfr_d_sub(over, s.certificate.gap, gap, MPFR_RNDN);
    double above = mpfr_get_d(over, MPFR_RNDN), truth = mpfr_get_d(gap, MPFR_RNDN);
    if (mpfr_sgn(over) < 0 || above > 1e-10 * (1 + s.certificate.objective))
        fail_msg("%s, %zu rows: the gap is %.17g, the certificate %.3g more", dp_loss_names[options.row.loss], s.row.rows,
                 truth, above);
    *least = fmin(*least, truth);
    mpfr_clears(gap, over, (mpfr_ptr)0);
}

TEST(a_gap_is_never_below_the_truth)
{
    struct dp_key key;
    double least = INFINITY;
    dp_key_derive(&key, 1, "certificate", 0);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 1);
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
    struct dp_key key;
    dp_key_derive(&key, 2, "certificate", 0);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 1);
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
    struct dp_key key;
    double slope[30], gap;
    dp_key_derive(&key, 3, "certificate", 0);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 1);
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
