/* The inverse of a square matrix. */
#pragma once

#include "base/c.h"

/* A = M^-1, d × d, by elimination with row pivots, always in the same order. NULL: an entry is not finite, or the condition
 * ‖M‖ ‖A‖, of the largest sums of magnitudes in a row, is above 2^30. The caller frees it. */
double *dp_inverse(const double *matrix, size_t d);
