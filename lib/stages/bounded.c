#include "stages/bounded.h"

#include "math/grid.h"
#include "wire/codec.h"

struct dp_record *dp_bounded_state(struct dp_frame *frame, enum dp_adjacency adjacency, double bound)
{
    struct dp_record *record = dp_frame_edit_record(frame, DP_F_NONE);
    dp_record_bound(record, DP_F_SUM, adjacency, bound);
    dp_frame_set_real(frame, DP_F_BOUND, bound);
    dp_frame_set_real(frame, DP_F_GRID, dp_grid_for(bound));
    frame->label = DP_LABEL_BOUNDED;
    return record;
}

int dp_bounded_check_clip(double clip, struct dp_err *err)
{
    return dp_grid_for(clip) <= clip * 0x1p-20 && isfinite(2 * clip) ? DP_OK
                                                                     : dp_fail(err, DP_E_USAGE, "--clip: %g has no grid", clip);
}

int dp_bounded_follow(const struct dp_frame *frame, double *bound, struct dp_err *err)
{
    double asked = dp_frame_real(frame, DP_F_BOUND, *bound);
    if (!(asked >= *bound * DP_BOUND_LEAST && asked <= *bound * DP_BOUND_MOST))
        return dp_fail(err, DP_E_RUN, "--follow: the frame of lap %lld asks for a bound of %g", (long long)frame->lap, asked);
    *bound = asked;
    return DP_OK;
}

int dp_bounded_sum(struct dp_batch_sum *batch_sum, struct dp_frame *frame, const struct dp_batch *batch, size_t outputs,
                   dp_batch_sum_update *update, void *context, enum dp_adjacency adjacency, double bound, struct dp_err *err)
{
    int64_t *sum;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_I64, outputs, batch->sum_cols, &sum, err);
    if (rc == DP_OK) {
        dp_batch_sum_make(batch_sum, batch, outputs, bound, update, context, sum);
        dp_bounded_state(frame, adjacency, bound);
    }
    return rc;
}

int dp_bounded_later(struct dp_batch_sum *batch_sum, struct dp_frame *frame, const struct dp_batch *batch, size_t outputs,
                     dp_batch_sum_update *update, void *context, struct dp_err *err)
{
    float *updates;
    int rc = dp_frame_make_array(frame, DP_F_UPDATES, DP_F32, batch->count, outputs, &updates, err);
    if (rc == DP_OK)
        dp_batch_sum_updates(batch_sum, batch, outputs, update, context, updates);
    return rc;
}

int dp_bounded_later_fits(size_t rows, size_t outputs, struct dp_err *err)
{
    return rows > DP_LIMIT_FRAME / 2 / (4 * outputs)
               ? dp_fail(err, DP_E_RUN, "the updates of %zu rows may not fit a frame: use --clip", rows)
               : DP_OK;
}
