/* Frames on the wire: what is written reads back; bytes that are not a frame are an error and never a crash (run with the
   address sanitizer: every input is in a block of exactly its size). */
#include "changed.h"

#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>

#include "port/port.h"
#include "wire/codec.h"
#include "wire/model.h"

static struct dp_frame *new_frame(enum dp_kind kind)
{
    struct dp_frame *f;
    f = dp_frame_new();
    dp_frame_reset(f, kind);
    return f;
}

static void *make_array(struct dp_frame *f, enum dp_field field, enum dp_dtype dtype, uint64_t d0, uint64_t d1)
{
    void *data;
    assert_int_equal(dp_frame_make_array(f, field, dtype, d0, d1, &data, NULL), 0);
    return data;
}

/* One frame with every field, every dtype and sign. */
static struct dp_frame *full_lap(void)
{
    struct dp_frame *f = new_frame(DP_KIND_LAP);
    f->lap = 12;
    f->label = DP_LABEL_BOUNDED;
    struct dp_record records[] = {
        noised_sum(0.1, 24420, 0.5, 1.25),
        {.of = DP_F_NONE,
         .sampler = DP_SAMPLER_SHUFFLE,
         .rate = 0.25,
         .rows = 7,
         .epoch_laps = 4,
         .adjacency = DP_ADJACENCY_REPLACE_ONE,
         .release = DP_RELEASE_SUM_AND_STATE,
         .bound = 1e-3,
         .sensitivity = 2,
         .on = ""},
        {.of = DP_F_WITHIN,
         .sampler = DP_SAMPLER_REPEATED,
         .rate = 0.125,
         .rows = 7,
         .draws = 40,
         .contraction = 0.75,
         .adjacency = DP_ADJACENCY_REPLACE_ONE,
         .release = DP_RELEASE_SUM,
         .bound = 0.5,
         .sensitivity = 1,
         .on = "search",
         .query = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 1, .query_epsilon = 0.25, .most = 9}},
        {.of = DP_F_CHOICE,
         .sampler = DP_SAMPLER_FULL,
         .rate = 1,
         .rows = 7,
         .adjacency = DP_ADJACENCY_NULL_RECORD,
         .release = DP_RELEASE_SUM,
         .bound = 1e-9,
         .sensitivity = 1e-9,
         .on = "",
         .query = {.kind = DP_QUERY_OBJECTIVE, .objective = 2, .curvature = 0.01, .vertices = 1}},
    };
    records->release = DP_RELEASE_SECRET_STATE;
    records->shares = 4;
    records->colluding = 1;
    records->gathered = 3;
    records->promised = 1.125;
    records->follows = 6;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_int_equal(dp_frame_add_record(f, &records[i], NULL), 0);
    for (int i = 0; i < DP_F_COUNT; i++) {
        enum dp_field field = (enum dp_field)i;
        enum dp_dtype dtype = (enum dp_dtype)(DP_F32 + i % 4);
        uint64_t d1 = i % 3;
        char *data;
        switch (dp_fields[i].type) {
        case DP_T_INT:
            dp_frame_set_int(f, field,
                             field == DP_F_SEED ? INT64_MIN + i
                             : field == DP_F_N  ? ((int64_t)1 << 53) - i
                                                : 4096 - i);
            break;
        case DP_T_REAL:
            dp_frame_set_real(f, field, i % 2 == 0 ? 1.0 / i : -(double)INFINITY);
            break;
        case DP_T_BOOL:
            dp_frame_set_bool(f, field, i % 2 == 0);
            break;
        case DP_T_TEXT:
            dp_frame_set_string(f, field, i % 2 == 0 ? "" : "zwölf \"\n\x01");
            break;
        case DP_T_ARRAY:
            data = make_array(f, field, dtype, 3, d1);
            for (size_t b = 0; b < 3 * (d1 > 0 ? d1 : 1) * dp_dtype_size(dtype); b++)
                data[b] = (char)(b * 37 + (size_t)i);
            break;
        }
    }
    return f;
}

static void append(msgpack_sbuffer *buffer, struct dp_frame *f)
{
    assert_int_equal(dp_wire_encode(buffer, f, NULL), 0);
    dp_frame_free(f);
}

