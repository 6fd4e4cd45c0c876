/* The cost that three papers claim for a run; no claim is sound. Only the calculator asks. The table of account/account.h says
 * which runs each covers.
 *
 * [SCD] Alami et al., the DP-SCD paper: Rényi DP at the whole orders 2 … 129. The first query of any sample counts as on a
 * Poisson sample, and other releases are ignored. Repeated draws, selections and streams count as what they cost.
 *
 * [CL] Chen, Lee, Differentially private line search (DP-BLSGD, 2022), at orders 2 … 500, for a run whose laps depend on
 * released values. Each query is amplified by itself, by Lemma 4 (and costs no more than without sampling), although several
 * share a batch; sparse vectors cost what Theorems 2 and 3 say; and a run continues while the budget holds at any order. For
 * the errors see examples/dp-blsgd/README.md.
 *
 * Both convert by ε = min over α of Σ r(α) + ln(1/δ)/(α − 1) ([M17] Proposition 3; Proposition 1 of the papers).
 *
 * [W] Wu et al., Adaptive differentially private empirical risk minimization, 2021, for laps of one Gaussian query on a batch
 * of m of n rows: equation (6), for batches Theorem C.1. Its proof needs an ε_t of at most 1 for each lap, on the batch, and
 * nothing here asks for that. With noise of standard deviation alpha_t σ on the mean of gradients of norm G:
 *   σ² = (16 G)² B/(n ε)² Σ 1/alpha_t²,   B = ln(16 T m/(n δ)) ln(1.25/δ),
 * so that ε = 8 √(B Σ (q/z)²) with q = m/n and z relative to its sensitivity 2G, as under replace-one adjacency; under
 * null-record adjacency z is relative to G, and the factor is 16. T m/n is Σ q, if laps differ. 0 where B is negative. */
#pragma once

#include "account/account.h"

/* answer->upper at delta, 0 < delta < 1; 0 if every cost is 0. Errors as dp_event_check, and if a query has no curve. About 10
 * ms for a query of [CL]. */
int dp_claimed_scd(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err);
int dp_claimed_blsgd(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err);
int dp_claimed_adp_sgd(const struct dp_charges *charges, double delta, struct dp_answer *answer, struct dp_err *err);
