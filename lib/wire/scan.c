#include <stdint.h>

#include "wire/codec.h"

/* Big-endian unsigned of 1, 2, 4 or 8 bytes. */
static uint64_t big_endian(const unsigned char *p, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

struct header {
    size_t head;      /* bytes of the header itself */
    size_t size_from; /* offset of the size field, 0 if none */
    uint64_t body;    /* bytes after the header */
    uint64_t items;   /* values that follow inside */
    int nests;
    int text;
};

/* What the first byte promises; sizes that stand in following bytes are left for the caller. */
static int first_byte(unsigned char b, struct header *h, size_t *size_bytes)
{
    *h = (struct header){.head = 1};
    *size_bytes = 0;
    if (b <= 0x7f || b >= 0xe0 || b == 0xc0 || b == 0xc2 || b == 0xc3)
        return 0;
    if (b <= 0x8f) {
        h->items = 2u * (b & 0x0fu);
        h->nests = 2;
    } else if (b <= 0x9f) {
        h->items = b & 0x0fu;
        h->nests = 1;
    } else if (b <= 0xbf) {
        h->body = b & 0x1fu;
        h->text = 1;
    } else if (b >= 0xc4 && b <= 0xc6) {
        *size_bytes = (size_t)1 << (b - 0xc4);
    } else if (b >= 0xc7 && b <= 0xc9) {
        *size_bytes = (size_t)1 << (b - 0xc7);
        h->head += 1; /* ext type */
    } else if (b == 0xca || b == 0xcb) {
        h->body = b == 0xca ? 4 : 8;
    } else if (b >= 0xcc && b <= 0xcf) {
        h->body = (uint64_t)1 << (b - 0xcc);
    } else if (b >= 0xd0 && b <= 0xd3) {
        h->body = (uint64_t)1 << (b - 0xd0);
    } else if (b >= 0xd4 && b <= 0xd8) {
        h->head += 1;
        h->body = (uint64_t)1 << (b - 0xd4);
    } else if (b >= 0xd9 && b <= 0xdb) {
        *size_bytes = (size_t)1 << (b - 0xd9);
        h->text = 1;
    } else if (b == 0xdc || b == 0xdd) {
        *size_bytes = b == 0xdc ? 2 : 4;
        h->nests = 1;
    } else if (b == 0xde || b == 0xdf) {
        *size_bytes = b == 0xde ? 2 : 4;
        h->nests = 2;
    } else {
        return -1;
    }
    return 0;
}

int dp_wire_scan(const char *bytes, size_t size, size_t *length, struct dp_err *err)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t pending[DP_LIMIT_DEPTH + 1] = {1};
    int depth = 0;
    size_t at = 0;
    for (;;) {
        while (pending[depth] == 0) {
            if (depth == 0) {
                *length = at;
                return 1;
            }
            depth--;
        }
        pending[depth]--;
        *length = at + 1;
        if (at >= size)
            return 0;
        if (at == 0 && !((p[0] & 0xf0) == 0x80 || p[0] == 0xde || p[0] == 0xdf))
            return dp_fail(err, DP_E_RUN, "not a dpline stream: a frame starts with byte 0x%02x, not with a map", p[0]);
        struct header h;
        size_t size_bytes;
        if (first_byte(p[at], &h, &size_bytes) != 0)
            return dp_fail(err, DP_E_RUN, "corrupt frame: byte 0x%02x at offset %zu is not msgpack", p[at], at);
        *length = at + h.head + size_bytes;
        if (*length > size)
            return 0;
        if (size_bytes > 0) {
            uint64_t stated = big_endian(p + at + 1, size_bytes);
            if (h.nests > 0)
                h.items = stated * (uint64_t)h.nests;
            else
                h.body = stated;
        }
        if (h.items > 2 * DP_LIMIT_ITEMS)
            return dp_fail(err, DP_E_RUN, "corrupt frame: %llu entries in one list, the limit is %d",
                           (unsigned long long)h.items, DP_LIMIT_ITEMS);
        if (h.text && h.body > DP_LIMIT_TEXT)
            return dp_fail(err, DP_E_RUN, "corrupt frame: a string of %llu bytes, the limit is %zu",
                           (unsigned long long)h.body, DP_LIMIT_TEXT);
        if (h.body > DP_LIMIT_FRAME || *length + h.body > DP_LIMIT_FRAME)
            return dp_fail(err, DP_E_RUN, "the frame is larger than the limit of %zu bytes", DP_LIMIT_FRAME);
        at = *length + (size_t)h.body;
        *length = at;
        if (at > size)
            return 0;
        if (h.nests > 0) {
            if (depth == DP_LIMIT_DEPTH)
                return dp_fail(err, DP_E_RUN, "corrupt frame: nested deeper than %d", DP_LIMIT_DEPTH);
            pending[++depth] = h.items;
        }
    }
}
