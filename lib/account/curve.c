#include "account/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "priv/joint.h"
#include "account/kinds.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/replaced.h"

#define LARGEST_JOINT 512 /* whole orders of a sampled mixture of mechanisms; its cost grows with their square */

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
    double *work;
    int rc = dp_alloc(&work, n, sizeof *work, err);
    for (size_t i = 0; rc == DP_OK && i < n; i++)
        out[i] = 0;
    for (int i = 0; rc == DP_OK && i < event->queries; i++) {
        rc = dp_kind_curve(&event->query[i], orders, n, work, err);
        for (size_t k = 0; rc == DP_OK && k < n; k++)
            out[k] += work[k];
    }
    free(work);
    return rc;
}

/* Several queries on one Poisson sample: their sum is amplified. */
static int joint(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err)
{
    double order[LARGEST_JOINT + 1], sum[LARGEST_JOINT + 1];
    bool symmetric = true;
    for (int i = 0; i < event->queries; i++)
        symmetric = symmetric && dp_kinds[event->query[i].kind].symmetric;
    for (int l = 0; l <= LARGEST_JOINT; l++)
        order[l] = l;
    sum[0] = sum[1] = 0;
    int rc = unsampled(event, order + 2, LARGEST_JOINT - 1, sum + 2, err);
    if (rc != DP_OK)
        return rc;
    if (symmetric)
        dp_rdp_sampled_symmetric(event->rate, sum, LARGEST_JOINT, orders, n, out);
    else
        dp_rdp_sampled(event->rate, sum, LARGEST_JOINT, orders, n, out);
    return DP_OK;
}

int dp_event_curve(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err)
{
    double z;
    int rc = dp_event_check(event, err);
    if (rc != DP_OK)
        return rc;
    bool gaussian = dp_event_is_gaussian(event, &z);
    double sampled = event->queries == 1 ? dp_pure_sampled(event->rate, dp_kind_epsilon(&event->query[0])) : (double)INFINITY;
    switch (event->sampling) {
    case DP_SAMPLING_NONE:
    case DP_SAMPLING_SHUFFLED:
        return unsampled(event, orders, n, out, err);
    case DP_SAMPLING_POISSON:
        if (gaussian)
            dp_rdp_sampled_gaussian(event->rate, z, orders, n, out);
        else if (event->queries == 1 && dp_kind_is_pure(&event->query[0]))
            dp_rdp_pure(sampled, orders, n, out);
        else
            return joint(event, orders, n, out, err);
        return DP_OK;
    case DP_SAMPLING_REPLACED:
        if (gaussian)
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
    }
    return dp_fail(err, DP_E_RUN, "an event has an unknown sampling");
}
