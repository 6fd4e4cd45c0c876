/* dp-account as the gate: everything left of it is private, everything right of it public. It reads from the frame what
   really ran, refuses what does not add up, charges it, strips every private field, and stops the run rather than
   overspend. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "priv/accountant.h"
#include "stages/stages.h"

struct options {
    double epsilon, delta;
    bool allow_seeded, as_published, non_private;
};

struct state {
    struct dp_accountant *accountant; /* what is charged against the budget */
    struct dp_accountant *sound;      /* as published: the sound epsilon beside it, or NULL */
    bool published;                   /* --as-published */
    struct dp_mechanism first;        /* the record of the first lap: all laps must have it */
    int64_t charged, last_lap;
    double epsilon; /* spent so far */
    double prior_epsilon, prior_delta, prior_sound; /* of the model that the run started from */
};

static const struct dp_option options[] = {
    {.name = "epsilon", .letter = 'e', .kind = DP_OPT_REAL, .offset = offsetof(struct options, epsilon), .metavar = "E",
     .help = "the budget", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN},
    {.name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = offsetof(struct options, delta), .metavar = "D",
     .help = "probability that the budget may fail to bound", .min = 0, .max = 1,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX},
    {.name = "allow-seeded", .kind = DP_OPT_FLAG, .offset = offsetof(struct options, allow_seeded),
     .help = "let a seeded run through: reproducible, not private"},
    {.name = "as-published", .kind = DP_OPT_FLAG, .offset = offsetof(struct options, as_published),
     .help = "charge as the DP-SCD paper does, which is not sound; the sound epsilon is reported beside it"},
    {.name = "non-private", .kind = DP_OPT_FLAG, .offset = offsetof(struct options, non_private),
     .help = "let everything through, marked as not private"},
    {.name = NULL},
};

static void account_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_accountant_free(s->accountant);
    dp_accountant_free(s->sound);
}

static int account_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    bool budget = !isnan(o->epsilon) || !isnan(o->delta);
    if (o->non_private && (budget || o->as_published))
        return dp_fail(err, DP_E_USAGE, "--non-private takes no budget");
    if (!o->non_private && isnan(o->epsilon))
        return dp_fail(err, DP_E_USAGE, "--epsilon is required");
    if (!o->non_private && isnan(o->delta))
        return dp_fail(err, DP_E_USAGE, "--delta is required");
    return DP_OK;
}

static int account_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    if (stage->seeded && !o->allow_seeded)
        return dp_fail(err, DP_E_UNSAFE, "the run is seeded: whoever knows the seed knows the noise "
                                         "(--allow-seeded for experiments)");
    (void)frame; /* the runtime strips the seed from what a gate passes */
    return DP_OK;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* One record against what it must hold by itself. */
static int check_record(const struct dp_mechanism *m, struct dp_err *err)
{
    if (m->sampler == DP_SAMPLER_NONE || !(m->rate > 0 && m->rate <= 1) || m->rows <= 0)
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record does not say how rows were sampled");
    if (m->sampler == DP_SAMPLER_FULL && m->rate != 1)
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has every row sampled at a rate of %g", m->rate);
    if (m->sampler == DP_SAMPLER_SHUFFLE) {
        double batch = round(m->rate * (double)m->rows), rows = (double)m->rows, laps = (double)m->epoch_laps;
        if (!(laps >= 1 && batch >= 1 && laps * batch >= rows && (laps - 1) * batch < rows))
            return dp_fail(err, DP_E_UNSAFE, "a mechanism record of shuffled epochs does not say how long an epoch is");
    }
    if (m->adjacency == DP_ADJACENCY_NONE || m->release == DP_RELEASE_NONE)
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record does not say what one person can change");
    if (!(m->bound > 0 && isfinite(m->bound)) || !(m->sensitivity > 0 && isfinite(m->sensitivity)))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has noise without a bound on the sum");
    double least = m->bound * (m->adjacency == DP_ADJACENCY_REPLACE_ONE ? 2.0 : 1.0) *
                   (m->release == DP_RELEASE_SUM_AND_STATE ? M_SQRT2 : 1.0);
    if (m->sensitivity < least && !near(m->sensitivity, least))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record states a sensitivity of %g, its bound implies %g",
                       m->sensitivity, least);
    if (m->noise == DP_NOISE_NONE || !(m->multiplier > 0 && isfinite(m->multiplier)) || !(m->scale > 0))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has no noise");
    if (m->noise != DP_NOISE_GAUSSIAN)
        return dp_fail(err, DP_E_UNSAFE, "%s noise has no accountant here", dp_noise_names[m->noise]);
    if (!near(m->scale, m->multiplier * m->sensitivity))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has noise of scale %g, its multiplier implies %g",
                       m->scale, m->multiplier * m->sensitivity);
    return DP_OK;
}

