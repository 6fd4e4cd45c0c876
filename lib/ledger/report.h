/* What a ledger says about its populations, as JSON and for a person: dp-account report and verify.
 *
 * One number says what a population has spent. Where there is a budget it is that of the budget's filter, which holds
 * whatever one run was told by the results of another. Else it composes the charges of all runs at one delta, which is not
 * the sum of their epsilons; that holds if no run was planned upon the results of another, and where one was, the sum of
 * epsilons and deltas does, which stands beside it. Runs under different adjacencies do not compose and are totalled
 * apart. */
#ifndef DP_LEDGER_REPORT_H
#define DP_LEDGER_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "ledger/ledger.h"
#include "ledger/people.h"

/* {"ledger", "lines", "torn",
 *  "runs": [{"run", "population", "data", "rows", "unit" ("row" or "person:K"), "adjacency", "opened" (seconds since 1970,
 *            or absent), "closed", "status",
 *            "laps" and "charges" (what was reserved less what was given back), "stated_at" (a basis of ledger/sum.h),
 *            "plan_laps" (where it is stated at its plan), "order" (of its filter, or at which it is stated), "epsilon",
 *            "epsilon_lower", "delta", "accountant", "seeded", "as_published", "private_preprocessing", "software", "init" (a
 *            run)}],
 *  "populations": [{"population", "data": [digest, …], "adjacency", "rows", "unit", "runs", "not_closed", "laps", "epsilon",
 * "epsilon_lower", "delta", "accountant" (what was spent; "filter" with a budget), "composed": {"epsilon", "epsilon_lower",
 * "delta", "accountant"} (with a budget), "added": {"epsilon", "delta"} (of several runs without one), "not_in_ledger":
 * {"epsilon", "delta"} (what models to start from stated; part of epsilon and delta), "seeded", "as_published",
 * "private_preprocessing", "budget": {"epsilon", "delta", "orders": [{"order", "delta"}, …], "spent", "order",
 * "before": {"epsilon", "delta"} (that it began with)}}]} of one
 * population, by its name or a digest of its data, or of all when that is NULL; at delta, or at the largest delta of the runs
 * when that is NaN. An epsilon that no accountant gives is null, and "why" says why; without bound it is "Infinity". The caller
 * owns *report. DP_E_RUN, DP_E_UNSAFE as dp_ledger_check_mark; DP_E_RUN: there is nothing on that population. */
int dp_ledger_report(const char *path, const char *population, double delta, json_t **report, struct dp_err *err);

/* The same, where what is said of the population of `people` counts all ledgers that the registry knows: its total has
   "ledgers": [path, …] then, and "lost": {"runs", "epsilon", "delta", "ledger"} (what runs of ledgers that are gone could cost at
   most; part of epsilon and delta, unless a budget begins with it). path: the name of one of the people's ledgers. people may
   be NULL. */
int dp_ledger_report_people(const char *path, const struct dp_people *people, const char *population, double delta,
                            json_t **report, struct dp_err *err);

/* Checks every line, recomputes the epsilon of every run that has ended and every budget:
 *   {"ledger", "intact", "edited" (a line is not what was written, or lines are missing), "lines", "torn", "findings":
 * [sentence, …], "runs": [{"run", "closed", "recorded", "recomputed", "accountant", "delta", "agrees"}]} Recorded is what is
 * recomputed by the same accountant, to 1e-6 relative: another version may have rounded differently. By another accountant it
 * may not be below the lower bound; with a filter, not below the filter's sum. Runs as published are charged by an accountant
 * that is not sound, and theirs are shown, not compared: "agrees" is null. A ledger that was edited is not intact;
 * only what cannot be read is an error. */
int dp_ledger_verify(const char *path, json_t **result, struct dp_err *err);

/* The same for a person. Writing is checked by the caller with the stream's error flag. */
void dp_ledger_report_print(const json_t *report, FILE *stream);
void dp_ledger_verify_print(const json_t *result, FILE *stream);

#endif
