#include "math/coins.h"

#include <mpfr.h>

#include "base/isa.h"

#define MEAN 16
#define LARGEST_BITS 32
#define PRECISION 512
#define WORDS 44 /* enough for most chunks; other streams have more */

/* The bits of a chunk at its address, a whole number of blocks of the stream. */
struct bits {
    uint64_t high, low;
    uint32_t word[WORDS];
};
_Static_assert(sizeof(struct bits) % 64 == 0, "a chunk begins with a block");

/* 2^128 × p, rounded up, in two words; p < 1. Returns false if that is 2^128. Destroys p. */
static bool rounded_up(mpfr_t p, unsigned __int128 *threshold)
{
    mpfr_mul_2ui(p, p, 64, MPFR_RNDU);
    uint64_t high = mpfr_get_ui(p, MPFR_RNDD);
    mpfr_sub_ui(p, p, high, MPFR_RNDU);
    mpfr_mul_2ui(p, p, 64, MPFR_RNDU);
    mpfr_ceil(p, p);
    unsigned __int128 low = mpfr_cmp_ui_2exp(p, 1, 64) >= 0 ? (unsigned __int128)1 << 64 : mpfr_get_ui(p, MPFR_RNDU);
    *threshold = ((unsigned __int128)high << 64) + low;
    return *threshold != 0 || (high == 0 && low == 0);
}

/* The cumulative sums of Pr[X = k + 1] = Pr[X = k] (n − k)/(k + 1) q/(1 − q). Every operation is rounded up, except that 1 − q,
   a divisor, is rounded down. */
