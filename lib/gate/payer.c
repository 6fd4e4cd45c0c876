#include "gate/payer.h"

#include "base/mem.h"
#include "base/round.h"
#include "gate/charge.h"
#include "gate/least.h"
#include "gate/weak.h"
#include "gate/where.h"
#include "wire/model.h"

static bool is_seeded(const struct dp_payer *p, const struct dp_frame *frame)
{
    return p->seeded || dp_frame_bool(frame, DP_F_SEEDED);
}

static int check_seed(const struct dp_payer *p, bool seeded, struct dp_err *err)
{
    return !seeded || p->options->allow_seeded ? DP_OK
                                               : dp_fail(err, DP_E_UNSAFE,
                                                         "the run is seeded: anybody who knows the seed knows the noise "
                                                         "(--allow-seeded for experiments)");
}

int dp_payer_hello(struct dp_payer *p, const struct dp_frame *hello, struct dp_err *err)
{
    const char *directory = dp_frame_text(hello, DP_F_DIRECTORY, NULL);
    int rc = check_seed(p, p->seeded, err);
    if (rc != DP_OK)
        return rc;
    p->directory = directory != NULL ? dp_got(strdup(directory)) : NULL;
    p->schema_epsilon = dp_frame_real(hello, DP_F_EPSILON, 0);
    p->schema_delta = dp_frame_real(hello, DP_F_DELTA, 0);
    p->schema = dp_frame_has(hello, DP_F_LEDGER) ? dp_got(strdup(dp_frame_text(hello, DP_F_LEDGER, ""))) : NULL;
    p->contract.adaptive = p->options->adaptive;
    p->contract.site = p->site;
    if (p->options->with_schema && !dp_schema_cost_parse(&p->with, dp_frame_text(hello, DP_F_SCHEMA_COST, NULL)))
        return dp_fail(err, DP_E_UNSAFE, "--with-schema: the schema of the data set was not paid for as a part of a budget");
    return dp_contract_read(&p->contract, hello, err);
}

/* --- the first lap */

/* The number of rows that the account covers. */
static int64_t rows_of(const struct dp_payer *p, const struct dp_frame *frame)
{
    const struct dp_frame *hello = p->contract.hello;
    if (!p->site)
        return dp_charge_batch(frame)->rows;
    return hello->records > 0 ? hello->record[0].rows : 0;
}

/* A site does not know whether the stated cost of the initial model is true, so that cost must be within its own budget. */
static int check_prior(const struct dp_payer *p, struct dp_err *err)
{
    if (!p->site || (p->prior_epsilon <= p->options->epsilon && p->prior_delta <= p->options->delta))
        return DP_OK;
    return dp_fail(
        err, DP_E_BUDGET,
        "the model it starts from states that it has cost epsilon %.6g at delta %.6g, which --epsilon and --delta here "
        "do not cover",
        p->prior_epsilon, p->prior_delta);
}

static const char same_people[] =
    "the model it starts from, or one before it, was made without noise from rows of the same people, or does not say of whose: "
    "no epsilon bounds what it shows of them";

const char *dp_payer_people(const struct dp_frame *frame)
{
    return dp_frame_text(frame, DP_F_MEMBERS, dp_frame_text(frame, DP_F_POPULATION, NULL));
}

/* No model that the run goes back to may show these people's rows without noise, and a model that states no cost must be public.
   The text in the frame has passed the private stages, so it must be the digest that dp-loop wrote. */
static int check_start(const struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    const char *people = dp_payer_people(frame), *start = dp_frame_text(frame, DP_F_PUBLIC_START, "");
    const char *digest = dp_frame_text(p->contract.hello, DP_F_MODEL_DIGEST, "");
    if (dp_frame_has_name(frame, DP_F_EXACT_OF, people)) /* a site may begin with a later lap */
        return dp_fail(err, DP_E_UNSAFE, "%s", same_people);
    if (frame->lap > 1 || p->contract.last > 0 || dp_frame_has(frame, DP_F_EPSILON))
        return DP_OK;
    if (strcmp(start, digest) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       start[0] == '\0' ? "the model it starts from states no cost, and is not public either"
                                        : "lap 1 names another public model than the run starts from");
    return start[0] == '\0' || dp_frame_bool(frame, DP_F_ELSEWHERE) ? DP_OK : dp_fail(err, DP_E_UNSAFE, "%s", same_people);
}

/* One composition with the schema: its budget was fixed before, and the run has only Gaussians of all rows, whose plan may
 * depend on what was released since. */
