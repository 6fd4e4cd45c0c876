/* dp-adapt: adapts the run to released values: the noise of the next gradient, the first step and the budget of the next search,
 * and the clip bounds of both. It writes them into the frame, where private stages with --follow read them; the gate charges the
 * noise that they really added. It runs after the gate, so it sees nothing private. */

#include "base/mem.h"
#include "math/angle.h"
#include "math/pace.h"
#include "model/held.h"
#include "stages/announced.h"

enum policy { POLICY_NONE, POLICY_ON_FAILURE, POLICY_ADAPTIVE };

struct options {
    double multiplier, growth, forget, angle_max, angle_min, least;
    int policy;
    bool average, narrow;
    double first_step, widen;
    int64_t every;
    double clip, decay;
};

struct state {
    double z;     /* multiplier of a gradient that is used by itself */
    double next;  /* multiplier of the next gradient: z, or the multiplier with which the mean of this and the waiting gradient
                  * has z */
    double held;  /* precision of the waiting gradient, in units of 1/z^2 */
    double angle; /* adaptive: the moving average of angles, in radians */
    double search, clips;  /* factors by which the budget of searches and the clip bounds have changed */
    bool grown;            /* rho has grown since the last step */
    double *last, *failed; /* adaptive: the gradient of the last step; the one along which the last search has failed */
    size_t last_count, failed_count; /* their numbers of entries, 0 for none */
    double failed_precision;
    struct dp_pace_window window;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_REAL('z', multiplier, "Z", DP_ABOVE(0), "choose the noise multiplier of gradients, initially Z", .required = true,
                   .unless = "first-step, clip", .at_least = "least-multiplier"),
    DP_OPTION_CHOICE(
        0, policy, "WHEN", "none|on-failure|adaptive",
        "when budgets grow: never; rho = 1/(2 z^2) after a failed search; or by the angle between two gradients after it",
        .fallback = "none", .needs = "multiplier"),
    DP_OPTION_REAL(0, growth, "XI", DP_FROM_TO(0, 1000), "a budget grows to (1 + XI) times itself", .fallback = "0.3"),
    DP_OPTION_REAL(0, forget, "PSI", DP_ABOVE_BELOW(0, 1), "adaptive: the moving average of angles keeps this part of itself",
                   .name = "angle-decay", .fallback = "0.8"),
    DP_OPTION_REAL(0, angle_max, "PHI", DP_FROM_TO(0, 1000), "adaptive: rho grows if the angle is above PHI times the average",
                   .fallback = "1.1"),
    DP_OPTION_REAL(0, angle_min, "PHI", DP_FROM_TO(0, 1000),
                   "adaptive: the budget of searches grows if it is below PHI times the average", .fallback = "0.5"),
    DP_OPTION_REAL(0, least, "Z", DP_ABOVE(0), "lower limit of the multiplier", .name = "least-multiplier",
                   .needs = "multiplier"),
    DP_OPTION_FLAG(0, average,
                   "the next gradient is averaged with the waiting one, as in dp-step: it needs only the missing precision",
                   .name = "average-gradients", .needs = "multiplier",
                   .excludes = "policy=adaptive: it has a mean of its own; clip: gradients of one clip bound are weighed"),
    DP_OPTION_REAL(0, first_step, "ETA", DP_ABOVE(0), "choose the first step of searches, initially ETA"),
    DP_OPTION_INT(0, every, "TAU", DP_FROM_TO(1, 1099511627775), "number of searches between changes of the first step",
                  .fallback = "10"),
    DP_OPTION_REAL(0, widen, "S", DP_ABOVE_TO(0, 1000), "the next first step is S times their largest step", .fallback = "1.2"),
    DP_OPTION_FLAG(0, narrow, "the first step never grows"),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "choose the clip bounds: of sums, initially C, and of searches",
                   .needs = "policy: the bound falls when the budget of gradients grows"),
    DP_OPTION_REAL(0, decay, "ZETA", DP_FROM_BELOW(0, 1),
                   "the first time that rho grows between two steps, both fall by this part", .name = "clip-decay",
                   .fallback = "0.05"),
    {.name = NULL},
};

static void adapt_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    free(s->last);
    free(s->failed);
}

static int adapt_open(struct dp_stage *stage, struct dp_err *err)
{
    (void)err;
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->z = s->next = o->multiplier;
    s->angle = acos(-1) / 2;
    s->search = s->clips = 1;
    s->window = (struct dp_pace_window){.every = o->every, .widen = o->widen, .narrow = o->narrow, .first = o->first_step};
    return DP_OK;
}

