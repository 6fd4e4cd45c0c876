/* dp-select: chooses the candidate with which the run continues, by the losses of a batch. Only the number that the exponential
 * mechanism has chosen is released; the losses are not. */
#include <float.h>

#include "base/mem.h"
#include "math/choose.h"
#include "math/grid.h"
#include "math/scores.h"
#include "model/candidates.h"
#include "model/method.h"
#include "stages/announced.h"
#include "stages/bounded.h"
#include "stages/labels.h"
#include "stages/ranking.h"
#include "stages/shared_options.h"
#include "stages/stages.h"

struct options {
    const char *data;
    int loss, adjacency;
    double width, lambda, epsilon, clip;
    int64_t threads;
    bool relative;
};

struct state {
    struct dp_reader reader;
    struct dp_form form; /* of the model */
    struct dp_ranking ranking;
    size_t rows;
    bool announced; /* the frame says what the model is */
    double *mean;   /* mean of the candidates */
    int64_t *score;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    DP_LOSS_OPTION(loss, DP_LOSS_CHOICES, "what is to be small"),
    DP_LOSS_WIDTH_OPTION(width),
    DP_LAMBDA_OPTION(lambda, "L2 regularisation"),
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "what a choice costs", .required = true),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "bound on the difference of one person's losses under two candidates",
                   .required = true),
    DP_OPTION_FLAG(0, relative, "the bound is C times the largest distance of a candidate from their mean"),
    DP_ADJACENCY_OPTION(adjacency),
    DP_THREADS_OPTION(threads),
    {.name = NULL},
};

static void select_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_reader_close(&s->reader);
    dp_ranking_close(&s->ranking);
    free(s->mean);
    free(s->score);
}

/* Completes an open record. A choice has no scale: the noise is in how it was made. */
static void complete(const struct options *o, struct dp_record *record)
{
    record->release = DP_RELEASE_SUM;
    dp_record_bound(record, DP_F_CHOICE, dp_adjacency_chosen(o->adjacency), o->clip);
    record->query = (struct dp_query){.kind = DP_QUERY_EXPONENTIAL, .epsilon = o->epsilon};
    record->scale = 0;
}

/* The difference of scores, in steps of the grid, that makes a choice e times less likely. Rounded up. */
static double scale_of(const struct options *o)
{
    struct dp_record record = {0};
    complete(o, &record);
    return record.sensitivity / dp_grid_for(o->clip) / o->epsilon * (1 + 4 * DBL_EPSILON); /* the grid is a power of two */
}

static int select_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = dp_bounded_check_clip(o->clip, err);
    if (rc != DP_OK)
        return rc;
    if (!(scale_of(o) > 0 && scale_of(o) <= DP_CHOOSE_MOST))
        return dp_fail(err, DP_E_USAGE, "--epsilon: %g is out of range: its noise does not fit the grid of the losses",
                       o->epsilon);
    return dp_reader_open(&s->reader, o->data, err);
}

/* The announced record of its laps. */
static int select_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    struct dp_record *open;
    int rc = DP_OK;
    if (s->reader.dataset != NULL)
        rc = dp_labels_check((enum dp_loss)o->loss, s->reader.dataset->classes, s->reader.dataset, o->data, err);
    for (int at = 0; (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        complete(stage->options, open);
        open->means = DP_MEANS_CHOICE;
    }
    return rc;
}

/* Announces the model in the frame. dp-breed has announced its intercept. */
static int announce(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_training training = {.method = &dp_method_selection,
                                         .family = &dp_family_linear,
                                         .loss = (enum dp_loss)o->loss,
                                         .width = isnan(o->width) ? dp_losses[o->loss].width : o->width,
                                         .lambda = o->lambda,
                                         .intercept = dp_frame_real(frame, DP_F_INTERCEPT, 0),
                                         .scale = 1};
    int rc = dp_training_announce(&training, frame, err);
    s->announced = rc == DP_OK;
    return rc;
}

