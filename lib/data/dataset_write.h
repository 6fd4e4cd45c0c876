/* Writes a data set directory row by row: beside its name at first, under it when complete. */
#ifndef DP_DATA_DATASET_WRITE_H
#define DP_DATA_DATASET_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum dp_row_norm {
    DP_NORM_UNIT,   /* every row to L2 norm 1 (just below it), zero rows stay */
    DP_NORM_CAP,    /* rows above 1 only */
    DP_NORM_NONE,   /* rows above 1 are an error */
    DP_NORM_BOUNDS, /* every row divided by the same public number, which no norm exceeds by 1 − 2⁻²² of it */
};
#define DP_POPULATION_MOST 500
#define DP_NORM_CHOICES "unit|cap|none|bounds"

struct dp_writer_options {
    size_t cols;
    bool sparse; /* CSR storage */
    enum dp_row_norm norm;
    double divisor;         /* DP_NORM_BOUNDS */
    bool force;             /* replace what stands under the name, if it is a data set */
    bool public_rows;       /* nobody's rows (dp-synth): the digest needs no salt, so the same rows give the same
                               digest */
    const char *population; /* whose rows they are, at most DP_POPULATION_MOST bytes; NULL: the digest */
    bool held_out;          /* the part of a split that is kept for tests */
};

struct dp_writer;

/* path must not exist, unless force: then the data set that stands there is replaced by dp_writer_commit, and
   its files ledger and ledger.mark pass to the new one. */
int dp_writer_open(struct dp_writer **writer, const char *path, const struct dp_writer_options *options, struct dp_err *err);

/* x: cols entries; y: the label. Stored as float32 with Σ x² ≤ 1 as real numbers: scaled to 1 − 2⁻²² at most,
   then checked with the error bound of dp_row_norm2. Entries must be finite. Fails when a signal is pending
   (interrupt.h). */
int dp_writer_row(struct dp_writer *writer, const double *x, double y, struct dp_err *err);

size_t dp_writer_rows(const struct dp_writer *writer);

/* Closes the arrays and writes dataset.json. description: an object with "names", "label" and
   "private_preprocessing"; format, rows, cols, storage, row_norm, population, held_out, salt and digest are
   added. The digest goes into every frame and model, and a plain hash would let anybody confirm a guess of
   the rows: it is BLAKE2b keyed with 32 random bytes, the salt, which stay in the data set. Files get mode
   0600, the directory 0700. */
int dp_writer_finish(struct dp_writer *writer, json_t *description, struct dp_err *err);

/* Gives the finished directory its name and frees the writer, whatever comes of it. */
int dp_writer_commit(struct dp_writer *writer, struct dp_err *err);

/* Removes what was written. writer may be NULL. */
void dp_writer_abort(struct dp_writer *writer);

#endif
