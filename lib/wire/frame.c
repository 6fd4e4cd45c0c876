#include "wire/frame.h"

#include "base/mem.h"
#include "base/text.h"

struct dp_frame *dp_frame_new(void)
{
    return dp_new(1, sizeof(struct dp_frame));
}

void dp_frame_free(struct dp_frame *frame)
{
    if (frame == NULL)
        return;
    for (int i = 0; i < DP_F_COUNT; i++) {
        free(frame->value[i].text);
        free(frame->value[i].array.data);
    }
    free(frame);
}

void dp_frame_reset(struct dp_frame *frame, enum dp_kind kind)
{
    frame->kind = kind;
    frame->label = DP_LABEL_RELEASED;
    frame->lap = 0;
    frame->records = 0;
    for (int i = 0; i < DP_F_COUNT; i++)
        frame->value[i].present = false;
}

const char *dp_kind_name(enum dp_kind kind)
{
    static const char *const names[] = {"hello", "lap", "end", "error"};
    return names[kind];
}

const char *dp_label_name(enum dp_label label)
{
    return label == DP_LABEL_RAW        ? "raw"
           : label == DP_LABEL_BOUNDED  ? "bounded"
           : label == DP_LABEL_NOISED   ? "noised"
           : label == DP_LABEL_RELEASED ? "released"
                                        : "unknown";
}

size_t dp_dtype_size(enum dp_dtype dtype)
{
    return dtype == DP_F32 || dtype == DP_I32 ? 4 : 8;
}

const char *dp_dtype_name(enum dp_dtype dtype)
{
    static const char *const names[] = {"", "f4", "f8", "i4", "i8"};
    return names[dtype];
}

void dp_frame_set_int(struct dp_frame *frame, enum dp_field field, int64_t value)
{
    frame->value[field].present = true;
    frame->value[field].u.whole = value;
}

void dp_frame_set_real(struct dp_frame *frame, enum dp_field field, double value)
{
    frame->value[field].present = true;
    frame->value[field].u.real = value;
}

void dp_frame_set_bool(struct dp_frame *frame, enum dp_field field, bool value)
{
    frame->value[field].present = true;
    frame->value[field].u.flag = value;
}

void dp_frame_set_text(struct dp_frame *frame, enum dp_field field, const char *text, size_t length)
{
    struct dp_value *v = &frame->value[field];
    dp_extend(&v->text, &v->text_capacity, length + 1, 1);
    memmove(v->text, text, length);
    v->text[length] = '\0';
    v->present = true;
}

int64_t dp_frame_int(const struct dp_frame *frame, enum dp_field field, int64_t fallback)
{
    return frame->value[field].present ? frame->value[field].u.whole : fallback;
}

double dp_frame_real(const struct dp_frame *frame, enum dp_field field, double fallback)
{
    return frame->value[field].present ? frame->value[field].u.real : fallback;
}

bool dp_frame_bool(const struct dp_frame *frame, enum dp_field field)
{
    return frame->value[field].present && frame->value[field].u.flag;
}

const char *dp_frame_text(const struct dp_frame *frame, enum dp_field field, const char *fallback)
{
    return frame->value[field].present ? frame->value[field].text : fallback;
}

const struct dp_array *dp_frame_array(const struct dp_frame *frame, enum dp_field field)
{
    const struct dp_value *v = &frame->value[field];
    return v->present ? &v->array : NULL;
}

struct dp_array *dp_frame_edit_array(struct dp_frame *frame, enum dp_field field)
{
    struct dp_value *v = &frame->value[field];
    return v->present ? &v->array : NULL;
}

int dp_frame_make_array(struct dp_frame *frame, enum dp_field field, enum dp_dtype dtype, uint64_t d0, uint64_t d1, void *data,
                        struct dp_err *err)
{
    struct dp_value *v = &frame->value[field];
    struct dp_array *a = &v->array;
    size_t count;
    if (__builtin_mul_overflow(d0, d1 > 0 ? d1 : 1, &count) || count > SIZE_MAX / 16)
        return dp_fail(err, DP_E_RUN, "array '%s' is too large", dp_fields[field].key);
    dp_extend(&a->data, &a->capacity, count * dp_dtype_size(dtype), 1);
    a->dtype = dtype;
    a->ndim = d1 > 0 ? 2 : 1;
    a->dims[0] = d0;
    a->dims[1] = d1;
    a->count = count;
    v->present = true;
    memcpy(data, &a->data, sizeof a->data);
    return DP_OK;
}

