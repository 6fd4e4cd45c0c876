/* dp-select: chooses the candidate with which the run continues, by the losses of a batch. Only the number that the exponential
 * mechanism has chosen is released; the losses are not. */
#include <float.h>

#include "base/mem.h"
#include "math/choose.h"
#include "math/grid.h"
#include "math/scores.h"
#include "model/candidates.h"
#include "stages/ranking.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"

struct options {
    struct dp_row_options row;
    double epsilon, clip;
    bool relative;
};

struct state {
    struct dp_row_state row;
    struct dp_ranking ranking;
    double *mean; /* of the candidates */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_LOSS_OPTION(row.loss, DP_LOSS_CHOICES, "what is to be small"),
    DP_LOSS_WIDTH_OPTION(row.width),
    DP_LAMBDA_OPTION(row.lambda, "L2 regularisation"),
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "what a choice costs", .required = true),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "bound on the difference of one person's losses under two candidates",
                   .required = true),
    DP_OPTION_FLAG(0, relative, "the bound is C times the largest distance of a candidate from their mean"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

static void select_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_ranking_close(&s->ranking);
    free(s->mean);
}

/* Completes an open record. A choice has no scale: the noise is in how it was made. */
static void complete(const struct dp_stage *stage, struct dp_record *record)
{
    const struct options *o = stage->options;
    dp_record_bound(record, DP_F_CHOICE, dp_adjacency_chosen(o->row.adjacency), o->clip);
    record->query = (struct dp_query){.kind = DP_QUERY_EXPONENTIAL, .epsilon = o->epsilon};
    record->scale = 0;
}

/* The difference of scores, in steps of the grid, that makes a choice e times less likely. Rounded up. */
static double scale_of(const struct dp_stage *stage)
{
    const struct options *o = stage->options;
    struct dp_record record = {0};
    complete(stage, &record);
    return record.sensitivity / dp_grid_for(o->clip) / o->epsilon * (1 + 4 * DBL_EPSILON); /* the grid is a power of two */
}

static int select_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->row.training.method = &dp_method_selection;
    s->row.training.intercept = NAN; /* dp-breed has announced it */
    int rc = dp_bounded_check_clip(o->clip, err);
    if (rc == DP_OK && !(scale_of(stage) > 0 && scale_of(stage) <= DP_CHOOSE_MOST))
        rc = dp_fail(err, DP_E_USAGE, "--epsilon: %g is out of range: its noise does not fit the grid of the losses",
                     o->epsilon);
    return rc;
}

/* In the first lap, which has the number of candidates. */
static void open_ranking(struct state *s, const struct options *o, size_t candidates)
{
    const struct dp_form *form = &s->row.form;
    const struct dp_line line = {
        .loss = s->row.training.loss, .width = s->row.training.width, .classes = s->row.classes, .outputs = form->outputs};
    s->mean = dp_new(form->rows * form->cols, sizeof *s->mean);
    dp_ranking_open(&s->ranking, &line, form, candidates, o->clip, (int)o->row.threads);
}

/* N q lambda/2 ‖w‖² in units of the losses, as a whole number; values beyond all sums of losses are cut to that range. */
static int64_t regulariser(const struct options *o, const struct dp_frame *frame, const double *w, size_t size, double unit)
{
    const struct dp_record *record = dp_frame_record(frame, DP_F_NONE);
    const double most = 0x1p62;
    double norm2 = 0;
    for (size_t j = 0; j < size; j++)
        norm2 += w[j] * w[j];
    double x = record->rate * (double)record->rows * o->row.lambda / 2 * norm2 / unit / dp_grid_for(o->clip);
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
    int64_t *score = dp_ranking_take(&s->ranking, batch, w, unit);
    for (size_t i = 0; o->row.lambda > 0 && i < count; i++)
        score[i] += regulariser(o, frame, w + i * size, size, unit);
    dp_choose_exponential(&stage->key, (uint64_t)frame->lap, scale_of(stage), score, count, &choice); /* it fits */
    return choice;
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    struct state *s = stage->state;
    const struct dp_array *candidates;
    int64_t *choice;
    (void)model; /* the candidates are the models */
    int rc = dp_candidates_read(frame, s->row.form.rows * s->row.form.cols, &candidates, err);
    if (rc == DP_OK && s->ranking.candidates == 0)
        open_ranking(s, stage->options, candidates->dims[0]);
    if (rc == DP_OK && candidates->dims[0] != s->ranking.candidates)
        rc = dp_fail(err, DP_E_RUN, "the number of candidates changes during the run");
    rc = rc ?: dp_frame_make_array(frame, DP_F_CHOICE, DP_I64, 1, 1, &choice, err);
    if (rc != DP_OK)
        return rc;
    *choice = (int64_t)choose(stage, frame, batch, candidates);
    complete(stage, dp_frame_edit_record(frame, DP_F_NONE));
    frame->label = DP_LABEL_NOISED;
    return DP_OK;
}

const struct dp_stage_class dp_select_class = {
    .name = "dp-select",
    .summary = "Choose one of several candidates",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_NOISED,
    .rows = &(const struct dp_row_stage){.means = DP_MEANS_CHOICE, .record = complete, .lap = lap},
    .open = select_open,
    .close = select_close,
    .ephemeral = true,
};
