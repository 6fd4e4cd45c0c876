/* Finds the end of a frame in a stream of bytes, and checks its limits, without decoding it. */

#include "wire/codec.h"
#include "wire/item.h"

/* Whether the next value is a key: in the frame's map, keys and values alternate. */
static bool is_key(const struct dp_scan *s)
{
    return s->depth == 1 && s->pending[1] % 2 == 0;
}

/* A list or map may be only in the frame itself or in its list of records. */
static int check_place(const struct dp_scan *s, const char *bytes, const struct dp_item *item, struct dp_err *err)
{
    if (!dp_item_nests(item) || s->depth == 0)
        return DP_OK;
    if (is_key(s))
        return dp_fail(err, DP_E_RUN, "corrupt frame: a key is not a string");
    if (!s->nests)
        return dp_fail(err, DP_E_RUN, "corrupt frame: '%.*s' is a list or map", s->key_length < 40 ? (int)s->key_length : 40,
                       bytes + s->key);
    if (s->depth == DP_LIMIT_DEPTH)
        return dp_fail(err, DP_E_RUN, "corrupt frame: nested deeper than %d", DP_LIMIT_DEPTH);
    return DP_OK;
}

/* Checks the head of an item that begins at byte `at` against the limits. */
static int check_limits(const struct dp_scan *s, const struct dp_item *item, struct dp_err *err)
{
    if (item->type == DP_ITEM_BAD)
        return dp_fail(err, DP_E_RUN, "corrupt frame: byte 0x%02x at offset %zu is not msgpack", item->bytes[0], s->at);
    if (item->entries > DP_LIMIT_ENTRIES)
        return dp_fail(err, DP_E_RUN, "corrupt frame: %llu entries in one list or map, the limit is %d",
                       (unsigned long long)item->entries, DP_LIMIT_ENTRIES);
    if (s->items >= DP_LIMIT_ITEMS)
        return dp_fail(err, DP_E_RUN, "corrupt frame: more than %d values", DP_LIMIT_ITEMS);
    if (item->type == DP_ITEM_TEXT && item->body > DP_LIMIT_TEXT)
        return dp_fail(err, DP_E_RUN, "corrupt frame: a string of %llu bytes, the limit is %zu", (unsigned long long)item->body,
                       DP_LIMIT_TEXT);
    if (item->body > DP_LIMIT_FRAME || s->at + item->head + item->body > DP_LIMIT_FRAME)
        return dp_fail(err, DP_E_RUN, "the frame is larger than the limit of %zu bytes", DP_LIMIT_FRAME);
    return DP_OK;
}

/* Moves past an item that is complete, or past the head of a list or map. */
static void pass(struct dp_scan *s, const struct dp_item *item)
{
    if (is_key(s)) {
        s->key = s->at + item->head;
        s->key_length = (size_t)item->body;
        s->nests = dp_item_is(item, "records") || dp_item_is(item, "mechanisms"); /* the key of format 1 */
    }
    s->at += item->head + (size_t)item->body;
    s->begun = true;
    s->items++;
    if (s->depth > 0)
        s->pending[s->depth]--;
    if (dp_item_nests(item))
        s->pending[++s->depth] = item->type == DP_ITEM_MAP ? 2 * item->entries : item->entries;
    while (s->depth > 0 && s->pending[s->depth] == 0)
        s->depth--;
}

int dp_wire_scan(struct dp_scan *s, const char *bytes, size_t size, size_t *length, struct dp_err *err)
{
    while (!s->begun || s->depth > 0) {
        struct dp_item item;
        *length = s->at + 1;
        if (s->at >= size)
            return 0;
        int whole = dp_item_read(bytes + s->at, size - s->at, &item);
        if (!s->begun && item.type != DP_ITEM_MAP && item.bytes[0] >= ' ' && item.bytes[0] < 0x7f)
            return dp_fail(err, DP_E_RUN, "no model and no other stream of dpline: it begins with '%c', as a text does",
                           item.bytes[0]);
        if (!s->begun && item.type != DP_ITEM_MAP)
            return dp_fail(err, DP_E_RUN, "no model and no other stream of dpline: it begins with byte 0x%02x", item.bytes[0]);
        *length = s->at + item.head;
        if (whole == 0)
            return 0;
        int rc = check_limits(s, &item, err);
        rc = rc ?: check_place(s, bytes, &item, err);
        if (rc != DP_OK)
            return rc;
        *length = s->at + item.head + (size_t)item.body;
        if (*length > size)
            return 0;
        pass(s, &item);
    }
    *length = s->at;
    *s = (struct dp_scan){0};
    return 1;
}
