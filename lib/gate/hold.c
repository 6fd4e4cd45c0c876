#include "gate/hold.h"

#include <math.h>
#include <string.h>

#include "wire/codec.h"

static int remember(struct dp_hold *hold, const struct dp_frame *frame, struct dp_err *err)
{
    int rc = dp_frame_new(&hold->first, err);
    if (rc != DP_OK)
        return rc;
    dp_frame_reset(hold->first, frame->kind);
    hold->first->records = frame->records;
    memcpy(hold->first->record, frame->record, sizeof frame->record);
    for (int i = 0; rc == DP_OK && i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_FIXED)
            rc = dp_frame_copy_field(hold->first, frame, (enum dp_field)i, err);
    return rc;
}

/* What a record must share with that of the first lap and does not, or NULL. How rows were sampled and the multiplier are part
   of the event, which spend.c compares with what was announced. `follows`: the bound follows a released count. */
static const char *difference(const struct dp_record *a, const struct dp_record *b, bool follows)
{
    if (a->adjacency != b->adjacency)
        return "adjacency";
    if (a->rows != b->rows)
        return "number of rows";
    if (a->release != b->release)
        return "release";
    if (!follows && a->bound != b->bound)
        return "clip bound";
    double sensitivity = b->bound * (a->sensitivity / a->bound);
    if (!(fabs(b->sensitivity - sensitivity) <= 1e-12 * sensitivity))
        return "sensitivity";
    return NULL;
}

int dp_hold_lap(struct dp_hold *hold, const struct dp_frame *frame, struct dp_err *err)
{
    if (hold->first == NULL)
        return remember(hold, frame, err);
    long long lap = (long long)frame->lap;
    const struct dp_frame *first = hold->first;
    if (frame->records != first->records)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has another number of records than the first lap", lap);
    for (int i = 0; i < frame->records; i++) {
        const struct dp_record *now = &frame->record[i], *then = dp_frame_record(first, now->of);
        if (then == NULL)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has a record of '%s', and the first lap has none", lap,
                           dp_fields[now->of].key);
        const char *what = difference(then, now, now->of == DP_F_SUM && dp_frame_has(frame, DP_F_WITHIN));
        if (what != NULL)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld records another %s than the first lap", lap, what);
    }
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_FIXED && !dp_frame_same_field(first, frame, (enum dp_field)i))
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has another '%s' than the first lap", lap, dp_fields[i].key);
    return DP_OK;
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
