/* Adapts a training run to released values: the noise of the next gradient, the first step of the next search, and the clip
 * bound of the next gradient. These functions only compute numbers.
 *
 * The noise multiplier z of a Gaussian costs rho = 1/(2 z²) of concentrated differential privacy. 1/z² is called precision
 * here: it adds up over gradients that are averaged, as rho adds up over releases.
 *
 * Papers: Chen & Lee, 2022 (DP-BLSGD): growth and shrinkage of rho, the first step of a search; Lee & Kifer, 2018 (DP-AGD):
 * growth after a failure, and the gradient that adds the missing precision. */
#pragma once

#include "base/c.h"

/* The multiplier for `times` as much rho: z/√times, limited to [least, most] (0 < least ≤ most). */
double dp_pace_multiplier(double z, double times, double least, double most);

/* The multiplier of a further gradient that raises the precision from `held` to the precision of z: 1/√(1/z² − held), or z if
 * nothing is missing. The mean of both gradients, weighted by precision, has the noise of one gradient with multiplier z. */
double dp_pace_increment(double z, double held);

/* The first step of a search. After every `every` searches it becomes `widen` times their largest step; it stays the same if
   none of them found a step. */
struct dp_pace_window {
    int64_t every;
    double widen;
    double first;   /* of the next search */
    double largest; /* since the last change */
    int64_t searches;
};

/* Records a search that ended with this step, 0 for none. */
void dp_pace_searched(struct dp_pace_window *window, double step);

/* The clip bound after `steps` steps: bound/(1 + decay steps), decay ≥ 0. */
double dp_pace_bound(double bound, double decay, int64_t steps);
