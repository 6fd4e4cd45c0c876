#include "account/event.h"

#include "base/mem.h"

const char *const dp_sampling_names[DP_SAMPLING_COUNT] = {"none",     "poisson", "substituted", "shuffled", "visible",
                                                          "repeated", "tuned",   "stream",      "coins"};

struct dp_event dp_event_gaussian(enum dp_sampling sampling, double rate, double multiplier, int64_t epoch_laps)
{
    struct dp_event event = {.sampling = sampling, .rate = rate, .epoch_laps = epoch_laps, .queries = 1};
    event.query[0] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = multiplier};
    return event;
}

struct dp_event dp_event_tuned(struct dp_tuning *tuning)
{
    return (struct dp_event){.sampling = DP_SAMPLING_TUNED, .rate = 1, .tuning = tuning};
}

void dp_tuning_new(struct dp_tuning **tuning, const struct dp_trials *trials, double score_multiplier)
{
    *tuning = dp_new(1, sizeof **tuning);
    (*tuning)->trials = *trials;
    (*tuning)->score_multiplier = score_multiplier;
}

static void tuning_free(struct dp_tuning *tuning)
{
    if (tuning == NULL)
        return;
    for (size_t i = 0; i < tuning->settings; i++)
        dp_charges_free(&tuning->setting[i].charges);
    free(tuning->setting);
    free(tuning);
}

int dp_tuning_add(struct dp_tuning *tuning, const struct dp_charges *charges, int64_t times, struct dp_err *err)
{
    if (times < 1 || times > DP_TUNING_MOST_SETTINGS)
        return dp_fail(err, DP_E_RUN, "a selection has between 1 and %d settings of one cost, got %lld",
                       DP_TUNING_MOST_SETTINGS, (long long)times);
    for (size_t i = 0; i < tuning->settings; i++)
        if (dp_charges_same(&tuning->setting[i].charges, charges)) {
            tuning->setting[i].times += times;
            return DP_OK;
        }
    dp_extend(&tuning->setting, &tuning->capacity, tuning->settings + 1, sizeof *tuning->setting);
    struct dp_setting *setting = &tuning->setting[tuning->settings++];
    *setting = (struct dp_setting){.times = times};
    /* Runs are added one by one, because shuffled epochs of equal events must stay separate. */
    return dp_charges_add_all(&setting->charges, dp_charges_add, charges, err);
}

static int tuning_copy(struct dp_tuning **to, const struct dp_tuning *from, struct dp_err *err)
{
    dp_tuning_new(to, &from->trials, from->score_multiplier);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < from->settings; i++)
        rc = dp_tuning_add(*to, &from->setting[i].charges, from->setting[i].times, err);
    if (rc != DP_OK) {
        tuning_free(*to);
        *to = NULL;
    }
    return rc;
}

