/* What a ledger says about its data sets, as JSON and for a person: dp-account report and verify.
 *
 * The total of a data set composes the charges of all its runs at one delta; it is not the sum of the runs' epsilons.
 * It bounds what was spent if no run was planned upon the results of another; where runs were, the filter of a budget
 * is what holds ("budget"). Runs under different adjacencies do not compose and are totalled apart. */
#ifndef DP_PRIV_REPORT_H
#define DP_PRIV_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "priv/ledger.h"

/* {"ledger", "lines", "torn",
 *  "runs": [{"run", "data", "rows", "adjacency", "opened" (seconds since 1970, or absent), "closed", "status",
 *            "laps", "charges" (what was reserved less what was given back), "epsilon", "epsilon_lower", "delta",
 *            "accountant", "seeded", "as_published", "private_preprocessing", "software", "init" (a run), "order" (of its filter)}],
 *  "data_sets": [{"data", "adjacency", "rows", "runs", "not_closed", "laps", "epsilon", "epsilon_lower", "delta",
 *                 "accountant", "seeded", "as_published", "private_preprocessing",
 *                 "budget": {"epsilon", "delta", "order", "spent"}}]}
 * of one data set, or of all when data is NULL; at delta, or at the largest delta of the runs when that is NaN. An epsilon
 * that no accountant gives is null, and "why" says why; without bound it is "Infinity". The caller owns *report.
 * DP_E_RUN, DP_E_UNSAFE as dp_ledger_check_mark; DP_E_RUN: there is nothing on that data set. */
int dp_ledger_report(const char *path, const char *data, double delta, const struct dp_ledger_hooks *hooks,
                     json_t **report, struct dp_err *err);

/* Checks every line, recomputes the epsilon of every run that has ended and every budget:
 *   {"ledger", "intact", "lines", "torn", "findings": [sentence, …],
 *    "runs": [{"run", "closed", "recorded", "recomputed", "accountant", "delta", "agrees"}]}
 * Recorded may not be below what is recomputed (1e-9 relative); by the same accountant it may not be more than 1e-6
 * above. By another accountant it may not be below the lower bound; with a filter, not below the filter's sum. Runs as published are charged by an accountant
 * that is not sound, and theirs are shown, not compared: "agrees" is null. A ledger that was edited is not intact;
 * only what cannot be read is an error. */
int dp_ledger_verify(const char *path, const struct dp_ledger_hooks *hooks, json_t **result, struct dp_err *err);

/* The same for a person. Writing is checked by the caller with the stream's error flag. */
void dp_ledger_report_print(const json_t *report, FILE *stream);
void dp_ledger_verify_print(const json_t *result, FILE *stream);

#endif
