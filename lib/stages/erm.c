/* dp-erm: empirical risk minimisation without privacy. The minimiser over all rows of the lap, which every private way to train
   is measured against:

     F(W) = (1/N) Σ_i l(y_i, W x_i) + (lambda/2) ‖W‖²

   down to a norm of ∇F that is asked for and, in the end, computed at the model that is handed on. F is lambda-strongly convex,
   so F(W) − min F ≤ ‖∇F(W)‖²/(2 lambda). */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "math/loss.h"
#include "math/minimise.h"
#include "model/method.h"
#include "stages/announced.h"
#include "stages/batch.h"
#include "stages/labels.h"
#include "stages/shared_options.h"
#include "stages/stages.h"

struct options {
    const char *data;
    int loss;
    double width, lambda, intercept, tolerance;
    int64_t most, threads;
    bool non_private;
};

struct state {
    struct dp_dataset *dataset; /* NULL: rows come inline */
    struct dp_batch_seen seen;
    enum dp_loss loss;
    double width;
    struct dp_form form;  /* of the model */
    size_t rows, classes; /* classes: of the labels; 0 for a regression */
    bool announced;       /* the frame says what the model is */
    size_t parts;         /* of the rows: their sums are added in this order, whatever the threads */
    double *gradient;     /* parts × size of the model */
    double *loss_sum;     /* parts */
    double *scores;       /* threads × DP_ROWS × outputs */
    double *slope;        /* of the model's size */
    double *w;            /* the same */
};

/* What is minimised: the rows of a lap. */
struct risk {
    const struct options *options;
    const struct state *state;
    const struct dp_batch *batch;
};

#define OFFSET(member) offsetof(struct options, member)

static const struct dp_option options[] = {
    DP_DATA_OPTION(OFFSET(data)),
    {.name = "loss",
     .letter = 'l',
     .kind = DP_OPT_CHOICE,
     .offset = OFFSET(loss),
     .metavar = "LOSS",
     .help = "what is minimised; hinge has no gradient and is refused",
     .choices = DP_LOSS_CHOICES,
     .flags = DP_OPT_REQUIRED},
    DP_LOSS_WIDTH_OPTION(OFFSET(width)),
    {.name = "lambda",
     .letter = 'L',
     .kind = DP_OPT_REAL,
     .offset = OFFSET(lambda),
     .metavar = "LAMBDA",
     .help = "L2 regularisation",
     .fallback = "0",
     .min = 0,
     .max = INFINITY},
    DP_INTERCEPT_OPTION(OFFSET(intercept)),
    {.name = "tolerance",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(tolerance),
     .metavar = "G",
     .help = "largest norm that the gradient may have in the end",
     .fallback = "1e-6",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "most",
     .kind = DP_OPT_INT,
     .offset = OFFSET(most),
     .metavar = "N",
     .help = "passes over the rows before it gives up",
     .fallback = "10000",
     .min = 1,
     .max = 1e9},
    {.name = "non-private", .kind = DP_OPT_FLAG, .offset = OFFSET(non_private), .help = "required: no bound, no noise"},
    DP_THREADS_OPTION(OFFSET(threads)),
    {.name = NULL},
};

static void erm_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_dataset_close(s->dataset);
    free(s->seen.bits);
    free(s->gradient);
    free(s->loss_sum);
    free(s->scores);
    free(s->slope);
    free(s->w);
}

static int erm_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->loss = (enum dp_loss)o->loss;
    s->width = isnan(o->width) ? dp_loss_default_width(s->loss) : o->width;
    if (!o->non_private)
        return dp_fail(err, DP_E_USAGE, "--non-private is required: nothing bounds what one row does to a minimiser");
    if (s->loss == DP_LOSS_HINGE)
        return dp_fail(err, DP_E_USAGE,
                       "--loss hinge has no gradient where its minimum lies: smooth-hinge and huberised-hinge have one");
    if (o->intercept > 0 && (float)o->intercept == 0)
        return dp_fail(err, DP_E_USAGE, "--intercept: %g is too small", o->intercept);
    return o->data != NULL ? dp_dataset_open(&s->dataset, o->data, err) : DP_OK;
}

static size_t size_of(const struct state *s)
{
    return s->form.rows * s->form.cols;
}

/* As many parts as 64 threads have something to do in, fewer where rows are few or their gradients long. It follows from the
   shapes alone. */
