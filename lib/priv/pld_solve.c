#include "priv/pld_solve.h"

#include "base/mem.h"
#include "base/round.h"
#include "math/bracket.h"

enum { DIGITS = 9, TRIES = 40, ROUGH_TRIES = 12 };
static const double LEAST_FACTOR = 1e-6, MOST_FACTOR = 1e9, LEAST_RATE = 1e-9, MOST_LAPS = 1e9;
static const double WIDTH = 1e-6, CLOSE = 5e-6; /* bounds on different grids differ by up to CLOSE */
static const double ENOUGH = 1e-5, ROUGH = 2e-3;

enum unknown { FACTOR, LAPS, RATE };

struct point {
    double value, y;
};

struct search {
    enum unknown unknown;
    const struct dp_pld_part *parts;
    struct dp_pld_part *tried; /* parts with a value for the unknown */
    size_t count;
    double epsilon, delta;
    bool rough;                /* asks cheaply, to learn where to ask */
    struct point holds, fails; /* seen last */
    double work;               /* points of all grids so far */
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
    if (s->rc == DP_OK && s->rough)
        s->rc = dp_pld_rough(s->tried, s->count, s->delta, &answer, s->err);
    else if (s->rc == DP_OK)
        s->rc = dp_pld_epsilon(s->tried, s->count, s->delta, &answer, s->err);
    s->work += s->rc == DP_OK ? answer.work : 0;
    return s->rc == DP_OK ? answer.upper : INFINITY;
}

/* The value of x, which is the logarithm of the factor, or minus the logarithm of the other unknowns: more noise is a larger x.
   Rounded as it will be printed, so that the search asks about exactly the printed answer. */
static double value_at(const struct search *s, double x)
{
    if (s->unknown == FACTOR)
        return dp_round_up(exp(x), DIGITS);
    return s->unknown == LAPS ? fmax(floor(exp(-x) * (1 + 1e-12)), 1) : dp_round_down(fmin(exp(-x), 1), DIGITS);
}

/* ln(estimate/target), falling. If the grid does not reach, the run is treated as far too expensive. */
static double estimated(double x, void *context)
{
    struct search *s = context;
    double estimate = NAN;
    put(s, value_at(s, x));
    if (s->rc == DP_OK)
        s->rc = dp_pld_estimate(s->tried, s->count, s->delta, &estimate, s->err);
    return isnan(estimate) ? 30 : log(fmin(fmax(estimate / s->epsilon, 1e-12), 1e12));
}

/* ln(spent/target), which falls, apart from errors of a few 1e-6. */
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

/* The first x: the root of the estimate, and its slope there. */
static double begin(struct search *s, double first, double last, double *slope)
{
    double x = first;
    if (estimated(first, s) > 0)
        x = estimated(last, s) > 0 ? last : dp_bracket_falling(estimated, s, first, last, 1e-4);
    double fall = (estimated(x, s) - estimated(x + 0.1, s)) / 0.1;
    *slope = fall > 0.02 && fall < 100 ? fall : 1;
    return x;
}

struct asked {
    double x, y;
};

/* The x at which the quadratic through three points is `level`, x as a function of y; if that makes no sense, the secant of the
   last two. */
static double interpolate(const struct asked *p, int count, double level)
{
    const struct asked *c = &p[count - 1], *b = &p[count - 2], *a = count > 2 ? &p[count - 3] : NULL;
    double x = b->x + (level - b->y) * (c->x - b->x) / (c->y - b->y);
    if (a == NULL || a->y == b->y || a->y == c->y || fabs(a->y) > 3)
        return x;
    double bend = ((c->x - b->x) / (c->y - b->y) - (b->x - a->x) / (b->y - a->y)) / (c->y - a->y);
    return x + bend * (level - b->y) * (level - c->y);
}

/* The next x between a point that fails and a point that holds. */
static double between(const struct search *s, const struct asked *p, int count, struct asked fail, struct asked hold)
{
    double gap = hold.x - fail.x, x = fail.x + gap / 2;
    bool jumps = fail.y - hold.y > 3;
    if (!jumps && count % 4 != 3)
        x = fmin(fmax(interpolate(p, count, -CLOSE / 2), fail.x + 0.01 * gap), hold.x - 0.01 * gap);
    if (s->unknown == LAPS) /* a number between the two */
        x = -log(fmin(fmax(exp(-x), exp(-hold.x) + 1), exp(-fail.x) - 1));
    return isnan(x) ? fail.x + gap / 2 : x;
}

/* Questions so far. Large ones count as up to four more: 2^22 points take about a second. */
static int asked_of(const struct search *s, int count)
{
    return count + (int)fmin(s->work / (1 << 22), 4);
}

/* Whether the answer is good enough after that many questions. Each question costs as much as the one before, so the tolerance
   grows with their number. A jump of the bound where the grid ends need not be located precisely. */
