/* dp-clip: from updates per example to a sum that one person can move by at most C. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "math/grid.h"
#include "stages/gather.h"
#include "stages/stages.h"

struct options {
    const char *data;
    double clip;
    int adjacency;
    int64_t threads;
};

struct state {
    struct dp_dataset *dataset;
    struct dp_batch_seen seen;
    struct dp_gather gather;
    double *zeta; /* one row's updates, classes entries */
    size_t classes, cols;
};

static const struct dp_option options[] = {
    {.name = "data", .letter = 'd', .kind = DP_OPT_TEXT, .offset = offsetof(struct options, data), .metavar = "DIR",
     .help = "the data set that the rows are numbers of; not needed when they are inline"},
    {.name = "clip", .letter = 'C', .kind = DP_OPT_REAL, .offset = offsetof(struct options, clip), .metavar = "C",
     .help = "L2 bound on one person's contribution", .min = 0, .max = INFINITY,
     .flags = DP_OPT_REQUIRED | DP_OPT_OPEN_MIN},
    {.name = "adjacency", .kind = DP_OPT_CHOICE, .offset = offsetof(struct options, adjacency), .metavar = "HOW",
     .help = "what one person can change", .fallback = "null-record", .choices = "null-record|replace-one"},
    {.name = "threads", .letter = 't', .kind = DP_OPT_INT, .offset = offsetof(struct options, threads), .metavar = "N",
     .help = "threads for the sum", .fallback = "1", .min = 1, .max = 256},
    {.name = NULL},
};

static void clip_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_dataset_close(s->dataset);
    dp_gather_close(&s->gather);
    free(s->seen.bits);
    free(s->zeta);
}

static int clip_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    return o->data != NULL ? dp_dataset_open(&s->dataset, o->data, err) : DP_OK;
}

static int set_shape(struct dp_stage *stage, size_t classes, size_t cols, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (s->zeta != NULL)
        return classes == s->classes && cols == s->cols
                   ? DP_OK
                   : dp_fail(err, DP_E_RUN, "the updates change their shape during the run");
    s->classes = classes;
    s->cols = cols;
    int rc = dp_alloc(&s->zeta, classes, sizeof(double), err);
    return rc != DP_OK ? rc : dp_gather_open(&s->gather, (int)o->threads, classes, cols, err);
}

static int clip_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_batch batch;
    struct dp_array *updates;
    struct dp_mechanism *m = dp_frame_mechanism(frame);
    int64_t *sum;
    int rc = dp_batch_read(&batch, frame, s->dataset, &s->seen, err);
    if (rc == DP_OK)
        rc = dp_frame_need_array(frame, DP_F_UPDATES, DP_F32, 2, &updates, err);
    if (rc == DP_OK && updates->dims[0] != batch.count)
        rc = dp_fail(err, DP_E_RUN, "lap %lld does not have an update for each row", (long long)frame->lap);
    if (rc == DP_OK && m->release == DP_RELEASE_NONE)
        rc = dp_fail(err, DP_E_UNSAFE, "the updates of lap %lld do not record what they depend on",
                     (long long)frame->lap);
    if (rc == DP_OK)
        rc = set_shape(stage, updates->dims[1], batch.cols, err);
    if (rc == DP_OK)
        rc = dp_frame_make_array(frame, DP_F_SUM, DP_I64, s->classes, s->cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    float *update = updates->data;
    for (size_t i = 0; i < batch.count; i++, update += s->classes) {
        for (size_t k = 0; k < s->classes; k++)
            s->zeta[k] = (double)update[k];
        dp_grid_clip(s->zeta, s->classes, o->clip, dp_batch_norm2(&batch, i), dp_batch_entries(&batch, i), update);
    }
    double grid = dp_grid_for(o->clip);
    dp_gather_sum(&s->gather, &batch, updates->data, s->classes, grid, sum);
    m->adjacency = o->adjacency == 0 ? DP_ADJACENCY_NULL_RECORD : DP_ADJACENCY_REPLACE_ONE;
    m->bound = o->clip;
    m->sensitivity = o->adjacency == 0 ? o->clip : 2 * o->clip;
    dp_frame_set_real(frame, DP_F_BOUND, o->clip);
    dp_frame_set_real(frame, DP_F_GRID, grid);
    dp_frame_drop(frame, DP_F_UPDATES);
    dp_frame_drop(frame, DP_F_ROWS);
    dp_frame_drop(frame, DP_F_X);
    dp_frame_drop(frame, DP_F_Y);
    frame->label = DP_LABEL_BOUNDED;
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_clip_class = {
    .name = "dp-clip",
    .summary = "Bound each example's contribution and sum",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .open = clip_open,
    .fire = clip_fire,
    .close = clip_close,
};
