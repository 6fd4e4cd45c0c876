/* Kernels for an x86 CPU with AVX-512. A product of floats rounded toward zero takes one instruction. The end of a row is
   loaded under a mask: masked entries are not read, and add a zero to their lane. */
#include "base/isa.h"

#ifdef DP_ISA_X86
#include <immintrin.h>

#define TARGET DP_TARGET_AVX512
#include "math/kernels_plain.inc"

#define INLINE TARGET static inline __attribute__((always_inline))

struct lanes {
    __m512d low, high;
};

INLINE __m512d add_product(__m512d sum, __m512d a, __m512d b)
{
    return _mm512_add_pd(sum, _mm512_mul_pd(a, b));
}

/* The same tree as fold(). */
INLINE double fold_lanes(struct lanes lane)
{
    __m512d half = _mm512_add_pd(lane.low, lane.high);
    __m256d quarter = _mm256_add_pd(_mm512_castpd512_pd256(half), _mm512_extractf64x4_pd(half, 1));
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(quarter), _mm256_extractf128_pd(quarter, 1));
    return _mm_cvtsd_f64(pair) + _mm_cvtsd_f64(_mm_unpackhi_pd(pair, pair));
}

/* The first `count` ≤ 16 bits. */
INLINE __mmask16 first(size_t count)
{
    return (__mmask16)((1U << count) - 1);
}

/* Adds 16 entries, or the entries of the mask, to the lanes of both sums, or without norms to the first. */
INLINE void add_entries(const float *x, const double *w, __mmask16 mask, struct lanes *dots, struct lanes *squares, bool norms)
{
    __m512 entries = _mm512_maskz_loadu_ps(mask, x);
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(entries));
    __m512d high = _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(entries), 1)));
    dots->low = add_product(dots->low, low, _mm512_maskz_loadu_pd((__mmask8)mask, w));
    dots->high = add_product(dots->high, high, _mm512_maskz_loadu_pd((__mmask8)(mask >> 8), w + 8));
    if (norms) {
        squares->low = add_product(squares->low, low, low);
        squares->high = add_product(squares->high, high, high);
    }
}

TARGET static size_t pack(const float *x, size_t count, unsigned char *bits, uint32_t *kept)
{
    size_t used = 0;
    for (size_t j = 0; j < count; j += LANES) {
        const __mmask16 there = first(count - j < LANES ? count - j : LANES);
        const __m512i words = _mm512_castps_si512(_mm512_maskz_loadu_ps(there, x + j));
        const __mmask16 keep = _mm512_test_epi32_mask(words, words);
        const uint16_t two = (uint16_t)keep;
        _mm512_storeu_si512(kept + used, _mm512_maskz_compress_epi32(keep, words));
        memcpy(bits + j / 8, &two, sizeof two);
        used += (size_t)__builtin_popcount(keep);
    }
    return used;
}

INLINE void dot_rows(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, double *dots,
                     double *norms)
{
    const size_t cols = count > 0 ? rows[0].count : 0, whole = cols - cols % LANES;
    for (size_t i = 0; i < count; i++) {
        struct lanes d = {_mm512_setzero_pd(), _mm512_setzero_pd()}, n = d;
        const float *x = rows[i].values;
        if (next != NULL)
            dp_row_prefetch(next[i]);
        for (size_t j = 0; j < whole; j += LANES)
            add_entries(x + j, w + j, 0xffff, &d, &n, norms != NULL);
        if (whole < cols)
            add_entries(x + whole, w + whole, first(cols - whole), &d, &n, norms != NULL);
        dots[i] = fold_lanes(d);
        if (norms != NULL)
            norms[i] = fold_lanes(n);
    }
}

TARGET static void dot_norm2(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, double *dots,
                             double *norms)
{
    if (norms != NULL)
        dot_rows(rows, count, next, w, dots, norms);
    else
        dot_rows(rows, count, next, w, dots, NULL);
}

/* Eight columns of four rows with two weights; all sums stay in registers. */
struct eight {
    __m512d v[DP_QUAD], w[DP_QUAD];
};

INLINE struct eight read_lanes(double (*lane)[LANES], size_t at)
{
    struct eight sum;
    for (size_t r = 0; r < DP_QUAD; r++) {
        sum.v[r] = _mm512_loadu_pd(lane[r] + at);
        sum.w[r] = _mm512_loadu_pd(lane[DP_QUAD + r] + at);
    }
    return sum;
}