static int check_with(const struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_payer_options *o = p->options;
    struct dp_charges all = {0};
    double mu, named;
    if (o->epsilon != p->with.epsilon || o->delta != p->with.delta)
        return dp_fail(err, DP_E_UNSAFE, "--with-schema: the schema was paid for as a part of epsilon %g at delta %g",
                       p->with.epsilon, p->with.delta);
    if (frame->lap == 1 && dp_frame_has(frame, DP_F_EPSILON))
        return dp_fail(err, DP_E_UNSAFE, "--with-schema: the run starts from a model, which has a budget of its own");
    if (dp_charge_batch(frame)->adjacency != DP_ADJACENCY_NULL_RECORD)
        return dp_fail(err, DP_E_UNSAFE, "--with-schema: the schema was charged under null-record adjacency");
    if (p->schema == NULL && !o->no_ledger)
        return dp_fail(err, DP_E_UNSAFE, "--with-schema: no ledger here has the charge for the schema");
    int rc = dp_plan_charges(&p->contract.plan, p->contract.plan.laps, &all, err);
    if (rc == DP_OK && !dp_schema_cost_mu(&all, &mu, &named))
        rc = dp_fail(err, DP_E_UNSAFE, "--with-schema: a lap is no Gaussian mechanism of all rows");
    dp_charges_free(&all);
    return rc;
}

/* A run that starts from a released model adds its cost to the cost of that model (basic composition). */
static int note_prior(struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    const char *now = dp_adjacency_names[dp_charge_batch(frame)->adjacency], *then = dp_frame_text(frame, DP_F_ADJACENCY, now);
    if (strcmp(now, then) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the model it starts from was charged under %.20s adjacency, this run is under %s: they do "
                       "not add up",
                       then, now);
    /* After the first lap a frame states the cost of this run, and separately the prior cost of the model. */
    bool first = frame->lap == 1;
    p->prior_epsilon = dp_frame_real(frame, first ? DP_F_EPSILON : DP_F_PRIOR_EPSILON, 0);
    if (!isfinite(p->prior_epsilon))
        return dp_fail(err, DP_E_UNSAFE, "the model it starts from states no epsilon that bounds its cost");
    p->prior_delta = dp_frame_real(frame, first ? DP_F_DELTA : DP_F_PRIOR_DELTA, 0);
    if (first && !dp_frame_has(frame, DP_F_EPSILON)) { /* a model that has cost something has paid for the schema, too */
        p->prior_epsilon = p->options->with_schema ? 0 : p->schema_epsilon;
        p->prior_delta = p->options->with_schema ? 0 : p->schema_delta;
        if (p->schema_epsilon > 0 && dp_charge_batch(frame)->adjacency != DP_ADJACENCY_NULL_RECORD)
            return dp_fail(err, DP_E_UNSAFE,
                           "the schema was charged under null-record adjacency, this run is under %s: they do not add up", now);
    }
    return check_prior(p, err);
}

static struct dp_ledger_run ledger_run(const struct dp_payer *p, const struct dp_frame *frame)
{
    const struct dp_payer_options *o = p->options;
    struct dp_ledger_run run = {
        .data = dp_frame_text(frame, DP_F_DATA, NULL),
        .population = dp_frame_text(frame, DP_F_POPULATION, NULL),
        .unit = dp_frame_text(frame, DP_F_UNIT, NULL),
        .rows = rows_of(p, frame),
        .adjacency = dp_adjacency_names[dp_charge_batch(frame)->adjacency],
        .epsilon = o->epsilon,
        .delta = o->delta,
        .seeded = is_seeded(p, frame),
        .preprocessing = dp_frame_text(frame, DP_F_PREPROCESSING, ""),
        .public_start = dp_frame_text(frame, DP_F_PUBLIC_START, NULL),
        .exact_of = dp_frame_text(frame, DP_F_EXACT_OF, NULL),
        .init.mark = dp_frame_text(frame, DP_F_LEDGER, NULL),
        .init.model = dp_frame_text(p->contract.hello, DP_F_MODEL_DIGEST, NULL),
        .init.lap = dp_frame_int(p->contract.hello, DP_F_MODEL_LAP, 0),
        .time = p->time,
        .done = p->contract.last,
        .later = o->later,
        .partial = o->partial,
    };
    if (o->adaptive) /* later laps are unknown */
        run.order = p->spend.filter.order;
    else
        run.plan = &p->contract.plan;
    if (p->contract.last > 0) { /* the run continues from its own model */
        run.init.mark = NULL;
        run.resumes = p->resumed.mark;
        run.earlier = p->site;
        return run;
    }
    /* If the model is of other people's rows, or of the rows of many sites, its run is in another ledger. Such a model counts
       with the cost that it states. */
    if (p->site || (o->ledger == NULL && dp_frame_bool(frame, DP_F_ELSEWHERE)))
        run.init.mark = NULL;
    run.init.elsewhere = dp_frame_bool(frame, DP_F_ELSEWHERE);
    if (run.init.mark == NULL && !dp_frame_has(frame, DP_F_EPSILON)) {
        run.init.mark = p->schema;
        run.with = o->with_schema ? &p->with.charges : NULL;
        run.init.elsewhere = p->schema == NULL && p->schema_epsilon > 0;
    }
    if (run.init.mark == NULL) {
        run.init.epsilon = p->prior_epsilon;
        run.init.delta = p->prior_delta;
    }
    return run;
}

