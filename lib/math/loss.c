#include "math/loss.h"

#include <math.h>
#include <string.h>

#include "math/clones.h"

const char *const dp_loss_names[DP_LOSS_COUNT] = {"squared", "hinge",           "logistic", "smooth-hinge",
                                                  "huber",   "huberised-hinge", "poisson",  "softmax"};

int dp_loss_parse(const char *name, enum dp_loss *loss)
{
    for (int i = 0; i < DP_LOSS_COUNT; i++) {
        if (strcmp(name, dp_loss_names[i]) == 0) {
            *loss = (enum dp_loss)i;
            return 0;
        }
    }
    return -1;
}

bool dp_loss_is_classification(enum dp_loss loss)
{
    return loss == DP_LOSS_HINGE || loss == DP_LOSS_LOGISTIC || loss == DP_LOSS_SMOOTH_HINGE ||
           loss == DP_LOSS_HUBERISED_HINGE || loss == DP_LOSS_SOFTMAX;
}

double dp_loss_default_width(enum dp_loss loss)
{
    return loss == DP_LOSS_HUBERISED_HINGE ? 0.5 : 1.0;
}

bool dp_loss_takes(enum dp_loss loss, double y)
{
    if (loss == DP_LOSS_SOFTMAX)
        return y >= 0 && floor(y) == y;
    if (loss == DP_LOSS_POISSON)
        return y >= 0 && isfinite(y);
    return dp_loss_is_classification(loss) ? fabs(y) == 1 : isfinite(y);
}

/* The largest distance that an update's own rounding may put alpha outside the dual's domain. */
#define ROUNDING 1e-12

static double clamp(double x, double low, double high)
{
    double least = x < low ? low : x;
    return least > high ? high : least;
}

double dp_loss_value(enum dp_loss loss, double width, double y, double u)
{
    double m, r;
    switch (loss) {
    case DP_LOSS_SQUARED:
        return 0.5 * (u - y) * (u - y);
    case DP_LOSS_HINGE:
        return fmax(0.0, 1.0 - y * u);
    case DP_LOSS_LOGISTIC:
        m = y * u;
        return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
    case DP_LOSS_SMOOTH_HINGE:
        m = 1.0 - y * u;
        return m <= 0 ? 0.0 : m >= width ? m - 0.5 * width : 0.5 * m * m / width;
    case DP_LOSS_HUBER:
        r = fabs(u - y);
        return r <= width ? 0.5 * r * r : width * (r - 0.5 * width);
    case DP_LOSS_HUBERISED_HINGE:
        m = 1.0 - y * u;
        return m <= -width ? 0.0 : m >= width ? m : (m + width) * (m + width) / (4 * width);
    case DP_LOSS_POISSON:
        return exp(u) - y * u;
    case DP_LOSS_SOFTMAX:
    case DP_LOSS_COUNT:
        break;
    }
    return NAN;
}

double dp_loss_slope(enum dp_loss loss, double width, double y, double u)
{
    switch (loss) {
    case DP_LOSS_SQUARED:
        return u - y;
    case DP_LOSS_HINGE:
        return y * u < 1.0 ? -y : 0.0;
    case DP_LOSS_LOGISTIC:
        return -y / (1.0 + exp(y * u));
    case DP_LOSS_SMOOTH_HINGE:
        return -y * clamp((1.0 - y * u) / width, 0.0, 1.0);
    case DP_LOSS_HUBER:
        return clamp(u - y, -width, width);
    case DP_LOSS_HUBERISED_HINGE:
        return -y * clamp((1.0 + width - y * u) / (2 * width), 0.0, 1.0);
    case DP_LOSS_POISSON:
        return exp(u) - y;
    case DP_LOSS_SOFTMAX:
    case DP_LOSS_COUNT:
        break;
    }
    return NAN;
}

double dp_loss_curvature(enum dp_loss loss, double width, double y, double u)
{
    double e;
    switch (loss) {
    case DP_LOSS_SQUARED:
        return 1;
    case DP_LOSS_LOGISTIC:
        e = exp(-fabs(u));
        return e / ((1 + e) * (1 + e));
    case DP_LOSS_SMOOTH_HINGE:
        return y * u < 1 && y * u > 1 - width ? 1 / width : 0;
    case DP_LOSS_HUBER:
        return fabs(u - y) < width ? 1 : 0;
    case DP_LOSS_HUBERISED_HINGE:
        return fabs(1 - y * u) < width ? 0.5 / width : 0;
    case DP_LOSS_POISSON:
        return exp(u);
    case DP_LOSS_HINGE:
    case DP_LOSS_SOFTMAX:
    case DP_LOSS_COUNT:
        break;
    }
    return NAN;
}

