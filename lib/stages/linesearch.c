/* dp-linesearch: chooses the step size along a released direction, by the losses of a batch. Only the choice among several
 * steps is released, and the choice is made with noise; the losses are not released. */
#include <float.h>

#include "base/mem.h"
#include "math/choose.h"
#include "math/grid.h"
#include "model/direction.h"
#include "stages/along.h"
#include "stages/announced.h"
#include "stages/labels.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"

enum method { METHOD_BACKTRACKING, METHOD_NOISY_MAX };
enum noise { NOISE_LAPLACE, NOISE_GAUSSIAN };
enum failure { FAILURE_ZERO, FAILURE_LAST };

struct options {
    struct dp_row_options row;
    int method, noise, on_failure;
    double epsilon, rho, split, clip, armijo, beta, first_step;
    int64_t tries;
    bool same_batch, follow;
};

struct state {
    struct dp_row_state row;
    double budget, clip; /* factors on --epsilon or --rho, and on --clip: 1 unless they follow */
    struct dp_along along;
    double *own[2]; /* --same-batch: gradient and direction, of the model's size */
    size_t capacity[2];
    int64_t *score; /* noisy-max: score of each candidate */
};

#define DP_OPTIONS struct options
#define MOST_TRIES 10000
#define SPLIT 0.5
#define ARMIJO 0.5
#define BETA 0.8

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_OPTION_CHOICE(0, method, "HOW", "backtracking|noisy-max",
                     "the first step that lowers the loss enough, or the one of several with the least loss",
                     .fallback = "backtracking"),
    DP_OPTION_CHOICE(0, noise, "KIND", "laplace|gaussian", "distribution of the noise", .fallback = "laplace",
                     .excludes = "method=noisy-max: it has Laplace noise"),
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "cost of one search of a batch", .needs = "noise=laplace",
                   .needed_by = "noise=laplace"),
    DP_OPTION_REAL(0, rho, "R", DP_ABOVE(0), "R/3 for the threshold and 2R/3 for the steps", .needs = "noise=gaussian",
                   .needed_by = "noise=gaussian"),
    DP_OPTION_REAL(0, split, "PART", DP_ABOVE_BELOW(0, 1), "part of epsilon for the threshold (0.5)",
                   .needs = "method=backtracking; noise=laplace"),
    DP_OPTION_INT('m', tries, "M", DP_FROM_TO(1, MOST_TRIES), "most steps to try", .required = true),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "bound on the loss of one person", .required = true),
    DP_OPTION_REAL('s', first_step, "ETA", DP_ABOVE(0), "largest step to try", .required = true),
    DP_OPTION_FLAG(0, follow, "use the frame's largest step, chosen from released values, instead of ETA"),
    DP_OPTION_REAL(0, beta, "BETA", DP_ABOVE_BELOW(0, 1), "each step is this part of the one before (0.8)",
                   .needs = "method=backtracking"),
    DP_OPTION_REAL(0, armijo, "A", DP_FROM(0), "part of the decrease predicted by the slope that the loss must reach (0.5)",
                   .needs = "method=backtracking"),
    DP_OPTION_CHOICE(0, on_failure, "STEP", "zero|last", "if no step is accepted, stay, or take the next smaller step (zero)",
                     .needs = "method=backtracking"),
    DP_OPTION_FLAG(0, same_batch, "search along the noised sum of this lap, by the losses of its own batch"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

static double chosen(double option, double fallback)
{
    return isnan(option) ? fallback : option;
}

static void linesearch_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_along_close(&s->along);
    free(s->own[0]);
    free(s->own[1]);
    free(s->score);
}

/* --- charges ----------------------------------------------------------------------------------------------------------- */

static struct dp_query query_of(const struct options *o, double budget)
{
    double split = chosen(o->split, SPLIT);
    if (o->method == METHOD_NOISY_MAX)
        return (struct dp_query){.kind = DP_QUERY_PURE, .epsilon = budget * o->epsilon};
    if (o->noise == NOISE_GAUSSIAN)
        return (struct dp_query){.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = budget * o->rho, .most = o->tries};
    return (struct dp_query){.kind = DP_QUERY_SPARSE_LAPLACE,
                             .epsilon = budget * o->epsilon * split,
                             .query_epsilon = budget * o->epsilon * (1 - split) / 2,
                             .most = o->tries};
}