static size_t parts_of(size_t rows, size_t size)
{
    size_t parts = rows / 256, room = ((size_t)1 << 22) / size;
    parts = parts < room ? parts : room;
    return parts < 1 ? 1 : parts > 64 ? 64 : parts;
}

/* Shapes, known with the first frame. */
static int set_shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = dp_batch_classes(frame, &s->classes, err);
    if (rc == DP_OK)
        rc = dp_labels_check(s->loss, s->classes, s->dataset, o->data, err);
    if (rc != DP_OK)
        return rc;
    s->rows = (size_t)dp_frame_record(frame, DP_F_NONE)->rows;
    s->form = dp_form_for(&dp_family_linear, batch->features, dp_loss_outputs(s->classes), (double)batch->intercept);
    s->parts = parts_of(s->rows, size_of(s));
    rc = dp_alloc(&s->gradient, s->parts * size_of(s), sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&s->loss_sum, s->parts, sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&s->scores, (size_t)o->threads * DP_ROWS * s->form.outputs, sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&s->slope, size_of(s), sizeof(double), err);
    return rc == DP_OK ? dp_alloc(&s->w, size_of(s), sizeof(double), err) : rc;
}

/* Says in the frame what the model is. */
static int announce(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_training training = {.method = &dp_method_erm,
                                         .family = &dp_family_linear,
                                         .loss = s->loss,
                                         .width = s->width,
                                         .lambda = o->lambda,
                                         .intercept = (double)(float)o->intercept,
                                         .scale = 1};
    s->announced = true;
    return dp_training_announce(&training, frame, err);
}

/* The loss of one row, whose scores become its slopes, which are added to the gradient. */
static double add_row(const struct risk *r, size_t i, struct dp_row row, double *scores, double *gradient)
{
    const struct state *s = r->state;
    double label = dp_batch_label(r->batch, i);
    if (!dp_labels_take(s->loss, s->classes, label))
        return 0;
    double loss = dp_loss_row_value(s->loss, s->width, label, s->classes, scores, s->form.outputs);
    dp_loss_row_slope(s->loss, s->width, label, s->classes, scores, s->form.outputs, scores);
    for (size_t k = 0; k < s->form.outputs; k++) {
        dp_row_axpy(scores[k], row, gradient + k * s->form.cols);
        if (r->batch->intercept != 0)
            gradient[k * s->form.cols + s->form.features] += scores[k] * (double)r->batch->intercept;
    }
    return loss;
}

/* The losses and slopes of one part of the rows. */
static void add_part(const struct risk *r, const double *w, size_t part, double *scores)
{
    const struct state *s = r->state;
    size_t count = r->batch->count, to = count * (part + 1) / s->parts;
    double *gradient = s->gradient + part * size_of(s), loss = 0;
    memset(gradient, 0, size_of(s) * sizeof *gradient);
    for (size_t first = count * part / s->parts; first < to; first += DP_ROWS) {
        struct dp_row rows[DP_ROWS];
        size_t together = to - first < DP_ROWS ? to - first : DP_ROWS;
        for (size_t i = 0; i < together; i++)
            rows[i] = dp_batch_row(r->batch, first + i);
        s->form.family->score(&s->form, w, rows, together, NULL, scores);
        for (size_t i = 0; i < together; i++)
            loss += add_row(r, first + i, rows[i], scores + i * s->form.outputs, gradient);
    }
    s->loss_sum[part] = loss;
}

/* F and its gradient. */
static double risk_at(void *self, const double *w, double *gradient)
{
    const struct risk *r = self;
    const struct state *s = r->state;
    double n = (double)s->rows, lambda = r->options->lambda, loss = 0;
    size_t size = size_of(s), room = DP_ROWS * s->form.outputs;
    if (r->options->threads > 1) {
#pragma omp parallel for num_threads((int)r->options->threads) schedule(dynamic)
        for (size_t part = 0; part < s->parts; part++)
            add_part(r, w, part, s->scores + (size_t)omp_get_thread_num() * room);
    } else {
        for (size_t part = 0; part < s->parts; part++)
            add_part(r, w, part, s->scores);
    }
    memset(gradient, 0, size * sizeof *gradient);
    for (size_t part = 0; part < s->parts; part++) {
        loss += s->loss_sum[part];
        for (size_t j = 0; j < size; j++)
            gradient[j] += s->gradient[part * size + j];
    }
    for (size_t j = 0; j < size; j++)
        gradient[j] = gradient[j] / n + lambda * w[j];
    return loss / n + lambda / 2 * dp_norm2(w, size);
}

