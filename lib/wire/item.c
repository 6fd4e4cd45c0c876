#include "wire/item.h"

/* For bytes 0xc0 to 0xdf: the number of size bytes that follow, or the length of the body if no size bytes follow. */
static const struct {
    enum dp_item_type type;
    unsigned char size, body;
} heads[32] = {
    {DP_ITEM_NIL, 0, 0},      {DP_ITEM_BAD, 0, 0},      {DP_ITEM_BOOL, 0, 0},     {DP_ITEM_BOOL, 0, 0},
    {DP_ITEM_BINARY, 1, 0},   {DP_ITEM_BINARY, 2, 0},   {DP_ITEM_BINARY, 4, 0},   {DP_ITEM_EXT, 1, 0},
    {DP_ITEM_EXT, 2, 0},      {DP_ITEM_EXT, 4, 0},      {DP_ITEM_REAL, 0, 4},     {DP_ITEM_REAL, 0, 8},
    {DP_ITEM_UNSIGNED, 0, 1}, {DP_ITEM_UNSIGNED, 0, 2}, {DP_ITEM_UNSIGNED, 0, 4}, {DP_ITEM_UNSIGNED, 0, 8},
    {DP_ITEM_SIGNED, 0, 1},   {DP_ITEM_SIGNED, 0, 2},   {DP_ITEM_SIGNED, 0, 4},   {DP_ITEM_SIGNED, 0, 8},
    {DP_ITEM_EXT, 0, 1},      {DP_ITEM_EXT, 0, 2},      {DP_ITEM_EXT, 0, 4},      {DP_ITEM_EXT, 0, 8},
    {DP_ITEM_EXT, 0, 16},     {DP_ITEM_TEXT, 1, 0},     {DP_ITEM_TEXT, 2, 0},     {DP_ITEM_TEXT, 4, 0},
    {DP_ITEM_LIST, 2, 0},     {DP_ITEM_LIST, 4, 0},     {DP_ITEM_MAP, 2, 0},      {DP_ITEM_MAP, 4, 0},
};

static uint64_t big_endian(const unsigned char *p, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

/* A size is the length of the body, or the number of entries of a list or map. */
static void set_size(struct dp_item *item, uint64_t size)
{
    if (dp_item_nests(item))
        item->entries = size;
    else
        item->body = size;
}

int dp_item_read_sized(const unsigned char *bytes, size_t size, struct dp_item *item)
{
    unsigned char b = bytes[0];
    size_t length = heads[b - 0xc0].size;
    item->type = heads[b - 0xc0].type;
    item->body = heads[b - 0xc0].body;
    item->head = 1 + length + (item->type == DP_ITEM_EXT);
    if (item->head > size)
        return 0;
    if (length > 0)
        set_size(item, big_endian(bytes + 1, length));
    return 1;
}

bool dp_item_int(const struct dp_item *item, int64_t *value)
{
    uint64_t raw = big_endian(item->bytes + item->head, item->body <= 8 ? (size_t)item->body : 0);
    if (item->type == DP_ITEM_SIGNED) {
        unsigned unused = 64 - 8 * (unsigned)item->body;
        *value = (int64_t)(raw << unused) >> unused;
        return true;
    }
    if (item->type != DP_ITEM_UNSIGNED || raw > INT64_MAX)
        return false;
    *value = (int64_t)raw;
    return true;
}

bool dp_item_real(const struct dp_item *item, double *value)
{
    uint64_t raw = big_endian(item->bytes + item->head, item->body <= 8 ? (size_t)item->body : 0);
    int64_t whole;
    if (item->type == DP_ITEM_REAL && item->body == 4) {
        uint32_t bits = (uint32_t)raw;
        float narrow;
        memcpy(&narrow, &bits, sizeof narrow);
        *value = (double)narrow;
    } else if (item->type == DP_ITEM_REAL) {
        memcpy(value, &raw, sizeof *value);
    } else if (item->type == DP_ITEM_UNSIGNED) {
        *value = (double)raw;
    } else if (dp_item_int(item, &whole)) {
        *value = (double)whole;
    } else {
        return false;
    }
    return true;
}

bool dp_item_bool(const struct dp_item *item, bool *value)
{
    *value = item->bytes[0] == 0xc3;
    return item->type == DP_ITEM_BOOL;
}
