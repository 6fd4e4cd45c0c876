#include "account/claimed.h"

#include "account/curve.h"
#include "account/kinds.h"
#include "math/upward.h"
#include "priv/joint.h"
#include "priv/pure.h"

enum { SCD_ORDERS = 128, ORDERS = 499 }; /* from 2 on */

static int scd_curve(const struct dp_event *event, const double *order, double *r, struct dp_err *err)
{
    struct dp_event lap = *event;
    lap.epoch_laps = 0;
    if (lap.sampling != DP_SAMPLING_REPEATED && lap.sampling != DP_SAMPLING_TUNED && lap.sampling != DP_SAMPLING_STREAM) {
        lap.sampling = lap.sampling == DP_SAMPLING_NONE ? DP_SAMPLING_NONE : DP_SAMPLING_POISSON;
        lap.queries = 1;
    }
    return dp_event_curve(&lap, order, SCD_ORDERS, r, err);
}

static int query_curve(const struct dp_query *query, const double *order, double *r, struct dp_err *err)
{
    double one[ORDERS];
    switch (query->kind) {
    case DP_QUERY_SPARSE_LAPLACE: /* Theorem 2: the threshold, and one query whose sensitivity is 2 */
        dp_rdp_laplace(1 / query->epsilon, order, ORDERS, r);
        dp_rdp_laplace(1 / (2 * query->query_epsilon), order, ORDERS, one);
        for (int i = 0; i < ORDERS; i++)
            r[i] += one[i];
        return DP_OK;
    case DP_QUERY_SPARSE_GAUSSIAN: /* Theorem 3 */
        for (int i = 0; i < ORDERS; i++)
            r[i] = order[i] * query->rho;
        return DP_OK;
    default:
        return dp_kind_curve(query, order, ORDERS, r, err);
    }
}

static int blsgd_curve(const struct dp_event *event, const double *order, double *r, struct dp_err *err)
{
    double curve[ORDERS + 2] = {0}, one[ORDERS]; /* curve: at every whole order from 0 on */
    double rate = event->sampling == DP_SAMPLING_NONE ? 1 : event->rate;
    int rc = DP_OK;
    for (int i = 0; i < ORDERS; i++)
        r[i] = 0;
    for (int k = 0; rc == DP_OK && k < event->queries; k++) {
        rc = query_curve(&event->query[k], order, curve + 2, err);
        dp_rdp_sampled_lemma(rate, curve, ORDERS + 1, order, ORDERS, one);
        for (int i = 0; i < ORDERS; i++)
            r[i] += one[i];
    }
    return rc;
}

static int convert(int (*curve)(const struct dp_event *, const double *order, double *r, struct dp_err *err), int orders,
                   const struct dp_charges *charges, double delta, double *epsilon, struct dp_err *err)
{
    double order[ORDERS], r[ORDERS], spent[ORDERS] = {0}, best = (double)INFINITY;
    bool any = false;
    int rc = DP_OK;
    for (int k = 0; k < orders; k++)
        order[k] = k + 2;
    for (size_t i = 0; rc == DP_OK && i < charges->count; i++) {
        const struct dp_charge *charge = &charges->charge[i];
        bool stream = charge->event.sampling == DP_SAMPLING_STREAM;
        double laps = (double)(stream ? dp_event_times(&charge->event, charge->laps) : charge->laps);
        rc = curve(&charge->event, order, r, err);
        for (int k = 0; rc == DP_OK && k < orders; k++)
            spent[k] += laps * r[k];
    }
    for (int k = 0; k < orders; k++) {
        any |= spent[k] > 0;
        best = fmin(best, spent[k] + dp_upward(-log(delta) / (order[k] - 1)));
    }
    *epsilon = any ? best : 0;
    return rc;
}

int dp_claimed_scd(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    *answer = (struct dp_answer){.by = DP_ACCOUNTANT_PUBLISHED};
    return convert(scd_curve, SCD_ORDERS, charges, delta, &answer->upper, err);
}

int dp_claimed_blsgd(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    *answer = (struct dp_answer){.by = DP_ACCOUNTANT_BLSGD};
    return convert(blsgd_curve, ORDERS, charges, delta, &answer->upper, err);
}

int dp_claimed_adp_sgd(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err)
{
    double draws = 0, sum = 0;
    (void)err;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        double laps = (double)charges->charge[i].laps, factor = dp_event_exchanges(event) ? 8 : 16;
        draws += laps * event->rate;
        sum += laps * pow(factor * event->rate / event->query[0].multiplier, 2);
    }
    *answer = (struct dp_answer){.by = DP_ACCOUNTANT_ADP_SGD};
    if (draws > 0)
        answer->upper = sqrt(fmax(log(16 * draws / delta), 0) * log(1.25 / delta) * sum);
    return DP_OK;
}
