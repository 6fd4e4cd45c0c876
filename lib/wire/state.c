#include "wire/state.h"

#include "base/mem.h"
#include "wire/codec.h"
#include "wire/item.h"

static struct dp_state_value *put(struct dp_state *state, const char *name, enum dp_state_kind kind)
{
    static struct dp_state_value none;
    struct dp_state_value *v = state->count < DP_STATE_VALUES ? &state->value[state->count] : &none;
    state->count++;
    *v = (struct dp_state_value){.kind = kind};
    memcpy(v->name, name, strnlen(name, sizeof v->name - 1));
    return v;
}

void dp_state_put_int(struct dp_state *state, const char *name, int64_t whole)
{
    put(state, name, DP_STATE_INT)->whole = whole;
}

void dp_state_put_real(struct dp_state *state, const char *name, double real)
{
    put(state, name, DP_STATE_REAL)->real = real;
}

void dp_state_put_bytes(struct dp_state *state, const char *name, const void *bytes, size_t size)
{
    struct dp_state_value *v = put(state, name, DP_STATE_BYTES);
    v->bytes = bytes;
    v->size = size;
}

void dp_state_put_text(struct dp_state *state, const char *name, const char *text)
{
    dp_state_put_bytes(state, name, text, strlen(text));
}

void dp_state_put_reals(struct dp_state *state, const char *name, const double *reals, size_t count)
{
    dp_state_put_bytes(state, name, reals, count * sizeof *reals);
}

void dp_state_put_ints(struct dp_state *state, const char *name, const int64_t *ints, size_t count)
{
    dp_state_put_bytes(state, name, ints, count * sizeof *ints);
}

static const struct dp_state_value *find(const struct dp_state *state, const char *name)
{
    for (int i = 0; i < state->count; i++)
        if (strcmp(state->value[i].name, name) == 0)
            return &state->value[i];
    return NULL;
}

bool dp_state_has(const struct dp_state *state, const char *name)
{
    return find(state, name) != NULL;
}

static int get(const struct dp_state *state, const char *name, enum dp_state_kind kind, const struct dp_state_value **value,
               struct dp_err *err)
{
    *value = find(state, name);
    if (*value == NULL || (*value)->kind != kind)
        return dp_fail(err, DP_E_RUN, "the checkpoint has no '%s' of the right kind", name);
    return DP_OK;
}

int dp_state_get_int(const struct dp_state *state, const char *name, int64_t min, int64_t max, int64_t *whole,
                     struct dp_err *err)
{
    const struct dp_state_value *v;
    int rc = get(state, name, DP_STATE_INT, &v, err);
    if (rc != DP_OK)
        return rc;
    if (v->whole < min || v->whole > max)
        return dp_fail(err, DP_E_RUN, "'%s' of the checkpoint is out of range", name);
    *whole = v->whole;
    return DP_OK;
}

int dp_state_get_real(const struct dp_state *state, const char *name, double *real, struct dp_err *err)
{
    const struct dp_state_value *v;
    int rc = get(state, name, DP_STATE_REAL, &v, err);
    if (rc == DP_OK)
        *real = v->real;
    return rc;
}

int dp_state_get_bytes(const struct dp_state *state, const char *name, const void **bytes, size_t *size, struct dp_err *err)
{
    const struct dp_state_value *v;
    int rc = get(state, name, DP_STATE_BYTES, &v, err);
    if (rc != DP_OK)
        return rc;
    *bytes = v->bytes;
    *size = v->size;
    return DP_OK;
}

int dp_state_get_text(const struct dp_state *state, const char *name, char *text, size_t size, struct dp_err *err)
{
    const void *bytes;
    size_t length;
    int rc = dp_state_get_bytes(state, name, &bytes, &length, err);
    if (rc != DP_OK)
        return rc;
    if (length >= size || memchr(bytes, '\0', length) != NULL)
        return dp_fail(err, DP_E_RUN, "'%s' of the checkpoint is not text of its length", name);
    memcpy(text, bytes, length);
    text[length] = '\0';
    return DP_OK;
}

