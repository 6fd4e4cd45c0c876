/* A held gradient: it was released in one lap, and later laps search for the step along it. All of it is public and in the
 * frame.
 *
 *   gradient   the released mean gradient of the data term, or the mean of several of one model, weighted by their precision;
 *              it stays until the next gradient
 *   precision  1/scale² of the noise on its sum: of a weighted mean, the sum over all of its gradients; only if there was noise
 *   direction  the direction of the search (model/direction.h); present until a step along it has been taken
 *
 * Means of gradients: Lee & Kifer, 2018 (DP-AGD), GRADAVG. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* Whether a gradient waits for its step. */
static inline bool dp_held(const struct dp_frame *frame)
{
    return dp_frame_has(frame, DP_F_DIRECTION);
}

/* Replaces the held gradient by the frame's sum of negative gradients, and removes the sum. average: if the old gradient still
 * waits for its step, both are of the same model, and their weighted mean is held. DP_E_RUN: there is no such sum; or average
 * is set, and there is no noise to compute the weights from. */
int dp_held_take(struct dp_frame *frame, bool average, bool normalise, struct dp_err *err);

/* Replaces the held gradient by (gradient + other)/2, and its precision and direction to match. other has `count` numbers and
 * noise of the given precision, and is of the same model. DP_E_RUN: the shape is another one, the direction is normalised, or
 * the held gradient is a mean already. */
int dp_held_halve(struct dp_frame *frame, const double *other, size_t count, double precision, struct dp_err *err);

/* The choice of a search: *at is an index into *steps, which are borrowed from the frame. DP_E_RUN: there is no choice, or it
 * is not an index of a step. */
int dp_held_choice(const struct dp_frame *frame, const struct dp_array **steps, size_t *at, struct dp_err *err);

/* Moves the model by −steps[choice] × direction, and sets step_size. If the frame has a sum as well, it is held first: the
 * search was along its direction. After a step above 0 the direction is removed. DP_E_RUN: nothing is held, or the chosen step
 * is not one of the steps, or not ≥ 0. */
int dp_held_step(struct dp_frame *frame, struct dp_err *err);