/* hello, lap, end: a stream of a run, short enough to break each byte in each way. */
static void small_stream(msgpack_sbuffer *buffer)
{
    msgpack_sbuffer_init(buffer);
    struct dp_frame *f = new_frame(DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_string(f, DP_F_SOFTWARE, "dpline");
    append(buffer, f);
    f = new_frame(DP_KIND_LAP);
    f->lap = 3;
    const struct dp_record record = noised_sum(0.1, 24420, 0.5, 1.25);
    assert_int_equal(dp_frame_add_record(f, &record, NULL), 0);
    double *model = make_array(f, DP_F_MODEL, DP_F64, 2, 2);
    for (int i = 0; i < 4; i++)
        model[i] = i;
    make_array(f, DP_F_ROWS, DP_I64, 0, 0);
    dp_frame_set_real(f, DP_F_EPSILON, 0.5);
    dp_frame_set_bool(f, DP_F_SEEDED, true);
    dp_frame_set_string(f, DP_F_LABELS, "[\"a\",\"b\"]");
    append(buffer, f);
    append(buffer, new_frame(DP_KIND_END));
}

static bool same_frame(const struct dp_frame *a, const struct dp_frame *b)
{
    msgpack_sbuffer left, right;
    msgpack_sbuffer_init(&left);
    msgpack_sbuffer_init(&right);
    assert_int_equal(dp_wire_encode(&left, a, NULL), 0);
    assert_int_equal(dp_wire_encode(&right, b, NULL), 0);
    bool same = left.size == right.size && memcmp(left.data, right.data, left.size) == 0;
    msgpack_sbuffer_destroy(&left);
    msgpack_sbuffer_destroy(&right);
    return same;
}

/* Reads all frames. Returns their number, or a negative status with its sentence; *whole: the bytes ended between frames. */
static int read_all(const char *bytes, size_t size, struct dp_frame *frame, bool *whole)
{
    struct dp_err err = {0};
    int count = 0;
    *whole = true;
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        int rc = dp_wire_scan(&(struct dp_scan){0}, bytes + at, size - at, &length, &err);
        if (rc == 0) {
            assert_true(length > size - at);
            *whole = false;
            return count;
        }
        if (rc == 1) {
            assert_true(length > 0 && length <= size - at);
            rc = dp_wire_decode(frame, bytes + at, length, &err);
        }
        if (rc < 0) {
            assert_true(err.message[0] != '\0' && err.status == rc);
            return rc;
        }
        at += length;
        count++;
    }
    return count;
}

TEST(every_field_comes_back)
{
    struct dp_frame *sent = full_lap(), *got = new_frame(DP_KIND_END);
    msgpack_sbuffer buffer;
    size_t length = 0;
    msgpack_sbuffer_init(&buffer);
    assert_int_equal(dp_wire_encode(&buffer, sent, NULL), 0);
    assert_int_equal(dp_wire_scan(&(struct dp_scan){0}, buffer.data, buffer.size, &length, NULL), 1);
    assert_int_equal(length, buffer.size);
    assert_int_equal(dp_wire_decode(got, buffer.data, length, NULL), 0);
    assert_true(same_frame(sent, got));
    assert_int_equal(got->lap, 12);
    assert_int_equal(got->label, DP_LABEL_BOUNDED);
    assert_int_equal(got->records, 4);
    assert_int_equal(dp_frame_record(got, DP_F_NONE)->epoch_laps, 4);
    assert_int_equal(dp_frame_record(got, DP_F_WITHIN)->draws, 40);
    assert_true(dp_frame_record(got, DP_F_WITHIN)->contraction == 0.75);
    const struct dp_record *sum = dp_frame_record(got, DP_F_SUM);
    assert_true(sum->scale == 0.625 && sum->shares == 4 && sum->colluding == 1 && sum->gathered == 3 && sum->promised == 1.125);
    assert_true(dp_frame_record(got, DP_F_WITHIN)->shares == 0 && dp_frame_record(got, DP_F_WITHIN)->promised == 0);
    assert_int_equal(dp_frame_record(got, DP_F_SUM)->adjacency, DP_ADJACENCY_NULL_RECORD);
    const struct dp_query *query = &dp_frame_record(got, DP_F_WITHIN)->query;
    assert_true(dp_query_same(query, &dp_frame_record(sent, DP_F_WITHIN)->query));
    assert_int_equal(query->most, 9);
    query = &dp_frame_record(got, DP_F_CHOICE)->query;
    assert_true(dp_query_same(query, &dp_frame_record(sent, DP_F_CHOICE)->query) && query->objective == 2);
    for (int i = 0; i < DP_F_COUNT; i++) {
        const struct dp_value *v = &sent->value[i], *w = &got->value[i];
        assert_true(w->present);
        if (dp_fields[i].type == DP_T_TEXT)
            assert_string_equal(v->text, w->text);
        if (dp_fields[i].type == DP_T_INT)
            assert_true(v->u.whole == w->u.whole);
        if (dp_fields[i].type == DP_T_ARRAY)
            assert_memory_equal(v->array.data, w->array.data, v->array.count * dp_dtype_size(v->array.dtype));
    }
    struct dp_frame *copy = new_frame(DP_KIND_END);
    dp_frame_copy(copy, got);
    assert_true(same_frame(copy, sent));
    dp_frame_strip(copy);
    for (int i = 0; i < DP_F_COUNT; i++) {
        enum dp_visibility v = dp_fields[i].visibility;
        assert_int_equal(copy->value[i].present, v == DP_FIXED || v == DP_MOVING || v == DP_PAID);
    }
    dp_frame_free(copy);
    dp_frame_free(sent);
    dp_frame_free(got);
    msgpack_sbuffer_destroy(&buffer);
}

/* A frame that is used again keeps nothing of its earlier content. */
TEST(frames_do_not_leak_into_each_other)
{
    msgpack_sbuffer large, small;
    msgpack_sbuffer_init(&large);
    append(&large, full_lap());
    small_stream(&small);
    struct dp_frame *reused = new_frame(DP_KIND_END), *fresh = new_frame(DP_KIND_END);
    for (size_t at = 0, length; at < small.size; at += length) {
        assert_int_equal(dp_wire_decode(reused, large.data, large.size, NULL), 0);
        assert_int_equal(dp_wire_scan(&(struct dp_scan){0}, small.data + at, small.size - at, &length, NULL), 1);
        assert_int_equal(dp_wire_decode(reused, small.data + at, length, NULL), 0);
        assert_int_equal(dp_wire_decode(fresh, small.data + at, length, NULL), 0);
        assert_true(same_frame(reused, fresh));
    }
    dp_frame_free(reused);
    dp_frame_free(fresh);
    msgpack_sbuffer_destroy(&large);
    msgpack_sbuffer_destroy(&small);
}

