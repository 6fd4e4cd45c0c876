/* Checkpoints: a directory (mode 0700) with a file for each stage and one for dp-loop, so that private state never passes the
 * gate. Stages get the place and the interval from their environment, and agree on the laps because every frame has the same
 * numbers. A stage saves before it passes the frame of such a lap on: when the frame is back, all stages have saved, and
 * dp-loop's own file, replaced last, makes it the checkpoint. No file has keys: a run that is resumed without a seed has new
 * keys. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"
#include "wire/state.h"

struct dp_checkpoint {
    char *directory; /* NULL: no checkpoints */
    int64_t every;   /* laps */
    int64_t resumed; /* the lap that the run continues from, 0 for none */
    bool last;       /* save after the last lap, too: a worker may have to send its answer again */
};

/* Tells the stages of this process and of its children about the checkpoint; NULL: there is no checkpoint. */
int dp_checkpoint_tell(const struct dp_checkpoint *checkpoint, struct dp_err *err);

/* The checkpoint that dp-loop has announced, or zeros. The caller frees directory. */
int dp_checkpoint_told(struct dp_checkpoint *checkpoint, struct dp_err *err);

/* Whether the state after the lap of this frame can be a checkpoint: not in the middle of a shuffled epoch without a seed,
 * because the permutation cannot be drawn again. */
bool dp_checkpoint_possible(const struct dp_frame *frame);

/* Whether to save now: every `every` laps, or at the next lap that can be saved; at the first lap after a resumption, because a
 * run continues from a checkpoint only once; never at the last lap, unless `last` is set. */
bool dp_checkpoint_due(const struct dp_checkpoint *checkpoint, const struct dp_frame *frame);

/* Makes the directory; an existing one is used if only its owner can read it. */
int dp_checkpoint_own(const char *directory, struct dp_err *err);

/* The same, but a directory with a checkpoint is refused. */
int dp_checkpoint_make(const char *directory, struct dp_err *err);

/* Locks the directory: waits some seconds until no process of another run uses it. The caller closes *fd. A killed process may
 * have left stages that are still writing their states. */
int dp_checkpoint_lock(const char *directory, int *fd, struct dp_err *err);

/* Whether dp-loop's own file, or a worker's, exists. */
bool dp_checkpoint_there(const char *directory);

/* Writes the state as the file of stage `ordinal` (from 1; 0 for dp-loop's own, or a worker's, which has no lap in its name),
   so that the file is either complete or the old one. */
int dp_checkpoint_write(const char *directory, int64_t ordinal, int64_t lap, const struct dp_state *state, struct dp_err *err);

/* Reads the file. The state borrows from *text, which the caller frees. */
int dp_checkpoint_read(const char *directory, int64_t ordinal, int64_t lap, struct dp_state *state, char **text,
                       struct dp_err *err);

/* Whether stages first … last have all saved that lap. */
int dp_checkpoint_complete(const char *directory, int64_t first, int64_t last, int64_t lap, struct dp_err *err);

/* The subdirectory for the stages of a shard: stages of different shards have the same ordinals. Makes it. *path is the
 * caller's to free. */
int dp_checkpoint_shard(const char *directory, int shard, char **path, struct dp_err *err);

/* Removes the files of stages that belong to neither lap, also in shards. With lap 0, removes all files, and the directory if
 * it is empty then. */
void dp_checkpoint_clean(const char *directory, int64_t lap, int64_t other);
