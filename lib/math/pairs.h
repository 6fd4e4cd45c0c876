/* Products of columns of 16-bit whole numbers, exactly; math/moments.h uses them. Two rows lie next to each other, so that one
   instruction multiplies both and adds the products. */
#pragma once

#include "base/c.h"

#define DP_PAIRS_LEFT 4   /* columns of the left side of a tile */
#define DP_PAIRS_RIGHT 16 /* columns of a panel: the right side of a tile */

/* Entry (row, column) of a panel, which is pairs of rows × columns × 2 numbers. */
static inline size_t dp_pairs_at(size_t row, size_t column)
{
    return (row / 2 * DP_PAIRS_RIGHT + column) * 2 + row % 2;
}

/* sum[a][k] += Σ_i left[i][a] right[i][k] over 2 × pairs rows i. left: a panel from one of its columns on. No number is −2^15,
   and no sum over some of the rows has more than 31 bits. */
typedef void dp_pairs_product(const int16_t *left, const int16_t *right, size_t pairs,
                              int32_t sum[DP_PAIRS_LEFT][DP_PAIRS_RIGHT]);

/* For dp_isa_used. All give the same numbers. */
dp_pairs_product *dp_pairs_for_this_cpu(void);
