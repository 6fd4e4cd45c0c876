#include "gate/charge.h"

#include "account/kinds.h"
#include "math/grid.h"
#include "math/moments.h"
#include "priv/bands.h"
#include "priv/objective.h"

/* False if a product has overflowed. */
static bool near(double a, double b)
{
    return isfinite(b) && fabs(a - b) <= 1e-12 * fabs(b);
}

static int check_sampling(const struct dp_record *m, struct dp_err *err)
{
    if (m->sampler == DP_SAMPLER_NONE || !(m->rate > 0 && m->rate <= 1) || m->rows <= 0)
        return dp_fail(err, DP_E_UNSAFE, "a record does not say how rows were sampled");
    if ((m->sampler == DP_SAMPLER_FULL || m->sampler == DP_SAMPLER_STREAM) && m->rate != 1)
        return dp_fail(err, DP_E_UNSAFE, "a record has every row sampled at a rate of %g", m->rate);
    if (m->sampler == DP_SAMPLER_SHUFFLE) {
        bool any = m->rate * (double)m->rows >= 0.5;
        if (!any || m->epoch_laps != dp_record_epoch_laps(m->rows, m->rate))
            return dp_fail(err, DP_E_UNSAFE, "a record of shuffled epochs does not say how long an epoch is");
    }
    if (m->sampler == DP_SAMPLER_CYCLIC &&
        !(m->epoch_laps >= 1 && m->epoch_laps <= m->rows && near(m->rate * (double)m->epoch_laps, 1)))
        return dp_fail(err, DP_E_UNSAFE, "a record of a cycle does not say how long it is");
    bool contracts = m->contraction > 0 && m->contraction <= 1;
    if (m->sampler == DP_SAMPLER_REPEATED && !(m->draws >= 1 && m->draws <= DP_EVENT_MOST_LAPS && contracts))
        return dp_fail(err, DP_E_UNSAFE, "a record of draws does not say how many there are and how they contract");
    return DP_OK;
}

/* The accountant only covers a minimiser over all rows; replacing a row needs more vertices (priv/objective.h). */
static int check_objective(const struct dp_record *m, struct dp_err *err)
{
    if (m->of != DP_F_SUM)
        return dp_fail(err, DP_E_UNSAFE, "a record of '%s' has objective perturbation, which minimises", dp_fields[m->of].key);
    if (m->sampler != DP_SAMPLER_FULL)
        return dp_fail(err, DP_E_UNSAFE, "a record has objective perturbation on a sample of the rows");
    if (m->release != DP_RELEASE_SUM)
        return dp_fail(err, DP_E_UNSAFE, "a record has objective perturbation and a state of each row");
    if (m->query.vertices < dp_objective_vertices(false, m->adjacency == DP_ADJACENCY_REPLACE_ONE))
        return dp_fail(err, DP_E_UNSAFE, "a record has objective perturbation of %lld vertices under %s adjacency",
                       (long long)m->query.vertices, dp_adjacency_names[m->adjacency]);
    return DP_OK;
}

