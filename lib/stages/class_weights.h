/* Weights of the classes, for training on classes of unequal size: the loss of a row of class c counts w_c times, 0 < w_c <= 1.
 *
 * The weights are public numbers from the command line. A gradient is clipped after it was multiplied by its weight, so the
 * bound on one person's gradients is the clip with any weights. Weights from the shares of classes among private rows would be
 * a release that nobody has paid for. */
#pragma once

#include "base/err.h"

struct dp_class_weights {
    double *weight; /* count; NULL: each class counts once */
    size_t count;
};

/* Reads "1,0.25": numbers above 0 and at most 1, in the order of the classes. text may be NULL. The caller closes *weights,
 * after a failure, too. DP_E_USAGE: the text is something else. */
int dp_class_weights_open(struct dp_class_weights *weights, const char *text, struct dp_err *err);
void dp_class_weights_close(struct dp_class_weights *weights);

/* DP_E_USAGE: not as many weights as classes; 0 classes: the label is a number. */
int dp_class_weights_check(const struct dp_class_weights *weights, size_t classes, struct dp_err *err);

/* The weight of a label in 0, …, count − 1. */
static inline double dp_class_weight(const struct dp_class_weights *weights, double label)
{
    return weights->weight != NULL ? weights->weight[(size_t)label] : 1;
}
