/* What of a worker's answer leaves its site, and which way; and what comes in. */
#ifndef DP_SHARDS_STRIP_H
#define DP_SHARDS_STRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "port/link.h"
#include "wire/frame.h"

/* Makes of an answer what the gather may see: of a lap frame what crosses a gate, which is public or is to be paid for, and
 * whether the model comes from elsewhere; of a hello frame the announcements, without the seed and the directory of the data
 * set; of an end or error frame its status alone, since its words may tell of rows. */
void dp_shard_strip(struct dp_frame *answer);

/* Of one run, at a site. */
#define DP_SHARD_LAPS ((int64_t)1 << 30)

/* What a worker says of itself, and no gather can change. */
struct dp_site {
    int shard, shards;
    bool allow_seeded;
};

/* DP_E_UNSAFE: the frame of a gather is not one that the pipeline of this worker may see. That is
 *
 *   - a hello frame for another shard than this one, or for another number of shards, by which shares of noise are scaled;
 *   - a hello frame of another run than its header;
 *   - a hello frame of a run with more laps than DP_SHARD_LAPS: what a plan costs is computed before the first lap, which
 *     takes seconds of processor time for 2^32 laps;
 *   - a seed, unless the site allows it: whoever knows the seed knows all keys of the stages here;
 *   - a lap frame that is not released, or of another lap than its header;
 *   - a frame with records: stages would take them for their own bounds on the rows here;
 *   - a lap frame that states what a model has cost, and has no model;
 *   - a frame with any other field that only the site itself may state. The table of fields (wire/schema.h) decides: of a hello
 *     frame those of the stream, the place of the shard and the laps may come; of a lap frame those that a gate lets pass or
 *     states itself, the place of the rows, and whether the model is from elsewhere. */
int dp_shard_check(const struct dp_frame *frame, const struct dp_link_header *header, const struct dp_site *site,
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
