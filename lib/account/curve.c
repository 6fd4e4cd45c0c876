#include "account/curve.h"

#include "base/mem.h"
#include "math/upward.h"
#include "priv/repeated.h"
#include "priv/joint.h"
#include "account/kinds.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/replaced.h"

/* The largest whole orders of sampled queries: all that accountants ask for if the curves are formulas, fewer if each order of
   a sparse vector takes time. */
enum { LARGEST_PAIRED = 8192, LARGEST_JOINT = 512 };

bool dp_event_is_gaussian(const struct dp_event *event, double *multiplier)
{
    double z[DP_EVENT_MOST_QUERIES];
    for (int i = 0; i < event->queries; i++) {
        if (!dp_kind_is_gaussian(&event->query[i]))
            return false;
        z[i] = event->query[i].multiplier;
    }
    *multiplier = event->queries == 1 ? z[0] : dp_gaussian_joint(z, (size_t)event->queries);
    return true;
}

static int unsampled(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err)
{
    double *work = dp_new(n, sizeof *work);
    int rc = DP_OK;
    memset(out, 0, n * sizeof *out);
    for (int i = 0; rc == DP_OK && i < event->queries; i++) {
        rc = dp_kind_curve(&event->query[i], orders, n, work, err);
        for (size_t k = 0; rc == DP_OK && k < n; k++)
            out[k] += work[k];
    }
    free(work);
    return rc;
}

/* The largest whole order that `orders` need, at most `most`. */
static int largest_needed(const double *orders, size_t n, int most)
{
    double largest = 2;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, orders[i]);
    return largest < most ? (int)ceil(largest) : most;
}

/* Everything that is done to one Poisson sample, if a pair of distributions (P, Q) dominates each query and an involution
   exchanges the members of the pair. The pair is the query's own or the randomised response of its epsilon: every epsilon-DP
   mechanism is a post-processing of this, in both directions. Given the rest of the batch and the earlier answers, one map then
   turns P into the answer with the person and Q into the answer without. So the answers of all queries together are a
   post-processing of the product of the pairs, even if a query is chosen from earlier answers. If the batch is a sample, they
   are a post-processing of (1 − q) Q + q P against Q. The involution of the product exchanges its members, too, and adding the person
   costs no more than leaving them out (priv/joint.h). If all queries are pure, they are one pure query, and its sampled epsilon
   bounds every order. +infinity if a query has neither pair. */
static int paired(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err)
{
    int largest = largest_needed(orders, n, LARGEST_PAIRED);
    double *order, *sum, *work, epsilon = 0;
    order = dp_new(3 * ((size_t)largest + 1), sizeof *order);
    int rc = DP_OK;
    sum = order + largest + 1;
    work = sum + largest + 1;
    for (int l = 0; l <= largest; l++)
        order[l] = l;
    for (int i = 0; rc == DP_OK && i < event->queries; i++) {
        const struct dp_query *query = &event->query[i];
        epsilon += dp_kind_epsilon(query) * (1 + 0x1p-50);
        if (dp_kinds[query->kind].symmetric)
            rc = dp_kind_curve(query, order + 2, (size_t)largest - 1, work + 2, err);
        else
            dp_rdp_pure(dp_kind_epsilon(query), order + 2, (size_t)largest - 1, work + 2);
        for (int l = 2; l <= largest; l++)
            sum[l] += work[l];
    }
    if (rc == DP_OK)
        dp_rdp_sampled_symmetric(event->rate, sum, largest, orders, n, out);
    for (size_t i = 0; rc == DP_OK && i < n; i++) {
        double pure;
        dp_rdp_pure(dp_pure_sampled(event->rate, epsilon), &orders[i], 1, &pure);
        out[i] = fmin(out[i], pure);
    }
    free(order);
    return rc;
}

/* Several queries on one Poisson sample: their sum is amplified. They are bounded as pairs. If a query has a curve that belongs
 * to no pair, they are also bounded as arbitrary mechanisms, and the smaller bound counts. */
static int joint(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err)
{
    double order[LARGEST_JOINT + 1], sum[LARGEST_JOINT + 1];
    int largest = largest_needed(orders, n, LARGEST_JOINT);
    bool symmetric = true;
    int rc = paired(event, orders, n, out, err);
    for (int i = 0; i < event->queries; i++)
        symmetric = symmetric && dp_kinds[event->query[i].kind].symmetric;
    if (rc != DP_OK || symmetric)
        return rc;
    for (int l = 0; l <= largest; l++)
        order[l] = l;
    sum[0] = sum[1] = 0;
    rc = unsampled(event, order + 2, (size_t)largest - 1, sum + 2, err);
    for (size_t i = 0; rc == DP_OK && i < n; i++) {
        double general;
        dp_rdp_sampled(event->rate, sum, largest, &orders[i], 1, &general);
        out[i] = fmin(out[i], general);
    }
    return rc;
}

/* --- selections */