static int check_setting(const struct dp_setting *setting, struct dp_err *err)
{
    const struct dp_charges *charges = &setting->charges;
    if (setting->times < 1 || setting->times > DP_TUNING_MOST_SETTINGS)
        return dp_fail(err, DP_E_RUN, "a selection has between 1 and %d settings of one cost, got %lld",
                       DP_TUNING_MOST_SETTINGS, (long long)setting->times);
    if (charges->count == 0)
        return dp_fail(err, DP_E_RUN, "a setting of a selection has no laps");
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_charge *charge = &charges->charge[i];
        if (charge->event.sampling == DP_SAMPLING_TUNED)
            return dp_fail(err, DP_E_RUN, "a selection has another selection among its runs");
        if (charge->laps < 1 || charge->laps > DP_EVENT_MOST_LAPS)
            return dp_fail(err, DP_E_RUN, "a setting of a selection has %lld laps", (long long)charge->laps);
        int rc = dp_event_check(&charge->event, err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

static int tuning_check(const struct dp_tuning *tuning, struct dp_err *err)
{
    int rc = dp_trials_check(&tuning->trials, err);
    if (rc == DP_OK && !(tuning->score_multiplier >= 0 && isfinite(tuning->score_multiplier)))
        rc = dp_fail(err, DP_E_RUN, "the noise on a score needs a finite multiplier of at least 0, got %g",
                     tuning->score_multiplier);
    if (rc == DP_OK && tuning->settings == 0)
        rc = dp_fail(err, DP_E_RUN, "a selection has no settings");
    for (size_t i = 0; rc == DP_OK && i < tuning->settings; i++)
        rc = check_setting(&tuning->setting[i], err);
    return rc;
}

/* Both may be NULL. Settings count in their order. */
static bool tuning_same(const struct dp_tuning *a, const struct dp_tuning *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool same =
        dp_trials_same(&a->trials, &b->trials) && a->score_multiplier == b->score_multiplier && a->settings == b->settings;
    for (size_t i = 0; same && i < a->settings; i++)
        same = a->setting[i].times == b->setting[i].times && dp_charges_same(&a->setting[i].charges, &b->setting[i].charges);
    return same;
}

static int check_sampling(const struct dp_event *event, struct dp_err *err)
{
    bool repeated = event->sampling == DP_SAMPLING_REPEATED;
    if ((int)event->sampling < 0 || (int)event->sampling >= DP_SAMPLING_COUNT)
        return dp_fail(err, DP_E_RUN, "an event has an unknown sampling");
    if (!(event->rate > 0 && event->rate <= 1))
        return dp_fail(err, DP_E_RUN, "an event needs a sampling rate in (0, 1], got %g", event->rate);
    if ((event->sampling == DP_SAMPLING_NONE || event->sampling == DP_SAMPLING_STREAM) && event->rate != 1)
        return dp_fail(err, DP_E_RUN, "an event of every row has a sampling rate of %g", event->rate);
    if (event->sampling == DP_SAMPLING_SHUFFLED ? event->epoch_laps < 1 : event->epoch_laps != 0)
        return dp_fail(err, DP_E_RUN, "an event has epochs of %lld laps", (long long)event->epoch_laps);
    if (repeated ? event->draws < 1 || event->draws > DP_EVENT_MOST_LAPS : event->draws != 0)
        return dp_fail(err, DP_E_RUN, "an event has laps of %lld draws", (long long)event->draws);
    if (repeated ? !(event->contraction > 0 && event->contraction <= 1) : event->contraction != 0)
        return dp_fail(err, DP_E_RUN, "an event has draws that contract by %g", event->contraction);
    return DP_OK;
}

int dp_event_check(const struct dp_event *event, struct dp_err *err)
{
    bool repeated = event->sampling == DP_SAMPLING_REPEATED, tuned = event->sampling == DP_SAMPLING_TUNED;
    int rc = check_sampling(event, err);
    if (rc != DP_OK)
        return rc;
    if (tuned != (event->tuning != NULL) || (tuned && (event->queries != 0 || event->rate != 1)))
        return dp_fail(err, DP_E_RUN, "an event is a selection of runs, or has queries of its own");
    if (tuned)
        return tuning_check(event->tuning, err);
    if (event->queries < 1 || event->queries > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_RUN, "an event has %d queries, expected 1 to %d", event->queries, DP_EVENT_MOST_QUERIES);
    for (int i = 0; rc == DP_OK && i < event->queries; i++) {
        if (event->query[i].kind == DP_QUERY_NONE)
            rc = dp_fail(err, DP_E_RUN, "an event has a query without noise");
        else if (dp_query_is_statement(event->query[i].kind) && (event->sampling != DP_SAMPLING_NONE || event->queries > 1))
            rc = dp_fail(err, DP_E_RUN, "a release of another tool (%s) is not sampled, and is the only query of its event",
                         dp_query_kinds[event->query[i].kind].name);
        else if (repeated && event->query[i].kind != DP_QUERY_GAUSSIAN)
            rc = dp_fail(err, DP_E_RUN, "only Gaussian noise has an accountant where a lap draws many batches, not %s",
                         dp_query_kinds[event->query[i].kind].name);
        else
            rc = dp_query_check(&event->query[i], err);
        if (rc == DP_OK && event->query[i].kind == DP_QUERY_CORRELATED &&
            (!dp_event_in_epochs(event) || event->query[i].correlated > dp_event_epoch(event)))
            rc = dp_fail(err, DP_E_RUN, "noise is correlated over %lld laps, and a person may be in two of them",
                         (long long)event->query[i].correlated);
    }
    return rc;
}

int dp_event_copy(struct dp_event *to, const struct dp_event *from, struct dp_err *err)
{
    *to = *from;
    to->tuning = NULL;
    return from->tuning != NULL ? tuning_copy(&to->tuning, from->tuning, err) : DP_OK;
}

void dp_event_free(struct dp_event *event)
{
    tuning_free(event->tuning);
    event->tuning = NULL;
}

bool dp_event_same(const struct dp_event *a, const struct dp_event *b)
{
    if (memcmp(a, b, sizeof *a) == 0) /* nearly always: the event of a lap is a copy of an event of the plan */
        return true;
    if (a->sampling != b->sampling || a->rate != b->rate || a->epoch_laps != b->epoch_laps || a->draws != b->draws ||
        a->contraction != b->contraction || a->queries != b->queries)
        return false;
    bool same = tuning_same(a->tuning, b->tuning);
    for (int i = 0; same && i < a->queries; i++)
        same = dp_query_same(&a->query[i], &b->query[i]);
    return same;
}

bool dp_event_exchanges(const struct dp_event *event)
{
    return event->sampling == DP_SAMPLING_SUBSTITUTED || event->sampling == DP_SAMPLING_COINS;
}

double dp_event_without_delta(struct dp_event *event)
{
    double delta = 0;
    for (int j = 0; j < event->queries; j++) {
        struct dp_query *query = &event->query[j];
        if (query->kind == DP_QUERY_GAUSSIAN_THRESHOLD) {
            delta += query->named_delta * (1 + 1e-12);
            *query = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = query->multiplier};
        } else if (query->kind == DP_QUERY_STATED) {
            delta += query->delta;
            *query = (struct dp_query){.kind = DP_QUERY_PURE, .epsilon = query->epsilon};
        }
    }
    return delta;
}

bool dp_event_in_epochs(const struct dp_event *event)
{
    return event->sampling == DP_SAMPLING_SHUFFLED || event->sampling == DP_SAMPLING_STREAM;
}

bool dp_event_repeats_free(const struct dp_event *event)
{
    return event->sampling == DP_SAMPLING_STREAM;
}

int64_t dp_event_epoch(const struct dp_event *event)
{
    if (event->sampling == DP_SAMPLING_STREAM)
        return DP_EVENT_MOST_LAPS;
    return event->sampling == DP_SAMPLING_SHUFFLED ? event->epoch_laps : 1;
}

const char *dp_event_epoch_name(const struct dp_event *event)
{
    return event->sampling == DP_SAMPLING_STREAM ? "a stream" : "a shuffled epoch";
}

int64_t dp_event_times(const struct dp_event *event, int64_t laps)
{
    return laps <= 0 ? laps : (laps - 1) / dp_event_epoch(event) + 1;
}

bool dp_event_may_follow(const struct dp_event *event, const struct dp_event *before, int64_t laps)
{
    return dp_event_same(event, before) || laps % dp_event_epoch(before) == 0;
}

/* together: adds to the charge of the same event, if there is one. */
static int add(struct dp_charges *charges, const struct dp_event *event, int64_t laps, bool together, struct dp_err *err)
{
    if (laps < 0)
        return dp_fail(err, DP_E_RUN, "cannot account for %lld laps", (long long)laps);
    for (size_t i = 0; i < charges->count && together; i++) {
        if (dp_event_same(&charges->charge[i].event, event)) {
            if (laps > DP_EVENT_MOST_LAPS - charges->charge[i].laps)
                return dp_fail(err, DP_E_RUN, "too many laps to account for");
            charges->charge[i].laps += laps;
            return DP_OK;
        }
    }
    dp_extend(&charges->charge, &charges->capacity, charges->count + 1, sizeof *charges->charge);
    int rc = DP_OK;
    struct dp_charge *charge = &charges->charge[charges->count];
    *charge = (struct dp_charge){.laps = laps};
    rc = dp_event_copy(&charge->event, event, err);
    charges->count += rc == DP_OK;
    return rc;
}

int dp_charges_add(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    return add(charges, event, laps, !dp_event_in_epochs(event), err);
}

int dp_charges_add_run(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    int64_t whole;
    if (__builtin_mul_overflow(dp_event_times(event, laps), dp_event_epoch(event), &whole) || whole > DP_EVENT_MOST_LAPS)
        return dp_fail(err, DP_E_RUN, "too many laps to account for");
    return add(charges, event, whole, true, err);
}

int dp_charges_continue(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    return add(charges, event, laps, true, err);
}

int dp_charges_add_all(struct dp_charges *charges, dp_charges_adder *add_one, const struct dp_charges *more, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < more->count; i++)
        rc = add_one(charges, &more->charge[i].event, more->charge[i].laps, err);
    return rc;
}

