#include "model/held.h"

#include "model/direction.h"

/* *part: weight of the new gradient in the mean; 1 if there is no other gradient. */
static int part_of(const struct dp_frame *frame, const struct dp_array *model, double precision, double *part,
                   struct dp_err *err)
{
    const struct dp_array *gradient;
    double before = dp_frame_real(frame, DP_F_PRECISION, 0);
    *part = 1;
    if (!dp_held(frame))
        return DP_OK;
    int rc = dp_frame_need_array(frame, DP_F_GRADIENT, DP_F64, 2, &gradient, err);
    if (rc == DP_OK && (gradient->dims[0] != model->dims[0] || gradient->dims[1] != model->dims[1]))
        rc =
            dp_fail(err, DP_E_RUN, "the gradient held in lap %lld does not have the shape of the model", (long long)frame->lap);
    if (rc == DP_OK && !(precision > 0 && before > 0 && isfinite(precision + before)))
        rc = dp_fail(err, DP_E_RUN, "the gradients of lap %lld have no noise by which to weigh them", (long long)frame->lap);
    if (rc == DP_OK)
        *part = precision / (precision + before);
    return rc;
}

int dp_held_take(struct dp_frame *frame, bool average, bool normalise, struct dp_err *err)
{
    const struct dp_array *model;
    double *g, *direction, expected, part = 1, scale = dp_frame_real(frame, DP_F_NOISE_SCALE, 0);
    double precision = scale > 0 ? 1 / (scale * scale) : 0;
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    if (rc == DP_OK && average)
        rc = part_of(frame, model, precision, &part, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_DIRECTION, DP_F64, model->dims[0], model->dims[1], &direction, err);
    rc = rc ?: dp_direction_gradient(frame, model->dims[0], model->dims[1], direction, &expected, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_GRADIENT, DP_F64, model->dims[0], model->dims[1], &g, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; i < model->count; i++)
        g[i] = part < 1 ? g[i] + part * (direction[i] - g[i]) : direction[i];
    precision += part < 1 ? dp_frame_real(frame, DP_F_PRECISION, 0) : 0;
    dp_frame_drop(frame, DP_F_PRECISION);
    if (precision > 0)
        dp_frame_set_real(frame, DP_F_PRECISION, precision);
    dp_direction_along(g, model->data, model->count, dp_frame_real(frame, DP_F_LAMBDA, 0), normalise, direction);
    dp_frame_drop(frame, DP_F_SUM);
    return DP_OK;
}

int dp_held_halve(struct dp_frame *frame, const double *other, size_t count, double precision, struct dp_err *err)
{
    const struct dp_array *model, *g, *d;
    double scale = dp_frame_real(frame, DP_F_NOISE_SCALE, 0), own = dp_frame_real(frame, DP_F_PRECISION, 0);
    double lambda = dp_frame_real(frame, DP_F_LAMBDA, 0);
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_GRADIENT, DP_F64, 2, &g, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_DIRECTION, DP_F64, 2, &d, err);
    if (rc == DP_OK && (g->count != count || d->count != count || model->count != count))
        rc = dp_fail(err, DP_E_RUN, "the gradient changes its shape during the run");
    if (rc == DP_OK && !(fabs(own * scale * scale - 1) <= 1e-9 && precision > 0))
        rc = dp_fail(err, DP_E_RUN, "the gradient held in lap %lld is a mean already: leave out --average-gradients",
                     (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    const double *w = model->data;
    double *gradient = dp_frame_edit_array(frame, DP_F_GRADIENT)->data;
    double *direction = dp_frame_edit_array(frame, DP_F_DIRECTION)->data;
    for (size_t i = 0; i < count; i++) {
        double pull = lambda * w[i], size = fabs(direction[i]) + fabs(gradient[i]) + fabs(pull);
        if (fabs(direction[i] - gradient[i] - pull) > 1e-9 * size)
            return dp_fail(err, DP_E_RUN, "the direction of lap %lld is normalised: leave out --normalise",
                           (long long)frame->lap);
        gradient[i] = (gradient[i] + other[i]) / 2;
    }
    dp_direction_along(gradient, w, count, lambda, false, direction);
    dp_frame_set_real(frame, DP_F_PRECISION, 4 / (1 / precision + 1 / own));
    return DP_OK;
}

int dp_held_choice(const struct dp_frame *frame, const struct dp_array **steps, size_t *at, struct dp_err *err)
{
    const struct dp_array *choice;
    int rc = dp_frame_need_array(frame, DP_F_CHOICE, DP_I64, 2, &choice, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_STEPS, DP_F64, 1, steps, err);
    if (rc != DP_OK)
        return rc;
    int64_t value = choice->count == 1 ? *(int64_t *)choice->data : -1;
    if (value < 0 || (uint64_t)value >= (*steps)->count)
        return dp_fail(err, DP_E_RUN, "the choice of lap %lld is not one of its steps", (long long)frame->lap);
    *at = (size_t)value;
    return DP_OK;
}

static int chosen(const struct dp_frame *frame, double *step, struct dp_err *err)
{
    const struct dp_array *steps;
    size_t at = 0;
    int rc = dp_held_choice(frame, &steps, &at, err);
    if (rc != DP_OK)
        return rc;
    *step = ((double *)steps->data)[at];
    if (!(*step >= 0 && isfinite(*step)))
        return dp_fail(err, DP_E_RUN, "lap %lld has chosen a step of %g", (long long)frame->lap, *step);
    return DP_OK;
}

int dp_held_step(struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_array *direction, *model;
    double step = 0;
    int rc = chosen(frame, &step, err);
    if (rc == DP_OK && dp_frame_has(frame, DP_F_SUM))
        rc = dp_held_take(frame, false, false, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_DIRECTION, DP_F64, 2, &direction, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    if (rc == DP_OK && (direction->dims[0] != model->dims[0] || direction->dims[1] != model->dims[1]))
        rc = dp_fail(err, DP_E_RUN, "the direction of lap %lld does not have the shape of the model", (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    double *w = dp_frame_edit_array(frame, DP_F_MODEL)->data;
    const double *d = direction->data;
    for (size_t i = 0; step > 0 && i < model->count; i++)
        w[i] -= step * d[i];
    dp_frame_set_real(frame, DP_F_STEP_SIZE, step);
    if (step > 0) {
        dp_frame_drop(frame, DP_F_DIRECTION);
        dp_frame_drop(frame, DP_F_PRECISION);
    }
    return DP_OK;
}