/* Completes an open record. A choice has no scale: the noise is in how it was made. */
static void complete(const struct dp_stage *stage, struct dp_record *record)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    record->release = DP_RELEASE_SUM;
    dp_record_bound(record, DP_F_CHOICE, dp_adjacency_chosen(o->row.adjacency), s->clip * o->clip);
    record->query = query_of(o, s->budget);
    record->scale = 0;
}

/* Scales of the noise on the threshold (backtracking) and on each candidate, in steps of the grid. Rounded up. */
static void scales(const struct dp_stage *stage, double *threshold, double *candidate)
{
    struct dp_record record = {0};
    complete(stage, &record);
    double sensitivity = record.sensitivity / dp_grid_for(record.bound); /* exact: the grid is a power of two */
    const struct dp_query *q = &record.query;
    bool gaussian = q->kind == DP_QUERY_SPARSE_GAUSSIAN, search = q->kind == DP_QUERY_SPARSE_LAPLACE;
    *threshold = gaussian ? sensitivity * sqrt(1.5 / q->rho) : sensitivity / q->epsilon;
    *candidate = gaussian ? sensitivity * sqrt(3 / q->rho) : search ? sensitivity / q->query_epsilon : *threshold;
    *threshold *= 1 + 4 * DBL_EPSILON;
    *candidate *= 1 + 4 * DBL_EPSILON;
}

/* --- options ------------------------------------------------------------------------------------------------------ */

static int check_sizes(const struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    double threshold, candidate, last = o->first_step * pow(chosen(o->beta, BETA), (double)o->tries);
    const struct state *s = stage->state;
    int rc = dp_bounded_check_clip(s->clip * o->clip, err);
    if (rc != DP_OK)
        return rc;
    scales(stage, &threshold, &candidate);
    if (!(threshold > 0 && threshold <= DP_CHOOSE_MOST && candidate > 0 && candidate <= DP_CHOOSE_MOST))
        return dp_fail(err, DP_E_USAGE, "%s: %g is out of range: its noise does not fit the grid of the losses",
                       o->noise == NOISE_GAUSSIAN ? "--rho" : "--epsilon", o->noise == NOISE_GAUSSIAN ? o->rho : o->epsilon);
    if (o->method == METHOD_BACKTRACKING && !(last >= DBL_MIN))
        return dp_fail(err, DP_E_USAGE, "--tries: the last of %lld steps, each %g of the one before, would be zero",
                       (long long)o->tries, chosen(o->beta, BETA));
    return DP_OK;
}

static int linesearch_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->budget = s->clip = 1;
    int rc = check_sizes(stage, err);
    if (rc == DP_OK && o->method == METHOD_NOISY_MAX)
        s->score = dp_new((size_t)o->tries + 1, sizeof *s->score);
    return rc;
}

/* A copy of the record, open again, for a second query on the same batch. */
static struct dp_record same_batch_again(const struct dp_record *record)
{
    struct dp_record again = *record;
    again.of = DP_F_NONE;
    again.query = (struct dp_query){.kind = DP_QUERY_NONE};
    return again;
}

/* The announced record of its laps. */
static int linesearch_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_record *record;
    int rc = DP_OK;
    for (int at = 0; rc == DP_OK && (record = dp_announced(stage, frame, o->same_batch ? DP_F_SUM : DP_F_NONE, &at)) != NULL;) {
        if (!o->same_batch) {
            complete(stage, record);
            record->means = DP_MEANS_CHOICE;
            record->follows |= o->follow ? DP_FOLLOWS_SEARCH : 0;
            continue;
        }
        struct dp_record second = same_batch_again(record);
        complete(stage, &second);
        second.means = DP_MEANS_CHOICE;
        second.follows |= o->follow ? DP_FOLLOWS_SEARCH : 0;
        rc = dp_frame_add_record(frame, &second, err);
    }
    return rc;
}

/* --- the lap's public side ---------------------------------------------------------------------------------------- */

