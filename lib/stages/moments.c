/* dp-moments: the sum of x xᵀ over the rows of a lap. One person moves it by the square of a row's norm, so a bound on that
 * square is the sensitivity. */
#include <omp.h>

#include "base/mem.h"
#include "math/grid.h"
#include "math/loss.h"
#include "math/moments.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"

struct options {
    struct dp_row_options row;
    double label_bound, clip;
    bool labels, unit;
};

/* State of one thread. */
struct part {
    struct dp_moments moments;
    float *tail;  /* constant and label of a row */
    float *unit;  /* --unit: a row that is divided by its norm */
    int64_t *sum; /* NULL: the frame's */
};

struct state {
    struct dp_row_state row;
    double label;      /* bound on labels */
    size_t labels;     /* label columns after the row's own */
    size_t constant;   /* 1 if rows have a constant */
    struct part *part; /* threads */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_INTERCEPT_OPTION(row.intercept),
    DP_OPTION_FLAG(0, unit,
                   "divide each row, with its constant, by its norm, here and "
                   "after the transform that is made from the moments"),
    DP_OPTION_FLAG(0, labels, "append the label to each row: a number, -B or B for two classes, B in one of K columns for K"),
    DP_OPTION_REAL(0, label_bound, "B", DP_ABOVE_TO(0, 1e6), "bound on a label; larger numbers are cut (default 1)",
                   .needs = "labels", .single = true),
    DP_OPTION_REAL(
        'C', clip, "C", DP_ABOVE(0),
        "L2 bound on one person's moments, the square of a row's norm (default 1 + V^2 or, with --unit, 1; + B^2 with --labels)"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

static void moments_close(struct dp_stage *stage)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    for (int64_t t = 0; s->part != NULL && t < o->row.threads; t++) {
        dp_moments_close(&s->part[t].moments);
        free(s->part[t].tail);
        free(s->part[t].unit);
        free(s->part[t].sum);
    }
    free(s->part);
}

static int moments_open(struct dp_stage *stage, struct dp_err *err)
{
    (void)err;
    const struct options *o = stage->options;
    struct state *s = stage->state;
    double v = s->row.training.intercept;
    s->label = isnan(o->label_bound) ? 1 : (double)(float)o->label_bound;
    s->row.bound = !isnan(o->clip) ? o->clip : (o->unit ? 1 : 1 + v * v) + (o->labels ? s->label * s->label : 0);
    return DP_OK;
}

static void open_part(struct state *s, bool unit, int64_t t)
{
    struct part *p = &s->part[t];
    dp_moments_open(&p->moments, s->row.cols + s->labels, s->row.bound);
    p->tail = dp_new(1 + s->labels, sizeof *p->tail);
    if (unit)
        p->unit = dp_new(s->row.cols, sizeof *p->unit);
    if (t > 0)
        p->sum = dp_new(s->row.numbers, sizeof *p->sum);
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = o->labels ? dp_batch_classes(frame, &s->row.classes, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    s->constant = batch->intercept != 0 ? 1 : 0;
    s->labels = o->labels ? dp_loss_outputs(s->row.classes) : 0;
    size_t cols = s->row.cols + s->labels;
    if (s->row.cols == 0 || cols > DP_MOMENTS_MOST)
        return dp_fail(err, DP_E_RUN, "rows of %zu columns have no moments that fit a frame, which takes those of 1 to %d",
                       cols, DP_MOMENTS_MOST);
    s->row.numbers = dp_moments_size(cols);
    s->part = dp_new((size_t)o->row.threads, sizeof *s->part);
    for (int64_t t = 0; t < o->row.threads; t++)
        open_part(s, o->unit, t);
    return DP_OK;
}

/* Announces the constant column as a property of the rows, for the later laps of the run, too. */
static int announce(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    double v = s->row.training.intercept;
    if (dp_frame_has(frame, DP_F_MODEL) && dp_frame_real(frame, DP_F_INTERCEPT, 0) != v)
        return dp_fail(err, DP_E_RUN, "--intercept: %g, but the model has %g", v, dp_frame_real(frame, DP_F_INTERCEPT, 0));
    dp_frame_drop(frame, DP_F_INTERCEPT);
    if (v != 0)
        dp_frame_set_real(frame, DP_F_INTERCEPT, v);
    dp_frame_drop(frame, DP_F_UNIT_ROWS);
    if (o->unit)
        dp_frame_set_bool(frame, DP_F_UNIT_ROWS, true);
    return DP_OK;
}

/* False if the label is not a class or not finite: the row then adds nothing. */
static bool put_label(const struct state *s, double label, float *tail)
{
    float bound = (float)s->label;
    if (!isfinite(label) || (s->row.classes > 0 && (label < 0 || label >= (double)s->row.classes || floor(label) != label)))
        return false;
    for (size_t k = 0; k < s->labels; k++)
        tail[k] = s->row.classes > 2 && label != (double)k ? 0 : bound;
    if (s->row.classes == 0)
        tail[0] = dp_float_toward_zero(fmin(fmax(label, -s->label), s->label));
    else if (s->labels == 1 && label == 0)
        tail[0] = -bound;
    return true;
}

/* The row to add, and its constant. A row is not divided by a norm of 0 or one that is not finite. */
static struct dp_row as_asked(const struct options *o, const struct dp_batch *batch, size_t i, struct part *p)
{
    struct dp_row row = dp_batch_row(batch, i);
    double v = (double)batch->intercept, norm = o->unit ? sqrt(dp_row_norm2(row) + v * v) : 1;
    p->tail[0] = batch->intercept;
    if (!o->unit || !(norm > 0 && isfinite(norm)))
        return row;
    for (size_t j = 0; j < row.count; j++)
        p->unit[j] = dp_float_toward_zero((double)dp_row_value(&row, j) / norm);
    p->tail[0] = dp_float_toward_zero(v / norm);
    return dp_row_sparse(p->unit, row.columns, row.count);
}

/* Takes a row, with its tail in p. False if it adds nothing. */
static bool take_row(const struct options *o, const struct state *s, const struct dp_batch *batch, size_t i, struct part *p,
                     struct dp_row *row)
{
    *row = as_asked(o, batch, i, p);
    return !o->labels || put_label(s, dp_batch_label(batch, i), p->tail + s->constant);
}

/* All rows of one person, multiplied by the same number, so that the bound is on what they add together. */
static void add_person(const struct options *o, const struct state *s, const struct dp_batch *batch, struct part *p,
                       size_t from, size_t to, int64_t *sum)
{
    struct dp_row row;
    size_t tails = s->constant + s->labels;
    double total = 0;
    if (to - from == 1) {
        if (take_row(o, s, batch, from, p, &row))
            dp_moments_add(&p->moments, row, p->tail, tails, sum);
        return;
    }
    for (size_t i = from; i < to; i++) {
        double norm2 = take_row(o, s, batch, i, p, &row) ? dp_moments_norm2(row, p->tail, tails) : 0;
        total += isfinite(norm2) ? norm2 : 0;
    }
    double by = dp_moments_shrink(&p->moments, total, to - from);
    for (size_t i = from; i < to; i++)
        if (take_row(o, s, batch, i, p, &row) && isfinite(dp_moments_norm2(row, p->tail, tails)))
            dp_moments_add_by(&p->moments, by, row, p->tail, tails, sum);
}

/* Persons from … to − 1. */
static void add_persons(struct dp_stage *stage, const struct dp_batch *batch, struct part *p, size_t from, size_t to,
                        int64_t *sum)
{
    const struct state *s = stage->state;
    memset(sum, 0, s->row.numbers * sizeof *sum);
    for (size_t i = from; i < to; i++)
        add_person(stage->options, s, batch, p, batch->start != NULL ? batch->start[i] : i,
                   batch->start != NULL ? batch->start[i + 1] : i + 1, sum);
    dp_moments_flush(&p->moments, sum);
}

/* Whole numbers: the sum does not depend on which thread adds which rows. */
static void add_all(struct dp_stage *stage, const struct dp_batch *batch, int64_t *sum)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    size_t threads = (size_t)o->row.threads;
    if (threads < 2 || batch->persons < threads) {
        add_persons(stage, batch, s->part, 0, batch->persons, sum);
        return;
    }
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
    for (size_t t = 0; t < threads; t++)
        add_persons(stage, batch, &s->part[t], batch->persons * t / threads, batch->persons * (t + 1) / threads,
                    t == 0 ? sum : s->part[t].sum);
    for (size_t t = 1; t < threads; t++)
        for (size_t j = 0; j < s->row.numbers; j++)
            sum[j] += s->part[t].sum[j];
}

static int add(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, int64_t *sum, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    add_all(stage, batch, sum);
    dp_frame_set_real(frame, DP_F_GRID, dp_moments_grid(s->row.bound));
    if (s->labels > 0)
        dp_frame_set_int(frame, DP_F_LABEL_COLUMNS, (int64_t)s->labels);
    return DP_OK;
}

const struct dp_stage_class dp_moments_class = {
    .name = "dp-moments",
    .summary = "Sum the second moments of the rows",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows =
        &(const struct dp_row_stage){
            .transform = DP_TRANSFORM_IGNORED, .means = DP_MEANS_MOMENTS, .before = announce, .shape = shape, .add = add},
    .open = moments_open,
    .close = moments_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