/* The record against the frame that carries it. */
static int check_frame(const struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_array *sum;
    if (frame->mechanisms != 1)
        return dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld has %d mechanism records, expected 1",
                       (long long)frame->lap, frame->mechanisms);
    int rc = check_record(&frame->mechanism[0], err);
    if (rc == DP_OK)
        rc = dp_frame_need_array(frame, DP_F_SUM, DP_I64, 2, &sum, err);
    if (rc != DP_OK)
        return rc;
    double bound = dp_frame_real(frame, DP_F_BOUND, 0), grid = dp_frame_real(frame, DP_F_GRID, 0);
    if (bound != frame->mechanism[0].bound)
        return dp_fail(err, DP_E_UNSAFE, "the clip bounds of lap %lld disagree: %g on the sum, %g in its record",
                       (long long)frame->lap, bound, frame->mechanism[0].bound);
    if (!(grid > 0 && grid <= bound))
        return dp_fail(err, DP_E_UNSAFE, "the sum of lap %lld has no grid", (long long)frame->lap);
    if (frame->lap <= s->last_lap)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: noise must not serve twice",
                       (long long)frame->lap, (long long)s->last_lap);
    /* Epochs are counted in laps from 1 on. */
    if (frame->lap != s->last_lap + 1)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: laps are missing", (long long)frame->lap,
                       (long long)s->last_lap);
    return DP_OK;
}

/* Which event the sound accountant charges for a record, or why there is none. */
static int sound_event(const struct dp_mechanism *m, struct dp_event *event, struct dp_err *err)
{
    *event = (struct dp_event){.rate = m->rate, .multiplier = m->multiplier, .epoch_laps = m->epoch_laps};
    if (m->adjacency == DP_ADJACENCY_REPLACE_ONE && m->sampler != DP_SAMPLER_FULL)
        return dp_fail(err, DP_E_UNSAFE, "replace-one adjacency behind a %s sampler has no accountant here",
                       dp_sampler_names[m->sampler]);
    if (m->release == DP_RELEASE_SUM_AND_STATE) {
        /* The noised state shows who took part. */
        event->kind = DP_EVENT_VISIBLE_BATCH;
        if (m->sampler == DP_SAMPLER_FIXED)
            return dp_fail(err, DP_E_UNSAFE, "a fixed-size batch has no accountant here (use poisson or shuffle)");
        if (m->sampler != DP_SAMPLER_POISSON)
            event->kind = m->sampler == DP_SAMPLER_SHUFFLE ? DP_EVENT_SHUFFLED : DP_EVENT_GAUSSIAN;
        return DP_OK;
    }
    switch (m->sampler) {
    case DP_SAMPLER_POISSON:
        event->kind = DP_EVENT_POISSON;
        return DP_OK;
    case DP_SAMPLER_FULL:
        event->kind = DP_EVENT_GAUSSIAN;
        return DP_OK;
    case DP_SAMPLER_SHUFFLE:
        event->kind = DP_EVENT_SHUFFLED;
        return DP_OK;
    default:
        return dp_fail(err, DP_E_UNSAFE, "a Poisson accountant does not cover a %s sampler",
                       dp_sampler_names[m->sampler]);
    }
}

static int open_accountants(struct dp_stage *stage, const struct dp_mechanism *m, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_event event;
    int rc = DP_OK;
    s->published = o->as_published;
    if (!o->as_published) {
        rc = sound_event(m, &event, err);
        return rc != DP_OK ? rc : dp_accountant_new(&s->accountant, DP_ACCOUNTANT_RDP, &event, o->delta, err);
    }
    struct dp_event published = {.kind = DP_EVENT_POISSON, .rate = m->rate, .multiplier = m->multiplier};
    rc = dp_accountant_new(&s->accountant, DP_ACCOUNTANT_PUBLISHED, &published, o->delta, err);
    /* Where there is no sound accountant either, nothing stands beside the published epsilon. */
    if (rc == DP_OK && sound_event(m, &event, err) == DP_OK)
        rc = dp_accountant_new(&s->sound, DP_ACCOUNTANT_RDP, &event, o->delta, err);
    return rc;
}

static bool same_mechanism(const struct dp_mechanism *a, const struct dp_mechanism *b)
{
    return a->sampler == b->sampler && a->rate == b->rate && a->rows == b->rows && a->epoch_laps == b->epoch_laps &&
           a->adjacency == b->adjacency && a->release == b->release && a->bound == b->bound &&
           a->sensitivity == b->sensitivity && a->noise == b->noise && a->multiplier == b->multiplier &&
           a->scale == b->scale;
}

/* Turns the frame into the end frame of a run whose budget is spent. */
static int stop(const struct options *o, const struct state *s, struct dp_frame *frame, struct dp_err *err)
{
    char text[200];
    snprintf(text, sizeof text, "the budget of epsilon = %g is spent after lap %lld (epsilon %.6g)", o->epsilon,
             (long long)s->last_lap, s->epsilon);
    dp_frame_reset(frame, DP_KIND_END);
    dp_frame_set_int(frame, DP_F_STATUS, -DP_E_BUDGET);
    int rc = dp_frame_set_text(frame, DP_F_MESSAGE, text, strlen(text), err);
    return rc != DP_OK ? rc : DP_STAGE_STOP;
}