/* Charges the laps that a resumed run may have released in addition to its laps up to the checkpoint. A filter has counted all
 * of them except those that were lost since the checkpoint. */
static int charge_lost(struct dp_payer *p, const char *path, struct dp_err *err)
{
    struct dp_charges own = {0}, others = {0};
    int rc = dp_ledger_resumed(path, p->resumed.mark, p->site, &own, &p->base, err);
    if (!p->spend.adaptive) {
        dp_charges_clear(&own);
        rc = rc ?: dp_plan_charges(&p->contract.plan, p->contract.last, &own, err);
    }
    for (size_t i = 0; rc == DP_OK && i < p->base.count; i++) {
        const struct dp_charge *base = &p->base.charge[i];
        int64_t laps = base->laps - dp_charges_laps(&own, &base->event);
        if (laps > 0 && !dp_event_repeats_free(&base->event))
            rc = dp_charges_add(&others, &base->event, laps, err);
    }
    rc = rc ?: dp_spend_lost(&p->spend, &others, err);
    dp_charges_free(&own);
    dp_charges_free(&others);
    return rc;
}

/* Finds the ledger and opens the run there, without releasing the registry in between. */
static int open_found(struct dp_payer *p, struct dp_ledger_run *run, struct dp_err *err)
{
    const struct dp_payer_options *o = p->options;
    struct dp_where_query query = {.ledger = o->ledger, .directory = p->directory, .new_ledger = o->new_ledger};
    struct dp_where where = {0};
    /* A seeded run is an experiment, and its cost has no meaning. */
    if (run->seeded)
        query.registry.none = true;
    else
        query.registry = dp_registry_chosen(&o->registry, p->registry);
    int rc = dp_where_open(&where, &query, run, p->unregistered, err);
    if (rc == DP_OK && run->resumes != NULL) {
        rc = charge_lost(p, where.ledger->name, err);
        run->base = &p->base;
    }
    run->laps = p->spend.adaptive ? 0 : p->spend.limit;
    rc = rc ?: dp_ledger_open(&p->ledger, where.ledger->name, run, err);
    rc = rc ?: dp_where_note(&where, run, dp_ledger_run_id(p->ledger), err);
    p->done = p->contract.last;
    dp_where_close(&where);
    return rc;
}

/* Opens the ledger of the data set, or the ledger that the options name, or none. */
static int open_ledger(struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_payer_options *o = p->options;
    struct dp_ledger_run run = ledger_run(p, frame);
    const struct dp_registry_place place = dp_registry_chosen(&o->registry, p->registry);
    if (run.seeded && o->ledger == NULL) /* seeded runs are experiments */
        return DP_OK;
    if (o->no_ledger)
        return p->contract.last > 0 ? DP_OK : dp_where_note_outside(&place, &run, DP_REGISTRY_NO_LEDGER, err);
    if (run.data == NULL)
        return dp_fail(err, DP_E_UNSAFE, "--ledger: the frame of lap %lld does not name its data set", (long long)frame->lap);
    if (o->ledger == NULL && p->directory == NULL && o->new_ledger == NULL)
        return dp_fail(err, DP_E_RUN,
                       "nothing says where the data set and its ledger are: --ledger FILE names one, --no-ledger "
                       "goes without");
    int rc = open_found(p, &run, err);
    char why[DP_ERR_MESSAGE_SIZE];
    if (rc != DP_E_RUN || o->ledger != NULL)
        return rc;
    memcpy(why, err->message, sizeof why);
    return dp_fail(err, DP_E_RUN, "%.400s (--ledger FILE names another one, --no-ledger goes without)", why);
}

