#include "math/marks.h"

#include <stdlib.h>

#include "base/mem.h"

int dp_marks_open(struct dp_marks *marks, uint64_t limit, struct dp_err *err)
{
    int rc = DP_OK;
    for (uint64_t bits = limit; rc == DP_OK && (marks->levels == 0 || bits > 1); bits = (bits - 1) / 64 + 1)
        rc = dp_alloc(&marks->level[marks->levels++], (size_t)((bits - 1) / 64 + 1), sizeof **marks->level, err);
    return rc;
}

void dp_marks_close(struct dp_marks *marks)
{
    for (unsigned l = 0; l < marks->levels; l++)
        free(marks->level[l]);
    *marks = (struct dp_marks){0};
}

bool dp_marks_put(struct dp_marks *marks, uint64_t number)
{
    for (unsigned l = 0; l < marks->levels; l++, number /= 64) {
        uint64_t *word = &marks->level[l][number / 64], before = *word, bit = (uint64_t)1 << number % 64;
        *word |= bit;
        if (before != 0) /* the levels above already have this word */
            return (before & bit) == 0;
    }
    return true;
}

/* Takes all numbers below a word of a level, ascending. */
static int64_t *take_word(struct dp_marks *marks, unsigned level, uint64_t word, int64_t *out)
{
    uint64_t bits = marks->level[level][word];
    marks->level[level][word] = 0;
    for (; bits != 0; bits &= bits - 1) {
        uint64_t number = word * 64 + (uint64_t)__builtin_ctzll(bits);
        if (level == 0)
            *out++ = (int64_t)number;
        else
            out = take_word(marks, level - 1, number, out);
    }
    return out;
}

size_t dp_marks_take(struct dp_marks *marks, int64_t *out)
{
    return (size_t)(take_word(marks, marks->levels - 1, 0, out) - out);
}
