/* Uniform numbers with infinitely many bits, as intervals that shrink. Exact noise is computed from them. */
#pragma once

#include <mpfr.h>

#include "math/rng.h"

/* The binary digits of a V in (0, 1) are the infinite string of draw `index` (dp_draw_word), without its first bit if that is a
   sign: then sign is 1, else 0. From the first `words` words V lies in [low, high], with high − low = 2^(sign − 64 words). Both
   are exact, in a precision that this function sets. */
void dp_uniform_between(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, uint64_t words,
                        int sign, mpfr_t low, mpfr_t high);
