#include "priv/accountant.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "priv/mixture.h"
#include "priv/rdp.h"

struct dp_accountant {
    enum dp_accountant_kind kind;
    struct dp_event event;
    double delta;
    const double *orders;
    size_t count;
    double rdp[DP_RDP_ORDER_COUNT];     /* of one event */
    double penalty[DP_RDP_ORDER_COUNT]; /* conversion, per order */
};

_Static_assert((int)DP_RDP_PUBLISHED_COUNT <= (int)DP_RDP_ORDER_COUNT, "room for either set of orders");

int dp_accountant_new(struct dp_accountant **accountant, enum dp_accountant_kind kind,
                      const struct dp_event *event, double delta, struct dp_err *err)
{
    struct dp_accountant *a;
    if (!(delta > 0 && delta < 1) || !(event->multiplier > 0) || !isfinite(event->multiplier))
        return dp_fail(err, DP_E_RUN, "the accountant needs 0 < delta < 1 and a positive noise multiplier");
    bool published = kind == DP_ACCOUNTANT_PUBLISHED;
    bool sampled = event->kind == DP_EVENT_POISSON || (published && event->kind != DP_EVENT_GAUSSIAN);
    if ((sampled || event->kind == DP_EVENT_VISIBLE_BATCH) && !(event->rate > 0 && event->rate <= 1))
        return dp_fail(err, DP_E_RUN, "the accountant needs a sampling rate in (0, 1], got %g", event->rate);
    if (event->kind == DP_EVENT_SHUFFLED && kind == DP_ACCOUNTANT_RDP && event->epoch_laps < 1)
        return dp_fail(err, DP_E_RUN, "shuffled epochs need their number of laps");
    int rc = dp_alloc(&a, 1, sizeof *a, err);
    if (rc != DP_OK)
        return rc;
    *a = (struct dp_accountant){.kind = kind, .event = *event, .delta = delta};
    a->orders = published ? dp_rdp_published_orders : dp_rdp_orders;
    a->count = published ? DP_RDP_PUBLISHED_COUNT : DP_RDP_ORDER_COUNT;
    if (sampled)
        dp_rdp_sampled_gaussian(event->rate, event->multiplier, a->orders, a->count, a->rdp);
    else
        dp_rdp_gaussian(event->multiplier, a->orders, a->count, a->rdp);
    for (size_t i = 0; i < a->count; i++)
        a->penalty[i] =
            published ? dp_rdp_penalty_published(a->orders[i], delta) : dp_rdp_penalty(a->orders[i], delta);
    *accountant = a;
    return DP_OK;
}

void dp_accountant_free(struct dp_accountant *accountant)
{
    free(accountant);
}

double dp_accountant_epsilon(const struct dp_accountant *a, int64_t laps)
{
    double times = (double)laps, best = (double)INFINITY;
    if (laps <= 0)
        return 0;
    if (a->kind == DP_ACCOUNTANT_RDP && a->event.kind == DP_EVENT_VISIBLE_BATCH)
        return dp_mixture_epsilon(laps, a->event.rate, a->event.multiplier, a->delta);
    if (a->kind == DP_ACCOUNTANT_RDP && a->event.kind == DP_EVENT_SHUFFLED)
        times = (double)((laps - 1) / a->event.epoch_laps + 1);
    for (size_t i = 0; i < a->count; i++)
        best = fmin(best, times * a->rdp[i] + a->penalty[i]);
    return best > 0 ? best * (1 + 1e-15) : 0; /* past the rounding of the product and the sum */
}
