/* DP-SCD, Algorithm 1: one lap, every update from the same v. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "math/grid.h"
#include "stages/scd.h"

/* The updates of row i, clipped when there is a bound. alpha moves by what is sent on, to the last bit. */
static void update_row(struct dp_scd *s, const struct dp_batch *batch, const double *model, double sigma_prime, size_t i,
                       double *zeta)
{
    const struct dp_scd_options *o = s->options;
    struct dp_row row = dp_batch_row(batch, i);
    double label = dp_batch_label(batch, i);
    if (i + 2 < batch->count) /* sampled rows lie far apart: the CPU does not guess the next */
        dp_row_prefetch(dp_batch_row(batch, i + 2));
    double norm2 = dp_row_norm2(row);
    double curvature = sigma_prime * norm2 / s->lambda_n;
    double *alpha = s->alpha + (size_t)batch->id[i] * s->outputs;
    float *coefficient = s->coefficient + i * s->outputs;
    for (size_t k = 0; k < s->outputs; k++) {
        double u = dp_row_dot(row, model + k * s->cols) / s->lambda_n;
        zeta[k] =
            dp_dual_update((enum dp_loss)o->loss, o->width, dp_scd_target(s, label, k), alpha[k], u, curvature, (int)o->newton);
    }
    dp_grid_clip(zeta, s->outputs, isnan(o->clip) ? (double)INFINITY : o->clip, norm2, row.count, coefficient);
    for (size_t k = 0; k < s->outputs; k++)
        alpha[k] += (double)coefficient[k];
}

static int keep_batch(struct dp_scd *s, const struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    int rc = dp_grow(&s->last_id, &s->last_capacity, batch->count + 1, sizeof(int64_t), err);
    if (rc != DP_OK)
        return rc;
    if (batch->count > 0)
        memcpy(s->last_id, batch->id, batch->count * sizeof(int64_t));
    s->last_count = batch->count;
    s->last_lap = frame->lap;
    return DP_OK;
}

int dp_scd_parallel(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                    struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    const struct dp_scd_options *o = stage->options;
    struct dp_record *m = dp_frame_edit_record(frame, DP_F_NONE);
    double sigma_prime = dp_scd_sigma_prime(s, m);
    int threads = (int)o->threads;
    int rc = o->release_alpha ? dp_scd_noise_alpha(stage, frame, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t i = 0; i < batch->count; i++)
            update_row(s, batch, model, sigma_prime, i, s->zeta + (size_t)omp_get_thread_num() * s->outputs);
    } else {
        for (size_t i = 0; i < batch->count; i++)
            update_row(s, batch, model, sigma_prime, i, s->zeta);
    }
    if (o->release_alpha)
        rc = keep_batch(s, frame, batch, err);
    if (rc != DP_OK)
        return rc;

    m->release = o->release_alpha ? DP_RELEASE_SUM_AND_STATE : DP_RELEASE_SECRET_STATE;
    if (isnan(o->clip))
        return dp_bounded_later(frame, batch, s->coefficient, s->outputs, err);
    return dp_bounded_sum(&s->gather, frame, batch, s->coefficient, s->outputs, dp_adjacency_chosen(o->adjacency), o->clip,
                          err);
}