static int check_noise(const struct dp_record *m, struct dp_err *err)
{
    const struct dp_query *query = &m->query;
    struct dp_err unused;
    bool scaled = dp_query_has(query->kind, DP_QUERY_multiplier);
    if (query->kind == DP_QUERY_NONE || dp_query_check(query, &unused) != DP_OK || (scaled && !(m->scale > 0)))
        return dp_fail(err, DP_E_UNSAFE, "a record has no noise");
    if (query->kind == DP_QUERY_LAPLACE)
        return dp_fail(err, DP_E_UNSAFE, "a record has noise on the reals, and sums are whole numbers");
    if (dp_query_is_statement(query->kind))
        return dp_fail(err, DP_E_UNSAFE, "a record has %s noise, which is what another tool states: a ledger has it, no frame",
                       dp_query_kinds[query->kind].name);
    /* The record has one L2 sensitivity for sum and state together. Only for Gaussian noise does it cover both. */
    if (m->release == DP_RELEASE_SUM_AND_STATE && !dp_kind_is_gaussian(query))
        return dp_fail(err, DP_E_UNSAFE, "a released state has an accountant only with Gaussian noise, not with %s",
                       dp_query_kinds[query->kind].name);
    if (m->sampler == DP_SAMPLER_REPEATED && !dp_kind_is_gaussian(query))
        return dp_fail(err, DP_E_UNSAFE, "draws within a lap have an accountant only with Gaussian noise, not with %s",
                       dp_query_kinds[query->kind].name);
    if (scaled && !near(m->scale, query->multiplier * m->sensitivity))
        return dp_fail(err, DP_E_UNSAFE, "a record has noise of scale %g, its multiplier implies %g", m->scale,
                       query->multiplier * m->sensitivity);
    if (query->kind == DP_QUERY_GAUSSIAN_THRESHOLD &&
        (m->sampler != DP_SAMPLER_FULL || m->adjacency != DP_ADJACENCY_NULL_RECORD || m->release != DP_RELEASE_SUM))
        return dp_fail(err, DP_E_UNSAFE,
                       "a record has a threshold, whose accountant is for all rows under null-record adjacency");
    return query->kind == DP_QUERY_OBJECTIVE ? check_objective(m, err) : DP_OK;
}

/* The charge is for the noise of all shares except the shares that others may know. A lost share counts as one of these. */
static int check_shares(const struct dp_record *m, struct dp_err *err)
{
    if (m->shares == 0)
        return DP_OK;
    bool sane = m->shares >= 1 && m->colluding >= 0 && m->colluding < m->shares && m->gathered <= m->shares;
    if (!sane || m->gathered < m->shares - m->colluding)
        return dp_fail(err, DP_E_UNSAFE, "a record has %lld of %lld shares of noise, and %lld of them may be known to others",
                       (long long)m->gathered, (long long)m->shares, (long long)m->colluding);
    if (m->query.kind != DP_QUERY_GAUSSIAN)
        return dp_fail(err, DP_E_UNSAFE, "a record has %s noise in shares, and only Gaussian noise adds up",
                       dp_query_kinds[m->query.kind].name);
    return DP_OK;
}

/* The sites have already charged their own accounts for the promised noise. */
static int check_promise(const struct dp_record *m, struct dp_err *err)
{
    if (m->promised == 0)
        return DP_OK;
    if (m->query.kind != DP_QUERY_GAUSSIAN)
        return dp_fail(err, DP_E_UNSAFE, "a record has %s noise, but Gaussian noise was promised",
                       dp_query_kinds[m->query.kind].name);
    if (m->promised < 0)
        return dp_fail(err, DP_E_UNSAFE, "a record has a promise of %g", m->promised);
    if (!(m->query.multiplier >= m->promised))
        return dp_fail(err, DP_E_UNSAFE, "a record has a noise multiplier of %g, but %g was promised", m->query.multiplier,
                       m->promised);
    return DP_OK;
}

/* The accountant covers a person in one lap, or in laps so far apart that their noise has nothing in common. */
static int check_correlated(const struct dp_record *m, struct dp_err *err)
{
    const long long bands = (long long)m->query.correlated;
    if (bands < 1 || bands > DP_BANDS_MOST)
        return dp_fail(err, DP_E_UNSAFE, "a record has noise that is correlated over %lld laps", bands);
    if (m->release != DP_RELEASE_SUM)
        return dp_fail(err, DP_E_UNSAFE, "a secret or released state with correlated noise has no accountant");
    if (m->sampler != DP_SAMPLER_STREAM && m->sampler != DP_SAMPLER_CYCLIC)
        return dp_fail(
            err, DP_E_UNSAFE,
            "correlated noise has no accountant with a %s sampler: a row must be in one lap (dp-window), or in every "
            "bth (dp-sample --mode cyclic)",
            dp_sampler_names[m->sampler]);
    if (m->sampler == DP_SAMPLER_CYCLIC && bands > m->epoch_laps)
        return dp_fail(err, DP_E_UNSAFE, "noise is correlated over %lld laps, and a row comes again after %lld", bands,
                       (long long)m->epoch_laps);
    return DP_OK;
}

