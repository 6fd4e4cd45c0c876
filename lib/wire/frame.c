#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int dp_frame_new(struct dp_frame **frame, struct dp_err *err)
{
    return dp_alloc(frame, 1, sizeof **frame, err);
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
    frame->mechanisms = 0;
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
    switch (label) {
    case DP_LABEL_RAW:
        return "raw";
    case DP_LABEL_BOUNDED:
        return "bounded";
    case DP_LABEL_NOISED:
        return "noised";
    case DP_LABEL_RELEASED:
        return "released";
    }
    return "unknown";
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

int dp_frame_set_text(struct dp_frame *frame, enum dp_field field, const char *text, size_t length,
                      struct dp_err *err)
{
    struct dp_value *v = &frame->value[field];
    int rc = dp_grow(&v->text, &v->text_capacity, length + 1, 1, err);
    if (rc != DP_OK)
        return rc;
    memmove(v->text, text, length);
    v->text[length] = '\0';
    v->present = true;
    return DP_OK;
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

struct dp_array *dp_frame_array(const struct dp_frame *frame, enum dp_field field)
{
    const struct dp_value *v = &frame->value[field];
    return v->present ? (struct dp_array *)&v->array : NULL;
}

int dp_frame_make_array(struct dp_frame *frame, enum dp_field field, enum dp_dtype dtype, uint64_t d0, uint64_t d1,
                        void *data, struct dp_err *err)
{
    struct dp_value *v = &frame->value[field];
    struct dp_array *a = &v->array;
    size_t count;
    if (__builtin_mul_overflow(d0, d1 > 0 ? d1 : 1, &count) || count > SIZE_MAX / 16)
        return dp_fail(err, DP_E_RUN, "array '%s' is too large", dp_fields[field].key);
    int rc = dp_grow(&a->data, &a->capacity, count * dp_dtype_size(dtype), 1, err);
    if (rc != DP_OK)
        return rc;
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
                        struct dp_array **array, struct dp_err *err)
{
    struct dp_array *a = dp_frame_array(frame, field);
    if (a == NULL)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no '%s'", (long long)frame->lap,
                       dp_fields[field].key);
    if (a->dtype != dtype || a->ndim != ndim)
        return dp_fail(err, DP_E_RUN, "'%s' in the frame of lap %lld is %d-dimensional %s, expected %d-dimensional %s",
                       dp_fields[field].key, (long long)frame->lap, a->ndim, dp_dtype_name(a->dtype), ndim,
                       dp_dtype_name(dtype));
    *array = a;
    return DP_OK;
}

int dp_frame_copy(struct dp_frame *to, const struct dp_frame *from, struct dp_err *err)
{
    dp_frame_reset(to, from->kind);
    to->label = from->label;
    to->lap = from->lap;
    to->mechanisms = from->mechanisms;
    memcpy(to->mechanism, from->mechanism, sizeof to->mechanism);
    for (int i = 0; i < DP_F_COUNT; i++) {
        const struct dp_value *v = &from->value[i];
        int rc = DP_OK;
        if (!v->present)
            continue;
        if (dp_fields[i].type == DP_T_TEXT) {
            rc = dp_frame_set_text(to, (enum dp_field)i, v->text, strlen(v->text), err);
        } else if (dp_fields[i].type == DP_T_ARRAY) {
            struct dp_array *a = &to->value[i].array;
            size_t bytes = v->array.count * dp_dtype_size(v->array.dtype);
            rc = dp_grow(&a->data, &a->capacity, bytes, 1, err);
            if (rc == DP_OK) {
                void *data = a->data;
                size_t capacity = a->capacity;
                *a = v->array;
                a->data = data;
                a->capacity = capacity;
                if (bytes > 0)
                    memcpy(data, v->array.data, bytes);
                to->value[i].present = true;
            }
        } else {
            to->value[i].u = v->u;
            to->value[i].present = true;
        }
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

void dp_frame_strip(struct dp_frame *frame)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_PRIVATE)
            frame->value[i].present = false;
}
