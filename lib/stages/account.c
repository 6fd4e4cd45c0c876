/* dp-account as the gate: everything left of it is private, everything right of it public. It reads from the frame what
   really ran, refuses what does not add up, charges it, strips every private field, and stops the run rather than
   overspend. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "gate/charge.h"
#include "gate/announce.h"
#include "gate/hold.h"
#include "gate/least.h"
#include "gate/reserve.h"
#include "gate/spend.h"
#include "gate/trial.h"
#include "stages/stages.h"

struct options {
    double epsilon, delta;
    const char *ledger, *trial;
    bool no_ledger, partial;
    bool allow_seeded, as_published, non_private, adaptive;
};

struct state {
    bool begun;
    struct dp_trial trial; /* of a run that dp-tune has started */
    struct dp_announcement announcement;
    struct dp_hold hold;
    int64_t turn[DP_LAPS_MOST_KINDS]; /* laps of each kind */
    int kind;                         /* of the lap at hand */
    struct dp_spend spend;
    char *directory;                                /* of the data set, as dp-sample says it */
    struct dp_reserve reserve;                      /* unless there is no ledger */
    int64_t last_lap, laps;                         /* and how many there will be, 0 where that is not known */
    double prior_epsilon, prior_delta, prior_sound; /* of the model that the run started from */
    bool published;                                 /* that model, or this run, was accounted as published */
    char resumes[DP_LEDGER_MARK];                   /* of a run that is resumed: the line of its checkpoint, or "" */
    double spent, order, allowance;                 /* and what its filter had, at which order, and of how much */
    double claimed[DP_CLAIMED_ORDERS];              /* and what it had spent as published */
    unsigned char planned[DP_PLAN_DIGEST];          /* and the plan that it was charged by */
};

static const struct dp_option options[] = {
    {.name = "epsilon",
     .letter = 'e',
     .kind = DP_OPT_REAL,
     .offset = offsetof(struct options, epsilon),
     .metavar = "E",
     .help = "the budget",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "delta",
     .letter = 'd',
     .kind = DP_OPT_REAL,
     .offset = offsetof(struct options, delta),
     .metavar = "D",
     .help = "probability that the budget may fail to bound",
     .min = 0,
     .max = 1,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX},
    {.name = "ledger",
     .letter = 'l',
     .kind = DP_OPT_TEXT,
     .offset = offsetof(struct options, ledger),
     .metavar = "FILE",
     .help = "write down what is spent before it is in this file, not in the data set's own ledger"},
    {.name = "no-ledger",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, no_ledger),
     .help = "write nothing down, and say so in every frame"},
    {.name = "partial",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, partial),
     .help = "begin although the budget of the data set does not afford all laps"},
    {.name = "adaptive",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, adaptive),
     .help = "noise may change with what was released: charge by a filter at one order"},
    {.name = "trial",
     .kind = DP_OPT_TEXT,
     .offset = offsetof(struct options, trial),
     .metavar = "DIR",
     .help = "no budget: dp-tune has made this directory, and charges for the run"},
    {.name = "allow-seeded",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, allow_seeded),
     .help = "let a seeded run through: reproducible, not private"},
    {.name = "as-published",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, as_published),
     .help = "charge as the DP-SCD paper does, or with --adaptive the DP-BLSGD paper, which is not sound; the sound epsilon is "
             "reported beside it"},
    {.name = "non-private",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, non_private),
     .help = "let everything through, marked as not private"},
    {.name = NULL},
};

/* The paper of adaptive runs draws Poisson samples alone: what no accountant covers is for the one of planned runs. */
static enum dp_meter_kind meter_of(const struct dp_stage *stage)
{
    const struct options *o = stage->options;
    return o->as_published && !o->adaptive ? DP_METER_PUBLISHED : DP_METER_RDP;
}

