#include "model/described.h"

static const enum dp_field fields[] = {DP_F_DATA,         DP_F_POPULATION, DP_F_SPLIT,   DP_F_PREPROCESSING,
                                       DP_F_ROW_NORM,     DP_F_LABELS,     DP_F_CLASSES, DP_F_LABEL_SCALE,
                                       DP_F_LABEL_OFFSET, DP_F_UNIT,       DP_F_SCHEMA};
enum { FIELDS = sizeof fields / sizeof *fields };

/* The split of the model. A model that was trained on other rows of the same people, too, has no held-out rows. */
static const char *split_of(const struct dp_frame *frame, const struct dp_row_facts *f)
{
    const char *before = dp_frame_text(frame, DP_F_SPLIT, "");
    if (!dp_frame_has(frame, DP_F_DATA) || strcmp(dp_frame_text(frame, DP_F_POPULATION, ""), f->population) != 0)
        return f->split;
    return strcmp(before, f->split != NULL ? f->split : "") == 0 ? f->split : DP_SPLIT_SEVERAL;
}

void dp_describe(struct dp_frame *frame, const struct dp_row_facts *f)
{
    const struct {
        enum dp_field field;
        const char *text;
    } texts[] = {{DP_F_DATA, f->data},
                 {DP_F_POPULATION, f->population},
                 {DP_F_SPLIT, split_of(frame, f)},
                 {DP_F_UNIT, f->unit},
                 {DP_F_PREPROCESSING, f->preprocessing},
                 {DP_F_ROW_NORM, f->row_norm},
                 {DP_F_LABELS, f->labels},
                 {DP_F_SCHEMA, f->schema}};
    const char *before = dp_frame_text(frame, DP_F_POPULATION, dp_frame_text(frame, DP_F_DATA, NULL));
    dp_frame_drop(frame, DP_F_ELSEWHERE); /* a site does not take a gather's word for it */
    if (before != NULL && strcmp(before, f->population) != 0 && strcmp(dp_frame_text(frame, DP_F_DATA, ""), f->data) != 0)
        dp_frame_set_bool(frame, DP_F_ELSEWHERE, true);
    dp_frame_drop(frame, DP_F_UNIT);
    dp_frame_drop(frame, DP_F_SCHEMA);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text != NULL)
            dp_frame_set_string(frame, texts[i].field, texts[i].text);
    if (texts[2].text == NULL)
        dp_frame_drop(frame, DP_F_SPLIT);
    dp_frame_set_int(frame, DP_F_CLASSES, (int64_t)f->classes);
    dp_frame_set_real(frame, DP_F_LABEL_SCALE, f->label_scale);
    dp_frame_set_real(frame, DP_F_LABEL_OFFSET, f->label_offset);
}

static bool may_miss(enum dp_field field)
{
    return field == DP_F_LABELS || field == DP_F_UNIT || field == DP_F_SPLIT || field == DP_F_SCHEMA;
}

int dp_described(struct dp_row_facts *f, const struct dp_frame *frame, struct dp_err *err)
{
    int64_t classes = dp_frame_int(frame, DP_F_CLASSES, -1);
    for (int i = 0; i < FIELDS; i++)
        if (!may_miss(fields[i]) && !dp_frame_has(frame, fields[i]))
            return dp_fail(err, DP_E_RUN, "no '%s'", dp_fields[fields[i]].key);
    *f = (struct dp_row_facts){.data = dp_frame_text(frame, DP_F_DATA, ""),
                               .population = dp_frame_text(frame, DP_F_POPULATION, ""),
                               .unit = dp_frame_text(frame, DP_F_UNIT, NULL),
                               .split = dp_frame_text(frame, DP_F_SPLIT, NULL),
                               .preprocessing = dp_frame_text(frame, DP_F_PREPROCESSING, ""),
                               .row_norm = dp_frame_text(frame, DP_F_ROW_NORM, ""),
                               .labels = dp_frame_text(frame, DP_F_LABELS, NULL),
                               .schema = dp_frame_text(frame, DP_F_SCHEMA, NULL),
                               .classes = classes > 0 ? (size_t)classes : 0,
                               .label_scale = dp_frame_real(frame, DP_F_LABEL_SCALE, NAN),
                               .label_offset = dp_frame_real(frame, DP_F_LABEL_OFFSET, NAN)};
    bool good = classes >= 0 && isfinite(f->label_scale) && f->label_scale > 0 && isfinite(f->label_offset);
    return good ? DP_OK
                : dp_fail(err, DP_E_RUN, "labels of %lld classes and a scale of %g", (long long)classes, f->label_scale);
}

bool dp_described_same(const struct dp_frame *a, const struct dp_frame *b)
{
    bool same = true;
    for (int i = 0; same && i < FIELDS; i++)
        same = dp_frame_same_field(a, b, fields[i]);
    return same;
}
