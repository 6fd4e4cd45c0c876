#include "priv/pld.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdlib.h>

#include "priv/joint.h"
#include "priv/pld_compose.h"
#include "priv/pld_invert.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/replaced.h"

enum {
    ROUNDS = 4,
    LARGEST_JOINT = 512, /* order of a sampled sum; time grows with its square */
    WORK = 1 << 24,      /* parts times points of one grid: half a second */
    POINTS_MIN = 4096,   /* however many parts there are */
    RARE = 32,           /* parts that one with rare losses counts as */
    CELL = 4,            /* points that a cell of one lap takes as long as */
    TRANSFORMS = 256,    /* of the parts' laps for all prefixes */
    FREQUENCIES = 48,    /* looked at before a grid is chosen */
};
static const double SPARE = 1e-9, DECAY = 20, CLOSE = 1e-4, CUT_WIDTH = 0.18, END_OF_TAIL = -32, NOTHING = -60;
enum { MOST_FREQUENCIES = 1024, MOST_CUT = 8192, MANY = 16 };
static const double loss_max = 500;
static const double deviations_max = 12; /* how far out the quadrature is exact */

struct question {
    const struct dp_pld_part *parts;
    size_t count;
    double laps; /* of all parts */
    bool of_delta, symmetric;
    bool rough;            /* one coarse grid of the direction that is thought to matter more */
    double epsilon, delta; /* one given; the other found, first by Rényi */
    double deviations;
    double scale;               /* the largest |loss| of one lap: s is searched for in units of its inverse */
    struct dp_pld_nodes *nodes; /* by part; none where it is sketched with the one before */
    double *rare;               /* with a cut, what of each node is rare, part after part */
};

/* --- the estimate ------------------------------------------------------------------------------------------------ */

/* Laps of a part and of those after it that are sketched with it; *next is the first that is not. */
static double sketched_laps(const struct question *a, size_t part, size_t *next)
{
    double laps = (double)a->parts[part].laps;
    for (*next = part + 1; *next < a->count && a->nodes[*next].count == 0; ++*next)
        laps += (double)a->parts[*next].laps;
    return laps;
}

/* Σ T K(s) of all parts; mean and variance of S under the weights. */
static double moment(const struct question *a, bool add, double s, double *mean, double *variance)
{
    double sum = 0, part_mean, part_variance;
    *mean = *variance = 0;
    for (size_t i = 0, next; i < a->count; i = next) {
        double t = sketched_laps(a, i, &next);
        sum += t * dp_pld_nodes_moment(&a->nodes[i], add, s, &part_mean, &part_variance);
        *mean += t * part_mean;
        *variance += t * part_variance;
    }
    *variance = fmax(*variance, 1e-10 * a->scale * a->scale); /* one atom may have all the weight */
    return sum;
}

static double log_moment(const struct question *a, bool add, double s)
{
    double mean, variance;
    return moment(a, add, s, &mean, &variance);
}

static double erfcx(double x)
{
    return exp(x * x + gsl_sf_log_erfc(x));
}

/* ln E[(1 − e^{ε−S})₊] with S normal under the weights e^{sS}, whose mean is about ε where s > 0. */
static double log_delta_normal(double log_scale, double s, double mean, double variance, double epsilon)
{
    if (s > 0) {
        double a = s * sqrt(variance / 2), b = (s + 1) * sqrt(variance / 2), seen;
        if (a > 25) /* erfcx(x) = 1/(x√π) there */
            seen = (b - a) / (a * b * sqrt(M_PI));
        else if (b - a < 1e-5)
            seen = (M_2_SQRTPI - 2 * a * erfcx(a)) * (b - a);
        else
            seen = erfcx(a) - erfcx(b);
        return log_scale - s * epsilon + log(fmax(seen / 2, DBL_MIN));
    }
    double sigma = sqrt(variance), x = (mean - epsilon) / sigma;
    if (sigma < 1e-5)
        return log(sigma * (gsl_ran_ugaussian_pdf(x) + x * gsl_cdf_ugaussian_P(x)));
    double seen = gsl_cdf_ugaussian_P(x) - exp(epsilon - mean + variance / 2 + log(gsl_cdf_ugaussian_P(x - sigma)));
    return log(fmax(seen, DBL_MIN));
}

/* s >= 0 with mean S = epsilon under the weights, roughly. */
static double tilt_for(const struct question *a, bool add, double epsilon)
{
    double mean, variance, low = -30, high = 7;
    moment(a, add, 0, &mean, &variance);
    if (mean >= epsilon)
        return 0;
    while (high - low > 0.01) {
        double middle = (low + high) / 2;
        moment(a, add, exp(middle) / a->scale, &mean, &variance);
        *(mean < epsilon ? &low : &high) = middle;
    }
    return exp(low) / a->scale;
}

static double estimate_delta(const struct question *a, bool add, double epsilon)
{
    double mean, variance, s = tilt_for(a, add, epsilon), k = moment(a, add, s, &mean, &variance);
    return exp(fmin(log_delta_normal(k, s, mean, variance, epsilon), 0));
}

static double estimate_epsilon(const struct question *a, bool add, double delta)
{
    double mean, variance, k = moment(a, add, 0, &mean, &variance), low, high;
    if (log_delta_normal(k, 0, mean, variance, mean) > log(delta)) {
        /* Beyond the mean: along s, with the ε of each. */
        for (low = -30, high = 7; high - low > 1e-3;) {
            double s = exp((low + high) / 2) / a->scale;
            k = moment(a, add, s, &mean, &variance);
            *(log_delta_normal(k, s, mean, variance, mean) > log(delta) ? &low : &high) = (low + high) / 2;
        }
        moment(a, add, exp(high) / a->scale, &mean, &variance);
        return mean;
    }
    if (log_delta_normal(k, 0, mean, variance, 0) <= log(delta))
        return 0;
    for (low = 0, high = mean; high - low > 1e-3 * high && high > 1e-6 * mean;) {
        double middle = (low + high) / 2;
        *(log_delta_normal(k, 0, mean, variance, middle) > log(delta) ? &low : &high) = middle;
    }
    return high;
}

/* --- the grid ---------------------------------------------------------------------------------------------------- */

