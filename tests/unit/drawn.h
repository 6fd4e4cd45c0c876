/* Keys and random numbers that are the same in each run of a test. */
#pragma once

#include "math/rng.h"

static inline struct dp_key key_of(int64_t seed, const char *purpose)
{
    struct dp_key key;
    dp_key_derive(&key, seed, purpose, 0);
    return key;
}

/* The key 00 01 … 1f of tests/vectors/noise.py */
static inline struct dp_key counted_key(void)
{
    struct dp_key key;
    for (unsigned char i = 0; i < sizeof key.bytes; i++)
        key.bytes[i] = i;
    return key;
}

/* The next call ends the stream, because it changes the key. */
static inline struct dp_stream stream_of(int64_t seed, const char *purpose)
{
    static struct dp_key key;
    struct dp_stream stream;
    key = key_of(seed, purpose);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 1);
    return stream;
}

/* The next number in [0, 1) */
static inline double uniform_of(struct dp_stream *stream)
{
    return (double)(dp_stream_next(stream) >> 11) * 0x1p-53;
}
