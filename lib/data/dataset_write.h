/* Writes a data set directory row by row: under a temporary name next to its own, which it gets when it is complete. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "data/dataset.h"
#include "data/row_length.h"

#define DP_POPULATION_MOST 500

struct dp_writer_options {
    size_t cols;
    size_t cells; /* DP_STORAGE_CELLS: numbers of a row (row_maker.h) */
    enum dp_storage storage;
    const float *step; /* cols: step sizes to which values are rounded, see quantise.h; NULL: no rounding. int16 storage needs
                        * them. Borrowed while the writer is open */
    enum dp_row_norm norm;
    double divisor;         /* DP_NORM_BOUNDS */
    bool force;             /* replace an existing data set of this name */
    bool public_rows;       /* nobody's rows (dp-synth): the digest needs no salt, so the same rows give the same
                               digest */
    const char *population; /* the people whose rows they are, at most DP_POPULATION_MOST bytes; NULL: the digest */
    bool held_out;          /* this is the test part of a split */
    size_t rows_per_person; /* the most rows of a person; 0: one row is taken for one person, and dp_writer_person is not
                             * called */
    bool nulls;             /* rows without a label may come; public, it does not say that there are any */
    const char *split;      /* name of the split that this is a part of; NULL: none */
};

/* The storage of rows. said: dense, CSR or cells; below 0: not stated. */
static inline enum dp_storage dp_storage_of(int said, bool quantise)
{
    return said >= 0 ? (enum dp_storage)said : quantise ? DP_STORAGE_INT16 : DP_STORAGE_DENSE;
}

/* DP_E_RUN: no data set can be written there: the name is taken, and not by a data set that may be replaced. */
int dp_writer_check_target(const char *path, bool force, struct dp_err *err);

/* DP_E_USAGE: the text cannot be a name of a population, which is written to ledgers and printed on terminals. NULL is
 * allowed. */
int dp_writer_check_population(const char *name, struct dp_err *err);

struct dp_writer;

/* path must not exist, unless force is set: then dp_writer_commit replaces the data set of that name, and the new one gets its
 * files ledger and ledger.mark. */
int dp_writer_open(struct dp_writer **writer, const char *path, const struct dp_writer_options *options, struct dp_err *err);

/* Sets the population that options left open, for rows whose people are known only when all of them are read. */
int dp_writer_belong(struct dp_writer *writer, const char *population, struct dp_err *err);

/* x: cols entries; y: the label; NAN for a null row, which has zeros in x. Stored as float32 with Σ x² ≤ 1 as real numbers:
   scaled to 1 − 2⁻²² at most, then checked with the error bound of dp_row_norm2, then rounded toward zero where there are steps. Entries must be finite.
   Fails when a signal is pending (interrupt.h). */
int dp_writer_row(struct dp_writer *writer, const double *x, double y, struct dp_err *err);

/* The two halves of dp_writer_row, for rows that several threads make: dp_writer_shorten, which they may call at the same time,
 * makes `count` ≤ DP_SHORTEN_ROWS rows; number counts the rows of the data set, from 1, for messages. dp_writer_put stores
 * `count` such rows, one after another in `rows`, and their labels. With cells, rows are `cells` doubles each, and are not
 * shortened here. */
int dp_writer_shorten(const struct dp_writer *writer, const double *x, size_t count, size_t number, float *rows,
                      struct dp_err *err);
int dp_writer_put(struct dp_writer *writer, const void *rows, const double *y, size_t count, struct dp_err *err);

/* Ends a person: the rows since the last call are all rows of this person. They must be at least one and at most
 * rows_per_person. */
int dp_writer_person(struct dp_writer *writer, struct dp_err *err);

size_t dp_writer_persons(const struct dp_writer *writer); /* persons so far; rows, if one row is taken for one person */
size_t dp_writer_rows(const struct dp_writer *writer);

/* The text of dataset.json before its digest and salt: *facts, which the caller releases. description: as for
 * dp_writer_finish. */
void dp_writer_describe(const struct dp_writer *writer, json_t *description, json_t **facts);

/* Closes the arrays and writes dataset.json. description: an object with "names", "label", "private_preprocessing" and, with
   cells, "schema"; format, rows, cols, storage, quantised, row_norm, population, held_out, salt and digest are added. The digest is
   in every frame and model. With a plain hash, anybody could confirm a guess of the rows. It is therefore BLAKE2b keyed with a salt
   of 32 random bytes, which are only in the data set. Files get mode 0600, the directory 0700. */
int dp_writer_finish(struct dp_writer *writer, json_t *description, struct dp_err *err);

/* Gives the finished directory its name. Frees the writer, after a failure, too. */
int dp_writer_commit(struct dp_writer *writer, struct dp_err *err);

/* Removes what was written. writer may be NULL. */
void dp_writer_abort(struct dp_writer *writer);
