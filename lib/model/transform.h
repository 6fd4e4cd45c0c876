/* The transform of a frame: a public matrix T behind which gradients are made. A row x, with its constant if there is one,
 * becomes z = s T x, which is a map of that row alone:
 *
 *   s = min(1, 1/‖T x‖)            as a rule: z is cut to norm 1
 *   s = min(1/‖x‖, 1/‖T x‖)        unit: the same of x/‖x‖
 *   s = 1, or 1/‖x‖                uncut: z has any norm, and what bounds a gradient has to look at it (math/grid.h does)
 *
 * The model stays in the columns of x:
 *
 *   parameters   w = u T for some u (outputs × rows of T), so a score u·z is s (w·x): it needs w, x and s alone
 *   gradients    are sums of c z, outputs × rows of T
 *   a step       of u by Δ moves w by Δ T */
#ifndef DP_MODEL_TRANSFORM_H
#define DP_MODEL_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/frame.h"

struct dp_transform {
    const double *matrix;
    size_t rows, cols; /* 0 rows: there is none, and rows are what they are */
    bool unit, uncut;
};

/* Reads it from the frame, from which it borrows. DP_E_RUN: it is no matrix of f8 with `cols` columns and one row or more. */
int dp_transform_read(struct dp_transform *transform, const struct dp_frame *frame, size_t cols, struct dp_err *err);

/* DP_E_RUN unless all entries are finite. */
int dp_transform_check(const struct dp_transform *transform, const struct dp_frame *frame, struct dp_err *err);

/* gradient += factor × w Tᵀ, outputs × rows of T: the gradient of (factor/2) ‖w‖² with respect to u. */
void dp_transform_pull(const struct dp_transform *transform, double factor, const double *w, size_t outputs, double *gradient);

/* w += move T; move: outputs × rows of T. */
void dp_transform_push(const struct dp_transform *transform, const double *move, size_t outputs, double *w);

#endif
