/* DP-SCD, Algorithm 1: one lap, every update from the same v. */

#include "base/mem.h"
#include "math/grid.h"
#include "stages/labels.h"
#include "stages/scd.h"

/* Arguments of the updates of a lap. */
struct lap {
    struct dp_scd *s;
    const struct dp_batch *batch;
    const double *model;
    double sigma_prime, clip; /* clip: infinite without --clip */
};

/* Updates of a block and what they are computed from, rows × outputs each. */
struct work {
    double *target, *alpha, *score, *curvature, *zeta;
};

static struct work work_of(const struct dp_scd *s, size_t thread)
{
    size_t size = DP_ROWS * s->outputs;
    double *own = s->blocks + thread * dp_apart(DP_SCD_BLOCKS * size, sizeof *own);
    return (struct work){own, own + size, own + 2 * size, own + 3 * size, own + 4 * size};
}

/* With the weight w of its class, the loss of a row is w l, and its conjugate is w l*(·/w). So w zeta minimises the row's
 * subproblem if zeta is the update for l, alpha/w and w s. The clip comes after the weight. */
static double weight_of(const struct dp_scd *s, double label)
{
    bool known = dp_labels_take((enum dp_loss)s->options->row.loss, s->row.classes, label);
    return known ? dp_class_weight(&s->row.weights, label) : 1;
}

/* The updates of a block, clipped when there is a bound. alpha moves by exactly the same updates, to the last bit. */
static void update_block(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    const struct lap *lap = context;
    const struct dp_scd *s = lap->s;
    const struct dp_scd_options *o = s->options;
    const struct work w = work_of(s, thread);
    size_t entries[DP_ROWS], size = block->count * s->outputs;
    double norm2[DP_ROWS], weight[DP_ROWS], *alpha[DP_ROWS];
    for (size_t i = 0; i < block->ahead; i++)
        __builtin_prefetch(s->alpha + (size_t)lap->batch->id[block->first + block->count + i] * s->outputs, 1);
    dp_rows_dot(block->row, block->count, block->next, lap->model, s->outputs, s->row.cols, w.score, norm2);
    for (size_t i = 0, at = 0; i < block->count; i++) {
        double label = dp_batch_label(lap->batch, block->first + i);
        alpha[i] = s->alpha + (size_t)lap->batch->id[block->first + i] * s->outputs;
        entries[i] = block->row[i].count;
        weight[i] = weight_of(s, label);
        for (size_t k = 0; k < s->outputs; k++, at++) {
            w.target[at] = dp_scd_target(s, label, k);
            w.alpha[at] = alpha[i][k] / weight[i];
            w.curvature[at] = weight[i] * lap->sigma_prime * norm2[i];
        }
    }
    for (size_t at = 0; at < size; at++) {
        w.score[at] /= s->lambda_n;
        w.curvature[at] /= s->lambda_n;
    }
    dp_dual_updates((enum dp_loss)o->row.loss, o->row.width, w.target, w.alpha, w.score, w.curvature, (int)o->newton, w.zeta,
                    size);
    for (size_t at = 0; at < size; at++)
        w.zeta[at] *= weight[at / s->outputs];
    dp_grid_clip_rows(w.zeta, s->outputs, lap->clip, norm2, entries, block->count, coefficient);
    for (size_t i = 0, at = 0; i < block->count; i++)
        for (size_t k = 0; k < s->outputs; k++, at++)
            alpha[i][k] += (double)coefficient[at];
}

static void keep_batch(struct dp_scd *s, const struct dp_frame *frame, const struct dp_batch *batch)
{
    dp_extend(&s->last_id, &s->last_capacity, batch->count + 1, sizeof(int64_t));
    if (batch->count > 0)
        memcpy(s->last_id, batch->id, batch->count * sizeof(int64_t));
    s->last_count = batch->count;
    s->last_lap = frame->lap;
}

int dp_scd_parallel(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                    struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    const struct dp_scd_options *o = stage->options;
    struct dp_record *m = dp_frame_edit_record(frame, DP_F_NONE);
    struct lap lap = {.s = s,
                      .batch = batch,
                      .model = model,
                      .sigma_prime = dp_scd_sigma_prime(s, m),
                      .clip = isnan(o->clip) ? (double)INFINITY : o->clip};
    int rc = o->release_alpha ? dp_scd_noise_alpha(stage, frame, err) : DP_OK;
    if (rc == DP_OK && o->release_alpha)
        keep_batch(s, frame, batch);
    if (rc != DP_OK)
        return rc;
    m->release = o->release_alpha ? DP_RELEASE_SUM_AND_STATE : DP_RELEASE_SECRET_STATE;
    if (isnan(o->clip))
        return dp_bounded_later(&s->batch_sum, frame, batch, s->outputs, update_block, &lap, err);
    return dp_bounded_sum(&s->batch_sum, frame, batch, s->outputs, update_block, &lap, dp_adjacency_chosen(o->row.adjacency),
                          o->clip, err);
}
