/* Poisson sampling: each row is in a batch by itself, with one probability q, at a cost that goes with the batch.
 *
 * Rows are in chunks of n, a power of two that depends only on q: the smallest n <= 2^32 with n q >= 16. Chunk c has the rows c
 * n … c n + n − 1, whether the data have them all or not. If each row is in independently with probability q, the number of a
 * chunk's rows that are in is binomial, and all sets of the same size have the same probability. So a chunk draws its number, K
 * = the first k with U < T_k, U of 128 random bits and T_k = 2^128 Pr[X <= k] rounded up, X ~ Binomial(n, q); and K different
 * rows: words of 32 random bits, whose first log2 n are a row, and of which the first K different ones count; where K is more
 * than n/2, n − K rows that are not in. Rows that the data, a shard or a site do not have are drawn all the same and then left
 * out, which for rows that are in by themselves changes nothing about the others. The bits of chunk c in lap t have the address
 * (purpose, t, c): the result does not depend on who asks, for which rows or in how many parts.
 *
 * How far that is from Poisson sampling. The second draw is exact: a row of n by log2 n bits is uniform, and the first K
 * different ones of uniform rows, and the complement of such, are a uniform set. For the first draw, let F(k) = Pr[X <= k] and
 * G(k) = T_k/2^128 = Pr[K <= k]. T_k is rounded up from a number computed with every operation rounded up, so G >= F: K is
 * never stochastically larger than X, and no row is in with a probability above q. Coupled by one uniform number, K <= X, and
 * Pr[K != X] <= E[X − K] = Σ_k (G(k) − F(k)) < 2^-120: each of at most DP_COINS_MOST terms of the table is at most 2^-128 and
 * what the computation, of 512 bits, is off; behind the table 1 − F(k) is below 2^-128 at its first term, and each term is less
 * than half of the one before (the ratio of Binomial(n, q) there is below 32/k for k > 64; smaller tables end at n). A lap of N
 * <= 2^48 rows has at most N/n + 1 <= 2^43 + 1 chunks, because n >= 32 where q < 1; so its total variation from Poisson
 * sampling at rate q is below 2^-76, and below (N q/16 + 1 + N/2^32) 2^-120 whatever N is. At q = 1 all rows are in, and
 * nothing is drawn. */
#ifndef DP_MATH_COINS_H
#define DP_MATH_COINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/rng.h"

/* Rows of a chunk that can be in: Binomial(n, q) of mean below 32 is larger with a probability of less than 2^-128. */
#define DP_COINS_MOST 160
#define DP_COINS_CHUNKS 16 /* that are drawn together */
#define DP_COINS_ROWS ((int64_t)1 << 48)

struct dp_coins {
    enum dp_purpose purpose;
    unsigned bits;                              /* log2 n */
    bool certain;                               /* q is 1 */
    size_t counts;                              /* of the table: T_k = 2^128 from there on */
    unsigned __int128 threshold[DP_COINS_MOST]; /* T_k */
    unsigned char first[256];                   /* the number at the smallest U that begins with this byte */
};

/* 0 < rate <= 1; the draws have this purpose. */
void dp_coins_prepare(struct dp_coins *coins, double rate, enum dp_purpose purpose);

/* K, the number of rows of a chunk that are in, at U = u. */
size_t dp_coins_number(const struct dp_coins *coins, unsigned __int128 u);

/* Rows that one toss may find. */
#define DP_COINS_TOSSED ((size_t)DP_COINS_CHUNKS * DP_COINS_MOST)

/* The rows of [*from, to) that are in in lap `lap`, ascending, up to the row at which *from is then: `in` has room for
   DP_COINS_TOSSED of them. Returns how many there are, maybe none. 0 <= *from < to <= DP_COINS_ROWS, lap < 2^40. */
size_t dp_coins_toss(const struct dp_coins *coins, const struct dp_key *key, uint64_t lap, int64_t *from, int64_t to,
                     int64_t *in);

/* A size that the batch of that many rows exceeds with a probability of less than 2^-64 (Bernstein's inequality), at most all.
 */
size_t dp_coins_largest(double rate, size_t rows);

#endif
