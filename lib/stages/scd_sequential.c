/* seqDP-SCD, Algorithm 3: within a lap each update uses the ones before it, so one person may change them all. */

#include "base/mem.h"
#include "math/grid.h"
#include "stages/scd.h"

/* The public cap on the updates of one lap. Poisson batches may be larger, and the sensitivity depends on the cap. */
static size_t lap_cap(const struct dp_record *m)
{
    return (size_t)fmax(1.0, ceil(m->rate * (double)m->rows));
}

int dp_scd_sequential(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                      struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    const struct dp_scd_options *o = stage->options;
    struct dp_record *m = dp_frame_edit_record(frame, DP_F_NONE);
    double grid = dp_grid_for(o->clip);
    size_t cap = lap_cap(m), count = batch->count < cap ? batch->count : cap, start = 0;
    int64_t *sum;
    int rc = dp_scd_noise_alpha(stage, frame, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_SUM, DP_I64, s->outputs, s->row.cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    dp_extend(&s->last_id, &s->last_capacity, cap, sizeof(int64_t));
    if (batch->count > cap) { /* rows are in order: start at a random one, so that every row can be used */
        struct dp_stream stream;
        dp_stream_start(&stream, &stage->key, DP_DRAW_BATCH, (uint64_t)frame->lap);
        start = dp_stream_below(&stream, batch->count);
    }
    memset(sum, 0, s->outputs * s->row.cols * sizeof *sum);
    memcpy(s->work, model, s->outputs * s->row.cols * sizeof *s->work);
    for (size_t n = 0; n < count; n++) {
        size_t i = (start + n) % batch->count;
        struct dp_row row = dp_batch_row(batch, i);
        double norm2 = dp_row_norm2(row), label = dp_batch_label(batch, i);
        double *alpha = s->alpha + (size_t)batch->id[i] * s->outputs;
        float *coefficient = s->coefficient;
        for (size_t k = 0; k < s->outputs; k++) {
            double u = dp_row_dot(row, s->work + k * s->row.cols) / s->lambda_n;
            s->zeta[k] = dp_dual_update((enum dp_loss)o->row.loss, o->row.width, dp_scd_target(s, label, k), alpha[k], u,
                                        o->sigma_prime_scale * norm2 / s->lambda_n, (int)o->newton);
        }
        dp_grid_clip(s->zeta, s->outputs, o->clip, norm2, row.count, coefficient);
        for (size_t k = 0; k < s->outputs; k++) {
            alpha[k] += (double)coefficient[k];
            if (coefficient[k] == 0)
                continue;
            dp_row_axpy((double)coefficient[k], row, s->work + k * s->row.cols);
            dp_row_add_grid(coefficient[k], 1 / grid, row, sum + k * s->row.cols);
        }
        s->last_id[n] = batch->id[i];
    }
    s->last_count = count;
    s->last_lap = frame->lap;
    /* All `cap` updates may change sign: v moves by 2C cap, alpha by 2C √cap. */
    double updates = (double)cap;
    dp_scd_record(s, frame, DP_RELEASE_SUM_AND_STATE)->sensitivity = 2 * o->clip * sqrt(updates * (updates + 1));
    return DP_OK;
}
