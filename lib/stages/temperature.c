/* dp-temperature: the first and second derivative of the loss of the rows with respect to one factor on all scores of the model,
 * as a sum of two numbers, for dp-step --temperature (math/temperature.h). Rows count as they are, also behind a transform. */
#include <omp.h>

#include "base/mem.h"
#include "math/grid.h"
#include "math/metrics.h"
#include "math/temperature.h"
#include "stages/labels.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"
#include "wire/model.h"

struct options {
    struct dp_row_options row;
    double clip;
};

struct state {
    struct dp_row_state row; /* form and loss: of the model in the frames */
    double *weights;         /* of the model as it predicts: its average, times its scale */
    double *scores;          /* work space of each thread: DP_ROWS × outputs scores and `outputs` slopes, dp_apart */
    void **room;             /* of each thread, of the family */
    double *pair;            /* of each row of the batch, two numbers */
    size_t capacity;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on the two numbers of one person", .fallback = "1"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

static void temperature_close(struct dp_stage *stage)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    for (int64_t t = 0; s->room != NULL && t < o->row.threads; t++)
        dp_form_leave(&s->row.form, s->room[t]);
    free(s->room);
    free(s->scores);
    free(s->weights);
    free(s->pair);
}

static int temperature_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->row.bound = o->clip;
    return dp_bounded_check_clip(o->clip, err);
}

/* A temperature is for classes. */
static int temperature_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    (void)hello;
    if (s->row.reader.dataset != NULL && s->row.reader.dataset->label.classes == 0)
        return dp_fail(err, DP_E_RUN, "the labels of %s are numbers, and a temperature is for probabilities", o->row.data);
    return DP_OK;
}

static int read_loss(struct dp_row_state *row, const struct dp_frame *frame, struct dp_err *err)
{
    const char *loss = dp_frame_text(frame, DP_F_LOSS, "");
    enum dp_loss *of = &row->training.loss;
    if (dp_loss_parse(loss, of) != 0 || !dp_metric_has_probability(*of))
        return dp_fail(err, DP_E_RUN, "a model of the loss '%.40s' gives no probabilities, which a temperature is for", loss);
    int rc = dp_batch_classes(frame, &row->classes, err);
    return rc ?: dp_labels_check_outputs(*of, row->classes, row->form.outputs, err);
}

/* Doubles of each thread. */
static size_t scores_size(const struct state *s)
{
    return dp_apart((DP_ROWS + 1) * s->row.form.outputs, sizeof *s->scores);
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_form *form = &s->row.form;
    (void)batch;
    if (!dp_frame_has(frame, DP_F_MODEL))
        return dp_fail(err, DP_E_RUN, "lap %lld has no model yet: its temperature comes after the laps that train it",
                       (long long)frame->lap);
    int rc = dp_form_read(form, frame, err);
    rc = rc ?: read_loss(&s->row, frame, err);
    if (rc == DP_OK) {
        s->weights = dp_new(form->rows * form->cols, sizeof *s->weights);
        s->scores = dp_new((size_t)o->row.threads * scores_size(s), sizeof *s->scores);
        s->room = dp_new((size_t)o->row.threads, sizeof *s->room);
        for (int64_t t = 0; t < o->row.threads; t++)
            s->room[t] = dp_form_room(form);
    }
    s->row.cols = form->features + (form->intercept != 0 ? 1 : 0);
    return rc;
}

static int read_weights(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    size_t rows, cols;
    int rc = dp_model_shape(frame, &rows, &cols, err);
    if (rc == DP_OK && (rows != s->row.form.rows || cols != s->row.form.cols))
        rc = dp_fail(err, DP_E_RUN, "the model changes its shape during the run");
    return rc ?: dp_model_weights(frame, s->weights, err);
}

/* The pairs of the block from `first` on; zeros for a row whose label is not a class. */
static void take_block(const struct state *s, const struct dp_batch *batch, size_t first, size_t thread)
{
    const struct dp_row_state *row = &s->row;
    size_t outputs = row->form.outputs;
    double *scores = s->scores + thread * scores_size(s), *slope = scores + DP_ROWS * outputs;
    size_t count = dp_batch_score(batch, &row->form, s->weights, first, scores, s->room[thread]);
    for (size_t i = 0; i < count; i++) {
        double label = dp_batch_label(batch, first + i), *pair = s->pair + 2 * (first + i);
        pair[0] = pair[1] = 0;
        if (dp_labels_take(row->training.loss, row->classes, label))
            dp_temperature_row(row->training.loss, label, row->classes, scores + i * outputs, outputs, slope, pair);
    }
}

/* The rows of a person together are clipped as one vector. */
static void add_persons(const struct state *s, const struct dp_batch *batch, double bound, int64_t *sum)
{
    memset(sum, 0, 2 * sizeof *sum);
    for (size_t i = 0; i < batch->persons; i++) {
        size_t from = batch->start != NULL ? batch->start[i] : i, to = batch->start != NULL ? batch->start[i + 1] : i + 1;
        double pair[2] = {0};
        for (size_t row = from; row < to; row++) {
            pair[0] += s->pair[2 * row];
            pair[1] += s->pair[2 * row + 1];
        }
        dp_grid_add(pair, 2, bound, dp_grid_for(bound), sum);
    }
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t *sum;
    (void)model; /* the model that predicts may be an average */
    int rc = read_weights(s, frame, err);
    if (rc == DP_OK)
        dp_extend(&s->pair, &s->capacity, 2 * batch->count, sizeof *s->pair);
    rc = rc ?: dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, 2, &sum, err);
    if (rc != DP_OK)
        return rc;
#pragma omp parallel for num_threads((int)o->row.threads) schedule(static) if (o->row.threads > 1 && batch->count > DP_ROWS)
    for (size_t first = 0; first < batch->count; first += DP_ROWS)
        take_block(s, batch, first, (size_t)omp_get_thread_num());
    add_persons(s, batch, o->clip, sum);
    dp_bounded_state(frame, dp_adjacency_chosen(o->row.adjacency), o->clip);
    return DP_OK;
}

const struct dp_stage_class dp_temperature_class = {
    .name = "dp-temperature",
    .summary = "Sum the derivatives of the loss in one factor of all scores",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows =
        &(const struct dp_row_stage){
            .transform = DP_TRANSFORM_IGNORED, .means = DP_MEANS_TEMPERATURE, .shape = shape, .lap = lap},
    .open = temperature_open,
    .hello = temperature_hello,
    .close = temperature_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