TEST(every_truncation)
{
    msgpack_sbuffer streams[2];
    small_stream(&streams[0]);
    msgpack_sbuffer_init(&streams[1]);
    append(&streams[1], full_lap());
    struct dp_frame *frame = new_frame(DP_KIND_END);
    for (int s = 0; s < 2; s++) {
        int frames = 0;
        for (size_t size = 0; size <= streams[s].size; size++) {
            char *copy = malloc(size > 0 ? size : 1);
            bool whole;
            memcpy(copy, streams[s].data, size);
            int rc = read_all(copy, size, frame, &whole);
            assert_true(rc == frames || (whole && rc == frames + 1));
            frames = rc;
            free(copy);
        }
        assert_int_equal(frames, s == 0 ? 3 : 1);
        msgpack_sbuffer_destroy(&streams[s]);
    }
    dp_frame_free(frame);
}

/* A frame that was read is a normal frame: it can be written and read again. */
static void check_usable(const struct dp_frame *frame)
{
    msgpack_sbuffer buffer;
    size_t length;
    struct dp_frame *again = new_frame(DP_KIND_END);
    msgpack_sbuffer_init(&buffer);
    assert_int_equal(dp_wire_encode(&buffer, frame, NULL), 0);
    assert_int_equal(dp_wire_scan(&(struct dp_scan){0}, buffer.data, buffer.size, &length, NULL), 1);
    assert_int_equal(dp_wire_decode(again, buffer.data, length, NULL), 0);
    assert_true(same_frame(frame, again));
    dp_frame_free(again);
    msgpack_sbuffer_destroy(&buffer);
}

TEST(every_byte_replaced_by_every_other)
{
    msgpack_sbuffer stream;
    small_stream(&stream);
    struct dp_frame *frame = new_frame(DP_KIND_END);
    char *copy = malloc(stream.size);
    int errors = 0, frames = 0;
    for (size_t at = 0; at < stream.size; at++) {
        for (int change = 1; change < 256; change++) {
            bool whole;
            memcpy(copy, stream.data, stream.size);
            copy[at] = (char)(copy[at] ^ change);
            int rc = read_all(copy, stream.size, frame, &whole);
            if (rc >= 0 && whole) {
                check_usable(frame);
                frames++;
            } else {
                errors++;
            }
        }
    }
    assert_true(errors > 0 && frames > 0);
    free(copy);
    msgpack_sbuffer_destroy(&stream);
    dp_frame_free(frame);
}

TEST(every_byte_of_a_full_frame_flipped)
{
    msgpack_sbuffer stream;
    msgpack_sbuffer_init(&stream);
    append(&stream, full_lap());
    struct dp_frame *frame = new_frame(DP_KIND_END);
    char *copy = malloc(stream.size);
    for (size_t at = 0; at < stream.size; at++) {
        for (int bit = 0; bit < 9; bit++) {
            bool whole;
            memcpy(copy, stream.data, stream.size);
            copy[at] = (char)(copy[at] ^ (bit < 8 ? 1 << bit : 0xff));
            if (read_all(copy, stream.size, frame, &whole) > 0)
                check_usable(frame);
        }
    }
    free(copy);
    msgpack_sbuffer_destroy(&stream);
    dp_frame_free(frame);
}

/* The same through a file descriptor, where the bytes come in pieces. */
TEST(truncated_files)
{
    msgpack_sbuffer stream;
    small_stream(&stream);
    struct dp_frame *frame = new_frame(DP_KIND_END);
    for (size_t size = 0; size <= stream.size; size++) {
        err = (struct dp_err){0};
        struct dp_port *port;
        int rc, fd = memfd_create("stream", 0);
        assert_int_equal(write(fd, stream.data, size), size);
        lseek(fd, 0, SEEK_SET);
        dp_port_open_fd(&port, fd, "it", DP_IN);
        while ((rc = dp_port_read(port, frame, &err)) == 1)
            ;
        if (rc < 0) {
            assert_fails(rc, DP_E_UPSTREAM, "it ends inside a frame");
        }
        dp_port_close(port);
    }
    msgpack_sbuffer_destroy(&stream);
    dp_frame_free(frame);
}

/* --- by hand ---------------------------------------------------------------------------------------------------- */

static void scan_fails(const char *bytes, size_t size, const char *message)
{
    struct dp_err err = {0};
    size_t length;
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    assert_fails(dp_wire_scan(&(struct dp_scan){0}, copy, size, &length, &err), DP_E_RUN, message);
    free(copy);
}
#define SCAN_FAILS(bytes, message) scan_fails(bytes, sizeof(bytes) - 1, message)

