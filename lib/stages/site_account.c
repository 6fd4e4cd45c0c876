/* dp-site-account: charges the ledger of the site's rows for each lap before their sum leaves the site, and releases no more
   than their budget affords. Noise in the frame is charged as recorded. Noise that the gate will add is charged as promised;
   the promise goes with the sum, and the gate has to keep it. */

#include "stages/paying.h"
#include "stages/shared_options.h"

struct options {
    struct dp_payer_options pay;
    double multiplier, count_multiplier, moments_multiplier;
};

struct state {
    struct dp_payer payer;
    bool moments;                    /* laps of a kind sum moments */
    char moments_kind[DP_RECORD_ON]; /* "" if laps have no kinds */
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_REAL('z', multiplier, "Z", DP_ABOVE(0), "least multiplier that the gate has promised for sums without noise"),
    DP_COUNT_MULTIPLIER_OPTION(count_multiplier, .needs = "multiplier"),
    DP_OPTION_REAL(0, moments_multiplier, "ZM", DP_ABOVE(0), "the same for the sums of dp-moments (Z)", .needs = "multiplier"),
    DP_PAYER_OPTIONS(pay, .unless = NULL),
    {.name = NULL},
};

static void site_account_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_payer_close(&s->payer);
}

static int site_account_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->payer.options = &o->pay;
    s->payer.site = true;
    return stage->on == NULL ? DP_OK : dp_fail(err, DP_E_USAGE, "--on: every lap has to be paid for, of whichever kind");
}

/* Writes the promised noise of the gate into a record without noise, so that it is charged like present noise. */
static int promise(const struct options *o, struct dp_record *record, bool moments, struct dp_err *err)
{
    bool count = dp_paid[record->of].noised == DP_NOISED_COUNT;
    double z = count ? o->count_multiplier : moments && !isnan(o->moments_multiplier) ? o->moments_multiplier : o->multiplier;
    if (record->query.kind != DP_QUERY_NONE)
        return dp_fail(err, DP_E_UNSAFE, "--multiplier: there is noise, and what is charged is in its record");
    if (isnan(z))
        return dp_fail(err, DP_E_USAGE, "%s is required: the noise has not been added yet",
                       count ? "--count-multiplier" : "--multiplier");
    record->promised = z;
    record->query = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = z};
    record->scale = z * record->sensitivity;
    return DP_OK;
}

/* The record that leaves this stage. */
static void keep_promise_alone(struct dp_record *record)
{
    record->query = (struct dp_query){.kind = DP_QUERY_NONE};
    record->scale = 0;
}

/* Parts of one data set have one ledger. */
static int check_parts(const struct dp_stage *stage, const struct dp_frame *hello, struct dp_err *err)
{
    const struct options *o = stage->options;
    if (stage->shards > 1 && dp_frame_has(hello, DP_F_N) && !o->pay.no_ledger)
        return dp_fail(err, DP_E_USAGE,
                       "the shards are parts of one data set, and each would pay for all of it: its ledger is for the gate");
    return DP_OK;
}

static int site_account_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    bool open[DP_MAX_RECORDS];
    int rc = check_parts(stage, frame, err);
    s->payer.seeded = stage->seeded;
    s->payer.time = stage->runtime.started;
    s->payer.registry = stage->runtime.registry;
    s->payer.every = stage->checkpoint.directory != NULL ? stage->checkpoint.every : 0;
    for (int i = 0; i < frame->records; i++) {
        struct dp_record *record = &frame->record[i];
        bool noised = record->query.kind != DP_QUERY_NONE;
        open[i] = record->of != DP_F_NONE && !(noised && isnan(o->multiplier));
        if (rc == DP_OK && record->means == DP_MEANS_MOMENTS) {
            s->moments = true;
            memcpy(s->moments_kind, record->on, DP_RECORD_ON);
        }
        if (rc == DP_OK && open[i])
            rc = promise(o, record, record->means == DP_MEANS_MOMENTS, err);
    }
    rc = rc ?: dp_payer_hello(&s->payer, frame, err);
    for (int i = 0; i < frame->records; i++)
        if (open[i])
            keep_promise_alone(&frame->record[i]);
    return rc;
}

static int site_account_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    bool bounded = frame->label == DP_LABEL_BOUNDED;
    const char *kind = dp_frame_text(frame, DP_F_LAP_KIND, "");
    bool moments = s->moments && strcmp(kind, s->moments_kind) == 0;
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < frame->records; i++) {
        struct dp_record *record = &frame->record[i];
        if (bounded || !isnan(o->multiplier))
            rc = promise(o, record, moments, err);
        record->gathered = record->shares; /* the gate checks that there are enough other shares */
    }
    rc = rc ?: dp_payer_check(&s->payer, frame, err);
    rc = rc ?: dp_paying_lap(stage, &s->payer, frame, out, err);
    if (rc != DP_OK)
        return rc;
    dp_contract_passed(&s->payer.contract, frame);
    for (int i = 0; i < frame->records; i++) {
        frame->record[i].gathered = 0;
        if (bounded)
            keep_promise_alone(&frame->record[i]);
    }
    return out->frame(out, frame, err);
}

static int site_account_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    (void)out;
    return dp_payer_end(&s->payer, stage->interrupted, NULL, err);
}

static int site_account_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    struct state *s = stage->state;
    return dp_payer_save(&s->payer, state, err);
}

static int site_account_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    /* Only the ledger knows which laps were paid for after the checkpoint. */
    if (o->pay.no_ledger && !stage->seeded)
        return dp_fail(err, DP_E_UNSAFE,
                       "--no-ledger: nothing records what this site has paid for since the checkpoint, so it cannot continue "
                       "from there");
    return dp_payer_restore(&s->payer, state, err);
}

const struct dp_stage_class dp_site_account_class = {
    .name = "dp-site-account",
    .summary = "A site's own account: charge its ledger for what leaves it",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_BOUNDED | DP_LABEL_NOISED,
    .gives = DP_LABEL_BOUNDED | DP_LABEL_NOISED,
    .open = site_account_open,
    .hello = site_account_hello,
    .fire = site_account_fire,
    .drain = site_account_drain,
    .close = site_account_close,
    .save = site_account_save,
    .restore = site_account_restore,
    .additive = true,
};
