/* The losses of a linear model: P(w) = (1/N) Σ_i l(y_i, x_i·w) + (lambda/2) ‖w‖².
 *
 * A new loss is a row of the table below; the rest of the program reads it. A loss with a dual also has a row in math/dual.c. */
#pragma once

#include "base/c.h"

/* The variable of l(y, u), which also says the labels that the loss takes. */
enum dp_loss_of {
    DP_LOSS_OF_MARGIN,   /* y u; y is −1 or +1. Labels are classes, one-vs-rest if there are more than two */
    DP_LOSS_OF_RESIDUAL, /* u − y; y is any real number, or ±1 as above if labels are classes */
    DP_LOSS_OF_COUNT,    /* y and u; y ≥ 0, and labels are not classes */
    DP_LOSS_OF_CLASS,    /* all outputs of a row; y is the class, one of three or more */
};

/* The prediction of a score u. */
enum dp_loss_link {
    DP_LOSS_LINK_NONE,    /* u; a class by the largest score */
    DP_LOSS_LINK_LOGIT,   /* a probability, 1/(1 + e^−u) */
    DP_LOSS_LINK_LOG,     /* e^u */
    DP_LOSS_LINK_SOFTMAX, /* probabilities e^u_k / Σ_j e^u_j */
};

/* The losses: X(enumerator, name, of, link, default width, l, dl/du, d²l/du², S, h, e), with g = width, m = y u, t = 1 − m and
 * r = u − y.
 *
 * dl/du is a subgradient where l has a kink; d²l/du² is one of its two values where dl/du has a kink, and NAN if dl/du jumps.
 * S is the largest |dl/du|, h the largest |d²l/du²|; dl/du is computed to an error of e S 2^-53: the proofs are at
 * dp_loss_lipschitz and dp_loss_slope_rounding. e counts for a finite S only.
 *
 * huber is squared up to |r| = g, and linear beyond. smooth-hinge is hinge smoothed over width g; huberised-hinge is the
 * loss of DP-BLSGD, with g = 1/2. poisson is without the constant ln y!. softmax is ln Σ_k e^{u_k} − u_y over the outputs of a
 * row: dp_softmax_value; its S is of all outputs. */
/* clang-format off */
#define DP_LOSSES_WITH_DUAL(X)                                                                                                 \
    X(SQUARED, "squared", RESIDUAL, NONE, 1, 0.5 * r * r, r, 1, INFINITY, 1, 8)                                                \
    X(HINGE, "hinge", MARGIN, NONE, 1, fmax(0.0, t), m < 1.0 ? -y : 0.0, NAN, 1, INFINITY, 8)                                  \
    X(LOGISTIC, "logistic", MARGIN, LOGIT, 1, m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m,                                      \
      -y / (1.0 + exp(m)), logistic_curvature(u), 1, 0.25, 8)                                                                  \
    X(SMOOTH_HINGE, "smooth-hinge", MARGIN, NONE, 1, t <= 0 ? 0.0 : t >= g ? t - 0.5 * g : 0.5 * t * t / g,                    \
      -y * clamp(t / g, 0.0, 1.0), m < 1 && m > 1 - g ? 1 / g : 0, 1, 1.0 / g, 8)                                              \
    X(HUBER, "huber", RESIDUAL, NONE, 1, fabs(r) <= g ? 0.5 * r * r : g * (fabs(r) - 0.5 * g),                                 \
      clamp(r, -g, g), fabs(r) < g ? 1 : 0, g, 1, 8)

#define DP_LOSSES(X)                                                                                                           \
    DP_LOSSES_WITH_DUAL(X)                                                                                                     \
    X(HUBERISED_HINGE, "huberised-hinge", MARGIN, NONE, 0.5, t <= -g ? 0.0 : t >= g ? t : (t + g) * (t + g) / (4 * g),         \
      -y * clamp((1.0 + g - m) / (2 * g), 0.0, 1.0), fabs(t) < g ? 0.5 / g : 0, 1, 0.5 / g, 4 + (1 + g) / (2 * g))             \
    X(POISSON, "poisson", COUNT, LOG, 1, exp(u) - m, exp(u) - y, exp(u), INFINITY, INFINITY, 8)                                \
    X(SOFTMAX, "softmax", CLASS, SOFTMAX, 1, NAN, NAN, NAN, M_SQRT2, 0.5, 8)
/* clang-format on */

#define DP_LOSS_ENUMERATOR(id, ...) DP_LOSS_##id,
enum dp_loss { DP_LOSSES(DP_LOSS_ENUMERATOR) DP_LOSS_COUNT };
#undef DP_LOSS_ENUMERATOR

#define DP_LOSS_CHOICE(id, name, ...) "|" name
#define DP_LOSS_CHOICES (&(DP_LOSSES(DP_LOSS_CHOICE))[1]) /* "squared|hinge|…" */
#define DP_LOSS_DUAL_CHOICES (&(DP_LOSSES_WITH_DUAL(DP_LOSS_CHOICE))[1])

extern const char *const dp_loss_names[DP_LOSS_COUNT];

struct dp_loss_info {
    enum dp_loss_of of;
    enum dp_loss_link link;
    double width; /* the default */
};
extern const struct dp_loss_info dp_losses[DP_LOSS_COUNT];

/* 0 and *loss, or -1 for an unknown name. */
int dp_loss_parse(const char *name, enum dp_loss *loss);

/* Whether labels must be classes: y is −1 or +1, or the class itself. */
static inline bool dp_loss_is_classification(enum dp_loss loss)
{
    return dp_losses[loss].of == DP_LOSS_OF_MARGIN || dp_losses[loss].of == DP_LOSS_OF_CLASS;
}

/* Whether l is a function of all outputs of a row, as for softmax; the functions of one score do not apply to it. */
static inline bool dp_loss_is_joint(enum dp_loss loss)
{
    return dp_losses[loss].of == DP_LOSS_OF_CLASS;
}

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

/* Whether a label is in the domain of l. */
bool dp_loss_takes(enum dp_loss loss, double y);

/* l(y, u), dl/du and d²l/du² by the table; NAN for softmax. */
double dp_loss_value(enum dp_loss loss, double width, double y, double u);
double dp_loss_slope(enum dp_loss loss, double width, double y, double u);
double dp_loss_curvature(enum dp_loss loss, double width, double y, double u);

/* Whether dl/du jumps nowhere, so that its minimum can be found by gradients: all but hinge. */
bool dp_loss_has_slope(enum dp_loss loss);

/* The number that a score u predicts: e^u with DP_LOSS_LINK_LOG, else u. */
double dp_loss_prediction(enum dp_loss loss, double u);

/* ln Σ_k e^{u_k} − u_class, at least 0 and finite for finite u; class < outputs. */
double dp_softmax_value(const double *u, size_t outputs, size_t class);

/* slope_k = e^{u_k}/Σ e^{u_j} − [k = class]: the derivative of dp_softmax_value. slope may be u. */
void dp_softmax_slope(const double *u, size_t outputs, size_t class, double *slope);

/* The loss l of a row with all its outputs u: for softmax, its one loss; otherwise the sum over the outputs of the
   loss at dp_loss_target. Its derivatives are dp_loss_row_slope. */
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
