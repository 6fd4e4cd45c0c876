/* Writes a data set directory row by row: beside its name at first, under it when complete. */
#ifndef DP_DATA_DATASET_WRITE_H
#define DP_DATA_DATASET_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "data/dataset.h"
#include "data/row_length.h"

#define DP_POPULATION_MOST 500

struct dp_writer_options {
    size_t cols;
    enum dp_storage storage;
    const float *step; /* cols: values become whole numbers of these, see quantise.h; NULL: they do not. int16 storage has
                          them. Borrowed while the writer is open */
    enum dp_row_norm norm;
    double divisor;         /* DP_NORM_BOUNDS */
    bool force;             /* replace what stands under the name, if it is a data set */
    bool public_rows;       /* nobody's rows (dp-synth): the digest needs no salt, so the same rows give the same
                               digest */
    const char *population; /* whose rows they are, at most DP_POPULATION_MOST bytes; NULL: the digest */
    bool held_out;          /* the part of a split that is kept for tests */
    size_t rows_per_person; /* at most; 0: one row is taken for one person, and dp_writer_person is not called */
    const char *split;      /* which split it is a part of, a name; NULL: of none */
};

/* What rows are stored as, where `said` is dense, CSR or, below 0, neither. */
static inline enum dp_storage dp_storage_of(int said, bool quantise)
{
    return said >= 0 ? (enum dp_storage)said : quantise ? DP_STORAGE_INT16 : DP_STORAGE_DENSE;
}

/* DP_E_USAGE: no name of a population, which stands in ledgers and is printed on terminals. NULL is one. */
int dp_writer_check_population(const char *name, struct dp_err *err);

struct dp_writer;

/* path must not exist, unless force: then the data set that stands there is replaced by dp_writer_commit, and
   its files ledger and ledger.mark pass to the new one. */
int dp_writer_open(struct dp_writer **writer, const char *path, const struct dp_writer_options *options, struct dp_err *err);

/* x: cols entries; y: the label. Stored as float32 with Σ x² ≤ 1 as real numbers: scaled to 1 − 2⁻²² at most,
   then checked with the error bound of dp_row_norm2, then rounded toward zero where there are steps. Entries must be finite.
   Fails when a signal is pending (interrupt.h). */
int dp_writer_row(struct dp_writer *writer, const double *x, double y, struct dp_err *err);

/* The person whose rows were written since the last call has no more of them. At least one, and at most rows_per_person. */
int dp_writer_person(struct dp_writer *writer, struct dp_err *err);

size_t dp_writer_persons(const struct dp_writer *writer); /* the rows, where each is taken for a person */
size_t dp_writer_rows(const struct dp_writer *writer);

/* Closes the arrays and writes dataset.json. description: an object with "names", "label" and
   "private_preprocessing"; format, rows, cols, storage, quantised, row_norm, population, held_out, salt and digest are
   added. The digest goes into every frame and model, and a plain hash would let anybody confirm a guess of
   the rows: it is BLAKE2b keyed with 32 random bytes, the salt, which stay in the data set. Files get mode
   0600, the directory 0700. */
int dp_writer_finish(struct dp_writer *writer, json_t *description, struct dp_err *err);

/* Gives the finished directory its name and frees the writer, whatever comes of it. */
int dp_writer_commit(struct dp_writer *writer, struct dp_err *err);

/* Removes what was written. writer may be NULL. */
void dp_writer_abort(struct dp_writer *writer);

#endif
