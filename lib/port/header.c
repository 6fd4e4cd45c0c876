#include "port/header.h"

/* The fourth byte is the version. */
static const unsigned char magic[4] = {'d', 'p', 'l', 1};

static unsigned char *put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

static uint64_t get(const unsigned char **at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t) * (*at)++ << (8 * i);
    return value;
}

void dp_header_encode(unsigned char bytes[DP_HEADER_SIZE], const struct dp_link_header *header)
{
    unsigned char *at = bytes + 8;
    memset(bytes, 0, 8);
    memcpy(bytes, magic, sizeof magic);
    bytes[4] = header->type;
    memcpy(at, header->run, DP_LINK_ID);
    memcpy(at + DP_LINK_ID, header->session, DP_LINK_ID);
    at = put(at + 2 * DP_LINK_ID, header->sequence, 8);
    at = put(at, (uint64_t)header->lap, 8);
    at = put(at, (uint32_t)header->shard, 4);
    at = put(at, (uint32_t)header->shards, 4);
    put(at, (uint64_t)header->credit, 8);
}

bool dp_header_decode(struct dp_link_header *header, const void *bytes, size_t size)
{
    static const unsigned char zeros[3];
    const unsigned char *at = bytes;
    if (size != DP_HEADER_SIZE || memcmp(at, magic, sizeof magic) != 0 || memcmp(at + 5, zeros, sizeof zeros) != 0)
        return false;
    header->type = at[4];
    memcpy(header->run, at + 8, DP_LINK_ID);
    memcpy(header->session, at + 8 + DP_LINK_ID, DP_LINK_ID);
    at += 8 + 2 * DP_LINK_ID;
    header->sequence = get(&at, 8);
    header->lap = (int64_t)get(&at, 8);
    header->shard = (int32_t)get(&at, 4);
    header->shards = (int32_t)get(&at, 4);
    header->credit = (int64_t)get(&at, 8);
    return header->lap >= -1 && header->lap <= DP_LIMIT_LAP && header->shard >= 0 && header->shard <= header->shards &&
           header->credit >= 0;
}
