#include "math/inverse.h"

#include "base/mem.h"

#define WORST 0x1p30

/* Both matrices, one next to the other. */
static void exchange(double *both, size_t d, size_t i, size_t k)
{
    for (size_t j = 0; i != k && j < 2 * d; j++) {
        double kept = both[i * 2 * d + j];
        both[i * 2 * d + j] = both[k * 2 * d + j];
        both[k * 2 * d + j] = kept;
    }
}

/* Makes column i a column of the unit matrix. */
static void eliminate(double *both, size_t d, size_t i)
{
    const size_t width = 2 * d;
    size_t pivot = i;
    for (size_t k = i + 1; k < d; k++)
        if (fabs(both[k * width + i]) > fabs(both[pivot * width + i]))
            pivot = k;
    exchange(both, d, i, pivot);
    double *own = both + i * width;
    const double by = 1 / own[i];
    for (size_t j = i; j < width; j++)
        own[j] *= by;
    for (size_t k = 0; k < d; k++) {
        double *row = both + k * width;
        const double times = row[i];
        for (size_t j = i; k != i && j < width; j++)
            row[j] -= times * own[j];
    }
}

/* The largest sum of magnitudes in a row; NAN if one is not finite. */
static double size_of(const double *matrix, size_t d, size_t stride)
{
    double most = 0;
    for (size_t i = 0; i < d; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += fabs(matrix[i * stride + j]);
        most = sum <= most ? most : sum;
        if (!isfinite(sum))
            return (double)NAN;
    }
    return most;
}

double *dp_inverse(const double *matrix, size_t d)
{
    double *both = dp_new(d, 2 * d * sizeof *both), *inverse = NULL;
    for (size_t i = 0; i < d; i++) {
        memcpy(both + i * 2 * d, matrix + i * d, d * sizeof *both);
        both[i * 2 * d + d + i] = 1;
    }
    for (size_t i = 0; i < d; i++)
        eliminate(both, d, i);
    if (size_of(matrix, d, d) * size_of(both + d, d, 2 * d) <= WORST) {
        inverse = dp_new(d, d * sizeof *inverse);
        for (size_t i = 0; i < d; i++)
            memcpy(inverse + i * d, both + i * 2 * d + d, d * sizeof *inverse);
    }
    free(both);
    return inverse;
}
