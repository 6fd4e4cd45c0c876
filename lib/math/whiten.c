#include "math/whiten.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>

#include "base/init.h"
#include "base/mem.h"

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

/* M, then its eigenvalues in descending order and, as columns, the vectors. */
struct spectrum {
    gsl_vector *values;
    gsl_matrix *vectors;
};

static void close(struct spectrum *s)
{
    gsl_vector_free(s->values);
    gsl_matrix_free(s->vectors);
}

static int open(struct spectrum *s, double *moments, size_t d, struct dp_err *err)
{
    gsl_matrix_view m = gsl_matrix_view_array(moments, d, d);
    gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(d);
    *s = (struct spectrum){gsl_vector_alloc(d), gsl_matrix_alloc(d, d)};
    int rc = work != NULL && s->values != NULL && s->vectors != NULL
                 ? DP_OK
                 : dp_fail(err, DP_E_RUN, "out of memory (moments of %zu columns)", d);
    if (rc == DP_OK && (gsl_eigen_symmv(&m.matrix, s->values, s->vectors, work) != 0 ||
                        gsl_eigen_symmv_sort(s->values, s->vectors, GSL_EIGEN_SORT_VAL_DESC) != 0))
        rc = dp_fail(err, DP_E_RUN, "the eigenvalues of the moments of %zu columns were not found", d);
    if (work != NULL)
        gsl_eigen_symmv_free(work);
    return rc;
}

/* Each direction times √N (μ + floor)^(−1/2) / (R √D_e): as rows for the leading directions, or V S Vᵀ = (V √S) (V √S)ᵀ for
   all. */
static void build(const struct dp_whitening *how, const struct spectrum *s, size_t d, double effective, double *transform)
{
    for (size_t i = 0; i < d; i++) {
        double value = fmax(gsl_vector_get(s->values, i), 0);
        double scale = sqrt(how->rows / (value + how->floor) / effective) / how->radius;
        for (size_t j = 0; i < how->keep && j < d; j++)
            transform[i * d + j] = scale * gsl_matrix_get(s->vectors, j, i);
        gsl_vector_view column = gsl_matrix_column(s->vectors, i);
        if (how->keep == 0)
            gsl_vector_scale(&column.vector, sqrt(scale));
    }
    if (how->keep > 0)
        return;
    gsl_matrix_view t = gsl_matrix_view_array(transform, d, d);
    gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1, s->vectors, 0, &t.matrix);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++)
            transform[i * d + j] = transform[j * d + i];
}

int dp_whiten(const struct dp_whitening *how, double *moments, size_t d, double *transform, double *effective,
              double *curvature, struct dp_err *err)
{
    struct spectrum s = {0};
    dp_init();
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(moments[i]))
            return dp_fail(err, DP_E_RUN, "the moments are not finite");
    int rc = open(&s, moments, d, err);
    *effective = 0;
    for (size_t i = 0; rc == DP_OK && i < (how->keep > 0 ? how->keep : d); i++) {
        double value = fmax(gsl_vector_get(s.values, i), 0);
        *effective += value / (value + how->floor);
    }
    if (rc == DP_OK && !(*effective > 0))
        rc = dp_fail(err, DP_E_RUN, "the moments are noise: no direction of theirs is above zero");
    if (rc == DP_OK) {
        *curvature = 1 / (how->radius * how->radius * *effective);
        build(how, &s, d, *effective, transform);
    }
    close(&s);
    return rc;
}
