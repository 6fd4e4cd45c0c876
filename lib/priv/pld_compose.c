#include "priv/pld_compose.h"

#include <float.h>
#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/init.h"

static const double unit_roundoff = DBL_EPSILON / 2;

static void power(double *re, double *im, int64_t laps)
{
    double a = *re, b = *im, c = 1, d = 0;
    for (int64_t n = laps;;) {
        if (n & 1) {
            double t = c * a - d * b;
            d = c * b + d * a;
            c = t;
        }
        if ((n >>= 1) == 0)
            break;
        double t = a * a - b * b;
        b = 2 * a * b;
        a = t;
    }
    *re = c;
    *im = d;
}

/* What the parts' transforms are multiplied in. */
struct product {
    size_t n;
    double *value; /* half-complex: re 0, re 1, im 1, …, re n/2 */
    double *error; /* a bound on |error of value|, per frequency */
    double *next;  /* one lap of one part */
    gsl_fft_real_wavetable *real;
    gsl_fft_halfcomplex_wavetable *half;
    gsl_fft_real_workspace *work;
};

static void product_free(struct product *p)
{
    free(p->value);
    free(p->error);
    free(p->next);
    gsl_fft_real_wavetable_free(p->real);
    gsl_fft_halfcomplex_wavetable_free(p->half);
    gsl_fft_real_workspace_free(p->work);
}

static bool product_new(struct product *p, size_t n)
{
    dp_init();
    *p = (struct product){.n = n,
                          .value = calloc(n, sizeof(double)),
                          .error = calloc(n / 2 + 1, sizeof(double)),
                          .next = calloc(n, sizeof(double)),
                          .real = gsl_fft_real_wavetable_alloc(n),
                          .half = gsl_fft_halfcomplex_wavetable_alloc(n),
                          .work = gsl_fft_real_workspace_alloc(n)};
    if (p->value != NULL && p->error != NULL && p->next != NULL && p->real != NULL && p->half != NULL &&
        p->work != NULL)
        return true;
    product_free(p);
    return false;
}

static double transform_error(const struct product *p)
{
    return 24 * unit_roundoff * log2((double)p->n);
}

/* Multiplies by the T-th power of the transform of next, and clears next. Where |f|^T is below 1e-60 it is not
   computed. The 2e-60 also cover the masses below e^-200 that dp_pld_compose leaves out. */
static void product_take(struct product *p, int64_t laps, bool first)
{
    double e = transform_error(p), t = (double)laps, least = exp(-138 / t);
    gsl_fft_real_transform(p->next, 1, p->n, p->real, p->work);
    for (size_t f = 0; f <= p->n / 2; f++) {
        size_t at = f == 0 ? 0 : 2 * f - 1;
        bool alone = f == 0 || f == p->n / 2;
        double re = p->next[at], im = alone ? 0 : p->next[at + 1], size = hypot(re, im) + e;
        double error = 2e-60, bound = 1e-60;
        if (size < least) {
            error += laps == 1 ? size : 0;
            re = im = 0;
        } else {
            double before = exp((t - 1) * log(size));
            bound = before * size;
            error += t * e * before + 8 * t * unit_roundoff * bound;
            power(&re, &im, laps);
        }
        if (!first) {
            double a = p->value[at], b = alone ? 0 : p->value[at + 1], other = hypot(a, b);
            error = p->error[f] * (bound + error) + other * error + 8 * unit_roundoff * other * bound;
            double c = a * re - b * im;
            im = a * im + b * re;
            re = c;
        }
        p->error[f] = error;
        p->value[at] = re;
        if (!alone)
            p->value[at + 1] = im;
    }
    for (size_t i = 0; i < p->n; i++)
        p->next[i] = 0;
}

