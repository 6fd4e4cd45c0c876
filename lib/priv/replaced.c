#include "priv/replaced.h"

#include <gsl/gsl_math.h>

#include "priv/rdp.h"
#include "math/upward.h"

enum { POINTS = 20 };
static const double steepest = 200;   /* beyond this α μ the unsampled bound is used */
static const double far = 12;         /* panels reach this far beyond the peak of the integrand */
static const double ellipse = 4;      /* sum of the semi-axes of the ellipse, in half panels */
static const double negligible = -50; /* ln of the share of the integral up to which a panel is bounded and not summed */

struct moment {
    double q, mu, order;
    bool coins;
    double peak; /* the integrand is largest at or before this v */
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

/* The integral begins at v = 0. */
static double u_at(const struct moment *m, double v)
{
    return m->coins ? v : m->mu / 2 + v;
}

/* ln(1 − q + q e^growth) */
static double log_mixed(const struct moment *m, double growth)
{
    return growth < 40 ? log1p(m->q * expm1(growth)) : growth + log(m->q + (1 - m->q) * exp(-growth));
}

/* ln b(u) for coins */
static double log_other(const struct moment *m, double v)
{
    return m->coins ? log_mixed(m, -m->mu * (v + m->mu / 2)) : 0;
}

/* ln x */
static double log_ratio(const struct moment *m, double v)
{
    double growth = m->mu * (m->coins ? v - m->mu / 2 : v), other = log_other(m, v);
    if (m->coins && growth < 40)
        return log1p(-m->q * exp(growth - other) * expm1(-2 * m->mu * v));
    return log_mixed(m, growth) - other;
}

/* ln of the integrand at v, raised by its rounding error. */
static double log_integrand(const struct moment *m, double v)
{
    double log_x = log_ratio(m, v), other = log_other(m, v), u = u_at(m, v);
    double up = m->order * log_x, down = (m->order - 1) * log_x;
    if (!(down > 0))
        return -INFINITY;
    double log_up = dp_log_expm1(up), log_down = log(-expm1(-down)), growth = m->mu * (v + (m->coins ? m->mu : 0));
    double slack = DP_SLACK * (4 + u * u + 2 * (m->order + m->coins) * growth + fabs(log_up) + fabs(log_down));
    return log_up + log_down + other - u * u / 2 - M_LNPI / 2 - M_LN2 / 2 + slack;
}

/* ln of bounds on |1 − q + q e^z| for complex z with real part from `bottom` to `top` and an imaginary part up to turn < 1: it
   has a positive real part, and its powers one branch. */
struct modulus {
    double most, least, distance; /* the last: |ln(1 − q + q e^z)|, not as a logarithm */
};

static struct modulus modulus_of(const struct moment *m, double bottom, double top, double turn)
{
    double low = m->q * (exp(bottom) * cos(turn) - 1), most = log_mixed(m, top), least = log1p(low);
    /* |e^z − 1| <= |e^bottom − 1| + e^bottom turn, and |1 + s g| on the way from 1 is at least 1 or 1 + low */
    double g = m->q * (fmax(expm1(top), -expm1(bottom)) + exp(top) * turn);
    return (struct modulus){most, least, fmin(g / (1 + fmin(low, 0)), fmax(most, -least) + turn)};
}

/* ln of a bound on the integrand's modulus for complex v with real part from a to b and imaginary part up to h, h μ < 1. */
static double log_largest(const struct moment *m, double a, double b, double h)
{
    double shift = m->coins ? m->mu * m->mu / 2 : 0, u = fmax(0, u_at(m, a));
    struct modulus x = modulus_of(m, m->mu * a - shift, m->mu * b - shift, h * m->mu), other = {0, 0, 0};
    if (m->coins) {
        other = modulus_of(m, -m->mu * b - shift, -m->mu * a - shift, h * m->mu);
        x = (struct modulus){x.most - other.least, x.least - other.most, x.distance + other.distance};
    }
    /* |e^{kz} − 1| is at most e^{k|z|} − 1, and at most 1 + |e^{kz}| */
    double up = fmin(dp_log_expm1(m->order * x.distance), dp_log_one_plus_exp(m->order * x.most));
    double down = fmin(dp_log_expm1((m->order - 1) * x.distance), dp_log_one_plus_exp((1 - m->order) * x.least));
    return up + down + other.most + h * h / 2 - u * u / 2;
}

/* ln(E[t^α] − 1) */
static double log_excess(const struct moment *m)
{
    double end = m->peak + far;
    double half = fmin(3 / end, 0.4 / m->mu);
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

    /* Beyond this point the integrand falls at least as fast as a Gaussian density around the peak. */
    double last = 2 * half * panels, u = u_at(m, last), log_x = log_ratio(m, last);
    double tail = m->order * log_x + log_other(m, last) - u * u / 2 - M_LNPI / 2 - M_LN2 / 2 - log(last - m->peak);
    dp_log_sum_add(&sum, tail + DP_SLACK * (8 + u * u + 4 * m->order * log_x + 4 * m->order * m->mu * (last + m->mu)));
    return dp_log_sum_value(&sum, terms + panels + 1);
}

static void curve(bool coins, double q, double multiplier, const double *orders, size_t n, double *out)
{
    dp_rdp_gaussian(multiplier, orders, n, out);
    bool valid = q >= 0 && multiplier > 0;
    for (size_t i = 0; i < n; i++) {
        double mu = 1 / fmin(multiplier, 1e9), peak = orders[i] * mu;
        struct moment m = {q, coins ? mu / 2 : mu, orders[i], coins, peak};
        if (!valid || q == 0)
            out[i] = valid ? 0 : INFINITY;
        else if (q < 1 && peak <= steepest) {
            double rdp = dp_upward(dp_log_one_plus_exp(log_excess(&m)) / (m.order - 1));
            out[i] = fmin(out[i], fmax(rdp, DBL_MIN));
        }
    }
}

void dp_rdp_replaced_gaussian(double q, double multiplier, const double *orders, size_t n, double *out)
{
    curve(false, q, multiplier, orders, n, out);
}

void dp_rdp_exchanged_gaussian(double q, double multiplier, const double *orders, size_t n, double *out)
{
    curve(true, q, multiplier, orders, n, out);
}
