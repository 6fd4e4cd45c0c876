/* Measures and curves of a model on held-out rows, for the page of dp-account report. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "wire/frame.h"

/* {"rows" (those that have a label), "population" (whose rows they are), "rows_without_label" (if there are any),
 *  classes: "accuracy", "majority", "auc" (of several classes, the mean over the classes), if the model gives probabilities
 *           "log_loss", and "curves": [{"class", "auc", "roc": [[x, y], …]}, …] of class 1, or of each of several classes
 *           against the others; with probabilities "calibration": [[probability, part, rows], …] of class 1, or of the
 *           class predicted; of at most 10 classes "confusion": [{"class", "cells": [{"rows"}, …]}, …] by true class, then by
 *           the class predicted
 *  numbers: "r2", "rmse"}
 * A measure that has no value on these rows is left out. The measures are exact: they are as private as the rows. The caller
 * owns *json. DP_E_UNSAFE: the model has seen these rows (dp_predictor_check_unseen). */
int held_out_measure(const struct dp_frame *model, const char *data, json_t **json, struct dp_err *err);

/* One number for each of several models of a run. value: accuracy, or R² of numbers; NaN: these rows do not give it. */
struct held_out;
int held_out_open(struct held_out **rows, const struct dp_frame *model, const char *data, struct dp_err *err);
int held_out_value(struct held_out *rows, const struct dp_frame *model, double *value, struct dp_err *err);
void held_out_close(struct held_out *rows); /* may be NULL */
