/* The statement that goes with a released model: what it has cost the people in its data set, by the ledger. */
#ifndef DP_LEDGER_CERTIFICATE_H
#define DP_LEDGER_CERTIFICATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ledger/ledger.h"

#define DP_CERTIFICATE_FORMAT 1 /* what this version writes, and the newest that it reads */

/* The model that is certified. */
struct dp_certified {
    const char *mark;  /* the ledger's mark that it carries */
    int64_t lap;       /* its lap in its run, >= 1 */
    const char *model; /* a digest of its weights */
};

/* {"certificate": the format, "software", "model", "lap", "mark", "model_in_ledger", "status", "ledger": {"lines", "hash"},
 *  "population", "data", "rows", "unit" ("row" or "person:K"), "adjacency", "runs": [{"run", "data", "closed", "status", "laps",
 *  "stated_at", "software"}], "mechanisms": [charge, …], "epsilon", "epsilon_lower", "delta", "accountant",
 *  "private_preprocessing": [text, …], "seeded",
 *  "as_published", "if_the_lap_was_fixed": {"laps", "epsilon", "epsilon_lower", "delta", "accountant"},
 *  "if_planned_together": {"epsilon", "epsilon_lower", "delta", "accountant"}, "not_in_ledger": {"epsilon", "delta"},
 *  "other_data": [{"population", "data", … "as_published"}, …]}
 * by the ledger as it is now, which "ledger" names. "model_in_ledger": the ledger has the digest of this lap of the run, and it
 * is this one. "runs": the model's own and those that it started from, back to the first, on the same population; those on
 * other populations are in "other_data". Each counts with what it is stated at (ledger/sum.h): with all that it has released,
 * whichever of its laps the model is of, since the lap may have been chosen by what the later ones released.
 * "if_the_lap_was_fixed" is what the laps of the model's run up to its own cost by themselves, for a lap that was chosen
 * beforehand. Where there are several runs their epsilons and deltas are added up (accountant "added"), which holds whatever a
 * later run was planned upon; "if_planned_together" is what they cost as one list of mechanisms, if the later ones did not
 * depend on what the earlier ones released. "not_in_ledger" is what a model to start from stated that had no mark; it is part
 * of epsilon and delta. The caller owns *certificate. DP_E_UNSAFE: the ledger was edited, does not hold the mark, has a digest
 * of other weights for this lap, has fewer laps paid for than the model has seen, or the runs have different adjacencies.
 * DP_E_RUN: it cannot be read, or no accountant covers it. */
int dp_certificate_make(const char *path, const struct dp_certified *what, json_t **certificate, struct dp_err *err);

/* Makes it again from the ledger's first lines, as many as there were then, and compares all members but "software"
 * (numbers to 1e-6 relative, so that another version may round differently). model (may be NULL): the model at hand, of which
 * mark, lap and digest are compared; *bound: the ledger as it is now has the digest of this lap. DP_E_UNSAFE and a sentence
 * that names the first member that differs; else as above. DP_E_RUN: not a certificate. */
int dp_certificate_verify(const json_t *certificate, const char *path, const struct dp_certified *model, bool *bound,
                          struct dp_err *err);

#endif
