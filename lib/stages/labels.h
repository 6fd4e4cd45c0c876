/* Checks labels for a loss. */
#pragma once

#include "data/dataset.h"
#include "math/loss.h"

/* Whether the loss is for labels of that many classes; 0: a regression. */
bool dp_labels_suit(enum dp_loss loss, size_t classes);

/* Checks the whole data set before the first lap, so that the result does not depend on the sampled rows. classes: of the
 * labels, 0 for a regression. dataset is NULL if rows come inline. Opening the data set has checked that classes are in range.
 * DP_E_RUN: the message says what the loss needs, and calls the data set path. */
int dp_labels_check(enum dp_loss loss, size_t classes, const struct dp_dataset *dataset, const char *path, struct dp_err *err);

/* DP_E_RUN: with this loss and that many classes a model has another number of outputs, or the loss is not for such labels. */
int dp_labels_check_outputs(enum dp_loss loss, size_t classes, size_t outputs, struct dp_err *err);

/* Whether the loss is defined at this label of an inline row. A row with another label contributes nothing. */
bool dp_labels_take(enum dp_loss loss, size_t classes, double label);
