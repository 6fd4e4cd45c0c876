/* The minimum of a smooth convex function, as exact as its gradient: Newton's method, whose steps conjugate gradients find from
   products with the second derivative (Hestenes and Stiefel 1952). So no matrix is made, and w may have many entries.

   A step is halved until the value falls by a part of the decrease that the gradient predicts (Armijo 1966). Near the minimum
   values become equal to the last bit long before gradients do: there a step is accepted if it makes the gradient smaller and
   the value differs only by rounding. */
#pragma once

#include "base/err.h"

struct dp_bowl {
    size_t size;                                                 /* entries of w */
    double (*at)(void *self, const double *w, double *gradient); /* F(w), and its gradient */
    void (*bend_at)(void *self, const double *w);                /* sets the w of the second derivative */
    void (*bend)(void *self, const double *v, double *product);  /* the product of the second derivative with v */
    void *self;
};

enum dp_minimum_end {
    DP_MINIMUM_REACHED,  /* norm ≤ tolerance */
    DP_MINIMUM_STUCK,    /* rounding hides where F is lower */
    DP_MINIMUM_MOST,     /* calls used up */
    DP_MINIMUM_INFINITE, /* the value or the gradient at the start is not finite */
};

struct dp_minimum {
    enum dp_minimum_end end;
    double value, norm; /* F, and the L2 norm of its gradient, at the point returned */
    int64_t evaluations;
};

/* Moves w to a point where the L2 norm of the gradient is at most `tolerance`. The three functions are called at most `most` ≥
   1 times in all. *found always has the values of at() for the final w, which is within the tolerance only for
   DP_MINIMUM_REACHED. The same bytes every time. */
void dp_newton(const struct dp_bowl *f, double tolerance, int64_t most, double *w, struct dp_minimum *found);