static void account_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_spend_close(&s->spend);
    dp_reserve_close(&s->reserve);
    dp_hold_close(&s->hold);
    dp_announcement_free(&s->announcement);
    dp_trial_close(&s->trial);
    free(s->directory);
}

static int account_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    bool budget = !isnan(o->epsilon) || !isnan(o->delta);
    if (o->trial != NULL &&
        (budget || o->non_private || o->as_published || o->adaptive || o->ledger != NULL || o->no_ledger || o->partial))
        return dp_fail(err, DP_E_USAGE,
                       "--trial: dp-tune has the budget and the ledger, and what a trial does is known beforehand");
    if (o->trial != NULL)
        return dp_trial_open(&((struct state *)stage->state)->trial, o->trial, err);
    if (o->non_private && (budget || o->as_published || o->adaptive || o->ledger != NULL || o->no_ledger || o->partial))
        return dp_fail(err, DP_E_USAGE, "--non-private takes no budget");
    if (o->no_ledger && o->ledger != NULL)
        return dp_fail(err, DP_E_USAGE, "--no-ledger and --ledger exclude each other");
    if (!o->non_private && isnan(o->epsilon))
        return dp_fail(err, DP_E_USAGE, "--epsilon is required");
    if (!o->non_private && isnan(o->delta))
        return dp_fail(err, DP_E_USAGE, "--delta is required");
    return DP_OK;
}

/* The rows that were announced to be sampled; NULL where nothing was. */
static const struct dp_record *announced_rows(const struct dp_announcement *a)
{
    for (int i = 0; i < a->hello->records; i++)
        if (a->hello->record[i].sensitivity > 0)
            return &a->hello->record[i];
    return NULL;
}

/* Tells dp-tune what the run will do, and opens its plan: every lap is held to that. */
static int begin_trial(struct dp_stage *stage, struct dp_err *err)
{
    struct state *s = stage->state;
    const struct dp_record *rows = announced_rows(&s->announcement);
    struct dp_plan plan = {0};
    struct dp_trial_plan said = {.directory = s->directory, .seeded = stage->seeded};
    struct dp_spend_start start = {.held = true, .by = DP_METER_RDP, .plan = &plan};
    if (s->directory == NULL)
        return dp_fail(err, DP_E_RUN, "--trial: nothing says where the data set is");
    int rc = dp_announcement_whole(&s->announcement, DP_METER_RDP, &plan, &start.sound, err);
    if (rc == DP_OK && (rows == NULL || !start.sound))
        rc = dp_fail(err, DP_E_UNSAFE, "--trial: no accountant covers what was announced");
    if (rc == DP_OK) {
        said.rows = rows->rows;
        said.adjacency = (char *)dp_adjacency_names[rows->adjacency];
        rc = dp_plan_charges(&plan, plan.laps, &said.charges, err);
    }
    if (rc == DP_OK)
        rc = dp_trial_write(&s->trial, &said, err);
    if (rc == DP_OK && s->trial.ask == DP_TRIAL_PLAN)
        rc = dp_fail(err, DP_E_RUN, "dp-tune has asked for the plan alone");
    if (rc == DP_OK)
        rc = dp_trial_take(&s->trial, &said, err);
    if (rc == DP_OK)
        rc = dp_spend_open(&s->spend, &start, err);
    dp_charges_free(&said.charges);
    dp_plan_free(&plan);
    return rc;
}

static int account_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    if (stage->seeded && !o->allow_seeded)
        return dp_fail(err, DP_E_UNSAFE,
                       "the run is seeded: whoever knows the seed knows the noise "
                       "(--allow-seeded for experiments)");
    /* The runtime makes the frame that goes on. */
    struct state *s = stage->state;
    const char *directory = dp_frame_text(frame, DP_F_DIRECTORY, NULL);
    s->directory = directory != NULL ? strdup(directory) : NULL;
    if (directory != NULL && s->directory == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    int rc = dp_announcement_read(&s->announcement, frame, err);
    return rc == DP_OK && o->trial != NULL ? begin_trial(stage, err) : rc;
}