int dp_frame_need_array(const struct dp_frame *frame, enum dp_field field, enum dp_dtype dtype, int ndim,
                        const struct dp_array **array, struct dp_err *err)
{
    const struct dp_array *a = dp_frame_array(frame, field);
    if (a == NULL)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no '%s'", (long long)frame->lap, dp_fields[field].key);
    if (a->dtype != dtype || a->ndim != ndim)
        return dp_fail(err, DP_E_RUN, "'%s' in the frame of lap %lld is %d-dimensional %s, expected %d-dimensional %s",
                       dp_fields[field].key, (long long)frame->lap, a->ndim, dp_dtype_name(a->dtype), ndim,
                       dp_dtype_name(dtype));
    *array = a;
    return DP_OK;
}

double dp_array_at(const struct dp_array *array, size_t i)
{
    switch (array->dtype) {
    case DP_F32:
        return (double)((const float *)array->data)[i];
    case DP_F64:
        return ((const double *)array->data)[i];
    case DP_I32:
        return ((const int32_t *)array->data)[i];
    case DP_I64:
        return (double)((const int64_t *)array->data)[i];
    }
    return (double)NAN;
}

static void copy_array(struct dp_array *to, const struct dp_array *from)
{
    size_t bytes = from->count * dp_dtype_size(from->dtype);
    dp_extend(&to->data, &to->capacity, bytes, 1);
    void *data = to->data;
    size_t capacity = to->capacity;
    *to = *from;
    to->data = data;
    to->capacity = capacity;
    if (bytes > 0)
        memcpy(data, from->data, bytes);
}

void dp_frame_copy_field(struct dp_frame *to, const struct dp_frame *from, enum dp_field field)
{
    const struct dp_value *v = &from->value[field];
    struct dp_value *w = &to->value[field];
    w->present = false;
    if (!v->present)
        return;
    if (dp_fields[field].type == DP_T_TEXT)
        dp_frame_set_string(to, field, v->text);
    else if (dp_fields[field].type == DP_T_ARRAY)
        copy_array(&w->array, &v->array);
    else
        w->u = v->u;
    w->present = true;
}

void dp_frame_copy(struct dp_frame *to, const struct dp_frame *from)
{
    dp_frame_reset(to, from->kind);
    to->label = from->label;
    to->lap = from->lap;
    to->records = from->records;
    memcpy(to->record, from->record, (size_t)from->records * sizeof *to->record);
    for (int i = 0; i < DP_F_COUNT; i++)
        dp_frame_copy_field(to, from, (enum dp_field)i);
}

static bool same_array(const struct dp_array *a, const struct dp_array *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim && memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof *a->dims) == 0 &&
           (a->count == 0 || memcmp(a->data, b->data, a->count * dp_dtype_size(a->dtype)) == 0);
}

bool dp_frame_same_field(const struct dp_frame *a, const struct dp_frame *b, enum dp_field field)
{
    const struct dp_value *v = &a->value[field], *w = &b->value[field];
    if (!v->present || !w->present)
        return v->present == w->present;
    switch (dp_fields[field].type) {
    case DP_T_INT:
        return v->u.whole == w->u.whole;
    case DP_T_REAL:
        return memcmp(&v->u.real, &w->u.real, sizeof v->u.real) == 0;
    case DP_T_BOOL:
        return v->u.flag == w->u.flag;
    case DP_T_TEXT:
        return strcmp(v->text, w->text) == 0;
    case DP_T_ARRAY:
        return same_array(&v->array, &w->array);
    }
    return false;
}

void dp_frame_strip(struct dp_frame *frame)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        enum dp_visibility v = dp_fields[i].visibility;
        if (v != DP_FIXED && v != DP_MOVING && v != DP_PAID)
            frame->value[i].present = false;
    }
}

