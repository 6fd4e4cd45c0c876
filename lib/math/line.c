#include "math/line.h"

#include "base/isa.h"

/* A block has, for each output k, the places a_k and slopes b_k of its rows: a loss is a function of t_k = a_k − eta b_k. For a
   loss of counts, y and the constant of each row follow. */
static bool has_constants(const struct dp_line *line)
{
    return dp_losses[line->loss].of == DP_LOSS_OF_COUNT;
}

size_t dp_line_block_size(const struct dp_line *line)
{
    return (2 * line->outputs + (has_constants(line) ? 2 : 0)) * DP_LINE_ROWS;
}

static bool in_domain(const struct dp_line *line, double label)
{
    if (line->classes > 0)
        return label >= 0 && label < (double)line->classes && floor(label) == label;
    return dp_loss_takes(line->loss, label);
}

/* t is the variable of the loss: the margin y u, the residual u − y, the score u of a count, or for classes the score minus the
   score of the row's class. */
static void place(const struct dp_line *line, double label, size_t k, const double *u, const double *v, double *a, double *b)
{
    double y = dp_loss_target(label, line->classes, line->outputs, k);
    *a = u[k];
    *b = v[k];
    switch (dp_losses[line->loss].of) {
    case DP_LOSS_OF_MARGIN:
        *a *= y;
        *b *= y;
        break;
    case DP_LOSS_OF_RESIDUAL:
        *a -= y;
        break;
    case DP_LOSS_OF_COUNT:
        break;
    case DP_LOSS_OF_CLASS:
        *a -= u[(size_t)label];
        *b -= v[(size_t)label];
        break;
    }
}

void dp_line_put(const struct dp_line *line, double *block, size_t i, double label, const double *u, const double *v)
{
    double *extra = block + 2 * line->outputs * DP_LINE_ROWS + i, *at = block + i;
    bool known = in_domain(line, label);
    for (size_t k = 0; k < line->outputs; k++, at += 2 * DP_LINE_ROWS) {
        at[0] = (double)NAN;
        at[DP_LINE_ROWS] = 0;
        if (known)
            place(line, label, k, u, v, &at[0], &at[DP_LINE_ROWS]);
    }
    if (has_constants(line)) {
        extra[0] = known ? label : 0;
        extra[DP_LINE_ROWS] = known && label > 0 && line->loss == DP_LOSS_POISSON ? label * log(label) - label : 0;
    }
}

/* e^−x for 0 ≤ x ≤ MOST: 2^−n e^r with |r| ≤ ln 2 / 2, e^r by the Taylor polynomial, whose remainder is below 7e-15. NAN stays
   NAN. */
#define MOST 700
static inline double exp_minus(double x)
{
    const double magic = 0x1.8p52; /* adding it rounds to an integer, which is then in the low bits of the sum */
    double shifted = x * 0x1.71547652b82fep+0 + magic, n = shifted - magic;
    double r = (n * 0x1.62e42fee00000p-1 - x) + n * 0x1.a39ef35793c76p-33; /* the first product is exact */
    double q = r * r, even = 1.0 / 3628800, odd = 1.0 / 39916800;
    even = even * q + 1.0 / 40320;
    odd = odd * q + 1.0 / 362880;
    even = even * q + 1.0 / 720;
    odd = odd * q + 1.0 / 5040;
    even = even * q + 1.0 / 24;
    odd = odd * q + 1.0 / 120;
    even = even * q + 1.0 / 2;
    odd = odd * q + 1.0 / 6;
    even = even * q + 1.0;
    odd = odd * q + 1.0;
    double p = even + r * odd;
    uint64_t bits, base;
    double power;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&base, &magic, sizeof base);
    bits = (base + 1023 - bits) << 52;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* ln(1 + z) for 0 ≤ z ≤ 1: 2 artanh(s) with s = z/(2 + z) ≤ 1/3, to a relative remainder below 2e-14. */
static inline double log_one_plus(double z)
{
    double s = z / (2 + z), q = s * s, f = q * q, even = 1.0 / 25, odd = 1.0 / 23;
    even = even * f + 1.0 / 21;
    odd = odd * f + 1.0 / 19;
    even = even * f + 1.0 / 17;
    odd = odd * f + 1.0 / 15;
    even = even * f + 1.0 / 13;
    odd = odd * f + 1.0 / 11;
    even = even * f + 1.0 / 9;
    odd = odd * f + 1.0 / 7;
    even = even * f + 1.0 / 5;
    odd = odd * f + 1.0 / 3;
    even = even * f + 1.0;
    double p = even + q * odd;
    return 2 * s * p;
}

static inline double squared(double width, double t)
{
    (void)width;
    return 0.5 * t * t;
}

static inline double hinge(double width, double t)
{
    (void)width;
    double m = 1 - t;
    return m < 0 ? 0 : m;
}

static inline double smooth_hinge(double width, double t)
{
    double m = 1 - t, square = 0.5 * m * m / width, beyond = m - 0.5 * width;
    return m <= 0 ? 0 : m >= width ? beyond : square;
}

static inline double huber(double width, double t)
{
    double r = fabs(t), square = 0.5 * r * r, beyond = width * (r - 0.5 * width);
    return r > width ? beyond : square;
}

static inline double huberised_hinge(double width, double t)
{
    double m = 1 - t, square = (m + width) * (m + width) / (4 * width);
    return m <= -width ? 0 : m >= width ? m : square;
}

