/* dp-audit sensitivity: measures exactly how far one row moves the bounded sum. */
#pragma once

#include "audit/parts.h"
#include "base/err.h"

struct dp_sensitivity {
    const char *data;     /* the data set to vary */
    const char *pipeline; /* "dp-sample --data {} … | … | dp-clip …" */
    const char *scratch;  /* directory for the varied data set */
    int64_t rows, laps, seed;
    const struct dp_audit_watch *watch;
    /* out: the worst case */
    double ratio; /* measured / declared, rounded up; only `exceeded` is exact */
    double measured, declared;
    bool exceeded, replace_one;
    bool count;       /* the count of dp-clip --adaptive exceeded its bound, not the sum */
    const char *unit; /* "row", or "person" if the rows of a person change together */
    int64_t row, lap; /* from 1; 0 if no row moved anything */
    const char *kind; /* the replacement of the row */
    int64_t compared; /* number of sums */
};

/* If the data set has persons with several rows, "row" means all rows of a person. For each of `rows` rows chosen by the seed,
 * runs the pipeline up to its bounded sum with the row absent, and then with each of a list of adversarial values in its place,
 * on the same keys and the same released models, and compares lap by lap.
 *
 * Absent means: not in the batch; if every row is in every batch (sampler full), a row of zeros. If the record has replace-one
 * adjacency, the original row is there instead. Present means: in the batch of every lap if coins decide that (sampler
 * poisson). Measured: ‖S − S′‖₂ of the whole-number sums against sensitivity/grid of the record, without rounding; the same for
 * the count of dp-clip --adaptive, in halves, against its own record. Nothing else in the frame may differ. The models are, in
 * turn, trained by the sums, zero, and random ones of all magnitudes.
 *
 * Returns 0 if everything was compared (out->exceeded is the result), DP_E_RUN with a sentence if a row is visible in another
 * way, or another error. */
int dp_sensitivity_run(struct dp_sensitivity *audit, struct dp_err *err);
