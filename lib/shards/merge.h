/* Merges the answers of K shards to one frame into the answer that one machine with all rows would give. Sums and counts are
 * whole numbers and are added. All other fields that pass the gate must be the same in all answers. No sockets, no clock:
 * frames in, a frame out.
 *
 * Shards are either sites, each with its own data set, or parts of one data set that all of them can read (dp-sample --shard);
 * `n` of their hello frames says which. Messages count shards from 1, arrays from 0. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

struct dp_merge_shard {
    int64_t rows;            /* rows of the shard; for a part, the rows of the whole data set, because the part's own number is
                              * unknown */
    int64_t first_row;       /* sites: rows of the shards before this one */
    char *data, *population; /* as in its frames */
    char *split;             /* "": none */
};

/* Starts zeroed; close it, whatever hello returned. */
struct dp_merge {
    int shards;       /* 0: no hello yet */
    bool parts;       /* shards are parts of one data set */
    bool masked;      /* the caller sets it: the sums have masks (masks.h), and only their total is checked */
    bool torn;        /* and this, for a lap whose masks do not cancel: all of its sums are lost */
    bool has_moments; /* laps of the next kind sum moments */
    char moments[DP_RECORD_ON];
    int64_t rows; /* rows of all shards: n of the frames to workers, and rows of the records in the answers */
    struct dp_merge_shard *shard;
    char *data, *population; /* for all shards together: the common text, if all shards have the same; otherwise the hexadecimal
                              * BLAKE2b-128 of all texts in order, each with its NUL */
};

/* Merges the answers of `shards` workers to the hello frame `sent`, which each worker got with its own shard and shards (the
 * caller sets these). *out is the answer that the pipeline would give on a machine with all rows: `sent` with the number of
 * stages, the records and the plan of the answers; rows of sites are added. DP_E_UNSAFE: a frame is not of this run; or two
 * shards do not match: different pipelines, options, labels, scaling or row norms, parts of different data sets, or the same
 * data set at two sites, where one person would count twice; or there are more than 2^48 rows, the most that a batch is drawn
 * from. `out` may be `sent`. */
int dp_merge_hello(struct dp_merge *merge, int shards, const struct dp_frame *const answer[], const struct dp_frame *sent,
                   struct dp_frame *out, struct dp_err *err);

/* Makes the lap frame for one shard (from 0) out of the frame that came to the gather. Sets n, and first_row if shards are
 * sites. data, population and split become the shard's own; token has the names for all shards together. */
void dp_merge_token(const struct dp_merge *merge, int shard, const struct dp_frame *token, struct dp_frame *out);

/* Adds the answers to a lap whose frame came to the gather as `token`. answer[k] is NULL if shard k is lost; at least one
 * answer exists. *out is `token` with the sums, records, label and public fields of the answers, `data` and `population` of all
 * shards together, `elsewhere` if one answer has it, and `lost` if shards are lost; a record of noise in shares gets the number
 * of shares. DP_E_UNSAFE: the answers differ in anything but their sums; or they are not bounded or noised sums of whole
 * numbers, each with a record; or a sum is larger than the rows of its shard allow (reach.h). DP_E_RUN: a sum overflows. With
 * masks, sums are added modulo 2^64, and their total must be as small as all rows make it. In a torn lap the sums are 0 and all
 * shards are lost; DP_E_RUN: moments are lost, which nothing replaces. `out` may be `token`. */
int dp_merge_lap(const struct dp_merge *merge, const struct dp_frame *const answer[], const struct dp_frame *token,
                 struct dp_frame *out, struct dp_err *err);

/* Finds the first two shards, from 0, with rows of the same population. */
bool dp_merge_same_people(const struct dp_merge *merge, int *one, int *other);

void dp_merge_close(struct dp_merge *merge);
