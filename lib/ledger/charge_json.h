/* A charge as JSON, in ledgers and for dp-account on its standard input:
 *   {"laps": 1000, "sampling": "poisson", "rate": 0.01, "queries": [{"noise": "gaussian", "multiplier": 1.5}]}
 * "rate" is present if rows are sampled, "epoch_laps" if epochs are shuffled, "draws" and "contraction" if a lap draws many
 * batches; each query has the members of its kind (query/query.h). A selection of runs has "trials", its law, with "mean" or
 * "eta" and "gamma", "score_multiplier", and for "settings" objects of "times" and "charges" in place of queries. */
#pragma once

#include <jansson.h>

#include "account/event.h"

/* A new reference. Numbers are written so that they read back as the same doubles when
   dumped with JSON_REAL_PRECISION(17). */
json_t *dp_charge_to_json(const struct dp_charge *charge);

/* Reads a charge and checks everything; the caller frees its event. Unknown keys are refused, except those that the caller
 * names in `also` (NULL-terminated, may be NULL). */
int dp_charge_from_json(const json_t *json, const char *const *also, struct dp_charge *charge, struct dp_err *err);
