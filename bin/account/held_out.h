/* Measures and curves of a model on held-out rows, for the page of dp-account report. */
#ifndef DP_BIN_HELD_OUT_H
#define DP_BIN_HELD_OUT_H

#include <jansson.h>

#include "base/err.h"
#include "wire/frame.h"

/* {"rows", "held_out" (bool: the data set is the held-out part of a split),
 *  classes: "accuracy", "majority", "auc", and if the model gives probabilities "log_loss"; with two classes "class" (the name
 *           of class 1), "roc": [[x, y], …] and with probabilities "calibration": [[probability, part, rows], …]
 *  numbers: "r2", "rmse"}
 * A measure that has no value on these rows is left out. The measures are exact: they are as private as the rows. The caller
 * owns *json. DP_E_UNSAFE: the model has seen these rows (dp_predictor_check_unseen). */
int held_out_measure(const struct dp_frame *model, const char *data, json_t **json, struct dp_err *err);

#endif
