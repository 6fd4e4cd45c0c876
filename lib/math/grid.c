#include "math/grid.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define GRID_BITS 20

double dp_grid_for(double bound)
{
    int exponent;
    frexp(bound, &exponent); /* bound in [2^(exponent-1), 2^exponent) */
    return ldexp(1.0, exponent - 1 - GRID_BITS);
}

/* The float nearest to x on the side of zero. */
static float toward_zero(double x)
{
    float f = (float)x;
    return fabs((double)f) > fabs(x) ? nextafterf(f, 0.0f) : f;
}

void dp_grid_clip(const double *zeta, size_t classes, double bound, double norm2, size_t count, float *out)
{
    double largest = 0, sum = 0;
    bool finite = true;
    for (size_t k = 0; k < classes; k++) {
        if (!isfinite(zeta[k]))
            finite = false;
        largest = fmax(largest, fabs(zeta[k]));
    }
    if (!finite || !isfinite(norm2) || largest == 0) {
        memset(out, 0, classes * sizeof *out);
        return;
    }
    /* Scaled by the largest, so that huge updates do not overflow. */
    for (size_t k = 0; k < classes; k++)
        sum += zeta[k] / largest * (zeta[k] / largest);
    /* Margins far above the rounding errors of the two sums, so that the bound holds for the real numbers. */
    double row_norm = sqrt(norm2) * (1.0 + ldexp((double)count + 32, -52));
    double limit = row_norm > 1.0 ? bound / row_norm : bound;
    double norm = largest * sqrt(sum);
    limit *= 1.0 - ldexp((double)classes + 32, -52);
    /* Divided before multiplied: limit / norm itself may be too small for a double. */
    for (size_t k = 0; k < classes; k++)
        out[k] = toward_zero(norm > limit ? zeta[k] / largest * (limit / sqrt(sum)) : zeta[k]);
}

int dp_grid_add_gaussian(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale,
                         int64_t *sum, size_t count)
{
    enum { BLOCK = 4096 };
    int64_t noise[BLOCK];
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t take = count - done < BLOCK ? count - done : BLOCK;
        if (dp_gaussian_draw(key, purpose, lap, first + done, scale, noise, take) != 0)
            return -1;
        for (size_t i = 0; i < take; i++)
            if (__builtin_add_overflow(sum[done + i], noise[i], &sum[done + i]))
                return -1;
    }
    return 0;
}
