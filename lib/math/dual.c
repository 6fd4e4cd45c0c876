#include "math/dual.h"

/* The largest distance that an update's own rounding may put alpha outside the dual's domain. */
#define ROUNDING 1e-12

/* The duals: X(loss, l*(y, −alpha), dG/dzeta at zeta = 0, the function of the update), with g = width and b = y alpha. l* is
 * finite where b is in [0, 1] for a loss of the margin, and where |alpha| is at most the largest |dl/du| for a loss of the
 * residual. */
/* clang-format off */
#define DUALS(X)                                                                                                               \
    X(SQUARED, 0.5 * alpha * alpha - alpha * y, alpha - y + u, squared)                                                        \
    X(HINGE, -b, u - y, hinge)                                                                                                 \
    X(LOGISTIC, entropy_term(b) + entropy_term(1 - b), y * log(b / (1.0 - b)) + u, logistic)                                   \
    X(SMOOTH_HINGE, -b + 0.5 * g * b * b, g * alpha - y + u, smooth_hinge)                                                     \
    X(HUBER, 0.5 * alpha * alpha - alpha * y, alpha - y + u, huber)
/* clang-format on */

static double clamp(double x, double low, double high)
{
    double least = x < low ? low : x;
    return least > high ? high : least;
}

/* b ln b, continued to 0 */
static double entropy_term(double b)
{
    return b > 0 ? b * log(b) : 0.0;
}

void dp_dual_range(enum dp_loss loss, double width, double y, double *low, double *high)
{
    bool classes = dp_loss_is_classification(loss);
    double end = dp_loss_lipschitz(loss, width, 1);
    *low = !classes ? -end : y < 0 ? y : 0.0;
    *high = !classes ? end : y > 0 ? y : 0.0;
}

double dp_loss_conjugate(enum dp_loss loss, double g, double y, double alpha)
{
    const double end = dp_loss_lipschitz(loss, g, 1), b = clamp(y * alpha, 0.0, 1.0);
    if (dp_loss_is_classification(loss) ? fabs(b - y * alpha) > ROUNDING : fabs(alpha) > end * (1 + ROUNDING))
        return (double)INFINITY;
    if (!dp_loss_is_classification(loss))
        alpha = clamp(alpha, -end, end);
#define CONJUGATE(id, conjugate, slope, update)                                                                                \
    case DP_LOSS_##id:                                                                                                         \
        return conjugate;
    switch (loss) {
        DUALS(CONJUGATE)
    default:
        return (double)NAN;
    }
}

double dp_dual_slope(enum dp_loss loss, double g, double y, double alpha, double u)
{
    const double b = y * alpha;
#define SLOPE(id, conjugate, slope, update)                                                                                    \
    case DP_LOSS_##id:                                                                                                         \
        return slope;
    switch (loss) {
        DUALS(SLOPE)
    default:
        return (double)NAN;
    }
}

/* A row of the data in an update: zeta without branches, so that a row's label causes no misprediction, and eight updates take
   as long as one. */
struct at {
    double g, y, alpha, u, s;
    int newton;
};
#define UPDATE(name) static inline __attribute__((always_inline)) double name(struct at p)

UPDATE(squared)
{
    return (p.y - p.alpha - p.u) / (1.0 + p.s);
}

UPDATE(hinge)
{
    double b = p.y * p.alpha, moved = clamp(b + (1.0 - p.y * p.u) / p.s, 0.0, 1.0), at_edge = p.y * p.u < 1.0 ? 1.0 : 0.0;
    return p.y * ((p.s > 0 ? moved : at_edge) - b);
}

UPDATE(smooth_hinge)
{
    double b = p.y * p.alpha;
    return p.y * (clamp(b + (1.0 - p.y * p.u - p.g * b) / (p.g + p.s), 0.0, 1.0) - b);
}

UPDATE(huber)
{
    return clamp(p.alpha + (p.y - p.alpha - p.u) / (1.0 + p.s), -p.g, p.g) - p.alpha;
}

/* Newton's method on G in b = y (alpha + zeta), whose derivative is ln(b/(1−b)) + y u + s (b − y alpha). */
static double logistic_newton(double b_alpha, double yu, double s, int steps)
{
    double b = clamp(b_alpha, DP_LOGISTIC_MARGIN, 1.0 - DP_LOGISTIC_MARGIN);
    for (int i = 0; i < steps; i++) {
        double slope = log(b / (1.0 - b)) + yu + s * (b - b_alpha);
        double curvature = 1.0 / (b * (1.0 - b)) + s;
        double next = b - slope / curvature;
        /* A step that would leave (0, 1) goes 99 % of the way to the end of the interval. */
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

UPDATE(logistic)
{
    return p.y * logistic_newton(p.y * p.alpha, p.y * p.u, p.s, p.newton) - p.alpha;
}

double dp_dual_update(enum dp_loss loss, double width, double y, double alpha, double u, double s, int newton)
{
#define ONE(id, conjugate, slope, update)                                                                                      \
    case DP_LOSS_##id:                                                                                                         \
        return update((struct at){width, y, alpha, u, s, newton});
    switch (loss) {
        DUALS(ONE)
    default:
        return (double)NAN;
    }
}

#define ALL(id, conjugate, slope, update)                                                                                      \
    case DP_LOSS_##id:                                                                                                         \
        for (size_t i = 0; i < count; i++)                                                                                     \
            zeta[i] = update((struct at){width, y[i], alpha[i], u[i], s[i], newton});                                          \
        break;
void dp_dual_updates(enum dp_loss loss, double width, const double *y, const double *alpha, const double *u, const double *s,
                     int newton, double *zeta, size_t count)
{
    switch (loss) {
        DUALS(ALL)
    default:
        break;
    }
}
