/* Zero-concentrated differential privacy: r(α) <= ρα for every α > 1. Epsilon and ρ in nats; results are
 * rounded up; pure functions.
 *
 * [BS] Bun, Steinke, Concentrated Differential Privacy (2016).
 * [CKS] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020), Proposition 12. */
#pragma once

/* ρ = 1/(2 z²) of the Gaussian mechanism with multiplier z ([BS] Proposition 1.6); z <= 0 or NaN: +infinity.
   ρ adds up under composition. */
double dp_zcdp_gaussian(double z);

/* ρ = ε²/2 of an ε-DP mechanism ([BS] Proposition 1.4); epsilon < 0 or NaN: +infinity. */
double dp_zcdp_pure(double epsilon);

/* ρ = ε²/8 of a mechanism of bounded range ε, such as the exponential mechanism (proof: dp_rdp_exponential in priv/pure.h);
   epsilon < 0 or NaN: +infinity. */
double dp_zcdp_exponential(double epsilon);

/* The ε of (ε, delta)-DP: min over real α > 1 of ρα + dp_rdp_penalty(α, δ), at least 0; at its minimum to 1e-9. 0 < delta < 1,
   rho >= 0; else +infinity. Never above the ρ + 2√(ρ ln(1/δ)) of [BS] Proposition 1.3. */
double dp_zcdp_epsilon(double rho, double delta);