/* Reports a stage that does not follow: --follow is missing, or its first value differs. */
static int check(const struct dp_frame *frame, const char *what, double is, double told, const char *who, struct dp_err *err)
{
    return fabs(is - told) <= 1e-9 * told
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "lap %lld had a %s of %g, not %g: %s needs --follow, and to begin with the same value",
                         (long long)frame->lap, what, is, told, who);
}

/* rho grows. Between two steps the clip bounds fall only once. */
static void grow(struct dp_stage *stage)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    double z = dp_pace_multiplier(s->z, 1 + o->growth, isnan(o->least) ? 0 : o->least);
    if (z < s->z && !s->grown) {
        s->clips *= 1 - o->decay;
        s->grown = true;
    }
    s->z = z;
}

static void keep(double **to, size_t *count, const struct dp_array *gradient)
{
    if (*to == NULL)
        *to = dp_new(gradient->count, sizeof **to);
    *count = gradient->count;
    memcpy(*to, gradient->data, *count * sizeof **to);
}

/* The gradient that a search has used, or will use. */
static int waiting(const struct state *s, const struct dp_frame *frame, const struct dp_array **gradient, struct dp_err *err)
{
    int rc = dp_frame_need_array(frame, DP_F_GRADIENT, DP_F64, 2, gradient, err);
    for (int i = 0; rc == DP_OK && i < 2; i++) {
        size_t count = i == 0 ? s->last_count : s->failed_count;
        if (count > 0 && count != (*gradient)->count)
            rc = dp_fail(err, DP_E_RUN, "the gradient changes its shape during the run");
    }
    return rc;
}

/* A second gradient at the weights where a search has failed (algorithm 3, CHEB). The next search has the mean of both. */
static int compare(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_array *gradient;
    int rc = waiting(s, frame, &gradient, err);
    if (rc != DP_OK || s->failed_count == 0)
        return rc;
    double angle = dp_angle(gradient->data, s->failed, s->failed_count);
    rc = dp_held_halve(frame, s->failed, s->failed_count, s->failed_precision, err);
    s->failed_count = 0;
    switch (dp_pace_compare(angle, s->angle, o->angle_max, o->angle_min)) {
    case DP_PACE_NOISY:
        grow(stage);
        break;
    case DP_PACE_ALIKE:
        s->search *= 1 + o->growth;
        break;
    case DP_PACE_BETWEEN:
        break;
    }
    return rc;
}

/* After a step the average of angles follows, by the gradients of this step and of the one before (equation 7). */
static int follow(struct dp_stage *stage, const struct dp_frame *frame, double step, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_array *gradient;
    int rc = waiting(s, frame, &gradient, err);
    if (rc == DP_OK && !(step > 0)) {
        s->failed_precision = dp_frame_real(frame, DP_F_PRECISION, 0);
        keep(&s->failed, &s->failed_count, gradient);
        return DP_OK;
    }
    if (rc == DP_OK && s->last_count > 0)
        s->angle = o->forget * s->angle + (1 - o->forget) * dp_angle(gradient->data, s->last, s->last_count);
    s->failed_count = 0;
    if (rc == DP_OK)
        keep(&s->last, &s->last_count, gradient);
    return rc;
}

/* Fails unless the gradient that waits in the frame is the mean of the gradients that the state has counted. */
static int check_mean(const struct state *s, const struct dp_frame *frame, const struct dp_record *sum, struct dp_err *err)
{
    double precision = dp_frame_real(frame, DP_F_PRECISION, 0) * sum->sensitivity * sum->sensitivity;
    return !dp_held(frame) || fabs(precision - s->held) <= 1e-9 * s->held
               ? DP_OK
               : dp_fail(err, DP_E_RUN,
                         "--average-gradients: the gradient held in lap %lld is not the mean of all since the last step: "
                         "dp-step --hold needs --average-gradients, too",
                         (long long)frame->lap);
}

