/* Each alias, in a frame and in a charge of an earlier version: it is read, and written with today's name. */
#include "unit.h"

#include "base/alias.h"
#include "ledger/charge_json.h"
#include "wire/codec.h"

/* The bytes with the text `today`, which occurs once, replaced by the text `old`. Texts here are shorter than 32 bytes. */
static size_t rename_text(const msgpack_sbuffer *from, const char *today, const char *old, char *to)
{
    size_t length = strlen(today), at = 0, size = 0;
    while (memcmp(from->data + at + 1, today, length) != 0 || (unsigned char)from->data[at] != (0xa0 | length))
        assert_true(++at + length < from->size);
    memcpy(to, from->data, size = at);
    to[size++] = (char)(0xa0 | strlen(old));
    memcpy(to + size, old, strlen(old));
    size += strlen(old);
    memcpy(to + size, from->data + at + 1 + length, from->size - at - 1 - length);
    return size + from->size - at - 1 - length;
}

static void reads_as(const struct dp_frame *frame, const struct dp_alias *alias)
{
    msgpack_sbuffer buffer, again;
    char old[4096];
    struct dp_err err = {0};
    struct dp_frame *got;
    msgpack_sbuffer_init(&buffer);
    msgpack_sbuffer_init(&again);
    got = dp_frame_new();
    assert_int_equal(dp_wire_encode(&buffer, frame, NULL), 0);
    assert_true(buffer.size < sizeof old / 2);
    size_t size = rename_text(&buffer, alias->today, alias->old, old);
    if (dp_wire_read(got, old, size, &err) != 0)
        fail_msg("'%s': %s", alias->old, err.message);
    assert_int_equal(dp_wire_encode(&again, got, NULL), 0);
    assert_int_equal(again.size, buffer.size);
    assert_memory_equal(again.data, buffer.data, buffer.size);
    dp_frame_free(got);
    msgpack_sbuffer_destroy(&buffer);
    msgpack_sbuffer_destroy(&again);
}

static void field_is_read(const struct dp_alias *alias)
{
    enum dp_field field = dp_field_find(alias->today, strlen(alias->today));
    struct dp_frame *frame;
    void *cells;
    assert_true(field != DP_F_COUNT && dp_field_find(alias->old, strlen(alias->old)) == DP_F_COUNT);
    frame = dp_frame_new();
    dp_frame_reset(frame, DP_KIND_HELLO);
    if (dp_fields[field].type == DP_T_TEXT)
        dp_frame_set_text(frame, field, "x", 1);
    else
        assert_int_equal(dp_frame_make_array(frame, field, DP_F64, 1, 1, &cells, NULL), 0);
    reads_as(frame, alias);
    dp_frame_reset(frame, DP_KIND_HELLO);
    assert_int_equal(dp_frame_add_record(frame, &(struct dp_record){.of = field}, NULL), 0);
    reads_as(frame, alias);
    dp_frame_free(frame);
}

static void sampler_is_read(const struct dp_alias *alias)
{
    struct dp_frame *frame;
    frame = dp_frame_new();
    for (int i = 0; i < DP_SAMPLER_COUNT; i++) {
        dp_frame_reset(frame, DP_KIND_HELLO);
        assert_int_equal(dp_frame_add_record(frame, &(struct dp_record){.of = DP_F_SUM, .sampler = (enum dp_sampler)i}, NULL),
                         0);
        if (strcmp(dp_sampler_names[i], alias->today) == 0)
            break;
        assert_true(i + 1 < DP_SAMPLER_COUNT);
    }
    reads_as(frame, alias);
    dp_frame_free(frame);
}

static void sampling_is_read(const struct dp_alias *alias)
{
    struct dp_err err = {0};
    struct dp_charge charge;
    bool repeated = strcmp(alias->today, "repeated") == 0;
    json_t *json =
        strcmp(alias->today, "tuned") == 0
            ? json_loads("{\"laps\": 1, \"trials\": \"poisson\", \"mean\": 3, \"score_multiplier\": 1, \"settings\": "
                         "[{\"times\": 1, \"charges\": [{\"laps\": 1, \"sampling\": \"none\", \"queries\": "
                         "[{\"noise\": \"gaussian\", \"multiplier\": 3}]}]}]}",
                         0, NULL)
            : json_pack("{s:i, s:f, s:[{s:s, s:f}]}", "laps", 1, "rate", 0.5, "queries", "noise", "gaussian", "multiplier",
                        3.0);
    json_object_set_new(json, "sampling", json_string(alias->old));
    if (repeated) {
        json_object_set_new(json, "draws", json_integer(5));
        json_object_set_new(json, "contraction", json_real(0.5));
    }
    if (dp_charge_from_json(json, NULL, &charge, &err) != 0)
        fail_msg("'%s': %s", alias->old, err.message);
    json_decref(json);
    json = dp_charge_to_json(&charge);
    assert_string_equal(json_string_value(json_object_get(json, "sampling")), alias->today);
    json_decref(json);
    dp_event_free(&charge.event);
}

TEST(each_old_name_is_read)
{
    int seen = 0;
    for (const struct dp_alias *alias = dp_aliases; alias->old != NULL; alias++, seen++) {
        if (alias->place == DP_ALIAS_FIELD)
            field_is_read(alias);
        else if (alias->place == DP_ALIAS_SAMPLER)
            sampler_is_read(alias);
        else
            sampling_is_read(alias);
    }
    assert_true(seen > 0);
}

TEST(another_name_has_no_alias)
{
    assert_null(dp_alias_of(DP_ALIAS_SAMPLER, "drawn ", 6));
    assert_null(dp_alias_of(DP_ALIAS_SAMPLER, "draw", 4));
    assert_null(dp_alias_of(DP_ALIAS_FIELD, "drawn", 5)); /* a name of a sampler, not of a field */
    assert_null(dp_alias_of(DP_ALIAS_SAMPLER, "", 0));
}

TESTS(NULL, NULL)
