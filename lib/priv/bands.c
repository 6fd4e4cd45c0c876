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

DP_KERNEL(void, step, (const int64_t *c, int64_t bands, int64_t t, size_t n, int64_t *ring), (c, bands, t, n, ring))
{
    int64_t *now = ring + (size_t)(t % bands) * n;
    for (int64_t k = 1; k < bands && k <= t; k++) {
        const int64_t *past = ring + (size_t)((t - k) % bands) * n;
        for (size_t j = 0; j < n; j++)
            now[j] -= c[k] * past[j];
    }
    /* Not half to even: rounding must commute with the addition of whole steps, because the sum is rounded with the noise. */
    for (size_t j = 0; j < n; j++)
        now[j] = (now[j] + DP_BANDS_UNIT / 2) >> DP_BANDS_BITS;
}

void dp_bands_step(const int64_t *c, int64_t bands, int64_t t, size_t n, int64_t *ring)
{
    step(c, bands, t, n, ring);
}
