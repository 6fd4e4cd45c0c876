/* Epsilon along a planned run: the cost of its first laps, by the accountant that accounts for the whole run. */
#pragma once

#include "account/plan.h"

/* epsilon[i] bounds the cost of the first laps[i] laps at delta. laps: n >= 1 numbers, ascending, the first at least 1. The
 * last is the whole run, and epsilon[n − 1] is the answer of dp_account_epsilon with DP_ACCOUNTANT_BEST. The bounds never fall,
 * and never exceed the last one.
 *
 * A bound on more laps is a bound on fewer. So for a number of laps between two of these, the later epsilon holds (and the
 * meter's of account/meter.h, if that is smaller). Sixteen to thirty-two numbers take about as long as one answer: all share
 * one grid and the transforms of their laps (dp_pld_prefixes). The bound is on the run as planned: its end must not depend on
 * released values. DP_E_RUN: as dp_account_epsilon, and laps that do not ascend or are not in the plan. */
int dp_account_prefixes(const struct dp_plan *plan, const int64_t *laps, size_t n, double delta, double *epsilon,
                        struct dp_err *err);