int dp_charges_without_delta(const struct dp_charges *charges, struct dp_charges *plain, double *delta, struct dp_err *err)
{
    int64_t terms = 0;
    int rc = DP_OK;
    *delta = 0;
    for (size_t i = 0; rc == DP_OK && i < charges->count; i++) {
        struct dp_event event = charges->charge[i].event;
        double one = dp_event_without_delta(&event);
        int64_t times = dp_event_times(&charges->charge[i].event, charges->charge[i].laps);
        *delta += (double)times * one;
        terms += one > 0 ? times : 0;
        rc = dp_charges_add(plain, &event, charges->charge[i].laps, err);
    }
    if (terms > 1)
        *delta *= 1 + 1e-15 * (double)(charges->count + 2);
    return rc;
}

int dp_charges_at_least(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    for (size_t i = 0; i < charges->count; i++) {
        struct dp_charge *charge = &charges->charge[i];
        if (dp_event_same(&charge->event, event)) {
            charge->laps = laps > charge->laps ? laps : charge->laps;
            return DP_OK;
        }
    }
    return add(charges, event, laps, false, err);
}

int64_t dp_charges_laps(const struct dp_charges *charges, const struct dp_event *event)
{
    int64_t laps = 0;
    for (size_t i = 0; i < charges->count; i++)
        if (dp_event_same(&charges->charge[i].event, event))
            laps += charges->charge[i].laps;
    return laps;
}

int64_t dp_charges_all(const struct dp_charges *charges)
{
    int64_t laps = 0;
    for (size_t i = 0; i < charges->count; i++)
        laps += charges->charge[i].laps;
    return laps;
}

bool dp_charges_same(const struct dp_charges *a, const struct dp_charges *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->charge[i].laps == b->charge[i].laps && dp_event_same(&a->charge[i].event, &b->charge[i].event);
    return same;
}

void dp_charges_clear(struct dp_charges *charges)
{
    for (size_t i = 0; i < charges->count; i++)
        dp_event_free(&charges->charge[i].event);
    charges->count = 0;
}

void dp_charges_free(struct dp_charges *charges)
{
    dp_charges_clear(charges);
    free(charges->charge);
    *charges = (struct dp_charges){0};
}
