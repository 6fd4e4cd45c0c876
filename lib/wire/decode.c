#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "wire/codec.h"
#include "wire/item.h"

static uint64_t little_endian(const unsigned char *p)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

/* Where decoding stands in a frame. */
struct reader {
    const char *bytes;
    size_t length, at;
};

/* The next value: whole, or the head of a list or map. */
static int next(struct reader *r, struct dp_item *item, struct dp_err *err)
{
    size_t left = r->length - r->at;
    if (dp_item_read(r->bytes + r->at, left, item) == 0 || item->type == DP_ITEM_BAD || item->head > left ||
        item->body > left - item->head)
        return dp_fail(err, DP_E_RUN, "corrupt frame: it ends inside a value");
    r->at += item->head + (size_t)item->body;
    return DP_OK;
}

static int next_entry(struct reader *r, struct dp_item *key, struct dp_item *value, struct dp_err *err)
{
    int rc = next(r, key, err);
    if (rc == DP_OK && key->type != DP_ITEM_TEXT)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: a key is not a string");
    return rc == DP_OK ? next(r, value, err) : rc;
}

static int wrong(const char *key, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' has the wrong type or value", key);
}

static int get_array(struct dp_value *v, const char *key, const struct dp_item *o, struct dp_err *err)
{
    if (o->type != DP_ITEM_EXT || dp_item_ext(o) != DP_EXT_ARRAY || o->body < 2)
        return wrong(key, err);
    const unsigned char *p = (const unsigned char *)dp_item_body(o);
    size_t size = (size_t)o->body;
    struct dp_array a = v->array;
    if (p[0] < DP_F32 || p[0] > DP_I64 || p[1] < 1 || p[1] > DP_MAX_DIMS || size < 2u + 8u * p[1])
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
    if (size != head + bytes)
        return dp_fail(err, DP_E_RUN, "corrupt frame: the array '%s' has %zu bytes, its shape needs %zu", key, size - head,
                       bytes);
    int rc = dp_grow(&a.data, &a.capacity, bytes, 1, err);
    if (rc != DP_OK)
        return rc;
    if (bytes > 0)
        memcpy(a.data, p + head, bytes);
    v->array = a;
    return DP_OK;
}

static int get_value(struct dp_frame *frame, enum dp_field field, const struct dp_item *o, struct dp_err *err)
{
    struct dp_value *v = &frame->value[field];
    const char *key = dp_fields[field].key;
    if (v->present)
        return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' stands in it twice", key);
    int rc = DP_OK;
    switch (dp_fields[field].type) {
    case DP_T_INT:
        rc = dp_item_int(o, &v->u.whole) ? DP_OK : wrong(key, err);
        break;
    case DP_T_REAL:
        rc = dp_item_real(o, &v->u.real) ? DP_OK : wrong(key, err);
        break;
    case DP_T_BOOL:
        rc = dp_item_bool(o, &v->u.flag) ? DP_OK : wrong(key, err);
        break;
    case DP_T_TEXT:
        if (o->type != DP_ITEM_TEXT || memchr(dp_item_body(o), '\0', (size_t)o->body) != NULL)
            return wrong(key, err);
        rc = dp_frame_set_text(frame, field, dp_item_body(o), (size_t)o->body, err);
        break;
    case DP_T_ARRAY:
        rc = get_array(v, key, o, err);
        break;
    }
    v->present = rc == DP_OK;
    return rc;
}

static int get_name(const struct dp_item *o, const char *const *names, int count, const char *key, struct dp_err *err)
{
    for (int i = 0; i < count; i++)
        if (dp_item_is(o, names[i]))
            return i;
    return wrong(key, err);
}

#define NAMES(table) (table), (int)(sizeof(table) / sizeof(table)[0])

static int get_mechanism(struct reader *r, struct dp_mechanism *m, struct dp_err *err)
{
    struct dp_item o, key, value;
    int rc = next(r, &o, err);
    if (rc == DP_OK && o.type != DP_ITEM_MAP)
        rc = wrong("mechanisms", err);
    *m = (struct dp_mechanism){0};
    unsigned seen = 0;
    for (uint64_t i = 0; rc == DP_OK && i < o.entries; i++) {
        const struct dp_item *k = &key, *v = &value;
        int name = 0;
        bool good = true;
        unsigned bit;
        rc = next_entry(r, &key, &value, err);
        if (rc != DP_OK)
            return rc;
        if (dp_item_is(k, "sampler")) {
            bit = 1;
            name = get_name(v, NAMES(dp_sampler_names), "sampler", err);
            m->sampler = (enum dp_sampler)name;
        } else if (dp_item_is(k, "adjacency")) {
            bit = 2;
            name = get_name(v, NAMES(dp_adjacency_names), "adjacency", err);
            m->adjacency = (enum dp_adjacency)name;
        } else if (dp_item_is(k, "release")) {
            bit = 4;
            name = get_name(v, NAMES(dp_release_names), "release", err);
            m->release = (enum dp_release)name;
        } else if (dp_item_is(k, "noise")) {
            bit = 8;
            name = get_name(v, NAMES(dp_noise_names), "noise", err);
            m->noise = (enum dp_noise)name;
        } else if (dp_item_is(k, "rate")) {
            bit = 16;
            good = dp_item_real(v, &m->rate);
        } else if (dp_item_is(k, "rows")) {
            bit = 32;
            good = dp_item_int(v, &m->rows);
        } else if (dp_item_is(k, "epoch_laps")) {
            bit = 64;
            good = dp_item_int(v, &m->epoch_laps);
        } else if (dp_item_is(k, "bound")) {
            bit = 128;
            good = dp_item_real(v, &m->bound);
        } else if (dp_item_is(k, "sensitivity")) {
            bit = 256;
            good = dp_item_real(v, &m->sensitivity);
        } else if (dp_item_is(k, "multiplier")) {
            bit = 512;
            good = dp_item_real(v, &m->multiplier);
        } else if (dp_item_is(k, "scale")) {
            bit = 1024;
            good = dp_item_real(v, &m->scale);
        } else {
            return dp_fail(err, DP_E_RUN, "unknown entry in a mechanism record");
        }
        if (name < 0)
            return name;
        if (!good || (seen & bit))
            return wrong("mechanisms", err);
        seen |= bit;
    }
    if (rc == DP_OK && seen != 2047)
        rc = dp_fail(err, DP_E_RUN, "a mechanism record is incomplete");
    return rc;
}

