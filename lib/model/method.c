#include "model/method.h"

const struct dp_method dp_method_scd_dual = {.name = "scd-dual"}, dp_method_scd_primal = {.name = "scd-primal"},
                       dp_method_gradient = {.name = "gradient", .gradients = true}, dp_method_erm = {.name = "erm"},
                       dp_method_selection = {.name = "selection"};

bool dp_method_gradients(const struct dp_frame *frame)
{
    static const struct dp_method *const methods[] = {&dp_method_scd_dual, &dp_method_scd_primal, &dp_method_gradient,
                                                      &dp_method_erm, &dp_method_selection};
    const char *name = dp_frame_text(frame, DP_F_METHOD, "");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i]->gradients;
    return false;
}

static int check_start(const struct dp_training *t, const struct dp_frame *frame, struct dp_err *err)
{
    double intercept = dp_frame_real(frame, DP_F_INTERCEPT, 0);
    if (intercept != t->intercept)
        return dp_fail(err, DP_E_RUN, "--intercept: %g, but the model to start from has %g", t->intercept, intercept);
    if (strcmp(dp_frame_text(frame, DP_F_METHOD, ""), t->method->name) != 0)
        return dp_fail(err, DP_E_RUN, "the model to start from was trained by another method");
    if (strcmp(dp_frame_text(frame, DP_F_FAMILY, dp_family_linear.name), t->family->name) != 0)
        return dp_fail(err, DP_E_RUN, "the model to start from is of another family");
    if (strcmp(dp_frame_text(frame, DP_F_NETWORK, ""), t->network != NULL ? t->network : "") != 0)
        return dp_fail(err, DP_E_RUN, "the model to start from is another network: '%.200s'",
                       dp_frame_text(frame, DP_F_NETWORK, ""));
    if (dp_frame_real(frame, DP_F_SCALE, 0) != t->scale)
        return dp_fail(err, DP_E_RUN, "the model to start from has another scale of its weights, by lambda, rows or --scale");
    return DP_OK;
}

int dp_training_announce(const struct dp_training *t, struct dp_frame *frame, struct dp_err *err)
{
    const char *loss = dp_loss_names[t->loss];
    int rc = dp_frame_has(frame, DP_F_MODEL) ? check_start(t, frame, err) : DP_OK;
    if (rc == DP_OK) {
        dp_frame_set_string(frame, DP_F_METHOD, t->method->name);
        dp_frame_set_string(frame, DP_F_FAMILY, t->family->name);
    }
    if (rc == DP_OK && t->network != NULL)
        dp_frame_set_string(frame, DP_F_NETWORK, t->network);
    if (rc == DP_OK)
        dp_frame_set_string(frame, DP_F_LOSS, loss);
    dp_frame_drop(frame, DP_F_CLASS_WEIGHTS);
    if (rc == DP_OK && t->class_weights != NULL)
        dp_frame_set_string(frame, DP_F_CLASS_WEIGHTS, t->class_weights);
    if (rc != DP_OK)
        return rc;
    dp_frame_set_real(frame, DP_F_LOSS_WIDTH, t->width);
    dp_frame_set_real(frame, DP_F_LAMBDA, t->lambda);
    dp_frame_set_real(frame, DP_F_SCALE, t->scale);
    dp_frame_drop(frame, DP_F_INTERCEPT);
    if (t->intercept != 0)
        dp_frame_set_real(frame, DP_F_INTERCEPT, t->intercept);
    return DP_OK;
}
