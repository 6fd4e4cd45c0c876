/* The transform of a frame: a public matrix T that rows are multiplied with before gradients are computed. A row x, with its
 * constant if there is one, becomes z = s T x, which depends only on that row:
 *
 *   s = min(1, 1/‖T x‖)            by default: z is cut to norm 1
 *   s = min(1/‖x‖, 1/‖T x‖)        unit: the same of x/‖x‖
 *   s = 1, or 1/‖x‖                uncut: z has any norm, and the bound on a gradient has to use it (math/grid.h does)
 *
 * The model stays in the columns of x:
 *
 *   parameters   w = u T for some u (outputs × rows of T), so a score u·z is s (w·x)
 *   gradients    are sums of c z, outputs × rows of T
 *   a step       of u by Δ moves w by Δ T
 *
 * With a row for the constant, T has the row (0, …, 0, DP_TRANSFORM_CONSTANT / V) behind the others, V the value of the last
 * column: the last entry of z is DP_TRANSFORM_CONSTANT for every row, and the loss has at most half of the curvature of its
 * slope there. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

#define DP_TRANSFORM_CONSTANT M_SQRT1_2

struct dp_transform {
    const double *matrix;
    size_t rows, cols; /* 0 rows: no transform */
    bool unit, uncut;
};

/* Reads the transform from the frame, and borrows from it. DP_E_RUN: it is not a matrix of f8 with `cols` columns and at least
 * one row. */
int dp_transform_read(struct dp_transform *transform, const struct dp_frame *frame, size_t cols, struct dp_err *err);

/* DP_E_RUN unless all entries are finite. */
int dp_transform_check(const struct dp_transform *transform, const struct dp_frame *frame, struct dp_err *err);

/* Whether the last row of T is the row for the constant. */
bool dp_transform_has_constant(const struct dp_transform *transform);

/* gradient += factor × w Tᵀ, outputs × rows of T: the gradient of (factor/2) ‖w‖² with respect to u. */
void dp_transform_pull(const struct dp_transform *transform, double factor, const double *w, size_t outputs, double *gradient);

/* w += move T; move: outputs × rows of T. */
void dp_transform_push(const struct dp_transform *transform, const double *move, size_t outputs, double *w);
