#include "stages/announced.h"

#include "wire/laps.h"

_Static_assert(DP_RECORD_ON == DP_LAPS_NAME, "a record names any kind of laps");

int dp_announce(const struct dp_stage *stage, struct dp_frame *hello, const struct dp_record *record, struct dp_err *err)
{
    const char *text = dp_frame_text(hello, DP_F_KINDS, NULL);
    struct dp_laps laps = {0};
    if (text == NULL)
        return dp_frame_add_record(hello, record, err);
    int rc = dp_laps_parse(&laps, text, err);
    for (int k = 0; rc == DP_OK && k < laps.kinds; k++) {
        struct dp_record one = *record;
        memcpy(one.on, laps.name[k], sizeof one.on);
        if (stage->on == NULL || strcmp(stage->on, one.on) == 0)
            rc = dp_frame_add_record(hello, &one, err);
    }
    dp_laps_free(&laps);
    return rc;
}

struct dp_record *dp_announced(const struct dp_stage *stage, struct dp_frame *hello, enum dp_field of, int *at)
{
    while (*at < hello->records) {
        struct dp_record *record = &hello->record[(*at)++];
        if (record->of == of && (stage->on == NULL || strcmp(stage->on, record->on) == 0))
            return record;
    }
    return NULL;
}

struct dp_record *dp_announced_answer(const struct dp_stage *stage, struct dp_frame *hello, int *at)
{
    while (*at < hello->records) {
        struct dp_record *record = &hello->record[(*at)++];
        bool own = stage->on == NULL || strcmp(stage->on, record->on) == 0;
        if (own && dp_paid_taker(record) != NULL)
            return record;
    }
    return NULL;
}

int dp_announced_taken(const struct dp_stage *stage, struct dp_frame *hello, enum dp_meaning sum, enum dp_meaning made,
                       const char *what, struct dp_err *err)
{
    struct dp_record *record;
    char kind[DP_RECORD_ON + 16];
    for (int at = 0; (record = dp_announced_answer(stage, hello, &at)) != NULL; record->means = made)
        if (record->means != sum && record->means != DP_MEANS_NONE)
            return dp_fail(err, DP_E_USAGE, "laps%s release no %s", dp_announced_kind(record, kind), what);
    return DP_OK;
}

bool dp_announced_means(const struct dp_frame *hello, enum dp_meaning means, const char *on)
{
    for (int i = 0; i < hello->records; i++)
        if (hello->record[i].means == means && (on == NULL || strcmp(hello->record[i].on, on) == 0))
            return true;
    return false;
}

bool dp_announced_all(const struct dp_frame *hello)
{
    const char *text = dp_frame_text(hello, DP_F_KINDS, NULL);
    struct dp_laps laps = {0};
    struct dp_err unused;
    bool all = text != NULL ? dp_laps_parse(&laps, text, &unused) == DP_OK : hello->records > 0;
    for (int k = 0; all && k < laps.kinds; k++) {
        all = false;
        for (int i = 0; !all && i < hello->records; i++)
            all = strcmp(hello->record[i].on, laps.name[k]) == 0;
    }
    dp_laps_free(&laps);
    return all;
}

const char *dp_announced_kind(const struct dp_record *record, char buffer[DP_RECORD_ON + 16])
{
    snprintf(buffer, DP_RECORD_ON + 16, record->on[0] != '\0' ? " of kind '%s'" : "%s", record->on);
    return buffer;
}