TEST(limits_are_checked_on_headers)
{
    SCAN_FAILS("\x93", "no model and no other stream of dpline: it begins with byte 0x93");
    SCAN_FAILS("{\"kind\":\"hello\"}", "no model and no other stream of dpline: it begins with '{', as a text does");
    SCAN_FAILS("\x81\xc1", "corrupt frame: byte 0xc1 at offset 1 is not msgpack");
    SCAN_FAILS("\xdf\xff\xff\xff\xff", "corrupt frame: 4294967295 entries in one list or map, the limit is 256");
    SCAN_FAILS("\xde\x01\x01", "corrupt frame: 257 entries in one list or map, the limit is 256");
    SCAN_FAILS("\x81\xa7records\xdd\x00\x00\x02\x01", "corrupt frame: 513 entries in one list or map, the limit is 256");
    SCAN_FAILS("\x81\xdb\x00\x10\x00\x01", "corrupt frame: a string of 1048577 bytes, the limit is 1048576");
    SCAN_FAILS("\x81\xa1x\xc9\xff\xff\xff\xff\x01", "the frame is larger than the limit of 1073741824 bytes");
    SCAN_FAILS("\x81\xa1x\xc6\x40\x00\x00\x00", "the frame is larger than the limit of 1073741824 bytes");
    SCAN_FAILS("\x81\x90", "corrupt frame: a key is not a string");
    SCAN_FAILS("\x82\xa4kind\xa3lap\x80", "corrupt frame: a key is not a string");
    SCAN_FAILS("\x81\xa3k00\x91\xc0", "corrupt frame: 'k00' is a list or map");
    SCAN_FAILS("\x81\xa3k00\x80", "corrupt frame: 'k00' is a list or map");
    SCAN_FAILS("\x81\xa7records\x91\x81\xa1x\x91\xc0", "corrupt frame: nested deeper than 3");
}

/* 16 records of 256 nils each are 4096 values; the frame, its key and the list are further values. */
TEST(values_are_counted)
{
    char bytes[8192], *p = bytes;
    p = stpcpy(p, "\x81\xa7records\xdc");
    *p++ = 0;
    *p++ = 16;
    for (int i = 0; i < 16; i++) {
        *p++ = (char)0xdc;
        *p++ = 1;
        *p++ = 0;
        memset(p, 0xc0, 256);
        p += 256;
    }
    scan_fails(bytes, (size_t)(p - bytes), "corrupt frame: more than 4096 values");
}

/* A scan that waited for bytes continues where it stopped, and does not examine earlier bytes again. So the time for a frame is
   proportional to its length, however small the pieces are in which it arrives. */
TEST(scans_go_on)
{
    msgpack_sbuffer stream;
    size_t length;
    msgpack_sbuffer_init(&stream);
    append(&stream, full_lap());
    for (size_t step = 1; step < 40; step += 3) {
        struct dp_scan scan = {0};
        char *copy = malloc(stream.size);
        memcpy(copy, stream.data, stream.size);
        for (size_t size = 0; size < stream.size; size += step) {
            char *piece = malloc(size > 0 ? size : 1);
            memcpy(piece, copy, size);
            assert_int_equal(dp_wire_scan(&scan, piece, size, &length, NULL), 0);
            assert_true(length > size && length <= stream.size);
            assert_true(scan.at <= size);
            memset(copy, 0xc1, scan.key > 0 && scan.key < scan.at ? scan.key : scan.at);
            free(piece);
        }
        assert_int_equal(dp_wire_scan(&scan, copy, stream.size, &length, NULL), 1);
        assert_int_equal(length, stream.size);
        assert_true(scan.at == 0 && !scan.begun);
        free(copy);
    }
    msgpack_sbuffer_destroy(&stream);
}

/* A map of one kind and `count` entries that pack adds. */
static int decode_with(enum dp_kind kind, int count, void (*pack)(msgpack_packer *pk), struct dp_err *err)
{
    msgpack_sbuffer buffer;
    msgpack_packer pk;
    size_t length;
    struct dp_frame *frame = new_frame(DP_KIND_END);
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&pk, &buffer, msgpack_sbuffer_write);
    msgpack_pack_map(&pk, (size_t)count + 1);
    msgpack_pack_str_with_body(&pk, "kind", 4);
    msgpack_pack_str_with_body(&pk, dp_kind_name(kind), strlen(dp_kind_name(kind)));
    pack(&pk);
    int rc = dp_wire_scan(&(struct dp_scan){0}, buffer.data, buffer.size, &length, err);
    assert_int_equal(rc, 1);
    assert_int_equal(length, buffer.size);
    rc = dp_wire_decode(frame, buffer.data, length, err);
    msgpack_sbuffer_destroy(&buffer);
    dp_frame_free(frame);
    return rc;
}

static void text(msgpack_packer *pk, const char *s)
{
    msgpack_pack_str_with_body(pk, s, strlen(s));
}

static void expect(enum dp_kind kind, int count, void (*pack)(msgpack_packer *pk), const char *message)
{
    struct dp_err err = {0};
    int rc = decode_with(kind, count, pack, &err);
    assert_int_equal(rc, message == NULL ? DP_OK : DP_E_RUN);
    if (message != NULL)
        assert_string_equal(err.message, message);
}

/* The value of JSON text. */
static void pack_json(msgpack_packer *pk, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(value)) {
        msgpack_pack_map(pk, json_object_size(value));
        json_object_foreach ((json_t *)value, key, member) {
            text(pk, key);
            pack_json(pk, member);
        }
    } else if (json_is_array(value)) {
        msgpack_pack_array(pk, json_array_size(value));
        json_array_foreach (value, i, member)
            pack_json(pk, member);
    } else if (json_is_string(value)) {
        msgpack_pack_str_with_body(pk, json_string_value(value), json_string_length(value));
    } else if (json_is_boolean(value)) {
        json_is_true(value) ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
    } else if (json_is_real(value)) {
        msgpack_pack_double(pk, json_real_value(value));
    } else {
        msgpack_pack_int64(pk, json_integer_value(value));
    }
}

