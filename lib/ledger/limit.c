#include "ledger/limit.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "account/curve.h"
#include "priv/rdp.h"

void dp_ledger_costs_free(struct dp_ledger_costs *costs)
{
    for (size_t i = 0; i < costs->count; i++)
        dp_event_free(&costs->cost[i].event);
    free(costs->cost);
    costs->cost = NULL;
    costs->count = costs->capacity = 0;
}

/* r of one time of the event */
static int cost_of(struct dp_ledger_costs *costs, const struct dp_event *event, double order, double *r, struct dp_err *err)
{
    for (size_t i = 0; i < costs->count; i++)
        if (costs->cost[i].order == order && dp_event_same(&costs->cost[i].event, event)) {
            *r = costs->cost[i].r;
            return DP_OK;
        }
    int rc = dp_grow(&costs->cost, &costs->capacity, costs->count + 1, sizeof *costs->cost, err);
    if (rc == DP_OK)
        rc = dp_event_curve(event, &order, 1, r, err);
    if (rc == DP_OK && !(*r >= 0))
        rc = dp_fail(err, DP_E_RUN, "an accountant gave no bound");
    if (rc == DP_OK)
        rc = dp_event_copy(&costs->cost[costs->count].event, event, err);
    if (rc != DP_OK)
        return rc;
    costs->cost[costs->count].order = order;
    costs->cost[costs->count++].r = *r;
    return DP_OK;
}

static bool binds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, const struct dp_ledger_entry *entry)
{
    return dp_ledger_book_root(book, entry->who) == dp_ledger_book_root(book, limit->who) &&
           entry->covered != 1 + (size_t)(limit - book->limit);
}

static int add_entry(const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs, const struct dp_ledger_entry *entry,
                     const struct dp_event *without, double spent[DP_LEDGER_ORDERS], size_t *terms, struct dp_err *err)
{
    for (size_t e = 0; e < entry->events; e++) {
        const struct dp_ledger_laps *laps = &entry->event[e];
        int64_t times = dp_event_times(&laps->event, dp_ledger_laps_spent(laps));
        if (times <= 0 || (without != NULL && dp_event_same(&laps->event, without)))
            continue;
        ++*terms;
        for (size_t i = 0; i < limit->orders; i++) {
            double r;
            int rc = cost_of(costs, &laps->event, limit->order[i].order, &r, err);
            if (rc != DP_OK)
                return rc;
            spent[i] += (double)times * r;
        }
    }
    return DP_OK;
}

int dp_ledger_limit_spent(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                          const struct dp_ledger_entry *except, const struct dp_event *event, double spent[DP_LEDGER_ORDERS],
                          struct dp_err *err)
{
    size_t terms = 0;
    int rc = DP_OK;
    for (size_t i = 0; i < DP_LEDGER_ORDERS; i++)
        spent[i] = 0;
    for (size_t i = 0; rc == DP_OK && i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        if (binds(book, limit, entry) && (entry != except || event != NULL))
            rc = add_entry(limit, costs, entry, entry == except ? event : NULL, spent, &terms, err);
    }
    for (size_t i = 0; i < limit->orders; i++)
        spent[i] *= 1 + (double)(terms + 4) * 0x1p-52;
    return rc;
}

double dp_ledger_limit_room(const struct dp_ledger_limit *limit, size_t i)
{
    double room = limit->epsilon - limit->before_epsilon;
    return room - dp_rdp_penalty(limit->order[i].order, limit->order[i].delta);
}

int dp_ledger_limit_epsilon(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            struct dp_ledger_costs *costs, double *epsilon, double *order, struct dp_err *err)
{
    double spent[DP_LEDGER_ORDERS];
    int rc = dp_ledger_limit_spent(book, limit, costs, NULL, NULL, spent, err);
    *epsilon = (double)INFINITY;
    *order = limit->order[0].order;
    for (size_t i = 0; rc == DP_OK && i < limit->orders; i++) {
        double penalty = dp_rdp_penalty(limit->order[i].order, limit->order[i].delta);
        double here = limit->before_epsilon + (spent[i] > 0 ? fmax(0, spent[i] + penalty) : 0);
        if (here < *epsilon) {
            *epsilon = here;
            *order = limit->order[i].order;
        }
    }
    return rc;
}

int dp_ledger_limit_laps(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                         const struct dp_ledger_entry *self, const struct dp_event *event, int64_t laps, int64_t *affords,
                         struct dp_err *err)
{
    double others[DP_LEDGER_ORDERS], r;
    int64_t own = 0;
    *affords = laps;
    if (!binds(book, limit, self)) /* the budget began with all that this run may spend */
        return DP_OK;
    int rc = dp_ledger_limit_spent(book, limit, costs, self, event, others, err);
    *affords = 0;
    for (size_t e = 0; e < self->events; e++)
        if (dp_event_same(&self->event[e].event, event))
            own = dp_ledger_laps_spent(&self->event[e]);
    for (size_t i = 0; rc == DP_OK && i < limit->orders && *affords < laps; i++) {
        int64_t none = *affords,
                all = laps + 1; /* `none` laps have room at this order or an earlier one, `all` have not here */
        rc = cost_of(costs, event, limit->order[i].order, &r, err);
        while (rc == DP_OK && all - none > 1) {
            int64_t middle = none + (all - none) / 2;
            double cost = (others[i] + (double)dp_event_times(event, own + middle) * r) * (1 + 0x1p-50);
            if (cost <= dp_ledger_limit_room(limit, i))
                none = middle;
            else
                all = middle;
        }
        *affords = none;
    }
    return rc;
}

/* Whether the first `laps` laps of the run fit beside the others. */
static int fits(const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs, const double others[DP_LEDGER_ORDERS],
                const struct dp_ledger_run *run, int64_t laps, bool *yes, struct dp_err *err)
{
    struct dp_charges charges = {0};
    int rc = run->prefix(run->plan, laps, &charges, err);
    *yes = false;
    for (size_t i = 0; rc == DP_OK && i < limit->orders && !*yes; i++) {
        double sum = others[i], r;
        for (size_t c = 0; rc == DP_OK && c < charges.count; c++) {
            int64_t times = dp_event_times(&charges.charge[c].event, charges.charge[c].laps);
            rc = cost_of(costs, &charges.charge[c].event, limit->order[i].order, &r, err);
            sum += times > 0 ? (double)times * r : 0;
        }
        *yes = sum * (1 + (double)(charges.count + 8) * 0x1p-52) <= dp_ledger_limit_room(limit, i);
    }
    dp_charges_free(&charges);
    return rc;
}

int dp_ledger_limit_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                        const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t *affords,
                        struct dp_err *err)
{
    double others[DP_LEDGER_ORDERS];
    bool yes;
    int64_t none = 0, all = run->laps + 1;
    *affords = run->laps;
    if (!binds(book, limit, self))
        return DP_OK;
    int rc = dp_ledger_limit_spent(book, limit, costs, self, NULL, others, err);
    if (rc == DP_OK)
        rc = fits(limit, costs, others, run, run->laps, &yes, err);
    if (rc == DP_OK && yes)
        none = run->laps;
    while (rc == DP_OK && all - none > 1) {
        int64_t middle = none + (all - none) / 2;
        rc = fits(limit, costs, others, run, middle, &yes, err);
        if (yes)
            none = middle;
        else
            all = middle;
    }
    *affords = none;
    return rc;
}
