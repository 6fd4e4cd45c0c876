/* dp-clip: turns updates per example into a sum that one person can move by at most C. */

#include "base/mem.h"
#include "math/grid.h"
#include "stages/announced.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"
#include "wire/laps.h"

struct options {
    struct dp_row_options row;
    double clip, adaptive, rate, most;
    bool follow, keep_batch;
};

struct state {
    struct dp_row_state row;
    struct dp_batch_sum batch_sum;
    double *zeta;    /* threads × classes: one row's updates */
    int64_t *within; /* for each thread (dp_apart): the number of rows within the bound, less the number beyond it */
    size_t classes;  /* updates of a row */
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on one person's contribution", .required = true),
    DP_OPTION_REAL(0, adaptive, "QUANTILE", DP_ABOVE_BELOW(0, 1),
                   "let the bound follow this quantile of the norms; the count of norms within the bound is a separate query"),
    DP_OPTION_REAL(0, rate, "ETA", DP_ABOVE_TO(0, 10), "speed with which the bound follows", .name = "adaptive-rate",
                   .fallback = "0.2"),
    DP_OPTION_REAL(0, most, "MOST", DP_ABOVE(0), "upper limit of the bound", .name = "adaptive-most", .needs = "adaptive",
                   .at_least = "clip"),
    DP_OPTION_FLAG(0, follow, "use the frame's bound, chosen from released values, instead of C", .excludes = "adaptive"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_OPTION_FLAG(0, keep_batch, "leave the rows in the frame, for dp-linesearch --same-batch"),
    DP_THREADS_AUTO_OPTION(row.threads),
    {.name = NULL},
};

static void clip_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_batch_sum_close(&s->batch_sum);
    free(s->zeta);
    free(s->within);
}

static int clip_open(struct dp_stage *stage, struct dp_err *err)
{
    (void)err;
    const struct options *o = stage->options;
    struct state *s = stage->state;
    dp_batch_sum_allow(&s->batch_sum, o->row.threads);
    s->row.keep = o->keep_batch;
    return DP_OK;
}

static int set_shape(struct state *s, size_t threads, size_t classes, struct dp_err *err)
{
    if (s->zeta != NULL)
        return classes == s->classes ? DP_OK : dp_fail(err, DP_E_RUN, "the updates change their shape during the run");
    s->classes = classes;
    s->zeta = dp_new(threads * dp_apart(classes, sizeof(double)), sizeof(double));
    s->within = dp_new(threads * dp_apart(1, sizeof *s->within), sizeof *s->within);
    return DP_OK;
}

/* C of this lap: the frame's bound or, from the count of the lap before, C_{t+1} = C_t e^{−eta (b − quantile)}, b the released
 * part of the expected batch that was within C_t (Andrew, Thakkar, McMahan, Ramaswamy 2019, Algorithm 1). It depends only on
 * released values and public numbers. */
