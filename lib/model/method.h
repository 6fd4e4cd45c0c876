/* Methods: how a model is trained, and therefore what a released sum means to dp-step. model/family.h defines the meaning of
   the entries of a model. */
#pragma once

#include "base/err.h"
#include "math/loss.h"
#include "model/family.h"
#include "wire/frame.h"

struct dp_method {
    const char *name; /* name on the wire */
    bool gradients;   /* the sum is a sum of negative gradients; otherwise the model moves by the sum itself */
};

extern const struct dp_method dp_method_scd_dual, dp_method_scd_primal, dp_method_gradient, dp_method_erm, dp_method_selection;

/* Whether the sums of this frame are gradients. With an unknown method, or without one, the model moves by the sum itself. */
bool dp_method_gradients(const struct dp_frame *frame);

/* Properties of the model that a training stage announces. */
struct dp_training {
    const struct dp_method *method;
    const struct dp_family *family;
    const char *network; /* family network: its text; otherwise NULL */
    enum dp_loss loss;
    double width, lambda;
    double intercept;          /* value of a constant column after the row's own; 0: no such column */
    double scale;              /* weights = scale × model */
    const char *class_weights; /* their text, or NULL */
};

/* Writes them into the first frame of a run. DP_E_RUN: the initial model has another method, family, intercept or scale. */
int dp_training_announce(const struct dp_training *training, struct dp_frame *frame, struct dp_err *err);
