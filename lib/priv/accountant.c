#include "priv/accountant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "priv/mixture.h"
#include "priv/rdp.h"

enum { MOST_EVENTS = 4096 };
static const int64_t MOST_LAPS = (int64_t)1 << 53; /* counts stay exact as doubles */

struct entry {
    struct dp_event event;
    int64_t laps;
    double rdp[DP_RDP_ORDER_COUNT]; /* of one unit; unused for a mixture */
};

struct dp_accountant {
    enum dp_accountant_kind kind;
    const double *orders;
    size_t first, last; /* the orders in use: [first, last) */
    struct entry **entries;
    size_t count, capacity;
    size_t recent; /* the entry found last: the one asked for next, nearly always */
    double delta;  /* of `penalty` */
    double penalty[DP_RDP_ORDER_COUNT];
    double order;
    bool fixed;
};

int dp_event_check(const struct dp_event *event, struct dp_err *err)
{
    if (!(event->multiplier > 0) || !isfinite(event->multiplier))
        return dp_fail(err, DP_E_UNSAFE,
                       "a noise multiplier of %g cannot be charged: it must be positive and finite",
                       event->multiplier);
    if (event->kind != DP_EVENT_FULL && !(event->rate > 0 && event->rate <= 1))
        return dp_fail(err, DP_E_UNSAFE, "a sampling rate of %g cannot be charged: it must be in (0, 1]",
                       event->rate);
    return DP_OK;
}

int64_t dp_event_units(const struct dp_event *event, int64_t laps)
{
    if (event->kind != DP_EVENT_SHUFFLED)
        return laps;
    double epochs = (double)laps * event->rate;
    return (int64_t)fmax(1, ceil(epochs * (1 - 1e-12)));
}

static bool is_mixture(const struct dp_accountant *a, const struct dp_event *event)
{
    return a->kind == DP_ACCOUNTANT_RDP && event->kind == DP_EVENT_POISSON && event->released_state &&
           event->rate < 1;
}

static int64_t charged_units(const struct dp_accountant *a, const struct dp_event *event, int64_t laps)
{
    return a->kind == DP_ACCOUNTANT_PUBLISHED ? laps : dp_event_units(event, laps);
}

int dp_accountant_new(enum dp_accountant_kind kind, struct dp_accountant **accountant, struct dp_err *err)
{
    struct dp_accountant *a;
    int rc = dp_alloc(&a, 1, sizeof *a, err);
    if (rc != DP_OK)
        return rc;
    bool published = kind == DP_ACCOUNTANT_PUBLISHED;
    a->kind = kind;
    a->orders = published ? dp_rdp_published_orders : dp_rdp_orders;
    a->last = published ? DP_RDP_PUBLISHED_COUNT : DP_RDP_ORDER_COUNT;
    a->delta = NAN;
    a->order = NAN;
    *accountant = a;
    return DP_OK;
}

void dp_accountant_free(struct dp_accountant *a)
{
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->count; i++)
        free(a->entries[i]);
    free(a->entries);
    free(a);
}