/* Back; the error of every output. */
static double product_invert(struct product *p)
{
    double e = transform_error(p), total = 0;
    for (size_t f = 0; f <= p->n / 2; f++) {
        size_t at = f == 0 ? 0 : 2 * f - 1;
        bool alone = f == 0 || f == p->n / 2;
        double size = hypot(p->value[at], alone ? 0 : p->value[at + 1]);
        total += (alone ? 1 : 2) * (p->error[f] + e * (size + p->error[f]));
    }
    gsl_fft_halfcomplex_inverse(p->value, 1, p->n, p->half, p->work);
    return total / (double)p->n;
}

/* The next 2^k, 5·2^k or 3·2^k. A pass of radix 3 or 5 rounds about 26 and 37 times 2^-53, less than the 24·log2 of the
   radix that transform_error counts. */
static size_t points_for(int64_t wanted)
{
    size_t n = 16;
    while ((int64_t)n < wanted && n < DP_PLD_POINTS_MAX)
        n *= 2;
    if (n > 16 && (int64_t)(n / 8 * 5) >= wanted)
        return n / 8 * 5;
    return n > 16 && (int64_t)(n / 4 * 3) >= wanted ? n / 4 * 3 : n;
}

static size_t slot(const struct dp_pld_composed *c, int64_t j)
{
    int64_t n = (int64_t)c->n, rest = j % n;
    return (size_t)(rest < 0 ? rest + n : rest);
}

bool dp_pld_compose(struct dp_pld_composed *c, const struct dp_pld_part *parts, size_t count, bool add,
                    double deviations, double h, const struct dp_pld_window *w)
{
    *c = (struct dp_pld_composed){.h = h, .s = w->s};
    double least = 0, most = 0; /* in steps of h */
    for (size_t i = 0; i < count; i++) {
        struct dp_pld_range r = dp_pld_range(&parts[i], deviations);
        least += (double)parts[i].laps * floor((add ? -r.high : r.low) / h);
        most += (double)parts[i].laps * ceil((add ? -r.low : r.high) / h);
    }
    c->bottom = (int64_t)fmax(floor(w->bottom / h), least - 1);
    c->n = points_for((int64_t)fmin(ceil(w->top / h), most) + 2 - c->bottom);
    c->top = c->bottom + (int64_t)c->n;
    struct product product;
    if (!product_new(&product, c->n))
        return false;
    double laps = 0, kappa = 0, above = 0, below = 0, tail = erfc(deviations / sqrt(2));
    for (size_t i = 0; i < count; i++) {
        struct dp_pld_cells cells;
        if (!dp_pld_cells_new(&cells, &parts[i], add, deviations, h)) {
            product_free(&product);
            return false;
        }
        double t = (double)parts[i].laps, k = dp_pld_cells_moment(&cells, w->s);
        double low = dp_pld_cells_loss(&cells, 0), high = dp_pld_cells_loss(&cells, cells.count - 1);
        for (size_t j = 0; j < cells.count; j++) {
            double x = cells.log_mass[j] + w->s * dp_pld_cells_loss(&cells, j) - k;
            if (x > -200)
                product.next[slot(c, cells.first + (int64_t)j)] += exp(x);
        }
        laps += t;
        c->log_scale += t * k;
        above += t * dp_pld_cells_moment(&cells, w->above);
        below += t * dp_pld_cells_moment(&cells, w->below);
        kappa += t * (1e-13 + 16 * unit_roundoff * (w->s + 1) * fmax(fabs(low), fabs(high)));
        c->shift += t * 32 * unit_roundoff * dp_pld_range(&parts[i], deviations).rounding;
        if (dp_pld_has_gaussian(&parts[i]))
            c->infinite += t * tail * (1 + 1e-9);
        dp_pld_cells_free(&cells);
        if (laps > 1 || count > 1)
            product_take(&product, parts[i].laps, i == 0);
    }
    if (laps > 1) {
        c->error = product_invert(&product);
    } else { /* nothing to compose, and no rounding to fear */
        memcpy(product.value, product.next, c->n * sizeof *product.value);
        c->error = 2e-60;
    }
    c->mass = product.value;
    product.value = NULL;
    product_free(&product);

    double top = (double)c->top * h, bottom = (double)c->bottom * h;
    if ((double)c->top <= most) {
        c->above = exp(above - w->above * top + kappa);
        c->wrapped += exp(above - c->log_scale - (w->above - w->s) * top + kappa);
    }
    c->open = (double)c->bottom > least;
    if (c->open)
        c->wrapped += exp(below - c->log_scale + (w->s - w->below) * bottom + kappa);
    c->factor = exp(kappa);
    c->deviation = h * sqrt(laps) / 2;
    c->drift = laps * h * h * exp(h) / 8;
    c->radius = fmin(2 * c->deviation + c->drift, laps * h);
    c->covered = c->radius < laps * h ? 1 - 2 * exp(-2) : 1;
    return true;
}

