/* Adapts a training run to released values: the noise of the next gradient, the first step of the next search, and the clip
 * bound of the next gradient. These functions only compute numbers.
 *
 * The noise multiplier z of a Gaussian costs rho = 1/(2 z²) of concentrated differential privacy. 1/z² is called precision
 * here: it adds up over gradients that are averaged, as rho adds up over releases.
 *
 * Papers: Chen & Lee, 2022 (DP-BLSGD): growth by angles, the first step of a search; Lee & Kifer, 2018 (DP-AGD): growth after a
 * failure, and the gradient that adds the missing precision. */
#pragma once

#include "base/c.h"

/* The multiplier for `times` as much rho: z/√times, at least `least`. */
double dp_pace_multiplier(double z, double times, double least);

/* Judges two gradients of the same model, after a search along the first of them has failed (Chen & Lee, algorithm 3). The
 * angle between them and the moving average of earlier angles are in radians. NOISY: their product is negative, or the angle is
 * above most × average: gradients need a larger budget. ALIKE: the angle is below least × average: searches need it. */
enum dp_pace_verdict { DP_PACE_BETWEEN, DP_PACE_NOISY, DP_PACE_ALIKE };
enum dp_pace_verdict dp_pace_compare(double angle, double average, double most, double least);

/* The multiplier of a further gradient that raises the precision from `held` to the precision of z: 1/√(1/z² − held), or z if
 * nothing is missing. The mean of both gradients, weighted by precision, has the noise of one gradient with multiplier z. */
double dp_pace_increment(double z, double held);

/* The first step of a search. After every `every` searches it becomes `widen` times their largest step; it stays the same if
   none of them found a step, or, with `narrow`, if it would grow. */
struct dp_pace_window {
    int64_t every;
    double widen;
    bool narrow;
    double first;   /* of the next search */
    double largest; /* since the last change */
    int64_t searches;
};

/* Records a search that ended with this step, 0 for none. */
void dp_pace_searched(struct dp_pace_window *window, double step);
