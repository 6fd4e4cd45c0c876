/* Choosing one of several candidates by whole numbers with noise: mechanisms whose only output is the number of the candidate.
 * Draws are addressed by (key, lap, candidate), so a choice depends only on these, the scales and the whole numbers. Scales are
 * in units of the whole numbers.
 *
 * The first above a threshold (AboveThreshold, Dwork & Roth 2014, algorithm 1; Chen & Lee 2022, algorithm 1): of candidates in
 * order, the first i with
 *
 *     S_i + ν_i ≥ T_i + ν_0,
 *
 * with the same ν_0 for all of them. T is public. For whole numbers S that one person moves by at most Δ, priv/sparse_vector.h
 * has the cost: for ν_0 of scale Δ/ε₁ and ν_i of scale Δ/ε₂ (Laplace), or of standard deviations Δ √(3/(2ρ)) and Δ √(3/ρ)
 * (Gaussian). Laplace noise is discrete. Gaussian noise is correctly rounded, and Pr[round(G) ≥ t] = Pr[G ≥ t − ½]: it costs
 * the same as real noise.
 *
 * The least (report noisy minimum): the candidate with the smallest s_i + ν_i, the first of equals, ν_i discrete Laplace of
 * scale Δ/ε. Pr[ν ≥ k + 1] ≥ e^(−ε/Δ) Pr[ν ≥ k] for every k, so it is ε-differentially private if one person moves all s_i by 0
 * to Δ in the same direction, or each by up to Δ/2 in any direction. (Published code subtracts exponential noise from −s_i and
 * chooses the largest. That costs (count − 1) ε: the worst candidate wins with probability Π_j e^(−gap_j ε/Δ) / count, and each
 * gap moves by Δ.)
 *
 * The exponential mechanism (McSherry and Talwar 2007): candidate i with probability e^(−γ s_i) / Σ_j e^(−γ s_j), γ the inverse
 * of a scale, exactly. A uniform number of infinitely many bits, times their sum, is compared with the cumulative sums in MPFR,
 * with directed rounding. Each time the comparison does not decide, it takes 64 more bits. One person adds a vector to s; let
 * its largest and least entries differ by at most Δ. Then a scale of Δ/ε makes the choice ε-differentially private and of
 * bounded range ε, which costs less over many laps (dp_rdp_exponential in priv/pure.h): a candidate's loss is γ times its entry
 * plus one normalisation for all. If all scores rise or all scores fall, by up to Δ, the change is such a vector. */
#pragma once

#include "math/rng.h"

#define DP_ABOVE_TOGETHER 8 /* number of candidates for which noise is drawn at once */

struct dp_above {
    const struct dp_key *key;
    uint64_t lap;
    bool gaussian;
    double scale;   /* of ν_i */
    int64_t level;  /* ν_0 */
    uint64_t drawn; /* how many ν_i are drawn; noise has the last few */
    int64_t noise[DP_ABOVE_TOGETHER];
};

/* Draws ν_0. Returns nonzero unless both scales can be drawn: 0 < scale ≤ DP_CHOOSE_MOST, the limit of either kind of noise.
 * The key is borrowed. */
#define DP_CHOOSE_MOST 0x1p48
int dp_above_open(struct dp_above *above, const struct dp_key *key, uint64_t lap, bool gaussian, double threshold_scale,
                  double query_scale);

/* Whether candidate i is above its threshold. Ask for 0, 1, … until the answer is true. */
bool dp_above_ask(struct dp_above *above, uint64_t i, int64_t sum, int64_t threshold);

/* The candidate whose score with noise is the least. Returns nonzero, and chooses nothing, unless 0 < scale ≤ DP_CHOOSE_MOST.
   count ≥ 1. */
int dp_choose_least(const struct dp_key *key, uint64_t lap, double scale, const int64_t *score, size_t count, size_t *choice);

/* A candidate by the exponential mechanism, from the bits of draw 0 of its own purpose. Returns nonzero, and chooses nothing,
   unless 0 < scale ≤ DP_CHOOSE_MOST. count ≥ 1. */
int dp_choose_exponential(const struct dp_key *key, uint64_t lap, double scale, const int64_t *score, size_t count,
                          size_t *choice);
