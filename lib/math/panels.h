/* Products of many rows with one matrix: t_i = T x_i. Each entry of t_i is the sum over the columns in their order, so that it
   is the same whatever the width of the CPU's vectors, and whatever rows it is computed together with; and columns that are
   zero add nothing, so that a row gives the same bits dense and sparse. */
#ifndef DP_MATH_PANELS_H
#define DP_MATH_PANELS_H

#include <stddef.h>

#include "base/err.h"
#include "math/vec.h"

/* The matrix, laid out for the loops: PANEL of its rows at a time, column by column. Starts zeroed. */
struct dp_panels {
    size_t rows, cols; /* of the matrix */
    double *packed;
};

/* Takes a copy of matrix[rows × cols], all finite. An earlier copy is freed. DP_E_RUN: no memory. */
int dp_panels_open(struct dp_panels *panels, const double *matrix, size_t rows, size_t cols, struct dp_err *err);
void dp_panels_close(struct dp_panels *panels);

/* products[count × panels->rows] = T x_i of `count` rows, all dense or all sparse. Where the matrix has a column more than the
   rows have `features`, the rows end in `constant`. wide: room for dp_panels_room() numbers, for dense rows. */
void dp_panels_multiply(const struct dp_panels *panels, const struct dp_row *rows, size_t count, size_t features,
                        double constant, double *wide, double *products);

/* How many rows it takes at most in one call, so that they stay in a cache. */
#define DP_PANELS_ROWS 64
static inline size_t dp_panels_room(const struct dp_panels *panels)
{
    return DP_PANELS_ROWS * panels->cols;
}

#endif