/* Sets the shapes, which are known at the first frame. */
static int set_shape(struct dp_stage *stage, const struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_line line = {.loss = (enum dp_loss)o->loss, .width = dp_frame_real(frame, DP_F_LOSS_WIDTH, 0)};
    const struct dp_array *candidates;
    int rc = dp_batch_classes(frame, &line.classes, err);
    rc = rc ?: dp_labels_check(line.loss, line.classes, s->reader.dataset, o->data, err);
    if (rc != DP_OK)
        return rc;
    line.outputs = dp_loss_outputs(line.classes);
    s->rows = (size_t)dp_frame_record(frame, DP_F_NONE)->rows;
    s->form = dp_form_for(&dp_family_linear, batch->features, line.outputs, (double)batch->intercept);
    rc = dp_candidates_read(frame, s->form.rows * s->form.cols, &candidates, err);
    rc = rc ?: DP_ALLOC_ALL(err, DP_ARRAY(s->mean, s->form.rows * s->form.cols), DP_ARRAY(s->score, candidates->dims[0]));
    return rc ?: dp_ranking_open(&s->ranking, &line, &s->form, candidates->dims[0], o->clip, (int)o->threads, err);
}

/* N q lambda/2 ‖w‖² in units of the losses, as a whole number; values beyond all sums of losses are cut to that range. */
static int64_t regulariser(const struct options *o, const struct dp_frame *frame, const double *w, size_t size, double unit)
{
    const struct dp_record *record = dp_frame_record(frame, DP_F_NONE);
    const double most = 0x1p62;
    double norm2 = 0;
    for (size_t j = 0; j < size; j++)
        norm2 += w[j] * w[j];
    double x = record->rate * (double)record->rows * o->lambda / 2 * norm2 / unit / dp_grid_for(o->clip);
    return x <= most ? (int64_t)x : (int64_t)1 << 62;
}

static size_t choose(struct dp_stage *stage, const struct dp_frame *frame, const struct dp_batch *batch,
                     const struct dp_array *candidates)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const double *w = candidates->data;
    size_t count = candidates->dims[0], size = candidates->dims[1], choice = 0;
    double spread = o->relative ? dp_scores_spread(w, count, size, s->mean) : 1, unit = spread > 0 ? spread : 1;
    dp_ranking_take(&s->ranking, batch, w, unit, s->score);
    for (size_t i = 0; o->lambda > 0 && i < count; i++)
        s->score[i] += regulariser(o, frame, w + i * size, size, unit);
    dp_choose_exponential(&stage->key, (uint64_t)frame->lap, scale_of(o), s->score, count, &choice); /* it fits */
    return choice;
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_array *candidates;
    const double *model;
    int64_t *choice;
    int rc = dp_candidates_read(frame, s->form.rows * s->form.cols, &candidates, err);
    if (rc == DP_OK && candidates->dims[0] != s->ranking.candidates)
        rc = dp_fail(err, DP_E_RUN, "the number of candidates changes during the run");
    rc = rc ?: dp_form_model(&s->form, frame, &model, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_CHOICE, DP_I64, 1, 1, &choice, err);
    if (rc != DP_OK)
        return rc;
    *choice = (int64_t)choose(stage, frame, batch, candidates);
    complete(o, dp_frame_edit_record(frame, DP_F_NONE));
    return DP_OK;
}

static int select_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_batch batch;
    int rc = s->announced ? DP_OK : announce(stage, frame, err);
    rc = rc ?: dp_reader_read(&s->reader, &batch, frame, err);
    if (rc == DP_OK && s->score == NULL)
        rc = set_shape(stage, frame, &batch, err);
    rc = rc ?: dp_batch_same_shape(&batch, frame, s->form.cols, s->rows, err);
    rc = rc ?: lap(stage, frame, &batch, err);
    if (rc != DP_OK)
        return rc;
    dp_batch_forget(frame);
    frame->label = DP_LABEL_NOISED;
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_select_class = {
    .name = "dp-select",
    .summary = "Choose one of several candidates",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_NOISED,
    .open = select_open,
    .hello = select_hello,
    .fire = select_fire,
    .close = select_close,
    .ephemeral = true,
};
