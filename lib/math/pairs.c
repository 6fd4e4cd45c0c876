#include "math/pairs.h"

#include "base/isa.h"

#define LEFT DP_PAIRS_LEFT
#define RIGHT DP_PAIRS_RIGHT

static void multiply(const int16_t *restrict left, const int16_t *restrict right, size_t pairs, int32_t sum[LEFT][RIGHT])
{
    for (size_t a = 0; a < LEFT; a++)
        for (size_t p = 0; p < pairs; p++)
            for (size_t k = 0, at = p * 2 * RIGHT; k < RIGHT; k++)
                sum[a][k] += left[at + 2 * a] * right[at + 2 * k] + left[at + 2 * a + 1] * right[at + 2 * k + 1];
}

#ifdef DP_ISA_X86
#include <immintrin.h>

DP_TARGET_AVX2 static void multiply_avx2(const int16_t *left, const int16_t *right, size_t pairs, int32_t sum[LEFT][RIGHT])
{
    __m256i low[LEFT], high[LEFT];
    for (size_t a = 0; a < LEFT; a++) {
        low[a] = _mm256_loadu_si256((const __m256i *)sum[a]);
        high[a] = _mm256_loadu_si256((const __m256i *)(sum[a] + 8));
    }
#pragma GCC unroll 4
    for (size_t p = 0; p < pairs; p++, left += 2 * RIGHT, right += 2 * RIGHT) {
        __m256i first = _mm256_loadu_si256((const __m256i *)right), second = _mm256_loadu_si256((const __m256i *)(right + 16));
        for (size_t a = 0; a < LEFT; a++) {
            int32_t two;
            memcpy(&two, left + 2 * a, sizeof two);
            __m256i factor = _mm256_set1_epi32(two);
            low[a] = _mm256_add_epi32(low[a], _mm256_madd_epi16(factor, first));
            high[a] = _mm256_add_epi32(high[a], _mm256_madd_epi16(factor, second));
        }
    }
    for (size_t a = 0; a < LEFT; a++) {
        _mm256_storeu_si256((__m256i *)sum[a], low[a]);
        _mm256_storeu_si256((__m256i *)(sum[a] + 8), high[a]);
    }
}
#endif

dp_pairs_product *dp_pairs_for_this_cpu(void)
{
#ifdef DP_ISA_X86
    if (dp_isa_used() >= DP_ISA_AVX2)
        return multiply_avx2;
#endif
    return multiply;
}
