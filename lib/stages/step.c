/* dp-step: computes the next model from the last one and a released sum, and the mean of released iterates. Post-processing:
 * runs after the gate. The method of the model decides. If its sums are sums of negative gradients, an optimiser takes a step,
 * or the gradient is held for a search that chooses the step. For all other methods the model moves by the sum itself.
 * --temperature multiplies all scores by one factor, from the sum of dp-temperature. */

#include "base/mem.h"
#include "data/schedule_file.h"
#include "math/optimiser.h"
#include "math/temperature.h"
#include "model/candidates.h"
#include "model/direction.h"
#include "model/family.h"
#include "model/held.h"
#include "model/method.h"
#include "model/sum.h"
#include "model/transform.h"
#include "stages/announced.h"

enum average { AVERAGE_NONE, AVERAGE_TAIL, AVERAGE_POLYNOMIAL, AVERAGE_EXPONENTIAL };

struct options {
    int average, optimiser;
    double tail, gamma, weight;
    double step, momentum, project;
    const char *schedule;
    double b0, beta, floor, beta1, beta2, epsilon;
    bool hold, average_gradients, normalise, relative, temperature;
    int64_t constant_laps, epoch;
};

struct state {
    bool opened;  /* shapes are known */
    bool checked; /* the schedule, against the number of laps */
    bool waits;   /* --average tail: the last lap came before the tail */
    struct dp_schedule schedule;
    struct dp_optimiser optimiser;
    double *gradient, *move; /* outputs × cols of the model or, with a transform, entries of z */
    size_t outputs, cols;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_CHOICE('a', average, "HOW", "none|tail|polynomial|exponential", "which iterates to average", .fallback = "none"),
    DP_OPTION_REAL(0, tail, "PART", DP_ABOVE_TO(0, 1), "last part of the laps, for --average tail", .fallback = "0.5"),
    DP_OPTION_REAL(0, gamma, "G", DP_FROM_TO(0, 1000), "degree of --average polynomial: iterate t weighs about t^G",
                   .fallback = "3"),
    DP_OPTION_REAL(0, weight, "W", DP_ABOVE_TO(0, 1), "exponential: weight of the newest iterate", .fallback = "0.02"),
    DP_OPTION_REAL('s', step, "ETA", DP_ABOVE(0), "gradients: the step size; required for them"),
    DP_OPTION_FLAG(0, relative, "gradients: divide the step size by dp-transform's curvature in the frame", .needs = "step"),
    DP_OPTION_TEXT(0, schedule, "B",
                   "gradients: divide the step size by b_t: constant, inverse, sqrt:A:C, "
                   "linear[:E], linear-decay[:E], cosine[:E], first:K:B or a file (constant)",
                   .needs = "step"),
    DP_OPTION_CHOICE(0, optimiser, "WHICH", DP_OPTIMISER_CHOICES, "gradients: kind of step", .name = "optimizer",
                     .fallback = "sgd", .needs = "step"),
    DP_OPTION_REAL(0, momentum, "M", DP_FROM_BELOW(0, 1), "sgd, adagrad-norm: part of the last step to keep", .fallback = "0",
                   .needs = "step", .excludes = "optimizer=adam: it has --beta1"),
    DP_OPTION_REAL(0, b0, "B", DP_ABOVE(0), "adagrad-norm: b before the first lap", .fallback = "1"),
    DP_OPTION_REAL(0, beta, "BETA", DP_ABOVE(0), "adagrad-norm: weight of the squared norm", .fallback = "1"),
    DP_OPTION_INT(0, epoch, "K", DP_FROM_TO(1, INT32_MAX),
                  "adagrad-norm: divide BETA by 1 to K in each K laps, and keep it above 1", .name = "beta-epoch"),
    DP_OPTION_REAL(0, floor, "NU", DP_FROM(0), "adagrad-norm: least growth of b^2 per lap", .fallback = "1e-6"),
    DP_OPTION_REAL(0, beta1, "B1", DP_FROM_BELOW(0, 1), "adam: decay of the mean gradient", .fallback = "0.9"),
    DP_OPTION_REAL(0, beta2, "B2", DP_FROM_BELOW(0, 1), "adam: decay of the mean square", .fallback = "0.999"),
    DP_OPTION_REAL(0, epsilon, "E", DP_ABOVE(0), "adam: number added to the root of the mean square", .name = "adam-epsilon",
                   .fallback = "1e-8"),
    DP_OPTION_REAL(0, project, "R", DP_ABOVE(0), "gradients: keep the weights in the ball of radius R"),
    DP_OPTION_INT(0, constant_laps, "K", DP_FROM_TO(1, INT32_MAX),
                  "gradients: the first K laps move only the constant; it moves by ETA, whatever the curvature"),
    DP_OPTION_FLAG(0, temperature, "multiply the scores by the factor that the sum of dp-temperature gives",
                   .excludes = "step, project, hold, average, constant-laps"),
    DP_OPTION_FLAG(0, hold, "gradients: take no step, but leave the direction in the frame for dp-linesearch",
                   .excludes = "step, project, average: it moves nothing"),
    DP_OPTION_FLAG(0, average_gradients, "average a gradient without a step with the next one", .needs = "hold"),
    DP_OPTION_FLAG(0, normalise, "divide the gradient by its length", .needs = "hold"),
    {.name = NULL},
};