static json_t *entries; /* keys and values by turns: a frame may have a key twice */
static void put_entries(msgpack_packer *pk)
{
    json_t *entry;
    size_t i;
    json_array_foreach (entries, i, entry)
        pack_json(pk, entry);
}

/* A record with every member except members of queries, in JSON. more: comes before the kind, which decides if it is allowed */
#define RECORD(sampler, noise, more)                                                                                           \
    "{'sampler': '" sampler "', 'adjacency': 'null-record', 'release': 'sum', 'rate': 0.5, 'bound': 0.5, 'sensitivity': 0.5, " \
    "'scale': 0.5, 'rows': 7, 'epoch_laps': 7, " more " 'noise': '" noise "'}"
#define RECORDS(sampler, noise, more) "['records', [" RECORD(sampler, noise, "'of': 'sum', " more) "]]"
#define FORMAT "corrupt frame: 'format' has the wrong type or value"
static const struct {
    enum dp_kind kind;
    const char *entries, *message; /* the message is NULL if the frame is read */
} refusals[] = {
    {DP_KIND_HELLO, "['colour', 1]", "unknown field 'colour' in a frame"},
    {DP_KIND_HELLO, "[7, 1]", "corrupt frame: a key is not a string"},
    {DP_KIND_HELLO, "['format', '1']", FORMAT},
    {DP_KIND_HELLO, "['epsilon', 1]", NULL},
    {DP_KIND_HELLO, "['seeded', 1]", "corrupt frame: 'seeded' has the wrong type or value"},
    {DP_KIND_HELLO, "['format', 1, 'format', 1]", "corrupt frame: 'format' is in it twice"},
    {DP_KIND_HELLO, "['as_published', true, 'as_published', false]", "corrupt frame: 'as_published' is in it twice"},
    {DP_KIND_HELLO, "['epsilon_sound', 0.7, 'epsilon_sound', 0.1]", "corrupt frame: 'epsilon_sound' is in it twice"},
    {DP_KIND_HELLO, "['kind', 'lap']", "unknown field 'kind' in a frame"},
    {DP_KIND_ERROR, "['message', 'a\\u0000b']", "corrupt frame: 'message' has the wrong type or value"},
    {DP_KIND_HELLO, "['lap', 1]", "unknown field 'lap' in a frame"},
    {DP_KIND_LAP, "['lap', 1]", "corrupt frame: lap, label or records is missing"},
    {DP_KIND_LAP, "['lap', 1, 'lap', 1]", "corrupt frame: an entry is in it twice"},
    {DP_KIND_LAP, "['lap', -1]", "corrupt frame: 'lap' has the wrong type or value"},
    {DP_KIND_LAP, "['label', 'secret']", "corrupt frame: 'label' has the wrong type or value"},
    {DP_KIND_LAP, "['records', [3]]", "corrupt frame: 'records' has the wrong type or value"},
    {DP_KIND_LAP, "['records', [{}]]", "corrupt frame: a record has no 'sampler'"},
    {DP_KIND_LAP, "['records', [{'sampler': 'psychic'}]]", "corrupt frame: 'sampler' has the wrong type or value"},
    {DP_KIND_LAP, "['records', [{'colour': 'red'}]]", "corrupt frame: unknown entry 'colour' in a record"},
    {DP_KIND_LAP, "['records', [{'of': 'everybody'}]]", "corrupt frame: 'of' has the wrong type or value"},
    {DP_KIND_LAP, "['records', [{'rows': 9007199254740993}]]", "corrupt frame: 'rows' has the wrong type or value"},
    {DP_KIND_LAP, RECORDS("poisson", "gamma", ""), "corrupt frame: a record has no 'multiplier'"},
    {DP_KIND_LAP, RECORDS("repeated", "none", ""), "corrupt frame: a record has no 'draws'"},
    {DP_KIND_LAP, RECORDS("poisson", "none", "'contraction': 2.0,"),
     "corrupt frame: a record of sampler 'poisson' has a 'contraction'"},
    {DP_KIND_LAP, RECORDS("poisson", "none", "'shares': 2,"), "corrupt frame: a record has no 'colluding'"},
    {DP_KIND_LAP, RECORDS("poisson", "none", "'gathered': 2,"), "corrupt frame: a record has a 'gathered' that says nothing"},
    {DP_KIND_LAP, RECORDS("poisson", "none", "'promised': 0.0,"), "corrupt frame: a record has a 'promised' that says nothing"},
    {DP_KIND_LAP, RECORDS("poisson", "none", "'multiplier': 2.0,"),
     "corrupt frame: a record of noise 'none' has a 'multiplier'"},
    {DP_KIND_LAP, "['mechanisms', [" RECORD("poisson", "gaussian", "'of': 'sum', 'multiplier': 2.0,") "]]",
     "corrupt frame: a record of format 1 has an 'of'"},
};

