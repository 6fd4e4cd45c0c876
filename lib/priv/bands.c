#include "priv/bands.h"

#include "base/isa.h"

void dp_bands_coefficients(int64_t *c, int64_t bands)
{
    double exact = 1;
    for (int64_t k = 0; k < bands; k++) {
        c[k] = llround(exact * DP_BANDS_UNIT);
        exact *= (double)(2 * k + 1) / (double)(2 * k + 2);
    }
}

double dp_bands_norm(int64_t bands)
{
    int64_t c[DP_BANDS_MOST], squares = 0; /* exact: below 2^37 */
    dp_bands_coefficients(c, bands);
    for (int64_t k = 0; k < bands; k++)
        squares += c[k] * c[k];
    return nextafter(sqrt((double)squares), (double)INFINITY) / DP_BANDS_UNIT;
}

/* now[j] −= Σ_k c_k past_kj over the steps that are in the ring. */
DP_KERNEL(void, subtract, (const int64_t *c, int64_t bands, int64_t t, size_t n, const int64_t *ring, int64_t *now),
          (c, bands, t, n, ring, now))
{
    const int64_t *past = now;
    for (int64_t k = 1; k < bands && k <= t; k++) {
        past = past == ring ? ring + (size_t)(bands - 1) * n : past - n; /* a remainder would take longer than the products */
        for (size_t j = 0; j < n; j++)
            now[j] -= c[k] * past[j];
    }
}

#ifdef DP_ISA_X86
#include <immintrin.h>

#define STRIP 4 /* registers of numbers, whose sums stay in registers, too */

/* The same, modulo 2^64. No instruction multiplies 64 bits at once: c_k has 13 bits, so the sums of its products with the low
   and with the high 32 bits of the past fit, and are put together at the end. */
DP_TARGET_AVX512 static void subtract_wide(const int64_t *c, int64_t bands, int64_t t, size_t n, const int64_t *ring,
                                           int64_t *now)
{
    for (size_t from = 0; from < n; from += 8 * STRIP) {
        __m512i low[STRIP], high[STRIP];
        __mmask8 mask[STRIP];
        for (size_t v = 0; v < STRIP; v++) {
            size_t at = from + 8 * v, left = at < n ? n - at : 0;
            mask[v] = (__mmask8)(left < 8 ? (1U << left) - 1 : 0xff);
            low[v] = high[v] = _mm512_setzero_si512();
        }
        const int64_t *past = now;
        for (int64_t k = 1; k < bands && k <= t; k++) {
            past = past == ring ? ring + (size_t)(bands - 1) * n : past - n;
            const __m512i factor = _mm512_set1_epi64(c[k]);
            for (size_t v = 0; v < STRIP; v++) {
                __m512i r = _mm512_maskz_loadu_epi64(mask[v], past + from + 8 * v);
                low[v] = _mm512_add_epi64(low[v], _mm512_mul_epu32(factor, r));
                high[v] = _mm512_add_epi64(high[v], _mm512_mul_epu32(factor, _mm512_srli_epi64(r, 32)));
            }
        }
        for (size_t v = 0; v < STRIP; v++) {
            __m512i sum = _mm512_add_epi64(low[v], _mm512_slli_epi64(high[v], 32));
            int64_t *to = now + from + 8 * v;
            _mm512_mask_storeu_epi64(to, mask[v], _mm512_sub_epi64(_mm512_maskz_loadu_epi64(mask[v], to), sum));
        }
    }
}
#endif

void dp_bands_step(const int64_t *c, int64_t bands, int64_t t, size_t n, int64_t *ring)
{
    int64_t *now = ring + (size_t)(t % bands) * n;
#ifdef DP_ISA_X86
    if (dp_isa_used() == DP_ISA_AVX512)
        subtract_wide(c, bands, t, n, ring, now);
    else
#endif
        subtract(c, bands, t, n, ring, now);
    /* Not half to even: rounding must commute with the addition of whole steps, because the sum is rounded with the noise. */
    for (size_t j = 0; j < n; j++)
        now[j] = (now[j] + DP_BANDS_UNIT / 2) >> DP_BANDS_BITS;
}