static int check_record(const struct dp_record *m, struct dp_err *err)
{
    int rc = check_sampling(m, err);
    if (rc != DP_OK)
        return rc;
    if (m->adjacency == DP_ADJACENCY_NONE || m->release == DP_RELEASE_NONE)
        return dp_fail(err, DP_E_UNSAFE, "a record does not say what one person can change");
    if (!(m->bound > 0 && isfinite(m->bound)) || !(m->sensitivity > 0 && isfinite(m->sensitivity)))
        return dp_fail(err, DP_E_UNSAFE, "a record has noise without a bound on the sum");
    bool correlated = m->query.kind == DP_QUERY_CORRELATED;
    rc = correlated ? check_correlated(m, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    double least = dp_record_implied(m) * (correlated ? dp_bands_norm(m->query.correlated) : 1);
    if (m->sensitivity < least && !near(m->sensitivity, least))
        return dp_fail(err, DP_E_UNSAFE, "a record states a sensitivity of %g, its bound implies %g", m->sensitivity, least);
    rc = check_noise(m, err);
    rc = rc ?: check_shares(m, err);
    return rc ?: check_promise(m, err);
}

/* All records of a lap are of one batch. */
static bool same_batch(const struct dp_record *a, const struct dp_record *b)
{
    return dp_record_differs(a, b, dp_record_alike(DP_ALIKE_RUN) | dp_record_alike(DP_ALIKE_LAP)) == DP_RECORD_MEMBER_COUNT;
}

/* The record is of a paid field, and that field has no other record. */
static int check_owner(const struct dp_record *records, int i, int64_t lap, struct dp_err *err)
{
    enum dp_field of = records[i].of;
    if (of == DP_F_NONE)
        return dp_fail(err, DP_E_UNSAFE, "a record of lap %lld is of no field", (long long)lap);
    if (records[i].on[0] != '\0')
        return dp_fail(err, DP_E_UNSAFE, "a record of lap %lld says for which laps it is", (long long)lap);
    if (dp_record_members(&records[i]) & dp_record_changes(DP_CHANGE_HELLO))
        return dp_fail(err, DP_E_UNSAFE, "a record of lap %lld has what only records of a hello frame have", (long long)lap);
    if (dp_paid[of].noised == DP_NOISED_NOT)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has a record of '%s', which nobody pays for", (long long)lap,
                       dp_fields[of].key);
    for (int k = 0; k < i; k++)
        if (records[k].of == of)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has two records of '%s'", (long long)lap, dp_fields[of].key);
    return DP_OK;
}

int dp_charge_check_records(const struct dp_record *records, int count, int64_t lap, struct dp_err *err)
{
    int rc = DP_OK;
    if (count < 1)
        return dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld has no record", (long long)lap);
    if (count > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld has %d records, at most %d can be charged", (long long)lap,
                       count, DP_EVENT_MOST_QUERIES);
    for (int i = 0; rc == DP_OK && i < count; i++) {
        rc = check_owner(records, i, lap, err);
        rc = rc ?: check_record(&records[i], err);
        if (rc == DP_OK && !same_batch(&records[i], records))
            rc = dp_fail(err, DP_E_UNSAFE, "the records of lap %lld disagree on how rows were sampled", (long long)lap);
    }
    return rc;
}

