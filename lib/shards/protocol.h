/* Protocol between a gather and its workers over a link (port/link.h). The worker connects and joins. Then the gather sends a
 * hello frame, lap frames and an end frame. The worker answers each with one frame of the same kind and lap, or with an end or
 * error frame that has a status but no message. A repeated question gets the same answer, byte for byte.
 *
 *   JOIN     up    shard, shards; run: the worker's current run, or zeros; lap: the last lap whose answer it has
 *                  given or saved, -1 if any lap may follow, because its stages have no state between laps; credit: the tag
 *                  of its roster of masks (masks.h), 0 without masks
 *   FRAME    both  body: a frame. Down, hello frame: lap: the lap that the run continues from; another session than before
 *                  means another gather, which may have resumed from an earlier lap. Down, lap frame: lap; credit: the last
 *                  lap that dp-loop can resume from: the worker keeps its state of that lap. Up: the sequence of the frame
 *                  that it answers, and its lap; credit, for a hello frame: the fresh number of its masks
 *   ROSTER   down  body: the fresh number of each shard, 0 for a shard that takes no part: for the masks of the laps that
 *                  follow, up to the next such message
 *   AGAIN    down  the shard has another worker, or this worker has lost it: join again after a while
 *   REFUSED  down  body: one sentence. The worker ends. */
#pragma once

#include "port/link.h"

enum dp_shard_message {
    DP_SHARD_JOIN = DP_LINK_TYPES,
    DP_SHARD_FRAME,
    DP_SHARD_AGAIN,
    DP_SHARD_REFUSED,
    DP_SHARD_ROSTER,
};

#define DP_SHARD_ANY (-1) /* JOIN: lap of a worker without state */
