/* The minimum of a smooth convex function to the last digits that its gradient has: Newton's method, whose steps conjugate
   gradients find from products with the second derivative (Hestenes and Stiefel 1952). So no matrix is made, and the number of
   entries does not matter.

   A step is halved until the value falls by a part of what the gradient promises (Armijo 1966). Near the minimum values agree to
   the last bit long before gradients do: there a step counts when it makes the gradient smaller and the value is the same but
   for rounding. */
#ifndef DP_MATH_NEWTON_H
#define DP_MATH_NEWTON_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dp_bowl {
    size_t size;                                                 /* entries of w */
    double (*at)(void *self, const double *w, double *gradient); /* F(w), and its gradient */
    void (*bend_at)(void *self, const double *w);                /* the second derivative is that at w from now on */
    void (*bend)(void *self, const double *v, double *product);  /* its product with v */
    void *self;
};

enum dp_minimum_end {
    DP_MINIMUM_REACHED,  /* norm ≤ tolerance */
    DP_MINIMUM_STUCK,    /* rounding hides where it is lower */
    DP_MINIMUM_MOST,     /* calls used up */
    DP_MINIMUM_INFINITE, /* the value or the gradient at the start is not finite */
};

struct dp_minimum {
    enum dp_minimum_end end;
    double value, norm; /* F, and the L2 norm of its gradient, at the point returned */
    int64_t evaluations;
};

/* Moves w to a point where the L2 norm of the gradient is at most `tolerance`. `most` ≥ 1 is of calls of the three functions.
   However it ends, *found says what at() gave for w as it is then; only DP_MINIMUM_REACHED is a minimum in the sense that was
   asked for. The same bytes every time. DP_E_RUN: no memory. */
int dp_newton(const struct dp_bowl *f, double tolerance, int64_t most, double *w, struct dp_minimum *found, struct dp_err *err);

#endif
