/* The dual of a linear model with an L2 penalty, and its update by stochastic coordinate descent.
 *
 * Primal:  P(w) = (1/N) Σ_i l(y_i, x_i·w) + (lambda/2) ‖w‖²
 * Dual:    with w = v/(lambda N), v = Σ_i alpha_i x_i:
 *          D(alpha) = −(1/N) Σ_i l*(y_i, −alpha_i) − ‖v‖²/(2 lambda N²),   P(w) ≥ D(alpha)
 *
 * Only for the losses of DP_LOSSES_WITH_DUAL; dual.c has a row for each. */
#pragma once

#include "math/loss.h"

/* l*(y, −alpha); INFINITY outside its domain. */
double dp_loss_conjugate(enum dp_loss loss, double width, double y, double alpha);

#define DP_LOGISTIC_MARGIN 1e-3
/* The zeta that minimises N times the subproblem of DP-SCD (eq. 8), without its constant,
 *   G(zeta) = l*(y, −(alpha + zeta)) + u zeta + (s/2) zeta²,   u = x·v/(lambda N),  s = sigma' ‖x‖²/(lambda N) ≥ 0:
 * in closed form; for the logistic loss by `newton` steps (newton = 1 is the paper's; more converge to the minimiser, each kept
 * inside the domain). They begin at the point nearest to alpha where b = y alpha is DP_LOGISTIC_MARGIN away from 0 and 1,
 * because the dual has no derivative there. */
double dp_dual_update(enum dp_loss loss, double width, double y, double alpha, double u, double s, int newton);

/* The same bits for `count` rows: zeta[i] from y[i], alpha[i], u[i] and s[i]. zeta must not overlap them. */
void dp_dual_updates(enum dp_loss loss, double width, const double *y, const double *alpha, const double *u, const double *s,
                     int newton, double *zeta, size_t count);

/* dG/dzeta at zeta = 0, for alpha within the domain; infinite at the two ends of the logistic loss's domain. */
double dp_dual_slope(enum dp_loss loss, double width, double y, double alpha, double u);

/* Where l*(y, −alpha) is finite: low ≤ alpha ≤ high. */
void dp_dual_range(enum dp_loss loss, double width, double y, double *low, double *high);