/* A resumed run has the filter that it had before its checkpoint. */
static int check_resumed(const struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    if (p->resumed.order != p->spend.filter.order)
        return dp_fail(err, DP_E_UNSAFE, "the mechanism of lap %lld is not the mechanism of the run before its checkpoint",
                       (long long)frame->lap);
    return p->resumed.allowance == p->spend.filter.allowance
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE,
                         "the budget is not the budget of the run before its checkpoint: a filter is fixed beforehand");
}

/* A run that cannot pay for one lap of each of its kinds does not begin: its ledger gets no line about it. */
static int check_budget(const struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_charges once = {0};
    int rc = dp_contract_once(&p->contract, frame, &once, err);
    rc = rc ?: dp_charges_add_all(&once, dp_charges_add, &p->with.charges, err);
    rc = rc ?: dp_least_check(&p->spend, &once, p->contract.laps.kinds, err);
    dp_charges_free(&once);
    return rc;
}

/* The epsilon in a frame holds if the number of laps was fixed beforehand. The ledger knows how many laps there were; a user
   who starts from one of their models may have seen all of them. */
static int charge_start(struct dp_payer *p, struct dp_err *err)
{
    double epsilon = 0, delta = 0;
    if (p->contract.last > 0 || p->ledger == NULL)
        return DP_OK;
    int rc = dp_ledger_prior(p->ledger, &epsilon, &delta, err);
    if (epsilon > p->prior_epsilon)
        p->prior_epsilon = dp_round_up_bits(epsilon);
    p->prior_delta = fmax(p->prior_delta, delta);
    return rc;
}

static int check_weak(const struct dp_payer *p, const struct dp_frame *frame, void (*say)(void *self, const char *sentence),
                      void *self, struct dp_err *err)
{
    const struct dp_payer_options *o = p->options;
    return dp_weak_check(fmin(o->epsilon, p->spend.whole), o->delta, rows_of(p, frame), o->allow_weak || is_seeded(p, frame),
                         say, self, err);
}

/* The run begins with what its schema has cost. The ledger says so to a run that is resumed. */
static int begin_with(struct dp_payer *p, struct dp_err *err)
{
    const struct dp_charges *with = &p->with.charges;
    if (p->contract.last > 0 && !p->options->no_ledger)
        return DP_OK;
    int rc = dp_charges_add_all(&p->base, dp_charges_add_run, with, err);
    return rc ?: dp_spend_lost(&p->spend, with, err);
}

/* Decides how the run is charged, from the contract and the first lap. */
int dp_payer_begin(struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_payer_options *o = p->options;
    int rc = p->contract.last > 0 ? DP_OK : note_prior(p, frame, err);
    rc = rc ?: o->with_schema ? check_with(p, frame, err) : DP_OK;
    rc = rc ?: dp_spend_open(&p->spend, o->epsilon, o->delta, o->adaptive ? NULL : &p->contract.plan, err);
    rc = rc ?: begin_with(p, err);
    if (rc == DP_OK && p->contract.last > 0)
        rc = check_resumed(p, frame, err);
    else if (rc == DP_OK)
        rc = check_budget(p, frame, err);
    rc = rc ?: check_weak(p, frame, NULL, NULL, err);
    rc = rc ?: dp_spend_resume(&p->spend, p->contract.last, p->resumed.spent, err);
    rc = rc ?: open_ledger(p, frame, err);
    rc = rc ?: charge_start(p, err);
    p->laps = dp_frame_int(frame, DP_F_LAPS, 0);
    p->begun = true;
    return rc;
}

void dp_payer_warn(const struct dp_payer *p, const struct dp_frame *frame, void (*say)(void *self, const char *sentence),
                   void *self)
{
    int64_t laps = dp_frame_int(frame, DP_F_LAPS, 0);
    struct dp_err err;
    if (is_seeded(p, frame)) /* not private, so there is nothing to warn of */
        return;
    check_weak(p, frame, say, self, &err);
    if (p->ledger != NULL && dp_ledger_affords(p->ledger) < laps) {
        dp_fail(&err, DP_E_BUDGET, "the budget of the data set affords %lld of the run's %lld laps",
                (long long)dp_ledger_affords(p->ledger), (long long)laps);
        say(self, err.message);
    }
    if (p->unregistered[0] != '\0')
        say(self, p->unregistered);
}