/* A choice is one of the steps or one of the candidates (a row each); a frame does not have both. */
static int read_choices(const struct dp_frame *frame, const char **what, uint64_t *count, struct dp_err *err)
{
    bool candidates = dp_frame_has(frame, DP_F_CANDIDATES);
    const struct dp_array *of;
    if (candidates && dp_frame_has(frame, DP_F_STEPS))
        return dp_fail(err, DP_E_UNSAFE, "the choice of lap %lld may be one of its steps and one of its candidates",
                       (long long)frame->lap);
    int rc = candidates ? dp_frame_need_array(frame, DP_F_CANDIDATES, DP_F64, 2, &of, err)
                        : dp_frame_need_array(frame, DP_F_STEPS, DP_F64, 1, &of, err);
    *what = candidates ? "candidates" : "steps";
    *count = rc == DP_OK ? of->dims[0] : 0;
    return rc;
}

/* A choice is made with noise; no noise is added to it. */
static int check_choice(const struct dp_frame *frame, const struct dp_array *choice, struct dp_err *err)
{
    const struct dp_query *query = &dp_frame_record(frame, DP_F_CHOICE)->query;
    const char *what = NULL;
    uint64_t count = 0;
    long long lap = (long long)frame->lap;
    int rc = read_choices(frame, &what, &count, err);
    if (rc != DP_OK)
        return rc;
    if (dp_query_has(query->kind, DP_QUERY_multiplier))
        return dp_fail(err, DP_E_UNSAFE, "the choice of lap %lld has a record of %s, which is noise on numbers", lap,
                       dp_query_kinds[query->kind].name);
    if (dp_query_has(query->kind, DP_QUERY_most) && count != (uint64_t)query->most + 1)
        return dp_fail(err, DP_E_UNSAFE, "the search of lap %lld has %llu %s, and its record is of %lld queries", lap,
                       (unsigned long long)count, what, (long long)query->most);
    if (choice->count != 1 || *(int64_t *)choice->data < 0 || *(uint64_t *)choice->data >= count)
        return dp_fail(err, DP_E_UNSAFE, "the choice of lap %lld is not one of its %s", lap, what);
    return DP_OK;
}

/* Checks a paid array against its record. A count has its bound and its grid in the table, other fields have them in the
 * frame. */
static int check_paid(const struct dp_frame *frame, const struct dp_record *record, struct dp_err *err)
{
    enum dp_field field = record->of;
    const struct dp_paid *paid = &dp_paid[field];
    const char *noise = dp_query_kinds[record->query.kind].name, *what = dp_fields[field].key;
    bool count = paid->noised == DP_NOISED_COUNT;
    long long lap = (long long)frame->lap;
    const struct dp_array *array;
    int rc = dp_frame_need_array(frame, field, DP_I64, 2, &array, err);
    if (rc != DP_OK || paid->noised == DP_NOISED_BY_CHOICE)
        return rc != DP_OK ? rc : check_choice(frame, array, err);
    double bound = dp_paid_bound(frame, field), grid = dp_frame_real(frame, DP_F_GRID, 0);
    /* Without a multiplier nothing shows how much noise an array has. */
    if (!dp_query_has(record->query.kind, DP_QUERY_multiplier))
        return dp_fail(err, DP_E_UNSAFE, "the %s of lap %lld has a record of %s, which is not noise on numbers", what, lap,
                       noise);
    if (bound != record->bound)
        return dp_fail(err, DP_E_UNSAFE, "the clip bounds of lap %lld disagree: %g on the %s, %g in its record", lap, bound,
                       count ? "count" : what, record->bound);
    if (count && array->count != 1)
        return dp_fail(err, DP_E_UNSAFE, "the count of lap %lld is not one number", lap);
    if (!(paid->grid > 0) && grid != dp_grid_for(bound) && grid != dp_moments_grid(bound))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has another grid than its bound implies", lap);
    if (dp_kinds[record->query.kind].one_number && array->count != 1)
        return dp_fail(err, DP_E_UNSAFE, "the %s noise of lap %lld is on %zu numbers, and its accountant is for one", noise,
                       lap, (size_t)array->count);
    return DP_OK;
}

