/* dp-temperature: the first and second derivative of the loss of the rows with respect to one factor on all scores of the model,
 * as a sum of two numbers, for dp-step --temperature (math/temperature.h). Rows count as they are, also behind a transform. */
#include <omp.h>

#include "base/mem.h"
#include "math/grid.h"
#include "math/temperature.h"
#include "stages/announced.h"
#include "stages/bounded.h"
#include "stages/labels.h"
#include "stages/shared_options.h"
#include "stages/stages.h"
#include "wire/model.h"

struct options {
    const char *data;
    double clip;
    int adjacency;
    int64_t threads;
};

/* State of one thread. */
struct part {
    double *scores, *slope; /* DP_ROWS × outputs; outputs */
    void *room;             /* of the family */
};

struct state {
    struct dp_reader reader;
    bool opened;         /* the shapes below are known */
    struct dp_form form; /* of the model */
    enum dp_loss loss;
    size_t rows, classes;
    double *weights; /* of the model as it predicts: its average, times its scale */
    struct part *part;
    double *pair; /* of each row of the batch, two numbers */
    size_t capacity;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on the two numbers of one person", .fallback = "1"),
    DP_ADJACENCY_OPTION(adjacency),
    DP_THREADS_OPTION(threads),
    {.name = NULL},
};

static void temperature_close(struct dp_stage *stage)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    for (int64_t t = 0; s->part != NULL && t < o->threads; t++) {
        dp_form_leave(&s->form, s->part[t].room);
        free(s->part[t].scores);
        free(s->part[t].slope);
    }
    free(s->part);
    free(s->weights);
    free(s->pair);
    dp_reader_close(&s->reader);
}

static int temperature_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->reader.persons = true;
    s->reader.transform = DP_TRANSFORM_IGNORED;
    int rc = dp_bounded_check_clip(o->clip, err);
    return rc ?: dp_reader_open(&s->reader, o->data, err);
}

static int read_loss(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    const char *loss = dp_frame_text(frame, DP_F_LOSS, "");
    if (dp_loss_parse(loss, &s->loss) != 0 || !dp_temperature_suits(s->loss))
        return dp_fail(err, DP_E_RUN, "a model of the loss '%.40s' gives no probabilities, which a temperature is for", loss);
    int rc = dp_batch_classes(frame, &s->classes, err);
    return rc ?: dp_labels_check_outputs(s->loss, s->classes, s->form.outputs, err);
}

static int open_part(const struct dp_form *form, struct part *part, struct dp_err *err)
{
    int rc = DP_ALLOC_ALL(err, DP_ARRAY(part->scores, DP_ROWS * form->outputs), DP_ARRAY(part->slope, form->outputs));
    return rc ?: dp_form_room(form, &part->room, err);
}

/* Shapes, known with the first frame. */
static int set_shape(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = dp_form_read(&s->form, frame, err);
    rc = rc ?: read_loss(s, frame, err);
    rc = rc ?: dp_alloc(&s->weights, s->form.rows * s->form.cols, sizeof *s->weights, err);
    rc = rc ?: dp_alloc(&s->part, (size_t)o->threads, sizeof *s->part, err);
    for (int64_t t = 0; rc == DP_OK && t < o->threads; t++)
        rc = open_part(&s->form, &s->part[t], err);
    s->rows = (size_t)dp_frame_record(frame, DP_F_NONE)->rows;
    s->opened = rc == DP_OK;
    return rc;
}

static int read_weights(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    size_t rows, cols;
    int rc = dp_model_shape(frame, &rows, &cols, err);
    if (rc == DP_OK && (rows != s->form.rows || cols != s->form.cols))
        rc = dp_fail(err, DP_E_RUN, "the model changes its shape during the run");
    return rc ?: dp_model_weights(frame, s->weights, err);
}

/* The pairs of the block from `first` on; zeros for a row whose label is not a class. */
static void take_block(const struct state *s, const struct dp_batch *batch, size_t first, struct part *part)
{
    const size_t outputs = s->form.outputs;
    size_t count = dp_batch_score(batch, &s->form, s->weights, first, part->scores, part->room);
    for (size_t i = 0; i < count; i++) {
        double label = dp_batch_label(batch, first + i), *pair = s->pair + 2 * (first + i);
        pair[0] = pair[1] = 0;
        if (dp_labels_take(s->loss, s->classes, label))
            dp_temperature_row(s->loss, label, s->classes, part->scores + i * outputs, outputs, part->slope, pair);
    }
}

static void take_rows(struct dp_stage *stage, const struct dp_batch *batch)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    const size_t blocks = (batch->count + DP_ROWS - 1) / DP_ROWS;
#pragma omp parallel for num_threads((int)o->threads) schedule(static) if (o->threads > 1 && blocks > 1)
    for (size_t b = 0; b < blocks; b++)
        take_block(s, batch, b * DP_ROWS, &s->part[omp_get_thread_num()]);
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

/* The announced record of its laps. */
static int temperature_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    struct dp_record *open;
    if (s->reader.dataset != NULL && s->reader.dataset->classes == 0)
        return dp_fail(err, DP_E_RUN, "the labels of %s are numbers, and a temperature is for probabilities", o->data);
    for (int at = 0; (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        open->release = DP_RELEASE_SUM;
        open->means = DP_MEANS_TEMPERATURE;
        dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(o->adjacency), o->clip);
    }
    return DP_OK;
}

static int temperature_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_batch batch;
    int64_t *sum;
    if (!dp_frame_has(frame, DP_F_MODEL))
        return dp_fail(err, DP_E_RUN, "lap %lld has no model yet: its temperature comes after the laps that train it",
                       (long long)frame->lap);
    int rc = dp_reader_read(&s->reader, &batch, frame, err);
    if (rc == DP_OK && !s->opened)
        rc = set_shape(stage, frame, err);
    rc = rc ?: dp_batch_same_shape(&batch, frame, s->form.features + (s->form.intercept != 0 ? 1 : 0), s->rows, err);
    rc = rc ?: read_weights(s, frame, err);
    rc = rc ?: dp_grow(&s->pair, &s->capacity, 2 * batch.count, sizeof *s->pair, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, 2, &sum, err);
    if (rc != DP_OK)
        return rc;
    take_rows(stage, &batch);
    add_persons(s, &batch, o->clip, sum);
    dp_frame_edit_record(frame, DP_F_NONE)->release = DP_RELEASE_SUM;
    dp_bounded_state(frame, dp_adjacency_chosen(o->adjacency), o->clip);
    dp_batch_forget(frame);
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_temperature_class = {
    .name = "dp-temperature",
    .summary = "Sum the derivatives of the loss in one factor of all scores",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .open = temperature_open,
    .hello = temperature_hello,
    .fire = temperature_fire,
    .close = temperature_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
