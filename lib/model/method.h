/* Methods: how a model is trained, and so what a released sum is to dp-step. What the model is that they train is another
   matter: see model/family.h. */
#ifndef DP_MODEL_METHOD_H
#define DP_MODEL_METHOD_H

#include <stdbool.h>

#include "base/err.h"
#include "math/loss.h"
#include "model/family.h"
#include "wire/frame.h"

struct dp_method {
    const char *name; /* on the wire */
    bool gradients;   /* the sum is one of negative gradients; otherwise it is what the model moves by */
};

extern const struct dp_method dp_method_scd_dual, dp_method_scd_primal, dp_method_gradient, dp_method_erm, dp_method_selection;

/* Whether the sums of this frame are gradients. A method that is not one of these, or of a stage that names none, moves the
   model by its sum. */
bool dp_method_gradients(const struct dp_frame *frame);

/* What a stage that trains says of the model. */
struct dp_training {
    const struct dp_method *method;
    const struct dp_family *family;
    enum dp_loss loss;
    double width, lambda;
    double intercept; /* value of a constant column after the row's own; 0 if there is none */
    double scale;     /* weights = scale × model */
};

/* Says it in the first frame of a run. DP_E_RUN when the model to start from is of another method, family,
   intercept or scale. */
int dp_training_announce(const struct dp_training *training, struct dp_frame *frame, struct dp_err *err);

#endif
