#include "stages/row_stage.h"

#include "stages/announced.h"
#include "stages/labels.h"

/* Fills the training from the options. */
static void read_training(const struct dp_row_options *o, struct dp_training *t)
{
    t->family = &dp_family_linear;
    t->scale = 1;
    t->loss = (enum dp_loss)o->loss;
    t->width = isnan(o->width) ? dp_losses[o->loss].width : o->width;
    t->lambda = o->lambda;
    t->intercept = (double)(float)o->intercept;
    t->class_weights = o->class_weights;
}

int dp_row_stage_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct dp_row_options *o = stage->options;
    struct dp_row_state *s = stage->state;
    s->reader.persons = stage->class->persons;
    s->reader.transform = stage->class->rows->transform;
    s->reader.transformed.threads = o->threads > 0 ? (int)o->threads : 1;
    read_training(o, &s->training);
    int rc = stage->class->open != NULL ? stage->class->open(stage, err) : DP_OK;
    rc = rc ?: dp_class_weights_open(&s->weights, o->class_weights, err);
    return rc ?: dp_reader_open(&s->reader, o->data, err);
}

void dp_row_stage_close(struct dp_stage *stage)
{
    struct dp_row_state *s = stage->state;
    if (stage->class->close != NULL)
        stage->class->close(stage);
    dp_class_weights_close(&s->weights);
    dp_reader_close(&s->reader);
}

/* Checks that labels of that many classes fit what it trains. */
static int check_labels(const struct dp_stage *stage, size_t classes, struct dp_err *err)
{
    const struct dp_row_state *s = stage->state;
    int rc = dp_labels_check(s->training.loss, classes, err);
    return rc ?: dp_class_weights_check(&s->weights, classes, err);
}

int dp_row_stage_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    const struct dp_row_options *o = stage->options;
    const struct dp_row_state *s = stage->state;
    const struct dp_row_stage *class = stage->class->rows;
    struct dp_record *open;
    int rc = s->whole != NULL ? dp_stage_whole(stage, s->whole, err) : DP_OK;
    if (rc == DP_OK && stage->class->hello != NULL)
        rc = stage->class->hello(stage, hello, err);
    if (rc == DP_OK && s->training.method != NULL && s->reader.dataset != NULL)
        rc = check_labels(stage, s->reader.dataset->label.classes, err);
    if (rc != DP_OK || class->means == DP_MEANS_NONE)
        return rc;
    for (int at = 0; (open = dp_announced(stage, hello, DP_F_NONE, &at)) != NULL;) {
        open->release = DP_RELEASE_SUM;
        open->means = class->means;
        open->follows |= s->follows;
        if (class->record != NULL)
            class->record(stage, open);
        if (s->exact)
            open->of = DP_F_SUM;
        if (s->bound > 0)
            dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(o->adjacency), s->bound);
    }
    return DP_OK;
}

/* Announces the model, in the first frame; its scale may be known only after the shapes. */
static int announce(struct dp_row_state *s, struct dp_frame *frame, struct dp_err *err)
{
    if (s->announced || s->training.method == NULL || s->training.scale == 0)
        return DP_OK;
    s->announced = true;
    if (isnan(s->training.intercept))
        s->training.intercept = dp_frame_real(frame, DP_F_INTERCEPT, 0);
    return dp_training_announce(&s->training, frame, err);
}

/* Sets the shapes, which are known at the first frame. */
static int set_shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    struct dp_row_state *s = stage->state;
    const struct dp_training *t = &s->training;
    int rc = DP_OK;
    s->rows = (size_t)dp_frame_record(frame, DP_F_NONE)->rows;
    s->cols = batch->cols;
    if (t->method != NULL) {
        rc = dp_batch_classes(frame, &s->classes, err);
        rc = rc ?: check_labels(stage, s->classes, err);
        if (t->network == NULL)
            s->form = dp_form_for(t->family, batch->features, dp_loss_outputs(s->classes), (double)batch->intercept);
    }
    if (rc == DP_OK && stage->class->rows->shape != NULL)
        rc = stage->class->rows->shape(stage, frame, batch, err);
    s->shaped = rc == DP_OK;
    return rc;
}

static int add(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct dp_row_options *o = stage->options;
    const struct dp_row_state *s = stage->state;
    int64_t *sum;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, s->numbers, &sum, err);
    if (rc != DP_OK)
        return rc;
    memset(sum, 0, s->numbers * sizeof *sum);
    dp_bounded_state(frame, dp_adjacency_chosen(o->adjacency), s->bound);
    return stage->class->rows->add(stage, frame, batch, sum, err);
}

int dp_row_stage_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct dp_row_stage *class = stage->class->rows;
    struct dp_row_state *s = stage->state;
    struct dp_batch batch;
    const double *model = NULL;
    int rc = class->before != NULL ? class->before(stage, frame, err) : DP_OK;
    rc = rc ?: announce(s, frame, err);
    rc = rc ?: dp_reader_read(&s->reader, &batch, frame, err);
    if (rc == DP_OK && !s->shaped)
        rc = set_shape(stage, frame, &batch, err);
    rc = rc ?: dp_batch_same_shape(&batch, frame, s->cols, s->rows, err);
    rc = rc ?: announce(s, frame, err);
    if (rc == DP_OK && s->training.method != NULL)
        rc = dp_form_model(&s->form, frame, &model, err);
    if (rc == DP_OK && model != NULL && batch.transformed != NULL)
        dp_transformed_turn(&s->reader.transformed, model, s->form.outputs);
    if (rc == DP_OK && class->means != DP_MEANS_NONE)
        dp_frame_edit_record(frame, DP_F_NONE)->release = DP_RELEASE_SUM;
    rc = rc ?: class->add != NULL ? add(stage, frame, &batch, err) : class->lap(stage, frame, &batch, model, err);
    if (rc != DP_OK)
        return rc;
    if (!s->keep)
        dp_batch_forget(frame);
    return out->frame(out, frame, err);
}