/* Adds the losses of one output for a whole block, also where it has no rows, so that no remainder needs other code. */
#define ADD(of)                                                                                                                \
    DP_KERNEL(void, add_##of, (const double *restrict a, double eta, double width, double *restrict loss),                     \
              (a, eta, width, loss))                                                                                           \
    {                                                                                                                          \
        const double *restrict b = a + DP_LINE_ROWS;                                                                           \
        for (size_t i = 0; i < DP_LINE_ROWS; i++)                                                                              \
            loss[i] += of(width, a[i] - eta * b[i]);                                                                           \
    }
ADD(squared)
ADD(hinge)
ADD(smooth_hinge)
ADD(huber)
ADD(huberised_hinge)

/* GCC 12 vectorises the limit only in a loop without exp_minus. */
DP_KERNEL(void, add_logistic, (const double *restrict a, double eta, double width, double *restrict loss),
          (a, eta, width, loss))
{
    double t[DP_LINE_ROWS], x[DP_LINE_ROWS];
    (void)width;
    for (size_t i = 0; i < DP_LINE_ROWS; i++) {
        t[i] = a[i] - eta * a[DP_LINE_ROWS + i];
        x[i] = fabs(t[i]) > MOST ? MOST : fabs(t[i]);
    }
    for (size_t i = 0; i < DP_LINE_ROWS; i++)
        loss[i] += log_one_plus(exp_minus(x[i])) + (t[i] < 0 ? -t[i] : 0);
}

/* A loss without a loop of its own: l by the table, at a y for which t is u, and the constant. */
static void add_by_table(const struct dp_line *line, const double *block, const double *a, size_t count, double eta,
                         double *loss)
{
    const double *extra = block + 2 * line->outputs * DP_LINE_ROWS, y = dp_losses[line->loss].of == DP_LOSS_OF_MARGIN;
    for (size_t i = 0; i < count; i++) {
        double t = a[i] - eta * a[DP_LINE_ROWS + i];
        if (has_constants(line))
            loss[i] += dp_loss_value(line->loss, line->width, extra[i], t) + extra[DP_LINE_ROWS + i];
        else
            loss[i] += dp_loss_value(line->loss, line->width, y, t);
    }
}

/* The largest t_k of each row, at least 0, which is the t of the row's own class. A NAN is the largest. */
DP_KERNEL(void, raise_top, (const double *restrict a, double eta, double *restrict top), (a, eta, top))
{
    const double *restrict b = a + DP_LINE_ROWS;
    for (size_t i = 0; i < DP_LINE_ROWS; i++) {
        double t = a[i] - eta * b[i];
        top[i] = t <= top[i] ? top[i] : t;
    }
}

DP_KERNEL(void, add_exponential, (const double *restrict a, double eta, const double *restrict top, double *restrict sum),
          (a, eta, top, sum))
{
    const double *restrict b = a + DP_LINE_ROWS;
    double x[DP_LINE_ROWS];
    for (size_t i = 0; i < DP_LINE_ROWS; i++) {
        double below = top[i] - (a[i] - eta * b[i]);
        x[i] = below > MOST ? MOST : below;
    }
    for (size_t i = 0; i < DP_LINE_ROWS; i++)
        sum[i] += exp_minus(x[i]);
}

/* ln Σ_k e^t_k, where t of the row's class is 0 */
static void set_softmax(size_t outputs, const double *block, size_t count, double eta, double *loss)
{
    double top[DP_LINE_ROWS] = {0}, sum[DP_LINE_ROWS] = {0};
    for (size_t k = 0; k < outputs; k++)
        raise_top(block + 2 * k * DP_LINE_ROWS, eta, top);
    for (size_t k = 0; k < outputs; k++)
        add_exponential(block + 2 * k * DP_LINE_ROWS, eta, top, sum);
    for (size_t i = 0; i < count; i++)
        loss[i] = isinf(top[i]) ? top[i] : log(sum[i]) + top[i];
}

DP_KERNEL(void, clip, (double bound, double *restrict loss), (bound, loss))
{
    for (size_t i = 0; i < DP_LINE_ROWS; i++) {
        double l = loss[i] < 0 ? 0 : loss[i];
        loss[i] = l > bound ? bound : l;
    }
}

void dp_line_losses(const struct dp_line *line, const double *block, size_t count, double eta, double bound, double *loss)
{
    static void (*const add[DP_LOSS_COUNT])(const double *, double, double, double *) = {
        [DP_LOSS_SQUARED] = add_squared,           [DP_LOSS_HINGE] = add_hinge, [DP_LOSS_LOGISTIC] = add_logistic,
        [DP_LOSS_SMOOTH_HINGE] = add_smooth_hinge, [DP_LOSS_HUBER] = add_huber, [DP_LOSS_HUBERISED_HINGE] = add_huberised_hinge,
    };
    memset(loss, 0, DP_LINE_ROWS * sizeof *loss);
    if (dp_loss_is_joint(line->loss))
        set_softmax(line->outputs, block, count, eta, loss);
    for (size_t k = 0; !dp_loss_is_joint(line->loss) && k < line->outputs; k++) {
        const double *a = block + 2 * k * DP_LINE_ROWS;
        if (add[line->loss] != NULL)
            add[line->loss](a, eta, line->width, loss);
        else
            add_by_table(line, block, a, count, eta, loss);
    }
    clip(bound, loss);
}

/* A whole number is below 2^21 in magnitude, so 32 bits hold the sum of a block. */
DP_KERNEL(int64_t, fall, (const double *restrict a, const double *restrict b, size_t count, double inverse_grid),
          (a, b, count, inverse_grid))
{
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        double steps = (a[i] - b[i]) * inverse_grid;
        sum += (int32_t)(steps == steps ? steps : 0);
    }
    return sum;
}

int64_t dp_line_fall(const double *a, const double *b, size_t count, double inverse_grid)
{
    return fall(a, b, count, inverse_grid);
}