static int not_converged(const struct options *o, const struct dp_minimum *found, struct dp_err *err)
{
    const char *lambda = o->lambda > 0 ? "" : ", or a --lambda";
    if (found->end == DP_MINIMUM_INFINITE)
        return dp_fail(err, DP_E_RUN, "the objective is not finite at the model to start from");
    if (found->end == DP_MINIMUM_MOST)
        return dp_fail(
            err, DP_E_RUN,
            "did not converge: in %lld passes the norm of the gradient came down to %.3g, --tolerance is %g; more passes "
            "(--most) may help%s",
            (long long)found->evaluations, found->norm, o->tolerance, lambda);
    return dp_fail(err, DP_E_RUN,
                   "did not converge: after %lld passes rounding hides where it is lower, with a norm of the gradient of %.3g; "
                   "--tolerance is %g, a larger one may help%s",
                   (long long)found->evaluations, found->norm, o->tolerance, lambda);
}

/* The minimiser less the model to start from, as the sum. What is certified is the model that dp-step makes of the two. */
static int minimise(struct risk *r, const double *model, double *sum, struct dp_minimum *found, struct dp_err *err)
{
    const struct options *o = r->options;
    const struct state *s = r->state;
    const struct dp_smooth f = {.size = size_of(s), .at = risk_at, .self = r};
    memcpy(s->w, model, f.size * sizeof *s->w);
    int rc = dp_minimise(&f, o->tolerance, o->most, s->w, found, err);
    if (rc != DP_OK || found->end != DP_MINIMUM_REACHED)
        return rc != DP_OK ? rc : not_converged(o, found, err);
    for (size_t j = 0; j < f.size; j++) {
        sum[j] = s->w[j] - model[j];
        s->w[j] = model[j] + sum[j];
    }
    found->value = risk_at(r, s->w, s->slope);
    found->norm = sqrt(dp_norm2(s->slope, f.size));
    found->end = found->norm <= o->tolerance ? DP_MINIMUM_REACHED : DP_MINIMUM_STUCK;
    return found->end == DP_MINIMUM_REACHED ? DP_OK : not_converged(o, found, err);
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    struct risk risk = {o, s, batch};
    struct dp_minimum found;
    double *sum;
    if (batch->count != s->rows)
        return dp_fail(err, DP_E_RUN, "lap %lld has %zu of %zu rows, a minimiser is of all (dp-sample --mode full)",
                       (long long)frame->lap, batch->count, s->rows);
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_F64, s->form.rows, s->form.cols, &sum, err);
    if (rc == DP_OK)
        rc = minimise(&risk, model, sum, &found, err);
    if (rc != DP_OK)
        return rc;
    struct dp_record *record = dp_frame_edit_record(frame, DP_F_NONE);
    record->release = DP_RELEASE_SUM;
    record->of = DP_F_SUM;
    double gap = found.norm * found.norm / (2 * o->lambda);
    dp_frame_set_real(frame, DP_F_OBJECTIVE, found.value);
    if (isfinite(gap))
        dp_frame_set_real(frame, DP_F_GAP, gap);
    return DP_OK;
}

/* What the records of its laps will say. */
static int erm_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_record *open;
    (void)err;
    for (int at = 0; (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        open->release = DP_RELEASE_SUM;
        open->of = DP_F_SUM;
    }
    return DP_OK;
}

static int erm_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_batch batch;
    const double *model = NULL;
    int rc = s->announced ? DP_OK : announce(stage, frame, err);
    if (rc == DP_OK)
        rc = dp_batch_read(&batch, frame, s->dataset, &s->seen, err);
    if (rc == DP_OK && s->w == NULL)
        rc = set_shape(stage, frame, &batch, err);
    if (rc == DP_OK)
        rc = dp_batch_same_shape(&batch, frame, s->form.cols, s->rows, err);
    if (rc == DP_OK)
        rc = dp_form_model(&s->form, frame, &stage->key, &model, err);
    if (rc == DP_OK)
        rc = lap(stage, frame, &batch, model, err);
    if (rc != DP_OK)
        return rc;
    dp_batch_forget(frame);
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_erm_class = {
    .name = "dp-erm",
    .summary = "Minimise the regularised loss over all rows, without privacy",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_RAW,
    .open = erm_open,
    .hello = erm_hello,
    .fire = erm_fire,
    .close = erm_close,
    .ephemeral = true,
};