static bool settled(const struct search *s, int asked, struct asked fail, struct asked hold)
{
    double enough = asked < 7 ? CLOSE : asked < 12 ? fmin(ENOUGH * (1 << (asked - 7)), 2e-4) : 1e-2;
    double width = s->unknown == LAPS ? 1.5 * exp(hold.x) : WIDTH; /* the next lap fails */
    bool jumps = fail.y - hold.y > 3;
    int patience = s->unknown == LAPS ? 9 : 5;
    double wide = asked > patience ? pow(8, asked - patience) : 1;
    return hold.y > -enough || hold.x - fail.x <= fmax(jumps && asked > 5 ? 1e4 : 1, wide) * width;
}

/* The next x while all points so far are on one side of the target. */
static double outwards(const struct search *s, const struct asked *p, int count, double slope, double *reach)
{
    double x = p[count - 1].x, y = p[count - 1].y, step = fmin(1.2 * fabs(y) / slope + *reach, 3);
    if (count > 1) { /* the point to which the line through the last two points leads */
        double there = fabs(interpolate(p, count, 0) - x);
        step = isfinite(there) ? fmin(fmax(1.2 * there, *reach), 4 * step) : step;
    }
    *reach = fmax(4 * *reach, s->unknown == LAPS ? 1.5 * exp(x) : 0);
    return y > 0 ? x + step : x - step;
}

/* The least x in [first, last] that holds; NaN if not even last does. Starts at x and moves as far as the slope there says,
   then searches between a point that holds and a point that fails. A rough search finds this x approximately. */
static double search_from(struct search *s, double first, double last, double x, double *slope)
{
    struct asked p[TRIES], fail = {-INFINITY, INFINITY}, hold = {INFINITY, -INFINITY};
    double reach = WIDTH;
    for (int count = 0; count < (s->rough ? ROUGH_TRIES : TRIES) && s->rc == DP_OK;) {
        if (s->unknown == LAPS)
            x = fmax(-log(value_at(s, x)), first);
        double y = excess(x, s);
        p[count++] = (struct asked){x, y};
        *(y > 0 ? &fail : &hold) = p[count - 1];
        if (isinf(hold.x) && x >= last)
            return NAN;
        bool both = isfinite(hold.x) && isfinite(fail.x);
        if (both)
            *slope = fmin(fmax((fail.y - hold.y) / (hold.x - fail.x), 0.02), 100);
        if (s->rough && fabs(y) < ROUGH * asked_of(s, 1))
            return x;
        if (isfinite(hold.x) && (hold.x <= first || (both && settled(s, asked_of(s, count), fail, hold)) || hold.y > -CLOSE))
            return hold.x;
        x = both ? between(s, p, count, fail, hold) : fmin(fmax(outwards(s, p, count, *slope, &reach), first), last);
    }
    return s->rough && isinf(hold.x) ? x : hold.x;
}

/* Searches from the root of the estimate for the root of a rough answer, and from there for the exact one. */
static double search(struct search *s, double first, double last)
{
    double slope, x = begin(s, first, last, &slope);
    s->rough = true;
    x = search_from(s, first, last, x, &slope);
    s->rough = false;
    s->holds.value = s->fails.value = NAN;
    return search_from(s, first, last, isnan(x) ? last : x, &slope);
}

/* The caller sets s->parts, count, epsilon, delta and err; the rest is set up here and freed with search_free. */
static int search_new(struct search *s)
{
    s->holds.value = s->fails.value = NAN;
    if (!(s->epsilon > 0) || !isfinite(s->epsilon))
        return dp_fail(s->err, DP_E_RUN, "epsilon must be positive and finite, got %g", s->epsilon);
    if (!(s->delta > 0 && s->delta < 1))
        return dp_fail(s->err, DP_E_RUN, "delta must be between 0 and 1, got %g", s->delta);
    s->tried = dp_new(s->count, sizeof *s->tried);
    return DP_OK;
}

/* Rounds to more noise until the rounded answer holds; x from search(). */
static int settle(struct search *s, double x, double *value)
{
    double step = WIDTH / 2;
    for (int tries = 0; tries < TRIES && s->rc == DP_OK; tries++) {
        *value = value_at(s, x);
        if (excess(x, s) <= 0) /* mostly known already */
            return DP_OK;
        x += step;
        step *= 2;
    }
    return s->rc != DP_OK ? s->rc : dp_fail(s->err, DP_E_RUN, "the search for epsilon %g did not settle", s->epsilon);
}

int dp_pld_scale_multiplier(const struct dp_pld_part *parts, size_t count, double epsilon, double delta, double *factor,
                            struct dp_err *err)
{
    struct search s = {FACTOR, parts, .count = count, .epsilon = epsilon, .delta = delta, .err = err};
    int rc = search_new(&s);
    if (rc != DP_OK)
        return rc;
    double x = search(&s, log(LEAST_FACTOR), log(MOST_FACTOR));
    rc = s.rc;
    if (rc == DP_OK && isnan(x))
        rc = dp_fail(err, DP_E_RUN, "no noise multiplier up to %g times as large reaches epsilon %g at delta %g", MOST_FACTOR,
                     epsilon, delta);
    rc = rc ?: settle(&s, x, factor);
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
        rc = dp_fail(err, DP_E_RUN, "no sampling rate from %g reaches epsilon %g at delta %g over %lld laps", LEAST_RATE,
                     epsilon, delta, (long long)part->laps);
    rc = rc ?: settle(&s, x, rate);
    free(s.tried);
    return rc;
}
