/* Whether two models are the same, and in what they differ. */
#ifndef DP_MODEL_COMPARE_H
#define DP_MODEL_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/frame.h"

/* 1 and `what` holds a phrase that names the first difference; 0 when there is none; or negative. */
struct dp_model_tolerance {
    bool exact;                /* lap, label, records and every byte of every field */
    bool weights_only;         /* nothing but the weights */
    double absolute, relative; /* not exact: |a − b| ≤ absolute + relative × max(|a|, |b|) for weights */
};
int dp_model_compare(const struct dp_frame *a, const struct dp_frame *b, const struct dp_model_tolerance *tolerance, char *what,
                     size_t size, struct dp_err *err);

#endif
