/* Losses of a linear model, and the dual update of stochastic coordinate descent for those that have one here.
 *
 * Primal:  P(w) = (1/N) Σ_i l(y_i, x_i·w) + (lambda/2) ‖w‖²
 * Dual:    with w = v/(lambda N), v = Σ_i alpha_i x_i:
 *          D(alpha) = −(1/N) Σ_i l*(y_i, −alpha_i) − ‖v‖²/(2 lambda N²),   P(w) ≥ D(alpha)
 *
 *   squared       (u − y)²/2                       l*(−a) = a²/2 − a y
 *   hinge         max(0, 1 − y u)                  l*(−a) = −b,               b = y a in [0, 1]
 *   logistic      ln(1 + e^{−y u})                 l*(−a) = b ln b + (1−b) ln(1−b), b in [0, 1]
 *   smooth-hinge  hinge smoothed over width g      l*(−a) = −b + g b²/2,      b in [0, 1]
 *   huber         squared up to |u − y| = g, linear beyond   l*(−a) = a²/2 − a y, |a| ≤ g
 *
 * For gradients only:
 *   huberised-hinge  (1 + g − y u)²/(4 g) where |1 − y u| ≤ g, hinge elsewhere   (DP-BLSGD's, with g = 1/2)
 *   poisson          e^u − y u, y ≥ 0: regression of counts with a logarithmic link, without the constant ln y!
 *   softmax          ln Σ_k e^{u_k} − u_y over the outputs of a row: dp_softmax_value
 *
 * y is −1 or +1 for hinge, logistic, smooth-hinge and huberised-hinge, any real otherwise. */
#ifndef DP_MATH_LOSS_H
#define DP_MATH_LOSS_H

#include <stdbool.h>
#include <stddef.h>

enum dp_loss {
    DP_LOSS_SQUARED,
    DP_LOSS_HINGE,
    DP_LOSS_LOGISTIC,
    DP_LOSS_SMOOTH_HINGE,
    DP_LOSS_HUBER,
    DP_LOSS_HUBERISED_HINGE,
    DP_LOSS_POISSON,
    DP_LOSS_SOFTMAX,
    DP_LOSS_COUNT
};

/* In the order of enum dp_loss: the names of losses with a dual, and of all losses. */
#define DP_LOSS_DUAL_CHOICES "squared|hinge|logistic|smooth-hinge|huber"
#define DP_LOSS_CHOICES DP_LOSS_DUAL_CHOICES "|huberised-hinge|poisson|softmax"

extern const char *const dp_loss_names[DP_LOSS_COUNT];

/* 0 and *loss, or -1 for an unknown name. */
int dp_loss_parse(const char *name, enum dp_loss *loss);

/* Whether labels are classes: y is −1 or +1, for softmax the class itself. */
bool dp_loss_is_classification(enum dp_loss loss);

/* The target y of output k for a label: ±1 for classes (one-vs-rest with more than one output), the label itself for a
   regression (classes = 0). */
static inline double dp_loss_target(double label, size_t classes, size_t outputs, size_t k)
{
    if (classes == 0)
        return label;
    double positive = outputs == 1 ? 1.0 : (double)k;
    return label == positive ? 1.0 : -1.0;
}

/* Outputs of a model for labels of that many classes: one for two classes and for a regression. */
static inline size_t dp_loss_outputs(size_t classes)
{
    return classes > 2 ? classes : 1;
}

/* The default width g: 1/2 for huberised-hinge, else 1. */
double dp_loss_default_width(enum dp_loss loss);

/* Whether a label is in the domain of l. */
bool dp_loss_takes(enum dp_loss loss, double y);

/* l(y, u). width is used by smooth-hinge, huber and huberised-hinge only. NAN for softmax. */
double dp_loss_value(enum dp_loss loss, double width, double y, double u);

/* dl/du at (y, u); at a kink, a subgradient. */
double dp_loss_slope(enum dp_loss loss, double width, double y, double u);

/* d²l/du² at (y, u); where the slope has a kink, one of the two values; NAN for hinge and softmax. */
double dp_loss_curvature(enum dp_loss loss, double width, double y, double u);

/* The label that a score u predicts: e^u for poisson, else u. */
double dp_loss_prediction(enum dp_loss loss, double u);