int dp_accountant_fix_order(struct dp_accountant *a, double *order, struct dp_err *err)
{
    if (a->count > 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the order of a privacy filter must be fixed before the first charge");
    if (!(*order >= a->orders[0]))
        return dp_fail(err, DP_E_UNSAFE, "an order of %g is below the smallest, %g", *order, a->orders[0]);
    size_t i = a->last - 1;
    while (a->orders[i] > *order)
        i--;
    a->first = i;
    a->last = i + 1;
    a->fixed = true;
    *order = a->orders[i];
    return DP_OK;
}

static bool same_event(const struct dp_event *a, const struct dp_event *b)
{
    return a->kind == b->kind && a->rate == b->rate && a->multiplier == b->multiplier &&
           a->released_state == b->released_state;
}

static void fill_rdp(const struct dp_accountant *a, struct entry *e)
{
    size_t n = a->last - a->first;
    const double *orders = a->orders + a->first;
    const struct dp_event *event = &e->event;
    bool sampled = event->kind == DP_EVENT_POISSON ||
                   (event->kind == DP_EVENT_SHUFFLED && a->kind == DP_ACCOUNTANT_PUBLISHED);
    if (is_mixture(a, event))
        return;
    if (sampled)
        dp_rdp_sampled_gaussian(event->rate, event->multiplier, orders, n, e->rdp + a->first);
    else
        dp_rdp_gaussian(event->multiplier, orders, n, e->rdp + a->first);
}

/* The entry of this event, made if need be with no laps charged. */
static int find(struct dp_accountant *a, const struct dp_event *event, size_t *index, struct dp_err *err)
{
    if (a->recent < a->count && same_event(&a->entries[a->recent]->event, event)) {
        *index = a->recent;
        return DP_OK;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (same_event(&a->entries[i]->event, event)) {
            *index = a->recent = i;
            return DP_OK;
        }
    }
    int rc = dp_event_check(event, err);
    if (rc != DP_OK)
        return rc;
    if (a->count == MOST_EVENTS)
        return dp_fail(err, DP_E_RUN,
                       "more than %d distinct mechanisms in one run; choose multipliers from fewer values",
                       MOST_EVENTS);
    rc = dp_grow(&a->entries, &a->capacity, a->count + 1, sizeof *a->entries, err);
    struct entry *e = NULL;
    if (rc == DP_OK)
        rc = dp_alloc(&e, 1, sizeof *e, err);
    if (rc != DP_OK)
        return rc;
    e->event = *event;
    fill_rdp(a, e);
    *index = a->recent = a->count;
    a->entries[a->count++] = e;
    return DP_OK;
}

static int check_laps(const struct entry *e, int64_t laps, struct dp_err *err)
{
    if (laps <= 0 || laps > MOST_LAPS - e->laps)
        return dp_fail(err, DP_E_RUN, "cannot charge %lld more laps", (long long)laps);
    return DP_OK;
}

int dp_accountant_add(struct dp_accountant *a, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    size_t index = 0;
    int rc = find(a, event, &index, err);
    if (rc == DP_OK)
        rc = check_laps(a->entries[index], laps, err);
    if (rc == DP_OK)
        a->entries[index]->laps += laps;
    return rc;
}

static void set_delta(struct dp_accountant *a, double delta)
{
    if (a->delta == delta)
        return;
    bool published = a->kind == DP_ACCOUNTANT_PUBLISHED;
    for (size_t i = a->first; i < a->last; i++)
        a->penalty[i] =
            published ? dp_rdp_penalty_published(a->orders[i], delta) : dp_rdp_penalty(a->orders[i], delta);
    a->delta = delta;
}

/* The answer with `extra` more laps of entry `which`. */
static int answer(struct dp_accountant *a, size_t which, int64_t extra, double delta, double *epsilon,
                  struct dp_err *err)
{
    if (!(delta > 0 && delta < 1))
        return dp_fail(err, DP_E_RUN, "delta must be > 0 and < 1, got %g", delta);
    double total[DP_RDP_ORDER_COUNT] = {0};
    size_t active = 0;
    const struct entry *mixture = NULL;
    int64_t mixture_laps = 0;
    for (size_t k = 0; k < a->count; k++) {
        const struct entry *e = a->entries[k];
        int64_t laps = e->laps + (k == which ? extra : 0);
        if (laps == 0)
            continue;
        active++;
        if (is_mixture(a, &e->event)) {
            mixture = e;
            mixture_laps = laps;
            continue;
        }
        double units = (double)charged_units(a, &e->event, laps);
        for (size_t i = a->first; i < a->last; i++)
            total[i] += units * e->rdp[i];
    }
    a->order = NAN;
    *epsilon = 0;
    if (active == 0)
        return DP_OK;
    if (mixture != NULL) {
        if (active > 1 || a->fixed)
            return dp_fail(
                err, DP_E_UNSAFE,
                "a run that releases per-row state can be accounted for only if all its laps are alike");
        return dp_mixture_epsilon(mixture_laps, mixture->event.rate, mixture->event.multiplier, delta,
                                  epsilon, err);
    }
    set_delta(a, delta);
    double best = INFINITY;
    for (size_t i = a->first; i < a->last; i++) {
        double candidate = total[i] + a->penalty[i];
        if (candidate < best) {
            best = candidate;
            a->order = a->orders[i];
        }
    }
    /* past the roundings of the sum over events and of the two operations above */
    *epsilon = best > 0 ? best * (1 + 1e-15 * (double)(active + 4)) : 0;
    return DP_OK;
}

int dp_accountant_epsilon(struct dp_accountant *a, double delta, double *epsilon, struct dp_err *err)
{
    return answer(a, a->count, 0, delta, epsilon, err);
}

int dp_accountant_epsilon_with(struct dp_accountant *a, const struct dp_event *event, int64_t laps,
                               double delta, double *epsilon, struct dp_err *err)
{
    size_t index = 0;
    int rc = find(a, event, &index, err);
    if (rc == DP_OK)
        rc = check_laps(a->entries[index], laps, err);
    if (rc != DP_OK)
        return rc;
    return answer(a, index, laps, delta, epsilon, err);
}

double dp_accountant_order(const struct dp_accountant *a)
{
    return a->order;
}

int dp_accountant_run(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double delta,
                      double *epsilon, double *order, struct dp_err *err)
{
    struct dp_accountant *a;
    int rc = dp_accountant_new(kind, &a, err);
    if (rc != DP_OK)
        return rc;
    rc = dp_accountant_add(a, event, laps, err);
    if (rc == DP_OK)
        rc = dp_accountant_epsilon(a, delta, epsilon, err);
    if (rc == DP_OK && order != NULL)
        *order = a->order;
    dp_accountant_free(a);
    return rc;
}
