/* Groups the rows of a table by person, chooses the rows that are kept, and orders persons. Ids are texts of any length. They
 * are kept as keyed hashes of 16 bytes; the key is drawn at random, stays in memory and is never written.
 *
 * Persons come in the order of their first rows in the table, and the rows of a person in the order of the table.
 * If a person has more than `most` rows, the `most` rows with the smallest keyed hashes of (id, number of the row within this
 * person) are kept. So the choice of a person's rows does not depend on other persons. */
#pragma once

#include "base/err.h"

#define DP_PERSONS_KEY 32
#define DP_PERSONS_HASH 16

struct dp_person_row {
    unsigned char person[DP_PERSONS_HASH];
    size_t place;         /* a value that the caller gives to the row */
    size_t number, first; /* numbers of the row, and of the person's first row, in the table */
    uint64_t rank;
};

/* Starts zeroed. */
struct dp_persons {
    unsigned char key[DP_PERSONS_KEY];
    struct dp_person_row *row;
    size_t rows, capacity;
    size_t count; /* persons, after dp_persons_arrange */
};

void dp_persons_open(struct dp_persons *persons);
void dp_persons_close(struct dp_persons *persons);

/* Adds the next row of the table. */
void dp_persons_add(struct dp_persons *persons, const char *id, size_t length, size_t place);

/* Keeps at most `most` ≥ 1 rows of each person and sorts them: the rows of one person are next to each other. */
void dp_persons_arrange(struct dp_persons *persons, size_t most);

/* After dp_persons_arrange: whether row i is the last of its person. */
int dp_persons_ends(const struct dp_persons *persons, size_t i);