INLINE void write_lanes(const struct eight *sum, double (*lane)[LANES], size_t at)
{
    for (size_t r = 0; r < DP_QUAD; r++) {
        _mm512_storeu_pd(lane[r] + at, sum->v[r]);
        _mm512_storeu_pd(lane[DP_QUAD + r] + at, sum->w[r]);
    }
}

INLINE void add_eight(struct eight *sum, const double (*x)[DP_SPAN], const double *v, const double *w, size_t j, __mmask8 mask)
{
    __m512d a = _mm512_maskz_loadu_pd(mask, v + j), b = _mm512_maskz_loadu_pd(mask, w + j);
    for (size_t r = 0; r < DP_QUAD; r++) {
        __m512d entries = _mm512_maskz_loadu_pd(mask, x[r] + j);
        sum->v[r] = add_product(sum->v[r], entries, a);
        sum->w[r] = add_product(sum->w[r], entries, b);
    }
}

TARGET static void dot_4x2(const double (*x)[DP_SPAN], const double *v, const double *w, size_t count, double (*lane)[LANES])
{
    struct eight low = read_lanes(lane, 0), high = read_lanes(lane, 8);
    size_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        add_eight(&low, x, v, w, j, 0xff);
        add_eight(&high, x, v, w, j + 8, 0xff);
    }
    if (j < count) {
        add_eight(&low, x, v, w, j, (__mmask8)first(count - j));
        add_eight(&high, x, v, w, j + 8, (__mmask8)(first(count - j) >> 8));
    }
    write_lanes(&low, lane, 0);
    write_lanes(&high, lane, 8);
}

/* sum + trunc(a x). The product is rounded toward zero to the 24 bits of a float, then to a whole number. The first rounding
   does not change the whole part of a product below 2^24. */
INLINE __m512i add_truncated(__m512i sum, __m512 a, __m512 x)
{
    return _mm512_add_epi32(sum, _mm512_cvttps_epi32(_mm512_mul_round_ps(a, x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)));
}

/* STRIP registers of sums, 16 columns each, of one output at a time. */
#define STRIP 8
INLINE void add_strip(const float *a, size_t outputs, const float *const *x, size_t count, size_t from, size_t strip,
                      __mmask16 last, int32_t *lane)
{
    __m512i sum[STRIP];
    for (size_t s = 0; s < strip; s++)
        sum[s] = _mm512_load_si512(lane + from + s * LANES);
    for (size_t i = 0; i < count; i++) {
        __m512 factor = _mm512_set1_ps(a[i * outputs]);
        for (size_t s = 0; s + 1 < strip; s++)
            sum[s] = add_truncated(sum[s], factor, _mm512_loadu_ps(x[i] + from + s * LANES));
        sum[strip - 1] = add_truncated(sum[strip - 1], factor, _mm512_maskz_loadu_ps(last, x[i] + from + (strip - 1) * LANES));
    }
    for (size_t s = 0; s < strip; s++)
        _mm512_store_si512(lane + from + s * LANES, sum[s]);
}

TARGET static void add(const float *a, size_t outputs, const float *const *x, size_t count, size_t cols, int32_t *lane,
                       size_t stride)
{
    for (size_t from = 0; from < cols; from += STRIP * LANES) {
        size_t left = cols - from, strips = left < STRIP * LANES ? (left + LANES - 1) / LANES : STRIP;
        __mmask16 last = left < strips * LANES ? first(left % LANES) : 0xffff;
        for (size_t k = 0; k < outputs; k++) {
            int32_t *own = lane + k * stride;
            switch (strips) { /* with a constant number the sums stay in registers */
#define CASE(n)                                                                                                                \
    case n:                                                                                                                    \
        add_strip(a + k, outputs, x, count, from, n, last, own);                                                               \
        break;
                CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
            }
        }
    }
}

const struct dp_kernels dp_kernels_avx512 = {.dot = dot,
                                             .norm2 = norm2,
                                             .plain_norm2 = plain_norm2,
                                             .axpy = axpy,
                                             .add_grid = add_grid,
                                             .narrow_dot = narrow_dot,
                                             .narrow_norm2 = narrow_norm2,
                                             .narrow_axpy = narrow_axpy,
                                             .narrow_add_grid = narrow_add_grid,
                                             .unpack = unpack,
                                             .pack = pack,
                                             .dot_norm2 = dot_norm2,
                                             .dot_4x2 = dot_4x2,
                                             .widen = widen,
                                             .add = add};
#else
typedef int dp_no_kernels_avx512;
#endif
