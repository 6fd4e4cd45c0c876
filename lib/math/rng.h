/* Addressed randomness: ChaCha20 with a key for each stage, and a stream for each (purpose, lap, block). A draw depends on its
 * address only, not on the process, the time or earlier draws. */
#pragma once

#include "base/c.h"

struct dp_key {
    unsigned char bytes[32];
};

enum dp_purpose {
    DP_DRAW_COINS = 1, /* which rows of each chunk are in a batch (math/coins.h) */
    DP_DRAW_BATCH = 3, /* fixed-size batches */
    DP_DRAW_PERMUTATION,
    DP_DRAW_NOISE,            /* on the sum */
    DP_DRAW_STATE_NOISE,      /* on the dual variables, as published */
    DP_DRAW_COLUMNS,          /* coordinates of a primal lap */
    DP_DRAW_COUNT_NOISE,      /* on the count next to the sum */
    DP_DRAW_SEARCH_THRESHOLD, /* line search: on its threshold */
    DP_DRAW_SEARCH_QUERY,     /* line search: on each candidate */
    DP_DRAW_CHOICE,           /* by the exponential mechanism */
    DP_DRAW_OFFSPRING,        /* crossover and mutation, which are public */
    DP_DRAW_OBJECTIVE,        /* on an objective */
    DP_DRAW_STEP_COINS,       /* like DP_DRAW_COINS, for the steps of a descent within a lap */
    DP_DRAW_TRIALS = 16,      /* the number of trials of a selection */
    DP_DRAW_SETTING,          /* the setting of each trial */
    DP_DRAW_SCORE_NOISE,      /* on the score of each trial */
    DP_DRAW_MEASURES,         /* on the counts of dp-eval --private */
    DP_DRAW_LEAVES = 32,      /* synthetic images, which are public */
    DP_DRAW_WEIGHTS,          /* initial weights of networks, which are public */
    DP_DRAW_VIEWS,            /* views of images, which are public */
    DP_DRAW_ROWS,             /* rows from released tables, which are public */
};

/* A key from the kernel's CSPRNG. */
void dp_key_fresh(struct dp_key *key);

/* The key of (seed, stage name, ordinal of the stage in the pipeline), by BLAKE2b: reproducible, not private. */
void dp_key_derive(struct dp_key *key, int64_t seed, const char *name, int64_t ordinal);

/* The bytes [offset, offset + size) of the stream (purpose, lap). offset must be a multiple of 64. lap < 2^40
   (the 16 bits above number the streams of dp_draw_word), offset + size < 2^63. */
void dp_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t offset, void *out, size_t size);

/* Word j of the infinite bit string of draw `index`. Word 0 is the 8 bytes at offset 8 × index of the stream (purpose,
   lap), so that one call of dp_draw gives word 0 of many draws. Words 1 to 8 are block `index` of the stream (purpose, lap +
   2^40), words 9 to 16 are this block of (purpose, lap + 2 × 2^40), and so on. lap < 2^40, index < 2^57, j ≤ 8 × 65535. */
uint64_t dp_draw_word(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, uint64_t j);

/* A generator of whole numbers over one stream, for algorithms that draw a varying amount. */
struct dp_stream {
    const struct dp_key *key;
    enum dp_purpose purpose;
    uint64_t lap, offset;
    uint64_t word[64];
    unsigned used;
};

void dp_stream_start(struct dp_stream *stream, const struct dp_key *key, enum dp_purpose purpose, uint64_t lap);
uint64_t dp_stream_next(struct dp_stream *stream);

/* Uniform on [0, 1), a multiple of 2^−53. */
double dp_stream_real(struct dp_stream *stream);

/* Uniform on 0 … n-1, exactly (by rejection). n > 0. */
uint64_t dp_stream_below(struct dp_stream *stream, uint64_t n);

/* Shuffles a list of at most 2^31 entries: each order has exactly the same probability. */
void dp_stream_shuffle(struct dp_stream *stream, uint32_t *list, size_t count);