static struct dp_pld_window window_for(const struct question *a, bool add, double epsilon, double delta)
{
    struct dp_pld_window w = {.s = tilt_for(a, add, epsilon), .bottom = -INFINITY, .top = INFINITY, .split = INFINITY};
    double mean, variance, middle = moment(a, add, w.s, &mean, &variance);
    double unit = 1 / sqrt(variance), spill = log(DP_PLD_SPILL_SHARE * delta);
    /* What wraps around must be small against δ and not only against the weighted law, where they differ. */
    double peak = w.s > 0 ? -1 - log1p(w.s) : 0;
    double given = log(DP_PLD_WRAP_SHARE) + fmin(log(delta) - (middle - w.s * epsilon) - peak, 0);
    for (double step = unit / 1000; step < 1000 * unit; step *= 1.6) {
        double above = log_moment(a, add, w.s + step), below = log_moment(a, add, w.s - step);
        double top = fmax((above - spill) / (w.s + step), (above - middle - given) / step);
        double bottom = (given + middle - below) / step;
        if (top < w.top) {
            w.top = top;
            w.above = w.s + step;
        }
        if (bottom > w.bottom) {
            w.bottom = bottom;
            w.below = w.s - step;
        }
    }
    w.top = fmax(w.top, 1.01 * epsilon); /* where epsilon is far above all losses, too */
    return w;
}

/* ln of what rounding of the FFT may count for in δ at epsilon, times the step, if no frequency dies out. */
static double log_rounding(const struct question *a, bool add, const struct dp_pld_window *w, double epsilon, double h)
{
    double s = w->s;
    return log(a->laps * 4e-14 / ((s + 1) * (s + 1 / (epsilon + h)))) + log_moment(a, add, s) - s * epsilon;
}

/* |E e^{iωS}| under the weights. */
static double surviving(const struct question *a, bool add, double s, double omega)
{
    double sum = 0;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = sketched_laps(a, p, &next), re = 0, im = 0, k = dp_pld_nodes_moment(n, add, s, NULL, NULL);
        for (size_t i = 0; i < n->count; i++) {
            double loss = add ? -n->loss[i] : n->loss[i], mass = exp(n->log_mass[i] - (add ? n->loss[i] : 0) + s * loss - k);
            re += mass * cos(omega * loss);
            im += mass * sin(omega * loss);
        }
        sum += t * log(fmin(hypot(re, im), 1));
    }
    return exp(sum);
}

/* How much too high the upper bound is in ε on a grid of step h, roughly: what moving each loss to the grid adds to the
   variance is at most h²/6 on average, and less where most losses are far below h. */
static double discretised(const struct question *a, bool add, double s, double h)
{
    double mean, variance, part_mean, part_variance, added = 0;
    moment(a, add, s, &mean, &variance);
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = sketched_laps(a, p, &next);
        double k = dp_pld_nodes_moment(n, add, s, &part_mean, &part_variance), one = 0;
        for (size_t i = 0; i < n->count; i++) {
            double loss = add ? -n->loss[i] : n->loss[i], mass = exp(n->log_mass[i] - (add ? n->loss[i] : 0) + s * loss - k);
            one += mass * fmin(fabs(loss) * h, h * h / 6);
        }
        added += t * one;
    }
    return added * (s + 1 + 1 / sqrt(variance)) / 2;
}

/* The step, from h on, where the upper bound has the least to add for discretisation and rounding, which is `rounding` times
   the integral of the frequencies that survive, relative to δ, whose logarithm falls by `fall`: a larger step makes the law
   wider, and fewer survive. A finer one only serves the lower bound: where rounding keeps that away at any step it is not worth
   its time. */
static double step_against(const struct question *a, bool add, const struct dp_pld_window *w, double rounding, double fall,
                           double epsilon, double h)
{
    double omega[FREQUENCIES], size[FREQUENCIES], best = h, least = INFINITY, at_h = 0;
    if (log1p(rounding / h) < 0.01 * epsilon * fall)
        return h;
    double ratio = pow(fmax(M_PI / (h * 0.1 * fall), 1), 1.0 / FREQUENCIES);
    for (int i = 0; i < FREQUENCIES; i++) {
        omega[i] = M_PI / h * pow(ratio, -i);
        size[i] = surviving(a, add, w->s, omega[i]) * omega[i] * (ratio - 1);
    }
    for (int i = 0; i < FREQUENCIES; i++) {
        double step = M_PI / omega[i], bias = discretised(a, add, w->s, step), sum = omega[FREQUENCIES - 1];
        for (int j = i; j < FREQUENCIES; j++)
            sum += size[j] * exp(-bias / (fall + 1) * omega[j] * omega[j]);
        double noise = log1p(rounding * sum / M_PI) / fall;
        at_h = i == 0 ? noise : at_h;
        if (bias + noise < least) {
            least = bias + noise;
            best = step;
        }
    }
    return at_h < 0.01 * epsilon ? h : fmax(best, h);
}

struct grid {
    double epsilon; /* near which it is to be good */
    double bias;    /* about how much too high the upper bound may be there */
    bool rough;     /* the lower bound does not count */
};

/* The step of a grid, or where a finer one would be worse for the rounding a larger one, and not more points than there is time
   for. */
static double step_for(const struct question *a, bool add, const struct dp_pld_window *w, struct grid g, double work,
                       double rounding, bool *finest)
{
    double mean, variance, range = 0;
    moment(a, add, w->s, &mean, &variance);
    double fall = w->s + 1 / sqrt(variance), h = sqrt(12 * g.bias / (a->laps * (fall + 1)));
    for (int tries = 0; g.rough && tries < 40 && discretised(a, add, w->s, 1.25 * h) < g.bias; tries++)
        h *= 1.25;
    for (size_t i = 0; i < a->count; i++) {
        struct dp_pld_range r = dp_pld_range(&a->parts[i], add, a->deviations);
        range = fmax(range, r.high - r.low);
    }
    double points = fmin(DP_PLD_POINTS_MAX, fmax(WORK / work, POINTS_MIN));
    double least = fmax((w->top - w->bottom) * 1.001, CELL * range) / (points - 8);
    double step = fmax(h, least), larger = rounding > 0 ? step_against(a, add, w, rounding, fall, g.epsilon, step) : step;
    *finest = h <= least || larger > step;
    return larger;
}

/* The mass of the losses above `split`, weighted by e^{s loss} less K(s), and ln of E e^{σ loss} of the others on a grid of
   step h, which moves a loss by up to h. */
static double rare_mass(const struct dp_pld_nodes *n, bool add, double s, double k, double split, double sigma, double h,
                        double *log_small)
{
    double mass = 0, grown = 0;
    for (size_t i = 0; i < n->count; i++) {
        double loss = add ? -n->loss[i] : n->loss[i], log_mass = n->log_mass[i] - (add ? n->loss[i] : 0);
        if (loss > split) {
            mass += exp(log_mass + s * loss - k);
            grown -= exp(log_mass);
        } else {
            grown += exp(log_mass) * (expm1(sigma * loss) + fabs(loss) * h * sigma * sigma / 2);
        }
    }
    *log_small = log1p(fmax(grown, -0.5));
    return mass;
}