int dp_charge_check_fields(const struct dp_frame *frame, struct dp_err *err)
{
    long long lap = (long long)frame->lap;
    int rc = DP_OK;
    for (int i = 0; i < DP_F_COUNT; i++) {
        bool present = dp_frame_has(frame, (enum dp_field)i);
        bool recorded = dp_frame_record(frame, (enum dp_field)i) != NULL;
        if (recorded && !present)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has a record of '%s', and no '%s'", lap, dp_fields[i].key,
                           dp_fields[i].key);
        if (present && !recorded && dp_paid[i].noised != DP_NOISED_NOT)
            return dp_fail(err, DP_E_UNSAFE, "the %s of lap %lld has no record", dp_fields[i].key, lap);
    }
    for (int i = 0; rc == DP_OK && i < frame->records; i++)
        rc = check_paid(frame, &frame->record[i], err);
    return rc;
}

const struct dp_record *dp_charge_batch(const struct dp_frame *frame)
{
    return frame->record;
}

int dp_charge_sampling(const struct dp_record *m, enum dp_sampling *sampling, struct dp_err *err)
{
    bool replace = m->adjacency == DP_ADJACENCY_REPLACE_ONE, visible = m->release == DP_RELEASE_SUM_AND_STATE;
    switch (m->sampler) {
    case DP_SAMPLER_FULL:
        *sampling = DP_SAMPLING_NONE;
        return DP_OK;
    case DP_SAMPLER_SHUFFLE:
    case DP_SAMPLER_CYCLIC:
        *sampling = DP_SAMPLING_SHUFFLED;
        return DP_OK;
    case DP_SAMPLER_FIXED:
        if (!replace)
            return dp_fail(err, DP_E_UNSAFE,
                           "a Poisson accountant does not cover a fixed sampler: a batch of fixed size "
                           "needs replace-one adjacency");
        /* The membership of all others determines a person's membership, so the person's past updates are not a mixture. */
        if (m->release != DP_RELEASE_SUM)
            return dp_fail(err, DP_E_UNSAFE, "a secret or released state with a fixed sampler has no accountant");
        *sampling = DP_SAMPLING_SUBSTITUTED;
        return DP_OK;
    case DP_SAMPLER_POISSON:
        if (visible && replace)
            return dp_fail(err, DP_E_UNSAFE, "a visible batch under replace-one adjacency has no accountant");
        *sampling = visible ? DP_SAMPLING_VISIBLE : replace ? DP_SAMPLING_COINS : DP_SAMPLING_POISSON;
        return DP_OK;
    case DP_SAMPLER_STREAM:
        /* The state of a row outlives its lap, and would affect the next row in the same place. */
        if (m->release != DP_RELEASE_SUM)
            return dp_fail(err, DP_E_UNSAFE, "a secret or released state of rows that are in only one lap has no accountant");
        *sampling = DP_SAMPLING_STREAM;
        return DP_OK;
    case DP_SAMPLER_REPEATED:
        if (m->release != DP_RELEASE_SUM)
            return dp_fail(err, DP_E_UNSAFE, "a secret or released state with a repeated sampler has no accountant");
        *sampling = DP_SAMPLING_REPEATED;
        return DP_OK;
    default:
        return dp_fail(err, DP_E_UNSAFE, "no accountant covers a %s sampler", dp_sampler_names[m->sampler]);
    }
}

int dp_charge_event(const struct dp_record *records, int count, struct dp_event *event, struct dp_err *err)
{
    *event = (struct dp_event){.rate = records->rate, .queries = count};
    int rc = dp_charge_sampling(records, &event->sampling, err);
    event->epoch_laps = event->sampling == DP_SAMPLING_SHUFFLED ? records->epoch_laps : 0;
    if (event->sampling == DP_SAMPLING_REPEATED) {
        event->draws = records->draws;
        event->contraction = records->contraction;
    }
    /* In the order of the fields, because the order of records has no meaning. */
    for (int field = 0, n = 0; field < DP_F_COUNT; field++)
        for (int i = 0; i < count; i++)
            if (records[i].of == (enum dp_field)field)
                event->query[n++] = records[i].query;
    return rc;
}
