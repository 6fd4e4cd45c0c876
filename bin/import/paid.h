/* A schema whose bounds, categories and knots are paid for. */
#pragma once

#include "data/census.h"
#include "payment.h"

/* Pays for the counts of the census at a gate, and makes a schema from the noised counts, with its cost. If epsilon is too
 * small for the numbers of rows and columns, it pays more, up to options->most. DP_E_UNSAFE: for its numbers of rows and columns
 * the table is too small, and nothing was charged; or the counts that were paid for name no label or no feature. */
int paid_schema(const struct dp_census *census, struct dp_import *import, struct identity *identity,
                const struct payment_options *options, json_t **schema, struct dp_err *err);

/* For place_knots of an import: pays for the counts of data/knots.h, and puts knots into the schema, with what was paid. If
 * public facts say that there are too few rows, nothing is charged: then knots stay even, or it is an error (DP_E_BUDGET). */
struct paid_knots {
    struct payment_options pay;
    const struct identity *identity;
    bool else_even;
};
int paid_knots(void *self, struct dp_import *import, struct dp_knots *knots, size_t units, struct dp_err *err);