/* Values that JSON does not have: a number beyond 64 bits with a sign, and text that is no UTF-8. */
static void too_large_a_number(msgpack_packer *pk)
{
    text(pk, "format");
    msgpack_pack_uint64(pk, UINT64_MAX);
}
/* A list of one record of one member, whose value comes next */
static void open_record(msgpack_packer *pk, const char *member)
{
    text(pk, "records");
    msgpack_pack_array(pk, 1);
    msgpack_pack_map(pk, 1);
    text(pk, member);
}
/* A sampler's name that continues after its first NUL, at all lengths. */
static size_t long_name;
static void record_with_more_than_a_name(msgpack_packer *pk)
{
    char name[64] = "full";
    memset(name + 5, 'x', sizeof name - 5);
    open_record(pk, "sampler");
    msgpack_pack_str_with_body(pk, name, long_name);
}
/* The name of a kind of laps, except for one byte, which is not even UTF-8. */
static void record_on_no_kind_of_laps(msgpack_packer *pk)
{
    open_record(pk, "on");
    text(pk, "desce\x8bt");
}
static void record_with_a_rate_twice(msgpack_packer *pk)
{
    text(pk, "records");
    msgpack_pack_array(pk, 1);
    msgpack_pack_map(pk, 2);
    for (int i = 0; i < 2; i++) {
        text(pk, "rate");
        msgpack_pack_double(pk, 0.5);
    }
}

/* A lap in format 1: the order of the records determines their fields, except for a record whose rows are still to be
   summed. */
TEST(records_of_format_1)
{
    static const char *const laps[] = {
        "{'kind': 'lap', 'lap': 1, 'label': 'raw', 'mechanisms': [" RECORD("poisson", "none", "'multiplier': 2.0,") "]}",
        "{'kind': 'lap', 'lap': 1, 'label': 'noised', 'mechanisms': [" RECORD(
            "poisson", "laplace",
            "'multiplier': 2.0,") ", " RECORD("poisson", "gaussian",
                                              "'multiplier': 2.0,") ", " RECORD("poisson", "gaussian",
                                                                                "'multiplier': 2.0,") "]}"};
    struct dp_frame *frame = new_frame(DP_KIND_END);
    for (int noised = 0; noised < 2; noised++) {
        msgpack_sbuffer buffer;
        msgpack_packer pk;
        json_t *lap = json_loads(json_of(laps[noised]), 0, NULL);
        err = (struct dp_err){0};
        msgpack_sbuffer_init(&buffer);
        msgpack_packer_init(&pk, &buffer, msgpack_sbuffer_write);
        pack_json(&pk, lap);
        json_decref(lap);
        assert_ok(dp_wire_read(frame, buffer.data, buffer.size, &err));
        msgpack_sbuffer_destroy(&buffer);
        assert_int_equal(frame->records, noised ? 3 : 1);
        assert_non_null(dp_frame_record(frame, DP_F_NONE));
        assert_true(noised == (dp_frame_record(frame, DP_F_SUM) != NULL) &&
                    noised == (dp_frame_record(frame, DP_F_WITHIN) != NULL));
        const struct dp_record *first = dp_frame_record(frame, noised ? DP_F_SUM : DP_F_NONE);
        assert_int_equal(first->query.kind, noised ? DP_QUERY_DISCRETE_LAPLACE : DP_QUERY_NONE);
        assert_true(first->query.multiplier == (noised ? 2 : 0));
    }
    dp_frame_free(frame);
}

TEST(one_record_for_a_field)
{
    struct dp_frame *frame = new_frame(DP_KIND_LAP);
    struct dp_record open = {.of = DP_F_NONE}, sum = {.of = DP_F_SUM};
    frame->lap = 3;
    assert_int_equal(dp_frame_add_record(frame, &open, &err), 0);
    assert_fails(dp_frame_add_record(frame, &open, &err), DP_E_RUN, "the rows of lap 3 have been sampled already");
    assert_int_equal(dp_frame_add_record(frame, &sum, &err), 0);
    assert_fails(dp_frame_add_record(frame, &sum, &err), DP_E_RUN, "'sum' of lap 3 has a record already");
    /* a hello frame may have one record for each kind of laps */
    assert_int_equal(dp_frame_add_record(frame, &(struct dp_record){.of = DP_F_SUM, .on = "search"}, &err), 0);
    for (int i = 3; i < DP_MAX_RECORDS; i++)
        assert_int_equal(dp_frame_add_record(frame, &(struct dp_record){.of = (enum dp_field)(i % DP_F_SUM), .on = "a"}, &err),
                         0);
    assert_fails(dp_frame_add_record(frame, &(struct dp_record){.of = DP_F_WITHIN}, &err), DP_E_RUN,
                 "the frame of lap 3 holds 32 records already");
    dp_frame_free(frame);
}

/* A field read from private rows does not outlive its lap, whatever the rest of the table says. */
TEST(nothing_private_lives_on)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_PRIVATE || dp_fields[i].visibility == DP_TOLD)
            assert_true(dp_fields[i].lifetime == DP_LIFETIME_HELLO || dp_fields[i].lifetime == DP_LIFETIME_LAP);
}

