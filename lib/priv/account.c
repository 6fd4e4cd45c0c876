#include "priv/account.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "priv/closed.h"
#include "priv/curve.h"
#include "priv/meter.h"
#include "priv/pld.h"

const char *const dp_accountant_names[7] = {"best", "pld", "rdp", "zcdp", "gdp", "advanced", "published"};

static bool sampled(const struct dp_event *event)
{
    return event->rate < 1 && event->sampling != DP_SAMPLING_NONE && event->sampling != DP_SAMPLING_SHUFFLED;
}

/* --- privacy loss distributions --- */

/* The epsilon of a query as a pure mechanism; infinite when it is none. */
static double pure_epsilon(const struct dp_query *query)
{
    switch (query->kind) {
    case DP_QUERY_LAPLACE:
        return 1 / query->multiplier * (1 + 0x1p-51);
    case DP_QUERY_PURE:
        return query->epsilon;
    case DP_QUERY_SPARSE_LAPLACE:
        return (query->epsilon + 2 * query->query_epsilon) * (1 + 0x1p-51);
    default:
        return (double)INFINITY;
    }
}

/* One event as parts of a privacy loss distribution: appended to part (room for DP_EVENT_MOST_QUERIES), the number of them
   returned, 0 when there is none that holds. */
static size_t event_parts(const struct dp_event *event, int64_t laps, struct dp_pld_part *part)
{
    bool none = event->sampling == DP_SAMPLING_NONE || event->sampling == DP_SAMPLING_SHUFFLED;
    double z;
    struct dp_pld_part p = {.rate = none ? 1 : event->rate, .laps = dp_event_times(event, laps)};
    if (event->sampling == DP_SAMPLING_VISIBLE && event->rate < 1)
        return 0;
    if (dp_event_is_gaussian(event, &z)) {
        p.kind = event->sampling == DP_SAMPLING_REPLACED ? DP_PLD_GAUSSIAN_REPLACED : DP_PLD_GAUSSIAN;
        p.multiplier = z;
        part[0] = p;
        return 1;
    }
    /* Queries on one sample are amplified together, which needs their joint distribution. */
    if (!none && event->queries > 1)
        return 0;
    for (int i = 0; i < event->queries; i++) {
        const struct dp_query *query = &event->query[i];
        part[i] = p;
        if (query->kind == DP_QUERY_GAUSSIAN) {
            part[i].kind = DP_PLD_GAUSSIAN;
            part[i].multiplier = query->multiplier;
        } else if (query->kind == DP_QUERY_LAPLACE && event->sampling != DP_SAMPLING_REPLACED) {
            part[i].kind = DP_PLD_LAPLACE;
            part[i].multiplier = query->multiplier;
        } else if (isfinite(pure_epsilon(query))) {
            part[i].kind = DP_PLD_PURE;
            part[i].epsilon = pure_epsilon(query);
        } else {
            return 0;
        }
    }
    return (size_t)event->queries;
}

/* All charges; NULL when one has no distribution or memory is short (then *rc says so). */
static struct dp_pld_part *parts_of(const struct dp_charges *charges, size_t *count, int *rc, struct dp_err *err)
{
    struct dp_pld_part *part;
    *rc = dp_alloc(&part, charges->count * DP_EVENT_MOST_QUERIES + 1, sizeof *part, err);
    if (*rc != DP_OK)
        return NULL;
    *count = 0;
    for (size_t i = 0; i < charges->count; i++) {
        size_t more = event_parts(&charges->charge[i].event, charges->charge[i].laps, part + *count);
        if (more == 0) {
            free(part);
            return NULL;
        }
        *count += more;
    }
    return part;
}

static int by_pld(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    struct dp_pld_answer pld;
    size_t count;
    int rc;
    struct dp_pld_part *part = parts_of(charges, &count, &rc, err);
    if (part == NULL)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "privacy loss distributions do not cover these mechanisms");
    rc = dp_pld_epsilon(part, count, delta, &pld, err);
    free(part);
    *answer = (struct dp_answer){pld.upper, pld.lower, pld.tight, DP_ACCOUNTANT_PLD};
    return rc;
}

int dp_account_pld_delta(const struct dp_charges *charges, double epsilon, struct dp_answer *answer, struct dp_err *err)
{
    struct dp_pld_answer pld;
    size_t count;
    int rc;
    struct dp_pld_part *part = parts_of(charges, &count, &rc, err);
    if (part == NULL)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "privacy loss distributions do not cover these mechanisms");
    rc = dp_pld_delta(part, count, epsilon, &pld, err);
    free(part);
    *answer = (struct dp_answer){pld.upper, pld.lower, pld.tight, DP_ACCOUNTANT_PLD};
    return rc;
}

/* --- Rényi DP, sound and as published --- */

static int by_meter(enum dp_meter_kind kind, const struct dp_charges *charges, double delta, struct dp_answer *answer,
                    struct dp_err *err)
{
    struct dp_meter *meter;
    int rc = dp_meter_new(&meter, kind, delta, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; rc == DP_OK && i < charges->count; i++)
        rc = dp_meter_charge(meter, &charges->charge[i].event, charges->charge[i].laps, err);
    *answer = (struct dp_answer){.upper = dp_meter_epsilon(meter), .by = DP_ACCOUNTANT_RDP};
    dp_meter_free(meter);
    return rc;
}

static int by_rdp(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    return by_meter(DP_METER_RDP, charges, delta, answer, err);
}

static int by_published(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    int rc = by_meter(DP_METER_PUBLISHED, charges, delta, answer, err);
    answer->by = DP_ACCOUNTANT_PUBLISHED;
    return rc;
}
