#include "priv/pld_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "priv/bracket.h"
#include "priv/round.h"

enum { DIGITS = 9, TRIES = 40 };
static const double LEAST_FACTOR = 1e-6, MOST_FACTOR = 1e9, LEAST_RATE = 1e-9, MOST_LAPS = 1e9;
static const double WIDTH = 1e-6, CLOSE = 5e-6; /* bounds on different grids are not closer than that */
static const double ENOUGH = 1e-5;

enum unknown { FACTOR, LAPS, RATE };

struct point {
    double value, y;
};

struct search {
    enum unknown unknown;
    const struct dp_pld_part *parts;
    struct dp_pld_part *tried; /* parts with the unknown put in */
    size_t count;
    double epsilon, delta;
    struct point holds, fails; /* seen last */
    int rc;                    /* the first failure */
    struct dp_err *err;
};

static void put(struct search *s, double value)
{
    memcpy(s->tried, s->parts, s->count * sizeof *s->tried);
    for (size_t i = 0; i < s->count; i++) {
        struct dp_pld_part *p = &s->tried[i];
        switch (s->unknown) {
        case FACTOR:
            p->multiplier *= value;
            p->epsilon /= value;
            break;
        case LAPS:
            p->laps = (int64_t)value;
            break;
        case RATE:
            p->rate = value;
            break;
        }
    }
}

/* Infinite after a failure. */
static double spent(struct search *s, double value)
{
    struct dp_pld_answer answer;
    put(s, value);
    if (s->rc == DP_OK)
        s->rc = dp_pld_epsilon(s->tried, s->count, s->delta, &answer, s->err);
    return s->rc == DP_OK ? answer.upper : INFINITY;
}

/* More noise is a larger x: the logarithm of the factor, less that of the others. The value as it will be printed, so
   that what was asked about is what is answered. */
static double value_at(const struct search *s, double x)
{
    if (s->unknown == FACTOR)
        return dp_round_up(exp(x), DIGITS);
    return s->unknown == LAPS ? fmax(floor(exp(-x) * (1 + 1e-12)), 1) : dp_round_down(fmin(exp(-x), 1), DIGITS);
}

/* ln(estimate/target), falling; where the grid does not reach the run is taken for much too dear. */
static double estimated(double x, void *context)
{
    struct search *s = context;
    double estimate = NAN;
    put(s, value_at(s, x));
    if (s->rc == DP_OK)
        s->rc = dp_pld_estimate(s->tried, s->count, s->delta, &estimate, s->err);
    return isnan(estimate) ? 30 : log(fmin(fmax(estimate / s->epsilon, 1e-12), 1e12));
}

/* ln(spent/target), falling but for a few 1e-6. */
static double excess(double x, void *context)
{
    struct search *s = context;
    double value = value_at(s, x);
    if (value == s->holds.value)
        return s->holds.y;
    if (value == s->fails.value)
        return s->fails.y;
    double y = log(fmin(fmax(spent(s, value) / s->epsilon, 1e-12), 1e12));
    *(y > 0 ? &s->fails : &s->holds) = (struct point){value, y};
    return y;
}

/* The least x in [first, last] that holds; NaN where not even last does. From the root of the estimate, away from it
   as far as its slope says, then by secants, and halves where they do not help, between a point that holds and one
   that does not. */
static double search(struct search *s, double first, double last)
{
    double low = first, slope = 1;
    if (estimated(first, s) > 0)
        low = estimated(last, s) > 0 ? last : dp_bracket_falling(estimated, s, first, last, 1e-4);
    double fall = estimated(low, s) - estimated(low + 0.1, s);
    if (fall > 0.002 && fall < 10)
        slope = fall / 0.1;
    double width = s->unknown == LAPS ? fmax(WIDTH, 0.4 * exp(low)) : WIDTH; /* less than a lap */
    double at_low = excess(low, s), high = low, at_high = at_low, step = 1.2 * fabs(at_low) / slope + width;
    for (; at_high > 0 && high < last && s->rc == DP_OK; step *= 4) {
        low = high;
        at_low = at_high;
        high = fmin(high + step, last);
        at_high = excess(high, s);
    }
    if (at_high > 0)
        return NAN;
    for (; at_low <= 0 && low > first && at_high < -CLOSE && s->rc == DP_OK; step *= 4) {
        high = low;
        at_high = at_low;
        low = fmax(low - step, first);
        at_low = excess(low, s);
    }
    if (at_low <= 0)
        return low == first || at_low >= -CLOSE ? low : high;
    double weight_low = at_low, weight_high = at_high;
    int side = 0;
    for (int i = 0; i < TRIES && s->rc == DP_OK; i++) {
        /* Each question costs as much as the one before: the longer it takes, the sooner an answer will do. Where the bound
           jumps, because the grid reaches no further, nothing is gained by locating the jump. */
        bool jumps = at_low - at_high > 3;
        double enough = i < 1 ? CLOSE : i < 8 ? fmin(ENOUGH * (1 << i), 2e-4) : 1e-2;
        if (high - low <= (jumps && i > 3 ? 1e4 : 1) * width || at_high > -enough)
            break;
        double part = (weight_low + CLOSE / 2) / (weight_low - weight_high);
        double x = low + (high - low) * (jumps || i % 4 == 3 ? 0.5 : fmin(fmax(part, 0.01), 0.99)), y = excess(x, s);
        /* Illinois: an end that stays counts half. */
        if (y > 0) {
            low = x;
            at_low = weight_low = y;
            weight_high = side > 0 ? weight_high / 2 : at_high;
            side = 1;
        } else {
            high = x;
            at_high = weight_high = y;
            weight_low = side < 0 ? weight_low / 2 : at_low;
            side = -1;
        }
    }
    return high;
}

