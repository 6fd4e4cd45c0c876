#include "priv/sparse_vector.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>

#include "base/mem.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "math/upward.h"

enum { LAPLACE_CELLS = 2048, CELLS_PER_DEVIATION = 128, STEPS_MAX = 4096 };
static const double deviations = 9;      /* the tail of a Gaussian beyond this many is one cell */
static const double deviations_max = 36; /* the farthest peak of the summand that the grid reaches */
static const double shift_max = 30;

/* A point of the curve (h, h') and its slope dh'/dh, in logarithms; log_u = ln(1 − h). */
struct point {
    double log_h, log_u, log_h2, log_u2, log_slope;
};

/* A corner of the polygon around the curve: h' is lowered to log_y, and 1 − h' is log_z. Both are rounded so that the summand
   becomes larger. */
struct corner {
    double log_h, log_u, log_y, log_z;
};

/* The effect of a query: V_j = max over lines of a + b V_{j−1}. In extended precision the envelope of thousands of lines loses
 * nothing that counts. */
struct line {
    long double a, b;
};

struct polygon {
    struct corner *corner;
    struct line *line; /* room for the envelope of one order */
    size_t count;
};

static void polygon_free(struct polygon *p)
{
    free(p->corner);
    free(p->line);
}

static void polygon_alloc(struct polygon *p, size_t count)
{
    p->count = count;
    p->corner = dp_new(count + 1, sizeof *p->corner);
    p->line = dp_new(count + 2, sizeof *p->line);
}

/* The tangent at `touch` above the abscissa of `at`. */
static struct corner tangent(const struct point *touch, const struct point *at)
{
    double by_h = touch->log_slope + touch->log_h - touch->log_h2;
    double by_u = touch->log_slope + touch->log_u - touch->log_u2;
    double y = touch->log_h2 + log1p(exp(by_h) * expm1(at->log_h - touch->log_h));
    double z = touch->log_u2 + log1p(exp(by_u) * expm1(at->log_u - touch->log_u));
    double slack = 16 * DP_SLACK * (1 + fabs(touch->log_h) + fabs(touch->log_h2) + fabs(touch->log_slope));
    return (struct corner){at->log_h, at->log_u, y - slack,
                           z - 16 * DP_SLACK * (1 + fabs(touch->log_slope)) *
                                   (fabs(z) + exp(touch->log_h2) + fabs(touch->log_u))};
}

/* Corners above cells + 1 points of the curve, from tangents half-way between them. Each edge joins two corners. Both
   are on or below the tangent at the middle of the edge, so the edge is below the curve. */
static void polygon_around(struct point (*curve)(const void *context, double at), const void *context, double from,
                           double width, struct polygon *p)
{
    size_t cells = p->count - 1;
    struct point before = {0};
    for (size_t i = 0; i <= cells; i++) {
        struct point at = curve(context, from + width * (double)i);
        struct point after = curve(context, from + width * ((double)i + 0.5));
        struct corner left = tangent(i > 0 ? &before : &after, &at);
        struct corner right = tangent(i < cells ? &after : &before, &at);
        bool lower = right.log_y < -M_LN2 ? right.log_y < left.log_y : right.log_z > left.log_z;
        p->corner[i] = lower ? right : left;
        before = after;
    }
}

static struct line line_of(const struct corner *c, double order, double log_scale)
{
    double slack = DP_SLACK * (2 + order * (fabs(c->log_h) + fabs(c->log_y)) + fabs(log_scale));
    double log_a = order * c->log_h - (order - 1) * c->log_y + slack - log_scale;
    struct line line = {.a = exp(log_a) + DBL_MIN};
    if (c->log_u > -INFINITY) {
        double log_b = order * c->log_u - (order - 1) * c->log_z;
        line.b = fmin(exp(log_b + DP_SLACK * (order * (fabs(c->log_u) + fabs(c->log_z)) + fabs(log_b))), 1);
    }
    return line;
}

/* Adds a line to the upper envelope of n lines of ascending slope; returns their new number. */
static size_t envelope_add(struct line *lines, size_t n, struct line new)
{
    while (n > 0 && new.b <= lines[n - 1].b) {
        if (new.a <= lines[n - 1].a)
            return n;
        n--;
    }
    for (; n > 1; n--) {
        struct line first = lines[n - 2], second = lines[n - 1];
        if ((first.a - new.a) * (second.b - first.b) > (first.a - second.a) * (new.b - first.b))
            break;
    }
    lines[n] = new;
    return n + 1;
}

/* ln V_m from corners 0 … last and `left`, the corner before them. Right of the last corner
   the curve is a straight line to (0, 0). If `tail` is set, the last segment begins left of the last corner, with b <= 1. */