TEST(a_lap_begins_with_what_the_last_one_released)
{
    static const enum dp_field gone[] = {DP_F_SUM, DP_F_ROWS, DP_F_X, DP_F_Y, DP_F_UPDATES, DP_F_GAP, DP_F_COLUMNS, DP_F_SEED},
                               here[] = {DP_F_MODEL, DP_F_AVERAGE, DP_F_WITHIN, DP_F_BOUND, DP_F_NOISE_SCALE, DP_F_EPSILON};
    struct dp_frame *last = full_lap(), *token = new_frame(DP_KIND_HELLO);
    for (int in_place = 0; in_place < 2; in_place++) {
        struct dp_frame *f = in_place ? last : token;
        dp_frame_set_bool(last, DP_F_SEEDED, false);
        dp_frame_begin_lap(f, last, 13, 20, in_place);
        assert_int_equal(f->kind, DP_KIND_LAP);
        assert_int_equal(f->label, DP_LABEL_RELEASED);
        assert_int_equal(f->lap, 13);
        assert_int_equal(f->records, 0);
        assert_int_equal(dp_frame_int(f, DP_F_LAPS, 0), 20);
        assert_int_equal(dp_frame_bool(f, DP_F_SEEDED), in_place);
        for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
            assert_false(dp_frame_has(f, gone[i]));
        for (size_t i = 0; i < sizeof here / sizeof *here; i++)
            assert_true(dp_frame_has(f, here[i]) && dp_frame_same_field(f, last, here[i]));
    }
    dp_frame_free(last);
    dp_frame_free(token);
}

TEST(a_run_begins_with_the_model)
{
    static const enum dp_field gone[] = {DP_F_AVERAGE,     DP_F_AVERAGED, DP_F_WITHIN, DP_F_BOUND,
                                         DP_F_INTERRUPTED, DP_F_SUM,      DP_F_GRID},
                               here[] = {DP_F_MODEL,  DP_F_SCALE,  DP_F_EPSILON,    DP_F_DELTA,
                                         DP_F_LEDGER, DP_F_SEEDED, DP_F_NON_PRIVATE};
    struct dp_frame *model = full_lap();
    dp_frame_begin_run(model);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_false(dp_frame_has(model, gone[i]));
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        assert_true(dp_frame_has(model, here[i]));
    dp_frame_free(model);
}

static void nine_records(msgpack_packer *pk)
{
    text(pk, "records");
    msgpack_pack_array(pk, DP_MAX_RECORDS + 1);
    for (int i = 0; i <= DP_MAX_RECORDS; i++)
        msgpack_pack_map(pk, 0);
}

static bool reads_whole(enum dp_field field, int64_t value)
{
    struct dp_frame *frame = new_frame(DP_KIND_END), *read = new_frame(DP_KIND_END);
    msgpack_sbuffer buffer;
    struct dp_err err = {0};
    char expected[100];
    msgpack_sbuffer_init(&buffer);
    dp_frame_set_int(frame, field, value);
    assert_int_equal(dp_wire_encode(&buffer, frame, &err), DP_OK);
    int rc = dp_wire_read(read, buffer.data, buffer.size, &err);
    snprintf(expected, sizeof expected, "corrupt frame: '%s' has the wrong type or value", dp_fields[field].key);
    if (rc != DP_OK)
        assert_string_equal(err.message, expected);
    msgpack_sbuffer_destroy(&buffer);
    dp_frame_free(frame);
    dp_frame_free(read);
    return rc == DP_OK;
}

/* A number that is added to or counted with must not overflow, in the frames of any peer. */
TEST(whole_numbers_have_ranges)
{
    const int64_t lap = (int64_t)1 << 40, whole = (int64_t)1 << 53;
    const struct {
        enum dp_field field;
        int64_t most;
    } ranges[] = {{DP_F_FORMAT, INT32_MAX},
                  {DP_F_SHARD, INT32_MAX},
                  {DP_F_SHARDS, INT32_MAX},
                  {DP_F_STAGE, 4096},
                  {DP_F_MODEL_LAP, lap},
                  {DP_F_LAPS, lap},
                  {DP_F_TURN, lap},
                  {DP_F_N, whole},
                  {DP_F_CLASSES, INT32_MAX},
                  {DP_F_AVERAGED, lap},
                  {DP_F_LABEL_COLUMNS, INT32_MAX},
                  {DP_F_FIRST_ROW, whole},
                  {DP_F_LOST, INT32_MAX}};
    size_t wholes = 0;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        assert_true(reads_whole(ranges[i].field, 0) && reads_whole(ranges[i].field, ranges[i].most));
        assert_false(reads_whole(ranges[i].field, -1) || reads_whole(ranges[i].field, ranges[i].most + 1));
        assert_false(reads_whole(ranges[i].field, INT64_MIN) || reads_whole(ranges[i].field, INT64_MAX));
    }
    assert_true(reads_whole(DP_F_STATUS, INT32_MIN) && reads_whole(DP_F_STATUS, INT32_MAX));
    assert_false(reads_whole(DP_F_STATUS, (int64_t)INT32_MIN - 1) || reads_whole(DP_F_STATUS, (int64_t)INT32_MAX + 1));
    assert_true(reads_whole(DP_F_SEED, INT64_MIN) && reads_whole(DP_F_SEED, INT64_MAX));
    for (int f = 0; f < DP_F_COUNT; f++)
        wholes += dp_fields[f].type == DP_T_INT;
    assert_int_equal(wholes, sizeof ranges / sizeof *ranges + 2);
}

