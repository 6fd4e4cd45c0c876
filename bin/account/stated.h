/* The cost that a released model states about itself, for the page of a model whose ledger is not there. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "wire/frame.h"

/* {"population", "data", "unit", "adjacency", "epsilon", "delta", "private_preprocessing": [text], "seeded", "untracked",
 *  "lap", and if the model states them "rows", "laps", "run", "prior_epsilon"}, named as in a certificate
 * (ledger/certificate.h). The caller owns *stated. DP_E_UNSAFE: the model comes from a run without privacy. DP_E_RUN: it does
 * not state its cost. */
int stated_by_model(const struct dp_frame *frame, const char *name, json_t **stated, struct dp_err *err);