/* Turns the frame into the end frame of a run whose budget is spent. */
static int stop(const struct dp_stage *stage, const char *text, struct dp_frame *frame, struct dp_err *err)
{
    struct state *s = stage->state;
    int rc = dp_reserve_end(&s->reserve, &s->spend, "budget", err);
    if (rc != DP_OK)
        return rc;
    dp_frame_reset(frame, DP_KIND_END);
    dp_frame_set_int(frame, DP_F_STATUS, -DP_E_BUDGET);
    rc = dp_frame_set_text(frame, DP_F_MESSAGE, text, strlen(text), err);
    return rc != DP_OK ? rc : DP_STAGE_STOP;
}

/* That of the noise on the sum, if there is any. */
static void set_noise_scale(struct dp_frame *frame)
{
    const struct dp_record *sum = dp_frame_record(frame, DP_F_SUM);
    if (sum != NULL && sum->scale > 0)
        dp_frame_set_real(frame, DP_F_NOISE_SCALE, sum->scale);
}

static int pass_non_private(struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    double gap = dp_frame_real(frame, DP_F_GAP, NAN), objective = dp_frame_real(frame, DP_F_OBJECTIVE, NAN);
    if (!dp_frame_has(frame, DP_F_SUM) && !dp_frame_has(frame, DP_F_CHOICE))
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no sum", (long long)frame->lap);
    dp_frame_strip(frame); /* also what an earlier, private run has spent, which bounds nothing now */
    /* Nothing here is private any more, and the mark says so. */
    if (!isnan(gap))
        dp_frame_set_real(frame, DP_F_GAP, gap);
    if (!isnan(objective))
        dp_frame_set_real(frame, DP_F_OBJECTIVE, objective);
    set_noise_scale(frame);
    dp_frame_set_bool(frame, DP_F_NON_PRIVATE, true);
    frame->label = DP_LABEL_RELEASED;
    return out->frame(out, frame, err);
}

/* A run that starts from a released model adds to what that model has cost (basic composition). */
static int note_prior(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    const char *now = dp_adjacency_names[dp_charge_batch(frame)->adjacency], *then = dp_frame_text(frame, DP_F_ADJACENCY, now);
    if (strcmp(now, then) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the model it starts from was charged under %.20s adjacency, this run is under %s: they do "
                       "not add up",
                       then, now);
    s->prior_epsilon = dp_frame_real(frame, DP_F_EPSILON, 0);
    s->prior_delta = dp_frame_real(frame, DP_F_DELTA, 0);
    bool published = dp_frame_bool(frame, DP_F_AS_PUBLISHED);
    s->prior_sound = dp_frame_real(frame, DP_F_EPSILON_SOUND, published ? (double)NAN : s->prior_epsilon);
    s->published |= published;
    return DP_OK;
}

/* The sound epsilon stands in the frame only beside a published one, and only where there is one. */
static void set_sound(const struct state *s, struct dp_frame *frame)
{
    double sound = s->prior_sound + dp_spend_sound(&s->spend);
    if (s->published && !isnan(sound))
        dp_frame_set_real(frame, DP_F_EPSILON_SOUND, sound);
}

/* The first laps of the run, as the ledger charges them. */
static int prefix(const void *plan, int64_t laps, struct dp_charges *charges, struct dp_err *err)
{
    return dp_plan_charges(plan, laps, charges, err);
}

