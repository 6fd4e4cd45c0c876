/* Bounds by inversion: chooses the contour, with laps cut or not. priv/pld_invert.h has the bounds. */
#include "priv/pld_question.h"

#include <float.h>

#include "priv/pld_invert.h"

/* The first contour has frequencies up to this many inverse deviations of S; the transform of a normal S is e^-200 there. Rare
   laps leave more: then dp_pld_inverse_needs asks for other contours. */
static const double DECAY = 20;

double dp_pld_contour_error(const struct dp_pld_question *a, bool add, const struct dp_pld_contour *contour, double epsilon,
                            double delta, double apart)
{
    double k = dp_pld_log_moment(a, add, contour->s), fall = a->of_delta ? 1 : fmin(contour->s * epsilon, 1);
    return 0.4 * apart * fall * exp(fmin(log(delta) + contour->s * epsilon - k, 0));
}

struct dp_pld_contour dp_pld_contour_for(const struct dp_pld_question *a, bool add, double epsilon, double delta)
{
    double mean, variance, k, target = log(DP_PLD_SPARE * delta);
    dp_pld_moment(a, add, 0, &mean, &variance);
    double s = fmax(dp_pld_tilt(a, add, epsilon), 0.5 / sqrt(variance));
    k = dp_pld_moment(a, add, s, &mean, &variance);
    struct dp_pld_contour c = {.s = s, .below = 0, .above = s};
    double unit = 1 / sqrt(variance), up = INFINITY, down = -target / s;
    for (double step = unit / 2; step < 100 * unit; step *= 1.8) {
        double above = (dp_pld_log_moment(a, add, s + step) - (s + step) * epsilon - target) / step;
        if (above < 0.95 * up) { /* a large s needs fine panels */
            up = above;
            c.above = s + step;
        }
        if (step >= s)
            continue;
        double below = (dp_pld_log_moment(a, add, s - step) - (s - step) * epsilon - target) / step;
        if (below < 0.95 * down) {
            down = below;
            c.below = s - step;
        }
    }
    (void)k;
    c.period = fmax(fmax(up, down), 1 / s);
    c.frequencies = (size_t)fmin(ceil(DECAY * unit * c.period / (2 * M_PI)) + 8, 2 * DP_PLD_MOST_FREQUENCIES);
    return c;
}

/* Whether f is almost nothing at the last frequency: then no rare laps matter. */
static bool dies_out(const struct dp_pld_question *a, bool add, double epsilon, double delta)
{
    struct dp_pld_contour c = dp_pld_contour_for(a, add, epsilon, delta);
    return dp_pld_surviving(a, add, c.s, 2 * M_PI * (double)c.frequencies / c.period) < 1e-8;
}

/* Bounds near epsilon and delta with these frequencies. *needs: the number of frequencies with which the bounds differ by at
   most the fraction `apart`. */
static void invert_with(const struct dp_pld_question *a, bool add, const struct dp_pld_contour *contour, double epsilon,
                        double delta, double apart, size_t *needs, struct dp_pld_answer *answer)
{
    struct dp_pld_inverse *inverse = dp_pld_inverse_new(a->parts, a->count, add, a->deviations, contour);
    *needs = SIZE_MAX;
    if (inverse == NULL)
        return;
    dp_pld_inverse_take(inverse, a->parts);
    *needs = dp_pld_inverse_needs(inverse, dp_pld_contour_error(a, add, contour, epsilon, delta, apart));
    if (*needs > contour->frequencies)
        ;
    else if (a->of_delta)
        dp_pld_inverse_delta(inverse, epsilon, &answer->upper, &answer->lower);
    else
        dp_pld_inverse_epsilon(inverse, delta, epsilon, &answer->upper, &answer->lower);
    dp_pld_inverse_free(inverse);
}

static bool can_invert(const struct dp_pld_question *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (!dp_pld_has_gaussian(&a->parts[i]))
            return false;
    return true;
}

/* Bounds on one contour: infinite if it needs more than `most` frequencies. */
static void invert_on(const struct dp_pld_question *a, bool add, struct dp_pld_contour contour, double epsilon, double delta,
                      double apart, size_t most, struct dp_pld_answer *now)
{
    size_t needs = contour.frequencies;
    *now = (struct dp_pld_answer){.upper = INFINITY};
    for (int tries = 0; tries < 4 && isinf(now->upper) && needs <= most; tries++) {
        contour.frequencies = needs;
        invert_with(a, add, &contour, epsilon, delta, apart, &needs, now);
    }
}

/* The bounds, with cut laps or not; the search begins at this epsilon. True as in dp_pld_by_inversion(). */
static bool invert_from(const struct dp_pld_question *a, bool add, bool cut, double epsilon, double delta,
                        struct dp_pld_answer *answer)
{
    double mean, variance, apart = a->rough ? DP_PLD_CLOSE : 2 * dp_pld_share(a);
    dp_pld_moment(a, add, 0, &mean, &variance);
    for (int round = 0; round < 4; round++) {
        epsilon = a->of_delta ? a->epsilon : fmax(epsilon, 0.02 * sqrt(variance));
        struct dp_pld_contour contour;
        struct dp_pld_answer now;
        if (!cut)
            contour = dp_pld_contour_for(a, add, epsilon, delta);
        else if (!dp_pld_cut_contour(a, epsilon, delta, apart, &contour))
            return false;
        invert_on(a, add, contour, epsilon, delta, apart, cut ? DP_PLD_MOST_CUT : DP_PLD_MOST_FREQUENCIES, &now);
        if (isfinite(now.upper) && now.upper - now.lower <= apart * now.upper) {
            answer->upper = fmin(answer->upper, fmax(now.upper, 0));
            answer->lower = fmax(answer->lower, now.lower);
            return true;
        }
        /* Another contour would be the same. */
        if (a->of_delta || isinf(now.upper) || fabs(now.upper - epsilon) < 0.02 * epsilon)
            return false;
        epsilon = now.upper;
    }
    return false;
}

bool dp_pld_by_inversion(const struct dp_pld_question *a, bool add, double estimate, struct dp_pld_answer *answer)
{
    if (!can_invert(a))
        return false;
    double mean, variance, delta = a->of_delta ? fmax(estimate, DBL_MIN) : a->delta;
    dp_pld_moment(a, add, 0, &mean, &variance);
    double epsilon = a->of_delta ? a->epsilon : fmax(estimate, 0.02 * sqrt(variance));
    bool rare = (!add || a->symmetric) && !dies_out(a, add, epsilon, delta);
    if (!rare && invert_from(a, add, false, estimate, delta, answer))
        return true;
    if ((!add || a->symmetric) && invert_from(a, add, true, dp_pld_single_lap(a, add, delta), delta, answer))
        return true;
    return rare && invert_from(a, add, false, estimate, delta, answer);
}

bool dp_pld_is_less(const struct dp_pld_question *a, bool add, const struct dp_pld_answer *larger)
{
    double epsilon = a->of_delta ? a->epsilon : larger->upper, delta = a->of_delta ? larger->upper : a->delta;
    return can_invert(a) && epsilon > 0 && isfinite(epsilon) &&
           dp_pld_chernoff(a->parts, a->count, add, a->deviations, dp_pld_tilt(a, add, epsilon), epsilon) <= delta;
}
