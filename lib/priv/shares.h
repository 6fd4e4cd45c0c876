/* Gaussian noise in shares: each of m parties draws round(N_k), N_k ~ N(0, s²) in steps of the grid, and the sum has the noise
 * Σ round(N_k). That is not the rounded Gaussian of variance m s², whose accountants are known, but close to it.
 *
 * Let an adversary have the fractional parts F_k = N_k − round(N_k) of all parties but the first, which are independent of the
 * data. Then Σ round(N_k) = round(U) for U = N_1 + Σ_{k≥2} (N_k − F_k). Given the parts, the density of U at any x is the
 * density of N(−Σ F_k, m s²) at x within a factor of e^{±τ},
 *
 *     τ = Σ_{k=1}^{m−1} −ln(1 − θ(s² k / (k + 1))) − ln(1 − θ(s²)),   θ(v) = 2 Σ_{j≥1} e^{−2 π² v j²}.
 *
 * So the cost of the Gaussian mechanism of scale √m s holds for the shares: an (ε, δ) becomes (ε + 2 τ, e^τ δ), τ once for each
 * number in all laps. dp-privacy(7) has the proof. */
#ifndef DP_PRIV_SHARES_H
#define DP_PRIV_SHARES_H

#include <stdint.h>

/* The smallest scale of a share, in steps of the grid. From here on τ is below 2^-200 for a number and up to 2^20 shares, and
   below 2^-130 for 2^40 laps of 2^30 numbers each. */
#define DP_SHARES_LEAST 4.0

/* The scale of a share, in the unit of `scale`: scale / √(shares − colluding). Any shares − colluding shares together have at
   least `scale`. 0 <= colluding < shares. */
double dp_shares_scale(double scale, int64_t shares, int64_t colluding);

#endif
