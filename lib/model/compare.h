/* Comparison of two models. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* dp_model_compare returns 1, and `what` names the first difference; 0 when there is no difference; or a negative status. */
struct dp_model_tolerance {
    bool exact;                /* lap, label, records and every byte of every field */
    bool weights_only;         /* compare only the weights */
    double absolute, relative; /* not exact: |a − b| ≤ absolute + relative × max(|a|, |b|) for weights */
};
int dp_model_compare(const struct dp_frame *a, const struct dp_frame *b, const struct dp_model_tolerance *tolerance, char *what,
                     size_t size, struct dp_err *err);