static int pass_non_private(struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    double gap = dp_frame_real(frame, DP_F_GAP, NAN), objective = dp_frame_real(frame, DP_F_OBJECTIVE, NAN);
    if (!dp_frame_has(frame, DP_F_SUM))
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no sum", (long long)frame->lap);
    dp_frame_strip(frame);
    dp_frame_drop(frame, DP_F_EPSILON); /* what an earlier, private run may have spent bounds nothing now */
    dp_frame_drop(frame, DP_F_DELTA);
    dp_frame_drop(frame, DP_F_EPSILON_SOUND);
    /* Nothing here is private any more, and the mark says so. */
    if (!isnan(gap)) {
        dp_frame_set_real(frame, DP_F_GAP, gap);
        dp_frame_set_real(frame, DP_F_OBJECTIVE, objective);
    }
    if (frame->mechanisms > 0 && frame->mechanism[0].scale > 0)
        dp_frame_set_real(frame, DP_F_NOISE_SCALE, frame->mechanism[0].scale);
    dp_frame_set_bool(frame, DP_F_NON_PRIVATE, true);
    frame->label = DP_LABEL_RELEASED;
    return out->frame(out, frame, err);
}

/* A run that starts from a released model adds to what that model has cost (basic composition). */
static void note_prior(struct state *s, const struct dp_frame *frame)
{
    s->prior_epsilon = dp_frame_real(frame, DP_F_EPSILON, 0);
    s->prior_delta = dp_frame_real(frame, DP_F_DELTA, 0);
    s->prior_sound = dp_frame_real(frame, DP_F_EPSILON_SOUND,
                                   dp_frame_bool(frame, DP_F_AS_PUBLISHED) ? (double)NAN : s->prior_epsilon);
}

/* The sound epsilon stands in the frame only beside a published one, and only where there is one. */
static void set_sound(const struct state *s, struct dp_frame *frame, double after)
{
    bool published = dp_frame_bool(frame, DP_F_AS_PUBLISHED) || s->published;
    double own = !s->published ? after : s->sound != NULL ? dp_accountant_epsilon(s->sound, s->charged) : (double)NAN;
    dp_frame_drop(frame, DP_F_EPSILON_SOUND);
    if (published && !isnan(s->prior_sound + own))
        dp_frame_set_real(frame, DP_F_EPSILON_SOUND, s->prior_sound + own);
}

static int account_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (o->non_private)
        return pass_non_private(frame, out, err);
    if (frame->label != DP_LABEL_NOISED)
        return dp_fail(err, DP_E_UNSAFE, "takes noised frames and got a %s one: a stage is missing or out of place",
                       dp_label_name(frame->label));
    if ((dp_frame_bool(frame, DP_F_SEEDED) || stage->seeded) && !o->allow_seeded)
        return dp_fail(err, DP_E_UNSAFE, "the run is seeded: whoever knows the seed knows the noise "
                                         "(--allow-seeded for experiments)");
    if (dp_frame_bool(frame, DP_F_NON_PRIVATE))
        return dp_fail(err, DP_E_UNSAFE, "the model of lap %lld comes from a run without privacy",
                       (long long)frame->lap);
    int rc = check_frame(s, frame, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_mechanism *m = &frame->mechanism[0];
    if (s->accountant == NULL) {
        rc = open_accountants(stage, m, err);
        if (rc != DP_OK)
            return rc;
        s->first = *m;
        note_prior(s, frame);
    } else if (!same_mechanism(m, &s->first)) {
        /* Noise chosen along the way needs a privacy filter: stopping when the sum is spent is not sound then. */
        return dp_fail(err, DP_E_UNSAFE, "the mechanism of lap %lld is not that of the first lap",
                       (long long)frame->lap);
    }
    double after = dp_accountant_epsilon(s->accountant, s->charged + 1);
    if (after > o->epsilon)
        return stop(o, s, frame, err);
    s->charged++;
    s->epsilon = after;
    s->last_lap = frame->lap;

    dp_frame_strip(frame);
    dp_frame_set_real(frame, DP_F_EPSILON, s->prior_epsilon + after);
    dp_frame_set_real(frame, DP_F_DELTA, s->prior_delta + o->delta);
    dp_frame_set_real(frame, DP_F_NOISE_SCALE, m->scale);
    set_sound(s, frame, after);
    if (stage->seeded)
        dp_frame_set_bool(frame, DP_F_SEEDED, true);
    if (o->as_published)
        dp_frame_set_bool(frame, DP_F_AS_PUBLISHED, true);
    frame->label = DP_LABEL_RELEASED;
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_account_class = {
    .name = "dp-account",
    .summary = "The gate: charge what was done to private data, and let only that through",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RAW | DP_LABEL_BOUNDED | DP_LABEL_NOISED | DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .gate = true,
    .open = account_open,
    .hello = account_hello,
    .fire = account_fire,
    .close = account_close,
};
