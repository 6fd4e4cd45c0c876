#include "math/newton.h"

#include "base/mem.h"
#include "math/vec.h"

/* Conjugate gradients end when the residual of the step is this part of the gradient. After the step
   the gradient is about as long as this residual. */
static const double EXACTNESS = 0.1;

/* A step must achieve this part of the decrease that the gradient predicts. */
static const double ARMIJO = 1e-4;

/* Two values may differ by ROUNDING times their size because of rounding only. A difference of more than SAME times their size
   is not rounding. */
static const double ROUNDING = 1e-13, SAME = 1e-10;
enum { HALVES = 60, ARRAYS = 6 };

struct search {
    const struct dp_bowl *f;
    struct dp_minimum *found;
    int64_t left; /* calls that are left */
    double size;  /* of values */
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

/* step ≈ −H⁻¹ slope, by conjugate gradients. Because of rounding, conjugate gradients may need more than `size` products. */
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
        if (!(bend > 0)) {
            if (k == 0) /* F is flat there: go down the gradient */
                add(s->step, 1, s->along, size);
            return;
        }
        add(s->step, before / bend, s->along, size);
        add(s->rest, -before / bend, s->product, size);
        double now = dot(s->rest, s->rest, size);
        for (size_t j = 0; j < size; j++)
            s->along[j] = s->rest[j] + now / before * s->along[j];
        before = now;
    }
}

/* Whether to accept the part of the step that leads to this value and norm; slope: derivative of F along the step. */
static bool falls(const struct search *s, double part, double slope, double value, double norm)
{
    double least = s->found->value;
    if (!isfinite(value) || !isfinite(norm))
        return false;
    if (value <= least + ARMIJO * part * slope && least - value > ROUNDING * s->size)
        return true;
    return value <= least + SAME * s->size && norm < s->found->norm * (1 - ARMIJO * part);
}

/* Moves w along the step; false if no part of it is accepted. */
static bool take_step(struct search *s, double *w)
{
    size_t size = s->f->size;
    double part = 1, slope = dot(s->slope, s->step, size);
    for (int i = 0; i < HALVES && s->left > 0; part /= 2) {
        memcpy(s->tried, w, size * sizeof *w);
        add(s->tried, part, s->step, size);
        double value = s->f->at(s->f->self, s->tried, s->product), norm = sqrt(dp_norm2(s->product, size));
        s->left--;
        i += isfinite(value); /* where F is almost flat, a step may overflow */
        if (falls(s, part, slope, value, norm)) {
            memcpy(w, s->tried, size * sizeof *w);
            memcpy(s->slope, s->product, size * sizeof *w);
            s->found->value = value;
            s->found->norm = norm;
            return true;
        }
    }
    return false;
}

void dp_newton(const struct dp_bowl *f, double tolerance, int64_t most, double *w, struct dp_minimum *found)
{
    struct search s = {.f = f, .found = found, .left = most - 1};
    double *room = dp_new(ARRAYS * f->size, sizeof *room);
    double **const array[ARRAYS] = {&s.slope, &s.step, &s.rest, &s.along, &s.product, &s.tried};
    for (int i = 0; i < ARRAYS; i++)
        *array[i] = room + (size_t)i * f->size;
    found->value = f->at(f->self, w, s.slope);
    found->norm = sqrt(dp_norm2(s.slope, f->size));
    bool goes_on = isfinite(found->value) && isfinite(found->norm);
    found->end = goes_on ? DP_MINIMUM_STUCK : DP_MINIMUM_INFINITE;
    s.size = fabs(found->value);
    while (goes_on && found->norm > tolerance && s.left > 0) {
        f->bend_at(f->self, w);
        s.left--;
        find_step(&s);
        goes_on = take_step(&s, w);
    }
    if (goes_on && found->norm <= tolerance)
        found->end = DP_MINIMUM_REACHED;
    else if (s.left <= 0 && found->end == DP_MINIMUM_STUCK)
        found->end = DP_MINIMUM_MOST;
    found->evaluations = most - s.left;
    free(room);
}