/* --- every lap */

int dp_payer_check(struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    int rc = check_seed(p, is_seeded(p, frame), err);
    rc = rc ?: dp_contract_lap(&p->contract, frame, err);
    if (rc == DP_OK && dp_frame_bool(frame, DP_F_NON_PRIVATE))
        rc = dp_fail(err, DP_E_UNSAFE, "the model of lap %lld comes from a run without privacy", (long long)frame->lap);
    if (rc == DP_OK && dp_frame_has(frame, DP_F_PUBLIC)) /* it would cost nothing as an initial model */
        rc = dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld says that its rows are public", (long long)frame->lap);
    return rc ?: check_start(p, frame, err);
}

/* Adds what the run has used after that many of its laps. */
static int used_after(const struct dp_payer *p, int64_t laps, struct dp_charges *used, struct dp_err *err)
{
    int rc = dp_charges_add_all(used, dp_charges_continue, &p->base, err);
    if (rc == DP_OK && !p->spend.adaptive && laps > p->done)
        rc = dp_plan_continue(&p->contract.plan, p->done, laps, used, err);
    return rc;
}

/* The last lap before the next checkpoint, which is made where no shuffled epoch is cut. */
static int64_t next_checkpoint(const struct dp_payer *p)
{
    int64_t last = p->spend.limit, affords = dp_ledger_affords(p->ledger), epoch = 1;
    last = affords < last ? affords : last;
    for (size_t i = 0; i < p->contract.plan.events; i++)
        epoch = p->contract.plan.event[i].epoch_laps > epoch ? p->contract.plan.event[i].epoch_laps : epoch;
    int64_t at = p->every < last - p->spend.laps ? (p->spend.laps + p->every + epoch - 1) / epoch * epoch : last;
    return at < last ? at : last;
}

/* Writes a checkpoint after the laps so far, and where there will be another one; or, if it did not come there, that nobody
 * knows when it will. */
static int checkpoint(struct dp_payer *p, bool late, struct dp_err *err)
{
    struct dp_charges used = {0}, until = {0};
    bool bounded = !late && !p->spend.adaptive;
    p->until = bounded ? next_checkpoint(p) : INT64_MAX;
    int rc = used_after(p, p->spend.laps, &used, err);
    rc = rc ?: bounded ? used_after(p, p->until, &until, err) : DP_OK;
    rc = rc ?: dp_ledger_checkpoint(p->ledger, &used, bounded ? &until : NULL, err);
    dp_charges_free(&used);
    dp_charges_free(&until);
    return rc;
}

/* Counts the next lap. own: the event of the lap in an adaptive run. */
static int pay(struct dp_payer *p, const struct dp_event *own, struct dp_err *err)
{
    if (p->ledger != NULL && p->spend.laps < p->spend.limit && p->spend.laps >= dp_ledger_affords(p->ledger))
        return dp_ledger_spent(p->ledger, err);
    int rc = dp_spend_lap(&p->spend, own, err);
    if (rc == DP_OK && own != NULL)
        rc = dp_charges_continue(&p->base, own, 1, err);
    if (rc == DP_OK && p->ledger != NULL && p->until > 0 && p->spend.laps > p->until)
        rc = checkpoint(p, true, err);
    return rc;
}

int dp_payer_pay(struct dp_payer *p, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_event event;
    int rc = DP_OK;
    if (p->options->adaptive) {
        rc = dp_charge_event(frame->record, frame->records, &event, err);
        return rc ?: pay(p, &event, err);
    }
    /* Charges every lap of the plan up to this one, also laps that this site was not asked for: the gate chose which laps to
       ask for, and may have seen results. */
    while (rc == DP_OK && p->spend.laps < frame->lap)
        rc = pay(p, NULL, err);
    return rc;
}

/* --- the end, and checkpoints */

/* Closes the ledger. digest: of the last model that the run has released, or NULL; a site does not know it. */
static int end_run(struct dp_payer *p, const char *status, const char *digest, struct dp_err *err)
{
    struct dp_charges used = {0};
    struct dp_answer cost = {0};
    if (p->ledger == NULL)
        return DP_OK;
    int rc = used_after(p, p->spend.laps, &used, err);
    rc = rc ?: dp_ledger_cost(p->ledger, &used, status, &cost, err);
    struct dp_ledger_end end = {.used = &used,
                                .epsilon = p->spend.adaptive ? p->spend.epsilon : cost.upper,
                                .delta = p->spend.delta,
                                .accountant = dp_accountant_names[p->spend.adaptive ? DP_ACCOUNTANT_FILTER : cost.by],
                                .status = status,
                                .model = p->site || digest == NULL || digest[0] == '\0' ? NULL : digest,
                                .model_lap = p->contract.last};
    rc = rc ?: dp_ledger_close(p->ledger, &end, err);
    dp_charges_free(&used);
    dp_ledger_free(p->ledger);
    p->ledger = NULL;
    return rc;
}