/* s->parts, count, epsilon, delta and err given; the rest is set up here and freed with search_free. */
static int search_new(struct search *s)
{
    s->holds.value = s->fails.value = NAN;
    if (!(s->epsilon > 0) || !isfinite(s->epsilon))
        return dp_fail(s->err, DP_E_RUN, "epsilon must be positive and finite, got %g", s->epsilon);
    if (!(s->delta > 0 && s->delta < 1))
        return dp_fail(s->err, DP_E_RUN, "delta must be between 0 and 1, got %g", s->delta);
    s->tried = calloc(s->count + 1, sizeof *s->tried);
    return s->tried != NULL ? DP_OK : dp_fail(s->err, DP_E_RUN, "no memory for a search");
}

/* Rounds to more noise until the answer itself holds; x from search(). */
static int settle(struct search *s, double x, double *value)
{
    double step = WIDTH / 2;
    for (int tries = 0; tries < TRIES && s->rc == DP_OK; tries++) {
        *value = value_at(s, x);
        if (excess(x, s) <= 0) /* mostly seen before */
            return DP_OK;
        x += step;
        step *= 2;
    }
    return s->rc != DP_OK ? s->rc : dp_fail(s->err, DP_E_RUN, "the search for epsilon %g did not settle", s->epsilon);
}

int dp_pld_scale_multiplier(const struct dp_pld_part *parts, size_t count, double epsilon, double delta,
                            double *factor, struct dp_err *err)
{
    struct search s = {FACTOR, parts, .count = count, .epsilon = epsilon, .delta = delta, .err = err};
    int rc = search_new(&s);
    if (rc != DP_OK)
        return rc;
    double x = search(&s, log(LEAST_FACTOR), log(MOST_FACTOR));
    rc = s.rc;
    if (rc == DP_OK && isnan(x))
        rc = dp_fail(err, DP_E_RUN, "no noise multiplier up to %g times as large reaches epsilon %g at delta %g",
                     MOST_FACTOR, epsilon, delta);
    if (rc == DP_OK)
        rc = settle(&s, x, factor);
    free(s.tried);
    return rc;
}

int dp_pld_laps(const struct dp_pld_part *part, double epsilon, double delta, int64_t *laps, struct dp_err *err)
{
    struct search s = {LAPS, part, .count = 1, .epsilon = epsilon, .delta = delta, .err = err};
    int rc = search_new(&s);
    if (rc != DP_OK)
        return rc;
    double x = search(&s, -log(MOST_LAPS), 0);
    double found = isnan(x) ? 0 : value_at(&s, x);
    /* Short runs to the last lap; where one lap changes little, the next ones are not worth the asking. */
    for (int more = 0; more < 8 && found > 0 && found < 1e4 && excess(-log(found + 1), &s) <= 0; more++)
        found++;
    *laps = (int64_t)found;
    free(s.tried);
    return s.rc;
}

int dp_pld_rate(const struct dp_pld_part *part, double epsilon, double delta, double *rate, struct dp_err *err)
{
    struct search s = {RATE, part, .count = 1, .epsilon = epsilon, .delta = delta, .err = err};
    int rc = search_new(&s);
    if (rc != DP_OK)
        return rc;
    double x = search(&s, 0, -log(LEAST_RATE));
    rc = s.rc;
    if (rc == DP_OK && isnan(x))
        rc = dp_fail(err, DP_E_RUN, "no sampling rate from %g reaches epsilon %g at delta %g over %lld laps",
                     LEAST_RATE, epsilon, delta, (long long)part->laps);
    if (rc == DP_OK)
        rc = settle(&s, x, rate);
    free(s.tried);
    return rc;
}
