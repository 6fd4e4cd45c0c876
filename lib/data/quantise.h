/* Rows as whole numbers of 16 bits: each value is a whole number of steps. The step of a column is a power of two, so the
 * product is exact in float32. Steps are chosen from public facts about a column, never from its values. Values are rounded
 * toward zero, so no row becomes longer. */
#pragma once

#include "base/c.h"

/* The smallest power of two, at least 2^-126, of which 32768 steps reach `most`, a finite bound on the magnitudes of a column.
 * If `most` is a power of two, the value `most` itself becomes 32767 steps. */
float dp_quantise_step(double most);

/* Whether step times −32768 … 32767 is never subnormal and never overflows in float32: step is a power of two from 2^-126 to
 * 2^112. */
bool dp_quantise_good(float step);

/* row_j = step_j times the nearest whole number of steps toward zero, at most 32767; never −0. */
void dp_quantise_row(const float *step, size_t cols, float *row);

/* narrow_j = row_j / step_j, for a row that dp_quantise_row has rounded. */
void dp_quantise_narrow(const float *step, size_t cols, const float *row, int16_t *narrow);
