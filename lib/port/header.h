/* Headers of messages to and from bytes. Private to lib/port. */
#ifndef DP_PORT_HEADER_H
#define DP_PORT_HEADER_H

#include "port/link.h"

/* magic "dpl", version, type, three zeros, run, session, then sequence, lap, shard, shards and credit, little endian. */
#define DP_HEADER_SIZE 72

void dp_header_encode(unsigned char bytes[DP_HEADER_SIZE], const struct dp_link_header *header);

/* Whether that is a header: of that size and version, with numbers that can be. */
bool dp_header_decode(struct dp_link_header *header, const void *bytes, size_t size);

#endif
