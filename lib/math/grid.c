#include "math/grid.h"

#include <float.h>

#include "base/isa.h"

#define GRID_BITS 20
#define FINEST (-1000)

double dp_grid_for(double bound)
{
    int exponent;
    frexp(bound, &exponent); /* bound in [2^(exponent-1), 2^exponent) */
    return ldexp(1.0, exponent - 1 - GRID_BITS > FINEST ? exponent - 1 - GRID_BITS : FINEST);
}

/* Whether all are finite and at least one is not zero. Then ‖v‖₂ = *largest × √*squares, without overflow. *largest is
 * infinite if one is not finite. */
static bool measure(const double *v, size_t count, double *largest, double *squares)
{
    *largest = *squares = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(v[k])) {
            *largest = INFINITY;
            return false;
        }
        *largest = fabs(v[k]) > *largest ? fabs(v[k]) : *largest;
    }
    for (size_t k = 0; *largest > 0 && k < count; k++)
        *squares += v[k] / *largest * (v[k] / *largest);
    return *largest > 0;
}

/* Far above the rounding errors of a sum of that many squares, so that bounds hold for the real numbers. */
static double margin(size_t count)
{
    return ((double)count + 32) * 0x1p-52;
}

/* The bound on the norm of a row's coefficients: C_x of dp_grid_clip, less a margin. wider: 1 + the margin of its entries. */
static inline double limit_of(double bound, double norm2, double wider, size_t classes)
{
    double row_norm = sqrt(norm2) * wider, share = bound / row_norm;
    return (row_norm > 1.0 ? share : bound) * (1.0 - margin(classes));
}

/* As clip_all for one coefficient, whose quotient by its own size is 1 or −1. 0 if it or the norm is not finite. */
static inline double clip_one(double zeta, double bound, double norm2, double wider)
{
    double limit = limit_of(bound, norm2, wider, 1), clipped = copysign(limit, zeta);
    clipped = fabs(zeta) > limit ? clipped : zeta;
    clipped = fabs(zeta) <= DBL_MAX ? clipped : 0;
    clipped = fabs(norm2) <= DBL_MAX ? clipped : 0;
    return zeta != 0 ? clipped : 0;
}

static void clip_all(const double *zeta, size_t classes, double largest, double squares, double limit, float *out)
{
    bool longer = largest * sqrt(squares) > limit;
    /* Divides before it multiplies: limit / norm itself may be too small for a double. */
    double part = longer ? limit / sqrt(squares) : 0;
    for (size_t k = 0; k < classes; k++)
        out[k] = dp_float_toward_zero(longer ? zeta[k] / largest * part : zeta[k]);
}

void dp_grid_clip(const double *zeta, size_t classes, double bound, double norm2, size_t count, float *out)
{
    double largest, squares;
    if (classes == 1)
        *out = dp_float_toward_zero(clip_one(*zeta, bound, norm2, 1.0 + margin(count)));
    else if (!isfinite(norm2))
        memset(out, 0, classes * sizeof *out);
    else if (measure(zeta, classes, &largest, &squares))
        clip_all(zeta, classes, largest, squares, limit_of(bound, norm2, 1.0 + margin(count), classes), out);
    else
        memset(out, 0, classes * sizeof *out);
}

/* One coefficient each, without branches. */
DP_KERNEL(void, clip_ones,
          (const double *restrict zeta, double bound, const double *restrict norm2, const double *restrict wider,
           double *restrict clipped, size_t rows),
          (zeta, bound, norm2, wider, clipped, rows))
{
    for (size_t i = 0; i < rows; i++)
        clipped[i] = clip_one(zeta[i], bound, norm2[i], wider[i]);
}

void dp_grid_clip_rows(const double *zeta, size_t classes, double bound, const double *norm2, const size_t *count, size_t rows,
                       float *out)
{
    double wider[DP_GRID_ROWS] = {0}, clipped[DP_GRID_ROWS];
    for (size_t i = 0; i < rows && classes > 1; i++)
        dp_grid_clip(zeta + i * classes, classes, bound, norm2[i], count[i], out + i * classes);
    if (classes > 1)
        return;
    for (size_t i = 0; i < rows; i++)
        wider[i] = 1.0 + margin(count[i]);
    clip_ones(zeta, bound, norm2, wider, clipped, rows);
    for (size_t i = 0; i < rows; i++)
        out[i] = dp_float_toward_zero(clipped[i]);
}

int dp_grid_add_at(const double *v, const size_t *at, size_t count, size_t length, double bound, double grid, int64_t *sum)
{
    double largest, squares;
    if (!measure(v, count, &largest, &squares))
        return largest == 0 ? 1 : 0;
    double limit = bound * (1.0 - margin(length)), norm = largest * sqrt(squares);
    for (size_t k = 0; k < count; k++)
        sum[at != NULL ? at[k] : k] += (int64_t)((norm > limit ? v[k] / largest * (limit / sqrt(squares)) : v[k]) / grid);
    return norm <= bound ? 1 : -1;
}

void dp_grid_add(const double *v, size_t count, double bound, double grid, int64_t *sum)
{
    dp_grid_add_at(v, NULL, count, count, bound, grid, sum);
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