/* Where rounding would count against delta: the largest split with few laps beyond it, without which epsilon is out of
   reach. Any split and small are valid. */
static void choose_split(const struct question *a, bool add, double epsilon, double delta, double h, struct dp_pld_window *w)
{
    double t = a->laps, k = log_moment(a, add, w->s), noise = log_rounding(a, add, w, epsilon, h) - log(h);
    if (a->count != 1 || a->parts[0].laps == 1 || noise < log(delta) + log(1e-5))
        return;
    for (double split = epsilon / 2; split > 2 * h && split > epsilon * 1e-3; split /= 1.5) {
        double best = INFINITY, log_small, small = 0, rare = 0;
        for (double sigma = 1 / epsilon; sigma < 1e3 / split; sigma *= 1.4) {
            rare = rare_mass(a->nodes, add, w->s, k / t, split, sigma, h, &log_small);
            double log_delta = t * log_small - sigma * epsilon - log1p(sigma);
            if (log_delta < best) {
                best = log_delta;
                small = sigma;
            }
        }
        if (!(t * rare < 0.1))
            return;
        if (best < log(delta) + log(1e-4)) {
            w->split = split;
            w->small = small;
            return;
        }
    }
}

/* One lap that loses more than all the others: the ε at which T times the δ of one lap is delta. A bit below the truth where
   such laps are rare. */
static double single_lap(const struct question *a, bool add, double delta)
{
    double low = -50, high = log(loss_max);
    while (high - low > 1e-3) {
        double middle = (low + high) / 2, epsilon = exp(middle), seen = 0;
        for (size_t p = 0, next; p < a->count; p = next) {
            const struct dp_pld_nodes *n = &a->nodes[p];
            double t = sketched_laps(a, p, &next);
            for (size_t i = 0; i < n->count; i++) {
                double loss = add ? -n->loss[i] : n->loss[i];
                if (loss > epsilon)
                    seen -= t * exp(n->log_mass[i] - (add ? n->loss[i] : 0)) * expm1(epsilon - loss);
            }
        }
        *(seen > delta ? &low : &high) = middle;
    }
    return exp(high);
}

/* One direction on a grid where the upper bound is about `bias` too high in ε (T h² (s + 1)/12, and the lower bound
   a dozen times that too low). False without memory. *finest: no finer grid fits. */
static bool bounds_on(const struct question *a, bool add, struct grid g, double delta, bool *finest,
                      struct dp_pld_answer *answer)
{
    double epsilon = g.epsilon;
    struct dp_pld_window w = window_for(a, add, epsilon, delta);
    struct grid fine = {epsilon, g.bias, false}; /* a split takes that, however roughly it is asked */
    double h = step_for(a, add, &w, fine, (double)a->count, 0, finest);
    choose_split(a, add, epsilon, delta, h, &w);
    if (isfinite(w.split)) { /* a frequency costs ten times as much, and need not be as fine */
        h = step_for(a, add, &w, fine, RARE, 0, finest);
        w.split = INFINITY;
        choose_split(a, add, epsilon, delta, h, &w);
    } else {
        bool counts = a->count == 1 && a->laps > 1;
        double rounding = counts ? exp(fmin(log_rounding(a, add, &w, epsilon, 0) - log(delta), 100)) : 0;
        h = step_for(a, add, &w, g, (double)a->count, rounding, finest);
    }
    /* Randomised response has two losses, ±ε: on such a grid nothing is lost. */
    if (a->count == 1 && a->parts[0].kind == DP_PLD_PURE && a->parts[0].rate == 1)
        h = a->parts[0].epsilon / ceil(a->parts[0].epsilon / h);
    struct dp_pld_composed c;
    if (!dp_pld_compose(&c, a->parts, a->count, add, a->deviations, h, &w))
        return false;
    if (a->of_delta)
        dp_pld_composed_delta(&c, a->epsilon, &answer->upper, &answer->lower);
    else
        dp_pld_composed_epsilon(&c, delta, &answer->upper, &answer->lower);
    answer->upper = isnan(answer->upper) ? INFINITY : fmax(answer->upper, 0);
    answer->lower = fmax(answer->lower, 0);
    answer->work = (double)c.n * (double)(a->count + isfinite(w.split));
    dp_pld_composed_free(&c);
    return true;
}

static bool is_tight(const struct dp_pld_answer *answer)
{
    return answer->upper - answer->lower <= 0.01 * answer->upper;
}

/* Narrows *answer, the bounds so far, around an estimate of what is asked; share: by how much of it the upper bound
   may be too high. */
static bool narrow(const struct question *a, bool add, double estimate, double share, bool rough, bool *finest,
                   struct dp_pld_answer *answer)
{
    double mean, variance, epsilon, delta, bias;
    moment(a, add, 0, &mean, &variance);
    if (a->of_delta) { /* d ln δ/dε is about −s − 1/deviation */
        epsilon = a->epsilon;
        delta = fmax(estimate, DBL_MIN);
        bias = share / (tilt_for(a, add, epsilon) + 1 / sqrt(variance));
    } else {
        epsilon = fmax(estimate, 0.02 * sqrt(variance));
        delta = a->delta;
        bias = share * epsilon;
    }
    struct dp_pld_answer now;
    if (!bounds_on(a, add, (struct grid){epsilon, bias, rough}, delta, finest, &now))
        return false;
    answer->upper = fmin(answer->upper, now.upper);
    answer->lower = fmax(answer->lower, now.lower);
    answer->work += now.work;
    return true;
}

/* By how much of an answer it may be too high. Few laps are cheap and get more digits, many parts are dear and get fewer. */
static double share_of(const struct question *a)
{
    double by_laps = fmin(4e-6, 2e-7 + a->laps * 2e-10), by_parts = fmin(1e-8 * (double)(a->count * a->count), 1e-4);
    return fmax(by_laps, by_parts) * (a->of_delta ? 10 : 1);
}

/* --- laps cut in two --------------------------------------------------------------------------------------------- */

/* How much of each node is rare, as in priv/pld_cells.h; a loss below 0 is not. */
static void cut_nodes(const struct question *a, struct dp_pld_cut cut)
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

/* ln of the Chernoff bound at c->x on the runs without a rare lap, and how it grows with x. *lost: what has a loss above
   c->most nevertheless. */
