/* Contours for runs in which rare laps matter: the laps are cut into rare laps and the others (priv/pld_invert.h). */
#include "priv/pld_question.h"

#include <float.h>

#include "priv/pld_invert.h"

/* Over this width of ln(e^l − 1 + q), which is linear in the Gaussian draw, a lap of loss l turns from an ordinary lap into a
   rare one. With a smaller width the transform of a rare lap falls more slowly and needs more frequencies. With a larger width
   ordinary laps lose more. */
static const double CUT_WIDTH = 0.18;
/* ln of the weighted density of one lap where its quadrature ends: e^-32 is 1e-14, which rounding loses in any case. */
static const double END_OF_TAIL = -32;
/* ln of a weight that may be dropped: e^-60 of the sum is below 2^-53 for up to 1e10 such weights. */
static const double NOTHING = -60;

/* The rare share of each node, as in priv/pld_cells.h. A loss below 0 is not rare. */
static void cut_nodes(const struct dp_pld_question *a, struct dp_pld_cut cut)
{
    double *rare = a->rare;
    for (size_t p = 0; p < a->count; p++) {
        double q = a->parts[p].rate, middle = log(expm1(cut.level) + q);
        for (size_t i = 0; i < a->nodes[p].count; i++) {
            double loss = a->nodes[p].loss[i];
            *rare++ = loss > 0 ? erfc((middle - log(expm1(loss) + q)) / cut.width * M_SQRT1_2) / 2 : 0;
        }
    }
}

/* ln of the Chernoff bound at c->x on the runs without a rare lap, and its derivative in x. *lost: the mass of
   losses above c->most. */
static double log_others(const struct dp_pld_question *a, const struct dp_pld_contour *c, double epsilon, double *growth,
                         double *lost)
{
    const double *rare = a->rare;
    double sum = -c->x * epsilon;
    *growth = -epsilon;
    *lost = 0;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = dp_pld_sketched_laps(a, p, &next), all = 0, first = 0;
        for (size_t i = 0; i < n->count; i++) {
            double mass = exp(n->log_mass[i]) * (1 - rare[i]) / n->all[false], weight = mass * exp(c->x * n->loss[i]);
            if (n->loss[i] > c->most) {
                *lost += t * mass;
                continue;
            }
            all += weight;
            first += weight * n->loss[i];
        }
        rare += n->count;
        sum += t * log(all);
        *growth += t * first / all;
    }
    return sum;
}

/* The least such bound over x, at this level. */
static double least_others(const struct dp_pld_question *a, struct dp_pld_contour *c, double epsilon, double level)
{
    double low = log(1 / epsilon), high = log(500 / epsilon), growth, lost = 0, least = 0;
    c->cut = (struct dp_pld_cut){level, CUT_WIDTH};
    c->most = 0.95 * epsilon;
    cut_nodes(a, c->cut);
    while (high - low > 0.1) {
        c->x = exp((low + high) / 2);
        least = log_others(a, c, epsilon, &growth, &lost);
        *(growth < 0 ? &low : &high) = (low + high) / 2;
    }
    return exp(least) + lost;
}

/* Cuts laps at the largest loss for which the laps that are not rare reach epsilon with at most `spare`. */
static bool cut_laps(const struct dp_pld_question *a, double epsilon, double spare, struct dp_pld_contour *c)
{
    double low = log(0.01 * epsilon), high = log(epsilon);
    if (!(least_others(a, c, epsilon, exp(low)) < spare))
        return false;
    while (high - low > 0.1) {
        double middle = (low + high) / 2;
        *(least_others(a, c, epsilon, exp(middle)) < spare ? &low : &high) = middle;
    }
    return least_others(a, c, epsilon, exp(low)) < spare;
}

/* The rare half of one lap or the other half: ln E e^{sL}, mean and mean square under the weights. */
struct half {
    double log, mean, square;
};

static struct half half_of(const struct dp_pld_nodes *n, const double *rare, bool of_rare, double s)
{
    double peak = -INFINITY, sum = 0, first = 0, second = 0;
    for (size_t i = 0; i < n->count; i++)
        if (of_rare ? rare[i] > 0 : rare[i] < 1)
            peak = fmax(peak, n->log_mass[i] + s * n->loss[i]);
    for (size_t i = 0; i < n->count; i++) {
        double x = n->log_mass[i] + s * n->loss[i] - peak, loss = n->loss[i];
        double w = x < -60 ? 0 : exp(x) * (of_rare ? rare[i] : 1 - rare[i]);
        sum += w;
        first += w * loss;
        second += w * loss * loss;
    }
    sum = fmax(sum, DBL_MIN);
    return (struct half){peak + log(sum / n->all[false]), first / sum, second / sum};
}