static struct dp_ledger_run ledger_run(const struct dp_stage *stage, const struct dp_frame *frame)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    const struct dp_record *m = dp_charge_batch(frame);
    int64_t laps = dp_frame_int(frame, DP_F_LAPS, 0);
    struct dp_ledger_run run = {
        .data = dp_frame_text(frame, DP_F_DATA, NULL),
        .population = dp_frame_text(frame, DP_F_POPULATION, NULL),
        .rows = m->rows,
        .adjacency = dp_adjacency_names[m->adjacency],
        .epsilon = o->epsilon,
        .delta = o->delta,
        .seeded = stage->seeded || dp_frame_bool(frame, DP_F_SEEDED),
        .as_published = o->as_published,
        .preprocessing = dp_frame_text(frame, DP_F_PREPROCESSING, ""),
        .init = dp_frame_text(frame, DP_F_LEDGER, NULL),
        .time = stage->started,
        .laps = s->spend.limit < laps ? s->spend.limit : laps,
        .prefix = prefix,
        .plan = &s->spend.plan,
        .partial = o->partial,
    };
    if (o->adaptive) {
        run.order = s->spend.filter.order;
        run.laps = 0; /* what later laps do is not known */
    }
    if (s->last_lap > 0) { /* the model it goes on from is its own */
        run.init = NULL;
        run.resumes = s->resumes;
        return run;
    }
    /* A model of other people's rows is in their ledger. It counts by what it states. */
    if (o->ledger == NULL && dp_frame_bool(frame, DP_F_ELSEWHERE))
        run.init = NULL;
    run.elsewhere = dp_frame_bool(frame, DP_F_ELSEWHERE);
    if (run.init == NULL) {
        run.prior_epsilon = s->prior_sound; /* what a paper claims counts nowhere else */
        run.prior_delta = s->prior_delta;
    }
    return run;
}

/* The ledger of the data set, unless there is another or none. */
static int open_ledger(struct dp_stage *stage, const struct dp_frame *frame, bool sound, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    char *path = NULL;
    struct dp_ledger_run run = ledger_run(stage, frame);
    if (o->no_ledger || (run.seeded && o->ledger == NULL)) /* seeded runs are experiments */
        return DP_OK;
    if (run.data == NULL)
        return dp_fail(err, DP_E_UNSAFE, "--ledger: the frame of lap %lld does not name its data set", (long long)frame->lap);
    if (!sound || isnan(run.prior_epsilon))
        return dp_fail(err, DP_E_UNSAFE, "nothing sound can be written down for this %s (--no-ledger goes without)",
                       sound ? "run, since nothing sound is known of the model it starts from" : "run");
    if (o->ledger != NULL)
        return dp_reserve_open(&s->reserve, o->ledger, &run, err);
    if (s->directory == NULL)
        return dp_fail(err, DP_E_RUN,
                       "nothing says where the data set is and its ledger: --ledger FILE names one, --no-ledger "
                       "goes without");
    if (asprintf(&path, "%s/ledger", s->directory) < 0)
        return dp_fail(err, DP_E_RUN, "out of memory");
    int rc = dp_reserve_open(&s->reserve, path, &run, err);
    free(path);
    char why[DP_ERR_MESSAGE_SIZE];
    if (rc != DP_E_RUN)
        return rc;
    memcpy(why, err->message, sizeof why);
    return dp_fail(err, DP_E_RUN, "%.400s (--ledger FILE names another one, --no-ledger goes without)", why);
}

/* Laps before the checkpoint were other laps if what runs now is another mechanism: the text of a pipeline does not say all. */
static int check_resumed(const struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    unsigned char plan[DP_PLAN_DIGEST];
    dp_plan_digest(&s->spend.plan, plan);
    if (o->adaptive && s->order == s->spend.filter.order && s->allowance != s->spend.filter.allowance)
        return dp_fail(err, DP_E_UNSAFE,
                       "the budget is not that of the run before its checkpoint: a filter is fixed beforehand");
    if (s->order != s->spend.filter.order || (!o->adaptive && memcmp(plan, s->planned, sizeof plan) != 0))
        return dp_fail(err, DP_E_UNSAFE, "the mechanism of lap %lld is not that of the run before its checkpoint",
                       (long long)frame->lap);
    return DP_OK;
}

