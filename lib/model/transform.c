#include "model/transform.h"

int dp_transform_read(struct dp_transform *transform, const struct dp_frame *frame, size_t cols, struct dp_err *err)
{
    const struct dp_array *a;
    *transform = (struct dp_transform){0};
    if (!dp_frame_has(frame, DP_F_TRANSFORM))
        return DP_OK;
    int rc = dp_frame_need_array(frame, DP_F_TRANSFORM, DP_F64, 2, &a, err);
    if (rc == DP_OK && a->dims[0] == 0)
        rc = dp_fail(err, DP_E_RUN, "the transform of lap %lld has no rows", (long long)frame->lap);
    if (rc == DP_OK && a->dims[1] != cols)
        rc = dp_fail(err, DP_E_RUN, "the transform of lap %lld is for rows of %llu columns, and these have %zu (--intercept?)",
                     (long long)frame->lap, (unsigned long long)a->dims[1], cols);
    if (rc == DP_OK)
        *transform = (struct dp_transform){.matrix = a->data,
                                           .rows = a->dims[0],
                                           .cols = cols,
                                           .unit = dp_frame_bool(frame, DP_F_UNIT_ROWS),
                                           .uncut = dp_frame_bool(frame, DP_F_UNCUT)};
    return rc;
}

int dp_transform_check(const struct dp_transform *transform, const struct dp_frame *frame, struct dp_err *err)
{
    for (size_t i = 0; i < transform->rows * transform->cols; i++)
        if (!isfinite(transform->matrix[i]))
            return dp_fail(err, DP_E_RUN, "the transform of lap %lld is not finite", (long long)frame->lap);
    return DP_OK;
}

bool dp_transform_has_constant(const struct dp_transform *transform)
{
    if (transform->rows < 2)
        return false;
    const double *last = transform->matrix + (transform->rows - 1) * transform->cols;
    for (size_t j = 0; j + 1 < transform->cols; j++)
        if (last[j] != 0)
            return false;
    return last[transform->cols - 1] > 0;
}

void dp_transform_pull(const struct dp_transform *transform, double factor, const double *w, size_t outputs, double *gradient)
{
    size_t m = transform->rows, d = transform->cols;
    for (size_t k = 0; k < outputs; k++)
        for (size_t i = 0; i < m; i++) {
            double dot = 0;
            for (size_t j = 0; j < d; j++)
                dot += w[k * d + j] * transform->matrix[i * d + j];
            gradient[k * m + i] += factor * dot;
        }
}

void dp_transform_push(const struct dp_transform *transform, const double *move, size_t outputs, double *w)
{
    size_t m = transform->rows, d = transform->cols;
    for (size_t k = 0; k < outputs; k++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < d; j++)
                w[k * d + j] += move[k * m + i] * transform->matrix[i * d + j];
}
