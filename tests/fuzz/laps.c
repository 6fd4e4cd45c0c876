/* The plan of a run's kinds of laps. */
#include <stdlib.h>

#include "fuzz.h"
#include "wire/laps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_laps laps = {0};
    struct dp_err err = {0};
    char *text = fuzz_text(data, size);
    int rc = dp_laps_parse(&laps, text, &err);
    fuzz_said(rc, &err);
    int64_t turns = 0;
    for (int k = 0; rc == DP_OK && k < laps.kinds; k++) {
        fuzz_assert(laps.turns[k] > 0 && dp_laps_find(&laps, laps.name[k]) == k);
        turns += laps.turns[k];
    }
    if (rc == DP_OK) {
        fuzz_assert(turns == laps.laps && laps.laps >= 1 && laps.laps <= DP_LAPS_MOST);
        fuzz_assert(laps.pieces >= 1 && laps.piece[laps.pieces - 1].end == laps.laps);
        for (size_t i = 0; i < laps.pieces; i++)
            fuzz_assert(dp_laps_kind(&laps, laps.piece[i].end) == laps.piece[i].kind);
    }
    dp_laps_free(&laps);
    free(text);
    return 0;
}
