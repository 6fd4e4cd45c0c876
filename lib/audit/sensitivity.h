/* dp-audit sensitivity: by how much one row moves the bounded sum, measured exactly. */
#ifndef DP_AUDIT_SENSITIVITY_H
#define DP_AUDIT_SENSITIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/parts.h"
#include "base/err.h"

struct dp_sensitivity {
    const char *data;     /* the data set to vary */
    const char *pipeline; /* "dp-sample --data {} … | … | dp-clip …" */
    const char *scratch;  /* directory for the varied data set */
    int64_t rows, laps, seed;
    const struct dp_audit_watch *watch;
    /* out: the worst case */
    double ratio; /* measured / declared, rounded up; exact in its verdict `exceeded` only */
    double measured, declared;
    bool exceeded, replace_one;
    bool count;       /* what moved is the count of dp-clip --adaptive, not the sum: only when its bound is exceeded */
    const char *unit; /* "row", or "person" where several rows are one person's and change together */
    int64_t row, lap; /* from 1 on; 0 when no row moved anything */
    const char *kind; /* the replacement of the row */
    int64_t compared; /* sums */
};

/* A row is all that a person has: where the data set has persons with several rows, all rows of a person.
 * For each of `rows` rows chosen by the seed, runs the pipeline up to its bounded sum with the row absent,
 * and then with each of a list of adversarial values in its place, on the same keys and the same released
 * models, and compares lap by lap.
 *
 * Absent means: not in the batch; where every row is in every batch (sampler full), a row of zeros. A record
 * of replace-one adjacency has the row as it is instead. Present means: in the batch of every lap, where
 * coins decide that (sampler poisson). Measured: ‖S − S′‖₂ of the whole-number sums against sensitivity/grid
 * of the record, without rounding; the same for the count of dp-clip --adaptive, in halves, against the record
 * of its own; and nothing else in the frame may differ. The models are, in turn, what the sums would train,
 * zero, and random ones of all magnitudes.
 *
 * Returns 0 when all was compared (out->exceeded says with what result), DP_E_RUN with a sentence when a row
 * shows in another way, or another error. */
int dp_sensitivity_run(struct dp_sensitivity *audit, struct dp_err *err);

#endif
