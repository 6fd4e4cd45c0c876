/* The content of a checkpoint's files: written and read, truncated at every byte, and with invalid entries. */
#include "unit.h"

#include "wire/state.h"

static const double reals[] = {1.5, -0.0, 1e300};
static const int64_t ints[] = {INT64_MIN, -1, INT64_MAX};

static void encode(msgpack_sbuffer *buffer)
{
    struct dp_state kept = {0};
    dp_state_put_int(&kept, "whole", -5);
    dp_state_put_real(&kept, "real", 0.1);
    dp_state_put_text(&kept, "text", "dp-step");
    dp_state_put_reals(&kept, "reals", reals, 3);
    dp_state_put_ints(&kept, "ints", ints, 3);
    dp_state_put_reals(&kept, "none", NULL, 0);
    msgpack_sbuffer_init(buffer);
    assert_int_equal(dp_state_encode(&kept, buffer, NULL), 0);
}

TEST(what_is_written_is_read)
{
    msgpack_sbuffer buffer;
    struct dp_state kept;
    int64_t whole, *i;
    double real, *r;
    size_t count;
    char text[8];
    encode(&buffer);
    assert_int_equal(dp_state_decode(&kept, buffer.data, buffer.size, &err), 0);
    assert_int_equal(dp_state_get_int(&kept, "whole", -5, -5, &whole, &err), 0);
    assert_int_equal(dp_state_get_int(&kept, "whole", -4, 9, &whole, &err), DP_E_RUN);
    assert_int_equal(dp_state_get_int(&kept, "real", 0, 9, &whole, &err), DP_E_RUN);
    assert_int_equal(dp_state_get_int(&kept, "gone", 0, 9, &whole, &err), DP_E_RUN);
    assert_int_equal(dp_state_get_real(&kept, "real", &real, &err), 0);
    assert_true(real == 0.1);
    assert_int_equal(dp_state_get_text(&kept, "text", text, 8, &err), 0);
    assert_string_equal(text, "dp-step");
    assert_int_equal(dp_state_get_text(&kept, "text", text, 7, &err), DP_E_RUN);
    assert_int_equal(dp_state_get_reals(&kept, "reals", &r, &count, &err), 0);
    assert_int_equal(count, 3);
    assert_memory_equal(r, reals, sizeof reals);
    free(r);
    assert_int_equal(dp_state_get_ints(&kept, "ints", &i, &count, &err), 0);
    assert_memory_equal(i, ints, sizeof ints);
    free(i);
    assert_int_equal(dp_state_get_reals(&kept, "none", &r, &count, &err), 0);
    assert_true(r == NULL && count == 0);
    assert_int_equal(dp_state_get_reals(&kept, "text", &r, &count, &err), DP_E_RUN); /* seven bytes */
    assert_true(dp_state_has(&kept, "none") && !dp_state_has(&kept, "gone"));
    msgpack_sbuffer_destroy(&buffer);
}

TEST(cut_anywhere_it_is_refused)
{
    msgpack_sbuffer buffer;
    struct dp_state kept;
    encode(&buffer);
    for (size_t size = 0; size < buffer.size; size++) {
        char *copy = malloc(size > 0 ? size : 1); /* a block of exactly that size, for tools that check every access */
        memcpy(copy, buffer.data, size);
        assert_int_equal(dp_state_decode(&kept, copy, size, NULL), DP_E_RUN);
        free(copy);
    }
    msgpack_sbuffer_write(&buffer, "\0", 1);
    assert_int_equal(dp_state_decode(&kept, buffer.data, buffer.size, NULL), DP_E_RUN);
    msgpack_sbuffer_destroy(&buffer);
}

/* Whether these bytes are read. */
static bool reads(const char *bytes, size_t size)
{
    struct dp_state kept = {0};
    struct dp_err err = {0};
    int rc = dp_state_decode(&kept, bytes, size, &err);
    assert_true(rc == DP_OK || rc == DP_E_RUN);
    assert_string_equal(err.message, rc == DP_OK ? "" : "it is damaged, or no file of a checkpoint");
    return rc == DP_OK;
}

/* A complete map of `count` whole numbers a0, a1, … */
static bool reads_entries(uint32_t count)
{
    msgpack_sbuffer buffer;
    msgpack_packer pk;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&pk, &buffer, msgpack_sbuffer_write);
    msgpack_pack_map(&pk, count);
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "a%u", i);
        msgpack_pack_str(&pk, (size_t)length);
        msgpack_pack_str_body(&pk, name, (size_t)length);
        msgpack_pack_uint32(&pk, i);
    }
    bool read = reads(buffer.data, buffer.size);
    msgpack_sbuffer_destroy(&buffer);
    return read;
}

/* Each invalid entry is next to valid bytes that differ from it in nothing else. */
TEST(what_does_not_belong_there)
{
    struct dp_state kept = {0};
    msgpack_sbuffer buffer;
#define BYTES(...) (const char[]){__VA_ARGS__}, sizeof((const char[]){__VA_ARGS__})
    const char map = (char)0x82, one = (char)0x81, text = (char)0xa1, list = (char)0x91;
    assert_true(reads(BYTES(map, text, 'a', 1, text, 'b', 2)));
    assert_false(reads(BYTES(map, text, 'a', 1, text, 'a', 2))); /* twice */
    assert_true(reads(BYTES(one, text, 'a', 1)));
    assert_false(reads(BYTES(one, text, 'a', list, 1))); /* a list */
    assert_false(reads(BYTES(one, 1, 1)));               /* no name */
    assert_false(reads(BYTES(one, text, 'a', 1, 1)));    /* something after it */
    assert_true(reads_entries(DP_STATE_VALUES));
    assert_false(reads_entries(DP_STATE_VALUES + 1)); /* too many */
    kept.count = 0;
    for (int i = 0; i <= DP_STATE_VALUES; i++)
        dp_state_put_int(&kept, "a", i);
    msgpack_sbuffer_init(&buffer);
    assert_int_equal(dp_state_encode(&kept, &buffer, NULL), DP_E_RUN);
    msgpack_sbuffer_destroy(&buffer);
}

TESTS(NULL, NULL)
