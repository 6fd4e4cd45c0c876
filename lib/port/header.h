/* Encodes and decodes headers of messages. Private to lib/port. */
#pragma once

#include "port/link.h"

/* magic "dpl", version, type, three zeros, run, session, then sequence, lap, shard, shards and credit, little endian. */
#define DP_HEADER_SIZE 72

void dp_header_encode(unsigned char bytes[DP_HEADER_SIZE], const struct dp_link_header *header);

/* False unless the bytes are a header of this size and version with valid numbers. */
bool dp_header_decode(struct dp_link_header *header, const void *bytes, size_t size);
