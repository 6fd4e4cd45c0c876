/* The released sum in a frame: whole numbers on a grid or, without privacy, doubles. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

struct dp_sum {
    const struct dp_array *values; /* two dimensions */
    double grid;
    const struct dp_array *columns; /* i8, the columns of the model that the sum is about; NULL: all */
    int64_t lap;
};

/* Reads the sum from the frame, and borrows from it. */
int dp_sum_read(struct dp_sum *sum, const struct dp_frame *frame, struct dp_err *err);

static inline double dp_sum_at(const struct dp_sum *sum, size_t i)
{
    const struct dp_array *a = sum->values;
    return a->dtype == DP_I64 ? sum->grid * (double)((const int64_t *)a->data)[i] : ((const double *)a->data)[i];
}

/* DP_E_RUN unless the sum has this shape. */
int dp_sum_need(const struct dp_sum *sum, uint64_t rows, uint64_t cols, struct dp_err *err);

/* w += sum, on all entries of w (rows × cols) or the entries of the columns. */
int dp_sum_add(const struct dp_sum *sum, size_t rows, size_t cols, double *w, struct dp_err *err);
