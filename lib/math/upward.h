/* Sums and results that are rounded upward, for the bounds of lib/priv. */
#pragma once

#include <float.h>

#include "base/c.h"

/* Each logarithm is good to two units in the last place. This bounds the error of a sum of logarithms, relative to the sum of
   their absolute values. It is added to every logarithm before exp, so that sums err upward. */
#define DP_SLACK (4 * DBL_EPSILON)

/* Raises a non-negative result by more than the few roundings that made it. */
static inline double dp_upward(double value)
{
    return value * (1 + 4 * DBL_EPSILON);
}

/* A running sum of exponentials, scaled by the largest so far. Starts as {.largest = -INFINITY}. */
struct dp_log_sum {
    double largest, sum;
};

static inline void dp_log_sum_add(struct dp_log_sum *s, double term)
{
    if (term > s->largest) {
        s->sum = s->sum * exp(s->largest - term) + 1;
        s->largest = term;
    } else if (term > s->largest - 50) {
        s->sum += exp(term - s->largest);
    } else if (term > -INFINITY) {
        s->sum += 2e-22; /* e^-50, so that nothing is dropped */
    }
}

/* An upper bound on ln of the sum of `terms` terms; -infinity for none. */
static inline double dp_log_sum_value(const struct dp_log_sum *s, double terms)
{
    return s->sum > 0 ? s->largest + log(s->sum) + DBL_EPSILON * (2 * terms + 16 + fabs(s->largest) + fabs(log(s->sum)))
                      : -INFINITY;
}

/* ln(1 + e^x), raised. */
static inline double dp_log_one_plus_exp(double x)
{
    return dp_upward(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
}

/* ln(e^x − 1) for x > 0, to a few units in the last place of the larger of 1 and itself. */
static inline double dp_log_expm1(double x)
{
    return x > 40 ? x : log(expm1(x));
}

/* ln A of a mechanism at whole orders. Keeps the last two, because many orders between them follow. A(1) is 1. Starts as {of,
 * mechanism}. */
struct dp_log_a {
    double (*of)(const void *mechanism, int order);
    const void *mechanism;
    int order[2];
    double kept[2];
};

static inline double dp_log_a_whole(struct dp_log_a *a, int order)
{
    int slot = order & 1;
    if (order == 1)
        return 0;
    if (a->order[slot] != order) {
        a->kept[slot] = a->of(a->mechanism, order);
        a->order[slot] = order;
    }
    return a->kept[slot];
}

/* A bound at any order, from its neighbours: ln A is convex. */
static inline double dp_log_a_chord(struct dp_log_a *a, double order)
{
    int below = (int)floor(order);
    double share = order - below, at = dp_log_a_whole(a, below);
    return share > 0 ? dp_upward((1 - share) * at + share * dp_log_a_whole(a, below + 1)) : at;
}