/* A gradient has been released. */
static int take_gradient(struct dp_stage *stage, struct dp_frame *frame, const struct dp_record *sum, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    bool part = o->average && s->held > 0, noise = dp_query_has(sum->query.kind, DP_QUERY_multiplier);
    int rc = DP_OK;
    if (!isnan(o->clip) && noise)
        rc = check(frame, "clip bound", sum->bound, o->clip * s->clips, "dp-clip", err);
    if (rc != DP_OK || isnan(o->multiplier) || !noise)
        return rc;
    rc = check(frame, "noise multiplier", sum->query.multiplier, s->next, "dp-noise", err);
    s->held = (part ? s->held : 0) + 1 / (s->next * s->next);
    if (rc == DP_OK && o->average)
        rc = check_mean(s, frame, sum, err);
    return rc == DP_OK && o->policy == POLICY_ADAPTIVE ? compare(stage, frame, err) : rc;
}

/* A search has ended. It counts as failed if it chose the smallest of its steps, which is 0 unless the user sets another
 * one. */
static int take_search(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_array *steps;
    double step = dp_frame_real(frame, DP_F_STEP_SIZE, 0), least = INFINITY, largest = 0;
    int rc = dp_frame_need_array(frame, DP_F_STEPS, DP_F64, 1, &steps, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; i < steps->count; i++) {
        least = fmin(least, ((double *)steps->data)[i]);
        largest = fmax(largest, ((double *)steps->data)[i]);
    }
    if (!isnan(o->first_step))
        rc = check(frame, "first step", largest, s->window.first, "dp-linesearch", err);
    if (rc != DP_OK)
        return rc;
    if (!isnan(o->first_step))
        dp_pace_searched(&s->window, step);
    if (step <= least && o->policy == POLICY_ON_FAILURE)
        grow(stage);
    if (step > 0)
        s->grown = false;
    return o->policy == POLICY_ADAPTIVE ? follow(stage, frame, step, err) : DP_OK;
}

/* Whether the stage that makes an announced choice takes from here what it has to. */
static int check_search(const struct options *o, const struct dp_frame *hello, const struct dp_record *choice,
                        struct dp_err *err)
{
    char kind[DP_RECORD_ON + 16];
    dp_announced_kind(choice, kind);
    for (int i = 0; o->policy == POLICY_ADAPTIVE && i < hello->records; i++)
        if (hello->record[i].of == DP_F_SUM && strcmp(hello->record[i].on, choice->on) == 0)
            return dp_fail(err, DP_E_USAGE,
                           "--policy adaptive: a search on the batch of its gradient knows no mean of two gradients; leave out "
                           "--same-batch");
    if ((o->policy == POLICY_ADAPTIVE || !isnan(o->clip)) && !(choice->follows & DP_FOLLOWS_SEARCH))
        return dp_fail(err, DP_E_USAGE,
                       "laps%s do not take the budget or the bound that is chosen here: dp-linesearch needs --follow", kind);
    return DP_OK;
}

/* Checks, before anything is paid for, that dp-step comes first. Sets the initial values of the laps. */
static int adapt_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_record *record;
    char kind[DP_RECORD_ON + 16];
    for (int at = 0; (record = dp_announced_answer(stage, frame, &at)) != NULL;) {
        bool noise = dp_query_has(record->query.kind, DP_QUERY_multiplier) && record->query.multiplier > 0;
        dp_announced_kind(record, kind);
        if (!dp_meanings[record->means].taken)
            return dp_fail(err, DP_E_USAGE,
                           "nothing follows from the %s of laps%s before dp-adapt: put it after the last dp-step",
                           dp_fields[record->of].key, kind);
        int rc = record->of == DP_F_CHOICE ? check_search(o, frame, record, err) : DP_OK;
        if (rc != DP_OK)
            return rc;
        if (dp_paid[record->of].noised != DP_NOISED_MAIN || !noise)
            continue;
        if (!isnan(o->clip) && !(record->follows & DP_FOLLOWS_BOUND))
            return dp_fail(err, DP_E_USAGE, "laps%s do not take the clip bound that is chosen here: dp-clip needs --follow",
                           kind);
        if (!isnan(o->multiplier) && !(record->follows & DP_FOLLOWS_MULTIPLIER))
            return dp_fail(err, DP_E_USAGE, "laps%s do not take the multiplier that is chosen here: dp-noise needs --follow",
                           kind);
        if (!isnan(o->clip) && record->bound > 0 && fabs(record->bound - o->clip) > 1e-9 * o->clip)
            return dp_fail(err, DP_E_USAGE,
                           "laps%s have a clip bound of %g, not %g: dp-clip needs --follow, and to begin with the same value",
                           kind, record->bound, o->clip);
        if (!isnan(o->multiplier) && fabs(record->query.multiplier - o->multiplier) > 1e-9 * o->multiplier)
            return dp_fail(
                err, DP_E_USAGE,
                "laps%s have a noise multiplier of %g, not %g: dp-noise needs --follow, and to begin with the same value", kind,
                record->query.multiplier, o->multiplier);
    }
    return DP_OK;
}

