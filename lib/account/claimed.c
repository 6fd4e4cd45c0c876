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
        dp_rdp_sampled_lemma(rate, curve, DP_CLAIMED_LARGEST, order + 2, DP_CLAIMED_ORDERS, one);
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

double dp_claimed_adp_sgd(const struct dp_charges *charges, double delta)
{
    double draws = 0, sum = 0;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        double laps = (double)charges->charge[i].laps, factor = dp_event_exchanges(event) ? 8 : 16;
        draws += laps * event->rate;
        sum += laps * pow(factor * event->rate / event->query[0].multiplier, 2);
    }
    return draws > 0 ? sqrt(fmax(log(16 * draws / delta), 0) * log(1.25 / delta) * sum) : 0;
}
