/* A model in a frame: shape, weights, class names, and what it says about itself. */
#ifndef DP_WIRE_MODEL_H
#define DP_WIRE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "wire/frame.h"

/* *outputs = K and *cols = d of a lap frame's model. DP_E_RUN when there is none, it is not K × d f8, K or d
   is 0, or `average` has another shape. */
int dp_model_shape(const struct dp_frame *frame, size_t *outputs, size_t *cols, struct dp_err *err);

/* weights: K × d, row-major, = scale × average, or scale × model when there is no average; scale is 1 when
   absent. A weight that is not finite is an error. Shapes as dp_model_shape found them. */
int dp_model_weights(const struct dp_frame *frame, double *weights, struct dp_err *err);

/* BLAKE2b-256 of the weights (K and d as uint64, then K × d float64, little endian), in hexadecimal: what a certificate
   is about. Shapes as dp_model_shape found them. */
#define DP_MODEL_DIGEST 65
int dp_model_digest(const struct dp_frame *frame, char digest[DP_MODEL_DIGEST], struct dp_err *err);

/* The class names of `labels`: *names gets *count strings; NULL and 0 when the frame has none. DP_E_RUN when
   it is not a JSON array of strings. Free with dp_model_free_names. */
int dp_model_names(const struct dp_frame *frame, char ***names, size_t *count, struct dp_err *err);
void dp_model_free_names(char **names, size_t count);

/* Whether two models are the same: 1 and `what` holds a phrase that names the first difference; 0; or
 * negative. */
struct dp_model_tolerance {
    bool exact;                /* lap, label, mechanism records and every byte of every field */
    bool weights_only;         /* nothing but the weights */
    double absolute, relative; /* not exact: |a − b| ≤ absolute + relative × max(|a|, |b|) for weights */
};
int dp_model_compare(const struct dp_frame *a, const struct dp_frame *b, const struct dp_model_tolerance *tolerance, char *what,
                     size_t size, struct dp_err *err);

/* Prints what the model is for a person, or as JSON, or (get != NULL) one field by its
   name on the wire: text and numbers as they are, an array as one number per line. DP_E_RUN when the field is
   absent. */
int dp_model_describe(const struct dp_frame *frame, bool json, const char *get, FILE *out, struct dp_err *err);

#endif
