/* The digest that names a data set in frames: BLAKE2b, keyed with the salt of the data set, over the rows in their order. Dense
   and int16: each row as dp_digest_row adds it, then its label. CSR: first the 0 that X_indptr starts with, then of each row the
   indices, the end in X_indptr, the values, the label. Cells: each row's cells and label, at the end the schema. If rows belong to persons: first the 0 that persons.npy starts with, and
   after the last row of each person the number of rows so far. At the end rows and cols as uint64. */
#pragma once

#include "base/hash.h"

/* salt: crypto_generichash_KEYBYTES bytes, or NULL. */
void dp_digest_start(struct dp_hash *hash, const unsigned char *salt);

/* Adds a row of float32 without zeros, because a hash takes longer than a row takes to write: for each DP_DIGEST_PART values a
   bit for each, the first in the lowest bit of the first byte, 1 if the value has a bit that is 1, and these values. */
#define DP_DIGEST_PART 256
extern const char *const dp_digest_of; /* "digest_of" of such data sets; without it, a row was added with its zeros */
void dp_digest_row(struct dp_hash *hash, const float *row, size_t count);

/* Writes 32 hexadecimal digits and a NUL. */
void dp_digest_finish(struct dp_hash *hash, size_t rows, size_t cols, char digest[33]);
