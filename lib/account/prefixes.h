/* Epsilon along a planned run: the cost of its first laps, by the accountant that accounts for the whole run. */
#ifndef DP_ACCOUNT_PREFIXES_H
#define DP_ACCOUNT_PREFIXES_H

#include "account/plan.h"

/* epsilon[i] bounds, at delta, what the first laps[i] laps cost. laps: n >= 1 numbers, ascending, the first at least 1; the
 * last is the whole run, and epsilon[n − 1] is the answer of dp_account_epsilon with DP_ACCOUNTANT_BEST. The numbers never
 * fall, and never exceed that.
 *
 * A bound on more laps is a bound on fewer, so between two of these numbers of laps the later one's epsilon holds (and so does
 * the meter's of account/meter.h, if that is smaller). Sixteen to thirty-two of them cost about as much as one answer: all
 * share one grid and the transforms of their laps (dp_pld_prefixes). The bound is on the run as planned: its end must not
 * depend on released values. DP_E_RUN: as dp_account_epsilon, and laps that do not ascend or that are not in the plan. */
int dp_account_prefixes(const struct dp_plan *plan, const int64_t *laps, size_t n, double delta, double *epsilon,
                        struct dp_err *err);

#endif
