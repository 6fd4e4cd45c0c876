/* What the pipelines of K shards answer to one frame, made into what one machine with all rows would have said: sums and counts
 * are whole numbers and add up, and whatever else crosses the gate must be the same in all of them. No sockets, no clock:
 * frames in, a frame out.
 *
 * Shards are sites, each with a data set of its own, or parts of one data set (dp-sample --shard), which all of them see; their
 * hello frames say which, by `n`. Numbers of shards in sentences count from 1, as users do; in arrays from 0. */
#ifndef DP_SHARDS_MERGE_H
#define DP_SHARDS_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/frame.h"

struct dp_merge_shard {
    int64_t rows;            /* its own; of a part, where nobody knows them, those of all */
    int64_t first_row;       /* sites: rows of the shards before this one */
    char *data, *population; /* as its frames have them */
};

/* Starts zeroed; close it, whatever hello returned. */
struct dp_merge {
    int shards;   /* 0: no hello yet */
    bool parts;   /* of one data set */
    int64_t rows; /* of all shards: n of the frames to workers, and rows of the records that come back */
    struct dp_merge_shard *shard;
    char *data, *population; /* of all shards together: the texts of all of them where these are the same, or the hexadecimal
                                BLAKE2b-128 of all of them in order, each with the NUL at its end */
};

/* Takes what `shards` workers have answered to the hello frame `sent`, which went to them with shard and shards (the caller
 * sets these), and makes of `sent`, in *out, what the pipeline of one of them would have made of it next to all rows: `sent`
 * with the number of stages, the records and the plan of the answers; rows of sites are added. DP_E_UNSAFE: a frame is not of
 * this run, or two shards do not fit each other: other pipelines, options, labels, scaling, row norms; parts of different data
 * sets, or the same data set at two sites, where one person would count twice; or there are more rows than 2^48, from which
 * no batch is drawn. `out` may be `sent`. */
int dp_merge_hello(struct dp_merge *merge, int shards, const struct dp_frame *const answer[], const struct dp_frame *sent,
                   struct dp_frame *out, struct dp_err *err);

/* Makes of a lap's frame, which is as it came to the gather, that of one shard (from 0): n, first_row where shards are sites,
 * and the shard's own data and population where the frame has those of all together. */
int dp_merge_token(const struct dp_merge *merge, int shard, const struct dp_frame *token, struct dp_frame *out,
                   struct dp_err *err);

/* Adds the answers to a lap whose frame came to the gather as `token`; answer[k] is NULL where shard k has been lost, and one
 * is there. *out is `token` with the sums, records, label and public fields of the answers, `data` and `population` of all
 * together, `elsewhere` if one has it, and `lost` where shards are; records of noise in shares say how many shares it holds.
 * DP_E_UNSAFE: the answers differ in anything but their sums, are not bounded or noised sums of whole numbers with a record
 * each, or a sum is larger than the rows of its shard can make it (reach.h); DP_E_RUN: a sum overflows. `out` may be `token`. */
int dp_merge_lap(const struct dp_merge *merge, const struct dp_frame *const answer[], const struct dp_frame *token,
                 struct dp_frame *out, struct dp_err *err);

/* The first two shards, from 0, whose rows are of one population. */
bool dp_merge_same_people(const struct dp_merge *merge, int *one, int *other);

void dp_merge_close(struct dp_merge *merge);

#endif