static double log_v(const struct polygon *p, const struct corner *left, size_t last, bool tail, int64_t queries, double order)
{
    double log_scale = 0;
    for (size_t i = 0; i <= last; i++)
        log_scale = fmax(log_scale, order * p->corner[i].log_h - (order - 1) * p->corner[i].log_y);
    size_t n = envelope_add(p->line, 0, line_of(left, order, log_scale));
    for (size_t i = 0; i <= last; i++)
        n = envelope_add(p->line, n, line_of(&p->corner[i], order, log_scale));
    if (tail) {
        struct line bound = line_of(&p->corner[last], order, log_scale);
        bound.b = 1;
        n = envelope_add(p->line, n, bound);
    }

    long double v = fmax(exp(-log_scale), DBL_MIN), rise = 0;
    size_t best = 0;
    for (int64_t j = 0; j < queries; j++) {
        /* the map from V to V has slope <= 1, so that V rises ever less */
        if (j == STEPS_MAX) {
            v += rise * (long double)(queries - j);
            break;
        }
        while (best + 1 < n && p->line[best + 1].a + p->line[best + 1].b * v >= p->line[best].a + p->line[best].b * v)
            best++;
        long double next = p->line[best].a + p->line[best].b * v;
        if (next <= v * (1 + 2e-19L)) { /* repeated rises of this size add nothing to the last digit */
            v += (next > v ? next - v : 0) * (long double)(queries - j);
            break;
        }
        rise = next - v;
        v = next;
    }
    double result = (double)logl(v);
    return fmax(0, log_scale + result + DP_SLACK * (1 + log_scale + fabs(result)));
}

struct laplace {
    double log_c, log_left; /* u h' = c from ln u = log_left */
};

/* Between its straight ends the curve is a hyperbola; x = ln(u / u_left). */
static struct point laplace_point(const void *context, double x)
{
    const struct laplace *l = context;
    double log_u = l->log_left + x, log_h2 = l->log_c - log_u;
    return (struct point){log1p(-exp(log_u)), log_u, log_h2, log1p(-exp(log_h2)), l->log_c - 2 * log_u};
}

void dp_rdp_sparse_vector_laplace(double threshold, double query, int64_t steps, int64_t queries, const double *orders,
                                  size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = INFINITY;
    if (!(threshold > 0 && query > 0 && steps >= 0 && queries >= 1))
        return;
    struct polygon p = {0};
    polygon_alloc(&p, LAPLACE_CELLS + 1);
    /* Pr[ν >= t] of discrete Laplace noise: the points of a slightly lower hyperbola, θ = e^{−ε₂/steps} */
    double step = steps > 0 ? query / (double)steps : 0;
    double log_1theta = log1p(exp(-step));
    struct laplace curve = {-2 * query - step - 2 * log_1theta, -2 * query - step - log_1theta};
    polygon_around(laplace_point, &curve, 0, (2 * query + step) / LAPLACE_CELLS, &p);

    const struct corner left = {0, -INFINITY, 0, -INFINITY};
    if (steps > 0)
        dp_rdp_discrete_laplace(threshold, steps, orders, n, out);
    else
        dp_rdp_laplace(1 / threshold, orders, n, out);
    for (size_t i = 0; i < n; i++) {
        double pure;
        dp_rdp_pure(threshold + 2 * query, &orders[i], 1, &pure);
        double added = fmin(log_v(&p, &left, p.count - 1, false, queries, orders[i]) / (orders[i] - 1), 2 * query);
        out[i] = fmin(dp_upward(out[i] + dp_upward(added)), dp_upward(pure));
    }
    polygon_free(&p);
}

/* ln Φ(−x) and ln Φ(x), both to their last digits */
static void log_tails(double x, double *above, double *below)
{
    gsl_sf_result half;
    gsl_sf_log_erfc_e(fabs(x) / M_SQRT2, &half);
    double tail = half.val - M_LN2, rest = log1p(-exp(tail));
    *above = x >= 0 ? tail : rest;
    *below = x >= 0 ? rest : tail;
}

static struct point gaussian_point(const void *context, double t)
{
    double shift = *(const double *)context;
    struct point p = {.log_slope = -shift * (t + shift / 2)};
    log_tails(t, &p.log_h, &p.log_u);
    log_tails(t + shift, &p.log_h2, &p.log_u2);
    return p;
}

void dp_rdp_sparse_vector_gaussian(double threshold, double query, int64_t queries, const double *orders, size_t n, double *out)
{
    dp_rdp_gaussian(threshold, orders, n, out);
    if (!(query > 0 && queries >= 1)) {
        for (size_t i = 0; i < n; i++)
            out[i] = INFINITY;
        return;
    }
    double shift = 2 / query, from = -deviations - shift, width = 1.0 / CELLS_PER_DEVIATION, peak = 0;
    for (size_t i = 0; i < n; i++)
        if ((orders[i] - 1) * shift <= deviations_max)
            peak = fmax(peak, (orders[i] - 1) * shift);
    struct polygon p = {0};
    struct corner left = {0};
    bool grid = shift <= shift_max;
    if (grid) {
        polygon_alloc(&p, (size_t)((peak + deviations - from) / width) + 2);
        polygon_around(gaussian_point, &shift, from, width, &p);
        /* the first tangent where h = 1 */
        struct point touch = gaussian_point(&shift, from + width / 2), end = {0, -INFINITY, 0, 0, 0};
        left = tangent(&touch, &end);
    }
    for (size_t i = 0; i < n; i++) {
        double order = orders[i], one;
        dp_rdp_gaussian(query / 2, &order, 1, &one);
        double log_one = dp_upward((order - 1) * one), m = (double)queries;
        /* m compositions of one query; and V_j <= e^{one query} + V_{j−1} */
        double log_most = fmin(m * log_one, dp_log_one_plus_exp(log(m) * (1 + DP_SLACK) + log_one));
        if (grid && (order - 1) * shift <= deviations_max) {
            size_t last = (size_t)(((order - 1) * shift + deviations - from) / width) + 1;
            log_most = fmin(log_most, log_v(&p, &left, last, true, queries, order));
        }
        out[i] = dp_upward(out[i] + dp_upward(log_most / (order - 1)));
    }
    polygon_free(&p);
}
