#include "gate/hold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/codec.h"

/* The record of a field in the first lap of a kind, or NULL. DP_F_NONE: any record of that lap. */
static const struct dp_record *first_of(const struct dp_hold *hold, const char *kind, enum dp_field of)
{
    for (int i = 0; i < hold->first->records; i++)
        if (strcmp(hold->first->record[i].on, kind) == 0 && (of == DP_F_NONE || hold->first->record[i].of == of))
            return &hold->first->record[i];
    return NULL;
}

/* The first member that must be as in the first lap of the kind and differs, or DP_RECORD_MEMBER_COUNT. spend.c compares the
   first lap and all multipliers with the announcement. follows: the bound follows released values. */
static int difference(const struct dp_record *a, const struct dp_record *b, bool adaptive, bool follows)
{
    unsigned set = dp_record_changes(DP_CHANGE_NEVER);
    double sensitivity = b->bound * (a->sensitivity / a->bound);
    set |= adaptive ? 0 : dp_record_changes(DP_CHANGE_PLANNED);
    set |= follows ? 0 : dp_record_changes(DP_CHANGE_FOLLOWS);
    int member = dp_record_differs(a, b, set);
    bool near = fabs(b->sensitivity - sensitivity) <= 1e-12 * sensitivity;
    return member == DP_RECORD_MEMBER_COUNT && !near ? (int)DP_RECORD_sensitivity : member;
}

/* Stores the first lap of a kind, whose records count for that kind. The data set is the same for the whole run. */
static int remember(struct dp_hold *hold, const char *kind, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_record *before = hold->first->records > 0 ? hold->first->record : NULL;
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < frame->records; i++) {
        struct dp_record record = frame->record[i];
        int member =
            before != NULL ? dp_record_differs(before, &record, dp_record_alike(DP_ALIKE_RUN)) : DP_RECORD_MEMBER_COUNT;
        if (member != DP_RECORD_MEMBER_COUNT)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld records another '%s' than the first lap", (long long)frame->lap,
                           dp_record_key(member));
        snprintf(record.on, sizeof record.on, "%s", kind);
        rc = dp_frame_add_record(hold->first, &record, err);
    }
    for (int i = 0; rc == DP_OK && i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_FIXED && !dp_frame_has(hold->first, (enum dp_field)i))
            rc = dp_frame_copy_field(hold->first, frame, (enum dp_field)i, err);
    return rc;
}

static int check_records(const struct dp_hold *hold, const char *kind, bool adaptive, const struct dp_frame *frame,
                         struct dp_err *err)
{
    long long lap = (long long)frame->lap;
    const char *of_kind = kind[0] != '\0' ? " of its kind" : "";
    int count = 0;
    for (int i = 0; i < hold->first->records; i++)
        count += strcmp(hold->first->record[i].on, kind) == 0;
    if (frame->records != count)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has another number of records than the first lap%s", lap, of_kind);
    for (int i = 0; i < frame->records; i++) {
        const struct dp_record *now = &frame->record[i], *then = first_of(hold, kind, now->of);
        if (then == NULL)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has a record of '%s', and the first lap%s has none", lap,
                           dp_fields[now->of].key, of_kind);
        bool follows = now->of == DP_F_SUM && (adaptive || dp_frame_has(frame, DP_F_WITHIN));
        int member = difference(then, now, adaptive, follows);
        if (member != DP_RECORD_MEMBER_COUNT && dp_record_changes(DP_CHANGE_PLANNED) >> member & 1)
            return hold->resumed ? dp_fail(err, DP_E_UNSAFE,
                                           "the mechanism of lap %lld is not that of the run before its checkpoint", lap)
                                 : dp_fail(err, DP_E_UNSAFE,
                                           "the mechanism of lap %lld is not what was announced: noise that changes needs a "
                                           "schedule or --adaptive",
                                           lap);
        if (member != DP_RECORD_MEMBER_COUNT)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld records another '%s' than the first lap%s", lap, dp_record_key(member),
                           of_kind);
    }
    return DP_OK;
}

int dp_hold_lap(struct dp_hold *hold, const char *kind, bool adaptive, const struct dp_frame *frame, struct dp_err *err)
{
    int rc = hold->first == NULL ? dp_frame_new(&hold->first, err) : DP_OK;
    if (rc == DP_OK && hold->first->records == 0)
        dp_frame_reset(hold->first, frame->kind);
    if (rc == DP_OK)
        rc = first_of(hold, kind, DP_F_NONE) == NULL ? remember(hold, kind, frame, err)
                                                     : check_records(hold, kind, adaptive, frame, err);
    hold->resumed = false;
    for (int i = 0; rc == DP_OK && i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_FIXED && !dp_frame_same_field(hold->first, frame, (enum dp_field)i))
            rc = dp_fail(err, DP_E_UNSAFE, "lap %lld has another '%s' than the first lap", (long long)frame->lap,
                         dp_fields[i].key);
    return rc;
}

int dp_hold_save(struct dp_hold *hold, struct dp_state *state, struct dp_err *err)
{
    msgpack_sbuffer_clear(&hold->bytes);
    int rc = dp_wire_encode(&hold->bytes, hold->first, err);
    dp_state_put_bytes(state, "first", hold->bytes.data, hold->bytes.size);
    return rc;
}

int dp_hold_restore(struct dp_hold *hold, const struct dp_state *state, struct dp_err *err)
{
    const void *bytes;
    size_t size;
    hold->resumed = true;
    int rc = dp_state_get_bytes(state, "first", &bytes, &size, err);
    if (rc == DP_OK)
        rc = dp_frame_new(&hold->first, err);
    return rc == DP_OK ? dp_wire_read(hold->first, bytes, size, err) : rc;
}

void dp_hold_close(struct dp_hold *hold)
{
    msgpack_sbuffer_destroy(&hold->bytes);
    dp_frame_free(hold->first);
}
