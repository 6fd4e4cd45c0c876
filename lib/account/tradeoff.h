/* The trade-off of an attacker who looks for one person: false alarms against persons found.
 *
 * A test for one person's presence (or for which of two rows is theirs) that raises false alarms at rate a finds the person at
 * most at rate
 *   found(a) = min over ε >= 0 of e^ε a + δ(ε) and 1 − e^−ε (1 − δ(ε) − a),
 * and from even odds a guess is right with a chance of at most (1 + δ(0))/2 ([K]). Each ε holds by itself, so any list of pairs
 * (ε, δ(ε)) gives a bound; more pairs give less. [G] asks for this, and for μ, in place of one pair.
 *
 * [K] Kairouz, Oh, Viswanath, The Composition Theorem for Differential Privacy (2015).
 * [G] Gomez, Kaissis, Kulynych, Knolle, Troncoso, Calmon, Gaussian DP for Reporting Differential Privacy Guarantees (2025). */
#pragma once

#include "account/account.h"

enum { DP_TRADEOFF_PAIRS = 32 };

struct dp_tradeoff {
    size_t count;
    double epsilon[DP_TRADEOFF_PAIRS], delta[DP_TRADEOFF_PAIRS]; /* ascending in ε; the δ are rounded up */
    double mu; /* the run shows at most what one Gaussian release of multiplier 1/μ shows; infinite if that is not known */
    double but; /* except with this probability: δ(ε) <= δ_μ(ε) + but, for every ε. 0 if the run is one Gaussian, or pure */
};

/* Computes the trade-off of the charges by the best accountant. delta: `but` is at most this; 0 < delta < 1, or 0 if all charges
 * are pure. Between two pairs δ is at most their chord in e^ε, because it is convex there, and δ_μ is at least its tangents: μ
 * holds for every ε. Errors as dp_account_epsilon. */
int dp_tradeoff_make(const struct dp_charges *charges, double delta, struct dp_tradeoff *tradeoff, struct dp_err *err);

/* The trade-off if only one pair is stated, as for a budget or a sum of epsilons. mu is infinite. */
struct dp_tradeoff dp_tradeoff_of_pair(double epsilon, double delta);

/* found(false_alarms), and the part of guesses from even odds that are right. At most 1. */
double dp_tradeoff_found(const struct dp_tradeoff *tradeoff, double false_alarms);
double dp_tradeoff_even(const struct dp_tradeoff *tradeoff);
