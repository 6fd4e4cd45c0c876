#include "model/sum.h"

int dp_sum_read(struct dp_sum *sum, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_array *a = dp_frame_array(frame, DP_F_SUM), *columns = dp_frame_array(frame, DP_F_COLUMNS);
    double grid = dp_frame_real(frame, DP_F_GRID, 0);
    *sum = (struct dp_sum){a, grid, columns, frame->lap};
    if (a == NULL)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no released sum", (long long)frame->lap);
    bool whole = a->dtype == DP_I64 && grid > 0;
    if (!whole && !(a->dtype == DP_F64 && dp_frame_bool(frame, DP_F_NON_PRIVATE)))
        return dp_fail(err, DP_E_RUN, "the sum of lap %lld is not on a grid", (long long)frame->lap);
    if (columns != NULL && (columns->dtype != DP_I64 || columns->ndim != 1))
        return dp_fail(err, DP_E_RUN, "'columns' of lap %lld is not a vector of i8", (long long)frame->lap);
    return DP_OK;
}

int dp_sum_need(const struct dp_sum *sum, uint64_t rows, uint64_t cols, struct dp_err *err)
{
    const struct dp_array *a = sum->values;
    if (a->ndim != 2 || a->dims[0] != rows || a->dims[1] != cols)
        return dp_fail(err, DP_E_RUN, "the sum of lap %lld does not have the shape of the model", (long long)sum->lap);
    return DP_OK;
}

int dp_sum_add(const struct dp_sum *sum, size_t rows, size_t cols, double *w, struct dp_err *err)
{
    const int64_t *columns = sum->columns != NULL ? sum->columns->data : NULL;
    size_t width = columns != NULL ? sum->columns->count : cols;
    int rc = dp_sum_need(sum, rows, width, err);
    if (rc != DP_OK)
        return rc;
    for (size_t j = 0; j < width; j++) {
        uint64_t column = columns != NULL ? (uint64_t)columns[j] : j;
        if (column >= cols)
            return dp_fail(err, DP_E_RUN, "a column of lap %lld is out of range", (long long)sum->lap);
        for (size_t k = 0; k < rows; k++)
            w[k * cols + column] += dp_sum_at(sum, k * width + j);
    }
    return DP_OK;
}
