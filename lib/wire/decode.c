#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "wire/codec.h"

static uint64_t little_endian(const unsigned char *p)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

static bool text_is(const msgpack_object *o, const char *text)
{
    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(text) &&
           memcmp(o->via.str.ptr, text, o->via.str.size) == 0;
}

static bool to_real(const msgpack_object *o, double *value)
{
    if (o->type == MSGPACK_OBJECT_FLOAT64 || o->type == MSGPACK_OBJECT_FLOAT32)
        *value = o->via.f64;
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *value = (double)o->via.u64;
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *value = (double)o->via.i64;
    else
        return false;
    return true;
}

static bool to_int(const msgpack_object *o, int64_t *value)
{
    if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= INT64_MAX)
        *value = (int64_t)o->via.u64;
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *value = o->via.i64;
    else
        return false;
    return true;
}

static int wrong(const char *key, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' has the wrong type or value", key);
}

static int get_array(struct dp_value *v, const char *key, const msgpack_object *o, struct dp_err *err)
{
    if (o->type != MSGPACK_OBJECT_EXT || o->via.ext.type != DP_EXT_ARRAY || o->via.ext.size < 2)
        return wrong(key, err);
    const unsigned char *p = (const unsigned char *)o->via.ext.ptr;
    struct dp_array a = v->array;
    if (p[0] < DP_F32 || p[0] > DP_I64 || p[1] < 1 || p[1] > DP_MAX_DIMS || o->via.ext.size < 2u + 8u * p[1])
        return dp_fail(err, DP_E_RUN, "corrupt frame: the array '%s' has a bad header", key);
    a.dtype = (enum dp_dtype)p[0];
    a.ndim = p[1];
    a.count = 1;
    for (int i = 0; i < a.ndim; i++) {
        a.dims[i] = little_endian(p + 2 + 8 * i);
        if (__builtin_mul_overflow(a.count, a.dims[i], &a.count) || a.count > DP_LIMIT_FRAME)
            return dp_fail(err, DP_E_RUN, "corrupt frame: the array '%s' is too large", key);
    }
    size_t head = 2 + 8 * (size_t)a.ndim;
    size_t bytes = a.count * dp_dtype_size(a.dtype);
    if (o->via.ext.size != head + bytes)
        return dp_fail(err, DP_E_RUN, "corrupt frame: the array '%s' has %zu bytes, its shape needs %zu", key,
                       (size_t)o->via.ext.size - head, bytes);
    int rc = dp_grow(&a.data, &a.capacity, bytes, 1, err);
    if (rc != DP_OK)
        return rc;
    if (bytes > 0)
        memcpy(a.data, p + head, bytes);
    v->array = a;
    return DP_OK;
}

static int get_value(struct dp_frame *frame, enum dp_field field, const msgpack_object *o, struct dp_err *err)
{
    struct dp_value *v = &frame->value[field];
    const char *key = dp_fields[field].key;
    if (v->present)
        return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' stands in it twice", key);
    int rc = DP_OK;
    switch (dp_fields[field].type) {
    case DP_T_INT:
        rc = to_int(o, &v->u.whole) ? DP_OK : wrong(key, err);
        break;
    case DP_T_REAL:
        rc = to_real(o, &v->u.real) ? DP_OK : wrong(key, err);
        break;
    case DP_T_BOOL:
        if (o->type != MSGPACK_OBJECT_BOOLEAN)
            return wrong(key, err);
        v->u.flag = o->via.boolean;
        break;
    case DP_T_TEXT:
        if (o->type != MSGPACK_OBJECT_STR || memchr(o->via.str.ptr, '\0', o->via.str.size) != NULL)
            return wrong(key, err);
        rc = dp_frame_set_text(frame, field, o->via.str.ptr, o->via.str.size, err);
        break;
    case DP_T_ARRAY:
        rc = get_array(v, key, o, err);
        break;
    }
    v->present = rc == DP_OK;
    return rc;
}

static int get_name(const msgpack_object *o, const char *const *names, int count, const char *key, struct dp_err *err)
{
    for (int i = 0; i < count; i++)
        if (text_is(o, names[i]))
            return i;
    return wrong(key, err);
}

#define NAMES(table) (table), (int)(sizeof(table) / sizeof(table)[0])

