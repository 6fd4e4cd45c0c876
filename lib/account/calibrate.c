#include "account/calibrate.h"

#include "math/bracket.h"
#include "account/kinds.h"
#include "priv/pld_solve.h"
#include "base/round.h"

static const double LEAST = 1e-3, MOST = 1e9;
enum { DIGITS = 9 };

int dp_charges_stretch(const struct dp_charges *charges, double factor, struct dp_charges *to, struct dp_err *err)
{
    int rc = DP_OK;
    dp_charges_clear(to);
    for (size_t i = 0; rc == DP_OK && i < charges->count; i++) {
        struct dp_event event;
        rc = dp_event_copy(&event, &charges->charge[i].event, err);
        for (int j = 0; rc == DP_OK && j < event.queries; j++)
            if (dp_query_has(event.query[j].kind, DP_QUERY_multiplier))
                *(double *)dp_query_edit(&event.query[j], dp_query_noise(event.query[j].kind)) *= factor;
        for (size_t k = 0; rc == DP_OK && event.tuning != NULL && k < event.tuning->settings; k++) {
            struct dp_charges stretched = {0};
            rc = dp_charges_stretch(&event.tuning->setting[k].charges, factor, &stretched, err);
            dp_charges_free(&event.tuning->setting[k].charges);
            event.tuning->setting[k].charges = stretched;
        }
        rc = rc ?: dp_charges_add(to, &event, charges->charge[i].laps, err);
        dp_event_free(&event);
    }
    return rc;
}

struct question {
    enum dp_accountant accountant;
    const struct dp_charges *charges;
    struct dp_charges stretched;
    double epsilon, delta;
    int rc; /* the first failure */
    struct dp_err *err;
};

/* The epsilon of the multipliers times z; infinite after a failure. */
static double spent(struct question *q, double z)
{
    struct dp_answer answer = {.upper = (double)INFINITY};
    if (q->rc == DP_OK)
        q->rc = dp_charges_stretch(q->charges, z, &q->stretched, q->err);
    if (q->rc == DP_OK)
        q->rc = dp_account_epsilon(q->accountant, &q->stretched, q->delta, &answer, q->err);
    return q->rc == DP_OK ? answer.upper : (double)INFINITY;
}

/* ln(spent/target), which is close to a straight line in ln z; limited if it is far off. */
static double excess(double log_z, void *context)
{
    struct question *q = context;
    return log(fmin(fmax(spent(q, exp(log_z)) / q->epsilon, 1e-6), 1e12));
}

static bool meets(struct question *q, double z)
{
    return spent(q, z) <= q->epsilon && spent(q, z * (1 - 1e-12)) <= q->epsilon;
}

/* Searches from a bracket around z = `guess`. */
static int search(struct question *q, double guess, double step, double width, double *factor)
{
    double low = guess, high = guess;
    double at_guess = spent(q, guess);
    if (q->rc != DP_OK)
        return q->rc;
    if (at_guess > q->epsilon) {
        do {
            low = high;
            high *= 2 * step;
            if (high > MOST)
                return dp_fail(q->err, DP_E_RUN, "no noise multiplier up to %g reaches epsilon %g at delta %g", MOST,
                               q->epsilon, q->delta);
        } while (spent(q, high) > q->epsilon);
    } else {
        do {
            high = low;
            if (high <= LEAST)
                break;
            low = fmax(low / step, LEAST);
        } while (spent(q, low) <= q->epsilon);
    }
    double z = high;
    if (high > low)
        z = exp(dp_bracket_falling(excess, q, log(low), log(high), width));
    for (int tries = 0; tries < 1000 && q->rc == DP_OK; tries++) {
        z = dp_round_up(z, DIGITS);
        if (meets(q, z)) {
            *factor = z;
            return DP_OK;
        }
        z = nextafter(z, INFINITY);
    }
    return q->rc != DP_OK
               ? q->rc
               : dp_fail(q->err, DP_E_RUN, "the search for a noise multiplier for epsilon %g did not settle", q->epsilon);
}

/* Whether the best accountant cannot be known beforehand. This is so for a query on a sample under replace-one: its part of a
 * loss distribution is an epsilon, which does not fall in proportion to 1/multiplier. It is also so for repeated draws, whose
 * Rényi curve is dominated by very rare events. */
static bool any_may_be_best(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++)
        for (int j = 0; j < charges->charge[i].event.queries; j++)
            if (charges->charge[i].event.sampling == DP_SAMPLING_REPEATED ||
                (dp_event_exchanges(&charges->charge[i].event) && !dp_kind_is_gaussian(&charges->charge[i].event.query[j])))
                return true;
    return false;
}

/* Whether all queries are noise that can be stretched. */
static bool all_noise(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++)
        for (int j = 0; j < charges->charge[i].event.queries; j++)
            if (!dp_query_has(charges->charge[i].event.query[j].kind, DP_QUERY_multiplier))
                return false;
    return true;
}

/* Whether stretching the parts of a loss distribution is the same as stretching the queries: true for charges of one query
   each. Several queries are joined first, and products and epsilons may then round differently. */
static bool same_parts(const struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++)
        if (charges->charge[i].event.queries > 1 || dp_kinds[charges->charge[i].event.query[0].kind].pair == DP_PLD_PURE)
            return false;
    return true;
}

/* By privacy loss distributions, if they cover the charges; INFINITY otherwise. */
static int by_pld(struct question *q, double *factor)
{
    size_t count;
    *factor = (double)INFINITY;
    if (any_may_be_best(q->charges) || !all_noise(q->charges))
        return DP_OK;
    struct dp_pld_part *parts = dp_account_pld_parts(q->charges, &count);
    if (parts == NULL)
        return DP_OK;
    q->rc = dp_pld_scale_multiplier(parts, count, q->epsilon, q->delta, factor, q->err);
    free(parts);
    bool same = same_parts(q->charges);
    for (int tries = 0; q->rc == DP_OK && tries < 10; tries++) {
        if (*factor >= LEAST && (same || spent(q, *factor) <= q->epsilon))
            return q->rc;
        *factor = dp_round_up(fmax(nextafter(*factor, (double)INFINITY), LEAST), DIGITS);
    }
    if (q->rc == DP_OK)
        *factor = (double)INFINITY;
    return q->rc;
}

int dp_calibrate_noise(enum dp_accountant accountant, const struct dp_charges *charges, double epsilon, double delta,
                       double *factor, struct dp_err *err)
{
    struct question q = {accountant, charges, {0}, epsilon, delta, DP_OK, err};
    double found = (double)INFINITY;
    if (!(epsilon > 0) || charges->count == 0)
        return dp_fail(err, DP_E_RUN, "cannot calibrate to epsilon = %g", epsilon);
    bool best = accountant == DP_ACCOUNTANT_BEST && delta > 0 && !dp_account_covers(DP_ACCOUNTANT_GDP, charges);
    int rc = DP_OK;
    if (best || accountant == DP_ACCOUNTANT_PLD)
        rc = by_pld(&q, &found);
    if (rc == DP_OK && best && isinf(found) && dp_account_covers(DP_ACCOUNTANT_PROFILE, charges))
        q.accountant = DP_ACCOUNTANT_PROFILE;
    else if (rc == DP_OK && best && isinf(found) && !any_may_be_best(charges))
        q.accountant = DP_ACCOUNTANT_RDP;
    if (rc == DP_OK && isinf(found))
        rc = search(&q, 1, 2, 1e-8, &found);
    *factor = found;
    dp_charges_free(&q.stretched);
    return rc;
}
