/* Shared by stages that read rows and give a sum which one person changes by at most a bound, or that give the update of each
 * row to dp-clip. */
#pragma once

#include "stages/batch_sum.h"

/* States that the frame's sum is bounded: in its record, which is returned, in the fields bound and grid, and with the frame's
 * label. The record must be open and have its release. */
struct dp_record *dp_bounded_state(struct dp_frame *frame, enum dp_adjacency adjacency, double bound);

/* Checks --clip. DP_E_USAGE: the bound is too small for a grid, or twice the bound is infinite. */
int dp_bounded_check_clip(double clip, struct dp_err *err);

/* With --follow the bound is the frame's, which was chosen from released values; `bound` is used until there is one. Sets
 * *bound. DP_E_RUN: the frame's is not from DP_BOUND_LEAST to DP_BOUND_MOST times the bound. */
#define DP_BOUND_LEAST 1e-9
#define DP_BOUND_MOST 1e9
int dp_bounded_follow(const struct dp_frame *frame, double *bound, struct dp_err *err);

/* Computes the frame's sum (outputs × the batch's sum_cols) on the grid of the bound, from coefficients that `update` has
 * clipped to the bound with dp_grid_clip, and states that it is bounded. */
int dp_bounded_sum(struct dp_batch_sum *batch_sum, struct dp_frame *frame, const struct dp_batch *batch, size_t outputs,
                   dp_batch_sum_update *update, void *context, enum dp_adjacency adjacency, double bound, struct dp_err *err);

/* Puts the coefficients, of any size, into the frame for dp-clip. */
int dp_bounded_later(struct dp_batch_sum *batch_sum, struct dp_frame *frame, const struct dp_batch *batch, size_t outputs,
                     dp_batch_sum_update *update, void *context, struct dp_err *err);

/* DP_E_RUN when the coefficients of that many rows may not fit a frame. */
int dp_bounded_later_fits(size_t rows, size_t outputs, struct dp_err *err);
