#include "priv/filter.h"

#include <float.h>

#include "priv/rdp.h"

double dp_filter_order(double epsilon, double delta)
{
    double best = 0, order = NAN;
    if (!(epsilon >= 0 && delta > 0 && delta < 1))
        return order;
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        double room = (epsilon - dp_rdp_penalty(dp_rdp_orders[i], delta)) / dp_rdp_orders[i];
        if (room > best) {
            best = room;
            order = dp_rdp_orders[i];
        }
    }
    return order;
}

struct dp_filter dp_filter_new(double epsilon, double delta)
{
    struct dp_filter filter = {.order = dp_filter_order(epsilon, delta)};
    if (!isnan(filter.order))
        filter.allowance = fmax(0, (epsilon - dp_rdp_penalty(filter.order, delta)) * (1 - 2 * DBL_EPSILON));
    return filter;
}

/* The sum, rounded up. A mechanism with r = 0 leaves it as it is. */
static double after(const struct dp_filter *filter, double r)
{
    return r == 0 ? filter->spent : nextafter(filter->spent + r, INFINITY);
}

bool dp_filter_can_spend(const struct dp_filter *filter, double r)
{
    return filter->order > 1 && r >= 0 && after(filter, r) <= filter->allowance;
}

bool dp_filter_spend(struct dp_filter *filter, double r)
{
    if (!dp_filter_can_spend(filter, r))
        return false;
    filter->spent = after(filter, r);
    return true;
}
