#include "math/minimise.h"

#include <limits.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "math/vec.h"

#define MEMORY 20 /* pairs of steps and changes of the gradient that stand in for the second derivatives */

struct search {
    const struct dp_smooth *f;
    double tolerance;
    nlopt_opt method;
    struct dp_minimum *found;
    double scale;     /* of values, in this search; 0 before its first */
    double *best;     /* where found->norm is */
    double *gradient; /* where the method wants none */
};

/* A value that is not finite is the largest there is: the line search comes back from it by halves, of which it tries ten. The
   first step is the gradient, so that its length is made 1 at most. */
static double evaluate(unsigned size, const double *w, double *gradient, void *self)
{
    struct search *s = self;
    double *g = gradient != NULL ? gradient : s->gradient;
    double value = s->f->at(s->f->self, w, g), norm = sqrt(dp_norm2(g, size));
    s->found->evaluations++;
    if (!isfinite(value) || !isfinite(norm)) {
        memset(g, 0, size * sizeof *g);
        return HUGE_VAL;
    }
    if (norm < s->found->norm) {
        s->found->norm = norm;
        s->found->value = value;
        memcpy(s->best, w, size * sizeof *w);
    }
    if (norm <= s->tolerance)
        nlopt_force_stop(s->method);
    if (s->scale == 0)
        s->scale = norm > 1 ? 1 / norm : 1;
    for (unsigned j = 0; j < size; j++)
        g[j] *= s->scale;
    return value * s->scale;
}

/* One search, from w, which it moves to where the norm was least. */
static int search(struct search *s, int64_t most, double *w, struct dp_err *err)
{
    double value;
    int64_t left = most - s->found->evaluations;
    unsigned size = (unsigned)s->f->size;
    s->scale = 0;
    s->method = nlopt_create(NLOPT_LD_LBFGS, size);
    if (s->method == NULL)
        return dp_fail(err, DP_E_RUN, "no memory for a minimum");
    nlopt_result rc = nlopt_set_min_objective(s->method, evaluate, s);
    if (rc > 0)
        rc = nlopt_set_maxeval(s->method, left < INT_MAX ? (int)left : INT_MAX);
    if (rc > 0)
        rc = nlopt_set_vector_storage(s->method, MEMORY);
    if (rc > 0)
        rc = nlopt_optimize(s->method, w, &value);
    nlopt_destroy(s->method);
    memcpy(w, s->best, size * sizeof *w);
    return rc != NLOPT_OUT_OF_MEMORY ? DP_OK : dp_fail(err, DP_E_RUN, "no memory for a minimum");
}

static int search_again(struct search *s, int64_t most, double *w, struct dp_err *err)
{
    struct dp_minimum *found = s->found;
    double before;
    int rc;
    do {
        before = found->norm;
        rc = search(s, most, w, err);
        if (rc != DP_OK)
            return rc;
        found->end = isinf(found->norm)            ? DP_MINIMUM_INFINITE
                     : found->norm <= s->tolerance ? DP_MINIMUM_REACHED
                     : found->evaluations >= most  ? DP_MINIMUM_MOST
                                                   : DP_MINIMUM_STUCK;
    } while (found->end == DP_MINIMUM_STUCK && found->norm < before / 2);
    return DP_OK;
}

int dp_minimise(const struct dp_smooth *f, double tolerance, int64_t most, double *w, struct dp_minimum *found,
                struct dp_err *err)
{
    struct search s = {.f = f, .tolerance = tolerance, .found = found};
    *found = (struct dp_minimum){.value = (double)INFINITY, .norm = (double)INFINITY};
    int rc = dp_alloc(&s.best, f->size, sizeof *s.best, err);
    if (rc == DP_OK)
        rc = dp_alloc(&s.gradient, f->size, sizeof *s.gradient, err);
    if (rc == DP_OK) {
        memcpy(s.best, w, f->size * sizeof *w);
        rc = search_again(&s, most, w, err);
    }
    free(s.best);
    free(s.gradient);
    return rc;
}