/* Copies numbers of eight bytes to aligned memory. */
static int get_numbers(const struct dp_state *state, const char *name, void *numbers, size_t *count, struct dp_err *err)
{
    const void *bytes;
    size_t size;
    char *copy = NULL;
    int rc = dp_state_get_bytes(state, name, &bytes, &size, err);
    if (rc == DP_OK && size % 8 != 0)
        rc = dp_fail(err, DP_E_RUN, "'%s' of the checkpoint is cut short", name);
    if (rc == DP_OK && size > 0)
        copy = dp_new(size / 8, 8);
    if (rc != DP_OK)
        return rc;
    if (size > 0)
        memcpy(copy, bytes, size);
    memcpy(numbers, &copy, sizeof copy);
    *count = size / 8;
    return DP_OK;
}

int dp_state_get_reals(const struct dp_state *state, const char *name, double **reals, size_t *count, struct dp_err *err)
{
    return get_numbers(state, name, reals, count, err);
}

int dp_state_get_ints(const struct dp_state *state, const char *name, int64_t **ints, size_t *count, struct dp_err *err)
{
    return get_numbers(state, name, ints, count, err);
}

int dp_state_encode(const struct dp_state *state, msgpack_sbuffer *buffer, struct dp_err *err)
{
    msgpack_packer pk;
    msgpack_packer_init(&pk, buffer, dp_wire_put);
    if (state->count > DP_STATE_VALUES)
        return dp_fail(err, DP_E_RUN, "a state of %d values is too large", state->count);
    msgpack_pack_map(&pk, (size_t)state->count);
    for (int i = 0; i < state->count; i++) {
        const struct dp_state_value *v = &state->value[i];
        if (v->size > UINT32_MAX)
            return dp_fail(err, DP_E_RUN, "'%s' is too large for a checkpoint", v->name);
        msgpack_pack_str(&pk, strlen(v->name));
        msgpack_pack_str_body(&pk, v->name, strlen(v->name));
        if (v->kind == DP_STATE_INT) {
            msgpack_pack_int64(&pk, v->whole);
        } else if (v->kind == DP_STATE_REAL) {
            msgpack_pack_double(&pk, v->real);
        } else {
            msgpack_pack_bin(&pk, v->size);
            msgpack_pack_bin_body(&pk, v->bytes, v->size);
        }
    }
    return DP_OK;
}

/* Reads the next whole value from *at on. False if the bytes end before the value does. */
static bool next(const char *bytes, size_t size, size_t *at, struct dp_item *item)
{
    if (dp_item_read(bytes + *at, size - *at, item) != 1 || dp_item_nests(item) || item->head > size - *at ||
        item->body > size - *at - item->head)
        return false;
    *at += item->head + (size_t)item->body;
    return true;
}

/* Reads one entry of the map. False if dp_state_encode would not write it so. */
static bool take(struct dp_state *state, const char *bytes, size_t size, size_t *at)
{
    struct dp_item key, value;
    char name[DP_STATE_NAME] = "";
    int64_t whole;
    double real;
    if (!next(bytes, size, at, &key) || !next(bytes, size, at, &value) || key.type != DP_ITEM_TEXT || key.body >= sizeof name)
        return false;
    memcpy(name, dp_item_body(&key), (size_t)key.body);
    if (find(state, name) != NULL)
        return false;
    if (value.type == DP_ITEM_BINARY)
        dp_state_put_bytes(state, name, dp_item_body(&value), (size_t)value.body);
    else if (value.type == DP_ITEM_REAL && dp_item_real(&value, &real))
        dp_state_put_real(state, name, real);
    else if (value.type != DP_ITEM_REAL && dp_item_int(&value, &whole))
        dp_state_put_int(state, name, whole);
    else
        return false;
    return true;
}

int dp_state_decode(struct dp_state *state, const char *bytes, size_t size, struct dp_err *err)
{
    struct dp_item map;
    state->count = 0;
    bool good = dp_item_read(bytes, size, &map) == 1 && map.type == DP_ITEM_MAP && map.entries <= DP_STATE_VALUES;
    size_t at = good ? map.head : 0;
    for (uint64_t i = 0; good && i < map.entries; i++)
        good = take(state, bytes, size, &at);
    return good && at == size ? DP_OK : dp_fail(err, DP_E_RUN, "it is damaged, or no file of a checkpoint");
}
