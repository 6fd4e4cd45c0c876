#include "math/bitset.h"

#include "base/mem.h"

void dp_bitset_open(struct dp_bitset *bitset, uint64_t limit)
{
    for (uint64_t bits = limit; (bitset->levels == 0 || bits > 1); bits = (bits - 1) / 64 + 1)
        bitset->level[bitset->levels++] = dp_new((size_t)((bits - 1) / 64 + 1), sizeof **bitset->level);
}

void dp_bitset_close(struct dp_bitset *bitset)
{
    for (unsigned l = 0; l < bitset->levels; l++)
        free(bitset->level[l]);
    *bitset = (struct dp_bitset){0};
}

bool dp_bitset_put(struct dp_bitset *bitset, uint64_t number)
{
    for (unsigned l = 0; l < bitset->levels; l++, number /= 64) {
        uint64_t *word = &bitset->level[l][number / 64], before = *word, bit = (uint64_t)1 << number % 64;
        *word |= bit;
        if (before != 0) /* the levels above already have this word */
            return (before & bit) == 0;
    }
    return true;
}

/* Removes the numbers that one word of a level represents, in ascending order. */
static int64_t *take_word(struct dp_bitset *bitset, unsigned level, uint64_t word, int64_t *out)
{
    uint64_t bits = bitset->level[level][word];
    bitset->level[level][word] = 0;
    for (; bits != 0; bits &= bits - 1) {
        uint64_t number = word * 64 + (uint64_t)__builtin_ctzll(bits);
        if (level == 0)
            *out++ = (int64_t)number;
        else
            out = take_word(bitset, level - 1, number, out);
    }
    return out;
}

size_t dp_bitset_take(struct dp_bitset *bitset, int64_t *out)
{
    return (size_t)(take_word(bitset, bitset->levels - 1, 0, out) - out);
}
