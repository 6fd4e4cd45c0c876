/* Poisson sampling: each row is in a batch independently with probability q, at a cost proportional to the batch.
 *
 * Rows are in chunks of n, a power of two that depends only on q: the smallest n <= 2^32 with n q >= 16. Chunk c has the rows c
 * n … c n + n − 1, whether the data have all of them or not. If each row is in with probability q, the number of a chunk's rows
 * in the batch is binomial, and all sets of the same size have the same probability. So a chunk draws its number, K = the first
 * k with U < T_k, U of 128 random bits and T_k = 2^128 Pr[X <= k] rounded up, X ~ Binomial(n, q). Then it draws K different
 * rows: the first log2 n bits of a word of 32 random bits are a row, and the first K different ones count. If K is more than
 * n/2, it draws n − K rows that are not in. Rows that the data, a shard or a site do not have are drawn as well and then left
 * out, which changes nothing about the others because rows are independent. The bits of chunk c in lap t have the address
 * (purpose, t, c): the result does not depend on who asks, for which rows or in how many parts.
 *
 * Distance from Poisson sampling. The second draw is exact: a row among n, chosen by log2 n bits, is uniform. The first K
 * different ones of uniform rows are a uniform set, and so is their complement. For the first draw, let F(k) = Pr[X <= k] and
 * G(k) = T_k/2^128 = Pr[K <= k]. T_k is rounded up from a number computed with every operation rounded up, so G >= F: K is
 * never stochastically larger than X, and no row is in with a probability above q. Coupled by one uniform number, K <= X, and
 * Pr[K != X] <= E[X − K] = Σ_k (G(k) − F(k)) < 2^-120: each of at most DP_COINS_MOST terms of the table is at most 2^-128 plus
 * the error of the computation, which has 512 bits; beyond the table 1 − F(k) is below 2^-128 at its first term, and each term
 * is less than half of the one before (the ratio of Binomial(n, q) there is below 32/k for k > 64; smaller tables end at n). A
 * lap of N <= 2^48 rows has at most N/n + 1 <= 2^43 + 1 chunks, because n >= 32 for q < 1. So its total variation from Poisson
 * sampling at rate q is below 2^-76, and below (N q/16 + 1 + N/2^32) 2^-120 for any N. At q = 1 all rows are in, and nothing is
 * drawn. */
#pragma once

#include "math/rng.h"

/* The most rows of a chunk in a batch: Binomial(n, q) of mean below 32 exceeds it with a probability of less than 2^-128. */
#define DP_COINS_MOST 160
#define DP_COINS_CHUNKS 16 /* chunks that are drawn together */
#define DP_COINS_ROWS ((int64_t)1 << 48)

struct dp_coins {
    enum dp_purpose purpose;
    unsigned bits;                              /* log2 n */
    bool certain;                               /* q is 1 */
    size_t counts;                              /* entries of the table: T_k = 2^128 for larger k */
    unsigned __int128 threshold[DP_COINS_MOST]; /* T_k */
    unsigned char first[256];                   /* K at the smallest U that begins with this byte */
};

/* Prepares draws of this purpose. 0 < rate <= 1. */
void dp_coins_prepare(struct dp_coins *coins, double rate, enum dp_purpose purpose);

/* K, the number of rows of a chunk in the batch, at U = u. */
size_t dp_coins_number(const struct dp_coins *coins, unsigned __int128 u);

/* The most rows of one toss. */
#define DP_COINS_TOSSED ((size_t)DP_COINS_CHUNKS * DP_COINS_MOST)

/* Puts the rows of [*from, to) that are in the batch of lap `lap` into `in`, ascending, and moves *from to the first row that
   was not tossed. `in` has room for DP_COINS_TOSSED rows. Returns their number, maybe 0. 0 <= *from < to <= DP_COINS_ROWS, lap
   < 2^40. */
size_t dp_coins_toss(const struct dp_coins *coins, const struct dp_key *key, uint64_t lap, int64_t *from, int64_t to,
                     int64_t *in);

/* A batch of that many rows is larger than the result with a probability of less than 2^-64 (Bernstein's inequality). At most
   all rows. */
size_t dp_coins_largest(double rate, size_t rows);