static int next_bound(const struct options *o, struct dp_frame *frame, double *bound, struct dp_err *err)
{
    const struct dp_record *m = dp_frame_record(frame, DP_F_NONE);
    double last = dp_frame_real(frame, DP_F_BOUND, 0);
    const struct dp_array *count;
    *bound = o->clip;
    if (o->follow)
        return dp_bounded_follow(frame, bound, err);
    if (isnan(o->adaptive) || !dp_frame_has(frame, DP_F_WITHIN))
        return DP_OK;
    int rc = dp_frame_need_array(frame, DP_F_WITHIN, DP_I64, 2, &count, err);
    if (rc == DP_OK && (count->count != 1 || !(last > 0)))
        rc = dp_fail(err, DP_E_RUN, "the count of the lap before lap %lld is not one number with a bound",
                     (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    double within = 0.5 + 0.5 * (double)*(int64_t *)count->data / (m->rate * (double)m->rows);
    within = fmin(fmax(within, 0), 1);
    *bound =
        fmin(fmax(last * (float)exp(-o->rate * (within - o->adaptive)), o->clip * DP_BOUND_LEAST), o->clip * DP_BOUND_MOST);
    *bound = fmin(*bound, isnan(o->most) ? INFINITY : o->most);
    return DP_OK;
}

/* The count query on the same batch as the sum: one person moves it by 1/2, or by 1 if rows are exchanged. */
static int record_count(struct dp_frame *frame, int64_t count, struct dp_err *err)
{
    int64_t *cell;
    int rc = dp_frame_make_array(frame, DP_F_WITHIN, DP_I64, 1, 1, &cell, err);
    if (rc != DP_OK)
        return rc;
    *cell = count;
    struct dp_record record = *dp_frame_record(frame, DP_F_SUM);
    dp_record_bound(&record, DP_F_WITHIN, record.adjacency, 0.5);
    return dp_frame_add_record(frame, &record, err);
}

/* The released count stays in the frame until the next one: a lap of another kind would have a count that it has not paid for.
 */
static int check_followers(const struct dp_stage *stage, const struct dp_frame *hello, struct dp_err *err)
{
    struct dp_laps laps = {0};
    int rc = dp_laps_parse(&laps, dp_frame_text(hello, DP_F_KINDS, ""), err);
    int kind = rc == DP_OK ? dp_laps_find(&laps, stage->on) : -1;
    for (size_t i = 1; rc == DP_OK && i < laps.pieces; i++)
        if (laps.piece[i - 1].kind == kind)
            rc = dp_fail(err, DP_E_USAGE, "--adaptive: no laps of another kind may follow those of kind '%s'", stage->on);
    dp_laps_free(&laps);
    return rc;
}

/* The announced record of its laps; an adaptive bound begins at --clip. */
static int clip_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_record *open;
    int rc = !isnan(o->adaptive) && stage->on != NULL ? check_followers(stage, frame, err) : DP_OK;
    for (int at = 0; rc == DP_OK && (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(o->row.adjacency), o->clip);
        open->follows |= o->follow ? DP_FOLLOWS_BOUND : 0;
        struct dp_record count = *open;
        dp_record_bound(&count, DP_F_WITHIN, count.adjacency, 0.5);
        count.means = DP_MEANS_NONE;
        if (!isnan(o->adaptive))
            rc = dp_frame_add_record(frame, &count, err);
    }
    return rc;
}

/* Arguments of the updates of a lap. */
struct lap {
    const struct state *state;
    const struct dp_batch *batch;
    const float *updates; /* updates of all rows */
    double bound;
};

static void clip_block(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    const struct lap *lap = context;
    const struct state *s = lap->state;
    if (block->together) {
        memcpy(coefficient, lap->updates + block->first * s->classes, block->count * s->classes * sizeof *coefficient);
        return;
    }
    double *zeta = s->zeta + thread * dp_apart(s->classes, sizeof *zeta);
    int64_t *within = s->within + thread * dp_apart(1, sizeof *within);
    for (size_t i = block->first; i < block->first + block->count; i++, coefficient += s->classes) {
        double norm2 = dp_batch_norm2(lap->batch, i), length2 = 0;
        for (size_t k = 0; k < s->classes; k++) {
            zeta[k] = (double)lap->updates[i * s->classes + k];
            length2 += zeta[k] * zeta[k];
        }
        dp_grid_clip(zeta, s->classes, lap->bound, norm2, dp_batch_entries(lap->batch, i), coefficient);
        if (isfinite(length2 * norm2)) /* otherwise the row contributes nothing here, either */
            *within += length2 * fmax(norm2, 1) <= lap->bound * lap->bound ? 1 : -1;
    }
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_array *updates;
    int64_t within = 0;
    double bound = 0;
    (void)model;
    int rc = dp_frame_need_array(frame, DP_F_UPDATES, DP_F32, 2, &updates, err);
    if (rc == DP_OK && updates->dims[0] != batch->count)
        rc = dp_fail(err, DP_E_RUN, "lap %lld does not have an update for each row", (long long)frame->lap);
    if (rc == DP_OK && dp_frame_record(frame, DP_F_NONE)->release == DP_RELEASE_NONE)
        rc = dp_fail(err, DP_E_UNSAFE, "the updates of lap %lld do not record what they depend on", (long long)frame->lap);
    rc = rc ?: next_bound(o, frame, &bound, err);
    rc = rc ?: set_shape(s, (size_t)s->batch_sum.threads, updates->dims[1], err);
    if (rc != DP_OK)
        return rc;
    struct lap lap = {s, batch, updates->data, bound};
    memset(s->within, 0, (size_t)s->batch_sum.threads * dp_apart(1, sizeof *s->within) * sizeof *s->within);
    rc = dp_bounded_sum(&s->batch_sum, frame, batch, s->classes, clip_block, &lap, dp_adjacency_chosen(o->row.adjacency), bound,
                        err);
    within = s->batch_sum.within;
    for (size_t t = 0; t < (size_t)s->batch_sum.threads; t++)
        within += s->within[t * dp_apart(1, sizeof *s->within)];
    if (rc == DP_OK && !isnan(o->adaptive))
        rc = record_count(frame, within, err);
    dp_frame_drop(frame, DP_F_UPDATES);
    return rc;
}

const struct dp_stage_class dp_clip_class = {
    .name = "dp-clip",
    .summary = "Bound each example's contribution and sum",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows = &(const struct dp_row_stage){.transform = DP_TRANSFORM_APPLIED, .lap = lap},
    .open = clip_open,
    .hello = clip_hello,
    .close = clip_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
