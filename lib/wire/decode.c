/* Reads frames from msgpack. */

#include "base/alias.h"
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

/* Position of the decoder in a frame. */
struct reader {
    const char *bytes;
    size_t length, at;
    bool has_claim, has_sound, claimed; /* of a frame of an earlier version, see get_former */
    double sound;
};

/* Reads the next value: a whole value, or the head of a list or map. */
static inline int next(struct reader *r, struct dp_item *item, struct dp_err *err)
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
    return rc ?: next(r, value, err);
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
    dp_extend(&a.data, &a.capacity, bytes, 1);
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
        return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' is in it twice", key);
    int rc = DP_OK;
    switch (dp_fields[field].type) {
    case DP_T_INT:
        rc = dp_item_int(o, &v->u.whole) && dp_field_admits(field, v->u.whole) ? DP_OK : wrong(key, err);
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
        dp_frame_set_text(frame, field, dp_item_body(o), (size_t)o->body);
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

/* The key of the records in a frame of format 1. */
#define OLD_RECORDS "mechanisms"

static int get_member(struct dp_record *record, int member, const struct dp_item *o, struct dp_err *err)
{
    struct dp_record_value value = {.type = dp_record_type(member)};
    bool good = true;
    if (value.type == DP_T_REAL)
        good = dp_item_real(o, &value.real);
    else if (value.type == DP_T_INT)
        good = dp_item_int(o, &value.whole) && value.whole >= -DP_LIMIT_WHOLE && value.whole <= DP_LIMIT_WHOLE;
    else
        good = o->type == DP_ITEM_TEXT;
    if (good && value.type == DP_T_TEXT) {
        value.text = dp_item_body(o);
        value.length = (size_t)o->body;
    }
    return good && dp_record_set(record, member, &value) ? DP_OK : wrong(dp_record_key(member), err);
}

/* DP_E_RUN unless the record has exactly the members of its kind. A record of format 1 names no field, and has a multiplier
 * even without noise. */
static int check_members(const struct dp_record *record, unsigned seen, bool old, struct dp_err *err)
{
    const unsigned later = 1u << DP_RECORD_of | 1u << DP_RECORD_on; /* members that format 1 did not have */
    unsigned has = dp_record_members(record);
    if (seen == has && !(old && (seen & later)))
        return DP_OK;
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        bool is = seen >> m & 1, should = has >> m & 1;
        if (should && !is)
            return dp_fail(err, DP_E_RUN, "corrupt frame: a record has no '%s'", dp_record_key(m));
        bool needless = old && m == DP_RECORD_OWN_COUNT + (int)DP_QUERY_multiplier;
        if (old && (seen & later))
            return dp_fail(err, DP_E_RUN, "corrupt frame: a record of format 1 has an '%s'",
                           seen & 1u << DP_RECORD_of ? "of" : "on");
        if (!should && is && (m == DP_RECORD_draws || m == DP_RECORD_contraction))
            return dp_fail(err, DP_E_RUN, "corrupt frame: a record of sampler '%s' has a '%s'",
                           dp_sampler_names[record->sampler], dp_record_key(m));
        if (!should && is && m < DP_RECORD_OWN_COUNT)
            return dp_fail(err, DP_E_RUN, "corrupt frame: a record has a '%s' that says nothing", dp_record_key(m));
        if (!should && is && !needless)
            return dp_fail(err, DP_E_RUN, "corrupt frame: a record of noise '%s' has a '%s'",
                           dp_query_kinds[record->query.kind].name, dp_record_key(m));
    }
    return DP_OK;
}

static int get_record(struct reader *r, struct dp_record *record, bool old, struct dp_err *err)
{
    struct dp_item o, key, value;
    unsigned seen = 0;
    int member = -1, rc = next(r, &o, err);
    if (rc == DP_OK && o.type != DP_ITEM_MAP)
        rc = wrong("records", err);
    *record = (struct dp_record){.of = DP_F_NONE};
    for (uint64_t i = 0; rc == DP_OK && i < o.entries; i++) {
        rc = next_entry(r, &key, &value, err);
        if (rc != DP_OK)
            return rc;
        member = dp_record_find_from((member + 1) % DP_RECORD_MEMBER_COUNT, dp_item_body(&key), (size_t)key.body);
        if (member == DP_RECORD_MEMBER_COUNT)
            return dp_fail(err, DP_E_RUN, "corrupt frame: unknown entry '%.*s' in a record", key.body < 40 ? (int)key.body : 40,
                           dp_item_body(&key));
        if (seen >> member & 1)
            return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' is twice in a record", dp_record_key(member));
        seen |= 1u << member;
        rc = get_member(record, member, &value, err);
    }
    rc = rc ?: check_members(record, seen, old, err);
    dp_record_tidy(record);
    return rc;
}

