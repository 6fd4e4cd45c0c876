/* Poisson coins: whether a row is in a batch, each by itself, by 64 bits that have the row's address. */
#ifndef DP_MATH_COINS_H
#define DP_MATH_COINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/rng.h"

/* Coins that come up with a probability: 64 bits are below its 2^64-fold, rounded down. */
struct dp_coins {
    uint64_t threshold;
    bool certain; /* the probability is 1, which no threshold is */
    enum dp_purpose first, rest;
};

/* 0 < rate <= 1. first: the purpose of the first byte of each coin, which decides 255 times in 256; rest: of the others. */
struct dp_coins dp_coins(double rate, enum dp_purpose first, enum dp_purpose rest);

/* Rows whose coins are drawn together: shards begin at multiples of it. */
#define DP_COINS_CHUNK 4096

/* Tosses the coins of lap `lap` for the `size` <= DP_COINS_CHUNK rows from `base` on, a multiple of DP_COINS_CHUNK. The rows
   whose coins come up are put into `in`, ascending, which has room for all of them; returns how many. lap < 2^40. */
size_t dp_coins_toss(const struct dp_coins *coins, const struct dp_key *key, uint64_t lap, int64_t base, size_t size,
                     int64_t in[DP_COINS_CHUNK]);

#endif
