/* Losses of rows along a line: at the models w − eta × direction, for any number of step sizes eta, from the rows' scores u =
 * x·w and v = x·direction, which are computed once.
 *
 * A row has one loss l for all its outputs: the sum of the losses of its outputs at their targets (dp_loss_target), or
 * softmax's. It is clipped to [0, bound]. Poisson's loss may be negative, so its least value is subtracted: e^u − y u − y + y
 * ln y. A loss that is not a number counts as nothing, for instance if the label is outside the loss's domain. An infinite loss
 * is clipped as any other.
 *
 * The logistic loss ln(1 + e^−m) is computed here to a relative error of DP_LINE_ERROR for |m| ≤ 700, and as at e^−700 beyond;
 * the others as in math/loss.h. All have the same bits for any width of the CPU's vectors and any number of rows computed at
 * once. (Privacy does not depend on any of this: the added number is clipped, and whole.) */
#pragma once

#include "math/loss.h"

struct dp_line {
    enum dp_loss loss;
    double width;
    size_t classes; /* of the labels; 0 for a regression */
    size_t outputs; /* scores of a row */
};

#define DP_LINE_ERROR 0x1p-44
#define DP_LINE_ROWS 256 /* of a block */

/* Doubles that a block of rows takes. */
size_t dp_line_block_size(const struct dp_line *line);

/* Puts row i of a block: its label and its scores with w and with the direction, `outputs` each. */
void dp_line_put(const struct dp_line *line, double *block, size_t i, double label, const double *u, const double *v);

/* loss_i = min(max(l_i, 0), bound) at step size eta, of rows 0 … count − 1 of a block; NAN stays NAN. loss: DP_LINE_ROWS
   entries. */
void dp_line_losses(const struct dp_line *line, const double *block, size_t count, double eta, double bound, double *loss);

/* Σ_i trunc((a_i − b_i) × inverse_grid) of losses as above, count ≤ DP_LINE_ROWS of them; a difference that is NAN adds
   nothing. With losses in [0, bound] and inverse_grid = 1 / dp_grid_for(bound) a row adds at most bound / grid, in either
   direction. */
int64_t dp_line_fall(const double *a, const double *b, size_t count, double inverse_grid);