void dp_pld_composed_free(struct dp_pld_composed *c)
{
    free(c->mass);
    c->mass = NULL;
}

/* At a grid point: δ of the sums and Σ weights, both over the losses above it. Every term is positive, so that
   nothing cancels:  δ(ε − t) = e^{−t} δ(ε) + (1 − e^{−t}) Σ weights  up to the next point. */
struct reading {
    double delta, weights;
};

static double read_below(struct reading r, double t)
{
    return exp(-t) * r.delta - expm1(-t) * r.weights;
}

struct errors {
    double weights; /* sup over ε of Σ (1 − e^{−y}) e^{−sy} over the losses y above ε */
    double peak;    /* sup (1 − e^{−y}) e^{−sy} */
};

static struct errors errors_of(const struct dp_pld_composed *c)
{
    double n = (double)c->n, s = c->s;
    struct errors e;
    e.peak = s > 0 ? exp(-s * log1p(1 / s)) / (s + 1) : 1;
    e.peak = fmin(e.peak, -expm1(-n * c->h));
    e.weights = fmin(n, s > 0 ? 1 / (c->h * s * (s + 1)) / e.peak + 1 : n) * e.peak;
    return e;
}

/* A bound on δ from what was read; scale = e^{log_scale − s ε}. */
static double bound(const struct dp_pld_composed *c, struct errors e, bool upper, double seen, double scale)
{
    double noise = c->error * e.weights * scale * (1 + 1e-6) + 8 * unit_roundoff * (double)c->n * fabs(seen);
    if (upper)
        return c->factor * (seen + noise) + c->above + c->infinite;
    return (seen - noise - c->wrapped * e.peak * scale) / c->factor;
}

/* The point between one grid point and the next lower where the upper bound crosses delta. */
static double crossing(const struct dp_pld_composed *c, struct errors e, double delta, double epsilon,
                       struct reading r)
{
    double near = 0, far = c->h;
    for (int i = 0; i < 40; i++) {
        double t = (near + far) / 2, scale = exp(c->log_scale - c->s * (epsilon - t));
        *(bound(c, e, true, read_below(r, t), scale) <= delta ? &near : &far) = t;
    }
    return epsilon - near;
}

/* A bound on E[(Ξ − a)₊], Ξ of mean at most m and sub-Gaussian about it with σ: (x)₊ <= e^{λx−1}/λ. */
static double excess(const struct dp_pld_composed *c, double a)
{
    double x = (a - c->drift) / c->deviation, lambda = (x + sqrt(x * x + 4)) / 2;
    double by_variance = 0.5 + fmax(-x, 0);
    return c->deviation *
           (x < 0 ? by_variance : fmin(exp(-lambda * x + lambda * lambda / 2 - 1) / lambda, by_variance));
}