static void step_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_schedule_free(&s->schedule);
    dp_optimiser_close(&s->optimiser);
    free(s->gradient);
    free(s->move);
}

static int step_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->optimiser = (struct dp_optimiser){
        .kind = (enum dp_optimiser_kind)o->optimiser,
        .momentum = o->momentum,
        .b2 = o->b0 * o->b0,
        .beta = o->beta,
        .epoch = o->epoch != DP_OPT_ABSENT_INT ? o->epoch : 0,
        .floor = o->floor,
        .beta1 = o->beta1,
        .beta2 = o->beta2,
        .epsilon = o->epsilon,
    };
    return dp_schedule_open(&s->schedule, "--schedule", o->schedule != NULL ? o->schedule : "constant", err);
}

/* Memory of the optimiser is allocated at the first gradient, or with a checkpoint. */
static void open_optimiser(struct state *s, size_t outputs, size_t cols)
{
    s->outputs = outputs;
    s->cols = cols;
    s->gradient = dp_new(outputs * cols, sizeof *s->gradient);
    s->move = dp_new(outputs * cols, sizeof *s->move);
    dp_optimiser_open(&s->optimiser, outputs * cols);
    s->opened = true;
}

/* Values that last for the run are known at the first gradient. */
static int begin(struct dp_stage *stage, size_t outputs, size_t cols, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t turn = stage->turn, laps = stage->turns;
    int rc = isnan(o->step) ? dp_fail(err, DP_E_USAGE, "--step is required: the sums are gradients") : DP_OK;
    if (rc == DP_OK && !s->checked)
        rc = dp_schedule_check(&s->schedule, "--schedule", laps, err);
    s->checked = rc == DP_OK;
    if (rc == DP_OK && !s->opened)
        open_optimiser(s, outputs, cols);
    if (rc != DP_OK)
        return rc;
    if (outputs != s->outputs || cols != s->cols)
        return dp_fail(err, DP_E_RUN, "the model changes its shape during the run, or the transform does");
    if (s->schedule.kind != DP_SCHEDULE_CONSTANT && (turn < 1 || (laps > 0 && turn > laps)))
        return dp_fail(err, DP_E_RUN, "--schedule: lap %lld of a run of %lld", (long long)turn, (long long)laps);
    return DP_OK;
}

/* ETA of this lap. */
static int step_size(const struct dp_stage *stage, const struct dp_frame *frame, double *eta, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    double curvature = dp_frame_real(frame, DP_F_CURVATURE, 0);
    *eta = o->step / dp_schedule_at(&s->schedule, stage->turn, stage->turns);
    if (!o->relative)
        return DP_OK;
    if (!(curvature > 0 && isfinite(curvature)))
        return dp_fail(err, DP_E_USAGE, "--relative: the frame of lap %lld has no curvature; dp-transform makes it",
                       (long long)frame->lap);
    *eta /= curvature;
    return DP_OK;
}

/* The first laps move only the constant. The last entry of z is the same for every row, so the step is not divided by the
 * curvature there. */