int dp_payer_stop(struct dp_payer *p, int spent, struct dp_frame *frame, struct dp_err *err)
{
    char text[DP_ERR_MESSAGE_SIZE], digest[DP_MODEL_DIGEST] = "";
    struct dp_err unused;
    memcpy(text, err->message, sizeof text); /* the budget of the data set, or a budget that pays for no lap */
    if (spent == DP_SPENT)
        snprintf(text, sizeof text, "the budget of epsilon = %g is spent after lap %lld (epsilon %.6g)", p->options->epsilon,
                 (long long)p->contract.last, p->spend.epsilon);
    /* The frame has the model with which the lap would have begun: the last one that was released. */
    bool model = p->contract.last > 0 && dp_frame_has(frame, DP_F_MODEL) && dp_model_digest(frame, digest, &unused) == DP_OK;
    int rc = end_run(p, "budget", model ? digest : NULL, err);
    if (rc != DP_OK)
        return rc;
    dp_frame_reset(frame, DP_KIND_END);
    dp_frame_set_int(frame, DP_F_STATUS, -DP_E_BUDGET);
    dp_frame_set_string(frame, DP_F_MESSAGE, text);
    return DP_OK;
}

int dp_payer_end(struct dp_payer *p, bool interrupted, const char *digest, struct dp_err *err)
{
    /* Released values may have decided that a run ends before its last lap, so its status counts as interrupted. A run of open
       length has as many laps as its budget affords; but in a stream, where rows come once, fewer laps cost no less. */
    int64_t last = p->laps;
    if (last == 0 && !p->spend.adaptive && p->spend.laps > 0 &&
        dp_plan_event(&p->contract.plan, 1)->sampling != DP_SAMPLING_STREAM)
        last = p->spend.limit;
    bool early = interrupted || p->spend.laps < last;
    return p->begun ? end_run(p, early ? "interrupted" : "done", digest, err) : DP_OK;
}

void dp_payer_close(struct dp_payer *p)
{
    struct dp_err unused;
    if (p->begun) /* the run has failed, and nothing leaves any more */
        end_run(p, "interrupted", NULL, &unused);
    dp_spend_close(&p->spend);
    dp_ledger_free(p->ledger);
    dp_charges_free(&p->base);
    dp_charges_free(&p->with.charges);
    dp_contract_free(&p->contract);
    free(p->directory);
    free(p->schema);
}

int dp_payer_save(struct dp_payer *p, struct dp_state *state, struct dp_err *err)
{
    int rc = DP_OK;
    if (p->ledger != NULL)
        rc = checkpoint(p, false, err);
    rc = rc ?: dp_contract_save(&p->contract, state, err);
    if (p->ledger != NULL)
        dp_state_put_text(state, "mark", dp_ledger_mark(p->ledger));
    dp_state_put_real(state, "filter", p->spend.filter.spent);
    dp_state_put_real(state, "order", p->spend.filter.order);
    dp_state_put_real(state, "allowance", p->spend.filter.allowance);
    dp_state_put_real(state, "prior_epsilon", p->prior_epsilon);
    dp_state_put_real(state, "prior_delta", p->prior_delta);
    return rc;
}

int dp_payer_restore(struct dp_payer *p, const struct dp_state *state, struct dp_err *err)
{
    int rc = dp_contract_restore(&p->contract, state, err);
    rc = rc ?: dp_state_get_real(state, "filter", &p->resumed.spent, err);
    rc = rc ?: dp_state_get_real(state, "order", &p->resumed.order, err);
    rc = rc ?: dp_state_get_real(state, "allowance", &p->resumed.allowance, err);
    rc = rc ?: dp_state_get_real(state, "prior_epsilon", &p->prior_epsilon, err);
    rc = rc ?: dp_state_get_real(state, "prior_delta", &p->prior_delta, err);
    if (rc == DP_OK && dp_state_has(state, "mark"))
        rc = dp_state_get_text(state, "mark", p->resumed.mark, sizeof p->resumed.mark, err);
    return rc;
}