static int get_mechanisms(struct reader *r, struct dp_frame *frame, const struct dp_item *o, struct dp_err *err)
{
    if (o->type != DP_ITEM_LIST || o->entries > DP_MAX_MECHANISMS)
        return wrong("mechanisms", err);
    for (uint64_t i = 0; i < o->entries; i++) {
        int rc = get_mechanism(r, &frame->mechanism[i], err);
        if (rc != DP_OK)
            return rc;
    }
    frame->mechanisms = (int)o->entries;
    return DP_OK;
}

static int get_kind(struct reader *r, struct dp_frame *frame, uint64_t entries, struct dp_err *err)
{
    static const char *const kinds[] = {"hello", "lap", "end", "error"};
    struct dp_item key, value;
    int rc = entries > 0 ? next_entry(r, &key, &value, err) : DP_OK;
    if (rc == DP_OK && (entries == 0 || !dp_item_is(&key, "kind")))
        rc = dp_fail(err, DP_E_RUN, "not a dpline stream: a frame must begin with its 'kind'");
    if (rc != DP_OK)
        return rc;
    int kind = get_name(&value, NAMES(kinds), "kind", err);
    if (kind < 0)
        return kind;
    dp_frame_reset(frame, (enum dp_kind)kind);
    return DP_OK;
}

/* One key and its value; *bit is that of lap, label or mechanisms. */
static int get_entry(struct reader *r, struct dp_frame *frame, unsigned *bit, struct dp_err *err)
{
    static const char *const labels[] = {"raw", "bounded", "noised", "released"};
    struct dp_item key, value;
    int rc = next_entry(r, &key, &value, err);
    *bit = 0;
    if (rc != DP_OK)
        return rc;
    if (frame->kind == DP_KIND_LAP && dp_item_is(&key, "lap")) {
        *bit = 1;
        bool good = dp_item_int(&value, &frame->lap) && frame->lap >= 0 && frame->lap < DP_LIMIT_LAP;
        return good ? DP_OK : wrong("lap", err);
    }
    if (frame->kind == DP_KIND_LAP && dp_item_is(&key, "label")) {
        *bit = 2;
        rc = get_name(&value, NAMES(labels), "label", err);
        frame->label = (enum dp_label)(rc >= 0 ? 1 << rc : DP_LABEL_RAW);
        return rc < 0 ? rc : DP_OK;
    }
    if (frame->kind == DP_KIND_LAP && dp_item_is(&key, "mechanisms")) {
        *bit = 4;
        return get_mechanisms(r, frame, &value, err);
    }
    enum dp_field field = dp_field_find(dp_item_body(&key), (size_t)key.body);
    if (field == DP_F_COUNT)
        return dp_fail(err, DP_E_RUN, "unknown field '%.*s' in a frame", key.body < 40 ? (int)key.body : 40,
                       dp_item_body(&key));
    return get_value(frame, field, &value, err);
}

/* Before there were families of models, the method was called the family. A frame that has a family says its method too. */
static int name_method(struct dp_frame *frame, struct dp_err *err)
{
    const char *text = dp_frame_text(frame, DP_F_FAMILY, NULL);
    if (text == NULL || dp_frame_has(frame, DP_F_METHOD))
        return DP_OK;
    dp_frame_drop(frame, DP_F_FAMILY);
    return dp_frame_set_text(frame, DP_F_METHOD, text, strlen(text), err);
}

int dp_wire_decode(struct dp_frame *frame, const char *bytes, size_t length, struct dp_err *err)
{
    struct reader r = {bytes, length, 0};
    struct dp_item map;
    unsigned seen = 0;
    int rc = next(&r, &map, err);
    if (rc == DP_OK && map.type != DP_ITEM_MAP)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: not a msgpack map");
    if (rc == DP_OK)
        rc = get_kind(&r, frame, map.entries, err);
    for (uint64_t i = 1; rc == DP_OK && i < map.entries; i++) {
        unsigned bit;
        rc = get_entry(&r, frame, &bit, err);
        if (rc == DP_OK && (seen & bit))
            rc = dp_fail(err, DP_E_RUN, "corrupt frame: an entry stands in it twice");
        seen |= bit;
    }
    if (rc == DP_OK && frame->kind == DP_KIND_LAP && seen != 7)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: lap, label or mechanisms is missing");
    if (rc == DP_OK && r.at != length)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: bytes follow its last value");
    return rc == DP_OK ? name_method(frame, err) : rc;
}

int dp_wire_read(struct dp_frame *frame, const char *bytes, size_t size, struct dp_err *err)
{
    struct dp_scan scan = {0};
    size_t length = 0;
    int rc = dp_wire_scan(&scan, bytes, size, &length, err);
    if (rc == 0 || (rc == 1 && length != size))
        return dp_fail(err, DP_E_RUN, "it is not one frame");
    return rc < 0 ? rc : dp_wire_decode(frame, bytes, length, err);
}
