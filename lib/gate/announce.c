#include "gate/announce.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/charge.h"

void dp_announcement_free(struct dp_announcement *a)
{
    dp_laps_free(&a->laps);
    dp_frame_free(a->hello);
    *a = (struct dp_announcement){0};
}

/* Costs under different adjacencies do not add up. A record without a bound has no adjacency yet. */
static int check_adjacency(const struct dp_announcement *a, struct dp_err *err)
{
    const struct dp_record *first = NULL;
    for (int i = 0; i < a->hello->records; i++) {
        const struct dp_record *record = &a->hello->record[i];
        if (!(record->sensitivity > 0))
            continue;
        first = first != NULL ? first : record;
        if (record->adjacency != first->adjacency)
            return dp_fail(err, DP_E_UNSAFE, "laps of kind '%s' and of kind '%s' have different adjacencies", record->on,
                           first->on);
    }
    return DP_OK;
}

/* dp-loop checks the user's plan, so a stage has written an invalid one. */
static int read_plan(struct dp_laps *laps, const char *text, struct dp_err *err)
{
    struct dp_err why = {0};
    int rc = dp_laps_parse(laps, text, &why);
    if (rc == DP_E_USAGE)
        return dp_fail(err, DP_E_UNSAFE, "the hello frame has no plan of laps: %s", why.message);
    return rc == DP_OK ? rc : dp_fail(err, rc, "%s", why.message);
}

int dp_announcement_read(struct dp_announcement *a, const struct dp_frame *hello, struct dp_err *err)
{
    const char *text = dp_frame_text(hello, DP_F_KINDS, NULL);
    int64_t count = dp_frame_int(hello, DP_F_LAPS, 0);
    int rc = dp_frame_new(&a->hello, err);
    if (rc == DP_OK)
        rc = dp_frame_copy(a->hello, hello, err);
    a->named = text != NULL;
    if (rc == DP_OK && text == NULL)
        return count > 0 ? dp_laps_plain(&a->laps, count, err) : DP_OK;
    if (rc == DP_OK)
        rc = read_plan(&a->laps, text, err);
    if (rc == DP_OK && a->laps.laps != count)
        rc = dp_fail(err, DP_E_UNSAFE, "the hello frame has a plan of %lld laps for a run of %lld", (long long)a->laps.laps,
                     (long long)count);
    return rc == DP_OK ? check_adjacency(a, err) : rc;
}

/* The announced records of a kind of laps. All shares of the noise are announced; each lap says which of them came. */
static int records_of(const struct dp_announcement *a, const char *kind, struct dp_record records[DP_MAX_RECORDS])
{
    int count = 0;
    for (int i = 0; i < a->hello->records; i++) {
        if (strcmp(a->hello->record[i].on, kind) != 0)
            continue;
        records[count] = a->hello->record[i];
        records[count].gathered = records[count].shares;
        records[count].means = DP_MEANS_NONE;
        records[count].follows = 0;
        records[count++].on[0] = '\0';
    }
    return count;
}

/* Whether the records determine the cost of a lap; bounds may be missing. */
static bool complete(const struct dp_record *records, int count)
{
    bool all = count > 0;
    for (int i = 0; all && i < count; i++)
        all = records[i].of != DP_F_NONE && records[i].query.kind != DP_QUERY_NONE && records[i].sensitivity > 0;
    return all;
}

/* The event of a kind of laps. */
static int event_of(const struct dp_announcement *a, int kind, const struct dp_frame *first, struct dp_event *event,
                    struct dp_err *err)
{
    struct dp_record records[DP_MAX_RECORDS];
    const char *name = a->named ? a->laps.name[kind] : "";
    int count = records_of(a, name, records);
    if (!complete(records, count) && a->named)
        return dp_fail(err, DP_E_UNSAFE, "no stage has announced what laps of kind '%s' do to private rows", name);
    if (!complete(records, count))
        return dp_charge_event(first->record, first->records, event, err);
    struct dp_err why = {0};
    int rc = dp_charge_check_records(records, count, 0, &why);
    if (rc == DP_OK)
        rc = dp_charge_event(records, count, event, &why);
    if (rc == DP_OK)
        return rc;
    return a->named ? dp_fail(err, rc, "laps of kind '%s': %s", name, why.message)
                    : dp_fail(err, rc, "what was announced: %s", why.message);
}