/* dp_pld_moment() of the runs with a rare lap, e^{Σ T ln f} − e^{Σ T ln g}. */
static double rare_moment(const struct dp_pld_question *a, double s, double *mean, double *variance)
{
    const double *rare = a->rare;
    double others = 0, grown = 0, mean_of_others = 0, square_of_others = 0, more = 0, square = 0;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = dp_pld_sketched_laps(a, p, &next);
        struct half g = half_of(n, rare, false, s), r = half_of(n, rare, true, s);
        double x = r.log - g.log, share = 1 / (1 + exp(-x)), apart = share * (r.mean - g.mean);
        others += t * g.log;
        grown += t * (x > 30 ? x : log1p(exp(x)));
        mean_of_others += t * g.mean;
        square_of_others += t * (g.square - g.mean * g.mean);
        more += t * apart;
        square += t * (share * (r.square - g.square) - apart * (2 * g.mean + apart));
        rare += n->count;
    }
    double happens = fmax(-expm1(-grown), DBL_MIN);
    square = (square + more * (2 * mean_of_others + more)) / happens - more / happens * (2 * mean_of_others + more / happens);
    *mean = mean_of_others + more / happens;
    *variance = fmax(square + square_of_others, 1e-10 * a->scale * a->scale);
    return others + grown + log(happens);
}

/* An s >= 0 at which the mean of the runs with a rare lap is about epsilon. */
static double rare_tilt(const struct dp_pld_question *a, double epsilon)
{
    double mean, variance, low = -30, high = 7;
    rare_moment(a, 0, &mean, &variance);
    if (mean >= epsilon)
        return 0;
    while (high - low > 0.05) {
        rare_moment(a, exp((low + high) / 2) / a->scale, &mean, &variance);
        *(mean < epsilon ? &low : &high) = (low + high) / 2;
    }
    return exp(low) / a->scale;
}

/* T |r| at this frequency, bounded as in priv/pld_invert.h without the ends of the path. */
static double rare_left(const struct dp_pld_question *a, const struct dp_pld_contour *c, double omega)
{
    enum { SHIFTS = 8 };
    double left[SHIFTS] = {0}, least = INFINITY;
    const double *rare = a->rare;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = dp_pld_sketched_laps(a, p, &next), q = a->parts[p].rate, k = dp_pld_nodes_moment(n, false, c->s, NULL, NULL);
        for (size_t i = 0; i < n->count; i++) {
            double x = n->log_mass[i] + c->s * n->loss[i] - k, up = expm1(n->loss[i]) + q;
            if (rare[i] < 1e-16 || x < NOTHING)
                continue;
            for (int m = 0; m < SHIFTS; m++) {
                double turned = 0.9 * M_PI * (m + 1) / SHIFTS, tau = turned / dp_pld_shift(&a->parts[p]);
                double grown = (tau * tau + pow(turned / c->cut.width, 2)) / 2;
                left[m] += t * rare[i] * exp(x + grown - omega * atan2(up * sin(turned), 1 - q + up * cos(turned)));
            }
        }
        rare += n->count;
    }
    for (int m = 0; m < SHIFTS; m++)
        least = fmin(least, left[m]);
    return least;
}

bool dp_pld_cut_contour(const struct dp_pld_question *a, double epsilon, double delta, double apart, struct dp_pld_contour *c)
{
    double mean, variance, target = log(DP_PLD_SPARE * delta);
    *c = (struct dp_pld_contour){0};
    if (!cut_laps(a, epsilon, 0.1 * apart * delta, c))
        return false;
    rare_moment(a, 0, &mean, &variance);
    double s = c->s = fmax(rare_tilt(a, epsilon), 0.5 / sqrt(variance)), k = rare_moment(a, 0, &mean, &variance);
    double up = INFINITY, down = (k - target) / s, mu = 0;
    for (size_t i = 0; i < a->count; i++)
        mu = fmax(mu, dp_pld_shift(&a->parts[i]));
    c->above = s;
    c->deviations = s * mu + sqrt(s * mu * s * mu - 2 * END_OF_TAIL);
    for (double step = s / 4; s + step < fmax((a->deviations - 3) / mu, 1.3 * s); step *= 1.4) {
        double above = (rare_moment(a, s + step, &mean, &variance) - (s + step) * epsilon - target) / step;
        if (above < 0.95 * up) {
            up = above;
            c->above = s + step;
        }
    }
    for (double part = 0.1; part < 1; part += 0.1) {
        double below = (rare_moment(a, part * s, &mean, &variance) - part * s * epsilon - target) / (s - part * s);
        if (below < 0.95 * down) {
            down = below;
            c->below = part * s;
        }
    }
    c->period = fmax(fmax(up, down), 1 / s);
    double low = log(1 / epsilon), high = log(1e5 / epsilon), error = dp_pld_contour_error(a, false, c, epsilon, delta, apart);
    while (high - low > 0.05) {
        double middle = (low + high) / 2;
        *(rare_left(a, c, exp(middle)) / (M_PI * exp(middle)) > 0.1 * error ? &low : &high) = middle;
    }
    c->frequencies = (size_t)fmin(ceil(exp(high) * c->period / (2 * M_PI)) + 8, 2 * DP_PLD_MOST_CUT);
    return true;
}
