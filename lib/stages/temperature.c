/* dp-temperature: the first and second derivative of the loss of the rows with respect to one factor on all scores of the model,
 * as a sum of two numbers, for dp-step --temperature (math/temperature.h). Rows count as they are, also behind a transform. */
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
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on the two numbers of one person", .fallback = "1"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

static int temperature_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->row.bound = o->clip;
    s->row.numbers = 2;
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

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_form *form = &s->row.form;
    (void)batch;
    if (!dp_frame_has(frame, DP_F_MODEL))
        return dp_fail(err, DP_E_RUN, "lap %lld has no model yet: its temperature comes after the laps that train it",
                       (long long)frame->lap);
    int rc = dp_form_read(form, frame, err);
    s->row.cols = form->features + (form->intercept != 0 ? 1 : 0);
    return rc ?: read_loss(&s->row, frame, err);
}

/* The weights of the model as it predicts: its average, times its scale. */
static int read_weights(const struct state *s, const struct dp_frame *frame, double *weights, struct dp_err *err)
{
    size_t rows, cols;
    int rc = dp_model_shape(frame, &rows, &cols, err);
    if (rc == DP_OK && (rows != s->row.form.rows || cols != s->row.form.cols))
        rc = dp_fail(err, DP_E_RUN, "the model changes its shape during the run");
    return rc ?: dp_model_weights(frame, weights, err);
}

/* Sets the pairs of the block from `first` on; zeros for a row whose label is not a class. scores: a block's, and one row's. */
static void take_block(const struct dp_row_state *row, const struct dp_batch *batch, const double *weights, size_t first,
                       double *scores, void *room, double (*pair)[2])
{
    size_t outputs = row->form.outputs, count = dp_batch_score(batch, &row->form, weights, first, scores, room);
    for (size_t i = 0; i < count; i++) {
        double label = dp_batch_label(batch, first + i), *slope = scores + DP_ROWS * outputs;
        if (dp_labels_take(row->training.loss, row->classes, label))
            dp_temperature_row(row->training.loss, label, row->classes, scores + i * outputs, outputs, slope, pair[first + i]);
    }
}

static void take_rows(const struct dp_row_state *row, const struct dp_batch *batch, const double *weights, int threads,
                      double (*pair)[2])
{
#pragma omp parallel num_threads(threads) if (threads > 1 && batch->count > DP_ROWS)
    {
        double *scores = dp_new((DP_ROWS + 1) * row->form.outputs, sizeof *scores);
        void *room = dp_form_room(&row->form);
#pragma omp for schedule(static)
        for (size_t first = 0; first < batch->count; first += DP_ROWS)
            take_block(row, batch, weights, first, scores, room, pair);
        dp_form_leave(&row->form, room);
        free(scores);
    }
}

/* The rows of a person together are clipped as one vector. */
static void add_persons(const struct dp_batch *batch, double (*pair)[2], double bound, int64_t *sum)
{
    for (size_t i = 0; i < batch->persons; i++) {
        size_t from = batch->start != NULL ? batch->start[i] : i, to = batch->start != NULL ? batch->start[i + 1] : i + 1;
        double together[2] = {0};
        for (size_t row = from; row < to; row++) {
            together[0] += pair[row][0];
            together[1] += pair[row][1];
        }
        dp_grid_add(together, 2, bound, dp_grid_for(bound), sum);
    }
}

static int add(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, int64_t *sum, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    double *weights = dp_new(s->row.form.rows * s->row.form.cols, sizeof *weights),
           (*pair)[2] = dp_new(batch->count, sizeof *pair);
    int rc = read_weights(s, frame, weights, err);
    if (rc == DP_OK) {
        take_rows(&s->row, batch, weights, (int)o->row.threads, pair);
        add_persons(batch, pair, o->clip, sum);
    }
    free(weights);
    free(pair);
    return rc;
}

const struct dp_stage_class dp_temperature_class = {
    .name = "dp-temperature",
    .summary = "Sum the derivatives of the loss in one factor of all scores",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows =
        &(const struct dp_row_stage){
            .transform = DP_TRANSFORM_IGNORED, .means = DP_MEANS_TEMPERATURE, .shape = shape, .add = add},
    .open = temperature_open,
    .hello = temperature_hello,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
