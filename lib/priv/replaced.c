#include "priv/replaced.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>

#include "priv/rdp.h"
#include "math/upward.h"

enum { POINTS = 20 };
static const double steepest = 200;   /* beyond this α μ the unsampled bound is used */
static const double far = 12;         /* panels reach this far beyond the peak of φ x^α, which is at αμ or before */
static const double ellipse = 4;      /* sum of the semi-axes of the ellipse, in half panels */
static const double negligible = -50; /* ln of the share of the integral up to which a panel is bounded and not summed */

struct moment {
    double q, mu, order;
};

/* Gauss-Legendre nodes in (0, 1) and weights on [−1, 1], by Newton's method from Tricomi's estimate. */
static void gauss_legendre(double *node, double *weight)
{
    for (int i = 0; i < POINTS / 2; i++) {
        long double x = cosl(M_PIl * (i + 0.75L) / (POINTS + 0.5L)), slope = 0;
        for (int round = 0; round < 8; round++) {
            long double before = 1, p = x;
            for (int k = 2; k <= POINTS; k++) {
                long double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = POINTS * (before - x * p) / (1 - x * x);
            x -= p / slope;
        }
        node[i] = (double)x;
        weight[i] = (double)(2 / ((1 - x * x) * slope * slope));
    }
}

/* ln of the integrand at u = μ/2 + v, raised by its rounding error. */
static double log_integrand(const struct moment *m, double v)
{
    double growth = m->mu * v, u = m->mu / 2 + v;
    double log_x = growth < 40 ? log1p(m->q * expm1(growth)) : growth + log(m->q + (1 - m->q) * exp(-growth));
    double up = m->order * log_x, down = (m->order - 1) * log_x;
    if (!(down > 0))
        return -INFINITY;
    double log_up = dp_log_expm1(up), log_down = log(-expm1(-down));
    double slack = DP_SLACK * (4 + u * u + 2 * m->order * growth + fabs(log_up) + fabs(log_down));
    return log_up + log_down - u * u / 2 - M_LNPI / 2 - M_LN2 / 2 + slack;
}

/* ln of a bound on the integrand's modulus for complex v with real part from a to b and imaginary part up to h, h μ < 1 (so
   that x has a positive real part, and its powers one branch). */
static double log_largest(const struct moment *m, double a, double b, double h)
{
    double top = m->mu * b, bottom = m->mu * a, turn = h * m->mu;
    /* |e^{μv} − 1| <= |e^{μa} − 1| + e^{μa} hμ */
    double g = m->q * (fmax(expm1(top), -expm1(bottom)) + exp(top) * turn);
    double log_x = top < 40 ? log1p(g) : top + log(m->q) + turn + log1p(1 / g);
    double up = m->order * log_x;
    double least = 1 + fmin(0, m->q * (exp(bottom) * cos(turn) - 1)); /* |1 + sg| for s in [0, 1] */
    double log_down = fmin(log((m->order - 1) * g) - m->order * log(least), dp_log_one_plus_exp((1 - m->order) * log(least)));
    double u = fmax(0, m->mu / 2 + a);
    return dp_log_expm1(up) + log_down + h * h / 2 - u * u / 2;
}

/* ln(E[t^α] − 1) */
static double log_excess(const struct moment *m)
{
    double slope = m->order * m->mu, end = slope + far;
    double half = fmin(3 / (far + slope), 0.4 / m->mu);
    double across = half * (ellipse + 1 / ellipse) / 2, high = half * (ellipse - 1 / ellipse) / 2;
    int panels = (int)ceil(end / (2 * half));

    double best = -INFINITY;
    for (int i = 0; i < panels; i++)
        best = fmax(best, log_integrand(m, (2 * i + 1) * half));
    best += log(half);

    double node[POINTS / 2], weight[POINTS / 2];
    gauss_legendre(node, weight);
    struct dp_log_sum sum = {.largest = -INFINITY};
    double terms = 0;
    for (int i = 0; i < panels; i++) {
        double centre = (2 * i + 1) * half;
        double largest = log_largest(m, centre - across, centre + across, high) + log(half) + 1e-9;
        if (largest + M_LN2 < best + negligible) {
            dp_log_sum_add(&sum, largest + M_LN2);
            continue;
        }
        /* the rule is exact for polynomials of degree 2n − 1; one of these is within 2 M ρ^{1−2n}/(ρ−1) of the integrand */
        dp_log_sum_add(&sum, largest + log(8 / (ellipse - 1)) - (2 * POINTS - 1) * log(ellipse));
        for (int k = 0; k < POINTS; k++) {
            double x = k % 2 ? node[k / 2] : -node[k / 2];
            dp_log_sum_add(&sum, log_integrand(m, centre + half * x) + log(weight[k / 2] * half));
        }
        terms += POINTS + 1;
    }

    /* beyond this point x/e^{uμ−μ²/2} falls, and φ times a power of e^{uμ} is a Gaussian again */
    double last = 2 * half * panels, u = m->mu / 2 + last;
    double share = log(m->q + (1 - m->q) * exp(-m->mu * last));
    double rise = m->order * (m->order - 1) * m->mu * m->mu / 2;
    gsl_sf_result tail;
    gsl_sf_log_erfc_e((u - slope) / M_SQRT2, &tail);
    double slack = DP_SLACK * (4 + m->order * fabs(share) + rise + 4 * slope * slope + fabs(tail.val));
    dp_log_sum_add(&sum, m->order * share + rise + tail.val - M_LN2 + slack + tail.err);
    return dp_log_sum_value(&sum, terms + panels + 1);
}

void dp_rdp_replaced_gaussian(double q, double multiplier, const double *orders, size_t n, double *out)
{
    dp_rdp_gaussian(multiplier, orders, n, out);
    bool valid = q >= 0 && multiplier > 0;
    for (size_t i = 0; i < n; i++) {
        struct moment m = {q, 1 / fmin(multiplier, 1e9), orders[i]};
        if (!valid || q == 0)
            out[i] = valid ? 0 : INFINITY;
        else if (q < 1 && m.order * m.mu <= steepest) {
            double rdp = dp_upward(dp_log_one_plus_exp(log_excess(&m)) / (m.order - 1));
            out[i] = fmin(out[i], fmax(rdp, DBL_MIN));
        }
    }
}