static int adapt_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_record *sum = dp_frame_record(frame, DP_F_SUM);
    if (dp_paid_waiting(frame) != DP_F_NONE)
        return dp_fail(err, DP_E_RUN, "no stage has applied the %s of lap %lld yet: put dp-adapt after the last dp-step",
                       dp_fields[dp_paid_waiting(frame)].key, (long long)frame->lap);
    int rc = sum != NULL ? take_gradient(stage, frame, sum, err) : DP_OK;
    if (rc == DP_OK && dp_frame_has(frame, DP_F_STEP_SIZE))
        rc = take_search(stage, frame, err);
    if (rc != DP_OK)
        return rc;
    if (!dp_held(frame))
        s->held = 0;
    s->next = o->average ? dp_pace_increment(s->z, s->held) : s->z;
    if (!isnan(o->multiplier))
        dp_frame_set_real(frame, DP_F_MULTIPLIER, s->next);
    if (!isnan(o->first_step))
        dp_frame_set_real(frame, DP_F_FIRST_STEP, s->window.first);
    if (!isnan(o->clip))
        dp_frame_set_real(frame, DP_F_BOUND, o->clip * s->clips);
    if (!isnan(o->clip))
        dp_frame_set_real(frame, DP_F_LOSS_FACTOR, s->clips);
    if (o->policy == POLICY_ADAPTIVE)
        dp_frame_set_real(frame, DP_F_SEARCH_FACTOR, s->search);
    return out->frame(out, frame, err);
}

static int adapt_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    dp_state_put_real(state, "multiplier", s->z);
    dp_state_put_real(state, "next", s->next);
    dp_state_put_real(state, "held", s->held);
    dp_state_put_real(state, "first", s->window.first);
    dp_state_put_real(state, "largest", s->window.largest);
    dp_state_put_int(state, "searches", s->window.searches);
    dp_state_put_int(state, "grown", s->grown);
    dp_state_put_real(state, "angle", s->angle);
    dp_state_put_real(state, "search", s->search);
    dp_state_put_real(state, "clips", s->clips);
    dp_state_put_real(state, "precision", s->failed_precision);
    if (s->last_count > 0)
        dp_state_put_reals(state, "last", s->last, s->last_count);
    if (s->failed_count > 0)
        dp_state_put_reals(state, "failed", s->failed, s->failed_count);
    return DP_OK;
}

static int adapt_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    struct state *s = stage->state;
    int rc = dp_state_get_real(state, "multiplier", &s->z, err);
    rc = rc ?: dp_state_get_real(state, "next", &s->next, err);
    rc = rc ?: dp_state_get_real(state, "held", &s->held, err);
    rc = rc ?: dp_state_get_real(state, "first", &s->window.first, err);
    rc = rc ?: dp_state_get_real(state, "largest", &s->window.largest, err);
    rc = rc ?: dp_state_get_int(state, "searches", 0, s->window.every - 1, &s->window.searches, err);
    int64_t grown = 0;
    rc = rc ?: dp_state_get_int(state, "grown", 0, 1, &grown, err);
    s->grown = grown == 1;
    rc = rc ?: dp_state_get_real(state, "angle", &s->angle, err);
    rc = rc ?: dp_state_get_real(state, "search", &s->search, err);
    rc = rc ?: dp_state_get_real(state, "clips", &s->clips, err);
    rc = rc ?: dp_state_get_real(state, "precision", &s->failed_precision, err);
    if (rc == DP_OK && dp_state_has(state, "last"))
        rc = dp_state_get_reals(state, "last", &s->last, &s->last_count, err);
    if (rc == DP_OK && dp_state_has(state, "failed"))
        rc = dp_state_get_reals(state, "failed", &s->failed, &s->failed_count, err);
    return rc;
}

const struct dp_stage_class dp_adapt_class = {
    .name = "dp-adapt",
    .summary = "Choose noise, first step and clip bound from released values",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .open = adapt_open,
    .hello = adapt_hello,
    .fire = adapt_fire,
    .close = adapt_close,
    .save = adapt_save,
    .restore = adapt_restore,
};