double dp_loss_prediction(enum dp_loss loss, double u)
{
    return loss == DP_LOSS_POISSON ? exp(u) : u;
}

static double largest(const double *u, size_t count)
{
    double top = u[0];
    for (size_t k = 1; k < count; k++)
        top = fmax(top, u[k]);
    return top;
}

double dp_softmax_value(const double *u, size_t outputs, size_t class)
{
    double top = largest(u, outputs), sum = 0;
    for (size_t k = 0; k < outputs; k++)
        sum += exp(u[k] - top);
    return log(sum) + (top - u[class]);
}

void dp_softmax_slope(const double *u, size_t outputs, size_t class, double *slope)
{
    double top = largest(u, outputs), sum = 0;
    for (size_t k = 0; k < outputs; k++)
        sum += slope[k] = exp(u[k] - top);
    for (size_t k = 0; k < outputs; k++)
        slope[k] /= sum;
    slope[class] -= 1;
}

double dp_loss_row_value(enum dp_loss loss, double width, double label, size_t classes, const double *u, size_t outputs)
{
    double sum = 0;
    if (loss == DP_LOSS_SOFTMAX)
        return dp_softmax_value(u, outputs, (size_t)label);
    for (size_t k = 0; k < outputs; k++)
        sum += dp_loss_value(loss, width, dp_loss_target(label, classes, outputs, k), u[k]);
    return sum;
}

void dp_loss_row_slope(enum dp_loss loss, double width, double label, size_t classes, const double *u, size_t outputs,
                       double *slope)
{
    if (loss == DP_LOSS_SOFTMAX) {
        dp_softmax_slope(u, outputs, (size_t)label, slope);
        return;
    }
    for (size_t k = 0; k < outputs; k++)
        slope[k] = dp_loss_slope(loss, width, dp_loss_target(label, classes, outputs, k), u[k]);
}

double dp_loss_lipschitz(enum dp_loss loss, double width, size_t outputs)
{
    switch (loss) {
    case DP_LOSS_HINGE:
    case DP_LOSS_LOGISTIC:
    case DP_LOSS_SMOOTH_HINGE:
    case DP_LOSS_HUBERISED_HINGE:
        return sqrt((double)outputs);
    case DP_LOSS_HUBER:
        return width * sqrt((double)outputs);
    case DP_LOSS_SOFTMAX:
        return M_SQRT2;
    case DP_LOSS_SQUARED:
    case DP_LOSS_POISSON:
    case DP_LOSS_COUNT:
        break;
    }
    return (double)INFINITY;
}

double dp_loss_smoothness(enum dp_loss loss, double width)
{
    switch (loss) {
    case DP_LOSS_SQUARED:
    case DP_LOSS_HUBER:
        return 1.0;
    case DP_LOSS_LOGISTIC:
        return 0.25;
    case DP_LOSS_SMOOTH_HINGE:
        return 1.0 / width;
    case DP_LOSS_HUBERISED_HINGE:
        return 0.5 / width;
    case DP_LOSS_SOFTMAX:
        return 0.5;
    case DP_LOSS_HINGE:
    case DP_LOSS_POISSON:
    case DP_LOSS_COUNT:
        break;
    }
    return (double)INFINITY;
}

double dp_loss_slope_rounding(enum dp_loss loss, double width, size_t outputs)
{
    const double u = 0x1p-53;
    if (loss == DP_LOSS_SOFTMAX)
        return u * (4 * (double)outputs + 16);
    double one = loss == DP_LOSS_HUBERISED_HINGE ? u * (4 + (1 + width) / (2 * width)) : 8 * u;
    return one * dp_loss_lipschitz(loss, width, outputs);
}

/* b ln b, continued to 0 */
static double entropy_term(double b)
{
    return b > 0 ? b * log(b) : 0.0;
}

double dp_loss_conjugate(enum dp_loss loss, double width, double y, double alpha)
{
    if (loss == DP_LOSS_SQUARED)
        return 0.5 * alpha * alpha - alpha * y;
    if (loss == DP_LOSS_HUBER) {
        if (fabs(alpha) > width * (1 + ROUNDING))
            return (double)INFINITY;
        alpha = clamp(alpha, -width, width);
        return 0.5 * alpha * alpha - alpha * y;
    }
    double b = clamp(y * alpha, 0.0, 1.0);
    if (fabs(b - y * alpha) > ROUNDING)
        return (double)INFINITY;
    switch (loss) {
    case DP_LOSS_HINGE:
        return -b;
    case DP_LOSS_LOGISTIC:
        return entropy_term(b) + entropy_term(1 - b);
    case DP_LOSS_SMOOTH_HINGE:
        return -b + 0.5 * width * b * b;
    default:
        break;
    }
    return NAN;
}

