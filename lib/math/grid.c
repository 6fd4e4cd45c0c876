#include "math/grid.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define GRID_BITS 20
#define FINEST (-1000)

double dp_grid_for(double bound)
{
    int exponent;
    frexp(bound, &exponent); /* bound in [2^(exponent-1), 2^exponent) */
    return ldexp(1.0, exponent - 1 - GRID_BITS > FINEST ? exponent - 1 - GRID_BITS : FINEST);
}

/* Whether all are finite and one is not zero: then ‖v‖₂ = *largest × √*squares, without overflow. */
static bool measure(const double *v, size_t count, double *largest, double *squares)
{
    *largest = *squares = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(v[k]))
            return false;
        *largest = fmax(*largest, fabs(v[k]));
    }
    for (size_t k = 0; *largest > 0 && k < count; k++)
        *squares += v[k] / *largest * (v[k] / *largest);
    return *largest > 0;
}

/* A margin far above the rounding errors of a sum of so many squares, so that bounds hold for the real numbers. */
static double margin(size_t count)
{
    return ldexp((double)count + 32, -52);
}

void dp_grid_clip(const double *zeta, size_t classes, double bound, double norm2, size_t count, float *out)
{
    double largest, squares;
    if (!isfinite(norm2) || !measure(zeta, classes, &largest, &squares)) {
        memset(out, 0, classes * sizeof *out);
        return;
    }
    double row_norm = sqrt(norm2) * (1.0 + margin(count));
    double limit = row_norm > 1.0 ? bound / row_norm : bound;
    double norm = largest * sqrt(squares);
    limit *= 1.0 - margin(classes);
    /* Divided before multiplied: limit / norm itself may be too small for a double. */
    for (size_t k = 0; k < classes; k++)
        out[k] = dp_float_toward_zero(norm > limit ? zeta[k] / largest * (limit / sqrt(squares)) : zeta[k]);
}

void dp_grid_add(const double *v, size_t count, double bound, double grid, int64_t *sum)
{
    double largest, squares;
    if (!measure(v, count, &largest, &squares))
        return;
    double limit = bound * (1.0 - margin(count)), norm = largest * sqrt(squares);
    for (size_t k = 0; k < count; k++)
        sum[k] += (int64_t)((norm > limit ? v[k] / largest * (limit / sqrt(squares)) : v[k]) / grid);
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