TEST(decoding_refuses)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        entries = json_loads(json_of(refusals[i].entries), JSON_ALLOW_NUL, NULL);
        assert_non_null(entries);
        expect(refusals[i].kind, (int)json_array_size(entries) / 2, put_entries, refusals[i].message);
        json_decref(entries);
    }
    expect(DP_KIND_HELLO, 1, too_large_a_number, FORMAT);
    for (long_name = 5; long_name <= 64; long_name++)
        expect(DP_KIND_LAP, 1, record_with_more_than_a_name, "corrupt frame: 'sampler' has the wrong type or value");
    expect(DP_KIND_LAP, 1, record_on_no_kind_of_laps, "corrupt frame: 'on' has the wrong type or value");
    expect(DP_KIND_LAP, 1, record_with_a_rate_twice, "corrupt frame: 'rate' is twice in a record");
    expect(DP_KIND_LAP, 1, nine_records, "corrupt frame: 'records' has the wrong type or value");
}

static unsigned char array_bytes[64];
static size_t array_size;

static void packed_array(msgpack_packer *pk)
{
    text(pk, "model");
    msgpack_pack_ext(pk, array_size, DP_EXT_ARRAY);
    msgpack_pack_ext_body(pk, array_bytes, array_size);
}

static void array(unsigned char dtype, unsigned char ndim, uint64_t d0, uint64_t d1, size_t data, const char *message)
{
    memset(array_bytes, 0, sizeof array_bytes);
    array_bytes[0] = dtype;
    array_bytes[1] = ndim;
    memcpy(array_bytes + 2, &d0, 8);
    memcpy(array_bytes + 10, &d1, 8);
    array_size = 2 + 8 * (size_t)ndim + data;
    expect(DP_KIND_HELLO, 1, packed_array, message);
}

TEST(arrays_must_fit_their_shape)
{
    const char *header = "corrupt frame: the array 'model' has a bad header";
    array(DP_F64, 1, 2, 0, 16, NULL);
    array(DP_F64, 2, 0, 7, 0, NULL);
    array(DP_I32, 2, 3, 1, 12, NULL);
    array(0, 1, 2, 0, 16, header);
    array(5, 1, 2, 0, 16, header);
    array(DP_F64, 0, 0, 0, 0, header);
    array(DP_F64, 5, 1, 1, 8, header);
    array(DP_F64, 1, 2, 0, 15, "corrupt frame: the array 'model' has 15 bytes, its shape needs 16");
    array(DP_F64, 1, 2, 0, 24, "corrupt frame: the array 'model' has 24 bytes, its shape needs 16");
    array(DP_F64, 1, (uint64_t)1 << 61, 0, 0, "corrupt frame: the array 'model' is too large");
    array(DP_F64, 2, (uint64_t)1 << 33, (uint64_t)1 << 33, 0, "corrupt frame: the array 'model' is too large");
    array(DP_F64, 2, UINT64_MAX, UINT64_MAX, 0, "corrupt frame: the array 'model' is too large");
    array_bytes[0] = DP_F64;
    array_bytes[1] = 2;
    for (array_size = 0; array_size < 18; array_size++)
        expect(DP_KIND_HELLO, 1, packed_array, array_size < 2 ? "corrupt frame: 'model' has the wrong type or value" : header);
}

/* Every number of a model, its scale and its shape are in its digest; of a run that averages, the average. */
TEST(a_digest_covers_every_number)
{
    char digest[2 * 12 + 4][DP_MODEL_DIGEST];
    size_t count = 0;
    struct dp_frame *f = new_frame(DP_KIND_LAP);
    double *w = make_array(f, DP_F_MODEL, DP_F64, 3, 4), *average = NULL;
    for (size_t i = 0; i < 12; i++)
        w[i] = (double)i;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(dp_model_digest(f, digest[count++], NULL), 0);
        for (size_t i = 0; i < 12; i++) {
            double *number = average != NULL ? average : w, before = number[i];
            number[i] = nextafter(before, 200);
            assert_int_equal(dp_model_digest(f, digest[count++], NULL), 0);
            number[i] = before;
        }
        average = round == 0 ? make_array(f, DP_F_AVERAGE, DP_F64, 3, 4) : average;
        for (size_t i = 0; i < 12; i++)
            average[i] = 100 - (double)i;
    }
    dp_frame_set_real(f, DP_F_SCALE, 0.5);
    assert_int_equal(dp_model_digest(f, digest[count++], NULL), 0);
    dp_frame_free(f);
    f = new_frame(DP_KIND_LAP);
    w = make_array(f, DP_F_MODEL, DP_F64, 4, 3);
    for (size_t i = 0; i < 12; i++)
        w[i] = (double)i;
    assert_int_equal(dp_model_digest(f, digest[count++], NULL), 0);
    dp_frame_free(f);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(digest[i], digest[j]);
}

/* 100 rows in batches of 30 are 30, 30, 30 and 10. */
TEST(epochs_are_cut_in_whole_rows)
{
    static const struct {
        int64_t rows;
        double rate;
        int64_t laps;
    } epochs[] = {{100, 0.3, 4},    {100, 0.25, 4}, {100, 0.254, 4}, {100, 0.256, 4}, {100, 0.246, 4},  {100, 1, 1},
                  {100, 1e-9, 100}, {1, 0.2, 1},    {101, 0.5, 2},   {7, 2 / 7., 4},  {INT64_MAX, 1, 1}};
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++)
        assert_int_equal(dp_record_epoch_laps(epochs[i].rows, epochs[i].rate), epochs[i].laps);
}

TESTS(NULL, NULL)
