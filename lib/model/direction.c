#include "model/direction.h"

#include "math/vec.h"
#include "model/sum.h"

int dp_direction_gradient(const struct dp_frame *frame, size_t outputs, size_t cols, double *gradient, double *expected,
                          struct dp_err *err)
{
    const struct dp_record *m = dp_frame_record(frame, DP_F_SUM);
    struct dp_sum sum;
    int rc = dp_sum_read(&sum, frame, err);
    rc = rc ?: dp_sum_need(&sum, outputs, cols, err);
    if (rc == DP_OK && (m == NULL || !(m->rate > 0) || m->rows <= 0))
        rc = dp_fail(err, DP_E_RUN, "the frame of lap %lld does not record how its rows were sampled", (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    *expected = m->rate * (double)m->rows;
    for (size_t i = 0; i < outputs * cols; i++)
        gradient[i] = -dp_sum_at(&sum, i) / *expected;
    return DP_OK;
}

void dp_direction_along(const double *gradient, const double *w, size_t count, double lambda, bool normalise, double *direction)
{
    double length = normalise ? sqrt(dp_norm2(gradient, count)) : 1;
    for (size_t i = 0; i < count; i++)
        direction[i] = lambda * w[i] + (length > 0 ? gradient[i] / length : 0);
}