/* The model and the line of the search: w − eta × direction. Both have `count` numbers. */
struct ray {
    const double *model, *gradient, *direction;
    size_t outputs, cols, count;
    double rows, lambda;  /* q N; L2 regularisation */
    double slope;         /* (gradient + lambda w)·direction: the slope of F's decrease along the line */
    double across, norm2; /* w·direction, ‖direction‖² */
};

static int need(const struct dp_frame *frame, enum dp_field field, const struct dp_array *model, const double **numbers,
                struct dp_err *err)
{
    const struct dp_array *a;
    int rc = dp_frame_need_array(frame, field, DP_F64, 2, &a, err);
    if (rc == DP_OK && (a->dims[0] != model->dims[0] || a->dims[1] != model->dims[1]))
        rc = dp_fail(err, DP_E_RUN, "the %s of lap %lld does not have the shape of the model", dp_fields[field].key,
                     (long long)frame->lap);
    if (rc == DP_OK)
        *numbers = a->data;
    return rc;
}

/* The direction of the noised sum in the frame, along which dp-step will move. */
static int from_sum(struct state *s, const struct dp_frame *frame, struct ray *ray, struct dp_err *err)
{
    if (!dp_method_gradients(frame))
        return dp_fail(err, DP_E_RUN, "--same-batch: the sum of lap %lld is not one of gradients", (long long)frame->lap);
    for (int i = 0; i < 2; i++)
        dp_extend(&s->own[i], &s->capacity[i], ray->count, sizeof(double));
    int rc = dp_direction_gradient(frame, ray->outputs, ray->cols, s->own[0], &ray->rows, err);
    if (rc == DP_OK)
        dp_direction_along(s->own[0], ray->model, ray->count, ray->lambda, false, s->own[1]);
    ray->gradient = s->own[0];
    ray->direction = s->own[1];
    return rc;
}

static int read_ray(struct dp_stage *stage, const struct dp_frame *frame, struct ray *ray, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_record *record = dp_frame_record(frame, DP_F_NONE);
    const struct dp_array *model;
    long long lap = (long long)frame->lap;
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    if (rc != DP_OK)
        return rc;
    *ray = (struct ray){.model = model->data, .outputs = model->dims[0], .cols = model->dims[1], .count = model->count};
    ray->lambda = dp_frame_real(frame, DP_F_LAMBDA, 0);
    ray->rows = record->rate * (double)record->rows;
    if (!(ray->lambda >= 0 && isfinite(ray->lambda) && ray->rows > 0))
        return dp_fail(err, DP_E_RUN, "lap %lld has a lambda of %g and %g rows", lap, ray->lambda, ray->rows);
    rc = o->same_batch ? from_sum(stage->state, frame, ray, err) : need(frame, DP_F_GRADIENT, model, &ray->gradient, err);
    if (rc == DP_OK && !o->same_batch)
        rc = need(frame, DP_F_DIRECTION, model, &ray->direction, err);
    for (size_t j = 0; rc == DP_OK && j < ray->count; j++) {
        double w = ray->model[j], d = ray->direction[j];
        ray->slope += (ray->gradient[j] + ray->lambda * w) * d;
        ray->across += w * d;
        ray->norm2 += d * d;
    }
    if (rc == DP_OK && !(isfinite(ray->slope) && isfinite(ray->across) && isfinite(ray->norm2)))
        rc = dp_fail(err, DP_E_RUN, "the direction of lap %lld is not finite", lap);
    return rc;
}

/* q N lambda/2 (‖w − eta d‖² − ‖w‖²) */
static double regulariser(const struct ray *ray, double eta)
{
    return ray->rows * ray->lambda / 2 * eta * (eta * ray->norm2 - 2 * ray->across);
}

/* As a whole number; values beyond all sums of losses are cut to that range. */
static int64_t whole(double x)
{
    const double most = 0x1p62;
    return x >= -most ? (x <= most ? (int64_t)x : (int64_t)1 << 62) : -((int64_t)1 << 62);
}

/* --- the search --------------------------------------------------------------------------------------------------- */