/* Adds the curve of a run to the n numbers of out; work has room for n numbers. */
static int add_run(const struct dp_charges *charges, const double *orders, size_t n, double *work, double *out,
                   struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t c = 0; rc == DP_OK && c < charges->count; c++) {
        double times = (double)dp_event_times(&charges->charge[c].event, charges->charge[c].laps);
        rc = dp_event_curve(&charges->charge[c].event, orders, n, work, err);
        for (size_t i = 0; rc == DP_OK && i < n; i++)
            out[i] = dp_upward(out[i] + times * work[i]);
    }
    return rc;
}

/* one[i]: the curve of one trial. work: 2 n numbers. */
static int trial(const struct dp_tuning *s, const double *orders, size_t n, double *work, double *one, struct dp_err *err)
{
    double before = 0, *run = work + n;
    int rc = DP_OK;
    for (size_t i = 0; i < n; i++)
        one[i] = 0;
    /* Adds one setting at a time: the logarithm of the mean over the settings so far and the next one. */
    for (size_t k = 0; rc == DP_OK && k < s->settings; k++) {
        double share = (double)s->setting[k].times / (before + (double)s->setting[k].times);
        for (size_t i = 0; i < n; i++)
            run[i] = 0;
        rc = add_run(&s->setting[k].charges, orders, n, work, run, err);
        for (size_t i = 0; rc == DP_OK && i < n; i++) {
            double here = run[i], there = one[i], a = orders[i] - 1, high = fmax(here, there), low = fmin(here, there);
            double of_high = here > there ? share : 1 - share;
            if (k == 0 || high == low || isinf(high))
                one[i] = high;
            else /* covers the rounding of the share, of the logarithm, and of the result */
                one[i] = fmin(high, dp_upward(high + (log(of_high + (1 - of_high) * exp(-a * (high - low))) +
                                                      16 * DP_SLACK * (1 + a * high)) /
                                                         a));
        }
        before += (double)s->setting[k].times;
    }
    for (size_t i = 0; rc == DP_OK && s->score_multiplier > 0 && i < n; i++) {
        double score;
        dp_rdp_gaussian(s->score_multiplier, &orders[i], 1, &score);
        one[i] = dp_upward(one[i] + score);
    }
    return rc;
}

static int tuning_curve(const struct dp_tuning *tuning, const double *orders, size_t n, double *out, struct dp_err *err)
{
    size_t count = n + DP_RDP_ORDER_COUNT;
    double *work = NULL, *all, *one;
    work = dp_new(4 * count, sizeof *work);
    all = work + 2 * count;
    one = all + count;
    memcpy(all, dp_rdp_orders, sizeof dp_rdp_orders);
    memcpy(all + DP_RDP_ORDER_COUNT, orders, n * sizeof *orders);
    int rc = trial(tuning, all, count, work, one, err);
    if (rc == DP_OK)
        dp_rdp_trials(&tuning->trials, one, orders, one + DP_RDP_ORDER_COUNT, n, out);
    free(work);
    return rc;
}

int dp_event_curve(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err)
{
    struct dp_repeated_law law;
    double z = 0;
    int rc = dp_event_check(event, err);
    if (rc != DP_OK)
        return rc;
    bool gaussian = dp_event_is_gaussian(event, &z);
    double sampled = event->queries == 1 ? dp_pure_sampled(event->rate, dp_kind_epsilon(&event->query[0])) : (double)INFINITY;
    switch (event->sampling) {
    case DP_SAMPLING_NONE:
    case DP_SAMPLING_SHUFFLED:
    case DP_SAMPLING_STREAM:
        return unsampled(event, orders, n, out, err);
    case DP_SAMPLING_POISSON:
        if (!gaussian)
            return joint(event, orders, n, out, err);
        dp_rdp_sampled_gaussian(event->rate, z, orders, n, out);
        return DP_OK;
    case DP_SAMPLING_SUBSTITUTED:
    case DP_SAMPLING_COINS:
        if (gaussian && event->sampling == DP_SAMPLING_COINS)
            dp_rdp_exchanged_gaussian(event->rate, z, orders, n, out);
        else if (gaussian)
            dp_rdp_replaced_gaussian(event->rate, z, orders, n, out);
        else if (isfinite(sampled))
            dp_rdp_pure(sampled, orders, n, out);
        else
            return dp_fail(err, DP_E_RUN, "no accountant covers these mechanisms on a sample under replace-one adjacency");
        return DP_OK;
    case DP_SAMPLING_VISIBLE:
        if (!gaussian)
            return dp_fail(err, DP_E_RUN, "only Gaussian noise has an accountant where the batch is visible");
        dp_rdp_visible_batch(event->rate, z, orders, n, out);
        return DP_OK;
    case DP_SAMPLING_REPEATED:
        dp_repeated_law(&(struct dp_repeated){event->rate, event->draws, event->contraction}, &law);
        dp_rdp_repeated(&law, z, orders, n, out);
        return DP_OK;
    case DP_SAMPLING_TUNED:
        return tuning_curve(event->tuning, orders, n, out, err);
    }
    return dp_fail(err, DP_E_RUN, "an event has an unknown sampling");
}
