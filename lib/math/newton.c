#include "math/newton.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "math/vec.h"

/* A step is found to this part of the gradient, which is what it then leaves of it. */
static const double EXACTNESS = 1e-2;
enum { HALVES = 30, ARRAYS = 6 };

struct search {
    const struct dp_bowl *f;
    int64_t left; /* calls */
    double *slope, *step, *rest, *along, *product, *tried;
};

static double dot(const double *a, const double *b, size_t size)
{
    double sum = 0;
    for (size_t j = 0; j < size; j++)
        sum += a[j] * b[j];
    return sum;
}

static void add(double *to, double a, const double *v, size_t size)
{
    for (size_t j = 0; j < size; j++)
        to[j] += a * v[j];
}

/* step ≈ −H⁻¹ slope, by conjugate gradients. Rounding keeps them from ending after `size` products. */
static void find_step(struct search *s)
{
    size_t size = s->f->size;
    double before = dot(s->slope, s->slope, size), enough = EXACTNESS * EXACTNESS * before;
    memset(s->step, 0, size * sizeof *s->step);
    for (size_t j = 0; j < size; j++)
        s->along[j] = s->rest[j] = -s->slope[j];
    for (size_t k = 0; k < 4 * size + 20 && before > enough && s->left > 0; k++, s->left--) {
        s->f->bend(s->f->self, s->along, s->product);
        double bend = dot(s->along, s->product, size);
        if (!(bend > 0))
            return;
        add(s->step, before / bend, s->along, size);
        add(s->rest, -before / bend, s->product, size);
        double now = dot(s->rest, s->rest, size);
        for (size_t j = 0; j < size; j++)
            s->along[j] = s->rest[j] + now / before * s->along[j];
        before = now;
    }
}

/* Moves w along the step, as far as the norm falls; false where it does not. */
static bool take_step(struct search *s, double *w, double *norm)
{
    size_t size = s->f->size;
    double part = 1;
    for (int i = 0; i < HALVES && s->left > 0; i++, part /= 2) {
        memcpy(s->tried, w, size * sizeof *w);
        add(s->tried, part, s->step, size);
        s->f->slope(s->f->self, s->tried, s->product);
        s->left--;
        double now = sqrt(dp_norm2(s->product, size));
        if (now < *norm * (1 - 1e-4 * part)) {
            memcpy(w, s->tried, size * sizeof *w);
            memcpy(s->slope, s->product, size * sizeof *w);
            *norm = now;
            return true;
        }
    }
    return false;
}

int dp_newton(const struct dp_bowl *f, double tolerance, int64_t most, double *w, struct dp_minimum *found, struct dp_err *err)
{
    struct search s = {.f = f, .left = most - 1};
    double *room;
    int rc = dp_alloc(&room, ARRAYS * f->size, sizeof *room, err);
    if (rc != DP_OK)
        return rc;
    double **const array[ARRAYS] = {&s.slope, &s.step, &s.rest, &s.along, &s.product, &s.tried};
    for (int i = 0; i < ARRAYS; i++)
        *array[i] = room + (size_t)i * f->size;
    f->slope(f->self, w, s.slope);
    found->norm = sqrt(dp_norm2(s.slope, f->size));
    bool goes_on = isfinite(found->norm);
    found->end = goes_on ? DP_MINIMUM_STUCK : DP_MINIMUM_INFINITE;
    while (goes_on && found->norm > tolerance && s.left > 0) {
        f->bend_at(f->self, w);
        s.left--;
        find_step(&s);
        goes_on = take_step(&s, w, &found->norm);
    }
    if (found->norm <= tolerance)
        found->end = DP_MINIMUM_REACHED;
    else if (s.left <= 0)
        found->end = DP_MINIMUM_MOST;
    found->evaluations = most - s.left;
    free(room);
    return DP_OK;
}
