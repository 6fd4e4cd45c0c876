/* The other unknowns of an accounted run: the delta, laps or sampling rate that a budget allows. Each answer is checked with
 * the accountant as it is printed. */
#pragma once

#include "account/account.h"

/* The smallest delta, to six significant digits and rounded up, at which the charges cost at most epsilon. answer->upper is
   that delta: 1 if nothing less is known, 0 if the charges are pure and cost no more than epsilon, else not below 1e-300. */
int dp_solve_delta(enum dp_accountant accountant, const struct dp_charges *charges, double epsilon, struct dp_answer *answer,
                   struct dp_err *err);

/* ln((e^{k ε} − 1)/(e^ε − 1)), rounded up; ln k at ε = 0. If (ε, δ) holds for one person, (k ε, δ' ) holds for k persons, where
 * ln δ' = ln δ + this. */
double dp_group_growth(double epsilon, int64_t people);

/* The epsilon at delta of `people` >= 1 persons together. *exact: the charges are one Gaussian of μ, so a group is one of k μ.
 * Else a bound: ε = k x, where (x, δ') holds for one person and δ' grows to at most delta. answer->lower is 0. */
int dp_solve_group(const struct dp_charges *charges, int64_t people, double delta, struct dp_answer *answer, bool *exact,
                   struct dp_err *err);

/* The largest number of laps of the event, at most 10^12, that cost at most epsilon at delta; 0 if one lap costs more. */
int dp_solve_laps(enum dp_accountant accountant, const struct dp_event *event, double epsilon, double delta, int64_t *laps,
                  struct dp_err *err);

/* The largest rate, to nine significant digits and rounded down, with which `laps` laps of the event cost at most epsilon at
   delta. event->rate is not read. DP_E_RUN if not even a rate of 1e-12 will do. */
int dp_solve_rate(enum dp_accountant accountant, const struct dp_event *event, int64_t laps, double epsilon, double delta,
                  double *rate, struct dp_err *err);
