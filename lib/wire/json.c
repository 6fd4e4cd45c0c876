#include "wire/json.h"

#include "base/json.h"

#define SHORT_VALUES 4

/* A number as JSON; JSON has no NaN and no infinity: they become the strings "NaN", "Infinity" and "-Infinity". */
static json_t *real(double value)
{
    if (isnan(value))
        return json_string("NaN");
    if (isinf(value))
        return json_string(value > 0 ? "Infinity" : "-Infinity");
    return json_real(value);
}

static json_t *element(const struct dp_array *a, size_t i)
{
    switch (a->dtype) {
    case DP_F32:
        return real((double)((const float *)a->data)[i]);
    case DP_F64:
        return real(((const double *)a->data)[i]);
    case DP_I32:
        return json_integer(((const int32_t *)a->data)[i]);
    case DP_I64:
        return json_integer(((const int64_t *)a->data)[i]);
    }
    return NULL;
}

static json_t *array_json(const struct dp_array *a, bool full)
{
    json_t *root = json_object(), *shape = json_array(), *values = json_array();
    json_object_set_new(root, "dtype", json_string(dp_dtype_name(a->dtype)));
    for (int i = 0; i < a->ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)a->dims[i]));
    size_t shown = full || a->count < SHORT_VALUES ? a->count : SHORT_VALUES;
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(values, element(a, i));
    json_object_set_new(root, "shape", shape);
    json_object_set_new(root, "values", values);
    if (shown < a->count)
        json_object_set_new(root, "more", json_integer((json_int_t)(a->count - shown)));
    return root;
}

static json_t *record_json(const struct dp_record *record)
{
    json_t *root = json_object();
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        if (!dp_record_has(record, m))
            continue;
        struct dp_record_value value = dp_record_get(record, m);
        json_object_set_new(root, dp_record_key(m),
                            value.type == DP_T_REAL  ? real(value.real)
                            : value.type == DP_T_INT ? json_integer(value.whole)
                                                     : json_string(value.text));
    }
    return root;
}

/* A frame has class names as the text of a JSON array. */
static json_t *labels_json(const char *text)
{
    json_t *names;
    if (dp_json_parse(&names, text, strlen(text), NULL, NULL) != DP_OK)
        return dp_json_string(text);
    if (json_is_array(names))
        return names;
    json_decref(names);
    return dp_json_string(text);
}

static json_t *value_json(const struct dp_value *v, enum dp_type type, bool labels, bool full)
{
    switch (type) {
    case DP_T_INT:
        return json_integer(v->u.whole);
    case DP_T_REAL:
        return real(v->u.real);
    case DP_T_BOOL:
        return json_boolean(v->u.flag);
    case DP_T_TEXT:
        return labels ? labels_json(v->text) : dp_json_string(v->text);
    case DP_T_ARRAY:
        return array_json(&v->array, full);
    }
    return NULL;
}

json_t *dp_json_frame(const struct dp_frame *frame, bool full)
{
    json_t *root = json_object();
    json_object_set_new(root, "kind", json_string(dp_kind_name(frame->kind)));
    if (frame->kind == DP_KIND_LAP) {
        json_object_set_new(root, "lap", json_integer(frame->lap));
        json_object_set_new(root, "label", json_string(dp_label_name(frame->label)));
    }
    if (frame->kind == DP_KIND_LAP || (frame->kind == DP_KIND_HELLO && frame->records > 0)) {
        json_t *records = json_array();
        for (int i = 0; i < frame->records; i++)
            json_array_append_new(records, record_json(&frame->record[i]));
        json_object_set_new(root, "records", records);
    }
    for (int i = 0; i < DP_F_COUNT; i++)
        if (frame->value[i].present)
            json_object_set_new(root, dp_fields[i].key,
                                value_json(&frame->value[i], dp_fields[i].type, i == DP_F_LABELS, full));
    return root;
}
