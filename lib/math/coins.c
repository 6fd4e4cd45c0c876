#include "math/coins.h"

#include <string.h>

#define TAILS 32
#define TOGETHER 16 /* coins that are looked at at once */

struct dp_coins dp_coins(double rate, enum dp_purpose first, enum dp_purpose rest)
{
    bool certain = rate >= 1;
    return (struct dp_coins){
        .threshold = certain ? 0 : (uint64_t)(rate * 0x1p64), .certain = certain, .first = first, .rest = rest};
}

/* Whether all of these coins are certainly out; few rows are in, so this skips most of them at once. The usual test for
   a byte below n ≤ 128 in a word. */
static bool none_up_to(const unsigned char coins[TOGETHER], unsigned char first)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t word[TOGETHER / 8], low = 0;
    memcpy(word, coins, sizeof word);
    for (int i = 0; i < TOGETHER / 8; i++)
        low |= (word[i] - ones * (first + 1u)) & ~word[i];
    return first < 127 && (low & tops) == 0;
}

/* The other 56 bits of a coin whose first byte did not decide: the nth of a chunk has the nth word of the chunk's part
   of the stream. */
static uint64_t coin_tail(const struct dp_coins *coins, const struct dp_key *key, uint64_t lap, int64_t base, size_t n,
                          uint64_t tails[TAILS])
{
    if (n % TAILS == 0)
        dp_draw(key, coins->rest, lap, ((uint64_t)base + n) * 8, tails, TAILS * 8);
    return tails[n % TAILS] & 0xffffffffffffff;
}

size_t dp_coins_toss(const struct dp_coins *coins, const struct dp_key *key, uint64_t lap, int64_t base, size_t size,
                     int64_t in[DP_COINS_CHUNK])
{
    unsigned char coin[DP_COINS_CHUNK], first = (unsigned char)(coins->threshold >> 56);
    uint64_t rest = coins->threshold & 0xffffffffffffff, tails[TAILS];
    size_t count = 0, undecided = 0;
    if (!coins->certain)
        dp_draw(key, coins->first, lap, (uint64_t)base, coin, size);
    for (size_t from = 0, to; from < size; from = to) {
        to = size - from < TOGETHER ? size : from + TOGETHER;
        if (!coins->certain && to - from == TOGETHER && none_up_to(coin + from, first))
            continue;
        for (size_t i = from; i < to; i++)
            if (coins->certain || coin[i] < first ||
                (coin[i] == first && coin_tail(coins, key, lap, base, undecided++, tails) < rest))
                in[count++] = base + (int64_t)i;
    }
    return count;
}
