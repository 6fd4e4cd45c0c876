/* Staircase noise on one number: Geng and Viswanath, The Optimal Noise-Adding Mechanism in Differential Privacy (2014). With
 * the sensitivity for unit, ε = 1/multiplier and b = e^{−ε}, the density is c b^k on the steps k + [0, riser) and c b^{k+1} on
 * k + [riser, 1), k >= 0, the same on the left of 0, c = (1 − b)/(2 (riser + b (1 − riser))), 0 < riser < 1.
 *
 * A shift by 1 changes the density by the factor e^ε, 1 or e^{−ε}. The factor e^{−ε} has a probability of m = 1/2 + c
 * min(riser, 1 − riser), the first of b m, so that E_Q[(P/Q)^α] = m e^{(α−1)ε} + s + m e^{−αε}, s = 1 − m − b m. */
#pragma once

#include <math.h>

#include "priv/pure.h"
#include "query/query.h"

static inline double dp_staircase_epsilon(const struct dp_query *query)
{
    return (1 + 0x1p-51) / query->multiplier;
}

/* out[i] = r(orders[i]), rounded up; a riser that is not in (0, 1) is invalid, and costs as much as any mechanism of this
   epsilon. */
static inline void dp_staircase_curve(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    double epsilon = dp_staircase_epsilon(query), b = exp(-epsilon), riser = query->riser;
    double c = (1 - b) / (2 * (riser + b * (1 - riser))), m = 0.5 + c * fmin(riser, 1 - riser), s = fmax(0, 1 - m - b * m);
    dp_rdp_pure(epsilon, orders, n, out);
    for (size_t i = 0; i < n && riser < 1; i++) {
        double rise = (orders[i] - 1) * epsilon, rest = s * exp(-rise) + m * exp(-rise - orders[i] * epsilon);
        out[i] = fmin(out[i], (rise + log(m + rest)) / (orders[i] - 1) * (1 + 1e-12) + 1e-12 / (orders[i] - 1));
    }
}
