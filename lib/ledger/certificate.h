/* The certificate of a released model: what it has cost the people in its data set, according to the ledger. */
#pragma once

#include <jansson.h>

#include "base/err.h"

#define DP_CERTIFICATE_FORMAT 1 /* the format that this version writes, and the newest that it reads */

struct dp_certified {
    const char *mark;    /* its mark of the ledger */
    int64_t lap;         /* its lap in its run, >= 1 */
    const char *model;   /* a digest of its weights */
    const char *release; /* "tables of counts", "synthetic rows"; NULL: a model that predicts */
};

/* {"certificate": the format, "software", "model", "lap", "mark", "release" (not of a model that predicts),
 *  "model_in_ledger", "status", "ledger": {"lines", "hash"},
 *  "population", "data", "rows", "unit" ("row" or "person:K"), "adjacency", "runs": [{"run", "data", "closed", "status", "laps",
 *  "stated_at", "software", "public_start" (of a run from a public model)}], "mechanisms": [charge, …], "epsilon",
 *  "epsilon_lower", "delta", "accountant",
 *  "curve": [[epsilon, delta], …], "mu", "mu_delta" (account/tradeoff.h; of one run that is stated by its laps or its plan),
 *  "private_preprocessing": [text, …], "seeded",
 *  "if_the_lap_was_fixed": {"laps", "epsilon", "epsilon_lower", "delta", "accountant"},
 *  "if_planned_together": {"epsilon", "epsilon_lower", "delta", "accountant"}, "not_in_ledger": {"epsilon", "delta"},
 *  "other_data": [{"population", "data", … "seeded"}, …]}
 * All numbers are computed from the present ledger, which "ledger" identifies. "model_in_ledger": the ledger has the digest of
 * this model for this lap of the run. "runs": the model's run and the runs that it started from, back to the first, on the same
 * population; runs on other populations are in "other_data". Each run counts with its stated cost (ledger/sum.h), that is, with
 * everything that it has released, even if the model is of an earlier lap: the lap may have been chosen after later results.
 * "if_the_lap_was_fixed" counts the run's laps up to the model's. It is the cost if this lap was chosen before the run: then no
 * later result says anything about the choice. The epsilons and deltas of several runs are added (accountant "added"), which is
 * sound even if a later run was planned after earlier results. "if_planned_together" is the cost of the runs as one list of
 * mechanisms, sound if later runs did not depend on earlier results. "not_in_ledger" is the cost that an initial model without
 * a mark stated; it is part of epsilon and delta. The caller owns *certificate. DP_E_UNSAFE: the ledger was edited, does not
 * have the mark, has another digest for this lap, or has fewer paid laps than the model; or the runs have different
 * adjacencies. DP_E_RUN: the ledger cannot be read, or no accountant covers it. */
int dp_certificate_make(const char *path, const struct dp_certified *what, json_t **certificate, struct dp_err *err);

/* Makes the certificate again from as many lines of the ledger as there were then, and compares all members but "software"
 * (numbers to 1e-6 relative, because another version may round differently). model (may be NULL): a model whose mark, lap and
 * digest are compared, too; *bound: the present ledger has a digest for this lap. DP_E_UNSAFE: the message names the first
 * member that differs; other errors as above. DP_E_RUN: not a certificate. */
int dp_certificate_verify(const json_t *certificate, const char *path, const struct dp_certified *model, bool *bound,
                          struct dp_err *err);