static double log_others(const struct question *a, const struct dp_pld_contour *c, double epsilon, double *growth, double *lost)
{
    const double *rare = a->rare;
    double sum = -c->x * epsilon;
    *growth = -epsilon;
    *lost = 0;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = sketched_laps(a, p, &next), all = 0, first = 0;
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

/* At most that, with the x that is best, at this level. */
static double least_others(const struct question *a, struct dp_pld_contour *c, double epsilon, double level)
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

/* Cuts laps where those that are not rare reach epsilon with at most `spare`, at the largest loss that does it. */
static bool cut_laps(const struct question *a, double epsilon, double spare, struct dp_pld_contour *c)
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

/* Of one lap, of what is rare or of the others: ln E e^{sL}, mean and mean square under the weights. */
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

/* The same as moment() of the runs with a rare lap, e^{Σ T ln f} − e^{Σ T ln g}. */
static double rare_moment(const struct question *a, double s, double *mean, double *variance)
{
    const double *rare = a->rare;
    double others = 0, grown = 0, mean_of_others = 0, square_of_others = 0, more = 0, square = 0;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = sketched_laps(a, p, &next);
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

/* s >= 0 where the mean of these is epsilon, roughly. */
static double rare_tilt(const struct question *a, double epsilon)
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

/* T |r| at this frequency, bounded as in priv/pld_invert.h, the ends aside. */
static double rare_left(const struct question *a, const struct dp_pld_contour *c, double omega)
{
    enum { SHIFTS = 8 };
    double left[SHIFTS] = {0}, least = INFINITY;
    const double *rare = a->rare;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = sketched_laps(a, p, &next), q = a->parts[p].rate, k = dp_pld_nodes_moment(n, false, c->s, NULL, NULL);
        for (size_t i = 0; i < n->count; i++) {
            double x = n->log_mass[i] + c->s * n->loss[i] - k, up = expm1(n->loss[i]) + q;
            if (rare[i] < 1e-16 || x < NOTHING)
                continue;
            for (int m = 0; m < SHIFTS; m++) {
                double turned = 0.9 * M_PI * (m + 1) / SHIFTS, tau = turned * a->parts[p].multiplier;
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

/* The error of the sum that keeps bounds within `apart` of themselves. It is one of δ; as one of ε it counts for less the
   steeper δ falls. */
static double error_for(const struct question *a, bool add, const struct dp_pld_contour *contour, double epsilon, double delta,
                        double apart)
{
    double k = log_moment(a, add, contour->s), fall = a->of_delta ? 1 : fmin(contour->s * epsilon, 1);
    return 0.4 * apart * fall * exp(fmin(log(delta) + contour->s * epsilon - k, 0));
}

/* A contour for the runs with a rare lap: as contour_for, for bounds `apart` of themselves apart. False where no cut is good.
 */
static bool rare_contour(const struct question *a, double epsilon, double delta, double apart, struct dp_pld_contour *c)
{
    double mean, variance, target = log(SPARE * delta);
    *c = (struct dp_pld_contour){0};
    if (!cut_laps(a, epsilon, 0.1 * apart * delta, c))
        return false;
    rare_moment(a, 0, &mean, &variance);
    double s = c->s = fmax(rare_tilt(a, epsilon), 0.5 / sqrt(variance)), k = rare_moment(a, 0, &mean, &variance);
    double up = INFINITY, down = (k - target) / s, mu = 0;
    for (size_t i = 0; i < a->count; i++)
        mu = fmax(mu, 1 / a->parts[i].multiplier);
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
    double low = log(1 / epsilon), high = log(1e5 / epsilon), error = error_for(a, false, c, epsilon, delta, apart);
    while (high - low > 0.05) {
        double middle = (low + high) / 2;
        *(rare_left(a, c, exp(middle)) / (M_PI * exp(middle)) > 0.1 * error ? &low : &high) = middle;
    }
    c->frequencies = (size_t)fmin(ceil(exp(high) * c->period / (2 * M_PI)) + 8, 2 * MOST_CUT);
    return true;
}

/* --- inversion --------------------------------------------------------------------------------------------------- */

/* For an answer near epsilon and delta: of the periods that leave little of the other terms the shortest, and frequencies up to
   where nothing is left of a normal S. */
static struct dp_pld_contour contour_for(const struct question *a, bool add, double epsilon, double delta)
{
    double mean, variance, k, target = log(SPARE * delta);
    moment(a, add, 0, &mean, &variance);
    double s = fmax(tilt_for(a, add, epsilon), 0.5 / sqrt(variance));
    k = moment(a, add, s, &mean, &variance);
    struct dp_pld_contour c = {.s = s, .below = 0, .above = s};
    double unit = 1 / sqrt(variance), up = INFINITY, down = -target / s;
    for (double step = unit / 2; step < 100 * unit; step *= 1.8) {
        double above = (log_moment(a, add, s + step) - (s + step) * epsilon - target) / step;
        if (above < 0.95 * up) { /* a large s takes fine panels */
            up = above;
            c.above = s + step;
        }
        if (step >= s)
            continue;
        double below = (log_moment(a, add, s - step) - (s - step) * epsilon - target) / step;
        if (below < 0.95 * down) {
            down = below;
            c.below = s - step;
        }
    }
    (void)k;
    c.period = fmax(fmax(up, down), 1 / s);
    c.frequencies = (size_t)fmin(ceil(DECAY * unit * c.period / (2 * M_PI)) + 8, 2 * MOST_FREQUENCIES);
    return c;
}

/* Whether f is next to nothing at the last frequency: no rare laps matter. */
static bool dies_out(const struct question *a, bool add, double epsilon, double delta)
{
    struct dp_pld_contour c = contour_for(a, add, epsilon, delta);
    return surviving(a, add, c.s, 2 * M_PI * (double)c.frequencies / c.period) < 1e-8;
}

/* Bounds near epsilon and delta with these frequencies; *needs: how many it takes for them to be `apart` of themselves apart.
 */
static bool invert_with(const struct question *a, bool add, const struct dp_pld_contour *contour, double epsilon, double delta,
                        double apart, size_t *needs, struct dp_pld_answer *answer)
{
    struct dp_pld_inverse *inverse;
    if (!dp_pld_inverse_new(&inverse, a->parts, a->count, add, a->deviations, contour))
        return false;
    *needs = SIZE_MAX;
    if (inverse == NULL)
        return true;
    dp_pld_inverse_take(inverse, a->parts);
    *needs = dp_pld_inverse_needs(inverse, error_for(a, add, contour, epsilon, delta, apart));
    if (*needs > contour->frequencies)
        ;
    else if (a->of_delta)
        dp_pld_inverse_delta(inverse, epsilon, &answer->upper, &answer->lower);
    else
        dp_pld_inverse_epsilon(inverse, delta, epsilon, &answer->upper, &answer->lower);
    dp_pld_inverse_free(inverse);
    return true;
}

static bool can_invert(const struct question *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (!dp_pld_has_gaussian(&a->parts[i]))
            return false;
    return true;
}

/* Bounds on one contour: infinite where it takes more than `most` frequencies. False without memory. */
static bool invert_on(const struct question *a, bool add, struct dp_pld_contour contour, double epsilon, double delta,
                      double apart, size_t most, struct dp_pld_answer *now)
{
    size_t needs = contour.frequencies;
    *now = (struct dp_pld_answer){.upper = INFINITY};
    for (int tries = 0; tries < 4 && isinf(now->upper) && needs <= most; tries++) {
        contour.frequencies = needs;
        if (!invert_with(a, add, &contour, epsilon, delta, apart, &needs, now))
            return false;
    }
    return true;
}

/* With laps cut or not, from that epsilon on: *enough as in invert(). False without memory. */
static bool invert_from(const struct question *a, bool add, bool cut, double epsilon, double delta, bool *enough,
                        struct dp_pld_answer *answer)
{
    double mean, variance, apart = a->rough ? CLOSE : 2 * share_of(a);
    moment(a, add, 0, &mean, &variance);
    for (int round = 0; round < 4; round++) {
        epsilon = a->of_delta ? a->epsilon : fmax(epsilon, 0.02 * sqrt(variance));
        struct dp_pld_contour contour;
        struct dp_pld_answer now;
        if (!cut)
            contour = contour_for(a, add, epsilon, delta);
        else if (!rare_contour(a, epsilon, delta, apart, &contour))
            return true;
        if (!invert_on(a, add, contour, epsilon, delta, apart, cut ? MOST_CUT : MOST_FREQUENCIES, &now))
            return false;
        *enough = isfinite(now.upper) && now.upper - now.lower <= apart * now.upper;
        if (*enough) {
            answer->upper = fmin(answer->upper, fmax(now.upper, 0));
            answer->lower = fmax(answer->lower, now.lower);
            return true;
        }
        /* Another contour would be the same. */
        if (a->of_delta || isinf(now.upper) || fabs(now.upper - epsilon) < 0.02 * epsilon)
            return true;
        epsilon = now.upper;
    }
    return true;
}

/* Bounds by inversion. *enough: they are as close as those of the finest grids, and no grid is needed. False without memory. */
static bool invert(const struct question *a, bool add, double estimate, bool *enough, struct dp_pld_answer *answer)
{
    *enough = false;
    if (!can_invert(a))
        return true;
    double mean, variance, delta = a->of_delta ? fmax(estimate, DBL_MIN) : a->delta;
    moment(a, add, 0, &mean, &variance);
    double epsilon = a->of_delta ? a->epsilon : fmax(estimate, 0.02 * sqrt(variance));
    bool rare = (!add || a->symmetric) && !dies_out(a, add, epsilon, delta);
    if (!rare && !invert_from(a, add, false, estimate, delta, enough, answer))
        return false;
    if (!*enough && (!add || a->symmetric) && !invert_from(a, add, true, single_lap(a, add, delta), delta, enough, answer))
        return false;
    return *enough || !rare || invert_from(a, add, false, estimate, delta, enough, answer);
}

/* A dozen laps may lose what is asked about. Where that takes more of them no single one matters. */
static bool few_laps(const struct question *a, double upper)
{
    return (a->of_delta ? a->epsilon : upper) < 12 * a->scale;
}

/* A coarse grid, to know where the answer is, then finer ones until the bounds are close. Few laps are cheap and get
   more digits, many parts are dear and get fewer. The estimate is far too high where one lap may lose more than all the
   others. An upper bound of `enough` ends it. */
static bool refine(const struct question *a, bool add, double estimate, double enough, struct dp_pld_answer *answer)
{
    bool finest, again = false; /* once more on the finest grid, at most */
    double share = share_of(a);
    double single = a->of_delta ? estimate : single_lap(a, add, a->delta);
    for (int round = 0; round < ROUNDS; round++) {
        double gap = answer->upper - answer->lower;
        if (!narrow(a, add, estimate, round == 0 ? 1e-3 : share, round == 0, &finest, answer))
            return false;
        if (round == 0 && few_laps(a, answer->upper) && answer->upper > 1.3 * fmax(single, answer->lower) &&
            !narrow(a, add, 1.02 * single, 1e-3, true, &finest, answer))
            return false;
        if (a->rough || answer->upper <= enough || (round > 0 && (is_tight(answer) || (finest && again))) ||
            (finest && answer->upper > 0.9 * estimate && (round > 0 || answer->upper < 1.1 * estimate)))
            break;
        again = round > 0 && finest;
        if (round > 1 && !(answer->upper - answer->lower < 0.9 * gap)) /* rounding is what is left */
            break;
        if (round > 0)
            share /= 10;
        estimate = answer->upper;
    }
    return true;
}

/* The direction that is thought to matter less: a coarse grid where that already shows it, as fine as the estimates are apart.
 */
static bool compare(const struct question *a, bool add, double estimate, double apart, const struct dp_pld_answer *larger,
                    struct dp_pld_answer *answer)
{
    bool finest = false; /* a finer grid shows no more */
    for (double share = fmin(fmax(apart / 2, 1e-3), 0.016); share > 5e-4 && answer->upper > larger->upper && !finest;
         share /= 4) {
        if (!narrow(a, add, larger->upper, share, true, &finest, answer))
            return false;
        finest = finest && answer->upper < 1.1 * larger->upper;
    }
    return finest || answer->upper <= larger->upper || refine(a, add, estimate, larger->upper, answer);
}

/* Whether Chernoff alone says that this direction matters less than the bound on the other one. False without memory. */
static bool is_less(const struct question *a, bool add, const struct dp_pld_answer *larger, bool *less)
{
    double epsilon = a->of_delta ? a->epsilon : larger->upper, delta = a->of_delta ? larger->upper : a->delta, seen;
    *less = false;
    if (!can_invert(a) || !(epsilon > 0) || isinf(epsilon))
        return true;
    if (!dp_pld_chernoff(a->parts, a->count, add, a->deviations, tilt_for(a, add, epsilon), epsilon, &seen))
        return false;
    *less = seen <= delta;
    return true;
}

static bool reaches(struct question *a)
{
    a->deviations = gsl_cdf_ugaussian_Qinv(fmax(DP_PLD_SPILL_SHARE * a->delta / (2 * a->laps), 1e-300));
    if (a->deviations > deviations_max || a->epsilon > loss_max)
        return false;
    a->scale = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct dp_pld_range r = dp_pld_range(&a->parts[i], false, a->deviations);
        if (!(r.high > r.low && r.low > -loss_max && r.high < loss_max))
            return false;
        a->scale = fmax(a->scale, fmax(-r.low, r.high));
    }
    return true;
}

/* Of many parts, those from `from` on that are alike but for a tenth of their noise: *like is one in their place. */
static size_t alike(const struct question *a, size_t from, struct dp_pld_part *like)
{
    double least = a->parts[from].multiplier, most = least, precision = 0, laps = 0;
    size_t to = from;
    *like = a->parts[from];
    for (; to < a->count; to++) {
        const struct dp_pld_part *p = &a->parts[to];
        least = fmin(least, p->multiplier);
        most = fmax(most, p->multiplier);
        bool same = p->kind == like->kind && p->rate == like->rate && p->epsilon == like->epsilon && most < 1.1 * least;
        if (to > from && (a->count < MANY || like->kind == DP_PLD_PURE || !same))
            break;
        precision += (double)p->laps / (p->multiplier * p->multiplier);
        laps += (double)p->laps;
    }
    if (to > from + 1)
        like->multiplier = sqrt(laps / precision);
    return to;
}

static bool sketch(struct question *a)
{
    size_t nodes = 0;
    a->nodes = calloc(a->count, sizeof *a->nodes);
    for (size_t i = 0, next; a->nodes != NULL && i < a->count; i = next) {
        struct dp_pld_part like;
        next = alike(a, i, &like);
        if (!dp_pld_nodes_new(&a->nodes[i], &like, a->deviations))
            return false;
        nodes += a->nodes[i].count;
    }
    a->rare = a->nodes == NULL ? NULL : malloc((nodes + 1) * sizeof *a->rare);
    return a->rare != NULL;
}

static void sketch_free(struct question *a)
{
    for (size_t i = 0; a->nodes != NULL && i < a->count; i++)
        dp_pld_nodes_free(&a->nodes[i]);
    free(a->nodes);
    free(a->rare);
}

static double estimate(const struct question *a, bool add)
{
    return a->of_delta ? estimate_delta(a, add, a->epsilon) : estimate_epsilon(a, add, a->delta);
}

static int solve(struct question *a, struct dp_pld_answer *answer, struct dp_err *err)
{
    double renyi = a->of_delta ? a->delta : a->epsilon;
    *answer = (struct dp_pld_answer){renyi, 0, renyi == 0, 0};
    if (renyi == 0 || !reaches(a))
        return DP_OK;
    bool ok = sketch(a);
    if (ok && a->of_delta) { /* Rényi's δ may be far too large, and so would be what is cut off */
        a->delta = fmin(a->delta, fmax(estimate(a, false), a->symmetric ? 0 : estimate(a, true)) / 10);
        double before = a->deviations;
        if (!reaches(a)) {
            a->deviations = before;
        } else {
            sketch_free(a);
            ok = sketch(a);
        }
    }
    if (ok) {
        double guess[2] = {estimate(a, false), a->symmetric ? 0 : estimate(a, true)};
        bool larger = guess[1] > guess[0], inverted = false;
        struct dp_pld_answer one = *answer, other = *answer;
        ok = invert(a, larger, guess[larger], &inverted, &one) && (inverted || refine(a, larger, guess[larger], 0, &one));
        bool both = !a->symmetric && !a->rough, less = false;
        if (ok && both)
            ok = is_less(a, !larger, &one, &less);
        if (less)
            both = false;
        if (ok && both && inverted)
            ok = invert(a, !larger, guess[!larger], &inverted, &other);
        if (ok && both && !inverted)
            ok = compare(a, !larger, guess[!larger], 1 - guess[!larger] / guess[larger], &one, &other);
        *answer = one;
        if (both) {
            answer->upper = fmax(one.upper, other.upper);
            answer->lower = fmax(one.lower, other.lower);
            answer->work = one.work + other.work;
        }
        answer->tight = is_tight(answer);
    }
    sketch_free(a);
    if (!ok)
        return dp_fail(err, DP_E_RUN, "no memory for a privacy loss distribution");
    return DP_OK;
}

/* --- the Rényi bound --------------------------------------------------------------------------------------------- */

/* The largest loss of one lap of a pure or Laplace part, rounded up. */
static double pure_epsilon(const struct dp_pld_part *part)
{
    double epsilon = part->kind == DP_PLD_LAPLACE ? (1 + DBL_EPSILON) / part->multiplier : part->epsilon;
    return dp_pure_sampled(part->rate, epsilon);
}

/* No run loses more than that: the sum of the parts' largest losses, infinite with a Gaussian one. Rounded up. */
static double most(const struct question *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct dp_pld_part *p = &a->parts[i];
        if (dp_pld_has_gaussian(p))
            return INFINITY;
        double t = (double)p->laps, epsilon = pure_epsilon(p), total = t * epsilon;
        if (fma(t, epsilon, -total) > 0)
            total = nextafter(total, INFINITY);
        sum += total;
    }
    return a->count > 1 ? sum * (1 + DBL_EPSILON * (double)a->count) : sum;
}

/* Above the largest order what is not sampled. */
static void joint_renyi(const struct dp_pld_part *part, const double *orders, size_t n, double *r)
{
    double order[LARGEST_JOINT + 1], sum[LARGEST_JOINT + 1], pure[LARGEST_JOINT], plain[DP_RDP_ORDER_COUNT];
    for (int l = 0; l <= LARGEST_JOINT; l++)
        order[l] = l;
    dp_rdp_gaussian(part->multiplier, order + 2, LARGEST_JOINT - 1, sum + 2);
    dp_rdp_pure(part->epsilon, order + 2, LARGEST_JOINT - 1, pure);
    for (int l = 2; l <= LARGEST_JOINT; l++)
        sum[l] = (sum[l] + pure[l - 2]) * (1 + DBL_EPSILON);
    dp_rdp_gaussian(part->multiplier, orders, n, plain);
    dp_rdp_pure(part->epsilon, orders, n, pure);
    dp_rdp_sampled_symmetric(part->rate, sum, LARGEST_JOINT, orders, n, r);
    for (size_t i = 0; i < n; i++)
        r[i] = fmin(r[i], (plain[i] + pure[i]) * (1 + DBL_EPSILON));
}

static void part_renyi(const struct dp_pld_part *part, const double *orders, size_t n, double *r)
{
    switch (part->kind) {
    case DP_PLD_JOINT:
        joint_renyi(part, orders, n, r);
        break;
    case DP_PLD_GAUSSIAN:
        dp_rdp_sampled_gaussian(part->rate, part->multiplier, orders, n, r);
        break;
    case DP_PLD_GAUSSIAN_REPLACED:
        dp_rdp_replaced_gaussian(part->rate, part->multiplier, orders, n, r);
        break;
    case DP_PLD_LAPLACE:
    case DP_PLD_PURE:
        dp_rdp_pure(pure_epsilon(part), orders, n, r);
        break;
    }
}

static void renyi(const struct question *a, const double *orders, size_t n, double *rdp)
{
    double r[DP_RDP_ORDER_COUNT];
    for (size_t i = 0; i < n; i++)
        rdp[i] = 0;
    for (size_t p = 0; p < a->count; p++) {
        part_renyi(&a->parts[p], orders, n, r);
        for (size_t i = 0; i < n; i++)
            rdp[i] += r[i] * (double)a->parts[p].laps * (1 + 2 * DBL_EPSILON * (double)p);
    }
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

static int check(struct question *a, struct dp_err *err)
{
    bool replaced = false, sampled = false;
    if (a->count == 0)
        return dp_fail(err, DP_E_RUN, "a run has at least one part");
    a->symmetric = true;
    for (size_t i = 0; i < a->count; i++) {
        const struct dp_pld_part *p = &a->parts[i];
        /* of a joint part first the multiplier, then epsilon */
        bool pure = p->kind == DP_PLD_PURE || (p->kind == DP_PLD_JOINT && p->multiplier > 0 && isfinite(p->multiplier));
        double size = pure ? p->epsilon : p->multiplier;
        if (!(p->rate > 0 && p->rate <= 1))
            return dp_fail(err, DP_E_RUN, "the sampling rate must be above 0 and at most 1, got %g", p->rate);
        if (!(size > 0 && isfinite(size)))
            return dp_fail(err, DP_E_RUN, "%s must be positive and finite, got %g",
                           pure ? "a pure epsilon" : "the noise multiplier", size);
        if (p->laps < 1)
            return dp_fail(err, DP_E_RUN, "a run has at least one lap, got %lld", (long long)p->laps);
        a->laps += (double)p->laps;
        a->symmetric = a->symmetric && dp_pld_symmetric(p);
        replaced = replaced || (p->kind == DP_PLD_GAUSSIAN_REPLACED && p->rate < 1);
        sampled = sampled || (p->kind != DP_PLD_GAUSSIAN_REPLACED && p->rate < 1);
    }
    if (replaced && sampled)
        return dp_fail(err, DP_E_RUN, "parts sampled under replace-one and null-record adjacency do not compose");
    return DP_OK;
}

static double renyi_epsilon(const struct question *a, const double *orders, size_t n)
{
    double rdp[DP_RDP_ORDER_COUNT];
    renyi(a, orders, n, rdp);
    return fmin(dp_rdp_epsilon(orders, rdp, n, a->delta, NULL), most(a));
}

/* By a few orders, which are enough to begin with. */
static int ask_epsilon(struct question *a, double delta, struct dp_err *err)
{
    static const double few[] = {1.5, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256};
    int rc = check(a, err);
    if (rc == DP_OK && !(delta > 0 && delta < 1))
        rc = dp_fail(err, DP_E_RUN, "delta must be between 0 and 1, got %g", delta);
    if (rc != DP_OK)
        return rc;
    a->delta = delta;
    a->epsilon = renyi_epsilon(a, few, sizeof few / sizeof *few);
    if (a->epsilon > loss_max)
        a->epsilon = renyi_epsilon(a, dp_rdp_orders, DP_RDP_ORDER_COUNT);
    return DP_OK;
}

int dp_pld_epsilon(const struct dp_pld_part *parts, size_t count, double delta, struct dp_pld_answer *answer,
                   struct dp_err *err)
{
    struct question a = {.parts = parts, .count = count};
    int rc = ask_epsilon(&a, delta, err);
    rc = rc == DP_OK ? solve(&a, answer, err) : rc;
    if (rc == DP_OK && answer->upper >= a.epsilon && a.epsilon > 0) { /* the grids said nothing */
        double renyi = renyi_epsilon(&a, dp_rdp_orders, DP_RDP_ORDER_COUNT);
        if (renyi < answer->upper)
            *answer = (struct dp_pld_answer){renyi, answer->lower, renyi - answer->lower <= 0.01 * renyi, answer->work};
    }
    return rc;
}

int dp_pld_rough(const struct dp_pld_part *parts, size_t count, double delta, struct dp_pld_answer *answer, struct dp_err *err)
{
    struct question a = {.parts = parts, .count = count, .rough = true};
    int rc = ask_epsilon(&a, delta, err);
    return rc == DP_OK ? solve(&a, answer, err) : rc;
}

int dp_pld_delta(const struct dp_pld_part *parts, size_t count, double epsilon, struct dp_pld_answer *answer,
                 struct dp_err *err)
{
    struct question a = {.parts = parts, .count = count, .of_delta = true, .epsilon = epsilon};
    int rc = check(&a, err);
    if (rc == DP_OK && !(epsilon >= 0 && isfinite(epsilon)))
        rc = dp_fail(err, DP_E_RUN, "epsilon must be finite and not negative, got %g", epsilon);
    if (rc != DP_OK)
        return rc;
    double rdp[DP_RDP_ORDER_COUNT], log_delta = 0;
    renyi(&a, dp_rdp_orders, DP_RDP_ORDER_COUNT, rdp);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        /* ε = r + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), for δ */
        double order = dp_rdp_orders[i];
        double x = (order - 1) * (rdp[i] - epsilon + log1p(-1 / order)) - log(order);
        log_delta = fmin(log_delta, x + 1e-12 * (1 + fabs(x) + (order - 1) * (rdp[i] + epsilon)));
    }
    a.delta = epsilon >= most(&a) ? 0 : fmax(exp(log_delta), DBL_MIN);
    return solve(&a, answer, err);
}

/* Rows that are computed: all, or every so many from the last one on where the transforms of all would be too many. */
static size_t stride_of(const struct dp_pld_part *parts, size_t count, size_t n, double *transforms)
{
    for (size_t stride = 1;; stride *= 2) {
        *transforms = 0;
        for (size_t i = (n - 1) % stride; i < n; i += stride) {
            size_t own = 0;
            for (size_t p = 0; p < count; p++)
                own += parts[i * count + p].laps > (i < stride ? 0 : parts[(i - stride) * count + p].laps);
            *transforms += (double)own;
        }
        if (*transforms <= fmax(2 * (double)count, TRANSFORMS) || stride >= n)
            return stride;
    }
}

/* A prefix of the run: a row of parts, with the laps of each. */
static struct question prefix_of(const struct question *a, const struct dp_pld_part *row)
{
    struct question prefix = *a;
    prefix.parts = row;
    prefix.laps = 0;
    for (size_t p = 0; p < a->count; p++)
        prefix.laps += (double)row[p].laps;
    return prefix;
}

/* A contour around *epsilon, the estimate for this prefix, with some frequencies more than it takes, for shorter ones. NULL
   where there is none. False without memory. */
static bool inverse_around(const struct question *a, bool add, double *epsilon, struct dp_pld_inverse **inverse)
{
    double mean, variance;
    moment(a, add, 0, &mean, &variance);
    *epsilon = fmax(estimate_epsilon(a, add, a->delta), 0.02 * sqrt(variance));
    struct dp_pld_contour contour = contour_for(a, add, *epsilon, a->delta);
    *inverse = NULL;
    for (int tries = 0; tries < 3; tries++) {
        contour.frequencies *= 2;
        dp_pld_inverse_free(*inverse);
        *inverse = NULL;
        if (contour.frequencies > MOST_FREQUENCIES)
            break;
        if (!dp_pld_inverse_new(inverse, a->parts, a->count, add, a->deviations, &contour))
            return false;
        if (*inverse == NULL)
            break;
        dp_pld_inverse_take(*inverse, a->parts);
        size_t needs = dp_pld_inverse_needs(*inverse, error_for(a, add, &contour, *epsilon, a->delta, CLOSE));
        if (needs <= contour.frequencies)
            break;
        contour.frequencies = needs < MOST_FREQUENCIES ? needs : MOST_FREQUENCIES;
    }
    return true;
}

/* One direction by inversion, from the last row on until one does not come out close: *left are the first rows that are left.
   A contour serves as many rows as it is good for. */
static bool invert_prefixes(const struct question *a, bool add, size_t n, double *upper, size_t *left)
{
    const struct dp_pld_part *rows = a->parts - (n - 1) * a->count;
    struct dp_pld_inverse *inverse = NULL;
    double guess = NAN;
    bool ok = true, new = false;
    *left = n;
    for (size_t p = 0; p < a->count; p++)
        if (!dp_pld_has_gaussian(&a->parts[p]))
            return true;
    while (ok && *left > 0) {
        struct question row = prefix_of(a, rows + (*left - 1) * a->count);
        double high = INFINITY, low = 0;
        if (inverse == NULL) {
            ok = inverse_around(&row, add, &guess, &inverse);
            new = true;
        }
        if (!ok || inverse == NULL)
            break;
        dp_pld_inverse_take(inverse, row.parts);
        dp_pld_inverse_epsilon(inverse, a->delta, guess, &high, &low);
        if (high - low <= CLOSE * high) {
            upper[*left - 1] = fmax(upper[*left - 1], high);
            guess = high;
            --*left;
            new = false;
            continue;
        }
        dp_pld_inverse_free(inverse);
        inverse = NULL;
        if (new)
            break;
    }
    dp_pld_inverse_free(inverse);
    return ok;
}

/* One direction: the larger of what upper[i] was and this one's bound. */
static bool prefixes(const struct question *a, bool add, size_t n, double bias, double *upper)
{
    double mean, variance, transforms;
    moment(a, add, 0, &mean, &variance);
    double epsilon = fmax(estimate_epsilon(a, add, a->delta), 0.02 * sqrt(variance));
    struct dp_pld_window w = window_for(a, add, epsilon, a->delta);
    moment(a, add, w.s, &mean, &variance);
    /* The mean of fewer laps is at least 0, and their deviation is less. */
    w.bottom = fmin(w.bottom, -8 * sqrt(variance));
    const struct dp_pld_part *rows = a->parts - (n - 1) * a->count;
    size_t stride = stride_of(rows, a->count, n, &transforms);
    bool finest;
    struct grid shared = {epsilon, bias * epsilon, false};
    double h = step_for(a, add, &w, shared, fmax(transforms / 2, (double)a->count), 0, &finest);
    struct dp_pld_running *running;
    bool ok = dp_pld_running_new(&running, a->parts, a->count, add, a->deviations, h, &w);
    for (size_t i = (n - 1) % stride; ok && i < n; i += stride) {
        const struct dp_pld_part *now = rows + i * a->count, *before = i < stride ? NULL : now - stride * a->count;
        struct dp_pld_composed c;
        double bound;
        for (size_t p = 0; ok && p < a->count; p++)
            ok = dp_pld_running_take(running, &a->parts[p], now[p].laps - (before != NULL ? before[p].laps : 0));
        ok = ok && dp_pld_running_read(running, &c);
        if (!ok)
            break;
        dp_pld_composed_epsilon(&c, a->delta, &bound, NULL);
        dp_pld_composed_free(&c);
        for (size_t j = i < stride ? 0 : i - stride + 1; j <= i; j++)
            upper[j] = fmax(upper[j], isnan(bound) ? INFINITY : bound);
    }
    dp_pld_running_free(running);
    return ok;
}

int dp_pld_prefixes(const struct dp_pld_part *parts, size_t count, size_t n, double delta, double *upper, size_t *rough,
                    struct dp_err *err)
{
    struct question a = {.parts = parts + (n - 1) * count, .count = count, .delta = delta};
    int rc = check(&a, err);
    if (rc == DP_OK && !(delta > 0 && delta < 1))
        rc = dp_fail(err, DP_E_RUN, "delta must be between 0 and 1, got %g", delta);
    if (rc != DP_OK)
        return rc;
    bool reached = reaches(&a);
    *rough = n;
    for (size_t i = 0; i < n; i++)
        upper[i] = reached ? 0 : INFINITY;
    if (!reached)
        return DP_OK;
    size_t left = n, more = 0;
    bool ok = sketch(&a) && invert_prefixes(&a, false, n, upper, &left);
    if (ok && !a.symmetric)
        ok = invert_prefixes(&a, true, n, upper, &more);
    left = left > more ? left : more;
    /* Of the first rows that are left the last one is the run that is put on a grid. */
    if (ok && left > 0) {
        struct question first = prefix_of(&a, parts + (left - 1) * count);
        double bias = left < n ? 5e-4 : 2e-3; /* short runs are cheap */
        ok = prefixes(&first, false, left, bias, upper) && (a.symmetric || prefixes(&first, true, left, bias, upper));
    }
    *rough = left;
    sketch_free(&a);
    return ok ? DP_OK : dp_fail(err, DP_E_RUN, "no memory for a privacy loss distribution");
}

int dp_pld_estimate(const struct dp_pld_part *parts, size_t count, double delta, double *epsilon, struct dp_err *err)
{
    struct question a = {.parts = parts, .count = count, .delta = delta};
    int rc = check(&a, err);
    if (rc != DP_OK)
        return rc;
    *epsilon = NAN;
    if (!reaches(&a))
        return DP_OK;
    bool ok = sketch(&a);
    if (ok)
        *epsilon = fmax(estimate_epsilon(&a, false, delta), a.symmetric ? 0 : estimate_epsilon(&a, true, delta));
    sketch_free(&a);
    return ok ? DP_OK : dp_fail(err, DP_E_RUN, "no memory for an estimate");
}
