/* Curves of a two-class model on rows whose classes are known: the ROC curve and calibration. y: 1 for the class in question,
 * else 0. */
#pragma once

#include "base/err.h"

struct dp_curve_point {
    double x, y;
    size_t rows; /* calibration: the rows of this group */
};

/* The ROC curve: x is the part of the other rows, y the part of the rows of the class, with a score of at least some threshold.
 * The points are the corners of the curve, from (0, 0) to (1, 1); if there are more corners than `most`, corners are left out
 * until x + y, which goes from 0 to 2, has grown by 2/most. points: room for most + 2. *count: how many. Rows with equal scores
 * are one corner. DP_E_RUN: one class has no row. */
int dp_curve_roc(const double *score, const double *y, size_t rows, size_t most, struct dp_curve_point *points, size_t *count,
                 struct dp_err *err);

/* Calibration: rows in groups of equal width of their probability, [k/groups, (k+1)/groups). A group's x is its mean
 * probability, y its part of rows of the class; groups without a row are left out. points: room for groups. Returns how many. */
size_t dp_curve_calibration(const double *probability, const double *y, size_t rows, size_t groups,
                            struct dp_curve_point *points);

/* Expected calibration error: the mean over the rows of |x − y| of their group. */
double dp_curve_calibration_error(const double *probability, const double *y, size_t rows);
#define DP_CURVE_GROUPS 10