static int get_mechanism(struct dp_mechanism *m, const msgpack_object *o, struct dp_err *err)
{
    if (o->type != MSGPACK_OBJECT_MAP)
        return wrong("mechanisms", err);
    *m = (struct dp_mechanism){0};
    unsigned seen = 0;
    for (uint32_t i = 0; i < o->via.map.size; i++) {
        const msgpack_object *k = &o->via.map.ptr[i].key, *v = &o->via.map.ptr[i].val;
        int name = 0;
        bool good = true;
        unsigned bit;
        if (text_is(k, "sampler")) {
            bit = 1;
            name = get_name(v, NAMES(dp_sampler_names), "sampler", err);
            m->sampler = (enum dp_sampler)name;
        } else if (text_is(k, "adjacency")) {
            bit = 2;
            name = get_name(v, NAMES(dp_adjacency_names), "adjacency", err);
            m->adjacency = (enum dp_adjacency)name;
        } else if (text_is(k, "release")) {
            bit = 4;
            name = get_name(v, NAMES(dp_release_names), "release", err);
            m->release = (enum dp_release)name;
        } else if (text_is(k, "noise")) {
            bit = 8;
            name = get_name(v, NAMES(dp_noise_names), "noise", err);
            m->noise = (enum dp_noise)name;
        } else if (text_is(k, "rate")) {
            bit = 16;
            good = to_real(v, &m->rate);
        } else if (text_is(k, "rows")) {
            bit = 32;
            good = to_int(v, &m->rows);
        } else if (text_is(k, "epoch_laps")) {
            bit = 64;
            good = to_int(v, &m->epoch_laps);
        } else if (text_is(k, "bound")) {
            bit = 128;
            good = to_real(v, &m->bound);
        } else if (text_is(k, "sensitivity")) {
            bit = 256;
            good = to_real(v, &m->sensitivity);
        } else if (text_is(k, "multiplier")) {
            bit = 512;
            good = to_real(v, &m->multiplier);
        } else if (text_is(k, "scale")) {
            bit = 1024;
            good = to_real(v, &m->scale);
        } else {
            return dp_fail(err, DP_E_RUN, "unknown entry in a mechanism record");
        }
        if (name < 0)
            return name;
        if (!good || (seen & bit))
            return wrong("mechanisms", err);
        seen |= bit;
    }
    if (seen != 2047)
        return dp_fail(err, DP_E_RUN, "a mechanism record is incomplete");
    return DP_OK;
}

static int get_mechanisms(struct dp_frame *frame, const msgpack_object *o, struct dp_err *err)
{
    if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size > DP_MAX_MECHANISMS)
        return wrong("mechanisms", err);
    for (uint32_t i = 0; i < o->via.array.size; i++) {
        int rc = get_mechanism(&frame->mechanism[i], &o->via.array.ptr[i], err);
        if (rc != DP_OK)
            return rc;
    }
    frame->mechanisms = (int)o->via.array.size;
    return DP_OK;
}

static int get_kind(struct dp_frame *frame, const msgpack_object_map *map, struct dp_err *err)
{
    static const char *const kinds[] = {"hello", "lap", "end", "error"};
    if (map->size == 0 || !text_is(&map->ptr[0].key, "kind"))
        return dp_fail(err, DP_E_RUN, "not a dpline stream: a frame must begin with its 'kind'");
    int kind = get_name(&map->ptr[0].val, NAMES(kinds), "kind", err);
    if (kind < 0)
        return kind;
    dp_frame_reset(frame, (enum dp_kind)kind);
    return DP_OK;
}

static int get_map(struct dp_frame *frame, const msgpack_object_map *map, struct dp_err *err)
{
    static const char *const labels[] = {"raw", "bounded", "noised", "released"};
    int rc = get_kind(frame, map, err);
    unsigned seen = 0;
    for (uint32_t i = 1; i < map->size && rc >= 0; i++) {
        const msgpack_object *k = &map->ptr[i].key, *v = &map->ptr[i].val;
        unsigned bit = 0;
        if (k->type != MSGPACK_OBJECT_STR)
            return dp_fail(err, DP_E_RUN, "corrupt frame: a key is not a string");
        if (frame->kind == DP_KIND_LAP && text_is(k, "lap")) {
            bit = 1;
            rc = to_int(v, &frame->lap) && frame->lap >= 0 && frame->lap < DP_LIMIT_LAP ? DP_OK : wrong("lap", err);
        } else if (frame->kind == DP_KIND_LAP && text_is(k, "label")) {
            bit = 2;
            rc = get_name(v, NAMES(labels), "label", err);
            frame->label = (enum dp_label)(rc >= 0 ? 1 << rc : DP_LABEL_RAW);
        } else if (frame->kind == DP_KIND_LAP && text_is(k, "mechanisms")) {
            bit = 4;
            rc = get_mechanisms(frame, v, err);
        } else {
            enum dp_field field = dp_field_find(k->via.str.ptr, k->via.str.size);
            if (field == DP_F_COUNT)
                return dp_fail(err, DP_E_RUN, "unknown field '%.*s' in a frame",
                               (int)(k->via.str.size < 40 ? k->via.str.size : 40), k->via.str.ptr);
            rc = get_value(frame, field, v, err);
        }
        if (rc >= 0 && (seen & bit))
            return dp_fail(err, DP_E_RUN, "corrupt frame: an entry stands in it twice");
        seen |= bit;
    }
    if (rc < 0)
        return rc;
    if (frame->kind == DP_KIND_LAP && seen != 7)
        return dp_fail(err, DP_E_RUN, "corrupt frame: lap, label or mechanisms is missing");
    return DP_OK;
}

int dp_wire_decode(struct dp_frame *frame, const char *bytes, size_t length, struct dp_err *err)
{
    msgpack_unpacked result;
    msgpack_unpacked_init(&result);
    size_t offset = 0;
    int rc;
    if (msgpack_unpack_next(&result, bytes, length, &offset) != MSGPACK_UNPACK_SUCCESS || offset != length ||
        result.data.type != MSGPACK_OBJECT_MAP)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: not a msgpack map");
    else
        rc = get_map(frame, &result.data.via.map, err);
    msgpack_unpacked_destroy(&result);
    return rc;
}
