#include "account/claimed.h"

#include "account/kinds.h"
#include "priv/joint.h"
#include "priv/rdp.h"

int dp_claimed_curve(const struct dp_event *event, double r[DP_CLAIMED_ORDERS], struct dp_err *err)
{
    double order[DP_CLAIMED_LARGEST + 1], curve[DP_CLAIMED_LARGEST + 1] = {0}, one[DP_CLAIMED_ORDERS];
    double rate = event->sampling == DP_SAMPLING_NONE ? 1 : event->rate;
    int rc = dp_event_check(event, err);
    for (int l = 0; l <= DP_CLAIMED_LARGEST; l++)
        order[l] = l;
    for (int i = 0; i < DP_CLAIMED_ORDERS; i++)
        r[i] = 0;
    for (int k = 0; rc == DP_OK && k < event->queries; k++) {
        rc = dp_kind_claimed(&event->query[k], order + 2, DP_CLAIMED_ORDERS, curve + 2, err);
        dp_rdp_sampled_symmetric(rate, curve, DP_CLAIMED_LARGEST, order + 2, DP_CLAIMED_ORDERS, one);
        for (int i = 0; i < DP_CLAIMED_ORDERS; i++)
            r[i] += one[i];
    }
    return rc;
}

double dp_claimed_epsilon(const double spent[DP_CLAIMED_ORDERS], double delta)
{
    double best = (double)INFINITY;
    bool any = false;
    for (int i = 0; i < DP_CLAIMED_ORDERS; i++) {
        any |= spent[i] > 0;
        best = fmin(best, spent[i] + dp_rdp_penalty_published(i + 2, delta));
    }
    return any ? best : 0;
}