/* The candidate steps. Backtracking: its steps, then the step after a failure. Noisy-max: 0 and all steps up to the largest. */
static int put_steps(const struct options *o, struct dp_frame *frame, double **steps, struct dp_err *err)
{
    size_t tries = (size_t)o->tries;
    double first = o->follow ? dp_frame_real(frame, DP_F_FIRST_STEP, o->first_step) : o->first_step;
    if (!(first > 0 && isfinite(first)))
        return dp_fail(err, DP_E_RUN, "lap %lld has a first step of %g", (long long)frame->lap, first);
    int rc = dp_frame_make_array(frame, DP_F_STEPS, DP_F64, tries + 1, 0, steps, err);
    if (rc != DP_OK)
        return rc;
    if (o->method == METHOD_NOISY_MAX) {
        for (size_t i = 0; i <= tries; i++)
            (*steps)[i] = (double)i * first / (double)tries;
        return DP_OK;
    }
    (*steps)[0] = first;
    for (size_t i = 1; i <= tries; i++)
        (*steps)[i] = (*steps)[i - 1] * chosen(o->beta, BETA);
    if (o->on_failure != FAILURE_LAST)
        (*steps)[tries] = 0;
    return DP_OK;
}

/* Σ [l(w) − l(w − eta d)] ≥ armijo × eta × q N × slope + the growth of the regulariser, in steps of the grid. The published
   test has sums on the left and means on the right. */
static size_t backtrack(struct dp_stage *stage, const struct ray *ray, int64_t lap, const double *steps)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    size_t tries = (size_t)o->tries;
    double threshold, candidate;
    struct dp_above above;
    scales(stage, &threshold, &candidate);
    dp_above_open(&above, &stage->key, (uint64_t)lap, o->noise == NOISE_GAUSSIAN, threshold, candidate); /* they fit */
    for (size_t i = 0; i < tries; i++) {
        double fall = chosen(o->armijo, ARMIJO) * steps[i] * ray->rows * ray->slope + regulariser(ray, steps[i]);
        if (dp_above_ask(&above, i, dp_along_fall(&s->along, steps[i]), whole(ceil(fall / s->along.grid))))
            return i;
    }
    return tries;
}

static size_t least(struct dp_stage *stage, const struct ray *ray, int64_t lap, const double *steps)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    size_t count = (size_t)o->tries + 1, choice = 0;
    double threshold, candidate;
    scales(stage, &threshold, &candidate);
    for (size_t i = 0; i < count; i++)
        s->score[i] = dp_along_sum(&s->along, steps[i]) + whole(regulariser(ray, steps[i]) / s->along.grid);
    dp_choose_least(&stage->key, (uint64_t)lap, candidate, s->score, count, &choice); /* it fits */
    return choice;
}

/* --- laps --------------------------------------------------------------------------------------------------------- */

static int check_frame(const struct options *o, const struct dp_frame *frame, struct dp_err *err)
{
    enum dp_label takes = o->same_batch ? DP_LABEL_NOISED : DP_LABEL_RAW;
    if (frame->label != takes)
        return dp_fail(err, DP_E_UNSAFE, "%s takes %s frames and got a %s one", o->same_batch ? "--same-batch" : "a search",
                       dp_label_name(takes), dp_label_name(frame->label));
    if (o->same_batch && dp_frame_record(frame, DP_F_SUM) == NULL)
        return dp_fail(err, DP_E_UNSAFE, "--same-batch: lap %lld has no record of a sum", (long long)frame->lap);
    if (o->same_batch && !dp_frame_has(frame, DP_F_ROWS))
        return dp_fail(err, DP_E_RUN, "--same-batch: the batch of lap %lld is gone: dp-grad --keep-batch leaves it",
                       (long long)frame->lap);
    if (!o->same_batch && !(dp_frame_has(frame, DP_F_DIRECTION) && dp_frame_has(frame, DP_F_GRADIENT)))
        return dp_fail(err, DP_E_RUN, "there is no direction to search along in lap %lld: no gradient is held (dp-step --hold)",
                       (long long)frame->lap);
    if (dp_frame_has(frame, DP_F_CLASS_WEIGHTS))
        return dp_fail(err, DP_E_RUN, "the gradients have weights of classes, which a line search does not know");
    return DP_OK;
}