static int part_constant(const struct dp_stage *stage, const struct dp_frame *frame, const struct dp_transform *transform,
                         double *eta, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (o->constant_laps == DP_OPT_ABSENT_INT)
        return DP_OK;
    if (!dp_transform_has_constant(transform))
        return dp_fail(err, DP_E_USAGE,
                       "--constant-laps: the transform of lap %lld has no row for the constant (dp-transform --constant)",
                       (long long)frame->lap);
    const bool first = stage->turn <= o->constant_laps;
    for (size_t i = 0; i < s->outputs * s->cols; i++)
        if (i % s->cols == s->cols - 1)
            s->gradient[i] *= first ? 1 : o->step / *eta;
        else if (first)
            s->gradient[i] = 0;
    *eta = first ? o->step : *eta;
    return DP_OK;
}

/* The optimiser moves u. Only its move is known here: the model is w = u T (model/transform.h). */
static void descend_behind(struct state *s, const struct dp_transform *transform, double eta, double variance, double lambda,
                           double *w)
{
    if (lambda > 0)
        dp_transform_pull(transform, lambda, w, s->outputs, s->gradient);
    memset(s->move, 0, s->outputs * s->cols * sizeof *s->move);
    dp_optimiser_step(&s->optimiser, eta, variance, s->gradient, s->move);
    dp_transform_push(transform, s->move, s->outputs, w);
}

