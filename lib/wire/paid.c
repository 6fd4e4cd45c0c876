#include "wire/paid.h"

#include "wire/frame.h"

#define DP_PAID_ROW(field, noised, bound, grid, adds, waits) [field] = {noised, bound, grid, adds, waits},
const struct dp_paid dp_paid[DP_F_COUNT + 1] = {DP_PAID_FIELDS(DP_PAID_ROW)};

#define DP_MEANING_ROW(id, name, field, taker, taken) [id] = {field, taker, taken},
const struct dp_meaning_info dp_meanings[DP_MEANS_COUNT] = {DP_MEANINGS(DP_MEANING_ROW)};
#define DP_MEANING_NAME(id, name, field, taker, taken) name,
const char *const dp_meaning_names[DP_MEANS_COUNT] = {DP_MEANINGS(DP_MEANING_NAME)};

#define DP_COUNT_PAID(id, key, type, visibility, lifetime) +(visibility == DP_PAID)
#define DP_COUNT_ROW(...) +1
_Static_assert(0 DP_FIELDS(DP_COUNT_PAID) == 0 DP_PAID_FIELDS(DP_COUNT_ROW), "every paid field has a row");

enum dp_meaning dp_meaning_find(const char *name, enum dp_field field)
{
    for (int i = 0; i < DP_MEANS_COUNT; i++)
        if (dp_meanings[i].field == field && !dp_meanings[i].taken && strcmp(name, dp_meaning_names[i]) == 0)
            return (enum dp_meaning)i;
    return DP_MEANS_NONE;
}

const char *dp_paid_taker(const struct dp_record *record)
{
    const struct dp_meaning_info *means = &dp_meanings[record->means];
    if (record->of == DP_F_NONE || means->field == record->of)
        return means->taker;
    for (int i = 0; i < DP_MEANS_COUNT; i++)
        if (dp_meanings[i].field == record->of)
            return dp_meanings[i].taker;
    return NULL;
}

double dp_paid_bound(const struct dp_frame *frame, enum dp_field field)
{
    return dp_paid[field].bound > 0 ? dp_paid[field].bound : dp_frame_real(frame, DP_F_BOUND, 0);
}

double dp_paid_grid(const struct dp_frame *frame, enum dp_field field)
{
    return dp_paid[field].grid > 0 ? dp_paid[field].grid : dp_frame_real(frame, DP_F_GRID, 0);
}

const struct dp_record *dp_paid_main(const struct dp_frame *frame)
{
    for (int i = 0; i < frame->records; i++)
        if (dp_paid[frame->record[i].of].noised == DP_NOISED_MAIN)
            return &frame->record[i];
    return NULL;
}

void dp_paid_set_scale(struct dp_frame *frame)
{
    const struct dp_record *sum = dp_paid_main(frame);
    double more = 1;
    if (sum != NULL && sum->shares > 0)
        more = sqrt((double)sum->gathered / (double)(sum->shares - sum->colluding));
    if (sum != NULL && sum->scale > 0)
        dp_frame_set_real(frame, DP_F_NOISE_SCALE, sum->scale * more);
}

static bool waits(const struct dp_frame *frame, enum dp_waits until)
{
    bool candidates = dp_frame_has(frame, DP_F_CANDIDATES);
    bool steps = dp_frame_has(frame, DP_F_STEPS) && !dp_frame_has(frame, DP_F_STEP_SIZE);
    return until == DP_WAITS_REMOVED || (until == DP_WAITS_CANDIDATE && (candidates || steps));
}

enum dp_field dp_paid_waiting(const struct dp_frame *frame)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_frame_has(frame, (enum dp_field)i) && waits(frame, dp_paid[i].waits))
            return (enum dp_field)i;
    return DP_F_NONE;
}