/* A bound on what discretisation adds to δ at ε: E[G((|S̃ − ε| − r)₊)]/(1 − p). */
static double time_value(const struct dp_pld_composed *c, double epsilon)
{
    double reach = 12 * c->deviation + c->radius + c->drift + c->shift;
    int64_t from = (int64_t)fmax((double)c->bottom, floor((epsilon - reach) / c->h));
    int64_t to = (int64_t)fmin((double)c->top - 1, ceil((epsilon + reach) / c->h));
    double sum = excess(c, 12 * c->deviation + c->drift) + c->above * excess(c, 0);
    if (from == c->bottom && c->open) /* all that may be below the window */
        sum += excess(c, fmax(epsilon - (double)c->bottom * c->h - c->radius - c->shift, 0));
    for (int64_t j = from; j <= to; j++) {
        double loss = (double)j * c->h, scale = exp(c->log_scale - c->s * loss);
        double away = fmax(fabs(loss - epsilon) - c->radius - c->shift, 0);
        sum += scale * (fabs(c->mass[slot(c, j)]) + c->error) * excess(c, away);
    }
    return c->factor * c->factor * sum / c->covered * (1 + 1e-6);
}

void dp_pld_composed_epsilon(const struct dp_pld_composed *c, double delta, double *upper, double *lower)
{
    struct errors e = errors_of(c);
    struct reading r = {0, 0};
    double stay = exp(-c->h), leave = -expm1(-c->h), mass = 0;
    bool above = true;
    int64_t next = 0, stride = 1 + (int64_t)(c->deviation / c->h / 16);
    *upper = (double)c->bottom * c->h > 0 ? (double)c->bottom * c->h + c->shift : -INFINITY;
    *lower = -INFINITY;
    for (int64_t j = c->top - 1; j >= c->bottom; j--) {
        double epsilon = (double)j * c->h, scale = exp(c->log_scale - c->s * epsilon);
        r.weights += mass;
        double delta_here = stay * r.delta + leave * r.weights;
        if (above && !(bound(c, e, true, delta_here, scale) <= delta)) {
            *upper = j == c->top - 1 ? INFINITY : crossing(c, e, delta, epsilon + c->h, r) + c->shift;
            above = false;
            next = j;
        }
        if (!above && j <= next) {
            double seen = bound(c, e, false, delta_here, scale);
            if (seen > delta && seen - time_value(c, epsilon) > delta) {
                *lower = epsilon - c->shift;
                return;
            }
            next = j - stride;
            stride += stride / 4;
        }
        if (epsilon <= 0)
            return;
        r.delta = delta_here;
        mass = c->mass[slot(c, j)] * scale;
    }
}

void dp_pld_composed_delta(const struct dp_pld_composed *c, double epsilon, double *upper, double *lower)
{
    struct errors e = errors_of(c);
    double stay = exp(-c->h), leave = -expm1(-c->h);
    /* Below the window δ is at least what it is at its bottom. */
    double bounds[2], asked[2] = {fmax(epsilon + c->shift, (double)c->bottom * c->h), epsilon - c->shift};
    for (int up = 0; up < 2; up++) {
        struct reading r = {0, 0};
        if (asked[up] >= (double)c->top * c->h) {
            bounds[up] = up ? c->above + c->infinite : 0;
            continue;
        }
        if (asked[up] < (double)c->bottom * c->h) {
            bounds[up] = 1;
            continue;
        }
        for (int64_t j = c->top - 1; j >= c->bottom; j--) {
            double loss = (double)j * c->h, scale = exp(c->log_scale - c->s * loss);
            if (loss <= asked[up] || j == c->bottom) {
                double t = fmin(fmax(loss + c->h - asked[up], 0), c->h);
                scale = exp(c->log_scale - c->s * asked[up]);
                bounds[up] = bound(c, e, up, read_below(r, t), scale);
                break;
            }
            r.delta = stay * r.delta + leave * r.weights;
            r.weights += c->mass[slot(c, j)] * scale;
        }
    }
    *upper = bounds[1];
    *lower = bounds[0] > 0 ? bounds[0] - time_value(c, asked[0]) : 0;
}