static int get_records(struct reader *r, struct dp_frame *frame, const struct dp_item *o, bool old, struct dp_err *err)
{
    if (o->type != DP_ITEM_LIST || o->entries > DP_MAX_RECORDS)
        return wrong("records", err);
    for (uint64_t i = 0; i < o->entries; i++) {
        int rc = get_record(r, &frame->record[i], old, err);
        if (rc != DP_OK)
            return rc;
    }
    frame->records = (int)o->entries;
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

/* In frames of earlier versions that say as_published, epsilon may be what a paper claims. epsilon_sound is the bound then;
   without it, the bound is infinite. */
static int get_former(struct reader *r, const struct dp_item *key, const struct dp_item *value, struct dp_err *err)
{
    const bool claims = dp_item_is(key, "as_published"), sounds = dp_item_is(key, "epsilon_sound");
    const char *name = claims ? "as_published" : "epsilon_sound";
    bool *there = claims ? &r->has_claim : &r->has_sound;
    if (!claims && !sounds)
        return dp_fail(err, DP_E_RUN, "unknown field '%.*s' in a frame", key->body < 40 ? (int)key->body : 40,
                       dp_item_body(key));
    if (*there)
        return dp_fail(err, DP_E_RUN, "corrupt frame: '%s' is in it twice", name);
    *there = true;
    return (claims ? dp_item_bool(value, &r->claimed) : dp_item_real(value, &r->sound)) ? DP_OK : wrong(name, err);
}

/* The entries of every lap frame that are not fields; and a bit for records of format 1. */
enum { LAP = 1, LABEL = 2, RECORDS = 4, ALL = 7, OLD = 8 };

/* Reads one key and its value. *bits: LAP, LABEL or RECORDS, or 0 for a field. *field: the field of the last entry. */
static int get_entry(struct reader *r, struct dp_frame *frame, enum dp_field *field, unsigned *bits, struct dp_err *err)
{
    static const char *const labels[] = {"raw", "bounded", "noised", "released"};
    struct dp_item key, value;
    int rc = next_entry(r, &key, &value, err);
    *bits = 0;
    if (rc != DP_OK)
        return rc;
    if (frame->kind == DP_KIND_LAP && dp_item_is(&key, "lap")) {
        *bits = LAP;
        bool good = dp_item_int(&value, &frame->lap) && frame->lap >= 0 && frame->lap < DP_LIMIT_LAP;
        return good ? DP_OK : wrong("lap", err);
    }
    if (frame->kind == DP_KIND_LAP && dp_item_is(&key, "label")) {
        *bits = LABEL;
        rc = get_name(&value, NAMES(labels), "label", err);
        frame->label = (enum dp_label)(rc >= 0 ? 1 << rc : DP_LABEL_RAW);
        return rc < 0 ? rc : DP_OK;
    }
    bool old = dp_item_is(&key, OLD_RECORDS);
    if ((frame->kind == DP_KIND_LAP && old) || (frame->kind <= DP_KIND_LAP && dp_item_is(&key, "records"))) {
        *bits = RECORDS | (old ? OLD : 0);
        return get_records(r, frame, &value, old, err);
    }
    enum dp_field next_one = *field + 1 < DP_F_COUNT ? (enum dp_field)(*field + 1) : (enum dp_field)0;
    *field = dp_field_find_from(next_one, dp_item_body(&key), (size_t)key.body);
    const char *today = *field == DP_F_COUNT ? dp_alias_of(DP_ALIAS_FIELD, dp_item_body(&key), (size_t)key.body) : NULL;
    if (today != NULL)
        *field = dp_field_find(today, strlen(today));
    if (*field == DP_F_COUNT)
        return get_former(r, &key, &value, err);
    return get_value(frame, *field, &value, err);
}

/* An old frame has its method under the key `family`. A present frame that has a family also has a method. */
static void name_method(struct dp_frame *frame)
{
    const char *text = dp_frame_text(frame, DP_F_FAMILY, NULL);
    if (text == NULL || dp_frame_has(frame, DP_F_METHOD))
        return;
    dp_frame_drop(frame, DP_F_FAMILY);
    dp_frame_set_string(frame, DP_F_METHOD, text);
}

int dp_wire_decode(struct dp_frame *frame, const char *bytes, size_t length, struct dp_err *err)
{
    struct reader r = {.bytes = bytes, .length = length, .sound = (double)NAN};
    struct dp_item map;
    enum dp_field field = DP_F_NONE;
    unsigned seen = 0;
    int rc = next(&r, &map, err);
    if (rc == DP_OK && map.type != DP_ITEM_MAP)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: not a msgpack map");
    rc = rc ?: get_kind(&r, frame, map.entries, err);
    for (uint64_t i = 1; rc == DP_OK && i < map.entries; i++) {
        unsigned bits;
        rc = get_entry(&r, frame, &field, &bits, err);
        if (rc == DP_OK && (seen & bits))
            rc = dp_fail(err, DP_E_RUN, "corrupt frame: an entry is in it twice");
        seen |= bits;
    }
    if (rc == DP_OK && frame->kind == DP_KIND_LAP && (seen & ALL) != ALL)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: lap, label or records is missing");
    bool open = frame->label == DP_LABEL_RAW && !dp_frame_has(frame, DP_F_SUM);
    for (int i = 0; rc == DP_OK && (seen & OLD) && i < frame->records; i++)
        dp_record_of_format_1(&frame->record[i], open ? DP_MAX_RECORDS : i);
    if (rc == DP_OK && r.at != length)
        rc = dp_fail(err, DP_E_RUN, "corrupt frame: bytes follow its last value");
    if (rc == DP_OK)
        name_method(frame);
    const double sound = r.claimed && !(r.sound >= 0) ? (double)INFINITY : r.sound;
    if (rc == DP_OK && !isnan(sound) && !(dp_frame_real(frame, DP_F_EPSILON, sound) >= sound))
        dp_frame_set_real(frame, DP_F_EPSILON, sound);
    return rc;
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
