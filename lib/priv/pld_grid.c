/* Bounds by grids: chooses the window and the step, then finer ones until the bounds are close. priv/pld_compose.h has the
 * bounds. */
#include "priv/pld_question.h"

#include <float.h>

#include "priv/pld_compose.h"

enum {
    ROUNDS = 4,        /* grids of one answer: one to find it, one that mostly suffices, and two ten times finer each */
    WORK = 1 << 24,    /* parts times points of one grid: half a second */
    POINTS_MIN = 4096, /* for any number of parts */
    RARE = 32,         /* a part with rare losses costs as much as this many others: each frequency takes ten times as long */
    CELL = 4,          /* a cell of one lap takes as long as this many points */
    FREQUENCIES = 48,  /* examined before a grid is chosen */
};

struct dp_pld_window dp_pld_grid_window(const struct dp_pld_question *a, bool add, double epsilon, double delta)
{
    struct dp_pld_window w = {.s = dp_pld_tilt(a, add, epsilon), .bottom = -INFINITY, .top = INFINITY, .split = INFINITY};
    double mean, variance, middle = dp_pld_moment(a, add, w.s, &mean, &variance);
    double unit = 1 / sqrt(variance), spill = log(DP_PLD_SPILL_SHARE * delta);
    /* The mass that wraps around must be small compared with δ; small compared with the weighted law is not enough. */
    double peak = w.s > 0 ? -1 - log1p(w.s) : 0;
    double given = log(DP_PLD_WRAP_SHARE) + fmin(log(delta) - (middle - w.s * epsilon) - peak, 0);
    for (double step = unit / 1000; step < 1000 * unit; step *= 1.6) {
        double above = dp_pld_log_moment(a, add, w.s + step), below = dp_pld_log_moment(a, add, w.s - step);
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
    w.top = fmax(w.top, 1.01 * epsilon); /* this also holds if epsilon is far above all losses */
    return w;
}

/* ln of the rounding error of the FFT in δ at epsilon, times the step, if no frequency dies out. */
static double log_rounding(const struct dp_pld_question *a, bool add, const struct dp_pld_window *w, double epsilon, double h)
{
    double s = w->s;
    return log(a->laps * 4e-14 / ((s + 1) * (s + 1 / (epsilon + h)))) + dp_pld_log_moment(a, add, s) - s * epsilon;
}

/* About how much the upper bound exceeds ε on a grid of step h. Moving each loss to the grid adds at most h²/6 to the variance
   on average, and less if most losses are far below h. */
static double discretised(const struct dp_pld_question *a, bool add, double s, double h)
{
    double mean, variance, part_mean, part_variance, added = 0;
    dp_pld_moment(a, add, s, &mean, &variance);
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = dp_pld_sketched_laps(a, p, &next);
        double k = dp_pld_nodes_moment(n, add, s, &part_mean, &part_variance), one = 0;
        for (size_t i = 0; i < n->count; i++) {
            double loss = add ? -n->loss[i] : n->loss[i], mass = exp(n->log_mass[i] - (add ? n->loss[i] : 0) + s * loss - k);
            one += mass * fmin(fabs(loss) * h, h * h / 6);
        }
        added += t * one;
    }
    return added * (s + 1 + 1 / sqrt(variance)) / 2;
}

/* The step, at least h, at which discretisation and rounding add the least to the upper bound. Rounding adds `rounding` times
   the integral of the frequencies that survive, relative to δ, whose logarithm falls by `fall`; a larger step makes the law
   wider, so fewer frequencies survive. A smaller step only helps the lower bound. If rounding spoils the lower bound at any
   step, a smaller step is a waste of time. */
