/* Gaussian noise in shares: each of m parties draws round(N_k), N_k ~ N(0, s²) in steps of the grid, and the sum has the noise
 * Σ round(N_k). That is not the rounded Gaussian of variance m s², whose accountants are known, but close to it.
 *
 * Let an adversary have the fractional parts F_k = N_k − round(N_k) of all parties but the first, which are independent of the
 * data. Then Σ round(N_k) = round(U) for U = N_1 + Σ_{k≥2} (N_k − F_k). Given the parts, the density of U at any x is the
 * density of N(−Σ F_k, m s²) at x within a factor of e^{±τ},
 *
 *     τ = Σ_{k=1}^{m−1} −ln(1 − θ(s² k / (k + 1))) − ln(1 − θ(s²)),   θ(v) = 2 Σ_{j≥1} e^{−2 π² v j²}.
 *
 * Proof by induction over the shares; g(x; v) is the normal density of mean 0 and variance v. For k = 1, τ_1 = 0. Suppose that
 * the density of U_k at x is within e^{±τ_k} of g(t; k s²), t = x + F_2 + … + F_k, and let F = F_{k+1}. The whole number
 * N_{k+1} − F is j with a probability proportional to g(j + F; s²), so the density of U_{k+1} at x is, up to e^{±τ_k},
 *     Σ_j g(t − j; k s²) g(j + F; s²) / Σ_j g(j + F; s²),
 *     g(t − j; k s²) g(j + F; s²) = g(t + F; (k + 1) s²) g(j − c; v),  v = s² k / (k + 1),  c = (t − k F) / (k + 1).
 * By Poisson summation Σ_j g(j − c; v) = 1 + 2 Σ_{i≥1} cos(2 π i c) e^{−2 π² v i²}, which is within θ(v) of 1; the divisor is
 * within θ(s²) of 1. So τ_{k+1} = τ_k − ln(1 − θ(v)) − ln(1 − θ(s²)).
 *
 * So the cost of the Gaussian mechanism of scale √m s holds for the shares: an (ε, δ) becomes (ε + 2 τ, e^τ δ), τ once for each
 * number in all laps. dp-privacy(7) has the rest of the proof. */
#pragma once

#include "base/c.h"

/* The smallest scale of a share, in steps of the grid. From here on τ is below 2^-200 for a number and up to 2^20 shares, and
   below 2^-130 for 2^40 laps of 2^30 numbers each. */
#define DP_SHARES_LEAST 4.0

/* The scale of a share, in the unit of `scale`: scale / √(shares − colluding). Any shares − colluding shares together have at
   least `scale`. 0 <= colluding < shares. */
double dp_shares_scale(double scale, int64_t shares, int64_t colluding);
