/* The minimum of a smooth, strongly convex function to the last digits that its gradient has: Newton's method, whose steps
   conjugate gradients find from products with the second derivative (Hestenes and Stiefel 1952), so that no matrix is made and
   the number of entries does not matter. A step counts when it makes the gradient smaller; else it is halved. Values are not
   looked at: near the minimum they agree to the last bit long before gradients do. From far away it may not get there. */
#ifndef DP_MATH_NEWTON_H
#define DP_MATH_NEWTON_H

#include "math/minimise.h"

struct dp_bowl {
    size_t size;                                                /* entries of w */
    void (*slope)(void *self, const double *w, double *slope);  /* the gradient at w */
    void (*bend_at)(void *self, const double *w);               /* the second derivative is that at w from now on */
    void (*bend)(void *self, const double *v, double *product); /* its product with v */
    void *self;
};

/* Moves w to a point where the L2 norm of the gradient is at most `tolerance`. `most` ≥ 1 is of calls. *found says how that
 * ended; found->value is not set; found->norm is what slope() gave for w as it is then. The same bytes every time. DP_E_RUN: no
 * memory. */
int dp_newton(const struct dp_bowl *f, double tolerance, int64_t most, double *w, struct dp_minimum *found, struct dp_err *err);

#endif
