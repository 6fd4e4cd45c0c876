/* Products of many rows with one matrix: t_i = T x_i. Each entry of t_i is the sum over the columns in their order: the same
   bits for any width of the CPU's vectors and for any other rows in the same call. Columns that are zero add nothing, so a row
   gives the same bits dense and sparse. */
#pragma once

#include "math/vec.h"

/* The matrix in the order of the loops: PANEL of its rows at a time, column by column. Starts zeroed. */
struct dp_panels {
    size_t rows, cols; /* of the matrix */
    double *packed;
};

/* Copies matrix[rows × cols], all finite. An earlier copy is freed. */
void dp_panels_open(struct dp_panels *panels, const double *matrix, size_t rows, size_t cols);
void dp_panels_close(struct dp_panels *panels);

/* products[count × panels->rows] = T x_i of `count` rows, all dense or all sparse. If the matrix has one column more than the
   rows have `features`, each row ends with `constant`. wide: dp_panels_room() numbers of workspace, for dense rows. */
void dp_panels_multiply(const struct dp_panels *panels, const struct dp_row *rows, size_t count, size_t features,
                        double constant, double *wide, double *products);

/* The most rows of one call, so that they stay in a cache. */
#define DP_PANELS_ROWS 128
static inline size_t dp_panels_room(const struct dp_panels *panels)
{
    return (DP_PANELS_ROWS + 18) * panels->cols; /* 4 rows of floats, and 32 lists of columns */
}
