/* A copy of a data set with some rows changed, in a temporary directory, for an audit to compare. It has the same shape. Its
   dataset.json and digest are the original's, so the two differ only in the rows. */
#pragma once

#include "audit/parts.h"
#include "base/err.h"
#include "data/dataset.h"

struct dp_variant {
    char path[DP_AUDIT_PATH]; /* path of the directory; "" until it is made */
};

/* Makes the directory (in `parent`) and copies dataset.json of the data set at `path`. */
int dp_variant_open(struct dp_variant *variant, const char *parent, const char *path, struct dp_err *err);

/* The rows of a person, and their replacement, which can have any values. */
struct dp_variant_rows {
    size_t first, count;
    const float *x;  /* count × cols */
    const double *y; /* count */
};

/* Writes all rows of the data set, or zeros in their place (blank), with those rows replaced. May be called again. */
int dp_variant_write(const struct dp_variant *variant, const struct dp_dataset *dataset, bool blank,
                     const struct dp_variant_rows *rows, struct dp_err *err);

void dp_variant_close(struct dp_variant *variant);