static int descend(struct dp_stage *stage, struct dp_frame *frame, struct dp_array *model, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_transform transform;
    double rows, eta, *w = model->data, lambda = dp_frame_real(frame, DP_F_LAMBDA, 0);
    int rc = dp_transform_read(&transform, frame, model->dims[1], err);
    rc = rc ?: begin(stage, model->dims[0], transform.rows > 0 ? transform.rows : model->dims[1], err);
    rc = rc ?: step_size(stage, frame, &eta, err);
    rc = rc ?: dp_direction_gradient(frame, s->outputs, s->cols, s->gradient, &rows, err);
    rc = rc ?: part_constant(stage, frame, &transform, &eta, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_record *record = dp_frame_record(frame, DP_F_SUM);
    if (o->optimiser == DP_OPTIMISER_ADAGRAD_NORM && record != NULL && record->query.kind == DP_QUERY_CORRELATED)
        return dp_fail(err, DP_E_USAGE, "--optimizer adagrad-norm: what it takes off for noise is for independent noise");
    double noise = dp_frame_real(frame, DP_F_NOISE_SCALE, 0) / rows;
    if (transform.rows > 0) {
        descend_behind(s, &transform, eta, noise * noise, lambda, w);
    } else {
        dp_direction_along(s->gradient, w, model->count, lambda, false, s->gradient);
        dp_optimiser_step(&s->optimiser, eta, noise * noise, s->gradient, w);
    }
    if (!isnan(o->project))
        dp_project_ball(o->project, w, model->count);
    return DP_OK;
}

static int add(const struct dp_frame *frame, struct dp_array *model, struct dp_err *err)
{
    struct dp_sum sum;
    int rc = dp_sum_read(&sum, frame, err);
    return rc ?: dp_sum_add(&sum, model->dims[0], model->dims[1], model->data, err);
}

/* One divided by the weight of iterate t in the mean: t for the plain mean, (t + gamma)/(gamma + 1) for the polynomial mean
 * (Shamir & Zhang 2013), min(t, 1/W) for the exponential mean, which therefore begins without a bias to the first iterate. */
static double divisor(const struct options *o, double t)
{
    if (o->average == AVERAGE_POLYNOMIAL)
        return (t + o->gamma) / (o->gamma + 1);
    return o->average == AVERAGE_EXPONENTIAL ? fmin(t, 1 / o->weight) : t;
}

/* Adds the new iterate to the mean of the iterates so far, or of the tail. */
static int average_in(struct dp_stage *stage, struct dp_frame *frame, const struct dp_array *model, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t laps = stage->turns;
    if (o->average == AVERAGE_TAIL && laps <= 0)
        return dp_fail(err, DP_E_RUN, "--average tail: the stream does not say how many laps there will be");
    s->waits = o->average == AVERAGE_TAIL && stage->turn <= laps - (int64_t)ceil(o->tail * (double)laps);
    if (s->waits)
        return DP_OK;
    int64_t held = dp_frame_has(frame, DP_F_AVERAGE) ? dp_frame_int(frame, DP_F_AVERAGED, 0) : 0;
    const struct dp_array *old = dp_frame_array(frame, DP_F_AVERAGE);
    if (old != NULL && (old->dtype != DP_F64 || old->count != model->count))
        return dp_fail(err, DP_E_RUN, "the average does not have the shape of the model");
    double *mean, total = divisor(o, (double)(held + 1));
    const double *w = model->data;
    int rc = dp_frame_make_array(frame, DP_F_AVERAGE, DP_F64, model->dims[0], model->dims[1], &mean, err);
    if (rc != DP_OK)
        return rc;
    if (held == 0)
        memcpy(mean, w, model->count * sizeof *mean);
    for (size_t i = 0; held > 0 && i < model->count; i++)
        mean[i] += (w[i] - mean[i]) / total;
    dp_frame_set_int(frame, DP_F_AVERAGED, held + 1);
    return DP_OK;
}

/* Applies a choice: a candidate, or the step size along the held direction. */
static int walk(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    if (!isnan(o->step))
        return dp_fail(err, DP_E_USAGE, "--step: the step of lap %lld has been chosen by a search", (long long)frame->lap);
    int rc = dp_frame_has(frame, DP_F_CANDIDATES) ? dp_candidates_take(frame, err) : dp_held_step(frame, err);
    struct dp_array *model = dp_frame_edit_array(frame, DP_F_MODEL);
    if (rc == DP_OK && !isnan(o->project))
        dp_project_ball(o->project, model->data, model->count);
    return rc;
}

static int move(struct dp_stage *stage, struct dp_frame *frame, struct dp_array *model, struct dp_err *err)
{
    const struct options *o = stage->options;
    bool gradient = dp_method_gradients(frame), searched = dp_frame_has(frame, DP_F_CHOICE);
    if (!gradient && (o->hold || !isnan(o->step) || !isnan(o->project)))
        return dp_fail(err, DP_E_USAGE, "%s is for gradients; the method of the model is '%.40s'",
                       o->hold          ? "--hold"
                       : isnan(o->step) ? "--project"
                                        : "--step",
                       dp_frame_text(frame, DP_F_METHOD, ""));
    if (o->hold && dp_frame_has(frame, DP_F_TRANSFORM))
        return dp_fail(err, DP_E_USAGE, "--hold: the gradient of lap %lld is behind a transform, where no search is made",
                       (long long)frame->lap);
    if (o->hold)
        return dp_held_take(frame, o->average_gradients, o->normalise, err);
    int rc = searched ? walk(stage, frame, err) : gradient ? descend(stage, frame, model, err) : add(frame, model, err);
    const double *w = model->data;
    for (size_t i = 0; rc == DP_OK && i < model->count; i++)
        if (!isfinite(w[i]))
            rc = dp_fail(err, DP_E_RUN, "the model is not finite after lap %lld%s", (long long)frame->lap,
                         gradient && !searched ? ": a smaller --step may help" : "");
    return rc;
}

/* Multiplies the scores of the model as it predicts, its average if there is one, by the factor of its temperature: all weights
 * of a linear model, and the last layer of a network. */
static int temper(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_record *m = dp_frame_record(frame, DP_F_SUM);
    struct dp_sum sum;
    struct dp_form form;
    int rc = dp_sum_read(&sum, frame, err);
    rc = rc ?: dp_form_read(&form, frame, err);
    if (rc == DP_OK && (sum.values->count != 2 || m == NULL || !(m->rate > 0) || m->rows <= 0))
        rc = dp_fail(err, DP_E_RUN, "the sum of lap %lld is not one of dp-temperature", (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    struct dp_array *model = dp_frame_edit_array(frame, dp_frame_has(frame, DP_F_AVERAGE) ? DP_F_AVERAGE : DP_F_MODEL);
    const double rows = m->rate * (double)m->rows, mean[2] = {dp_sum_at(&sum, 0) / rows, dp_sum_at(&sum, 1) / rows};
    const double factor = dp_temperature_factor(mean, dp_frame_real(frame, DP_F_NOISE_SCALE, 0) / rows, stage->turn);
    for (size_t i = form.net.layers > 0 ? form.net.layer[form.net.layers - 1].first : 0; i < model->count; i++)
        ((double *)model->data)[i] *= factor;
    /* Both are of these sums: dp-clip --follow must not use the bound, and the model has other noise. */
    dp_frame_drop(frame, DP_F_BOUND);
    dp_frame_drop(frame, DP_F_NOISE_SCALE);
    return DP_OK;
}

/* Whether another dp-step uses everything that these laps release. */
static bool is_done(const struct dp_frame *hello, const char *on)
{
    bool any = false;
    for (int i = 0; i < hello->records; i++) {
        const struct dp_record *record = &hello->record[i];
        if (strcmp(record->on, on) == 0 && dp_paid_taker(record) != NULL) {
            if (record->means != DP_MEANS_DONE)
                return false;
            any = true;
        }
    }
    return any;
}

/* Whether frames may have a curvature when a gradient arrives. Laps of moments make it, and a user's own stage may make it from
 * any released value. */
static bool may_be_relative(const struct dp_frame *hello)
{
    return dp_announced_means(hello, DP_MEANS_TRANSFORM, NULL) || dp_announced_means(hello, DP_MEANS_MOMENTS, NULL) ||
           dp_announced_means(hello, DP_MEANS_TAKEN, NULL) || !dp_announced_all(hello);
}

/* Compares what laps will release with what this stage will do with it. */
static int check_answer(const struct dp_stage *stage, const struct dp_frame *hello, const struct dp_record *record,
                        struct dp_err *err)
{
    const struct options *o = stage->options;
    char kind[DP_RECORD_ON + 16];
    bool moves = !o->hold && isnan(o->step) && isnan(o->project);
    dp_announced_kind(record, kind);
    if (is_done(hello, record->on))
        return dp_fail(err, DP_E_USAGE,
                       "another dp-step takes the %s of laps%s before this one (--on KIND names the laps of each)",
                       dp_fields[record->of].key, kind);
    if (strcmp(dp_paid_taker(record), stage->class->name) != 0)
        return dp_fail(err, DP_E_USAGE, "what laps%s release is for %s (--on KIND names the laps of dp-step)", kind,
                       dp_paid_taker(record));
    if (record->means != DP_MEANS_NONE && (record->means == DP_MEANS_TEMPERATURE) != o->temperature)
        return dp_fail(err, DP_E_USAGE,
                       o->temperature ? "--temperature is for the sums of dp-temperature; laps%s release others"
                                      : "the sums of laps%s are of dp-temperature: --temperature takes them",
                       kind);
    if (record->means == DP_MEANS_MOVE && !moves)
        return dp_fail(err, DP_E_USAGE, "%s is for gradients; what laps%s release is what the model moves by",
                       o->hold          ? "--hold"
                       : isnan(o->step) ? "--project"
                                        : "--step",
                       kind);
    if (record->means == DP_MEANS_CHOICE && !isnan(o->step))
        return dp_fail(err, DP_E_USAGE, "--step is for gradients; what laps%s release is a choice", kind);
    if (record->means != DP_MEANS_GRADIENT || dp_announced_means(hello, DP_MEANS_CHOICE, record->on))
        return DP_OK;
    if (o->hold && dp_announced_means(hello, DP_MEANS_TRANSFORM, NULL))
        return dp_fail(err, DP_E_USAGE, "--hold: gradients of laps%s are behind a transform, where no search is made", kind);
    if (!o->hold && isnan(o->step))
        return dp_fail(err, DP_E_USAGE, "--step is required: the sums are gradients");
    if (o->relative && !may_be_relative(hello))
        return dp_fail(err, DP_E_USAGE,
                       "--relative: no laps of the run make a curvature; dp-transform does, from laps of moments");
    return DP_OK;
}

/* All checks that are possible before anything is paid for. */
static int step_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    struct state *s = stage->state;
    const struct options *o = stage->options;
    struct dp_record *record;
    int64_t laps = stage->on != NULL ? stage->turns : dp_frame_int(frame, DP_F_LAPS, 0);
    int rc = DP_OK;
    for (int at = 0; rc == DP_OK && (record = dp_announced_answer(stage, frame, &at)) != NULL;) {
        rc = check_answer(stage, frame, record, err);
        if (rc == DP_OK && record->means == DP_MEANS_GRADIENT && laps > 0 && !s->checked)
            rc = dp_schedule_check(&s->schedule, "--schedule", laps, err);
    }
    for (int at = 0; rc == DP_OK && (record = dp_announced_answer(stage, frame, &at)) != NULL;)
        if (!o->hold || record->of == DP_F_SUM)
            record->means = DP_MEANS_DONE;
    return rc;
}

static int step_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_array *model;
    if (!dp_frame_has(frame, DP_F_MODEL))
        return dp_fail(err, DP_E_RUN, "lap %lld has no model to move: a sum of moments is for dp-transform",
                       (long long)frame->lap);
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    rc = rc ?: o->temperature ? temper(stage, frame, err) : move(stage, frame, dp_frame_edit_array(frame, DP_F_MODEL), err);
    dp_frame_drop(frame, DP_F_SUM);
    dp_frame_drop(frame, DP_F_COLUMNS);
    if (rc == DP_OK && o->average != AVERAGE_NONE)
        rc = average_in(stage, frame, model, err);
    return rc != DP_OK ? rc : out->frame(out, frame, err);
}

/* If the budget ends the run, the announced number of laps was only the largest possible one. */
static int step_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    if (s->waits)
        dp_stage_warn(stage, out,
                      "--average tail: the run ended after lap %lld, before its tail, and nothing was averaged (--average "
                      "polynomial needs no end)",
                      (long long)stage->lap);
    return DP_OK;
}