/* Newton's method on G in b = y (alpha + zeta), whose derivative is ln(b/(1−b)) + y u + s (b − y alpha). */
static double logistic_newton(double b_alpha, double yu, double s, int steps)
{
    double b = clamp(b_alpha, DP_LOGISTIC_MARGIN, 1.0 - DP_LOGISTIC_MARGIN);
    for (int i = 0; i < steps; i++) {
        double slope = log(b / (1.0 - b)) + yu + s * (b - b_alpha);
        double curvature = 1.0 / (b * (1.0 - b)) + s;
        double next = b - slope / curvature;
        /* A step that would leave (0, 1) goes only most of the way to the end. */
        if (next <= 0)
            next = 0.01 * b;
        else if (next >= 1)
            next = 1.0 - 0.01 * (1.0 - b);
        if (next == b)
            break;
        b = next;
    }
    return b;
}

/* Without branches: a row's label then causes no misprediction, and eight updates take as long as one. */
static inline __attribute__((always_inline)) double update(enum dp_loss loss, double width, double y, double alpha, double u,
                                                           double s)
{
    double b = y * alpha, moved, at_edge;
    switch (loss) {
    case DP_LOSS_SQUARED:
        return (y - alpha - u) / (1.0 + s);
    case DP_LOSS_HINGE:
        moved = clamp(b + (1.0 - y * u) / s, 0.0, 1.0);
        at_edge = y * u < 1.0 ? 1.0 : 0.0;
        return y * ((s > 0 ? moved : at_edge) - b);
    case DP_LOSS_SMOOTH_HINGE:
        return y * (clamp(b + (1.0 - y * u - width * b) / (width + s), 0.0, 1.0) - b);
    case DP_LOSS_HUBER:
        return clamp(alpha + (y - alpha - u) / (1.0 + s), -width, width) - alpha;
    default:
        return NAN;
    }
}

double dp_dual_update(enum dp_loss loss, double width, double y, double alpha, double u, double s, int newton)
{
    if (loss == DP_LOSS_LOGISTIC)
        return y * logistic_newton(y * alpha, y * u, s, newton) - alpha;
    return update(loss, width, y, alpha, u, s);
}

/* The updates for a loss that is a compile-time constant. */
static inline __attribute__((always_inline)) void update_all(enum dp_loss known, double width, const double *restrict y,
                                                             const double *restrict alpha, const double *restrict u,
                                                             const double *restrict s, double *restrict zeta, size_t count)
{
    for (size_t i = 0; i < count; i++)
        zeta[i] = update(known, width, y[i], alpha[i], u[i], s[i]);
}

CLONES void dp_dual_updates(enum dp_loss loss, double width, const double *y, const double *alpha, const double *u,
                            const double *s, int newton, double *zeta, size_t count)
{
    switch (loss) {
    case DP_LOSS_SQUARED:
        update_all(DP_LOSS_SQUARED, width, y, alpha, u, s, zeta, count);
        break;
    case DP_LOSS_HINGE:
        update_all(DP_LOSS_HINGE, width, y, alpha, u, s, zeta, count);
        break;
    case DP_LOSS_SMOOTH_HINGE:
        update_all(DP_LOSS_SMOOTH_HINGE, width, y, alpha, u, s, zeta, count);
        break;
    case DP_LOSS_HUBER:
        update_all(DP_LOSS_HUBER, width, y, alpha, u, s, zeta, count);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            zeta[i] = dp_dual_update(loss, width, y[i], alpha[i], u[i], s[i], newton);
    }
}

double dp_dual_slope(enum dp_loss loss, double width, double y, double alpha, double u)
{
    double b;
    switch (loss) {
    case DP_LOSS_SQUARED:
    case DP_LOSS_HUBER:
        return alpha - y + u;
    case DP_LOSS_HINGE:
        return u - y;
    case DP_LOSS_LOGISTIC:
        b = y * alpha;
        return y * log(b / (1.0 - b)) + u;
    case DP_LOSS_SMOOTH_HINGE:
        return width * alpha - y + u;
    default:
        break;
    }
    return NAN;
}

void dp_dual_range(enum dp_loss loss, double width, double y, double *low, double *high)
{
    bool classes = dp_loss_is_classification(loss);
    double end = loss == DP_LOSS_HUBER ? width : (double)INFINITY;
    *low = !classes ? -end : y < 0 ? y : 0.0;
    *high = !classes ? end : y > 0 ? y : 0.0;
}
