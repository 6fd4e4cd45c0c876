/* A schema whose bounds and categories are paid for. */
#ifndef BIN_IMPORT_PAID_H
#define BIN_IMPORT_PAID_H

#include <jansson.h>

#include "data/import.h"
#include "identity.h"

struct paid_options {
    double epsilon, delta; /* delta NAN: a tenth of the default of dp-fit */
    const char *ledger;    /* NULL: the ledger of the population, else the next */
    const char *beside;    /* a new ledger for a population without one */
    bool no_ledger, quiet;
    int64_t seed; /* of the noise; DP_OPT_ABSENT_INT: a fresh key */
};

/* Counts the cells of the table, pays for the counts at a gate, and makes a schema from the noised counts. *small: public
 * facts say that the table is too small for this budget; then nothing was charged and there is no schema. */
int paid_schema(struct dp_import *import, struct identity *identity, const struct paid_options *options, json_t **schema,
                bool *small, struct dp_err *err);

#endif