/* The multipliers of all laps, or NULL. A stream of format 1 has them in its first lap. */
static const struct dp_array *multipliers(const struct dp_announcement *a, const struct dp_frame *first)
{
    bool old = dp_frame_int(a->hello, DP_F_FORMAT, 0) == 1;
    return dp_frame_array(old ? first : a->hello, DP_F_PLAN);
}

/* The least multiplier that was promised for the sum of a kind of laps; 0: no promise. */
static double promised_of(const struct dp_announcement *a, int kind)
{
    const char *name = a->named ? a->laps.name[kind] : "";
    double promised = 0;
    for (int i = 0; i < a->hello->records; i++)
        if (a->hello->record[i].of == DP_F_SUM && strcmp(a->hello->record[i].on, name) == 0)
            promised = a->hello->record[i].promised;
    return promised;
}

/* The multipliers of the laps of a kind, rounded; NULL without a schedule. */
static int schedule_of(const struct dp_announcement *a, int kind, const struct dp_frame *first, const struct dp_event *event,
                       double **rounded, struct dp_err *err)
{
    const struct dp_array *all = multipliers(a, first);
    int64_t turn = 0, with = 0;
    double promised = promised_of(a, kind);
    *rounded = NULL;
    if (all == NULL)
        return DP_OK;
    if (all->dtype != DP_F64 || all->ndim != 1 || all->count != (uint64_t)a->laps.laps)
        return dp_fail(err, DP_E_UNSAFE, "the plan of the noise does not have a multiplier for each lap");
    int rc = dp_alloc(rounded, (size_t)a->laps.turns[kind], sizeof **rounded, err);
    for (int64_t t = 1; rc == DP_OK && t <= a->laps.laps; t++) {
        if (dp_laps_kind(&a->laps, t) != kind)
            continue;
        double z = ((const double *)all->data)[t - 1];
        (*rounded)[turn++] = z;
        with += z != 0;
        if (z != 0 && z < promised)
            rc = dp_fail(err, DP_E_UNSAFE, "lap %lld is planned to have a noise multiplier of %g, promised was %g",
                         (long long)t, z, promised);
    }
    if (rc == DP_OK && with > 0)
        return dp_plan_round(event, *rounded, turn, err);
    free(*rounded);
    *rounded = NULL;
    return rc;
}

/* The plan of a run with an unknown number of laps. */
static int open_plan(const struct dp_frame *first, struct dp_plan *plan, struct dp_err *err)
{
    struct dp_event event;
    int64_t laps = dp_frame_int(first, DP_F_LAPS, 0);
    int rc = dp_charge_event(first->record, first->records, &event, err);
    return rc == DP_OK ? dp_plan_add(plan, &event, laps > 0 ? laps : DP_PLAN_OPEN, err) : rc;
}

int dp_announcement_plan(const struct dp_announcement *a, const struct dp_frame *first, struct dp_plan *plan,
                         struct dp_err *err)
{
    struct dp_event event[DP_LAPS_MOST_KINDS];
    double *rounded[DP_LAPS_MOST_KINDS] = {NULL};
    int64_t turn[DP_LAPS_MOST_KINDS] = {0}, begin = 0;
    int rc = DP_OK;
    if (a->laps.laps == 0)
        return open_plan(first, plan, err);
    if (dp_frame_int(first, DP_F_LAPS, a->laps.laps) != a->laps.laps)
        return dp_fail(err, DP_E_UNSAFE, "the run has %lld laps, announced were %lld",
                       (long long)dp_frame_int(first, DP_F_LAPS, 0), (long long)a->laps.laps);
    for (int k = 0; rc == DP_OK && k < a->laps.kinds; k++) {
        rc = event_of(a, k, first, &event[k], err);
        if (rc == DP_OK)
            rc = schedule_of(a, k, first, &event[k], &rounded[k], err);
    }
    for (size_t i = 0; rc == DP_OK && i < a->laps.pieces; i++) {
        int k = a->laps.piece[i].kind;
        int64_t count = a->laps.piece[i].end - begin;
        rc = rounded[k] == NULL ? dp_plan_add(plan, &event[k], count, err)
                                : dp_plan_add_rounded(plan, &event[k], rounded[k] + turn[k], count, err);
        turn[k] += count;
        begin += count;
        /* Also if the other kind has the same event: each may have shuffled independently. */
        bool within = turn[k] % dp_event_epoch(&event[k]) != 0;
        if (rc == DP_OK && within && i + 1 < a->laps.pieces)
            rc = dp_fail(err, DP_E_UNSAFE, "lap %lld has another mechanism in the middle of %s", (long long)begin + 1,
                         dp_event_epoch_name(&event[k]));
    }
    for (int k = 0; k < DP_LAPS_MOST_KINDS; k++)
        free(rounded[k]);
    return rc;
}

