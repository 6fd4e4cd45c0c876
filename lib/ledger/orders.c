#include "ledger/orders.h"

#include "ledger/sum.h"
#include "priv/rdp.h"

#define MOST_RUNS 1e12

/* The cost of one run at an order; without a planned run, only relative to other orders. */
static int cost_of(const struct dp_charges *run, double order, double *cost, struct dp_err *err)
{
    *cost = order;
    return run != NULL ? dp_ledger_rdp(run, order, cost, err) : DP_OK;
}

/* The number of runs that fit at an order with that share of delta, not rounded. */
static double runs_at(double epsilon, double delta, double order, double cost)
{
    double room = epsilon - dp_rdp_penalty(order, delta);
    return room > 0 ? fmin(room / cost, MOST_RUNS) : 0;
}

static int best_order(double epsilon, double delta, const struct dp_charges *run, double *order, double *runs,
                      struct dp_err *err)
{
    *runs = 0;
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        double cost, some;
        if (runs_at(epsilon, delta, dp_rdp_orders[i], 1) == 0) /* no room, whatever a run costs */
            continue;
        int rc = cost_of(run, dp_rdp_orders[i], &cost, err);
        if (rc != DP_OK)
            return rc;
        some = runs_at(epsilon, delta, dp_rdp_orders[i], cost);
        if (some > *runs) {
            *runs = some;
            *order = dp_rdp_orders[i];
        }
    }
    return *runs > 0 ? DP_OK : dp_fail(err, DP_E_RUN, "no Rényi order has any room for epsilon %g at delta %g", epsilon, delta);
}

/* Gives half of the remaining delta to the best order and its neighbours, if they have room and few digits; addition gets the
 * rest. */
static void spread(struct dp_ledger_budget *b, double epsilon, double delta, double best, double share)
{
    static const double factors[] = {0.5, M_SQRT1_2, M_SQRT2, 2};
    double beside[4];
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        double order = 1 + (best - 1) * factors[i];
        order = order < 20 ? round(10 * order) / 10 : round(order);
        if (order > 1 && order != best && runs_at(epsilon, (1 - share) * delta / 8, order, 1) > 0)
            beside[count++] = order;
    }
    b->orders = 0;
    b->order[b->orders++] = (struct dp_ledger_order){best, share};
    for (size_t i = 0; i < count; i++)
        b->order[b->orders++] = (struct dp_ledger_order){beside[i], (1 - share) / 2 / (double)count};
}

int dp_ledger_orders_pick(struct dp_ledger_budget *b, const struct dp_ledger_before *before, const struct dp_charges *run,
                          int64_t *fit, struct dp_err *err)
{
    static const double shares[] = {0.5, 0.9, 0.99};
    double epsilon = b->epsilon - before->epsilon, delta = b->delta - before->delta, all = 0, order, runs = 0;
    size_t i = 0;
    int rc = best_order(epsilon, delta, run, &order, &all, err);
    for (; rc == DP_OK && i < 3; i++) {
        rc = best_order(epsilon, shares[i] * delta, run, &order, &runs, err);
        if (rc != DP_OK || floor(runs) >= floor(all) || (all >= 20 && runs >= 0.95 * all))
            break;
    }
    if (!(all > 0))
        return rc;
    if (rc == DP_OK && i < 3) {
        spread(b, epsilon, delta, order, shares[i]);
    } else { /* with a share of delta there is less room than with all of it */
        rc = best_order(epsilon, delta, run, &order, &all, err);
        b->order[0] = (struct dp_ledger_order){order, 1};
        b->orders = 1;
    }
    return rc == DP_OK && fit != NULL ? dp_ledger_orders_fit(b, before, run, fit, err) : rc;
}

int dp_ledger_orders_fit(const struct dp_ledger_budget *b, const struct dp_ledger_before *before, const struct dp_charges *run,
                         int64_t *fit, struct dp_err *err)
{
    double most = 0, cost;
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < b->orders; i++) {
        rc = cost_of(run, b->order[i].order, &cost, err);
        double delta = b->order[i].delta * (b->delta - before->delta) * (1 - 0x1p-49);
        most = fmax(most, runs_at((b->epsilon - before->epsilon) * (1 - 0x1p-40), delta, b->order[i].order, cost));
    }
    *fit = (int64_t)floor(most);
    return rc;
}