static void tabulate(struct dp_coins *coins, double rate)
{
    mpfr_t term, sum, odds, copy;
    unsigned long n = 1ul << coins->bits;
    mpfr_inits2(PRECISION, term, sum, odds, copy, (mpfr_ptr)0);
    mpfr_set_d(odds, rate, MPFR_RNDU);
    mpfr_ui_sub(copy, 1, odds, MPFR_RNDD);
    mpfr_div(odds, odds, copy, MPFR_RNDU);
    mpfr_set_d(term, -rate, MPFR_RNDU);
    mpfr_add_ui(term, term, 1, MPFR_RNDU);
    mpfr_pow_ui(term, term, n, MPFR_RNDU);
    mpfr_set(sum, term, MPFR_RNDU);
    for (size_t k = 0; k < DP_COINS_MOST; k++) {
        mpfr_set(copy, sum, MPFR_RNDU);
        if (mpfr_cmp_ui(sum, 1) >= 0 || !rounded_up(copy, &coins->threshold[k]))
            break;
        coins->counts = k + 1;
        mpfr_mul_ui(term, term, n - k, MPFR_RNDU);
        mpfr_div_ui(term, term, k + 1, MPFR_RNDU);
        mpfr_mul(term, term, odds, MPFR_RNDU);
        mpfr_add(sum, sum, term, MPFR_RNDU);
    }
    mpfr_clears(term, sum, odds, copy, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/* The number of rows at U. k: a lower bound on it, from which the search goes up. */
static size_t number_at(const struct dp_coins *coins, unsigned __int128 u, size_t k)
{
    while (k < coins->counts && u >= coins->threshold[k])
        k++;
    return k;
}

void dp_coins_prepare(struct dp_coins *coins, double rate, enum dp_purpose purpose)
{
    *coins = (struct dp_coins){.purpose = purpose, .certain = rate >= 1};
    while (coins->bits < LARGEST_BITS && ldexp(rate, (int)coins->bits) < MEAN)
        coins->bits++;
    if (coins->certain)
        return;
    tabulate(coins, rate);
    for (unsigned byte = 0; byte < 256; byte++)
        coins->first[byte] = (unsigned char)number_at(coins, (unsigned __int128)byte << 120, 0);
}

size_t dp_coins_number(const struct dp_coins *coins, unsigned __int128 u)
{
    return number_at(coins, u, coins->first[u >> 120]);
}

/* The words of a chunk: first the words of its bits, then block c of the streams (purpose, lap + 2^40), (purpose, lap + 2 ×
   2^40), … Of 16 words of a stream at least half are expected to be different rows, so there are enough streams. */
struct words {
    const struct dp_key *key;
    enum dp_purpose purpose;
    uint64_t lap, chunk;
    const uint32_t *word;
    size_t used;
    uint32_t more[16];
};

static uint32_t next_word(struct words *w)
{
    size_t at = w->used++;
    if (at < WORDS)
        return w->word[at];
    at -= WORDS;
    if (at % 16 == 0)
        dp_draw(w->key, w->purpose, w->lap | (at / 16 + 1) << 40, w->chunk * 64, w->more, sizeof w->more);
    return w->more[at % 16];
}

#define PLACES DP_COINS_MOST /* a multiple of the vector width */

/* Sorts without a branch: for each number, counts the smaller ones. If a number occurs several times, 0 follows the first of
   them. */
DP_KERNEL(void, sort, (const uint32_t number[PLACES], size_t count, uint32_t sorted[PLACES]), (number, count, sorted))
{
    uint32_t below[PLACES] = {0};
    size_t places = (count + 15) / 16 * 16;
    for (size_t i = 0; i < count; i++) {
        uint32_t one = number[i];
        for (size_t j = 0; j < places; j++)
            below[j] += one < number[j];
    }
    memset(sorted, 0, places * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[below[i]] = number[i];
}

/* Inserts a number in order; returns the new count. */
static size_t insert(uint32_t *sorted, size_t count, uint32_t number)
{
    size_t at = count;
    while (at > 0 && sorted[at - 1] > number)
        at--;
    if (at > 0 && sorted[at - 1] == number)
        return count;
    memmove(sorted + at + 1, sorted + at, (count - at) * sizeof *sorted);
    sorted[at] = number;
    return count + 1;
}

/* The first `count` different rows of the words, ascending. */
static void choose(struct words *words, unsigned bits, size_t count, uint32_t row[PLACES])
{
    uint32_t drawn[PLACES] = {0}, last = 0;
    size_t different = count > 0, near = count < WORDS ? count : WORDS;
    for (size_t i = 0; i < near; i++)
        drawn[i] = words->word[i] >> (32 - bits);
    words->used = near;
    for (size_t i = near; i < count; i++)
        drawn[i] = next_word(words) >> (32 - bits);
    sort(drawn, count, row);
    last = count > 0 ? row[0] : 0;
    for (size_t i = 1; i < count; i++) { /* without a branch */
        bool more = row[i] > last;
        last = more ? row[i] : last;
        row[different] = last;
        different += more;
    }
    while (different < count)
        different = insert(row, different, next_word(words) >> (32 - bits));
}

/* The rows below n that are not among `count` others. */
static size_t others(const uint32_t *row, size_t count, uint32_t n, uint32_t *other)
{
    size_t found = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (at < count && row[at] == i)
            at++;
        else
            other[found++] = i;
    }
    return found;
}

/* The rows of a chunk that are in the batch, ascending; returns their number. */
static size_t draw_chunk(const struct dp_coins *coins, const struct bits *bits, struct words *words, uint32_t row[PLACES])
{
    uint64_t n = (uint64_t)1 << coins->bits;
    size_t count = dp_coins_number(coins, (unsigned __int128)bits->high << 64 | bits->low);
    if (count <= n / 2) {
        choose(words, coins->bits, count, row);
        return count;
    }
    uint32_t out[PLACES];
    choose(words, coins->bits, (size_t)n - count, out);
    return others(out, (size_t)n - count, (uint32_t)n, row);
}

/* All rows, up to the limit of one toss. */
static size_t take_all(int64_t *from, int64_t to, int64_t *in)
{
    size_t count = 0;
    while (*from < to && count < DP_COINS_TOSSED)
        in[count++] = (*from)++;
    return count;
}

size_t dp_coins_toss(const struct dp_coins *coins, const struct dp_key *key, uint64_t lap, int64_t *from, int64_t to,
                     int64_t *in)
{
    if (coins->certain)
        return take_all(from, to, in);
    struct bits bits[DP_COINS_CHUNKS];
    uint64_t first = (uint64_t)*from >> coins->bits, last = (uint64_t)(to - 1) >> coins->bits;
    size_t chunks = last - first < DP_COINS_CHUNKS ? (size_t)(last - first) + 1 : DP_COINS_CHUNKS, count = 0;
    dp_draw(key, coins->purpose, lap, first * sizeof *bits, bits, chunks * sizeof *bits);
    for (size_t c = 0; c < chunks; c++) {
        struct words words = {.key = key, .purpose = coins->purpose, .lap = lap, .chunk = first + c, .word = bits[c].word};
        uint32_t row[PLACES];
        int64_t base = (int64_t)((first + c) << coins->bits);
        size_t here = draw_chunk(coins, &bits[c], &words, row);
        for (size_t i = 0; i < here; i++) {
            in[count] = base + row[i];
            count += in[count] >= *from && in[count] < to;
        }
    }
    int64_t end = (int64_t)((first + chunks) << coins->bits);
    *from = end < to ? end : to;
    return count;
}

size_t dp_coins_largest(double rate, size_t rows)
{
    const double nats = 45; /* 2^-64 is e^-44.4 */
    double mean = rate * (double)rows;
    double size = mean + nats / 3 + sqrt(nats * nats / 9 + 2 * nats * mean);
    return size < (double)rows ? (size_t)size + 1 : rows;
}
