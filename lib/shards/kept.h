/* A worker's own file of a checkpoint: its standing in the run, and its answer to the last lap, so that it can send the answer
 * again. */
#pragma once

#include <msgpack.h>

#include "shards/standing.h"

struct dp_kept {
    const char *pipeline; /* text of the pipeline */
    int32_t shard, shards;
    int64_t first, last; /* ordinals of its stages */
    int64_t fresh;       /* the number of its masks (masks.h), 0 without masks */
};

int dp_kept_write(const char *directory, const struct dp_kept *kept, const struct dp_standing *standing,
                  const msgpack_sbuffer *answer, struct dp_err *err);

/* Reads the file; checks that it is of the same pipeline and shard. */
int dp_kept_read(const char *directory, struct dp_kept *kept, struct dp_standing *standing, msgpack_sbuffer *answer,
                 struct dp_err *err);
