#include "math/whiten.h"

#include "base/mem.h"
#include "math/eigen.h"

size_t dp_whiten_columns(size_t count)
{
    size_t d = (size_t)sqrt(2 * (double)count);
    while (d > 0 && d * (d + 1) / 2 > count)
        d--;
    return d;
}

void dp_whiten_unpack(const double *packed, size_t d, double *moments)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++, packed++)
            moments[i * d + j] = moments[j * d + i] = i == j ? *packed : *packed / M_SQRT2;
}

/* Turns row i of v, an eigenvector, into that direction times √N (μ_i + floor)^(−1/2) / (R √D_e), for the leading directions;
   or times its root, for all: then V S Vᵀ = (V √S) (V √S)ᵀ. */
static void build(const struct dp_whitening *how, double *v, const double *values, size_t d, double effective,
                  double *transform)
{
    size_t directions = how->keep > 0 ? how->keep : d;
    for (size_t i = 0; i < directions; i++) {
        double scale = sqrt(how->rows / (fmax(values[i], 0) + how->floor) / effective) / how->radius;
        double factor = how->keep > 0 ? scale : sqrt(scale);
        for (size_t j = 0; j < d; j++)
            v[i * d + j] *= factor;
    }
    if (how->keep > 0) {
        memcpy(transform, v, directions * d * sizeof *v);
        return;
    }
    for (size_t i = 0; i < d; i++) {
        double *row = transform + i * d;
        memset(row, 0, d * sizeof *row);
        for (size_t k = 0; k < d; k++)
            for (size_t j = 0; j <= i; j++)
                row[j] += v[k * d + i] * v[k * d + j];
        for (size_t j = 0; j < i; j++)
            transform[j * d + i] = row[j];
    }
}

int dp_whiten(const struct dp_whitening *how, double *moments, size_t d, double *transform, double *effective,
              double *curvature, struct dp_err *err)
{
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(moments[i]))
            return dp_fail(err, DP_E_RUN, "the moments are not finite");
    double *values = dp_new(d, sizeof *values);
    int rc = dp_eigen(moments, d, values, err);
    *effective = 0;
    for (size_t i = 0; rc == DP_OK && i < (how->keep > 0 ? how->keep : d); i++) {
        double value = fmax(values[i], 0);
        *effective += value / (value + how->floor);
    }
    if (rc == DP_OK && !(*effective > 0))
        rc = dp_fail(err, DP_E_RUN, "the moments are noise: no direction of theirs is above zero");
    if (rc == DP_OK) {
        *curvature = 1 / (how->radius * how->radius * *effective);
        build(how, moments, values, d, *effective, transform);
    }
    free(values);
    return rc;
}
