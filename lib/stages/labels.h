/* Checks labels for a loss. */
#pragma once

#include "base/err.h"
#include "math/loss.h"

/* Checks that the loss is for such labels, by what is public: an error must not tell that one row has no value of the loss.
 * classes: of the labels, 0 for a regression. DP_E_RUN: the message says what the loss needs. */
int dp_labels_check(enum dp_loss loss, size_t classes, struct dp_err *err);

/* DP_E_RUN: with this loss and that many classes a model has another number of outputs, or the loss is not for such labels. */
int dp_labels_check_outputs(enum dp_loss loss, size_t classes, size_t outputs, struct dp_err *err);

/* Whether the loss is defined at this label. A row with another label contributes nothing. */
bool dp_labels_take(enum dp_loss loss, size_t classes, double label);