/* What a resumed run has paid for beside its laps up to the checkpoint, since it first began. A filter has counted all of it
   but what was lost since the checkpoint. */
static int charge_lost(struct state *s, struct dp_err *err)
{
    struct dp_charges own = {0}, beside = {0};
    const struct dp_charges *used = &s->reserve.used;
    if (s->last_lap == 0 || s->spend.adaptive)
        return dp_spend_lost(&s->spend, &s->reserve.lost, err);
    int rc = dp_plan_charges(&s->spend.plan, s->last_lap, &own, err);
    for (size_t i = 0; rc == DP_OK && i < used->count; i++) {
        int64_t laps = used->charge[i].laps;
        for (size_t k = 0; k < own.count; k++)
            laps -= dp_event_same(&own.charge[k].event, &used->charge[i].event) ? own.charge[k].laps : 0;
        if (laps > 0)
            rc = dp_charges_add(&beside, &used->charge[i].event, laps, err);
    }
    if (rc == DP_OK)
        rc = dp_spend_lost(&s->spend, &beside, err);
    dp_charges_free(&own);
    dp_charges_free(&beside);
    return rc;
}

/* A run that cannot pay for one lap of each of its kinds is not begun: its ledger has no line of it. */
static int check_budget(const struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_charges once = {0};
    int rc = dp_announcement_once(&s->announcement, frame, &s->spend.plan, &once, err);
    if (rc == DP_OK)
        rc = dp_least_check(&s->spend, &once, s->announcement.laps.kinds, err);
    dp_charges_free(&once);
    return rc;
}

/* How the run will be charged: by what was announced, and its first lap. */
static int begin(struct dp_stage *stage, struct dp_frame *frame, bool sound, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_plan plan = {0};
    struct dp_spend_start start = {
        .epsilon = o->epsilon,
        .delta = o->delta,
        .adaptive = o->adaptive,
        .by = o->as_published ? DP_METER_PUBLISHED : DP_METER_RDP,
        .sound = sound,
        .plan = &plan,
    };
    int rc = s->last_lap > 0 ? DP_OK : note_prior(s, frame, err);
    if (rc == DP_OK && !o->adaptive)
        rc = dp_announcement_plan(&s->announcement, start.by, frame, &plan, &start.sound, err);
    if (rc == DP_OK)
        rc = dp_spend_open(&s->spend, &start, err);
    dp_plan_free(&plan);
    if (rc == DP_OK && s->last_lap > 0)
        rc = check_resumed(stage, frame, err);
    else if (rc == DP_OK)
        rc = check_budget(s, frame, err);
    if (rc == DP_OK)
        rc = dp_spend_resume(&s->spend, s->last_lap, s->spent, s->claimed, err);
    if (rc == DP_OK)
        rc = open_ledger(stage, frame, start.sound, err);
    if (rc == DP_OK)
        rc = charge_lost(s, err);
    s->published |= o->as_published;
    s->laps = dp_frame_int(frame, DP_F_LAPS, 0);
    s->begun = true;
    return rc;
}

/* What a budget leaves open, said once and before anything is released. Seeded runs hide nothing, whatever they state. */
static void warn(struct dp_stage *stage, const struct dp_frame *frame, struct dp_out *out)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    double rows = (double)dp_charge_batch(frame)->rows, most = fmin(o->epsilon, s->spend.whole);
    if (stage->seeded || dp_frame_bool(frame, DP_F_SEEDED))
        return;
    if (o->delta * rows >= 1)
        dp_stage_warn(stage, out,
                      "delta = %g is not below 1/N = %g: it would permit to publish somebody's row; see dp-privacy(7) on "
                      "choosing it",
                      o->delta, 1 / rows);
    if (s->reserve.ledger != NULL && dp_ledger_affords(s->reserve.ledger) < dp_frame_int(frame, DP_F_LAPS, 0))
        dp_stage_warn(stage, out, "the budget of the data set affords %lld of the run's %lld laps",
                      (long long)dp_ledger_affords(s->reserve.ledger), (long long)dp_frame_int(frame, DP_F_LAPS, 0));
    if (most > 10)
        dp_stage_warn(stage, out,
                      "this run may cost epsilon = %.3g, and above 10 little is hidden; see dp-privacy(7) on choosing it",
                      most);
}

