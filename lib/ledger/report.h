/* Reports on a ledger's populations, as JSON and as text: dp-account report and verify.
 *
 * One number states what a population has spent. With a budget, it is the count of the budget, which is sound even if runs were
 * planned after the results of others. Without a budget, it composes the charges of all runs at one delta, which gives less
 * than the sum of their epsilons. This is sound if no run was planned after the results of another. Otherwise the sum of
 * epsilons and deltas is sound, and is shown, too. Runs under different adjacencies do not compose and have separate totals. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "ledger/people.h"

/* {"ledger", "lines", "torn",
 *  "runs": [{"run", "population", "data", "rows", "unit" ("row" or "person:K"), "adjacency",
 *            "opened" (seconds since 1970, or absent), "closed", "status", "laps" and "charges" (reserved; after its end used),
 *            "stated_at" (a basis of ledger/sum.h), "plan_laps" (if stated at its plan), "order" (of its filter, or at which it
 *            is stated), "epsilon", "epsilon_lower", "delta", "accountant", "seeded",
 *            "private_preprocessing", "software", "init" (a run)}],
 *  "populations": [{"population", "people" (a number: the same people have the same), "data": [digest, …], "adjacency",
 *            "rows", "unit", "runs", "not_closed", "laps", "epsilon", "epsilon_lower", "delta",
 *            "accountant" (the spending; "filter" with a budget),
 *            "composed": {"epsilon", "epsilon_lower", "delta", "accountant"} (with a budget, or of several runs),
 *            "untracked": {"runs", "epsilon", "delta"}, "unbounded": number of runs,
 *            "not_in_ledger": {"epsilon", "delta"} (stated by initial models; part of epsilon and delta),
 *            "seeded", "private_preprocessing",
 *            "budget": {"epsilon", "delta", "orders": [{"order", "delta"}, …], "spent", "order",
 *                       "before": {"epsilon", "delta"} (the cost that it began with)}}]}
 * of one population, by its name or a digest of its data, or of all if population is NULL; at delta, or at the largest delta of
 * the runs if delta is NaN. An epsilon that no accountant gives is null, and "why" gives the reason; without bound it is
 * "Infinity". The caller owns *report. DP_E_RUN, DP_E_UNSAFE as dp_ledger_check_mark; DP_E_RUN: there is nothing on that
 * population. */
int dp_ledger_report(const char *path, const char *population, double delta, json_t **report, struct dp_err *err);

/* The same, but the total of the population of `people` counts all ledgers that the registry knows. That total has "ledgers":
 * [path, …] and "lost": {"runs", "epsilon", "delta", "ledger"} (the most that runs of lost ledgers could cost; part
 * of epsilon and delta, unless a budget begins with it). path: the name of one of the people's ledgers. people may be NULL. */
int dp_ledger_report_people(const char *path, const struct dp_people *people, const char *population, double delta,
                            json_t **report, struct dp_err *err);

/* Whether the total counts the run, or a model's certificate is of such runs: of the same people, adjacency and unit. */
bool dp_ledger_report_covers(const json_t *total, const json_t *run);

/* Adds to each total of a report of that ledger the curve of its run (dp_ledger_sum_curve), if the total counts one run and
 * nothing else: no start that has cost something, no ledger that was lost, no run outside of a ledger. */
int dp_ledger_report_curves(const char *path, json_t *report, struct dp_err *err);

/* Checks every line, and recomputes the epsilon of every ended run and every budget:
 *   {"ledger", "intact", "edited" (a line was changed, or lines are missing), "lines", "torn", "findings": [sentence, …],
 *    "runs": [{"run", "closed", "recorded", "recomputed", "accountant", "delta", "agrees"}]}
 * The recorded epsilon must equal the one recomputed by the same accountant, to 1e-6 relative, because another version may have
 * rounded differently. An epsilon recorded by another accountant must not be below the lower bound, and with a filter not below
 * the sum of the filter. The recorded epsilon of a run of an earlier version may be what a paper claims (`claimed`): it is not
 * compared, and "agrees" is null. An edited ledger is not intact; only a ledger that cannot be read is an
 * error. */
int dp_ledger_verify(const char *path, json_t **result, struct dp_err *err);

/* The same for a person. Writing is checked by the caller with the stream's error flag. */
void dp_ledger_report_print(const json_t *report, FILE *stream);
void dp_ledger_verify_print(const json_t *result, FILE *stream);