/* ln Σ_k e^{u_k} − u_class, at least 0 and finite for finite u; class < outputs. */
double dp_softmax_value(const double *u, size_t outputs, size_t class);

/* slope_k = e^{u_k}/Σ e^{u_j} − [k = class]: the derivative of dp_softmax_value. slope may be u. */
void dp_softmax_slope(const double *u, size_t outputs, size_t class, double *slope);

/* The loss l of a row with all its outputs u: the sum over the outputs of the loss at dp_loss_target, or softmax's. Its
   derivatives are dp_loss_row_slope. */
double dp_loss_row_value(enum dp_loss loss, double width, double label, size_t classes, const double *u, size_t outputs);

/* slope_k = dl/du_k of a row with all its outputs u: of the loss of each output at dp_loss_target, or of softmax's. A label of
   a classification is the class, and must be a class. slope may be u. */
void dp_loss_row_slope(enum dp_loss loss, double width, double label, size_t classes, const double *u, size_t outputs,
                       double *slope);

/* Bounds on a row's gradient. With the slopes s(u) of dp_loss_row_slope, a row x and W, u = W x, the gradient of the row's loss
 * with respect to W is s xᵀ. So ‖gradient‖_F = ‖s‖ ‖x‖, and for two models ‖s(Wx) − s(W'x)‖ ‖x‖ ≤ h ‖W − W'‖_F ‖x‖², where h is
 * a Lipschitz constant of s. Losses of several outputs are separable, except softmax: their ‖s‖ is at most √outputs times the
 * ‖s‖ of one output, and their h is the same as for one output.
 *
 *                     largest ‖s‖ of one output      h = largest |dl²/du²| of one output
 *   logistic          1 (1/(1 + e^{yu}) < 1)         1/4 (p (1 − p), p = 1/(1 + e^{yu}))
 *   smooth-hinge      1 (clamped to [0, 1])          1/g (the slope of the clamped line)
 *   huberised-hinge   1 (the same)                   1/(2g)
 *   huber             g (clamped to [−g, g])         1
 *   hinge             1                              infinite: it jumps
 *   squared           infinite                       1
 *   poisson           infinite                       infinite
 *   softmax           √2 of all outputs: s = p − e_y with p ≥ 0, Σ p = 1, so ‖s‖² ≤ (1 − p_y)² + (Σ_{k≠y} p_k)² = 2 (1 − p_y)²
 *                                                    1/2: its Hessian is H = diag(p) − p pᵀ. For a unit vector v, vᵀHv is the
 *                                                    variance of a number that is v_k with probability p_k, which is at
 *                                                    most (max v − min v)²/4 ≤ 2/4, because max² + min² ≤ 1 */

/* The largest ‖s‖ of a row with that many outputs; INFINITY if it is unbounded. */
double dp_loss_lipschitz(enum dp_loss loss, double width, size_t outputs);

/* h; INFINITY if it is unbounded. */
double dp_loss_smoothness(enum dp_loss loss, double width);

/* A bound on the norm of the error of the slopes that dp_loss_row_slope computes from given scores, for losses with a finite
 * dp_loss_lipschitz. exp() is assumed to be good to two units in the last place; u = 2^-53, each other operation has a relative
 * error of at most u, and a clamp makes no error larger.
 *
 *   logistic          1/(1 + e^{yu}): the exponential 4u, the sum u, the quotient u, of a number below 1: 8 u √outputs
 *   huber             u − y, clamped: if it is not clamped, it is below g (1 + u): 2 u g √outputs
 *   smooth-hinge      two roundings of a number that is cut to [0, 1]: 4 u √outputs
 *   huberised-hinge   1 + g is rounded too, by u (1 + g), and divided by 2g: (4 u + u (1 + g)/(2g)) √outputs
 *   softmax           d_k = u_k − max u has the error u |d_k|, so e^{d_k} the relative error u (|d_k| + 5), and |d| e^d ≤ 1/e;
 *                     their sum, at least 1, u (K/e + 5 + K); the quotient and the last difference u each: in all
 *                     (4 K + 16) u */
double dp_loss_slope_rounding(enum dp_loss loss, double width, size_t outputs);

/* The following functions are for losses with a dual: up to DP_LOSS_HUBER. */

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

#endif