/* A lap of a trial has been paid for by dp-tune, if it is what was announced. */
static int pay_trial(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    struct state *s = stage->state;
    const struct dp_record *batch = dp_charge_batch(frame), *announced = announced_rows(&s->announcement);
    struct dp_event event;
    int rc = dp_charge_event(frame->record, frame->records, &event, err);
    if (rc == DP_OK && (batch->rows != announced->rows || batch->adjacency != announced->adjacency))
        rc = dp_fail(err, DP_E_UNSAFE, "lap %lld is of other rows, or under another adjacency, than were announced",
                     (long long)frame->lap);
    return rc == DP_OK ? dp_spend_lap(&s->spend, &event, err) : rc;
}

/* Pays for the lap: against the budget, and in the ledger. */
static int pay(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_event event;
    bool sound, first = !s->begun;
    int64_t together, left;
    if (((const struct options *)stage->options)->trial != NULL)
        return pay_trial(stage, frame, err);
    int rc = dp_charge_event_by(meter_of(stage), frame->record, frame->records, &event, &sound, err);
    if (rc == DP_OK && first)
        rc = begin(stage, frame, sound, err);
    if (rc != DP_OK)
        return rc;
    if (first)
        warn(stage, frame, out);
    struct dp_event charged = dp_spend_charged(&s->spend, &event);
    dp_spend_ahead(&s->spend, &together, &left);
    rc = dp_spend_lap(&s->spend, &event, err);
    if (rc == DP_OK && s->reserve.ledger != NULL)
        rc = dp_reserve_lap(&s->reserve, &charged, together, left, err);
    return rc;
}

/* A model that nobody has paid for is that of the lap before, of the same trial, or none. A trial starts from nothing: what
   another model has cost would have to be added to what dp-tune charges. */
static int check_trial(const struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    const char *name = dp_frame_text(frame, DP_F_TRIAL, ""), *own = s->last_lap > 0 ? s->trial.name : "";
    if (strcmp(name, own) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the model that lap %lld begins with is a trial of a selection, which nobody has paid for",
                       (long long)frame->lap);
    if (s->trial.directory != NULL && (dp_frame_has(frame, DP_F_EPSILON) || dp_frame_has(frame, DP_F_LEDGER)))
        return dp_fail(err, DP_E_UNSAFE, "--trial: a trial starts from no model that has cost something");
    return DP_OK;
}

static int check_lap(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    long long lap = (long long)frame->lap, last = (long long)s->last_lap;
    if (frame->label != DP_LABEL_NOISED)
        return dp_fail(err, DP_E_UNSAFE, "takes noised frames and got a %s one: a stage is missing or out of place",
                       dp_label_name(frame->label));
    if ((dp_frame_bool(frame, DP_F_SEEDED) || stage->seeded) && !o->allow_seeded)
        return dp_fail(err, DP_E_UNSAFE,
                       "the run is seeded: whoever knows the seed knows the noise "
                       "(--allow-seeded for experiments)");
    if (dp_frame_bool(frame, DP_F_NON_PRIVATE))
        return dp_fail(err, DP_E_UNSAFE, "the model of lap %lld comes from a run without privacy", lap);
    int rc = check_trial(s, frame, err);
    if (rc == DP_OK)
        rc = dp_charge_check(frame, err);
    if (rc != DP_OK)
        return rc;
    if (lap <= last)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: noise must not serve twice", lap, last);
    /* Epochs and plans are counted in laps from 1 on. */
    if (lap != last + 1)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: laps are missing", lap, last);
    rc = dp_announcement_check(&s->announcement, frame, o->adaptive, s->turn, &s->kind, err);
    return rc == DP_OK ? dp_hold_lap(&s->hold, dp_frame_text(frame, DP_F_LAP_KIND, ""), o->adaptive, frame, err) : rc;
}

