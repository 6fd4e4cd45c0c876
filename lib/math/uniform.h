/* Uniform numbers with endlessly many bits, as intervals that shrink: what exact noise is computed from. */
#ifndef DP_MATH_UNIFORM_H
#define DP_MATH_UNIFORM_H

#include <mpfr.h>

#include "math/rng.h"

/* The binary digits of a V in (0, 1) are the endless string of draw `index` (dp_draw_word), without its first bit where
   that is a sign: sign is 1 then, else 0. From the first `words` words V lies in [low, high], with
   high − low = 2^(sign − 64 words); both are exact, in a precision that this function sets. */
void dp_uniform_between(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, uint64_t words,
                        int sign, mpfr_t low, mpfr_t high);

#endif
