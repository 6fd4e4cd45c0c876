/* The minimum of a smooth convex function by limited-memory BFGS (Nocedal, Mathematics of Computation 35, 1980; NLopt's, which
   is Lukšan's PLIS), down to a norm of the gradient that is asked for.

   A line search compares values, which near the minimum agree to the last bit: with values about 1 that is where the norm is
   about 1e-8, the least that may be expected to be reached. A search that gives up above the norm asked for begins again where
   the norm was least, and ends for good when that does not halve it. */
#ifndef DP_MATH_MINIMISE_H
#define DP_MATH_MINIMISE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dp_smooth {
    size_t size;                                                 /* entries of w */
    double (*at)(void *self, const double *w, double *gradient); /* F(w), and its gradient */
    void *self;
};

enum dp_minimum_end {
    DP_MINIMUM_REACHED,  /* norm ≤ tolerance */
    DP_MINIMUM_STUCK,    /* values no longer say where it is lower */
    DP_MINIMUM_MOST,     /* evaluations used up */
    DP_MINIMUM_INFINITE, /* the value or the gradient at the start is not finite */
};

struct dp_minimum {
    enum dp_minimum_end end;
    double value, norm; /* F, and the L2 norm of its gradient, at the point returned */
    int64_t evaluations;
};

/* Moves w, `size` entries, from where to start to the point with the least norm of the gradient that was seen. `most` ≥ 1 is of
   evaluations. However it ends, *found says what is true at w; only DP_MINIMUM_REACHED is a minimum in the sense that was
   asked for. The same bytes every time. DP_E_RUN: no memory. */
int dp_minimise(const struct dp_smooth *f, double tolerance, int64_t most, double *w, struct dp_minimum *found,
                struct dp_err *err);

#endif