/* Throws away what must not pass, and writes what the gate says of the lap. */
static int state_spent(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const char *adjacency = dp_adjacency_names[dp_charge_batch(frame)->adjacency];
    const char *mark = s->reserve.ledger != NULL ? dp_ledger_mark(s->reserve.ledger) : NULL;
    dp_frame_strip(frame);
    if (stage->seeded)
        dp_frame_set_bool(frame, DP_F_SEEDED, true);
    set_noise_scale(frame);
    if (o->trial != NULL) {
        int rc = dp_frame_set_text(frame, DP_F_TRIAL, s->trial.name, DP_TRIAL_NAME, err);
        return rc == DP_OK ? dp_frame_set_text(frame, DP_F_ADJACENCY, adjacency, strlen(adjacency), err) : rc;
    }
    dp_frame_set_real(frame, DP_F_EPSILON, s->prior_epsilon + s->spend.epsilon);
    dp_frame_set_real(frame, DP_F_DELTA, s->prior_delta + o->delta);
    if (s->prior_epsilon > 0 || s->prior_delta > 0) {
        dp_frame_set_real(frame, DP_F_PRIOR_EPSILON, s->prior_epsilon);
        dp_frame_set_real(frame, DP_F_PRIOR_DELTA, s->prior_delta);
    }
    set_sound(s, frame);
    if (s->published)
        dp_frame_set_bool(frame, DP_F_AS_PUBLISHED, true);
    if (o->no_ledger)
        dp_frame_set_bool(frame, DP_F_UNTRACKED, true);
    int rc = dp_frame_set_text(frame, DP_F_ADJACENCY, adjacency, strlen(adjacency), err);
    return rc == DP_OK && mark != NULL ? dp_frame_set_text(frame, DP_F_LEDGER, mark, strlen(mark), err) : rc;
}

static int account_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (o->non_private)
        return pass_non_private(frame, out, err);
    int rc = check_lap(stage, frame, err);
    if (rc == DP_OK)
        rc = pay(stage, frame, out, err);
    if (rc == DP_SPENT) {
        char text[200];
        snprintf(text, sizeof text, "the budget of epsilon = %g is spent after lap %lld (epsilon %.6g)", o->epsilon,
                 (long long)s->last_lap, s->spend.epsilon);
        return stop(stage, text, frame, err);
    }
    if (rc == DP_E_BUDGET) { /* that of the data set, or one that pays for no lap */
        char text[DP_ERR_MESSAGE_SIZE];
        memcpy(text, err->message, sizeof text);
        return stop(stage, text, frame, err);
    }
    if (rc != DP_OK)
        return rc;
    s->last_lap = frame->lap;
    s->turn[s->kind]++;

    rc = state_spent(stage, frame, err);
    frame->label = DP_LABEL_RELEASED;
    return rc != DP_OK ? rc : out->frame(out, frame, err);
}

static int account_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    /* Why a run ends before its last lap is for the gate to doubt: what was released may have decided it. */
    bool early = stage->interrupted || s->spend.laps < s->laps;
    (void)out;
    return s->begun ? dp_reserve_end(&s->reserve, &s->spend, early ? "interrupted" : "done", err) : DP_OK;
}

/* What was charged follows from the event and the number of laps. The first frame is held to; the ledger has a line that says
   from where the run may go on. */
