#include "priv/bands.h"

#include "base/isa.h"
#include "base/mem.h"

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

void dp_bands_open(struct dp_bands *b, int64_t bands, size_t n)
{
    *b = (struct dp_bands){.bands = bands, .n = n};
    b->c = dp_new((size_t)bands, sizeof *b->c);
    b->factor = dp_new((size_t)bands + DP_BANDS_AHEAD, sizeof *b->factor);
    b->ring = dp_new((size_t)bands * n, sizeof *b->ring);
    b->ahead = dp_new(DP_BANDS_AHEAD * n, sizeof *b->ahead);
    dp_bands_coefficients(b->c, bands);
    for (int64_t k = 0; k < bands; k++)
        b->factor[k] = (double)b->c[k];
}

void dp_bands_close(struct dp_bands *b)
{
    free(b->c);
    free(b->factor);
    free(b->ring);
    free(b->ahead);
    *b = (struct dp_bands){.bands = 0};
}

/* now[j] −= Σ_k c_k past_kj over k < bands, of the steps in the ring. A remainder would take longer than the products. */
DP_KERNEL(void, subtract, (const struct dp_bands *b, int64_t bands, int64_t *now), (b, bands, now))
{
    const int64_t *past = now;
    const size_t n = b->n;
    for (int64_t k = 1; k < bands && k <= b->turn; k++) {
        past = past == b->ring ? b->ring + (size_t)(b->bands - 1) * n : past - n;
        for (size_t j = 0; j < n; j++)
            now[j] -= b->c[k] * past[j];
    }
}

#ifdef DP_ISA_X86
#include <immintrin.h>

#define STRIP 2 /* registers of numbers, whose sums for all steps ahead stay in registers, too */

/* ahead_ij = Σ c_(t+i−s) r_sj over the steps s < t in the ring: so eight steps read the ring once. Exact, because numbers of 32
   bits times all coefficients add up to less than 2^50. */
DP_TARGET_AVX512 static void look_ahead(struct dp_bands *b, const int64_t *now)
{
    const size_t n = b->n;
    for (size_t from = 0; from < n; from += 8 * STRIP) {
        __m512d sum[DP_BANDS_AHEAD][STRIP];
        __mmask8 mask[STRIP];
        for (size_t v = 0; v < STRIP; v++) {
            size_t at = from + 8 * v, left = at < n ? n - at : 0;
            mask[v] = (__mmask8)(left < 8 ? (1U << left) - 1 : 0xff);
            for (int i = 0; i < DP_BANDS_AHEAD; i++)
                sum[i][v] = _mm512_setzero_pd();
        }
        const int64_t *past = now;
        for (int64_t k = 1; k < b->bands && k <= b->turn; k++) {
            past = past == b->ring ? b->ring + (size_t)(b->bands - 1) * n : past - n;
            __m512d r[STRIP];
            for (size_t v = 0; v < STRIP; v++)
                r[v] = _mm512_cvtepi32_pd(_mm512_cvtepi64_epi32(_mm512_maskz_loadu_epi64(mask[v], past + from + 8 * v)));
            for (int i = 0; i < DP_BANDS_AHEAD; i++)
                for (size_t v = 0; v < STRIP; v++)
                    sum[i][v] = _mm512_fmadd_pd(_mm512_set1_pd(b->factor[k + i]), r[v], sum[i][v]);
        }
        for (size_t v = 0; v < STRIP; v++)
            for (int i = 0; i < DP_BANDS_AHEAD; i++)
                _mm512_mask_storeu_pd(b->ahead + (size_t)i * n + from + 8 * v, mask[v], sum[i][v]);
    }
}
#endif

/* Whether the sums over older steps of this step are in b->ahead. */
static bool is_ahead(struct dp_bands *b, const int64_t *now)
{
#ifdef DP_ISA_X86
    if (b->turn < b->from + b->sums)
        return true;
    b->from = b->turn;
    b->sums = dp_isa_used() == DP_ISA_AVX512 && b->wide == 0 ? DP_BANDS_AHEAD : 0;
    if (b->sums > 0)
        look_ahead(b, now);
#else
    (void)now;
#endif
    return b->sums > 0;
}

const int64_t *dp_bands_step(struct dp_bands *b)
{
    int64_t *now = dp_bands_slot(b), bands = b->bands;
    if (is_ahead(b, now)) {
        const int64_t since = b->turn - b->from;
        const double *sum = b->ahead + (size_t)since * b->n;
        for (size_t j = 0; j < b->n; j++)
            now[j] -= (int64_t)sum[j];
        bands = since + 1 < bands ? since + 1 : bands;
    }
    subtract(b, bands, now);
    bool wide = false;
    /* Not half to even: rounding must commute with the addition of whole steps, because the sum is rounded with the noise. */
    for (size_t j = 0; j < b->n; j++) {
        now[j] = (now[j] + DP_BANDS_UNIT / 2) >> DP_BANDS_BITS;
        wide |= now[j] != (int32_t)now[j];
    }
    b->wide = wide ? b->bands - 1 : b->wide > 0 ? b->wide - 1 : 0;
    b->turn++;
    return now;
}
