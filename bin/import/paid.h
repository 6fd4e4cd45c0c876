/* A schema whose bounds, categories and knots are paid for. */
#ifndef BIN_IMPORT_PAID_H
#define BIN_IMPORT_PAID_H

#include "payment.h"

/* Counts the cells of the table, pays for the counts at a gate, and makes a schema from the noised counts. *small: public
 * facts say that the table is too small for this budget; then nothing was charged and there is no schema. */
int paid_schema(struct dp_import *import, struct identity *identity, const struct payment_options *options, json_t **schema,
                bool *small, struct dp_err *err);

/* For place_knots of an import: pays for the counts of data/knots.h, and puts knots into the schema, with what was paid. If
 * public facts say that there are too few rows, nothing is charged: then knots stay even, or it is an error (DP_E_BUDGET). */
struct paid_knots {
    struct payment_options pay;
    const struct identity *identity;
    bool else_even;
};
int paid_knots(void *self, struct dp_import *import, struct dp_knots *knots, size_t units, struct dp_err *err);

#endif
