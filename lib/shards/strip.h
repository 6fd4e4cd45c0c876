/* What of a worker's answer leaves its site, and which way; and what comes in. */
#ifndef DP_SHARDS_STRIP_H
#define DP_SHARDS_STRIP_H

#include "port/link.h"
#include "wire/frame.h"

/* Makes of an answer what the gather may see: of a lap frame what crosses a gate, which is public or is to be paid for, and
 * whether the model comes from elsewhere; of a hello frame the announcements, without the seed and the directory of the data
 * set; of an end or error frame its status alone, since its words may tell of rows. */
void dp_shard_strip(struct dp_frame *answer);

/* DP_E_UNSAFE when a frame from the gather is not one that a worker's pipeline may see: a hello frame for another shard than
 * this one or for another number of them, by which shares of noise are scaled; a lap frame that is not released, that is of
 * another lap than its header, or that has records already, which stages would take for their own bounds on the rows here. */
int dp_shard_check(const struct dp_frame *frame, const struct dp_link_header *header, int shard, int shards,
                   struct dp_err *err);

/* Whether a hello frame announces noise in shares. Then no lap may leave without: the gather says of which kinds laps are, and
 * a kind that no stage with noise is for would pass them all. */
bool dp_shard_shares(const struct dp_frame *hello);

/* What somebody else has written, for a terminal that must not obey it: printable ASCII, and '?' for the rest. */
#define DP_SHARD_WORDS 301
void dp_shard_words(char words[DP_SHARD_WORDS], const void *body, size_t size);

/* DP_E_UNSAFE when what is not released yet must not go through that link. */
int dp_shard_link(const struct dp_link *link, struct dp_err *err);

#endif
