/* A gradient that is held: it was released in one lap, and the step along it is found in later ones. All of it is public and
 * stands in the frame.
 *
 *   gradient   the released mean gradient of the data term, or the mean of several of one model, weighted by their precision;
 *              it stays until the next one
 *   precision  Σ 1/scale² of the noise on their sums; only where there was noise
 *   direction  what is searched (model/direction.h); there as long as no step has been taken along it
 *
 * Means of gradients: Lee & Kifer, 2018 (DP-AGD), GRADAVG. */
#ifndef DP_MODEL_HELD_H
#define DP_MODEL_HELD_H

#include <stdbool.h>

#include "base/err.h"
#include "wire/frame.h"

/* Whether a gradient waits for its step. */
static inline bool dp_held(const struct dp_frame *frame)
{
    return dp_frame_has(frame, DP_F_DIRECTION);
}

/* Makes the frame's sum of negative gradients the one that is held, in place of the last one. average: if that still waits, so
   that both are of the same model, their mean. The sum is gone then. DP_E_RUN: no such sum; average, and no noise to weigh by.
 */
int dp_held_take(struct dp_frame *frame, bool average, bool normalise, struct dp_err *err);

/* The choice of a search: *at is a number of *steps, the frame's. DP_E_RUN: there is none, or it is not one of them. */
int dp_held_choice(const struct dp_frame *frame, const struct dp_array **steps, size_t *at, struct dp_err *err);

/* Moves the model by −steps[choice] × direction, and says step_size. A sum in the same frame is held first: the search was
   along its direction. A step above 0 uses the direction up. DP_E_RUN: nothing is held, or the choice is not one of steps ≥ 0.
 */
int dp_held_step(struct dp_frame *frame, struct dp_err *err);

#endif
