/* dp-account as the gate: everything left of it is private, everything right of it public. It reads from the frame what really
   ran, refuses contradictions, charges the lap, removes every private field, and stops the run instead of overspending. */
#include <unistd.h>

#include "base/mem.h"
#include "base/round.h"
#include "gate/charge.h"
#include "gate/trial.h"
#include "gate/where.h"
#include "stages/paying.h"
#include "stages/shared_options.h"

struct options {
    struct dp_payer_options pay;
    const char *trial;
    bool non_private, public;
};

struct state {
    struct dp_payer payer;
    struct dp_trial trial; /* of a run that dp-tune has started */
    bool noted;            /* --public, --non-private: the registry knows of the run */
};

#define DP_OPTIONS struct options
#define BUDGET "epsilon, delta, ledger, no-ledger, registry, no-registry, partial, adaptive, allow-weak, with-schema"
static const struct dp_option options[] = {
    DP_PAYER_OPTIONS(pay, .unless = "trial, non-private, public"),
    DP_OPTION_FLAG(0, pay.with_schema, "the budget is also for the schema of the data set, in one composition with the run",
                   .excludes = "adaptive"),
    DP_OPTION_TEXT(0, trial, "DIR", "no budget: dp-tune made this directory, and charges for the run",
                   .excludes = BUDGET
                   ", non-private, public: dp-tune has the budget and the ledger, and what a trial does is known beforehand"),
    DP_OPTION_FLAG(0, non_private, "pass everything, marked as not private", .excludes = "public, " BUDGET),
    DP_OPTION_FLAG(0, public, "the rows are public: pass everything, marked as public", .excludes = BUDGET),
    {.name = NULL},
};

static bool uncharged(const struct options *o)
{
    return o->non_private || o->public;
}

static void account_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_payer_close(&s->payer);
    dp_trial_close(&s->trial);
}

static int account_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->payer.options = &o->pay;
    return o->trial != NULL ? dp_trial_open(&s->trial, o->trial, err) : DP_OK;
}

/* The announced sampling; NULL if none was announced. */
static const struct dp_record *announced_rows(const struct dp_contract *c)
{
    for (int i = 0; i < c->hello->records; i++)
        if (c->hello->record[i].sensitivity > 0)
            return &c->hello->record[i];
    return NULL;
}

/* Tells dp-tune what the run will do; every lap is held to that. */
static int begin_trial(struct dp_stage *stage, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_contract *contract = &s->payer.contract;
    const struct dp_record *rows = announced_rows(contract);
    struct dp_trial_plan said = {.directory = s->payer.directory, .seeded = s->payer.seeded};
    if (s->payer.directory == NULL)
        return dp_fail(err, DP_E_RUN, "--trial: nothing says where the data set is");
    int rc = dp_contract_whole(contract, err);
    if (rc == DP_OK && rows == NULL)
        rc = dp_fail(err, DP_E_UNSAFE, "--trial: no accountant covers what was announced");
    if (rc == DP_OK) {
        said.rows = rows->rows;
        said.adjacency = (char *)dp_adjacency_names[rows->adjacency];
        rc = dp_plan_charges(&contract->plan, contract->plan.laps, &said.charges, err);
    }
    rc = rc ?: dp_trial_write(&s->trial, &said, err);
    if (rc == DP_OK && s->trial.ask == DP_TRIAL_PLAN)
        rc = dp_fail(err, DP_E_RUN, "dp-tune asked only for the plan");
    rc = rc ?: dp_trial_take(&s->trial, &said, err);
    dp_charges_free(&said.charges);
    return rc;
}

/* Only the user says that the data are --public. A ledger of the data set, or an entry of the registry, shows that somebody has
   protected its rows. */
static int check_public(const struct dp_payer *p, struct dp_err *err)
{
    if (p->directory == NULL)
        return DP_OK;
    char *ledger = dp_format("%s/ledger", p->directory);
    bool there = access(ledger, F_OK) == 0;
    free(ledger);
    return there ? dp_fail(err, DP_E_UNSAFE, "--public: the data set has a ledger, so its rows are not public") : DP_OK;
}

