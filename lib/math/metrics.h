/* Metrics of a model's scores, compared with labels.
 *
 * scores: rows × outputs, row-major. y: rows. For a classification y is the class index 0 … classes−1; outputs is 1 for two
 * classes (class 1 is +1, class 0 is −1) and classes otherwise (one-vs-rest). A metric that has no value on these rows (no row,
 * one class only, constant labels) is NAN. Nothing here allocates. */
#pragma once

#include "math/loss.h"

/* The class that one row's scores predict. outputs = 1: class 1 if u > 0, else class 0; otherwise the class of the largest
   score, the lowest class of equals. */
size_t dp_metric_class(const double *scores, size_t outputs);

/* The fraction of the rows whose class is predicted correctly, 0 … 1. */
double dp_metric_accuracy(const double *scores, size_t outputs, const double *y, size_t rows);

/* The accuracy of always predicting the most frequent class of these rows: a model has to beat this. counts: classes entries of
   workspace. */
double dp_metric_majority(const double *y, size_t rows, size_t classes, uint64_t *counts);

/* counts: classes × classes, [true class × classes + predicted class] = number of rows. */
void dp_metric_confusion(const double *scores, size_t outputs, const double *y, size_t rows, size_t classes, uint64_t *counts);

/* From such counts, with true positives TP, false positives FP and false negatives FN of a class: precision TP / (TP + FP),
 * recall TP / (TP + FN), F1 = 2 TP / (2 TP + FP + FN). Two classes: the rate of class 1, NAN for 0/0. More: the mean over the
 * classes that have rows or predictions, where 0/0 counts as 0. */
enum dp_metric_rate { DP_METRIC_PRECISION, DP_METRIC_RECALL, DP_METRIC_F1 };
double dp_metric_rate(enum dp_metric_rate rate, const uint64_t *counts, size_t classes);

/* Area under the ROC curve, counted exactly: P(u⁺ > u⁻) + P(u⁺ = u⁻)/2 over pairs of a row of the class and a row of another
   class. One output: for class 1. More outputs: the mean over the classes with rows both in and out of the class (one-vs-rest).
   work: DP_METRIC_AUC_WORK(rows) words. */
double dp_metric_auc(const double *scores, size_t outputs, const double *y, size_t rows, uint64_t *work);
#define DP_METRIC_AUC_WORK(rows) (2 * (rows))

/* Whether models of this loss give probabilities: logistic and softmax. */
bool dp_metric_has_probability(enum dp_loss loss);

/* p[k]: the probability of each class. logistic: 1/(1 + e^{−u}), with more than one output normalised over the
   classes. softmax: e^{u_k}/Σ e^{u_j}. p: 2 entries for one output (class 0, class 1), else `outputs`. */
void dp_metric_probability(enum dp_loss loss, const double *scores, size_t outputs, double *p);

/* Mean of −ln p[true class], p as above, in nats. It is computed from logarithms, so it is finite even if a probability rounds
 * to 0. */
double dp_metric_log_loss(enum dp_loss loss, const double *scores, size_t outputs, const double *y, size_t rows);

/* Brier score: the mean of (p − [class 1])² for two classes, of Σ_k (p_k − [class k])² for more. p: workspace of
 * max(outputs, 2). */
double dp_metric_brier(enum dp_loss loss, const double *scores, size_t outputs, const double *y, size_t rows, double *p);

/* A prediction in other units: scale × value + offset, clamped to [low, high] if low < high. */
struct dp_affine {
    double scale, offset, low, high;
};

/* The prediction of a score, in label units; see dp_loss_prediction. */
double dp_metric_prediction(enum dp_loss loss, double score, struct dp_affine units);

/* Mean of (p − t)², with p dp_metric_prediction of the score and the truth t in label units; one output. */
double dp_metric_mse(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                     struct dp_affine truth, size_t rows);

/* Mean of |p − t|. */
double dp_metric_mae(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                     struct dp_affine truth, size_t rows);

/* Mean Poisson deviance of counts, 2 (t ln(t / p) − t + p), with 0 ln 0 = 0; NAN if some t or p is below 0 (P. McCullagh and
 * J. A. Nelder, Generalized Linear Models, 1989, section 6.2). */
double dp_metric_deviance(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                          struct dp_affine truth, size_t rows);

/* 1 − Σ (prediction − t)² / Σ (t − mean t)² */
double dp_metric_r2(enum dp_loss loss, const double *scores, struct dp_affine prediction, const double *y,
                    struct dp_affine truth, size_t rows);

/* P(w) = (1/rows) Σ_i Σ_k l(y_ik, u_ik) + (lambda/2) ‖w‖². classes > 0: y_ik is +1 if row i has class k (class 1 for one
   output), else −1; softmax has one l for all outputs of a row. classes = 0: y_i itself, through `label`. weights: `count`
   entries. */
double dp_metric_objective(enum dp_loss loss, double width, double lambda, const double *scores, size_t outputs,
                           const double *y, struct dp_affine label, size_t rows, size_t classes, const double *weights,
                           size_t count);
