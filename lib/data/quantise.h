/* Rows as whole numbers of 16 bits: each value a whole number of steps, and the step of a column a power of two, so that the
   product of both is exact in float32. Steps are chosen by what is public of a column, never by its values, and values are
   rounded toward zero, so that no row becomes longer. */
#ifndef DP_DATA_QUANTISE_H
#define DP_DATA_QUANTISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The smallest step with which 32768 steps reach `most`, a finite bound on the magnitudes of a column, and 2^-126 at least. The
   value `most` itself, where it is a power of two, becomes 32767 steps. */
float dp_quantise_step(double most);

/* Whether each of the steps −32768 … 32767 is a float32 that is not subnormal: a power of two from 2^-126 to 2^112. */
bool dp_quantise_good(float step);

/* row_j = the whole number of steps next to it toward zero, at most 32767 of them, times step_j; never −0. */
void dp_quantise_row(const float *step, size_t cols, float *row);

/* narrow_j = row_j / step_j of a row that dp_quantise_row has made. */
void dp_quantise_narrow(const float *step, size_t cols, const float *row, int16_t *narrow);

#endif