/* The averages of released models are in the frame; those that the optimiser keeps are not. */
static int step_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct state *s = stage->state;
    const struct dp_optimiser *o = &s->optimiser;
    (void)err;
    if (!s->opened)
        return DP_OK;
    dp_state_put_int(state, "outputs", (int64_t)s->outputs);
    dp_state_put_int(state, "cols", (int64_t)s->cols);
    dp_state_put_int(state, "steps", o->steps);
    dp_state_put_real(state, "b2", o->b2);
    if (o->first != NULL)
        dp_state_put_reals(state, "first", o->first, o->size);
    if (o->second != NULL)
        dp_state_put_reals(state, "second", o->second, o->size);
    return DP_OK;
}

static int restore_mean(const struct dp_state *state, const char *name, double *mean, size_t size, struct dp_err *err)
{
    const void *bytes;
    size_t length;
    if (mean == NULL)
        return DP_OK;
    int rc = dp_state_get_bytes(state, name, &bytes, &length, err);
    if (rc == DP_OK && length != size * sizeof *mean)
        rc = dp_fail(err, DP_E_RUN, "'%s' of the checkpoint does not have the shape of the model", name);
    if (rc == DP_OK)
        memcpy(mean, bytes, length);
    return rc;
}

static int step_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_optimiser *o = &s->optimiser;
    const int64_t most = (int64_t)1 << 27; /* more weights do not fit a frame */
    int64_t outputs, cols, steps;
    if (!dp_state_has(state, "outputs"))
        return DP_OK;
    int rc = dp_state_get_int(state, "outputs", 1, most, &outputs, err);
    rc = rc ?: dp_state_get_int(state, "cols", 1, most / outputs, &cols, err);
    rc = rc ?: dp_state_get_int(state, "steps", 0, INT64_MAX, &steps, err);
    if (rc != DP_OK)
        return rc;
    open_optimiser(s, (size_t)outputs, (size_t)cols);
    o->steps = steps;
    rc = dp_state_get_real(state, "b2", &o->b2, err);
    rc = rc ?: restore_mean(state, "first", o->first, o->size, err);
    return rc ?: restore_mean(state, "second", o->second, o->size, err);
}

const struct dp_stage_class dp_step_class = {
    .name = "dp-step",
    .summary = "Move the model by a released sum",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .open = step_open,
    .hello = step_hello,
    .fire = step_fire,
    .drain = step_drain,
    .close = step_close,
    .save = step_save,
    .restore = step_restore,
};
