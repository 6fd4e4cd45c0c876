/* A set of whole numbers below a limit, which returns them in order. The cost of filling and emptying depends on its contents,
 * not on the limit. */
#pragma once

#include "base/err.h"

/* Level 0 has a bit for each number; each higher level has a bit for each word below that is not 0. Starts zeroed. */
#define DP_BITSET_LEVELS 11
struct dp_bitset {
    unsigned levels;
    uint64_t *level[DP_BITSET_LEVELS];
};

/* For numbers below limit >= 1. */
void dp_bitset_open(struct dp_bitset *bitset, uint64_t limit);
void dp_bitset_close(struct dp_bitset *bitset);

/* Adds a number; false if the set has it already. */
bool dp_bitset_put(struct dp_bitset *bitset, uint64_t number);

/* Removes all numbers, in ascending order, into `out`, which has room for them; returns their number. */
size_t dp_bitset_take(struct dp_bitset *bitset, int64_t *out);
