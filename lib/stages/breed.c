/* dp-breed: makes the candidates of a lap by crossover and mutation of the models chosen last. It comes before the stages that
 * read rows: everything that it reads and makes is public. */

#include "base/mem.h"
#include "data/dataset.h"
#include "math/loss.h"
#include "math/power.h"
#include "model/family.h"
#include "stages/shared_options.h"
#include "stages/stages.h"
#include "wire/codec.h"

struct options {
    const char *data;
    int64_t offspring, parents;
    double spread, mutation, decay, chance, intercept;
};

struct state {
    struct dp_form form;
    size_t size;        /* entries of a model */
    double *parent;     /* parents × size: the models that the last laps began with */
    size_t known, next; /* number of parents, and index for the next one */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_TEXT('d', data, "DIR", "data set with the columns and classes of the models; no row is read", .required = true),
    DP_OPTION_INT('m', offspring, "M", DP_FROM_TO(1, 1e6), "candidates in each lap", .fallback = "200", .at_least = "parents"),
    DP_OPTION_INT('P', parents, "P", DP_FROM_TO(1, 1e6), "candidates are made from the last P models; at most M",
                  .fallback = "10"),
    DP_OPTION_REAL(0, spread, "S", DP_FROM_TO(0, 1e100), "missing models have random entries within S of zero",
                   .fallback = "1"),
    DP_OPTION_REAL('s', mutation, "S", DP_FROM_TO(0, 1e100), "largest change of an entry in the first lap", .fallback = "1"),
    DP_OPTION_REAL(0, decay, "PART", DP_ABOVE_TO(0, 1), "each lap has this part of the largest change in the lap before",
                   .fallback = "1"),
    DP_OPTION_REAL(0, chance, "P", DP_FROM_TO(0, 1), "probability that an entry changes", .fallback = "0.3"),
    DP_INTERCEPT_OPTION(intercept),
    {.name = NULL},
};

static void breed_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    free(s->parent);
}

/* Reads only the columns and classes of the data set, which are public. */
static int read_shape(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_dataset *d = NULL;
    int rc = dp_dataset_open(&d, o->data, err);
    if (rc == DP_OK)
        s->form = dp_form_for(&dp_family_linear, d->cols, dp_loss_outputs(d->label.classes), (double)(float)o->intercept);
    dp_dataset_close(d);
    s->size = s->form.rows * s->form.cols;
    return rc;
}

static int breed_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = read_shape(stage, err);
    if (rc == DP_OK && s->size > DP_LIMIT_FRAME / 2 / sizeof(double) / (size_t)o->offspring)
        rc = dp_fail(err, DP_E_USAGE, "--offspring: %lld models of %zu entries do not fit a frame", (long long)o->offspring,
                     s->size);
    if (rc == DP_OK)
        s->parent = dp_new((size_t)o->parents * s->size, sizeof *s->parent);
    return rc;
}

/* The model that the lap begins with becomes a parent, in place of the oldest. */
static int remember(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_array *model;
    double intercept = dp_frame_real(frame, DP_F_INTERCEPT, 0);
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    if (rc == DP_OK && intercept != s->form.intercept)
        rc = dp_fail(err, DP_E_RUN, "--intercept: %g, but the model to start from has %g", s->form.intercept, intercept);
    if (rc == DP_OK && (model->dims[0] != s->form.rows || model->dims[1] != s->form.cols))
        rc = dp_fail(err, DP_E_RUN, "the model is %llu × %llu, the data needs %zu × %zu", (unsigned long long)model->dims[0],
                     (unsigned long long)model->dims[1], s->form.rows, s->form.cols);
    if (rc != DP_OK)
        return rc;
    memcpy(s->parent + s->next * s->size, model->data, s->size * sizeof *s->parent);
    s->next = (s->next + 1) % (size_t)o->parents;
    s->known += s->known < (size_t)o->parents;
    return DP_OK;
}

/* Uniform on [−1, 1). */
static double around_zero(struct dp_stream *stream)
{
    return 2 * dp_stream_real(stream) - 1;
}

/* Each entry comes from one of two parents, and may mutate. Missing parents are drawn at random. */
static void make(struct dp_stage *stage, struct dp_stream *stream, double mutation, double *child)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    size_t parent[2];
    for (int i = 0; i < 2; i++)
        parent[i] = (size_t)dp_stream_below(stream, (uint64_t)o->parents);
    for (size_t j = 0; j < s->size; j++) {
        size_t from = parent[dp_stream_next(stream) >> 63];
        child[j] = from < s->known ? s->parent[from * s->size + j] : o->spread * around_zero(stream);
        if (dp_stream_real(stream) < o->chance)
            child[j] += mutation * around_zero(stream);
    }
}

static int breed_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    double *candidates, mutation = o->mutation * dp_power(o->decay, stage->turn - 1);
    struct dp_stream stream;
    int rc = dp_frame_has(frame, DP_F_MODEL) ? remember(stage, frame, err) : DP_OK;
    if (rc == DP_OK && !dp_frame_has(frame, DP_F_MODEL) && s->form.intercept != 0)
        dp_frame_set_real(frame, DP_F_INTERCEPT, s->form.intercept);
    rc = rc ?: dp_frame_make_array(frame, DP_F_CANDIDATES, DP_F64, (uint64_t)o->offspring, s->size, &candidates, err);
    if (rc != DP_OK)
        return rc;
    dp_stream_start(&stream, &stage->key, DP_DRAW_OFFSPRING, (uint64_t)frame->lap);
    for (int64_t i = 0; i < o->offspring; i++)
        make(stage, &stream, mutation, candidates + (size_t)i * s->size);
    return out->frame(out, frame, err);
}

static int breed_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    dp_state_put_int(state, "next", (int64_t)s->next);
    dp_state_put_reals(state, "parents", s->parent, s->known * s->size);
    return DP_OK;
}

static int breed_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    double *parents = NULL;
    size_t count = 0;
    int64_t next = 0;
    int rc = dp_state_get_int(state, "next", 0, o->parents - 1, &next, err);
    rc = rc ?: dp_state_get_reals(state, "parents", &parents, &count, err);
    if (rc == DP_OK && (count % s->size != 0 || count > (size_t)o->parents * s->size))
        rc = dp_fail(err, DP_E_RUN, "the parents of the checkpoint are not %lld models of %zu entries", (long long)o->parents,
                     s->size);
    if (rc == DP_OK && count > 0)
        memcpy(s->parent, parents, count * sizeof *parents);
    s->known = count / s->size;
    s->next = (size_t)next;
    free(parents);
    return rc;
}

const struct dp_stage_class dp_breed_class = {
    .name = "dp-breed",
    .summary = "Make new candidates from the models that were chosen last",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .open = breed_open,
    .fire = breed_fire,
    .close = breed_close,
    .save = breed_save,
    .restore = breed_restore,
};
