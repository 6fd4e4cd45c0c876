/* Composition of (ε, δ) guarantees, whatever the mechanisms are. A mechanism may be chosen from the outputs of those before it;
 * its (ε_t, δ_t) may not. Results are rounded up. Pure functions.
 *
 * [KOV] Kairouz, Oh, Viswanath, The Composition Theorem for Differential Privacy (2017), Theorem 3.5. */
#pragma once

#include "base/c.h"

/* `times` steps of (epsilon, delta)-DP each; epsilon >= 0, 0 <= delta < 1, times >= 0. */
struct dp_guarantee {
    double epsilon, delta;
    int64_t times;
};

/* The extended advanced composition: δ = 1 − (1 − slack) Π (1 − δ_t) is given; the function solves for slack, and
     ε = min{ Σ ε_t,  K + √(2 S ln(1/slack)),  K + √(2 S ln(e + √S/slack)) },
     K = Σ ε_t (e^{ε_t} − 1)/(e^{ε_t} + 1),   S = Σ ε_t²            ([KOV] Theorem 3.5).
   Only Σ ε_t if delta and every δ_t are 0. +infinity if delta is out of range, or does not exceed 1 − Π(1 − δ_t) by more than
   the rounding. */
double dp_compose_advanced(const struct dp_guarantee *steps, size_t n, double delta);
