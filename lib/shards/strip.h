/* Filters frames at the border of a site: which parts of a worker's answer may leave, over which link, and which frames may
 * come in. */
#pragma once

#include "port/link.h"
#include "wire/frame.h"

/* Removes from an answer everything that the gather may not see. A lap frame keeps the fields that may pass a gate, which are
 * public or will be charged, and `elsewhere`. A hello frame keeps the announcements, without the seed and the directory of the
 * data set. An end or error frame keeps only its status, because its message may contain data from rows. */
void dp_shard_strip(struct dp_frame *answer);

/* The most laps of one run at a site. */
#define DP_SHARD_LAPS ((int64_t)1 << 30)

/* Settings of a worker that no gather can change. */
struct dp_site {
    int shard, shards;
    bool allow_seeded;
};

/* DP_E_UNSAFE: the pipeline of this worker may not see this frame of a gather. Refused are
 *
 *   - a hello frame for another shard than this one, or for another number of shards, by which shares of noise are scaled;
 *   - a hello frame of another run than its header;
 *   - a hello frame of a run with more laps than DP_SHARD_LAPS: the cost of a plan is computed before the first lap,
 *     which takes seconds of processor time for 2^32 laps;
 *   - a seed, unless the site allows it: anybody who knows the seed knows all keys of the stages here;
 *   - a lap frame that is not released, or of another lap than its header;
 *   - a frame with records: stages would take them for their own bounds on the rows here;
 *   - a lap frame that states the cost of a model but has no model;
 *   - a frame with any other field that only the site itself may state. The table of fields (wire/schema.h)
 *     decides. A hello frame may carry stream fields, the shard's place and the number of laps, and nothing else. A lap
 *     frame may have fields that a gate passes or states itself, the place of the rows, and `elsewhere`. */
int dp_shard_check(const struct dp_frame *frame, const struct dp_link_header *header, const struct dp_site *site,
                   struct dp_err *err);

/* Whether a hello frame announces noise in shares. If it does, no lap may leave without noise: the gather chooses the kinds of
 * laps, and a kind for which no stage adds noise would pass all stages. */
bool dp_shard_shares(const struct dp_frame *hello);

/* DP_E_UNSAFE: data that are not released yet must not go through that link. */
int dp_shard_link(const struct dp_link *link, struct dp_err *err);
