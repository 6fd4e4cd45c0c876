/* Private selection: a mechanism is tried a random number K of times, and the best result is released. The cost of the release,
 * and the draw of K.
 *
 * A trial is any mechanism Q whose result has a score. The result with the highest score is released, the first if scores are
 * equal. The law of K is fixed beforehand, and K stays secret. Let r(α) bound the Rényi divergence of one trial, result and
 * score, between neighbours in both directions. With f(x) = E x^K and q the probability of a result below a given one, the
 * given result has density f'(q) relative to the density of one trial (a uniform number next to each score separates equal
 * scores: trials are exchangeable, so the first of equals has the law of any of them). With q' on the neighbour, p = 1 − q and
 * p' = 1 − q',
 *     E' (A/A')^α = f(0) + ∫ (Q/Q')^α f'(q)^α f'(q')^(1−α) dQ',
 * so that a bound on f'(q)^α f'(q')^(1−α) bounds the cost ([PS], Lemma 7, where f(0) = 0).
 *
 * Truncated negative binomial, Pr[K = k] ∝ (1−γ)^k Γ(k+η)/k!, k ≥ 1, η > −1, 0 < γ < 1: f' = E K (γ/a)^(1+η), a = γ + (1−γ) p,
 * and a is the probability of an event that a coin and one trial decide. So, for any order b ≥ 1, a' ≤ (a e^r(b))^(1−1/b), and
 * because γ ≤ a ≤ 1
 *     r'(α) = r(α) + (1+η) min_b [(1 − 1/b) r(b) + ln(1/γ)/b] + ln(E K)/(α−1)                       ([PS] Theorem 2).
 *
 * Poisson of mean μ: f' = μ e^(−μp). If one trial is (ε, δ)-DP for ε = ln(1 + 1/(α−1)), then (α−1) p' ≤ α p + (α−1) δ, hence
 *     r'(α) = ln[e^(−μ) + μ e^((α−1)(r(α) + μδ))]/(α−1).
 * [PS] Theorem 6 has no e^(−μ), the probability that there is no trial and nothing is released. Without this term the bound is
 * below zero for a μ below 1 and a Q that does nothing.
 *
 * [PS] Papernot and Steinke, Hyperparameter Tuning with Renyi Differential Privacy (2022). */
#pragma once

#include "base/err.h"
#include "math/rng.h"

enum dp_trials_law { DP_TRIALS_POISSON, DP_TRIALS_NEGATIVE_BINOMIAL, DP_TRIALS_LAWS };

struct dp_trials {
    enum dp_trials_law law;
    double mean;       /* Poisson: μ; else 0 */
    double eta, gamma; /* truncated negative binomial: η, 1 is geometric and 0 logarithmic, and γ; else 0 */
};

#define DP_TRIALS_MOST_MEAN 1e5

/* "poisson:MEAN", "geometric:GAMMA", "logarithmic:GAMMA" or "negative-binomial:ETA:GAMMA". DP_E_USAGE: another text, or numbers
   that dp_trials_check refuses. */
int dp_trials_parse(struct dp_trials *trials, const char *text, struct dp_err *err);

/* DP_E_RUN: an unknown law, or numbers out of range: 0 < μ, −1 < η ≤ 1000, 0 < γ < 1, and a mean of at most
   DP_TRIALS_MOST_MEAN. */
int dp_trials_check(const struct dp_trials *trials, struct dp_err *err);

bool dp_trials_same(const struct dp_trials *a, const struct dp_trials *b);

/* E K, an upper bound. */
double dp_trials_mean(const struct dp_trials *trials);

/* K, exactly of its law: the smallest k with V ≤ Pr[K ≤ k]. V is the uniform number of infinitely many bits of draw 0 of
   (DP_DRAW_TRIALS, lap 0), compared in MPFR with directed rounding. Depends only on the key. */
int64_t dp_trials_draw(const struct dp_trials *trials, const struct dp_key *key);

/* out[i] = r'(orders[i]), an upper bound, for n orders > 1. one[i] bounds r(orders[i]) of one trial; base bounds its r at each
   of dp_rdp_orders. Both may be infinite. */
void dp_rdp_trials(const struct dp_trials *trials, const double *base, const double *orders, const double *one, size_t n,
                   double *out);
