/* Writes frames as msgpack. */

#include "base/mem.h"
#include "wire/codec.h"

int dp_wire_put(void *buffer, const char *bytes, size_t length)
{
    msgpack_sbuffer *b = buffer;
    if (length == 0) /* bytes, and the buffer's, may be NULL */
        return 0;
    if (length <= b->alloc - b->size) {
        memcpy(b->data + b->size, bytes, length);
        b->size += length;
    } else if (msgpack_sbuffer_write(b, bytes, length) != 0) {
        dp_mem_out(length, 1);
    }
    return 0;
}

static void put_text(msgpack_packer *pk, const char *text, size_t length)
{
    msgpack_sbuffer *b = pk->data;
    if (length < 32 && b->alloc - b->size > length) { /* most texts are short */
        b->data[b->size] = (char)(0xa0 | length);
        memcpy(b->data + b->size + 1, text, length);
        b->size += length + 1;
        return;
    }
    msgpack_pack_str(pk, length);
    msgpack_pack_str_body(pk, text, length);
}

static void put_word(msgpack_packer *pk, const char *word)
{
    put_text(pk, word, strlen(word));
}

static void little_endian(unsigned char *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

/* Arrays are written with the bytes of memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are little endian on the wire");

static int put_array(msgpack_packer *pk, const char *key, const struct dp_array *a, struct dp_err *err)
{
    unsigned char head[2 + 8 * DP_MAX_DIMS];
    size_t used = 2;
    head[0] = (unsigned char)a->dtype;
    head[1] = (unsigned char)a->ndim;
    for (int i = 0; i < a->ndim; i++, used += 8)
        little_endian(head + used, a->dims[i]);
    size_t bytes = a->count * dp_dtype_size(a->dtype);
    if (bytes > DP_LIMIT_FRAME - 4096)
        return dp_fail(err, DP_E_RUN, "'%s' does not fit a frame, which holds %zu bytes", key, DP_LIMIT_FRAME);
    msgpack_pack_ext(pk, used + bytes, DP_EXT_ARRAY);
    msgpack_pack_ext_body(pk, head, used);
    if (bytes > 0)
        msgpack_pack_ext_body(pk, a->data, bytes);
    return DP_OK;
}

static void put_record(msgpack_packer *pk, const struct dp_record *record)
{
    unsigned has = dp_record_members(record);
    msgpack_pack_map(pk, (size_t)__builtin_popcount(has));
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        if (!(has >> m & 1))
            continue;
        struct dp_record_value value = dp_record_get(record, m);
        put_word(pk, dp_record_key(m));
        if (value.type == DP_T_REAL)
            msgpack_pack_double(pk, value.real);
        else if (value.type == DP_T_INT)
            msgpack_pack_int64(pk, value.whole);
        else
            put_text(pk, value.text, value.length);
    }
}

int dp_wire_encode(msgpack_sbuffer *buffer, const struct dp_frame *frame, struct dp_err *err)
{
    msgpack_packer pk;
    msgpack_packer_init(&pk, buffer, dp_wire_put);
    size_t entries = 1;
    for (int i = 0; i < DP_F_COUNT; i++)
        entries += frame->value[i].present;
    bool announces = frame->kind == DP_KIND_HELLO && frame->records > 0;
    entries += frame->kind == DP_KIND_LAP ? 3 : announces ? 1 : 0;
    msgpack_pack_map(&pk, entries);
    put_word(&pk, "kind");
    put_word(&pk, dp_kind_name(frame->kind));
    if (frame->kind == DP_KIND_LAP) {
        put_word(&pk, "lap");
        msgpack_pack_int64(&pk, frame->lap);
        put_word(&pk, "label");
        put_word(&pk, dp_label_name(frame->label));
    }
    if (frame->kind == DP_KIND_LAP || announces) {
        put_word(&pk, "records");
        msgpack_pack_array(&pk, (size_t)frame->records);
        for (int i = 0; i < frame->records; i++)
            put_record(&pk, &frame->record[i]);
    }
    for (int i = 0; i < DP_F_COUNT; i++) {
        const struct dp_value *v = &frame->value[i];
        if (!v->present)
            continue;
        put_text(&pk, dp_fields[i].key, dp_fields[i].length);
        int rc = DP_OK;
        switch (dp_fields[i].type) {
        case DP_T_INT:
            /* Frames are always written in the present format, whatever format was read. */
            msgpack_pack_int64(&pk, frame->kind == DP_KIND_HELLO && i == DP_F_FORMAT ? DP_FRAME_FORMAT : v->u.whole);
            break;
        case DP_T_REAL:
            msgpack_pack_double(&pk, v->u.real);
            break;
        case DP_T_BOOL:
            v->u.flag ? msgpack_pack_true(&pk) : msgpack_pack_false(&pk);
            break;
        case DP_T_TEXT:
            put_word(&pk, v->text);
            break;
        case DP_T_ARRAY:
            rc = put_array(&pk, dp_fields[i].key, &v->array, err);
            break;
        }
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}