static int account_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = DP_OK;
    if (o->non_private)
        return DP_OK;
    if (o->trial != NULL)
        return dp_fail(err, DP_E_USAGE, "--trial: a trial is not resumed, and has no checkpoints");
    if (s->reserve.ledger != NULL)
        rc = dp_reserve_checkpoint(&s->reserve, err);
    if (rc == DP_OK)
        rc = dp_hold_save(&s->hold, state, err);
    if (s->reserve.ledger != NULL)
        dp_state_put_text(state, "mark", dp_ledger_mark(s->reserve.ledger));
    dp_state_put_int(state, "lap", s->last_lap);
    dp_state_put_bytes(state, "turn", s->turn, sizeof s->turn);
    dp_state_put_real(state, "filter", s->spend.filter.spent);
    dp_state_put_real(state, "order", s->spend.filter.order);
    dp_state_put_real(state, "allowance", s->spend.filter.allowance);
    dp_state_put_bytes(state, "claimed", s->spend.claimed, sizeof s->spend.claimed);
    dp_plan_digest(&s->spend.plan, s->planned);
    dp_state_put_bytes(state, "plan", s->planned, sizeof s->planned);
    dp_state_put_real(state, "prior_epsilon", s->prior_epsilon);
    dp_state_put_real(state, "prior_delta", s->prior_delta);
    dp_state_put_real(state, "prior_sound", s->prior_sound);
    dp_state_put_int(state, "published", s->published);
    return rc;
}

static int account_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t published = 0;
    const void *plan, *turn, *claimed;
    size_t size;
    if (o->non_private)
        return DP_OK;
    if (o->trial != NULL)
        return dp_fail(err, DP_E_USAGE, "--trial: a trial is not resumed, and has no checkpoints");
    int rc = dp_state_get_int(state, "lap", 1, INT64_MAX, &s->last_lap, err);
    if (rc == DP_OK)
        rc = dp_state_get_int(state, "published", 0, 1, &published, err);
    if (rc == DP_OK)
        rc = dp_state_get_real(state, "filter", &s->spent, err);
    if (rc == DP_OK)
        rc = dp_state_get_real(state, "order", &s->order, err);
    if (rc == DP_OK)
        rc = dp_state_get_real(state, "allowance", &s->allowance, err);
    if (rc == DP_OK)
        rc = dp_state_get_bytes(state, "plan", &plan, &size, err);
    if (rc == DP_OK && size != sizeof s->planned)
        rc = dp_fail(err, DP_E_RUN, "'plan' of the checkpoint is no digest");
    if (rc == DP_OK)
        memcpy(s->planned, plan, size);
    if (rc == DP_OK)
        rc = dp_state_get_bytes(state, "claimed", &claimed, &size, err);
    if (rc == DP_OK && size != sizeof s->claimed)
        rc = dp_fail(err, DP_E_RUN, "'claimed' of the checkpoint does not have a number for each order");
    if (rc == DP_OK)
        memcpy(s->claimed, claimed, size);
    if (rc == DP_OK)
        rc = dp_state_get_bytes(state, "turn", &turn, &size, err);
    if (rc == DP_OK && size != sizeof s->turn)
        rc = dp_fail(err, DP_E_RUN, "'turn' of the checkpoint does not have a number for each kind of lap");
    if (rc == DP_OK)
        memcpy(s->turn, turn, size);
    if (rc == DP_OK)
        rc = dp_state_get_real(state, "prior_epsilon", &s->prior_epsilon, err);
    if (rc == DP_OK)
        rc = dp_state_get_real(state, "prior_delta", &s->prior_delta, err);
    if (rc == DP_OK)
        rc = dp_state_get_real(state, "prior_sound", &s->prior_sound, err);
    if (rc == DP_OK && dp_state_has(state, "mark"))
        rc = dp_state_get_text(state, "mark", s->resumes, sizeof s->resumes, err);
    s->published = published == 1;
    return rc == DP_OK ? dp_hold_restore(&s->hold, state, err) : rc;
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
    .drain = account_drain,
    .close = account_close,
    .save = account_save,
    .restore = account_restore,
};
