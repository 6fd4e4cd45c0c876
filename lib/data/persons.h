/* Which rows of a table belong to one person, which of them are kept, and in what order persons are stored. Ids are texts of any
 * length. They are kept as keyed hashes of 16 bytes; the key is drawn at random, stays in memory and is never written.
 *
 * Persons come in the order of their first rows in the table, and the rows of a person in the order of the table.
 * Of a person with more than `most` rows, the `most` rows with the smallest keyed hashes of (id, number of the row among those
 * of this person) are kept. So which rows of a person are kept does not depend on other persons. */
#ifndef DP_DATA_PERSONS_H
#define DP_DATA_PERSONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DP_PERSONS_KEY 32
#define DP_PERSONS_HASH 16

struct dp_person_row {
    unsigned char person[DP_PERSONS_HASH];
    size_t place;         /* of the row, as the caller counts */
    size_t number, first; /* of the row, and of the person's first row, in the table */
    uint64_t rank;
};

/* Starts zeroed. */
struct dp_persons {
    unsigned char key[DP_PERSONS_KEY];
    struct dp_person_row *row;
    size_t rows, capacity;
    size_t count; /* persons, once arranged */
};

/* Draws the key. */
void dp_persons_open(struct dp_persons *persons);
void dp_persons_close(struct dp_persons *persons);

/* The next row of the table. DP_E_RUN: no memory. */
int dp_persons_add(struct dp_persons *persons, const char *id, size_t length, size_t place, struct dp_err *err);

/* Leaves the rows that are kept, in their order: those of one person are next to each other. most ≥ 1. */
void dp_persons_arrange(struct dp_persons *persons, size_t most);

/* Whether row i, once arranged, is the last of its person. */
int dp_persons_ends(const struct dp_persons *persons, size_t i);

#endif