static int account_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->payer.seeded = stage->seeded;
    s->payer.time = stage->runtime.started;
    s->payer.registry = stage->runtime.registry;
    s->payer.every = stage->checkpoint.directory != NULL ? stage->checkpoint.every : 0;
    /* The runtime writes the frame that continues. */
    int rc = dp_payer_hello(&s->payer, frame, err);
    dp_frame_drop(frame, DP_F_EPSILON); /* cost of the schema: from here on, frames say what the run has cost */
    dp_frame_drop(frame, DP_F_DELTA);
    dp_frame_drop(frame, DP_F_LEDGER);
    dp_frame_drop(frame, DP_F_SCHEMA_COST);
    if (rc == DP_OK && o->public)
        rc = check_public(&s->payer, err);
    return rc == DP_OK && o->trial != NULL ? begin_trial(stage, err) : rc;
}

/* A model is public only if its first model was, too. */
static int check_start(const struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    bool starts = dp_frame_has(s->payer.contract.hello, DP_F_MODEL_DIGEST);
    return !starts || dp_frame_has(frame, DP_F_PUBLIC_START)
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE, "--public: the model that the run starts from is not public");
}

/* The model shows the rows of these people, and the rows that the models before it show. A public model of an earlier version
 * names no people, and neither do the models after it. */
static void name_people(struct dp_frame *frame)
{
    if (dp_frame_has(frame, DP_F_EXACT_OF) || !dp_frame_has(frame, DP_F_PUBLIC_START))
        dp_frame_add_names(frame, DP_F_EXACT_OF, dp_payer_people(frame));
}

static int pass_uncharged(struct dp_frame *frame, enum dp_field mark, struct dp_out *out, struct dp_err *err)
{
    double gap = dp_frame_real(frame, DP_F_GAP, NAN), objective = dp_frame_real(frame, DP_F_OBJECTIVE, NAN);
    if (dp_paid_waiting(frame) == DP_F_NONE)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no sum", (long long)frame->lap);
    if (mark == DP_F_PUBLIC)
        name_people(frame);
    dp_frame_strip(frame); /* also removes the cost that an earlier, private run stated: it bounds nothing any more */
    /* Nothing here is private any more, and the mark says so. */
    if (!isnan(gap))
        dp_frame_set_real(frame, DP_F_GAP, gap);
    if (!isnan(objective))
        dp_frame_set_real(frame, DP_F_OBJECTIVE, objective);
    dp_paid_set_scale(frame);
    dp_frame_drop(frame, DP_F_PUBLIC);
    dp_frame_set_bool(frame, mark, true);
    frame->label = DP_LABEL_RELEASED;
    return out->frame(out, frame, err);
}

/* An unpaid model must be the model of the lap before, of the same trial, or absent. A trial starts from nothing: what another
 * model has cost would have to be added to what dp-tune charges. */
static int check_trial(const struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    const char *name = dp_frame_text(frame, DP_F_TRIAL, ""), *own = s->payer.contract.last > 0 ? s->trial.name : "";
    if (strcmp(name, own) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the model that lap %lld begins with is a trial of a selection, which nobody has paid for",
                       (long long)frame->lap);
    if (s->trial.directory != NULL && (dp_frame_has(frame, DP_F_EPSILON) || dp_frame_has(frame, DP_F_LEDGER)))
        return dp_fail(err, DP_E_UNSAFE, "--trial: a trial starts from no model that has cost something");
    return DP_OK;
}

/* dp-tune does not know the model that a trial starts from. */
static int check_trial_start(const struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    const struct dp_registry_place place = dp_registry_chosen(&o->pay.registry, stage->runtime.registry);
    const struct dp_ledger_run run = {.population = dp_frame_text(frame, DP_F_POPULATION, NULL),
                                      .data = dp_frame_text(frame, DP_F_DATA, NULL),
                                      .exact_of = dp_frame_text(frame, DP_F_EXACT_OF, NULL),
                                      .init.model = dp_frame_text(s->payer.contract.hello, DP_F_MODEL_DIGEST, NULL)};
    return dp_where_check_start(&place, &run, err);
}

static int check_lap(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    struct state *s = stage->state;
    if (frame->label != DP_LABEL_NOISED)
        return dp_fail(err, DP_E_UNSAFE, "takes noised frames and got a %s one: a stage is missing or out of place",
                       dp_label_name(frame->label));
    int rc = check_trial(s, frame, err);
    if (rc == DP_OK && s->trial.directory != NULL && frame->lap <= 1 && !stage->seeded)
        rc = check_trial_start(stage, frame, err);
    return rc ?: dp_payer_check(&s->payer, frame, err);
}