/* The search uses the loss of the gradients, which dp-grad states in the frame. */
static int read_line(const struct dp_frame *frame, const struct dp_form *form, struct dp_line *line, struct dp_err *err)
{
    const char *loss = dp_frame_text(frame, DP_F_LOSS, NULL);
    long long lap = (long long)frame->lap;
    *line = (struct dp_line){.outputs = form->outputs};
    if (loss == NULL)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld does not say which loss: dp-grad says it in its first lap", lap);
    if (dp_loss_parse(loss, &line->loss) != 0)
        return dp_fail(err, DP_E_RUN, "the loss of lap %lld is '%.40s', which is unknown here", lap, loss);
    line->width = dp_frame_real(frame, DP_F_LOSS_WIDTH, dp_losses[line->loss].width);
    if (!(line->width > 0 && isfinite(line->width)))
        return dp_fail(err, DP_E_RUN, "the loss of lap %lld has a width of %g", lap, line->width);
    int rc = dp_batch_classes(frame, &line->classes, err);
    return rc ?: dp_labels_check_outputs(line->loss, line->classes, form->outputs, err);
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_form form = {0};
    struct dp_line line;
    (void)batch;
    int rc = dp_form_read(&form, frame, err);
    rc = rc ?: read_line(frame, &form, &line, err);
    s->row.cols = form.features + (form.intercept != 0 ? 1 : 0);
    if (rc == DP_OK)
        dp_along_open(&s->along, &line, &form, o->clip, (int)o->row.threads);
    return rc;
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct ray ray;
    double *steps;
    int64_t *choice;
    (void)model; /* the ray has it */
    int rc = read_ray(stage, frame, &ray, err);
    if (rc == DP_OK && ray.count != s->along.count)
        rc = dp_fail(err, DP_E_RUN, "the model changes its shape during the run");
    dp_along_bound(&s->along, s->clip * o->clip);
    if (rc == DP_OK)
        dp_along_take(&s->along, batch, ray.model, ray.direction);
    rc = rc ?: put_steps(o, frame, &steps, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_CHOICE, DP_I64, 1, 1, &choice, err);
    if (rc != DP_OK)
        return rc;
    *choice = (int64_t)(o->method == METHOD_NOISY_MAX ? least : backtrack)(stage, &ray, frame->lap, steps);
    complete(stage, dp_frame_edit_record(frame, DP_F_NONE));
    frame->label = DP_LABEL_NOISED;
    return DP_OK;
}

/* The budget and the bound of this lap; the noise must still fit the grid. */
static int read_factors(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (!o->follow)
        return DP_OK;
    s->budget = dp_frame_real(frame, DP_F_SEARCH_FACTOR, 1);
    s->clip = dp_frame_real(frame, DP_F_LOSS_FACTOR, 1);
    if (!(s->budget >= DP_BOUND_LEAST && s->budget <= DP_BOUND_MOST && s->clip >= DP_BOUND_LEAST && s->clip <= DP_BOUND_MOST))
        return dp_fail(err, DP_E_RUN, "--follow: the frame of lap %lld asks for %g times the budget and %g times the bound",
                       (long long)frame->lap, s->budget, s->clip);
    return check_sizes(stage, err);
}

static int before(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    int rc = check_frame(o, frame, err);
    rc = rc ?: read_factors(stage, frame, err);
    if (rc != DP_OK || !o->same_batch)
        return rc;
    struct dp_record again = same_batch_again(dp_frame_record(frame, DP_F_SUM));
    return dp_frame_add_record(frame, &again, err);
}

const struct dp_stage_class dp_linesearch_class = {
    .name = "dp-linesearch",
    .summary = "Choose a step size privately (line search)",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW | DP_LABEL_NOISED,
    .gives = DP_LABEL_NOISED,
    .rows = &(const struct dp_row_stage){.before = before, .shape = shape, .lap = lap},
    .open = linesearch_open,
    .hello = linesearch_hello,
    .close = linesearch_close,
    .ephemeral = true,
};