int dp_announcement_whole(const struct dp_announcement *a, struct dp_plan *plan, struct dp_err *err)
{
    struct dp_record records[DP_MAX_RECORDS];
    if (a->laps.laps == 0)
        return dp_fail(err, DP_E_UNSAFE, "nobody has announced how many laps the run will have");
    for (int k = 0; k < a->laps.kinds; k++) {
        const char *name = a->named ? a->laps.name[k] : "";
        if (!complete(records, records_of(a, name, records)))
            return dp_fail(err, DP_E_UNSAFE, "no stage has announced what laps%s%s do to private rows",
                           a->named ? " of kind " : "", name);
    }
    return dp_announcement_plan(a, a->hello, plan, err);
}

/* The first lap of a kind in the plan. */
static int64_t first_lap(const struct dp_laps *laps, int kind)
{
    int64_t begin = 1;
    for (size_t i = 0; i < laps->pieces; begin = laps->piece[i++].end + 1)
        if (laps->piece[i].kind == kind)
            return begin;
    return 0;
}

int dp_announcement_once(const struct dp_announcement *a, const struct dp_frame *first, const struct dp_plan *plan,
                         struct dp_charges *charges, struct dp_err *err)
{
    const char *now = dp_frame_text(first, DP_F_LAP_KIND, "");
    int kinds = a->named ? a->laps.kinds : 1, rc = DP_OK;
    for (int k = 0; rc == DP_OK && k < kinds; k++) {
        struct dp_record records[DP_MAX_RECORDS];
        const char *name = a->named ? a->laps.name[k] : "";
        int64_t at = a->named ? first_lap(&a->laps, k) : 1;
        struct dp_event event;
        if (plan->laps > 0) {
            rc = at > 0 ? dp_charges_add(charges, dp_plan_event(plan, at), 1, err) : DP_OK;
            continue;
        }
        int count = records_of(a, name, records);
        if (strcmp(name, now) == 0)
            rc = dp_charge_event(first->record, first->records, &event, err);
        else if (complete(records, count))
            rc = dp_charge_event(records, count, &event, err);
        else
            continue;
        if (rc == DP_OK)
            rc = dp_charges_add(charges, &event, 1, err);
    }
    return rc;
}

int dp_announcement_check(const struct dp_announcement *a, const struct dp_frame *lap, const int64_t *turn, int *kind,
                          struct dp_err *err)
{
    long long number = (long long)lap->lap;
    const char *name = dp_frame_text(lap, DP_F_LAP_KIND, NULL);
    *kind = 0;
    if (!a->named && (name != NULL || dp_frame_has(lap, DP_F_TURN)))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of a kind, and no kinds were announced", number);
    if (!a->named)
        return DP_OK;
    *kind = name != NULL ? dp_laps_find(&a->laps, name) : -1;
    if (*kind < 0)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of no kind that was announced", number);
    if (lap->lap > a->laps.laps)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is beyond the %lld laps that were planned", number, (long long)a->laps.laps);
    if (dp_laps_kind(&a->laps, lap->lap) != *kind)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld is of kind '%s', the plan has '%s' there", number, name,
                       a->laps.name[dp_laps_kind(&a->laps, lap->lap)]);
    if (dp_frame_int(lap, DP_F_TURN, 0) != turn[*kind] + 1)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld says that it is number %lld of its kind, and it is number %lld", number,
                       (long long)dp_frame_int(lap, DP_F_TURN, 0), (long long)turn[*kind] + 1);
    return DP_OK;
}