static double step_against(const struct dp_pld_question *a, bool add, const struct dp_pld_window *w, double rounding,
                           double fall, double epsilon, double h)
{
    double omega[FREQUENCIES], size[FREQUENCIES], best = h, least = INFINITY, at_h = 0;
    if (log1p(rounding / h) < 0.01 * epsilon * fall)
        return h;
    double ratio = pow(fmax(M_PI / (h * 0.1 * fall), 1), 1.0 / FREQUENCIES);
    for (int i = 0; i < FREQUENCIES; i++) {
        omega[i] = M_PI / h * pow(ratio, -i);
        size[i] = dp_pld_surviving(a, add, w->s, omega[i]) * omega[i] * (ratio - 1);
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

double dp_pld_grid_step(const struct dp_pld_question *a, bool add, const struct dp_pld_window *w, struct dp_pld_aim g,
                        double work, double rounding, bool *finest)
{
    double mean, variance, range = 0;
    dp_pld_moment(a, add, w->s, &mean, &variance);
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

/* Returns the mass of the losses above `split`, weighted by e^{s loss − K(s)}. *log_small: ln of E e^{σ loss} over the other
   losses on a grid of step h, which moves a loss by up to h. */
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

/* If rounding counts against delta: the largest split with few laps beyond it, such that the other laps cannot reach epsilon.
   Any split and small are valid. */
static void choose_split(const struct dp_pld_question *a, bool add, double epsilon, double delta, double h,
                         struct dp_pld_window *w)
{
    double t = a->laps, k = dp_pld_log_moment(a, add, w->s), noise = log_rounding(a, add, w, epsilon, h) - log(h);
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

/* Bounds one direction on a grid of step h, chosen so that the upper bound is too high by about `bias` in ε, T h² (s + 1)/12.
   The lower bound is too low by a dozen times as much. *finest: no finer grid fits. */
static void bounds_on(const struct dp_pld_question *a, bool add, struct dp_pld_aim g, double delta, bool *finest,
                      struct dp_pld_answer *answer)
{
    double epsilon = g.epsilon;
    struct dp_pld_window w = dp_pld_grid_window(a, add, epsilon, delta);
    struct dp_pld_aim fine = {epsilon, g.bias, false}; /* a split needs these bounds, even for a rough answer */
    double h = dp_pld_grid_step(a, add, &w, fine, (double)a->count, 0, finest);
    choose_split(a, add, epsilon, delta, h, &w);
    if (isfinite(w.split)) { /* each frequency takes ten times as long: use fewer of them */
        h = dp_pld_grid_step(a, add, &w, fine, RARE, 0, finest);
        w.split = INFINITY;
        choose_split(a, add, epsilon, delta, h, &w);
    } else {
        bool counts = a->count == 1 && a->laps > 1;
        double rounding = counts ? exp(fmin(log_rounding(a, add, &w, epsilon, 0) - log(delta), 100)) : 0;
        h = dp_pld_grid_step(a, add, &w, g, (double)a->count, rounding, finest);
    }
    /* Randomised response has two losses, ±ε: such a grid is exact. */
    if (a->count == 1 && a->parts[0].kind == DP_PLD_PURE && a->parts[0].rate == 1)
        h = a->parts[0].epsilon / ceil(a->parts[0].epsilon / h);
    struct dp_pld_composed c;
    dp_pld_compose(&c, a->parts, a->count, add, a->deviations, h, &w);
    if (a->of_delta)
        dp_pld_composed_delta(&c, a->epsilon, &answer->upper, &answer->lower);
    else
        dp_pld_composed_epsilon(&c, delta, &answer->upper, &answer->lower);
    answer->upper = isnan(answer->upper) ? INFINITY : fmax(answer->upper, 0);
    answer->lower = fmax(answer->lower, 0);
    answer->work = (double)c.n * (double)(a->count + isfinite(w.split));
    dp_pld_composed_free(&c);
}

/* Narrows *answer, the bounds so far, around an estimate of the answer. share: the fraction of the answer by which the upper
   bound may be too high. */
static void narrow(const struct dp_pld_question *a, bool add, double estimate, double share, bool rough, bool *finest,
                   struct dp_pld_answer *answer)
{
    double mean, variance, epsilon, delta, bias;
    dp_pld_moment(a, add, 0, &mean, &variance);
    if (a->of_delta) { /* d ln δ/dε is about −s − 1/deviation */
        epsilon = a->epsilon;
        delta = fmax(estimate, DBL_MIN);
        bias = share / (dp_pld_tilt(a, add, epsilon) + 1 / sqrt(variance));
    } else {
        epsilon = fmax(estimate, 0.02 * sqrt(variance));
        delta = a->delta;
        bias = share * epsilon;
    }
    struct dp_pld_answer now;
    bounds_on(a, add, (struct dp_pld_aim){epsilon, bias, rough}, delta, finest, &now);
    answer->upper = fmin(answer->upper, now.upper);
    answer->lower = fmax(answer->lower, now.lower);
    answer->work += now.work;
}

double dp_pld_share(const struct dp_pld_question *a)
{
    double by_laps = fmin(4e-6, 2e-7 + a->laps * 2e-10), by_parts = fmin(1e-8 * (double)(a->count * a->count), 1e-4);
    return fmax(by_laps, by_parts) * (a->of_delta ? 10 : 1);
}

/* Whether a dozen laps may lose as much as the answer. If it takes more laps, no single lap matters. */
static bool few_laps(const struct dp_pld_question *a, double upper)
{
    return (a->of_delta ? a->epsilon : upper) < 12 * a->scale;
}

void dp_pld_grid_refine(const struct dp_pld_question *a, bool add, double estimate, double enough, struct dp_pld_answer *answer)
{
    bool finest, again = false; /* again on the finest grid, at most once */
    double share = dp_pld_share(a);
    double single = a->of_delta ? estimate : dp_pld_single_lap(a, add, a->delta);
    for (int round = 0; round < ROUNDS; round++) {
        double gap = answer->upper - answer->lower;
        narrow(a, add, estimate, round == 0 ? 1e-3 : share, round == 0, &finest, answer);
        if (round == 0 && few_laps(a, answer->upper) && answer->upper > 1.3 * fmax(single, answer->lower))
            narrow(a, add, 1.02 * single, 1e-3, true, &finest, answer);
        if (a->rough || answer->upper <= enough || (round > 0 && (dp_pld_is_tight(answer) || (finest && again))) ||
            (finest && answer->upper > 0.9 * estimate && (round > 0 || answer->upper < 1.1 * estimate)))
            break;
        again = round > 0 && finest;
        if (round > 1 && !(answer->upper - answer->lower < 0.9 * gap)) /* the rest is rounding */
            break;
        if (round > 0)
            share /= 10;
        estimate = answer->upper;
    }
}

void dp_pld_grid_compare(const struct dp_pld_question *a, bool add, double estimate, double apart,
                         const struct dp_pld_answer *larger, struct dp_pld_answer *answer)
{
    bool finest = false; /* a finer grid tells no more */
    for (double share = fmin(fmax(apart / 2, 1e-3), 0.016); share > 5e-4 && answer->upper > larger->upper && !finest;
         share /= 4) {
        narrow(a, add, larger->upper, share, true, &finest, answer);
        finest = finest && answer->upper < 1.1 * larger->upper;
    }
    if (!finest && !(answer->upper <= larger->upper))
        dp_pld_grid_refine(a, add, estimate, larger->upper, answer);
}

bool dp_pld_is_tight(const struct dp_pld_answer *answer)
{
    return answer->upper - answer->lower <= 0.01 * answer->upper;
}