bool dp_frame_has_name(const struct dp_frame *frame, enum dp_field field, const char *names)
{
    const char *text = dp_frame_text(frame, field, NULL);
    for (const char *name = names; name != NULL; name = strchr(name, '\n'), name = name != NULL ? name + 1 : NULL)
        if (dp_text_has_line(text, name, strcspn(name, "\n")))
            return true;
    return false;
}

void dp_frame_add_names(struct dp_frame *frame, enum dp_field field, const char *names)
{
    for (const char *name = names; name != NULL; name = strchr(name, '\n'), name = name != NULL ? name + 1 : NULL) {
        const char *text = dp_frame_text(frame, field, NULL);
        size_t length = strcspn(name, "\n");
        if (dp_text_has_line(text, name, length))
            continue;
        char *more = dp_format("%s%s%.*s", text != NULL ? text : "", text != NULL ? "\n" : "", (int)length, name);
        dp_frame_set_string(frame, field, more);
        free(more);
    }
}

void dp_frame_begin_run(struct dp_frame *model)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].lifetime != DP_LIFETIME_MODEL)
            model->value[i].present = false;
}

void dp_frame_begin_public(struct dp_frame *model, const char *digest)
{
    static const enum dp_field stay[] = {DP_F_METHOD, DP_F_FAMILY, DP_F_NETWORK,    DP_F_INTERCEPT, DP_F_SCALE,
                                         DP_F_MODEL,  DP_F_DATA,   DP_F_POPULATION, DP_F_EXACT_OF};
    bool stays[DP_F_COUNT] = {false};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        stays[stay[i]] = true;
    for (int i = 0; i < DP_F_COUNT; i++)
        if (!stays[i])
            model->value[i].present = false;
    dp_frame_set_string(model, DP_F_PUBLIC_START, digest);
}

void dp_frame_begin_lap(struct dp_frame *token, const struct dp_frame *last, int64_t lap, int64_t laps, bool seeded)
{
    token->kind = DP_KIND_LAP;
    token->label = DP_LABEL_RELEASED;
    token->lap = lap;
    token->records = 0;
    for (int i = 0; i < DP_F_COUNT; i++) {
        if (dp_fields[i].lifetime != DP_LIFETIME_RUN && dp_fields[i].lifetime != DP_LIFETIME_MODEL)
            token->value[i].present = false;
        else if (token != last)
            dp_frame_copy_field(token, last, (enum dp_field)i);
    }
    dp_frame_set_int(token, DP_F_LAPS, laps);
    if (seeded)
        dp_frame_set_bool(token, DP_F_SEEDED, true);
}

struct dp_record *dp_frame_edit_record(struct dp_frame *frame, enum dp_field field)
{
    return (struct dp_record *)dp_frame_record(frame, field);
}

const struct dp_record *dp_frame_record(const struct dp_frame *frame, enum dp_field field)
{
    for (int i = 0; i < frame->records; i++)
        if (frame->record[i].of == field)
            return &frame->record[i];
    return NULL;
}

int dp_frame_add_record(struct dp_frame *frame, const struct dp_record *record, struct dp_err *err)
{
    if (frame->records == DP_MAX_RECORDS)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld holds %d records already", (long long)frame->lap, DP_MAX_RECORDS);
    const struct dp_record *same = NULL;
    for (int i = 0; same == NULL && i < frame->records; i++)
        if (frame->record[i].of == record->of && strcmp(frame->record[i].on, record->on) == 0)
            same = &frame->record[i];
    char laps[DP_RECORD_ON + 32] = "the run";
    if (frame->kind == DP_KIND_LAP)
        snprintf(laps, sizeof laps, "lap %lld", (long long)frame->lap);
    else if (record->on[0] != '\0')
        snprintf(laps, sizeof laps, "laps of kind '%s'", record->on);
    if (record->of == DP_F_NONE && same != NULL)
        return dp_fail(err, DP_E_RUN, "the rows of %s have been sampled already", laps);
    if (same != NULL)
        return dp_fail(err, DP_E_RUN, "'%s' of %s has a record already", dp_fields[record->of].key, laps);
    frame->record[frame->records++] = *record;
    return DP_OK;
}
