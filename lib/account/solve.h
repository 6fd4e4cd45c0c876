/* The other unknowns of an accounted run: the delta, laps or sampling rate that a budget allows. Each answer is checked with
 * the accountant as it is printed. */
#pragma once

#include "account/account.h"

/* The smallest delta, to six significant digits and rounded up, at which the charges cost at most epsilon. answer->upper is
   that delta. DP_E_RUN if even delta = 1/2 is not enough. Not below 1e-300. */
int dp_solve_delta(enum dp_accountant accountant, const struct dp_charges *charges, double epsilon, struct dp_answer *answer,
                   struct dp_err *err);

/* The largest number of laps of the event, at most 10^12, that cost at most epsilon at delta; 0 if one lap costs more. */
int dp_solve_laps(enum dp_accountant accountant, const struct dp_event *event, double epsilon, double delta, int64_t *laps,
                  struct dp_err *err);

/* The largest rate, to nine significant digits and rounded down, with which `laps` laps of the event cost at most epsilon at
   delta. event->rate is not read. DP_E_RUN if not even a rate of 1e-12 will do. */
int dp_solve_rate(enum dp_accountant accountant, const struct dp_event *event, int64_t laps, double epsilon, double delta,
                  double *rate, struct dp_err *err);
