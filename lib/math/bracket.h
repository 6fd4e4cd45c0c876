/* Finds where a falling function crosses zero, from a bracket. */
#pragma once

/* Given f(low) > 0 >= f(high), narrows the bracket to `width` and returns its upper end, where f was found to be <= 0: the
 * answer errs on the side of more privacy. f must be finite in the bracket. Chandrupatla's method (1997): inverse quadratic
 * steps, and bisection where they are not safe. GSL's solvers are not used because they allocate, and this runs once per lap in
 * the gate. */
double dp_bracket_falling(double (*f)(double x, void *context), void *context, double low, double high, double width);

/* The smallest x >= 0 with f(x) <= 0, of a falling f, on a grid of relative spacing 2^-33; f is <= 0 at the result. Infinite if
 * no x up to `largest` will do. At most about a thousand calls of f. */
double dp_bracket_smallest(double (*f)(double x, void *context), void *context, double largest);
