/* The head of one msgpack value: its type and its length, read before anything is allocated. Private to lib/wire. */
#pragma once

#include "base/c.h"

enum dp_item_type {
    DP_ITEM_BAD, /* the one byte that msgpack does not use */
    DP_ITEM_NIL,
    DP_ITEM_BOOL,
    DP_ITEM_UNSIGNED,
    DP_ITEM_SIGNED,
    DP_ITEM_REAL,
    DP_ITEM_TEXT,
    DP_ITEM_BINARY,
    DP_ITEM_EXT,
    DP_ITEM_LIST,
    DP_ITEM_MAP,
};

struct dp_item {
    enum dp_item_type type;
    const unsigned char *bytes; /* where it begins, borrowed */
    size_t head;                /* bytes up to the body, or up to the first value of a list or map */
    uint64_t body;              /* bytes of the body; 0 for a list or map */
    uint64_t entries;           /* entries of a list or map */
};

/* The value of an item whose body has been read; false when it is of another type or out of range. A real may be written as a
 * whole number. */
bool dp_item_int(const struct dp_item *item, int64_t *value);
bool dp_item_real(const struct dp_item *item, double *value);
bool dp_item_bool(const struct dp_item *item, bool *value);

/* Reads heads that begin with a byte from 0xc0 to 0xdf. dp_item_read calls it; all others, which are more frequent, are read
 * inline. */
int dp_item_read_sized(const unsigned char *bytes, size_t size, struct dp_item *item);

/* Reads the head of the value that begins at bytes. Returns 1; or 0 if that needs more than size bytes (item->head says how
   many). The caller checks that the body is complete. */
static inline int dp_item_read(const void *bytes, size_t size, struct dp_item *item)
{
    const unsigned char *p = (const unsigned char *)bytes;
    *item = (struct dp_item){.bytes = p, .head = 1};
    if (size < 1)
        return 0;
    unsigned char b = p[0];
    if (b < 0x80 || b >= 0xe0) {
        item->type = b < 0x80 ? DP_ITEM_UNSIGNED : DP_ITEM_SIGNED;
        item->head = 0; /* the byte is the body */
        item->body = 1;
    } else if (b >= 0xc0) {
        return dp_item_read_sized(p, size, item);
    } else if (b >= 0xa0) {
        item->type = DP_ITEM_TEXT;
        item->body = b & 0x1fu;
    } else {
        item->type = b < 0x90 ? DP_ITEM_MAP : DP_ITEM_LIST;
        item->entries = b & 0x0fu;
    }
    return 1;
}

static inline const char *dp_item_body(const struct dp_item *item)
{
    return (const char *)item->bytes + item->head;
}

static inline bool dp_item_is(const struct dp_item *item, const char *text)
{
    size_t length = strlen(text);
    return item->type == DP_ITEM_TEXT && item->body == length && memcmp(dp_item_body(item), text, length) == 0;
}

static inline int dp_item_ext(const struct dp_item *item)
{
    return (signed char)item->bytes[item->head - 1];
}

static inline bool dp_item_nests(const struct dp_item *item)
{
    return item->type == DP_ITEM_LIST || item->type == DP_ITEM_MAP;
}
