/* Labels against a loss. */
#ifndef DP_STAGES_LABELS_H
#define DP_STAGES_LABELS_H

#include "data/dataset.h"
#include "math/loss.h"

/* Over the whole data set and before the first lap: which rows a lap draws decides nothing. classes: of the labels, 0 for a
   regression. dataset may be NULL, when rows come inline. That classes are in range has been checked when the data set was
   opened. DP_E_RUN: a sentence that says what the loss needs; path names the data set in it. */
int dp_labels_check(enum dp_loss loss, size_t classes, const struct dp_dataset *dataset, const char *path, struct dp_err *err);

/* Whether the loss has a value at this label of an inline row. A row of another contributes nothing. */
bool dp_labels_take(enum dp_loss loss, size_t classes, double label);

#endif
