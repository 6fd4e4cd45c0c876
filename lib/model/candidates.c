#include "model/candidates.h"

int dp_candidates_read(const struct dp_frame *frame, size_t size, const struct dp_array **candidates, struct dp_err *err)
{
    long long lap = (long long)frame->lap;
    if (!dp_frame_has(frame, DP_F_CANDIDATES))
        return dp_fail(err, DP_E_RUN, "there are no candidates in lap %lld: dp-breed makes them", lap);
    int rc = dp_frame_need_array(frame, DP_F_CANDIDATES, DP_F64, 2, candidates, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_array *a = *candidates;
    if (a->dims[0] < 1)
        return dp_fail(err, DP_E_RUN, "there are no candidates in lap %lld", lap);
    if (a->dims[1] != size)
        return dp_fail(err, DP_E_RUN, "a candidate of lap %lld has %llu entries, a model has %zu", lap,
                       (unsigned long long)a->dims[1], size);
    for (size_t i = 0; i < a->count; i++)
        if (!isfinite(((const double *)a->data)[i]))
            return dp_fail(err, DP_E_RUN, "a candidate of lap %lld is not finite", lap);
    return DP_OK;
}

int dp_candidates_take(struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_array *choice, *candidates, *model;
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    rc = rc ?: dp_candidates_read(frame, model->count, &candidates, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_CHOICE, DP_I64, 2, &choice, err);
    if (rc != DP_OK)
        return rc;
    int64_t at = choice->count == 1 ? *(const int64_t *)choice->data : -1;
    if (at < 0 || (uint64_t)at >= candidates->dims[0])
        return dp_fail(err, DP_E_RUN, "the choice of lap %lld is not one of its candidates", (long long)frame->lap);
    memcpy(dp_frame_edit_array(frame, DP_F_MODEL)->data, (const double *)candidates->data + (size_t)at * model->count,
           model->count * sizeof(double));
    dp_frame_drop(frame, DP_F_CANDIDATES);
    return DP_OK;
}
