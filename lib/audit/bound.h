/* The arithmetic of an audit: whether a whole-number vector is longer than a bound, exactly, and which epsilon counts of
   correct guesses prove. Pure. */
#pragma once

#include "base/c.h"

/* Σ_j (a_j − b_j)² as a whole number; the largest unsigned __int128 if the sum exceeds it. */
unsigned __int128 dp_audit_distance2(const int64_t *a, const int64_t *b, size_t count);

/* (Σ |a − b|)², for noise whose sensitivity is in L1; the largest number if the sum does not fit into 64 bits. */
unsigned __int128 dp_audit_distance1(const int64_t *a, const int64_t *b, size_t count);

/* Whether distance2 > (bound / grid)², without rounding. bound > 0; grid a power of two. */
bool dp_audit_exceeds(unsigned __int128 distance2, double bound, double grid);

/* Clopper and Pearson (1934), one-sided: a number that is below (above) p with the given confidence, after `successes` of
   `trials` draws of probability p. successes ≤ trials, trials > 0, 0 < confidence < 1. */
double dp_audit_proportion_lower(uint64_t successes, uint64_t trials, double confidence);
double dp_audit_proportion_upper(uint64_t successes, uint64_t trials, double confidence);

/* A lower bound on epsilon at this delta, with the given confidence, from a test that said "present" in `hits` of `runs` runs
   with the canary and in `alarms` of as many runs without. (ε, δ)-DP implies TPR ≤ e^ε FPR + δ and TNR ≤ e^ε FNR + δ (Kairouz,
   Oh, Viswanath 2015), so ε ≥ max(0, ln((TPR − δ)/FPR), ln((TNR − δ)/FNR)). The proportions are at the ends of their intervals,
   each of which fails with probability (1 − confidence)/2. */
double dp_audit_epsilon_lower(uint64_t hits, uint64_t alarms, uint64_t runs, double delta, double confidence);

/* ln(1 − q + q e^ratio), without overflow: the evidence for a person whose batches are coins of probability q, if a lap's sum
   has this logarithm of the likelihood ratio of "in the batch". */
double dp_audit_evidence(double q, double ratio);

/* Many canaries in one run. Each of `canaries` is in the rows with probability 1/2. The adversary guesses for `guesses` of them
   whether it is, and is right for `correct`. Lower bounds, with that confidence, on the μ of Gaussian differential privacy
   and on the epsilon at this delta. A mechanism with the trade-off curve f obeys, for p_t = Pr[t guesses are right], all j, and
   with h(x) = 1 − f(x):
       Σ_{t >= j} t p_t / m  <=  h( Σ_{t >= j−1} (r − t) p_t / m )
   (Mahloujifar, Melis, Chaudhuri, Auditing f-Differential Privacy in One Run, 2024; proof in dp-privacy(7)). A curve is
   refuted if no such p has Pr[at least `correct`] >= 1 − confidence. correct <= guesses <= canaries, guesses > 0. */
double dp_audit_guessed_mu(uint64_t correct, uint64_t guesses, uint64_t canaries, double confidence);
double dp_audit_guessed_epsilon(uint64_t correct, uint64_t guesses, uint64_t canaries, double delta, double confidence);

/* Whether `successes` in `trials` draws of probability p is far from its mean, on either side: a count at least as far on that
   side has a probability below (1 − confidence)/2. */
bool dp_audit_unlikely(uint64_t successes, uint64_t trials, double p, double confidence);
