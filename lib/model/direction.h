/* From a sum of negative gradients to the direction against which a model moves: w − eta × direction is the next one. dp-step
 * moves along it, and who searches for a step size beforehand searches along the very same numbers.
 *
 *   gradient  = −grid × sum / (q N)                      of the data term; q and N as the record of the sum has them
 *   direction = gradient + lambda w                      of the objective
 *             = gradient/‖gradient‖₂ + lambda w          normalised; a gradient of zeros stays one
 *
 * Nothing here divides by the size of the batch: it is private. */
#ifndef DP_MODEL_DIRECTION_H
#define DP_MODEL_DIRECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/frame.h"

/* The gradient of the frame's sum, which has to be outputs × cols as the model is, into gradient[outputs × cols]; *expected is
   q N, the expected size of a batch. DP_E_RUN: no such sum, or its record does not say how rows were sampled. */
int dp_direction_gradient(const struct dp_frame *frame, size_t outputs, size_t cols, double *gradient, double *expected,
                          struct dp_err *err);

/* direction[count] from gradient[count], which may be the same array, and the weights w[count]. */
void dp_direction_along(const double *gradient, const double *w, size_t count, double lambda, bool normalise,
                        double *direction);

#endif
