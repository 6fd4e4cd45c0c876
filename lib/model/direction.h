/* From a sum of negative gradients to the direction of a step: the next model is w − eta × direction. dp-step takes the step. A
 * line search before it uses exactly the same numbers.
 *
 *   gradient  = −grid × sum / (q N)                      of the data term; q and N from the record of the sum
 *   direction = gradient + lambda w                      of the objective
 *             = gradient/‖gradient‖₂ + lambda w          normalised; a gradient of zeros stays zero
 *
 * The formulas do not divide by the size of the batch, which is private. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* gradient[outputs × cols] from the frame's sum, which must have the model's shape, outputs × cols; *expected = q N, the
 * expected size of a batch. DP_E_RUN: no such sum, or its record does not say how rows were sampled. */
int dp_direction_gradient(const struct dp_frame *frame, size_t outputs, size_t cols, double *gradient, double *expected,
                          struct dp_err *err);

/* Makes direction[count] from gradient[count] and the weights w[count]. direction and gradient may be the same array. */
void dp_direction_along(const double *gradient, const double *w, size_t count, double lambda, bool normalise,
                        double *direction);
