/* A model in a frame: shape, weights, class names, digest. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* The rows and columns of a lap frame's model, a matrix of f8; the model's family defines their meaning. DP_E_RUN: there is no
 * model, rows or columns are 0, or `average` has another shape. */
int dp_model_shape(const struct dp_frame *frame, size_t *rows, size_t *cols, struct dp_err *err);

/* weights: rows × cols, row-major, = scale × average, or scale × model when there is no average; scale is 1 when
   absent. A weight that is not finite is an error. Shapes as dp_model_shape found them. */
int dp_model_weights(const struct dp_frame *frame, double *weights, struct dp_err *err);

/* BLAKE2b-256 of the weights (rows and cols as uint64, then as many float64, little endian), in hexadecimal. It identifies a
   model in certificates and in the close lines of ledgers (dp-ledger(5)). Shapes as dp_model_shape found them. */
#define DP_MODEL_DIGEST 65
int dp_model_digest(const struct dp_frame *frame, char digest[DP_MODEL_DIGEST], struct dp_err *err);

/* Turns the frame of a lap into an end frame, which has the digest of the model that the lap began with: the last model of the
   run, if there is one. */
void dp_model_end(struct dp_frame *frame);

/* The class names of `labels`: *names gets *count strings; NULL and 0 if the frame has no names. DP_E_RUN when it is not a JSON
   array of strings. Free with dp_model_free_names. */
int dp_model_names(const struct dp_frame *frame, char ***names, size_t *count, struct dp_err *err);
void dp_model_free_names(char **names, size_t count); /* names may be NULL */

/* The names of the classes: the frame's; without these `others`, which may be NULL; else their numbers. DP_E_RUN: as above, or
 * the frame has names for another number of classes. model: its name, for this message. */
int dp_model_class_names(const struct dp_frame *frame, const char *model, size_t classes, char *const *others, char ***names,
                         struct dp_err *err);
