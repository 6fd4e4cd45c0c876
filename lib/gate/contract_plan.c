/* The plan of a contract: the event of each lap, made once for each kind. */

#include "base/mem.h"
#include "gate/charge.h"
#include "gate/contract.h"

static const char *name_of(const struct dp_contract *c, int kind)
{
    return c->named ? c->laps.name[kind] : "";
}

/* The event of a kind of laps. */
static int event_of(const struct dp_contract *c, int kind, const struct dp_frame *first, struct dp_event *event,
                    struct dp_err *err)
{
    struct dp_record records[DP_MAX_RECORDS];
    struct dp_err why = {0};
    int count = dp_contract_announced(c, name_of(c, kind), records);
    if (count == 0 && c->named)
        return dp_fail(err, DP_E_UNSAFE, "no stage has announced what laps of kind '%s' do to private rows", name_of(c, kind));
    if (count == 0)
        return dp_charge_event(first->record, first->records, event, err);
    int rc = dp_charge_check_records(records, count, 0, &why);
    rc = rc ?: dp_charge_event(records, count, event, &why);
    if (rc == DP_OK)
        return rc;
    return c->named ? dp_fail(err, rc, "laps of kind '%s': %s", name_of(c, kind), why.message)
                    : dp_fail(err, rc, "what was announced: %s", why.message);
}

/* The multipliers of all laps, or NULL. A stream of format 1 has them in its first lap. */
static const struct dp_array *multipliers(const struct dp_contract *c, const struct dp_frame *first)
{
    bool old = dp_frame_int(c->hello, DP_F_FORMAT, 0) == 1;
    return dp_frame_array(old ? first : c->hello, DP_F_MULTIPLIERS);
}

/* The least multiplier that was promised for the sum of a kind of laps; 0: no promise. */
static double promised_of(const struct dp_contract *c, int kind)
{
    const char *name = name_of(c, kind);
    double promised = 0;
    for (int i = 0; i < c->hello->records; i++)
        if (dp_paid[c->hello->record[i].of].noised == DP_NOISED_MAIN && strcmp(c->hello->record[i].on, name) == 0)
            promised = c->hello->record[i].promised;
    return promised;
}

/* The multipliers of the laps of a kind, rounded; NULL without a schedule. */
static int schedule_of(const struct dp_contract *c, int kind, const struct dp_frame *first, const struct dp_event *event,
                       double **rounded, struct dp_err *err)
{
    const struct dp_array *all = multipliers(c, first);
    int64_t turn = 0, with = 0;
    double promised = promised_of(c, kind);
    *rounded = NULL;
    if (all == NULL)
        return DP_OK;
    if (all->dtype != DP_F64 || all->ndim != 1 || all->count != (uint64_t)c->laps.laps)
        return dp_fail(err, DP_E_UNSAFE, "the plan of the noise does not have a multiplier for each lap");
    *rounded = dp_new((size_t)c->laps.turns[kind], sizeof **rounded);
    int rc = DP_OK;
    for (int64_t t = 1; rc == DP_OK && t <= c->laps.laps; t++) {
        if (dp_laps_kind(&c->laps, t) != kind)
            continue;
        double z = ((const double *)all->data)[t - 1];
        (*rounded)[turn++] = z;
        with += z != 0;
        if (z != 0 && z < promised)
            rc = dp_fail(err, DP_E_UNSAFE, "lap %lld is planned to have a noise multiplier of %g, but %g was promised",
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

int dp_contract_plan(struct dp_contract *c, const struct dp_frame *first, struct dp_err *err)
{
    struct dp_event event[DP_LAPS_MOST_KINDS];
    double *rounded[DP_LAPS_MOST_KINDS] = {NULL};
    int64_t turn[DP_LAPS_MOST_KINDS] = {0}, begin = 0;
    int rc = DP_OK;
    if (c->laps.laps == 0)
        return open_plan(first, &c->plan, err);
    if (dp_frame_int(first, DP_F_LAPS, c->laps.laps) != c->laps.laps)
        return dp_fail(err, DP_E_UNSAFE, "the run has %lld laps, but %lld were announced",
                       (long long)dp_frame_int(first, DP_F_LAPS, 0), (long long)c->laps.laps);
    for (int k = 0; rc == DP_OK && k < c->laps.kinds; k++) {
        rc = event_of(c, k, first, &event[k], err);
        rc = rc ?: schedule_of(c, k, first, &event[k], &rounded[k], err);
        c->scheduled |= rounded[k] != NULL;
    }
    for (size_t i = 0; rc == DP_OK && i < c->laps.pieces; i++) {
        int k = c->laps.piece[i].kind;
        int64_t count = c->laps.piece[i].end - begin;
        rc = rounded[k] == NULL ? dp_plan_add(&c->plan, &event[k], count, err)
                                : dp_plan_add_rounded(&c->plan, &event[k], rounded[k] + turn[k], count, err);
        turn[k] += count;
        begin += count;
        /* This also holds if the other kind has the same event: each kind may have shuffled independently. */
        bool within = turn[k] % dp_event_epoch(&event[k]) != 0;
        if (rc == DP_OK && within && i + 1 < c->laps.pieces)
            rc = dp_fail(err, DP_E_UNSAFE, "lap %lld has another mechanism in the middle of %s", (long long)begin + 1,
                         dp_event_epoch_name(&event[k]));
    }
    for (int k = 0; k < DP_LAPS_MOST_KINDS; k++)
        free(rounded[k]);
    return rc;
}

int dp_contract_whole(struct dp_contract *c, struct dp_err *err)
{
    struct dp_record records[DP_MAX_RECORDS];
    if (c->laps.laps == 0)
        return dp_fail(err, DP_E_UNSAFE, "nobody has announced how many laps the run will have");
    for (int k = 0; k < c->laps.kinds; k++)
        if (dp_contract_announced(c, name_of(c, k), records) == 0)
            return dp_fail(err, DP_E_UNSAFE, "no stage has announced what laps%s%s do to private rows",
                           c->named ? " of kind " : "", name_of(c, k));
    return dp_contract_plan(c, c->hello, err);
}

/* The first lap of a kind in the plan; 0: there is none. */
static int64_t first_lap(const struct dp_contract *c, int kind)
{
    int64_t begin = 1;
    for (size_t i = 0; i < c->laps.pieces; begin = c->laps.piece[i++].end + 1)
        if (c->laps.piece[i].kind == kind)
            return begin;
    return c->named ? 0 : 1;
}

int dp_contract_once(const struct dp_contract *c, const struct dp_frame *first, struct dp_charges *charges, struct dp_err *err)
{
    const char *now = dp_frame_text(first, DP_F_LAP_KIND, "");
    int kinds = c->named ? c->laps.kinds : 1, rc = DP_OK;
    for (int k = 0; rc == DP_OK && k < kinds; k++) {
        struct dp_record records[DP_MAX_RECORDS];
        const char *name = name_of(c, k);
        int64_t at = first_lap(c, k);
        struct dp_event event;
        if (c->plan.laps > 0) {
            rc = at > 0 ? dp_charges_add(charges, dp_plan_event(&c->plan, at), 1, err) : DP_OK;
            continue;
        }
        int count = dp_contract_announced(c, name, records);
        if (strcmp(name, now) == 0)
            rc = dp_charge_event(first->record, first->records, &event, err);
        else if (count > 0)
            rc = dp_charge_event(records, count, &event, err);
        else
            continue;
        rc = rc ?: dp_charges_add(charges, &event, 1, err);
    }
    return rc;
}
