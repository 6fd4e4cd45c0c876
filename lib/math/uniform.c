#include "math/uniform.h"

_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "MPFR takes words of 64 bits");

void dp_uniform_between(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, uint64_t words,
                        int sign, mpfr_t low, mpfr_t high)
{
    mpfr_set_prec(low, (mpfr_prec_t)(64 * words));
    mpfr_set_prec(high, (mpfr_prec_t)(64 * words));
    mpfr_set_zero(low, 1);
    for (uint64_t j = words; j-- > 0;) {
        uint64_t word = dp_draw_word(key, purpose, lap, index, j);
        unsigned first = j == 0 ? (unsigned)sign : 0;
        mpfr_add_ui(low, low, word & UINT64_MAX >> first, MPFR_RNDN);
        mpfr_div_2ui(low, low, 64 - first, MPFR_RNDN);
    }
    mpfr_set_ui_2exp(high, 1, sign - (mpfr_exp_t)(64 * words), MPFR_RNDN);
    mpfr_add(high, high, low, MPFR_RNDN);
}
