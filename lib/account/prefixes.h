/* Epsilon along a run that is planned: what its first laps have cost, by the accountant that is asked about the whole. */
#ifndef DP_ACCOUNT_PREFIXES_H
#define DP_ACCOUNT_PREFIXES_H

#include "account/plan.h"

/* epsilon[i] bounds, at delta, what the first laps[i] laps cost. laps: n >= 1 numbers, ascending, the first at least 1; the
 * last is the whole run, and epsilon[n − 1] is what dp_account_epsilon with DP_ACCOUNTANT_BEST says of it. Never falling,
 * and never above that.
 *
 * A bound on more laps is one on fewer, so between two of these numbers of laps the later one's epsilon holds (and so does
 * the meter's of account/meter.h, if that is smaller). Sixteen to thirty-two of them cost about as much as one answer: all
 * share one grid and the transforms of their laps (dp_pld_prefixes). It is the run as planned that is bounded: where it ends
 * must not depend on what it released. DP_E_RUN: as dp_account_epsilon, and laps that are not ascending or that the plan has
 * not. */
int dp_account_prefixes(const struct dp_plan *plan, const int64_t *laps, size_t n, double delta, double *epsilon,
                        struct dp_err *err);

#endif