/* Removes everything that must not pass, and writes the gate's statements about the lap. The spent epsilon has fewer bits, but
 * is within the budget. */
static void state_spent(struct dp_stage *stage, struct dp_frame *frame)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_payer *p = &s->payer;
    dp_contract_passed(&p->contract, frame);
    const char *adjacency = dp_adjacency_names[dp_charge_batch(frame)->adjacency];
    const char *mark = p->ledger != NULL ? dp_ledger_mark(p->ledger) : NULL;
    dp_frame_strip(frame);
    if (stage->seeded)
        dp_frame_set_bool(frame, DP_F_SEEDED, true);
    dp_paid_set_scale(frame);
    dp_frame_set_string(frame, DP_F_ADJACENCY, adjacency);
    if (o->trial != NULL) {
        dp_frame_set_text(frame, DP_F_TRIAL, s->trial.name, DP_TRIAL_NAME);
        return;
    }
    double spent = dp_round_up_bits(p->prior_epsilon + p->spend.epsilon);
    dp_frame_set_real(frame, DP_F_EPSILON, fmin(spent, p->prior_epsilon + o->pay.epsilon));
    dp_frame_set_real(frame, DP_F_DELTA, p->prior_delta + o->pay.delta);
    if (p->prior_epsilon > 0 || p->prior_delta > 0) {
        dp_frame_set_real(frame, DP_F_PRIOR_EPSILON, p->prior_epsilon);
        dp_frame_set_real(frame, DP_F_PRIOR_DELTA, p->prior_delta);
    }
    if (o->pay.no_ledger)
        dp_frame_set_bool(frame, DP_F_UNTRACKED, true);
    if (mark != NULL)
        dp_frame_set_string(frame, DP_F_LEDGER, mark);
}

/* The registry learns of a run without a bound: statements about all runs on these people name it. */
static int note_uncharged(const struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_registry_place place = dp_registry_chosen(&o->pay.registry, stage->runtime.registry);
    const struct dp_record *batch = dp_charge_batch(frame);
    const enum dp_adjacency adjacency = batch->adjacency != DP_ADJACENCY_NONE ? batch->adjacency : DP_ADJACENCY_NULL_RECORD;
    const struct dp_ledger_run run = {.population = dp_frame_text(frame, DP_F_POPULATION, NULL),
                                      .data = dp_frame_text(frame, DP_F_DATA, NULL),
                                      .unit = dp_frame_text(frame, DP_F_UNIT, NULL),
                                      .adjacency = dp_adjacency_names[adjacency]};
    return dp_where_note_outside(&place, &run, o->public ? DP_REGISTRY_PUBLIC : DP_REGISTRY_NON_PRIVATE, err);
}

static int account_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = o->public ? check_start(s, frame, err) : DP_OK;
    if (rc == DP_OK && uncharged(o) && !s->noted)
        rc = note_uncharged(stage, frame, err);
    if (uncharged(o)) {
        s->noted = true;
        return rc == DP_OK ? pass_uncharged(frame, o->public ? DP_F_PUBLIC : DP_F_NON_PRIVATE, out, err) : rc;
    }
    rc = check_lap(stage, frame, err);
    rc = rc ?: o->trial != NULL ? DP_OK : dp_paying_lap(stage, &s->payer, frame, out, err); /* dp-tune has paid for a trial */
    if (rc != DP_OK)
        return rc;
    state_spent(stage, frame);
    frame->label = DP_LABEL_RELEASED;
    return out->frame(out, frame, err);
}

static int account_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    (void)out;
    return dp_payer_end(&s->payer, stage->interrupted, stage->model[0] != '\0' ? stage->model : NULL, err);
}

static int refuse_trial(const struct options *o, struct dp_err *err)
{
    return o->trial == NULL ? DP_OK : dp_fail(err, DP_E_USAGE, "--trial: a trial is not resumed, and has no checkpoints");
}

static int account_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = refuse_trial(o, err);
    return rc == DP_OK && !uncharged(o) ? dp_payer_save(&s->payer, state, err) : rc;
}

static int account_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = refuse_trial(o, err);
    return rc == DP_OK && !uncharged(o) ? dp_payer_restore(&s->payer, state, err) : rc;
}

const struct dp_stage_class dp_account_class = {
    .name = "dp-account",
    .summary = "The gate: charge each private sum to the ledger, and pass only what was charged",
    DP_STAGE_STRUCTS,
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
