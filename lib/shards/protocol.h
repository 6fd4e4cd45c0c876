/* What a gather and its workers say to each other over a link (port/link.h). The worker connects, and joins; then the gather
 * asks, with a hello frame, lap frames and an end frame, and the worker answers each with one frame of the same kind and lap,
 * or with an end or error frame that has a status and no words. Whatever is asked twice is answered twice, with the same bytes.
 *
 *   JOIN     up    shard, shards; run: that the worker is in the middle of, or zeros; lap: the last one whose answer it has
 *                  given or saved, -1 when any lap will do, since its stages keep nothing between laps
 *   FRAME    both  body: a frame. Down, of a hello frame: lap: the one that the run goes on from; another session than before
 *                  tells that another gather does so, which may be behind its workers. Of a lap frame: lap; credit: the last
 *                  lap that dp-loop can resume from, for whose sake the worker keeps a state. Up: the sequence of what it
 *                  answers, and its lap
 *   AGAIN    down  somebody else sits there, or nobody any more: join again after a while
 *   REFUSED  down  body: one sentence. The worker ends. */
#ifndef DP_SHARDS_PROTOCOL_H
#define DP_SHARDS_PROTOCOL_H

#include "port/link.h"

enum dp_shard_message {
    DP_SHARD_JOIN = DP_LINK_TYPES,
    DP_SHARD_FRAME,
    DP_SHARD_AGAIN,
    DP_SHARD_REFUSED,
};

#define DP_SHARD_ANY (-1) /* JOIN: the lap of a worker without a state */

#endif
